# SPDX-License-Identifier: Apache-2.0
"""The governor against contact pictures of the same motions, and in runs that would tip over."""

import itertools
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from numpy.testing import assert_allclose
from support.base_robots import Spot, robot_on
from support.headrooms import headrooms_of

import kane_dynamics as kd
from kane_dynamics.analysis.base_effects import TracedEffects, features
from kane_dynamics.analysis.base_motion import DriveResponse, moving
from kane_dynamics.analysis.contact_builders import base_ground_contacts
from kane_dynamics.analysis.motion_limits import MotionLimits, SafetyMargins
from kane_dynamics.analysis.normal_forces import ground_wrench
from kane_dynamics.analysis.wheel_forces import picture_of
from kane_dynamics.control.governor import Governor
from kane_dynamics.exceptions import ConstraintError, InvalidInputError, NameNotFoundError
from kane_dynamics.robot.resources import resolve

URDF = 'package://kane_dynamics/robots/nonholonomic.urdf'
WHEELS = ('wheel_left_joint', 'wheel_right_joint')
ARM = tuple(f'arm_{k}_joint' for k in range(1, 6))
GRAVITY = (0.6, -0.4, -9.7)  # of a slope


def robot_and_base(supports=((0.25, 0.0, 0.0), (-0.25, 0.0, 0.0)), gravity=(0.0, 0.0, -9.81)):
    robot = kd.load_urdf(resolve(URDF), base='planar', gravity=gravity)
    base = kd.bases.differential(robot, WHEELS[:1], WHEELS[1:], supports=supports)
    return robot, base


@cache
def governed(friction=None):
    """Return the robot and its governor, which is traced once."""
    robot, base = robot_and_base()
    return robot, Governor(
        base_ground_contacts(base, friction=friction), DriveResponse(0.5), WHEELS
    )


def turned(yaw):
    """Return the matrix from the axes of the base to those of the world, of (x, y, yaw)."""
    c, s = np.cos(yaw), np.sin(yaw)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def arm_state(robot, rng):
    """Return a random state of the arm with the base anywhere."""
    q, v, a = robot.neutral(), np.zeros(robot.nv), np.zeros(robot.nv)
    q[:3] = rng.uniform(-1.0, 1.0, 3)
    q[[robot.coordinate_index(name) for name in ARM]] = rng.uniform(-0.6, 0.6, 5)
    places = [robot.velocity_index(name) for name in ARM]
    v[places], a[places] = rng.uniform(-0.5, 0.5, (2, 5))
    return q, v, a


def whole_motion(robot, base, q, v, a, motion):
    """Return speeds and accelerations of the robot for a motion of its base."""
    v, a, world = v.copy(), a.copy(), turned(q[2])
    v[:3], a[:3] = world @ motion.twist, world @ motion.acceleration
    known = [name for name in robot.velocity_names if name not in WHEELS]
    v = kd.consistent_velocity(robot, q, v, base.constraints, known)
    return v, kd.consistent_acceleration(robot, q, v, a, base.constraints, known)


def test_the_polynomials_are_the_recursion(rng):
    robot, _ = robot_and_base(gravity=GRAVITY)
    q, v, a = arm_state(robot, rng)
    v[3:5] = a[3:5] = 7.0  # wheels stand still
    effects = TracedEffects(robot, WHEELS).at(q, v, a)
    v[3:5] = a[3:5] = 0.0
    assert set(WHEELS) == set(robot.velocity_names[3:5])
    for pace in (0.0, 0.3, 1.0):
        motion = moving(*rng.uniform(-1.0, 1.0, (2, 3)))
        v_all, a_all = pace * v, pace**2 * a
        v_all[:3] = turned(q[2]) @ motion.twist
        a_all[:3] = turned(q[2]) @ motion.acceleration
        selection = features(motion.acceleration, motion.twist[2], pace)
        wrench, efforts = selection @ effects.wrenches, selection @ effects.efforts
        expected = ground_wrench(robot, q, v_all, a_all, about=[*q[:2], 0.0]).reshape(2, 3)
        to_base = turned(q[2]).T
        # sums of terms of 1e3 N m
        assert_allclose(wrench, (expected @ to_base.T).ravel(), atol=1e-10)
        assert_allclose(efforts[:3], wrench[[3, 4, 2]], atol=1e-10)


