# SPDX-License-Identifier: Apache-2.0
r"""
Forward dynamics with exact constraints.

.. math:: M \dot v = \tau - C v - g - D v - F \mathrm{sign}(v) + J^T w + A^T\lambda, \quad
   A \dot v = b
"""

from __future__ import annotations

from kane_dynamics.algorithms.friction import joint_friction
from kane_dynamics.algorithms.generalized_speeds import (
    GeneralizedSpeeds,
    checked_generalized_speeds,
)
from kane_dynamics.algorithms.methods import METHODS, SPEED_METHODS
from kane_dynamics.algorithms.methods.motion import Motion, motion_of
from kane_dynamics.algorithms.methods.problem import Problem
from kane_dynamics.algorithms.terms import MethodTerms
from kane_dynamics.algorithms.udwadia_kalaba import constrained_motion
from kane_dynamics.constraints.base import ConstraintRows
from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.robot.checks import as_choice
from kane_dynamics.robot.robot import Robot
from kane_dynamics.typing import Floats


def solve_by(
    method: str,
    robot: Robot,
    terms: MethodTerms,
    q: Floats,
    v: Floats,
    tau: Floats,
    t: float,
    speeds: GeneralizedSpeeds | None,
) -> Motion:
    """
    Return the motion by a named method from given terms.

    Raises
    ------
    InvalidInputError
        If the method is unknown or has no generalized speeds.

    """
    as_choice('method', method, METHODS)
    if speeds is not None:
        checked_generalized_speeds(speeds, robot)
        if method not in SPEED_METHODS:
            raise InvalidInputError(
                f'method {method!r} has no generalized speeds; {list(SPEED_METHODS)} have'
            )
    applied = tau - joint_friction(robot, v.tolist())
    return METHODS[method](Problem(terms, q, v, t, applied, terms.rows(q, v, t), speeds))


def solve_motion(
    robot: Robot, rows: ConstraintRows, mass: Floats, bias: Floats, v: Floats, tau: Floats
) -> Motion:
    """Return the motion under given rows for a known mass matrix and bias force C v + g - J' w."""
    force = tau - bias - joint_friction(robot, v.tolist())
    result = constrained_motion(mass, force, rows)
    return motion_of(result.selection, v, result.acceleration, result.multipliers)
