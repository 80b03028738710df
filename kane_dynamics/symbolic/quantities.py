# SPDX-License-Identifier: Apache-2.0
"""
The terms of the equations of motion as one graph, for `symbolic`.

M v' + C v + g + friction = tau + A' lambda, with the algorithms that kernels are traced from.
"""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca

from kane_dynamics.algorithms.friction import joint_friction
from kane_dynamics.algorithms.newton_euler import newton_euler
from kane_dynamics.compiler.graphs.trace import Tracer, column, matrix
from kane_dynamics.constraints.base import Constraint
from kane_dynamics.robot.integration import coordinate_rates
from kane_dynamics.robot.robot import Robot

QUANTITIES = (
    'mass_matrix',
    'coriolis_matrix',
    'velocity_force',
    'gravity_force',
    'friction',
    'coordinate_rate',
    'constraint_matrix',
    'constraint_velocity',
    'constraint_acceleration',
)


def traced_quantities(robot: Robot, constraints: Sequence[Constraint]) -> ca.Function:
    """
    Return all QUANTITIES as one function of q, v and t, common subexpressions shared.

    Raises
    ------
    ConstraintError
        If a constraint cannot be traced or does not fit the robot.

    """
    tracer = Tracer(robot, constraints, (), canonical=False)
    q, v, t = tracer.q, tracer.v, tracer.t
    rows = tracer.rows(q, v, t)
    quantities = [
        tracer.mass_matrix().function(column(q))[0],
        tracer.coriolis_matrix().function(column(q), column(v))[0],
        column(newton_euler(robot, q, v, tracer.at_rest, gravity=0.0)),
        tracer.gravity_force().function(column(q))[0],
        column(joint_friction(robot, v)),
        column(coordinate_rates(robot, q, v)),
        matrix(rows.matrix, robot.nv),
        column(rows.velocity),
        column(rows.acceleration),
    ]
    return ca.Function('equations', [column(q), column(v), t], ca.cse(quantities))
