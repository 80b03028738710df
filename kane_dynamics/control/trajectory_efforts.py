# SPDX-License-Identifier: Apache-2.0
"""Efforts that a trajectory of some motors needs, base and arm coupled; no rclpy here."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kane_dynamics.control.base_trajectory import resting
from kane_dynamics.control.effort_law import BaseState, EffortLaw, Terms
from kane_dynamics.control.node_dynamics import Dynamics
from kane_dynamics.control.trajectory_retiming import check_base_rests, retimed_points
from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.robot.checks import index_of
from kane_dynamics.robot.joint_tables import known_limits
from kane_dynamics.robot_config.parameters.tables import TrajectoryFeedforwardParameters
from kane_dynamics.trajectories.effort_points import (
    EffortFunction,
    EffortViolation,
    clip_efforts,
    starting_from,
    with_efforts,
    with_ramp,
)
from kane_dynamics.trajectories.joint_trajectory import BaseTrajectory, JointTrajectory
from kane_dynamics.typing import Floats, Indices


class PlannedEfforts:
    """Fills the efforts of trajectories of one robot."""

    def __init__(self, dynamics: Dynamics, parameters: TrajectoryFeedforwardParameters) -> None:
        self._law, self.model = EffortLaw(dynamics), dynamics.model
        self._dynamics = dynamics
        self.configure(parameters)

    def configure(self, parameters: TrajectoryFeedforwardParameters) -> None:
        """Take over parameters; raises as the constructor."""
        self.motor(parameters.gravity_compensated_joints)
        self._parameters, self._terms = parameters, Terms.of(parameters)

    def motor(self, names: tuple[str, ...]) -> Indices:
        """Return the places of joints among the motors."""
        motors = self.model.motors
        return np.array([index_of('joint with a motor', n, motors) for n in names], dtype=np.intp)

    def along(
        self, names: tuple[str, ...], q: Floats, base: BaseTrajectory | None = None
    ) -> EffortFunction:
        """Return the efforts of joints as a function of their motion."""
        motor, law, terms = self.motor(names), self._law, self._terms
        still = np.zeros(self.model.robot.nv)
        plan = base if base is not None else resting(q)
        mobile = bool(self.model.drives)

        def effort(time: float, *motion: Floats) -> Floats:
            state, moved = None, q
            if mobile:
                place, *rates = plan.at(time)
                moved, state = q.copy(), BaseState(*rates)
                moved[:3] = place
            target = law.motors.reference(motor, *motion)
            return law.feedforward(moved, still, target, terms, state).motors[motor]

        return effort

    def fill(
        self,
        points: JointTrajectory,
        q: Floats,
        v: Floats,
        base: BaseTrajectory | None = None,
        joins: bool = False,
        stopped: Callable[[], bool] = lambda: False,
    ) -> tuple[JointTrajectory, tuple[EffortViolation, ...]]:
        """Return a trajectory with efforts, and which of them were clamped."""
        p, motor = self._parameters, self.motor(points.names)
        motors, robot = self._law.motors, self.model.robot
        whole = points
        if not joins:
            whole = starting_from(points, q[motors.q[motor]], v[motors.v[motor]])
        if p.retime:
            self.check_retimable(points, v, joins)
            whole = retimed_points(self._dynamics.engine, self.model, whole, q)
        along, bound = self.along(points.names, q, base), p.interpolation_tolerance or np.inf

        def effort(time: float, *motion: Floats) -> Floats:
            if stopped():
                raise InvalidInputError('the trajectory is given up while its efforts are found')
            return along(time, *motion)

        filled = with_efforts(whole, effort, error=bound, rate=p.min_point_rate)
        if len(filled.times) > 1 and not joins:
            filled = with_ramp(filled, min(p.ramp_time, 0.5 * filled.end))
        if not p.enforce_command_limits:
            return filled, ()
        limit = known_limits(np.asarray(robot.effort_limit)[motors.v[motor]], p.effort_limit_scale)
        return clip_efforts(filled, limit)

    def check_retimable(self, points: JointTrajectory, v: Floats, joins: bool) -> None:
        """Check what is known at once of a trajectory that is to be retimed."""
        self.motor(points.names)
        motion = self._parameters.base_motion_source
        if self.model.drives and motion != 'rest':
            raise InvalidInputError(f"retime needs base.motion_source 'rest', got '{motion}'")
        if joins:
            raise InvalidInputError('a trajectory that has begun cannot be retimed')
        check_base_rests(self.model, v)
