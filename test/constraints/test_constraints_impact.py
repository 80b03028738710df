# SPDX-License-Identifier: Apache-2.0
"""Impacts against answers by hand: stops, locks, grips, several contacts at once."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from support.machines import Y, Z, at, inertia, prismatic, revolute
from support.planar_bodies import rod
from support.striking import arm, two_bodies
from support.trees import tree_and_state

import kane_dynamics as kd
from kane_dynamics.exceptions import InconsistentConstraintsError, InvalidInputError

PRINTED = 1.1e-9  # of numbers with ten digits, and a few roundoffs
SOLVED = 1e-10  # relative; condition of M up to 1e4
ROUNDED = 3e-8  # of the energy; `impact` takes 1e-8 of v'Mv for none
C = kd.constraints


@pytest.mark.claim(38)
@pytest.mark.parametrize(
    ('e', 'push', 'u1', 'u2', 'loss'),
    [
        (0.0, 0.08203550296, 2.086982249, 0.0, 0.09844260355),
        (0.5, 0.1230532544, 2.380473373, -1.2, 0.07383195266),
        (1.0, 0.1640710059, 2.673964497, -2.4, 0.0),
    ],
)
def test_an_arm_against_its_stop(e, push, u1, u2, loss):
    robot = arm(lower=-3.0, upper=0.0)
    stop = C.joint_limit(robot, 'q2', 'upper')
    found = kd.impact(robot, [0.2, 0.0], [1.5, 2.4], (), (stop,), e)
    assert_allclose(found.velocity, [u1, u2], rtol=0, atol=PRINTED)
    assert_allclose([found.pushes[0], found.energy_loss], [push, loss], rtol=0, atol=PRINTED)
    leaving = kd.impact(robot, [0.2, 0.0], [1.5, -2.4], (), (stop,), e)
    assert_allclose(leaving.velocity, [1.5, -2.4], rtol=0, atol=1e-14)
    assert leaving.active == ()


@pytest.mark.parametrize(
    ('joint', 'velocity', 'impulse', 'loss'),
    [
        ('q2', (0.5052867406, 0.0), 0.1583123397, 0.2453841265),
        ('q1', (0.0, -0.2312534096), -0.6537344415, 0.3922406649),
    ],
)
def test_a_joint_of_a_moving_arm_is_locked(joint, velocity, impulse, loss):
    robot = arm()
    found = kd.impact(robot, [0.3, 0.7], [1.2, -3.1], (C.lock(robot, joint),))
    assert_allclose(found.velocity, velocity, rtol=0, atol=PRINTED)
    numbers = [found.impulses[0], found.energy_loss]
    assert_allclose(numbers, [impulse, loss], rtol=0, atol=PRINTED)
    assert found.labels == (f'{joint}/lock',)


def test_a_free_body_is_gripped():
    robot, q, v = two_bodies()
    found = kd.impact(robot, q, v, (C.loop_closure(robot, 'A grip', 'B grip'),))
    turning = (-0.02889596374, -0.3294841355, 0.3612220304)
    of_a = *turning, 0.1677724117, -0.02231995108, 0.03525928124
    of_b = *turning, -0.003317235053, 0.1669598532, 0.1942221563
    assert_allclose(found.velocity, [*of_a, *of_b], rtol=0, atol=PRINTED)
    assert found.energy_loss == pytest.approx(0.5932328405, abs=PRINTED)
    couple, impulse = found.impulses[:3], found.impulses[3:]  # on B at the grip
    assert_allclose(impulse, (1.58673106, 0.2678394129, 0.7768886251), rtol=0, atol=2e-9)
    assert_allclose(couple, (0.01487454133, 0.03060759767, -0.01149570113), rtol=0, atol=PRINTED)


@pytest.mark.claim(38)
def test_the_caster_of_a_cart_sticks():
    """Gillespie, example 3: rear axle at the origin, side slip of neither axle nor caster."""
    to_com, to_pivot, trail = 0.35, 0.8, 0.12
    body, caster = inertia(16.0, (to_com, 0, 0), (1, 1, 1.9)), inertia(1.2, (-trail, 0, 0))
    bodies = [
        kd.Body('cart', '', kd.Joint('base', kd.Planar()), inertia=body),
        kd.Body('caster', 'cart', revolute('turn'), at(to_pivot, 0, 0), caster),
    ]
    robot = kd.Robot('cart', bodies)

    def side_slip(q, t):
        back = [-np.sin(q[2]), np.cos(q[2]), 0.0, 0.0]
        s, c = np.sin(q[2] + q[3]), np.cos(q[2] + q[3])
        return [back, [-s, c, to_pivot * np.cos(q[3]) - trail, -trail]]

    rolls = C.pfaffian(robot, side_slip)
    q, u1, u2 = np.array([0.3, -0.2, 0.7, -0.9]), 0.9, -0.5
    v = np.array([u1 * np.cos(q[2]), u1 * np.sin(q[2]), u2, 0.0])
    v = kd.consistent_velocity(robot, q, v, (rolls,), known=robot.velocity_names[:3])
    assert v[2] + v[3] == pytest.approx(3.802918595, abs=PRINTED)
    assert kd.kinetic_energy(robot, q, v) == pytest.approx(7.41954668, abs=10 * PRINTED)
    found = kd.impact(robot, q, v, (rolls, C.lock(robot, 'turn')))
    speed = found.velocity[0] / np.cos(q[2])
    after = speed, found.velocity[2], found.velocity[3]
    assert_allclose(after, (0.5507951042, -1.143563156, 0.0), rtol=0, atol=PRINTED)
    assert found.energy_loss == pytest.approx(1.7957157, abs=10 * PRINTED)
    assert_allclose(found.impulses[1:], (-6.955417432, -0.8346500918), rtol=0, atol=2 * PRINTED)


@pytest.mark.claim(38)
def test_a_body_on_a_plane_is_gripped():
    bodies = [
        kd.Body(
            name, '', kd.Joint(name, kd.Planar()), inertia=inertia(m, (0, 0, 0), (1, 1, tensor))
        )
        for name, m, tensor in (('A', 12.0, 0.8), ('B', 4.0, 0.05))
    ]
    grips = {'A grip': kd.Frame(0, at(0.45, 0.15, 0)), 'B grip': kd.Frame(1, at(-0.05, -0.05, 0))}
    robot = kd.Robot('two', bodies, (0, 0, 0), grips)
    q, v = np.r_[0.0, 0.0, 0.0, 0.5, 0.2, 0.0], np.r_[0.3, 0.0, 0.2, -0.4, 0.1, -1.0]
    grip = C.loop_closure(robot, 'A grip', 'B grip')
    found = kd.impact(robot, q, v, (grip,))
    turning = 0.3953488372
    of_a, of_b = (0.1447674419, -0.02441860465), (0.06569767442, 0.173255814)
    assert_allclose(found.velocity, [*of_a, turning, *of_b, turning], rtol=0, atol=PRINTED)
    assert found.energy_loss == pytest.approx(0.6565813953, abs=PRINTED)
    assert_allclose(found.impulses[3:5], (1.862790698, 0.2930232558), rtol=0, atol=2 * PRINTED)
    assert found.impulses[2] == pytest.approx(-0.008720930233, abs=PRINTED)


@pytest.mark.claim(38)
def test_an_arm_takes_a_particle():
    bodies = [
        *arm().bodies,
        kd.Body('x', '', prismatic('x')),
        kd.Body('y', 'x', prismatic('y', Y), inertia=inertia(0.8)),
    ]
    q1, q2 = 0.3, 0.7
    tip = np.array(
        [0.5 * np.cos(q1) + 0.4 * np.cos(q1 + q2), 0.5 * np.sin(q1) + 0.4 * np.sin(q1 + q2)]
    )
    frames = {'tip': kd.Frame(1, at(0.4, 0, 0)), 'particle': kd.Frame(3, at(0, 0, 0))}
    robot = kd.Robot('arm and particle', bodies, (0, 0, 0), frames)
    grip = C.loop_closure(robot, 'tip', 'particle', 'ball')
    found = kd.impact(robot, [q1, q2, *tip], [0.6, -0.9, -0.5, 0.8], (grip,))
    expected = 0.6098040977, 0.07855055087, -0.3217969021, 0.4400518945
    assert_allclose(found.velocity, expected, rtol=0, atol=PRINTED)
    assert found.energy_loss == pytest.approx(0.1197727216, abs=PRINTED)
    cos, sin = np.cos(q1 + q2), np.sin(q1 + q2)  # impulses are in the axes of the tip
    on_arm = np.array([[-cos, sin], [-sin, -cos]]) @ found.impulses[:2]
    assert_allclose(on_arm, (-0.1425624783, 0.2879584844), rtol=0, atol=PRINTED)


def balls(count=3):
    """Return equal balls on a line, each touching the next one."""
    bodies = [
        kd.Body(f'ball_{k}', '', prismatic(f'x{k}'), inertia=inertia(1.0)) for k in range(count)
    ]
    robot = kd.Robot('cradle', bodies, (0, 0, 0))
    gaps = tuple(
        C.holonomic(robot, lambda q, t, k=k: q[k + 1] - q[k], f'gap {k}') for k in range(count - 1)
    )
    return robot, gaps


@pytest.mark.parametrize(
    ('e', 'velocity', 'pushes'),
    [
        (1.0, (-1 / 3, 2 / 3, 2 / 3), (4 / 3, 2 / 3)),
        (0.5, (0.0, 0.5, 0.5), (1.0, 0.5)),
        (0.0, (1 / 3, 1 / 3, 1 / 3), (2 / 3, 1 / 3)),
    ],
)
@pytest.mark.parametrize('law', ['newton', 'poisson', 'energetic'])
def test_three_balls_that_touch(e, velocity, pushes, law):
    robot, gaps = balls()
    found = kd.impact(robot, np.zeros(3), [1.0, 0.0, 0.0], (), gaps, e, law=law)
    assert_allclose(found.velocity, velocity, rtol=0, atol=1e-14)
    assert_allclose(found.pushes, pushes, rtol=0, atol=1e-14)


@pytest.mark.claim(38)
@pytest.mark.parametrize(
    ('e', 'velocity', 'count'),
    [(1.0, (0.0, 0.0, 1.0), 2), (0.5, (0.203125, 0.234375, 0.5625), 3)],
)
def test_three_balls_that_strike_one_after_the_other(e, velocity, count):
    robot, gaps = balls()
    v, strikes = np.array([1.0, 0.0, 0.0]), 0
    while (approach := v[:2] - v[1:]).max() > 1e-12:
        pair = gaps[int(np.argmax(approach > 1e-12))]  # the left pair first
        v = kd.impact(robot, np.zeros(3), v, (), (pair,), e).velocity
        strikes += 1
    assert_allclose(v, velocity, rtol=0, atol=1e-14)
    assert strikes == count


def test_a_ball_on_a_floor_that_rises():
    # it comes with 1 m/s, the floor with 0.5 m/s: 1.5 m/s towards each other, 0.75 m/s after
    robot, _ = balls(1)
    floor = C.holonomic(robot, lambda q, t: q[0] - 0.5 * t)
    found = kd.impact(robot, [0.5], [-1.0], (), (floor,), 0.5, time=1.0)
    assert_allclose(found.velocity, [1.25], rtol=0, atol=1e-14)
    assert_allclose(found.pushes, [2.25], rtol=0, atol=1e-14)
    assert found.states == ('open',)
    stays = kd.impact(robot, [0.5], [-1.0], (), (floor,), 0.0, time=1.0)
    assert_allclose(stays.velocity, [0.5], rtol=0, atol=1e-14)
    assert stays.states == ('slips',)


@pytest.mark.parametrize('law', ['newton', 'poisson', 'energetic'])
def test_balls_on_a_floor_that_rises(law):
    robot, _ = balls(2)
    floors = [C.holonomic(robot, lambda q, t, k=k: q[k] - 0.5 * t) for k in range(2)]
    contacts = [
        C.contact(floor, restitution=e) for floor, e in zip(floors, (0.5, 0.2), strict=True)
    ]
    single = kd.impact(robot, [0.5, 0.5], [-1.0, 0.0], (), contacts[:1], law=law, time=1.0)
    assert_allclose(single.velocity, [1.25, 0.0], rtol=0, atol=1e-12)
    assert single.states == ('open',)
    both = kd.impact(robot, [0.5, 0.5], [-1.0, -1.5], (), contacts, law=law, time=1.0)
    assert_allclose(both.velocity, [1.25, 0.9], rtol=0, atol=1e-12)


def block(half_width, rate):
    """Return a block 1 m high that lands on corner B while it turns about corner A."""
    load = inertia(1.0, (0, 0, 0), (1.0, (half_width**2 + 0.25) / 3.0, 1.0))
    bodies = [
        kd.Body('x', '', prismatic('x')),
        kd.Body('z', 'x', prismatic('z', Z)),
        kd.Body('block', 'z', revolute('turn', Y), inertia=load),
    ]
    robot = kd.Robot('block', bodies)
    corners = [(side * half_width, 0.0, -0.5) for side in (-1.0, 1.0)]
    normals = tuple(C.point_contact(robot, 'block', corner) for corner in corners)
    along = C.point_contact(robot, 'block', corners[1], (1.0, 0.0, 0.0))
    v = np.array([0.5 * rate, -half_width * rate, rate])  # about A, at (-b, -h) from the centre
    assert_allclose(
        C.ConstraintSet(robot, normals).rows([0, 0.5, 0], v, 0.0).matrix[0] @ v, 0.0, atol=1e-15
    )
    return robot, np.array([0.0, 0.5, 0.0]), v, normals, along


def test_a_narrow_block_rocks_on():
    # Housner: both corners held would pull at A, so A leaves
    robot, q, v, normals, along = block(0.2, 0.8)
    found = kd.impact(robot, q, v, (along,), normals)
    assert found.velocity[2] / v[2] == pytest.approx(0.7931034483, abs=PRINTED)
    assert_allclose(found.pushes, [0.0, 0.2868965517], rtol=0, atol=PRINTED)
    assert abs(found.impulses[0]) == pytest.approx(0.08275862069, abs=PRINTED)
    leaving = normals[0].rows(robot, q, found.velocity, 0.0)[0].coefficients
    speed = sum(x * found.velocity[k] for k, x in leaving.items())
    assert speed == pytest.approx(0.2537931034, abs=PRINTED)


def test_a_wide_block_stops():
    robot, q, v, normals, along = block(0.8, 0.8)
    found = kd.impact(robot, q, v, (along,), normals)
    assert_allclose(found.velocity, 0.0, rtol=0, atol=1e-14)
    assert_allclose(found.pushes, [0.04666666667, 0.5933333333], rtol=0, atol=PRINTED)
    assert found.energy_loss == pytest.approx(0.3797333333, abs=PRINTED)


@pytest.mark.claim(38)
@pytest.mark.parametrize('seed', range(40))
def test_random_impulses_against_the_equations_of_all_unknowns(seed):
    """M (v+ - v) = A' Lambda, A v+ = b0 as one linear system, for five sets of rows each."""
    robot, q, v, _ = tree_and_state(seed, ('fixed', 'planar', 'floating')[seed % 3])
    rng, M = np.random.default_rng(seed), kd.mass_matrix(robot, q)
    for count in range(1, min(6, robot.nv)):
        A, b0 = rng.normal(size=(count, robot.nv)), rng.normal(size=count)
        rows = C.pfaffian(robot, lambda q, t, A=A: A, lambda q, t, b0=b0: b0)
        found = kd.impact(robot, q, v, (rows,))
        whole = np.block([[M, -A.T], [A, np.zeros((count, count))]])
        expected = np.linalg.solve(whole, np.r_[M @ v, b0])
        scale = 1.0 + np.abs(expected).max()
        got = np.r_[found.velocity, found.impulses]
        assert_allclose(got, expected, rtol=0, atol=SOLVED * scale)
        after = found.velocity
        assert found.energy_loss == pytest.approx(0.5 * (v @ M @ v - after @ M @ after), rel=1e-9)


