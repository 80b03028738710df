# SPDX-License-Identifier: Apache-2.0
"""Paths along which a robot can stand everywhere: none is refused, slow or beyond its limits."""

import time
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from support.machines import Y, at, inertia, revolute
from support.standing_robots import PAIR, RADIUS, standing

import kane_dynamics as kd
from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.trajectories.paths import RolledPath, SplinePath
from kane_dynamics.trajectories.retiming import retime

SIZES = (1e-9, 1e-6, 1e-3, 0.1, 0.6)  # of the ways [rad]
FINER = 50
JOINTS = 7
SPEED = 2.5


def arm(**joint):
    """Return an arm whose limits of effort are 1.5 times its largest torques of gravity."""
    chain, rng = kd.serial_chain(JOINTS), np.random.default_rng(5)
    several = [kd.gravity_force(chain, q) for q in rng.uniform(-3.0, 3.0, (200, JOINTS))]
    most = 1.5 * np.abs(several).max(axis=0) + 2.0
    bodies = [
        replace(b, joint=replace(b.joint, effort_limit=effort, velocity_limit=SPEED, **joint))
        for b, effort in zip(chain.bodies, most, strict=True)
    ]
    return kd.Robot('arm', bodies)


@cache
def compiled_arm(**joint):
    """Return the machine code of an arm, made once."""
    return kd.compile(arm(**joint), cache=False)


@pytest.fixture(scope='module', params=[{}, {'damping': 0.4, 'friction': 0.3}], ids=['', 'rubs'])
def engine(request):
    return compiled_arm(**request.param)


@pytest.fixture(scope='module')
def mobile():
    """Return a differential drive with an arm in machine code, and what it stands on."""
    drive = standing(PAIR, (-0.08, 0.0, 0.18), spin=0.01)
    limits = {'effort_limit': 40.0, 'velocity_limit': 3.0}
    rod = inertia(3.0, (0.2, 0.0, 0.3), (0.3, 0.3, 0.3))
    joint = revolute('arm', Y, damping=0.4, friction=0.3, **limits)
    body = kd.Body('arm', 'chassis', joint, at(0.1, 0.0, 0.5), rod)
    wheels = [
        replace(b, joint=replace(b.joint, friction=0.2, effort_limit=12.0))
        if b.joint.name in PAIR
        else b
        for b in drive.bodies
    ]
    robot = kd.Robot('drive', (*wheels, body))
    corners = [(-0.3, 0.15, 0.0), (-0.3, -0.15, 0.0), (0.3, 0.0, 0.0)]
    base = kd.bases.differential(robot, ['L'], ['R'], radius=RADIUS, supports=corners)
    return kd.compile(robot, base.constraints, cache=False), kd.base_ground_contacts(
        base, friction=0.6
    )


def drawn(rng, columns):
    """Return points of one of the ways that were refused: A-B-A, A-A, straight, equal, tiny."""
    size = rng.choice(SIZES)
    points = rng.uniform(-0.8, 0.8, columns) + size * rng.uniform(
        -1.0, 1.0, (rng.integers(2, 13), columns)
    )
    kind = rng.integers(8)
    if kind in (1, 2):  # there and back, with and without a stop
        points = np.vstack([points, points[-kind::-1]])
    elif kind == 3:
        points = np.repeat(points, rng.integers(1, 4, len(points)), axis=0)
    elif kind == 4:
        points = points[0] + np.linspace(0.0, 1.0, 20)[:, None] * (points[-1] - points[0])
    elif kind == 5:
        points[:, rng.integers(0, columns, 2)] = 0.3
    elif kind == 6:
        points = np.vstack([points, points[-1:] + 1e-9])
    elif kind == 7:
        points[1:] = points[-1]
    return points


