# SPDX-License-Identifier: Apache-2.0
"""``kane_trajectory_feedforward``: trajectories with efforts for a joint_trajectory_controller."""

import contextlib
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from geometry_msgs.msg import Twist, TwistStamped
from rclpy.action import ActionClient, ActionServer
from rclpy.lifecycle import LifecycleState, TransitionCallbackReturn
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from kane_dynamics.control.node_dynamics import Dynamics
from kane_dynamics.control.trajectory_filter import (
    Filled,
    Preparation,
    TrajectoryCount,
    TrajectoryFilter,
    TrajectoryRequest,
)
from kane_dynamics.exceptions import InvalidInputError, KaneDynamicsError
from kane_dynamics.messages.inputs import Input
from kane_dynamics.ros.action_proxy import ActionProxy
from kane_dynamics.ros.base_node import DynamicsNode
from kane_dynamics.ros.diagnostics import OK, WARN, Status
from kane_dynamics.ros.runtime import COMMAND, WALL, try_import
from kane_dynamics.typing import Floats


def take_waiting(subscriptions: Iterable[Any]) -> None:
    """Call back what waits at subscriptions, oldest first: an age is that of the newest then."""
    for subscription in subscriptions:
        with subscription.handle:
            while waiting := subscription.handle.take_message(
                subscription.msg_type, subscription.raw
            ):
                subscription.callback(waiting[0])


ACTION: Any = try_import('control_msgs.action', 'FollowJointTrajectory')
STOP_TIME = 0.4
"""Time [s] in which an arm comes to rest whose goal is cancelled."""
LOOK_PERIOD = 0.05
"""Wall time [s] between looks at what is being filled: the rate of a controller's feedback."""


