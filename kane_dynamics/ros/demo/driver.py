# SPDX-License-Identifier: Apache-2.0
"""A node that gives the closed loop its reference and records what happens."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import rclpy
from geometry_msgs.msg import Twist, TwistStamped
from nav_msgs.msg import Odometry
from rclpy.context import Context
from rclpy.qos import QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import JointState
from std_srvs.srv import Empty, SetBool
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from kane_dynamics.demo.figures import Answer, CommandedBase, DelayWatch, LoopLog
from kane_dynamics.demo.motion import DemoMotion
from kane_dynamics.exceptions import KaneDynamicsError
from kane_dynamics.messages.conversions import nanoseconds, set_stamp

# best effort: what listens must not slow the loop down by acknowledging
RECORD = QoSProfile(depth=100, reliability=ReliabilityPolicy.BEST_EFFORT)
START_TIMEOUT = 60.0
"""Wall time [s] for the nodes to start and find each other."""


class DemoDriver:
    """Gives references for the next state as soon as a state arrives."""

    def __init__(
        self,
        motion: DemoMotion,
        period: float,
        context: Context,
        commanded: CommandedBase | None = None,
    ) -> None:
        self._motion, self._period = motion, period
        self.node = rclpy.create_node('kane_demo', context=context)
        self._executor: Any = None
        self._message = JointTrajectory(joint_names=list(motion.names))
        self._point = JointTrajectoryPoint()
        self._message.points = [self._point]
        self._log, self._watch = LoopLog(), DelayWatch()
        node, every = self.node, RECORD
        self._reference = node.create_publisher(
            JointTrajectory, 'kane_inverse_dynamics/reference', QoSProfile(depth=1)
        )
        self._commanded, self._twist = commanded, None
        if commanded is not None:
            kind = TwistStamped if commanded.stamped else Twist
            self._twist = node.create_publisher(kind, 'cmd_vel', QoSProfile(depth=1))
        node.create_subscription(JointState, 'joint_states', self._on_state, every)
        node.create_subscription(Odometry, 'odom', self._on_odometry, every)
        node.create_subscription(
            JointState, 'kane_inverse_dynamics/effort', self._on_effort, every
        )
        self._pause = node.create_client(SetBool, 'kane_simulator/pause')
        self._reset = node.create_client(Empty, 'kane_simulator/reset')

    def run(
        self, executor: Any, progress: Callable[[float], None], alive: Callable[[], None]
    ) -> LoopLog:
        """Start the paused simulator, run the motion, and return what was recorded."""
        self._executor = executor
        self._wait(self._pause.service_is_ready, 'the simulator', alive)
        self._wait(lambda: self._reference.get_subscription_count() > 0, 'the controller', alive)
        self._send(0.0)
        self._spin(1.0)  # every endpoint finds every other
        # the paused simulator says its state again, so that it has efforts from the first step on
        again = self._reset.call_async(Empty.Request())
        self._wait(again.done, 'the answer to ~/reset', alive)
        self._wait(lambda: bool(self._log.answers), 'the first efforts', alive)
        self._log = LoopLog(answers=self._log.answers)
        future = self._pause.call_async(SetBool.Request(data=False))
        self._wait(future.done, 'the answer to ~/pause', alive)
        last_time, last_change = -1.0, time.monotonic()
        while self._now() < self._motion.duration:
            gc.freeze()  # what was recorded stays: a full collection of it would delay references
            self._spin(0.05)
            alive()
            progress(self._now())
            if self._now() > last_time:
                last_time, last_change = self._now(), time.monotonic()
            elif time.monotonic() - last_change > 10.0:
                raise KaneDynamicsError(f'simulated time stands still at {last_time} s')
        return self._log

    def close(self) -> None:
        """Stop recording; what was kept from the collector is given back to it."""
        self._watch.close()
        gc.unfreeze()

    def _now(self) -> float:
        stamps = self._log.stamps
        return stamps[-1] * 1e-9 if stamps else 0.0

    def _send(self, t: float) -> None:
        t = min(t, self._motion.duration)
        self._point.positions = self._motion.position(t).tolist()
        self._point.velocities = self._motion.velocity(t).tolist()
        self._point.accelerations = self._motion.acceleration(t).tolist()
        self._reference.publish(self._message)
        if self._twist is not None:
            self._twist.publish(self._command(t))

    def _command(self, t: float) -> Any:
        """Return the twist of the base at a time, as a Twist or a TwistStamped."""
        twist = Twist()
        twist.linear.x, twist.linear.y, twist.angular.z = self._motion.twist(t).tolist()
        if self._commanded is None or not self._commanded.stamped:
            return twist
        message = TwistStamped(twist=twist)
        message.header.frame_id = self._commanded.frame
        set_stamp(message.header.stamp, round(t * 1e9))
        return message

    def _on_state(self, message: Any) -> None:
        stamp, log = nanoseconds(message.header.stamp), self._log
        self._send(stamp * 1e-9 + self._period)
        log.samples.append(self._watch.sample())
        log.arrivals.append(time.monotonic())
        log.names = tuple(message.name)
        log.stamps.append(stamp)
        log.position.append(list(message.position))
        log.velocity.append(list(message.velocity))
        log.effort.append(list(message.effort))

    def _on_odometry(self, message: Any) -> None:
        pose, twist, r = message.pose.pose, message.twist.twist, message.pose.pose.orientation
        yaw = 2.0 * float(np.arctan2(r.z, r.w))
        stamp = nanoseconds(message.header.stamp) * 1e-9
        self._log.odometry.append(
            [
                *(stamp, pose.position.x, pose.position.y, yaw),
                *(twist.linear.x, twist.linear.y, twist.angular.z),
            ]
        )

    def _on_effort(self, message: Any) -> None:
        answer = Answer(time.monotonic(), message.effort.tolist())
        self._log.answers[nanoseconds(message.header.stamp)] = answer

    def _spin(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0.0:
            self._executor.spin_once(timeout_sec=left)

    def _wait(self, condition: Callable[[], bool], what: str, alive: Callable[[], None]) -> None:
        end = time.monotonic() + START_TIMEOUT
        while not condition():
            if time.monotonic() > end:
                raise KaneDynamicsError(f'waited {START_TIMEOUT:g} s in vain for {what}')
            alive()
            self._spin(0.05)
