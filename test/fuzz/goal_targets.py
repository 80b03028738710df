# SPDX-License-Identifier: Apache-2.0
"""
Goals of FollowJointTrajectory for the node that fills them, without DDS and without control_msgs.

Each input is a state of the robot, which is right, and a goal. What the action calls is called:
the node begins the goal, ends it, and counts feedback by the points that came.
"""

from __future__ import annotations

import contextlib
import math
from types import SimpleNamespace

from campaign import Target
from geometry_msgs.msg import Transform
from message_targets import Draw, Station, WildEffortError
from nav_msgs.msg import Odometry
from rclpy.executors import SingleThreadedExecutor
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory, MultiDOFJointTrajectory

from kane_dynamics.exceptions import KaneDynamicsError

NODE = 'kane_trajectory_feedforward'
SHARE = 0.005
ARM = ('a',)  # what a plan may name: the wheels are the base's


def give_up(preparation):
    """End what fills a plan that takes longer, before the next one."""
    preparation.stop()
    with contextlib.suppress(KaneDynamicsError):
        preparation.filled(0)


class Goals(Station):
    """The node, and what the action calls."""

    def __init__(self, motion):
        # machine code: a plan may need hundreds of efforts
        super().__init__(NODE, compiled='wait', **{'base.motion_source': motion})
        self._planned, self._longer = motion == 'planned', None

    def ready(self):
        """Wait for the machine code."""
        executor = SingleThreadedExecutor(context=self.context)
        executor.add_node(self.node)
        while self.node.host.model is None:
            executor.spin_once(timeout_sec=0.1)
        executor.remove_node(self.node)

    def draw(self, random):
        """Return a state, a goal, and the point that the controller says it is at."""
        if self._longer is not None:
            give_up(self._longer)
        self._longer = None
        now, joints = self.node.get_clock().now().nanoseconds, self.node.host.model.joints
        right = Draw(random, now, joints)
        right.wrong = 0.0
        state = [right.message(JointState), right.message(Odometry)]
        state[1].header.frame_id, state[1].child_frame_id = 'odom', 'base_link'
        draw = Draw(random, now, ARM)
        goal = SimpleNamespace(
            trajectory=draw.message(JointTrajectory),
            multi_dof_trajectory=self.base(draw),
            path_tolerance=self.tolerances(draw),
            goal_tolerance=self.tolerances(draw),
        )
        if not draw.amiss():
            goal.trajectory.header.stamp.sec = goal.trajectory.header.stamp.nanosec = 0
        if not draw.amiss():
            for point in goal.trajectory.points:
                point.effort, point.accelerations = [], []
        return state, goal, random.choice((0, 1, 2, -1, 10**9))

    def base(self, draw):
        """Return the plan of the base, mostly only where one is wanted."""
        if self._planned == draw.amiss():
            return MultiDOFJointTrajectory()
        plan = draw.message(MultiDOFJointTrajectory)
        if not draw.amiss():
            plan.joint_names = plan.joint_names[:1]
            for point in plan.points:
                point.transforms = [draw.message(Transform)]
                point.velocities, point.accelerations = [], []
        return plan

    @staticmethod
    def tolerances(draw):
        """Return tolerances: what is read of them are the names."""
        names = draw.several('joint_names', 'string')
        return [SimpleNamespace(name=name, position=draw.one('', 'double')) for name in names]

    def run(self, given):
        """Fill the goal."""
        (joints, odometry), goal, at = given
        self.node._on_odom(odometry)
        self.node._on_joint_states(joints)
        preparation = self.node._begin(goal.trajectory, goal.multi_dof_trajectory)
        if not preparation.done():  # the callbacks go on
            self._longer = preparation
            return
        filled = self.node._end_goal(goal, preparation)
        count = len(goal.trajectory.points)
        if not (0 <= filled.origin(at) < len(filled.values.times) and count):
            raise AssertionError(f'{count} points, {filled.origin(at)} of {filled.values.times}')
        for point in goal.trajectory.points:
            if not all(map(math.isfinite, [*point.effort, *point.positions])):
                raise WildEffortError(f'{list(point.effort)}')


def targets():
    """Return a target for a base at rest, and one for a base that a plan moves."""
    found = []
    for motion in ('rest', 'planned'):
        station = Goals(motion)
        name = f'goals to {NODE}, base {motion}'
        found.append(Target(name, station.draw, station.run, SHARE, station.renew))
    return found
