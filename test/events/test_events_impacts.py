# SPDX-License-Identifier: Apache-2.0
"""Stops, locks and grips while time runs, against printed impulses (C4, C5, C9)."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from support.machines import at, inertia, prismatic, revolute
from support.striking import arm, two_bodies

import kane_dynamics as kd
from kane_dynamics import constraints
from kane_dynamics.events import transition
from kane_dynamics.events.guards import EventDetector

PRINTED = 1.1e-9  # of numbers with ten digits


@pytest.mark.claim(37, 38)
@pytest.mark.parametrize(
    ('e', 'push', 'u1', 'u2', 'loss'),
    [
        (0.0, 0.08203550296, 2.086982249, 0.0, 0.09844260355),
        (0.5, 0.1230532544, 2.380473373, -1.2, 0.07383195266),
        (1.0, 0.1640710059, 2.673964497, -2.4, 0.0),
    ],
)
def test_an_arm_runs_into_its_stop(e, push, u1, u2, loss):
    robot = arm(lower=-3.0, upper=0.0)
    # back in time from the state at the stop: rk4 errs by h^5 (3/s)^5 in each of ten steps
    backward = kd.simulate(robot, [0.2, 0.0], [-1.5, -2.4], 0.02, step=0.002)
    stop = constraints.contact(constraints.joint_limit(robot, 'q2', 'upper'), restitution=e)
    simulation = kd.EventSimulation(
        robot, {'stop': stop}, backward.q[-1], -backward.v[-1], step=0.005
    )
    assert simulation.states == {'stop': 'open'}
    simulation.step([0, 0], 5)
    (event,) = simulation.events
    assert (event.kind, event.names) == ('impact', ('stop',))
    assert_allclose(event.time, 0.02, rtol=0, atol=1e-9)
    assert_allclose(event.q, [0.2, 0.0], rtol=0, atol=1e-8)
    assert_allclose(event.v, [u1, u2], rtol=0, atol=1e-8)
    assert_allclose(event.impulse, [0.0, -push], rtol=0, atol=1e-9)
    assert_allclose(event.energy_loss, loss, rtol=0, atol=1e-9)
    # an arm that turns straight neither presses on the stop nor leaves it
    assert_allclose(simulation.q[1], 0.005 * u2, rtol=0, atol=2e-3 * abs(u2) + 1e-12)


def test_a_stop_is_pressed_by_what_slows_the_other_joint():
    """M = [1.2675, 0.31; 0.31, 0.11] of the straight arm; q2 would go on where q1 is damped."""
    robot = arm(damping=2.0, lower=-3.0, upper=0.0)
    stop = constraints.contact(constraints.joint_limit(robot, 'q2', 'upper'))
    simulation = kd.EventSimulation(robot, {'stop': stop}, [0.2, 0.0], [1.5, 0.0], step=0.01)
    assert simulation.states == {'stop': 'slips'}
    assert_allclose(simulation.forces['q2/upper'], 0.31 / 1.2675 * 2.0 * 1.5, rtol=1e-12)
    simulation.step([0, 0], 5)
    # rk4: 5 steps, (1.6 h)^5/120 each
    assert_allclose(simulation.v, [1.5 * np.exp(-2.0 / 1.2675 * 0.05), 0.0], rtol=0, atol=1e-9)


def test_what_presses_on_a_stop_is_pulled_off_by_machine_code_too():
    """A lock comes and goes while the stop is pressed, and then it is left."""
    robot = arm(lower=-3.0, upper=0.0)
    parts = {'stop': constraints.contact(constraints.joint_limit(robot, 'q2', 'upper'))}
    lock = constraints.lock(robot, 'q1')
    both = []
    for options in ({}, {'dynamics': kd.compile(robot), 'precompile': [lock]}):
        simulation = kd.EventSimulation(robot, parts, [0.2, 0.0], step=0.01, **options)
        simulation.step([0.5, 1.0], 2)
        simulation.add('lock', lock)
        simulation.step([0.5, 1.0], 2)
        assert simulation.states['stop'] == 'slips'
        simulation.remove('lock')
        simulation.step([0.5, -1.0], 2)
        assert simulation.states['stop'] == 'open'
        both.append(simulation)
    one, other = ([(e.kind, e.names, e.states) for e in x.events] for x in both)
    assert one == other
    assert_allclose(both[0].v, both[1].v, rtol=0, atol=1e-9)


def test_a_gap_that_closes_is_found_in_few_steps(monkeypatch):
    """From a parabola of its values and rates, Newton's method needs two or three states."""
    robot = arm(lower=-3.0, upper=0.0)
    stop = constraints.contact(constraints.joint_limit(robot, 'q2', 'upper'), restitution=0.5)
    simulation = kd.EventSimulation(robot, {'stop': stop}, [0.2, -0.1], [1.5, 2.4], step=0.1)
    calls, guard_values = [], EventDetector.guard_values
    monkeypatch.setattr(
        EventDetector, 'guard_values', lambda *x: calls.append(x) or guard_values(*x)
    )
    simulation.step([0.0, 0.0])
    (event,) = simulation.events
    assert_allclose(event.q[1], 0.0, rtol=0, atol=1e-13)
    assert len(calls) <= 8  # the ends of two intervals, and the root


