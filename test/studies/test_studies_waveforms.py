# SPDX-License-Identifier: Apache-2.0
"""Multiple correlation, errors, low-pass filter and forward difference on known signals."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose

from kane_dynamics.exceptions import InvalidInputError
from studies.silva.waveforms import (
    Statistics,
    butterworth_low_pass,
    forward_difference,
    max_error,
    multiple_correlation,
    root_mean_square_error,
    statistics,
)

SINE = np.sin(np.linspace(0.0, 2.0 * np.pi, 101))
RATE = 100.0  # [Hz]
TIME = np.arange(600) / RATE


@pytest.mark.claim(19)
@pytest.mark.parametrize(
    ('other', 'expected'),
    [(SINE, 1.0), (SINE + 0.5, 0.88142756), (2.0 * SINE, 0.89498050)],
    ids=['identical', 'offset', 'gain'],
)
def test_correlation_of_published_cases(other, expected):
    # printed with eight decimals
    assert_allclose(multiple_correlation(SINE, other), expected, rtol=0, atol=5e-9)
    assert_allclose(multiple_correlation(other, SINE), expected, rtol=0, atol=5e-9)


@pytest.mark.claim(19)
def test_correlation_of_more_waveforms_is_the_formula():
    rng = np.random.default_rng(1)
    Y = SINE + 0.1 * rng.normal(size=(3, 101))
    P, F = Y.shape
    between = sum((Y[p, f] - Y[:, f].mean()) ** 2 for p in range(P) for f in range(F))
    total = sum((y - Y.mean()) ** 2 for y in Y.ravel())
    expected = np.sqrt(1.0 - (between / (F * (P - 1))) / (total / (P * F - 1)))
    # roundoff of 300 terms
    assert_allclose(multiple_correlation(*Y), expected, rtol=1e-13)


def test_correlation_of_columns_is_that_of_each_alone():
    rng = np.random.default_rng(2)
    a = rng.normal(size=(50, 4))
    b = a + 0.3 * rng.normal(size=(50, 4))
    together = multiple_correlation(a, b)
    alone = [multiple_correlation(a[:, k], b[:, k]) for k in range(4)]
    assert together.shape == (4,)
    assert_allclose(together, alone, rtol=1e-14)


@pytest.mark.claim(19)
@pytest.mark.parametrize(
    ('one', 'other', 'why'),
    [
        (SINE, -SINE, 'negative radicand'),
        (np.full(10, 0.3), np.full(10, 0.3), '0/0'),
        (np.zeros(10), np.zeros(10), '0/0'),
        (np.full(10, 0.1 + 0.2), np.full(10, 0.3), '0/0'),  # one constant, up to roundoff
    ],
    ids=['opposed', 'constant', 'zero', 'roundoff'],
)
def test_undefined_correlation_is_nan_and_says_so(one, other, why):
    with pytest.warns(RuntimeWarning, match=why):
        assert np.isnan(multiple_correlation(one, other))


def test_two_different_constants_are_opposed_not_equal():
    """They differ and do not vary: the formula is defined, and its radicand negative."""
    with pytest.warns(RuntimeWarning, match='negative radicand'):
        assert np.isnan(multiple_correlation(np.zeros(10), np.ones(10)))


def test_only_undefined_columns_are_nan():
    one = np.column_stack([SINE, SINE])
    with pytest.warns(RuntimeWarning, match='1 of 2 signals'):
        found = multiple_correlation(one, one * [1.0, -1.0])
    assert found[0] == 1.0 and np.isnan(found[1])
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        multiple_correlation(one, one)


def test_errors_by_hand():
    y, r = np.array([[1.0, 0.0], [2.0, 0.0]]), np.array([[1.0, 3.0], [0.0, -4.0]])
    assert_allclose(root_mean_square_error(y, r), [np.sqrt(2.0), np.sqrt(12.5)], rtol=1e-15)
    assert_allclose(max_error(y, r), [2.0, 4.0], rtol=0)


@pytest.mark.claim(19)
def test_difference_is_exact_on_parabolas_and_of_second_order_on_cubics():
    dt = 0.01
    t = np.arange(40) * dt
    parabola = np.column_stack([1.0 - 2.0 * t + 3.0 * t**2, 5.0 * t])
    # 1e-16 of values near 3, over dt
    expected = np.column_stack([-2.0 + 6.0 * t, np.full_like(t, 5.0)])[:-2]
    assert_allclose(forward_difference(parabola, dt), expected, rtol=0, atol=1e-12)
    # y = t^3: the error is -dt^2/3 y''' = -2 dt^2 everywhere, to roundoff
    error = forward_difference(t**3, dt) - 3.0 * t[:-2] ** 2
    assert_allclose(error, -2.0 * dt**2, rtol=0, atol=1e-13)


@pytest.mark.claim(19)
def test_difference_looks_forward():
    """A step after the first three samples is not seen at the first."""
    step = np.array([0.0, 0.0, 0.0, 1.0, 1.0])
    assert_allclose(forward_difference(step, 0.5), [0.0, -1.0, 3.0], rtol=0, atol=1e-15)


@pytest.mark.claim(19)
@pytest.mark.parametrize(('order', 'times'), [(2, 2), (3, 2), (1, 2), (2, 1)])
def test_filter_has_the_butterworth_gain(order, times):
    """Sines in the middle of the signal keep the gain of the bilinear transform, once or twice."""
    cutoff = 10.0
    for f in (0.5, 5.0, 10.0, 20.0):
        out = butterworth_low_pass(
            np.sin(2.0 * np.pi * f * TIME), cutoff, RATE, order, zero_phase=times == 2
        )
        ratio = np.tan(np.pi * f / RATE) / np.tan(np.pi * cutoff / RATE)
        gain = (1.0 + ratio ** (2 * order)) ** (-0.5 * times)
        middle = slice(200, 400)  # whole periods, 2 s from the ends: transients are gone
        measured = np.sqrt(2.0) * np.sqrt(np.mean(out[middle] ** 2))
        assert_allclose(measured, gain, rtol=0, atol=1e-9)


def test_filter_passes_slow_and_kills_fast():
    slow, fast = np.sin(2.0 * np.pi * 0.5 * TIME), np.sin(2.0 * np.pi * 40.0 * TIME)
    both = np.column_stack([slow, slow + fast])
    out = butterworth_low_pass(both, 10.0, RATE)
    inside = slice(50, -50)
    # (0.5/10)^4 = 6e-6 of the slow one is lost; (tan 0.4 pi / tan 0.1 pi)^-4 = 1e-4 of the fast
    assert_allclose(out[inside, 0], slow[inside], rtol=0, atol=1e-5)
    assert_allclose(out[inside, 1], slow[inside], rtol=0, atol=2e-4)


@pytest.mark.claim(19)
def test_one_way_filter_delays_and_both_ways_does_not():
    f, cutoff = 0.2, 5.0
    slow = np.sin(2.0 * np.pi * f * TIME)
    one_way = butterworth_low_pass(slow, cutoff, RATE, zero_phase=False)
    # group delay at f = 0 after the bilinear transform
    delay = np.sqrt(2.0) / (2.0 * RATE * np.tan(np.pi * cutoff / RATE))
    assert_allclose(delay, np.sqrt(2.0) / (2.0 * np.pi * cutoff), rtol=0.01)  # as documented
    delayed = np.sin(2.0 * np.pi * f * (TIME - delay))
    inside = slice(100, None)
    # the phase is that of a pure delay up to (f/f_c)^3 = 6e-5
    assert_allclose(one_way[inside], delayed[inside], rtol=0, atol=2e-4)
    assert np.abs(one_way[inside] - slow[inside]).max() > 0.04  # 2 pi f delay = 0.057


@pytest.mark.parametrize('zero_phase', [False, True])
def test_filter_starts_in_the_steady_state(zero_phase):
    constant = np.full((50, 2, 3), 4.2)
    out = butterworth_low_pass(constant, 10.0, RATE, 2, zero_phase)
    assert_allclose(out, 4.2, rtol=1e-12)


@pytest.mark.claim(19)
def test_statistics_by_hand():
    found = statistics([1.0, 2.0, 6.0])
    assert_allclose(
        [found.minimum, found.mean, found.std, found.maximum], [1.0, 3.0, np.sqrt(7.0), 6.0]
    )
    assert str(Statistics(0.9044, 0.9893, 0.0182, 0.9993)) == '0.9044 / 0.9893 / 0.0182 / 0.9993'
    assert statistics([2.0]) == Statistics(2.0, 2.0, 0.0, 2.0)
    undefined = statistics([1.0, np.nan])
    assert np.isnan([undefined.minimum, undefined.mean, undefined.std, undefined.maximum]).all()


@pytest.mark.parametrize(
    'call',
    [
        lambda: multiple_correlation(SINE),
        lambda: multiple_correlation(),
        lambda: multiple_correlation(SINE, SINE[:-1]),
        lambda: multiple_correlation([1.0], [1.0]),
        lambda: multiple_correlation(1.0, 1.0),
        lambda: multiple_correlation(SINE, np.full(101, np.nan)),
        lambda: root_mean_square_error(SINE, SINE[:-1]),
        lambda: max_error([1.0, 2.0], ['a', 'b']),
        lambda: forward_difference([1.0, 2.0], 0.1),
        lambda: forward_difference(SINE, 0.0),
        lambda: forward_difference(SINE, np.nan),
        lambda: butterworth_low_pass(SINE, 50.0, 100.0),
        lambda: butterworth_low_pass(SINE, 0.0, 100.0),
        lambda: butterworth_low_pass(SINE, np.nan, 100.0),
        lambda: butterworth_low_pass(SINE, 5.0, -1.0),
        lambda: butterworth_low_pass(SINE, 5.0, 100.0, 0),
        lambda: butterworth_low_pass(SINE, 5.0, 100.0, 2.0),
        lambda: butterworth_low_pass(SINE[:9], 5.0, 100.0),
        lambda: statistics([]),
        lambda: statistics([[1.0]]),
    ],
)
def test_bad_input_is_named(call):
    with pytest.raises(InvalidInputError):
        call()