@pytest.mark.parametrize('seed', range(20))
def test_an_impact_never_gives_energy(seed):
    robot, q, v, _ = tree_and_state(seed, 'floating')
    rng, M = np.random.default_rng(seed), kd.mass_matrix(robot, q)
    links = [body.name for body in robot.bodies]
    contacts = tuple(
        C.point_contact(robot, link, rng.uniform(-0.3, 0.3, 3), rng.normal(size=3))
        for link in links
    )
    rows = C.pfaffian(robot, lambda q, t: rng.normal(size=robot.nv))
    v = kd.consistent_velocity(robot, q, v, (rows,))
    gap = C.ConstraintSet(robot, contacts).rows(q, v, 0.0).matrix
    for e in (0.0, 0.4, 1.0):
        found = kd.impact(robot, q, v, (rows,), contacts, e)
        energy = 0.5 * v @ M @ v
        assert found.energy_loss > -ROUNDED * energy
        assert (found.pushes >= 0.0).all()
        rebound = found.restitution_scale * e * np.maximum(-gap @ v, 0.0)
        least = gap @ found.velocity - rebound
        assert least.min() > -SOLVED * (1.0 + np.abs(gap @ v).max())
        assert np.abs(found.pushes * least).max() < SOLVED * (1.0 + found.pushes.max())
    # e = 1: what strikes keeps the energy; what opens before and is held would create some, and
    # restitution is scaled down until it creates none
    assert found.energy_loss == pytest.approx(0.0, abs=ROUNDED * energy)


