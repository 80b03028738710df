# SPDX-License-Identifier: Apache-2.0
"""The text for LLVM 14 and 15, which newer ones read too: the same functions."""

import re
import shutil
import subprocess

import casadi as ca
import numpy as np
import pytest
from numpy.testing import assert_array_equal
from support.compiling import compiled_kernel
from support.machines import differential_drive, planar_2r

import kane_dynamics as kd
from kane_dynamics.algebra.traced_scalar import column, symbols
from kane_dynamics.compiler.graphs.bodies import LoopTracer
from kane_dynamics.compiler.graphs.traced_state import spec
from kane_dynamics.compiler.llvm import module, native
from kane_dynamics.compiler.llvm.older_llvm import for_older_llvm

# what LLVM 14 has no instructions for; arcs need |x| <= 1
FUNCTIONS = ('tan', 'asin', 'acos', 'atan', 'sinh', 'cosh', 'tanh')


@pytest.fixture
def older(monkeypatch):
    monkeypatch.setattr(native, 'IS_OLDER', True)


def test_every_function_of_a_robot(older, pair, rng):
    case, newer = pair('planar_2r')
    fast = kd.compile(planar_2r(), cache=False)
    for count in ((), (5,), (64,)):
        q, v, tau = rng.normal(size=(3, *count, 2))
        for name, inputs in (
            ('inverse_dynamics', (q, v, tau)),
            ('acceleration', (q, v, tau)),
            ('mass_matrix', (q,)),
            ('frame_poses', (q,)),
        ):
            out = np.empty_like(getattr(newer, name)(*inputs))
            assert getattr(fast, name)(*inputs, out=out) is out
            # the same graph; older passes may fuse other products
            np.testing.assert_allclose(out, getattr(newer, name)(*inputs), rtol=1e-13, atol=1e-13)
    start = np.array([0.3, 0.2]), np.array([0.1, -0.4])
    np.testing.assert_allclose(
        fast.simulate(*start, 0.1).q, newer.simulate(*start, 0.1).q, rtol=0, atol=1e-13
    )
    many = rng.normal(size=(2, 11, 2))
    rollouts = [kd.rollout(robot, *many, 0.02, every=7).q for robot in (fast, newer)]
    np.testing.assert_allclose(*rollouts, rtol=0, atol=1e-13)


@pytest.mark.parametrize('robot', [kd.serial_chain(6), planar_2r()], ids=['serial', 'tree'])
def test_loops_over_bodies(older, robot, rng):
    made = LoopTracer(robot, [body.name for body in robot.bodies], ())
    q, v, a = rng.normal(size=(3, 11, robot.nv))
    for spec_of, reference, inputs in (
        (made.inverse_dynamics, kd.inverse_dynamics, (q, v, a)),
        (made.potential_energy, kd.potential_energy, (q,)),
    ):
        loop = spec_of()
        gravity = np.array(robot.gravity)
        call = compiled_kernel(loop, 'qva'[: len(inputs)], parameters=gravity).call
        expected = [reference(robot, *state) for state in zip(*inputs, strict=True)]
        # some hundred roundings
        np.testing.assert_allclose(call(*inputs), expected, rtol=0, atol=1e-12)
        np.testing.assert_allclose(call(*(x[0] for x in inputs)), expected[0], atol=1e-12)


@pytest.mark.parametrize('states', [1, 11])
def test_functions_without_an_instruction(older, states):
    x, y = symbols('x', 2)
    values = [getattr(ca, name)(x) for name in FUNCTIONS]
    values += [ca.atan2(x, y), ca.fmin(x, y), ca.fmax(x, y)]
    made = spec('made', [[x], [y]], [column(values)], [(len(values),)])
    call = compiled_kernel(made, 'xy').call
    a, b = np.random.default_rng(3).uniform(-0.99, 0.99, size=(2, states, 1))
    numpys = ['tan', 'arcsin', 'arccos', 'arctan', 'sinh', 'cosh', 'tanh']
    expected = [getattr(np, name)(a[:, 0]) for name in numpys]
    expected += [np.arctan2(a, b)[:, 0], np.minimum(a, b)[:, 0], np.maximum(a, b)[:, 0]]
    # one ulp between the C library and numpy's own functions
    np.testing.assert_allclose(call(a, b), np.transpose(expected), rtol=1e-15, atol=1e-15)
    if states == 1:
        np.testing.assert_allclose(
            call(a[0], b[0]), np.transpose(expected)[0], rtol=1e-15, atol=1e-15
        )
    a[-1] = np.nan
    bad = call(a, b)
    assert np.isnan(bad[-1]).all()
    assert_array_equal(np.isnan(bad[:-1]), False)


def test_no_pointer_is_without_a_type(pair):
    x, y = symbols('x', 2)
    made = spec('made', [[x, y]], [column([ca.tan(x) + ca.fmax(x, y)])], [(1,)])
    text = for_older_llvm(module.kernel_ir(made))
    assert re.search(r'\bptr\b', text) is None
    assert '@llvm.tan' not in text
    assert '@llvm.maximum' not in text
    assert 'declare double @tan(double)' in text


@pytest.mark.thorough
@pytest.mark.skipif(shutil.which('llvm-as-14') is None, reason='needs llvm-as-14')
def test_llvm_14_reads_every_module(monkeypatch):
    texts, compiled = [], native._compiled
    monkeypatch.setattr(
        native, '_compiled', lambda ir, *how: texts.append(ir) or compiled(ir, *how)
    )
    robot = differential_drive()
    constraints = (kd.constraints.differential_drive(robot, 'left', 'right', 0.1),)
    kd.rollout(kd.compile(robot, constraints, cache=False), *np.zeros((2, 3, robot.nv)), 0.01)
    for ir in texts:  # types of pointers, which newer ones do not check
        command = ['llvm-as-14', '-o', '/dev/null']
        subprocess.run(command, input=for_older_llvm(ir), text=True, check=True)
