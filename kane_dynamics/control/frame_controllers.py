# SPDX-License-Identifier: Apache-2.0
"""Measured state and the targets of a frame to motor efforts, for one robot; no rclpy here."""

import contextlib

import numpy as np

from kane_dynamics.algorithms.task_space_law import FrameEffort
from kane_dynamics.analysis.contact_friction import shared_weight, wheel_cones
from kane_dynamics.analysis.frame_task import frame_place, frame_task
from kane_dynamics.analysis.tracking import COMPUTED, PASSIVE
from kane_dynamics.bases.motion_rows import SMALL
from kane_dynamics.control.effort_controller import EffortController
from kane_dynamics.control.effort_law import BaseState, Efforts, with_base
from kane_dynamics.control.node_dynamics import Dynamics, frame_law, rolling_motion
from kane_dynamics.control.state_inputs import GuardFactory
from kane_dynamics.control.targets import TargetInput, read_pose, read_twist, read_wrench
from kane_dynamics.control.task_space_tracking import REST, FrameMotion, FrameTracking
from kane_dynamics.control.wrench_control import WrenchControl, WrenchTarget
from kane_dynamics.exceptions import InvalidInputError, UnreachableAccelerationError
from kane_dynamics.robot import checks
from kane_dynamics.robot.joint_tables import known_limits
from kane_dynamics.robot.state import pose_numbers
from kane_dynamics.robot_config.parameters.tables import (
    EffortControllerParameters,
    WrenchControlParameters,
)
from kane_dynamics.typing import Floats

PARAMETER = "link of parameter 'frame'"
_Motion = tuple[Floats, Floats, Floats | None]