@pytest.mark.parametrize('law', ['newton', 'poisson', 'energetic'])
def test_no_law_leaves_a_contact_approaching(law):
    """A rod without friction, which turns: one end opens, the other strikes."""
    robot, q, _ = rod(0.5, 1.0, 0.0)
    ends = [C.point_contact(robot, 'body', (x, 0.0, 0.0)) for x in (-0.5, 0.5)]
    gap = C.ConstraintSet(robot, ends).rows(q, np.zeros(3), 0.0).matrix
    v = np.linalg.lstsq(gap, [0.2, -1.0], rcond=None)[0]
    found = kd.impact(robot, q, v, (), ends, 1.0, law=law)
    first, second = gap @ found.velocity
    assert first == pytest.approx(0.0, abs=1e-12)
    # 'newton' would create 0.0267 J with 1, and none with sqrt(0.84)
    expected = {'newton': np.sqrt(0.84), 'poisson': 0.9}.get(law)
    assert expected is None or second == pytest.approx(expected, abs=1e-7)
    assert 0.5 < second <= 1.0
    assert found.energy_loss > -ROUNDED
    assert (found.restitution_scale < 1.0) == (law == 'newton')


@pytest.mark.parametrize('law', ['newton', 'poisson', 'energetic'])
def test_a_body_between_two_walls_that_touch_it_stops(law):
    """It cannot rebound: Newton's law would want two speeds."""
    robot, _ = balls(1)
    walls = [C.holonomic(robot, lambda q, t, s=s: s * q[0], f'wall {s}') for s in (1.0, -1.0)]
    found = kd.impact(robot, np.zeros(1), [-1.0], (), walls, 0.5, law=law)
    assert found.velocity[0] == pytest.approx(0.0, abs=1e-8)  # two bounds that meet to 1e-9
    assert found.energy_loss == pytest.approx(0.5, abs=1e-8)


