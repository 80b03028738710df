# SPDX-License-Identifier: Apache-2.0
"""kane_inverse_dynamics as a process, over real DDS."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from ros_models import ROOT, model_of, preset, trajectory

pytest.importorskip('rclpy', reason='ROS 2 is not installed: pip install .[ros]')

from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState, GetState
from nav_msgs.msg import Odometry
from rcl_interfaces.msg import Parameter, ParameterType, ParameterValue
from rcl_interfaces.srv import DescribeParameters, SetParameters
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from std_srvs.srv import SetBool, Trigger
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

import kane_dynamics as kd
from kane_dynamics.ros.dynamics import Dynamics
from kane_dynamics.ros.effort_law import EffortLaw, Terms
from kane_dynamics.ros.input_guard import InputGuard
from kane_dynamics.ros.reference import Motors, ReferenceInput

pytestmark = pytest.mark.ros
NODE = 'kane_inverse_dynamics'
FRAME = 'my_base'
COMMAND_JOINTS = ('arm_2_joint', 'wheel_left_joint')
ARM = {'arm_2_joint': 0.6, 'arm_3_joint': -0.4, 'arm_4_joint': 0.2}


@pytest.fixture(scope='module')
def model():
    return model_of('nonholonomic', base_frame_id=FRAME)


class Feeder:
    """Plays the robot: publishes its state and records the efforts."""

    def __init__(self, bench, model):
        self.bench, self.model = bench, model
        self.joints = bench.publisher(JointState, 'joint_states')
        self.odom = bench.publisher(Odometry, 'odom')
        self.reference = bench.publisher(JointTrajectory, f'{NODE}/reference')
        self.efforts = bench.listen(JointState, f'/{NODE}/effort')
        self.commands = bench.listen(Float64MultiArray, f'/{NODE}/commands')
        self.position = {n: ARM.get(n, 0.0) for n in model.joints}
        self.velocity = {n: 0.05 * (i + 1) for i, n in enumerate(model.joints)}

    def send_odom(self, child=FRAME):
        message = Odometry(child_frame_id=child)
        message.header.stamp, message.header.frame_id = self.bench.now(), 'odom'
        message.pose.pose.orientation.z, message.pose.pose.orientation.w = 0.6, 0.8
        message.twist.twist.linear.x, message.twist.twist.angular.z = 0.2, 0.1
        self.odom.publish(message)

    def joint_state(self, names=None, **changes):
        names = list(names or ['extra_joint', *reversed(self.model.joints)])
        message = JointState(name=names)
        message.header.stamp = self.bench.now()
        message.position = [self.position.get(n, np.nan) for n in names]
        message.velocity = [self.velocity.get(n, np.nan) for n in names]
        for field, value in changes.items():
            setattr(message, field, value)
        return message

    def send(self, **changes):
        self.send_odom()
        self.joints.publish(self.joint_state(**changes))

    def send_reference(self, names, *values, stamped=False):
        point = JointTrajectoryPoint()
        fields = ('positions', 'velocities', 'accelerations')
        for field, value in zip(fields, values, strict=False):
            setattr(point, field, [float(x) for x in value])
        message = JointTrajectory(joint_names=list(names), points=[point])
        if stamped:
            message.header.stamp = self.bench.now()
        self.reference.publish(message)

    def healthy(self):
        """Feed until efforts come, then let the reference and all messages run out."""
        count = len(self.efforts)
        self.bench.until(lambda: len(self.efforts) > count + 3, each=self.send)
        return self.efforts[-1]

    def quiet(self, each, periods=25):
        """Return the efforts that come while something else is fed."""
        self.bench.spin(0.3)  # what was fed before runs out
        del self.efforts[:]
        for _ in range(periods):
            each()
            self.bench.spin(0.02)
        return list(self.efforts)


@pytest.fixture(scope='module')
def robot(bench, model):
    process = bench.start(
        'inverse_dynamics_node',
        files=[ROOT / 'config' / 'nonholonomic.yaml'],
        params={
            'base_frame_id': FRAME,
            'command_joints': f'[{", ".join(COMMAND_JOINTS)}]',
            'timeout.joint_states': 0.25,
            'timeout.odom': 0.25,
            'compiled': 'never',
            'on_stale': 'hold_gravity',
            'misspelt_parameter': 1.0,
        },
    )
    feeder = Feeder(bench, model)
    feeder.process = process
    bench.matched(feeder.joints)
    bench.matched(feeder.reference)
    return feeder


def state_of(feeder):
    model = feeder.model
    q, v = model.robot.neutral(), np.zeros(model.robot.nv)
    for i, name in zip(model.q_index(model.joints), model.joints, strict=True):
        q[i] = feeder.position[name]
    for i, name in zip(model.v_index(model.joints), model.joints, strict=True):
        v[i] = feeder.velocity[name]
    yaw = 2.0 * np.arctan2(0.6, 0.8)
    q[2] = yaw
    v[:3] = [0.2 * np.cos(yaw), 0.2 * np.sin(yaw), 0.1]
    return q, v


def by_name(message):
    return dict(zip(message.name, message.effort, strict=True))


def test_without_reference_it_holds_gravity(robot):
    message = robot.healthy()
    q, _ = state_of(robot)
    expected = EffortLaw(Dynamics(robot.model)).hold(q, Terms())
    assert list(message.name) == list(robot.model.motors)
    assert_allclose(message.effort, expected, atol=1e-12)
    assert_allclose(message.position, [robot.position[n] for n in message.name])
    assert_allclose(message.velocity, [robot.velocity[n] for n in message.name])


def test_reference_gives_constrained_inverse_dynamics_and_feedback(robot, rng):
    names = list(reversed(robot.model.motors))
    values = rng.uniform(-0.4, 0.4, (3, len(names)))
    robot.healthy()
    for _ in range(10):
        robot.send_reference(names, *values, stamped=True)
        robot.send()
        robot.bench.spin(0.02)
    message = robot.efforts[-1]
    model, (q, v) = robot.model, state_of(robot)
    source = ReferenceInput(Motors(model), InputGuard('reference', 1.0, now=lambda: 10**12))
    assert source.take(trajectory(names, *values))
    reference = source.at(10**12)
    wanted = EffortLaw(Dynamics(model)).wanted_motion(q, v, reference)
    forward = kd.constrained_inverse_dynamics(
        model.robot, *wanted, model.constraints, model.motors
    ).effort
    chosen = preset('nonholonomic')
    for name in ('wheel_left_joint', 'arm_5_joint'):
        p, d = chosen[f'gains.{name}.p'], chosen[f'gains.{name}.d']
        i = names.index(name)
        error = values[0][i] - robot.position[name], values[1][i] - robot.velocity[name]
        expected = forward[model.robot.velocity_index(name)] + p * error[0] + d * error[1]
        assert_allclose(by_name(message)[name], expected, atol=1e-9)


def test_commands_have_the_order_of_command_joints(robot):
    message = robot.healthy()
    robot.bench.spin(0.1)
    assert_allclose(robot.commands[-1].data, [by_name(message)[n] for n in COMMAND_JOINTS])


def test_stamp_is_that_of_the_newest_input(robot):
    robot.healthy()
    robot.bench.spin(0.1)
    del robot.efforts[:]
    robot.send_odom()
    message = robot.joint_state()
    robot.bench.spin(0.05)
    robot.joints.publish(message)
    robot.bench.until(lambda: robot.efforts, 5.0)
    assert robot.efforts[-1].header.stamp == message.header.stamp


@pytest.mark.parametrize(
    ('kind', 'make'),
    [
        ('missing', lambda r: r.joint_state(names=r.model.joints[1:])),
        ('nan', lambda r: r.joint_state(position=[np.nan] * 8)),
        ('short', lambda r: r.joint_state(velocity=[0.0, 0.0])),
        ('short', lambda r: r.joint_state(velocity=[])),
        ('duplicate', lambda r: r.joint_state(names=[*r.model.joints, r.model.joints[0]])),
    ],
)
def test_bad_joint_states_give_no_effort_and_are_reported(robot, kind, make):
    robot.healthy()
    before = robot.bench.next_status(f'{NODE}: joint_states', robot.send)[2]

    def feed():
        robot.send_odom()
        robot.joints.publish(make(robot))

    assert robot.quiet(feed) == []
    level, text, values = robot.bench.next_status(f'{NODE}: joint_states', feed)
    assert level == b'\x02'
    assert 'stale' in text
    count = f'rejected: {kind}'
    assert int(values[count]) > int(before.get(count, 0))


def test_one_bad_message_among_good_ones_is_a_warning(robot):
    robot.healthy()
    robot.bench.next_status(f'{NODE}: joint_states', robot.send)
    robot.joints.publish(robot.joint_state(position=[np.nan] * 8))
    robot.bench.spin(0.05)
    level, text, _ = robot.bench.next_status(f'{NODE}: joint_states', robot.send)
    assert level == b'\x01'
    assert 'not a finite number' in text


def test_stale_joint_states_give_zeros_once_and_then_silence(robot):
    robot.healthy()
    robot.bench.spin(0.05)
    del robot.efforts[:]
    robot.bench.until(lambda: robot.efforts, 5.0)
    robot.bench.spin(0.5)
    assert [list(m.effort) for m in robot.efforts] == [[0.0] * len(robot.model.motors)]
    assert list(robot.commands[-1].data) == [0.0, 0.0]


def test_old_stamps_are_stale_although_they_keep_coming(robot):
    robot.healthy()

    def feed():
        robot.send_odom()
        message = robot.joint_state()
        message.header.stamp.sec -= 10
        robot.joints.publish(message)

    assert robot.quiet(feed) == []
    _, _, values = robot.bench.next_status(f'{NODE}: joint_states', feed)
    assert 'use_sim_time' in values['last rejection']
    hints = [line for line in robot.process.log.read_text().splitlines() if 'use_sim_time' in line]
    assert len([line for line in hints if 'joint_states' in line]) == 1


def test_a_state_that_is_overtaken_by_a_newer_one_is_not_used(robot):
    robot.healthy()
    robot.bench.spin(0.05)
    before = robot.bench.next_status(f'{NODE}: joint_states', robot.send)[2]
    old = robot.joint_state(position=[0.0] * (len(robot.model.joints) + 1))
    robot.bench.spin(0.02)
    robot.send()
    robot.bench.spin(0.05)
    count = len(robot.efforts)
    robot.joints.publish(old)
    robot.bench.spin(0.05)
    assert len(robot.efforts) == count
    _, _, values = robot.bench.next_status(f'{NODE}: joint_states', robot.send)
    assert int(values['rejected: order']) == int(before.get('rejected: order', 0)) + 1


def test_odometry_of_another_frame_gives_no_effort(robot):
    robot.healthy()

    def feed():
        robot.send_odom('base_link')
        robot.joints.publish(robot.joint_state())

    assert robot.quiet(feed) == []
    level, _, values = robot.bench.next_status(f'{NODE}: odom', feed)
    assert level == b'\x02'
    assert "'base_link', need 'my_base'" in values['last rejection']


def test_bad_reference_is_not_followed(robot):
    robot.healthy()
    hold = by_name(robot.efforts[-1])
    for _ in range(10):
        for bad in (
            (['arm_1_joint', 'elbow'], [9.0, 9.0]),
            (['arm_1_joint'], [np.nan]),
            (['arm_1_joint'], [9.0], [1.0, 1.0]),
        ):
            robot.send_reference(*bad)
            robot.bench.spin(0.01)  # one at a time: the subscription keeps the last only
        robot.send()
        robot.bench.spin(0.02)
    assert_allclose([by_name(robot.efforts[-1])[n] for n in hold], list(hold.values()), atol=1e-12)
    level, text, values = robot.bench.next_status(f'{NODE}: reference', robot.send)
    assert level == b'\x01'
    assert 'hold_gravity' in text
    assert {'rejected: unknown', 'rejected: nan', 'rejected: short'} <= set(values)


def test_stale_reference_is_not_followed(robot):
    robot.healthy()
    hold = robot.efforts[-1].effort
    robot.send_reference(['arm_2_joint'], [1.5])
    robot.bench.until(lambda: abs(robot.efforts[-1].effort[3] - hold[3]) > 1.0, 5.0, robot.send)
    robot.bench.until(lambda: abs(robot.efforts[-1].effort[3] - hold[3]) < 1e-9, 5.0, robot.send)


def set_parameter(robot, name, kind, **value):
    content = ParameterValue(type=kind, **value)
    request = [Parameter(name=name, value=content)]
    return robot.bench.call(SetParameters, f'/{NODE}/set_parameters', parameters=request).results[
        0
    ]


def test_terms_and_policy_change_while_running(robot):
    robot.healthy()
    policy = ParameterType.PARAMETER_STRING
    assert set_parameter(robot, 'on_stale', policy, string_value='zero').successful
    assert not any(robot.healthy().effort)
    assert set_parameter(robot, 'on_stale', policy, string_value='stop').successful
    assert robot.quiet(robot.send) == []
    result = set_parameter(robot, 'on_stale', policy, string_value='fly')
    assert not result.successful
    assert 'hold_gravity, zero, stop' in result.reason
    assert set_parameter(robot, 'on_stale', policy, string_value='hold_gravity').successful
    assert any(robot.healthy().effort)
    boolean = ParameterType.PARAMETER_BOOL
    assert set_parameter(robot, 'terms.gravity', boolean, bool_value=False).successful
    assert not any(robot.healthy().effort)
    assert set_parameter(robot, 'terms.gravity', boolean, bool_value=True).successful
    double = ParameterType.PARAMETER_DOUBLE
    assert not set_parameter(robot, 'torque_scale', double, double_value=1.5).successful
    assert not set_parameter(robot, 'gains.arm_1_joint.p', double, double_value=-1.0).successful
    assert not set_parameter(robot, 'base_type', policy, string_value='none').successful


def test_a_motor_that_nothing_holds_is_reported(robot):
    policy, double = ParameterType.PARAMETER_STRING, ParameterType.PARAMETER_DOUBLE
    gain = preset('nonholonomic')['gains.arm_5_joint.p']
    assert set_parameter(robot, 'on_stale', policy, string_value='hold_position').successful
    assert set_parameter(robot, 'gains.arm_5_joint.p', double, double_value=0.0).successful
    robot.healthy()
    level, text, _ = robot.bench.next_status(f'{NODE}: output', robot.send)
    assert set_parameter(robot, 'gains.arm_5_joint.p', double, double_value=gain).successful
    assert set_parameter(robot, 'on_stale', policy, string_value='hold_gravity').successful
    assert (level, text) == (b'\x01', "hold_position: no gain p, nothing holds ['arm_5_joint']")


def test_values_that_would_let_the_arm_fall_are_refused(robot):
    robot.healthy()
    strings, double = ParameterType.PARAMETER_STRING_ARRAY, ParameterType.PARAMETER_DOUBLE
    wrong = (
        ('gravity_compensated_joints', strings, {'string_array_value': ['arm_9_joint']}, 'arm_9'),
        ('timeout.joint_states', double, {'double_value': 0.0}, 'timeout.joint_states'),
        ('timeout.odom', double, {'double_value': 0.0}, 'timeout.odom'),
        ('timeout.joint_states', double, {'double_value': 0.002}, 'between two messages'),
    )
    for name, kind, value, words in wrong:
        result = set_parameter(robot, name, kind, **value)
        assert not result.successful
        assert words in result.reason
        assert any(robot.healthy().effort)
    right = {'string_array_value': ['arm_2_joint']}
    assert set_parameter(robot, 'gravity_compensated_joints', strings, **right).successful
    assert by_name(robot.healthy())['arm_2_joint'] == 0.0
    none = {'string_array_value': ['']}
    assert set_parameter(robot, 'gravity_compensated_joints', strings, **none).successful
    assert by_name(robot.healthy())['arm_2_joint'] != 0.0


def test_numbers_of_absurd_size_are_refused(robot):
    robot.healthy()
    n = len(robot.model.joints)

    def feed():
        robot.send_odom()
        robot.joints.publish(robot.joint_state(names=robot.model.joints, velocity=[1e160] * n))

    assert robot.quiet(feed) == []
    _, text, values = robot.bench.next_status(f'{NODE}: joint_states', feed)
    assert int(values['rejected: range']) > 0
    assert 'stale' in text
    assert 'beyond' in text  # the reason, although good messages came before
    robot.bench.until(lambda: 'is beyond' in robot.process.log.read_text(), 5.0)
    assert robot.process.log.read_text().count('velocity of') == 1  # said once
    robot.send_reference(['arm_2_joint'], [0.6], [1e160])
    assert any(robot.healthy().effort)


def test_effort_limit(robot):
    double = ParameterType.PARAMETER_DOUBLE
    assert set_parameter(robot, 'effort_limit_scale', double, double_value=0.05).successful
    message = robot.healthy()
    _, text, _ = robot.bench.next_status(f'{NODE}: output', robot.send)
    assert set_parameter(robot, 'effort_limit_scale', double, double_value=1.0).successful
    assert_allclose(np.abs(by_name(message)['arm_2_joint']), 0.05 * 80.0)
    assert 'arm_2_joint' in text


def test_parameters_are_described(robot):
    names = ['timeout.odom', 'gains.arm_1_joint.p', 'base_type']
    described = robot.bench.call(DescribeParameters, f'/{NODE}/describe_parameters', names=names)
    timeout, gain, base = described.descriptors
    assert timeout.description.endswith('[s]')
    assert gain.floating_point_range[0].from_value == 0.0
    assert base.read_only
    assert 'diff_drive' in base.additional_constraints


def test_enable_service(robot):
    robot.healthy()
    del robot.efforts[:]
    assert robot.bench.call(SetBool, f'/{NODE}/enable', data=False).success
    robot.bench.until(lambda: robot.efforts, 5.0)
    assert not any(robot.efforts[-1].effort)
    assert robot.quiet(robot.send) == []
    assert robot.bench.call(SetBool, f'/{NODE}/enable', data=True).success
    assert any(robot.healthy().effort)


def test_print_model_service(robot):
    response = robot.bench.call(Trigger, f'/{NODE}/print_model')
    assert response.success
    assert 'wheel_left_joint: motor' in response.message


def test_misspelt_parameter_is_reported(robot):
    level, _, values = robot.bench.next_status(f'{NODE}: model', robot.send)
    assert level == b'\x01'
    assert any('misspelt_parameter' in v for k, v in values.items() if k.startswith('remark'))


def transition(robot, number):
    request = Transition(id=number)
    return robot.bench.call(ChangeState, f'/{NODE}/change_state', transition=request).success


def test_deactivation_sends_zeros_and_activation_starts_again(robot):
    robot.healthy()
    del robot.efforts[:]
    assert transition(robot, Transition.TRANSITION_DEACTIVATE)
    robot.bench.spin(0.2)
    assert not any(robot.efforts[-1].effort)
    assert robot.quiet(robot.send) == []
    assert robot.bench.call(GetState, f'/{NODE}/get_state').current_state.label == 'inactive'
    assert transition(robot, Transition.TRANSITION_CLEANUP)
    assert transition(robot, Transition.TRANSITION_CONFIGURE)
    assert transition(robot, Transition.TRANSITION_ACTIVATE)
    assert any(robot.healthy().effort)
