# SPDX-License-Identifier: Apache-2.0
"""What compiled code depends on, as one hash."""

from __future__ import annotations

import dataclasses
import hashlib
import platform
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from kane_dynamics.algebra.quaternions import NumericQuaternion, vec4
from kane_dynamics.constraints.base import Constraint
from kane_dynamics.exceptions import NotFingerprintableError
from kane_dynamics.kernels.native import OBJECT_HEADER, processor
from kane_dynamics.model.robot import Robot

_OUR_CODE = f'{__name__.split(".")[0]}.'
_SOURCES = ('algebra', 'algorithms', 'constraints', 'kernels', 'model', 'simulation')


def fingerprint(robot: Robot, constraints: Sequence[Constraint], *more: Any) -> str:
    """
    Return a hash of everything that the machine code of a robot depends on.

    Robot, constraints, further choices, the source of the algorithms, the compilers' versions,
    the interpreter's object layout and the processor.

    Raises
    ------
    NotFingerprintableError
        If a constraint holds a user's function or is of a user's class.

    """
    digest = hashlib.sha256()
    environment = (
        platform.python_implementation(),
        OBJECT_HEADER,
        tuple.__basicsize__,
        np.__version__,
        version('casadi'),
        version('llvmlite'),
        processor(),
    )
    for part in (environment, robot, tuple(constraints), more):
        _update(digest, part)
    for path in source_files():
        digest.update(path.read_bytes())
    return digest.hexdigest()


def source_files() -> list[Path]:
    """Return the files whose code the graphs come from."""
    root = Path(__file__).parent.parent
    return sorted(path for folder in _SOURCES for path in (root / folder).glob('*.py'))


def _update(digest: Any, value: Any) -> None:
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
            _update(digest, key)
            _update(digest, value[key])
    elif isinstance(value, (tuple, list)):
        for item in value:
            _update(digest, item)
    elif isinstance(value, slice):
        digest.update(repr(value).encode())
    elif dataclasses.is_dataclass(value) and type(value).__module__.startswith(_OUR_CODE):
        for item in dataclasses.fields(value):
            digest.update(item.name.encode())
            _update(digest, getattr(value, item.name))
    else:
        raise NotFingerprintableError(f'{value!r} has no content to hash')
    digest.update(b')')
