# SPDX-License-Identifier: Apache-2.0
"""The governor reaches what is wanted: no command keeps a base driving, whatever is asked."""

from copy import copy
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from numpy.testing import assert_allclose
from support.base_robots import Spot, robot_on, steering_of
from support.headrooms import headrooms_of

import kane_dynamics as kd
from kane_dynamics.analysis.base_motion import DriveResponse
from kane_dynamics.analysis.motion_limits import SafetyMargins
from kane_dynamics.bases.block import TwistReach
from kane_dynamics.control.governor import Governor
from kane_dynamics.control.nearest_command import CommandSearch

CORNERS = {'fl': (0.3, 0.2), 'fr': (0.3, -0.2), 'rl': (-0.3, 0.2), 'rr': (-0.3, -0.2)}
SIDES = ((0.3, 0.0), (-0.15, 0.26), (-0.15, -0.26))
BALLS = ((0.25, 0.0, 0.0), (-0.25, 0.0, 0.0))
SPEED = 25.0  # of wheels [rad/s]
LAG, PERIOD = 0.1, 0.05  # of drives and governor [s]
KINDS = ('differential', 'skid_steer', 'mecanum', 'omni', 'ackermann', 'swerve')


def with_speed_limits(robot, wheels):
    """Return a robot whose wheels turn at most at SPEED."""
    bodies = [
        replace(x, joint=replace(x.joint, velocity_limit=SPEED)) if x.joint.name in wheels else x
        for x in robot.bodies
    ]
    return replace(robot, bodies=tuple(bodies))


@cache
def base_of(kind):
    """Return a base of each kind with an arm."""
    steered = {'ackermann': 'f', 'swerve': 'fr'}.get(kind, '')
    spots = [Spot(name, *xy, steered=name[0] in steered) for name, xy in CORNERS.items()]
    if kind == 'differential':
        spots = [Spot('rl', 0.0, 0.2), Spot('rr', 0.0, -0.2)]
    if kind == 'omni':
        spots = [Spot(f'omni_{k}', *xy, k * np.pi / 1.5 + np.pi / 2) for k, xy in enumerate(SIDES)]
    names = [spot.name for spot in spots]
    limit = 0.6 if kind == 'ackermann' else np.inf
    robot = with_speed_limits(robot_on(spots, arm=2, limit=limit), names)
    rollers = np.pi / 4.0 * np.array([-1, 1, 1, -1])
    make = {
        'differential': lambda: kd.bases.differential(robot, ['rl'], ['rr'], supports=BALLS),
        'skid_steer': lambda: kd.bases.skid_steer(robot, ['fl', 'rl'], ['fr', 'rr']),
        'mecanum': lambda: kd.bases.mecanum(robot, names, rollers),
        'omni': lambda: kd.bases.omni(robot, names),
        'ackermann': lambda: kd.bases.ackermann(robot, ['rl', 'rr'], steering_of(spots)),
        'swerve': lambda: kd.bases.swerve(robot, steering_of(spots)),
    }
    return make[kind]()


@cache
def traced(kind):
    """Return the governor of a base."""
    base = base_of(kind)
    contacts = kd.base_ground_contacts(base, friction=0.5)
    return Governor(contacts, DriveResponse(LAG), base.driven, base.passive)


@cache
def governor_of(kind, friction=0.5):
    """Return the governor of a base; what is traced is the same for any friction."""
    governor = copy(traced(kind))
    governor._limits = copy(governor._limits)
    governor._limits.contacts = kd.base_ground_contacts(base_of(kind), friction=friction)
    return governor


def played(kind, twist, wanted, lasts, friction=0.5, arm=0.0):
    """Return twists and admissions of a base that follows the governor from a twist on."""
    governor, drive = governor_of(kind, friction), DriveResponse(LAG)
    q, rest = base_of(kind).robot.neutral(), np.zeros(base_of(kind).robot.nv)
    q[-1] = arm
    found, applied = [], twist
    for _ in range(max(1, round(lasts / PERIOD))):
        one = governor.admit(q, rest, rest, twist, applied, wanted)
        found.append((twist, one))
        applied = one.command
        twist = drive.after(twist, applied, PERIOD).twist
    return found


def braking_time(kind, twist, friction=0.5, arm=0.0):
    """Return the time in which a base stops along its twist at its limits, by quadrature [s]."""
    governor = governor_of(kind, friction)
    robot = base_of(kind).robot
    q, rest = robot.neutral(), np.zeros(robot.nv)
    q[-1] = arm
    rooms = governor._limits.at(q, rest, rest, governor._margins)
    shares = (np.arange(60) + 0.5) / 60
    low, high = np.zeros(60), np.full(60, 1e3)
    for _ in range(40):
        rate = 0.5 * (low + high)
        motions = zip(np.outer(shares, twist), -np.outer(rate, twist), strict=True)
        keeps = np.array([headrooms_of(rooms, *motion).min() >= 0 for motion in motions])
        low, high = np.where(keeps, rate, low), np.where(keeps, high, rate)
    return float(np.mean(1.0 / low)) if low.min() > 0.0 else np.inf


