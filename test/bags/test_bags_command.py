# SPDX-License-Identifier: Apache-2.0
"""``kane-dynamics bag``: what it computes is what the library does, from either store."""

from pathlib import Path

import numpy as np
import pytest
from conftest import JOINTS, START, STEP, motion

import kane_dynamics as kd
from kane_dynamics import cli
from kane_dynamics.bags.files import open_bag

STORAGES = ('sqlite3', 'mcap')


def moving(messages, arm, count=60, external=0.0):
    """Add a motion with the efforts that it takes, or less where something else pushes."""
    robot, efforts = kd.load_urdf(arm), []
    for i in range(count):
        stamp = START + i * STEP
        q, v, a = motion(stamp)
        efforts.append(kd.inverse_dynamics(robot, q, v, a) - external)
        messages.joints(stamp, effort=efforts[-1])
    return robot, np.array(efforts)


def csv(path):
    """Return the columns of a file by name."""
    return np.genfromtxt(path, delimiter=',', names=True, deletechars='')


@pytest.mark.parametrize('storage', STORAGES)
def test_accelerations_are_those_of_the_library(messages, arm, tmp_path, run_json, storage):
    robot, efforts = moving(messages, arm, 12)
    bag = messages.write(tmp_path / 'bag', storage.upper())
    out, table, plot = tmp_path / 'out', tmp_path / 'a.csv', tmp_path / 'a.png'
    options = ['--compute', 'acceleration', '--output', out, '--storage', storage]
    found = run_json(bag, arm, *options, '--csv', table, '--plot', plot)
    assert found['messages'] == {'joint_states': {'accepted': 12}, 'efforts': {'accepted': 12}}
    assert found['files'] == [str(file) for file in (out, table, plot)]
    states = [motion(START + i * STEP) for i in range(12)]
    wanted = np.array(
        [
            kd.forward_dynamics(robot, q, v, tau).acceleration
            for (q, v, _), tau in zip(states, efforts, strict=True)
        ]
    )
    rows = np.column_stack([csv(table)[f'acceleration:{name}'] for name in JOINTS])
    np.testing.assert_allclose(rows, wanted, rtol=0, atol=1e-12)
    np.testing.assert_allclose(rows, [a for *_, a in states], rtol=0, atol=1e-10)
    topic = {'r': ('/kane_dynamics/acceleration', 'trajectory_msgs/msg/JointTrajectory')}
    with open_bag(out, topic) as results:
        written = list(results)
    assert [one.time for one in written] == [START + i * STEP for i in range(12)]
    assert [one.message.joint_names for one in written] == [list(JOINTS)] * 12
    points = np.array([one.message.points[0].accelerations for one in written])
    np.testing.assert_array_equal(points, rows)
    assert plot.read_bytes()[1:4] == b'PNG'


def test_efforts_are_those_that_were_needed(messages, arm, tmp_path, run_json, run):
    moving(messages, arm)
    bag, table = messages.write(tmp_path / 'bag'), tmp_path / 'e.csv'
    found = run_json(
        bag, arm, '--csv', table, '--knot-spacing', '0.05', '--output', tmp_path / 'out'
    )
    # measured ones between samples: h^2 / 8 of their second derivative, 9 1/s^2 times 30 N m
    assert max(found['rms_difference_to_measured'].values()) < 5e-3
    rows, robot = csv(table), kd.load_urdf(arm)
    for k in range(len(rows['time'])):
        q, v, a = motion(round(rows['time'][k] * 1e9))
        near = [rows[f'effort:{name}'][k] for name in JOINTS]
        assert near == pytest.approx(kd.inverse_dynamics(robot, q, v, a), abs=0.02)
    topic = {'r': ('/kane_dynamics/effort', 'sensor_msgs/msg/JointState')}
    with open_bag(tmp_path / 'out', topic) as results:
        efforts = np.array([one.message.effort for one in results])
    np.testing.assert_array_equal(efforts[:, 1], rows['effort:elbow'])
    assert 'effort of arm' in run(bag, arm, '--knot-spacing', '0.05')[1]


def test_external_efforts_are_found(messages, arm, tmp_path, run_json):
    push = np.array([3.0, -1.0])
    moving(messages, arm, 60, push)
    table = tmp_path / 'x.csv'
    run_json(messages.write(tmp_path / 'bag'), arm, '--compute', 'external_effort', '--csv', table)
    rows = csv(table)
    last = [rows[f'external_effort:{name}'][-1] for name in JOINTS]
    assert last == pytest.approx(push, abs=0.1)  # the observer lags by 1/60 s; v is differenced


