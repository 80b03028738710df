# SPDX-License-Identifier: Apache-2.0
"""A real joint_trajectory_controller with an arm: goals to it and through the node, and errors."""

import os
import signal
from pathlib import Path

import numpy as np
from action_msgs.msg import GoalStatus
from arm_goals import CONTROLLER, DURATION, RATE
from bed import Bed
from control_msgs.action import FollowJointTrajectory
from control_msgs.msg import JointTrajectoryControllerState
from controller_manager_msgs.srv import SwitchController
from geometry_msgs.msg import WrenchStamped
from rclpy.action import ActionClient
from rclpy.serialization import deserialize_message
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectoryPoint

NODE = 'kane_trajectory_feedforward'
DIRECT = CONTROLLER
STILL = 0.05  # [rad/s or m/s]
SETTLING = 1.0  # [s] in which an arm that begins to be held comes to rest
MIDDLE = 0.4  # [s] from the begin of a move to what happens in it
PUSH = 150.0  # [N], for half a second
FINE = {'joint_state_rate': float(RATE), 'odom_rate': 100.0}


PRIORITY = 40  # of SCHED_FIFO, where it is allowed: what else the machine does is not judged


def hurry(pid):
    """Let all threads of a process go before others, where that is allowed; return whether."""
    try:
        for task in Path(f'/proc/{pid}/task').iterdir():
            if os.sched_getscheduler(int(task.name)) == os.SCHED_OTHER:
                os.sched_setscheduler(int(task.name), os.SCHED_FIFO, os.sched_param(PRIORITY))
    except (AttributeError, OSError):
        return False
    return True


class Track:
    """What the controller said of one goal or event."""

    def __init__(self, messages):
        states = [deserialize_message(m, JointTrajectoryControllerState) for m in messages]
        self.times = np.array([s.header.stamp.sec + 1e-9 * s.header.stamp.nanosec for s in states])
        self.error = np.array([s.error.positions for s in states])
        self.place = np.array([s.feedback.positions for s in states])
        self.effort = np.array([s.output.effort for s in states])

    @property
    def lag(self):
        """Return the longest time between two updates that were heard [s]."""
        return float(np.diff(self.times).max())

    @property
    def worst(self):
        """Return the largest tracking error [rad or m]."""
        return float(np.abs(self.error).max())

    @property
    def aligned(self):
        """Return the tracking error where the clock of the controller is a period off at most."""
        wanted, near = self.place + self.error, np.diff(self.times) < 1.5 / RATE
        pairs = (self.place[1:], wanted[:-1]), (self.place[:-1], wanted[1:])
        shifted = [np.abs(x - y)[near].max() for x, y in pairs]
        return float(min(self.worst, *shifted))

    def jump(self):
        """Return the largest change of each commanded effort between two updates."""
        steps = np.abs(np.diff(self.effort, axis=0))
        return steps[np.diff(self.times) < 2.5 / RATE].max(axis=0)


