# SPDX-License-Identifier: Apache-2.0
"""Functions that workers on other machines find by name, and the stamp of their source."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.metadata import version
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np

import kane_dynamics
from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.robot.checks import describe


@dataclass(frozen=True)
class NamedFunction:
    """
    A function that can be imported.

    Parameters
    ----------
    name : str
        'package.module:function'.
    stamp : str
        Its version: what the user calls it, or the hash of the file it is in.
    by_file : bool
        Whether it is that hash.

    """

    name: str
    stamp: str
    by_file: bool

    def load(self) -> Callable[[Any], Any]:
        """
        Return the function.

        Raises
        ------
        InvalidInputError
            If it cannot be imported.

        """
        return _imported(self.name)


def named_function(function: Any, stamp: str | None) -> NamedFunction:
    """
    Return a function with its name and stamp.

    Parameters
    ----------
    function : callable or str
        A function of a module, or 'package.module:function'.
    stamp : str, optional
        Its version; the hash of its file where left out.

    Raises
    ------
    InvalidInputError
        If workers could not import it, or its file, which stamps it, cannot be read.

    """
    name = function if isinstance(function, str) else _name_of(function)
    result = _imported(name)
    if not isinstance(function, str) and result is not function:
        raise InvalidInputError(f'function: {name} is another one than {function!r}')
    by_file = stamp is None
    return NamedFunction(name, file_stamp(name) if stamp is None else stamp, by_file)


def file_stamp(name: str) -> str:
    """
    Return the hash of the file that a named function is in.

    Raises
    ------
    InvalidInputError
        If there is no such file.

    """
    module = name.partition(':')[0]
    try:
        file = Path(import_module(module).__file__ or '')
        return hashlib.sha256(file.read_bytes()).hexdigest()
    except (OSError, AttributeError):
        raise InvalidInputError(
            f'function: the file of {module} cannot be read; give the version of the function'
        ) from None


@cache
def package_stamp() -> str:
    """
    Return a hash of what numbers come from: this package, numpy and the compilers.

    The processor is not in it: machines of one cluster differ.
    """
    versions = (kane_dynamics.__version__, np.__version__, version('casadi'), version('llvmlite'))
    digest = hashlib.sha256(repr(versions).encode())
    root = Path(kane_dynamics.__file__).parent
    for path in sorted(root.rglob('*.py')):
        digest.update(path.relative_to(root).as_posix().encode() + path.read_bytes())
    return digest.hexdigest()


def _name_of(function: Any) -> str:
    module, name = (getattr(function, key, '') for key in ('__module__', '__qualname__'))
    if not callable(function) or not name or '<' in name or module == '__main__':
        raise InvalidInputError(
            'function: need one that workers can import by name, so one of a module other than '
            f"the script that is run, or 'package.module:function'; got {describe(function)}"
        )
    return f'{module}:{name}'


def _imported(name: str) -> Callable[[Any], Any]:
    module, _, path = name.partition(':')
    try:
        result = attrgetter(path)(import_module(module))
    except (ImportError, AttributeError, ValueError) as error:
        raise InvalidInputError(
            f"function: need 'package.module:function', got {name!r}: {error}"
        ) from error
    if not callable(result):
        raise InvalidInputError(f'function: {name} is no function, but {describe(result)}')
    return result  # type: ignore[no-any-return]
