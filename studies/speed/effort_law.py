# SPDX-License-Identifier: Apache-2.0
"""
How long kane_inverse_dynamics takes for one state: the effort law, and the whole callback.

``python -m studies.speed.effort_law`` needs ROS 2. The callback is called without a subscription,
so what DDS and the executor take is not in it; publishing to a subscriber of each topic is. The
floor is rclpy's own: the same two messages, filled before, are published. A loop at 250 Hz has
4 ms for all. CPU time of the thread, so that other work of the machine does not count.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import rclpy
from nav_msgs.msg import Odometry
from numpy.typing import NDArray
from rclpy.parameter import Parameter
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from kane_dynamics.ros.effort_controller_node import EffortControllerNode

CALLS = 2000
PRESETS = Path(__file__).resolve().parents[2] / 'config'
PERCENTILES = (50, 99)


class Caller:
    """
    A node that is fed by calls of its callbacks.

    Parameters
    ----------
    preset : str
        Name of the robot's file in config/.
    compiled : str
        'wait' or 'never'.

    """

    def __init__(self, preset: str, compiled: str) -> None:
        file = str(PRESETS / f'{preset}.yaml')
        self.node = EffortControllerNode(
            cli_args=['--ros-args', '--params-file', file],
            parameter_overrides=[Parameter('compiled', value=compiled)],
        )
        self.node.start()
        while self.node.host.model is None:
            rclpy.spin_once(self.node, timeout_sec=0.1)
        model, name = self.node.host.model, self.node.get_name()
        self.receiver = rclpy.create_node('receiver')
        for kind, topic in ((JointState, 'effort'), (Float64MultiArray, 'commands')):
            self.receiver.create_subscription(kind, f'{name}/{topic}', lambda message: None, 1)
        while self.node.count_subscribers(f'{name}/commands') == 0:
            time.sleep(0.01)
        rng = np.random.default_rng(1)
        self._joints = JointState(name=list(model.joints))
        self._joints.position = rng.uniform(-0.3, 0.3, len(model.joints)).tolist()
        self._joints.velocity = rng.uniform(-0.3, 0.3, len(model.joints)).tolist()
        self._odom = Odometry(child_frame_id=self.node.parameters.base_frame_id)
        self._odom.pose.pose.orientation.w = 1.0
        point = JointTrajectoryPoint()
        for field in ('positions', 'velocities', 'accelerations'):
            setattr(point, field, rng.uniform(-0.3, 0.3, len(model.motors)).tolist())
        self._reference = JointTrajectory(joint_names=list(model.motors), points=[point])

    def callback(self) -> None:
        """Take a state, and publish its efforts."""
        self.node._on_joint_states(self._joints)

    def law(self) -> None:
        """Compute the efforts of the last state."""
        node = self.node
        if node.state is not None:
            node.law.effort(node.get_clock().now().nanoseconds, node.state.q, node.state.v)

    def floor(self) -> None:
        """Publish the messages of the last state again."""
        output = self.node._output
        for publisher, message in zip(
            output._publishers, (output._state, output._commands), strict=True
        ):
            publisher.publish(message)

    def feed(self) -> None:
        """Renew what the callback needs besides."""
        if self.node.state is not None and self.node.state.odom is not None:
            self.node._on_odom(self._odom)
        self.node._on_message('reference', self._reference)


def times(call: Callable[[], None], feed: Callable[[], None]) -> NDArray[np.float64]:
    """Return the CPU times [s] of calls, each after a feed that does not count."""
    taken = []
    for _ in range(CALLS):
        feed()
        begin = time.thread_time()
        call()
        taken.append(time.thread_time() - begin)
    return np.array(taken)


def main() -> None:
    """Print a table of the times."""
    rclpy.init()
    print('| robot | dynamics | what | p50 [us] | p99 [us] |\n|---|---|---|---|---|')
    for preset in ('nonholonomic', 'holonomic'):
        for compiled in ('never', 'wait'):
            caller = Caller(preset, compiled)
            kind = 'compiled' if compiled == 'wait' else 'reference'
            for what in ('law', 'callback', 'floor'):
                caller.feed()
                caller.callback()
                taken = times(getattr(caller, what), caller.feed)
                p = np.percentile(1e6 * taken, PERCENTILES)
                print(f'| {preset} | {kind} | {what} | {p[0]:.0f} | {p[1]:.0f} |')
            caller.node.stop()
            caller.receiver.destroy_node()
            caller.node.destroy_node()
    rclpy.try_shutdown()


if __name__ == '__main__':
    main()
