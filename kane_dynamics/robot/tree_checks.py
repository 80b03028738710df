# SPDX-License-Identifier: Apache-2.0
"""Checks of the bodies that a robot is built from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.robot.body import WORLD, Body
from kane_dynamics.robot.checks import describe


def checked_bodies(bodies: Any) -> tuple[Body, ...]:
    """
    Return the bodies of a robot.

    Raises
    ------
    InvalidInputError
        If they are no sequence of Body.

    """
    several = tuple(bodies) if isinstance(bodies, Iterable) else (bodies,)
    wrong = [body for body in several if not isinstance(body, Body)]
    if wrong or not isinstance(bodies, Iterable):
        raise InvalidInputError(f'bodies: need a sequence of Body, got {describe(bodies)}')
    return several


def check_unique(what: str, names: Sequence[str]) -> None:
    """
    Check that no name comes twice.

    Raises
    ------
    InvalidInputError
        If one does.

    """
    repeated = sorted(name for name, times in Counter(names).items() if times > 1)
    if repeated:
        raise InvalidInputError(f'{what} names must be unique, these repeat: {repeated}')


def parents_of(bodies: tuple[Body, ...]) -> tuple[int, ...]:
    """
    Return the index of each body's parent.

    Raises
    ------
    InvalidInputError
        If a parent does not come before its child.

    """
    seen = {'': WORLD}
    parents = []
    for i, body in enumerate(bodies):
        if body.parent not in seen:
            raise InvalidInputError(
                f"body '{body.name}': parent '{body.parent}' must come before it; "
                f'before it are {sorted(seen)}'
            )
        parents.append(seen[body.parent])
        seen[body.name] = i
    return tuple(parents)
