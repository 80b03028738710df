# SPDX-License-Identifier: Apache-2.0
"""Efforts of planned motions: base and arm coupled, without ROS."""

import csv
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from ros_models import PENDULUM_URDF, from_preset, parameters

import kane_dynamics as kd
from kane_dynamics.analysis.base_motion import DriveResponse
from kane_dynamics.cli import main
from kane_dynamics.control.node_dynamics import Dynamics
from kane_dynamics.control.trajectory_efforts import PlannedEfforts, along, following, resting
from kane_dynamics.exceptions import InvalidInputError, NameNotFoundError
from kane_dynamics.messages.conversions import PlanarFrame
from kane_dynamics.robot_config.parameters.tables import TrajectoryFeedforwardParameters
from kane_dynamics.robot_config.robot_source import build_model, model_of_file
from kane_dynamics.trajectories.effort_points import line_error
from kane_dynamics.trajectories.joint_trajectory import JointTrajectory
from kane_dynamics.trajectories.trajectory_files import read_trajectory, write_trajectory

TABLE = TrajectoryFeedforwardParameters
ARM = tuple(f'arm_{i}_joint' for i in range(1, 6))
OFFSET = PlanarFrame(0.2, -0.1, 0.4)


@pytest.fixture(scope='module')
def model():
    return model_of_file('nonholonomic', table=TABLE)


@pytest.fixture(scope='module')
def dynamics(model):
    found = Dynamics(model)
    found.compile()
    return found


def planned(dynamics, **changes):
    return PlannedEfforts(dynamics, from_preset('nonholonomic', TABLE, **changes))


def arm_motion(seed=5):
    rng = np.random.default_rng(seed)
    rows = rng.uniform(-0.5, 0.5, (3, 3, 5))
    rows[1:, -1] = 0.0
    return JointTrajectory(ARM, [0.0, 0.8, 1.5], *rows)


def state(model, seed=6):
    q = model.robot.neutral()
    q[:3] = np.random.default_rng(seed).uniform(-1.0, 1.0, 3)
    return q, np.zeros(model.robot.nv)


class Accelerating:
    """A base that begins to move straight on."""

    def __init__(self, q, a):
        self.q, self.a = q[:3], np.array(a)

    def at(self, time):
        return self.q, 0.0 * self.a, self.a


def test_an_accelerated_base_is_a_tilted_world(dynamics, model):
    """By Einstein's principle of equivalence: the arm alone, gravity less the acceleration."""
    q, _ = state(model)
    forward = np.array([np.cos(q[2]), np.sin(q[2]), 0.0])
    efforts = planned(dynamics).along(ARM, q, Accelerating(q, 1.7 * forward))
    alone = kd.load_urdf(
        model.text,
        base='fixed',
        locked_joints=('wheel_left_joint', 'wheel_right_joint'),
        gravity=(-1.7, 0.0, -9.81),  # in the axes of the base
    )
    for motion in np.random.default_rng(7).uniform(-1.0, 1.0, (5, 3, 5)):
        wanted = kd.inverse_dynamics(alone, *motion)
        assert_allclose(efforts(0.0, *motion), wanted, rtol=0, atol=1e-9)
    at_rest = planned(dynamics).along(ARM, q)
    assert np.abs(at_rest(0.0, *motion) - wanted).max() > 0.1


def test_terms_and_joints_that_compensate_gravity(dynamics, model):
    q, v = state(model)
    motion = np.random.default_rng(8).uniform(-1.0, 1.0, (3, 5))
    whole, without, lifted = (
        planned(dynamics, **changes).along(ARM, q)(0.0, *motion)
        for changes in ({}, {'terms_gravity': False}, {'gravity_compensated_joints': ARM[1:2]})
    )
    gravity = whole - without
    assert np.abs(gravity[1]) > 1.0
    assert_allclose(lifted, whole - gravity * (np.arange(5) == 1), rtol=0, atol=1e-9)


def test_filled_trajectories_keep_the_error_and_the_limits(dynamics, model):
    q, v = state(model)
    base = following(
        model.child_frame, q, DriveResponse(0.1), np.zeros(3), np.array([0.5, 0, 0.8])
    )
    law, given = planned(dynamics, interpolation_tolerance=0.05, ramp_time=0.1), arm_motion()
    points, clamped = law.fill(given, q, v, base)
    assert points.times[0] == 0.1
    assert not clamped
    assert line_error(points, law.along(ARM, q, base)).max() <= 0.05
    used = np.abs(points.efforts).max(axis=0) / model.robot.effort_limit[-5:]
    law.configure(from_preset('nonholonomic', TABLE, effort_limit_scale=0.99 * used.max()))
    points, clamped = law.fill(given, q, v, base)
    assert [one.joint for one in clamped] == [ARM[int(np.argmax(used))]]
    law.configure(
        from_preset('nonholonomic', TABLE, enforce_command_limits=False, effort_limit_scale=0.0)
    )
    assert law.fill(given, q, v, base)[1] == ()


