# SPDX-License-Identifier: Apache-2.0
"""Laws of tracking for single joints in closed form, and efforts that grow from zero."""

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
from scipy.integrate import solve_ivp

from kane_dynamics.analysis.tracking import commanded_acceleration, reference_speeds
from kane_dynamics.control.rate_limits import EffortRateLimiter

P, D = np.array([25.0, 4.0]), np.array([6.0, 5.0])
SLOPE = np.array([3.0, 2.0])


def wanted(t):
    """Return positions, speeds and accelerations of two joints."""
    k = np.array([1.0, 2.0])
    return np.sin(k * t), k * np.cos(k * t), -k * k * np.sin(k * t)


def test_errors_are_those_of_damped_springs():
    def rates(t, state):
        q, v = np.split(state, 2)
        place, speed, rate = wanted(t)
        return np.r_[v, commanded_acceleration(rate, place - q, speed - v, P, D)]

    start = np.array([0.3, -0.4, 0.5, 0.2])
    found = solve_ivp(rates, (0.0, 1.0), start, rtol=1e-10, atol=1e-12).y[:2, -1]
    place, speed, _ = wanted(0.0)
    for k in range(2):  # e" + d e' + p e = 0
        roots = np.roots([1.0, D[k], P[k]])
        begin = [place[k] - start[k], speed[k] - start[2 + k]]
        parts = np.linalg.solve(np.array([[1.0, 1.0], roots]), begin)
        expected = (parts * np.exp(roots)).sum().real
        assert_allclose(wanted(1.0)[0][k] - found[k], expected, rtol=0, atol=1e-8)


def test_reference_speeds_lead_to_the_wanted_motion_and_their_rate_is_one():
    def rates(t, q):
        place, speed, rate = wanted(t)
        return reference_speeds(speed, rate, place - q, 0.0 * q, SLOPE)[0]

    start = np.array([0.3, -0.4])
    found = solve_ivp(rates, (0.0, 1.0), start, rtol=1e-10, atol=1e-12, dense_output=True)
    error = (wanted(0.0)[0] - start) * np.exp(-SLOPE)
    assert_allclose(wanted(1.0)[0] - found.y[:, -1], error, rtol=0, atol=1e-8)

    def at(t):
        place, speed, rate = wanted(t)
        q = found.sol(t)
        return reference_speeds(speed, rate, place - q, speed - rates(t, q), SLOPE)

    h = 1e-4
    slope = (at(0.5 + h)[0] - at(0.5 - h)[0]) / (2.0 * h)
    assert_allclose(at(0.5)[1], slope, rtol=0, atol=1e-5)  # of dense output, and h^2


def test_efforts_grow_from_zero_and_again_after_a_rest():
    rise, wanted = EffortRateLimiter(2), np.array([4.0, -2.0])
    rise.configure(0.5, np.zeros(2))
    assert rise.share(10**9) == 0.0
    assert_array_equal(rise.limited(10**9, wanted), [0.0, 0.0])
    assert_allclose(rise.limited(10**9 + 125_000_000, wanted), 0.25 * wanted, rtol=1e-15)
    assert_array_equal(rise.limited(2 * 10**9, wanted), wanted)
    rise.reset()
    assert_array_equal(rise.limited(3 * 10**9, wanted), [0.0, 0.0])


def test_efforts_change_at_their_rates_both_ways():
    rise = EffortRateLimiter(3)
    rise.configure(0.0, np.array([10.0, 100.0, 0.0]))  # 0: none
    assert_array_equal(rise.limited(0, np.full(3, 5.0)), [0.0, 0.0, 5.0])
    up = rise.limited(100_000_000, np.full(3, 5.0))
    assert_allclose(up, [1.0, 5.0, 5.0], rtol=1e-15)
    down = rise.limited(200_000_000, np.full(3, -50.0))
    assert_allclose(down, [0.0, -5.0, -50.0], rtol=1e-15, atol=1e-15)
    back = rise.limited(100_000_000, np.full(3, 5.0))  # time goes back: none has passed
    assert_allclose(back, [0.0, -5.0, 5.0], rtol=1e-15, atol=1e-15)


def test_a_ramp_without_duration_is_none():
    rise = EffortRateLimiter(1)
    assert rise.share(0) == 1.0
    assert_array_equal(rise.limited(0, np.array([3.0])), [3.0])
