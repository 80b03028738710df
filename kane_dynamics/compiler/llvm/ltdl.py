# SPDX-License-Identifier: Apache-2.0
"""
M = L' D L of a tree and what it solves, as routines; see `routine`.

M is factored from the last speed to the first, which keeps the zeros of a tree: row k of L has its
entries between BEGIN[s] and END[s] for s from FIRST[k] to FIRST[k + 1]. N is the number of speeds.
A square root of M^-1 is L^-1 D^-1/2.
"""

from math import sqrt

from kane_dynamics.algorithms.udwadia_kalaba import SINGULAR
from kane_dynamics.compiler.llvm.routine import TABLE, Array, empty

N = 0
FIRST = BEGIN = END = TABLE


def dot(n: int, x: Array, y: Array) -> float:
    """Return x' y."""
    total = 0.0
    for k in range(n):
        total += x[k] * y[k]
    return total


def copy(n: int, x: Array, y: Array) -> None:
    """Set y to x."""
    for k in range(n):
        y[k] = x[k]


def add(n: int, factor: float, x: Array, y: Array) -> None:
    """Add `factor` x to y."""
    for k in range(n):
        y[k] += factor * x[k]


def factorize(M: Array) -> float:
    """Replace the lower triangle of M by L and D; return 0 where M is singular."""
    size = empty(N)
    local = empty(N)
    for k in range(N):
        size[k] = M[k * N + k]
    for r in range(N):
        k = N - 1 - r
        row = M[k * N :]
        pivot = row[k]
        if not pivot > SINGULAR * size[k]:
            return 0.0
        for s in range(FIRST[k], FIRST[k + 1]):
            for j in range(BEGIN[s], END[s]):
                local[j] = row[j]
        for s in range(FIRST[k], FIRST[k + 1]):
            for i in range(BEGIN[s], END[s]):
                factor = local[i] / pivot
                row[i] = factor
                above = M[i * N :]
                for u in range(FIRST[k], s + 1):
                    for j in range(BEGIN[u], min(END[u], i + 1)):
                        above[j] -= factor * local[j]
    return 1.0


def half(L: Array, y: Array) -> None:
    """Replace y by D^-1/2 L'^-1 y."""
    for r in range(N):
        k = N - 1 - r
        local = y[k]
        if abs(local) > 0.0:
            for s in range(FIRST[k], FIRST[k + 1]):
                add(END[s] - BEGIN[s], -local, L[k * N + BEGIN[s] :], y[BEGIN[s] :])
            y[k] = local / sqrt(L[k * N + k])


def back(L: Array, y: Array) -> None:
    """Replace y by L^-1 D^-1/2 y."""
    for k in range(N):
        total = y[k] / sqrt(L[k * N + k])
        for s in range(FIRST[k], FIRST[k + 1]):
            total -= dot(END[s] - BEGIN[s], L[k * N + BEGIN[s] :], y[BEGIN[s] :])
        y[k] = total


def size_in_mass(L: Array, x: Array) -> float:
    """Return the norm of x in the metric of M."""
    total = 0.0
    for k in range(N):
        along = x[k]
        for s in range(FIRST[k], FIRST[k + 1]):
            along += dot(END[s] - BEGIN[s], L[k * N + BEGIN[s] :], x[BEGIN[s] :])
        total += L[k * N + k] * along * along
    return sqrt(total)
