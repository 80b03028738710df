# SPDX-License-Identifier: Apache-2.0
"""The public names of the package: those in `__all__` of it and of its packages."""

import inspect
from importlib import import_module

PACKAGES = (
    'kane_dynamics',
    'kane_dynamics.algebra',
    'kane_dynamics.bases',
    'kane_dynamics.constraints',
    'kane_dynamics.events',
    'kane_dynamics.exceptions',
    'kane_dynamics.learning',
    'kane_dynamics.simulation',
    'kane_dynamics.sweep',
)


def public_objects():
    """Return pairs of dotted name and object; of exceptions, the classes written there."""
    pairs = []
    for package in PACKAGES:
        module = import_module(package)
        names = getattr(module, '__all__', None)
        if names is None:
            names = [n for n, x in vars(module).items() if getattr(x, '__module__', '') == package]
        pairs += [(f'{package}.{name}', getattr(module, name)) for name in names]
    return [(name, value) for name, value in pairs if not inspect.ismodule(value)]
