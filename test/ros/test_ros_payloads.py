# SPDX-License-Identifier: Apache-2.0
"""Payloads and the direction of gravity while nodes run: cores, and over real DDS."""

from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from ros_models import (
    PENDULUM_URDF,
    FakeClock,
    from_preset,
    model_of,
    odometry,
    parameters,
    time_message,
)
from scipy.spatial.transform import Rotation

import kane_dynamics as kd
from kane_dynamics.control.node_dynamics import Dynamics
from kane_dynamics.control.state_inputs import TiltInput
from kane_dynamics.control.trajectory_efforts import PlannedEfforts
from kane_dynamics.exceptions import InvalidInputError, NameNotFoundError
from kane_dynamics.messages.inputs import InputMonitor
from kane_dynamics.plant.plant import Plant
from kane_dynamics.robot_config.parameters.tables import (
    SimulatorParameters,
    TrajectoryFeedforwardParameters,
)
from kane_dynamics.robot_config.robot_source import build_model

NODE = 'kane_inverse_dynamics'
COM = np.array([0.0, 0.0, -1.0])
G = 9.81


def pendulum(**values):
    return build_model(parameters(**values), PENDULUM_URDF)


def test_loads_stay_when_machine_code_takes_over():
    dynamics = Dynamics(pendulum(payloads=('rod',)))
    dynamics.carry('rod', 2.0, COM, np.zeros((3, 3)))
    dynamics.set_gravity(np.array([0.0, 0.0, -5.0]))
    q = [np.pi / 2]
    before = dynamics.engine.gravity_force(q)
    dynamics.compile()
    assert dynamics.compiled
    assert_allclose(dynamics.engine.gravity_force(q), before, rtol=1e-12)
    assert_allclose(np.abs(before), [5.0 * (0.5 + 2.0)], rtol=1e-12)


def test_a_payload_that_changes_does_not_step_the_efforts():
    """6.9 to 80 N m from one output to the next before."""
    dynamics, values = Dynamics(pendulum(payloads=('rod',))), {}
    payloads = ros_payloads().Payloads(
        TableNode(values), SimpleNamespace(payloads=('rod',)), bounded=False
    )

    def ask(mass, com, spread=0.0, ramp=0.5):
        values.update(mass=mass, com=com, inertia=[spread, 0.0, 0.0, spread, 0.0, spread])
        payloads.apply(dynamics, ramp)

    def effort(milliseconds):
        payloads.advance(dynamics, 10**12 + milliseconds * 10**6)
        return dynamics.engine.inverse_dynamics([np.pi / 2], [0.4], [3.0])[0]

    ask(0.0, [0.0] * 3)
    ask(2.0, [0.0, 0.0, -1.0], 0.3)
    first = [effort(k) for k in range(0, 301, 10)]
    ask(1.0, [0.0, 0.5, -2.0], 0.1)  # on the way
    second = [effort(k) for k in range(300, 851, 10)]
    ask(0.0, [0.0] * 3)
    last = [effort(k) for k in range(850, 1401, 10)]
    found = np.array([*first, *second, *last])
    assert np.abs(np.diff(found)).max() < 0.03 * np.ptp(found)  # linear in 51 steps
    for part in (first, second[:50], last[:50]):
        assert_allclose(np.diff(part, 2), 0.0, atol=1e-9)
    assert second[0] == first[-1]
    assert_allclose(last[-1], first[0], rtol=1e-12)
    loaded = dynamics.model.robot.with_payload('rod', 1.0, [0.0, 0.5, -2.0], 0.1 * np.eye(3))
    expected = kd.inverse_dynamics(loaded, [np.pi / 2], [0.4], [3.0])
    assert_allclose(second[-1], expected[0], rtol=1e-12)
    ask(2.0, COM.tolist(), ramp=0.0)
    at_once = dynamics.engine.gravity_force([np.pi / 2])
    assert_allclose(np.abs(at_once), 2.5 * G)
    with pytest.raises(InvalidInputError, match='payload.rod'):
        ask(1.0, [0.0] * 3, -1.0)
    assert_allclose(dynamics.engine.gravity_force([np.pi / 2]), at_once)


