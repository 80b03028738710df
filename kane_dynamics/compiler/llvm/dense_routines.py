# SPDX-License-Identifier: Apache-2.0
"""
M x = Q + A' lambda, A x = c by the rule of rank, as routines; see `routine`.

The rule is that of `constraints.row_selection`, in both metrics, by Gram-Schmidt; M is factored by
`ltdl` or `axes_ldl`. N is the number of speeds, K that of rows.
"""

from math import sqrt

from kane_dynamics.compiler.llvm.limits import LARGEST_INPUT
from kane_dynamics.compiler.llvm.ltdl import add, back, copy, dot, half, size_in_mass
from kane_dynamics.compiler.llvm.routine import Array, Table, empty, zeros
from kane_dynamics.compiler.llvm.row_units import nonzero_rows, unit_factors
from kane_dynamics.constraints.row_selection import (
    ACCELERATION_CONTRADICTION,
    GRADES,
    SPEED_CONTRADICTION,
    TAKEN,
)

STRONG, ROUNDS, ROUNDOFF = GRADES[0], len(GRADES), 1e-12
N = K = 0


def distance(count: int, seen: int, row: Array, basis: Array, along: Array) -> float:
    """Take the parts along the directions from `seen` on from a row; return what is left."""
    for j in range(seen, count):
        part = dot(N, row, basis[j * N :])
        if abs(part) > 0.0:
            add(N, -part, basis[j * N :], row)
            along[j] += part
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
    sequence: Array,
    Q: Array,
    R: Array,
) -> float:
    """
    Choose independent rows by the graded rule, and return how many; D and E lose what others take.

    D = R Q: direction r of Q, orthonormal, comes with row number r of `sequence`.
    """
    in_si = empty(K * N)
    spare = zeros(K)
    seen = zeros(K)
    count = 0
    off = 0.0
    for i in range(k):
        is_independent[i] = 0.0
        strength[i] = 0.0
        for j in range(k):
            R[i * K + j] = 0.0
    grade = STRONG
    for g in range(ROUNDS + 1):
        for r in range(k):
            i = order[r]
            least = grade
            if g == ROUNDS - 1:
                least = max(grade, off)
            if is_independent[i] < 0.5 and active[i] > 0.5:
                local = D[i * N :]
                a = distance(count, int(seen[i]), local, Q, R[i * K :])
                b = distance(count, int(seen[i]), E[i * N :], in_si, spare)
                seen[i] = count
                strength[i] = max(a, b)
                if g < ROUNDS and strength[i] >= least and count < N:
                    if a < STRONG:  # what is left is short beside its rounding: once more
                        a = distance(count, 0, local, Q, R[i * K :])
                    R[i * K + count] = a
                    unit(a, local, Q[count * N :])
                    unit(b, E[i * N :], in_si[count * N :])
                    is_independent[i] = 1.0
                    sequence[count] = i
                    count = count + 1
                    off = max(off, drift[i])
        grade = 0.1 * grade
    return count


def onto_rows(
    count: int,
    L: Array,
    sequence: Array,
    A: Array,
    side: Array,
    factors: Array,
    Q: Array,
    R: Array,
    x: Array,
) -> None:
    """Move x onto independent rows A x = side, by the least change in the metric of M."""
    along = empty(K)
    change = zeros(N)
    for r in range(count):
        i = int(sequence[r])
        left = factors[i] * (side[i] - dot(N, A[i * N :], x)) - dot(r, R[i * K :], along)
        along[r] = left / R[i * K + r]
        add(N, along[r], Q[r * N :], change)
    back(L, change)
    add(N, 1.0, change, x)


def contradicts(
    k: int,
    count: int,
    R: Array,
    sequence: Array,
    factors: Array,
    is_independent: Array,
    strength: Array,
    side: Array,
    motion: float,
    by_strength: float,
    relative: float,
) -> float:
    """Return 1 where the right side of a row that is not independent contradicts the others."""
    local = empty(K)
    result = 0.0
    norm = 0.0
    for i in range(k):
        norm += factors[i] * side[i] * factors[i] * side[i]
    for i in range(k):
        if is_independent[i] < 0.5:
            gap = factors[i] * side[i]
            size = 0.0
            copy(count, R[i * K :], local)
            for r in range(count):
                j = count - 1 - r
                if abs(local[j]) > 0.0:
                    other = int(sequence[j])
                    local[j] = local[j] / R[other * K + j]
                    add(j, -local[j], R[other * K :], local)
                    gap -= local[j] * factors[other] * side[other]
                    size += local[j] * local[j]
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
    sequence = empty(K)
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
    count = int(select(k, D, E, order, active, away, strength, is_independent, sequence, Q, R))
    onto_rows(count, M, sequence, A, side, factors, Q, R, x)
    if not dot(N, x, x) <= LARGEST_INPUT * LARGEST_INPUT * LARGEST_INPUT:
        return 0.0
    if checked > -0.5 and count < k:
        wrong = contradicts(
            k, count, R, sequence, factors, is_independent, strength, b0,
            size_in_mass(M, v), 1.0, SPEED_CONTRADICTION,
        )  # fmt: skip
        if checked > 0.5:
            wrong += contradicts(
                k, count, R, sequence, factors, is_independent, strength, side,
                TAKEN * size_in_mass(M, x), 0.0, ACCELERATION_CONTRADICTION,
            )  # fmt: skip
        if wrong > 0.0:
            return 0.0
    return 1.0
