# SPDX-License-Identifier: Apache-2.0
"""One drive of a mobile manipulator, an S-curve while the arm swings: wanted, and controlled."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import kane_dynamics as kd
from kane_dynamics.analysis.tracking import FEEDFORWARD
from kane_dynamics.analysis.wheel_forces import picture_of
from kane_dynamics.control.effort_controller import Gains, tracking_efforts
from kane_dynamics.control.effort_law import EffortLaw, Terms, clamped
from kane_dynamics.control.node_dynamics import Dynamics
from kane_dynamics.control.reference import Reference
from kane_dynamics.demo.motion import DemoMotion, demo_motion
from kane_dynamics.robot.resources import resolve
from kane_dynamics.robot_config.parameters.tables import RobotParameters
from kane_dynamics.robot_config.robot_source import (
    model_of_file,
    parameters_of_file,
    read_parameter_file,
)
from kane_dynamics.typing import Floats
from kane_dynamics.view.drawing import urdf_drawing
from kane_dynamics.view.forces import Force
from kane_dynamics.view.recorder import Recorder
from kane_dynamics.view.recording import Recording

DURATION, PERIOD, STEP = 12.0, 0.004, 0.001  # of the drive, the controller, the simulation [s]
SUPPORTS = ((0.17, 0.1, 0.0), (0.17, -0.1, 0.0), (-0.17, 0.1, 0.0), (-0.17, -0.1, 0.0))
"""TIAGo's casters, about, in the base frame [m]."""


@dataclass(frozen=True, eq=False)
class Run:
    """
    The drive under a controller.

    Parameters
    ----------
    time : ndarray, shape (n,)
        [s].
    error, effort : ndarray, shapes (n, m)
        Of each motor [rad or m], [N m or N].

    """

    time: Floats
    error: Floats
    effort: Floats


class Drive:
    """
    A preset robot with its gains and what it is to do.

    Parameters
    ----------
    name : str
        Of the preset.

    Attributes
    ----------
    motion : DemoMotion
        What is wanted.
    limits : ndarray, shape (m,)
        Of the motors' efforts [N m or N].

    """

    def __init__(self, name: str) -> None:
        self._name, self._file = name, read_parameter_file(name)
        self._model = model_of_file(name)
        self._dynamics = Dynamics(self._model)
        self._dynamics.compile()
        robot, prefix = self._model.robot, 'initial_positions.'
        start = {
            key.removeprefix(prefix): value
            for key, value in self._file.items()
            if key.startswith(prefix)
        }
        self.motion: DemoMotion = demo_motion(
            robot, self._model.constraints, self._model.motors, start, DURATION
        )
        self._law = EffortLaw(self._dynamics)
        motors = self._law.motors
        self.limits = np.asarray(robot.effort_limit)[motors.v]
        gains = [
            [float(self._file[f'gains.{motor}.{gain}']) for motor in self._model.motors]
            for gain in 'pd'
        ]
        self._gains = Gains(*map(np.array, gains))
        self._q = robot.neutral()
        self._q[motors.q] = self.motion.position(0.0)

    def run(self, feedforward: bool) -> Run:
        """Return what PD, with feed-forward or alone, does against the exact simulation."""
        engine, motors = self._dynamics.engine, self._law.motors
        terms = Terms() if feedforward else Terms(())
        q, v = self._q, np.zeros(self._model.robot.nv)
        times = np.arange(0.0, DURATION, PERIOD)
        errors, efforts = [], []
        for t in times:
            wanted = self._wanted(t)
            found = tracking_efforts(self._law, FEEDFORWARD, self._gains, q, v, wanted, terms)
            effort = clamped(found.motors, self.limits)
            errors.append(q[motors.q] - wanted.position)
            efforts.append(effort)
            whole = np.zeros(self._model.robot.nv)
            whole[motors.v] = effort
            motion = engine.simulate(
                q, v, PERIOD, effort=whole, step=STEP, integrator='semi_implicit'
            )
            q, v = motion.q[-1], motion.v[-1]
        return Run(times, np.array(errors), np.array(efforts))

    def _wanted(self, t: float) -> Reference:
        motors, motion = self._law.motors, self.motion
        places = np.arange(len(motors.v))
        now = (motion.position(t), motion.velocity(t), motion.acceleration(t))
        return Reference(places, motors.q, motors.v, *now)

    def recording(self, times: Floats) -> Recording:
        """Return the wanted motion with the force of the ground on each wheel."""
        robot = self._model.robot
        path = resolve(parameters_of_file(self._name, RobotParameters).urdf_file)
        recorder = Recorder(robot, urdf_drawing(robot, path))
        wheels = [self._file[f'base.{side}_wheel_names'] for side in ('left', 'right')]
        radius = self._file['base.wheel_radius']
        base = kd.bases.differential(robot, *wheels, supports=SUPPORTS, radius=radius)
        ground_contacts = kd.base_ground_contacts(base)
        for t in times:
            q, v, a = self._state(float(t))
            found = picture_of(ground_contacts, q, v, a, self._model.motors)
            forces = [
                Force(name, one.point, one.force)
                for name, one in found.contacts.items()
                if name in (*wheels[0], *wheels[1])
            ]
            recorder.add(float(t), q, v, forces)
        return recorder.recording()

    def _state(self, t: float) -> tuple[Floats, Floats, Floats]:
        robot, motors, motion = self._model.robot, self._law.motors, self.motion
        q, v, a = self._q.copy(), np.zeros(robot.nv), np.zeros(robot.nv)
        q[motors.q], v[motors.v] = motion.position(t), motion.velocity(t)
        a[motors.v] = motion.acceleration(t)
        q[:3] = [np.interp(t, motion.times, column) for column in motion.base.T]
        known = self._model.motors
        v = kd.consistent_velocity(robot, q, v, self._model.constraints, known)
        a = kd.consistent_acceleration(robot, q, v, a, self._model.constraints, known)
        return q, v, a
