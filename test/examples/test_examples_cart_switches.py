# SPDX-License-Identifier: Apache-2.0
"""The shopping cart in a simulation with events: its caster sticks and comes loose by name."""

import functools

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp
from scipy.interpolate import CubicSpline
from shopping_cart import Cart
from support.cart import Closed

import kane_dynamics as kd

PUSH = np.array([-4.0, 6.0, 1.5, 0.0])  # constant in the world: N, N, N m
CART, OTHER = Cart(), Cart(0.35, 0.8, 0.12, 16.0, 1.2, 1.9)
REAR = kd.constraints.no_side_slip(CART.robot)
LIMIT = 1.8  # N m; reached after 0.35 s

ENGINES = ('reference', 'compiled')


def on_wheels(cart=CART, rear=REAR):
    return {'rear': rear, 'caster': cart.caster}


@functools.cache
def simulation_of(engine):
    """Return a simulation that keeps its sets: rows that are functions are not kept on disk."""
    dynamics = None if engine == 'reference' else kd.compile(CART.robot)
    return kd.EventSimulation(CART.robot, on_wheels(), step=1e-3, dynamics=dynamics)


def started(engine, q, v):
    """Return it at a state, with a free caster."""
    simulation = simulation_of(engine)
    simulation.reset(q, v)
    return simulation


def state(cart, q4, u1, u2):
    """Return q, and v of a free caster."""
    q = np.array([1.0, -2.0, 0.8, q4])
    u = np.array([u1, u2, Closed(cart, q).free @ (u1, u2)])
    return q, cart.speeds.velocity(q, u)


def speed_rates(cart, q, u, stuck):
    """Return u' of (63) for a free caster, of (67) with the right sign for one that sticks."""
    closed = Closed(cart, q)
    c, s = np.cos(q[2]), np.sin(q[2])
    active = np.array([c * PUSH[0] + s * PUSH[1], PUSH[2]])
    if stuck:
        a1 = (active[0] + closed.k * active[1]) / closed.effective_mass
        return a1 * np.array([1.0, closed.k, closed.k])
    zero, *columns = (
        np.array(closed.free_inertia_force(u, a)) for a in ((0, 0, 0), (1, 0, 0), (0, 1, 0))
    )
    mass = np.stack([zero - column for column in columns], axis=1)
    a1, a2 = np.linalg.solve(mass, active + zero)
    turning = u[2] - u[1]  # q4'
    bent = np.array([-closed.c4, -cart.pivot * closed.s4]) * turning / cart.trail @ u[:2]
    return np.array([a1, a2, closed.free @ (a1, a2) + bent])


def closed_motion(cart, q, u, duration, stuck, events=None):
    """Return what the closed forms integrate to."""

    def rate(t, y):
        return np.r_[cart.speeds.velocity(y[:4], y[4:]), speed_rates(cart, y[:4], y[4:], stuck)]

    # a tenth of what is asked for, per step of some tens
    options = {'rtol': 1e-12, 'atol': 1e-13, 'method': 'DOP853', 'events': events}
    return solve_ivp(rate, (0.0, duration), np.r_[q, u], **options)


@pytest.mark.claim(37, 42)
@pytest.mark.parametrize('engine', ENGINES)
def test_free_and_stuck_motions_are_the_closed_forms(engine):
    q, v = state(CART, 0.6, 0.5, 0.2)
    simulation = started(engine, q, v)
    for stuck in (False, True):
        if stuck:
            simulation.add('stuck', CART.stuck)
        start, u = simulation.q, CART.speeds.speeds(simulation.q, simulation.v)
        simulation.step(PUSH, 20)
        end = closed_motion(CART, start, u, 0.02, stuck).y[:, -1]
        found = CART.speeds.speeds(simulation.q, simulation.v)
        # rk4: 20 steps of 1 ms, h^5 times the fifth derivative, (3/s)^5
        assert_allclose(np.r_[simulation.q, found], end, rtol=0, atol=1e-10)
        rates = speed_rates(CART, simulation.q, found, stuck)
        speed = CART.speeds.at(simulation.q, simulation.v)
        expected = speed.W @ rates + speed.bias
        assert_allclose(simulation.motion.acceleration, expected, rtol=0, atol=1e-10)
    assert_allclose(simulation.q[3], start[3], rtol=0, atol=1e-12)
    event = simulation.remove('stuck')
    assert_allclose(event.v, found @ CART.speeds.matrices(event.q)[0].T, atol=1e-12)
    assert_allclose(event.impulse, 0.0, atol=1e-12)  # nothing jumps


