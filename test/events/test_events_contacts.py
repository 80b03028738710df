# SPDX-License-Identifier: Apache-2.0
"""Contacts that open by the sign of their force, walls that move, slip that ends, ice."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from support.machines import Y, inertia, prismatic, revolute

import kane_dynamics as kd
from kane_dynamics import constraints

G = 9.81


def ball(gravity=(0, 0, -G)):
    body = kd.Body('ball', '', prismatic('z', (0, 0, 1)), inertia=inertia(1.0))
    return kd.Robot('ball', [body], gravity)


def above(robot, height, e=0.0):
    """Return a contact with a plane whose height is a function of time."""
    distance = constraints.holonomic(robot, lambda q, t: q[0] - height(t), 'table')
    return constraints.contact(distance, restitution=e)


@pytest.mark.claim(37, 38)
def test_a_table_that_falls_faster_than_a_ball():
    """It pushes with g - c t, and is left where that is zero."""
    robot, c = ball(), 20.0
    simulation = kd.EventSimulation(
        robot, {'table': above(robot, lambda t: -c * t**3 / 6)}, [0.0], step=0.02
    )
    assert_allclose(simulation.forces['table'], G)
    simulation.step([0.0], 20)
    assert_allclose(simulation.forces['table'], G - c * simulation.time)
    simulation.step([0.0], 10)
    (event,) = simulation.events
    left = G / c
    assert (event.kind, event.names, dict(event.states)) == (
        'changes',
        ('table',),
        {'table': 'open'},
    )
    assert_allclose(event.time, left, rtol=0, atol=1e-9)
    assert_allclose(event.impulse, 0.0, atol=1e-9)
    assert simulation.forces == {}
    flight = simulation.time - left
    speed = -c * left**2 / 2
    place = -c * left**3 / 6 + speed * flight - G * flight**2 / 2
    assert_allclose([*simulation.q, *simulation.v], [place, speed - G * flight], atol=1e-8)


def test_a_ball_is_pulled_off_its_table():
    """Efforts are constant in a step: it leaves at the beginning of the one that lifts it."""
    robot = ball()
    simulation = kd.EventSimulation(robot, {'table': above(robot, lambda t: 0.0)}, step=0.1)
    for k in range(4):
        simulation.step([4.0 * k])
        assert_allclose(simulation.forces.get('table', 0.0), max(G - 4.0 * k, 0.0))
    (event,) = simulation.events
    assert event.time == pytest.approx(0.3, abs=1e-12)
    assert_allclose(simulation.q, 0.5 * (12.0 - G) * 0.01, rtol=1e-12)


@pytest.mark.claim(37)
@pytest.mark.parametrize(('e', 'speed'), [(0.0, 1.0), (0.5, 1.5), (1.0, 2.0)])
def test_a_wall_that_comes(e, speed):
    robot = ball((0, 0, 0))
    parts = {'wall': above(robot, lambda t: t - 0.5, e)}
    simulation = kd.EventSimulation(robot, parts, [0.0], step=0.03)
    simulation.reset(time=0.31)
    simulation.step([0.0], 10)
    (event,) = simulation.events
    assert_allclose(event.time, 0.5, rtol=0, atol=1e-12)
    assert_allclose(simulation.v, speed, rtol=0, atol=1e-12)
    assert_allclose(simulation.q, speed * (0.61 - 0.5), rtol=0, atol=1e-12)
    assert simulation.states == {'wall': 'open' if e else 'slips'}
    # a wall that moves does work: what it gives is no loss
    assert_allclose(event.energy_loss, -0.5 * speed**2)


def test_a_wall_that_comes_and_goes_within_a_step():
    """The gap is open at both ends of the step."""
    robot = ball((0, 0, 0))
    parts = {'wall': above(robot, lambda t: 0.01 - 40.0 * (t - 0.05) ** 2)}
    simulation = kd.EventSimulation(robot, parts, step=0.1)
    simulation.step([0.0])
    (event,) = simulation.events
    before = np.sqrt(0.01 / 40.0)
    assert_allclose(event.time, 0.05 - before, rtol=0, atol=1e-12)
    assert_allclose(simulation.v, 80.0 * before, rtol=1e-9)
    assert_allclose(simulation.q, 80.0 * before * (0.05 + before), rtol=1e-9)


def test_a_bead_on_a_ring_that_moves():
    """In the ring's axes it goes round at constant speed, and it stays on the ring."""
    bodies = [
        kd.Body('along', '', prismatic('x')),
        kd.Body('bead', 'along', prismatic('y', Y), inertia=inertia(1.0)),
    ]
    robot = kd.Robot('bead', bodies, (0, 0, 0))
    ring = constraints.holonomic(
        robot, lambda q, t: np.sqrt((q[0] - 0.3 * t) ** 2 + q[1] ** 2) - 1.0, 'ring'
    )
    simulation = kd.EventSimulation(robot, {'ring': ring}, [1.0, 0.0], [0.3, 2.0], step=0.05)
    simulation.step([0, 0], 20)
    x, y = simulation.q
    assert_allclose(np.hypot(x - 0.3, y), 1.0, rtol=0, atol=1e-9)
    # rk4: 20 steps, (2 h)^5/120 each
    assert_allclose([x, y], [0.3 + np.cos(2.0), np.sin(2.0)], rtol=0, atol=2e-6)
    assert_allclose(simulation.forces['ring'], -4.0, rtol=1e-5)


