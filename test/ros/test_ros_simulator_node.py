# SPDX-License-Identifier: Apache-2.0
"""kane_simulator as a process, over real DDS."""

import signal
import time

import numpy as np
import pytest
from numpy.testing import assert_allclose
from ros_models import PENDULUM_URDF, ROOT, from_preset, model_of, preset

pytest.importorskip('rclpy', reason='ROS 2 is not installed: pip install .[ros]')

from nav_msgs.msg import Odometry
from rcl_interfaces.msg import Parameter, ParameterType, ParameterValue
from rcl_interfaces.srv import SetParameters
from ros_bench import LATCHED
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, String
from std_srvs.srv import Empty, SetBool, Trigger

from kane_dynamics.control.node_dynamics import Dynamics
from kane_dynamics.messages.conversions import nanoseconds
from kane_dynamics.plant.plant import Plant
from kane_dynamics.robot_config.parameters.tables import SimulatorParameters

pytestmark = pytest.mark.ros
NODE = 'kane_simulator'
PARAMETERS = {
    'joint_state_rate': 100.0,
    'odom_rate': 50.0,
    'step_size': 0.002,
    'timeout.command': 0.25,
}
STEP, ODOM_PERIOD = 2_000_000, 20_000_000  # [ns]
POSE = [0.5, -0.25, 0.7]


def at(message):
    """Return the stamp of a message [ns]."""
    return nanoseconds(message.header.stamp)


class Robot:
    """The simulator, paused, with all its topics."""

    def __init__(self, bench, **parameters):
        self.bench, self.count = bench, 0
        self.joints = bench.listen(JointState, '/joint_states')
        self.odom = bench.listen(Odometry, '/odom')
        self.clock = bench.listen(Clock, '/clock')
        self.description = bench.listen(String, '/robot_description', LATCHED)
        self.forces = bench.listen(JointState, f'/{NODE}/constraint_forces')
        self.process = bench.start(
            'simulator_node',
            files=[ROOT / 'config' / 'nonholonomic.yaml'],
            params={
                **PARAMETERS,
                'compiled': 'never',
                'start_paused': 'true',
                'initial_pose': POSE,
                'odom_frame_id': 'my_odom',
                'base_frame_id': 'base_link',
                'command_joints': '[arm_1_joint, wheel_left_joint]',
                'hardware_joints': '[wheel_left_joint, arm_2_joint]',
                'pose_covariance_diagonal': '[0.1, 0.2, 0.3, 0.4, 0.5, 0.6]',
                **parameters,
            },
        )
        self.effort = bench.publisher(JointState, f'{NODE}/effort_command')
        self.commands = bench.publisher(Float64MultiArray, f'{NODE}/commands')
        self.hardware = bench.publisher(JointState, 'robot_joint_commands', 1)
        bench.matched(self.effort)
        bench.matched(self.hardware)
        bench.matched(self.commands)

    def reset(self):
        """Pause at time zero, and forget what was published before."""
        self.bench.call(SetBool, f'/{NODE}/pause', data=True)
        self.bench.call(Empty, f'/{NODE}/reset')
        self.arrived(0)
        for recorded in (self.joints, self.odom, self.clock):
            del recorded[:-1]
        del self.forces[:]

    def arrived(self, time):
        """Wait until the state of a time [ns] is there, and all that was published before it."""
        self.bench.until(lambda: self.clock and nanoseconds(self.clock[-1].clock) == time)
        self.bench.until(lambda: self.joints and at(self.joints[-1]) == time)
        whole = time - time % ODOM_PERIOD
        self.bench.until(lambda: self.odom and at(self.odom[-1]) == whole)

    def step(self, count):
        value = ParameterValue(type=ParameterType.PARAMETER_INTEGER, integer_value=count)
        request = [Parameter(name='step_count', value=value)]
        name = f'/{NODE}/set_parameters'
        assert self.bench.call(SetParameters, name, parameters=request).results[0].successful
        response = self.bench.call(Trigger, f'/{NODE}/step')
        assert response.success, response.message
        self.arrived(round(float(response.message.split()[1]) * 1e9))
        return self.joints[-1]

    def command(self, names, effort, **changes):
        """Send a command and wait until the simulator has it (or has refused it)."""
        self.effort.publish(JointState(name=list(names), effort=list(effort), **changes))
        return self.taken()

    def taken(self):
        """Wait until the simulator reports one more command, and return the report's values."""

        def counted(level, text, values):
            count = int(values['accepted']) + int(values['rejected'])
            return count > self.count

        _, _, values = self.bench.status_where(f'{NODE}: command', counted)
        self.count = int(values['accepted']) + int(values['rejected'])
        return values


