# SPDX-License-Identifier: Apache-2.0
"""
Forces within bounds, as routines: the problems of `dynamics.limited_inverse`.

N is the number of speeds, F of forces, C of bounds, S of actuated speeds. `moves`, F x N, is what
may be added to forces, in unit metric. A row of length Z is forces, then accelerations.
"""

from math import sqrt

from kane_dynamics.algorithms.least_distance import MET
from kane_dynamics.algorithms.limited_inverse import REACHED, ROUNDOFF, SHARE, SHARED, STILL
from kane_dynamics.compiler.llvm.limits import RCOND_LIMIT
from kane_dynamics.compiler.llvm.ltdl import add, copy, dot
from kane_dynamics.compiler.llvm.routine import TABLE, Array, empty, kernel, zeros

N = F = C = S = Z = RESPONSES = TURNS = 0
DRIVEN = TABLE
REPEATED = 1e-20
inner_forces = force_responses = kernel


def weighted(W: Array, x: Array, y: Array) -> float:
    """Return x' W y."""
    total = 0.0
    for k in range(Z):
        total += W[k] * x[k] * y[k]
    return total


def remainder(count: int, part: float, W: Array, rows: Array, row: Array) -> float:
    """Take orthonormal rows out of another; return its square, or 0 below a part of it."""
    before = weighted(W, row, row)
    for _ in range(2):
        for i in range(count):
            add(Z, -weighted(W, row, rows[i * Z :]), rows[i * Z :], row)
    size = weighted(W, row, row)
    if size > part * before:
        return size
    return 0.0


def orthonormal(m: int, W: Array, rows: Array) -> float:
    """Make rows orthonormal in weights, as long as none repeats those before; return how many."""
    for r in range(m):
        row = rows[r * Z :]
        size = remainder(r, REPEATED, W, rows, row)
        if not size > 0.0:
            return r
        for k in range(Z):
            row[k] = row[k] / sqrt(size)
    return m


def least(G: Array, e: Array, largest: float, y: Array) -> float:
    """
    Set the least y with G y >= e, rows of unit length; return -1 where none is, 0 where unclear.

    The dual active set method of Goldfarb and Idnani. In `rows` are those of active bounds, and
    after each how it is made of them; the last is the one that is to become active.
    """
    rows = empty((N + 2) * Z)
    W = zeros(Z)
    active = empty(N + 2)
    push = empty(N + 2)
    for k in range(N):
        W[k] = 1.0
        y[k] = 0.0
    count = 0
    p = C
    for _ in range(TURNS):
        if p == C:
            worst = MET * largest
            for i in range(C):
                gap = e[i] - dot(N, G[i * N :], y)
                if gap > worst:
                    worst = gap
                    p = i
            if p == C:
                return 1.0
            active[count] = p
            push[count] = 0.0
        for k in range((count + 1) * Z):
            rows[k] = 0.0
        for i in range(count + 1):
            copy(N, G[int(active[i]) * N :], rows[i * Z :])
            rows[i * Z + N + i] = 1.0
        independent = orthonormal(count + 1, W, rows)
        if independent < count:
            return 0.0
        z = rows[count * Z :]
        last = -1
        step = 0.0
        if independent > count:
            last = count
            step = (e[p] - dot(N, G[p * N :], y)) / dot(N, G[p * N :], z)
        for i in range(count):
            if z[N + i] < -MET and (last < 0 or push[i] < -step * z[N + i]):
                step = -push[i] / z[N + i]
                last = i
        if last < 0:
            return -1.0
        if independent > count:
            add(N, step, z, y)
        add(count + 1, step, z[N:], push)
        if last == count:
            count = count + 1
            p = C
        else:  # it holds nothing back any more
            for i in range(last, count):
                active[i] = active[i + 1]
                push[i] = push[i + 1]
            count = count - 1
    return 0.0


def within(moves: Array, start: Array, bounds: Array, sides: Array, out: Array) -> float:
    """Set the forces within bounds that are nearest to `start`; see `least`."""
    G = zeros(C * N)
    e = empty(C)
    y = empty(N)
    span = 0.0
    largest = 0.0
    for i in range(C):
        row = G[i * N :]
        for k in range(F):
            add(N, bounds[i * F + k], moves[k * N :], row)
        span = max(span, dot(N, row, row))
    for i in range(C):
        row = G[i * N :]
        force = dot(F, bounds[i * F :], start)
        e[i] = sides[i] - force - ROUNDOFF * abs(force)
        size = dot(N, row, row)
        if size > REPEATED * span:
            e[i] = e[i] / sqrt(size)
            largest = max(largest, e[i])
            for k in range(N):
                row[k] = row[k] / sqrt(size)
        else:
            if e[i] > REACHED * (1.0 + abs(sides[i])):
                return -1.0
            for k in range(N):
                row[k] = 0.0
            e[i] = 0.0
    result = least(G, e, largest, y)
    for k in range(F):
        out[k] = start[k] + dot(N, moves[k * N :], y)
    return result


