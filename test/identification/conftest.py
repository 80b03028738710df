# SPDX-License-Identifier: Apache-2.0
"""Two arms in machine code."""

import sys
from pathlib import Path

import pytest
from support.wheeled_robots import installed

import kane_dynamics as kd

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))


@pytest.fixture(scope='session')
def panda():
    """Return Franka's arm without hand."""
    installed('panda')
    from studies.identification.arms import panda

    return kd.compile(panda(), cache=False)


@pytest.fixture(scope='session')
def ur10():
    """Return the UR10."""
    installed('panda')
    from studies.identification.arms import ur10

    return kd.compile(ur10(), cache=False)
