# SPDX-License-Identifier: Apache-2.0
r"""
Motion of the whole robot that lets a frame follow another: computed torque, and Slotine and Li.

The error e of the frame is the rotation vector of :math:`R_d R^T` and the way to the wanted place,
in world axes. By computed torque :math:`\ddot e + B \dot e + K e = 0`, exactly, however far the
frame has turned: :math:`R_d R^T` turns at :math:`\omega_e = \omega_d - R_d R^T \omega = J(e)\dot
e`, and its rate gives the angular acceleration that :math:`\ddot e` needs.

Slotine and Li's law in task space wants :math:`\dot e = -\Lambda e`: with twists
:math:`\dot x_r` that do this, and :math:`\sigma = \dot x - \dot x_r`, reference speeds are
:math:`v_r = v - \bar J \sigma`, where :math:`\bar J = N J^T (J N J^T)^{-1}` moves the frame and as
little else as can be, and their rate keeps :math:`J \dot v_r + \dot J v_r = \ddot x_r`. Then
:math:`\tau = M \dot v_r + C v_r + g - J^T K \sigma` lets :math:`s^T M s / 2` of :math:`s = v -
v_r = \bar J \sigma` fall with the power :math:`\sigma^T K \sigma`: in the axes of the task
:math:`\Lambda_x \dot\sigma + \mu \sigma = -K \sigma`, and :math:`\dot\Lambda_x = \mu + \mu^T`.

What the frame leaves open brings the robot to a posture; wheels keep rolling. Near a singular pose
motions are damped (`damped_task_inverse`).

Slotine, Li: On the adaptive control of robot manipulators, IJRR 6(3), 1987. Khatib: A unified
approach for motion and force control, IEEE Journal of Robotics and Automation 3(1), 1987.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from kane_dynamics.algebra.pose import (
    Pose,
    rate_of_turning,
    rotation_vector,
    turned_by,
    turned_by_rate,
)
from kane_dynamics.algebra.quaternions import (
    cross,
    make_quaternion,
    normalised,
    pure,
    rotate,
    rotate_back,
    vec3,
)
from kane_dynamics.algebra.scalars import Scalar, where
from kane_dynamics.algorithms.constrained_inverse import ConstrainedEffort
from kane_dynamics.algorithms.damped_task_inverse import AllowedMotion, DampedTaskInverse
from kane_dynamics.algorithms.projection import speed_indices
from kane_dynamics.algorithms.row_elimination import product, transpose_product
from kane_dynamics.robot.motion import frame_motion, frame_rate_along, frame_rows, in_axes
from kane_dynamics.robot.robot import Robot

WANTED, GAINS = 19, 14
"""Numbers of a wanted motion, and of the gains."""
REPORTED = 21
"""Numbers of `FrameMotionFound.report`."""


class TaskSpaceLaw(NamedTuple):
    """Which frame follows, by which law, and what moves it."""

    frame: str  # Name of a frame that is fixed in a moving body
    actuated: tuple[str, ...]  # Speeds that have motors
    known: tuple[str, ...] | None = None  # Speeds that say how the others move
    held: tuple[str, ...] = ()
    passive: bool = False  # Whether the law is Slotine and Li's; else computed torque


class FrameEffort(NamedTuple):
    """Efforts that let a frame follow; of many states, every entry has a row for each."""

    result: ConstrainedEffort  # Efforts, multipliers and motion
    error: Any  # shape (6,): Rotation vector and way to the wanted pose [rad, m]
    missed: Any
    sliding: Any  # shape (6,): sigma of Slotine and Li's law, 0 by computed torque
    rank: Any  # How many of the axes that are not free the frame moves along independently
    manipulability: Any  # sqrt(det G) of `DampedTaskInverse`, at most 1, 0 in a singular pose
    damping: Any  # lambda of `DampedTaskInverse`: more than 0 near a singular pose
    numbers: Any  # All of it, one after the other
    share: float = 1.0
    out_of_reach: bool = False

    @classmethod
    def of(cls, numbers: Any, labels: tuple[str, ...]) -> FrameEffort:
        """Return them of the numbers of `Dynamics.frame_effort`."""
        result = ConstrainedEffort(numbers[..., :-REPORTED], labels)
        error, missed, sliding = (numbers[..., k : k + 6] for k in (-21, -15, -9))
        rank, manipulability, damping = (numbers[..., k] for k in (-3, -2, -1))
        return cls(result, error, missed, sliding, rank, manipulability, damping, numbers)


def checked_law(robot: Robot, law: Any) -> Any:
    """Return a law whose names are those of a robot."""
    robot.moving_body(law.frame)
    for what in ('actuated', 'known', 'held'):
        names = getattr(law, what, None)
        if names is not None:
            speed_indices(robot, names, what)
    return law


class FrameMotionFound(NamedTuple):
    """Motion of the robot: reference speeds (v by computed torque), and their rate."""

    reference: list[Scalar]
    acceleration: list[Scalar]
    feedback: list[Scalar]
    report: list[Scalar]


class _Target(NamedTuple):
    """Error, twist x_r that a frame is to have, and its rate, in world axes, shapes (6,)."""

    error: list[Scalar]
    twist: list[Scalar]
    rate: list[Scalar]


def following_motion(
    robot: Robot,
    law: TaskSpaceLaw,
    q: Any,
    v: Any,
    request: Sequence[Scalar],
    gains: Sequence[Scalar],
    posture: Any,
    allowed: AllowedMotion,
) -> FrameMotionFound:
    """Return the motion of the robot that lets a frame follow a wanted motion."""
    first, second = gains[:6], gains[6:12]
    selection = [where(a + b > 0.0, 1.0, 0.0) for a, b in zip(first, second, strict=True)]
    frame = frame_motion(robot, robot.frame(law.frame), q, v)
    turn = frame.pose.rotation
    jacobian = frame_rows(frame, turn)  # in world axes
    omega = rotate(turn, frame.twist.primary)
    velocity = in_axes(turn, frame.twist)
    target = _target(frame.pose, velocity, request, first, second, law.passive)
    inverse = DampedTaskInverse(jacobian, selection, allowed.spread, robot.nv)
    sigma, x = [0.0] * 6, list(v)
    if law.passive:
        slides = zip(selection, velocity, target.twist, strict=True)
        sigma = [one * (a - b) for one, a, b in slides]
        x = [a - b for a, b in zip(v, inverse.step(sigma), strict=True)]
    # what J x changes by, in world axes at the frame's origin, while x stays the same
    rate = in_axes(turn, frame_rate_along(robot, robot.frame(law.frame), q, v, x))
    along = [product(row, x) for row in jacobian]
    turned = [*vec3(cross(omega, pure(along[:3]))), *vec3(cross(omega, pure(along[3:])))]
    drift = [a + b for a, b in zip(rate, turned, strict=True)]
    open_motion = allowed.nearest(_to_posture(robot, law, q, v, posture, gains[12:]), x)

    def missing(a: Sequence[Scalar]) -> list[Scalar]:
        rows = zip(selection, target.rate, drift, jacobian, strict=True)
        return [one * (r - d - product(row, a)) for one, r, d, row in rows]

    step = inverse.step(missing(open_motion))
    a = [left + more for left, more in zip(open_motion, step, strict=True)]
    brakes = [-k * s for k, s in zip(second, sigma, strict=True)]
    force = transpose_product(jacobian, brakes, robot.nv)
    reach = inverse.rank, inverse.manipulability, inverse.damping
    report = [*target.error, *missing(a), *sigma, *reach]
    return FrameMotionFound(x, a, force, report)


def _target(
    pose: Pose,
    velocity: Sequence[Scalar],
    request: Sequence[Scalar],
    first: Sequence[Scalar],
    second: Sequence[Scalar],
    passive: bool,
) -> _Target:
    """Return the twist and its rate that the law asks of a frame."""
    turned = normalised(make_quaternion(*request[3:7])) * pose.rotation.conjugate()  # R_d R'
    twist, rate = request[7:13], request[13:19]
    e = rotation_vector(turned)
    omega_e = pure(twist[:3]) - rotate(turned, pure(velocity[:3]))
    error_rate = rate_of_turning(e, omega_e)
    error = [*vec3(e), *_less(request[:3], vec3(pose.translation).tolist())]
    changes = [*vec3(error_rate), *_less(twist[3:], velocity[3:])]
    parts = list(zip(first, second, error, changes, strict=True))
    if passive:  # the rate of e that is wanted, and its own
        u, u_rate = [-k * x for k, _, x, _ in parts], [-k * y for k, _, _, y in parts]
    else:
        u, u_rate = changes, [-b * y - k * x for k, b, x, y in parts]
    turning = pure(twist[:3]) - turned_by(e, pure(u[:3]))  # R_d R' omega_r
    grows = turned_by_rate(e, error_rate, pure(u[:3])) + turned_by(e, pure(u_rate[:3]))
    alpha = rotate_back(turned, pure(rate[:3]) - grows - cross(omega_e, turning))
    return _Target(
        error,
        [*vec3(rotate_back(turned, turning)), *_less(twist[3:], u[3:])],
        [*vec3(alpha), *_less(rate[3:], u_rate[3:])],
    )


def _less(a: Sequence[Scalar], b: Sequence[Scalar]) -> list[Scalar]:
    return [x - y for x, y in zip(a, b, strict=True)]


def _to_posture(
    robot: Robot, law: TaskSpaceLaw, q: Any, v: Any, posture: Any, gains: Sequence[Scalar]
) -> list[Scalar]:
    """Return the accelerations that bring the joints to their posture, and others to rest."""
    stiffness, damping = gains
    a = [-damping * speed for speed in v]
    for name in law.actuated:
        place, k = robot.coordinate_index(name), robot.velocity_index(name)
        a[k] = a[k] + stiffness * (posture[place] - q[place])
    return a
