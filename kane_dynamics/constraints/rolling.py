# SPDX-License-Identifier: Apache-2.0
r"""
Rolling without slipping of wheels and balls, on the plane z = 0 of the world.

A wheel is a thin disc of radius r with axis n through its centre C. Its lowest point is at
:math:`r e` from C, with :math:`e = (n\langle n,k\rangle - k)/s`,
:math:`s = \sqrt{1 - \langle n,k\rangle^2}`. Rolling says that the *material* point there is at
rest: :math:`v_C + \omega \times r e = 0`. Differentiated with the moving e it gives

.. math:: \dot v_C + \alpha\times r e + \omega\times r\dot e = 0,

written in the wheel's heading directions: longitudinal :math:`t = n \times k/s`, lateral
:math:`k\times t`, and vertical k. A ball has e = -k and the directions x, y and vertical.
Multipliers are then contact forces on the robot [N]. C need not lie on the axis of a joint.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from numpy.typing import ArrayLike

from kane_dynamics.algebra.dual_quaternion import DualQuaternion
from kane_dynamics.algebra.quaternions import (
    Quaternion,
    cross,
    dot,
    make_quaternion,
    pure,
    rotate,
    scale,
)
from kane_dynamics.algebra.scalars import Scalar, sqrt
from kane_dynamics.algebra.traced_numbers import is_traced
from kane_dynamics.constraints.base import Row, projected_columns
from kane_dynamics.constraints.contact_circle import LEAN_LIMIT, Circle, ball_circle, wheel_circle
from kane_dynamics.exceptions import ConstraintError
from kane_dynamics.model.body import Vector
from kane_dynamics.model.frame_motion import frame_motion
from kane_dynamics.model.robot import Frame, Robot

_UP = make_quaternion(0.0, 0.0, 0.0, 1.0)
_STILL = make_quaternion(0.0, 0.0, 0.0, 0.0)
_WORLD = {
    'x': make_quaternion(0.0, 1.0, 0.0, 0.0),
    'y': make_quaternion(0.0, 0.0, 1.0, 0.0),
    'vertical': _UP,
}


@dataclass(frozen=True, eq=False)
class RollingWheel:
    """
    Rolling without slipping of a wheel or a ball. Built by `rolling_wheel` and `rolling_ball`.

    Parameters
    ----------
    robot : Robot
        The robot.
    labels : tuple of str
        Names of the rows.
    wheel : Frame
        Frame at the wheel's centre, in the wheel's body.
    axis : tuple of float or None
        Unit axis of the wheel in that frame; None for a ball.
    radius : float
        [m].
    directions : tuple of str
        Which of 'longitudinal', 'lateral', 'vertical' are constrained; of a ball 'x', 'y' and
        'vertical'.

    """

    robot: Robot = field(compare=False, repr=False)
    labels: tuple[str, ...]
    wheel: Frame
    axis: Vector | None
    radius: float
    directions: tuple[str, ...]

    def rows(self, robot: Robot, q: Any, v: Any, t: Scalar) -> Sequence[Row]:
        """
        Return one row for each direction: <d, v_C + omega x r e> = 0 and its derivative.

        Raises
        ------
        ConstraintError
            If the wheel lies flat on its side: it has no lowest point.

        """
        motion = frame_motion(robot, self.wheel, q, v)
        to_world = motion.pose.rotation
        heading = self._heading(to_world)
        arm = scale(heading.down, self.radius)
        omega = rotate(to_world, motion.twist.primary)
        arm_rate = scale(heading.down_rate(omega), self.radius)
        contact = _material_velocity(to_world, arm)
        centre_velocity = rotate(to_world, motion.twist.dual)
        bias = contact(motion.twist_rate) + cross(omega, centre_velocity + arm_rate)
        slip = contact(motion.twist)
        rows = []
        for name in self.directions:
            direction, direction_rate = heading.direction(name, omega)
            coefficients = projected_columns(
                motion.columns, lambda axis, d=direction: dot(d, contact(axis))
            )
            acceleration = -dot(direction, bias) - dot(direction_rate, slip)
            # the height of the lowest point is a position; the other rows are nonholonomic
            height = (motion.pose.translation + arm).z if name == 'vertical' else None
            rows.append(
                Row(coefficients, acceleration=acceleration, position=height, kind=self.labels[0])
            )
        return rows

    def _heading(self, to_world: Quaternion) -> _Heading | _Upright:
        if self.axis is None:
            return _Upright()
        axis = rotate(to_world, pure(self.axis))
        lean = axis.z
        sine = sqrt(1.0 - lean * lean)
        if not is_traced(sine) and not sine > LEAN_LIMIT:
            raise ConstraintError(
                f"'{self.labels[0]}': the wheel lies flat, it has no lowest point"
            )
        return _Heading(axis, lean, sine)


@dataclass(frozen=True, eq=False, slots=True)
class _Heading:
    """Directions of a wheel with axis n: down its disc, along its track, to its left, and up."""

    axis: Quaternion
    lean: Scalar
    sine: Scalar

    @property
    def down(self) -> Quaternion:
        """Return e = (n <n,k> - k)/s."""
        return scale(scale(self.axis, self.lean) - _UP, 1.0 / self.sine)

    def _rates(self, omega: Quaternion) -> tuple[Quaternion, Scalar, Scalar]:
        """Return the rates of n, <n,k> and s."""
        axis_rate = cross(omega, self.axis)
        lean_rate = axis_rate.z
        return axis_rate, lean_rate, -self.lean * lean_rate / self.sine

    def down_rate(self, omega: Quaternion) -> Quaternion:
        """Return de/dt."""
        axis_rate, lean_rate, sine_rate = self._rates(omega)
        moved = scale(axis_rate, self.lean) + scale(self.axis, lean_rate)
        return scale(moved - scale(self.down, sine_rate), 1.0 / self.sine)

    def direction(self, name: str, omega: Quaternion) -> tuple[Quaternion, Quaternion]:
        """Return a contact direction in world axes and its rate."""
        if name == 'vertical':
            return _UP, _STILL
        axis_rate, _, sine_rate = self._rates(omega)
        along = scale(cross(self.axis, _UP), 1.0 / self.sine)
        along_rate = scale(cross(axis_rate, _UP) - scale(along, sine_rate), 1.0 / self.sine)
        if name == 'longitudinal':
            return along, along_rate
        return cross(_UP, along), cross(_UP, along_rate)


class _Upright:
    """Directions of a ball: down, and the axes of the world."""

    down = make_quaternion(0.0, 0.0, 0.0, -1.0)

    def down_rate(self, omega: Quaternion) -> Quaternion:
        """Return de/dt = 0."""
        return _STILL

    def direction(self, name: str, omega: Quaternion) -> tuple[Quaternion, Quaternion]:
        """Return a contact direction in world axes and its rate."""
        return _WORLD[name], _STILL


def _material_velocity(to_world: Quaternion, arm: Quaternion) -> Any:
    """Return the map from a twist of the wheel frame to R v + R omega x arm, in the world."""

    def velocity(h: DualQuaternion) -> Quaternion:
        return rotate(to_world, h.dual) + cross(rotate(to_world, h.primary), arm)

    return velocity


def rolling_wheel(
    robot: Robot,
    joint: str,
    radius: float | None = None,
    axis: Sequence[float] | None = None,
    centre: ArrayLike | None = None,
) -> RollingWheel:
    """
    Return rolling without slipping of the wheel that a joint carries.

    Rows: longitudinal and lateral, and vertical where the wheel could leave the ground. The wheel
    is the circle in the middle of the collision cylinder, wherever it stands. With a `radius` of
    a wheel on a revolute joint it is the circle of that radius about the joint's axis, in the same
    plane (of the joint's frame where the URDF has no such shape). A sphere is a disc here, see
    `rolling_ball` for wheels that lean on one.

    Parameters
    ----------
    robot : Robot
        The robot.
    joint : str
        Name of the wheel's revolute joint; or of a free (6-DoF) or spherical joint, 'base' for a
        floating base: a coin or a disc.
    radius : float, optional
        [m]; from the URDF's collision cylinder or sphere where left out.
    axis : array_like, shape (3,), optional
        Axis of a wheel on a free or spherical joint, in the frame of the body; from its collision
        cylinder where left out.
    centre : array_like, shape (3,), optional
        Centre of the wheel in the frame of the body [m]; else as said above.

    Raises
    ------
    NameNotFoundError
        If there is no such joint.
    InvalidInputError
        If `axis` or `centre` is not three finite numbers.
    ConstraintError
        If the joint is of another kind, its axis is vertical wherever it moves, the radius is not
        positive, radius or axis is not known, or the wheel is eccentric and cannot lift its hub.

    Warns
    -----
    ModelWarning
        Where the collision shape of a revolute joint is not centred in the joint's frame.

    """
    circle = wheel_circle(robot, joint, radius, axis, centre)
    return rolling(robot, joint, circle, ('longitudinal', 'lateral'))


def rolling_ball(
    robot: Robot, joint: str, radius: float | None = None, centre: ArrayLike | None = None
) -> RollingWheel:
    """
    Return rolling without slipping of the ball that a joint carries.

    Rows: along x and y of the world, and vertical where the ball could leave the ground.

    Parameters
    ----------
    robot : Robot
        The robot.
    joint : str
        Name of the joint, e.g. a free (6-DoF) one, 'base' for a floating base, or a spherical one.
    radius : float, optional
        [m]; from the URDF's collision sphere where left out.
    centre : array_like, shape (3,), optional
        Centre of the ball in the frame of the body [m]; that of the collision sphere, or else the
        origin, where left out.

    Raises
    ------
    NameNotFoundError
        If there is no such joint.
    InvalidInputError
        If `centre` is not three finite numbers.
    ConstraintError
        If the radius is not positive or none is known.

    """
    return rolling(robot, joint, ball_circle(robot, joint, radius, centre), ('x', 'y'))


def rolling(robot: Robot, joint: str, circle: Circle, directions: tuple[str, ...]) -> RollingWheel:
    """Return the rows of directions in the ground, and the vertical one where it is needed."""
    if circle.lifts:
        directions += ('vertical',)
    labels = tuple(f'{joint}/{name}' for name in directions)
    return RollingWheel(robot, labels, circle.frame, circle.axis, circle.radius, directions)
