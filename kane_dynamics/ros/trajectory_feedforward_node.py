# SPDX-License-Identifier: Apache-2.0
"""``kane_trajectory_feedforward``: trajectories with efforts for a joint_trajectory_controller."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from geometry_msgs.msg import Twist, TwistStamped
from rclpy.lifecycle import LifecycleState, TransitionCallbackReturn
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from kane_dynamics.exceptions import InvalidInputError, KaneDynamicsError
from kane_dynamics.ros.action_server import joint_trajectory_proxy
from kane_dynamics.ros.base_node import DynamicsNode
from kane_dynamics.ros.dynamics import Dynamics
from kane_dynamics.ros.input_guard import InputGuard
from kane_dynamics.ros.messages.diagnostics import OK, WARN, Status
from kane_dynamics.ros.parameters.trajectory_feedforward import TrajectoryFeedforwardParameters
from kane_dynamics.ros.qos import COMMAND, LATEST
from kane_dynamics.ros.runtime import run
from kane_dynamics.ros.trajectory_filter import Filled, TrajectoryCount, TrajectoryFilter
from kane_dynamics.typing import Floats


class TrajectoryFeedforwardNode(DynamicsNode):
    """Fills the efforts of trajectories and passes them on to a controller."""

    def __init__(self, **options: Any) -> None:
        super().__init__('kane_trajectory_feedforward', TrajectoryFeedforwardParameters, **options)
        self._filter: TrajectoryFilter | None = None
        self._count = TrajectoryCount()
        target = self.parameters.controller
        topic = f'{target}/joint_trajectory'
        self._output = self.create_lifecycle_publisher(JointTrajectory, topic, COMMAND)
        self._proxy = joint_trajectory_proxy(
            self, f'{target}/follow_joint_trajectory', self._fill_goal
        )

    # model and parameters

    def joint_fields(self) -> tuple[str, ...]:
        """Read positions and velocities."""
        return ('position', 'velocity')

    def prepare(self, dynamics: Dynamics) -> TrajectoryFilter:
        """Make what fills the trajectories of a robot."""
        return TrajectoryFilter(
            dynamics, self.parameters, lambda name: self.new_guard(name, 0.0), JointTrajectoryPoint
        )

    def take(self, dynamics: Dynamics, prepared: TrajectoryFilter) -> None:
        """Fill the trajectories of a new model."""
        self._filter = prepared

    def parameters_changed(self) -> None:
        """Take over changed terms, spacing and limits."""
        if self._filter is not None:
            self._filter.configure(self.parameters)

    def timed_inputs(self) -> dict[str, InputGuard]:
        """Return the shared guards and that of the command of the base."""
        own = {} if self._filter is None else {'timeout.cmd_vel': self._filter.base.guard}
        return super().timed_inputs() | own

    # the loop

    def subscribe(self) -> None:
        """Listen to trajectories, and to the command of a mobile base."""
        subscription = self.create_subscription(
            JointTrajectory, '~/joint_trajectory', self._on_trajectory, COMMAND
        )
        self.own('subscription', subscription)
        p = self.parameters
        if p.base_type != 'none':
            kind = TwistStamped if p.cmd_vel_stamped else Twist
            self._listen(kind, 'cmd_vel', self._on_command, LATEST)

    def _on_command(self, message: Any) -> None:
        if self._filter is not None:
            self._filter.base.take(message)

    def _on_trajectory(self, message: JointTrajectory) -> None:
        try:
            self._fill(message)
        except KaneDynamicsError:  # told already
            return
        self._output.publish(message)

    def _fill_goal(self, goal: Any) -> Filled:
        """Fill a goal, whose tolerances are of the joints that go on; raises KaneDynamicsError."""
        filled = self._fill(goal.trajectory, goal.multi_dof_trajectory)
        names = filled.points.names
        for field in ('path_tolerance', 'goal_tolerance'):
            kept = [one for one in getattr(goal, field) if one.name in names]
            setattr(goal, field, kept)
        return filled

    def _fill(self, message: JointTrajectory, multi_dof: Any = None) -> Filled:
        try:
            if not self._active or self._filter is None or self.state is None:
                raise InvalidInputError('the node is not active, or has no model')
            if problem := self.state_problem():
                raise InvalidInputError(problem)
            self.state.assemble()
            now = self.get_clock().now().nanoseconds
            filled = self._filter.fill(message, self.state, now, multi_dof)
        except KaneDynamicsError as error:
            self.get_logger().error(self._count.refuses(error))
            raise
        if remark := self._count.took(filled):
            self.get_logger().warning(remark)
        return filled

    def compute(self, stamp: int, q: Floats, v: Floats) -> None:
        """Take over the odometry; there is output for trajectories only."""
        if self._filter is not None and self.state is not None and self.state.odom is not None:
            self._filter.base.see(self.state.odom)

    def state_lost(self) -> None:
        """Refuse trajectories until there is a state again; what runs goes on."""

    def _watch(self) -> None:
        super()._watch()
        if self._proxy is not None:
            self._proxy.watch()

    def forget(self) -> None:
        """Drop measured state and command."""
        super().forget()
        if self._filter is not None:
            self._filter.base.reset()

    # ending

    def on_deactivate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Cancel what runs, then stop listening."""
        if self._proxy is not None:
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
            'action': 'no control_msgs' if self._proxy is None else f'{self._proxy.running} goals',
        }
        return Status(WARN if count.reason else OK, count.reason or 'ok', values)


def main(args: Sequence[str] | None = None) -> int:
    """Run the node; the executable ``kane_trajectory_feedforward``."""
    return run(TrajectoryFeedforwardNode, args)


if __name__ == '__main__':
    sys.exit(main())
