# SPDX-License-Identifier: Apache-2.0
r"""
Moving a state onto its constraints, by the least motion in the metric M.

Coordinates by Newton's method on the manifold (holonomic rows), speeds by the impulse of least
constraint. This removes drift after an integration step; no gain is hidden in the dynamics.

Of speeds and accelerations that constraints allow, :math:`A v = b_0`, :math:`A \dot v = b`, what
is known stays, the other entries follow from the rows; where nothing is said to be known, the
nearest ones in the metric M. The rows are those that `row_selection` takes.

More motors than freedoms can be told to move as no base can roll (`project_reference`). The speeds
x nearest to wanted ones y, with :math:`A x = b_0`, are those of

.. math:: W (x - y) + A^T \lambda = 0, \qquad A x = b_0,

where W counts the speeds that have motors. The robot moves meanwhile, at speeds v, and the rows
turn: the rate of x is that of the same equations, :math:`W (\dot x - \dot y) + A^T \dot\lambda =
-\dot A^T \lambda` and :math:`A \dot x = b - \dot A (x - v)`. It is exact, and control by passivity
needs it so: else :math:`s^T M s / 2` of :math:`s = v - x` would not fall with the power of the
gains. Rows that repeat others change nothing.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from kane_dynamics.algorithms.mass_matrix import gauss_mass_matrix
from kane_dynamics.algorithms.traced_inverse_solve import REACHED
from kane_dynamics.algorithms.udwadia_kalaba import cholesky_factor, nearest, unit_scaling
from kane_dynamics.constraints.base import ConstraintRows
from kane_dynamics.constraints.constraint_set import ConstraintSet
from kane_dynamics.constraints.row_selection import TAKEN, RowSelection, select_rows
from kane_dynamics.exceptions import (
    InconsistentConstraintsError,
    ProjectionError,
    UnreachableAccelerationError,
)
from kane_dynamics.robot.checks import as_names
from kane_dynamics.robot.motion import integrate_coordinates
from kane_dynamics.robot.robot import Robot
from kane_dynamics.typing import Floats, Indices

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


_RANK_TOLERANCE = 1e-10  # relative singular value, on columns scaled to unit length


def complete_entries(
    robot: Robot, A: Floats, b: Floats, x: Floats, known: Sequence[int]
) -> Floats:
    """Return x with its unknown entries solved from A x = b: speeds or accelerations."""
    unknown = [k for k in range(robot.nv) if k not in set(known)]
    whole = x.copy()
    whole[unknown] = 0.0
    right_side = b - A @ whole
    solution, rank = least_norm(A[:, unknown], right_side)
    if rank < len(unknown):
        raise UnreachableAccelerationError(
            f'the constraints determine {rank} of these, give the others',
            [robot.velocity_names[k] for k in unknown],
            0.0,
        )
    remaining = right_side - A[:, unknown] @ solution
    if np.abs(remaining).max(initial=0.0) > REACHED * (1.0 + np.abs(right_side).max(initial=0.0)):
        raise InconsistentConstraintsError(
            'what is given contradicts the constraints', rank, float(np.linalg.norm(remaining))
        )
    whole[unknown] = solution
    return whole


def fit_entries(A: Floats, b: Floats, x: Floats, free: Sequence[int] | Indices) -> Floats:
    """Return x with free entries such that A x = b holds as well as it can: least squares."""
    selection = list(free)
    whole = x.copy()
    whole[selection] = 0.0
    whole[selection] = least_norm(A[:, selection], b - A @ whole)[0]
    return whole


def speed_indices(robot: Robot, names: Sequence[str], what: str = 'known') -> list[int]:
    """Return the indices in v of named speeds, each once."""
    return list(dict.fromkeys(robot.velocity_index(name) for name in as_names(what, names)))


def least_norm(matrix: Floats, right_side: Floats) -> tuple[Floats, int]:
    """Return the least-squares solution of least norm (columns of unit length), and the rank."""
    if not matrix.size:
        return np.zeros((matrix.shape[1], *right_side.shape[1:])), 0
    scaling = unit_scaling(np.linalg.norm(matrix, axis=0))
    scaled, _, rank, _ = np.linalg.lstsq(matrix * scaling, right_side, rcond=_RANK_TOLERANCE)
    return (scaling * scaled.T).T, int(rank)


_REPEATED = 1e-6  # relative singular value of rows that repeat others, at angles that agree


def project_reference(
    rows: ConstraintRows, turning: Floats, v: Floats, y: Floats, rate: Floats, counted: Indices
) -> tuple[Floats, Floats]:
    """Return speeds nearest to wanted ones that keep the rows, and their rate, shapes (nv,)."""
    A, nv = rows.matrix, len(v)
    weights = np.zeros(nv)
    weights[counted] = 1.0
    system = np.block([[np.diag(weights), A.T], [A, np.zeros((len(A), len(A)))]])

    def step(force: Floats, gap: Floats) -> tuple[Floats, Floats]:
        result = np.linalg.lstsq(system, np.concatenate([force, gap]), rcond=_REPEATED)[0]
        return result[:nv], result[nv:]

    change, multipliers = step(np.zeros(nv), rows.velocity - A @ y)
    x = y + change
    gap = rows.acceleration - turning @ (x - v) - A @ rate
    return x, rate + step(-turning.T @ multipliers, gap)[0]
