# SPDX-License-Identifier: Apache-2.0
"""Routines of accelerations, time steps and projections; see `dense_kernels`."""

from __future__ import annotations

from kane_dynamics.compiler.llvm.dense_routines import ROUTINES, K, N, dot, size_in_mass, solve
from kane_dynamics.compiler.llvm.routine import TABLE, Array, empty, kernel

# what a robot has
H = AXES = KICKS = 0
KINDS = OWNERS = ORDER = INTEGRATED = PLACED = PLACED_KINDS = PLACED_OWNERS = PLACED_ORDER = TABLE
PAIR_FIRST = PAIR = PAIR_PLACE = PAIR_MIRROR = TABLE
LIMIT = TIGHT = LOOSE = MOST_TURN = NO_ENERGY = 0.0
bias_force = friction = drag = retract = mass_axes = kernel


def mass_matrix(q: Array, parameters: Array, out: Array) -> float:
    """Set M from the axes of all joints."""
    axes = empty(13 * AXES)
    if not mass_axes(q, parameters, axes) >= LIMIT:
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
    if not mass_matrix(q, parameters, M) >= LIMIT:
        return 0.0
    if not bias_force(q, v, parameters, force) >= LIMIT:
        return 0.0
    if not rows(q, v, clock, parameters, A, b0, b, phi) >= LIMIT:
        return 0.0
    if not friction(v, parameters, rub) >= LIMIT:
        return 0.0
    for k in range(N):
        force[k] = tau[k] - force[k] - rub[k]
    return solve(K, M, force, A, b, phi, KINDS, OWNERS, ORDER, 1.0, v, b0, x, is_independent)


def acceleration(
    q: Array, v: Array, tau: Array, clock: Array, parameters: Array, out: Array
) -> float:
    """Set accelerations."""
    M = empty(N * N)
    x = empty(N)
    if not accelerate(q, v, tau, clock, parameters, M, x) > 0.0:
        return 0.0
    for k in range(N):
        out[k] = x[k]
    return 1.0


def timeless(q: Array, v: Array, tau: Array, parameters: Array, out: Array) -> float:
    """Set accelerations where no row holds time."""
    clock = empty(1)
    clock[0] = 0.0
    return acceleration(q, v, tau, clock, parameters, out)


def jump(q: Array, v: Array, middle: Array, tau: Array, clock: Array, parameters: Array) -> float:
    """Return whether middle speeds follow from the start; see `simulation.step_checks`."""
    M = empty(N * N)
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
    if away * away <= MOST_TURN * (moving * moving + turned * turned) + NO_ENERGY:
        return 1.0
    return 0.0


def impulse(
    q: Array, v: Array, at: Array, tau: Array, clock: Array, parameters: Array, out: Array
) -> float:
    """Set speeds after a step with implicit friction."""
    M = empty(N * N)
    force = empty(N)
    drags = empty(N)
    is_independent = empty(K)
    A = empty(K * N)
    b0 = empty(K)
    b = empty(K)
    side = empty(K)
    phi = empty(K)
    x = empty(N)
    h = clock[1]
    if not mass_matrix(q, parameters, M) >= LIMIT:
        return 0.0
    if not bias_force(q, at, parameters, force) >= LIMIT:
        return 0.0
    if not rows(q, at, clock, parameters, A, b0, b, phi) >= LIMIT:
        return 0.0
    if not drag(at, parameters, drags) >= LIMIT:
        return 0.0
    for k in range(N):
        force[k] = dot(N, M[k * N :], v) + h * (tau[k] - force[k])
    for k in range(N):
        M[k * N + k] += h * drags[k]
    for i in range(K):
        side[i] = b0[i]
        if INTEGRATED[i] == 1:
            side[i] = dot(N, A[i * N :], v) + h * b[i]
    if (
        not solve(K, M, force, A, side, phi, KINDS, OWNERS, ORDER, 0.0, at, b0, x, is_independent)
        > 0.0
    ):
        return 0.0
    for k in range(N):
        out[k] = x[k]
    return 1.0


