# SPDX-License-Identifier: Apache-2.0
"""kane_trajectory_feedforward as a process: trajectories over real DDS."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from ros_models import PENDULUM_URDF, ROOT, from_preset

from kane_dynamics.control.node_dynamics import Dynamics
from kane_dynamics.control.trajectory_efforts import PlannedEfforts
from kane_dynamics.robot_config.parameters.tables import TrajectoryFeedforwardParameters
from kane_dynamics.robot_config.robot_source import model_of_file

NODE = 'kane_trajectory_feedforward'
ARM = tuple(f'arm_{i}_joint' for i in range(1, 6))
TARGET = np.array([0.1, 0.5, -0.4, 0.2, 0.3])

pytestmark = pytest.mark.ros


def goal_message(names=ARM):
    from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

    points = [JointTrajectoryPoint(), JointTrajectoryPoint()]
    for k, one in enumerate(points):
        one.positions = (k * TARGET).tolist()
        one.velocities = [0.0] * 5
        one.time_from_start.sec = 2 * k
    message = JointTrajectory(joint_names=list(names), points=points)
    message.header.frame_id = 'kept'
    return message


def test_the_node(bench):
    from feeder import Feeder
    from trajectory_msgs.msg import JointTrajectory

    table = TrajectoryFeedforwardParameters
    model = model_of_file('nonholonomic', table=table)
    received = bench.listen(JointTrajectory, '/my_arm/joint_trajectory')
    sender = bench.publisher(JointTrajectory, f'{NODE}/joint_trajectory', 1)
    bench.start(
        'trajectory_feedforward_node',
        files=[ROOT / 'config' / 'nonholonomic.yaml'],
        params={
            'controller': 'my_arm',
            'compiled': 'never',
            'interpolation_tolerance': 0.0,
            'min_point_rate': 2.0,
            'ramp_time': 0.25,
            'timeout.joint_states': 5.0,
            'base_frame_id': 'my_base',
        },
    )
    bench.matched(sender)
    feeder = Feeder(bench, model, NODE)
    status = f'{NODE}: trajectories'

    def offer(message):
        def each():
            feeder.send()
            sender.publish(message)

        return each

    bench.until(lambda: received, each=offer(goal_message()), period=0.1)
    message = received[-1]
    assert message.header.frame_id == 'kept'
    parameters = from_preset('nonholonomic', table, ramp_time=0.0)
    law = PlannedEfforts(Dynamics(model), parameters)
    q = model.robot.neutral()
    for name, position in feeder.position.items():
        q[model.robot.coordinate_index(name)] = position
    wanted = law.along(ARM, q)(2.0, TARGET, np.zeros(5), np.zeros(5))
    assert_allclose(message.points[-1].effort, wanted, rtol=0, atol=1e-6)  # what holds the arm
    first = message.points[0].time_from_start
    assert (first.sec, first.nanosec) == (0, 250_000_000)
    assert len(message.points) == 6  # twice a second after the ramp, and the one that holds
    bench.status_where(status, lambda level, text, v: int(v['passed on']) > 0 and text == 'ok')

    def quiet():
        del received[:]
        bench.spin(0.5)
        return not received

    bench.until(quiet)  # what was offered too often has come through
    bench.status_where(
        status,
        lambda level, text, v: level == b'\x01' and "no joint with a motor named 'wheel" in text,
        each=offer(goal_message(('wheel_left_joint', *ARM[1:]))),
    )
    assert not received
    bench.until(lambda: received, each=offer(goal_message()), period=0.1)  # it goes on


def test_down_is_where_an_imu_says(bench):
    """A pendulum that is held straight out needs m g l; mounted on a wall, it hangs there."""
    from ros_bench import LATCHED
    from sensor_msgs.msg import Imu, JointState
    from std_msgs.msg import String
    from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

    name = 'on_a_wall'  # the node before is still there
    received = bench.listen(JointTrajectory, '/pendulum/joint_trajectory')
    sender = bench.publisher(JointTrajectory, f'{name}/joint_trajectory', 1)
    sensor, states = bench.publisher(Imu, 'imu'), bench.publisher(JointState, 'joint_states')
    description = bench.publisher(String, 'robot_description', LATCHED)
    bench.start(
        'trajectory_feedforward_node',
        params={
            'controller': 'pendulum',
            'compiled': 'never',
            'gravity_source': 'imu',
            'timeout.imu': 600.0,
            'timeout.joint_states': 600.0,
            'ramp_time': 0.0,
        },
        arguments=['-r', f'__node:={name}'],
    )
    bench.matched(sender)
    description.publish(String(data=PENDULUM_URDF))

    def offer(angle):
        def each():
            imu = Imu()
            imu.header.frame_id, imu.header.stamp = 'base_link', bench.now()
            imu.orientation.y, imu.orientation.w = np.sin(angle / 2), np.cos(angle / 2)
            sensor.publish(imu)
            state = JointState(name=['hinge'], position=[np.pi / 2], velocity=[0.0])
            state.header.stamp = bench.now()
            states.publish(state)
            points = [JointTrajectoryPoint(positions=[np.pi / 2]) for _ in range(2)]
            points[1].time_from_start.sec = 1
            sender.publish(JointTrajectory(joint_names=['hinge'], points=points))

        return each

    for angle, held in ((0.0, 0.5 * 9.81), (np.pi / 2, 0.0)):

        def right(held=held):
            return received and abs(abs(received[-1].points[-1].effort[0]) - held) < 1e-6

        bench.until(right, each=offer(angle), period=0.1, timeout=60.0)


@pytest.mark.parametrize('executor', ['events', 'single'])
def test_filling_longer_than_states_last_refuses_nothing(bench, executor, monkeypatch):
    """The callback that fills kept the node from states at 100 Hz, and then called them stale."""
    import threading
    import time

    from rclpy.executors import SingleThreadedExecutor
    from rclpy.parameter import Parameter
    from sensor_msgs.msg import JointState
    from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

    from kane_dynamics.control import trajectory_filter
    from kane_dynamics.ros.runtime import fast_executor
    from kane_dynamics.ros.trajectory_feedforward_node import TrajectoryFeedforwardNode

    given = {
        'controller': f'{executor}_arm',
        'compiled': 'never',
        'robot_description': PENDULUM_URDF,
    }
    node = TrajectoryFeedforwardNode(
        context=bench.context,
        parameter_overrides=[Parameter(name, value=value) for name, value in given.items()],
        cli_args=['--ros-args', '-r', f'__node:={executor}'],
    )
    runs = fast_executor(node)
    if executor == 'single':
        runs = SingleThreadedExecutor(context=bench.context)
    node.start()
    runs.add_node(node)
    states = bench.publisher(JointState, 'joint_states')
    answers = bench.listen(JointTrajectory, f'/{executor}_arm/joint_trajectory')
    bench.until(states.get_subscription_count)
    fill, over = node.law._planned.fill, threading.Event()

    def slow(*given, **more):
        time.sleep(0.15)  # longer than timeout.joint_states
        return fill(*given, **more)

    def feed():
        while not over.wait(0.01):
            state = JointState(name=['hinge'], position=[0.1], velocity=[0.0])
            state.header.stamp = bench.now()
            states.publish(state)

    monkeypatch.setattr(node.law._planned, 'fill', slow)
    monkeypatch.setattr(
        trajectory_filter, 'PATIENCE', 60.0
    )  # on a busy machine 50 ms are soon over
    points = [JointTrajectoryPoint(positions=[0.1 * k]) for k in range(2)]
    points[1].time_from_start.sec = 1
    feeder = threading.Thread(target=feed)
    feeder.start()
    try:
        bench.until(
            lambda: node.state_problem() == '', each=lambda: runs.spin_once(timeout_sec=0.02)
        )
        for _ in range(5):
            node._on_trajectory(JointTrajectory(joint_names=['hinge'], points=points))
            runs.spin_once(timeout_sec=0.02)
        assert (node._count.passed, node._count.reason) == (5, '')
        bench.until(lambda: len(answers) == 5)
        accepted = node.state.joints.guard.accepted
        bench.until(
            lambda: node.state.joints.guard.accepted > accepted + 3,
            each=lambda: runs.spin_once(timeout_sec=0.02),
        )
    finally:
        over.set()
        feeder.join()
        node.stop()
        runs.shutdown()
        node.destroy_node()


@pytest.fixture(scope='module')
def watched(bench):
    """Return a bench with the node, and a publisher and a list of its trajectories."""
    from trajectory_msgs.msg import JointTrajectory

    name = 'often'  # nodes of other tests are still there
    received = bench.listen(JointTrajectory, '/often_arm/joint_trajectory')
    sender = bench.publisher(JointTrajectory, f'{name}/joint_trajectory', 1)
    bench.start(
        'trajectory_feedforward_node',
        files=[ROOT / 'config' / 'nonholonomic.yaml'],
        params={
            'controller': 'often_arm',
            'compiled': 'never',
            'base_frame_id': 'my_base',
            'interpolation_tolerance': 0.0,
            'min_point_rate': 0.0,
        },
        arguments=['-r', f'__node:={name}'],
    )
    bench.matched(sender)
    bench.until(lambda: bench.status(f'{name}: model')[0] in (b'\x00', b'\x01'))
    return bench, sender, received


@pytest.mark.parametrize('count', [60, 80, 100])
def test_a_goal_of_any_length_is_accepted_while_states_come(watched, count):
    """60, 80 and 100 points took 0.1 to 0.2 s to fill: 15 of 15 were refused, states stale."""
    import threading
    import time

    from feeder import Feeder
    from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

    bench, sender, received = watched
    model = model_of_file('nonholonomic', table=TrajectoryFeedforwardParameters)
    feeder, over, sent = Feeder(bench, model, 'often'), threading.Event(), [time.monotonic()]
    points = []
    for s in np.linspace(0.0, 1.0, count):
        points.append(JointTrajectoryPoint(positions=(s * s * (3.0 - 2.0 * s) * TARGET).tolist()))
        points[-1].time_from_start.nanosec = round(s * 999_999_999)

    def feed():
        while not over.wait(0.01):
            feeder.send()
            sent.append(time.monotonic())

    def offer(number):
        """Return whether a goal goes on, None where this machine kept the states for long."""
        del received[:]
        begun = time.monotonic() - 0.1
        message = JointTrajectory(joint_names=list(ARM), points=points)
        message.header.frame_id = str(number)
        sender.publish(message)
        bench.until(lambda: received or refused() or time.monotonic() > begun + 20.0)
        if received:
            return received[-1].header.frame_id == str(number)
        late = np.diff([t for t in sent if t > begun]).max() > 0.05
        return None if late else False

    def refused():
        return int(bench.status('often: trajectories')[2].get('refused', 0)) > before

    thread = threading.Thread(target=feed)
    thread.start()
    try:
        bench.status_where('often: joint_states', lambda level, text, values: text == 'ok')
        before = int(bench.next_status('often: trajectories')[2]['refused'])
        answers = [offer(k) for k in range(5)]  # 15 of each, once: all accepted
    finally:
        over.set()
        thread.join()
    judged = [answer for answer in answers if answer is not None]
    assert judged == [True] * len(judged) and len(judged) > 2
