# SPDX-License-Identifier: Apache-2.0
"""
Friction of rows that repeat each other: what one contact cannot hold, another takes.

Regression: guards asked for the share of least norm, transitions for any that obeys Coulomb's law;
where one contact's share was over its cone, events had no end: StepError.
"""

import numpy as np
import pytest
import scipy
from numpy.testing import assert_allclose
from support.landing import rough
from support.machines import Y, at, inertia, revolute

import kane_dynamics as kd
from kane_dynamics import constraints as c
from kane_dynamics.algorithms.largest_margin import largest_margin
from kane_dynamics.algorithms.least_distance import ConeRows

MASS, TRACK, RADIUS, SPIN, G = 40.0, 0.5, 0.1, 0.02, 9.81
TOTAL = MASS + 2.0 * SPIN / RADIUS**2  # of a base that goes straight ahead on its wheels


def drive(base='planar', height=0.0, ahead=0.0):
    """Return a base on two wheels of one axle whose spin has inertia, and no mass."""
    joint = kd.Planar() if base == 'planar' else kd.Free()
    body = kd.Body(
        'base', '', kd.Joint('base', joint), inertia=inertia(MASS, (ahead, 0, height), (1, 1, 2))
    )
    spin = inertia(0.0, (0, 0, 0), (0, SPIN, 0))
    wheels = [
        kd.Body(name, 'base', revolute(name, Y), at(0, side * TRACK / 2, 0), spin)
        for name, side in (('left', 1.0), ('right', -1.0))
    ]
    return kd.Robot('drive', [body, *wheels], (0, 0, -G))


def tractions(robot, left, right, mu=0.5, only=()):
    """Return both wheels with loads [N]."""
    wheels = [c.rolling_wheel(robot, name, RADIUS) for name in ('left', 'right')]
    wheels = [wheel.only(*only) if only else wheel for wheel in wheels]
    loads = zip(('left', 'right'), wheels, (left, right), strict=True)
    return {name: c.traction(wheel, load, mu) for name, wheel, load in loads}


def rolling(speed, rate):
    """Return speeds of the base and its wheels."""
    turns = [(speed - side * rate * TRACK / 2) / RADIUS for side in (1.0, -1.0)]
    return [speed, 0.0, rate, *turns]


def run(simulation, efforts, steps):
    for _ in range(steps):
        simulation.step(efforts)
        if simulation.events:
            return simulation.events[0]
    raise AssertionError('nothing happened')


@pytest.mark.claim(37)
@pytest.mark.parametrize('left', [100.0, 150.0, 20.0])
@pytest.mark.parametrize('compiled', [False, True])
def test_a_circle_at_growing_speed(left, compiled):
    """Both slip where m v w = sqrt(c_l^2 - F^2) + sqrt(c_r^2 - F^2), F = m a/2 ahead of each."""
    robot, mu, rate, torque, v0 = drive(), 0.5, 1.5, 0.3, 1.6
    parts = tractions(robot, left, 200.0 - left, mu)
    options = {'dynamics': kd.compile(robot)} if compiled else {}
    start = rolling(v0, rate)
    simulation = kd.EventSimulation(robot, parts, v=start, step=0.01, **options)
    assert simulation.states == {'left': 'sticks', 'right': 'sticks'}
    event = run(simulation, [0, 0, 0, torque, torque], 400)
    a = 2.0 * torque / RADIUS / TOTAL
    ahead = MASS * a / 2.0
    capacity = sum(np.sqrt((mu * load) ** 2 - ahead**2) for load in (left, 200.0 - left))
    expected = (capacity / (MASS * rate) - v0) / a
    # rk4, h^5 (1.5/s)^5 in a step
    assert_allclose(event.time, expected, rtol=0, atol=2e-6)
    assert dict(event.states) == {'left': 'slips', 'right': 'slips'}
    simulation.step([0, 0, 0, torque, torque], 3)
    assert len(simulation.events) == 1
    for name, load in (('left', left), ('right', 200.0 - left)):  # each by its own capacity
        assert mu * load > ahead
        assert_allclose(np.linalg.norm(simulation.directions[name]), 1.0)


@pytest.mark.parametrize('left', [60.0, 100.0])
def test_a_push_to_the_side_slips_beyond_both_and_is_caught_again(left):
    robot, mu = drive(), 0.5
    parts = tractions(robot, left, 200.0 - left, mu, ('lateral',))
    simulation = kd.EventSimulation(robot, parts, step=0.01)
    push = np.array([0.0, 1.0, 0.0, 0.0, 0.0])
    simulation.step(0.999 * mu * 200.0 * push, 3)
    assert set(simulation.states.values()) == {'sticks'}
    assert simulation.events == ()
    simulation.step(1.3 * mu * 200.0 * push, 10)
    assert set(simulation.states.values()) == {'slips'}
    speed = 0.3 * mu * 200.0 / MASS * 0.1
    assert_allclose(simulation.v, [0.0, speed, 0.0, 0.0, 0.0], rtol=0, atol=1e-9)
    simulation.step(0.0 * push, 10)
    assert set(simulation.states.values()) == {'sticks'}
    assert_allclose(simulation.events[-1].time, 0.13 + 0.03, rtol=0, atol=1e-9)
    assert_allclose(simulation.v, 0.0, rtol=0, atol=1e-9)
    simulation.step(0.999 * mu * 200.0 * push, 3)
    assert set(simulation.states.values()) == {'sticks'}


