# SPDX-License-Identifier: Apache-2.0
"""Newton and Euler's recursion and what a robot stands on as expression graphs, for control."""

from __future__ import annotations

from typing import Any, NamedTuple

import casadi as ca
import numpy as np

from kane_dynamics.algebra.quaternions import vec3
from kane_dynamics.algorithms.newton_euler import transmitted
from kane_dynamics.analysis.ground_contacts import GroundContacts
from kane_dynamics.analysis.wheel_forces import tractions_of
from kane_dynamics.robot.robot import Robot
from kane_dynamics.typing import Floats

_BASE = 3  # coordinates of a planar base


class TracedRecursion:
    """The wrench of the ground and the efforts of one robot, for many states in one call."""

    def __init__(self, robot: Robot) -> None:
        place, speeds, rates = (
            ca.SX.sym(name, n)
            for name, n in zip('qva', (robot.nq, robot.nv, robot.nv), strict=True)
        )
        states = (ca.vertsplit(x) for x in (place, speeds, rates))
        efforts, wrench = transmitted(robot, *states)
        result = ca.vertcat(*vec3(wrench.dual), *vec3(wrench.primary), *efforts)
        self._function = ca.Function(
            'transmitted', [place, speeds, rates], [result], {'cse': True}
        )

    def at(self, q: Floats, v: Floats, a: Floats) -> Floats:
        """Return (tau, f) about the origin of the world, then M a + C v + g, (k, 6 + nv)."""
        return np.array(self._function(q.T, v.T, a.T)).T


class Footing(NamedTuple):
    """Where wheels and casters touch the ground, and how rows of constraints push there."""

    points: Floats  # shape (k, 3): Of the contacts [m]
    rows: Floats  # shape (n, nv): A of all constraints
    tractions: Floats  # shape (n, k, 3): Force on each contact for a unit multiplier of each row


class TracedFooting:
    """The footing of one robot at any coordinates."""

    def __init__(self, contacts: GroundContacts) -> None:
        robot, place = contacts.robot, ca.SX.sym('q', contacts.robot.nq)
        q = ca.vertsplit(place)
        matrix = contacts.constraints.rows(q, [0.0] * robot.nv, 0.0).matrix
        pulls = tractions_of(contacts, q, np.eye(len(matrix)))
        parts = [
            np.array(contacts.contact_points(q), dtype=object),
            matrix,
            np.stack([pulls[name] for name in contacts.names], axis=1),
        ]
        self._shapes = [part.shape for part in parts]
        result = [ca.vertcat(*(ca.SX(x) for x in part.ravel())) for part in parts]
        self._function = ca.Function('footing', [place], result, {'cse': True})
        matters = ca.which_depends(ca.vertcat(*result), place, 1, False)
        self.indices = [k for k, moves in enumerate(matters) if moves and k >= _BASE]

    def at(self, q: Any) -> Footing:
        """Return the footing at coordinates q, shape (nq,)."""
        result = self._function(q)
        return Footing(
            *(np.array(x).reshape(shape) for x, shape in zip(result, self._shapes, strict=True))
        )
