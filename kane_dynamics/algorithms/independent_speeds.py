# SPDX-License-Identifier: Apache-2.0
r"""
Choosing independent speeds: from rows A v = b0 to v_D = D v_I + E (Gillespie, section 4).

The rows are reduced by their singular value decomposition (Gillespie (43)): redundant ones drop
out and contradictory ones show. QR with column pivoting of the reduced rows then picks the
dependent speeds, so that neither the scale of the rows nor their redundancy matters. With G the
reduced rows, :math:`D = -G_D^{-1} G_I` (the corrected sign of Gillespie (3)-(5)).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from kane_dynamics.algorithms.udwadia_kalaba import (
    RANK_TOLERANCE,
    check_consistent,
    unit_scaling,
)

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]


@dataclass(frozen=True, eq=False, slots=True)
class Partition:
    """
    Constraints in explicit form, v_D = D v_I + E and vdot_D = D vdot_I + e.

    Parameters
    ----------
    independent, dependent : ndarray of int, lengths p and m
        Indices in v.
    dependence : ndarray, shape (m, p)
        D (the A of Bajodah and Chen).
    velocity_offset, acceleration_offset : ndarray, shape (m,)
        E, and e = dD/dt v_I + dE/dt.
    basis : ndarray, shape (nv, p)
        Tangent directions: v_I -> v at E = 0; the transpose of A_2 = [1 D'] in the order of v.
    rows : ndarray, shape (m, nv)
        A_1 = [-D 1] in the order of v.
    to_multipliers : ndarray, shape (k, m)
        Takes forces on the rows of A_1 to multipliers of the given rows, of least norm.

    """

    independent: Indices
    dependent: Indices
    dependence: Floats
    velocity_offset: Floats
    acceleration_offset: Floats
    basis: Floats
    rows: Floats
    to_multipliers: Floats


@dataclass(frozen=True, eq=False, slots=True)
class ReducedRows:
    """
    Independent, orthonormal rows G that say the same as given rows A.

    Parameters
    ----------
    rows : ndarray, shape (m, nv)
        G (Gillespie (43): the first rows of V').
    tangent : ndarray, shape (nv - m, nv)
        The other rows of V', an orthonormal basis of what the rows allow.
    to_reduced : ndarray, shape (m, k)
        Takes right sides of A to right sides of G; its transpose takes multipliers of G to
        those of A of least norm.

    """

    rows: Floats
    tangent: Floats
    to_reduced: Floats


def reduce_rows(A: Floats, b0: Floats, b: Floats) -> ReducedRows:
    """Return independent rows; parameters and errors as for `partition_speeds`."""
    scaling = unit_scaling(np.linalg.norm(A, axis=1))
    U, singular_values, Vt = scipy.linalg.svd(scaling[:, None] * A, full_matrices=True)
    rank = int(
        np.count_nonzero(singular_values > RANK_TOLERANCE * singular_values.max(initial=1.0))
    )
    missing = U[:, rank:].T
    check_consistent('speed satisfies A v = b0', missing, scaling * b0, rank)
    check_consistent('acceleration satisfies A vdot = b', missing, scaling * b, rank)
    to_reduced = (U[:, :rank] / singular_values[:rank]).T * scaling
    return ReducedRows(Vt[:rank], Vt[rank:], to_reduced)


def partition_speeds(A: Floats, b0: Floats, b: Floats) -> Partition:
    """
    Return the explicit form of constraint rows.

    Parameters
    ----------
    A : ndarray, shape (k, nv)
        Rows.
    b0, b : ndarray, shape (k,)
        Right sides of A v = b0 and A vdot = b.

    Raises
    ------
    InconsistentConstraintsError
        If no speed satisfies A v = b0, or no acceleration A vdot = b.

    """
    given = reduce_rows(A, b0, b)
    reduced, to_reduced = given.rows, given.to_reduced
    rank, nv = reduced.shape
    order = scipy.linalg.qr(reduced, mode='r', pivoting=True)[1]
    dependent, independent = np.sort(order[:rank]), np.sort(order[rank:])
    inverse = np.linalg.inv(reduced[:, dependent])
    dependence = -inverse @ reduced[:, independent]
    basis, rows = np.zeros((nv, nv - rank)), np.zeros((rank, nv))
    basis[independent], basis[dependent] = np.eye(nv - rank), dependence
    rows[:, independent], rows[:, dependent] = -dependence, np.eye(rank)
    return Partition(
        independent,
        dependent,
        dependence,
        inverse @ (to_reduced @ b0),
        inverse @ (to_reduced @ b),
        basis,
        rows,
        to_reduced.T @ inverse.T,
    )
