# SPDX-License-Identifier: Apache-2.0
r"""
Rows for velocities that enter nonlinearly, and rows that bind accelerations only.

:math:`\varphi(q, v, t) = 0` is differentiated once,

.. math:: \frac{\partial\varphi}{\partial v}\,\dot v =
   -\frac{\partial\varphi}{\partial q}\,\dot q - \frac{\partial\varphi}{\partial t},

and its forces are :math:`A^T\lambda` with :math:`A = \partial\varphi/\partial v`: Chetaev's rule,
under which Gauss's principle holds as for linear rows. At velocity level the rows are those of
Newton's method, :math:`A v^+ = A v - \varphi`, so that a projection is a Newton step.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kane_dynamics.algebra.tracing import expression_matrix, traced_values
from kane_dynamics.constraints.base import unique_labels
from kane_dynamics.constraints.traced_rows import (
    State,
    TracedRows,
    check_speeds_bound,
    state_symbols,
    traced_column,
    traced_rows,
)
from kane_dynamics.exceptions import ConstraintError
from kane_dynamics.robot.checks import as_function, as_text
from kane_dynamics.robot.integration import rate_along_motion
from kane_dynamics.robot.robot import Robot

StateFunction = Callable[[NDArray[Any], NDArray[Any], Any], Any]


def nonlinear(robot: Robot, phi: StateFunction, label: str = '') -> TracedRows:
    r"""
    Return the rows of :math:`\varphi(q, v, t) = 0`, differentiated exactly.

    Quaternions among q turn with v. Where :math:`\partial\varphi/\partial v` vanishes, as at v = 0
    for rows that are quadratic in v, a row binds nothing.

    Parameters
    ----------
    robot : Robot
        The robot.
    phi : callable
        phi(q, v, t) -> a number or array_like, shape (k,): operators and numpy functions of
        arrays of shapes (nq,) and (nv,) and of t [s], without branches. It is traced once, here.
    label : str
        Name of the rows; rows are numbered where there is more than one.

    Raises
    ------
    ConstraintError
        If the function cannot be traced, does not give numbers, or a row does not depend on v.

    """
    import casadi as ca

    name = as_text('label', label) or 'nonlinear'
    as_function('phi', phi, 'q', 'v', 't')
    state = state_symbols(robot)
    column = traced_column(name, phi, (state.place, state.speeds, state.t))
    A = ca.jacobian(column, state.v)
    rate = rate_along_motion(robot, column, *state)
    labels = unique_labels([name] * A.shape[0])
    return check_speeds_bound(traced_rows(robot, labels, state, A, A @ state.v - column, -rate))


def acceleration_form(
    robot: Robot, A: StateFunction, b: StateFunction, label: str = ''
) -> TracedRows:
    r"""
    Return the rows :math:`A(q, v, t) \dot v = b(q, v, t)`: servo constraints on accelerations.

    No speed violates them, so at velocity level they ask for nothing (:math:`b_0 = A v`), and
    nothing is projected.

    Parameters
    ----------
    robot : Robot
        The robot.
    A : callable
        A(q, v, t) -> array_like, shape (k, nv) or (nv,); written like phi of `nonlinear`.
    b : callable
        b(q, v, t) -> array_like, shape (k,) or a number.
    label : str
        Name of the rows; rows are numbered where there is more than one.

    Raises
    ------
    ConstraintError
        If a function cannot be traced, the shapes do not fit the robot, or a row is zero.

    """
    name = as_text('label', label) or 'acceleration_form'
    as_function('A', A, 'q', 'v', 't')
    as_function('b', b, 'q', 'v', 't')
    state = state_symbols(robot)
    matrix = np.atleast_2d(_traced(f'{name}: A', A, state))
    right_side = np.atleast_1d(_traced(f'{name}: b', b, state))
    count = len(matrix)
    if not count or matrix.shape != (count, robot.nv) or right_side.shape != (count,):
        raise ConstraintError(
            f'{name}: need A of shape (k, {robot.nv}) and b of shape (k,), got {matrix.shape} and '
            f'{right_side.shape}'
        )
    rows = expression_matrix(matrix)
    target = expression_matrix(right_side[:, None])
    labels = unique_labels([name] * count)
    return check_speeds_bound(
        traced_rows(robot, labels, state, rows, rows @ state.v, target, integrated=True)
    )


def _traced(what: str, function: StateFunction, state: State) -> NDArray[np.object_]:
    return traced_values(what, function, (state.place, state.speeds, state.t), ConstraintError)
