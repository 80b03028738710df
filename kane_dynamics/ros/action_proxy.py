# SPDX-License-Identifier: Apache-2.0
"""
Goals of FollowJointTrajectory on their way to a controller and back; nothing here needs rclpy.

A goal is accepted when the controller has accepted the filled one. One that takes long to fill is
accepted before, and executes: its feedback says that all stands, a cancel is answered at once, and
where it cannot go on in the end it is aborted. Feedback, the result with its status and code, and
cancels are passed on. When another goal preempts one, the controller aborts the old one, and that
is passed on like any other end.
"""

import time
from collections.abc import Callable
from typing import Any, NamedTuple

from kane_dynamics.control.trajectory_filter import Filled, Preparation
from kane_dynamics.exceptions import KaneDynamicsError

SUCCEEDED, CANCELED = 4, 5
"""Of action_msgs/GoalStatus."""
INVALID_GOAL = -1
"""Of control_msgs/action/FollowJointTrajectory."""
MOST = 2
"""Trajectories being filled at a time, given up ones included: retiming cannot be stopped."""

ANSWER = 5.0
"""Time in which a controller accepts or rejects a goal [s]; after that it is rejected here."""
SILENCE = 2.0
"""Time without feedback after which a controller that gave some is gone [s]: DDS takes 20."""


class Responses(NamedTuple):
    """Answers of rclpy to requests: members of GoalResponse and CancelResponse."""

    accept: Any
    reject: Any
    accept_cancel: Any
    reject_cancel: Any


class Link:
    """A goal of ours and the one that the controller has for it."""

    def __init__(self, preparation: Preparation, ready: Any, done: Any) -> None:
        self.preparation, self.ready, self.done = preparation, ready, done
        self.filled: Filled | None = None
        self.target: Any = None
        self.source: Any = None
        self.heard = float('inf')

    def on_feedback(self, message: Any) -> None:
        """Pass feedback on; points are counted as the sender did, where they are."""
        self.heard = time.monotonic()
        if self.source is None or self.filled is None:
            return
        feedback = message.feedback
        if hasattr(feedback, 'index'):  # control_msgs from 6.3.0 on
            feedback.index = self.filled.origin(feedback.index)
        self.source.publish_feedback(feedback)

    def go_on(self, reason: str) -> None:
        """End the wait for efforts; `reason` says why the goal cannot go on, '' if it can."""
        if reason:
            self.preparation.stop()
        if not self.ready.done():
            self.ready.set_result(reason)

    def end(self, answer: Any) -> None:
        """Note the answer of the controller; None where it will not come."""
        if not self.done.done():
            self.done.set_result(answer)


