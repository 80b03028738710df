# SPDX-License-Identifier: Apache-2.0
r"""
Holonomic rows that a user gives: :math:`\Phi(q, t) = 0`, differentiated twice, exactly.

With :math:`\dot q = N(q) v`, where quaternions turn with v,

.. math:: A = \frac{\partial\Phi}{\partial q} N, \quad b_0 = -\frac{\partial\Phi}{\partial t},
   \quad b = \dot b_0 - \dot A v.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kane_dynamics.algebra.tracing import expression_matrix
from kane_dynamics.constraints.base import unique_labels
from kane_dynamics.constraints.traced_rows import (
    TracedRows,
    check_speeds_bound,
    state_symbols,
    traced_column,
    traced_rows,
)
from kane_dynamics.robot.checks import as_function, as_text
from kane_dynamics.robot.integration import coordinate_rates, rate_along_motion
from kane_dynamics.robot.robot import Robot


def holonomic(
    robot: Robot, phi: Callable[[NDArray[Any], Any], Any], label: str = ''
) -> TracedRows:
    r"""
    Return the rows of :math:`\Phi(q, t) = 0`: distances, guides, driven coordinates.

    Integrators project q onto :math:`\Phi = 0` and v onto :math:`\dot\Phi = 0`.

    Parameters
    ----------
    robot : Robot
        The robot.
    phi : callable
        phi(q, t) -> a number or array_like, shape (k,): operators and numpy functions of an array
        of shape (nq,) and of t [s], without branches. It is traced once, here. A row must vary to
        first order where it vanishes: a length minus its value, not the square of that.
    label : str
        Name of the rows; rows are numbered where there is more than one.

    Raises
    ------
    ConstraintError
        If the function cannot be traced, does not give numbers, or a row does not depend on q.

    """
    import casadi as ca

    as_function('phi', phi, 'q', 't')
    name, state = as_text('label', label) or 'holonomic', state_symbols(robot)
    column = traced_column(name, phi, (state.place, state.t))
    turns = [coordinate_rates(robot, state.place, unit) for unit in np.eye(robot.nv).tolist()]
    A = ca.jacobian(column, state.q) @ expression_matrix(np.array(turns, dtype=object).T)
    b0 = -ca.jacobian(column, state.t)
    b = rate_along_motion(robot, b0 - A @ state.v, *state)
    labels = unique_labels([name] * column.shape[0])
    return check_speeds_bound(traced_rows(robot, labels, state, A, b0, b, column))
