# SPDX-License-Identifier: Apache-2.0
"""What `import kane_dynamics` loads, and what it leaves for its first use."""

import ast
import inspect
import os
import subprocess
import sys
from pathlib import Path

import pytest

import kane_dynamics as kd

ROOT = Path(__file__).resolve().parents[1]
# What takes longer to load than the package itself; each only where something uses it.
HEAVY = (
    'casadi',
    'distributed',
    'llvmlite',
    'matplotlib',
    'numba',
    'quaternion',
    'rclpy',
    'rich',
    'scipy.interpolate',
    'scipy.linalg',
    'scipy.spatial',
    'sympy',
    'yaml',
)
# What traces and compiles.
COMPILERS = ('casadi', 'kane_dynamics.compiler.build')


def fresh(code):
    """Return what a new interpreter prints."""
    run = subprocess.run(
        [sys.executable, '-c', code],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, 'PYTHONPATH': str(ROOT)},
        cwd=ROOT,
    )
    assert run.returncode == 0, run.stderr
    return run.stdout.split()


def test_import_loads_nothing_heavy():
    code = f'import kane_dynamics, sys; print(*[m for m in {HEAVY} if m in sys.modules])'
    assert fresh(code) == []


@pytest.mark.parametrize('name', ['casadi_function', 'export_c', 'equations_of_motion'])
def test_heavy_parts_come_with_their_first_use(name):
    code = f'import kane_dynamics as kd, sys; kd.{name}; print("casadi" in sys.modules)'
    assert fresh(code) == ['True']


def test_code_from_the_cache_needs_no_compiler(tmp_path, monkeypatch):
    """Traced and compiled in one process; the next one takes the code without CasADi and LLVM."""
    monkeypatch.setenv('XDG_CACHE_HOME', str(tmp_path))
    code = f"""
import numpy as np, sys, kane_dynamics as kd
robot = kd.serial_chain(2)
fast, q = kd.compile(robot), np.zeros((8, 2))
efforts = fast.inverse_dynamics(q[0], q[0], q[0]), fast.inverse_dynamics(q, q, q)
fast.center_of_mass(q[0]), fast.simulate(q[0], q[0], 0.01), kd.rollout(fast, q, q, 0.01)
print(fast.source, *[m for m in {COMPILERS} if m in sys.modules])
"""
    assert fresh(code)[0] == 'compiled'
    assert fresh(code) == ['cache']


def test_rollouts_of_the_reference_need_no_compiler():
    code = 'import kane_dynamics as kd, sys; kd.rollout; print("casadi" in sys.modules)'
    assert fresh(code) == ['False']


def test_every_public_name_is_there_and_listed():
    code = 'import kane_dynamics as kd; print(*[n for n in kd.__all__ if n not in dir(kd)])'
    assert fresh(code) == []
    assert all(getattr(kd, name) is not None for name in kd.__all__)


def test_dynamics_is_a_function_and_a_module():
    import kane_dynamics.dynamics as module

    assert module.Dynamics is kd.Dynamics
    made = kd.dynamics(kd.serial_chain(2), frames=('link_1',))
    assert isinstance(made, module.Dynamics)
    assert made.frames == ('link_1',)
    parameters = [*inspect.signature(kd.dynamics).parameters]
    assert parameters == [*inspect.signature(module.dynamics).parameters]
    assert kd.dynamics is module


def test_a_misspelt_name_is_told_what_exists():
    with pytest.raises(AttributeError, match=r"no attribute 'complie'.*'compile'"):
        _ = kd.complie


@pytest.mark.parametrize('first', ['import quaternion', ''])
def test_the_quaternion_package_stays_whole(first):
    # before or after this package, `import quaternion` gives everything and one type
    code = f"""
{first}
import kane_dynamics
from kane_dynamics.algebra.quaternions import NumericQuaternion as Q
import quaternion, numpy, pickle
assert Q is quaternion.quaternion is numpy.quaternion
half_turn = quaternion.from_rotation_matrix(numpy.diag([1.0, -1.0, -1.0]))
assert type(half_turn) is Q and abs((half_turn * half_turn).w + 1.0) < 1e-15
assert quaternion.slerp is not None and pickle.loads(pickle.dumps(half_turn)) == half_turn
"""
    assert fresh(code) == []


def test_every_error_is_of_the_one_family():
    """All exceptions but the root are `KaneDynamicsError`; those for users are in one module."""
    outside = []
    for path in sorted((ROOT / 'kane_dynamics').rglob('*.py')):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ClassDef) and any(
                (ast.unparse(base).endswith(('Error', 'Exception')))
                or ast.unparse(base) == 'InvalidInputError'
                for base in node.bases
            ):
                outside.append((path.relative_to(ROOT).as_posix(), node.name))
    here = 'kane_dynamics/exceptions.py'
    # caught by the node that raised them, never met by a user
    caught = {'NotCachedError', 'RejectedInput', '_UntraceableError'}
    # raised by nodes alone, which say it in their log
    of_nodes = {'CompilationError', 'UnknownParameterError'}
    assert {name for path, name in outside if path != here} == caught | of_nodes
    for path, name in outside:
        if path == here:
            error = getattr(kd.exceptions, name)
            assert issubclass(error, kd.exceptions.KaneDynamicsError), name
            assert error.__doc__, name
