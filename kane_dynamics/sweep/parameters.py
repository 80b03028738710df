# SPDX-License-Identifier: Apache-2.0
"""Parameters of sweeps: what they may hold, the grid of their values, and how they are hashed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from itertools import product
from types import MappingProxyType
from typing import Any

import numpy as np

from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.robot.checks import as_mapping, describe
from kane_dynamics.robot.content import add_content


def grid(**values: Iterable[Any]) -> tuple[dict[str, Any], ...]:
    """
    Return each combination of values by name, the last name varying fastest.

    Parameters
    ----------
    **values : iterable
        Values of each parameter, e.g. ``robot=[first, second], friction=[0.4, 0.6]``.

    Raises
    ------
    InvalidInputError
        If the values of a parameter are no sequence, or a text.

    """
    for name, arguments in values.items():
        if isinstance(arguments, (str, bytes)) or not isinstance(arguments, Iterable):
            raise InvalidInputError(
                f'{name}: need a sequence of values, got {describe(arguments)}'
            )
    return tuple(
        dict(zip(values, combination, strict=True)) for combination in product(*values.values())
    )


def checked_parameters(arguments: Any) -> Mapping[str, Any]:
    """
    Return the parameters of one case: names and data that nobody can change.

    Raises
    ------
    InvalidInputError
        If it is no mapping from names, or holds an array of objects.
    NotFingerprintableError
        If a value is neither data nor a robot or another dataclass of this package.

    """
    named = as_mapping('parameters of a case', arguments)
    parameters = MappingProxyType({name: _frozen(name, value) for name, value in named.items()})
    digest_of(parameters)
    return parameters


def digest_of(*content: Any) -> str:
    """Return the hash of data, robots and other dataclasses of this package."""
    digest = hashlib.sha256()
    add_content(digest, content)
    return digest.hexdigest()


def described(parameters: Mapping[str, Any]) -> str:
    """Return parameters as JSON for people; robots are told by name and hash."""
    return json.dumps(dict(parameters), default=_as_json)


def _frozen(name: str, value: Any) -> Any:
    """Return plain data for what numpy has types of its own for."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        if value.dtype.hasobject:
            raise InvalidInputError(f'{name}: need an array of numbers, got one of objects')
        copied = np.array(value)
        copied.setflags(write=False)
        return copied
    if isinstance(value, (tuple, list)):
        return tuple(_frozen(name, entry) for entry in value)
    if isinstance(value, Mapping):
        return {key: _frozen(name, entry) for key, entry in as_mapping(name, value).items()}
    return value


def _as_json(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.tolist()
    return f'{value!r} {digest_of(value)[:16]}'
