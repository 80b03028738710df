# SPDX-License-Identifier: Apache-2.0
"""Compiled robots with the time steps that a test takes: all of them are half of the work."""

import pytest

import kane_dynamics as kd
from kane_dynamics.compiler import build


def compiled_with(integrators, robot, constraints=(), **options):
    """Return a robot compiled with the time steps of some integrators alone, or of none."""
    chosen = {name: build.INTEGRATORS[name] for name in integrators}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(build, 'INTEGRATORS', chosen)
        return kd.compile(robot, constraints, cache=False, **options)
