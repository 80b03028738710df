# SPDX-License-Identifier: Apache-2.0
r"""
How constraint rows turn while the robot moves: :math:`\dot A x` for any speeds x.

Speeds x that keep :math:`A x = b_0` while the robot moves at other speeds v change so that
:math:`A \dot x = \dot b_0 - \dot A x`, where :math:`\dot A` belongs to v.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kane_dynamics.algebra.tracing import expression_matrix
from kane_dynamics.constraints.base import ConstraintRows
from kane_dynamics.constraints.traced_rows import state_symbols
from kane_dynamics.exceptions import ConstraintError
from kane_dynamics.robot.integration import rate_along_motion
from kane_dynamics.robot.robot import Robot


def turning_rate(robot: Robot, rows_at: Callable[[Any, Any, Any], ConstraintRows]) -> Any:
    r"""
    Return the function (q, v, x, t) -> :math:`\dot A(q, v, t) x`, shape (k,); casadi.Function.

    Parameters
    ----------
    robot : Robot
        The robot.
    rows_at : callable
        (q, v, t) -> the rows; it is traced.

    Raises
    ------
    ConstraintError
        If rows bind accelerations only: they say nothing of other speeds than those of the robot.

    """
    import casadi as ca

    state, x = state_symbols(robot), ca.SX.sym('x', robot.nv)
    rows = rows_at(state.place, state.speeds, state.t)
    for label, integrated in zip(rows.labels, rows.integrated, strict=True):
        if integrated:
            raise ConstraintError(
                f"constraint '{label}' binds accelerations only; it does not say which speeds "
                'besides those of the robot are allowed'
            )
    payload = expression_matrix(rows.matrix.astype(object)) @ x
    rate = rate_along_motion(robot, payload, *state)
    return ca.Function('turning_rate', [state.q, state.v, x, state.t], [ca.densify(rate)])