def test_a_drive_that_is_switched_on_while_time_runs():
    """A v = b(t) of a driven slide is imposed at t = 0.5, with the impulse to sin(1.5)."""
    robot = ball((0, 0, 0))
    drive = constraints.pfaffian(robot, lambda q, t: [1.0], lambda q, t: np.sin(3.0 * t), 'drive')
    simulation = kd.EventSimulation(robot, step=0.05)
    simulation.step([0.0], 10)
    event = simulation.add('drive', drive)
    assert_allclose([*event.v, *event.impulse], np.sin(1.5), rtol=1e-12)
    simulation.step([0.0], 10)
    assert_allclose(simulation.v, np.sin(3.0), rtol=0, atol=1e-12)
    assert_allclose(simulation.forces['drive'], 3.0 * np.cos(3.0), rtol=1e-9)
    # Simpson's rule of rk4: 10 steps, h^5/2880 (3/s)^4
    assert_allclose(simulation.q, (np.cos(1.5) - np.cos(3.0)) / 3.0, rtol=0, atol=1e-7)


def test_a_lock_lets_go_at_its_limit():
    robot = ball((0, 0, 0))
    simulation = kd.EventSimulation(robot, step=0.1)
    simulation.add('lock', constraints.lock(robot, 'z'), limit=5.0)
    for force in (3.0, -4.9, 5.0):
        simulation.step([force])
        assert_allclose(simulation.forces['z/lock'], -force)
    assert simulation.states == {'lock': 'holds'}
    simulation.step([-5.1])
    event = simulation.events[-1]
    assert (event.kind, event.names, event.time) == ('breaks', ('lock',), pytest.approx(0.3))
    assert_allclose([*simulation.v, *simulation.q], [-0.51, -0.0255], rtol=1e-12)


# a wheel on ice

MASS, RADIUS, INERTIA = 3.0, 0.2, 0.09


def wheel_on_road():
    bodies = [
        kd.Body('hub', '', prismatic('x'), inertia=inertia(MASS)),
        kd.Body(
            'wheel', 'hub', revolute('spin', Y), inertia=inertia(0, (0, 0, 0), (0, INERTIA, 0))
        ),
    ]
    return kd.Robot('wheel', bodies, (0, 0, -G))


@pytest.mark.claim(37, 38)
def test_a_wheel_slips_on_ice_and_rolls_again():
    robot, torque = wheel_on_road(), 3.0
    slip = constraints.pfaffian(robot, lambda q, t: [1.0, -RADIUS], label='road')
    road, ice = (constraints.traction(slip, MASS * G, mu) for mu in (0.8, 0.05))
    simulation = kd.EventSimulation(robot, {'ground': road}, step=0.05)
    assert simulation.states == {'ground': 'sticks'}
    simulation.step([0.0, torque], 10)
    rolling = torque / (RADIUS * (MASS + INERTIA / RADIUS**2))
    assert_allclose(simulation.v, [0.5 * rolling, 0.5 * rolling / RADIUS], rtol=1e-12)
    simulation.remove('ground')
    simulation.add('ground', ice)
    assert simulation.states == {'ground': 'slips'}
    simulation.step([0.0, torque], 10)
    pull = 0.05 * MASS * G
    v = 0.5 * rolling + 0.5 * pull / MASS
    spin = 0.5 * rolling / RADIUS + 0.5 * (torque - RADIUS * pull) / INERTIA
    assert_allclose(simulation.v, [v, spin], rtol=1e-12)
    simulation.remove('ground')
    simulation.add('ground', road)
    simulation.step([0.0, 0.0], 10)
    assert simulation.states == {'ground': 'sticks'}
    event = simulation.events[-1]
    grip = 0.8 * MASS * G
    recovered = (RADIUS * spin - v) / (grip / MASS + RADIUS**2 * grip / INERTIA)
    assert_allclose(event.time, 1.0 + recovered, rtol=0, atol=1e-9)
    end = v + grip / MASS * recovered
    assert_allclose(simulation.v, [end, end / RADIUS], rtol=0, atol=1e-9)
    assert_allclose(event.energy_loss, 0.0, atol=1e-12)


