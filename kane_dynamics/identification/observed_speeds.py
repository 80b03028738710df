# SPDX-License-Identifier: Apache-2.0
r"""
Directions of motion in which constraint forces do no work.

Forces of wheels, :math:`A^T \lambda`, are not measured. Along the columns of Z with A Z = 0 they
vanish from the equation of motion, :math:`Z^T A^T \lambda = 0`, whatever they are.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kane_dynamics.algorithms.consistent import speed_indices
from kane_dynamics.dynamics import Dynamics, checked_dynamics
from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.typing import Floats


class ObservedSpeeds:
    """
    Speeds u whose efforts are observed, and the motion of the robot that each of them is.

    Parameters
    ----------
    dynamics : Dynamics
        Of either engine.
    names : sequence of str, optional
        Speeds; all where left out. Either no row touches them (the arm on a base: the base moves
        as measured), or all other speeds follow from them through the rows (wheels and arm).

    Attributes
    ----------
    names : tuple of str
        In the order given.
    places : list of int
        Their indices in v.
    follow : bool
        Whether all other speeds follow from them.

    Raises
    ------
    NameNotFoundError
        If there is no such speed.
    InvalidInputError
        If none is named.
    UnreachableAccelerationError, InconsistentConstraintsError
        If rows touch them, and do not determine all other speeds or contradict them.

    """

    def __init__(self, dynamics: Dynamics, names: Sequence[str] | None = None) -> None:
        robot = checked_dynamics(dynamics).robot
        chosen = robot.velocity_names if names is None else names
        self.places = speed_indices(robot, chosen, 'speeds')
        if not self.places:
            raise InvalidInputError(f'speeds: name some of {list(robot.velocity_names)}')
        self.names = tuple(robot.velocity_names[k] for k in self.places)
        self._dynamics = dynamics
        neutral, still = robot.neutral(), np.zeros(robot.nv)
        rows = np.asarray(dynamics.constraint_rows(neutral, still).matrix, dtype=float)
        self.follow = bool(rows[:, self.places].any())
        self._unit = np.eye(robot.nv)[:, self.places]
        self.directions(neutral)  # what is wrong, is said now

    def directions(self, q: Floats) -> Floats:
        """Return Z with v = Z u where all others follow; A Z = 0 always; shape (nv, n)."""
        if not self.follow:
            return self._unit
        units = self._unit.T
        found = self._dynamics.consistent_velocity(
            np.broadcast_to(q, (len(units), len(q))), units, self.names
        )
        return np.asarray(found.T)

    def motion(self, directions: Floats, v: Floats) -> Floats:
        """Return the speeds of the whole robot: as measured, or as the observed ones say."""
        return directions @ v[self.places] if self.follow else v