def largest_use(dynamics, found, count):
    """Return the largest part of an effort or speed that is used, the ends among them."""
    times = np.linspace(0.0, found.duration, count)
    robot = dynamics.robot
    efforts, speeds = found.efforts(times), found.at(times)[1]
    parts = np.abs(efforts) / robot.effort_limit, np.abs(speeds) / robot.velocity_limit
    return max(part.max() for part in parts)


def check_arm(engine, seeds, **cells):
    for seed in seeds:
        path = SplinePath(drawn(np.random.default_rng(seed), JOINTS))
        found = retime(engine, path, engine.robot.velocity_names, **cells)
        assert largest_use(engine, found, 2000) <= 1.001, seed
        assert found.slowed < 1.005, seed


def check_mobile(mobile, seeds):
    dynamics, contacts = mobile
    for seed in seeds:
        rng = np.random.default_rng(seed)
        points = drawn(rng, 3) * (8.0, 8.0, 1.0)
        path = RolledPath(dynamics, (*PAIR, 'arm'), points, dynamics.robot.neutral())
        found = retime(dynamics, path, (*PAIR, 'arm'), contacts=contacts, cells=20)
        assert largest_use(dynamics, found, 1000) <= 1.001, seed
        assert max(use.largest for use in found.uses.values()) <= 1.001, seed


def test_no_path_of_an_arm_is_refused_that_it_can_stand_on(engine):
    check_arm(engine, range(10), cells=20)


def test_no_path_of_a_mobile_base_is_refused_that_it_can_stand_on(mobile):
    check_mobile(mobile, range(3))


@pytest.mark.thorough
@pytest.mark.parametrize('part', range(8))
def test_4000_paths_of_each_arm_and_2000_of_a_mobile_base(engine, mobile, part):
    check_arm(engine, range(500 * part, 500 * (part + 1)))
    check_mobile(mobile, range(125 * part, 125 * (part + 1)))


def test_forty_waypoints_take_a_second_and_keep_limits_between_them(engine):
    points = np.random.default_rng(4).uniform(-1.5, 1.5, (40, JOINTS))
    began = time.process_time()
    found = retime(engine, SplinePath(points), engine.robot.velocity_names)
    taken = time.process_time() - began
    assert largest_use(engine, found, FINER * len(found.profile.grid)) <= 1.001
    assert found.slowed < 1.001
    assert taken < 2.0  # 0.3 s on a quiet machine


@pytest.mark.parametrize(
    ('count', 'size', 'cells'), [(6, 1.0, 3000), (40, 0.3, 20000), (40, 1.5, 20000)]
)
def test_the_default_grid_is_within_two_thousandths_of_toppra_on_a_fine_one(count, size, cells):
    toppra = pytest.importorskip('toppra')
    algorithm = pytest.importorskip('toppra.algorithm')
    constraint = pytest.importorskip('toppra.constraint')
    engine = compiled_arm()
    robot, both = engine.robot, np.array([-1.0, 1.0])
    points = np.random.default_rng(4).uniform(-size, size, (count, JOINTS))
    limits = [
        constraint.JointVelocityConstraint(robot.velocity_limit[:, None] * both),
        constraint.JointTorqueConstraint(
            engine.inverse_dynamics,
            robot.effort_limit[:, None] * both,
            np.zeros(JOINTS),
            discretization_scheme=constraint.DiscretizationType.Interpolation,
        ),
    ]
    spline = toppra.SplineInterpolator(np.arange(1.0 * count), points)
    grid = 0.5 * (count - 1) * (1.0 - np.cos(np.linspace(0.0, np.pi, cells + 1)))
    timed = algorithm.TOPPRA(limits, spline, gridpoints=grid, solver_wrapper='seidel')
    theirs = timed.compute_trajectory(0.0, 0.0).duration
    ours = retime(engine, SplinePath(points), robot.velocity_names).duration
    assert ours == pytest.approx(theirs, rel=2e-3)