def test_headroom_is_that_of_the_contact_picture(rng):
    # three points on the ground: normal forces are exact
    robot, base = robot_and_base(supports=((0.3, 0.0, 0.0),), gravity=(0.2, -0.1, -9.8))
    contacts = base_ground_contacts(base, friction=0.8)
    q, v, a = arm_state(robot, rng)
    q[:3] = 0.4, -0.3, 0.7
    twist = np.array([0.3, 0.0, 0.6])
    steady = moving(twist, np.zeros(3))
    picture = picture_of(contacts, q, *whole_motion(robot, base, q, v, a, steady), [*WHEELS, *ARM])
    drive = DriveResponse(0.1)
    traced = Governor(contacts, drive, WHEELS)

    def headroom(**parts):
        reserve = SafetyMargins(
            **{'edge': 0.0, 'friction': 1.0, 'effort': 1.0, 'speed': 1.0, **parts}
        )
        governor = traced.adjusted(drive, reserve, 1.0)
        return governor.admit(q, v, a, twist, twist, twist)

    effort = picture.effort.effort
    limited = [robot.velocity_index(name) for name in (*WHEELS, *ARM)]
    used = np.abs(effort[limited]) / robot.effort_limit[limited]
    rates = base.wheel_rates(twist).rates
    wheels = [robot.velocity_index(name) for name in base.driven]
    fast = np.abs(rates) / robot.velocity_limit[wheels]
    polygon = contacts.polygon(q)
    size = np.sum((polygon.middle - polygon.ends) * polygon.inward, axis=1).min()
    expected = {
        'edge': picture.margins.margin / size,
        'friction': 1.0 - picture.use,
        'effort': 1.0 - used.max(),
        'speed': 1.0 - fast.max(),
    }
    gyroscopic = 1e-4  # turning wheels shift loads a little when the base turns: left out
    assert_allclose(headroom().headroom, min(expected.values()), atol=gyroscopic)
    # one limit after the other is made the nearest
    for name in ('friction', 'effort', 'speed'):
        part = 1.0 - expected[name] + 1e-3
        assert_allclose(headroom(**{name: part}).headroom, 1e-3, atol=gyroscopic)
    close = headroom(edge=picture.margins.margin - 1e-3 * size)
    assert_allclose(close.headroom, 1e-3, atol=gyroscopic)


FULL = SafetyMargins(0.0, 1.0, 1.0, 1.0)  # without a reserve


@cache
def limits_of_motion():
    """Return the robot, its base, and its limits."""
    robot, base = robot_and_base()
    contacts = base_ground_contacts(base, friction=0.8)
    return robot, base, MotionLimits(contacts, WHEELS, ())


def test_headrooms_are_the_same_wherever_the_robot_stands(rng):
    robot, _, limits = limits_of_motion()
    q, v, a = arm_state(robot, rng)
    motion = rng.uniform(-1.0, 1.0, (2, 3))
    elsewhere = np.r_[rng.uniform(-2.0, 2.0, 3), q[3:]]
    found = headrooms_of(limits.at(elsewhere, v, a, FULL), *motion)
    assert_allclose(found, headrooms_of(limits.at(q, v, a, FULL), *motion), rtol=0, atol=1e-9)


def test_slack_is_what_margins_take_from_headrooms(rng):
    robot, _, limits = limits_of_motion()
    state, motion = arm_state(robot, rng), rng.uniform(-1.0, 1.0, (2, 3))
    kept = limits.at(*state, SafetyMargins(0.03, 0.7, 0.6, 0.4))
    expected = headrooms_of(limits.at(*state, FULL), *motion)
    assert_allclose(headrooms_of(kept, *motion) + kept.slack, expected, atol=1e-12)


def test_each_edge_is_the_nearest_of_some_motion(rng):
    robot, base, limits = limits_of_motion()
    contacts, state = limits.contacts, arm_state(robot, rng)
    polygon = contacts.polygon(state[0])
    size = np.sum((polygon.middle - polygon.ends) * polygon.inward, axis=1).min()
    nearest = set()
    for push, rate in itertools.product((-3.0, 3.0), (-2.5, 2.5)):
        motion = np.array([[1.2, 0.0, rate], [push, 0.0, 0.0]])
        whole = whole_motion(robot, base, *state, moving(*motion))
        margins = contacts.margins(state[0], *whole)
        found = headrooms_of(limits.at(*state, FULL), *motion)[0]
        assert_allclose(found, margins.margin / size, atol=0.02)  # gyroscopic: left out
        nearest.add(margins.edge)
    assert nearest == set(polygon.edges)


