# SPDX-License-Identifier: Apache-2.0
"""Routines of accelerations, time steps and projections; see `dense_kernels`."""

from kane_dynamics.algorithms.projection import POSITION_TOLERANCE
from kane_dynamics.compiler.llvm.dense_routines import K, N, solve
from kane_dynamics.compiler.llvm.limits import RCOND_LIMIT
from kane_dynamics.compiler.llvm.ltdl import copy, dot, factorize, size_in_mass
from kane_dynamics.compiler.llvm.routine import TABLE, Array, empty, kernel, zeros
from kane_dynamics.constraints.row_selection import TAKEN
from kane_dynamics.simulation.integrators import KICKS
from kane_dynamics.simulation.step_checks import MOST_TURNED

# what a robot has
H = AXES = MASS = 0
KINDS = OWNERS = ORDER = INTEGRATED = PLACED = PLACED_KINDS = PLACED_OWNERS = PLACED_ORDER = TABLE
DIAGONAL = PAIR_FIRST = PAIR = PAIR_PLACE = PAIR_MIRROR = TABLE
NO_ENERGY = 1e-18  # [J]
bias_force = friction = drag = retract = mass_axes = inertia = kernel


def mass_matrix(q: Array, parameters: Array, out: Array) -> float:
    """Set M from the axes of all joints."""
    axes = empty(13 * AXES)
    if not mass_axes(q, parameters, axes) >= RCOND_LIMIT:
        return 0.0
    for k in range(N * N):
        out[k] = 0.0
    for b in range(AXES):
        L = axes[13 * b + 6 :]
        for r in range(PAIR_FIRST[b], PAIR_FIRST[b + 1]):
            S = axes[13 * PAIR[r] :]
            entry = S[0] * L[0] + S[1] * L[1] + S[2] * L[2]
            entry += S[3] * L[3] + S[4] * L[4] + S[5] * L[5]
            if PAIR[r] == b:
                entry += L[6]
            entry += out[PAIR_PLACE[r]]
            out[PAIR_PLACE[r]] = entry
            out[PAIR_MIRROR[r]] = entry
    return 1.0


def rows(
    q: Array, v: Array, clock: Array, parameters: Array, A: Array, b0: Array, b: Array, phi: Array
) -> float:
    """Return without rows; where there are any, their kernel has this name."""
    return 1.0


def mass_and_rows(
    q: Array, v: Array, clock: Array, parameters: Array, M: Array,
    A: Array, b0: Array, b: Array, phi: Array,
) -> float:  # fmt: skip
    """Set M to its factors and the rows of a state; return the rcond of both."""
    if not inertia(q, parameters, M) >= RCOND_LIMIT:
        return 0.0
    if not factorize(M) > 0.0:
        return 0.0
    return rows(q, v, clock, parameters, A, b0, b, phi)


def accelerate(
    q: Array, v: Array, tau: Array, clock: Array, parameters: Array, M: Array, x: Array
) -> float:
    """Set accelerations, and M to its factors."""
    force = empty(N)
    rub = empty(N)
    is_independent = empty(K)
    A = empty(K * N)
    b0 = empty(K)
    b = empty(K)
    phi = empty(K)
    if not mass_and_rows(q, v, clock, parameters, M, A, b0, b, phi) >= RCOND_LIMIT:
        return 0.0
    if not bias_force(q, v, parameters, force) >= RCOND_LIMIT:
        return 0.0
    if not friction(v, parameters, rub) >= RCOND_LIMIT:
        return 0.0
    for k in range(N):
        force[k] = tau[k] - force[k] - rub[k]
        x[k] = 0.0
    return solve(K, M, force, A, b, phi, KINDS, OWNERS, ORDER, 1.0, v, b0, x, is_independent)


def acceleration(
    q: Array, v: Array, tau: Array, clock: Array, parameters: Array, out: Array
) -> float:
    """Set accelerations."""
    M = empty(MASS)
    x = empty(N)
    if not accelerate(q, v, tau, clock, parameters, M, x) > 0.0:
        return 0.0
    for k in range(N):
        out[k] = x[k]
    return 1.0


def timeless(q: Array, v: Array, tau: Array, parameters: Array, out: Array) -> float:
    """Set accelerations where no row holds time."""
    clock = zeros(1)
    return acceleration(q, v, tau, clock, parameters, out)


def jump(q: Array, v: Array, middle: Array, tau: Array, clock: Array, parameters: Array) -> float:
    """Return whether middle speeds follow from the start; see `simulation.step_checks`."""
    M = empty(MASS)
    x = empty(N)
    gap = empty(N)
    if not accelerate(q, v, tau, clock, parameters, M, x) > 0.0:
        return 0.0
    for k in range(N):
        x[k] = 0.5 * clock[1] * x[k]
        gap[k] = middle[k] - v[k] - x[k]
    moving = size_in_mass(M, v)
    turned = size_in_mass(M, x)
    away = size_in_mass(M, gap)
    if away * away <= MOST_TURNED * (moving * moving + turned * turned) + NO_ENERGY:
        return 1.0
    return 0.0


