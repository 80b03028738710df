# SPDX-License-Identifier: Apache-2.0
"""
Goals of FollowJointTrajectory on their way to a controller and back.

Every goal is accepted, since a client that is rejected never hears why: one that cannot go on is
aborted with a code and the reason. While a goal waits for a measured state or its efforts its
feedback says that all stands, and a cancel is answered at once. Feedback, the result with its
status and code, and cancels are passed on. When another goal preempts one, the controller aborts
the old one, and that is passed on like any other end.

A controller that cancels a goal drops its efforts at once. A cancel is therefore passed on as a
short goal that brings the arm to rest, where that can be filled.
"""

import time
from collections.abc import Callable
from typing import Any

from rclpy.action import CancelResponse, GoalResponse
from rclpy.task import Future

from kane_dynamics.control.trajectory_filter import Filled, TrajectoryRequest
from kane_dynamics.exceptions import InvalidInputError, KaneDynamicsError, NameNotFoundError

SUCCEEDED, CANCELED = 4, 5
"""Of action_msgs/GoalStatus."""
INVALID_GOAL, INVALID_JOINTS, OLD_HEADER_TIMESTAMP = -1, -2, -3
"""Of control_msgs/action/FollowJointTrajectory."""
MOST = 2
"""Trajectories being filled at a time, given up ones included: retiming cannot be stopped."""

ANSWER = 5.0
"""Time in which a controller accepts or rejects a goal [s]; after that it is rejected here."""
SILENCE = 2.0
"""Time without feedback after which a controller that gave some is gone [s]: DDS takes 20."""


def error_code(error: KaneDynamicsError) -> int:
    """Return the code of the action for what keeps a goal from going on."""
    if isinstance(error, NameNotFoundError):
        return INVALID_JOINTS
    return OLD_HEADER_TIMESTAMP if getattr(error, 'kind', '') == 'ended' else INVALID_GOAL


class Link:
    """A goal of ours and the one that the controller has for it."""

    def __init__(self) -> None:
        self.ready, self.answer, self.done = Future(), Future(), Future()
        self.trajectory: TrajectoryRequest | None = None
        self.filled: Filled | None = None
        self.target: Any = None
        self.source: Any = None
        self.offered = self.heard = float('inf')
        self.cancelled = self.stopped = False

    def on_feedback(self, message: Any) -> None:
        """Pass feedback on; points are counted as the sender did, where they are."""
        self.heard = time.monotonic()
        if self.filled is None:
            return
        feedback = message.feedback
        if hasattr(feedback, 'index'):  # control_msgs from 6.3.0 on
            feedback.index = self.filled.origin(feedback.index)
        self.source.publish_feedback(feedback)

    def go_on(self, reason: str) -> None:
        """End the wait for efforts; `reason` says why the goal cannot go on, '' if it can."""
        if reason and self.trajectory is not None:
            self.trajectory.stop()
        if not self.ready.done():
            self.ready.set_result(reason)

    def end(self, answer: Any) -> None:
        """Note the answer of the controller; None where it will not come."""
        if not self.done.done():
            self.done.set_result(answer)