def with_limits(robot, limits, friction):
    """Return a robot with these effort limits alone, and dry friction of some joints."""
    bodies = []
    for body in robot.bodies:
        name = body.joint.name
        joint = replace(
            body.joint,
            effort_limit=limits.get(name, np.inf),
            friction=friction.get(name, body.joint.friction),
        )
        bodies.append(replace(body, joint=joint))
    return replace(robot, bodies=tuple(bodies))


def test_efforts_of_wheels_are_those_of_the_motion_that_follows(rng):
    robot, _ = robot_and_base()
    robot = with_limits(robot, dict.fromkeys(WHEELS, 30.0), dict.fromkeys(WHEELS, 0.4))
    base = kd.bases.differential(robot, WHEELS[:1], WHEELS[1:], supports=((0.3, 0.0, 0.0),))
    contacts, drive = base_ground_contacts(base), DriveResponse(0.5)
    q, v, a = arm_state(robot, rng)
    q[2] = 0.7
    twist, command = np.array([0.3, 0.0, 0.6]), np.array([0.7, 0.0, 0.2])
    wheels = [robot.velocity_index(name) for name in WHEELS]
    used = 0.0
    for t in (*np.linspace(0.0, 1.0, 8), 100.0):  # a horizon of 1 s, and what it ends in
        both = whole_motion(robot, base, q, v, a, drive.after(twist, command, t))
        effort = picture_of(contacts, q, *both, [*WHEELS, *ARM]).effort.effort
        used = max(used, np.abs(effort[wheels]).max() / 30.0)
    governor = Governor(
        contacts, drive, WHEELS, margins=SafetyMargins(edge=0.0, effort=used + 1e-3)
    )
    found = governor.admit(q, v, a, twist, command, command)
    assert_allclose(found.headroom, 1e-3, atol=1e-6)  # gyroscopic forces of wheels are left out


def test_efforts_of_the_arm_have_its_friction():
    robot, _ = robot_and_base()
    robot = with_limits(robot, {'arm_2_joint': 80.0}, {'arm_2_joint': 3.0})
    base = kd.bases.differential(robot, WHEELS[:1], WHEELS[1:], supports=((0.3, 0.0, 0.0),))
    q, v, a = robot.neutral(), np.zeros(robot.nv), np.zeros(robot.nv)
    q[robot.coordinate_index('arm_2_joint')] = 0.8
    k = robot.velocity_index('arm_2_joint')
    v[k] = 0.2 * np.sign(kd.gravity_force(robot, q)[k])  # lifts: friction adds to its weight
    used = np.abs(kd.inverse_dynamics(robot, q, v, a)[k]) / 80.0
    reserve = SafetyMargins(edge=0.0, effort=used + 1e-3)
    governor = Governor(base_ground_contacts(base), DriveResponse(0.5), WHEELS, margins=reserve)
    found = governor.admit(q, v, a, *np.zeros((3, 3)))
    assert_allclose(found.headroom, 1e-3, atol=1e-9)


def test_speeds_of_the_wheels_of_a_base_that_moves_sideways():
    corners = {'fl': (0.3, 0.2), 'fr': (0.3, -0.2), 'rl': (-0.3, 0.2), 'rr': (-0.3, -0.2)}
    robot = robot_on([Spot(name, *xy, radius=0.08) for name, xy in corners.items()])
    bodies = [
        replace(body, joint=replace(body.joint, velocity_limit=20.0)) for body in robot.bodies
    ]
    robot = replace(robot, bodies=tuple(bodies))
    rollers = np.pi / 4.0 * np.array([-1, 1, 1, -1])
    base = kd.bases.mecanum(robot, list(corners), rollers)
    q, twist = robot.neutral(), np.array([0.3, -0.4, 0.2])
    q[:3] = 0.4, -0.3, 0.7
    used = np.abs(base.wheel_rates(twist).rates).max() / 20.0
    reserve = SafetyMargins(edge=0.0, speed=used + 1e-3)
    governor = Governor(
        base_ground_contacts(base), DriveResponse(0.5), base.driven, margins=reserve
    )
    found = governor.admit(q, *np.zeros((2, robot.nv)), twist, twist, twist)
    assert_allclose(found.headroom, 1e-3, atol=1e-9)


