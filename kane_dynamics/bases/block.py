# SPDX-License-Identifier: Apache-2.0
"""A mobile base from a short block of settings, e.g. of a YAML file."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from kane_dynamics.bases import builders
from kane_dynamics.bases.wheeled_base import WheeledBase
from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.robot.checks import as_mapping, describe
from kane_dynamics.robot.robot import Robot
from kane_dynamics.robot.state import checked_robot

BUILDERS: Mapping[str, Callable[..., WheeledBase]] = {
    builder.__name__: builder
    for builder in (
        builders.differential,
        builders.skid_steer,
        builders.mecanum,
        builders.omni,
        builders.ackermann,
        builders.swerve,
    )
}


def wheeled_base(robot: Robot, block: Mapping[str, Any]) -> WheeledBase:
    """
    Return the base that a block of settings describes.

    Parameters
    ----------
    robot : Robot
        A robot with a planar or a floating base.
    block : mapping of str to object
        ``kind``: the name of a builder, e.g. 'mecanum'; the other entries are its arguments.

    Raises
    ------
    InvalidInputError
        If the kind or an entry is unknown (the message has the nearest name) or one is missing,
        or as the builder.
    NameNotFoundError, ConstraintError
        As the builder.

    Warns
    -----
    ModelWarning
        As the builder.

    """
    checked_robot(robot)
    entries = dict(as_mapping('block', block))
    kind = entries.pop('kind', None)
    if not isinstance(kind, str) or kind not in BUILDERS:
        raise InvalidInputError(
            f'kind of base: need one of {list(BUILDERS)}, got '
            f'{describe(kind)}{_meant(kind, BUILDERS)}'
        )
    arguments = list(inspect.signature(BUILDERS[kind]).parameters.values())[1:]
    names = [argument.name for argument in arguments]
    for entry in entries:
        if entry not in names:
            raise InvalidInputError(
                f"a base of kind '{kind}' has no entry '{entry}'{_meant(entry, names)}; "
                f'there are {names}'
            )
    for argument in arguments:
        if argument.default is argument.empty and argument.name not in entries:
            raise InvalidInputError(f"a base of kind '{kind}' needs '{argument.name}'")
    return BUILDERS[kind](robot, **entries)


def _meant(name: Any, names: Iterable[str]) -> str:
    """Return a question for the nearest name, or ''."""
    result = difflib.get_close_matches(name, names, 1) if isinstance(name, str) else []
    return f"; did you mean '{result[0]}'?" if result else ''