class ActionProxy:
    """Callbacks of an action server; `client` is that of the controller behind it."""

    def __init__(
        self,
        begin: Callable[[Any], TrajectoryRequest],
        end: Callable[[Any, TrajectoryRequest], Filled],
        stop: Callable[[Any], Any],
        standing: Callable[[Any], Any],
        client: Any,
        action: Any,
        tell: Callable[[str], object],
    ) -> None:
        self._begin, self._end, self._stop, self._standing = begin, end, stop, standing
        self._client, self._action, self._tell = client, action, tell
        self._links: dict[int, Link] = {}  # by the identity of the request, which lives as long
        self._working: list[TrajectoryRequest] = []

    @property
    def running(self) -> int:
        """Return how many goals have not ended."""
        return len(self._links)

    def on_goal(self, request: Any) -> Any:
        """Accept a goal."""
        self._links[id(request)] = Link()
        return GoalResponse.ACCEPT

    async def execute(self, goal: Any) -> Any:
        """Fill a goal, offer it to the controller and wait for its end; return its result."""
        link = self._links[id(goal.request)]
        link.source = goal
        try:
            await self._filled(goal, link)
            await self._sent(goal, link)
            return await self._followed(goal, link)
        except KaneDynamicsError as error:
            return self._given_up(goal, error)
        finally:
            del self._links[id(goal.request)]

    async def _filled(self, goal: Any, link: Link) -> None:
        """Fill a goal; raises KaneDynamicsError where it cannot be."""
        if not self._client.server_is_ready():
            raise self._refusal('the action of the controller is not there')
        self._working = [one for one in self._working if not one.done()]
        if len(self._working) >= MOST:
            raise self._refusal(f'{MOST} trajectories are being filled already; wait')
        trajectory = self._begin(goal.request)
        if trajectory.done():
            link.filled = self._end(goal.request, trajectory)
            link.go_on('')
        self.give_up('preempted by a new goal')
        link.trajectory = trajectory
        if link.filled is None:
            self._working.append(trajectory)
        if reason := await link.ready:
            raise InvalidInputError(reason)
        if link.filled is None:
            link.filled = self._end(goal.request, trajectory)

    async def _sent(self, goal: Any, link: Link) -> None:
        """Offer a filled goal to the controller; raises InvalidInputError if it takes it not."""
        offered = self._client.send_goal_async(goal.request, feedback_callback=link.on_feedback)
        link.offered = time.monotonic()
        offered.add_done_callback(lambda future: self._answered(future.result(), link.answer))
        link.target = await link.answer
        if link.target is None:
            raise self._refusal(f'the controller has not answered for {ANSWER:g} s')
        if not link.target.accepted:
            raise self._refusal('refused by the controller')
        if link.cancelled:  # while the controller thought about it
            self._cancel(link)

    def _answered(self, target: Any, answer: Any) -> None:
        """Pass an answer of the controller on; what it accepts too late is cancelled."""
        if not answer.done():
            answer.set_result(target)
        elif target.accepted:
            target.cancel_goal_async()

    def _refusal(self, reason: str) -> InvalidInputError:
        """Tell why a goal is refused; return that as an error."""
        self._tell(f'goal refused: {reason}')
        return InvalidInputError(reason)

    async def _followed(self, goal: Any, link: Link) -> Any:
        """Wait for the controller's end of a goal; return its result."""
        answer = link.target.get_result_async()
        answer.add_done_callback(lambda future: link.end(future.result()))
        ended = await link.done
        if ended is None:
            raise InvalidInputError('the controller is gone')
        if link.stopped and goal.is_cancel_requested and ended.status != SUCCEEDED:
            goal.canceled()
            return self._action.Result()
        if ended.status == SUCCEEDED:
            goal.succeed()
        elif ended.status == CANCELED and goal.is_cancel_requested:
            goal.canceled()
        else:  # also where somebody else has cancelled it at the controller
            goal.abort()
        return ended.result

    def _given_up(self, goal: Any, error: KaneDynamicsError) -> Any:
        """End a goal that the controller does not end; return its result."""
        result = self._action.Result()
        if goal.is_cancel_requested:
            goal.canceled()
            return result
        goal.abort()
        result.error_code, result.error_string = error_code(error), str(error)
        return result

    def on_cancel(self, goal: Any) -> Any:
        """Pass a cancel on; how the goal ends, the controller says, where it has it."""
        link = self._links.get(id(goal.request))
        if link is None:
            return CancelResponse.REJECT
        self._cancel(link)
        return CancelResponse.ACCEPT

    def _cancel(self, link: Link) -> None:
        link.cancelled = True
        if link.target is None:
            link.go_on('cancelled')
        elif not self._bring_to_rest(link):
            link.target.cancel_goal_async()

    def _bring_to_rest(self, link: Link) -> bool:
        """Offer a goal that ends at rest; return whether its efforts are there at once."""
        request = self._stop(link.source.request)
        trajectory = None if request is None else self._begin(request)
        if trajectory is None or not trajectory.done():
            return False
        try:
            self._end(request, trajectory)
        except KaneDynamicsError:  # told already
            return False
        link.stopped = True
        offered = self._client.send_goal_async(request)
        offered.add_done_callback(lambda future: self._rests(future.result(), link))
        return True

    def _rests(self, target: Any, link: Link) -> None:
        """Cancel a goal whose successor the controller does not take."""
        if not target.accepted:
            link.stopped = False
            link.target.cancel_goal_async()

    def cancel_all(self) -> None:
        """Cancel all goals."""
        for link in self._links.values():
            self._cancel(link)

    def _waiting(self) -> list[Link]:
        """Return the goals that wait for a state or their efforts."""
        return [link for link in self._links.values() if link.trajectory and not link.ready.done()]

    def give_up(self, reason: str) -> None:
        """Abort the goals that wait for a state or their efforts."""
        for link in self._waiting():
            link.go_on(reason)

    def look(self) -> None:
        """Let goals go on whose efforts have been found, and tell that the others stand."""
        for link in self._waiting():
            if link.trajectory is None or link.trajectory.done():
                link.go_on('')
            else:
                link.source.publish_feedback(self._standing(link.source.request))

    def watch(self) -> None:
        """End all goals whose controller is gone, or does not answer."""
        if not self._links:
            return
        now, gone = time.monotonic(), not self._client.server_is_ready()
        for link in self._links.values():
            if (gone or now - link.offered > ANSWER) and not link.answer.done():
                link.answer.set_result(None)
        ended = [link for link in self._links.values() if gone or now - link.heard > SILENCE]
        if ended:
            self._tell('the controller is gone')
        for link in ended:
            link.go_on('the controller is gone')
            link.end(None)
            if link.target is not None and not gone:
                link.target.cancel_goal_async()  # should it only be slow
