# SPDX-License-Identifier: Apache-2.0
"""Commands of a base that pass a governor, for one robot; nothing here needs rclpy."""

from __future__ import annotations

from typing import Any

import numpy as np

from kane_dynamics.analysis.contact_builders import base_ground_contacts
from kane_dynamics.analysis.motion_limits import SafetyMargins
from kane_dynamics.analysis.support_polygon import SupportPolygon
from kane_dynamics.analysis.wheel_forces import WheelForces, picture_of
from kane_dynamics.bases.block import free_components
from kane_dynamics.control.base_state_input import TwistInput, response
from kane_dynamics.control.effort_law import BaseState, with_base
from kane_dynamics.control.governor import Governor, GovernorResult, Plan
from kane_dynamics.control.node_dynamics import Dynamics
from kane_dynamics.control.reference import Motors, ReferenceInput
from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.messages.inputs import Input, InputMonitor
from kane_dynamics.robot_config.parameters.tables import GovernorParameters
from kane_dynamics.robot_config.robot_source import RobotModel
from kane_dynamics.typing import Floats, Indices


class ArmTrajectoryPreview(ReferenceInput):
    """What a JointTrajectory says of the arm from now on."""

    def __init__(self, model: RobotModel, guard: InputMonitor, tolerance: float) -> None:
        super().__init__(Motors(model), guard, self._measured)
        self.tolerance = tolerance
        self._state: tuple[Floats, Floats] | None = None
        self._behind, self._before = 0, 0

    def accept(self, message: Any) -> None:
        """Check a JointTrajectory and keep it."""
        super().accept(message)
        self._behind = 0

    def reset(self) -> None:
        """Forget the trajectory."""
        super().reset()
        self._state = None

    def ahead(self, time: int, scaling: float, q: Floats, v: Floats) -> Plan | None:
        """Return what the arm is about to do, None where no trajectory says it."""
        if self._before:
            self._behind += round((1.0 - scaling) * max(time - self._before, 0))
        self._before, self._state = time, (q, v)
        played = time - self._behind
        target = self.at(played)
        if target is None:
            return None
        gap = self._motors.error(target.motor, target.position, q[target.q_index])
        if np.abs(gap).max(initial=0.0) > self.tolerance:
            return None
        return lambda times: self._states(played, times, q, v)

    def _states(
        self, played: int, times: Floats, q: Floats, v: Floats
    ) -> tuple[Floats, Floats, Floats]:
        """Return q, v and a at times ahead [s]; joints without a trajectory rest."""
        indices, speeds = np.tile(q, (len(times), 1)), np.zeros((2, len(times), len(v)))
        for k, time in enumerate(times.tolist()):
            target = self.at(played + round(time * 1e9))
            if target is not None:
                indices[k, target.q_index] = target.position
                speeds[:, k, target.v_index] = target.velocity, target.acceleration
        return indices, speeds[0], speeds[1]

    def _measured(self, motor: Indices) -> tuple[Floats, Floats, Floats] | None:
        """Return the measured motion of some motors."""
        if self._state is None:
            return None
        q, v = self._state
        return q[self._motors.q[motor]], v[self._motors.v[motor]], np.zeros(len(motor))


STILL = np.zeros(3)
LONGEST_STOP = 4.0
"""Time [s] after which a base that nothing is known of is told to stand, however fast it was."""