class TrajectoryBed:
    """An arm that moves by goals."""

    def __init__(self, folder, arm, pace=0.0, **node):
        self.bed, self.arm, self.pace = Bed(folder), arm, pace
        self._pushes = self.bed.publisher(WrenchStamped, 'kane_simulator/external_wrench')
        self._raw = []
        self._places = self.bed.publisher(JointState, 'kane_simulator/set_state')
        self._clients = {
            name: ActionClient(
                self.bed.node, FollowJointTrajectory, f'{name}/follow_joint_trajectory'
            )
            for name in (NODE, DIRECT)
        }
        self.bed.node.create_subscription(
            JointTrajectoryControllerState,
            f'{CONTROLLER}/controller_state',
            self._raw.append,
            50,
            raw=True,
        )
        try:
            self._start(pace, node)
        except BaseException:
            self.close()
            raise

    def _start(self, pace, node):
        """Start all, the arm held in its first pose until its controller holds it."""
        bed, arm = self.bed, self.arm
        self.simulator = bed.simulator(
            arm.preset,
            arm.joints,
            compiled='wait',
            publish_clock=pace > 0.0,
            rtf=pace or 1.0,
            **FINE,
            **{'base.command_interface': 'velocity' if arm.model.mobile else 'effort'},
        )
        self.node = bed.start(
            'trajectory_feedforward_node',
            files=[arm.preset],
            params={
                'controller': CONTROLLER,
                'compiled': 'wait',
                'use_sim_time': pace > 0.0,
                **node,
            },
        )
        self.manager = bed.manager(arm.controllers, use_sim_time=pace > 0.0)
        bed.describe(arm.description)
        bed.status_where('kane_simulator: model', lambda level, text, values: 'robot' in values)
        controllers = 'joint_state_broadcaster', *arm.below, CONTROLLER
        bed.spawn(arm.controllers, *controllers, each=self._hold)
        for client in self._clients.values():
            bed.until(client.server_is_ready)
        bed.status_where(f'{NODE}: output', lambda level, text, values: level == b'\x00')
        self.hurried = all(hurry(p.pid) for p in bed.processes if p.poll() is None)
        self.hurried = hurry(os.getpid()) and self.hurried
        self.wait(SETTLING)

    def _hold(self):
        """Put the arm back into its first pose, which nothing else holds yet."""
        names = list(self.arm.joints)
        self._places.publish(JointState(name=names, position=self.arm.pose))

    def send(self, place, through=NODE, **more):
        """Send a goal through the node or straight to the controller."""
        goal = FollowJointTrajectory.Goal(**more)
        point = JointTrajectoryPoint(
            positions=list(map(float, place)), velocities=[0.0] * len(self.arm.joints)
        )
        point.time_from_start.sec = int(DURATION)
        point.time_from_start.nanosec = round(DURATION % 1.0 * 1e9)
        goal.trajectory.joint_names, goal.trajectory.points = list(self.arm.joints), [point]
        future = self._clients[through].send_goal_async(goal)
        self.bed.until(future.done)
        assert future.result().accepted
        return future.result()

    def ended(self, goal):
        """Return status, code and reason with which a goal ends."""
        future = goal.get_result_async()
        self.bed.until(future.done, period=0.005)
        answer = future.result()
        return answer.status, answer.result.error_code, answer.result.error_string

    def track(self, act):
        """Return what `act` returns, and what the controller said meanwhile."""
        self._raw.clear()
        result = act()
        return result, Track(list(self._raw))

    def move(self, place, through=NODE):
        """Move to a place; return whether that succeeded, the reason, and the track."""
        (status, _, text), track = self.track(lambda: self.ended(self.send(place, through)))
        return status == GoalStatus.STATUS_SUCCEEDED, text, track

    def reach(self, place, through=NODE):
        """Go to a place, wherever the arm is: from far away it takes some moves."""
        for _ in range(10):
            succeeded, reason, _ = self.move(place, through)
            if succeeded:
                return
        raise AssertionError(f'the arm does not come to {place}: {reason}')

    def home(self, through=NODE):
        """Go back to the first pose."""
        self.reach(self.arm.pose, through)

    def wait(self, seconds):
        """Let the time of the robot go on."""
        self.bed.spin(seconds / (self.pace or 1.0))

    # what may happen in the middle of a move, each until the arm stands again

    def cancel(self, place):
        """Cancel a move; return how it ended."""
        goal = self.send(place)
        self.wait(MIDDLE)
        future = goal.cancel_goal_async()
        self.bed.until(future.done, period=0.005)
        return self._stood(goal)

    def preempt(self, place, other):
        """Send another goal in the middle of a move; return how both ended."""
        goal = self.send(place)
        self.wait(MIDDLE)
        return self._stood(self.send(other))[0], self.ended(goal)[2]

    def push(self, place):
        """Push the tip in the middle of a move, out of the tolerance; return how it ended."""
        goal = self.send(place)
        self.wait(MIDDLE)
        message = WrenchStamped()
        message.header.frame_id = self.arm.tip
        message.wrench.force.x = message.wrench.force.y = PUSH
        self._pushes.publish(message)
        return self._stood(goal)

    def lose_states(self, place, seconds):
        """Stop the joint_states of the broadcaster in a move; return how it ended, and another."""
        goal = self.send(place)
        self.wait(MIDDLE)
        self._switch(deactivate_controllers=['joint_state_broadcaster'])
        ended = self._stood(goal)
        self.wait(seconds)
        refused = self.ended(self.send(place))
        self._switch(activate_controllers=['joint_state_broadcaster'])
        return ended, refused

    def freeze(self, place, seconds):
        """Stop the hardware in a move, and with it its states, for a time; return how it ended."""
        goal = self.send(place)
        self.wait(MIDDLE)
        self.simulator.send_signal(signal.SIGSTOP)
        self.wait(seconds)
        self.simulator.send_signal(signal.SIGCONT)
        return self._stood(goal)

    def _switch(self, **controllers):
        given = {'strictness': SwitchController.Request.STRICT, **controllers}
        assert self.bed.call(SwitchController, 'controller_manager/switch_controller', **given).ok

    def _stood(self, goal):
        ended = self.ended(goal)
        self.wait(SETTLING)
        self.bed.until(self._stands)  # a push leaves it swinging: other goals would fail at once
        return ended

    def _stands(self):
        """Return whether the controller says so."""
        state = deserialize_message(self._raw[-1], JointTrajectoryControllerState)
        return np.abs(state.feedback.velocities).max() < STILL

    def close(self):
        """End all."""
        self.bed.close()
