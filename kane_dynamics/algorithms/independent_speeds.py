# SPDX-License-Identifier: Apache-2.0
r"""
Choosing independent speeds: from rows A v = b0 to v_D = D v_I + E (Gillespie, section 4).

The rows are those that `row_selection` takes. They are reduced to orthonormal ones by their
singular value decomposition (Gillespie (43)); QR with column pivoting of the reduced rows then
picks the dependent speeds, so that the scale of the rows does not matter. With G the
reduced rows, :math:`D = -G_D^{-1} G_I` (the corrected sign of Gillespie (3)-(5)).

Along a motion a choice is kept as long as G_D is well conditioned, and a new one is far from where
it would be given up again, so that the speeds never change from step to step and back.

The same orthonormal rows G give accelerations and multipliers from one system
(`multiplier_motion`):

.. math:: \begin{bmatrix} M & -G^T \\ G & 0 \end{bmatrix}
   \begin{bmatrix} \dot v \\ \mu \end{bmatrix} = \begin{bmatrix} Q \\ g \end{bmatrix}

These are the conditions for
the least value of a function with gradient :math:`M\dot v - Q`, Gibbs's or Gauss's, under the
constraints. M may be singular as long as the constraints bind what has no mass.
"""

from typing import NamedTuple

import numpy as np
import scipy

from kane_dynamics.algorithms.udwadia_kalaba import solve_square
from kane_dynamics.constraints.base import ConstraintRows
from kane_dynamics.exceptions import SingularMassMatrixError
from kane_dynamics.typing import Floats, Indices

# Norm of G_D^-1, a bound of its condition, at which other speeds are chosen.
WORST_CONDITION = 4.0
# A choice that is not much better than the present one is no reason to change.
MUCH_BETTER = 2.0


class Partition(NamedTuple):
    """Constraints in explicit form, v_D = D v_I + E and vdot_D = D vdot_I + e."""

    independent: Indices  # Indices in v
    dependent: Indices  # Indices in v
    dependence: Floats  # shape (m, p): D (the A of Bajodah and Chen)
    velocity_offset: Floats  # shape (m,): E, and e = dD/dt v_I + dE/dt
    acceleration_offset: Floats  # shape (m,): E, and e = dD/dt v_I + dE/dt
    basis: Floats  # shape (nv, p): Tangent directions: v_I -> v at E = 0
    rows: Floats  # shape (m, nv): A_1 = [-D 1] in the order of v
    to_multipliers: Floats  # Takes forces on the rows of A_1 to multipliers of the given rows


class ReducedRows(NamedTuple):
    """Independent, orthonormal rows G that say the same as given rows A."""

    rows: Floats  # shape (m, nv): G (Gillespie (43): the first rows of V')
    tangent: Floats  # The other rows of V', an orthonormal basis of what the rows allow
    to_reduced: Floats  # shape (m, m): Takes right sides of A to right sides of G


def reduce_rows(A: Floats) -> ReducedRows:
    """Return orthonormal rows that say the same as independent rows A, shape (m, nv)."""
    scaling = 1.0 / np.linalg.norm(A, axis=1)
    U, singular_values, Vt = scipy.linalg.svd(scaling[:, None] * A, full_matrices=True)
    rank = len(A)
    to_reduced = (U / singular_values).T * scaling
    return ReducedRows(Vt[:rank], Vt[rank:], to_reduced)


def dependent_speeds(A: Floats, before: Indices | None = None) -> Indices:
    """Return which speeds depend on others, ascending: those of before while they are sound."""
    reduced = reduce_rows(A).rows
    if before is None or len(before) != len(reduced):
        return _pivots(reduced)
    condition = _condition(reduced[:, before])
    if condition < WORST_CONDITION:
        return before
    best = _pivots(reduced)
    return before if condition < MUCH_BETTER * _condition(reduced[:, best]) else best


def _pivots(reduced: Floats) -> Indices:
    """Return the columns of orthonormal rows that pivoting chooses first, ascending."""
    order = scipy.linalg.qr(reduced, mode='r', pivoting=True)[1]
    return np.asarray(np.sort(order[: len(reduced)]))


def _condition(block: Floats) -> float:
    """Return the norm of the inverse of some columns of orthonormal rows."""
    if not block.size:
        return 1.0
    smallest = float(np.linalg.svd(block, compute_uv=False)[-1])
    return 1.0 / smallest if smallest > 0.0 else np.inf


def partition_speeds(rows: ConstraintRows) -> Partition:
    """Return the explicit form of constraint rows."""
    values = reduce_rows(rows.matrix)
    reduced, to_reduced = values.rows, values.to_reduced
    rank, nv = reduced.shape
    dependent = _pivots(reduced)
    independent = np.setdiff1d(np.arange(nv), dependent)
    inverse = np.linalg.inv(reduced[:, dependent])
    dependence = -inverse @ reduced[:, independent]
    basis, explicit = np.zeros((nv, nv - rank)), np.zeros((rank, nv))
    basis[independent], basis[dependent] = np.eye(nv - rank), dependence
    explicit[:, independent], explicit[:, dependent] = -dependence, np.eye(rank)
    return Partition(
        independent,
        dependent,
        dependence,
        inverse @ (to_reduced @ rows.velocity),
        inverse @ (to_reduced @ rows.acceleration),
        basis,
        explicit,
        to_reduced.T @ inverse.T,
    )


def multiplier_motion(
    mass_matrix: Floats, force: Floats, rows: ConstraintRows
) -> tuple[Floats, Floats]:
    """Return accelerations and multipliers of the rows."""
    reduced = reduce_rows(rows.matrix)
    G, nv = reduced.rows, len(force)
    rank = len(G)
    size = float(np.linalg.norm(mass_matrix)) or 1.0  # brings mu to the size of vdot
    system = np.block([[mass_matrix, -size * G.T], [G, np.zeros((rank, rank))]])
    right_side = np.concatenate([force, reduced.to_reduced @ rows.acceleration])
    solution, whole_rank = solve_square(system, right_side)
    if whole_rank < nv + rank:
        raise SingularMassMatrixError(
            f'[M -A^T; A 0] has rank {whole_rank} of {nv + rank}: a speed that no row binds moves '
            'no mass'
        )
    return solution[:nv], reduced.to_reduced.T @ (size * solution[nv:])
