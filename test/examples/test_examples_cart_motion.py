# SPDX-License-Identifier: Apache-2.0
"""The shopping cart in time: it sticks, lets go, and passes singular choices of speeds."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from shopping_cart import HAND_STEP, Cart, coupler, instant, ride, steering

import kane_dynamics as kd


@pytest.mark.claim(37, 42)
def test_the_impulse_of_sticking():
    cart = Cart()
    q, u = instant(cart)
    event = cart.simulation(q, u, HAND_STEP).add('stuck', cart.stuck)
    after = cart.speeds.speeds(q, event.v)
    assert_allclose(after, (0.938350, 0.893776, 0.893776), rtol=0, atol=5.1e-7)
    energies = cart.energy(q, u), cart.energy(q, after)
    assert_allclose(energies, (13.333235, 12.213885), rtol=0, atol=5.1e-7)
    # momentum along the direction that stays free is kept, and the loss is that of the jump
    W = cart.speeds.matrices(q)[0]
    Q = W.T @ kd.mass_matrix(cart.robot, q) @ W
    assert after @ Q @ (u - after) == pytest.approx(0.0, abs=1e-12)
    loss = 0.5 * (u - after) @ Q @ (u - after)
    assert energies[0] - energies[1] == pytest.approx(loss, abs=1e-12)
    assert event.energy_loss == pytest.approx(loss, abs=1e-12)


def test_the_coupler_pulls_to_the_handle():
    cart = Cart()
    q, u = instant(cart)
    assert_allclose(coupler(cart, q[:3], 0.0, q, u), np.zeros(4), atol=1e-13)
    ahead = np.array([np.cos(q[2]), np.sin(q[2]), 0.0])
    moved = q[:3] + 0.01 * ahead + [0.0, 0.0, 0.02]
    # the turned handle also moves in another direction: at t = 0 by its speed alone
    turned = 1.1 * np.array([np.cos(moved[2]), np.sin(moved[2]), 0.0]) - 1.1 * ahead
    expected = 300.0 * 0.01 * ahead + 60.0 * turned + [0.0, 0.0, 60.0 * 0.02]
    assert_allclose(coupler(cart, moved, 0.0, q, u)[:3], expected, atol=1e-12)
    assert coupler(cart, moved, 0.0, q, u)[3] == 0.0  # nobody turns the caster


@pytest.fixture(scope='module')
def found():
    """Return the ride of the example."""
    return ride(Cart())


@pytest.mark.claim(37, 42)
def test_the_caster_sticks_and_comes_loose(found):
    cart = Cart()
    added, breaks = found.events
    assert (added.kind, added.time) == ('added', 0.2)
    assert (breaks.kind, dict(breaks.states)) == ('breaks', {'stuck': ''})
    # it is let go of where its torque exceeds the limit, and not before
    stuck = (found.time > 0.2) & (found.time <= breaks.time)
    assert (np.abs(found.torque[stuck]) <= cart.torque_limit).all()
    assert (found.torque[~stuck] == 0.0).all()
    last = np.flatnonzero(stuck)[-1]
    u = cart.speeds.speeds(breaks.q, breaks.v)
    before, after = (
        cart.motion(breaks.q, u, tau, (cart.caster, cart.stuck)).multipliers[1]
        for tau in found.efforts[last : last + 2]
    )
    assert before < cart.torque_limit < after  # the hand's next command is too much
    q4 = found.q[:, 3]
    assert_allclose(q4[stuck], q4[found.time == 0.2][0], rtol=0, atol=1e-12)
    assert np.abs(np.diff(q4[found.time > breaks.time])).max() > 1e-4  # it turns again


@pytest.mark.claim(37, 42)
def test_an_impulse_when_it_sticks_and_none_when_it_lets_go(found):
    added, breaks = found.events
    assert np.abs(added.impulse).max() > 0.1
    assert added.energy_loss > 0.01
    # speeds are projected onto the rows that stay: roundoff
    assert_allclose(breaks.impulse, 0.0, atol=1e-12)


def test_the_rows_hold_all_the_time(found):
    cart = Cart()
    for q, u, torque in zip(found.q, found.u, found.torque, strict=True):
        s4, c4 = np.sin(q[3]), np.cos(q[3])
        assert abs(-s4 * u[0] + cart.pivot * c4 * u[1] - cart.trail * u[2]) < 1e-12
        assert not torque or abs(u[2] - u[1]) < 1e-12


@pytest.mark.claim(42)
def test_energy_is_what_the_hand_gives(found):
    """Efforts are constant in a step, on coordinates whose rates are v: exact but for rk4."""
    cart, sticks = Cart(), 0.0
    energies = [cart.energy(q, u) for q, u in zip(found.q, found.u, strict=True)]
    for k in range(1, len(found.time)):
        work = found.efforts[k] @ (found.q[k] - found.q[k - 1])
        change = energies[k] - energies[k - 1]
        if found.time[k - 1] == 0.2:
            sticks = work - change
        else:
            assert change == pytest.approx(work, abs=1e-7)  # h^5 (5/s)^5 of 13 J
    assert sticks == pytest.approx(found.events[0].energy_loss, abs=1e-7)


@pytest.fixture(scope='module')
def steered():
    """Return q, v and independent speeds of the steered caster."""
    return steering(Cart())


@pytest.mark.claim(36, 37, 42)
def test_steering_passes_the_singular_choice(steered):
    cart, (q, v, chosen) = Cart(), steered
    singular = np.arccos(0.15 / 0.9)
    assert singular == pytest.approx(1.403348, abs=5.1e-7)
    assert q[0, 3] < singular < q[-1, 3]
    assert (chosen[0], chosen[-1]) == ('base_x', 'base_yaw')
    assert np.count_nonzero(np.array(chosen[1:]) != np.array(chosen[:-1])) == 1
    assert chosen[int(np.argmax(q[:, 3] > singular))] == 'base_yaw'
    # u1 is what the motor makes of it there, -L3 q4'/sin(q4), and u2 is free
    u = np.array([cart.speeds.speeds(*state) for state in zip(q, v, strict=True)])
    crossing = np.interp(singular, q[:, 3], u[:, 0])
    assert crossing == pytest.approx(-0.15 / np.sin(singular), abs=2e-3)  # between samples
    assert np.interp(singular, q[:, 3], u[:, 1]) > 0.5


@pytest.mark.claim(36)
def test_steering_is_what_gauss_says(steered):
    """No jump where other speeds are chosen, and the motion of all speeds at once."""
    cart, (q, v, _) = Cart(), steered
    rows = (cart.rear_wheels, cart.caster, cart.steered(1.0))
    for k in range(len(q) - 1):
        tau, step = cart.efforts(q[k], 5.0, 1.2), q[k + 1, 3] - q[k, 3]  # q4' = 1
        ends = [
            kd.forward_dynamics(cart.robot, *state, tau, rows).acceleration
            for state in ((q[k], v[k]), (q[k + 1], v[k + 1]))
        ]
        # the error of the trapezium, h^3/12 times some tens of m/s^4
        change = 0.5 * step * (ends[0] + ends[1])
        assert_allclose(v[k + 1] - v[k], change, rtol=0, atol=3e-5)
        assert np.abs(ends).max() < 5.0  # while k = u2/u1 of u1's choice is infinite
