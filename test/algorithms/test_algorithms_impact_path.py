# SPDX-License-Identifier: Apache-2.0
"""The impact of one contact with dry friction: against small steps, and laws of energy."""

import numpy as np
import pytest
import scipy
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from kane_dynamics.algorithms.impact_path import impact_path

LAWS = ('poisson', 'energetic')
STEPPED = 3e-3  # of 1,500 steps, which miss the ends of the parts by one of them
EXACT = 1e-12  # roundoff of paths whose pieces are straight
CURVED = 1e-10  # of the power series


def case(seed, tangents=2):
    """Return W, speeds of approach and slip, mu and e."""
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(1 + tangents, 4))
    u = rng.normal(size=1 + tangents)
    u[0] = -abs(u[0]) - 0.3
    return root @ root.T, u, rng.uniform(0.1, 0.9), rng.uniform()


def stepped(W, u, mu, e, law, steps=1500):
    """Return the impulse in small steps of the normal one, slip that stops held if it can be."""
    u, p, work, turned = u.copy(), np.zeros(len(u)), 0.0, None
    h = abs(u[0]) / W[0, 0] / steps
    hold = -np.linalg.solve(W[1:, 1:], W[1:, 0])
    holds = np.linalg.norm(hold) <= mu
    while True:
        speed = np.linalg.norm(u[1:])
        if holds and speed <= 5.0 * h * np.abs(W).max():
            p[1:] -= np.linalg.solve(W[1:, 1:], u[1:])  # the rest of the slip at once
            u = u - W[:, 1:] @ np.linalg.solve(W[1:, 1:], u[1:])
            along = np.r_[1.0, hold]
        else:
            against = u[1:] / speed if speed > 0.0 else W[1:, 0] / np.linalg.norm(W[1:, 0])
            along = np.r_[1.0, -mu * against]
        work += h * (u[0] + 0.5 * h * W[0] @ along)
        p, u = p + h * along, u + h * W @ along
        if turned is None and u[0] >= 0.0:
            turned, spent = p[0], work
        if turned is None:
            continue
        if law == 'poisson' and p[0] >= (1.0 + e) * turned:
            return p
        if law == 'energetic' and work - spent >= -(e**2) * spent:
            return p


@pytest.mark.claim(38)
@pytest.mark.parametrize('law', LAWS)
@pytest.mark.parametrize('tangents', [1, 2])
def test_paths_against_small_steps(tangents, law):
    for seed in range(6):
        W, u, mu, e = case(seed, tangents)
        if seed == 0:
            u[1:] = 0.0
        p = impact_path(W, u, mu, e, law)
        assert_allclose(p, stepped(W, u, mu, e, law), rtol=0, atol=STEPPED * (1.0 + p[0]))


def integrated(W, u, mu, e, law):
    """Return the impulse by SciPy's integrator, of an impact in which slip does not stop."""

    def rates(_, y):
        r = np.linalg.norm(y[1:3])
        dp = np.r_[r, -mu * y[1:3]]
        return np.r_[W @ dp, dp, r * y[0]]

    y, row, target = np.r_[u, 0.0, 0.0, 0.0, 0.0], 0, 0.0
    for _ in range(2):

        def end(_, y, row=row, target=target):
            return y[row] - target

        end.terminal, end.direction = True, 1.0
        how = {'events': end, 'rtol': 3e-14, 'atol': 1e-14}
        path = scipy.integrate.solve_ivp(rates, (0.0, 30.0), y, 'DOP853', **how)
        y = path.y[:, -1]
        if path.status != 1 or np.linalg.norm(y[1:3]) < 1e-2:
            return None
        both = {'poisson': (3, (1.0 + e) * y[3]), 'energetic': (6, (1.0 - e**2) * y[6])}
        row, target = both[law]
    return y[3:6]


@pytest.mark.claim(38)
@pytest.mark.parametrize('law', LAWS)
def test_paths_that_turn_against_an_integrator(law):
    compared = 0
    for seed in range(25):
        W, u, mu, e = case(seed)
        expected = integrated(W, u, mu, e, law)
        if expected is not None:
            p = impact_path(W, u, mu, e, law)
            assert_allclose(p, expected, rtol=0, atol=CURVED * np.abs(expected).max())
            compared += 1
    assert compared > 5


@pytest.mark.parametrize('law', LAWS)
@pytest.mark.parametrize('slip', [0.0, 1e-300, 1e-13, 1e-9])
def test_slip_that_hardly_begins(law, slip):
    """What sticks from the first, or slips away, does so with next to no slip before."""
    for seed in range(6):
        W, u, mu, e = case(seed)
        u[1:] = 0.0
        least = impact_path(W, u, mu, e, law)
        u[1:] = slip * np.array([0.6, -0.8])
        p = impact_path(W, u, mu, e, law)
        assert_allclose(p, least, rtol=0, atol=(10.0 * slip + EXACT) * 10.0 * (1.0 + p[0]))


@pytest.mark.parametrize('law', LAWS)
def test_an_impact_that_grazes(law):
    """The slip hardly changes: p_n = -(1 + e) u_n / (W (1, -mu t))_n, where friction draws out."""
    W, u, mu, e = np.diag([2.0, 1.0, 3.0]), np.array([-1e-9, 0.6, -0.8]), 0.5, 0.4
    W[0, 1] = W[1, 0] = -0.3
    along = np.array([1.0, -0.3, 0.4])
    expected = along * (1.0 + e) * 1e-9 / (W[0] @ along)
    assert_allclose(impact_path(W, u, mu, e, law), expected, rtol=1e-7)


