# SPDX-License-Identifier: Apache-2.0
"""The wheels of a base with their rows: fixed, with rollers, steered, casters, balls."""

import warnings
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from kane_dynamics.bases.motion_rows import Wheel, check_steers, wheel_place
from kane_dynamics.bases.wheeled_base import WheeledBase
from kane_dynamics.constraints.base import Constraint
from kane_dynamics.constraints.rolling import RollingWheel
from kane_dynamics.constraints.rolling_wheels import roller_wheel, rolling_ball, rolling_wheel
from kane_dynamics.constraints.wheels import NoSideSlip, differential_drive
from kane_dynamics.exceptions import ConstraintError, ModelWarning
from kane_dynamics.robot.body import Vector
from kane_dynamics.robot.checks import as_mapping, as_names, as_sequence, as_vector, index_of
from kane_dynamics.robot.robot import Robot
from kane_dynamics.robot.state import checked_robot
from kane_dynamics.typing import ArrayLike

Radius = float | Mapping[str, float] | None


@dataclass(frozen=True, eq=False)
class WheelRows:
    """A wheel and its rows."""

    wheel: Wheel
    rows: RollingWheel


def radius_of(radius: Radius, joint: str) -> float | None:
    """Return the radius that is given for a wheel [m], or None."""
    return radius.get(joint) if isinstance(radius, Mapping) else radius


def fixed_wheel(
    robot: Robot, joint: str, radius: Radius, *, along: bool = False, driven: bool = True
) -> WheelRows:
    """Return a wheel whose axle turns with the base; `along`: it may slip sideways."""
    rows = rolling_wheel(robot, joint, radius_of(radius, joint))
    return WheelRows(
        Wheel(joint, 'fixed', rows.radius, driven=driven), _along(rows) if along else rows
    )


def roller_part(robot: Robot, joint: str, angle: float, radius: Radius) -> WheelRows:
    """Return a wheel with rollers on its rim."""
    rows = roller_wheel(robot, joint, angle, radius_of(radius, joint))
    return WheelRows(Wheel(joint, 'roller', rows.radius), rows)


def by_steering(
    robot: Robot, what: str, wheels: Mapping[str, str | Sequence[str]], least: int = 0
) -> dict[str, tuple[str, ...]]:
    """Return the names of wheels by their steering joints: one each, or twins."""
    mapping = as_mapping(what, wheels)
    named(robot, what, tuple(mapping), least)
    return {
        joint: named(robot, what, (joints,) if isinstance(joints, str) else joints)
        for joint, joints in mapping.items()
    }


def steered_wheels(
    robot: Robot,
    wheels: Mapping[str, Sequence[str]],
    radius: Radius,
    *,
    kind: str = 'steered',
    motors: Collection[str] | None = None,
) -> list[WheelRows]:
    """Return steered wheels or casters by their steering joints, and then their twins."""
    parts: list[WheelRows] = []
    twins: list[WheelRows] = []
    for steering, joints in wheels.items():
        for joint in joints:
            check_steers(robot, steering, joint)
            rows = rolling_wheel(robot, joint, radius_of(radius, joint))
            driven = motors is None or joint in motors
            if joint == joints[0]:
                parts.append(WheelRows(Wheel(joint, kind, rows.radius, steering, driven), rows))
            else:
                rows = _along(rows)
                twins.append(WheelRows(Wheel(joint, 'twin', rows.radius, driven=driven), rows))
    return [*parts, *twins]


def _along(rows: RollingWheel) -> RollingWheel:
    """Return the rows of a wheel without the lateral one, as `differential_drive` names them."""
    names = {'longitudinal': 'rolling', 'vertical': 'vertical'}
    wheel = rows.labels[0].rpartition('/')[0]
    kept = tuple(name for name in rows.directions if name in names)
    labels = tuple(f'{wheel}/{names[name]}' for name in kept)
    return replace(rows, labels=labels, directions=kept)