def room_at(kind, twist, friction=0.5, arm=0.0):
    """Return the headroom of a base that goes on at a twist."""
    q, rest = base_of(kind).robot.neutral(), np.zeros(base_of(kind).robot.nv)
    q[-1] = arm
    return governor_of(kind, friction).admit(q, rest, rest, twist, twist, twist).headroom


def time_to_zero(found, axes):
    """Return when the commands of some axes are 0 for good [s]; infinite where they never are."""
    still = np.array([(one.command[axes] == 0.0).all() for _, one in found])
    if not still[-1]:
        return np.inf
    moves = np.flatnonzero(~still)
    return (moves[-1] + 1 if len(moves) else 0) * PERIOD


def wanted_of(rng):
    """Return a command as planners, joysticks and mistakes send it."""
    sizes = [0.0, 1e-6, 0.3, 1.0, 5.0, 500.0, 1e9, 1e300]
    sizes = rng.choice(sizes, 3, p=[0.35, 0.05, 0.2, 0.2, 0.1, 0.05, 0.04, 0.01])
    return rng.uniform(-1.0, 1.0, 3) * sizes


def progress_problem(kind, rng):
    """Return what is wrong of a random run, or ''."""
    friction, arm = float(rng.choice([0.3, 0.5, 0.9])), rng.uniform(-0.8, 0.8)
    reach = governor_of(kind, friction)._limits.contacts.reach
    while True:
        free = reach.within(rng.uniform(-1.5, 1.5, len(reach.axes)) * rng.uniform(0.0, 1.0))
        twist = reach.matrix @ free
        room = room_at(kind, twist, friction, arm)
        if room > 1e-6:
            break
    wanted = wanted_of(rng)
    reachable = reach.matrix @ reach.within(wanted[reach.axes])
    zeros = [k for k in range(3) if reachable[k] == 0.0]
    braking = braking_time(kind, twist, friction, arm)
    held_back = (PERIOD / LAG) / (1.0 - np.exp(-PERIOD / LAG))  # drives ease off in each period
    most = 1.1 * held_back * braking + 2.0 * PERIOD
    if most > 5.0:
        return ''
    found = played(kind, twist, wanted, most + PERIOD, friction, arm)
    least = min(one.headroom for _, one in found)
    passed = time_to_zero(found, zeros)
    # at the limit of a bend nothing is left to brake with but the reserve, 0.2 mu N
    if passed > most or least < (-1e-6 if room > 0.02 else -0.2):
        return f'{kind} {twist} {wanted} {friction} {arm}: {passed} of {most} s, {least}'
    return ''


@pytest.mark.parametrize('kind', KINDS)
def test_every_wanted_zero_is_zero_within_the_time_of_braking(kind):
    rng = np.random.default_rng(7)
    problems = [progress_problem(kind, rng) for _ in range(4)]
    assert not any(problems), '\n'.join(filter(None, problems))


@pytest.mark.thorough
@pytest.mark.parametrize('kind', KINDS)
def test_every_wanted_zero_is_zero_of_ten_thousand_commands(kind):
    rng = np.random.default_rng(23)
    problems = [progress_problem(kind, rng) for _ in range(1700)]
    assert not any(problems), '\n'.join(filter(None, problems))


@pytest.mark.parametrize('most', [0.53, 0.0021, 1.0, 1.4])
def test_the_search_comes_as_far_as_a_limit_that_is_linear(most):
    def along(free, steady=False):
        return np.stack([np.ones(len(free)), 1.0 - free[:, 1] / most], axis=1)

    start, target = np.zeros(3), np.array([0.0, 1.0, 0.0])
    rooms = along(np.stack([start, target]))
    search = CommandSearch(along, TwistReach(), np.full(2, 0.1))
    found = search.nearest(start, target, *rooms)
    assert found.free.tolist() == [0.0, pytest.approx(min(most, 1.0), rel=0.02), 0.0]
    assert found.free[1] <= most
    assert found.bound == (1 if most < 1.0 else -1)


AHEAD = np.array([1.0, 0.0, 0.0])