@pytest.fixture(scope='module')
def running(bench):
    return Robot(bench)


@pytest.fixture
def robot(running):
    running.reset()
    return running


def reference_plant():
    model = model_of('nonholonomic', base_frame_id='base_link')
    own = {name.replace('.', '_'): value for name, value in PARAMETERS.items()}
    p = from_preset('nonholonomic', SimulatorParameters, initial_pose=tuple(POSE), **own)
    chosen = preset('nonholonomic')
    start = np.array([chosen.get(f'initial_positions.{n}', 0.0) for n in model.joints])
    return Plant(Dynamics(model), p, start)


def test_initial_state_frames_and_description(robot):
    message = robot.step(5)
    plant = reference_plant()
    assert tuple(message.name) == plant.model.joints
    assert len(message.position) == len(message.velocity) == len(message.effort) == 7
    assert message.position[message.name.index('arm_2_joint')] == pytest.approx(0.5, abs=0.01)
    assert robot.description[-1].data == (ROOT / 'robots' / 'nonholonomic.urdf').read_text()
    robot.step(5)
    odom = robot.odom[-1]
    assert (odom.header.frame_id, odom.child_frame_id) == ('my_odom', 'base_link')
    assert list(odom.pose.covariance[::7]) == [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]


def test_steps_are_those_of_the_core_and_repeat_to_the_last_bit(robot):
    effort = {'wheel_left_joint': 1.5, 'arm_1_joint': -3.0, 'base_yaw': 0.5}
    runs = []
    for _ in range(2):
        robot.reset()
        robot.command(effort, effort.values())
        for count in (5, 3, 12):
            message = robot.step(count)
        assert at(message) == 40_000_000
        runs.append((list(message.position), list(message.velocity), list(message.effort)))
    assert runs[0] == runs[1]
    plant = reference_plant()
    index = np.array([plant.model.robot.velocity_index(n) for n in effort])
    plant.command(index, np.array(list(effort.values())))
    for part in (5, 3, 2, 5, 5):
        plant.advance(part)
    places = plant.model.q_index(plant.model.joints)
    assert_allclose(runs[0][0], plant.simulation.q[places], rtol=0, atol=1e-14)
    applied = dict(zip(plant.model.joints, runs[0][2], strict=True))
    assert applied['arm_1_joint'] == -3.0


def test_topics_come_at_their_rates_with_exact_stamps(robot):
    robot.step(100)
    stamps = [at(m) for m in robot.joints]
    assert stamps[-20:] == [10_000_000 * k for k in range(1, 21)]
    assert [nanoseconds(m.clock) for m in robot.clock][-20:] == stamps[-20:]
    assert [at(m) for m in robot.odom][-10:] == stamps[-20:][1::2]


def test_odometry_twist_is_in_the_child_frame(robot):
    robot.command(['wheel_left_joint', 'wheel_right_joint'], [2.0, 2.0])
    robot.step(100)
    before, after = robot.odom[-2], robot.odom[-1]
    plant = reference_plant()
    twist = after.twist.twist
    speed = (
        np.hypot(
            *(
                getattr(after.pose.pose.position, c) - getattr(before.pose.pose.position, c)
                for c in 'xy'
            )
        )
        / 0.02
    )
    assert twist.linear.x > 0.05
    # the arm swings, so the base accelerates: the mean of 20 ms differs from the end value
    assert twist.linear.x == pytest.approx(speed, rel=0.1)
    assert abs(twist.linear.y) < 1e-6 * twist.linear.x  # no side slip
    assert plant.model.child_frame.x == 0.0


def test_constraint_forces_have_names(robot):
    robot.command(['wheel_left_joint', 'wheel_right_joint'], [2.0, 2.0])
    stamp = robot.step(10).header.stamp
    robot.bench.until(lambda: robot.forces and robot.forces[-1].header.stamp == stamp)
    message = robot.forces[-1]
    assert list(message.name) == list(reference_plant().simulation.labels)
    assert max(abs(x) for x in message.effort) > 1.0
    assert_allclose(message.velocity, 0.0, atol=1e-12)


def test_plain_commands_follow_command_joints(robot):
    robot.commands.publish(Float64MultiArray(data=[4.0, 1.0]))
    robot.taken()
    message = robot.step(5)
    applied = dict(zip(message.name, message.effort, strict=True))
    assert (applied['arm_1_joint'], applied['wheel_left_joint']) == (4.0, 1.0)