def test_bodies_on_the_way_between_payloads_are_bodies():
    rng = np.random.default_rng(3)

    def body():
        root = rng.normal(size=(3, 3)) * rng.integers(0, 2)
        mass, spread = 10.0 ** rng.uniform(-3, 2), root @ root.T
        inertia = mass * 10.0 ** rng.uniform(-6, -1) * (np.trace(spread) * np.eye(3) - spread)
        return np.r_[mass, rng.normal(size=3), inertia.ravel()] * rng.integers(0, 2)

    def moments(x):
        com = x[1:4]
        about = x[0] * (com @ com * np.eye(3) - np.outer(com, com))
        return np.r_[x[0], x[0] * com, x[4:] + about.ravel()]

    for _ in range(500):
        a, b, part = body(), body(), rng.choice([1e-9, rng.uniform(), 1.0])
        found = ros_payloads().blended(a, b, part)
        assert_allclose(moments(found), (1.0 - part) * moments(a) + part * moments(b), atol=1e-9)
        if found[0]:
            kd.Inertia(found[0], found[1:4], found[4:].reshape(3, 3))  # no error


def test_links_that_do_not_exist_carry_nothing():
    with pytest.raises(NameNotFoundError, match='hook'):
        pendulum(payloads=('hook',))
    with pytest.raises(InvalidInputError, match='part of the world'):
        pendulum(payloads=('base_link',))


def test_a_simulated_robot_carries_a_payload_from_the_next_step_on():
    p = parameters(SimulatorParameters, payloads=('rod',), compiled='never')
    dynamics = Dynamics(build_model(p, PENDULUM_URDF))
    plant = Plant(dynamics, p, np.array([1.0]))
    robot = dynamics.model.robot
    loaded = robot.with_payload('rod', 2.0, COM)
    rates = [kd.forward_dynamics(r, [1.0], [0.0], [0.0]).acceleration for r in (robot, loaded)]
    plant.advance(1)
    assert_allclose(plant.simulation.v, rates[0] * p.step_size, rtol=1e-3)
    before = plant.simulation.v.copy()
    dynamics.carry('rod', 2.0, COM, np.zeros((3, 3)))
    plant.advance(1)
    assert_allclose(plant.simulation.v - before, rates[1] * p.step_size, rtol=1e-3)
    assert abs(rates[0][0] / rates[1][0] - 1.0) > 0.1


def test_trajectories_are_filled_with_what_the_arm_carries():
    values = {'payloads': ('tool_link',)}
    model = model_of('nonholonomic', **values)
    dynamics, arm = Dynamics(model), [f'arm_{k}_joint' for k in range(1, 6)]
    law = PlannedEfforts(
        dynamics, from_preset('nonholonomic', TrajectoryFeedforwardParameters, **values)
    )
    q, still, rest = model.robot.neutral(), np.zeros(5), np.full(5, 0.4)
    bare = law.along(tuple(arm), q)(0.0, rest, still, still)
    dynamics.carry('tool_link', 2.0, COM, np.zeros((3, 3)))
    more = law.along(tuple(arm), q)(0.0, rest, still, still) - bare
    q[model.q_index(arm)] = rest
    robots = model.robot, model.robot.with_payload('tool_link', 2.0, COM)
    without, weight = (kd.gravity_force(robot, q)[model.v_index(arm)] for robot in robots)
    assert np.abs(more).max() > 1.0
    assert_allclose(more, weight - without, rtol=0, atol=1e-9)


def ros_payloads():
    """Return the module, which needs rclpy."""
    pytest.importorskip('rclpy', reason='ROS 2 is not installed: pip install .[ros]')
    from kane_dynamics.ros import payloads

    return payloads


class TableNode:
    """What looks like a node whose parameters are in a table, by the end of their names."""

    def __init__(self, values):
        self.values = values

    def has_parameter(self, name):
        return True

    def get_parameter(self, name):
        return SimpleNamespace(value=self.values[name.rsplit('.', 1)[1]])

    def create_service(self, *given):
        pass


def tilt_of(model, source, clock):
    guard = InputMonitor(source, 0.1, lambda: clock.node, steady=lambda: clock.wall)
    return TiltInput(model, source, '', guard)