class ActionProxy:
    """Callbacks of an action server, with the client of the controller behind it."""

    def __init__(
        self,
        begin: Callable[[Any], Preparation],
        end: Callable[[Any, Preparation], Filled],
        client: Any,
        responses: Responses,
        new_future: Callable[[], Any],
        new_result: Callable[[], Any],
        standing: Callable[[Any], Any],
        tell: Callable[[str], None],
    ) -> None:
        self._begin, self._end, self._standing = begin, end, standing
        self._client, self._responses = client, responses
        self._new_future, self._new_result, self._tell = new_future, new_result, tell
        self._links: dict[int, Link] = {}  # by the identity of the request, which lives as long
        self._working: list[Preparation] = []
        self._asked: list[tuple[float, Any]] = []  # until when, and what waits for the answer

    @property
    def running(self) -> int:
        """Return how many goals the controller has."""
        return len(self._links)

    async def on_goal(self, request: Any) -> Any:
        """Fill a goal and offer it to the controller; answer as that does."""
        if not self._client.server_is_ready():
            self._tell('goal refused: the action of the controller is not there')
            return self._responses.reject
        self._working = [one for one in self._working if not one.done()]
        if len(self._working) >= MOST:
            self._tell(f'goal refused: {MOST} trajectories are being filled already; wait')
            return self._responses.reject
        try:
            link = Link(self._begin(request), self._new_future(), self._new_future())
            if link.preparation.done():
                link.filled = self._end(request, link.preparation)
        except KaneDynamicsError:  # told by the filler
            return self._responses.reject
        if link.filled is None:
            self._working.append(link.preparation)
            self.give_up('preempted by a new goal')
        elif not await self._sent(request, link):
            return self._responses.reject
        self._links[id(request)] = link
        return self._responses.accept

    async def _sent(self, request: Any, link: Link) -> bool:
        """Offer a filled goal to the controller; return whether that takes it in time."""
        offered = self._client.send_goal_async(request, feedback_callback=link.on_feedback)
        answer = self._new_future()
        self._asked.append((time.monotonic() + ANSWER, answer))
        offered.add_done_callback(lambda future: self._answered(future.result(), answer))
        link.target = await answer
        if link.target is None:
            self._tell(f'goal refused: the controller has not answered for {ANSWER:g} s')
        elif not link.target.accepted:
            self._tell('goal refused by the controller')
        return link.target is not None and bool(link.target.accepted)

    def _answered(self, target: Any, answer: Any) -> None:
        """Pass an answer of the controller on; what it accepts too late is cancelled."""
        if not answer.done():
            answer.set_result(target)
        elif target.accepted:
            target.cancel_goal_async()

    async def execute(self, goal: Any) -> Any:
        """Wait for the end of a goal that was accepted; return its result."""
        link = self._links[id(goal.request)]
        link.source = goal
        try:
            if link.filled is None and (reason := await self._prepared(goal, link)):
                return self._given_up(goal, reason)
            return await self._followed(goal, link)
        finally:
            del self._links[id(goal.request)]

    async def _prepared(self, goal: Any, link: Link) -> str:
        """Wait until a goal has its efforts and its controller; return why not, or ''."""
        if reason := await link.ready:
            return str(reason)
        try:
            link.filled = self._end(goal.request, link.preparation)
        except KaneDynamicsError as error:
            return str(error)
        if not await self._sent(goal.request, link):
            return 'refused by the controller'
        if goal.is_cancel_requested:  # while the controller thought about it
            link.target.cancel_goal_async()
        return ''

    async def _followed(self, goal: Any, link: Link) -> Any:
        """Wait for the controller's end of a goal; return its result."""
        answer = link.target.get_result_async()
        answer.add_done_callback(lambda future: link.end(future.result()))
        ended = await link.done
        if ended is None:
            return self._given_up(goal, 'the controller is gone')
        if ended.status == SUCCEEDED:
            goal.succeed()
        elif ended.status == CANCELED and goal.is_cancel_requested:
            goal.canceled()
        else:  # also where somebody else has cancelled it at the controller
            goal.abort()
        return ended.result

    def _given_up(self, goal: Any, reason: str) -> Any:
        """End a goal that the controller does not end; return its result."""
        result = self._new_result()
        if goal.is_cancel_requested:
            goal.canceled()
            return result
        goal.abort()
        result.error_code, result.error_string = INVALID_GOAL, reason
        return result

    def on_cancel(self, goal: Any) -> Any:
        """Pass a cancel on; how the goal ends, the controller says, where it has it."""
        link = self._links.get(id(goal.request))
        if link is None:
            return self._responses.reject_cancel
        self._cancel(link)
        return self._responses.accept_cancel

    def _cancel(self, link: Link) -> None:
        if link.target is None:
            link.go_on('cancelled')
        else:
            link.target.cancel_goal_async()

    def cancel_all(self) -> None:
        """Cancel all goals."""
        for link in self._links.values():
            self._cancel(link)

    def _waiting(self) -> list[Link]:
        """Return the goals whose efforts are being found."""
        return [link for link in self._links.values() if not link.ready.done() and not link.filled]

    def give_up(self, reason: str) -> None:
        """Abort the goals whose efforts are being found."""
        for link in self._waiting():
            link.go_on(reason)

    def look(self) -> None:
        """Let goals go on whose efforts have been found, and tell that the others stand."""
        for link in self._waiting():
            if link.preparation.done():
                link.go_on('')
            elif link.source is not None:
                link.source.publish_feedback(self._standing(link.source.request))

    def watch(self) -> None:
        """End all goals whose controller is gone, or does not answer."""
        now, gone = time.monotonic(), not self._client.server_is_ready()
        self._asked = [one for one in self._asked if not one[1].done()]
        for until, answer in self._asked:
            if gone or now > until:
                answer.set_result(None)
        ended = [link for link in self._links.values() if gone or now - link.heard > SILENCE]
        if ended:
            self._tell('the controller is gone')
        for link in ended:
            link.go_on('the controller is gone')
            link.end(None)
            if link.target is not None and not gone:
                link.target.cancel_goal_async()  # should it only be slow
