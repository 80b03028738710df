# SPDX-License-Identifier: Apache-2.0
"""Fixtures that every test may use."""

import os
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest
from support.checklist import mark_claims, pytest_terminal_summary  # noqa: F401  (a hook)

ROOT = Path(__file__).resolve().parents[1]
LONG = ('mutation', 'studies', 'sweep', 'deployment', 'compiler')  # folders of minutes


def pytest_collection_modifyitems(items):
    """Let reports say which claims a test shows; long files at the end leave a worker alone."""
    mark_claims(items)
    items.sort(key=lambda item: item.path.parent.name not in LONG)


@pytest.fixture(scope='session', autouse=True)
def kernel_cache(request, tmp_path_factory):
    """Keep the machine code of this run in a folder of its own, which its processes share."""
    folder = tmp_path_factory.getbasetemp()
    if hasattr(request.config, 'workerinput'):  # of pytest-xdist: below the folder of the run
        folder = folder.parent
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv('XDG_CACHE_HOME', str(folder / 'cache'))
        yield


@pytest.fixture(scope='session', autouse=True)
def modules_compiled_once(kernel_cache):
    """Let LLVM compile each module of this run once: equal texts have equal machine code."""
    from kane_dynamics.compiler.llvm import native

    folder, compiled = Path(os.environ['XDG_CACHE_HOME']) / 'modules', native._compiled
    folder.mkdir(parents=True, exist_ok=True)

    def once(ir, *target):
        place = folder / sha256(f'{native.IS_OLDER} {target}\n{ir}'.encode()).hexdigest()
        if not place.exists():
            written = place.with_suffix(f'.{os.getpid()}')
            written.write_bytes(compiled(ir, *target))
            written.replace(place)  # another process may do the same
        return place.read_bytes()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(native, '_compiled', once)
        yield compiled


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
