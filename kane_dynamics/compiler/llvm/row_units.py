# SPDX-License-Identifier: Apache-2.0
"""
Sizes and units of constraint rows, as routines: as in `constraints.row_selection`.

N is the number of speeds, K that of rows.
"""

from math import sqrt

from kane_dynamics.compiler.llvm.ltdl import dot
from kane_dynamics.compiler.llvm.routine import Array, Table, zeros
from kane_dynamics.constraints.row_selection import ROUNDOFF_ROW, VANISHED

N = K = 0


def largest_of(k: int, groups: Table, sizes: Array, largest: Array) -> None:
    """Set the largest size of each group, where it is above what is there."""
    for i in range(k):
        largest[groups[i]] = max(largest[groups[i]], sizes[i])


def unit_factors(
    k: int, rows: Array, groups: Table, owners: Table, sizes: Array, active: Array, factors: Array
) -> None:
    """Set the factors that bring the largest row of each kind to one, and scale the rows."""
    most = 0.0
    by_group = zeros(K)
    by_owner = zeros(K)
    largest_of(k, groups, sizes, by_group)
    largest_of(k, owners, sizes, by_owner)
    for i in range(k):
        most = max(most, sizes[i])
    for i in range(k):
        largest = by_owner[owners[i]]
        if active[i] > 0.0:
            largest = by_group[groups[i]]
        if not largest > VANISHED:
            largest = most
        factors[i] = 1.0
        if largest > 0.0:
            factors[i] = 1.0 / largest
        for j in range(N):
            rows[i * N + j] *= factors[i]


def nonzero_rows(k: int, A: Array, owners: Table, sizes: Array, active: Array) -> None:
    """Set the lengths of rows, and which are not zero beside those of the same constraint."""
    most = zeros(K)
    for i in range(k):
        sizes[i] = sqrt(dot(N, A[i * N :], A[i * N :]))
    largest_of(k, owners, sizes, most)
    for i in range(k):
        active[i] = 0.0
        if sizes[i] > VANISHED and sizes[i] > ROUNDOFF_ROW * most[owners[i]]:
            active[i] = 1.0