@pytest.mark.parametrize('left', [70.0, 100.0])
@pytest.mark.parametrize('beyond', [0.0, 1e-12, -1e-12])
def test_at_the_limit_nothing_moves(left, beyond):
    robot, mu = drive(), 0.5
    parts = tractions(robot, left, 200.0 - left, mu)
    simulation = kd.EventSimulation(robot, parts, step=0.01)
    push = np.array([0.0, (1.0 + beyond) * mu * 200.0, 0.0, 0.0, 0.0])
    simulation.step(push, 5)
    assert len(simulation.events) <= 2
    assert_allclose(simulation.v, 0.0, rtol=0, atol=1e-9)


@pytest.mark.parametrize(('left', 'first'), [(80.0, {'left'}), (100.0, {'left', 'right'})])
def test_straight_braking(left, first):
    """Along the track each wheel holds its own: that of the smaller load slips first."""
    robot, mu = drive(), 0.5
    parts = tractions(robot, left, 200.0 - left, mu)
    simulation = kd.EventSimulation(robot, parts, v=rolling(2.0, 0.0), step=0.01)
    most = mu * left * RADIUS * (1.0 + 2.0 * SPIN / RADIUS**2 / MASS)  # c r, and what spins
    brake = np.array([0.0, 0.0, 0.0, -1.0, -1.0])
    simulation.step(0.999 * most * brake, 5)
    assert simulation.events == ()
    simulation.step(1.001 * most * brake, 1)
    assert {name for name, one in simulation.states.items() if one == 'slips'} == first
    simulation.step(1.001 * most * brake, 4)
    assert (simulation.v[3:] > 0.0).all()


def test_a_wheel_that_spins_leaves_the_side_force_to_the_other():
    robot, mu = drive(), 0.5
    parts = tractions(robot, 60.0, 140.0, mu)
    simulation = kd.EventSimulation(robot, parts, step=0.001)
    side = 0.9 * mu * 140.0
    # least norm would give each half of the side force, beyond 30 N of the left one
    for share, state in ((0.99, 'sticks'), (1.01, 'slips')):
        torque = share * _torque_of(robot, parts, mu * 60.0)
        simulation.reset()
        simulation.step([0.0, side, 0.0, torque, -torque])
        assert simulation.states == {'left': state, 'right': 'sticks'}


@pytest.mark.parametrize('compiled', [False, True])
def test_forces_are_the_share_that_guards_judge(compiled):
    """Regression: the left wheel held more than its cone by the forces that were shown."""
    robot, mu = drive(), 0.5
    parts = tractions(robot, 60.0, 140.0, mu)
    options = {'dynamics': kd.compile(robot)} if compiled else {}
    rail = c.pfaffian(robot, lambda q, t: [0.0, 0.0, 1.0, 0.0, 0.0], label='rail')
    simulation = kd.EventSimulation(robot, {**parts, 'rail': rail}, step=0.001, **options)
    torque = 0.3 * _torque_of(robot, parts, mu * 60.0)
    side, efforts = 0.9 * mu * 140.0, np.array([0.0, 0.0, 0.0, torque, -torque])
    efforts[1] = side
    simulation.step(efforts)
    event = simulation.remove('rail')
    assert simulation.states == {'left': 'sticks', 'right': 'sticks'}
    assert event.forces == pytest.approx(simulation.forces, rel=1e-12)
    for name, load in (('left', 60.0), ('right', 140.0)):
        force = [event.forces[f'{name}/{row}'] for row in ('lateral', 'longitudinal')]
        assert np.hypot(*force) < mu * load
    lateral = [event.forces[f'{name}/lateral'] for name in ('left', 'right')]
    assert_allclose(sum(lateral), -side, rtol=1e-6)
    assert abs(lateral[0] - lateral[1]) > 0.1 * side  # least norm gives each a half
    motion, mass = simulation.motion, kd.mass_matrix(robot, simulation.q)
    pushed = simulation.rows.matrix.T @ motion.multipliers
    assert_allclose(mass @ motion.acceleration - efforts, pushed, rtol=0, atol=1e-9)


def _torque_of(robot, parts, force):
    """Return the torque of opposite signs on the wheels that asks for a force ahead at each."""
    rows = [part.tangent for part in parts.values()]
    q = robot.neutral()
    unit = kd.forward_dynamics(robot, q, np.zeros(5), [0, 0, 0, 1.0, -1.0], rows)
    return force / abs(unit.multipliers[unit.labels.index('left/longitudinal')])