def test_wheels_of_a_motion_that_goes_on_need_nothing_for_their_spin(rng):
    corners = {'fl': (0.3, 0.2), 'fr': (0.3, -0.2), 'rl': (-0.3, 0.2), 'rr': (-0.3, -0.2)}
    robot = robot_on([Spot(name, *xy, radius=0.08) for name, xy in corners.items()])
    base = kd.bases.mecanum(robot, list(corners), np.pi / 4.0 * np.array([-1, 1, 1, -1]))
    limits = MotionLimits(base_ground_contacts(base, friction=0.5), base.driven, ())
    limits.efforts[:] = 1.0
    rest, twist, rate = np.zeros(robot.nv), *rng.normal(size=(2, 3))

    def headrooms(rate):
        return headrooms_of(limits.at(robot.neutral(), rest, rest, SafetyMargins()), twist, rate)

    on, changing = headrooms(np.zeros(3)), headrooms(rate)
    limits.spin *= 0.0
    assert_allclose(headrooms(np.zeros(3)), on, rtol=0, atol=1e-12)
    assert np.abs(headrooms(rate) - changing).max() > 1e-4


def test_a_robot_that_nothing_holds_down_tips():
    robot, base = robot_and_base(gravity=(0.0, 0.0, 1.0))
    governor = Governor(base_ground_contacts(base), DriveResponse(0.5), WHEELS)
    rest = robot.neutral(), np.zeros(robot.nv), np.zeros(robot.nv)
    found = governor.admit(*rest, *np.zeros((3, 3)))
    assert (found.fraction, found.speed_scaling, found.limit) == (0.0, 0.0, 'tip-over')
    assert found.headroom == -1.0


def test_what_breaks_no_limit_passes():
    robot, governor = governed(0.6)
    rest = robot.neutral(), np.zeros(robot.nv), np.zeros(robot.nv)
    found = governor.admit(*rest, np.zeros(3), np.zeros(3), [0.2, 0.0, 0.1])
    assert_allclose(found.command, [0.2, 0.0, 0.1])
    assert (found.fraction, found.speed_scaling, found.limit) == (1.0, 1.0, '')
    assert found.headroom > 0.0


def test_what_binds_is_named():
    robot, governor = governed()
    rest = robot.neutral(), np.zeros(robot.nv), np.zeros(robot.nv)
    quick = DriveResponse(0.01)
    slippery = governed(0.05)[1].adjusted(quick, SafetyMargins(), 1.0)
    found = slippery.admit(*rest, np.zeros(3), np.zeros(3), [1.0, 0.0, 0.0])
    assert found.limit.startswith('friction of wheel_')
    assert found.fraction < 0.05
    fast = governor.adjusted(DriveResponse(10.0), SafetyMargins(), 1.0)
    found = fast.admit(*rest, np.zeros(3), np.zeros(3), [100.0, 0.0, 0.0])
    assert found.limit.startswith('speed of wheel_') and found.fraction < 1.0
    slow = governor.adjusted(quick, SafetyMargins(edge=0.1), 1.0)
    found = slow.admit(*rest, np.zeros(3), np.zeros(3), [3.0, 0.0, 0.0])
    assert found.limit in ('tip-over', 'effort of wheel_left_joint', 'effort of wheel_right_joint')


def test_an_arm_that_would_tip_the_robot_is_slowed():
    robot, governor = governed()
    q, v, a = robot.neutral(), np.zeros(robot.nv), np.zeros(robot.nv)
    q[[robot.coordinate_index(name) for name in ARM]] = [0.0, 1.2, -0.4, 0.0, 0.0]
    k = robot.velocity_index('arm_2_joint')
    v[k], a[k] = 1.0, -60.0
    found = governor.admit(q, v, a, np.zeros(3), np.zeros(3), np.zeros(3))
    assert 0.0 < found.speed_scaling < 1.0
    assert found.limit == 'tip-over'
    at_rest = governor.admit(q, 0.0 * v, 0.0 * a, np.zeros(3), np.zeros(3), np.zeros(3))
    assert (at_rest.speed_scaling, at_rest.limit) == (1.0, '')