class GovernedBase:
    """The governor of a robot with its newest command."""

    def __init__(
        self,
        dynamics: Dynamics,
        parameters: GovernorParameters,
        guard: InputMonitor,
        arm: ArmTrajectoryPreview | None = None,
    ) -> None:
        model = dynamics.model
        if model.base is None:
            raise InvalidInputError(
                'the governor needs a base on wheels: base_type diff_drive, mecanum, ...'
            )
        base = model.base
        self.command, self.arm = TwistInput(model, parameters, guard), arm
        self.inputs: dict[str, Input] = {'cmd_vel': self.command}
        if arm is not None:
            self.inputs['arm_trajectory'] = arm
        self._dynamics = dynamics
        self.newest: GovernorResult | None = None
        self._model, self.frame, self._base = model, model.child_frame, base
        self._contacts = base_ground_contacts(
            base, friction=parameters.friction_coefficient or None
        )
        try:
            self._contacts.polygon(model.robot.neutral())  # fails now rather than under way
        except InvalidInputError as error:
            where = 'base.support_points says where casters and balls touch the ground'
            raise InvalidInputError(f'{error}; {where}') from error
        columns = self._contacts.reach.matrix.T
        self._axes = free_components(np.transpose([self._of_frame(x) for x in columns]))
        drive = response(parameters)
        self._governor = Governor(self._contacts, drive, base.driven, base.passive)
        self.configure(parameters)
        self.halt()

    def configure(self, parameters: GovernorParameters) -> None:
        """Take over reserves and limits of the drives."""
        if self.arm is not None:
            self.arm.tolerance = parameters.arm_tolerance
        self._drive = response(parameters)
        margins = SafetyMargins(
            parameters.margin_tip_over,
            parameters.margin_friction,
            parameters.margin_effort,
            parameters.margin_speed,
        )
        self._governor = self._governor.adjusted(self._drive, margins, parameters.horizon)

    def polygon(self, q: Floats) -> SupportPolygon:
        """Return what the robot stands on."""
        return self._contacts.polygon(q)

    def halt(self) -> None:
        """Forget the motion: nothing is commanded."""
        self._applied, self.newest = STILL, None
        self._moved: tuple[Floats, Floats] | None = None
        self._braking = 0.0
        self._forget_rates()

    def reset(self) -> None:
        """Forget messages, but not how the base moves: it is still to be braked."""
        for source in self.inputs.values():
            source.reset()
        self._forget_rates()

    def take_over(self, other: GovernedBase) -> None:
        """Go on with the motion of the base under another model."""
        self._applied, self._braking = other._applied, other._braking
        if other._moved is not None:
            self._moved = self._model.robot.neutral(), other._moved[1]

    def _forget_rates(self) -> None:
        self._before: tuple[int, Floats] | None = None
        self._acceleration = np.zeros(self._model.robot.nv)

    def admit(self, time: int, q: Floats, v: Floats) -> Floats:
        """Return the twist of the base frame to command now, shape (3,)."""
        self._differentiate(time, v)
        target = self.command.twist if self.command.guard.fresh() else STILL
        _, twist = self.frame.child_state(q[:3], v[:3])
        scaling = 1.0 if self.newest is None else self.newest.speed_scaling
        plan = None if self.arm is None else self.arm.ahead(time, scaling, q, v)
        self._moved, self._braking = (q.copy(), self._of_root(twist)), 0.0
        return self._let_through(*self._moved, v, self._acceleration, target, plan)

    def brake(self, elapsed: float) -> Floats:
        """Return twist to command where nothing is measured: braking as the last state allows."""
        self._braking += elapsed
        if self._moved is None or self._braking > LONGEST_STOP:
            return STILL
        q, twist = self._moved
        now = self._drive.after(twist, self._of_root(self._applied), elapsed).twist
        self._moved, at_rest = (q, now), np.zeros(self._model.robot.nv)
        return self._let_through(*self._moved, at_rest, at_rest, STILL, None)

    def _let_through(
        self, q: Floats, now: Floats, v: Floats, a: Floats, target: Floats, plan: Plan | None
    ) -> Floats:
        """Return the command for the present motion of the base."""
        last, goal = self._of_root(self._applied), self._of_root(target)
        self.newest = self._governor.admit(q, v, a, now, last, goal, plan)
        self._applied = self._of_frame(self.newest.command)
        sent = np.zeros(3)  # drivers know nothing of what follows from the other components
        sent[self._axes] = self._applied[self._axes]
        return sent

    def picture(self, q: Floats, v: Floats) -> WheelForces:
        """Return the contact forces and margins of the motion that was let through."""
        model, frame = self._model, self.frame
        _, twist = frame.child_state(q[:3], v[:3])
        motion = self._drive.after(twist, self._applied, 0.0)
        rates = frame.root_acceleration(q[:3], v[:3], motion.acceleration)
        base, wheels = BaseState(v[:3], rates), model.v_index(self._base.driven)
        v, a = with_base(self._dynamics, q, v, self._acceleration, base, wheels)
        return picture_of(self._contacts, q, v, a, model.actuated)

    def _differentiate(self, time: int, v: Floats) -> None:
        """Take the accelerations of the joints from two states."""
        before, self._before = self._before, (time, v.copy())
        if before is not None and time > before[0]:
            self._acceleration = (v - before[1]) / ((time - before[0]) * 1e-9)

    def _of_root(self, twist: Floats) -> Floats:
        """Return the twist of the root link in its axes from that of the base frame."""
        return self.frame.root_velocity(STILL, twist)

    def _of_frame(self, twist: Floats) -> Floats:
        """Return the twist of the base frame from that of the root link."""
        return self.frame.child_state(STILL, twist)[1]