@pytest.mark.claim(37)
@pytest.mark.parametrize(
    ('joint', 'velocity', 'impulse', 'loss'),
    [
        ('q2', (0.5052867406, 0.0), 0.1583123397, 0.2453841265),
        ('q1', (0.0, -0.2312534096), -0.6537344415, 0.3922406649),
    ],
)
def test_a_brake_locks_a_joint_and_lets_it_go(joint, velocity, impulse, loss):
    robot = arm()
    simulation = kd.EventSimulation(robot, q=[0.3, 0.7], v=[1.2, -3.1], step=0.01)
    event = simulation.add('brake', constraints.lock(robot, joint))
    k = robot.velocity_names.index(joint)
    assert_allclose(event.v, velocity, rtol=0, atol=PRINTED)
    numbers = [event.impulse[k], event.energy_loss]
    assert_allclose(numbers, [impulse, loss], rtol=0, atol=PRINTED)
    assert_allclose(event.impulse[1 - k], 0.0, atol=1e-14)
    held = simulation.q[k]
    simulation.step([0, 0], 3)
    assert_allclose(simulation.q[k], held, rtol=0, atol=1e-14)
    before = simulation.v
    assert_allclose(simulation.remove('brake').v, before, rtol=0, atol=0)
    assert [event.time for event in simulation.events] == pytest.approx([0.0, 0.03])


@pytest.mark.claim(37)
def test_a_gripper_takes_a_free_body_and_drops_it():
    robot, q, v = two_bodies()
    simulation = kd.EventSimulation(robot, q=q, v=v, step=0.01)
    grip = constraints.loop_closure(robot, 'A grip', 'B grip')
    before = kd.momentum(robot, q, v)
    event = simulation.add('grip', grip)
    turning = (-0.02889596374, -0.3294841355, 0.3612220304)
    of_a = *turning, 0.1677724117, -0.02231995108, 0.03525928124
    of_b = *turning, -0.003317235053, 0.1669598532, 0.1942221563
    assert_allclose(event.v, [*of_a, *of_b], rtol=0, atol=PRINTED)
    assert_allclose(event.energy_loss, 0.5932328405, rtol=0, atol=PRINTED)
    assert_allclose(kd.kinetic_energy(robot, q, v), 0.993, rtol=0, atol=PRINTED)
    simulation.step(np.zeros(12), 10)
    # they turn as one body, whose momenta stay
    after = kd.momentum(robot, simulation.q, simulation.v)
    assert_allclose(after, before, rtol=0, atol=1e-10)
    poses = kd.forward_kinematics(robot, simulation.q)
    a, b = poses.pose('A grip'), poses.pose('B grip')
    assert_allclose(a.position(), b.position(), rtol=0, atol=1e-12)
    assert_allclose(a.rotation_matrix(), b.rotation_matrix(), rtol=0, atol=1e-12)
    speeds = simulation.v
    dropped = simulation.remove('grip')
    assert_allclose(dropped.v, speeds, rtol=0, atol=1e-13)
    assert_allclose(kd.momentum(robot, dropped.q, dropped.v), before, rtol=0, atol=1e-10)


