# SPDX-License-Identifier: Apache-2.0
"""Examples of public docstrings run, and public functions have one."""

import doctest
import inspect
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

import kane_dynamics as kd

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / 'doc'))
from site_parts.public import public_objects  # noqa: E402

OF_THE_INTERFACE = ('kane_dynamics.dynamics.interface', 'kane_dynamics.dynamics.functions')
PUBLIC = {
    name: value
    for name, value in public_objects()
    if inspect.isclass(value) or inspect.isfunction(value)
    if not value.__module__.startswith(OF_THE_INTERFACE)  # test_one_definition runs theirs
}
WITHOUT = 31  # functions; may only fall
FINDER = doctest.DocTestFinder(recurse=False)


def examples(name):
    """Return the doctest of a public name; numpy and the package are known to it."""
    (test,) = FINDER.find(PUBLIC[name], name, globs={'kd': kd, 'np': np})
    return test


@pytest.mark.parametrize('name', [name for name in PUBLIC if examples(name).examples])
def test_an_example_runs(name):
    with warnings.catch_warnings():
        warnings.simplefilter('ignore')
        assert doctest.DocTestRunner().run(examples(name)).failed == 0


def test_public_functions_have_examples():
    without = [
        name
        for name, value in PUBLIC.items()
        if inspect.isfunction(value) and not examples(name).examples
    ]
    assert len(without) <= WITHOUT, without