def test_a_robot_at_its_limit_somewhere_is_not_refused():
    robot = kd.serial_chain(1)
    places = np.linspace(0.0, 2.0, 2001)
    most = max(abs(kd.gravity_force(robot, [place])[0]) for place in places)
    engine, path = kd.compile(robot), SplinePath([[0.0], [2.0]])
    found = retime(engine, path, ['joint_1'], efforts={'joint_1': most}, cells=20)
    assert np.isfinite(found.duration)


@pytest.mark.parametrize('points', [[[0.2] * 3] * 2, [[0.2] * 3] * 5])
def test_a_path_without_length_is_refused_by_name(points):
    robot = kd.serial_chain(3)
    with pytest.raises(InvalidInputError, match='no coordinate moves along it'):
        retime(kd.dynamics(robot), SplinePath(points), robot.velocity_names)


def test_one_cell_is_refused_by_name():
    robot = kd.serial_chain(2)
    path = SplinePath([[0.0, 0.0], [1.0, 1.0]])
    with pytest.raises(InvalidInputError, match='cells'):
        retime(kd.dynamics(robot), path, robot.velocity_names, cells=1)


def test_a_longer_smoothing_never_makes_a_shorter_motion(engine):
    points = np.random.default_rng(3).uniform(-0.5, 0.5, (3, JOINTS))
    windows = [0.0, 1e-9, 1e-4, 0.01, 0.03, 0.1, 0.3]
    lasts = [
        retime(
            engine, SplinePath(points), engine.robot.velocity_names, smoothing=window, cells=20
        ).duration
        for window in windows
    ]
    assert (np.diff(lasts) >= 0.0).all()
    assert lasts[1] < 1.1 * lasts[0]
    assert (np.array(lasts) >= lasts[0] + np.array(windows) - 1e-9).all()


def test_the_last_point_is_at_rest_and_has_what_holds_the_robot(engine):
    points = np.random.default_rng(3).uniform(-0.8, 0.8, (5, JOINTS))
    found = retime(engine, SplinePath(points), engine.robot.velocity_names)
    filled = found.points()
    holds = engine.gravity_force(points[-1])
    np.testing.assert_allclose(filled.efforts[-1], holds, atol=1e-9)
    assert not filled.velocities[-1].any()
    assert not filled.accelerations[-1].any()
    assert np.abs(filled.efforts[-2] - holds).max() > 1.0  # it brakes until then


def test_lines_between_points_are_as_near_as_asked_but_at_jumps(engine):
    points = np.random.default_rng(3).uniform(-0.8, 0.8, (5, JOINTS))
    found = retime(engine, SplinePath(points), engine.robot.velocity_names)
    filled, error = found.points(error=0.2), 0.2
    moments = np.linspace(0.0, found.duration, 5001)
    lines = np.array([np.interp(moments, filled.times, c) for c in filled.efforts.T]).T
    off = np.abs(lines - found.efforts(moments)).max(axis=1)
    beside = np.searchsorted(filled.times, moments, side='right') - 1
    wide = np.append(np.diff(filled.times), 1.0)[beside] > 2.0e-3
    assert off[wide].max() <= 3.0 * error  # a small jump beside a point
    assert (off > error).mean() < 0.05


def test_the_sign_of_friction_at_the_wheels_holds_to_the_last_sample(mobile):
    dynamics, contacts = mobile
    points = [[0.0, 0.0, 0.0], [-9.0, -6.0, 0.3], [-15.0, -16.0, 0.0]]
    path = RolledPath(dynamics, (*PAIR, 'arm'), points, dynamics.robot.neutral())
    found = retime(dynamics, path, (*PAIR, 'arm'), contacts=contacts)
    ends = np.array([0.0, 1e-5, found.duration - 1e-5, found.duration])
    efforts = found.efforts(ends)
    np.testing.assert_allclose(efforts[[0, -1]], efforts[[1, -2]], atol=0.05)
    assert (np.abs(efforts) / dynamics.robot.effort_limit).max() <= 1.001