def imu(rotation, frame, stamp=0, known=0.0):
    """Return what looks like an Imu whose sensor is turned so in the world."""
    x, y, z, w = rotation.as_quat()
    return SimpleNamespace(
        header=SimpleNamespace(stamp=time_message(stamp), frame_id=frame),
        orientation=SimpleNamespace(x=x, y=y, z=z, w=w),
        orientation_covariance=[known] * 9,
    )


def test_a_slope_in_odometry_tilts_gravity():
    """A base heads across a slope of 10 degrees: gravity pulls it sideways, downhill."""
    model, clock = model_of('nonholonomic'), FakeClock()
    tilt = tilt_of(model, 'odom', clock)
    q = model.robot.neutral()
    assert_allclose(tilt.gravity(q), model.robot.gravity)
    slope, yaw = np.radians(10.0), 0.7
    turned = Rotation.from_euler('y', -slope) * Rotation.from_euler('z', yaw)  # uphill along x
    x, y, z, w = turned.as_quat()
    message = odometry(wxyz=(w, x, y, z))
    assert tilt.take(message)
    q[2] = np.arctan2(2 * (w * z + x * y), w * w + x * x - y * y - z * z)  # yaw of odometry
    in_base = Rotation.from_euler('z', -q[2]).apply(tilt.gravity(q))
    down = G * np.sin(slope)
    assert_allclose(in_base, turned.inv().apply([0, 0, -G]), atol=1e-12)
    assert_allclose(in_base, [-down * np.cos(yaw), down * np.sin(yaw), -G * np.cos(slope)])
    tilt.reset()
    assert_allclose(tilt.gravity(q), model.robot.gravity)


def test_an_imu_on_the_root_link_tells_how_a_robot_is_mounted():
    model, clock = pendulum(), FakeClock()
    tilt = tilt_of(model, 'imu', clock)
    assert tilt.problem()
    wall = Rotation.from_euler('y', 90, degrees=True)  # mounted on a wall: x down
    assert tilt.take(imu(wall, 'base_link'))
    assert tilt.problem() == ''
    assert_allclose(tilt.gravity(model.robot.neutral()), [G, 0, 0], atol=1e-12)
    assert not tilt.take(imu(wall, 'rod'))  # it moves
    assert not tilt.take(imu(wall, 'base_link', known=-1.0))
    message = imu(wall, 'base_link')
    message.orientation.w = 3.0
    assert not tilt.take(message)
    assert tilt.guard.rejected == {'frame': 2, 'missing': 1}
    clock.forward(0.2)
    assert 'old' in tilt.problem() or tilt.problem()


def test_a_fixed_base_has_no_odometry_to_ask():
    with pytest.raises(InvalidInputError, match='base_type other than none'):
        tilt_of(pendulum(), 'odom', FakeClock())
    assert from_preset('nonholonomic').gravity_source == 'fixed'