class FrameTorqueController(EffortController):
    """Computed torque, or Slotine and Li's law, of a frame, with its targets and limits."""

    _posture: Floats | None
    _held: Floats | None
    _law_of_frame: FrameTracking | None

    def __init__(
        self,
        dynamics: Dynamics,
        new_guard: GuardFactory,
        parameters: EffortControllerParameters,
    ) -> None:
        p = parameters
        if p.law not in (COMPUTED, PASSIVE):
            needed = f"'{COMPUTED}' or '{PASSIVE}'"
            raise InvalidInputError(f"space 'task' needs law {needed}, got '{p.law}'")
        checks.index_of(PARAMETER, p.frame, tuple(dynamics.model.robot.frames))
        super().__init__(dynamics, new_guard, p.law)
        self._task = p
        self.reach: FrameEffort | None = None
        odom = p.frame_prefix + p.odom_frame_id
        self.targets = {
            'pose': TargetInput(new_guard('pose'), odom, read_pose),
            'twist': TargetInput(new_guard('twist'), odom, read_twist),
        }
        self.inputs.update(self.targets)
        self._drives = dynamics.model.v_index(self.drives)
        self._begin_anew()
        self._try(dynamics.model.robot.neutral())

    def _try(self, q: Floats) -> None:
        """Compute once, so that a wrong frame is said now, and what lacks is compiled now."""
        law, halt = self._made(q), np.zeros(self._dynamics.model.robot.nv)
        with contextlib.suppress(UnreachableAccelerationError):  # here; elsewhere it may do it
            law.effort(q, halt, FrameMotion(self._place(q)))

    def _place(self, q: Floats) -> Floats:
        """Return the pose of the frame, shape (7,)."""
        return pose_numbers('pose', frame_place(self._dynamics.engine, self._task.frame, q))

    def configure(
        self, parameters: EffortControllerParameters, p: Floats, d: Floats, rate: Floats
    ) -> None:
        """Take over parameters; those of the law of joints do not count."""
        super().configure(parameters, p, d, rate)
        self._task, self._law_of_frame = parameters, None

    def halt(self) -> None:
        """Begin anew with the next state: no effort is out."""
        super().halt()
        self._begin_anew()

    def _begin_anew(self) -> None:
        self._posture = self._held = self._law_of_frame = None

    def followed(self, time: int, q: Floats, v: Floats, base: BaseState | None) -> Efforts | None:
        """Return the efforts that follow the pose or hold the frame; None where none is wanted."""
        p, pose = self._task, self.targets['pose'].value
        twist = self.targets['twist'].value
        motion = self._rolling(q, v, base)
        if pose is not None:
            request = FrameMotion(pose, REST if twist is None else twist)
            result = self._found(motion, request)
            if self.targets['pose'].within(result.error[3:], p.pose_tolerance):
                self._held = None
                return self._sent(motion, result, np.asarray(request.twist))
        if self.timeout_action != 'hold_position':
            return None
        self._held = self._place(q) if self._held is None else self._held
        return self._sent(motion, self._found(motion, FrameMotion(self._held)), np.zeros(6))

    def _found(self, motion: _Motion, request: FrameMotion) -> FrameEffort:
        q, v, a = motion
        return self._present_law(q).effort(q, v, request, self._terms.names, a)

    def _sent(self, motion: _Motion, result: FrameEffort, twist: Floats) -> Efforts:
        """Return the efforts of motors and drives, and note what the frame can do."""
        q, effort, self.reach = motion[0], result.result, result
        self._preslide(q)
        speeds = self._dry_speeds(motion, len(effort.velocity), twist)
        whole = self._law.with_friction(q, effort, effort.effort, speeds, self._terms)
        return whole._replace(motors=self._task.feedforward_scale * whole.motors)

    def note(self) -> str:
        """Return what keeps the frame from its target, or ''."""
        if self.reach is None:
            return ''
        if self.reach.out_of_reach:
            return f"target out of reach: '{self._task.frame}' is as near as it comes from here"
        if self.reach.damping > 0.0:
            return f"'{self._task.frame}' is near a singular pose: its motion is damped"
        return ''

    def _dry_speeds(self, motion: _Motion, count: int, twist: Floats) -> Floats:
        """Return speeds whose Coulomb friction counts, the least of a twist, shape (nv,)."""
        (q, moving, _), engine, request = motion, self._dynamics.engine, np.zeros(count)
        if not engine.robot.friction.any() and not self._dynamics.friction.coefficients:
            return request
        if twist.any():
            law = self._present_law(q)
            selection = np.asarray(law.stiffness) + np.asarray(law.damping) > 0.0
            J = frame_task(engine, self._task.frame, q, moving, False).jacobian[selection]
            rows = engine.constraint_rows(q, moving)
            sides = np.r_[rows.velocity, twist[selection]]
            request = np.linalg.lstsq(np.vstack([rows.matrix, J]), sides, rcond=SMALL)[0]
        request[self._drives] = moving[self._drives]
        return request

    def _rolling(self, q: Floats, v: Floats, base: BaseState | None) -> _Motion:
        """Return the state with a base that rolls, and the accelerations that others cause."""
        q, v = self._law.with_consistent_steering(q, v)
        a = None
        if base is not None:
            v, a = with_base(self._dynamics, q, v, np.zeros(len(v)), base, self._law.rolling)
        if self._dynamics.model.overactuated:
            still = np.zeros(len(v)) if a is None else a
            v, rates = rolling_motion(self._dynamics, q, v, still)
            a = None if a is None else rates
        return q, v, a

    def _present_law(self, q: Floats) -> FrameTracking:
        """Return the law of the engine in use, with the posture at which it began."""
        if self._posture is None:
            self._posture = q.copy()
        law = self._law_of_frame
        if law is None or law.dynamics is not self._dynamics.engine:
            law = self._law_of_frame = self._made(self._posture)
        return law

    def _made(self, posture: Floats) -> FrameTracking:
        p, passive = self._task, self.follows_by == PASSIVE
        gains = (
            (p.task_passivity_gains_lambda, p.task_passivity_gains_k)
            if passive
            else (p.task_gains_p, p.task_gains_d)
        )
        law = frame_law(self._dynamics.model, p.frame, passive)
        limit = np.asarray(self._dynamics.model.robot.effort_limit)
        scale = p.effort_limit_scale if p.enforce_command_limits else np.inf
        return FrameTracking(
            self._dynamics.engine,
            law.frame,
            law.actuated,
            *gains,
            posture,
            p.posture_stiffness,
            p.posture_damping,
            law.known,
            law.held,
            self.follows_by,
            known_limits(limit, scale),
        )


class WrenchController:
    """The law with its targets and limits."""

    def __init__(
        self,
        dynamics: Dynamics,
        parameters: WrenchControlParameters,
        new_guard: GuardFactory,
    ) -> None:
        model, p = dynamics.model, parameters
        checks.index_of(PARAMETER, p.frame, tuple(dynamics.model.robot.frames))
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
