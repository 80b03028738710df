# SPDX-License-Identifier: Apache-2.0
"""Forces of wheels and margins by machine code: the same as by the reference, also at tipping."""

import functools

import numpy as np
import pytest
from numpy.testing import assert_allclose
from support.standing_robots import CORNERS, PAIR, RADIUS, forward, rolling, standing

import kane_dynamics as kd
from kane_dynamics.analysis.wheel_forces import ContactForce, picture_of
from kane_dynamics.exceptions import ConstraintError, InvalidInputError, NameNotFoundError
from studies import robots

SUPPORTS = [(0.25, 0.0, 0.0), (-0.25, 0.05, 0.0)]


def shipped():
    """Return the shipped robot on two wheels and two casters."""
    robot = kd.load_robot('nonholonomic')
    left, right = (f'wheel_{side}_joint' for side in ('left', 'right'))
    return kd.bases.differential(robot, [left], [right], supports=SUPPORTS)


BASES = {
    'differential': shipped,
    'swerve': robots.swerve_base,
    'mecanum': robots.mecanum_base,
    'TIAGo': lambda: kd.bases.differential(
        robots.tiago().robot, robots.WHEELS[:1], robots.WHEELS[1:], supports=SUPPORTS
    ),
}


_MORE = 'swerve', 'mecanum', 'TIAGo'  # seconds to compile
NAMES = [pytest.param(x, marks=[pytest.mark.thorough] * (x in _MORE)) for x in BASES]


@functools.cache
def both(name):
    """Return a base and what it stands on, by machine code and by the reference."""
    base = BASES[name]()
    contacts = kd.base_ground_contacts(base, friction=0.6)
    return (
        base,
        contacts.with_dynamics(kd.compile(base.robot, base.constraints, cache=False)),
        contacts,
    )


def moving(base, seed):
    """Return a state and accelerations that the wheels of a base allow, and its motors."""
    rng, robot = np.random.default_rng(seed), base.robot
    if base.steering:
        case = robots.in_a_curve(base)
        q, v, a = case.q, case.v, case.a + 0.2 * rng.uniform(-1.0, 1.0, robot.nv)
    else:
        q = kd.integrate(robot, robot.neutral(), rng.uniform(-0.3, 0.3, robot.nv), 1.0)
        v, a = 0.2 * rng.uniform(-1.0, 1.0, (2, robot.nv))
        v = kd.consistent_velocity(robot, q, v, base.constraints)
    a = kd.consistent_acceleration(robot, q, v, a, base.constraints)
    return (q, v, a), robot.velocity_names[3:]


def same(found, expected):
    """Compare contacts, margins and efforts."""
    scale = max(np.abs(one.force).max() for one in expected.contacts.values())
    for one, other in zip(found.contacts.values(), expected.contacts.values(), strict=True):
        assert one.name == other.name
        assert_allclose(one.force, other.force, rtol=0, atol=1e-10 * scale)
        assert_allclose(one.point, other.point, rtol=0, atol=1e-12)
        assert_allclose(one.use, other.use, rtol=1e-6)
    assert found.margins.edges == expected.margins.edges
    for name in ('angles', 'distances', 'levers', 'zero_moment_point'):
        assert_allclose(getattr(found.margins, name), getattr(expected.margins, name), atol=1e-10)
    assert_allclose(found.effort.effort, expected.effort.effort, rtol=0, atol=1e-10 * scale)
    assert found.loads.determined == expected.loads.determined


@pytest.mark.parametrize('name', NAMES)
def test_machine_code_gives_the_same_contact_picture(name):
    base, fast, contacts = both(name)
    for seed in range(3):
        state, motors = moving(base, seed)
        expected = picture_of(contacts, *state, motors)
        same(picture_of(fast, *state, motors), expected)
        # an independent path: the recursion of Newton and Euler, wrenches of contacts together
        wrench = kd.ground_wrench(base.robot, *state)
        assert_allclose(fast.wrench(*state), wrench, rtol=0, atol=1e-10 * np.abs(wrench).max())
        assert_allclose(fast.loads(*state).forces, contacts.loads(*state).forces, atol=1e-8)
        assert_allclose(fast.margins(*state).margin, contacts.margins(*state).margin, atol=1e-10)
    assert fast.dynamics.fallback_count == 0