def kick(q: Array, v: Array, tau: Array, clock: Array, parameters: Array, out: Array) -> float:
    """Set speeds after a step across a middle place; see `simulation.integrators`."""
    local = empty(N * N)
    M = empty(N * N)
    force = empty(N)
    drags = empty(N)
    middle = empty(N)
    is_independent = empty(K)
    A = empty(K * N)
    b0 = empty(K)
    b = empty(K)
    side = empty(K)
    phi = empty(K)
    x = empty(N)
    h = clock[1]
    checked = -1.0
    if not mass_matrix(q, parameters, local) >= LIMIT:
        return 0.0
    if not drag(v, parameters, drags) >= LIMIT:
        return 0.0
    for k in range(N):
        middle[k] = v[k]
    for turn in range(KICKS):
        if turn == KICKS - 1:
            checked = 0.0
        if not bias_force(q, middle, parameters, force) >= LIMIT:
            return 0.0
        if not rows(q, middle, clock, parameters, A, b0, b, phi) >= LIMIT:
            return 0.0
        for k in range(N * N):
            M[k] = local[k]
        for k in range(N):
            M[k * N + k] += h * drags[k]
            force[k] = dot(N, local[k * N :], v) + h * (tau[k] - force[k])
        for i in range(K):
            along = dot(N, A[i * N :], v)
            side[i] = 2.0 * b0[i] - along
            if INTEGRATED[i] == 1:
                side[i] = along + h * b[i]
        if not (
            solve(
                K,
                M,
                force,
                A,
                side,
                phi,
                KINDS,
                OWNERS,
                ORDER,
                checked,
                middle,
                b0,
                x,
                is_independent,
            )
            > 0.0
        ):
            return 0.0
        for k in range(N):
            middle[k] = 0.5 * (v[k] + x[k])
    for k in range(N):
        out[k] = x[k]
    return 1.0


def place(q: Array, clock: Array, parameters: Array, out: Array) -> float:
    """Set coordinates after one Newton step onto the holonomic rows."""
    M = empty(N * N)
    A = empty(K * N)
    b0 = empty(K)
    b = empty(K)
    phi = empty(K)
    target = empty(H)
    drift = empty(H)
    is_independent = empty(K)
    remainder = empty(N)
    x = empty(N)
    for k in range(N):
        remainder[k] = 0.0
    if not mass_matrix(q, parameters, M) >= LIMIT:
        return 0.0
    if not rows(q, remainder, clock, parameters, A, b0, b, phi) >= LIMIT:
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
    M = empty(N * N)
    A = empty(K * N)
    b0 = empty(K)
    b = empty(K)
    phi = empty(K)
    side = empty(K)
    is_independent = empty(K)
    none = empty(N)
    x = empty(N)
    for k in range(N):
        none[k] = 0.0
    if not mass_matrix(q, parameters, M) >= LIMIT:
        return 0.0
    if not rows(q, v, clock, parameters, A, b0, b, phi) >= LIMIT:
        return 0.0
    for i in range(K):
        side[i] = b0[i] - dot(N, A[i * N :], v)
    if (
        not solve(K, M, none, A, side, phi, KINDS, OWNERS, ORDER, 0.0, v, b0, x, is_independent)
        > 0.0
    ):
        return 0.0
    count = 0.0
    for i in range(K):
        count += is_independent[i]
        limit = LOOSE
        if is_independent[i] > 0.5:
            limit = TIGHT
        if not abs(phi[i]) <= limit:
            return 0.0
    for k in range(N):
        out[k] = v[k] + x[k]
    rank[0] = count
    return 1.0


ACCELERATION = (*ROUTINES, accelerate, acceleration)
TIMELESS = (*ACCELERATION, timeless)
JUMP = (*ROUTINES, accelerate, jump)
IMPULSE = (*ROUTINES, impulse)
KICK = (*ROUTINES, kick)
PLACE = (*ROUTINES, place)
PROJECT = (*ROUTINES, project)
