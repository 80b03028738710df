# SPDX-License-Identifier: Apache-2.0
"""
Goals of FollowJointTrajectory on their way to a controller and back; nothing here needs rclpy.

A goal is accepted when the controller has accepted the filled one. Feedback, the result with its
status and code, and cancels are passed on. When another goal preempts one, the controller aborts
the old one, and that is passed on like any other end.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from kane_dynamics.exceptions import KaneDynamicsError
from kane_dynamics.ros.trajectory_filter import Filled

SUCCEEDED, CANCELED = 4, 5
"""Of action_msgs/GoalStatus."""
INVALID_GOAL = -1
"""Of control_msgs/action/FollowJointTrajectory."""


class Responses(NamedTuple):
    """Answers of rclpy to requests: members of GoalResponse and CancelResponse."""

    accept: Any
    reject: Any
    accept_cancel: Any
    reject_cancel: Any


class Link:
    """A goal of ours and the one that the controller has for it."""

    def __init__(self, filled: Filled, done: Any) -> None:
        self.filled, self.done = filled, done
        self.target: Any = None
        self.source: Any = None

    def on_feedback(self, message: Any) -> None:
        """Pass feedback on; points are counted as the sender did, where they are."""
        if self.source is None:
            return
        feedback = message.feedback
        if hasattr(feedback, 'index'):  # control_msgs from 6.3.0 on
            feedback.index = self.filled.origin(feedback.index)
        self.source.publish_feedback(feedback)

    def end(self, answer: Any) -> None:
        """Note the answer of the controller; None where it will not come."""
        if not self.done.done():
            self.done.set_result(answer)


class ActionProxy:
    """
    Callbacks of an action server, with the client of the controller behind it.

    Parameters
    ----------
    fill : callable
        fill(goal) writes efforts into a goal and returns `Filled`; raises KaneDynamicsError.
    client : ActionClient
        Of the controller.
    responses : Responses
        What the server answers.
    new_future, new_result : callable
        Make an rclpy Future, and an empty FollowJointTrajectory.Result.
    tell : callable
        Called with what went wrong.

    """

    def __init__(
        self,
        fill: Callable[[Any], Filled],
        client: Any,
        responses: Responses,
        new_future: Callable[[], Any],
        new_result: Callable[[], Any],
        tell: Callable[[str], None],
    ) -> None:
        self._fill, self._client, self._responses = fill, client, responses
        self._new_future, self._new_result, self._tell = new_future, new_result, tell
        self._links: dict[int, Link] = {}  # by the identity of the request, which lives as long

    @property
    def running(self) -> int:
        """Return how many goals the controller has."""
        return len(self._links)

    async def on_goal(self, request: Any) -> Any:
        """Fill a goal and offer it to the controller; answer as that does."""
        if not self._client.server_is_ready():
            self._tell('goal refused: the action of the controller is not there')
            return self._responses.reject
        try:
            link = Link(self._fill(request), self._new_future())
        except KaneDynamicsError:  # told by the filler
            return self._responses.reject
        link.target = await self._client.send_goal_async(
            request, feedback_callback=link.on_feedback
        )
        if not link.target.accepted:
            self._tell('goal refused by the controller')
            return self._responses.reject
        self._links[id(request)] = link
        return self._responses.accept

    async def execute(self, goal: Any) -> Any:
        """Wait for the end of a goal that was accepted; return its result."""
        link = self._links[id(goal.request)]
        link.source = goal
        answer = link.target.get_result_async()
        answer.add_done_callback(lambda future: link.end(future.result()))
        ended = await link.done
        del self._links[id(goal.request)]
        if ended is None:
            goal.abort()
            result = self._new_result()
            result.error_code = INVALID_GOAL
            result.error_string = 'the controller is gone'
            return result
        if ended.status == SUCCEEDED:
            goal.succeed()
        elif ended.status == CANCELED and goal.is_cancel_requested:
            goal.canceled()
        else:  # also where somebody else has cancelled it at the controller
            goal.abort()
        return ended.result

    def on_cancel(self, goal: Any) -> Any:
        """Pass a cancel on; how the goal ends, the controller says."""
        link = self._links.get(id(goal.request))
        if link is None:
            return self._responses.reject_cancel
        link.target.cancel_goal_async()
        return self._responses.accept_cancel

    def cancel_all(self) -> None:
        """Cancel all goals at the controller."""
        for link in self._links.values():
            link.target.cancel_goal_async()

    def watch(self) -> None:
        """End all goals whose controller is gone."""
        if self._links and not self._client.server_is_ready():
            self._tell('the controller is gone')
            for link in list(self._links.values()):
                link.end(None)
