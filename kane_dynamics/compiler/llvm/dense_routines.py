# SPDX-License-Identifier: Apache-2.0
"""
M x = Q + A' lambda, A x = c by the rule of rank, as routines; see `routine`.

The rule is that of `constraints.row_selection`, in both metrics, by Gram-Schmidt; M is factored by
`ltdl` or `axes_ldl`. N is the number of speeds, K that of rows.
"""

from math import sqrt

from kane_dynamics.algorithms.udwadia_kalaba import SINGULAR
from kane_dynamics.compiler.llvm.kernel_spec import LARGEST_INPUT
from kane_dynamics.compiler.llvm.ltdl import add, back, copy, dot, half, size_in_mass
from kane_dynamics.compiler.llvm.routine import Array, Table, empty
from kane_dynamics.compiler.llvm.row_units import SIZES, largest_of, nonzero_rows, unit_factors
from kane_dynamics.constraints.row_selection import (
    ACCELERATION_CONTRADICTION,
    GRADES,
    SPEED_CONTRADICTION,
    TAKEN,
)

NUMBERS = {
    'SINGULAR': SINGULAR,
    'STRONG': GRADES[0],
    'TAKEN': TAKEN,
    **SIZES,
    'SPEED_CONTRADICTION': SPEED_CONTRADICTION,
    'ACCELERATION_CONTRADICTION': ACCELERATION_CONTRADICTION,
    'ROUNDOFF': 1e-12,
    'ROUNDS': len(GRADES),
    'LARGEST': LARGEST_INPUT,
}
N = K = ROUNDS = 0
STRONG = ROUNDOFF = LARGEST = 0.0


def distance(count: int, seen: int, row: Array, basis: Array) -> float:
    """Take the parts along the directions from `seen` on from a row; return what is left."""
    for j in range(seen, count):
        add(N, -dot(N, row, basis[j * N :]), basis[j * N :], row)
    return sqrt(dot(N, row, row))


def unit(size: float, row: Array, direction: Array) -> None:
    """Set a direction along a row; nothing where it has no size."""
    factor = 0.0
    if size > 0.0:
        factor = 1.0 / size
    for j in range(N):
        direction[j] = factor * row[j]


def select(
    k: int,
    D: Array,
    E: Array,
    order: Table,
    active: Array,
    drift: Array,
    strength: Array,
    is_independent: Array,
) -> None:
    """Choose independent rows by the graded rule; D and E lose what others take."""
    in_mass = empty(K * N)
    in_si = empty(K * N)
    seen = empty(K)
    count = 0
    off = 0.0
    for i in range(k):
        is_independent[i] = 0.0
        strength[i] = 0.0
        seen[i] = 0.0
    grade = STRONG
    for g in range(ROUNDS):
        for r in range(k):
            i = order[r]
            least = grade
            if g == ROUNDS - 1:
                least = max(grade, off)
            if is_independent[i] < 0.5 and active[i] > 0.5:
                a = distance(count, int(seen[i]), D[i * N :], in_mass)
                b = distance(count, int(seen[i]), E[i * N :], in_si)
                seen[i] = count
                strength[i] = max(a, b)
                if strength[i] >= least and count < N:
                    unit(a, D[i * N :], in_mass[count * N :])
                    unit(b, E[i * N :], in_si[count * N :])
                    is_independent[i] = 1.0
                    count = count + 1
                    off = max(off, drift[i])
        grade = 0.1 * grade
    for i in range(k):
        if is_independent[i] < 0.5 and active[i] > 0.5:
            a = distance(count, int(seen[i]), D[i * N :], in_mass)
            b = distance(count, int(seen[i]), E[i * N :], in_si)
            strength[i] = max(a, b)


def triangular(k: int, is_independent: Array, rows: Array, Q: Array, R: Array) -> float:
    """Set the rows of Q, orthonormal, and R, lower triangular, of independent rows = R Q."""
    count = 0
    for i in range(k):
        if is_independent[i] > 0.5:
            local = Q[count * N :]
            copy(N, rows[i * N :], local)
            for j in range(count):
                R[count * K + j] = 0.0
            for _ in range(2):
                for j in range(count):
                    along = dot(N, local, Q[j * N :])
                    R[count * K + j] += along
                    add(N, -along, Q[j * N :], local)
            R[count * K + count] = sqrt(dot(N, local, local))
            unit(R[count * K + count], local, local)
            count = count + 1
    return count


