# SPDX-License-Identifier: Apache-2.0
"""Sine and cosine of the compiled code against 60 digits, in single states and in lanes."""

import casadi as ca
import mpmath
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from support.compiling import compiled_kernel

from kane_dynamics.compiler.llvm.kernel_spec import KernelSpec
from kane_dynamics.compiler.llvm.module import kernel_ir

# The kernels' polynomials are good to 1 ulp on [-pi/4, pi/4]; rounding the reduced argument, and
# near pi/4 the slope of the function in ulps, add less than half of one.
ULPS = 1.5

# offsets of canonical frames are of any size; quarter turns are frequent, and exact exchanges
AHEAD = (0.1, -0.3, 1.5, 2.7, *(np.pi / 2 * np.arange(-4, 5)), 1e-9, np.pi / 4, 40.0)
QUARTERS = np.arange(-40, 41) * (np.pi / 4)
ANGLES = {
    'zero and tiny': np.array([0.0, 5e-324, 1e-300, -1e-20, 1e-10, -1e-8, 1e-4]),
    'first octant': np.linspace(-0.785, 0.785, 400),
    'edges of the octants': np.concatenate(
        [QUARTERS, np.nextafter(QUARTERS, np.inf), np.nextafter(QUARTERS, -np.inf)]
    ),
    'all quadrants': np.linspace(-10.0, 10.0, 801),
    'near multiples of pi/2': np.arange(-600_000, 600_001, 2999) * (np.pi / 2),
    'to 1e3': np.linspace(-1e3, 1e3, 401),
    'to 1e6': np.linspace(-1e6, 1e6, 401),
    'to 1e12': np.linspace(-1e12, 1e12, 401),
    # states above 1e13 go to the reference; what the code computes itself is right a while longer
    'to 1e13': np.linspace(-0.999e13, 0.999e13, 401),
    # 102943.7... is nearer to a multiple of pi/2 than any other float of its size
    'hard to reduce': np.array([1e6, 102943.70807280473, 51471.85403640237, 22.0, 355.0]),
}


@pytest.fixture(scope='module')
def wave():
    """Return a compiled function x -> (sin x, cos x)."""
    x = ca.SX.sym('x')
    function = ca.Function('wave', [x], [ca.vertcat(ca.sin(x), ca.cos(x)), ca.SX(1.0)])
    return compiled_kernel(KernelSpec('wave', (1,), ((2,),), function), ('x',)).call


@pytest.fixture(scope='module')
def shifted():
    """Return a compiled function x -> sines of (x + ahead) / 2 and cosines of 3 x - ahead."""
    x = ca.SX.sym('x')
    sines = [ca.sin(0.5 * (x + ahead)) for ahead in AHEAD]
    cosines = [ca.cos(3.0 * x - ahead) for ahead in AHEAD]
    function = ca.Function('shifted', [x], [ca.vertcat(*sines, *cosines), ca.SX(1.0)])
    shape = (2 * len(AHEAD),)
    return compiled_kernel(KernelSpec('shifted', (1,), (shape,), function), ('x',)).call


def ulps(values, angles):
    """Return the largest error of rows (sin, cos) in units of the last place."""
    with mpmath.workdps(60):
        exact = [(mpmath.sin(x), mpmath.cos(x)) for x in map(mpmath.mpf, angles.tolist())]
        return max(
            float(abs(mpmath.mpf(value) - number)) / np.spacing(abs(float(number)))
            for row, numbers in zip(values.tolist(), exact, strict=True)
            for value, number in zip(row, numbers, strict=True)
        )


@pytest.mark.parametrize('name', ANGLES)
def test_error_in_units_of_the_last_place(name, wave):
    angles = ANGLES[name]
    assert ulps(np.array([wave(np.array([x])) for x in angles]), angles) < ULPS
    assert ulps(wave(angles[:, None]), angles) < ULPS


def test_what_has_no_sine_is_nan(wave):
    wild = np.array([np.inf, -np.inf, np.nan, 1.0, 2.0])
    for values in (wave(wild[:, None]), np.array([wave(np.array([x])) for x in wild])):
        assert_array_equal(np.isnan(values).all(axis=1), [True, True, True, False, False])
        assert_array_equal(np.isnan(values).any(axis=1), [True, True, True, False, False])


def test_sine_is_odd_and_cosine_even(wave):
    angles = np.linspace(0.1, 50.0, 200)[:, None]
    assert_array_equal(wave(-angles) * [-1.0, 1.0], wave(angles))


@pytest.mark.parametrize('size', [1.0, 1e3, 1e8, 1e12])
def test_a_constant_is_added_after_the_reduction(size, shifted):
    """Regression: x + ahead was rounded first, which at 1e12 rad leaves 3e-5 of a sine."""
    angles = np.random.default_rng(5).uniform(-size, size, 40)
    with mpmath.workdps(60):
        exact = [
            [float(mpmath.sin((x + mpmath.mpf(a)) / 2)) for a in AHEAD]
            + [float(mpmath.cos(mpmath.mpf(y) - a)) for a in AHEAD]
            for x, y in zip(map(mpmath.mpf, angles), 3.0 * angles, strict=True)
        ]
    # the remainder of a constant of 40 rad is exact to an ulp of 40, all else to ulps of 1
    assert np.abs(shifted(angles[:, None]) - exact).max() < 8e-15
    assert np.abs([shifted(np.array([x])) for x in angles] - np.array(exact)).max() < 8e-15


@pytest.mark.parametrize('count', [1, 2, 4, 5, 7])
def test_several_angles_share_a_vector(count):
    q = ca.SX.sym('q', count)
    angles = [q[k] + ahead for k, ahead in zip(range(count), AHEAD[2:], strict=False)]
    later = ca.sin(ca.cos(angles[0]))  # an angle that is known after others alone
    function = ca.Function(
        'several', [q], [ca.vertcat(*map(ca.sin, angles), *map(ca.cos, angles), later), 1.0]
    )
    spec = KernelSpec('several', (count,), ((2 * count + 1,),), function)
    text = kernel_ir(spec, 4).split('define double @several(')[1].split('define')[0]
    vectors, single = (text.count(f'@kd_sincos_{x}f64(') for x in ('v4', ''))
    assert (vectors, single) == (-(-(count - 1) // 4), 1 + (count % 4 == 1))
    x = np.random.default_rng(count).uniform(-9.0, 9.0, count)
    expected = x + AHEAD[2 : 2 + count]
    found = compiled_kernel(spec, ('q',)).call(x)
    whole = [*np.sin(expected), *np.cos(expected), np.sin(np.cos(expected[0]))]
    # the test's own sums of up to 12 are rounded by 9e-16
    assert_allclose(found, whole, rtol=0, atol=4e-15)


def test_large_states_go_to_the_reference(wave):
    """Regression: beyond 1e15 rad the compiled sine was noise."""
    x = ca.SX.sym('x')
    function = ca.Function('large', [x], [ca.sin(x), ca.SX(1.0)])
    spec = KernelSpec('large', (1,), ((),), function)
    kernel = compiled_kernel(spec, ('x',), lambda x: np.sin(x[0]))
    angles = 10.0 ** np.arange(10, 301, 5)[:, None]
    expected = np.sin(angles[:, 0])
    np.testing.assert_allclose(kernel.call(angles), expected, rtol=0, atol=1e-15)
    singles = [kernel.call(x) for x in angles]
    np.testing.assert_allclose(singles, expected, rtol=0, atol=1e-15)
    assert kernel.fallback_count == 2 * int((angles > 1e13).sum())
