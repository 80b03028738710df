# SPDX-License-Identifier: Apache-2.0
"""CasADi, loaded when a name of it is first used: numbers and code from the cache do without."""

from importlib import import_module
from typing import Any

from kane_dynamics.exceptions import MissingPackageError


def __getattr__(name: str) -> Any:
    if name.startswith('__'):  # asked by Python itself
        raise AttributeError(name)
    try:
        value = getattr(import_module('casadi'), name)
    except ModuleNotFoundError as error:
        remedy = "pip install 'kane_dynamics[compile]'"
        raise MissingPackageError('a traced function', 'casadi', remedy) from error
    return globals().setdefault(name, value)


def __dir__() -> list[str]:
    return dir(import_module('casadi'))
