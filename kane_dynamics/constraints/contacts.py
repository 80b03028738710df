# SPDX-License-Identifier: Apache-2.0
r"""
Planes, the rows of material points along directions that turn, and unilateral contacts.

The point is at :math:`\rho(t)` from the origin C of a frame of the body, and moves in the body; d
is a unit direction. The material point there has no speed along d:

.. math:: \langle d, v_C + \omega \times \rho\rangle = 0, \qquad \langle d, \dot v_C +
   \alpha\times\rho + \omega\times\dot\rho\rangle + \langle\dot d, v_C + \omega\times\rho\rangle
   = 0.

Rows of contacts are those of :math:`\Phi(q) = 0`, :math:`A \dot v = b`. Where a contact is closed
(:math:`\Phi = 0, A v = 0`) `kane_dynamics.contact_forward_dynamics` asks for
:math:`A \dot v \ge b`; as constraints they hold the distance at zero.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from math import copysign
from typing import Any, NamedTuple

import numpy as np

from kane_dynamics.algebra.dual_quaternion import DualQuaternion
from kane_dynamics.algebra.pose import Pose
from kane_dynamics.algebra.quaternions import Quaternion, cross, dot, pure, rotate
from kane_dynamics.algebra.scalars import Scalar
from kane_dynamics.constraints.base import Row, projected_columns
from kane_dynamics.exceptions import ConstraintError, InvalidInputError
from kane_dynamics.robot.body import Vector
from kane_dynamics.robot.checks import as_number, as_vector, describe
from kane_dynamics.robot.motion import FrameMotion, frame_motion
from kane_dynamics.robot.robot import WORLD, Frame, Robot
from kane_dynamics.robot.state import checked_robot
from kane_dynamics.typing import ArrayLike, Floats

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
        object.__setattr__(self, 'normal', (x, y, z))
        object.__setattr__(self, 'offset', as_number('offset [m]', self.offset))

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
    if not isinstance(plane, Plane):
        raise InvalidInputError(f'plane: need a kane_dynamics.Plane, got {describe(plane)}')
    if robot.base == 'planar' and abs(plane.normal[2] - 1.0) > _ROUNDOFF:
        raise ConstraintError(
            f'plane: a planar base moves in z = 0, got normal {plane.normal}; a slope is '
            'another direction of gravity (set_gravity), or takes a floating base'
        )
    return plane


class Direction(NamedTuple):
    """A unit vector in world axes and its rate; along a normal also the distance [m]."""

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
    """Return a row for each direction; the arm is rho and the rate its own, in world axes."""
    to_world = motion.pose.rotation

    def velocity(h: DualQuaternion) -> Quaternion:
        return rotate(to_world, h.dual) + cross(rotate(to_world, h.primary), arm)

    omega = rotate(to_world, motion.twist.primary)
    centre_velocity = rotate(to_world, motion.twist.dual)
    bias = velocity(motion.twist_rate) + cross(omega, centre_velocity + arm_rate)
    slip = velocity(motion.twist)
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
class PointRows:
    """Speeds of a point of a link along directions of the world, or its distance from a plane."""

    robot: Robot = field(compare=False, repr=False)
    labels: tuple[str, ...]
    frames: tuple[Frame]
    directions: tuple[Vector, ...]
    offset: float | None = None  # of the plane

    def rows(self, robot: Robot, q: Any, v: Any, t: Scalar) -> Sequence[Row]:
        """Return a row <d, v_P> = 0 for each direction d; multipliers are forces [N]."""
        motion = frame_motion(robot, self.frames[0], q, v)
        to_world = motion.pose.rotation
        centripetal = cross(motion.twist.primary, motion.twist.dual)
        bias = rotate(to_world, motion.twist_rate.dual + centripetal)
        rows = []
        for d in map(pure, self.directions):
            coefficients = projected_columns(
                motion.columns, lambda axis, d=d: dot(d, rotate(to_world, axis.dual))
            )
            away = None if self.offset is None else dot(d, motion.pose.translation) - self.offset
            kind = '' if away is not None else self.labels[0]
            rows.append(Row(coefficients, acceleration=-dot(d, bias), position=away, kind=kind))
        return rows


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