@pytest.mark.ros
def test_efforts_go_over_to_a_payload_and_new_models_keep_it(bench):
    """Over DDS: set together, refused when no body is like that, kept, detached by a service."""
    pytest.importorskip('rclpy', reason='ROS 2 is not installed: pip install .[ros]')
    from rcl_interfaces.srv import SetParametersAtomically
    from rclpy.parameter import Parameter
    from ros_bench import LATCHED
    from sensor_msgs.msg import Imu, JointState
    from std_msgs.msg import String
    from std_srvs.srv import Trigger

    given = {
        'payloads': '[rod]',
        'compiled': 'never',
        'gravity_source': 'imu',
        'timeout.imu': 600.0,
    }
    bench.start('inverse_dynamics_node', params=given)
    sensor = bench.publisher(Imu, 'imu')
    states = bench.publisher(JointState, 'joint_states')
    description = bench.publisher(String, 'robot_description', LATCHED)
    efforts = bench.listen(JointState, f'/{NODE}/effort')

    def tell():
        """Publish a state and return it."""
        state = JointState(name=['hinge'], position=[np.pi / 2], velocity=[0.0])
        state.header.stamp = bench.now()
        states.publish(state)
        return state

    def ask():
        """Return the first effort that answers a state which was told from now on."""
        told = []
        bench.until(lambda: answers(told), each=lambda: told.append(tell().header.stamp))
        return abs(answers(told)[0].effort[0])

    def answers(stamps):
        """Return the efforts of these states; zeros after a silence have other stamps."""
        return [effort for effort in efforts if effort.header.stamp in stamps]

    def carry(mass, com, inertia=(0.0,) * 6):
        values = {'mass': mass, 'com': list(com), 'inertia': list(inertia)}
        changes = [Parameter(f'payload.rod.{k}', value=x) for k, x in values.items()]
        call = SetParametersAtomically, f'/{NODE}/set_parameters_atomically'
        return bench.call(*call, parameters=[x.to_parameter_msg() for x in changes]).result

    def mounted(angle):
        """Tell how the base is mounted: turned about y."""
        message = Imu()
        message.header.frame_id, message.header.stamp = 'base_link', bench.now()
        message.orientation.y, message.orientation.w = np.sin(angle / 2), np.cos(angle / 2)
        sensor.publish(message)

    description.publish(String(data=PENDULUM_URDF))
    bench.until(lambda: bench.status(f'{NODE}: model')[0] == b'\x00')
    waits = bench.status_where(f'{NODE}: output', lambda level, text, values: 'imu' in text, tell)
    assert waits[0] == b'\x02' and not efforts
    bench.until(lambda: efforts, each=lambda: (mounted(0.0), tell()))
    bench.until(lambda: abs(ask() - 0.5 * G) < 1e-9)
    assert carry(2.0, COM).successful
    assert ask() < (0.5 + 2.0) * G  # it comes by a ramp
    bench.until(lambda: abs(ask() - (0.5 + 2.0) * G) < 1e-9)
    refused = carry(2.0, COM, (-1.0, 0.0, 0.0, 0.0, 0.0, 0.0))
    assert not refused.successful and 'payload.rod' in refused.reason
    assert_allclose(ask(), (0.5 + 2.0) * G, rtol=1e-12)
    heavier = PENDULUM_URDF.replace('mass value="1"', 'mass value="3"')
    description.publish(String(data=heavier))
    bench.until(
        lambda: abs(abs(efforts[-1].effort[0]) - (1.5 + 2.0) * G) < 1e-9,
        each=lambda: (mounted(0.0), tell()),  # a new model hears anew where down is
    )
    values = bench.next_status(f'{NODE}: model')[2]
    assert values['payload on rod'] == '2 kg at [0.0, 0.0, -1.0] m'
    told = bench.call(Trigger, f'/{NODE}/detach_payloads')
    assert told.success and 'rod' in told.message
    bench.until(lambda: abs(ask() - 1.5 * G) < 1e-9)
    mounted(np.pi / 2)  # on a wall: the rod hangs along gravity now
    bench.until(lambda: ask() < 1e-9)


@pytest.mark.ros
def test_the_simulator_takes_and_drops_payloads_while_it_runs():
    pytest.importorskip('rclpy', reason='ROS 2 is not installed: pip install .[ros]')
    import rclpy
    from rclpy.context import Context
    from rclpy.parameter import Parameter
    from ros_bench import domain_id
    from std_srvs.srv import Trigger

    from kane_dynamics.ros.simulator_node import SimulatorNode

    given = {
        'robot_description': PENDULUM_URDF,
        'compiled': 'never',
        'start_paused': True,
        'payloads': ['rod'],
        'payload.rod.com': [0.0, 0.0, -1.0],
    }
    context = Context()
    rclpy.init(context=context, domain_id=domain_id())
    overrides = [Parameter(name, value=value) for name, value in given.items()]
    node = SimulatorNode(context=context, parameter_overrides=overrides)
    try:
        node.start()

        def weight():
            return abs(node.host.dynamics.engine.gravity_force([np.pi / 2])[0])

        assert_allclose(weight(), 0.5 * G)
        assert node.set_parameters([Parameter('payload.rod.mass', value=2)])[0].successful
        assert_allclose(weight(), 2.5 * G)
        assert 'payload on rod' in node._model_status().values
        too_long = Parameter('payload.rod.com', value=[0.0, 0.0])
        assert 'needs 3 numbers' in node.set_parameters([too_long])[0].reason
        told = node.payloads._on_detach(Trigger.Request(), Trigger.Response())
        assert told.success
        assert_allclose(weight(), 0.5 * G)
    finally:
        node.stop()
        node.destroy_node()
        context.try_shutdown()