@pytest.mark.parametrize('law', ['newton', 'poisson', 'energetic'])
def test_a_contact_that_a_lock_stops_does_not_rebound(law):
    """Regression: Newton's law asked for a rebound, and friction took 5e-5 of the slip."""
    stage = [prismatic('z', Z), prismatic('x', (1.0, 0.0, 0.0))]
    bodies = [
        kd.Body(j.name, p, j, inertia=inertia(1.0)) for j, p in zip(stage, ('', 'z'), strict=True)
    ]
    robot = kd.Robot('stage', bodies)
    slip = C.point_slip(robot, 'x', direction=(1.0, 0.0, 0.0))
    foot = C.contact(C.point_contact(robot, 'x'), slip, friction=0.5, restitution=0.5)
    found = kd.impact(robot, np.zeros(2), [-1.0, 1.0], (C.lock(robot, 'z'),), (foot,), law=law)
    assert_allclose(found.velocity, [0.0, 1.0], rtol=0, atol=1e-12)
    assert_allclose([*found.pushes, *found.impulses], [0.0, 2.0], rtol=0, atol=1e-12)


def test_what_is_no_impact_is_refused():
    robot, gaps = balls()
    for wrong in (-0.1, 1.1):
        with pytest.raises(InvalidInputError, match='restitution: need a number from 0 to 1'):
            kd.impact(robot, np.zeros(3), np.zeros(3), (), gaps, wrong)
    apart = C.pfaffian(robot, lambda q, t: [-1.0, 1.0, 0.0], lambda q, t: -1.0, 'closing')
    with pytest.raises(InconsistentConstraintsError, match=r"no speed .* \['gap 0'\]"):
        kd.impact(robot, np.zeros(3), np.zeros(3), (apart,), gaps)


