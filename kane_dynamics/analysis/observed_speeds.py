# SPDX-License-Identifier: Apache-2.0
r"""
Directions of motion in which constraint forces do no work.

Forces of wheels, :math:`A^T \lambda`, are not measured. Along the columns of Z with A Z = 0 they
vanish from the equation of motion, :math:`Z^T A^T \lambda = 0`, whatever they are. Rows that
drive the robot, :math:`A v = b_0`, move it along Z u + c; Z does not know of b_0.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from kane_dynamics.algorithms.consistent import complete_entries, speed_indices
from kane_dynamics.dynamics import Dynamics, checked_dynamics
from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.robot.integration import integrate_coordinates
from kane_dynamics.typing import Floats

_STATES, _NEAR = 3, 0.1  # general ones: a coefficient may vanish at neutral, not at all of them
_ROUNDOFF = 1e-12  # of a row


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
    indices : list of int
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
        selection = robot.velocity_names if names is None else names
        self.indices = speed_indices(robot, selection, 'speeds')
        if not self.indices:
            raise InvalidInputError(f'speeds: name some of {list(robot.velocity_names)}')
        self.names = tuple(robot.velocity_names[k] for k in self.indices)
        self._dynamics = dynamics
        self.follow = self._touched()
        self._unit = np.eye(robot.nv)[:, self.indices]
        self.directions(robot.neutral())  # what is wrong, is said now

    def directions(self, q: ArrayLike, v: ArrayLike | None = None, time: float = 0.0) -> Floats:
        """
        Return Z with A Z = 0, one in the row of each observed speed, shape (nv, n).

        Parameters
        ----------
        q, v : array_like, shapes (nq,), (nv,)
            State; v, at rest where left out, counts where A depends on it.
        time : float
            t of constraints that depend on time [s].

        Raises
        ------
        UnreachableAccelerationError, InconsistentConstraintsError
            If rows touch the speeds, and do not determine all others or contradict them.

        """
        if not self.follow:
            return self._unit
        robot = self._dynamics.robot
        rows = self._dynamics.constraint_rows(q, np.zeros(robot.nv) if v is None else v, time)
        still = np.zeros((len(rows), len(self.indices)))
        return complete_entries(robot, rows.matrix, still, self._unit, self.indices)

    def motion(self, q: ArrayLike, v: Floats, time: float = 0.0) -> Floats:
        """Return the speeds of the whole robot: as measured, or as rows and observed ones say."""
        if not self.follow:
            return v
        rows = self._dynamics.constraint_rows(q, v, time)
        return complete_entries(self._dynamics.robot, rows.matrix, rows.velocity, v, self.indices)

    def _touched(self) -> bool:
        """Return whether some row has an observed speed in it, near neutral and at any time."""
        robot, rng = self._dynamics.robot, np.random.default_rng(0)
        for _ in range(_STATES):
            v = rng.uniform(-_NEAR, _NEAR, robot.nv)
            q = integrate_coordinates(robot, robot.neutral(), v, 1.0)
            A = np.abs(self._dynamics.constraint_rows(q, v, rng.uniform()).matrix)
            if (A[:, self.indices] > _ROUNDOFF * A.sum(axis=1, keepdims=True)).any():
                return True
        return False
