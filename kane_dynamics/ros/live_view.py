# SPDX-License-Identifier: Apache-2.0
"""``kane-dynamics view --live``: a robot on topics, in the browser."""

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from diagnostic_msgs.msg import DiagnosticArray
from nav_msgs.msg import Odometry
from sensor_msgs.msg import JointState

from kane_dynamics.constraints.constraint_set import ConstraintSet
from kane_dynamics.control.node_dynamics import Dynamics
from kane_dynamics.control.state_inputs import JointStateInput, OdometryInput
from kane_dynamics.messages.conversions import nanoseconds
from kane_dynamics.messages.inputs import InputMonitor
from kane_dynamics.robot.robot import Robot
from kane_dynamics.robot_config.parameters.tables import RobotParameters
from kane_dynamics.robot_config.robot_source import base_frame
from kane_dynamics.ros.declare_parameters import declare
from kane_dynamics.ros.robot_description_manager import RobotDescriptionManager
from kane_dynamics.ros.runtime import LATEST, WALL, ComposableNode, run
from kane_dynamics.view import window
from kane_dynamics.view.drawing import urdf_drawing
from kane_dynamics.view.forces import Force, constraint_forces
from kane_dynamics.view.recorder import pose_rows

SIMULATOR = 'kane_simulator'  # remap its topics where the node has another name


class LiveView(ComposableNode):
    """Shows joint_states, odom, constraint forces and events of a robot as they come."""

    def __init__(self, host: str = 'localhost', port: int = 8080, **options: Any) -> None:
        super().__init__('kane_view', **options)
        self.parameters = declare(self, RobotParameters)
        self.server = window.start_server(host, port)
        self.scene: window.Scene | None = None
        self._table = self.server.gui.add_html('')
        self._forces: dict[str, float] = {}  # newest, by row
        self._events: list[str] = []
        self._changed = False
        self.host = RobotDescriptionManager(
            self, replace(self.parameters, compiled='never'), self._on_model
        )
        subscribe = self.create_subscription
        subscribe(JointState, 'joint_states', self._on_joints, LATEST)
        subscribe(Odometry, 'odom', self._on_odometry, LATEST)
        subscribe(JointState, f'{SIMULATOR}/constraint_forces', self._on_forces, LATEST)
        subscribe(DiagnosticArray, f'{SIMULATOR}/events', self._on_events, 100)
        self.create_timer(window.FRAME, self.show, clock=WALL)

    def start(self) -> None:
        """Load the robot, or wait for its topic."""
        self.host.load()

    def stop(self) -> None:
        """Close the window."""
        self.host.clear()
        self.server.stop()

    def _on_model(self, dynamics: Dynamics) -> None:
        model = self._model = dynamics.model
        self._q = model.robot.neutral()
        self._joints = JointStateInput(
            model.joints, ('position',), self._guard('joint_states'), merge=True
        )
        self._joint_q = model.q_index(model.joints)
        self._joints.values['position'][:] = self._q[self._joint_q]
        self._odom = OdometryInput(
            base_frame(self.parameters), model.child_frame, self._guard('odom')
        )
        self._begin_scene(model.robot, model.text)
        self._changed = True

    def _begin_scene(self, robot: Robot, text: str) -> None:
        drawing = urdf_drawing(robot, text)
        for note in drawing.notes:
            self.get_logger().warning(note)
        centre, size = window.extent(drawing.shapes, pose_rows(robot, self._q)[None])
        self.server.scene.reset()
        names = [body.name for body in robot.bodies]
        self.scene = window.Scene(self.server, names, drawing.shapes, size)
        self.scene.camera(centre, size)
        self.server.gui.set_panel_label(robot.name)

    def _guard(self, name: str) -> InputMonitor:
        """Return what says once of each kind why a message is not shown."""
        return InputMonitor(name, math.inf, now=lambda: 0, tell=self.get_logger().warning)

    def _on_joints(self, message: JointState) -> None:
        if self.scene is not None and self._joints.take(message):
            self._q[self._joint_q] = self._joints.values['position']
            self._changed = True

    def _on_odometry(self, message: Odometry) -> None:
        if self.scene is not None and self._model.mobile and self._odom.take(message):
            self._q[:3] = self._odom.q
            self._changed = True

    def _on_forces(self, message: JointState) -> None:
        if len(message.effort) == len(message.name) and np.isfinite(message.effort).all():
            self._forces = dict(zip(message.name, message.effort, strict=True))
            self._changed = True

    def _on_events(self, message: DiagnosticArray) -> None:
        stamp = nanoseconds(message.header.stamp) * 1e-9
        self._events += [f'{stamp:.4f} s: {status.name}' for status in message.status]
        del self._events[: -window.NEWEST_EVENTS]
        self._changed = True

    def show(self) -> None:
        """Draw what came since the last call."""
        if self.scene is None or not self._changed:
            return
        self._changed = False
        arrows = self._located()
        sizes = [float(np.linalg.norm(arrow.vector)) for arrow in arrows]
        self.scene.strength = max([self.scene.strength, *sizes])
        self.scene.show(pose_rows(self._model.robot, self._q), arrows)
        located = {arrow.name for arrow in arrows}
        others = [
            Force(name, np.zeros(3), np.array([x, 0.0, 0.0]), unit='')
            for name, x in self._forces.items()
            if name not in located
        ]
        self._table.content = window.force_table([*arrows, *others], self._events)

    def _located(self) -> list[Force]:
        """Return arrows for the constraints of the model whose rows are in the newest message."""
        model = self._model
        rows = ConstraintSet(model.robot, model.constraints)
        multipliers = [self._forces.get(label, 0.0) for label in rows.labels]
        arrows = constraint_forces(model.robot, rows, self._q, multipliers)
        return [arrow for arrow in arrows if arrow.name in self._forces]


def main(host: str, port: int, args: Sequence[str]) -> int:
    """Run the window until Ctrl-C; `args` are those of ROS."""
    return run([partial(LiveView, host, port)], args)
