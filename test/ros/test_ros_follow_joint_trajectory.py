# SPDX-License-Identifier: Apache-2.0
"""The action of kane_trajectory_feedforward over real DDS, between a client and a controller."""

import sys

import build_control_msgs
import pytest
from numpy.testing import assert_allclose
from ros_models import ROOT
from test_ros_trajectory_feedforward_node import ARM, NODE, goal_message

from kane_dynamics.robot_config.parameters.tables import TrajectoryFeedforwardParameters
from kane_dynamics.robot_config.robot_source import model_of_file

pytestmark = pytest.mark.ros
CONTROLLER = 'my_arm/follow_joint_trajectory'


@pytest.fixture(scope='module')
def action(tmp_path_factory):
    """Return the type of the action: that of control_msgs, or one that is built here."""
    with pytest.MonkeyPatch.context() as patch:
        try:
            from control_msgs.action import FollowJointTrajectory
        except ImportError:
            if lacking := build_control_msgs.missing():
                pytest.skip(f'THE ACTION IS NOT TESTED OVER DDS: {lacking}')
            folder = tmp_path_factory.mktemp('control_msgs')
            build_control_msgs.build(folder)
            patch.syspath_prepend(str(folder))
            patch.setenv('PYTHONPATH', str(folder), prepend=':')
            from control_msgs.action import FollowJointTrajectory
        yield FollowJointTrajectory
    for name in [name for name in sys.modules if name.split('.')[0] == 'control_msgs']:
        del sys.modules[name]


class Controller:
    """An action server that does with goals what joint_trajectory_controller does."""

    def __init__(self, bench, action, name=CONTROLLER):
        from rclpy.action import ActionServer, CancelResponse, GoalResponse

        self.action, self.goals, self.requests, self.accepts = action, [], [], True

        def on_goal(request):
            return GoalResponse.ACCEPT if self.accepts else GoalResponse.REJECT

        self.server = ActionServer(
            bench.node,
            action,
            name,
            self.execute,
            goal_callback=on_goal,
            handle_accepted_callback=self.accepted,
            cancel_callback=lambda goal: CancelResponse.ACCEPT,
        )

    def accepted(self, goal):
        from rclpy.task import Future

        for _, ended in self.goals:  # preempted
            if not ended.done():
                ended.set_result(('abort', -1, 'Current goal preempted by new incoming action.'))
        self.requests.append(goal.request)
        self.goals.append((goal, Future()))
        goal.execute()

    async def execute(self, goal):
        how, code, text = await next(ended for one, ended in self.goals if one == goal)
        getattr(goal, how)()
        result = self.action.Result()
        result.error_code, result.error_string = code, text
        return result

    def end(self, how, code=0, text=''):
        """End the newest goal."""
        self.goals[-1][1].set_result((how, code, text))


class Client:
    """Sends goals to the node, and keeps what comes back."""

    def __init__(self, bench, action, controller, node=NODE):
        from rclpy.action import ActionClient

        self.bench, self.action, self.feedback = bench, action, []
        self.client = ActionClient(bench.node, action, f'{node}/follow_joint_trajectory')
        self.controller, self.feeder = controller, None

    def send(self, names=ARM, feeds=True):
        """Send a goal; the node accepts each."""
        goal = self.action.Goal()
        goal.trajectory = goal_message(names)
        future = self.client.send_goal_async(
            goal, feedback_callback=lambda message: self.feedback.append(message.feedback)
        )
        self.bench.until(future.done, each=self.feeder.send if feeds else None)
        assert future.result().accepted
        return future.result()

    def through(self, gap=False):
        """Send a goal, into a gap of the state or not; return it where the controller gets it."""
        self.feedback.clear()
        seen, goal = len(self.controller.goals), self.send(feeds=not gap)
        ended = goal.get_result_async()
        if gap:
            self.bench.until(lambda: self.feedback or ended.done())
        self.bench.until(
            lambda: len(self.controller.goals) > seen or ended.done(), each=self.feeder.send
        )
        return goal if len(self.controller.goals) > seen else None

    def result(self, goal, feeds=True):
        future = goal.get_result_async()
        self.bench.until(future.done, each=self.feeder.send if feeds else None)
        return future.result()

    def refused(self, names=ARM, feeds=True):
        """Send a goal that is aborted; return code and reason."""
        ended = self.result(self.send(names, feeds), feeds).result
        return ended.error_code, ended.error_string


def started(bench, action, served, name, **given):
    """Start the node; return a client when goals come through."""
    from feeder import Feeder

    client = Client(bench, action, served, name)
    client.feeder = Feeder(
        bench, model_of_file('nonholonomic', table=TrajectoryFeedforwardParameters), name
    )
    bench.start(
        'trajectory_feedforward_node',
        files=[ROOT / 'config' / 'nonholonomic.yaml'],
        params={
            'compiled': 'never',
            'interpolation_tolerance': 0.0,
            'min_point_rate': 2.0,
            'timeout.joint_states': 5.0,
            'timeout.odom': 5.0,
            'base_frame_id': 'my_base',
            **given,
        },
        arguments=['-r', f'__node:={name}'],
    )
    bench.until(lambda: client.client.server_is_ready())
    return client


