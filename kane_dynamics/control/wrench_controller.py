# SPDX-License-Identifier: Apache-2.0
"""Measured state and targets of a frame to motor efforts, for one robot; no rclpy here."""

import numpy as np

from kane_dynamics.analysis.contact_friction import shared_weight, wheel_cones
from kane_dynamics.analysis.frame_task import frame_place
from kane_dynamics.control.node_dynamics import Dynamics
from kane_dynamics.control.state_inputs import GuardFactory
from kane_dynamics.control.targets import TargetInput, read_pose, read_twist, read_wrench
from kane_dynamics.control.wrench_control import WrenchControl, WrenchTarget
from kane_dynamics.exceptions import InvalidInputError, UnreachableAccelerationError
from kane_dynamics.robot.joint_tables import known_limits
from kane_dynamics.robot.state import pose_numbers
from kane_dynamics.robot_config.parameters.tables import WrenchControlParameters
from kane_dynamics.typing import Floats


class WrenchController:
    """The law with its targets and limits."""

    def __init__(
        self,
        dynamics: Dynamics,
        parameters: WrenchControlParameters,
        new_guard: GuardFactory,
    ) -> None:
        model, p = dynamics.model, parameters
        self.motors = model.motors
        self._dynamics, self._robot = dynamics, model.robot
        self._v = model.v_index(model.motors)
        odom = p.frame_prefix + p.odom_frame_id
        local = p.frame_prefix + p.frame if p.axes == 'frame' else odom
        self.wrench = TargetInput(new_guard('wrench'), local, read_wrench)
        self.pose = TargetInput(new_guard('pose'), odom, read_pose)
        self.twist = TargetInput(new_guard('twist'), local, read_twist)
        self.inputs = {'wrench': self.wrench, 'pose': self.pose, 'twist': self.twist}
        self._law: WrenchControl | None = None
        self.halt()
        self.configure(parameters)

    def configure(self, parameters: WrenchControlParameters) -> None:
        """Take over parameters; errors as for the class."""
        self._made(parameters, self._robot.neutral())  # what is wrong, is said now
        self._parameters, self._law = parameters, None

    def halt(self) -> None:
        """Begin anew with the next state: no effort is out."""
        self._law = None
        self._posture: Floats | None = None
        self._held: Floats | None = None
        self.refused, self.margin = '', np.inf

    def effort(self, q: Floats, v: Floats) -> Floats | None:
        """Return the efforts of the motors, or None where the output shall be silent."""
        p = self._parameters
        place = self._place(q)
        target = {name: source.value for name, source in self.inputs.items()}
        if p.timeout_action != 'hold_position' and all(value is None for value in target.values()):
            self.halt()
            return np.zeros(len(self.motors)) if p.timeout_action == 'zero' else None
        pose = self.pose.near(place, p.pose_tolerance)
        arguments = {k: x for k, x in target.items() if k != 'pose' and x is not None}
        law, held = self._present_law(q), place if self._held is None else self._held
        try:
            result = law.effort(q, v, WrenchTarget(held if pose is None else pose, **arguments))
            self.refused, self._held = '', held if pose is None else None
        except UnreachableAccelerationError as error:
            self.refused, self._held = str(error), held
            result = law.effort(q, v, WrenchTarget(held), nearest_motion=True)
        self.margin = float(result.margins.min(initial=np.inf))
        effort = result.effort[self._v]
        if not np.isfinite(effort).all():
            raise InvalidInputError(f'the efforts are not finite: {effort}')
        return effort

    def _place(self, q: Floats) -> Floats:
        """Return the pose of the frame, shape (7,)."""
        return pose_numbers('pose', frame_place(self._dynamics.engine, self._parameters.frame, q))

    def _present_law(self, q: Floats) -> WrenchControl:
        """Return the law of the engine in use, with the posture at which it began."""
        if self._posture is None:
            self._posture = q.copy()
        if self._law is None or self._law.dynamics is not self._dynamics.engine:
            self._law = self._made(self._parameters, self._posture)
        return self._law

    def _made(self, p: WrenchControlParameters, posture: Floats) -> WrenchControl:
        robot, engine = self._robot, self._dynamics.engine
        limits = known_limits(np.asarray(robot.effort_limit), p.effort_limit_scale)
        wheels = (*p.base_left_wheel_names, *p.base_right_wheel_names)
        cones = []
        if p.friction_coefficient > 0.0 and wheels:
            load = p.wheel_load or shared_weight(robot, len(wheels))
            cones = wheel_cones(engine.labels, wheels, p.friction_coefficient, load)
        return WrenchControl(
            engine,
            p.frame,
            self.motors,
            p.modes,
            p.stiffness,
            p.damping,
            {n: float(posture[robot.coordinate_index(n)]) for n in self.motors},
            p.posture_stiffness,
            p.posture_damping,
            p.friction_speed,
            p.period,
            limits if p.enforce_command_limits else np.full(robot.nv, np.inf),
            cones,
            p.axes,
        )
