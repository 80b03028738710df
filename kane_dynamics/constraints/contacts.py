# SPDX-License-Identifier: Apache-2.0
r"""
Planes, the rows of material points along directions that turn, and unilateral contacts.

The point is at :math:`\rho(t)` from the origin C of a frame of the body, and moves in the body; d
is a unit direction. The material point there has no speed along d:

.. math:: \langle d, v_C + \omega \times \rho\rangle = 0, \qquad \langle d, \dot v_C +
   \alpha\times\rho + \omega\times\dot\rho\rangle + \langle\dot d, v_C + \omega\times\rho\rangle
   = 0.

A disc with axis n touches the plane with normal k below its centre in the direction
:math:`e = (n\langle n,k\rangle - k)/s`, :math:`s = \sqrt{1 - \langle n,k\rangle^2}`, and rolls
along :math:`t = n \times k/s`; left of t is :math:`k\times t`. A ball has e = -k, and its t does
not turn.

Rows of contacts are those of :math:`\Phi(q) = 0`, :math:`A \dot v = b`. Where a contact is closed
(:math:`\Phi = 0, A v = 0`) `kane_dynamics.contact_forward_dynamics` asks for
:math:`A \dot v \ge b`; as constraints they hold the distance at zero.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import copysign
from typing import Any, NamedTuple

import numpy as np

from kane_dynamics.algebra.dual_quaternion import DualQuaternion
from kane_dynamics.algebra.pose import Pose
from kane_dynamics.algebra.quaternions import Quaternion, cross, dot, make_quaternion, pure, scale
from kane_dynamics.algebra.scalars import Scalar, is_traced, sqrt
from kane_dynamics.constraints.base import RobotRows, Row, projected_columns
from kane_dynamics.exceptions import ConstraintError, InvalidInputError
from kane_dynamics.robot.body import Vector
from kane_dynamics.robot.checks import as_number, as_one, as_vector
from kane_dynamics.robot.motion import FrameMotion, frame_motion
from kane_dynamics.robot.robot import WORLD, Frame, Robot
from kane_dynamics.robot.state import checked_robot
from kane_dynamics.typing import ArrayLike, Floats

LEAN_LIMIT = 1e-6  # sine between axis and normal below which no contact point exists
STILL = make_quaternion(0.0, 0.0, 0.0, 0.0)
_ROUNDOFF = 1e-12  # of a unit vector that was brought to unit length


@dataclass(frozen=True)
class Plane:
    """
    The plane <n, p> = offset of the world; what stands on it is on the side that n points to.

    Parameters
    ----------
    normal : array_like, shape (3,)
        n, in world axes, towards the free side; brought to unit length.
    offset : float
        Distance of the plane from the origin of the world, along n [m].

    Raises
    ------
    InvalidInputError
        If a number is not finite, or n is zero.

    Examples
    --------
    >>> from kane_dynamics import constraints as C
    >>> ramp = C.Plane(normal=(-np.sin(0.1), 0, np.cos(0.1)))
    >>> ramp.offset
    0.0

    """

    normal: Any = (0.0, 0.0, 1.0)
    offset: float = 0.0

    def __post_init__(self) -> None:
        n = as_vector('normal', self.normal, 3)
        if not n.any():
            raise InvalidInputError(f'normal: need a direction, got {n}')
        x, y, z = (n / np.linalg.norm(n)).tolist()
        vars(self).update(normal=(x, y, z), offset=as_number('offset [m]', self.offset))

    def directions(self) -> Floats:
        """
        Return unit vectors x and y in the plane, x y n right-handed, in world axes, shape (2, 3).

        The axes x and y of the world, turned with its z onto n by the shortest way (where n points
        down: x and -y with -z). Duff et al., Building an orthonormal basis, revisited, JCGT 2017.
        """
        x, y, z = self.normal
        sign = copysign(1.0, z)
        a = -1.0 / (sign + z)
        first = (1.0 + sign * x * x * a, sign * x * y * a, -sign * x)
        second = (x * y * a, sign + y * y * a, -y)
        return np.array([first, second])


GROUND = Plane()
"""z = 0."""


def checked_plane(robot: Robot, plane: Any) -> Plane:
    """Return a plane on which a robot can move."""
    checked = as_one(Plane, 'plane', plane, 'a kane_dynamics.Plane')
    if robot.base == 'planar' and abs(checked.normal[2] - 1.0) > _ROUNDOFF:
        raise ConstraintError(
            f'plane: a planar base moves in z = 0, got normal {plane.normal}; a slope is '
            'another direction of gravity (set_gravity), or takes a floating base'
        )
    return checked


class Direction(NamedTuple):
    """A unit vector and its rate, in axes of the frame; along a normal also the distance [m]."""

    vector: Quaternion
    rate: Quaternion
    distance: Scalar | None = None


def contact_rows(
    motion: FrameMotion,
    arm: Quaternion,
    arm_rate: Quaternion,
    directions: Iterable[Direction],
    kind: str,
) -> list[Row]:
    """Return a row for each direction; the arm is rho and the rate its own, in the frame."""

    def velocity(h: DualQuaternion) -> Quaternion:
        return h.dual + cross(h.primary, arm)

    twist = motion.twist
    bias = velocity(motion.twist_rate) + cross(twist.primary, twist.dual + arm_rate)
    slip = velocity(twist)
    rows = []
    for direction, rate, distance in directions:
        coefficients = projected_columns(
            motion.columns, lambda axis, d=direction: dot(d, velocity(axis))
        )
        acceleration = -dot(direction, bias) - dot(rate, slip)
        rows.append(Row(coefficients, acceleration=acceleration, position=distance, kind=kind))
    return rows


def moving_point(robot: Robot, link: str, point: ArrayLike) -> Frame:
    """Return a frame at a point [m] of a link that moves."""
    frame = checked_robot(robot).frame(link)
    if frame.body == WORLD:
        raise ConstraintError(f"frame '{link}' is part of the world, its points do not move")
    return Frame(frame.body, frame.pose * Pose.shift(as_vector('point [m]', point, 3)))


@dataclass(frozen=True, eq=False)
class PointRows(RobotRows):
    """Speeds of a point of a link along directions of the world, or its distance from a plane."""

    frames: tuple[Frame]
    directions: tuple[Vector, ...]
    offset: float | None = None  # of the plane

    def rows(self, robot: Robot, q: Any, v: Any, t: Scalar) -> Sequence[Row]:
        """Return a row <d, v_P> = 0 for each direction d; multipliers are forces [N]."""
        motion, directions = frame_motion(robot, self.frames[0], q, v), []
        for d in map(pure, self.directions):
            away = None if self.offset is None else dot(d, motion.pose.translation) - self.offset
            directions.append(Direction(motion.from_world(d), STILL, away))
        kind = self.labels[0] if self.offset is None else ''
        return contact_rows(motion, STILL, STILL, directions, kind)


def point_contact(
    robot: Robot,
    link: str,
    point: ArrayLike = (0.0, 0.0, 0.0),
    normal: ArrayLike = (0.0, 0.0, 1.0),
    offset: float = 0.0,
) -> PointRows:
    """
    Return the distance of a point of a link from a plane of the world: Phi = <n, p> - offset.

    Parameters
    ----------
    robot : Robot
        The robot.
    link : str
        Name of a frame that moves.
    point : array_like, shape (3,)
        The point, in the frame's axes [m].
    normal : array_like, shape (3,)
        n, in world axes, towards the free side; brought to unit length.
    offset : float
        Distance of the plane from the origin of the world, along n [m].

    Raises
    ------
    NameNotFoundError
        If there is no such frame.
    InvalidInputError
        If a number is not finite, or n is zero.
    ConstraintError
        If the frame is part of the world.

    Examples
    --------
    >>> from kane_dynamics import constraints as C
    >>> robot = kd.load_robot('nonholonomic', base='floating')
    >>> C.point_contact(robot, 'base_link').labels
    ('base_link/contact',)

    """
    frame, plane = moving_point(robot, link, point), Plane(normal, offset)
    return PointRows(robot, (f'{link}/contact',), (frame,), (plane.normal,), plane.offset)


@dataclass(frozen=True, eq=False, slots=True)
class DiscDirections:
    """Directions of a disc with axis n, with <n, k> and s. Built by `disc_directions`."""

    axis: Quaternion
    normal: Quaternion
    lean: Scalar
    sine: Scalar

    @property
    def down(self) -> Quaternion:
        """Return e = (n <n,k> - k)/s."""
        return scale(scale(self.axis, self.lean) - self.normal, 1.0 / self.sine)

    def down_rate(self, omega: Quaternion) -> Quaternion:
        """Return de/dt."""
        axis_rate, lean_rate, sine_rate = self._rates(omega)
        moved = scale(axis_rate, self.lean) + scale(self.axis, lean_rate)
        return scale(moved - scale(self.down, sine_rate), 1.0 / self.sine)

    def along(self, omega: Quaternion) -> tuple[Quaternion, Quaternion]:
        """Return t = n x k/s and its rate."""
        axis_rate, _, sine_rate = self._rates(omega)
        t = scale(cross(self.axis, self.normal), 1.0 / self.sine)
        turned = cross(axis_rate, self.normal) - scale(t, sine_rate)
        return t, scale(turned, 1.0 / self.sine)

    def _rates(self, omega: Quaternion) -> tuple[Quaternion, Scalar, Scalar]:
        """Return the rates of n, <n,k> and s."""
        axis_rate = cross(omega, self.axis)
        lean_rate = dot(axis_rate, self.normal)
        return axis_rate, lean_rate, -self.lean * lean_rate / self.sine


def disc_directions(axis: Quaternion, normal: Quaternion, complaint: str) -> DiscDirections:
    """Return the directions of a disc with an axis, in the axes of both vectors."""
    lean = dot(axis, normal)
    sine = sqrt(1.0 - lean * lean)
    if not is_traced(sine) and not np.all(sine > LEAN_LIMIT):
        raise ConstraintError(complaint)
    return DiscDirections(axis, normal, lean, sine)


@dataclass(frozen=True, eq=False, slots=True)
class BallDirections:
    """Directions of a ball: against the normal, and x and y of the plane."""

    normal: Quaternion
    x: Quaternion

    @property
    def down(self) -> Quaternion:
        """Return -k."""
        return -self.normal

    def down_rate(self, omega: Quaternion) -> Quaternion:
        """Return de/dt = 0."""
        return STILL

    def along(self, omega: Quaternion) -> tuple[Quaternion, Quaternion]:
        """Return x of the plane, which does not turn."""
        return self.x, STILL


PlaneDirections = DiscDirections | BallDirections
