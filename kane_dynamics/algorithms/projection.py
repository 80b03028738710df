# SPDX-License-Identifier: Apache-2.0
"""
Moving a state onto its constraints, by the least motion in the metric M.

Coordinates by Newton's method on the manifold (holonomic rows), speeds by the impulse of least
constraint. This removes drift after an integration step; no gain is hidden in the dynamics.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from kane_dynamics.algorithms.gauss import gauss_mass_matrix
from kane_dynamics.algorithms.udwadia_kalaba import cholesky_factor, nearest
from kane_dynamics.constraints.base import ConstraintRows
from kane_dynamics.constraints.constraint_set import ConstraintSet
from kane_dynamics.constraints.row_selection import TAKEN, RowSelection, select_rows
from kane_dynamics.exceptions import ProjectionError
from kane_dynamics.robot.integration import integrate_coordinates
from kane_dynamics.robot.robot import Robot
from kane_dynamics.typing import Floats

POSITION_TOLERANCE = 1e-12  # [m or rad]
_NEWTON_LIMIT = 20


@dataclass(frozen=True, eq=False, slots=True)
class Projected:
    """
    A state on its constraints.

    Parameters
    ----------
    q, v : ndarray, shapes (nq,), (nv,)
        The state.
    independent_indices : tuple of int
        Numbers of the rows that were taken for the speeds.

    """

    q: Floats
    v: Floats
    independent_indices: tuple[int, ...]

    @property
    def rank(self) -> int:
        """Return the number of independent rows."""
        return len(self.independent_indices)


def project(
    robot: Robot, constraints: ConstraintSet, q: Floats, v: Floats, t: float
) -> tuple[Floats, Floats]:
    """
    Return the nearest state with Phi(q, t) = 0 and A v = b0.

    Both hold for the rows that are taken (`row_selection`). Rows that repeat them up to a tilt of
    1e-3 keep what they differ by.

    Raises
    ------
    ProjectionError
        If Newton's method does not bring the rows that are taken to 1e-12, and the others to
        1e-3 [m or rad].
    InconsistentConstraintsError
        If the rows contradict each other.

    """
    state = projected(robot, constraints, q, v, t)
    return state.q, state.v


def projected(
    robot: Robot, constraints: ConstraintSet, q: Floats, v: Floats, t: float
) -> Projected:
    """Return what `project` does, with the rows that were taken; errors as there."""
    mass = partial(_mass_matrix, robot)
    return onto_rows(robot, constraints.rows, mass, q, v, t)


def onto_rows(
    robot: Robot,
    rows_at: Callable[[Floats, Floats, float], ConstraintRows],
    mass_matrix: Callable[[Floats], Floats],
    q: Floats,
    v: Floats,
    t: float,
) -> Projected:
    """Return what `project` does, with rows at (q, v, t) and M(q) from elsewhere."""
    q, rows, factor = _onto_places(robot, rows_at, mass_matrix, q, v, t)
    selection = select_rows(rows, factor)
    selection.check_speeds(v)
    independent_indices = selection.independent
    on_rows = nearest(selection.root, independent_indices.matrix, v, independent_indices.velocity)[
        0
    ]
    return Projected(q, on_rows, tuple(selection.independent_indices.tolist()))


def impact_energy(
    robot: Robot,
    constraints: ConstraintSet,
    start: tuple[Floats, Floats, float],
    end: tuple[Floats, float],
) -> float:
    """
    Return 1/2 |dv|^2 in the metric M [J] of the impact of rows that came on in a step.

    The speeds v at the start, on the rows that were and still are taken, meet all rows that are
    taken at the end.

    Parameters
    ----------
    robot, constraints
        The robot and its rows.
    start : tuple of q, v, t
        State and time before the step.
    end : tuple of q, t
        Coordinates and time after it.

    """
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


def _onto_places(
    robot: Robot,
    rows_at: Callable[[Floats, Floats, float], ConstraintRows],
    mass_matrix: Callable[[Floats], Floats],
    q: Floats,
    v: Floats,
    t: float,
) -> tuple[Floats, ConstraintRows, Floats]:
    """Return coordinates on the holonomic rows, and all rows and the factor of M there."""
    violation, worst = np.zeros(0), ''
    for _ in range(_NEWTON_LIMIT):
        every, factor = rows_at(q, v, t), cholesky_factor(mass_matrix(q))
        rows = every.holonomic
        violation = np.abs(np.array(rows.positions, dtype=float))
        if violation.max(initial=0.0) <= POSITION_TOLERANCE:
            return q, every, factor
        worst = rows.labels[int(np.argmax(violation))]
        independent_indices = select_rows(rows, factor, by_drift=False).independent_indices
        if (
            violation[independent_indices].max(initial=0.0) <= POSITION_TOLERANCE
            and violation.max() <= TAKEN
        ):
            return q, every, factor
        target = -np.array(rows.positions, dtype=float)[independent_indices]
        step, _ = nearest(factor, rows.matrix[independent_indices], np.zeros(robot.nv), target)
        q = integrate_coordinates(robot, q, step.tolist(), 1.0)
    raise ProjectionError(
        f'holonomic rows still violated by {violation.max():.3e} after {_NEWTON_LIMIT} Newton '
        f"steps, most '{worst}'"
    )