@pytest.mark.parametrize('storage', STORAGES)
def test_what_nodes_reject_is_rejected_and_counted(messages, arm, tmp_path, run_json, storage):
    moving(messages, arm, 10)
    at = START + 10 * STEP
    messages.joints(at, position=[np.nan, 0.0], effort=[0.0, 0.0])
    messages.joints(at, names=['shoulder', 'knee'], effort=[0.0, 0.0])
    messages.joints(at, velocity=[0.0], effort=[0.0, 0.0])
    messages.joints(at, names=['elbow', 'elbow'], effort=[0.0, 0.0])
    messages.joints(START, recorded=at + 50 * STEP, effort=[0.0, 0.0])  # 0.6 s late
    messages.raw(b'\x00\x01\x00\x00junk', at + 50 * STEP)
    messages.joints(at + 51 * STEP, names=['elbow', 'shoulder'], effort=[0.1, 0.2])
    messages.joints(at + 50 * STEP, recorded=at + 51 * STEP, effort=[0.0, 0.0])  # reordered
    bag = messages.write(tmp_path / 'bag', storage.upper())
    found = run_json(bag, arm, '--compute', 'acceleration')
    counts = {'nan': 1, 'missing': 1, 'short': 1, 'duplicate': 1, 'stale': 1, 'order': 1}
    assert found['messages']['joint_states'] == {'accepted': 11, **counts, 'corrupt': 1}
    assert found['rows'] == 11
    assert any('knee' in remark for remark in found['remarks'])


def test_other_names_orders_and_extra_joints(messages, arm, tmp_path, run_json):
    q, v, a = motion(START)
    tau = kd.inverse_dynamics(kd.load_urdf(arm), q, v, a)
    names = ['camera', 'elbow', 'shoulder']
    fields = {'position': [9.0, q[1], q[0]], 'velocity': [9.0, v[1], v[0]]}
    messages.joints(START, names=names, effort=[9.0, tau[1], tau[0]], **fields)
    found = run_json(messages.write(tmp_path / 'bag'), arm, '--compute', 'acceleration')
    assert found['largest'] == pytest.approx(dict(zip(JOINTS, np.abs(a), strict=True)), abs=1e-10)


def test_stamps_of_simulated_time(messages, arm, tmp_path, run, run_json):
    for i in range(5):
        messages.joints(1 + i * STEP, recorded=START + i * STEP, effort=[0.0, 0.0])
    bag = messages.write(tmp_path / 'bag')
    code, output, errors = run(bag, arm, '--compute', 'acceleration')
    assert (code, output) == (cli.REFUSED, '')
    assert 'gives no result' in errors
    assert 's old, limit 0.1 s' in errors
    found = run_json(bag, arm, '--compute', 'acceleration', '--clock', 'stamps')
    assert found['rows'] == 5


def test_a_base_with_wheels(messages, tmp_path, run_json):
    names = ['wheel_left_joint', 'wheel_right_joint', *(f'arm_{i}_joint' for i in range(1, 6))]
    types = messages.types
    vector, zero = types['geometry_msgs/msg/Vector3'], np.zeros(36)
    for i in range(4):
        stamp = START + i * STEP
        x = 0.2 * i * STEP * 1e-9  # 0.2 m/s, wheels of 0.1 m
        pose = types['geometry_msgs/msg/Pose'](
            types['geometry_msgs/msg/Point'](x, 0.0, 0.0),
            types['geometry_msgs/msg/Quaternion'](0.0, 0.0, 0.0, 1.0),
        )
        twist = types['geometry_msgs/msg/Twist'](vector(0.2, 0.0, 0.0), vector(0.0, 0.0, 0.0))
        odom = types['nav_msgs/msg/Odometry'](
            messages.header(stamp, 'odom'),
            'base_footprint' if i else 'base',
            types['geometry_msgs/msg/PoseWithCovariance'](pose, zero),
            types['geometry_msgs/msg/TwistWithCovariance'](twist, zero),
        )
        messages.add('/odom', odom, stamp)
        speeds = [2.0, 2.0, *[0.0] * 5]
        fields = {'position': np.zeros(7), 'velocity': speeds, 'effort': np.full(7, 0.1)}
        messages.joints(stamp, names=names, **fields)
    found = run_json(messages.write(tmp_path / 'bag'), 'nonholonomic', '--compute', 'acceleration')
    assert found['messages']['odom'] == {'accepted': 3, 'frame': 1}
    assert found['unusable_states'] == 1  # before the first odometry
    assert found['rows'] == 3
    assert 'base_yaw' in found['largest']


