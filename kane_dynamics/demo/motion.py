# SPDX-License-Identifier: Apache-2.0
"""A smooth motion for demonstrations: the base drives an S-curve while the arm swings."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.interpolate import CubicSpline

from kane_dynamics.algorithms.projection import least_norm
from kane_dynamics.bases.wheeled_base import WheeledBase
from kane_dynamics.constraints.base import Constraint
from kane_dynamics.constraints.constraint_set import ConstraintSet
from kane_dynamics.dynamics.functions import consistent_acceleration
from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.robot.joint_kinds import Prismatic
from kane_dynamics.robot.robot import Robot
from kane_dynamics.typing import Floats

RAMP = 1.5  # [s] from rest to full speed, and back to rest
SPEED = 0.4  # forward speed of the base [m/s]
YAW_RATE = 0.5  # amplitude of the base's yaw rate [rad/s]
ARM_SWING = 0.25  # amplitude of a revolute joint [rad]
SLIDE_SWING = 0.04  # amplitude of a sliding joint [m]
SHORTEST = 0.1  # of all motions [s]
OF_LIMIT = 0.5  # part of a joint's velocity limit that the motion uses
OF_ROOM = 0.8  # part of the way to a position limit that the motion uses
CURVATURES = (YAW_RATE / SPEED / 0.8, 1.0, 0.7, 0.5, 0.3, 0.2, 0.1)  # of bases that steer [1/m]


@dataclass(frozen=True, eq=False)
class DemoMotion:
    """Wanted motion of the motors over time; made by `demo_motion`."""

    names: tuple[str, ...]  # Motors
    duration: float  # [s]
    position: CubicSpline
    velocity: CubicSpline
    acceleration: CubicSpline
    twist: CubicSpline
    base: Floats  # shape (n, 3): Wanted x, y, yaw of the base at `times` [m, m, rad]
    times: Floats  # shape (n,): [s]


def demo_motion(
    robot: Robot,
    constraints: Sequence[Constraint],
    motors: Sequence[str],
    start: Mapping[str, float],
    duration: float,
    wheels: WheeledBase | None = None,
    scaling: float = 1.0,
) -> DemoMotion:
    """Return motion: an S-curve of a planar base, sines of the other joints, rest at both ends."""
    if duration < SHORTEST:
        raise InvalidInputError(f'duration [s]: need {SHORTEST:g} or more, got {duration:g}')
    times = np.linspace(0.0, duration, round(duration * 500.0) + 1)
    envelope = scaling * _envelope(times, duration)
    speeds, twist = np.zeros((len(times), robot.nv)), np.zeros((len(times), 3))
    steered = set() if wheels is None else set(wheels.steering) & set(motors)
    if robot.base == 'planar':
        sharpest = 0.0 if steered else _sharpest(wheels)
        unit = _rolling_speeds(robot, constraints, motors, turns=sharpest > 0.0)
        forward, turning = _curve(robot, unit, motors, sharpest)
        twist[:, 0] = forward * envelope
        twist[:, 2] = turning * envelope * np.sin(2.0 * np.pi * times / duration)
        rolling = twist[:, ::2] @ unit
        twist[:, 1] = rolling[:, 1]
        yaw = CubicSpline(times, twist[:, 2]).antiderivative()(times)
        x_rate = twist[:, 0] * np.cos(yaw) - twist[:, 1] * np.sin(yaw)
        y_rate = twist[:, 0] * np.sin(yaw) + twist[:, 1] * np.cos(yaw)
        speeds[:, :3] = np.column_stack([x_rate, y_rate, twist[:, 2]])
        speeds[:, 3:] += rolling[:, 3:]
    still = {name for name in motors if not speeds[:, robot.velocity_index(name)].any()}
    swinging = [name for name in motors if name in still - steered]
    for k, name in enumerate(swinging):
        swing = envelope * _swing(robot, name, k, times)
        at = start.get(name, 0.0)
        speeds[:, robot.velocity_index(name)] = swing * _room(robot, name, at, times, swing)
    columns = [robot.velocity_index(name) for name in motors]
    velocity = CubicSpline(times, speeds[:, columns])
    position = velocity.antiderivative()
    position.c[-1] += [start.get(name, 0.0) for name in motors]
    base = np.zeros((len(times), 3))
    if robot.base == 'planar':
        base = CubicSpline(times, speeds[:, :3]).antiderivative()(times)
    rates = velocity, velocity.derivative(), CubicSpline(times, twist)
    return DemoMotion(tuple(motors), duration, position, *rates, base, times)


def _curve(
    robot: Robot, unit: Floats, motors: Sequence[str], sharpest: float
) -> tuple[float, float]:
    """Return speed and amplitude of the yaw rate that wheels can do [m/s, rad/s]."""
    turning = min(YAW_RATE, SPEED * sharpest)
    driven = [robot.velocity_index(name) for name in motors]
    fastest = np.abs(SPEED * unit[0]) + np.abs(turning * unit[1])
    used = (fastest / (OF_LIMIT * robot.velocity_limit))[driven]
    scale = 1.0 / max(1.0, float(used.max(initial=0.0)))
    return SPEED * scale, turning * scale


def _sharpest(wheels: WheeledBase | None) -> float:
    """Return the largest curvature that steered wheels reach on both sides [1/m]."""
    if wheels is None or not wheels.steering:
        return np.inf
    for curvature in CURVATURES:
        twists = [[1.0, 0.0, side * curvature] for side in (-1.0, 1.0)]
        if wheels.steering_angles(twists).reached.all():
            return 0.8 * curvature
    return 0.0


def _room(robot: Robot, name: str, start: float, times: Floats, swing: Floats) -> float:
    """Return the part of a swing that keeps a joint within its limits."""
    if name not in robot.joint_names:
        return 1.0
    joint = robot.bodies[robot.body_of_joint(name)].joint
    way = CubicSpline(times, swing).antiderivative()(times)
    part = 1.0
    for room, far in ((joint.upper - start, way.max()), (start - joint.lower, -way.min())):
        if far > 0.0:
            part = min(part, max(0.0, OF_ROOM * room / far))
    return float(part)


def _envelope(times: Floats, duration: float) -> Floats:
    """Return 0 at both ends and 1 between the ramps, twice differentiable."""

    def smooth(s: Floats) -> Floats:
        s = np.clip(s, 0.0, 1.0)
        return s**3 * (10.0 - 15.0 * s + 6.0 * s**2)

    return smooth(times / RAMP) * smooth((duration - times) / RAMP)


def _rolling_speeds(
    robot: Robot, constraints: Sequence[Constraint], motors: Sequence[str], turns: bool
) -> Floats:
    """Return speeds that go with unit forward speed and unit yaw rate, the base's lateral too."""
    responses, at_rest = np.zeros((2, robot.nv)), np.zeros(robot.nv)
    q = robot.neutral()
    matrix = ConstraintSet.of(robot, constraints).rows(q.tolist(), at_rest.tolist(), 0.0).matrix
    wheels = [k for k in range(3, robot.nv) if matrix[:, k].any()]
    if not set(wheels) & {robot.velocity_index(name) for name in motors}:
        return responses
    free = [1, *wheels]
    if least_norm(matrix[:, free], np.zeros(len(matrix)))[1] < len(free):
        free = wheels  # the rows leave the base free to move sideways, as with mecanum wheels
    known = [name for k, name in enumerate(robot.velocity_names) if k not in free]
    for response, index in zip(responses, (0, 2) if turns else (0,), strict=False):
        unit = np.zeros(robot.nv)
        unit[index] = 1.0
        # at rest A a = b has b = 0: the same equations as A v = 0
        response[:] = consistent_acceleration(robot, q, at_rest, unit, constraints, known)
    return responses


def _swing(robot: Robot, name: str, k: int, times: Floats) -> Floats:
    """Return the velocity of a joint that swings about its start."""
    index = robot.velocity_index(name)
    rate = 2.0 * np.pi * (0.25 + 0.04 * k)
    amplitude = SLIDE_SWING if slides(robot, name) else ARM_SWING
    top = min(amplitude * rate, OF_LIMIT * float(robot.velocity_limit[index]))
    return top * np.cos(rate * times + 0.7 * k)


def slides(robot: Robot, name: str) -> bool:
    """Return whether a speed is one of translation."""
    if name not in robot.joint_names:
        return name in ('base_x', 'base_y')
    return isinstance(robot.bodies[robot.body_of_joint(name)].joint.kind, Prismatic)
