# SPDX-License-Identifier: Apache-2.0
"""Plays the robot of a controller under test: sends its state and records the efforts."""

import time

import numpy as np
from nav_msgs.msg import Odometry
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from kane_dynamics.messages.conversions import nanoseconds

NODE = 'kane_inverse_dynamics'
FRAME = 'my_base'
TIMEOUT = 0.25  # [s]: time limit of the states, a parameter of the node under test
FORGOTTEN = 0.8  # [s], in which a reference is over; its time limit is the default, 0.5 s
ARM = {'arm_2_joint': 0.6, 'arm_3_joint': -0.4, 'arm_4_joint': 0.2}


class Feeder:
    """
    The robot.

    On a busy machine any state may come too late, or be overwritten by the next one; then the
    node is silent for a while. So tests feed until they see what they wait for, and tell efforts
    that answer a state, which have its stamp, from the zeros of silence, which have their own.
    """

    def __init__(self, bench, model, node=NODE):
        self.bench, self.model = bench, model
        self.joints = bench.publisher(JointState, 'joint_states')
        self.odom = bench.publisher(Odometry, 'odom')
        self.reference = bench.publisher(JointTrajectory, f'{node}/reference')
        self.efforts = bench.listen(JointState, f'/{node}/effort')
        self.commands = bench.listen(Float64MultiArray, f'/{node}/commands')
        self.twist = (0.2, 0.1)  # v_x, yaw rate
        self.position = {n: ARM.get(n, 0.0) for n in model.joints}
        self.velocity = {n: 0.05 * (i + 1) for i, n in enumerate(model.joints)}
        self._stamps, self._last_sent, self._last_reference = set(), 0.0, 0.0

    def send_odom(self, child=FRAME):
        message = Odometry(child_frame_id=child)
        message.header.stamp, message.header.frame_id = self.bench.now(), 'odom'
        message.pose.pose.orientation.z, message.pose.pose.orientation.w = 0.6, 0.8
        message.twist.twist.linear.x, message.twist.twist.angular.z = self.twist
        self.odom.publish(message)
        return message

    def joint_state(self, names=None, **changes):
        names = list(names or ['extra_joint', *reversed(self.model.joints)])
        message = JointState(name=names)
        message.header.stamp = self.bench.now()
        message.position = [self.position.get(n, np.nan) for n in names]
        message.velocity = [self.velocity.get(n, np.nan) for n in names]
        for field, value in changes.items():
            setattr(message, field, value)
        return message

    def send(self):
        """Send a good state."""
        messages = self.send_odom(), self.joint_state()
        self.joints.publish(messages[1])
        self._stamps |= {nanoseconds(message.header.stamp) for message in messages}
        self._last_sent = time.monotonic()

    def send_reference(self, names, *values, stamped=False):
        point = JointTrajectoryPoint()
        fields = ('positions', 'velocities', 'accelerations')
        for field, value in zip(fields, values, strict=False):
            setattr(point, field, [float(x) for x in value])
        message = JointTrajectory(joint_names=list(names), points=[point])
        if stamped:
            message.header.stamp = self.bench.now()
        self.reference.publish(message)
        self._last_reference = time.monotonic()

    def answers(self):
        """Return the efforts that answer a good state, sent since `healthy` was called."""
        return [message for message in self.efforts if self._answers(message)]

    def healthy(self):
        """Feed good states until they are answered without a reference; return the answer."""
        self.bench.until(lambda: time.monotonic() - self._last_reference > FORGOTTEN)
        self._stamps.clear()
        self.bench.until(lambda: len(self.answers()) > 3, each=self.send)
        return self.answers()[-1]

    def silent(self):
        """Return whether the last efforts are the zeros that end all answers."""
        last = self.efforts[-1] if self.efforts else None
        return last and not any(last.effort) and not self._answers(last)

    def quiet(self, each, periods=25):
        """Return the efforts that come while something else is fed."""
        late = 1.2 * TIMEOUT  # then what is still on its way is of no use
        self.bench.until(lambda: time.monotonic() - self._last_sent > late and self.silent())
        del self.efforts[:]
        for _ in range(periods):
            each()
            self.bench.spin(0.02)
        return list(self.efforts)

    def _answers(self, message):
        return nanoseconds(message.header.stamp) in self._stamps
