# SPDX-License-Identifier: Apache-2.0
"""kane_contact_observer: its core without ROS, and as a process over real DDS."""

import time

import numpy as np
import pytest
from numpy.testing import assert_allclose
from ros_models import PENDULUM_URDF, model_of, parameters

import kane_dynamics as kd
from kane_dynamics.control.contact_observer import ContactObserver, observed_joints
from kane_dynamics.control.node_dynamics import Dynamics
from kane_dynamics.exceptions import InvalidInputError, NameNotFoundError
from kane_dynamics.robot_config.parameters.tables import ContactObserverParameters
from kane_dynamics.robot_config.robot_source import build_model

NODE = 'kane_contact_observer'
MS = 1_000_000
G = 9.81


def hinge(**values):
    """Return an observer of a pendulum whose rod may carry something."""
    p = parameters(
        ContactObserverParameters,
        payloads=('rod',),
        **{'frame': 'rod', 'payload_frame': 'rod', **values},
    )
    dynamics = Dynamics(build_model(p, PENDULUM_URDF))
    observer = ContactObserver(dynamics, p)
    observer.configure(p, np.array([50.0]), np.array([2.0]))
    return dynamics, observer


def hold(observer, count, push, start=1, angle=np.pi / 2):
    """Hold the rod level against a push for some samples of 10 ms; return what they gave."""
    weight = kd.gravity_force(observer._model.robot, [angle])
    return [
        observer.update(k * 10 * MS, np.array([angle]), np.zeros(1), weight - push)
        for k in range(start, start + count)
    ]


def test_a_push_is_felt_and_flagged_after_its_hold():
    _, observer = hinge()
    assert hold(observer, 11, 3.0) == [False] + [True] * 10
    assert_allclose(observer.external, 3.0 * -np.expm1(-50.0 * 0.1), rtol=1e-12)
    assert observer.collision
    hold(observer, 20, 0.0, start=12)
    assert not observer.collision
    found = observer.wrench(np.array([np.pi / 2]), np.zeros(1))
    assert found.unfelt.shape == (5, 6)


def test_gaps_and_repeated_stamps_are_no_time():
    _, observer = hinge()
    hold(observer, 10, 3.0)
    before = observer.external.copy()
    assert hold(observer, 1, 0.0, start=10) == [False]  # the same stamp again
    assert_allclose(observer.external, before)
    assert hold(observer, 1, 3.0, start=100) == [False]  # 0.9 s later
    assert_allclose(observer.external, 0.0)
    assert not observer.collision


def test_machine_code_that_takes_over_begins_anew():
    dynamics, observer = hinge()
    hold(observer, 10, 3.0)
    dynamics.engine = kd.dynamics(dynamics.model.robot)
    assert hold(observer, 1, 3.0, start=11) == [False]
    assert hold(observer, 1, 3.0, start=12) == [True]


def test_a_payload_is_estimated_from_a_motion():
    dynamics, observer = hinge()
    robot, com = dynamics.model.robot, np.array([0.1, 0.0, -0.8])
    loaded = robot.with_payload('rod', 1.5, com)
    observer.start_estimate()
    for k in range(1, 301):
        t = 0.01 * k
        q, v, a = (np.array([x]) for x in (np.sin(2 * t), 2 * np.cos(2 * t), -4 * np.sin(2 * t)))
        tau = kd.inverse_dynamics(loaded, q, v, a)
        observer.update(k * 10 * MS, q, v, tau)
    found = observer.finish_estimate()
    # one hinge feels m c_x and m c_z apart, and J_yy; splines of 0.1 s: 1e-6
    assert set(found.visible) >= {'mx', 'mz'}
    assert_allclose(found.parameters[[1, 3]], 1.5 * com[[0, 2]], rtol=1e-4)


def test_estimates_that_cannot_be_are_told():
    _, observer = hinge()
    with pytest.raises(InvalidInputError, match='start an estimate'):
        observer.finish_estimate()
    observer.start_estimate()
    with pytest.raises(InvalidInputError, match='no measured state'):
        observer.finish_estimate()
    observer.start_estimate()
    hold(observer, 5, 0.0)
    with pytest.raises(InvalidInputError, match='need samples over'):
        observer.finish_estimate()
    _, blind = hinge(payload_frame='', frame='')
    with pytest.raises(InvalidInputError, match='payload_frame'):
        blind.start_estimate()
    assert blind.wrench(np.zeros(1), np.zeros(1)) is None