def test_an_arm_takes_a_particle():
    links = [inertia(3.0, (0.25, 0, 0), (0, 0, 0.07)), inertia(2.0, (0.2, 0, 0), (0, 0, 0.03))]
    bodies = [
        kd.Body('upper', '', revolute('q1'), inertia=links[0]),
        kd.Body('lower', 'upper', revolute('q2'), at(0.5, 0, 0), links[1]),
        kd.Body('along', '', prismatic('x')),
        kd.Body('particle', 'along', prismatic('y', (0, 1, 0)), inertia=inertia(0.8)),
    ]
    robot = kd.Robot('catch', bodies, (0, 0, 0), {'tip': kd.Frame(1, at(0.4, 0, 0))})
    arms = [0.3, 0.7]
    tip = kd.forward_kinematics(robot, [*arms, 0, 0]).pose('tip').position()
    state = [*arms, *tip[:2]], [0.6, -0.9, -0.5, 0.8]
    simulation = kd.EventSimulation(robot, q=state[0], v=state[1])
    hold = constraints.loop_closure(robot, 'tip', 'particle', joint='ball')
    event = simulation.add('hand', hold)
    expected = (0.6098040977, 0.07855055087, -0.3217969021, 0.4400518945)
    assert_allclose(event.v, expected, rtol=0, atol=PRINTED)
    assert_allclose(event.impulse[2:], (0.1425624783, -0.2879584844), rtol=0, atol=PRINTED)
    assert_allclose(event.energy_loss, 0.1197727216, rtol=0, atol=PRINTED)


@pytest.mark.parametrize('heights', [(0.5, 0.5), (0.5, 0.5 + 1e-14), (0.5, 0.6)])
def test_several_contacts_at_one_instant(heights):
    bodies = [
        kd.Body(name, '', prismatic(f'z {name}', (0, 0, 1)), inertia=inertia(mass))
        for name, mass in (('one', 1.0), ('two', 3.0))
    ]
    robot = kd.Robot('balls', bodies, (0, 0, -9.81))
    parts = {
        name: constraints.contact(constraints.point_contact(robot, name), restitution=e)
        for name, e in (('one', 0.5), ('two', 0.0))
    }
    simulation = kd.EventSimulation(robot, parts, heights, step=0.05)
    simulation.step([0, 0], 9)
    times = [np.sqrt(2 * height / 9.81) for height in heights]
    found = {name: event for event in simulation.events for name in event.names}
    assert len(simulation.events) == (1 if heights[1] < 0.6 else 2)
    for k, name in enumerate(('one', 'two')):
        assert_allclose(found[name].time, times[k], rtol=0, atol=1e-9)
    assert simulation.states == {'one': 'open', 'two': 'slips'}
    fall = 0.45 - times[0]
    assert_allclose(simulation.v, [0.5 * 9.81 * times[0] - 9.81 * fall, 0.0], rtol=0, atol=1e-9)
    losses = [0.5 * 0.75 * 9.81 * 2 * heights[0], 3.0 * 9.81 * heights[1]]
    assert_allclose(sum(event.energy_loss for event in simulation.events), sum(losses), rtol=1e-9)


def three_links():
    """Return an arm whose second joint is at its stop in [0.3, 0.9, -0.4], and its parts."""
    c, bodies, parent = constraints, [], ''
    for k, name in enumerate(('q1', 'q2', 'q3')):
        stops = {'lower': -1.5, 'upper': 0.9} if name == 'q2' else {}
        load = inertia(2.0 - 0.5 * k, (0.2, 0.05, 0.0), (0.02, 0.05, 0.06))
        place = at(0.4 * (k > 0), 0.0, 0.0)
        bodies.append(kd.Body(name, parent, revolute(name, (0, 1, 0), **stops), place, load))
        parent = name
    robot = kd.Robot('three links', bodies, (0.0, 0.0, -9.81))
    drag = c.pfaffian(robot, lambda q, t: [[1.0, 0.3, 0.5 * q[0]]], label='drag')
    return robot, c.joint_limit(robot, 'q2', 'upper'), drag


