# SPDX-License-Identifier: Apache-2.0
"""Wheels that a URDF shows, by joint axes and collision shapes, and the bases that fit them."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kane_dynamics.bases.block import wheeled_base
from kane_dynamics.bases.motion_rows import (
    ALIGNED,
    is_horizontal,
    is_vertical,
    joint_above,
    joint_place,
    shape_place,
    trail,
)
from kane_dynamics.exceptions import KaneDynamicsError
from kane_dynamics.robot.body import Vector
from kane_dynamics.robot.joint_kinds import Revolute, Spherical
from kane_dynamics.robot.robot import Robot
from kane_dynamics.robot.state import checked_robot
from kane_dynamics.typing import Floats

LIKE_A_WHEEL = re.compile(r'wheel|caster|castor', re.IGNORECASE)
_ON_THE_GROUND = 0.1  # [radii] between the lowest points of wheels of one robot
_TRAIL = 0.1  # [radii] from which a swivel is a caster: printed digits leave less


@dataclass(frozen=True)
class FoundWheel:
    """
    What a robot description shows of a wheel, in the frame of the base at the neutral state.

    Parameters
    ----------
    joint : str
        Joint that it turns on.
    kind : str
        'fixed', 'steered' (below a vertical axis), 'caster' (behind one) or 'ball'; twins on one
        vertical axis are of one kind. Rollers on a rim are in no URDF: mecanum and omni wheels
        are 'fixed' here.
    radius : float or None
        Of its collision shape [m]; None where there is none and its name is all that tells.
    centre : tuple of float
        [m].
    axis : tuple of float
        Unit vector; zero for a ball.
    steering : str or None
        Joint with a vertical axis that carries nothing but this wheel, or it and its twins.
    trail : float
        Distance in the heading from the steering axis to the wheel [m].
    named : bool
        Whether joint or link is called a wheel or a caster.

    """

    joint: str
    kind: str
    radius: float | None
    centre: Vector
    axis: Vector
    steering: str | None
    trail: float
    named: bool


def found_wheels(robot: Robot) -> tuple[FoundWheel, ...]:
    """
    Return the wheels that a robot shows, in the order of its joints.

    A wheel turns without end about a horizontal axis, carries nothing, and has a collision
    cylinder or sphere about that axis, which is as low as that of the others. Without such a shape
    its name counts, and `radius` is None. A ball hangs on a spherical joint.

    Parameters
    ----------
    robot : Robot
        The robot, as `load_urdf` returns it.

    Raises
    ------
    InvalidInputError
        If it is no robot.

    """
    carriers = set(checked_robot(robot).parents)
    wheels = [
        wheel
        for body in range(len(robot.bodies))
        if body not in carriers and (wheel := _wheel(robot, body)) is not None
    ]
    lowest = min((_bottom(wheel) for wheel in wheels if wheel.radius), default=0.0)
    return tuple(
        wheel
        for wheel in wheels
        if not wheel.radius or _bottom(wheel) - lowest <= _ON_THE_GROUND * wheel.radius
    )


def _wheel(robot: Robot, body: int) -> FoundWheel | None:
    """Return what a body that carries nothing shows of a wheel."""
    joint, link = robot.bodies[body].joint, robot.bodies[body].name
    if robot.bodies[body].mimic is not None or not _is_endless(joint.lower, joint.upper):
        return None
    shape = robot.wheels.get(joint.name)
    named = bool(LIKE_A_WHEEL.search(joint.name) or LIKE_A_WHEEL.search(link))
    placement = shape_place(robot, joint.name)
    radius = None if shape is None else shape.radius
    steering, kind, behind = None, 'ball', 0.0
    if isinstance(joint.kind, Spherical):
        if shape is None or shape.axis is not None:
            return None
    else:
        flat = isinstance(joint.kind, Revolute) and is_horizontal(placement.axis)
        if not flat or (shape is None and not named):
            return None
        steering, kind = _steering(robot, joint.name), 'fixed'
    if steering is not None:
        behind = trail(joint_place(robot, steering), placement)
        kind = 'caster' if radius is not None and behind > _TRAIL * radius else 'steered'
    vectors = _vector(placement.point), _vector(placement.axis)
    return FoundWheel(joint.name, kind, radius, *vectors, steering, round(behind, 9), named)


def _steering(robot: Robot, wheel: str) -> str | None:
    """Return the joint above a wheel, if it turns about a vertical axis and only wheels."""
    above = joint_above(robot, wheel)
    if above is None or not is_vertical(joint_place(robot, above).axis):
        return None
    fork, axis = robot.body_of_joint(above), joint_place(robot, wheel).axis
    bodies = [robot.bodies[k] for k, parent in enumerate(robot.parents) if parent == fork]
    twins = all(
        _is_endless(body.joint.lower, body.joint.upper)
        and abs(joint_place(robot, body.joint.name).axis @ axis) > 1.0 - ALIGNED**2
        for body in bodies
    )
    return above if twins else None


def _bottom(wheel: FoundWheel) -> float:
    return wheel.centre[2] - (wheel.radius or 0.0)


def _is_endless(lower: float, upper: float) -> bool:
    return bool(np.isinf(lower) and np.isinf(upper))


def _vector(x: Floats) -> Vector:
    a, b, c = np.round(x, 9).tolist()
    return a, b, c


_ONE_AXLE = 1e-3  # [m] between wheels along x


@dataclass(frozen=True)
class FittingKind:
    """
    A kind of base that fits.

    Parameters
    ----------
    block : mapping of str to object
        What `wheeled_base` takes, as far as it is known: its kind and its joints.
    needs : tuple of str
        What the user must add to the block, or must know; no URDF tells it.

    """

    block: dict[str, Any]
    needs: tuple[str, ...] = ()

    @property
    def kind(self) -> str:
        """Return the kind of base."""
        return str(self.block['kind'])

    def text(self) -> str:
        """Return the block as a line of YAML."""
        return yaml_line(self.block)[1:-1]

    def needed(self, robot: Robot) -> tuple[str, ...]:
        """Return what is needed, and where nothing is, what keeps the base from being built."""
        if self.needs:
            return self.needs
        try:
            wheeled_base(robot, self.block)
        except KaneDynamicsError as error:
            return (str(error),)
        return ()


def fitting_kinds(robot: Robot) -> tuple[FittingKind, ...]:
    """
    Return the kinds of base that fit the wheels of a robot; x of its base is forward.

    Parameters
    ----------
    robot : Robot
        The robot, as `load_urdf` returns it.

    Raises
    ------
    InvalidInputError
        If it is no robot.

    """
    wheels = found_wheels(robot)
    of_kind = {
        kind: [wheel for wheel in wheels if wheel.kind == kind]
        for kind in ('fixed', 'steered', 'caster', 'ball')
    }
    passive: dict[str, Any] = {}
    if of_kind['caster']:
        passive['casters'] = _by_steering(of_kind['caster'])
    if of_kind['ball']:
        passive['balls'] = [wheel.joint for wheel in of_kind['ball']]
    unknown = tuple(
        f"radius: of '{wheel.joint}' [m], it has no collision cylinder or sphere"
        for wheel in wheels
        if wheel.radius is None
    )
    fits = _candidates(of_kind['fixed'], of_kind['steered'], of_kind['caster'])
    kinds = []
    for block, needs in fits:
        steered = block.get('steered', {})
        others = {k: v for k, v in passive.items() if k != 'casters' or v != steered}
        kinds.append(FittingKind({**block, **others}, (*needs, *unknown)))
    return tuple(kinds)


def _candidates(
    fixed: Sequence[FoundWheel], steered: Sequence[FoundWheel], casters: Sequence[FoundWheel]
) -> Iterator[tuple[dict[str, Any], tuple[str, ...]]]:
    """Yield the block of each kind that fits, without passive wheels, and what it needs."""
    names = [wheel.joint for wheel in fixed]
    ahead = all(abs(wheel.axis[0]) <= ALIGNED for wheel in fixed)
    axles = _axles(fixed)
    if steered:
        if not fixed:
            yield {'kind': 'swerve', 'steered': _by_steering(steered)}, ()
        elif ahead and len(axles) == 1:
            yield {'kind': 'ackermann', 'rear': names, 'steered': _by_steering(steered)}, ()
    elif fixed and ahead:
        left = [wheel.joint for wheel in fixed if wheel.centre[1] > 0.0]
        right = [wheel.joint for wheel in fixed if wheel.centre[1] <= 0.0]
        if left and right and len(axles) == 1:
            yield {'kind': 'differential', 'left': left, 'right': right}, ()
        elif min(len(left), len(right)) > 1:
            yield {'kind': 'skid_steer', 'left': left, 'right': right}, ()
            angles = 'roller_angles: of each wheel [rad], if the wheels have rollers'
            yield {'kind': 'mecanum', 'wheels': names}, (angles,)
    elif len(fixed) > 2 and _spread(fixed):
        yield {'kind': 'omni', 'wheels': names}, ('to know that the wheels have rollers',)
    elif not fixed and len(casters) > 1:
        motors = 'to know that motors turn wheels and swivels'
        yield {'kind': 'swerve', 'steered': _by_steering(casters)}, (motors,)


def yaml_line(value: Any) -> str:
    """Return a value as YAML on one line."""
    import yaml

    text: str = yaml.safe_dump(
        value, default_flow_style=True, sort_keys=False, width=10**9, allow_unicode=True
    )
    return text.removesuffix('...\n').strip()


def _by_steering(wheels: Iterable[FoundWheel]) -> dict[str, str | list[str]]:
    """Return the wheel on each steering joint, or its twins."""
    joints: dict[str, list[str]] = {}
    for wheel in wheels:
        if wheel.steering is not None:
            joints.setdefault(wheel.steering, []).append(wheel.joint)
    return {joint: names[0] if len(names) == 1 else names for joint, names in joints.items()}


def _spread(wheels: Sequence[FoundWheel]) -> bool:
    """Return whether axles point in different directions."""
    axes = np.array([wheel.axis for wheel in wheels])
    return bool(np.linalg.norm(np.cross(axes, axes[0]), axis=1).max() > ALIGNED)


def _axles(wheels: Sequence[FoundWheel]) -> list[float]:
    """Return where along x there are axles."""
    axles: list[float] = []
    for x in sorted(wheel.centre[0] for wheel in wheels):
        if not axles or not np.isclose(x, axles[-1], rtol=0.0, atol=_ONE_AXLE):
            axles.append(x)
    return axles
