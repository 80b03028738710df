# SPDX-License-Identifier: Apache-2.0
r"""
Inverse dynamics under constraints: efforts of the actuated joints and multipliers.

For accelerations with :math:`A a = b`, the force that is needed, :math:`h = M a + C v + g +
D v + F \mathrm{sign}(v) - J^T w` (inverse dynamics), must come from the actuators, selected by S,
and from the constraints:

.. math:: S^T \tau_a + A^T \lambda = h .

The rows are those that `row_selection` takes. Where actuators and constraints could share the
force in many ways (more actuators than freedoms) the solution of least norm is taken.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from kane_dynamics.algorithms.dynamics import ExternalWrenches, inverse_dynamics
from kane_dynamics.algorithms.taken_rows import taken_rows
from kane_dynamics.algorithms.udwadia_kalaba import unit_scaling
from kane_dynamics.constraints.base import (
    Constraint,
    ConstraintRows,
)
from kane_dynamics.exceptions import InconsistentConstraintsError, UnreachableAccelerationError
from kane_dynamics.model.checks import as_names, as_vector
from kane_dynamics.model.robot import Robot
from kane_dynamics.model.state import checked_speeds

Floats = NDArray[np.float64]

_REACH_TOLERANCE = 1e-8  # of the largest force or acceleration in the problem
_RANK_TOLERANCE = 1e-10  # relative singular value, on columns scaled to unit length


@dataclass(frozen=True, eq=False, slots=True)
class ConstrainedEffort:
    """
    Efforts and constraint multipliers that produce given accelerations.

    Parameters
    ----------
    effort : ndarray, shape (nv,)
        Efforts on v, zero where nothing is actuated [N m or N].
    multipliers : ndarray, shape (k,)
        lambda, one for each row.
    labels : tuple of str
        Names of the rows.
    rank : int
        Rank of [S' A']: how many generalized forces actuators and constraints span.
    residual : float
        Norm of the force that remains unbalanced.
    velocity_residual : float
        Norm of A v - b0: how far the given speeds violate the rows.

    """

    effort: Floats
    multipliers: Floats
    labels: tuple[str, ...]
    rank: int
    residual: float
    velocity_residual: float


def constrained_inverse_dynamics(
    robot: Robot,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    constraints: Sequence[Constraint],
    actuated: Sequence[str],
    *,
    external_wrenches: ExternalWrenches = None,
    time: float = 0.0,
) -> ConstrainedEffort:
    """
    Return the efforts of the actuated joints, and the multipliers, that produce `a`.

    Parameters
    ----------
    robot : Robot
        The robot.
    q : array_like, shape (nq,)
        Coordinates.
    v, a : array_like, shape (nv,)
        Speeds and accelerations; `a` must satisfy the constraints (see `complete_acceleration`).
    constraints : sequence of Constraint
        From `kane_dynamics.constraints`.
    actuated : sequence of str
        Names of the speeds that have actuators (for 1-DoF joints, the joints' names).
    external_wrenches : mapping of str to array_like, shape (6,), optional
        Wrench (tau, f) [N m, N] that acts on a link, about the link's origin in the link's axes.
    time : float
        t of constraints that depend on time [s].

    Raises
    ------
    InvalidInputError
        If a shape is wrong or a number is not finite.
    NameNotFoundError
        If `actuated` names a speed that does not exist.
    UnreachableAccelerationError
        If `a` violates the constraints, or needs a force that neither actuators nor constraints
        can give.
    InconsistentConstraintsError
        If the rows contradict each other.

    """
    selection = taken_rows(robot, q, constraints, v, time=time)
    accelerations = as_vector('a', a, robot.nv)
    taken = selection.independent
    _check_allowed(robot, taken, accelerations)
    selection.check_accelerations(accelerations)
    needed = inverse_dynamics(robot, q, v, accelerations, external_wrenches)
    effort, multipliers, rank, residual = balanced_force(
        robot, taken.matrix, _columns(robot, 'actuated', actuated), needed
    )
    rows, speeds = selection.rows, np.array(checked_speeds(robot, v))
    return ConstrainedEffort(
        effort,
        selection.shared(multipliers),
        rows.labels,
        rank,
        residual,
        float(np.linalg.norm(rows.matrix @ speeds - rows.velocity)),
    )


def balanced_force(
    robot: Robot, A: Floats, columns: Sequence[int], force: Floats
) -> tuple[Floats, Floats, int, float]:
    """
    Return efforts and multipliers with S' tau + A' lambda = force, their rank and residual.

    Parameters
    ----------
    robot : Robot
        The robot.
    A : ndarray, shape (m, nv)
        Independent constraint rows.
    columns : sequence of int
        Indices in v of the actuated speeds.
    force : ndarray, shape (nv,)
        What actuators and constraints must give [N m or N].

    Raises
    ------
    UnreachableAccelerationError
        If they cannot give it.

    """
    columns = list(columns)
    span = np.hstack([np.eye(robot.nv)[:, columns], A.T])
    solution, rank, remaining = _least_norm(span, force)
    if np.abs(remaining).max(initial=0.0) > _REACH_TOLERANCE * (1.0 + np.abs(force).max()):
        lacking = [robot.velocity_names[k] for k in _large(remaining)]
        raise UnreachableAccelerationError(
            'no actuator or constraint gives the force needed on', lacking, np.abs(remaining).max()
        )
    effort = np.zeros(robot.nv)
    # The solve leaves roundoff of the largest force on every row; a light wrist would feel it.
    effort[columns] = solution[: len(columns)] + remaining[columns]
    remaining[columns] = 0.0
    return effort, solution[len(columns) :], rank, float(np.linalg.norm(remaining))


def complete_acceleration(
    robot: Robot,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    constraints: Sequence[Constraint],
    given: Sequence[str],
    *,
    time: float = 0.0,
) -> Floats:
    """
    Return the accelerations that keep the `given` entries of `a` and satisfy A a = b.

    Parameters
    ----------
    robot : Robot
        The robot.
    q : array_like, shape (nq,)
        Coordinates.
    v : array_like, shape (nv,)
        Speeds.
    a : array_like, shape (nv,)
        Accelerations; entries that are not `given` are ignored.
    constraints : sequence of Constraint
        From `kane_dynamics.constraints`.
    given : sequence of str
        Names of the speeds whose accelerations are kept.
    time : float
        t of constraints that depend on time [s].

    Raises
    ------
    InvalidInputError
        If a shape is wrong or a number is not finite.
    NameNotFoundError
        If `given` names a speed that does not exist.
    UnreachableAccelerationError
        If the constraints leave an entry undetermined.
    InconsistentConstraintsError
        If the given entries contradict the constraints.

    """
    selection = taken_rows(robot, q, constraints, v, time=time)
    accelerations = as_vector('a', a, robot.nv)
    known, rows = _columns(robot, 'given', given), selection.independent
    return completed_rates(robot, rows.matrix, rows.acceleration, accelerations, known)


def completed_rates(robot: Robot, A: Floats, b: Floats, x: Floats, known: Sequence[int]) -> Floats:
    """
    Return x with its unknown entries solved from A x = b: speeds or accelerations.

    Parameters
    ----------
    robot : Robot
        The robot.
    A : ndarray, shape (m, nv)
        Independent constraint rows.
    b : ndarray, shape (m,)
        Right side.
    x : ndarray, shape (nv,)
        Only the known entries count.
    known : sequence of int
        Their indices.

    Raises
    ------
    UnreachableAccelerationError
        If the constraints leave an entry undetermined.
    InconsistentConstraintsError
        If the known entries contradict the constraints.

    """
    known, completed = list(known), np.array(x)
    unknown = [k for k in range(robot.nv) if k not in set(known)]
    right_side = b - A[:, known] @ completed[known]
    solution, rank, remaining = _least_norm(A[:, unknown], right_side)
    if rank < len(unknown):
        raise UnreachableAccelerationError(
            f'the constraints determine {rank} of these, give the others',
            [robot.velocity_names[k] for k in unknown],
            0.0,
        )
    if np.abs(remaining).max(initial=0.0) > _REACH_TOLERANCE * (
        1.0 + np.abs(right_side).max(initial=0.0)
    ):
        raise InconsistentConstraintsError(
            'what is given contradicts the constraints',
            rank,
            float(np.linalg.norm(remaining)),
        )
    completed[unknown] = solution
    return completed



def _columns(robot: Robot, what: str, names: Sequence[str]) -> list[int]:
    """Return the indices in v of named speeds, each once."""
    return list(dict.fromkeys(robot.velocity_index(name) for name in as_names(what, names)))


def _check_allowed(robot: Robot, rows: ConstraintRows, a: Floats) -> None:
    violation = rows.matrix @ a - rows.acceleration
    scale = 1.0 + np.abs(rows.acceleration).max(initial=0.0) + np.abs(a).max(initial=0.0)
    if np.abs(violation).max(initial=0.0) > _REACH_TOLERANCE * scale:
        raise UnreachableAccelerationError(
            'the accelerations violate the constraints',
            [rows.labels[k] for k in _large(violation)],
            np.abs(violation).max(),
        )


def _large(values: Floats) -> list[int]:
    """Return the indices of entries of the order of the largest."""
    return [int(k) for k in np.flatnonzero(np.abs(values) > 1e-3 * np.abs(values).max())]


def _least_norm(matrix: Floats, right_side: Floats) -> tuple[Floats, int, Floats]:
    """Return the least-squares solution of least norm, the rank, and what remains."""
    if not matrix.size:
        return np.zeros(matrix.shape[1]), 0, right_side
    scaling = unit_scaling(np.linalg.norm(matrix, axis=0))
    scaled, _, rank, _ = scipy.linalg.lstsq(matrix * scaling, right_side, cond=_RANK_TOLERANCE)
    solution = scaling * scaled
    return solution, int(rank), right_side - matrix @ solution