def test_commands_of_ros2_control_hardware_are_unpacked(robot):
    names = ['gripper', 'arm_2_joint', 'arm_1_joint', 'wheel_left_joint']
    robot.hardware.publish(JointState(name=names, effort=[3.0, float('nan')]))
    robot.taken()
    message = robot.step(5)
    applied = dict(zip(message.name, message.effort, strict=True))
    assert applied.pop('arm_2_joint') == 3.0
    assert not any(applied.values())
    robot.hardware.publish(JointState(name=names, effort=[3.0, 1.0, 1.0, 1.0]))
    assert 'rejected: short' in robot.taken()


@pytest.mark.parametrize(
    ('names', 'effort', 'kind'),
    [
        (['arm_1_joint', 'elbow'], [5.0, 5.0], 'unknown'),
        (['arm_1_joint', 'arm_2_joint'], [5.0], 'short'),
        (['arm_1_joint'], [float('nan')], 'nan'),
        (['arm_1_joint', 'arm_1_joint'], [5.0, 5.0], 'duplicate'),
    ],
)
def test_bad_commands_are_not_applied_and_are_reported(robot, names, effort, kind):
    assert f'rejected: {kind}' in robot.command(names, effort)
    assert not any(robot.step(5).effort)


def test_efforts_time_out_in_simulated_time(robot):
    robot.command(['arm_1_joint'], [1.0])
    assert any(robot.step(120).effort)
    assert not any(robot.step(20).effort)  # timeout.command is 0.25 s, a step 2 ms
    robot.bench.status_where(
        f'{NODE}: simulation', lambda level, text, values: int(values['released commands']) >= 1
    )


def test_step_needs_pause(robot):
    assert robot.bench.call(SetBool, f'/{NODE}/pause', data=False).success
    response = robot.bench.call(Trigger, f'/{NODE}/step')
    assert not response.success
    assert 'pause' in response.message


def test_running_and_pausing(robot):
    robot.bench.call(SetBool, f'/{NODE}/pause', data=False)
    robot.bench.until(lambda: len(robot.joints) > 10)
    robot.bench.call(SetBool, f'/{NODE}/pause', data=True)
    before = at(robot.step(1))
    robot.bench.spin(0.3)
    assert at(robot.step(1)) == before + STEP
    stamps = [at(m) for m in robot.joints]
    assert stamps == sorted(stamps)
    robot.bench.call(Empty, f'/{NODE}/reset')
    robot.bench.until(lambda: at(robot.joints[-1]) == 0)


def test_a_million_steps_keep_nobody_waiting(robot):
    """~/step answered nobody for a minute, nor Ctrl-C."""
    value = ParameterValue(type=ParameterType.PARAMETER_INTEGER, integer_value=10**6)
    request = [Parameter(name='step_count', value=value)]
    robot.bench.call(SetParameters, f'/{NODE}/set_parameters', parameters=request)
    client = robot.bench.node.create_client(Trigger, f'/{NODE}/step')
    robot.bench.until(client.service_is_ready)
    future = client.call_async(Trigger.Request())
    robot.bench.until(lambda: robot.joints and at(robot.joints[-1]) > 0)
    again = robot.bench.call(Trigger, f'/{NODE}/step')
    assert not again.success and 'being done' in again.message
    assert not future.done()
    robot.bench.call(SetBool, f'/{NODE}/pause', data=True)
    robot.bench.until(future.done, timeout=10.0)
    assert not future.result().success and 'interrupted' in future.result().message
    robot.bench.node.destroy_client(client)
    robot.step(1)


@pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_a_million_steps(bench, number):
    """They went on for minutes."""
    name = f'long_{number.name.lower()}'
    process = bench.start(
        'simulator_node',
        params={
            'robot_description': f"'{PENDULUM_URDF}'",
            'compiled': 'never',
            'start_paused': 'true',
            'publish_clock': 'false',
            'step_count': 10**6,
        },
        arguments=['-r', f'__node:={name}', '-r', '__ns:=/long'],
    )
    states = bench.listen(JointState, '/long/joint_states')
    client = bench.node.create_client(Trigger, f'/long/{name}/step')
    bench.until(client.service_is_ready)
    future = client.call_async(Trigger.Request())
    bench.until(lambda: states and at(states[-1]) > 0)
    begun = time.monotonic()
    assert bench.terminate(process, number) == 0
    # a look each 0.1 s between parts of 20 ms; the rest is for a busy machine: steps take minutes
    assert time.monotonic() - begun < 10.0
    assert not future.done()
    bench.node.destroy_client(client)
