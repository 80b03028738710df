# SPDX-License-Identifier: Apache-2.0
"""What the runs of the demonstration feed forward, and how fast the motors let them go."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from scipy.interpolate import CubicSpline

from kane_dynamics.algorithms.newton_euler import TERMS
from kane_dynamics.control.effort_controller import EffortController
from kane_dynamics.control.effort_law import BaseState, EffortLaw, Efforts, Terms
from kane_dynamics.control.node_dynamics import Dynamics
from kane_dynamics.control.reference import Reference
from kane_dynamics.demo.figures import Setup
from kane_dynamics.demo.motion import DemoMotion, demo_motion
from kane_dynamics.robot.joint_tables import known_limits
from kane_dynamics.robot_config.parameters.tables import InverseDynamicsParameters
from kane_dynamics.robot_config.robot_source import RobotModel
from kane_dynamics.ros.effort_controller_node import EffortControllerNode
from kane_dynamics.typing import Bools, Floats


class ArmLaw(EffortLaw):
    """Feed-forward of the arm as if its base stood, and none for the base."""

    def __init__(self, dynamics: Dynamics) -> None:
        super().__init__(dynamics)
        robot = dynamics.model.robot
        rows = dynamics.engine.constraint_rows(robot.neutral(), np.zeros(robot.nv)).matrix
        moving: Bools = np.any(np.asarray(rows), axis=0)
        if dynamics.model.mobile:
            moving[:3] = True
        if (base := dynamics.model.base) is not None:
            moving[dynamics.model.v_index(base.steering)] = True
        self._of_base = moving

    def feedforward(
        self,
        q: Floats,
        v: Floats,
        reference: Reference,
        terms: Terms,
        base: BaseState | None = None,
    ) -> Efforts:
        """Return the efforts of the arm on a standing base."""
        arm = ~self._of_base[reference.v_index]
        standing = replace(
            reference,
            velocity=reference.velocity * arm,
            acceleration=reference.acceleration * arm,
        )
        still = None if base is None else BaseState(np.zeros(3), np.zeros(3))
        result = super().feedforward(q, v * ~self._of_base, standing, terms, still)
        return result._replace(motors=result.motors * ~self._of_base[self.motors.v])


class _ArmController(EffortController):
    LAW = ArmLaw


class _ArmNode(EffortControllerNode):
    joint_controller = _ArmController


@dataclass(frozen=True)
class Law:
    """What is fed forward in one run: some terms of the dynamics, by a controller."""

    label: str
    fed_forward: tuple[str, ...] = TERMS
    node: type[EffortControllerNode] = EffortControllerNode

    @property
    def terms(self) -> dict[str, bool]:
        """Return the parameters `terms.*` of the controller."""
        return {f'terms.{term}': term in self.fed_forward for term in TERMS}


FULL = Law('PD + full')
LAWS = (
    Law('PD', ()),
    Law('PD + gravity', ('gravity',)),
    Law('PD + arm', node=_ArmNode),
    FULL,
)


def laws_for(setup: Setup) -> tuple[Law, ...]:
    """Return the laws that differ: an arm without a base that moves is all there is."""
    return LAWS if setup.mobile else tuple(law for law in LAWS if law.node is not _ArmNode)


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
