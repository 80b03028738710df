# SPDX-License-Identifier: Apache-2.0
"""Measured state and the wanted pose of a frame to efforts, for one robot; no rclpy here."""

from __future__ import annotations

import contextlib
from collections.abc import Callable

import numpy as np

from kane_dynamics.control.frame_task import frame_place
from kane_dynamics.control.frame_tracking import REST, FrameMotion, FrameTracking
from kane_dynamics.control.tracking import COMPUTED
from kane_dynamics.exceptions import InvalidInputError, UnreachableAccelerationError
from kane_dynamics.ros.computed_torque_controller import ComputedTorqueController
from kane_dynamics.ros.dynamics import Dynamics, known_speeds
from kane_dynamics.ros.effort_law import BaseState, Efforts, with_base
from kane_dynamics.ros.input_guard import InputGuard
from kane_dynamics.ros.messages.targets import TargetInput, read_pose, read_twist
from kane_dynamics.ros.parameters.computed_torque import ComputedTorqueParameters
from kane_dynamics.typing import Floats


class FrameTorqueController(ComputedTorqueController):
    """
    Computed torque of a frame, with its targets and limits.

    Parameters
    ----------
    dynamics : Dynamics
        Algorithms and model.
    guard : InputGuard
        Of references of joints, which are not followed here.
    parameters : ComputedTorqueParameters
        Those of the node.
    new_guard : callable
        Makes an `InputGuard` of a name and an age [s].

    Attributes
    ----------
    targets : dict of str to TargetInput
        Take 'pose' and 'twist'.
    missed : float
        What the robot cannot do of the wanted acceleration [rad/s^2, m/s^2].

    Raises
    ------
    InvalidInputError, NameNotFoundError
        If the law is another one, or the frame is not one of the robot.

    """

    _posture: Floats | None
    _held: Floats | None
    _law_of_frame: FrameTracking | None

    def __init__(
        self,
        dynamics: Dynamics,
        guard: InputGuard,
        parameters: ComputedTorqueParameters,
        new_guard: Callable[[str, float], InputGuard],
    ) -> None:
        p = parameters
        if p.law != COMPUTED:
            raise InvalidInputError(f"space 'task' needs law '{COMPUTED}', got '{p.law}'")
        super().__init__(dynamics, guard, COMPUTED)
        self._dynamics, self._task, self.missed = dynamics, p, 0.0
        odom = p.frame_prefix + p.odom_frame_id
        self.targets = {
            'pose': TargetInput(new_guard('pose', p.pose_timeout), odom, read_pose),
            'twist': TargetInput(new_guard('twist', p.twist_timeout), odom, read_twist),
        }
        self._begin_anew()
        self._try(dynamics.model.robot.neutral())

    def _try(self, q: Floats) -> None:
        """Compute once, so that a wrong frame is said now, and what lacks is compiled now."""
        law, rest = self._made(q), np.zeros(self._dynamics.model.robot.nv)
        with contextlib.suppress(UnreachableAccelerationError):  # here; elsewhere it may do it
            law.effort(q, rest, FrameMotion(self._place(q)))

    def _place(self, q: Floats) -> Floats:
        """Return the pose of the frame, shape (7,)."""
        pose = frame_place(self._dynamics.engine, self._task.frame, q)
        return np.array([*pose.position(), *pose.rotation.components])

    def take_task(self, parameters: ComputedTorqueParameters) -> None:
        """Take over gains and time limits of the frame."""
        self._task, self._law_of_frame = parameters, None
        for name, target in self.targets.items():
            target.guard.max_age = getattr(parameters, f'{name}_timeout')

    def rest(self) -> None:
        """Begin anew with the next state: no effort is out."""
        super().rest()
        self._begin_anew()

    def _begin_anew(self) -> None:
        self._posture = self._held = self._law_of_frame = None

    def followed(self, time: int, q: Floats, v: Floats, base: BaseState | None) -> Efforts | None:
        """Return the efforts that follow the pose or hold the frame; None where none is wanted."""
        p, place = self._task, self._place(q)
        pose, twist = self.targets['pose'].near(place, p.pose_tolerance), None
        if pose is not None:
            self._held, twist = None, self.targets['twist'].value
        elif self.on_stale != 'hold_position':
            return None
        else:
            self._held = pose = place if self._held is None else self._held
        motion = FrameMotion(pose, REST if twist is None else twist)
        if base is not None:
            rest = np.zeros(len(v))
            v, _ = with_base(self._dynamics, q, v, rest, base, self._law.rolling)
        rates = None if base is None else base.acceleration
        found, missed = self._present_law(q).effort(q, v, motion, self._terms.names, rates)
        self.missed = float(np.abs(missed).max())
        motors = found.effort[self._law.motors.v]
        scaled = p.torque_scale * self._law.left_to_drives(motors, q, self._terms)
        drives = found.effort[self._dynamics.model.v_index(self.drives)]
        return Efforts(scaled, drives)

    def _present_law(self, q: Floats) -> FrameTracking:
        """Return the law of the engine in use, with the posture at which it began."""
        if self._posture is None:
            self._posture = q.copy()
        law = self._law_of_frame
        if law is None or law.dynamics is not self._dynamics.engine:
            law = self._law_of_frame = self._made(self._posture)
        return law

    def _made(self, posture: Floats) -> FrameTracking:
        p, model = self._task, self._dynamics.model
        return FrameTracking(
            self._dynamics.engine,
            p.frame,
            model.actuated,
            p.task_stiffness,
            p.task_damping,
            posture,
            p.posture_stiffness,
            p.posture_damping,
            known_speeds(model, ()),
        )
