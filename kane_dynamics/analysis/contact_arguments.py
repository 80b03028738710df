# SPDX-License-Identifier: Apache-2.0
"""Arguments of `ground_contacts`: casters, friction and springs by name, checked once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from kane_dynamics.algebra.pose import Pose
from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.robot.checks import (
    as_mapping,
    as_numbers,
    as_positive,
    as_vector,
    describe,
    index_of,
)
from kane_dynamics.robot.robot import Frame, Robot
from kane_dynamics.typing import Floats


def placed_casters(robot: Robot, casters: Any) -> dict[str, Frame]:
    """
    Return frames whose origins are where casters touch the ground.

    Raises
    ------
    NameNotFoundError
        If a frame does not exist.
    InvalidInputError
        If a caster is not a frame that moves and a point.

    """
    frames = {}
    for name, values in as_mapping('casters', {} if casters is None else casters).items():
        if isinstance(values, str) or not isinstance(values, Sequence) or len(values) != 2:
            raise InvalidInputError(
                f"caster '{name}': need a frame and a point in it, (str, (x, y, z)), got "
                f'{describe(values)}'
            )
        body, point = robot.moving_body(values[0]), as_vector(f"caster '{name}' [m]", values[1], 3)
        offset = Pose.from_rotation_and_position((1.0, 0.0, 0.0, 0.0), point)
        frames[name] = Frame(body, robot.frame(values[0]).pose * offset)
    return frames


def friction_pair(name: str, friction: Any, names: Sequence[str]) -> list[float]:
    """
    Return mu along and across the track of a contact; NaN where it is not known.

    Raises
    ------
    NameNotFoundError
        If friction is given of what is no contact.
    InvalidInputError
        If it is not one or two numbers >= 0.

    """
    values = friction
    if isinstance(friction, Mapping):
        for other in friction:
            index_of('contact', other, names)
        values = friction.get(name)
    if values is None:
        return [np.nan, np.nan]
    numbers = as_numbers(f"friction of '{name}'", values)
    if numbers.shape not in ((), (2,)) or not (np.isfinite(numbers) & (numbers >= 0.0)).all():
        raise InvalidInputError(
            f"friction of '{name}': need a number >= 0, or two (along, across), got {values!r}"
        )
    return [float(mu) for mu in np.broadcast_to(numbers, 2)]


def spring_array(stiffness: Any, names: Sequence[str]) -> Floats:
    """
    Return the stiffness of each contact, shape (k,) [N/m].

    Raises
    ------
    NameNotFoundError
        If one is given of what is no contact.
    InvalidInputError
        If one is missing or not positive.

    """
    values = as_mapping('stiffness [N/m]', stiffness)
    for other in values:
        index_of('contact', other, names)
    missing = [name for name in names if name not in values]
    if missing:
        raise InvalidInputError(
            f'stiffness [N/m]: need one for every contact, missing are {missing}'
        )
    return np.array([as_positive(f"stiffness of '{name}' [N/m]", values[name]) for name in names])
