# SPDX-License-Identifier: Apache-2.0
"""
M = L' D L by articulated bodies in world axes, as routines: what `ltdl` does, in O(AXES).

Instead of M, `graphs.mass_axes` gives for each axis its direction S, the momentum L of all that it
carries at unit speed, and its rotor: 13 numbers. An axis is speed SPEED, each one of its own, and
hangs on axis CARRIER, number AXES where there is none (Featherstone, section 7.3).
"""

from math import sqrt

from kane_dynamics.algorithms.udwadia_kalaba import SINGULAR
from kane_dynamics.compiler.llvm.ltdl import add, dot
from kane_dynamics.compiler.llvm.routine import TABLE, Array, empty, zeros

AXES = 0
SPEED = CARRIER = TABLE


def factorize(M: Array) -> float:
    """Replace L by U = I^A S and the rotor by D = S' U + rotor; return 0 where M is singular."""
    lost = zeros(36 * AXES + 36)  # inertia that what follows an axis takes from it: I - I^A
    for r in range(AXES):
        b = AXES - 1 - r
        S = M[13 * b :]
        U = M[13 * b + 6 :]
        local = lost[36 * b :]
        carrier = lost[36 * CARRIER[b] :]
        size = dot(6, S, U) + S[12]
        for i in range(6):
            add(6, -S[i], local[6 * i :], U)
        pivot = dot(6, S, U) + S[12]
        if not pivot > SINGULAR * size:
            return 0.0
        S[12] = pivot
        for i in range(6):
            factor = U[i] / pivot
            for j in range(6):
                carrier[6 * i + j] += local[6 * i + j] + factor * U[j]
    return 1.0


def half(M: Array, y: Array) -> None:
    """Replace y by D^-1/2 L'^-1 y."""
    wrench = zeros(6 * AXES + 6)
    for r in range(AXES):
        b = AXES - 1 - r
        S = M[13 * b :]
        local = wrench[6 * b :]
        carrier = wrench[6 * CARRIER[b] :]
        left = y[SPEED[b]] - dot(6, S, local)
        y[SPEED[b]] = left / sqrt(S[12])
        add(6, 1.0, local, carrier)
        add(6, left / S[12], S[6:], carrier)


def back(M: Array, y: Array) -> None:
    """Replace y by L^-1 D^-1/2 y."""
    rate = empty(6 * AXES + 6)
    for k in range(6):
        rate[6 * AXES + k] = 0.0
    for b in range(AXES):
        S = M[13 * b :]
        local = rate[6 * b :]
        carrier = rate[6 * CARRIER[b] :]
        along = y[SPEED[b]] / sqrt(S[12]) - dot(6, S[6:], carrier) / S[12]
        y[SPEED[b]] = along
        for k in range(6):
            local[k] = carrier[k] + along * S[k]


def size_in_mass(M: Array, x: Array) -> float:
    """Return the norm of x in the metric of M."""
    rate = empty(6 * AXES + 6)
    for k in range(6):
        rate[6 * AXES + k] = 0.0
    total = 0.0
    for b in range(AXES):
        S = M[13 * b :]
        local = rate[6 * b :]
        carrier = rate[6 * CARRIER[b] :]
        along = x[SPEED[b]] + dot(6, S[6:], carrier) / S[12]
        total += S[12] * along * along
        for k in range(6):
            local[k] = carrier[k] + x[SPEED[b]] * S[k]
    return sqrt(total)