@pytest.mark.claim(37)
@pytest.mark.parametrize('compiled', [pytest.param(False, marks=pytest.mark.thorough), True])
def test_wheels_whose_loads_shift_in_a_curve(compiled):
    """At the event each cone is used up, loads and forces ahead from a solve of their own."""
    robot, mu, rate = drive('floating', 0.2, 0.05), 0.4, 1.6
    wheels = [c.rolling_wheel(robot, name, RADIUS) for name in ('left', 'right')]
    parts = {
        name: c.rolling_contact(wheel, friction=mu)
        for name, wheel in zip(('left', 'right'), wheels, strict=True)
    }
    caster = c.point_contact(robot, 'base', (0.3, 0.0, -RADIUS))
    parts['caster'] = c.contact(caster)
    options = {'dynamics': kd.compile(robot)} if compiled else {}
    speed, _, _, *turns = rolling(1.97, rate)
    q = [0, 0, RADIUS, 1, 0, 0, 0, 0, 0]
    start = [0, 0, rate, speed, 0, 0, *turns]
    simulation = kd.EventSimulation(robot, parts, q, start, step=0.005, **options)
    tau = np.array([0, 0, 0, 0, 0, 0, -0.4, 2.4])  # turns against the load ahead
    event = run(simulation, tau, 100)
    assert event.states['left'] == event.states['right'] == 'slips'
    rows = [*wheels, caster]
    motion = kd.forward_dynamics(robot, event.q, event.v, tau, rows)
    force = dict(zip(motion.labels, motion.multipliers, strict=True))
    side = sum(force[f'{name}/lateral'] for name in ('left', 'right'))
    capacity = 0.0
    for name in ('left', 'right'):
        load, ahead = (force[f'{name}/{row}'] for row in ('vertical', 'longitudinal'))
        capacity += np.sqrt((mu * load) ** 2 - ahead**2)
    assert_allclose(abs(side), capacity, rtol=1e-6)
    loads = [force[f'{name}/vertical'] for name in ('left', 'right')]
    assert abs(loads[0] - loads[1]) > 20.0


def test_a_box_on_four_rough_feet_of_unlike_loads():
    """Six of twelve rows repeat others; it slides where the push exceeds mu m g."""
    mu, half, mass = 0.4, (0.3, 0.2, 0.25), 10.0
    load = inertia(mass, (0.1, 0.05, 0), (1, 1, 1))
    robot = kd.Robot('box', [kd.Body('box', '', kd.Joint('free', kd.Free()), inertia=load)])
    feet = [(x * half[0], y * half[1], -half[2]) for x in (-1, 1) for y in (-1, 1)]
    parts = {f'foot {k}': rough(robot, 'box', foot, friction=mu) for k, foot in enumerate(feet)}
    q = [0, 0, half[2], 1, 0, 0, 0]
    simulation = kd.EventSimulation(robot, parts, q, step=0.005)
    # at the height of the feet, below the centre of mass
    push = np.array([0.0, -half[2], -0.05, 1.0, 0.0, 0.0]) * mu * mass * G
    simulation.step(0.97 * push, 2)
    assert set(simulation.states.values()) == {'sticks'}
    simulation.step(1.03 * push, 2)
    assert set(simulation.states.values()) == {'slips'}
    # the contact problem is solved to 1e-8, of which the start of the slip has its direction
    assert_allclose(simulation.v[3], 0.03 * mu * G * 0.01, rtol=1e-4)


def test_a_slide_between_two_walls_is_held_by_any_pressure():
    """Walls that press on each other through the body hold it: margins have no end."""
    up, side = np.array([1.0, 0.0]), np.array([[0.0, 1.0]])
    walls = [
        ConeRows(side @ np.eye(2), np.array([5.0]), 0.3 * np.array([1.0, 0.0]), 0.0),
        ConeRows(np.zeros((0, 2)), np.zeros(0), up, 0.0),
    ]
    assert min(largest_margin(walls)[0]) > 0.0


def test_cones_that_hold_the_largest_margin_back_have_all_the_same():
    none = np.zeros((0, 1)), np.zeros(0)
    cones = [ConeRows(*none, np.array([n]), s) for n, s in ((1.0, 1.0), (-1.0, 3.0), (0.5, 50.0))]
    one, other, more = largest_margin(cones)[0]  # at z = 1
    assert one == other
    assert_allclose((one, more), (2.0, 50.5), rtol=1e-6)


@pytest.mark.parametrize('seed', range(8))
def test_the_largest_margin_is_no_less_than_any_other(seed):
    """And what pulls it further in some cones pushes it out of others: weights prove it."""
    rng = np.random.default_rng(seed)
    d = 1 + seed % 3
    cones = [
        ConeRows(rng.normal(size=(k % 3, d)), rng.normal(size=k % 3), rng.normal(size=d), 1.0)
        for k in range(6)
    ]
    cones += [ConeRows(np.eye(d), np.zeros(d), np.zeros(d), 20.0)]  # bounded

    def margin(z):
        return min(-one.excess(z) for one in cones)

    margins, best_z = largest_margin(cones)
    best = min(margins)
    assert_allclose(margin(best_z), best, rtol=1e-12, atol=1e-9)
    z = scipy.optimize.differential_evolution(
        lambda x: -margin(x), [(-20.0, 20.0)] * d, rng=seed, tol=1e-10, maxiter=300
    )
    assert_allclose(best, -z.fun, rtol=1e-2, atol=1e-6)