def least_margin(seed, governed):
    """Return the least distance of the zero-moment point from an edge in a random run [m]."""
    rng = np.random.default_rng(seed)
    robot, base = robot_and_base()
    robot = robot.with_payload('tool_link', 4.0)
    base = kd.bases.differential(
        robot, WHEELS[:1], WHEELS[1:], supports=((0.25, 0.0, 0.0), (-0.25, 0.0, 0.0))
    )
    contacts, drive = base_ground_contacts(base), DriveResponse(0.05, (4.0, 4.0, 8.0))
    governor = Governor(contacts, drive, WHEELS, margins=SafetyMargins(edge=0.02))
    size, rate, phase = rng.uniform((0.2, 1.0, 0.0), (0.5, 3.0, 6.0), (5, 3)).T
    middle = rng.uniform(-0.4, 0.4, 5)
    place = [robot.coordinate_index(name) for name in ARM]
    speed = [robot.velocity_index(name) for name in ARM]
    twist, applied, wanted, least = *np.zeros((3, 3)), np.inf
    for k in range(20):
        if k % 10 == 0:
            wanted = np.array([rng.choice([-1.5, 1.5]), 0.0, rng.uniform(-2.0, 2.0)])
        q, v, a = robot.neutral(), np.zeros(robot.nv), np.zeros(robot.nv)
        angle = rate * 0.03 * k + phase
        q[place] = middle + size * np.sin(angle)
        v[speed], a[speed] = size * rate * np.cos(angle), -size * rate**2 * np.sin(angle)
        if governed:
            applied = governor.admit(q, v, a, twist, applied, wanted).command
        else:
            applied = wanted
        for t in (0.0, 0.015):
            motion = drive.after(twist, applied, t)
            v[:3], a[:3] = motion.twist, motion.acceleration  # the base is at its start: yaw 0
            least = min(least, contacts.margins(q, v, a).margin)
        twist = drive.after(twist, applied, 0.03).twist
    return least


def test_a_robot_that_would_tip_does_not_under_the_governor():
    free = [least_margin(seed, governed=False) for seed in range(2)]
    kept = [least_margin(seed, governed=True) for seed in range(2)]
    assert min(free) < 0.0
    assert min(kept) > 0.0


def test_arguments_of_a_governor():
    robot, base = robot_and_base()
    contacts, drive = base_ground_contacts(base), DriveResponse(0.1)
    with pytest.raises(InvalidInputError, match='horizon'):
        Governor(contacts, drive, WHEELS, horizon=0.0)
    with pytest.raises(NameNotFoundError, match='wheel_front'):
        Governor(contacts, drive, ['wheel_front'])
    governor = governed()[1]
    rest = robot.neutral(), np.zeros(robot.nv), np.zeros(robot.nv)
    with pytest.raises(InvalidInputError, match='horizon'):
        governor.adjusted(drive, SafetyMargins(), -1.0)
    for name, given in (('twist', 0), ('applied', 1), ('target', 2)):
        commands = [np.zeros(3)] * 3
        commands[given] = np.zeros(2)
        with pytest.raises(InvalidInputError, match=name):
            governor.admit(*rest, *commands)


@pytest.mark.parametrize(
    ('parts', 'message'),
    [
        ({'edge': -0.1}, 'edge'),
        ({'friction': 0.0}, 'friction'),
        ({'effort': 1.2}, 'effort: need at most 1'),
        ({'speed': np.nan}, 'speed'),
    ],
)
def test_reserves_that_are_none(parts, message):
    with pytest.raises(InvalidInputError, match=message):
        SafetyMargins(**parts)


def test_effects_need_a_planar_base():
    robot = kd.load_urdf(resolve(URDF), base='floating')
    with pytest.raises(ConstraintError, match='planar base'):
        TracedEffects(robot)