def moving(W: Array, rows: Array) -> float:
    """Make the first rows orthonormal in weights, and the others orthogonal; return how many."""
    rank = 0
    for r in range(S):
        row = rows[r * Z :]
        first = rows[rank * Z :]
        size = remainder(rank, STILL * STILL, W, rows, row)
        if size > 0.0:
            for k in range(Z):
                local = row[k] / sqrt(size)
                row[k] = first[k]
                first[k] = local
            rank = rank + 1
    return rank


def still_share(count: int, V: Array, sizes: Array, rows: Array) -> float:
    """Return the share of efforts that move nothing beside what one of them moves alone."""
    least = -1.0
    for s in range(S):
        shared = 0.0
        k = DRIVEN[s]
        for i in range(count):
            shared = max(shared, V[k] * rows[i * Z + k] * rows[i * Z + k])
        if shared > SHARED * SHARED and sizes[s] > 0.0:
            if least < 0.0 or sizes[s] / V[k] < least:
                least = sizes[s] / V[k]
    if least < 0.0:
        return sqrt(SHARE)
    return sqrt(SHARE * least)


def nearest_motion(
    whole: Array,
    a: Array,
    weights: Array,
    deviation: Array,
    bias: Array,
    moves: Array,
    start: Array,
) -> float:
    """Set the forces of the motion nearest to `a`, and what may be added; 0 where unclear."""
    rows = empty(S * Z)
    W = zeros(Z)
    V = zeros(Z)
    gap = zeros(Z)
    sizes = empty(S)
    for k in range(F):
        start[k] = whole[k * (N + 1) + N] - dot(N, whole[k * (N + 1) :], bias)
    for k in range(N):
        W[F + k] = deviation[k]
        gap[F + k] = a[k] - start[k]
        start[k] = 0.0
    for s in range(S):
        row = rows[s * Z :]
        for k in range(Z):
            row[k] = 0.0
        row[DRIVEN[s]] = 1.0
        for k in range(N):
            row[F + k] = whole[k * (N + 1) + DRIVEN[s]]
        sizes[s] = weighted(W, row, row)
        V[DRIVEN[s]] = weights[DRIVEN[s]]
    rank = int(moving(W, rows))
    still = rows[rank * Z :]
    if orthonormal(S - rank, V, still) < S - rank:
        return 0.0
    share = still_share(S - rank, V, sizes, still)
    for s in range(rank):
        row = rows[s * Z :]
        for i in range(S - rank):
            add(Z, -weighted(V, row, still[i * Z :]), still[i * Z :], row)
    for s in range(rank, S):
        row = rows[s * Z :]
        for k in range(Z):
            row[k] = row[k] / share
    for k in range(F * N):
        moves[k] = 0.0
    for s in range(S):
        row = rows[s * Z :]
        for k in range(N, F):
            row[k] = dot(N, whole[k * (N + 1) :], row)
        if s < rank:
            add(F, weighted(W, row, gap), row, start)
        for k in range(F):
            moves[k * N + s] = row[k]
    return 1.0


def limited_effort(
    q: Array, v: Array, weights: Array, deviation: Array, a: Array, bias: Array, free: Array,
    bounds: Array, sides: Array, clock: Array, parameters: Array, out: Array,
) -> float:  # fmt: skip
    """Set forces within bounds from those without, then 1 where they produce `a`."""
    moves = empty(F * N)
    whole = empty(RESPONSES * (N + 1))
    start = empty(F)
    result = -1.0
    if free[0] == free[0]:  # known
        if not inner_forces(q, v, weights, clock, parameters, moves) >= RCOND_LIMIT:
            return 0.0
        result = within(moves, free, bounds, sides, out)
    out[F] = result
    if result < 0.0 and deviation[0] > 0.0:
        if not force_responses(q, v, clock, parameters, whole) >= RCOND_LIMIT:
            return 0.0
        if not nearest_motion(whole, a, weights, deviation, bias, moves, start) > 0.0:
            return 0.0
        result = within(moves, start, bounds, sides, out)
    return result
