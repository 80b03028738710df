# SPDX-License-Identifier: Apache-2.0
"""Fixtures that every test may use."""

from pathlib import Path

import numpy as np
import pytest
from support.checklist import mark_claims, pytest_terminal_summary  # noqa: F401  (a hook)

ROOT = Path(__file__).resolve().parents[1]


def pytest_collection_modifyitems(items):
    """Let the report of each test say which claims it shows."""
    mark_claims(items)


@pytest.fixture(scope='session', autouse=True)
def kernel_cache(request, tmp_path_factory):
    """Keep the machine code of this run in a folder of its own, which its processes share."""
    folder = tmp_path_factory.getbasetemp()
    if hasattr(request.config, 'workerinput'):  # of pytest-xdist: below the folder of the run
        folder = folder.parent
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv('XDG_CACHE_HOME', str(folder / 'cache'))
        yield


@pytest.fixture
def rng():
    """Return a random generator with the same seed in every test."""
    return np.random.default_rng(20240607)


@pytest.fixture(scope='session')
def root():
    """Return the root of the source tree."""
    return ROOT


@pytest.fixture(scope='session')
def robots():
    """Return the folder of the shipped robot descriptions."""
    return ROOT / 'robots'
