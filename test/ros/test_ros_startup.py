# SPDX-License-Identifier: Apache-2.0
"""How the nodes start and end: descriptions, parameter files, signals."""

import signal

import pytest
from ros_models import ROOT

pytest.importorskip('rclpy', reason='ROS 2 is not installed: pip install .[ros]')

from nav_msgs.msg import Odometry
from ros_bench import LATCHED, START_TIMEOUT
from ros_models import PENDULUM_URDF as ARM
from sensor_msgs.msg import JointState
from std_msgs.msg import String

pytestmark = pytest.mark.ros
NODES = {
    'inverse_dynamics_node': 'kane_inverse_dynamics',
    'computed_torque_node': 'kane_computed_torque',
    'forward_dynamics_node': 'kane_forward_dynamics',
    'wrench_control_node': 'kane_wrench_control',
    'contact_observer_node': 'kane_contact_observer',
    'simulator_node': 'kane_simulator',
}
LINK = {'frame': 'rod'}  # of kane_wrench_control
BAD = [
    ('hello', 'no XML'),
    ('<robot name="r"><link', 'XML'),
    ('<robot name="r"><link name="a"/><link name="b"/></robot>', 'root'),
    (ARM.replace('continuous', 'rubber'), 'rubber'),
    (ARM.replace('<mass value="1"/>', '<mass value="-1"/>'), 'mass'),
]
PENDULUM = {'robot_description': f"'{ARM}'", 'compiled': 'never'}
every_node = pytest.mark.parametrize('module', NODES)


def model_error(bench, module, *words):
    """Wait until a node reports an error of its model in these words; return the values."""

    def reported(level, text, _):
        return level == b'\x02' and all(word in text for word in words)

    return bench.status_where(f'{NODES[module]}: model', reported)[2]


@every_node
def test_bad_descriptions_are_reported_and_the_next_good_one_is_taken(bench, module):
    process = bench.start(module, params={'compiled': 'never', **LINK})
    publisher = bench.publisher(String, 'robot_description', LATCHED)
    model_error(bench, module, 'waiting for /robot_description')
    for description, words in BAD:
        seen = len(process.log.read_text())
        publisher.publish(String(data=description))
        bench.until(lambda w=words, n=seen: w in process.log.read_text()[n:])
        assert '[ERROR]' in process.log.read_text()[seen:]
    model_error(bench, module, BAD[-1][1])
    assert process.poll() is None
    publisher.publish(String(data=ARM))
    bench.until(lambda: 'model of' in process.log.read_text())
    publisher.publish(String(data='<robot'))
    assert model_error(bench, module, 'from before is in use')['joints'] == 'hinge'
    bench.node.destroy_publisher(publisher)
    assert bench.terminate(process) == 0


@every_node
def test_bad_file_is_reported_and_the_node_stays(bench, module, tmp_path):
    path = tmp_path / 'robot.urdf'
    path.write_text('<robot name="r"><link name="a"/><link name="b"/></robot>')
    params = {'urdf_file': path, 'params_file': '/nowhere/p.yaml', **LINK}
    process = bench.start(module, params=params)
    model_error(bench, module, 'root', '/nowhere/p.yaml')  # not on the log only
    assert process.poll() is None
    assert '/nowhere/p.yaml' in process.log.read_text()
    assert bench.terminate(process, signal.SIGINT) == 0


def test_a_link_that_no_robot_has_is_reported(bench):
    process = bench.start('wrench_control_node', params={**PENDULUM, 'frame': 'nose'})
    model_error(bench, 'wrench_control_node', "no link of parameter 'frame' named 'nose'", 'rod')
    assert bench.terminate(process) == 0


def test_pendulum_without_base_needs_no_odometry(bench):
    process = bench.start('inverse_dynamics_node', params=PENDULUM)
    joints = bench.publisher(JointState, 'joint_states')
    efforts = bench.listen(JointState, '/kane_inverse_dynamics/effort')
    bench.matched(joints)
    message = JointState(name=['hinge'], position=[1.57079632679], velocity=[0.0])
    del efforts[:]
    bench.until(lambda: efforts, each=lambda: joints.publish(message))
    assert efforts[0].effort[0] == pytest.approx(9.81 * 0.5)
    assert 'not clamped' in process.log.read_text()
    level, text, _ = bench.next_status('kane_inverse_dynamics: odom')
    assert (level, text) == (b'\x00', 'not needed: the base is fixed')
    assert bench.terminate(process) == 0


def test_signal_while_active_sends_zeros(bench):
    process = bench.start('inverse_dynamics_node', params=PENDULUM)
    joints = bench.publisher(JointState, 'joint_states')
    efforts = bench.listen(JointState, '/kane_inverse_dynamics/effort')
    bench.matched(joints)
    message = JointState(name=['hinge'], position=[1.0], velocity=[0.0])
    del efforts[:]
    bench.until(
        lambda: len(efforts) > 5 and efforts[-1].effort[0] > 1.0,
        each=lambda: joints.publish(message),
    )
    process.send_signal(signal.SIGTERM)
    bench.until(lambda: process.poll() is not None, each=lambda: joints.publish(message))
    bench.until(lambda: list(efforts[-1].effort) == [0.0])
    assert process.returncode == 0


def test_autostart_can_be_left_to_a_lifecycle_manager(bench):
    process = bench.start('inverse_dynamics_node', params={'autostart': 'false'})
    level, text, _ = bench.next_status('kane_inverse_dynamics: output')
    assert (level, text) == (b'\x01', 'inactive')
    assert bench.status('kane_inverse_dynamics: model')[1] == 'not configured'
    assert bench.terminate(process) == 0


@pytest.mark.parametrize(
    ('arguments', 'words'),
    [
        ({'files': ['/nowhere.yaml']}, '/nowhere.yaml'),
        ({'params': {'step_size': '1'}}, 'step_size'),
        ({'params': {'step_size': '5.0'}}, 'step_size'),
        ({'params': {'base_type': 'tracked'}}, 'none, diff_drive, planar'),
        ({'params': {'gravity': '[0.0, 0.0]'}}, 'gravity'),
        ({'arguments': ['--ros-args', '--unknown']}, '--unknown'),
    ],
)
def test_wrong_arguments_end_the_process_with_one_clear_line(bench, arguments, words):
    process = bench.start('simulator_node', **arguments)
    assert process.wait(START_TIMEOUT) == 1
    log = process.log.read_text()
    assert 'cannot start' in log
    assert words in log
    assert 'Traceback' not in log


def test_namespace_and_remapping(bench):
    process = bench.start(
        'simulator_node',
        files=[ROOT / 'config' / 'nonholonomic.yaml'],
        params={
            'odom_frame_id': 'my_odom',
            'base_frame_id': 'my_base',
            'start_paused': 'true',
            'compiled': 'never',
        },
        arguments=['-r', '__ns:=/left', '-r', 'odom:=platform/odom'],
    )
    odom = bench.listen(Odometry, '/left/platform/odom')
    joints = bench.listen(JointState, '/left/joint_states')
    from std_srvs.srv import Trigger

    bench.call(Trigger, '/left/kane_simulator/step')
    bench.until(
        lambda: odom and joints, each=lambda: bench.call(Trigger, '/left/kane_simulator/step')
    )
    assert (odom[-1].header.frame_id, odom[-1].child_frame_id) == ('my_odom', 'my_base')
    assert bench.terminate(process) == 0