def advance(
    q: Array, v: Array, middle: Array, tau: Array, clock: Array, parameters: Array,
    M: Array, drags: Array, across: float, checked: float, x: Array,
) -> float:  # fmt: skip
    """Set x of (M + h D)(x - v) = h (tau - c - D v), with c and the rows of speeds `middle`."""
    force = empty(N)
    is_independent = empty(K)
    A = empty(K * N)
    b0 = empty(K)
    b = empty(K)
    side = empty(K)
    phi = empty(K)
    h = clock[1]
    if not bias_force(q, middle, parameters, force) >= RCOND_LIMIT:
        return 0.0
    if not rows(q, middle, clock, parameters, A, b0, b, phi) >= RCOND_LIMIT:
        return 0.0
    copy(N, v, x)
    for k in range(N):
        force[k] = h * (tau[k] - force[k] - drags[k] * v[k])
    for i in range(K):
        along = dot(N, A[i * N :], v)
        side[i] = b0[i] + across * (b0[i] - along)
        if INTEGRATED[i] == 1:
            side[i] = along + h * b[i]
    return solve(
        K, M, force, A, side, phi, KINDS, OWNERS, ORDER, checked, middle, b0, x, is_independent
    )  # fmt: skip


def damped_mass(
    q: Array, at: Array, clock: Array, parameters: Array, M: Array, drags: Array
) -> float:
    """Set the drag D at some speeds and M + h D to its factors."""
    if not inertia(q, parameters, M) >= RCOND_LIMIT:
        return 0.0
    if not drag(at, parameters, drags) >= RCOND_LIMIT:
        return 0.0
    for k in range(N):
        M[DIAGONAL[k]] += clock[1] * drags[k]
    return factorize(M)


def impulse(
    q: Array, v: Array, at: Array, tau: Array, clock: Array, parameters: Array, out: Array
) -> float:
    """Set speeds after a step with implicit friction."""
    M = empty(MASS)
    drags = empty(N)
    if not damped_mass(q, at, clock, parameters, M, drags) > 0.0:
        return 0.0
    return advance(q, v, at, tau, clock, parameters, M, drags, 0.0, 0.0, out)


def kick(q: Array, v: Array, tau: Array, clock: Array, parameters: Array, out: Array) -> float:
    """Set speeds after a step across a middle place; see `simulation.integrators`."""
    M = empty(MASS)
    drags = empty(N)
    middle = empty(N)
    checked = -1.0
    if not damped_mass(q, v, clock, parameters, M, drags) > 0.0:
        return 0.0
    copy(N, v, middle)
    for turn in range(KICKS):
        if turn == KICKS - 1:
            checked = 0.0
        if not advance(q, v, middle, tau, clock, parameters, M, drags, 1.0, checked, out) > 0.0:
            return 0.0
        for k in range(N):
            middle[k] = 0.5 * (v[k] + out[k])
    return 1.0


def place(q: Array, clock: Array, parameters: Array, out: Array) -> float:
    """Set coordinates after one Newton step onto the holonomic rows."""
    M = empty(MASS)
    A = empty(K * N)
    b0 = empty(K)
    b = empty(K)
    phi = empty(K)
    target = empty(H)
    drift = empty(H)
    is_independent = empty(K)
    remainder = zeros(N)
    x = zeros(N)
    if not mass_and_rows(q, remainder, clock, parameters, M, A, b0, b, phi) >= RCOND_LIMIT:
        return 0.0
    for i in range(H):
        target[i] = -phi[PLACED[i]]
        drift[i] = 0.0
        for k in range(N):
            A[i * N + k] = A[PLACED[i] * N + k]
    if not solve(
        H, M, remainder, A, target, drift, PLACED_KINDS, PLACED_OWNERS, PLACED_ORDER, -1.0,
        remainder, target, x, is_independent,
    ) > 0.0:  # fmt: skip
        return 0.0
    return retract(q, x, parameters, out)


def project(q: Array, v: Array, clock: Array, parameters: Array, out: Array, rank: Array) -> float:
    """Set the speeds on the rows that are nearest in the metric of M, and the rank."""
    M = empty(MASS)
    A = empty(K * N)
    b0 = empty(K)
    b = empty(K)
    phi = empty(K)
    is_independent = empty(K)
    none = zeros(N)
    x = empty(N)
    if not mass_and_rows(q, v, clock, parameters, M, A, b0, b, phi) >= RCOND_LIMIT:
        return 0.0
    copy(N, v, x)
    rcond = solve(K, M, none, A, b0, phi, KINDS, OWNERS, ORDER, 0.0, v, b0, x, is_independent)
    if not rcond > 0.0:
        return 0.0
    count = 0.0
    for i in range(K):
        count += is_independent[i]
        limit = TAKEN
        if is_independent[i] > 0.5:
            limit = POSITION_TOLERANCE
        if not abs(phi[i]) <= limit:
            return 0.0
    copy(N, x, out)
    rank[0] = count
    return 1.0