def test_a_plan_that_stays_as_it_is_counts_as_the_motion_of_now(rng):
    robot, governor = governed(0.6)
    q, v, a = arm_state(robot, rng)
    commands = rng.uniform(-1.0, 1.0, (3, 3)) * [1.0, 0.0, 1.0]
    now = governor.admit(q, v, a, *commands)
    held = governor.admit(
        q, v, a, *commands, plan=lambda t: tuple(np.tile(x, (len(t), 1)) for x in (q, v, a))
    )
    assert_allclose(held.command, now.command, rtol=0, atol=1e-12)
    assert (held.speed_scaling, held.limit, held.fraction) == (
        now.speed_scaling,
        now.limit,
        now.fraction,
    )
    assert_allclose(held.headroom, now.headroom, rtol=0, atol=1e-12)


def test_effects_along_a_plan_are_those_of_its_states(rng):
    robot, _ = robot_and_base(gravity=GRAVITY)
    effects = TracedEffects(robot, WHEELS)
    states = [np.array(x) for x in zip(*(arm_state(robot, rng) for _ in range(4)), strict=True)]
    states[0][:, :3] = states[0][0, :3]
    along = effects.at(*states)
    for k in range(4):
        one = effects.at(*(x[k] for x in states))
        at_knot = along.between(float(k))
        assert_allclose(at_knot.wrenches, one.wrenches, rtol=0, atol=1e-11)
        assert_allclose(at_knot.efforts, one.efforts, rtol=0, atol=1e-11)
    middle = along.between(1.25)
    expected = 0.75 * along.wrenches[1] + 0.25 * along.wrenches[2]
    assert_allclose(middle.wrenches, expected, rtol=0, atol=1e-11)


def played_arm(robot, contacts, governor, planned):
    """Return the least margin and the last place on its plan of an arm played at the pace."""
    k, start, swing, lasts = robot.velocity_index('arm_2_joint'), 0.3, -1.6, 2.0

    def plan(times):
        """Return the arm that leans backward, beyond where the robot stands."""
        s = np.clip(times / lasts, 0.0, 1.0)
        q, v, a = (np.zeros((len(s), robot.nv)) for _ in range(3))
        moves = (s > 0.0) & (s < 1.0)
        q[:, k] = start + swing * s**2 * (3.0 - 2.0 * s)
        v[:, k] = moves * swing * 6.0 * s * (1.0 - s) / lasts
        a[:, k] = moves * swing * (6.0 - 12.0 * s) / lasts**2
        return q, v, a

    place, pace, least, still, period = 0.0, 1.0, np.inf, np.zeros((3, 3)), 0.05
    for _ in range(60):
        q, v, a = (x[0] for x in plan(np.array([place])))
        now = q, pace * v, pace**2 * a
        least = min(least, contacts.margins(*now).margin)
        ahead = (lambda t, place=place: plan(place + t)) if planned else None
        pace = governor.admit(*now, *still, plan=ahead).speed_scaling
        place += pace * period
    return least, place / lasts


def test_an_arm_stops_before_its_plan_tips_the_robot():
    robot = kd.load_urdf(resolve(URDF), base='planar').with_payload('tool_link', 4.0)
    supports = ((0.22, 0.0, 0.0),)
    base = kd.bases.differential(robot, WHEELS[:1], WHEELS[1:], supports=supports)
    contacts = base_ground_contacts(base)
    governor = Governor(contacts, DriveResponse(0.1), WHEELS, margins=SafetyMargins(edge=0.02))
    least, place = played_arm(robot, contacts, governor, planned=True)
    assert least > 0.02  # the reserve
    assert 0.3 < place < 1.0
    # as the arm moves now it is fine until it is too late: a pose tips, not a speed
    least, _ = played_arm(robot, contacts, governor, planned=False)
    assert least < 0.02


def test_plans_that_are_none():
    robot, governor = governed()
    rest = robot.neutral(), np.zeros(robot.nv), np.zeros(robot.nv)
    still = np.zeros((3, 3))
    for wrong in (np.zeros(robot.nv), np.full((8, robot.nv), np.nan), 'rest'):
        for k, name in enumerate('qva'):
            given = [np.zeros((8, robot.nv))] * 3
            given[k] = wrong
            with pytest.raises(InvalidInputError, match=f'plan: {name}'):
                governor.admit(*rest, *still, plan=lambda t, given=given: given)
