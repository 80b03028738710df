# SPDX-License-Identifier: Apache-2.0
"""Stand-ins for rclpy's actions that keep its rules, and a controller behind them."""

from types import SimpleNamespace

from rclpy.action import CancelResponse, GoalResponse
from rclpy.task import Future

ACCEPTED, EXECUTING, CANCELING, SUCCEEDED, CANCELED, ABORTED = range(1, 7)
LEGAL = {
    'execute': ((ACCEPTED,), EXECUTING),
    'cancel': ((ACCEPTED, EXECUTING), CANCELING),
    'succeed': ((EXECUTING, CANCELING), SUCCEEDED),
    'abort': ((EXECUTING, CANCELING), ABORTED),
    'canceled': ((CANCELING,), CANCELED),
}  # of rcl_action: design.ros2.org/articles/actions.html


class Executor:
    """Runs coroutines as far as they come."""

    def __init__(self):
        self._tasks = []

    def start(self, coroutine):
        task = Future()
        self._tasks.append((coroutine, task))
        self.spin()
        return task

    def spin(self):
        for _ in range(5):
            for coroutine, task in list(self._tasks):
                try:
                    coroutine.send(None)
                except StopIteration as end:
                    self._tasks.remove((coroutine, task))
                    task.set_result(end.value)


class Goal:
    """A server's goal: illegal changes of its state are errors."""

    def __init__(self, request):
        self.request, self.status, self.feedback = request, ACCEPTED, []

    def _change(self, event):
        before, after = LEGAL[event]
        assert self.status in before, (event, self.status)
        self.status = after

    @property
    def is_cancel_requested(self):
        return self.status == CANCELING

    def succeed(self):
        self._change('succeed')

    def abort(self):
        self._change('abort')

    def canceled(self):
        self._change('canceled')

    def publish_feedback(self, feedback):
        self.feedback.append(feedback)


class Server:
    """An action server with the callbacks of a node, as rclpy calls them."""

    def __init__(self, executor, proxy):
        self.executor, self.proxy = executor, proxy

    def send(self, request):
        """Return the goal and the future of its result."""
        assert self.proxy.on_goal(request) == GoalResponse.ACCEPT
        goal = Goal(request)
        goal._change('execute')
        return goal, self.executor.start(self.proxy.execute(goal))

    def cancel(self, goal):
        """Ask to cancel; return whether that was accepted. By default rclpy rejects."""
        answer = self.proxy.on_cancel(goal)
        if answer == CancelResponse.ACCEPT and goal.status in (ACCEPTED, EXECUTING):
            goal._change('cancel')
        self.executor.spin()
        return answer == CancelResponse.ACCEPT


class Target:
    """What a client knows of a goal at the controller."""

    def __init__(self, controller, accepted, feedback):
        self.accepted, self.feedback, self.answer = accepted, feedback, Future()
        self._controller = controller

    def get_result_async(self):
        return self.answer

    def cancel_goal_async(self):
        """joint_trajectory_controller accepts every cancel; its code stays that of success."""
        if self._controller.cancels:
            self.end(CANCELED, 0)
        return Future()

    def end(self, status, code, text=''):
        if not self.answer.done():
            result = SimpleNamespace(error_code=code, error_string=text)
            self.answer.set_result(SimpleNamespace(status=status, result=result))


class Controller:
    """The client of joint_trajectory_controller's action, and what that does."""

    def __init__(self):
        self.ready, self.accepts, self.cancels, self.hangs = True, True, True, False
        self.goals, self.requests = [], []

    def server_is_ready(self):
        return self.ready

    def send_goal_async(self, request, feedback_callback=None):
        goal, future = Target(self, self.accepts, feedback_callback), Future()
        if self.accepts:
            for old in self.goals:
                old.end(ABORTED, -1, 'Current goal preempted by new incoming action.')
            self.goals.append(goal)
            self.requests.append(request)
        self.answer = lambda: future.set_result(goal)
        if not self.hangs:
            self.answer()
        return future

    def report(self, **fields):
        """Send feedback of the newest goal."""
        self.goals[-1].feedback(SimpleNamespace(feedback=SimpleNamespace(**fields)))
