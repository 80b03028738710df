# SPDX-License-Identifier: Apache-2.0
r"""
Loop closures: two frames a and b of the tree are held together, rigidly or by a joint.

With :math:`x = x_b^a` the relative twist in a is
:math:`\xi_{ab}^a = \mathrm{Ad}(x)\xi_b - \xi_a` and, by (9) of Silva et al., its rate is
:math:`\mathrm{Ad}(x)\dot\xi_b - \dot\xi_a + \xi_{ab}^a \times \mathrm{Ad}(x)\xi_b`.
A rigid closure has :math:`\xi_{ab}^a = 0`. With the parts :math:`(\omega, v)` of the twist, the
origin p of b in a and an axis n, turned to :math:`m = r n r^*`, joints have

.. math:: \dot p = v + \omega\times p = 0, \qquad \dot m = \omega\times m = 0

(ball: the first; revolute: also the second across n), with the rates
:math:`\dot v + \dot\omega\times p + \omega\times\dot p` and
:math:`\dot\omega\times m + \omega\times\dot m`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kane_dynamics.algebra.dual_quaternion import DualQuaternion, dual_cross
from kane_dynamics.algebra.pose import Pose
from kane_dynamics.algebra.quaternions import Quaternion, cross, dot, pure, rotate
from kane_dynamics.algebra.scalars import Scalar, unit_axis, where
from kane_dynamics.constraints.base import Projection, RobotRows, Row, projected_columns
from kane_dynamics.exceptions import ConstraintError
from kane_dynamics.robot.body import Vector
from kane_dynamics.robot.canonical_frames import beside
from kane_dynamics.robot.checks import as_choice
from kane_dynamics.robot.motion import Columns, frame_motion
from kane_dynamics.robot.robot import Frame, Robot
from kane_dynamics.robot.state import checked_robot

_JOINTS = {
    'fixed': ('wx', 'wy', 'wz', 'vx', 'vy', 'vz'),
    'ball': ('px', 'py', 'pz'),
    'revolute': ('px', 'py', 'pz', 'tilt_1', 'tilt_2'),
}


@dataclass(frozen=True, eq=False)
class LoopClosure(RobotRows):
    """Rows that hold frame b on frame a. Built by `loop_closure`."""

    frames: tuple[Frame, Frame]  # b and a
    joint: str
    axis: Vector | None = None

    def rows(self, robot: Robot, q: Any, v: Any, t: Scalar) -> Sequence[Row]:
        """Return the rows in frame a: (omega, v) of xi_ab, or p', then m' across the axis."""
        relative = _relative_motion(robot, *self.frames, q, v)
        if self.joint == 'fixed':
            return _rigid_rows(relative)
        if self.axis is None:
            return _point_rows(relative)
        return [*_point_rows(relative), *_axis_rows(relative, self.axis)]


@dataclass(frozen=True, eq=False, slots=True)
class _RelativeMotion:
    """x_b^a, xi_ab^a, its rate at zero acceleration, and its columns."""

    pose: Pose
    twist: DualQuaternion
    bias: DualQuaternion
    columns: Columns

    def row(
        self,
        projection: Projection,
        position: Scalar,
        kind: str,  # turns and shifts have different units
        centripetal: Scalar = 0.0,
    ) -> Row:
        """Return the row that projects the twist; `centripetal` is what the moving frame adds."""
        acceleration = -projection(self.bias) - centripetal
        coefficients = projected_columns(self.columns, projection)
        return Row(coefficients, acceleration=acceleration, position=position, kind=kind)


def _relative_motion(robot: Robot, b: Frame, a: Frame, q: Any, v: Any) -> _RelativeMotion:
    of_a, of_b = frame_motion(robot, a, q, v), frame_motion(robot, b, q, v)
    x = of_a.pose.conjugate() * of_b.pose
    twist_b = x.adjoint(of_b.twist)
    relative = twist_b - of_a.twist
    bias = x.adjoint(of_b.twist_rate) - of_a.twist_rate + dual_cross(relative, twist_b)
    columns = [(k, x.adjoint(s)) for k, s in of_b.columns] + [(k, -s) for k, s in of_a.columns]
    return _RelativeMotion(x, relative, bias, tuple(columns))


def _rigid_rows(relative: _RelativeMotion) -> list[Row]:
    r, p = relative.pose.rotation, relative.pose.translation
    side = where(r.w < 0.0, -1.0, 1.0)  # r and -r are one rotation
    turns = (2.0 * side * r.x, 2.0 * side * r.y, 2.0 * side * r.z)
    return [
        relative.row(
            lambda s, part=part, axis=axis: getattr(getattr(s, part), axis), position, part
        )
        for part, positions in (('primary', turns), ('dual', (p.x, p.y, p.z)))
        for axis, position in zip('xyz', positions, strict=True)
    ]


def _point_rows(relative: _RelativeMotion) -> list[Row]:
    p, omega = relative.pose.translation, relative.twist.primary

    def velocity(s: DualQuaternion) -> Quaternion:
        return s.dual + cross(s.primary, p)

    centripetal = cross(omega, velocity(relative.twist))
    return [
        relative.row(
            lambda s, axis=axis: getattr(velocity(s), axis),
            getattr(p, axis),
            'dual',
            getattr(centripetal, axis),
        )
        for axis in 'xyz'
    ]


def _axis_rows(relative: _RelativeMotion, axis: Vector) -> list[Row]:
    omega, n = relative.twist.primary, pure(axis)
    m = rotate(relative.pose.rotation, n)
    centripetal = cross(omega, cross(omega, m))
    # where the axes point against each other, tilts vanish as well: that is no closed loop
    flipped = where(dot(n, m) < 0.0, -dot(n, m), 0.0)
    rows = []
    for across in map(pure, _across(axis)):
        tilt = dot(across, m)
        rows.append(
            relative.row(
                lambda s, d=across: dot(d, cross(s.primary, m)),
                tilt + where(tilt < 0.0, -flipped, flipped),
                'primary',
                dot(across, centripetal),
            )
        )
    return rows


def _across(axis: Vector) -> tuple[Vector, Vector]:
    """Return two unit vectors that form a right-handed frame with a unit axis."""
    first = beside(np.array(axis))
    x, y = first.tolist(), np.cross(axis, first).tolist()
    return (x[0], x[1], x[2]), (y[0], y[1], y[2])


def loop_closure(
    robot: Robot,
    frame_a: str,
    frame_b: str,
    joint: str = 'fixed',
    axis: Sequence[float] | None = None,
) -> LoopClosure:
    """
    Return the constraint that two frames are held together (holonomic).

    'fixed' is six rows: the frames coincide. 'ball' is three: their origins coincide. 'revolute'
    is five: so does an axis through the origins. In a planar or spherical mechanism some rows
    repeat others; the solvers allow that.

    Parameters
    ----------
    robot : Robot
        The robot.
    frame_a, frame_b : str
        Names of links.
    joint : {'fixed', 'ball', 'revolute'}
        What holds them.
    axis : array_like, shape (3,), optional
        Of the revolute joint in frame a; it has the same components in frame b.

    Raises
    ------
    NameNotFoundError
        If there is no such frame.
    InvalidInputError
        If there is no such joint, or the axis is not three finite numbers, or is zero.
    ConstraintError
        If both frames belong to the same body, or a revolute joint has no axis or another joint
        has one.

    Examples
    --------
    >>> from kane_dynamics import constraints as C
    >>> robot = kd.serial_chain(4)
    >>> C.loop_closure(robot, 'link_4', 'link_1', 'ball').labels
    ('link_4=link_1/px', 'link_4=link_1/py', 'link_4=link_1/pz')

    """
    a, b = checked_robot(robot).frame(frame_a), robot.frame(frame_b)
    if a.body == b.body:
        raise ConstraintError(f"frames '{frame_a}' and '{frame_b}' belong to the same body")
    as_choice('joint', joint, _JOINTS)
    if (axis is not None) != (joint == 'revolute'):
        raise ConstraintError(
            f"loop_closure '{frame_a}' to '{frame_b}': a revolute joint needs an axis, no other "
            f'joint has one; got joint={joint!r}, axis={axis!r}'
        )
    labels = tuple(f'{frame_a}={frame_b}/{name}' for name in _JOINTS[joint])
    direction = None if axis is None else unit_axis(axis, 'axis')
    return LoopClosure(robot, labels, (b, a), joint, direction)