@pytest.mark.claim(38)
@pytest.mark.parametrize('law', ['newton', 'poisson', 'energetic'])
def test_jumps_by_machine_code_are_those_of_the_reference(law, monkeypatch):
    """One contact strikes; then a lock is imposed, which pulls it off or presses it."""
    robot, stop, drag = three_links()
    engine, rng, q = kd.compile(robot), np.random.default_rng(3), [0.3, 0.9, -0.4]
    lock, pressed, opened = constraints.lock(robot, 'q3'), 0, 0
    for e, speed in [(0.0, 1.0), (0.6, 1.0), (1.0, 1.0), (0.6, -1.0), (0.6, 0.0)] * 3:
        first = kd.consistent_velocity(robot, q, [*rng.normal(size=2), 0.0][::-1], [drag])
        first *= speed / (abs(first[1]) or 1.0) * np.sign(first[1])
        parts = {'stop': constraints.contact(stop, restitution=e), 'drag': drag}
        results = []
        for options in ({'dynamics': engine, 'precompile': [lock]}, {}):
            simulation = kd.EventSimulation(robot, parts, q, first, law=law, **options)
            with monkeypatch.context() as patch:
                if options:
                    patch.setattr(transition, 'resolve_impact', None)
                simulation.reset(q, first)
                struck = simulation.v
                event = simulation.add('lock', lock) if abs(speed * e) < 1.0 else None
            energy = [kd.kinetic_energy(robot, q, v) for v in (first, struck, simulation.v)]
            assert (np.diff(energy) <= 1e-12).all()
            numbers = [] if event is None else [*event.impulse, event.energy_loss, *event.v]
            results.append([*struck, *numbers])
            if speed > 0.0:
                assert_allclose(struck[1], -e * speed, rtol=0, atol=1e-12)
            pressed += abs(simulation.v[1]) < 1e-12
            opened += simulation.v[1] < -1e-3
        assert_allclose(*results, rtol=0, atol=1e-10)
    assert pressed and opened


@pytest.mark.parametrize('law', ['newton', 'poisson', 'energetic'])
def test_a_contact_rebounds_where_a_constraint_is_imposed(law):
    """Newton's law compares with the speed before all impulses, the others with that between."""
    robot, stop, drag = three_links()
    parts = {'stop': constraints.contact(stop, restitution=0.6), 'drag': drag}
    first, engine = [1.5, 1.0, -0.7], kd.compile(robot)
    start = robot, parts, [0.3, 0.9, -0.4], first
    one, two = (kd.EventSimulation(*start, law=law, dynamics=d).v for d in (engine, None))
    assert_allclose(one, two, rtol=0, atol=1e-10)
    assert abs(one[1] + 0.6) > 1e-3 or law == 'newton'


def test_a_rough_contact_that_strikes_is_slowed_by_its_friction():
    robot, stop, drag = three_links()
    slip = constraints.pfaffian(robot, lambda q, t: [[0.0, 0.2, 1.0]], label='slip')
    parts = {'stop': constraints.contact(stop, slip, friction=0.3, restitution=0.5), 'drag': drag}
    first = kd.consistent_velocity(robot, [0.3, 0.9, -0.4], [0.1, 1.0, -0.8], [drag])
    first *= np.sign(first[1])
    start = robot, parts, [0.3, 0.9, -0.4], first
    one, two = (kd.EventSimulation(*start, dynamics=d).v for d in (kd.compile(robot), None))
    assert_allclose(one, two, rtol=0, atol=1e-10)


def test_a_lock_beside_a_stop_that_it_holds():
    """The row of the stop repeats that of the lock: it neither strikes nor presses."""
    robot, stop, _ = three_links()
    lock = constraints.lock(robot, 'q2')
    for options in ({}, {'dynamics': kd.compile(robot)}):
        parts = {'stop': constraints.contact(stop, restitution=0.5), 'lock': lock}
        simulation = kd.EventSimulation(robot, parts, [0.3, 0.9, -0.4], [0.2, 1.0, 0.3], **options)
        assert_allclose(simulation.v[1], 0.0, rtol=0, atol=1e-14)
