# SPDX-License-Identifier: Apache-2.0
"""Motion with events against closed forms: slip to roll, bouncing, rocking, dry friction."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from support.machines import Y, inertia, prismatic, revolute

import kane_dynamics as kd
from kane_dynamics import constraints

G = 9.81


def run(simulation, duration, tau=None):
    """Advance a simulation by a duration [s] without efforts."""
    effort = np.zeros(simulation.robot.nv) if tau is None else tau
    simulation.step(effort, round(duration / simulation.step_size))


def kinds(simulation):
    return [event.kind for event in simulation.events]


# C1: sliding, then rolling

MU, RADIUS, MASS = 0.15, 0.11, 2.0


def roller(k, v0, w0, step=0.05):
    """Return a round body, I = k m r^2, that slides at v0 [m/s] and spins at -w0 [rad/s]."""
    bodies = [
        kd.Body('centre', '', prismatic('x'), inertia=inertia(MASS)),
        kd.Body(
            'disc',
            'centre',
            revolute('spin', Y),
            inertia=inertia(0, (0, 0, 0), (0, k * MASS * RADIUS**2, 0)),
        ),
    ]
    robot = kd.Robot('roller', bodies, (0, 0, -G))
    slip = constraints.pfaffian(robot, lambda q, t: [1.0, -RADIUS], label='slip')
    ground = constraints.traction(slip, MASS * G, MU)
    return kd.EventSimulation(robot, {'ground': ground}, (0, 0), (v0, -w0), step=step)


@pytest.mark.parametrize(
    ('k', 'w0', 'time', 'speed', 'place'),
    [
        (0.4, 0, 0.7766613271, 2.857142857, 2.662838836),
        (0.5, 0, 0.9061048816, 2.666666667, 3.020349605),
        (1.0, 0, 1.359157322, 2.0, 4.077471967),
        (0.4, 60, 2.058152517, 0.9714285714, 5.115979113),
        (0.4, 120, 3.339643707, -0.9142857143, 5.152593147),
        (0.4, 4 / (0.4 * RADIUS), 2.718314645, 0.0, 5.43662929),
    ],
)
def test_a_sliding_ball_rolls(k, w0, time, speed, place):
    simulation = roller(k, 4.0, w0)
    run(simulation, 3.5)
    (event,) = simulation.events
    assert simulation.states == {'ground': 'sticks'}
    assert_allclose(event.time, time, rtol=0, atol=1e-9)
    assert_allclose(event.energy_loss, 0.0, atol=1e-12)  # nothing jumps
    assert_allclose(simulation.v, [speed, speed / RADIUS], atol=1e-8)
    assert_allclose(simulation.q[0], place + speed * (simulation.time - time), atol=1e-8)


def test_a_ball_with_backspin_comes_back():
    simulation = roller(0.4, 4.0, 120.0, step=2.718314645 / 20)
    run(simulation, 2.718314645)
    assert_allclose(simulation.v[0], 0.0, atol=1e-8)
    simulation = roller(0.4, 4.0, 120.0, step=8.975292462 / 40)
    run(simulation, 8.975292462)
    assert_allclose(simulation.q[0], 0.0, atol=1e-8)


def ball_on_incline(angle):
    """Return a solid sphere that rests on a plane about y, which falls towards +x."""
    ball = kd.Body(
        'ball', '', kd.Joint('base', kd.Free()), inertia=inertia(1, (0, 0, 0), [0.4 * 0.01] * 3)
    )
    down = (G * np.sin(angle), 0, -G * np.cos(angle))
    robot = kd.Robot('ball', [ball], down)
    rolling = constraints.rolling_ball(robot, 'base', 0.1)
    ground = constraints.rolling_contact(rolling, friction=0.2)
    return kd.EventSimulation(robot, {'ground': ground}, [0, 0, 0.1, 1, 0, 0, 0], step=4e-3)


@pytest.mark.parametrize(
    ('degrees', 'state', 'acceleration', 'traction', 'turning', 'slip'),
    [
        (30, 'sticks', 3.503571429, 1.401428571, 35.03571429, 0.0),
        (45, 'slips', 5.549374019, 1.387343505, 34.68358762, 2.081015257),
    ],
)
def test_a_sphere_on_an_incline(degrees, state, acceleration, traction, turning, slip):
    simulation = ball_on_incline(np.radians(degrees))
    assert simulation.states == {'ground': state}
    motion = simulation.motion
    # speeds of a free body: omega, then v, in its own axes
    assert_allclose(
        motion.acceleration, [0, turning, 0, acceleration, 0, 0], rtol=1e-9, atol=1e-12
    )
    assert_allclose(simulation.forces['base/vertical'], G * np.cos(np.radians(degrees)))
    run(simulation, 0.2)
    assert simulation.states == {'ground': state}
    rotated = simulation.v
    rolling = constraints.rolling_ball(simulation.robot, 'base', 0.1)
    rows = constraints.ConstraintSet(simulation.robot, [rolling]).rows(simulation.q, rotated, 0.0)
    assert_allclose((rows.matrix @ rotated)[0], 0.2 * slip, atol=1e-8)
    assert_allclose(simulation.q[0], 0.5 * acceleration * 0.2**2, atol=1e-8)


# C2: bouncing

HEIGHT, E = 1.2, 0.8
FIRST = np.sqrt(2 * HEIGHT / G)


def bouncing(step=0.01, **options):
    body = kd.Body('ball', '', prismatic('z', (0, 0, 1)), inertia=inertia(1))
    robot = kd.Robot('ball', [body], (0, 0, -G))
    floor = constraints.contact(constraints.point_contact(robot, 'ball'), restitution=E)
    return kd.EventSimulation(robot, {'floor': floor}, [HEIGHT], step=step, **options)


def test_a_bouncing_ball():
    simulation = bouncing()
    run(simulation, 2.0)
    assert_allclose([simulation.q[0], simulation.v[0]], [0.1688412438, 1.690932622], atol=1e-8)
    run(simulation, 1.0)
    times = [event.time for event in simulation.events]
    printed = (0.4946193668, 1.286010354, 1.919123143, 2.425613375, 2.83080556)
    assert_allclose(times, printed, rtol=0, atol=1e-9)
    losses = [event.energy_loss for event in simulation.events]
    heights = HEIGHT * E ** (2 * np.arange(6))
    assert_allclose(losses, -G * np.diff(heights), rtol=1e-10)
    assert_allclose(heights[1:5], (0.768, 0.49152, 0.3145728, 0.201326592))


def test_bouncing_ends_in_finite_time_and_says_so():
    simulation = bouncing(step=0.1, rest_speed=1e-6)
    run(simulation, 4.5)
    last = simulation.events[-1]
    assert (last.kind, last.names, dict(last.states)) == ('rests', ('floor',), {'floor': 'slips'})
    zeno = FIRST * (1 + E) / (1 - E)
    assert_allclose(zeno, 4.451574301)
    # what is left of the series when a ball that comes at 1e-6 m/s stays
    assert 0.0 < zeno - last.time < 1e-6 * 2 / G / (1 - E)
    assert_allclose((simulation.q[0], simulation.v[0]), 0.0, atol=1e-12)
    assert_allclose(simulation.forces['ball/contact'], G)
    bounces = np.sqrt(2 * G * HEIGHT) * E ** np.arange(len(simulation.events) + 1)
    assert bounces[-2] < 1e-6 < bounces[-3]


def test_a_ball_that_loses_nothing_bounces_until_it_may_no_more():
    """There is no end of events for e = 1 and little height: then nothing rebounds."""
    body = kd.Body('ball', '', prismatic('z', (0, 0, 1)), inertia=inertia(1))
    robot = kd.Robot('ball', [body], (0, 0, -G))
    floor = constraints.contact(constraints.point_contact(robot, 'ball'), restitution=1.0)
    # bounces every 0.3 ms: 3500 in a step
    options = {'step': 1.0, 'rest_speed': 0.0, 'dynamics': kd.compile(robot)}
    simulation = kd.EventSimulation(robot, {'floor': floor}, [1e-7], **options)
    run(simulation, 1.0)
    assert kinds(simulation) == ['impact'] * 1000 + ['rests']
    assert simulation.states == {'floor': 'slips'}


# C8: dry friction on an incline


def block(degrees, static, kinetic, speed=0.0, step=0.01):
    """Return a block on an incline whose x points up."""
    angle = np.radians(degrees)
    body = kd.Body('block', '', prismatic('x'), inertia=inertia(1))
    robot = kd.Robot('block', [body], (-G * np.sin(angle), 0, -G * np.cos(angle)))
    along = constraints.pfaffian(robot, lambda q, t: [1.0], label='along')
    friction = constraints.traction(along, G * np.cos(angle), kinetic, static)
    return kd.EventSimulation(robot, {'incline': friction}, [0.0], [speed], step=step)


def test_a_block_stays_or_slides():
    stays, slides = block(25, 0.5, 0.4), block(30, 0.5, 0.4)
    assert (stays.states['incline'], slides.states['incline']) == ('sticks', 'slips')
    assert_allclose(stays.forces['along'], 4.145885148)
    assert_allclose(slides.motion.acceleration, -1.506716316)
    run(stays, 1.0)
    run(slides, 1.0)
    assert_allclose(np.r_[stays.q, stays.v], 0.0, atol=1e-15)
    assert_allclose(slides.q, -0.5 * 1.506716316, rtol=1e-9)


def test_a_block_thrown_up_stops_and_stays():
    simulation = block(20, 0.45, 0.35, 3.0)
    run(simulation, 1.0)
    (event,) = simulation.events
    assert_allclose(event.time, 0.4558125984, atol=1e-9)
    assert_allclose(simulation.q, 0.6837188976, atol=1e-8)
    assert simulation.states == {'incline': 'sticks'}


def test_a_block_thrown_up_comes_back():
    simulation = block(30, 0.45, 0.35, 3.0, step=1.149828629 / 20)
    run(simulation, 1.149828629)
    (event,) = simulation.events
    assert_allclose(event.time, 0.3807832298, atol=1e-9)
    assert dict(event.states) == {}  # it slips before and after, another way
    assert_allclose(simulation.v, -1.485412554, atol=1e-8)
    assert_allclose(simulation.q, 0.0, atol=1e-8)


# C7: rocking


def rocking(angle, half_width=0.2, half_height=0.5, friction=10.0, step=2e-3):
    """Return a narrow block tilted about its right corner."""
    tensor = (half_width**2 + half_height**2) / 3
    body = kd.Body(
        'block', '', kd.Joint('base', kd.Planar()), inertia=inertia(1, (0, 0, 0), (0, 0, tensor))
    )
    robot = kd.Robot('block', [body], (0, -G, 0))
    parts = {}
    for name, x in (('left', -half_width), ('right', half_width)):
        corner = (x, -half_height, 0)
        parts[name] = constraints.contact(
            constraints.point_contact(robot, 'block', corner, (0, 1, 0)),
            constraints.point_slip(robot, 'block', corner, (0, 1, 0), (1, 0, 0)),
            friction=friction,
        )
    c, s = np.cos(angle), np.sin(angle)
    corner = np.array([[c, -s], [s, c]]) @ (half_width, -half_height)
    place = [half_width - corner[0], -corner[1], angle]
    return kd.EventSimulation(robot, parts, place, step=step)


def test_a_block_rocks():
    simulation = rocking(-0.1)
    assert simulation.states == {'left': 'open', 'right': 'sticks'}
    run(simulation, 0.3)
    (event,) = simulation.events
    assert_allclose(event.time, 0.8952168559 / 4, atol=1e-9)
    assert dict(event.states) == {'left': 'sticks', 'right': 'open'}
    before, after = 0.9414824906, 0.7931034483 * 0.9414824906
    inertia_of_corner = 4 / 3 * (0.2**2 + 0.5**2)
    assert_allclose(event.energy_loss, 0.5 * inertia_of_corner * (before**2 - after**2), rtol=1e-8)
    assert_allclose(
        event.energy_loss / (0.5 * inertia_of_corner * before**2), 0.3709869203, rtol=1e-8
    )


def test_a_wide_block_stops():
    simulation = rocking(-0.1, 0.8, 0.5, step=8e-3)
    run(simulation, 0.4)
    assert simulation.states == {'left': 'sticks', 'right': 'sticks'}
    assert_allclose(simulation.v, 0.0, atol=1e-12)
    assert len(simulation.events) == 1


def test_a_slip_that_began_the_other_way_ends():
    """Slip in two directions: it stops, comes back against its beginning, and sticks."""
    bodies = [
        kd.Body('x', '', prismatic('x')),
        kd.Body('y', 'x', prismatic('y', Y)),
        kd.Body('puck', 'y', prismatic('z', (0, 0, 1)), inertia=inertia(1)),
    ]
    robot = kd.Robot('puck', bodies, (0, 0, 0))
    wall = constraints.contact(
        constraints.point_contact(robot, 'puck', normal=(1, 0, 0)),
        constraints.point_slip(robot, 'puck', normal=(1, 0, 0)),
        friction=0.5,
    )
    simulation = kd.EventSimulation(robot, {'wall': wall}, step=0.01)
    for push, steps in ((6.0, 1), (-9.0, 2), (0.0, 2)):  # beside friction of 5 N
        simulation.step([-10.0, push, 0.0], steps)
    stops, back = 0.01 + 0.01 / 14.0, 4.0 * (0.02 - 0.01 / 14.0)
    ends = 0.03 + back / 5.0
    times = [event.time for event in simulation.events]
    assert_allclose(times, [0.0, stops, ends], rtol=0, atol=1e-9)
    assert simulation.states == {'wall': 'sticks'}
    assert_allclose(simulation.v, 0.0, atol=1e-15)
    way = 0.5 * 0.01**2 + 0.5 * 0.01**2 / 14.0 - 0.5 * back**2 / 4.0 - 0.5 * back**2 / 5.0
    assert_allclose(simulation.q, [0.0, way, 0.0], rtol=0, atol=1e-10)


@pytest.mark.claim(37)
def test_a_sphere_on_a_slope_slips_sideways_until_it_rolls():
    """The slip turns into the slope; it ends at a time that is known in closed form."""
    radius, mu, slope, slip = 0.1, 0.3, np.radians(20.0), 1.3
    load = inertia(1, (0, 0, 0), [0.4 * radius**2] * 3)
    body = kd.Body('ball', '', kd.Joint('base', kd.Free()), inertia=load)
    robot = kd.Robot('ball', [body], (G * np.sin(slope), 0, -G * np.cos(slope)))
    rolling = constraints.rolling_ball(robot, 'base', radius)
    parts = {'ground': constraints.rolling_contact(rolling, friction=mu)}
    speed = slip * np.array([np.cos(0.7), np.sin(0.7)])
    omega = np.array([0.8, -0.4, 5.0])
    of_centre = speed + radius * np.array([omega[1], -omega[0]])
    q, v = [0, 0, radius, 1, 0, 0, 0], [*omega, *of_centre, 0.0]
    simulation = kd.EventSimulation(robot, parts, q, v, step=2e-3)
    # s' = B e - A s/|s|, so that A |s| + B e.s falls with A^2 - B^2
    A, B = 3.5 * mu * G * np.cos(slope), G * np.sin(slope)
    end = (A * slip + B * speed[0]) / (A**2 - B**2)
    simulation.step(np.zeros(6), int(end / 2e-3) + 2)
    (event,) = simulation.events
    assert dict(event.states) == {'ground': 'sticks'}
    # pieces of a quarter of the time that is left, by rk4
    assert_allclose(event.time, end, rtol=0, atol=1e-8)
    # the friction of all that time took the slip away, but for what the slope gave
    along = (np.array([B * end, 0.0]) + speed) / 3.5
    turned = kd.forward_kinematics(robot, event.q).pose('ball').rotation_matrix()
    expected = of_centre + [B * end, 0.0] - along
    assert_allclose(turned @ event.v[3:], [*expected, 0.0], rtol=0, atol=1e-6)
    spin = omega[:2] + 2.5 / radius * np.array([-along[1], along[0]])
    assert_allclose((turned @ event.v[:3])[:2], spin, rtol=0, atol=1e-5)