@pytest.mark.claim(37)
def test_a_box_that_falls_on_a_belt():
    """It slips in two directions against the belt, until it goes along: after |s|/(mu g)."""
    bodies = [
        kd.Body('along', '', prismatic('x')),
        kd.Body('box', 'along', prismatic('y', Y), inertia=inertia(MASS)),
    ]
    robot = kd.Robot('box', bodies, (0, 0, -G))
    belt, mu = np.array([0.5, -0.2]), 0.3
    slip = constraints.pfaffian(robot, lambda q, t: np.eye(2), lambda q, t: belt, 'belt')
    parts = {'belt': constraints.traction(slip, MASS * G, mu, 0.4)}
    start = np.array([0.1, 0.7])
    simulation = kd.EventSimulation(robot, parts, v=start, step=0.02)
    simulation.step([0, 0], 20)
    (event,) = simulation.events
    end = np.hypot(*(belt - start)) / (mu * G)
    assert_allclose(event.time, end, rtol=0, atol=1e-9)
    assert_allclose(simulation.v, belt, rtol=0, atol=1e-12)
    assert_allclose(simulation.q, 0.5 * (start + belt) * end + belt * (0.4 - end), atol=1e-9)
    # it is held up to the static friction, and then slips along the push
    push = np.array([-0.6, 0.8]) * MASS * G
    simulation.step(0.399 * push)
    assert simulation.states == {'belt': 'sticks'}
    simulation.step(0.401 * push)
    assert simulation.states == {'belt': 'slips'}
    gained = 0.02 * (0.401 - mu) * push / MASS
    assert_allclose(simulation.v, belt + gained, rtol=0, atol=1e-12)


def test_a_belt_that_starts_too_fast():
    """The box lags behind from the beginning: friction pulls it with mu g."""
    robot = ball((0, 0, 0))
    slip = constraints.pfaffian(robot, lambda q, t: [1.0], lambda q, t: 5.0 * t, 'belt')
    simulation = kd.EventSimulation(robot, {'belt': constraints.traction(slip, G, 0.3)}, step=0.05)
    assert simulation.states == {'belt': 'slips'}
    simulation.step([0.0], 4)
    assert simulation.events == ()
    assert_allclose(simulation.v, 0.3 * G * 0.2, rtol=1e-12)


def test_a_box_on_the_floor_is_pushed():
    bodies = [
        kd.Body('along', '', prismatic('x')),
        kd.Body('box', 'along', prismatic('z', (0, 0, 1)), inertia=inertia(MASS)),
    ]
    robot = kd.Robot('box', bodies, (0, 0, -G))
    under = constraints.contact(
        constraints.point_contact(robot, 'box'),
        constraints.point_slip(robot, 'box', direction=(1, 0, 0)),
        friction=0.3,
        static_friction=0.5,
    )
    simulation = kd.EventSimulation(robot, {'floor': under}, step=0.02)
    weight = MASS * G
    # what pulls it up leaves less to hold it
    simulation.step([0.499 * weight, 0.0])
    simulation.step([-0.249 * weight, 0.5 * weight])
    assert simulation.states == {'floor': 'sticks'}
    assert_allclose(list(simulation.forces.values()), [0.5 * weight, 0.249 * weight])
    simulation.step([-0.251 * weight, 0.5 * weight])
    assert simulation.states == {'floor': 'slips'}
    assert_allclose(simulation.v, [-0.02 * (0.251 - 0.15) * G, 0.0], rtol=0, atol=1e-12)


def test_a_damped_slide_between_events():
    joint = prismatic('z', (0, 0, 1), damping=2.0, friction=0.5)
    robot = kd.Robot('slide', [kd.Body('ball', '', joint, inertia=inertia(1.0))], (0, 0, 0))
    simulation = kd.EventSimulation(robot, v=[3.0], step=0.02)
    simulation.step([0.5], 10)  # the effort is what dry friction takes
    # rk4: 10 steps, (2 h)^5/120 of 3 m/s each
    assert_allclose(simulation.v, 3.0 * np.exp(-0.4), rtol=0, atol=3e-8)


