# SPDX-License-Identifier: Apache-2.0
"""Compiled robots, each made once and shared by all tests, and by all processes of a run."""

import functools

import kernel_cases
import pytest

import kane_dynamics as kd


@functools.cache
def _pair(name):
    case = kernel_cases.CASES[name]()
    return case, kd.compile(case.robot, case.constraints)


@pytest.fixture(scope='session')
def pair():
    """Return a function: name -> a case of `kernel_cases` and its compiled robot."""
    return _pair


@pytest.fixture
def cache_folder(tmp_path, monkeypatch):
    """Return a folder of this test alone in which compiled code is kept."""
    monkeypatch.setenv('XDG_CACHE_HOME', str(tmp_path))
    return tmp_path / 'kane_dynamics'