def test_a_trajectory_that_begins_later_goes_on_from_the_present_state(dynamics, model):
    q, v = state(model)
    q[-5:], v[-5:] = 0.3, 0.1
    given = replace(arm_motion(), times=np.array([1.0, 1.8, 2.5]))
    points, _ = planned(dynamics, ramp_time=0.05).fill(given, q, v)
    assert points.times[0] == 0.05
    assert_allclose(points.positions[0], 0.305, atol=1e-3)  # after 0.05 s at 0.1 rad/s
    assert_allclose(points.velocities[0], 0.1, atol=0.05)


def test_a_short_trajectory_has_a_short_ramp(dynamics, model):
    q, v = state(model)
    given = JointTrajectory(ARM[:1], [0.02], [[0.001]])
    points, _ = planned(dynamics, ramp_time=0.1).fill(given, q, v)
    assert 0.0 < points.times[0] <= 0.011
    one = JointTrajectory(ARM[:1], [0.0], [[0.001]])
    assert planned(dynamics).fill(one, q, v)[0].times.tolist() == [0.0]


def test_joints_without_a_motor(dynamics, model):
    q, v = state(model)
    wheel = JointTrajectory(('wheel_left_joint',), [0.0], [[0.0]])
    with pytest.raises(NameNotFoundError, match="no joint with a motor named 'wheel_left_joint'"):
        planned(dynamics).fill(wheel, q, v)
    with pytest.raises(NameNotFoundError, match="'nobody'"):
        planned(dynamics, gravity_compensated_joints=('nobody',))


def test_a_fixed_robot_and_its_pendulum():
    model = build_model(parameters(TABLE), PENDULUM_URDF)
    points = JointTrajectory(('hinge',), [0.0, 1.0], [[0.0], [1.0]], [[0.0], [0.0]])
    law = PlannedEfforts(Dynamics(model), parameters(TABLE, ramp_time=0.0))
    found, _ = law.fill(points, model.robot.neutral(), np.zeros(1))
    inertia, weight = 0.1 + 0.25, 9.81 * 0.5  # rod of 1 kg, its centre half a metre below
    starts, ends = 6.0 * inertia, weight * np.sin(1.0)  # a cubic starts with 6 rad/s^2
    assert_allclose(found.efforts[[0, -1], 0], [starts, ends], rtol=1e-12)


@pytest.mark.parametrize('turning', [0.0, 0.7])
@pytest.mark.parametrize('limit', [2.0, np.inf])
def test_plans_of_a_base_are_consistent(turning, limit):
    """Speeds and accelerations are derivatives: compared with differences over 10 us."""
    start = np.array([0.5, -0.4, 0.3])
    drive = DriveResponse(0.3, (limit, limit, limit))
    twist, command = np.array([0.1, 0.05, turning]), np.array([0.9, 0.0, -turning])
    twists = np.array([twist, command, 0.0 * twist])
    for plan in (
        following(OFFSET, start, drive, twist, command),
        along(OFFSET, start, np.array([0.2, 1.0, 2.0]), twists),
    ):
        step = 1e-5
        for time in (0.07, 0.13, 0.71, 1.4, 2.5):
            before, (q, v, a), after = (plan.at(time + k * step) for k in (-1, 0, 1))
            # rounding of 1e-16 over 1e-5 s, and steps of 1e-5 s, squared
            assert_allclose((after[1] - before[1]) / (2.0 * step), a, rtol=0, atol=1e-8)
            assert_allclose((after[0] - before[0])[2] / (2.0 * step), v[2], rtol=0, atol=1e-8)
            assert_allclose(q[:2], start[:2])
        begun = plan.at(0.0)
        assert_allclose(begun[0], start)
        assert_allclose(OFFSET.child_state(*begun[:2])[1], twist, atol=1e-12)


def test_a_base_at_rest():
    for got, want in zip(
        resting(np.arange(9.0)).at(3.0), ([0, 1, 2], [0] * 3, [0] * 3), strict=True
    ):
        assert_allclose(got, want)


def test_a_trajectory_as_fast_as_the_limits_allow(dynamics, model):
    q, v = state(model)
    slow = JointTrajectory(ARM, [0.0, 10.0, 20.0], np.outer([0.0, 0.3, 0.5], np.ones(5)))
    options = {
        'retime': True,
        'ramp_time': 0.0,
        'interpolation_tolerance': 0.0,
        'enforce_command_limits': False,
    }
    found, _ = planned(dynamics, **options).fill(slow, q, v)
    assert found.times[-1] < 2.0
    assert_allclose(found.positions[[0, -1]], slow.positions[[0, -1]], atol=1e-9)
    limit = model.robot.effort_limit[-5:]
    use = np.abs(found.efforts) / limit
    speed = np.abs(found.velocities) / model.robot.velocity_limit[-5:]
    assert max(use.max(), speed.max()) == pytest.approx(1.0, abs=0.02)  # of points 20 ms apart
    line = found.positions - found.positions[:, :1]
    assert_allclose(line, 0.0 * line, atol=1e-9)  # all joints together, as on the way given


