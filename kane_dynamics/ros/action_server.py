# SPDX-License-Identifier: Apache-2.0
"""The action FollowJointTrajectory of a node, where control_msgs is installed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from rclpy.action import ActionClient, ActionServer, CancelResponse, GoalResponse
from rclpy.node import Node
from rclpy.task import Future

from kane_dynamics.control.trajectory_preparation import Filled, Preparation
from kane_dynamics.ros._optional import try_import
from kane_dynamics.ros.action_proxy import ActionProxy, Responses

RESPONSES = Responses(
    GoalResponse.ACCEPT, GoalResponse.REJECT, CancelResponse.ACCEPT, CancelResponse.REJECT
)


def joint_trajectory_proxy(
    node: Node,
    target: str,
    begin: Callable[[Any], Preparation],
    end: Callable[[Any, Preparation], Filled],
    indices: Callable[[Sequence[str]], Sequence[float]],
) -> ActionProxy | None:
    """Serve ``~/follow_joint_trajectory`` in front of the action of a controller."""
    action = try_import('control_msgs.action', 'FollowJointTrajectory')
    logger = node.get_logger()
    if action is None:
        logger.warning(
            'no control_msgs: trajectories are taken from ~/joint_trajectory only; for the action '
            'install ros-<distribution>-control-msgs'
        )
        return None

    def standing(goal: Any) -> Any:
        """Return feedback of joints that stay where they are."""
        feedback, names = action.Feedback(), goal.trajectory.joint_names
        feedback.header.stamp = node.get_clock().now().to_msg()
        feedback.joint_names = names
        feedback.desired.positions = feedback.actual.positions = list(indices(names))
        feedback.error.positions = [0.0] * len(names)
        return feedback

    proxy = ActionProxy(
        begin,
        end,
        ActionClient(node, action, target),
        RESPONSES,
        Future,
        action.Result,
        standing,
        lambda reason: logger.error(reason),
    )
    ActionServer(
        node,
        action,
        '~/follow_joint_trajectory',
        proxy.execute,
        goal_callback=proxy.on_goal,
        cancel_callback=proxy.on_cancel,
    )
    return proxy
