# SPDX-License-Identifier: Apache-2.0
"""The shopping cart against the closed forms of Gillespie (51)-(67)."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from shopping_cart import Cart, instant, rolling_speeds
from support.cart import Closed

import kane_dynamics as kd

EXACT = 1e-11  # some tens of roundings of numbers up to 100
SEEDS = range(5)


def case(seed, stuck=False):
    """Return a random cart away from singular angles, its closed forms, q, u, push and rng."""
    rng = np.random.default_rng(seed)
    sizes = rng.uniform([0.2, 0.7, 0.1, 5, 0.5, 1], [0.6, 1.2, 0.3, 25, 3, 4])
    cart = Cart(*sizes)
    q = np.append(rng.uniform(-2.0, 2.0, 3), rng.uniform(0.3, 0.9) * rng.choice([-1, 1]))
    closed = Closed(cart, q)
    u1, u2 = rng.uniform(-2.0, 2.0, 2)
    u = np.array([u1, closed.k * u1, closed.k * u1] if stuck else [u1, u2, 0.0])
    u[2] = u[2] if stuck else closed.free @ u[:2]
    return cart, closed, q, u, rng.uniform(-5.0, 5.0, 2), rng


def forces(cart, q, u, u_rate, push):
    """Return F and F* of the three speeds, before any constraint is embedded."""
    v = cart.speeds.velocity(q, u)
    speed = cart.speeds.at(q, v)
    a = speed.W @ u_rate + speed.bias
    F = speed.W.T @ cart.efforts(q, *push)
    return F, -speed.W.T @ kd.inverse_dynamics(cart.robot, q, v, a)


@pytest.mark.claim(42)
@pytest.mark.parametrize('seed', SEEDS)
def test_speeds(seed):
    cart, closed, q, u, _, _ = case(seed)
    s, c = np.sin(q[2]), np.cos(q[2])
    v = cart.speeds.velocity(q, u)
    Y = np.array([[c, s, 0, 0], [0, 0, 1, 0], [0, 0, 1, 1]])
    assert_allclose(Y @ v, u, atol=1e-14)  # (56), (57)
    assert -s * v[0] + c * v[1] == pytest.approx(0.0, abs=1e-14)
    twists = kd.forward_kinematics(cart.robot, q, v)
    assert_allclose([twists.twist('B')[2], twists.twist('C')[2]], u[1:], atol=1e-14)
    # the caster's row in u is (59), and its particle does not move along c2
    row = cart.caster.rows(cart.robot, q.tolist(), v.tolist(), 0.0)[0].coefficients
    W = np.array(rolling_speeds(q, 0.0))
    assert_allclose(np.array([row[k] for k in range(4)]) @ W, closed.row, atol=1e-14)
    slip = twists.twist('C')[4] - cart.trail * twists.twist('C')[2]
    assert slip == pytest.approx(0.0, abs=1e-14)


@pytest.mark.claim(42)
@pytest.mark.parametrize('seed', SEEDS)
def test_partial_velocities(seed):
    cart, closed, q, _, _, _ = case(seed)
    body, caster = kd.partial_velocities(cart.robot, q, cart.speeds)
    D, k = closed.free, closed.k
    c1, c2 = np.array([closed.c4, closed.s4, 0]), np.array([-closed.s4, closed.c4, 0])
    b1, b2, b3 = np.eye(3)
    to_body = np.stack([c1, c2, b3], axis=1)
    # free: recombined with u3 = D u; Bo in B, P3 in C
    embedded = to_body @ (caster.v[:, :2] + np.outer(caster.v[:, 2], D))
    assert_allclose(
        embedded, np.stack([closed.c4 * c1, cart.pivot * closed.s4 * c1], 1), atol=EXACT
    )
    assert_allclose(body.v, np.stack([b1, cart.com * b2, 0 * b1], 1), atol=EXACT)
    assert_allclose(body.omega, np.stack([0 * b3, b3, 0 * b3], 1), atol=EXACT)
    # stuck: u2 = u3 = k u1
    direction = np.array([1.0, k, k])
    assert_allclose(body.v @ direction, b1 - cart.com * closed.s4 / closed.Z2 * b2, atol=EXACT)
    assert_allclose(body.omega @ direction, -closed.s4 / closed.Z2 * b3, atol=EXACT)
    expected = b1 + closed.s4 / closed.Z2 * (cart.trail * c2 - cart.pivot * b2)
    assert_allclose(to_body @ caster.v @ direction, expected, atol=EXACT)


@pytest.mark.claim(42)
@pytest.mark.parametrize('seed', SEEDS)
def test_free_caster(seed):
    cart, closed, q, u, push, _ = case(seed)
    motion = cart.motion(q, u, cart.efforts(q, *push), (cart.caster,))
    u_rate = motion.details.u_rate
    F, F_star = forces(cart, q, u, u_rate, push)
    assert_allclose(motion.details.active_force, F, atol=EXACT)
    assert_allclose(motion.details.inertia_force, F_star, atol=EXACT)
    # (44), (45) with the D of (60) are (63)
    active, inertia = (x[:2] + closed.free * x[2] for x in (F, F_star))
    assert_allclose(active, push, atol=EXACT)
    scale = np.abs(F_star).max()
    expected = closed.free_inertia_force(u, u_rate)
    assert_allclose(inertia, expected, rtol=0, atol=1e-12 * (1.0 + scale))
    assert_allclose(active + inertia, 0.0, atol=1e-12 * (1.0 + scale))
    # the dependent equation gives the multiplier of the explicit row u3 - D u = G u/(-L3)
    assert F[2] + F_star[2] == pytest.approx(cart.trail * motion.multipliers[0], abs=1e-12 * scale)


@pytest.mark.claim(42)
@pytest.mark.parametrize('seed', SEEDS)
def test_stuck_caster(seed):
    cart, closed, q, u, push, _ = case(seed, stuck=True)
    motion = cart.motion(q, u, cart.efforts(q, *push), (cart.caster, cart.stuck))
    u_rate = motion.details.u_rate
    a1 = (push[0] + closed.k * push[1]) / closed.effective_mass
    assert_allclose(u_rate, a1 * np.array([1, closed.k, closed.k]), atol=EXACT)
    F, F_star = forces(cart, q, u, u_rate, push)
    direction = np.array([1.0, closed.k, closed.k])
    # (67): the right sign agrees at any acceleration, the printed one does not (E22)
    for rate in (a1, 3.0):
        _, other = forces(cart, q, u, rate * direction, push)
        expected = closed.stuck_inertia_force(u, rate)
        assert other @ direction == pytest.approx(expected, abs=1e-11 * np.abs(other).max())
        printed = closed.stuck_inertia_force(u, rate, sign=-1.0)
        assert abs(printed - expected) > 1e-2  # N
    assert F @ direction == pytest.approx(push[0] - closed.s4 / closed.Z2 * push[1], abs=EXACT)
    # two dependent speeds, u2 and u3: -(F_s + F_s*) on the explicit rows are the multipliers
    G = np.array([closed.row, [0.0, -1.0, 1.0]])
    lacking = -(F + F_star)[1:]
    found = np.linalg.solve(G[:, 1:].T, lacking)
    assert_allclose(motion.multipliers, found, atol=1e-11 * np.abs(found).max())


@pytest.mark.claim(42)
@pytest.mark.parametrize('seed', SEEDS)
def test_the_term_that_turns_with_the_caster(seed):
    # E23: d/dt of k adds k' Z1 u1 to u2' and u3'; printed, it has another factor
    cart, closed, q, u, _, rng = case(seed, stuck=True)
    Z1, (s4, c4, Z2) = rng.uniform(0.5, 2.0), (closed.s4, closed.c4, closed.Z2)

    def stuck(q, t):
        k = np.sin(q[3]) / (cart.pivot * np.cos(q[3]) - cart.trail)
        return [[np.cos(q[2])], [np.sin(q[2])], [k], [0.0]]

    speeds = kd.generalized_speeds(cart.robot, stuck)
    W, turned = speeds.matrices(q)[0], np.array([0.0, 0.0, 0.0, Z1])
    W_rate = np.array(speeds.rates(q, turned, 0.0))[:, :1]
    found = -(W.T @ kd.mass_matrix(cart.robot, q) @ W_rate)[0, 0] * u[0]
    right = -s4 * Z1 * closed.Z5 / Z2**2 * (c4 * u[0] + cart.pivot * s4 * u[1])
    assert found == pytest.approx(right, rel=1e-10)
    Z5 = closed.Z5 + closed.m_C * (closed.L3**2 - closed.L2 * closed.L3 * c4)
    Z6 = s4 * Z1 * Z5 / Z2**2
    printed = -Z6 * c4 * u[0] + cart.pivot * Z6 * s4 * u[1]
    assert abs(printed - right) > 1e-3 * abs(right)


@pytest.mark.claim(38)
@pytest.mark.parametrize('stuck', [False, True], ids=['free', 'stuck'])
@pytest.mark.parametrize('seed', SEEDS)
def test_multipliers_of_the_whole_system(seed, stuck):
    cart, _, q, u, push, _ = case(seed, stuck)
    rows = (cart.caster, cart.stuck) if stuck else (cart.caster,)
    tau = cart.efforts(q, *push)
    motion = cart.motion(q, u, tau, rows)
    v = cart.speeds.velocity(q, u)
    parts = (kd.constraints.no_side_slip(cart.robot), *rows)
    found = [row for part in parts for row in part.rows(cart.robot, q.tolist(), v.tolist(), 0.0)]
    A = np.array([[row.coefficients.get(k, 0.0) for k in range(4)] for row in found])
    M = kd.mass_matrix(cart.robot, q)
    whole = np.block([[M, -A.T], [A, np.zeros((len(A), len(A)))]])
    right = np.append(tau - kd.bias_force(cart.robot, q, v), [row.acceleration for row in found])
    solved = np.linalg.solve(whole, right)
    scale = np.abs(solved).max()
    # rates of the caster's row are differences of order 8, good to 1e-12
    assert_allclose(motion.acceleration, solved[:4], rtol=0, atol=1e-11 * scale)
    assert_allclose(motion.multipliers, solved[5:], rtol=0, atol=1e-10 * scale)


@pytest.mark.claim(35)
@pytest.mark.parametrize('seed', SEEDS)
def test_any_choice_of_independent_speeds_moves_alike(seed):
    cart, closed, q, u, push, _ = case(seed)
    motion = cart.motion(q, u, cart.efforts(q, *push), (cart.caster,))
    start = forces(cart, q, u, np.zeros(3), push)[1]  # -L
    Q = -np.array([forces(cart, q, u, e, push)[1] - start for e in np.eye(3)]).T
    F = forces(cart, q, u, np.zeros(3), push)[0]
    G = closed.row
    b = G @ motion.details.u_rate
    for dependent in range(3):
        others = [k for k in range(3) if k != dependent]
        D = -G[others] / G[dependent]  # the corrected sign of (5)
        B = np.zeros((3, 2))
        B[others], B[dependent] = np.eye(2), D
        offset = np.zeros(3)
        offset[dependent] = b / G[dependent]
        rate = B @ np.linalg.solve(B.T @ Q @ B, B.T @ (F + start - Q @ offset)) + offset
        assert_allclose(rate, motion.details.u_rate, rtol=1e-10, atol=1e-10)
        assert G @ B == pytest.approx(np.zeros(2), abs=1e-13)
        printed = np.zeros((3, 2))
        printed[others], printed[dependent] = np.eye(2), -D
        assert np.abs(G @ printed).max() > 0.1  # D = A^-1 B of the printed (5): E14


@pytest.mark.claim(42)
def test_the_numbers_of_the_instant():
    cart = Cart()
    q, u = instant(cart)
    assert u[2] == pytest.approx(-2.407506680, abs=5.1e-10)
    tau = cart.efforts(q, 5.0, 1.2)
    free = cart.motion(q, u, tau, (cart.caster,))
    assert_allclose(free.details.u_rate[:2], (0.239537818, -0.458288565), atol=5.1e-10)
    assert free.details.u_rate[2] == pytest.approx(16.788274, abs=5.1e-7)
    assert free.multipliers[0] == pytest.approx(-3.920859, abs=5.1e-7)
    closed, held = Closed(cart, q), (cart.caster, cart.stuck)
    assert closed.k == pytest.approx(0.952497499, abs=5.1e-10)
    assert closed.effective_mass == pytest.approx(27.743024288, abs=5.1e-10)
    stuck = cart.motion(q, 1.1 * np.array([1, closed.k, closed.k]), tau, held)
    assert stuck.details.u_rate[0] == pytest.approx(0.221424922, abs=5.1e-10)
    assert_allclose(stuck.multipliers, (18.193640, 2.389502), rtol=0, atol=5.1e-7)
    # one independent speed, whichever it is: B' Q B per square of its share of u1
    share = stuck.details.partition.basis[0, 0]
    mass = stuck.details.reduced_mass[0, 0] / share**2
    assert mass == pytest.approx(27.743024288, abs=5.1e-10)
    # the printed (67) gives 0.9467 (E22)
    sticking = 1.1 * np.array([1.0, closed.k, closed.k])
    without = closed.stuck_inertia_force(sticking, 0.0, sign=-1.0)
    assert (5.0 + closed.k * 1.2 + without) / closed.effective_mass == pytest.approx(
        0.9467, abs=5.1e-5
    )
