# SPDX-License-Identifier: Apache-2.0
r"""
Loop closure: two frames of the tree stay together.

With :math:`x = x_b^a` the relative twist in a is
:math:`\xi_{ab}^a = \mathrm{Ad}(x)\xi_b - \xi_a = 0` and, by (9) of Silva et al., its rate is
:math:`\mathrm{Ad}(x)\dot\xi_b - \dot\xi_a + \xi_{ab}^a \times \mathrm{Ad}(x)\xi_b`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from kane_dynamics.algebra.dual_quaternion import DualQuaternion, dual_cross
from kane_dynamics.algebra.scalars import Scalar, where
from kane_dynamics.constraints.base import Row, projected_columns
from kane_dynamics.exceptions import ConstraintError
from kane_dynamics.model.chain_motion import frame_motion
from kane_dynamics.model.robot import Frame, Robot

_COMPONENTS = tuple((part, axis) for part in ('primary', 'dual') for axis in 'xyz')


@dataclass(frozen=True, eq=False)
class LoopClosure:
    """Six rows that hold frame b on frame a. Built by `loop_closure`."""

    robot: Robot = field(compare=False, repr=False)
    labels: tuple[str, ...]
    frame_a: Frame
    frame_b: Frame

    def rows(self, robot: Robot, q: Any, v: Any, t: Scalar) -> Sequence[Row]:
        """Return the components (omega, v) of xi_ab = 0 in frame a."""
        a = frame_motion(robot, self.frame_a, q, v)
        b = frame_motion(robot, self.frame_b, q, v)
        x = a.pose.conjugate() * b.pose
        twist_b = x.adjoint(b.twist)
        relative = twist_b - a.twist
        bias = x.adjoint(b.twist_rate) - a.twist_rate + dual_cross(relative, twist_b)
        columns = [(k, x.adjoint(s)) for k, s in b.columns] + [(k, -s) for k, s in a.columns]
        r, p = x.rotation, x.translation
        side = where(r.w < 0.0, -1.0, 1.0)  # r and -r are one rotation
        positions = (2.0 * side * r.x, 2.0 * side * r.y, 2.0 * side * r.z, p.x, p.y, p.z)
        return [
            Row(
                projected_columns(columns, lambda s, c=component: _component(s, c)),
                acceleration=-_component(bias, component),
                position=position,
            )
            for component, position in zip(_COMPONENTS, positions, strict=True)
        ]


def _component(h: DualQuaternion, component: tuple[str, str]) -> Scalar:
    part, axis = component
    return getattr(getattr(h, part), axis)


def loop_closure(robot: Robot, frame_a: str, frame_b: str) -> LoopClosure:
    """
    Return the constraint that two frames coincide, x_b^a = 1 (six rows, holonomic).

    In a planar or spherical mechanism some rows repeat others; the solvers allow that.

    Parameters
    ----------
    robot : Robot
        The robot.
    frame_a, frame_b : str
        Names of links.

    Raises
    ------
    NameNotFoundError
        If there is no such frame.
    ConstraintError
        If both frames belong to the same body.

    """
    a, b = robot.frame(frame_a), robot.frame(frame_b)
    if a.body == b.body:
        raise ConstraintError(f"frames '{frame_a}' and '{frame_b}' belong to the same body")
    names = ('wx', 'wy', 'wz', 'vx', 'vy', 'vz')
    return LoopClosure(robot, tuple(f'{frame_a}={frame_b}/{name}' for name in names), a, b)