def test_the_arm_is_observed_unless_wheels_are_named():
    model = model_of('nonholonomic')
    arm = observed_joints(model, ())
    assert arm and not any('wheel' in name for name in arm)
    assert observed_joints(model, (arm[-1], arm[0])) == (arm[0], arm[-1])
    with pytest.raises(NameNotFoundError, match='elbo'):
        observed_joints(model, ('elbo',))


@pytest.mark.ros
def test_over_dds_a_push_raises_the_flag_and_a_payload_is_weighed(bench):
    pytest.importorskip('rclpy', reason='ROS 2 is not installed: pip install .[ros]')
    from geometry_msgs.msg import WrenchStamped
    from sensor_msgs.msg import JointState
    from std_msgs.msg import Bool, Float64MultiArray
    from std_srvs.srv import Trigger

    from kane_dynamics.messages.conversions import set_stamp

    urdf = bench.folder / 'pendulum.urdf'
    urdf.write_text(PENDULUM_URDF)
    given = {
        'urdf_file': urdf,
        'compiled': 'never',
        'frame': 'rod',
        'payload_frame': 'rod',
        'observer.hinge.threshold': 2.0,
        'timeout.joint_states': 2.0,
    }
    bench.start('contact_observer_node', params=given)
    states = bench.publisher(JointState, 'joint_states')
    efforts = bench.listen(JointState, f'/{NODE}/external_effort')
    flags = bench.listen(Bool, f'/{NODE}/collision')
    wrenches = bench.listen(WrenchStamped, f'/{NODE}/wrench')
    spreads = bench.listen(Float64MultiArray, f'/{NODE}/wrench_covariance')

    def send(push=0.0, angle=0.5 * np.pi, mass=0.0, after=None):
        weight = -G * (0.5 + mass) * np.sin(angle)  # of the rod, and of a mass 1 m below
        state = JointState(name=['hinge'], position=[angle], velocity=[0.0])
        state.effort = [-weight - push]
        state.header.stamp = bench.now()
        if after is not None:  # some 10 ms after another, whatever this machine does meanwhile
            set_stamp(state.header.stamp, after[0] + after[1] * 10 * MS)
        states.publish(state)

    bench.matched(states)
    send()
    bench.until(lambda: efforts and flags and wrenches and spreads, each=send)
    sign = 1.0 if abs(efforts[-1].effort[0]) < 1e-6 else -1.0
    assert sign == 1.0, efforts[-1]
    assert not flags[-1].data
    bench.until(lambda: abs(efforts[-1].effort[0] - 3.0) < 0.1, each=lambda: send(3.0))
    bench.until(lambda: flags[-1].data, each=lambda: send(3.0))
    bench.until(lambda: abs(wrenches[-1].wrench.torque.y) > 1.0, each=lambda: send(3.0))
    assert efforts[-1].name == ['hinge']
    assert wrenches[-1].header.frame_id == 'rod'
    assert_allclose(wrenches[-1].wrench.torque.y, 3.0, atol=0.2)
    assert len(spreads[-1].data) == 36 and spreads[-1].data[0] > 1e6  # a force along x: unfelt
    values = bench.next_status(f'{NODE}: output', each=lambda: send(3.0))
    assert values[1] == 'collision'
    bench.until(lambda: not flags[-1].data)  # states have stopped: it stands no longer

    started = bench.call(Trigger, f'/{NODE}/start_payload_estimate')
    assert started.success
    begin = bench.node.get_clock().now().nanoseconds
    for k in range(100):
        end, count = time.monotonic() + 0.5, len(efforts)
        send(angle=0.5 * np.pi + 0.3 * np.sin(0.005 * k), mass=0.7, after=(begin, k))
        # the first has no answer, nor has a state that best effort loses
        bench.until(lambda e=end, n=count: len(efforts) > n or time.monotonic() > e, period=0.002)
    told = bench.call(Trigger, f'/{NODE}/finish_payload_estimate')
    assert told.success, told.message
    # a hinge that hardly turns feels moments of mass, not mass itself
    assert 'visible' in told.message and 'mx' in told.message.split('visible:')[1], told.message
    again = bench.call(Trigger, f'/{NODE}/finish_payload_estimate')
    assert not again.success and 'start' in again.message
