# SPDX-License-Identifier: Apache-2.0
"""Which kinds of base fit the wheels that a robot shows, and what each still needs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kane_dynamics.bases.block import wheeled_base
from kane_dynamics.bases.recognition import FoundWheel, found_wheels
from kane_dynamics.bases.wheel_locations import ALIGNED
from kane_dynamics.exceptions import KaneDynamicsError
from kane_dynamics.robot.robot import Robot

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
        return _yaml(self.block)[1:-1]

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
    result = []
    for block, needs in fits:
        independent_indices = block.get('steered', {})
        others = {k: v for k, v in passive.items() if k != 'casters' or v != independent_indices}
        result.append(FittingKind({**block, **others}, (*needs, *unknown)))
    return tuple(result)


def _candidates(
    fixed: Sequence[FoundWheel], steered: Sequence[FoundWheel], casters: Sequence[FoundWheel]
) -> Iterator[tuple[dict[str, Any], tuple[str, ...]]]:
    """Yield the block of each kind that fits, without passive wheels, and what it needs."""
    names = [wheel.joint for wheel in fixed]
    ahead = all(abs(wheel.axis[0]) <= ALIGNED for wheel in fixed)
    indices = _axles(fixed)
    if steered:
        if not fixed:
            yield {'kind': 'swerve', 'steered': _by_steering(steered)}, ()
        elif ahead and len(indices) == 1:
            yield {'kind': 'ackermann', 'rear': names, 'steered': _by_steering(steered)}, ()
    elif fixed and ahead:
        left = [wheel.joint for wheel in fixed if wheel.centre[1] > 0.0]
        right = [wheel.joint for wheel in fixed if wheel.centre[1] <= 0.0]
        if left and right and len(indices) == 1:
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


def _yaml(x: Any) -> str:
    """Return names in mappings and lists as YAML on one line."""
    if isinstance(x, dict):
        return '{' + ', '.join(f'{key}: {_yaml(value)}' for key, value in x.items()) + '}'
    return f'[{", ".join(x)}]' if isinstance(x, list) else str(x)


def _by_steering(wheels: Iterable[FoundWheel]) -> dict[str, str | list[str]]:
    """Return the wheel on each steering joint, or its twins."""
    result: dict[str, list[str]] = {}
    for wheel in wheels:
        if wheel.steering is not None:
            result.setdefault(wheel.steering, []).append(wheel.joint)
    return {joint: local[0] if len(local) == 1 else local for joint, local in result.items()}


def _spread(wheels: Sequence[FoundWheel]) -> bool:
    """Return whether axles point in different directions."""
    axes = np.array([wheel.axis for wheel in wheels])
    return bool(np.linalg.norm(np.cross(axes, axes[0]), axis=1).max() > ALIGNED)


def _axles(wheels: Sequence[FoundWheel]) -> list[float]:
    """Return where along x there are axles."""
    indices: list[float] = []
    for x in sorted(wheel.centre[0] for wheel in wheels):
        if not indices or not np.isclose(x, indices[-1], rtol=0.0, atol=_ONE_AXLE):
            indices.append(x)
    return indices