@pytest.mark.claim(37, 42)
def test_the_impulse_of_a_caster_that_sticks():
    """C6, printed to ten digits: projection on the locked speed, five Cartesian coordinates."""
    q = np.array([0.0, 0.0, 0.4, -0.9])
    v = OTHER.speeds.velocity(q, (0.9, -0.5, Closed(OTHER, q).free @ (0.9, -0.5)))
    rear = kd.constraints.no_side_slip(OTHER.robot)
    simulation = kd.EventSimulation(OTHER.robot, on_wheels(OTHER, rear), q, v, step=0.01)
    assert simulation.independent_speeds == OTHER.robot.velocity_names  # chosen by a step
    simulation.step(np.zeros(4), 3)
    simulation.reset()
    event = simulation.add('stuck', OTHER.stuck)
    assert (event.time, event.kind, dict(event.states)) == (0.0, 'added', {'stuck': 'holds'})
    u = OTHER.speeds.speeds(q, event.v)
    assert_allclose(u, (0.5507951042, -1.143563156, -1.143563156), rtol=0, atol=1e-9)
    energy = kd.kinetic_energy(OTHER.robot, q, event.v)
    assert_allclose((energy, event.energy_loss), (5.62383098, 1.7957157), rtol=0, atol=1e-8)
    rows = kd.constraints.ConstraintSet(OTHER.robot, [rear, OTHER.caster, OTHER.stuck])
    A = rows.rows(q, event.v, 0.0).matrix
    on_rows = np.linalg.lstsq(A.T, event.impulse, rcond=None)[0]
    assert_allclose(A.T @ on_rows, event.impulse, atol=1e-12)
    # the printed lock couple acts on u3 - u2, as the lock of q4' does
    assert_allclose(on_rows[1:], (-6.955417432, -0.8346500918), rtol=0, atol=1e-9)


def lock_torque(q, u):
    """Return the torque that a stuck caster needs [N m], of the whole system of equations."""
    v = CART.speeds.velocity(q, u)
    held = kd.constraints.ConstraintSet(CART.robot, [REAR, CART.caster, CART.stuck])
    rows = held.rows(q, v, 0.0)
    A, M = rows.matrix, kd.mass_matrix(CART.robot, q)
    whole = np.block([[M, -A.T], [A, np.zeros((3, 3))]])
    force = PUSH - kd.bias_force(CART.robot, q, v)
    return np.linalg.solve(whole, np.r_[force, rows.acceleration])[-1]


@pytest.mark.claim(37, 42)
def test_a_caster_beyond_its_torque_limit_lets_go():
    q, v = state(CART, 0.6, 1.1, 0.35)
    simulation = started('compiled', q, v)
    simulation.add('stuck', CART.stuck, limit=LIMIT)
    u = CART.speeds.speeds(q, simulation.v)

    def reserve(t, y):
        return LIMIT - abs(lock_torque(y[:4], y[4:]))

    reserve.terminal = True
    expected = closed_motion(CART, q, u, 1.0, True, reserve)
    simulation.step(PUSH, 400)
    added, event = simulation.events
    assert (event.kind, event.names, dict(event.states)) == ('breaks', ('stuck',), {'stuck': ''})
    assert_allclose(event.time, expected.t_events[0][0], rtol=0, atol=1e-9)
    found = np.r_[event.q, CART.speeds.speeds(event.q, event.v)]
    assert_allclose(found, expected.y[:, -1], rtol=0, atol=1e-8)
    assert_allclose(event.impulse, 0.0, atol=1e-12)
    assert simulation.states == {'rear': 'holds', 'caster': 'holds'}
    assert abs(simulation.q[3] - 0.6) > 1e-3  # it turns again