def onto_rows(
    k: int,
    L: Array,
    is_independent: Array,
    A: Array,
    side: Array,
    factors: Array,
    Q: Array,
    R: Array,
    x: Array,
) -> None:
    """Move x onto independent rows A x = side, by the least change in the metric of M."""
    along = empty(K)
    change = empty(N)
    for j in range(N):
        change[j] = 0.0
    count = 0
    for i in range(k):
        if is_independent[i] > 0.5:
            left = factors[i] * (side[i] - dot(N, A[i * N :], x))
            for j in range(count):
                left -= R[count * K + j] * along[j]
            along[count] = left / R[count * K + count]
            add(N, along[count], Q[count * N :], change)
            count = count + 1
    back(L, change)
    add(N, 1.0, change, x)


def contradicts(
    k: int,
    count: int,
    D: Array,
    R: Array,
    Q: Array,
    factors: Array,
    is_independent: Array,
    active: Array,
    strength: Array,
    side: Array,
    motion: float,
    by_strength: float,
    relative: float,
) -> float:
    """Return 1 where the right side of a row that is not taken contradicts the others."""
    local = empty(K)
    result = 0.0
    norm = 0.0
    for i in range(k):
        norm += factors[i] * side[i] * factors[i] * side[i]
    for i in range(k):
        if is_independent[i] < 0.5:
            gap = factors[i] * side[i]
            size = 0.0
            if active[i] > 0.5:
                for j in range(count):
                    local[j] = dot(N, D[i * N :], Q[j * N :])
                for r in range(count):
                    j = count - 1 - r
                    local[j] = local[j] / R[j * K + j]
                    if abs(local[j]) > 0.0:
                        add(j, -local[j], R[j * K :], local)
                m = 0
                for j in range(k):
                    if is_independent[j] > 0.5:
                        gap -= local[m] * factors[j] * side[j]
                        size += local[m] * local[m]
                        m = m + 1
            allowed = motion * (1.0 - by_strength + by_strength * strength[i])
            allowed = 10.0 * allowed + relative * sqrt(norm) + ROUNDOFF
            if not abs(gap) / (1.0 + sqrt(size)) <= allowed:
                result = 1.0
    return result


def solve(
    k: int,
    M: Array,
    force: Array,
    A: Array,
    side: Array,
    drift: Array,
    kinds: Table,
    owners: Table,
    order: Table,
    checked: float,
    v: Array,
    b0: Array,
    x: Array,
    is_independent: Array,
) -> float:
    """
    Move x by y of M y = force + A' lambda to A_K x = c_K; return 0 where there is none.

    M has been factored.
    """
    free = empty(N)
    D = empty(K * N)
    E = empty(K * N)
    local = empty(K * N)
    Q = empty(K * N)
    R = empty(K * K)
    sizes = empty(K)
    active = empty(K)
    weights = empty(K)
    factors = empty(K)
    strength = empty(K)
    away = empty(K)
    copy(N, force, free)
    half(M, free)
    back(M, free)
    add(N, 1.0, free, x)
    copy(k * N, A, D)
    copy(k * N, A, E)
    nonzero_rows(k, A, owners, sizes, active)
    unit_factors(k, E, kinds, owners, sizes, active, weights)
    for i in range(k):
        away[i] = weights[i] * abs(drift[i])
        half(M, D[i * N :])
        sizes[i] = sqrt(dot(N, D[i * N :], D[i * N :]))
    unit_factors(k, D, kinds, owners, sizes, active, factors)
    copy(k * N, D, local)
    select(k, local, E, order, active, away, strength, is_independent)
    count = int(triangular(k, is_independent, D, Q, R))
    onto_rows(k, M, is_independent, A, side, factors, Q, R, x)
    if not dot(N, x, x) <= LARGEST * LARGEST * LARGEST:
        return 0.0
    if checked > -0.5 and count < k:
        wrong = contradicts(
            k, count, D, R, Q, factors, is_independent, active, strength, b0,
            size_in_mass(M, v), 1.0, SPEED_CONTRADICTION,
        )  # fmt: skip
        if checked > 0.5:
            wrong += contradicts(
                k, count, D, R, Q, factors, is_independent, active, strength, side,
                TAKEN * size_in_mass(M, x), 0.0, ACCELERATION_CONTRADICTION,
            )  # fmt: skip
        if wrong > 0.0:
            return 0.0
    return 1.0


_OF_ROWS = (
    largest_of,
    unit_factors,
    distance,
    unit,
    select,
    triangular,
    contradicts,
    nonzero_rows,
    onto_rows,
)
ROUTINES = (dot, copy, add, *_OF_ROWS, solve)
