# SPDX-License-Identifier: Apache-2.0
"""Generated C of Pinocchio: compiled, compared with ours and called; what is missing is said."""

import shutil

import casadi as ca
import numpy as np
import pytest
from numpy.testing import assert_allclose

pytest.importorskip('pinocchio', reason='the extra "oracle" is not installed')

import kane_dynamics as kd
from kane_dynamics.constraints.constraint_set import ConstraintSet
from studies import robots
from studies.peers.pinocchio_twin import PinocchioTwin
from studies.speed import generated
from studies.speed.timing import Effort

EFFORT = Effort(repeats=1, loops=1, loop_time=1e-5)
needs_gcc = pytest.mark.skipif(shutil.which('gcc') is None, reason='there is no gcc')


@pytest.fixture(scope='module')
def task():
    """Inverse dynamics of a chain."""
    return next(generated.tasks('chain of 3', robots.chain(3)))


def source_of(robot, factor=1.0):
    """Return C of the form that the generators write, of a graph that needs no C++."""
    x = ca.SX.sym('x', 3 * robot.nv)
    tau = kd.casadi_function(robot, 'inverse_dynamics')(*ca.vertsplit(x, robot.nv))
    generator = ca.CodeGenerator('generated.c')
    generator.add(ca.Function('generated', [x], [factor * tau]))
    return generator.dump()


@needs_gcc
def test_a_rival_is_compared_with_ours_and_called_from_c_and_from_python(task):
    sources = {'right': source_of(task.case.robot), 'wrong': source_of(task.case.robot, 1.001)}
    for row in generated.task_rows(task, sources, ['nothing'], EFFORT):
        assert row.peer.startswith('right, ')
        assert row.agreement < 1e-12
        assert 1e-9 < row.theirs * 1e-6 < 1e-3
        assert row.least_ratio == (1.5 if row.work.endswith('from C') else 1.3)
        assert 'nothing' in row.note
        assert 'wrong, gcc -O3 NOT MEASURED: it differs by 1e-03' in row.note


@needs_gcc
def test_without_a_generator_or_a_compiler_the_rows_say_so(task, monkeypatch):
    monkeypatch.setattr(generated, 'COMPILERS', {'none -O3': 'no-such-compiler'})
    monkeypatch.setattr(generated, '_program', lambda generator: 'no C++ compiler')
    sources, missing = generated.sources_of(task)
    assert not sources
    assert missing[1] == 'CppADCodeGen NOT MEASURED: no C++ compiler'
    for sources in ({}, {'right': source_of(task.case.robot)}):
        for row in generated.task_rows(task, sources, missing, EFFORT):
            assert row.peer == 'generated code: NOT MEASURED'
            assert row.theirs is None
            assert 'no C++ compiler' in row.note
            assert ('no-such-compiler' in row.note) == bool(sources)


def test_rows_of_wheels_are_a_constant_a_cosine_and_a_sine_of_the_heading():
    case = robots.nonholonomic()
    peer = PinocchioTwin(case.robot)
    count, heading, *words = generated.rows_of(case, peer)
    parts = np.array(words, dtype=float).reshape(3, int(count), case.robot.nv)
    angle = peer.coordinates(case.q)[int(heading)]
    A = parts[0] + np.cos(angle) * parts[1] + np.sin(angle) * parts[2]
    rows = ConstraintSet(case.robot, case.constraints).rows(case.q.tolist(), case.v.tolist(), 0.0)
    assert_allclose(A, peer.speeds(rows.matrix.astype(float)), atol=1e-13)


@pytest.mark.thorough  # minutes of the C++ compiler; `make bench` compares, too
def test_all_that_pinocchio_writes_gives_our_results():
    case = robots.nonholonomic()
    for one in generated.tasks('shipped robot', case):
        sources, missing = generated.sources_of(one)
        if any('does not compile' in line or 'compiler' in line for line in missing):
            pytest.skip(f'generated code of Pinocchio is NOT tested: {missing}')
        for row in generated.task_rows(one, sources, missing, EFFORT):
            assert row.agreement < 1e-9
            assert 'differs' not in row.note