@pytest.mark.claim(37)
def test_a_sphere_that_spins_slips_in_two_directions_until_it_rolls():
    """Friction is against the slip, whose direction stays: it ends after 2 |s|/(7 mu g)."""
    radius, mu, slip = 0.1, 0.3, np.array([1.0, 0.8])
    load = inertia(1, (0, 0, 0), [0.4 * radius**2] * 3)
    body = kd.Body('ball', '', kd.Joint('base', kd.Free()), inertia=load)
    robot = kd.Robot('ball', [body], (0, 0, -G))
    rolling = constraints.rolling_ball(robot, 'base', radius)
    parts = {'ground': constraints.rolling_contact(rolling, friction=mu)}
    omega = np.array([0.8, -0.4, 3.0])
    speed = slip + radius * np.array([omega[1], -omega[0]])
    q, v = [0, 0, radius, 1, 0, 0, 0], [*omega, *speed, 0.0]
    simulation = kd.EventSimulation(robot, parts, q, v, step=2e-3)
    end = 2.0 * np.hypot(*slip) / (7.0 * mu * G)
    simulation.step(np.zeros(6), int(end / 2e-3) + 2)
    (event,) = simulation.events
    assert (event.kind, dict(event.states)) == ('changes', {'ground': 'sticks'})
    # rk4 of a body that turns: 62 steps, h^5 (20/s)^4
    assert_allclose(event.time, end, rtol=0, atol=5e-9)
    # speeds of the body are in its own axes
    turned = kd.forward_kinematics(robot, event.q).pose('ball').rotation_matrix()
    expected = speed - 2.0 / 7.0 * slip
    assert_allclose(turned @ event.v[3:], [*expected, 0.0], rtol=0, atol=1e-8)
    spin = [expected[1] / -radius, expected[0] / radius, omega[2]]
    assert_allclose(turned @ event.v[:3], spin, rtol=0, atol=1e-6)
    place = 0.5 * (speed + expected) * end
    assert_allclose(event.q[:3], [*place, radius], rtol=0, atol=1e-8)


def box_on_a_wall():
    """Return a box of 2 kg that touches a wall and has no load: it is about to slip down."""
    bodies = [
        kd.Body('x', '', prismatic('x', (1, 0, 0))),
        kd.Body('z', 'x', prismatic('z', (0, 0, 1))),
        kd.Body('box', 'z', prismatic('y', Y), inertia=inertia(2.0)),
    ]
    robot = kd.Robot('box on a wall', bodies, (-G, 0, 0))
    wall = constraints.point_contact(robot, 'box', normal=Y)
    slip = constraints.point_slip(robot, 'box', normal=Y)
    parts = {'wall': constraints.contact(wall, slip, friction=0.5)}
    simulation = kd.EventSimulation(robot, parts, np.zeros(3), step=0.01)
    assert simulation.states == {'wall': 'slips'}
    return simulation


def test_efforts_that_come_decide_what_a_contact_at_rest_does():
    """Regression: a capsule without load was about to slip, a finger pinched it fifty times as
    hard as it takes, and it crept by 0.08 mm before it stuck."""
    simulation = box_on_a_wall()
    simulation.step([0.0, 0.0, -10.0 * G], 3)
    assert simulation.states == {'wall': 'sticks'}
    assert simulation.events[0].time == 0.0
    assert_allclose(simulation.q, 0.0, atol=1e-17)
    # beyond the cone it moves up, 4 kg less 2 kg and less friction of 1 kg
    simulation.step([4.0 * G, 0.0, -2.0 * G], 5)
    assert simulation.states == {'wall': 'slips'}
    assert_allclose(simulation.q[0], 0.5 * G / 2.0 * 0.05**2, rtol=1e-9)


@pytest.mark.parametrize('force, ahead', [(6.0 * G, 3.0 * G), (-2.0 * G, -3.0 * G)])
def test_a_slip_that_has_not_begun_turns_with_the_efforts(force, ahead):
    # less the weight of 2 kg, friction of 1 kg against the slip
    simulation = box_on_a_wall()
    simulation.step([force, 0.0, -2.0 * G], 5)
    assert simulation.states == {'wall': 'slips'}
    assert_allclose(simulation.q[0], 0.5 * ahead / 2.0 * 0.05**2, rtol=1e-9)
