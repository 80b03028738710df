# SPDX-License-Identifier: Apache-2.0
"""Machine code for any set of constraints is that of the set: steps, distances, forces."""

import itertools

import numpy as np
import pytest
from numpy.testing import assert_allclose
from support.machines import Y, at, inertia, revolute

import kane_dynamics as kd
from kane_dynamics import constraints as c
from kane_dynamics.dynamics import ConstraintSubsetDynamics
from kane_dynamics.exceptions import DivergedError

NAMES = ('q1', 'q2', 'q3')
STATE = np.array([0.4, 0.9, -0.7])
TAU = np.array([0.3, -0.2, 0.5])
H = 1e-3


def chain():
    """Return three links whose second joint is at the upper end of its range at STATE."""
    bodies, parent = [], ''
    for k, name in enumerate(NAMES):
        stops = {'lower': -1.5, 'upper': 0.9} if name == 'q2' else {}
        load = inertia(2.0 - 0.4 * k, (0.2, 0.05, 0.0), (0.02, 0.05, 0.06))
        place = at(0.4, 0.0, 0.0) if k else at(0.0, 0.0, 0.0)
        bodies.append(kd.Body(name, parent, revolute(name, Y, **stops), place, load))
        parent = name
    return kd.Robot('chain', bodies, (0.0, 0.0, -9.81))


ROBOT = chain()
CONSTRAINTS = (
    c.lock(ROBOT, 'q2'),
    c.joint_limit(ROBOT, 'q2', 'upper'),
    c.coupling(ROBOT, 'q1', 'q2', 2.0, STATE[0] - 2.0 * STATE[1]),
    c.pfaffian(ROBOT, lambda q, t: [[1.0, 0.5, -0.3 - 0.1 * q[0]]], label='slip'),
    c.lock(ROBOT, 'q3'),
)
SETS = [
    chosen
    for size in range(len(CONSTRAINTS) + 1)
    for chosen in itertools.combinations(range(len(CONSTRAINTS)), size)
]


@pytest.fixture(scope='module')
def engine():
    return kd.compile(ROBOT)


def state(chosen, rng):
    """Return a state on some constraints, and dynamics under them."""
    held = [CONSTRAINTS[k] for k in chosen]
    free = rng.normal(size=3)
    return held, kd.consistent_velocity(ROBOT, STATE, free, held) if held else free


@pytest.mark.claim(37)
def test_every_set_moves_as_its_own_dynamics(engine):
    rng = np.random.default_rng(0)
    code = engine.switched(CONSTRAINTS)
    answers = 0
    for chosen in SETS:
        held, v = state(chosen, rng)
        one, reference = code.on(chosen), kd.dynamics(ROBOT, held)
        q_end, v_end = reference.engine('rk4').advance(STATE, v, TAU, 0.0, H, 1)
        end = one.step(STATE, v, TAU, 0.0, H)
        if end is not None:
            # four stages and a projection by two ways, accelerations of some 100 rad/s^2
            assert_allclose(end[:3], q_end, rtol=0, atol=1e-13)
            assert_allclose(end[3:6], v_end, rtol=0, atol=1e-11)
        motion = reference.forward_dynamics(STATE, v, TAU)
        rows = kd.dynamics(ROBOT, CONSTRAINTS).constraint_rows(STATE, v)
        look = one.look(STATE, v, TAU, 0.0)
        # None only where rows of several speeds repeat others: all three speeds are bound
        assert (look is not None and end is not None) or len(chosen) > 2
        if look is not None:
            answers += 1
            forces = np.zeros(len(CONSTRAINTS))
            forces[list(chosen)] = motion.multipliers
            assert_allclose(look[2], forces, rtol=0, atol=1e-9)
            assert_allclose(look[0], [phi or 0.0 for phi in rows.positions], rtol=0, atol=1e-15)
            assert_allclose(look[1], rows.matrix @ v - rows.velocity, rtol=0, atol=1e-13)
    assert answers >= 20  # of 32


def test_gravity_is_that_of_the_robot(engine):
    one = engine.switched(CONSTRAINTS).on([0])
    v, moon = np.array([0.5, 0.0, -0.2]), ROBOT.with_gravity((0.0, 0.0, -1.62))
    before = one.look(STATE, v, TAU, 0.0)
    engine.set_gravity(moon.gravity)
    try:
        after = one.look(STATE, v, TAU, 0.0)
    finally:
        engine.set_gravity(ROBOT.gravity)
    motion = kd.dynamics(moon, CONSTRAINTS[:1]).forward_dynamics(STATE, v, TAU)
    assert_allclose(after[2, :1], motion.multipliers, rtol=0, atol=1e-11)
    assert abs(after - before)[2, 0] > 0.1
    assert_allclose(one.look(STATE, v, TAU, 0.0), before, rtol=0, atol=0)


