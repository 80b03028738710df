# SPDX-License-Identifier: Apache-2.0
"""How fast the demonstration may go: no faster than the motors have efforts for."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from scipy.interpolate import CubicSpline

from kane_dynamics.control.effort_law import BaseState, EffortLaw, Terms
from kane_dynamics.control.node_dynamics import Dynamics
from kane_dynamics.demo.motion import DemoMotion, demo_motion
from kane_dynamics.robot.joint_tables import known_limits
from kane_dynamics.robot_config.parameters.tables import InverseDynamicsParameters
from kane_dynamics.robot_config.robot_source import RobotModel
from kane_dynamics.typing import Floats

PACES = (1.0, 0.7, 0.5, 0.35, 0.25, 0.1)
OF_EFFORT = 0.8  # part of the effort limits for the motion; the feedback has the rest
TIMES = 25  # at which efforts are looked at


def affordable_motion(
    model: RobotModel,
    parameters: InverseDynamicsParameters,
    start: Mapping[str, float],
    duration: float,
) -> tuple[DemoMotion, tuple[str, ...]]:
    """Return fastest motion of `PACES` within the effort limits, and the motors it overloads."""
    law = EffortLaw(Dynamics(model))
    limit = np.full(len(model.motors), np.inf)
    if parameters.enforce_command_limits:
        scale = OF_EFFORT * parameters.effort_limit_scale
        limit = known_limits(np.asarray(model.robot.effort_limit)[law.motors.v], scale)
    terms = Terms(compensated=parameters.gravity_compensated_joints)
    if model.base is not None and model.base.passive:
        limit[:] = np.inf
    for scaling in PACES:
        motion = demo_motion(
            model.robot, model.constraints, model.motors, start, duration, model.base, scaling
        )
        if np.isinf(limit).all():
            return motion, ()
        needed = np.max(np.abs(_efforts(law, model, motion, terms)), axis=0)
        over = np.flatnonzero(needed > limit).tolist()
        if not over:
            break
    return motion, tuple(model.motors[i] for i in over)


def _efforts(law: EffortLaw, model: RobotModel, motion: DemoMotion, terms: Terms) -> Floats:
    """Return the efforts of the motion, shape (times, motors) [N m or N]."""
    every = np.arange(len(model.motors))
    path = CubicSpline(motion.times, motion.base)
    efforts = []
    for t in np.linspace(0.0, motion.duration, TIMES):
        q, v = model.robot.neutral(), np.zeros(model.robot.nv)
        if model.mobile:
            q[:3] = path(t)
        target = motion.position(t), motion.velocity(t), motion.acceleration(t)
        reference = law.motors.reference(every, *target)
        base = BaseState(path(t, 1), path(t, 2)) if model.drives else None
        efforts.append(law.feedforward(q, v, reference, terms, base).motors)
    return np.array(efforts)
