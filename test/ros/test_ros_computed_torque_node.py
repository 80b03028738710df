# SPDX-License-Identifier: Apache-2.0
"""kane_computed_torque as a process, over real DDS: its law, its ramp, its silence."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from ros_models import PENDULUM_URDF, ROOT, model_of, trajectory

pytest.importorskip('rclpy', reason='ROS 2 is not installed: pip install .[ros]')

from feeder import FRAME, TIMEOUT, Feeder
from geometry_msgs.msg import PoseStamped
from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState
from rcl_interfaces.msg import Parameter, ParameterType, ParameterValue
from rcl_interfaces.srv import SetParameters
from ros_bench import LATCHED
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from std_srvs.srv import SetBool

import kane_dynamics as kd
from kane_dynamics.analysis.tracking import PASSIVE
from kane_dynamics.control.effort_controller import Gains, tracking_efforts
from kane_dynamics.control.effort_law import EffortLaw, Terms
from kane_dynamics.control.node_dynamics import Dynamics
from kane_dynamics.control.reference import Motors, ReferenceInput
from kane_dynamics.control.task_space_tracking import FrameMotion, FrameTracking
from kane_dynamics.messages.conversions import nanoseconds
from kane_dynamics.messages.inputs import InputMonitor

pytestmark = pytest.mark.ros
NODE = 'kane_computed_torque'
SLOPE, BRAKE, RAMP = 4.0, 2.0, 0.4
LONGER = PENDULUM_URDF.replace('name="hinge"', 'name="knee"').replace('value="1"', 'value="2"')


@pytest.fixture(scope='module')
def robot(bench):
    model = model_of('nonholonomic', base_frame_id=FRAME)
    gains = {f'passivity_gains.{name}.lambda': SLOPE for name in model.motors}
    gains |= {f'passivity_gains.{name}.k': BRAKE for name in model.motors}
    process = bench.start(
        'computed_torque_node',
        files=[ROOT / 'config' / 'nonholonomic.yaml', ROOT / 'config' / 'computed_torque.yaml'],
        params={
            'base_frame_id': FRAME,
            'law': PASSIVE,
            'ramp_time': RAMP,
            'timeout.joint_states': TIMEOUT,
            'timeout.odom': TIMEOUT,
            'compiled': 'never',
            'enforce_command_limits': 'false',
            'timeout_action': 'hold_gravity',
            **gains,
        },
    )
    feeder = Feeder(bench, model, NODE)
    feeder.process = process
    bench.matched(feeder.joints)
    bench.matched(feeder.reference)
    return feeder


def state_of(feeder):
    model = feeder.model
    q, v = model.robot.neutral(), np.zeros(model.robot.nv)
    q[model.q_index(model.joints)] = [feeder.position[name] for name in model.joints]
    v[model.v_index(model.joints)] = [feeder.velocity[name] for name in model.joints]
    yaw = 2.0 * np.arctan2(0.6, 0.8)
    q[2] = yaw
    v[:3] = [0.2 * np.cos(yaw), 0.2 * np.sin(yaw), 0.1]
    return q, v


def expected_efforts(feeder, names, values):
    model, (q, v) = feeder.model, state_of(feeder)
    source = ReferenceInput(Motors(model), InputMonitor('reference', 1.0, now=lambda: 10**12))
    assert source.take(trajectory(names, *values))
    n = len(model.motors)
    gains = Gains(np.full(n, SLOPE), np.full(n, BRAKE))
    law = EffortLaw(Dynamics(model))
    return tracking_efforts(law, PASSIVE, gains, q, v, source.at(10**12), Terms()).motors


def grown(feeder):
    """Feed until the efforts are let through whole: those that hold the robot; return them."""
    hold = EffortLaw(Dynamics(feeder.model)).hold(state_of(feeder)[0], Terms())
    feeder.healthy()
    answered(feeder, hold)
    return hold


def answered(feeder, hold):
    """Feed until an answer is these efforts, as exactly as it is compared later."""

    def equal():
        answers = feeder.answers()
        return answers and np.allclose(answers[-1].effort, hold, rtol=0.0, atol=1e-10)

    feeder.bench.until(equal, each=feeder.send)


def test_reference_is_followed_by_the_law(robot, rng):
    names = list(robot.model.motors)
    values = rng.uniform(-0.4, 0.4, (3, len(names)))
    expected = expected_efforts(robot, names, values)
    grown(robot)

    def feed():
        robot.send_reference(names, *values, stamped=True)
        robot.send()

    def followed():
        answers = robot.answers()
        return answers and np.allclose(answers[-1].effort, expected, rtol=0.0, atol=1e-9)

    robot.bench.until(followed, each=feed)
    assert np.abs(expected).max() > 1.0
    output = f'{NODE}: output'  # its next report may be still to come
    robot.bench.until(lambda: 'law' in robot.bench.status(output)[2], each=feed)
    assert robot.bench.status(output)[2]['law'] == PASSIVE


def rises(robot, hold, begin):
    """Check that efforts grow in proportion to the time since the first."""
    answers = [m for m in robot.efforts[begin:] if robot._answers(m)]
    times = np.array([nanoseconds(m.header.stamp) for m in answers]) * 1e-9
    shares = np.array([m.effort @ hold / (hold @ hold) for m in map(as_numbers, answers)])
    assert shares[0] < 0.3  # the first messages may have been lost
    assert_allclose(shares[-1], 1.0, atol=1e-9)
    assert (np.diff(shares) > -1e-9).all()
    growing = (shares > 1e-9) & (shares < 1.0 - 1e-9)
    assert growing.sum() > 2
    # stamps are a little older than the answers that they are the stamps of
    assert_allclose(np.polyfit(times[growing], shares[growing], 1)[0], 1.0 / RAMP, rtol=0.5)


def as_numbers(message):
    message.effort = np.array(message.effort)
    return message


@pytest.mark.parametrize('how', ['enable', 'lifecycle'])
def test_efforts_are_taken_back_and_grow_again(robot, how):
    bench, zeros = robot.bench, np.zeros(len(robot.model.motors))
    hold = grown(robot)

    def switch(on):
        if how == 'enable':
            return bench.call(SetBool, f'/{NODE}/enable', data=on).success
        kind = Transition.TRANSITION_ACTIVATE if on else Transition.TRANSITION_DEACTIVATE
        return bench.call(
            ChangeState, f'/{NODE}/change_state', transition=Transition(id=kind)
        ).success

    assert switch(False)
    assert robot.quiet(robot.send) == []
    assert_allclose(robot.efforts[-1].effort if robot.efforts else zeros, zeros, atol=0.0)
    begin = len(robot.efforts)
    assert switch(True)
    answered(robot, hold)
    rises(robot, hold, begin)


def test_stale_states_give_zeros_and_silence(robot):
    grown(robot)
    robot.bench.until(robot.silent)
    assert robot.quiet(lambda: None) == []


def test_law_is_fixed_and_gains_are_not(robot):
    def put(name, **value):
        request = [Parameter(name=name, value=ParameterValue(**value))]
        found = robot.bench.call(SetParameters, f'/{NODE}/set_parameters', parameters=request)
        return found.results[0].successful

    double, text = ParameterType.PARAMETER_DOUBLE, ParameterType.PARAMETER_STRING
    assert not put('law', type=text, string_value='computed_torque')
    assert not put('passivity_gains.arm_1_joint.k', type=double, double_value=-1.0)
    assert not put('ramp_time', type=double, double_value=-1.0)
    assert put('effort_rate.arm_2_joint', type=double, double_value=0.5)
    hold = EffortLaw(Dynamics(robot.model)).hold(state_of(robot)[0], Terms())
    for on in (False, True):
        assert robot.bench.call(SetBool, f'/{NODE}/enable', data=on).success
    robot.healthy()
    at = list(robot.model.motors).index('arm_2_joint')
    robot.bench.until(lambda: 0.0 < abs(robot.answers()[-1].effort[at]), each=robot.send)
    assert abs(robot.answers()[-1].effort[at]) < 0.5 * abs(hold[at])
    assert put('effort_rate.arm_2_joint', type=double, double_value=0.0)


def test_a_frame_is_followed_in_task_space(bench):
    """A second node of the same name as the first, which is not fed any more."""
    model = model_of('nonholonomic', base_frame_id=FRAME)
    bench.start(
        'computed_torque_node',
        files=[ROOT / 'config' / 'nonholonomic.yaml'],
        params={
            'base_frame_id': FRAME,
            'space': 'task',
            'compiled': 'never',
            'ramp_time': 0.0,
            'timeout_action': 'zero',
            'enforce_command_limits': 'false',
            'timeout.joint_states': 2.0,  # the reference is slow on a busy machine
        },
        arguments=['-r', '__node:=of_a_frame'],
    )
    feeder = Feeder(bench, model, 'of_a_frame')
    poses = bench.publisher(PoseStamped, 'of_a_frame/pose')
    bench.matched(poses)
    q, v = state_of(feeder)
    place = kd.forward_kinematics(model.robot, q).pose('tool_link')
    target = PoseStamped()
    target.header.frame_id = 'odom'
    position = place.position() + [0.0, 0.0, 0.05]
    for name, x in zip('xyz', position, strict=True):
        setattr(target.pose.position, name, float(x))
    for name, x in zip('wxyz', place.rotation.components, strict=True):
        setattr(target.pose.orientation, name, float(x))
    law = FrameTracking(
        kd.dynamics(model.robot, model.constraints),
        'tool_link',
        model.actuated,
        np.full(6, 100.0),
        np.full(6, 20.0),
        q,
        known=tuple(model.motors),
    )
    wanted = FrameMotion([*position, *place.rotation.components])
    expected = law.effort(q, v, wanted).result.effort[model.v_index(model.motors)]

    def feed():
        poses.publish(target)
        feeder.send()

    def followed():
        found = feeder.answers()
        return found and np.allclose(found[-1].effort, expected, rtol=0.0, atol=1e-8)

    bench.until(followed, each=feed)
    assert np.abs(expected).max() > 1.0

    def told(level, text, values):
        return values.get('rank of the frame') == '6' and float(values['manipulability']) > 0.0

    bench.status_where('of_a_frame: output', told, feed)
    target.header.frame_id = 'map'

    def refused(level, text, values):
        return "need frame_id 'odom', got 'map'" in values.get('last rejection', '')

    bench.status_where('of_a_frame: pose', refused, feed)
    bench.until(
        lambda: feeder.answers() and not any(feeder.answers()[-1].effort), each=feeder.send
    )


def test_a_model_swapped_under_torque_sends_zeros_and_grows_anew(bench):
    process = bench.start('computed_torque_node', params={'compiled': 'never', 'ramp_time': RAMP})
    efforts = bench.listen(JointState, f'/{NODE}/effort')
    description = bench.publisher(String, 'robot_description', LATCHED)
    joints = bench.publisher(JointState, 'joint_states')

    def send():
        joints.publish(JointState(name=['hinge', 'knee'], position=[0.5] * 2, velocity=[0.0] * 2))

    def held(name, weight):
        expected = weight * 9.81 * 0.5 * np.sin(0.5)
        last = efforts[-1] if efforts else None
        return last and list(last.name) == [name] and np.isclose(abs(last.effort[0]), expected)

    description.publish(String(data=PENDULUM_URDF))
    bench.until(lambda: held('hinge', 1.0), each=send)
    del efforts[:]
    description.publish(String(data=LONGER))
    bench.until(lambda: held('knee', 2.0), each=send)
    change = [list(m.name) for m in efforts].index(['knee'])
    assert list(efforts[change - 1].effort) == [0.0]
    assert abs(efforts[change].effort[0]) < 1.0
    assert process.poll() is None