def violation(simulation):
    """Return the greatest speed that the rows forbid, |A v|."""
    rows = kd.constraints.ConstraintSet(simulation.robot, simulation.constraints.values())
    found = rows.rows(simulation.q, simulation.v, simulation.time)
    return np.abs(found.matrix @ simulation.v - found.velocity).max()


@pytest.mark.claim(37)
@pytest.mark.parametrize(('engine', 'longest'), [('reference', 1), ('compiled', 20)])
def test_a_hundred_switches(engine, longest):
    """Rows hold all the time; energy falls when the caster sticks, and never rises."""
    rng = np.random.default_rng(100)
    simulation = started(engine, *state(CART, 0.6, 0.5, 0.2))

    def energy():
        return kd.kinetic_energy(CART.robot, simulation.q, simulation.v)

    lost = 0
    for k in range(100):
        before, sticks = energy(), k % 2 == 0
        event = simulation.add('stuck', CART.stuck) if sticks else simulation.remove('stuck')
        after = energy()
        assert violation(simulation) <= 1e-10
        # roundoff of an energy of some J
        assert_allclose(before - after, event.energy_loss, rtol=0, atol=1e-13)
        assert event.energy_loss > 0.0 if sticks else abs(event.energy_loss) < 1e-13
        lost += event.energy_loss > 1e-6
        before = energy()
        tau = rng.normal(size=4) * (60.0, 60.0, 30.0, 3.0) * (rng.random() < 0.5)
        simulation.step(tau, int(rng.integers(1, longest + 1)))
        assert violation(simulation) <= 1e-10
        # error of rk4: h^5 times 10/s to the fifth, of some J, in some steps
        assert tau.any() or energy() <= before + 1e-9
    assert lost > 20
    assert len(simulation.events) == 100


def there_and_back(angle):
    """Return a rate that turns the caster from 0.2 rad to an angle, then back and forth there."""
    when = (angle - 0.2) / 3.0
    return lambda q, t: 3.0 / (1.0 + np.exp(25.0 * (t - when))) + 1.5 * np.cos(30.0 * t)


@pytest.mark.claim(36, 37)
@pytest.mark.parametrize('place', ['choice', 'singular'])
def test_independent_speeds_change_once_near_a_singular_choice(place):
    """u1 = 0 where cos(q4) = L3/L2; the choice is left before, and not taken up again."""
    singular = np.arccos(CART.trail / CART.pivot)
    rate = there_and_back({'choice': 1.135, 'singular': singular}[place])
    motor = kd.constraints.pfaffian(CART.robot, lambda q, t: [0, 0, 0, 1.0], rate, 'motor')
    parts = {**on_wheels(), 'motor': motor}
    q = np.array([0.0, 0.0, 0.0, 0.2])
    v = CART.speeds.velocity(q, [0.3, 0.1, 1.3])
    simulation = kd.EventSimulation(CART.robot, parts, q, v, step=0.01)
    chosen, angles, speeds, rates = [], [], [], []
    for _ in range(150):
        simulation.step([2.0, 0.0, 0.5, 0.0])
        chosen.append(simulation.independent_speeds)
        angles.append(simulation.q[3])
        speeds.append(simulation.v)
        rates.append(simulation.motion.acceleration)
    (change,) = (k for k in range(1, 150) if chosen[k] != chosen[k - 1])
    assert (chosen[0], chosen[-1]) == (('base_x',), ('base_yaw',))
    passed = angles[change] if place == 'choice' else singular
    assert np.count_nonzero(np.diff(np.sign(np.array(angles) - passed))) > 5
    # no jump: every change of the speeds is the integral of what accelerates them
    times = 0.01 * np.arange(1, 151)
    slope = CubicSpline(times, rates)
    steps = [slope.integrate(t - 0.01, t) for t in times[1:]]
    # 1e-5 of rk4 and splines, times the condition at which the choice is given up
    assert_allclose(np.diff(speeds, axis=0), steps, rtol=0, atol=3e-4)