@dataclass(frozen=True)
class Passive:
    """What carries a base and has no motor, and the radius of wheels; see `differential`."""

    casters: Mapping[str, str | Sequence[str]] | None = None
    balls: Sequence[str] = ()
    supports: Sequence[ArrayLike] = ()
    radius: Radius = None

    def parts(self, robot: Robot) -> list[WheelRows]:
        """Return the casters and balls that are joints."""
        casters = by_steering(robot, 'casters', {} if self.casters is None else self.casters)
        parts = steered_wheels(robot, casters, self.radius, kind='caster', motors=())
        for joint in as_names('balls', self.balls):
            rows = rolling_ball(robot, joint, radius_of(self.radius, joint))
            parts.append(WheelRows(Wheel(joint, 'ball', rows.radius, driven=False), rows))
        return parts

    def points(self) -> tuple[Vector, ...]:
        """Return the contact points of massless casters [m]."""
        points = as_sequence('supports [m]', self.supports, 'points (x, y, z)')
        vectors = (as_vector(f'supports[{k}] [m]', x, 3).tolist() for k, x in enumerate(points))
        return tuple((x, y, z) for x, y, z in vectors)


def assembled(
    kind: str,
    robot: Robot,
    parts: Sequence[WheelRows],
    passive: Passive,
    rows: tuple[Constraint, ...] | None = None,
    assumed: tuple[Constraint, ...] = (),
    track_factor: float = 1.0,
) -> WheeledBase:
    """Return the base of its parts; `rows` of all of them together, where given."""
    followers = passive.parts(robot)
    wheels = tuple(part.wheel for part in (*parts, *followers))
    check_tasks(wheels)
    if isinstance(passive.radius, Mapping):
        for joint in as_mapping('radius [m]', passive.radius):
            index_of('wheel', joint, [wheel.joint for wheel in wheels])
    wheel_rows = tuple(part.rows for part in parts) if rows is None else rows
    rolling = (*wheel_rows, *(part.rows for part in followers))
    base = WheeledBase(kind, robot, wheels, rolling, passive.points(), assumed, track_factor)
    free = base.undriven()
    if free:
        warnings.warn(
            f'{kind} base: {free} of its motions are held by none of the wheels '
            f'{list(base.driven)}',
            ModelWarning,
            stacklevel=3,
        )
    return base


def check_tasks(wheels: Iterable[Wheel]) -> None:
    """Refuse a joint that is named twice."""
    seen: set[str] = set()
    for joint in (name for wheel in wheels for name in (wheel.joint, wheel.steering) if name):
        if joint in seen:
            raise ConstraintError(f"joint '{joint}' is named twice, for two wheels or two tasks")
        seen.add(joint)


def named(robot: Robot, what: str, joints: Sequence[str], least: int = 1) -> tuple[str, ...]:
    """Return names of wheel joints."""
    names = as_names(what, joints)
    for name in names:
        checked_robot(robot).body_of_joint(name)
    if len(names) < least:
        raise ConstraintError(f'{what}: need {least} or more joints of wheels, got {list(names)}')
    return names


def axle_row(
    robot: Robot, left: Sequence[str], right: Sequence[str], radius: Radius
) -> NoSideSlip:
    """Return the row of an axle that all wheels share."""
    first, last = left[0], right[0]
    pairs = [(first, last), *((j, last) for j in left[1:]), *((first, j) for j in right[1:])]
    with warnings.catch_warnings():
        warnings.simplefilter('ignore', ModelWarning)  # each wheel tells its own
        drives = [differential_drive(robot, *pair, radius_of(radius, pair[0])) for pair in pairs]
    return drives[0].side_slip


def far_apart_first(robot: Robot, rows: Sequence[RollingWheel]) -> tuple[RollingWheel, ...]:
    """Return rows of wheels, the one farthest from the first beside it: they differ most."""
    points = [wheel_place(robot, wheel).point for wheel in rows]
    far = int(np.argmax([np.linalg.norm(point - points[0]) for point in points]))
    first = dict.fromkeys((0, far))
    return tuple(rows[k] for k in (*first, *(k for k in range(len(rows)) if k not in first)))