@pytest.mark.parametrize('storage', STORAGES)
def test_a_bag_without_messages(messages, arm, tmp_path, run, storage):
    bag = messages.write(tmp_path / 'bag', storage.upper())
    code, output, errors = run(bag, arm)
    assert (code, output) == (cli.REFUSED, '')
    assert errors.startswith('error: bag')


def test_a_topic_that_is_not_there(messages, arm, tmp_path, run):
    moving(messages, arm, 3)
    bag = messages.write(tmp_path / 'bag')
    code, _, errors = run(bag, arm, '--joint-states', '/robot/joint_states')
    assert code == cli.REFUSED
    assert "topic '/robot/joint_states' is not there" in errors
    assert "are ['/joint_states']" in errors


def test_too_short_for_splines_is_told(messages, arm, tmp_path, run):
    moving(messages, arm, 5)
    code, _, errors = run(messages.write(tmp_path / 'bag'), arm)
    assert code == cli.REFUSED
    assert 'need samples over 0.3 s' in errors


@pytest.mark.parametrize('what', ['nothing', 'text', 'folder', 'truncated', 'mcap'])
def test_what_is_no_bag(messages, arm, tmp_path, run, what):
    place = tmp_path / 'bag'
    if what == 'text':
        place = tmp_path / 'bag.db3'
        place.write_text('no bag')
    elif what == 'folder':
        place.mkdir()
    elif what == 'mcap':
        place = tmp_path / 'bag.mcap'
        place.write_bytes(b'\x89MCAP0\r\n' + b'\x01' * 64)
    elif what == 'truncated':
        moving(messages, arm, 3)
        messages.write(place, 'MCAP')
        file = next(place.glob('*.mcap'))
        file.write_bytes(file.read_bytes()[:200])
    code, output, errors = run(place, arm)
    assert (code, output) == (cli.REFUSED, '')
    assert errors.startswith("error: bag '")
    assert 'Traceback' not in errors


def test_results_do_not_overwrite(messages, arm, tmp_path, run):
    moving(messages, arm, 3)
    bag = messages.write(tmp_path / 'bag')
    code, _, errors = run(bag, arm, '--compute', 'acceleration', '--output', bag)
    assert code == cli.REFUSED
    assert f"'{bag}' exists already" in errors
    assert Path(bag).is_dir()


def test_rosbags_is_an_extra(messages, arm, tmp_path, run, monkeypatch):
    import sys

    moving(messages, arm, 3)
    bag = messages.write(tmp_path / 'bag')
    monkeypatch.setitem(sys.modules, 'rosbags.highlevel', None)
    code, _, errors = run(bag, arm)
    assert code == cli.REFUSED
    assert (
        "a bag needs rosbags, which is not installed: pip install 'kane_dynamics[bag]'" in errors
    )


def test_a_floating_base_is_refused(messages, arm, tmp_path, run):
    moving(messages, arm, 3)
    code, _, errors = run(messages.write(tmp_path / 'bag'), arm, '--root-joint', 'floating')
    assert code == cli.REFUSED
    assert "--root-joint floating: bags are read for 'fixed' and 'planar'" in errors


def test_a_driven_base_has_no_efforts(messages, tmp_path, run):
    messages.joints(START)
    file = tmp_path / 'robot.yaml'
    file.write_text(
        '/**: {ros__parameters: {base_type: diff_drive, base: {command_interface: velocity, '
        'left_wheel_names: [wheel_left_joint], right_wheel_names: [wheel_right_joint]}, '
        'urdf_file: package://kane_dynamics/robots/nonholonomic.urdf}}'
    )
    bag = messages.write(tmp_path / 'bag')
    code, _, errors = run(bag, file, '--compute', 'acceleration')
    assert code == cli.REFUSED
    assert "base.command_interface 'velocity' leaves the efforts of the base unknown" in errors