@pytest.mark.claim(38)
@given(seed=st.integers(0, 10**6), law=st.sampled_from(LAWS), tangents=st.integers(0, 2))
@settings(max_examples=150, deadline=None)
def test_an_impact_takes_energy_and_ends_open(seed, law, tangents):
    W, u, mu, e = case(seed, tangents)
    p = impact_path(W, u, mu, e, law)
    after = u + W @ p
    assert p[0] > 0.0
    assert np.linalg.norm(p[1:]) <= mu * p[0] * (1.0 + CURVED)
    assert after[0] > -CURVED * np.abs(u).max()
    taken = -0.5 * p @ (u + after)
    assert taken > -CURVED * (u @ np.linalg.solve(W, u))
    if law == 'poisson' and tangents < 2:
        # e = 0 is the part before the greatest compression
        first = impact_path(W, u, mu, 0.0, law)
        assert_allclose(p[0], (1.0 + e) * first[0], rtol=EXACT)
        assert abs((u + W @ first)[0]) < EXACT * np.abs(u).max() * (1.0 + np.abs(W).max())


@pytest.mark.parametrize('law', LAWS)
def test_without_friction_all_laws_are_newtons(law):
    for tangents in (0, 1, 2):
        W, u, _, e = case(5, tangents)
        p = impact_path(W, u, 0.0, e, law)
        assert_allclose(p, np.eye(1 + tangents)[0] * -(1.0 + e) * u[0] / W[0, 0], rtol=EXACT)


@pytest.mark.parametrize('law', LAWS)
def test_a_plane_in_space_is_a_plane(law):
    """Where the second direction of slip has no part, or responds to nothing."""
    for seed in range(6):
        W, u, mu, e = case(seed, 1)
        expected = np.r_[impact_path(W, u, mu, e, law), 0.0]
        for other in (0.0, 2.0):
            wide = np.zeros((3, 3))
            wide[:2, :2], wide[2, 2] = W, other
            found = impact_path(wide, np.r_[u, 0.0], mu, e, law)
            assert_allclose(found, expected, rtol=0, atol=EXACT * (1.0 + expected[0]))


@pytest.mark.parametrize('law', LAWS)
def test_directions_of_slip_may_be_turned(law):
    turn = np.eye(3)
    turn[1:, 1:] = [[0.6, -0.8], [0.8, 0.6]]
    for seed in range(4):
        W, u, mu, e = case(seed)
        p = impact_path(W, u, mu, e, law)
        found = impact_path(turn @ W @ turn.T, turn @ u, mu, e, law)
        assert_allclose(found, turn @ p, rtol=0, atol=CURVED * (1.0 + p[0]))


def test_what_cannot_stick_slips_the_way_it_is_pushed():
    # at rest along the ground; W_tn = (3, 4), held by 5 > mu of its normal force
    W = np.array([[40.0, 3.0, 4.0], [3.0, 1.0, 0.0], [4.0, 0.0, 1.0]])
    p = impact_path(W, np.array([-1.0, 0.0, 0.0]), 0.5, 0.0, 'poisson')
    assert_allclose(p[1:] / p[0], [-0.3, -0.4], rtol=EXACT)
    slip = (W @ p)[1:]
    assert_allclose(slip / np.linalg.norm(slip), [0.6, 0.8], rtol=EXACT)
    # W_tt that differs along the two: slip is along the force again
    W[2, 2] = 3.0
    p = impact_path(W, np.array([-1.0, 0.0, 0.0]), 0.5, 0.3, 'energetic')
    slip = (W @ p)[1:]
    assert_allclose(p[1:] / p[0], -0.5 * slip / np.linalg.norm(slip), rtol=EXACT)


@pytest.mark.parametrize('turn', [0.0, 0.7])
def test_a_contact_that_moves_along_a_line(turn):
    """The end of a lever: slip and approach stop together; it jams, or slips back."""
    g = np.array([0.6, 0.8 * np.cos(turn), 0.8 * np.sin(turn)])
    W, u = np.outer(g, g), -2.0 * g
    for law in LAWS:
        for e in (0.0, 0.5):
            jams, back = (impact_path(W, u, mu, e, law) for mu in (0.76, 0.74))
            assert_allclose(u + W @ jams, 0.0, rtol=0, atol=1e-12)
            speed = (u + W @ back) @ g
            assert (speed > 1e-3) == (e > 0.0)
            assert speed < 2.0 * e + 1e-12
    # Poisson: 2 / (0.6 + 0.8 mu) stops it, e times that drives it back by 0.6 - 0.8 mu
    back = impact_path(W, u, 0.3, 0.5, 'poisson')
    assert (u + W @ back) @ g == pytest.approx(0.5 * 2.0 * 0.36 / 0.84, rel=EXACT)


def test_what_is_no_impact():
    W, u, mu, e = case(1, 1)
    for up in (0.0, 1.0):
        still = np.array([up, 0.0])
        assert not impact_path(W, still, mu, e, 'poisson').any()
        assert not impact_path(np.zeros((2, 2)), u, mu, e, 'poisson').any()
    # slip that friction does not turn inwards
    assert not impact_path(np.eye(2), np.array([0.0, 1.0]), 5.0, e, 'energetic').any()
    # slip that friction turns inwards, in contact and above it
    W = np.array([[1.6, -1.2], [-1.2, 3.4]])
    assert impact_path(W, np.array([0.0, -1.0]), 1.6, 0.0, 'poisson')[0] == pytest.approx(0.3)
    assert not impact_path(W, np.array([0.1, -1.0]), 1.6, 0.0, 'poisson').any()
    assert not impact_path(W, np.array([0.0, 1.0]), 1.6, 0.0, 'poisson').any()
