# SPDX-License-Identifier: Apache-2.0
"""kane_inverse_dynamics as a process, over real DDS."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from ros_models import ROOT, model_of, preset, trajectory

pytest.importorskip('rclpy', reason='ROS 2 is not installed: pip install .[ros]')

from feeder import FRAME, NODE, TIMEOUT, Feeder
from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState, GetState
from rcl_interfaces.msg import Parameter, ParameterType, ParameterValue
from rcl_interfaces.srv import DescribeParameters, SetParameters
from ros_models import wanted_motion
from std_srvs.srv import SetBool, Trigger

import kane_dynamics as kd
from kane_dynamics.control.effort_law import EffortLaw, Terms
from kane_dynamics.control.node_dynamics import Dynamics
from kane_dynamics.control.reference import Motors, ReferenceInput
from kane_dynamics.messages.conversions import nanoseconds
from kane_dynamics.messages.inputs import InputMonitor

pytestmark = pytest.mark.ros
COMMAND_JOINTS = ('arm_2_joint', 'wheel_left_joint')
ERROR, WARN = b'\x02', b'\x01'


@pytest.fixture(scope='module')
def model():
    return model_of('nonholonomic', base_frame_id=FRAME)


@pytest.fixture(scope='module')
def robot(bench, model):
    process = bench.start(
        'inverse_dynamics_node',
        files=[ROOT / 'config' / 'nonholonomic.yaml'],
        params={
            'base_frame_id': FRAME,
            'command_joints': f'[{", ".join(COMMAND_JOINTS)}]',
            'timeout.joint_states': TIMEOUT,
            'timeout.odom': TIMEOUT,
            'compiled': 'never',
            'timeout_action': 'hold_gravity',
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
    hold = robot.healthy()
    del robot.efforts[:]

    def followed():
        return [m for m in robot.answers() if m.effort != hold.effort]

    def feed():
        robot.send_reference(names, *values, stamped=True)
        robot.send()

    robot.bench.until(lambda: len(followed()) > 5, each=feed)
    model, (q, v) = robot.model, state_of(robot)
    source = ReferenceInput(Motors(model), InputMonitor('reference', 1.0, now=lambda: 10**12))
    assert source.take(trajectory(names, *values))
    reference = source.at(10**12)
    wanted = wanted_motion(EffortLaw(Dynamics(model)), q, v, reference)
    forward = kd.constrained_inverse_dynamics(
        model.robot, *wanted, model.constraints, model.motors
    ).effort
    chosen = preset('nonholonomic')
    for name in ('wheel_left_joint', 'arm_5_joint'):
        p, d = chosen[f'gains.{name}.p'], chosen[f'gains.{name}.d']
        i = names.index(name)
        error = values[0][i] - robot.position[name], values[1][i] - robot.velocity[name]
        expected = forward[model.robot.velocity_index(name)] + p * error[0] + d * error[1]
        assert_allclose([by_name(m)[name] for m in followed()], expected, atol=1e-9)


def test_commands_have_the_order_of_command_joints(robot):
    message = robot.healthy()
    expected = [by_name(message)[n] for n in COMMAND_JOINTS]
    assert expected[0] != expected[1]
    del robot.commands[:]  # those of another reference; one may still be on its way
    robot.bench.until(
        lambda: any(np.allclose(m.data, expected) for m in robot.commands), each=robot.send
    )


@pytest.mark.parametrize('newest', ['odom', 'joints'])
def test_stamp_is_that_of_the_newest_input(robot, newest):
    robot.healthy()
    stamps = []

    def feed():
        odom, joints = robot.send_odom(), robot.joint_state()
        if newest == 'odom':
            odom = robot.send_odom()
        robot.bench.spin(0.02)  # odom is there before joint_states, which the node answers
        robot.joints.publish(joints)
        stamps.append({'odom': odom, 'joints': joints}[newest].header.stamp)

    robot.bench.until(lambda: any(m.header.stamp in stamps for m in robot.efforts), each=feed)


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
    name, count = f'{NODE}: joint_states', f'rejected: {kind}'
    before = robot.bench.next_status(name, robot.send)[2]

    def feed():
        robot.send_odom()
        robot.joints.publish(make(robot))

    def counted(level, text, values):
        return 'stale' in text and int(values.get(count, 0)) > int(before.get(count, 0))

    assert robot.quiet(feed) == []
    assert robot.bench.status_where(name, counted, feed)[0] == ERROR


def test_one_bad_message_among_good_ones_is_a_warning(robot):
    robot.healthy()

    def feed():
        robot.joints.publish(robot.joint_state(position=[np.nan] * 8))
        robot.bench.spin(0.02)
        robot.send()

    def warned(level, text, _):
        return level == WARN and 'not a finite number' in text

    robot.bench.status_where(f'{NODE}: joint_states', warned, feed)


def test_stale_joint_states_give_zeros_once_and_then_silence(robot):
    zeros = [0.0] * len(robot.model.motors)
    robot.healthy()
    assert robot.quiet(lambda: None) == []
    robot.healthy()
    robot.bench.until(robot.silent)
    robot.bench.spin(0.5)
    last = [list(m.effort) for m in robot.efforts[-2:]]
    assert last[0] != zeros
    assert last[1] == zeros
    assert list(robot.commands[-1].data) == [0.0, 0.0]


def test_old_stamps_are_stale_although_they_keep_coming(robot):
    robot.healthy()

    def feed():
        robot.send_odom()
        message = robot.joint_state()
        message.header.stamp.sec -= 10
        robot.joints.publish(message)

    def explained(_, text, values):
        return 'use_sim_time' in values.get('last rejection', '')

    assert robot.quiet(feed) == []
    robot.bench.status_where(f'{NODE}: joint_states', explained, feed)
    hints = [line for line in robot.process.log.read_text().splitlines() if 'use_sim_time' in line]
    assert len([line for line in hints if 'joint_states' in line]) == 1


def test_a_state_that_is_overtaken_by_a_newer_one_is_not_used(robot):
    name, count = f'{NODE}: joint_states', 'rejected: order'
    before = int(robot.bench.next_status(name, robot.send)[2].get(count, 0))
    elsewhere = [1.0] * (len(robot.model.joints) + 1)
    robot.healthy()
    del robot.efforts[:]

    def overtake():
        old = robot.joint_state(position=elsewhere)
        at = nanoseconds(old.header.stamp)

        def overtaken():
            return any(nanoseconds(m.header.stamp) > at for m in robot.answers())

        robot.bench.until(overtaken, each=robot.send, period=0.01)
        robot.joints.publish(old)  # where the machine is busy, it may be stale by now instead

    def counted(level, text, values):
        return int(values.get(count, 0)) > before

    robot.bench.status_where(name, counted, overtake)
    assert not [m for m in robot.efforts if list(m.position) == elsewhere[: len(m.position)]]


def test_odometry_of_another_frame_gives_no_effort(robot):
    robot.healthy()

    def feed():
        robot.send_odom('base_link')
        robot.joints.publish(robot.joint_state())

    def explained(level, text, values):
        reason = "'base_link', need 'my_base'"
        return level == ERROR and reason in values.get('last rejection', '')

    assert robot.quiet(feed) == []
    robot.bench.status_where(f'{NODE}: odom', explained, feed)


def test_bad_reference_is_not_followed(robot):
    hold = robot.healthy()
    del robot.efforts[:]

    def feed():
        for bad in (
            (['arm_1_joint', 'elbow'], [9.0, 9.0]),
            (['arm_1_joint'], [np.nan]),
            (['arm_1_joint'], [9.0], [1.0, 1.0]),
        ):
            robot.send_reference(*bad)
            robot.bench.spin(0.01)  # one at a time: the subscription keeps the last only
        robot.send()

    def counted(level, text, values):
        kinds = {'rejected: unknown', 'rejected: nan', 'rejected: short'}
        return level == WARN and 'hold_gravity' in text and kinds <= set(values)

    robot.bench.status_where(f'{NODE}: reference', counted, feed)
    assert len(robot.answers()) > 3
    for message in robot.answers():
        assert_allclose(message.effort, hold.effort, atol=1e-12)


def test_stale_reference_is_not_followed(robot):
    hold = robot.healthy().effort

    def change():
        """Return what the reference adds to the last answer [N m]."""
        answers = robot.answers()
        return abs(answers[-1].effort[3] - hold[3]) if answers else 0.0

    def feed():
        robot.send_reference(['arm_2_joint'], [1.5])
        robot.send()

    robot.bench.until(lambda: change() > 1.0, each=feed)
    robot.bench.until(lambda: change() < 1e-9, each=robot.send)


def set_parameter(robot, name, kind, **value):
    content = ParameterValue(type=kind, **value)
    request = [Parameter(name=name, value=content)]
    return robot.bench.call(SetParameters, f'/{NODE}/set_parameters', parameters=request).results[
        0
    ]


def test_terms_and_policy_change_while_running(robot):
    robot.healthy()
    policy = ParameterType.PARAMETER_STRING
    assert set_parameter(robot, 'timeout_action', policy, string_value='zero').successful
    assert not any(robot.healthy().effort)
    assert set_parameter(robot, 'timeout_action', policy, string_value='stop').successful
    assert robot.quiet(robot.send) == []
    result = set_parameter(robot, 'timeout_action', policy, string_value='fly')
    assert not result.successful
    assert 'hold_gravity, zero, stop' in result.reason
    assert set_parameter(robot, 'timeout_action', policy, string_value='hold_gravity').successful
    assert any(robot.healthy().effort)
    boolean = ParameterType.PARAMETER_BOOL
    assert set_parameter(robot, 'terms.gravity', boolean, bool_value=False).successful
    assert not any(robot.healthy().effort)
    assert set_parameter(robot, 'terms.gravity', boolean, bool_value=True).successful
    double = ParameterType.PARAMETER_DOUBLE
    assert not set_parameter(robot, 'feedforward_scale', double, double_value=1.5).successful
    assert not set_parameter(robot, 'gains.arm_1_joint.p', double, double_value=-1.0).successful
    assert not set_parameter(robot, 'base_type', policy, string_value='none').successful


def test_a_motor_that_nothing_holds_is_reported(robot):
    policy, double = ParameterType.PARAMETER_STRING, ParameterType.PARAMETER_DOUBLE
    gain = preset('nonholonomic')['gains.arm_5_joint.p']
    assert set_parameter(robot, 'timeout_action', policy, string_value='hold_position').successful
    assert set_parameter(robot, 'gains.arm_5_joint.p', double, double_value=0.0).successful
    robot.healthy()
    words = "hold_position: no gain p, nothing holds ['arm_5_joint']"
    output = f'{NODE}: output'
    robot.bench.status_where(
        output, lambda level, text, _: (level, text) == (WARN, words), robot.send
    )
    assert set_parameter(robot, 'gains.arm_5_joint.p', double, double_value=gain).successful
    assert set_parameter(robot, 'timeout_action', policy, string_value='hold_gravity').successful


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

    def explained(level, text, values):
        # with the reason, although good messages came before
        return 'stale' in text and 'beyond' in text and int(values['rejected: range']) > 0

    assert robot.quiet(feed) == []
    robot.bench.status_where(f'{NODE}: joint_states', explained, feed)
    robot.bench.until(lambda: 'is beyond' in robot.process.log.read_text())
    assert robot.process.log.read_text().count('velocity of') == 1  # said once
    robot.send_reference(['arm_2_joint'], [0.6], [1e160])
    assert any(robot.healthy().effort)


def test_effort_limit(robot):
    double = ParameterType.PARAMETER_DOUBLE
    assert set_parameter(robot, 'effort_limit_scale', double, double_value=0.05).successful
    message = robot.healthy()
    robot.bench.status_where(
        f'{NODE}: output', lambda level, text, _: 'arm_2_joint' in text, robot.send
    )
    assert set_parameter(robot, 'effort_limit_scale', double, double_value=1.0).successful
    assert_allclose(np.abs(by_name(message)['arm_2_joint']), 0.05 * 80.0)


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
    assert robot.bench.call(SetBool, f'/{NODE}/enable', data=False).success
    assert robot.quiet(robot.send) == []
    assert robot.bench.call(SetBool, f'/{NODE}/enable', data=True).success
    assert any(robot.healthy().effort)


def test_print_model_service(robot):
    response = robot.bench.call(Trigger, f'/{NODE}/get_model_summary')
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
    assert transition(robot, Transition.TRANSITION_DEACTIVATE)
    assert robot.quiet(robot.send) == []
    assert robot.bench.call(GetState, f'/{NODE}/get_state').current_state.label == 'inactive'
    assert transition(robot, Transition.TRANSITION_CLEANUP)
    assert transition(robot, Transition.TRANSITION_CONFIGURE)
    assert transition(robot, Transition.TRANSITION_ACTIVATE)
    assert any(robot.healthy().effort)