@pytest.mark.parametrize('name', NAMES)
@pytest.mark.parametrize('sense', [1.0, -1.0])
def test_where_the_robot_begins_to_tip_both_say_the_same_of_wheels_without_load(name, sense):
    """Regression: traction over mu N of a wheel that carries nothing was 0/0 by roundoff."""
    base, fast, contacts = both(name)
    q, v = base.robot.neutral(), np.zeros(base.robot.nv)
    motors = base.robot.velocity_names[3:]
    ahead = kd.consistent_acceleration(
        base.robot, q, v, sense * np.eye(base.robot.nv)[0], base.constraints
    )
    tips = contacts.critical_acceleration(q, v, ahead)
    assert fast.critical_acceleration(q, v, ahead).factor == pytest.approx(tips.factor, rel=1e-10)
    for factor in (1.0 - 1e-12, 1.0, 1.0 + 1e-12):
        a = factor * tips.factor * ahead
        found, expected = (picture_of(x, q, v, a, motors) for x in (fast, contacts))
        for one, other in zip(found.contacts.values(), expected.contacts.values(), strict=True):
            assert np.isinf(one.use) == np.isinf(other.use)
            if np.isfinite(one.use):
                assert one.use == pytest.approx(other.use, rel=1e-9, abs=1e-9)
            assert_allclose(one.force, other.force, rtol=0, atol=1e-7)


def test_use_of_what_carries_nothing():
    """What neither presses nor pulls does not slip; what pulls without load does."""

    def use(normal, along, across, mu=(0.5, 0.5)):
        parts = np.zeros(3), np.zeros(3), normal, along, across, np.array(mu)
        return ContactForce('wheel', *parts, 1e-7).use

    assert use(100.0, 30.0, -40.0) == pytest.approx(1.0)
    assert use(0.0, 0.0, 0.0) == use(1e-14, 1e-14, -1e-15) == 0.0
    assert use(0.0, 1.0, 0.0) == use(1e-14, 0.0, -1.0) == np.inf
    assert use(100.0, 1e-14, 0.0, (0.0, 0.5)) == 0.0
    assert use(100.0, 1.0, 0.0, (0.0, 0.5)) == np.inf
    assert np.isnan(use(100.0, 1.0, 0.0, (np.nan, np.nan)))


def test_gravity_and_payloads_are_those_of_the_dynamics():
    base = shipped()
    dynamics = kd.dynamics(base.robot, base.constraints)
    contacts = kd.base_ground_contacts(base).with_dynamics(dynamics)
    state = base.robot.neutral(), *np.zeros((2, base.robot.nv))
    before = contacts.loads(*state).forces
    frame = base.robot.bodies[0].name
    dynamics.set_payload(frame, 5.0)
    assert contacts.loads(*state).forces.sum() - before.sum() == pytest.approx(5.0 * 9.81)
    dynamics.set_gravity((0.0, 0.0, -1.62))
    mass = sum(body.inertia.mass for body in base.robot.bodies) + 5.0
    assert contacts.loads(*state).forces.sum() == pytest.approx(1.62 * mass)


def test_dynamics_of_another_robot_are_refused():
    robot = standing(PAIR, (-0.08, 0, 0.18))
    rows = [kd.constraints.differential_drive(robot, *PAIR, RADIUS)]
    casters = {'caster': ('chassis', (-0.3, 0.0, 0.0))}
    contacts = kd.ground_contacts(robot, rows, casters=casters)
    other = standing(CORNERS, (-0.02, 0, 0.18))
    with pytest.raises(ConstraintError, match='same robot'):
        contacts.with_dynamics(kd.dynamics(other, rolling(other, CORNERS)))
    with pytest.raises(ConstraintError, match='constraints'):
        contacts.with_dynamics(kd.dynamics(robot))
    with pytest.raises(InvalidInputError, match='dynamics: need'):
        contacts.with_dynamics(robot)
    with pytest.raises(NameNotFoundError, match='frame'):
        contacts.with_dynamics(kd.dynamics(robot, rows, frames=('L',)))
    with pytest.raises(InvalidInputError, match='v'):
        picture_of(contacts, robot.neutral(), [0.0], forward(robot, 1.0), PAIR)
