# SPDX-License-Identifier: Apache-2.0
"""A function of dynamics is defined once, and documented there; its examples run."""

import ast
import doctest
import inspect
import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import kane_dynamics as kd
from kane_dynamics.dynamics.table import FUNCTIONS

PACKAGE = Path(kd.__file__).parent
METHODS = [
    name
    for name, method in inspect.getmembers(kd.Dynamics, inspect.isfunction)
    if not name.startswith('_') and name not in ('load', 'motion_at')
]
ENGINES = (
    *sorted((PACKAGE / 'dynamics').glob('*.py')),
    *sorted((PACKAGE / 'deployment').glob('*.py')),
    *(PACKAGE / 'compiler' / name for name in ('compiled.py', 'kernel_set.py')),
    PACKAGE / 'compiler/cuda/robot.py',
)
# of a robot under constraints that are an argument, in a place of its own
WITH_CONSTRAINTS = {
    'forward_dynamics',
    'constrained_inverse_dynamics',
    'limited_inverse_dynamics',
    'consistent_velocity',
    'consistent_acceleration',
}


def definitions(path):
    """Return the names of all functions that a file defines."""
    tree = ast.parse(path.read_text(encoding='utf-8'))
    return [node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]


def test_every_function_is_defined_once_for_all_engines():
    found = Counter(name for path in ENGINES for name in definitions(path) if name in METHODS)
    assert set(found) == set(METHODS)
    more = {name for name, count in found.items() if count > 1}
    assert more == WITH_CONSTRAINTS, (
        'define a function of dynamics once, in kane_dynamics/dynamics'
    )
    assert all(found[name] == 2 for name in more)


def test_a_function_is_a_formula_and_a_row():
    """What CONTRIBUTING.md shows: nothing else of the package names it, but who calls it."""
    name, files = 'centroidal_momentum_rate', PACKAGE.rglob('*.py')
    naming = {x.relative_to(PACKAGE).as_posix() for x in files if name in x.read_text('utf-8')}
    assert naming == {
        'dynamics/kinematics.py',
        'analysis/ground_contacts.py',
    }  # and that of its formula
    sources = 'algorithms/kinematics.py', 'dynamics/kinematics.py'
    recipe = (PACKAGE.parent / 'CONTRIBUTING.md').read_text('utf-8')
    added = [
        line[1:] for line in recipe.splitlines() if line.startswith('+') and line[1:4] != '++ '
    ]
    text = ''.join((PACKAGE / file).read_text('utf-8') for file in sources)
    assert [line for line in added if line not in text] == []


def test_rows_are_methods_or_numbers_of_a_result():
    without = {name for name, row in FUNCTIONS.items() if not row.text}
    efforts = {'constrained_effort', 'reference_effort', 'frame_effort', 'wrench_effort'}
    assert without == efforts | {
        *('inner_forces', 'force_responses', 'limited_effort'),
        'wheel_touches',
    }
    assert FUNCTIONS.keys() - without <= set(METHODS)
    for name in FUNCTIONS.keys() - without:
        parameters = inspect.signature(getattr(kd.Dynamics, name)).parameters
        assert set(FUNCTIONS[name].inputs) <= set(parameters), name


def test_every_row_is_a_function_of_a_robot_too():
    robot, q = kd.serial_chain(2), [0.1, 0.2]
    np.testing.assert_array_equal(kd.frame_poses(robot, q), kd.dynamics(robot).frame_poses(q))
    for name, row in FUNCTIONS.items():
        if row.text and name not in WITH_CONSTRAINTS:
            signature = inspect.signature(getattr(kd, name))
            assert next(iter(signature.parameters)) == 'robot', name


@pytest.mark.parametrize('name', METHODS)
def test_every_method_is_documented_with_its_parameters(name):
    text = inspect.getdoc(getattr(kd.Dynamics, name))
    if name in ('switched', 'engine', 'many_motions'):  # for the package, not for users
        return
    for parameter in inspect.signature(getattr(kd.Dynamics, name)).parameters:
        assert parameter == 'self' or re.search(rf'\b{parameter}\b', text), parameter


def test_examples_of_the_interface_run():
    finder, runner = doctest.DocTestFinder(recurse=False), doctest.DocTestRunner()
    names = {'kd': kd, 'np': np}
    (first,) = finder.find(kd.Dynamics, 'Dynamics', globs=names)
    runner.run(first, clear_globs=False)
    assert first.examples
    for name in METHODS:
        for test in finder.find(getattr(kd.Dynamics, name), name, globs=first.globs):
            runner.run(test, clear_globs=False)
            assert test.examples or name not in FUNCTIONS or not FUNCTIONS[name].text, name
    assert runner.summarize(verbose=False).failed == 0


def test_examples_of_functions_run():
    first = {'d': kd.dynamics(kd.serial_chain(2)), 'kd': kd, 'np': np}
    first['q'], first['v'], first['a'] = np.array([[0.1, 0.2], [0.3, 0.4], [0.5, 0.6]])
    first['tau'] = np.array([0.7, 0.8])
    runner, finder = doctest.DocTestRunner(), doctest.DocTestFinder(recurse=False)
    for name in FUNCTIONS.keys() & set(kd.__all__):
        for test in finder.find(getattr(kd, name), name, globs=first):
            runner.run(test, clear_globs=False)
    assert runner.summarize(verbose=False).failed == 0