def test_goals_results_cancels_and_preemption(bench, action):
    from action_msgs.msg import GoalStatus

    from kane_dynamics.ros.trajectory_feedforward_node import STOP_TIME

    controller = Controller(bench, action)
    client = started(bench, action, controller, NODE, controller='my_arm')
    bench.until(client.through)  # its model and state are there now
    first = controller.requests[-1].trajectory.points
    assert len(first) > 2
    assert all(len(point.effort) == 5 for point in first)
    feedback = action.Feedback()
    feedback.joint_names, feedback.index = list(ARM), len(first) - 1
    feedback.header.frame_id = 'controller'  # the node's own, of its wait, may still be on its way
    controller.goals[-1][0].publish_feedback(feedback)
    passed = bench.until(
        lambda: [one for one in client.feedback if one.header.frame_id == 'controller']
    )
    assert passed[0].joint_names == list(ARM)
    assert passed[0].index == 1  # of the two points that were sent
    goals = len(controller.goals)

    old = client.through()  # preempts the one before
    assert len(controller.goals) == goals + 1
    new = client.through()
    ended = client.result(old)
    assert (ended.status, ended.result.error_code) == (GoalStatus.STATUS_ABORTED, -1)
    assert 'preempted' in ended.result.error_string
    controller.end('succeed')
    assert client.result(new).status == GoalStatus.STATUS_SUCCEEDED

    failing = client.through()
    controller.end('abort', -4, 'path')
    ended = client.result(failing)
    assert (ended.status, ended.result.error_code) == (GoalStatus.STATUS_ABORTED, -4)

    stopped, goals = client.through(), len(controller.goals)
    cancel = stopped.cancel_goal_async()
    bench.until(lambda: len(controller.goals) > goals)  # another goal preempts it
    last = controller.requests[-1].trajectory.points[-1]
    assert len(last.effort) == 5 and list(last.velocities) == [0.0] * 5
    robot = client.feeder  # it stops evenly, from where it is
    stops = [robot.position[name] + 0.5 * STOP_TIME * robot.velocity[name] for name in ARM]
    assert_allclose(last.positions, stops)
    bench.until(cancel.done)
    ended = client.result(stopped)
    assert (ended.status, ended.result.error_code) == (GoalStatus.STATUS_CANCELED, 0)
    controller.end('succeed')

    seen = len(controller.requests)
    code, text = client.refused(('wheel_left_joint', *ARM[1:]))
    assert code == action.Result.INVALID_JOINTS
    assert "no joint with a motor named 'wheel_left_joint'" in text
    controller.accepts = False
    assert client.refused() == (action.Result.INVALID_GOAL, 'refused by the controller')
    assert len(controller.requests) == seen

    controller.accepts = True
    lost = client.through()
    controller.server.destroy()
    ended = client.result(lost)
    assert (ended.status, ended.result.error_string) == (
        GoalStatus.STATUS_ABORTED,
        'the controller is gone',
    )


def test_a_goal_in_a_gap_of_the_state_waits_for_the_next_one(bench, action):
    controller = Controller(bench, action, 'gap_arm/follow_joint_trajectory')
    given = {'controller': 'gap_arm', 'timeout.joint_states': 0.2}
    client = started(bench, action, controller, 'patient', **given)
    bench.until(client.through)

    def through_a_gap():
        bench.spin(0.3)  # the last state has run out
        return client.through(gap=True) and client.feedback  # it stood meanwhile

    bench.until(through_a_gap)  # a busy machine may take longer than a goal waits
    seen = len(controller.requests)
    bench.spin(0.3)

    def refused():
        code, text = client.refused(feeds=False)
        assert code == action.Result.INVALID_GOAL
        return text if 'are being filled already' not in text else ''  # on a busy machine

    assert bench.until(refused).startswith('joint_states: stale, ')
    assert len(controller.requests) == seen
    controller.server.destroy()


def test_a_goal_that_is_being_retimed_executes_and_is_cancelled_at_once(bench, action):
    """The reference takes a minute for it: what is seen here is seen while it computes."""
    from action_msgs.msg import GoalStatus

    controller = Controller(bench, action, 'other_arm/follow_joint_trajectory')
    client = started(bench, action, controller, 'retiming', controller='other_arm', retime='true')
    client.feeder.twist = (0.0, 0.0)

    places = [client.feeder.position[name] for name in ARM]

    def stands():
        """Send a goal; return it where its feedback says that the arm stands where it is."""
        client.feedback.clear()
        goal = client.send()
        ended = goal.get_result_async()
        bench.until(
            lambda: (
                ended.done()
                or any(list(one.actual.positions) == places for one in client.feedback)
            ),
            each=client.feeder.send,
        )
        return not ended.done() and goal

    goal = bench.until(stands)
    held = client.feedback[-1]
    assert list(held.joint_names) == list(ARM)
    assert list(held.desired.positions) == list(held.actual.positions) == places
    assert not any(held.error.positions)
    assert controller.requests == []
    cancel = goal.cancel_goal_async()
    bench.until(cancel.done)
    assert client.result(goal).status == GoalStatus.STATUS_CANCELED
    assert controller.requests == []
    bench.processes[-1].kill()  # its thread is still at work
    controller.server.destroy()