def test_what_is_not_sure_has_no_answer(engine):
    one = engine.switched(CONSTRAINTS).on([0])
    far = np.array([1e14, 0.0, 0.0])
    assert one.step(STATE, far, TAU, 0.0, H) is None
    nowhere = np.full(3, np.nan)
    assert one.step(nowhere, far, TAU, 0.0, H) is None
    simulation = kd.EventSimulation(
        ROBOT, {'lock': CONSTRAINTS[0]}, STATE, step=H, dynamics=engine
    )
    with pytest.raises(DivergedError):
        simulation.step([1e18, 0.0, 0.0], 5)


def test_code_is_made_once(engine):
    assert engine.switched(CONSTRAINTS) is engine.switched(CONSTRAINTS)
    code = engine.switched(CONSTRAINTS)
    assert code.on([0, 2]) is code.on([2, 0])
    assert code.on([0]) is not code.on([2])


def test_the_reference_has_rows_alone():
    code = kd.dynamics(ROBOT).switched(CONSTRAINTS)
    assert isinstance(code, ConstraintSubsetDynamics)
    assert code.on([0]) is None
    assert len(code.rows(STATE, np.zeros(3), 0.0)) == 5


def box(rows):
    """Return a box, and rows of its lower corners."""
    load = inertia(5.0, (0.02, 0.01, 0.0), (0.1, 0.2, 0.3))
    body = kd.Body('box', '', kd.Joint('free', kd.Free()), inertia=load)
    robot = kd.Robot('box', [body], (0.0, 0.0, -9.81))
    corners = [(x, y, -0.1) for x in (0.3, -0.3) for y in (0.2, -0.2)]
    return robot, [one(robot, 'box', corner) for corner in corners for one in rows]


def test_rows_that_repeat_each_other_share_forces_as_in_the_reference():
    robot, rows = box((c.point_contact, c.point_slip))
    code = kd.compile(robot).switched(rows)
    rng = np.random.default_rng(1)
    q = np.array([0.4, -0.2, 0.1, np.cos(0.3), 0.0, 0.0, np.sin(0.3)])  # turned about its normal
    for chosen in (range(8), range(0, 8, 2), range(1, 8, 2), (0, 2, 4, 5, 6), (1, 3)):
        held = [rows[k] for k in chosen]
        tau = rng.normal(size=6)
        motion = kd.dynamics(robot, held).forward_dynamics(q, np.zeros(6), tau)
        assert motion.rank < len(motion.multipliers) or len(chosen) == 2
        look = code.on(chosen).look(q, np.zeros(6), tau, 0.0)
        numbers = np.cumsum([0, *(len(one.labels) for one in rows)])
        shares = np.concatenate([look[2, numbers[k] : numbers[k + 1]] for k in chosen])
        assert_allclose(shares, motion.multipliers, rtol=0, atol=1e-11)
        assert abs(shares).max() > 0.1


def test_rows_that_nearly_repeat_others_have_no_look():
    robot = box(())[0]
    corners = [(x, y, -0.1) for x in (0.3, -0.3) for y in (0.2, -0.2)]
    for height, sure in ((0.0, True), (1e-8, True), (1e-5, False)):
        places = [*corners[:3], (-0.3, -0.2, -0.1 + height)]
        slips = [c.point_slip(robot, 'box', corner) for corner in places]
        code = kd.compile(robot).switched(slips)
        q = np.array([0.4, -0.2, 0.1, 1.0, 0.0, 0.0, 0.0])
        look = code.on(range(4)).look(q, np.zeros(6), np.ones(6), 0.0)
        assert (look is not None) == sure


def test_rows_that_repeat_others_beside_a_lock_have_no_look(engine):
    """The lock has a share of their force, which elimination does not know."""
    slopes = [[1.0, 0.5, 0.0]], [[1.0, -0.5, 0.0]]
    rows = [c.pfaffian(ROBOT, lambda q, t, A=A: A, label=f'row {A}') for A in slopes]
    code = engine.switched([c.lock(ROBOT, 'q2'), *rows])
    for chosen in ((0, 1, 2), (1, 2)):
        look = code.on(chosen).look(STATE, np.zeros(3), TAU, 0.0)
        assert (look is None) == (0 in chosen)
