# SPDX-License-Identifier: Apache-2.0
"""
Moving a state onto its constraints, by the least motion in the metric M.

Coordinates by Newton's method on the manifold (holonomic rows), speeds by the impulse of least
constraint. This removes drift after an integration step; no gain is hidden in the dynamics.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from kane_dynamics.algorithms.gauss import gauss_mass_matrix
from kane_dynamics.algorithms.udwadia_kalaba import cholesky_factor, nearest
from kane_dynamics.constraints.base import ConstraintRows
from kane_dynamics.constraints.constraint_set import ConstraintSet
from kane_dynamics.constraints.row_selection import TAKEN, RowSelection, select_rows
from kane_dynamics.exceptions import ProjectionError
from kane_dynamics.robot.motion import integrate_coordinates
from kane_dynamics.robot.robot import Robot
from kane_dynamics.typing import Floats

POSITION_TOLERANCE = 1e-12  # [m or rad]
_NEWTON_LIMIT = 20


class Projected(NamedTuple):
    """A state on its constraints, and the rows that were taken for the speeds."""

    q: Floats
    v: Floats
    independent_indices: tuple[int, ...]

    @property
    def rank(self) -> int:
        """Return the number of independent rows."""
        return len(self.independent_indices)


def project(robot: Robot, constraints: ConstraintSet, q: Floats, v: Floats, t: float) -> Projected:
    """Return the nearest state with Phi(q, t) = 0 and A v = b0."""
    return onto_rows(robot, constraints.rows, partial(_mass_matrix, robot), q, v, t)


def onto_rows(
    robot: Robot,
    rows_at: Callable[[Floats, Floats, float], ConstraintRows],
    mass_matrix: Callable[[Floats], Floats],
    q: Floats,
    v: Floats,
    t: float,
) -> Projected:
    """Return what `project` does, with rows at (q, v, t) and M(q) from elsewhere."""
    for _ in range(_NEWTON_LIMIT):
        every, factor = rows_at(q, v, t), cholesky_factor(mass_matrix(q))
        rows = every.holonomic
        gap = np.array(rows.positions, dtype=float)
        violation = np.abs(gap)
        if violation.max(initial=0.0) <= POSITION_TOLERANCE:
            break
        worst = rows.labels[int(np.argmax(violation))]
        order = select_rows(rows, factor, by_drift=False).independent_indices
        if violation[order].max(initial=0.0) <= POSITION_TOLERANCE and violation.max() <= TAKEN:
            break
        step, _ = nearest(factor, rows.matrix[order], np.zeros(robot.nv), -gap[order])
        q = integrate_coordinates(robot, q, step.tolist(), 1.0)
    else:
        raise ProjectionError(
            f'holonomic rows still violated by {violation.max():.3e} after {_NEWTON_LIMIT} Newton '
            f"steps, most '{worst}'"
        )
    selection = select_rows(every, factor)
    selection.check_speeds(v)
    pivots = selection.independent
    on_rows = nearest(selection.root, pivots.matrix, v, pivots.velocity)[0]
    return Projected(q, on_rows, tuple(selection.independent_indices.tolist()))


def impact_energy(
    robot: Robot,
    constraints: ConstraintSet,
    start: tuple[Floats, Floats, float],
    end: tuple[Floats, float],
) -> float:
    """Return 1/2 |dv|^2 in the metric M [J] of the impact of rows that came on in a step."""
    q, t = end
    v = start[1]
    before = set(_selection(robot, constraints, *start).independent_indices.tolist())
    after = _selection(robot, constraints, q, v, t)
    kept = after.rows.take([k for k in after.independent_indices.tolist() if k in before])
    ahead = nearest(after.root, kept.matrix, v, kept.velocity)[0]
    met = after.independent
    change = after.root.T @ (nearest(after.root, met.matrix, ahead, met.velocity)[0] - ahead)
    return 0.5 * float(change @ change)


def _selection(
    robot: Robot, constraints: ConstraintSet, q: Floats, v: Floats, t: float
) -> RowSelection:
    """Return the rows that are taken at a state, in the metric of M."""
    return constraints.selection(cholesky_factor(_mass_matrix(robot, q)), q, v, t)


def _mass_matrix(robot: Robot, q: Floats) -> Floats:
    return gauss_mass_matrix(robot, q.tolist())
