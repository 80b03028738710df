# SPDX-License-Identifier: Apache-2.0
"""Compiled robots with the time steps that a test takes: all of them are half of the work."""

from contextlib import contextmanager

import pytest

import kane_dynamics as kd
from kane_dynamics.compiler import build


@contextmanager
def steps_of(*integrators):
    """Compile time steps of some integrators alone, or of none; `cache=False` is needed."""
    chosen = {name: build.INTEGRATORS[name] for name in integrators}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(build, 'INTEGRATORS', chosen)
        yield


def compiled_with(integrators, robot, constraints=(), **options):
    """Return a robot compiled with the time steps of some integrators alone."""
    with steps_of(*integrators):
        return kd.compile(robot, constraints, cache=False, **options)