class TrajectoryFeedforwardNode(DynamicsNode):
    """Fills the efforts of trajectories and passes them on to a controller."""

    law: TrajectoryFilter

    def __init__(self, name: str = 'kane_trajectory_feedforward', **options: Any) -> None:
        super().__init__(name, **options)
        self._count = TrajectoryCount()
        target = self.parameters.controller
        topic = f'{target}/joint_trajectory'
        self._output = self.create_lifecycle_publisher(JointTrajectory, topic, COMMAND)
        self._newest: tuple[JointTrajectory, TrajectoryRequest] | None = None
        self._proxy = proxy = ActionProxy(
            lambda goal: self._begin(goal.trajectory, goal.multi_dof_trajectory),
            self._end_goal,
            self._stop,
            self._standing,
            ACTION and ActionClient(self, ACTION, f'{target}/follow_joint_trajectory'),
            ACTION,
            self.get_logger().error,
        )
        if ACTION is None:
            self.get_logger().warning(
                'no control_msgs: trajectories are taken from ~/joint_trajectory only; for the '
                'action install ros-<distribution>-control-msgs'
            )
            return
        served = ACTION, '~/follow_joint_trajectory', proxy.execute
        ActionServer(self, *served, goal_callback=proxy.on_goal, cancel_callback=proxy.on_cancel)

    # model and parameters

    def prepare(self, dynamics: Dynamics) -> tuple[TrajectoryFilter, Mapping[str, Input]]:
        """Make what fills the trajectories of a robot."""
        result = TrajectoryFilter(dynamics, self.parameters, self.new_guard, JointTrajectoryPoint)
        return result, {'cmd_vel': result.base}

    def take(self, dynamics: Dynamics, law: TrajectoryFilter) -> None:
        """Fill the trajectories of a new model; what was for the old one is given up."""
        super().take(dynamics, law)
        self._give_up()
        self._proxy.give_up('the robot is another one now')

    # the loop

    def subscribe(self) -> None:
        """Listen to trajectories, and to the command of a mobile base."""
        subscription = self.create_subscription(
            JointTrajectory, '~/joint_trajectory', self._on_trajectory, COMMAND
        )
        self.local('subscription', subscription)
        self.local('timer', self.create_timer(LOOK_PERIOD, self._look, clock=WALL))
        p = self.parameters
        if p.base_type != 'none':
            kind = TwistStamped if p.base_cmd_vel_stamped else Twist
            self.listen(kind, 'cmd_vel')

    def _on_trajectory(self, message: JointTrajectory) -> None:
        if self._newest is not None:
            self.get_logger().warning('a trajectory that was being filled is given up')
            self._give_up()
        self._newest = message, self._begin(message)
        self._look()

    def _give_up(self) -> None:
        """Forget the trajectory of the topic that is being filled."""
        if self._newest is not None:
            self._newest[1].stop()
        self._newest = None

    def _look(self) -> None:
        """Let go on what has been filled beside the callbacks."""
        self._proxy.look()
        if self._newest is None or not self._newest[1].done():
            return
        (message, trajectory), self._newest = self._newest, None
        with contextlib.suppress(KaneDynamicsError):  # told already
            self._end(trajectory)
            self._output.publish(message)

    def _end_goal(self, goal: Any, trajectory: TrajectoryRequest) -> Filled:
        """Fill a goal, whose tolerances are of the joints that go on; raises KaneDynamicsError."""
        filled = self._end(trajectory)
        names = filled.points.names
        for field in ('path_tolerance', 'goal_tolerance'):
            kept = [one for one in getattr(goal, field) if one.name in names]
            setattr(goal, field, kept)
        return filled

    def _begin(self, message: JointTrajectory, multi_dof: Any = None) -> TrajectoryRequest:
        def begin() -> Preparation:
            if self.state is None:
                raise InvalidInputError('no model')
            self.state.assemble()
            now = self.get_clock().now().nanoseconds
            return self.law.begin(message, self.state, now, multi_dof)

        return TrajectoryRequest(begin, self._problem)

    def _end(self, trajectory: TrajectoryRequest) -> Filled:
        try:
            filled = trajectory.filled(self.get_clock().now().nanoseconds)
        except KaneDynamicsError as error:
            if line := self._count.refuses(error):
                self.get_logger().error(line)
            raise
        if note := self._count.took(filled):
            self.get_logger().warning(note)
        return filled

    def _problem(self) -> str:
        """Return why there is no measured state, or ''; what waits on the wire counts."""
        if not self._active:
            raise InvalidInputError('the node is not active')
        take_waiting(self.subscriptions_of_inputs)  # filling has kept the callbacks from it
        return self.state_problem()

    def _measured(self, names: Sequence[str], kind: str) -> list[float]:
        """Return the measured positions or velocities of joints; NaN where there is none."""
        model, state = self.host.model, self.state
        if model is None or state is None:
            return [math.nan] * len(names)
        values = dict(zip(model.joints, state.joints.values[kind].tolist(), strict=True))
        return [values.get(name, math.nan) for name in names]

    def _stop(self, goal: Any) -> Any:
        """Return a goal that brings the joints of another to rest, None without their state."""
        names, model = goal.trajectory.joint_names, self.host.model
        q, v = np.array([self._measured(names, kind) for kind in ('position', 'velocity')])
        if model is None or not np.isfinite(q + v).all():
            return None
        at = model.q_index(tuple(names))
        end = np.clip(q + 0.5 * STOP_TIME * v, model.robot.lower[at], model.robot.upper[at])
        point = JointTrajectoryPoint(positions=end.tolist(), velocities=[0.0] * len(names))
        point.time_from_start.nanosec = round(STOP_TIME * 1e9)
        return type(goal)(trajectory=JointTrajectory(joint_names=names, points=[point]))

    def _standing(self, goal: Any) -> Any:
        """Return feedback of joints that stay where they are."""
        feedback, names = ACTION.Feedback(), goal.trajectory.joint_names
        feedback.header.stamp = self.get_clock().now().to_msg()
        feedback.joint_names = names
        feedback.desired.positions = feedback.actual.positions = self._measured(names, 'position')
        feedback.error.positions = [0.0] * len(names)
        return feedback

    def compute(self, stamp: int, q: Floats, v: Floats) -> None:
        """Take over the odometry; there is output for trajectories only."""
        if self.state is not None and self.state.odom is not None:
            self.law.base.see(self.state.odom)

    def state_lost(self) -> None:
        """Refuse trajectories until there is a state again; what runs goes on."""

    def _watch(self) -> None:
        super()._watch()
        self._proxy.watch()

    def forget(self) -> None:
        """Drop measured state and command, and what is being filled."""
        super().forget()
        self._give_up()

    # ending

    def on_deactivate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Cancel what runs, then stop listening."""
        self._give_up()
        self._proxy.cancel_all()
        return super().on_deactivate(state)

    # diagnostics

    def statuses(self) -> dict[str, Any]:
        """Return the shared components and the trajectories."""
        return {**super().statuses(), 'trajectories': self._trajectories_status}

    def _trajectories_status(self) -> Status:
        count = self._count
        values: dict[str, object] = {
            'passed on': count.passed,
            'refused': count.refused,
            'newest': count.newest or 'none yet',
            'action': f'{self._proxy.running} goals' if ACTION else 'no control_msgs',
        }
        return Status(WARN if count.reason else OK, count.reason or 'ok', values)
