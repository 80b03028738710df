# SPDX-License-Identifier: Apache-2.0
r"""
What the motion of a base asks of ground, wheels and arm, for many motions at once.

With coordinates and the arm's motion fixed, the wrench of the ground and all efforts are
polynomials of the motion of the base: of its inertial acceleration :math:`(a_x, a_y)`, yaw
acceleration :math:`\alpha`, yaw rate :math:`\omega`, and of the part s of the arm's speed (speeds
s v, accelerations :math:`s^2 a`):

.. math:: W = W_0 + W_x a_x + W_y a_y + W_\alpha \alpha + W_\omega \omega^2 + W_c s\omega
   + W_s s^2.

The speed along the ground does not enter (Galilei). Seven evaluations of the recursion of Newton
and Euler, traced, give the coefficients, and then all the motions that a planner or governor looks
at are one product of matrices. The spin of wheels is left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from kane_dynamics.algebra import casadi as ca
from kane_dynamics.algebra.quaternions import cross, pure, vec3
from kane_dynamics.algebra.scalars import as_array, cos, sin
from kane_dynamics.algebra.traced_scalar import column, symbols
from kane_dynamics.algorithms.newton_euler import transmitted
from kane_dynamics.analysis.ground_contacts import GroundContacts
from kane_dynamics.analysis.wheel_forces import tractions_of
from kane_dynamics.exceptions import ConstraintError
from kane_dynamics.robot.robot import Robot
from kane_dynamics.robot.state import checked_robot
from kane_dynamics.typing import Floats

if TYPE_CHECKING:
    from kane_dynamics.compiler.graph_kernel import GraphKernel

# a_x, a_y, alpha, omega, s that determine the coefficients
_CASES = np.vstack([np.zeros(5), np.eye(5), [0.0, 0.0, 0.0, 1.0, 1.0]])


@dataclass(frozen=True, eq=False, slots=True)
class BaseEffects:
    """Coefficients of the wrench of the ground and of the efforts. Built by `TracedEffects`."""

    wrenches: Floats
    efforts: Floats  # shape (..., 7, nv): Of M a + C v + g, without armature and friction

    def between(self, knot: float) -> BaseEffects:
        """Return the effects between states of a row, linear from one to the next."""
        before = min(max(int(knot), 0), len(self.wrenches) - 2)
        share = knot - before
        wrenches, efforts = (
            (1.0 - share) * x[before] + share * x[before + 1]
            for x in (self.wrenches, self.efforts)
        )
        return BaseEffects(wrenches, efforts)


class TracedEffects:
    """What the motion of a planar base asks, at any coordinates and motion of the arm."""

    def __init__(self, robot: Robot, still: Sequence[str] = ()) -> None:
        moved = planar_robot(robot)
        q, v, a = (symbols(name, n) for name, n in zip('qva', _sizes(moved), strict=True))
        case = ax, ay, alpha, omega, s = symbols('case', len(_CASES[0]))
        stopped = [robot.velocity_index(name) for name in still]
        speeds = [0.0 if k in stopped else s * x for k, x in enumerate(v)]
        rates = [0.0 if k in stopped else s * s * x for k, x in enumerate(a)]
        sine, cosine = sin(q[2]), cos(q[2])
        speeds[:3], rates[:2] = [0.0, 0.0, omega], _turned(cosine, -sine, [ax, ay])
        rates[2] = alpha
        efforts, wrench = transmitted(moved, q, speeds, rates)
        force, moment = vec3(wrench.primary), vec3(wrench.dual)
        there = pure([q[0], q[1], 0.0])
        moment = moment - vec3(cross(there, wrench.primary))
        parts = (_turned(cosine, sine, x) for x in (moment, force, efforts))
        self._code = machine_code(
            robot, 'effects', [*q, *v, *a, *case], [], np.concatenate([*parts])
        )
        self._solved = np.linalg.inv(features(_CASES[:, :3], _CASES[:, 3], _CASES[:, 4]))

    def at(self, q: Floats, v: Floats, a: Floats) -> BaseEffects:
        """Return the effects at a state, or at each of several with the base at one place."""
        states = np.atleast_2d(np.concatenate([q, v, a], axis=-1))
        shape = len(states), len(_CASES)
        rows = np.empty((*shape, states.shape[1] + len(_CASES[0])))
        rows[..., : states.shape[1]], rows[..., states.shape[1] :] = states[:, None], _CASES
        result = self._solved @ self._code(rows.reshape(-1, rows.shape[-1])).reshape(*shape, -1)
        coefficients = result if np.ndim(q) > 1 else result[0]
        return BaseEffects(coefficients[..., :6], coefficients[..., 6:])


def _turned(c: Any, s: Any, x: Any) -> Any:
    """Return vectors with the first two components in axes turned by an angle."""
    return as_array([c * x[0] + s * x[1], c * x[1] - s * x[0], *x[2:]])


def _sizes(robot: Robot) -> tuple[int, int, int]:
    return robot.nq, robot.nv, robot.nv


def planar_robot(robot: Robot) -> Robot:
    """Return a robot, if its base is planar."""
    if checked_robot(robot).base != 'planar':
        raise ConstraintError(f'a governor needs a planar base, this base is {robot.base}')
    return robot


def features(acceleration: Any, omega: Any, scaling: Any) -> Any:
    """Return what the coefficients multiply, shape (..., 7)."""
    w, s = np.asarray(omega), np.asarray(scaling)
    shape = np.broadcast_shapes(acceleration.shape[:-1], w.shape, s.shape)
    parts = np.ones((*shape, len(_CASES)), np.result_type(acceleration, w, s))
    parts[..., 1:4] = acceleration
    parts[..., 4], parts[..., 5], parts[..., 6] = w * w, s * w, s * s
    return parts


_BASE = 3  # coordinates of a planar base


def machine_code(*graph: Any) -> GraphKernel:
    """Return machine code of a graph; LLVM is loaded here, since most nodes start without it."""
    from kane_dynamics.compiler.graph_kernel import GraphKernel

    return GraphKernel(*graph)


class TracedRecursion:
    """The wrench of the ground and the efforts of one robot, for many states in one call."""

    def __init__(self, robot: Robot) -> None:
        q, v, a = (symbols(name, n) for name, n in zip('qva', _sizes(robot), strict=True))
        efforts, wrench = transmitted(robot, q, v, a)
        result = [*vec3(wrench.dual), *vec3(wrench.primary), *efforts]
        self._code = machine_code(robot, 'transmitted', [*q, *v, *a], [], result)

    def at(self, q: Floats, v: Floats, a: Floats) -> Floats:
        """Return (tau, f) about the origin of the world, then M a + C v + g, (k, 6 + nv)."""
        return self._code(np.concatenate([q, v, a], axis=1))


class Footing(NamedTuple):
    """Where wheels and casters touch the ground, and how rows of constraints push there."""

    points: Floats  # shape (k, 3): Of the contacts [m]
    rows: Floats  # shape (n, nv): A of all constraints
    tractions: Floats  # shape (n, k, 3): Force on each contact for a unit multiplier of each row


class TracedFooting:
    """The footing of one robot at any coordinates."""

    def __init__(self, contacts: GroundContacts) -> None:
        robot, q = contacts.robot, symbols('q', contacts.robot.nq)
        matrix = contacts.constraints.rows(q, [0.0] * robot.nv, 0.0).matrix
        geometry = contacts.traced_at(q)
        pulls = tractions_of(contacts, q, geometry.touches, np.eye(len(matrix)))
        parts = [
            np.array(geometry.points, dtype=object),
            matrix,
            np.stack([pulls[name] for name in contacts.names], axis=1),
        ]
        self._shapes = [part.shape for part in parts]
        result = np.concatenate([part.ravel() for part in parts])
        self._code = machine_code(robot, 'footing', q, [], result)
        matters = ca.which_depends(column(result), column(q), 1, False)
        self.indices = [k for k, moves in enumerate(matters) if moves and k >= _BASE]

    def at(self, q: Floats) -> Footing:
        """Return the footing at coordinates q, shape (nq,)."""
        ends = np.cumsum([np.prod(shape, dtype=int) for shape in self._shapes])[:-1]
        result = np.split(self._code(q[None])[0], ends)
        return Footing(*(x.reshape(n) for x, n in zip(result, self._shapes, strict=True)))
