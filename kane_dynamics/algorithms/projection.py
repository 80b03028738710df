# SPDX-License-Identifier: Apache-2.0
"""
Moving a state onto its constraints, by the least motion in the metric M.

Coordinates by Newton's method on the manifold (holonomic rows), speeds by the impulse of least
constraint. This removes drift after an integration step; no gain is hidden in the dynamics.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from kane_dynamics.algorithms.gauss import gauss_mass_matrix
from kane_dynamics.algorithms.row_selection import select_rows
from kane_dynamics.algorithms.udwadia_kalaba import cholesky_factor, nearest
from kane_dynamics.constraints.base import Constraint, constraint_rows
from kane_dynamics.exceptions import ProjectionError
from kane_dynamics.model.integration import integrate_coordinates
from kane_dynamics.model.robot import Robot

Floats = NDArray[np.float64]

POSITION_TOLERANCE = 1e-12  # [m or rad]
_NEWTON_LIMIT = 20


def project(
    robot: Robot, constraints: Sequence[Constraint], q: Floats, v: Floats, t: float
) -> tuple[Floats, Floats]:
    """
    Return the nearest state with Phi(q, t) = 0 and A v = b0.

    Raises
    ------
    ProjectionError
        If Newton's method does not bring the holonomic rows to 1e-12.
    InconsistentConstraintsError
        If the rows contradict each other.

    """
    q = _projected_coordinates(robot, constraints, q, v, t)
    coordinates, speeds = q.tolist(), v.tolist()
    rows = constraint_rows(robot, constraints, coordinates, speeds, t)
    selection = select_rows(rows, cholesky_factor(gauss_mass_matrix(robot, coordinates)))
    selection.check_speeds(v)
    taken = selection.independent
    return q, nearest(selection.root, taken.matrix, v, taken.velocity)[0]


def _projected_coordinates(
    robot: Robot, constraints: Sequence[Constraint], q: Floats, v: Floats, t: float
) -> Floats:
    violation = np.zeros(0)
    for _ in range(_NEWTON_LIMIT):
        rows = constraint_rows(robot, constraints, q.tolist(), v.tolist(), t).holonomic
        violation = np.array(rows.positions, dtype=float)
        if np.abs(violation).max(initial=0.0) <= POSITION_TOLERANCE:
            return q
        factor = cholesky_factor(gauss_mass_matrix(robot, q.tolist()))
        taken = select_rows(rows, factor).taken
        step, _ = nearest(factor, rows.matrix[taken], np.zeros(robot.nv), -violation[taken])
        q = integrate_coordinates(robot, q, step.tolist(), 1.0)
    raise ProjectionError(
        f'holonomic rows still violated by {np.abs(violation).max():.3e} after '
        f'{_NEWTON_LIMIT} Newton steps'
    )