@pytest.mark.parametrize('law', ['newton', 'poisson', 'energetic'])
def test_rows_and_masses_by_machine_code(law):
    """Of a box that is held by one row, with contacts of all kinds: rough, smooth, of a load."""
    load = inertia(5.0, (0.02, 0.01, 0.0), (0.1, 0.2, 0.3))
    robot = kd.Robot('box', [kd.Body('box', '', kd.Joint('free', kd.Free()), inertia=load)])
    corners = [(x, y, -0.1) for x in (0.3, -0.3) for y in (0.2, -0.2)]
    points = [C.point_contact(robot, 'box', corner) for corner in corners]
    slips = [C.point_slip(robot, 'box', corner) for corner in corners]
    rough = [
        C.contact(one, slip, friction=0.4, restitution=0.5)
        for one, slip in zip(points, slips, strict=True)
    ]
    guide = C.pfaffian(robot, lambda q, t: [[0.0, 0.0, 0.2, 1.0, 0.0, 0.0]], label='guide')
    smooth = [C.contact(points[2], restitution=0.3), C.traction(slips[3], 20.0, 0.3), points[0]]
    engine, rng = kd.compile(robot, payloads=['box']), np.random.default_rng(5)
    heavier = kd.compile(robot, payloads=['box'])
    heavier.set_payload('box', 3.0, (0.1, 0.0, 0.05), np.diag([0.1, 0.1, 0.1]))
    for contacts, held in ((rough[:1], ()), (rough, ()), (smooth, [guide]), ((), (guide,))):
        q, v = [0, 0, 0.1, 1, 0, 0, 0], rng.normal(size=6)
        v[5] = -1.0
        for dynamics in (engine, heavier):
            own = dynamics.robot
            one = kd.impact(own, q, v, held, contacts, law=law)
            two = kd.impact(robot, q, v, held, contacts, law=law, dynamics=dynamics)
            assert_allclose(two.velocity, one.velocity, rtol=0, atol=1e-10)
            assert_allclose(two.impulses, one.impulses, rtol=0, atol=1e-10)
            assert two.energy_loss == pytest.approx(one.energy_loss, abs=1e-10)
            assert two.energy_loss >= -1e-10
            assert (two.labels, two.contacts) == (one.labels, one.contacts)
            assert two.states == one.states
    assert engine.switched(points) is engine.switched(list(points))


def test_dynamics_of_an_impact_are_checked():
    robot, gaps = balls()
    state = robot, np.zeros(3), np.zeros(3), (), gaps
    for wrong, message in (
        (kd.dynamics(robot, gaps), 'must be unconstrained'),
        (kd.dynamics(kd.serial_chain(3)), "got another robot's"),
        (robot, 'what kd.dynamics or kd.compile returns'),
    ):
        with pytest.raises(InvalidInputError, match=message):
            kd.impact(*state, dynamics=wrong)
    for wrong in (gaps[0], 'gap', None, 3):
        with pytest.raises(InvalidInputError, match='constraints'):
            kd.impact(*state[:3], (), wrong, dynamics=kd.dynamics(robot))
