# SPDX-License-Identifier: Apache-2.0
"""A health that is not a number: what is not known to be sound is the reference's."""

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from support import cuda
from support.compiling import compiled_kernel
from support.machines import planar_2r

import kane_dynamics as kd
from kane_dynamics.compiler import build
from kane_dynamics.compiler.cuda.robot import CudaDynamics
from kane_dynamics.compiler.graphs.trace import Tracer
from kane_dynamics.compiler.llvm.kernel_spec import KernelSpec

BY_REFERENCE = 7.0


@pytest.fixture(scope='module', params=['float64', 'float32'])
def doubtful(request):
    """Return a kernel of x that gives 2 x, and the root of x as its health; and its type."""
    x = ca.SX.sym('x')
    spec = KernelSpec('doubtful', (1,), ((1,),), ca.Function('f', [x], [2.0 * x, ca.sqrt(x)]))
    single = spec if request.param == 'float32' else None
    return compiled_kernel(spec, ('x',), lambda x: [BY_REFERENCE], single), request.param


def test_one_state(doubtful):
    kernel, before = doubtful[0], doubtful[0].fallback_count
    for given, found in ((4.0, 8.0), (-1.0, BY_REFERENCE)):
        assert kernel.call(np.array([given])) == found
        assert kernel.checked([given]) == found
        outputs = kernel.all_outputs([given])
        assert outputs is None if given < 0.0 else outputs[0] == found
    assert np.isnan(kernel.call(np.array([np.nan])))
    assert np.isnan(kernel.checked([np.nan]))
    assert kernel.fallback_count - before == 3


def test_rows_of_a_batch(doubtful):
    kernel, precision = doubtful
    x = np.resize([4.0, 1.0, 0.25], (37, 1)).astype(precision)
    whole, before = kernel.call(x), kernel.fallback_count
    assert_array_equal(whole, 2.0 * x)
    x[[0, 9, 36]], x[[5, 35]] = -1.0, np.nan
    found = kernel.call(x)
    assert found.dtype == precision
    assert_array_equal(found[[0, 9, 36]], BY_REFERENCE)
    # not a number in is none out, in its row alone, and asks nobody
    assert np.isnan(found[[5, 35]]).all()
    assert kernel.fallback_count - before == 3
    others = np.delete(np.arange(37), [0, 5, 9, 35, 36])
    assert_array_equal(found[others], whole[others])


def unsure(tracer):
    """Trace accelerations whose health is none left of the middle."""
    spec = Tracer.acceleration(tracer)
    q, *rest = spec.function.sx_in()
    values, rcond = spec.function.call([q, *rest])
    return replace(spec, function=ca.Function('f', [q, *rest], [values, rcond * ca.sqrt(q[0])]))


unsure.__name__ = 'acceleration'


@pytest.fixture(params=['processor', 'card'])
def robots(request, monkeypatch):
    """Return the reference of an arm, and machine code that is unsure of it at negative angles."""
    robot = planar_2r()
    monkeypatch.setattr(build, 'STEP_GRAPHS', (unsure, *build.STEP_GRAPHS[1:]))
    if request.param == 'processor':
        return kd.dynamics(robot), kd.compile(robot, cache=False)
    recipe = replace(cuda.recipe(robot), use_cache=False)
    return kd.dynamics(robot), CudaDynamics(recipe, cuda.device())


def test_steps(robots):
    reference, fast = robots
    q, v = np.array([[1.0, 0.5], [-1.0, 0.5], [2.0, -0.5]] * 7), np.full((21, 2), 0.2)
    found = kd.rollout(fast, q, v, 0.003)
    expected = kd.rollout(reference, q[:3], v[:3], 0.003)
    assert_allclose(found.q, np.tile(expected.q, (7, 1)), rtol=0, atol=1e-12)
    assert found.fallback_count == 7 * 3  # each step of each second of three
    if isinstance(fast, kd.CompiledDynamics):
        before = fast.fallback_count
        ends = [fast.simulate(*state, 0.003).q[-1] for state in zip(q[:2], v[:2], strict=True)]
        assert_allclose(ends, expected.q[:2], rtol=0, atol=1e-12)
        assert fast.fallback_count - before == 3