@pytest.mark.parametrize(
    ('changes', 'joins', 'message'),
    [
        (
            {'base_motion_source': 'measured'},
            False,
            "needs base.motion_source 'rest', got 'measured'",
        ),
        ({}, True, 'has begun cannot be retimed'),
    ],
)
def test_what_cannot_be_retimed(dynamics, model, changes, joins, message):
    law = planned(dynamics, retime=True, **changes)
    with pytest.raises(InvalidInputError, match=message):
        law.fill(arm_motion(), *state(model), joins=joins)
    still = JointTrajectory(ARM[:1], [0.0, 1.0], np.zeros((2, 1)))
    with pytest.raises(InvalidInputError, match='nothing to retime'):
        planned(dynamics, retime=True).fill(still, *state(model))


# the command


def test_add_efforts(tmp_path, capsys, dynamics, model):
    source, target = tmp_path / 'in.yaml', tmp_path / 'out.csv'
    write_trajectory(source, arm_motion())
    options = ['--interpolation-tolerance', '0.05', '--ramp', '0', '--point-rate', '10']
    assert main(['add-efforts', 'nonholonomic', str(source), str(target), *options]) == 0
    points, _ = read_trajectory(target)
    q, v = model.robot.neutral(), np.zeros(model.robot.nv)
    changes = {'interpolation_tolerance': 0.05, 'ramp_time': 0.0, 'min_point_rate': 10.0}
    wanted, _ = planned(dynamics, **changes).fill(arm_motion(), q, v)
    assert_allclose(points.efforts, wanted.efforts, rtol=1e-12)
    assert '3 points in' in capsys.readouterr().out


def test_add_efforts_with_a_moving_base(tmp_path, dynamics, model):
    source, target, twist = (tmp_path / name for name in ('in.json', 'out.json', 'twist.csv'))
    write_trajectory(source, arm_motion())
    with twist.open('w', newline='') as stream:
        csv.writer(stream).writerows(
            [['time', 'vx', 'vy', 'yaw_rate'], [0, 0, 0, 0], [2, 2, 0, 0]]
        )
    options = ['--base-csv', str(twist), '--position', 'arm_1_joint=0.2']
    assert main(['add-efforts', 'nonholonomic', str(source), str(target), *options]) == 0
    points, _ = read_trajectory(target)
    q = model.robot.neutral()
    expected = planned(dynamics).along(ARM, q, Accelerating(q, [1.0, 0.0, 0.0]))
    k = 3
    motion = points.at(points.times[k])
    # the base drives along x with 1 m/s^2; its speed alone does not matter
    assert_allclose(points.efforts[k], expected(0.0, *motion), rtol=0, atol=1e-6)


@pytest.mark.parametrize(
    ('options', 'message'),
    [
        (['--urdf', 'nobody.urdf'], "'nobody.urdf'"),
        (['--position', 'arm_1_joint=x'], 'need NAME=VALUE'),
        (['--base-csv', 'none.csv'], 'cannot be read'),
        (['--base-csv', 'TWO'], 'need time,vx,vy,yaw_rate, got 2 columns'),
    ],
)
def test_add_efforts_says_what_is_wrong(tmp_path, capsys, options, message):
    source, two = tmp_path / 'in.yaml', tmp_path / 'two.csv'
    write_trajectory(source, arm_motion())
    two.write_text('time,vx\n0,1\n1,1\n')
    options = [str(two) if one == 'TWO' else one for one in options]
    files = [str(source), str(tmp_path / 'out.yaml')]
    assert main(['add-efforts', 'nonholonomic', *files, *options]) == 1
    assert message in capsys.readouterr().err


def test_add_efforts_takes_the_base_once(tmp_path, capsys):
    names = (*ARM, 'base/x', 'base/y', 'base/theta')
    given, source = arm_motion(), tmp_path / 'in.yaml'
    rows = [np.hstack([x, 0.0 * x[:, :3]]) for x in (given.positions, given.velocities)]
    write_trajectory(source, JointTrajectory(names, given.times, *rows))
    assert read_trajectory(source).joints.split_base()[1] is None
    files = [str(source), str(tmp_path / 'out.yaml')]
    assert main(['add-efforts', 'nonholonomic', *files, '--base-csv', 'x.csv']) == 1
    assert 'says already how the base moves' in capsys.readouterr().err
