# SPDX-License-Identifier: Apache-2.0
"""The shopping cart in time: it sticks, lets go, and passes singular choices of speeds."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp
from scipy.interpolate import CubicSpline
from shopping_cart import Cart, coupler, instant, phases, steering

import kane_dynamics as kd

SLIP = 1e-6  # m/s: speeds are integrated with relative tolerance 1e-8


@pytest.mark.claim(42)
def test_the_impulse_of_sticking():
    cart = Cart()
    q, u = instant(cart)
    after = cart.after_impact(q, u, (cart.caster, cart.stuck))
    assert_allclose(after, (0.938350, 0.893776, 0.893776), rtol=0, atol=5.1e-7)
    energies = cart.energy(q, u), cart.energy(q, after)
    assert_allclose(energies, (13.333235, 12.213885), rtol=0, atol=5.1e-7)
    # momentum along the direction that stays free is kept, and the loss is that of the jump
    W = cart.speeds.matrices(q)[0]
    Q = W.T @ kd.mass_matrix(cart.robot, q) @ W
    assert after @ Q @ (u - after) == pytest.approx(0.0, abs=1e-12)
    loss = 0.5 * (u - after) @ Q @ (u - after)
    assert energies[0] - energies[1] == pytest.approx(loss, abs=1e-12)


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
def parts():
    """Return the three phases of the example."""
    return phases(Cart())


@pytest.mark.claim(42)
def test_the_caster_sticks_and_comes_loose(parts):
    cart = Cart()
    assert [part.kind for part in parts] == ['free', 'stuck', 'free']
    free, stuck, loose = parts
    assert free.time[-1] == stuck.time[0] == pytest.approx(0.2)
    assert stuck.time[-1] == loose.time[0] < loose.time[-1] == 0.8
    # it is let go of where its torque reaches the limit, and not before
    assert abs(stuck.torque[-1]) == pytest.approx(cart.torque_limit, abs=1e-9)
    assert (np.abs(stuck.torque[:-1]) < cart.torque_limit).all()
    assert_allclose(stuck.q[:, 3], stuck.q[0, 3], rtol=0, atol=1e-12)
    assert np.abs(np.diff(loose.q[:, 3])).max() > 1e-3  # it turns again


@pytest.mark.claim(42)
def test_an_impulse_when_it_sticks_and_none_when_it_lets_go(parts):
    cart = Cart()
    free, stuck, loose = parts
    q, before, after = stuck.q[0], free.u[-1], stuck.u[0]
    assert_allclose(free.q[-1], q, atol=0)
    assert np.abs(after - before).max() > 0.1
    W = cart.speeds.matrices(q)[0]
    Q = W.T @ kd.mass_matrix(cart.robot, q) @ W
    jump = before - after
    loss = cart.energy(q, before) - cart.energy(q, after)
    assert loss == pytest.approx(0.5 * jump @ Q @ jump, abs=1e-6)  # drift of the row before
    assert loss > 0.01
    assert_allclose(loose.u[0], stuck.u[-1], atol=0)
    # the forces jump there, as the constraint is gone
    tau = coupler(cart, parts[0].q[0, :3], loose.time[0], loose.q[0], loose.u[0])
    held = cart.motion(loose.q[0], loose.u[0], tau, (cart.caster, cart.stuck))
    gone = cart.motion(loose.q[0], loose.u[0], tau, (cart.caster,))
    gap = gone.details.u_rate[2] - held.details.u_rate[2]
    # the torque that held it back is along -gap: it now turns the other way
    assert gap * held.multipliers[1] < 0.0


def test_the_rows_hold_all_the_time(parts):
    cart = Cart()
    for part in parts:
        for q, u in zip(part.q, part.u, strict=True):
            s4, c4 = np.sin(q[3]), np.cos(q[3])
            assert abs(-s4 * u[0] + cart.pivot * c4 * u[1] - cart.trail * u[2]) < SLIP
            if part.kind == 'stuck':
                assert abs(u[2] - u[1]) < SLIP


@pytest.mark.claim(42)
def test_energy_is_what_the_hand_gives(parts):
    cart, (start, *_) = Cart(), parts
    for part in parts:
        powers = [
            coupler(cart, start.q[0, :3], t, q, u) @ cart.speeds.velocity(q, u)
            for t, q, u in zip(part.time, part.q, part.u, strict=True)
        ]
        # splines of order 4 through steps up to 0.05 s: h^4 = 6e-6, less 1/384
        work = CubicSpline(part.time, powers).integrate(*part.time[[0, -1]])
        change = cart.energy(part.q[-1], part.u[-1]) - cart.energy(part.q[0], part.u[0])
        assert change == pytest.approx(work, abs=1e-5)


@pytest.fixture(scope='module')
def steered():
    """Return q, u and independent speeds of the steered caster."""
    return steering(Cart())


@pytest.mark.claim(42)
def test_steering_passes_the_singular_choice(steered):
    q, u, chosen = steered
    singular = np.arccos(0.15 / 0.9)
    assert singular == pytest.approx(1.403348, abs=5.1e-7)
    assert q[0, 3] < singular < q[-1, 3]
    assert chosen[0] == 'u1'
    near = np.abs(q[:, 3] - singular) < 0.3
    assert near.any() and not any(c == 'u1' for c, n in zip(chosen, near, strict=True) if n)
    # u1 is what the motor makes of it there, -L3 q4'/sin(q4), and u2 is free
    crossing = np.interp(singular, q[:, 3], u[:, 0])
    assert crossing == pytest.approx(-0.15 / np.sin(singular), abs=2e-3)  # between samples
    assert (np.abs(np.interp(singular, q[:, 3], u[:, 1])) > 0.5).all()


@pytest.mark.claim(36)
def test_steering_has_no_jump(steered):
    cart, (q, u, _) = Cart(), steered
    rows = (cart.caster, cart.steered(1.0))
    rates = [
        cart.motion(x, y, cart.efforts(x, 5.0, 1.2), rows).details.u_rate
        for x, y in zip(q, u, strict=True)
    ]
    slope = CubicSpline(q[:, 3], rates)  # q4' = 1: q4 is the time
    steps = [slope.integrate(a, b) for a, b in zip(q[:-1, 3], q[1:, 3], strict=True)]
    assert_allclose(np.diff(u, axis=0), steps, rtol=0, atol=1e-5)  # order 4 again
    assert np.abs(rates).max() < 5.0  # while k = u2/u1 of u1's partition is infinite


def test_steering_is_what_gauss_says(steered):
    cart, (q, u, _) = Cart(), steered
    robot = cart.robot
    rows = (kd.constraints.no_side_slip(robot), cart.caster, cart.steered(1.0))

    def rate(t, y):
        tau = cart.efforts(y[:4], 5.0, 1.2)
        motion = kd.forward_dynamics(robot, y[:4], y[4:], tau, rows)
        return np.concatenate([y[4:], motion.acceleration])

    start = np.concatenate([q[0], cart.speeds.velocity(q[0], u[0])])
    end = solve_ivp(rate, (0.0, 1.3), start, rtol=1e-8, atol=1e-10, max_step=0.1).y[:, -1]
    expected = np.concatenate([q[-1], cart.speeds.velocity(q[-1], u[-1])])
    assert_allclose(end, expected, rtol=0, atol=1e-6)  # tolerance of both, some tens of steps
