# SPDX-License-Identifier: Apache-2.0
"""Hashes of what robots and constraints contain, for comparing them by content."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np

from kane_dynamics.algebra.quaternions import NumericQuaternion, vec4
from kane_dynamics.algebra.real_numbers import describe
from kane_dynamics.exceptions import NotFingerprintableError

_OUR_CODE = f'{__name__.split(".")[0]}.'


def add_content(digest: Any, value: Any) -> None:
    """
    Feed a value to a hash of hashlib, so that equal content gives equal hashes.

    Fields of dataclasses that do not count when these are compared are left out.

    Raises
    ------
    NotFingerprintableError
        If the value is, or holds, neither data nor a dataclass of this package.

    """
    digest.update(type(value).__qualname__.encode() + b'(')
    if value is None or isinstance(value, (str, bool, int)):
        digest.update(repr(value).encode())
    elif isinstance(value, float):
        digest.update(value.hex().encode())
    elif isinstance(value, np.ndarray):
        digest.update(repr((value.shape, value.dtype.str)).encode() + value.tobytes())
    elif isinstance(value, NumericQuaternion):
        digest.update(vec4(value).tobytes())
    elif isinstance(value, Mapping):
        for key in sorted(value):
            add_content(digest, key)
            add_content(digest, value[key])
    elif isinstance(value, (tuple, list)):
        for item in value:
            add_content(digest, item)
    elif isinstance(value, slice):
        digest.update(repr(value).encode())
    elif dataclasses.is_dataclass(value) and type(value).__module__.startswith(_OUR_CODE):
        for item in dataclasses.fields(value):
            if item.compare:
                digest.update(item.name.encode())
                add_content(digest, getattr(value, item.name))
    else:
        raise NotFingerprintableError(
            f'{describe(value)} has no content to hash; need numbers, text, arrays, robots or '
            'other dataclasses of this package'
        )
    digest.update(b')')