@pytest.mark.parametrize(
    ('wanted', 'zeros'),
    [([0.0, 0.0, 6.0], [0, 1]), ([0.0, 0.0, 10.0], [0, 1]), ([0.0, 0.5, 0.0], [0, 1, 2])],
)
def test_a_base_stops_where_a_part_of_its_command_is_out_of_reach(wanted, zeros):
    found = played('differential', AHEAD, np.array(wanted), 3.0)
    braking = braking_time('differential', AHEAD)
    assert_allclose(braking, 1.0 / (0.8 * 0.5 * 9.81), rtol=1.2)  # not longer than some mu g
    assert time_to_zero(found, zeros) <= 1.4 * braking + 2.0 * PERIOD
    end = found[-1][1].command
    assert (end[zeros] == 0.0).all()
    assert np.abs(end[2]) <= np.abs(wanted[2])
    if wanted[2]:
        assert end[2] > 4.5 and found[-1][1].limit == 'friction of rl'


def test_a_command_that_reverses_turns_the_base_round():
    found = played('differential', AHEAD, np.array([-500.0, 0.0, 0.0]), 4.0)
    speeds = np.array([one.command[0] for _, one in found])
    assert (np.diff(speeds) <= 1e-9).all()
    assert_allclose(speeds[-1], -0.9 * 0.1 * SPEED, rtol=0.01)  # of wheels
    assert found[-1][1].limit.startswith('speed of ')


def test_axes_that_a_base_does_not_have_are_zero_and_said():
    for kind in ('differential', 'skid_steer', 'ackermann'):
        found = played(kind, np.zeros(3), np.array([0.1, 0.5, 0.0]), PERIOD)[0][1]
        assert_allclose(found.command, [0.1, 0.0, 0.0])
        assert (found.limit, found.speed_scaling) == ('reach along y', 1.0)
    found = played('ackermann', np.zeros(3), np.array([0.0, 0.0, 1.0]), PERIOD)[0][1]
    assert_allclose(found.command, np.zeros(3))
    assert found.limit == 'reach along yaw'
    found = played('mecanum', np.zeros(3), np.array([0.1, 0.1, 0.0]), PERIOD)[0][1]
    assert_allclose(found.command, [0.1, 0.1, 0.0])


def test_too_much_of_everything_keeps_its_direction_and_settles():
    found = played('mecanum', np.zeros(3), np.array([1.5, 1.5, 0.0]), 4.0)
    x, y, yaw = found[-1][1].command
    assert_allclose([x, yaw], [y, 0.0], rtol=1e-3, atol=1e-12)
    assert x > 1.0
    assert_allclose(found[-8][1].command, found[-1][1].command, atol=1e-3)


def test_a_wanted_command_within_all_limits_is_reached():
    rng = np.random.default_rng(3)
    for kind in KINDS:
        reach = governor_of(kind)._limits.contacts.reach
        start, end = (
            reach.matrix @ reach.within(0.4 * rng.uniform(-1.0, 1.0, len(reach.axes)))
            for _ in range(2)
        )
        found = played(kind, start, end, 1.5)
        assert_allclose(found[-1][1].command, end, atol=1e-12)
        assert min(one.headroom for _, one in found) >= 0.0


def downhill(along, duration):
    """Return headroom at rest, commands and headrooms of a base that is to stop on a slope."""
    robot = replace(base_of('differential').robot, gravity=(along, 0.0, -9.5))
    base = kd.bases.differential(robot, ['rl'], ['rr'], supports=BALLS)
    reserve = SafetyMargins(edge=0.0)
    governor = Governor(
        kd.base_ground_contacts(base, friction=0.5),
        DriveResponse(LAG),
        base.driven,
        margins=reserve,
    )
    still, drive, found, twist = np.zeros(robot.nv), DriveResponse(LAG), [], AHEAD
    q = robot.neutral()
    rest = governor.admit(q, still, still, *np.zeros((3, 3))).headroom
    for _ in range(round(duration / PERIOD)):
        one = governor.admit(q, still, still, twist, twist, np.zeros(3))
        found.append((one.command[0], one.headroom))
        twist = drive.after(twist, one.command, PERIOD).twist
    return rest, *np.array(found).T


def test_a_base_brakes_into_its_reserve_where_a_slope_has_used_the_rest():
    rest, speeds, rooms = downhill(1.0, 4.0)
    assert rest > 0.0 and rooms.min() >= -1e-6  # there is something left to brake with
    assert speeds[-1] == 0.0
    rest, speeds, rooms = downhill(1.9, 10.0)
    assert -0.15 < rest < 0.0  # standing uses more than 0.8 mu N of the wheels
    assert speeds[-1] == 0.0 and (np.diff(speeds) <= 1e-12).all()
    assert rooms.min() > -0.2  # mu N is not reached
