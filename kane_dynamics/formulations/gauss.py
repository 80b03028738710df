# SPDX-License-Identifier: Apache-2.0
"""The Udwadia-Kalaba equations (62) with terms of dqGP, (46)-(51), or of dqNE (Silva et al.)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy

from kane_dynamics.algorithms.udwadia_kalaba import (
    ConstrainedMotion,
    Details,
    Motion,
    cholesky_factor,
    constrained_motion,
    motion_of,
)
from kane_dynamics.formulations.problem import Problem
from kane_dynamics.typing import Floats


@dataclass(frozen=True, eq=False, slots=True)
class GaussSolution(Details):
    """What Gauss's principle and the Udwadia-Kalaba equations speak of."""

    free_acceleration: Floats  # shape (nv,): M^-1 Q, the acceleration without constraints
    scaled_rows: Floats  # shape (k, nv): D = A L^-T (62)
    omega: Floats  # shape (nv, nv): The projector Omega = 1 - L D^+ A M^-1 of (63)
    gauss_excess: float


def gauss_solution(mass_matrix: Floats, force: Floats, motion: ConstrainedMotion) -> GaussSolution:
    """Return what the principle says of a motion that `constrained_motion` found."""
    factor = cholesky_factor(mass_matrix)
    selection = motion.selection
    D = scipy.linalg.solve_triangular(factor, selection.rows.matrix.T, lower=True).T
    pivots = D[selection.independent_indices]
    scaled = pivots / np.linalg.norm(pivots, axis=1, keepdims=True)
    range_of_rows = scipy.linalg.qr(scaled.T, mode='economic')[0]
    half = scipy.linalg.solve_triangular(factor, np.eye(len(force)), lower=True)  # L^-1
    omega = np.eye(len(force)) - factor @ range_of_rows @ (range_of_rows.T @ half)
    free = scipy.linalg.cho_solve((factor, True), force)
    gap = motion.acceleration - free
    return GaussSolution(free, D, omega, 0.5 * float(gap @ mass_matrix @ gap))


def by_gauss(problem: Problem) -> Motion:
    """Solve by dqGP and the Udwadia-Kalaba equations (Silva et al., (46)-(51), (62))."""
    mass = problem.terms.mass_matrix(problem.q)
    force = problem.applied - problem.terms.bias_force(problem.q, problem.v)
    result = constrained_motion(mass, force, problem.rows)
    details = gauss_solution(mass, force, result)
    return motion_of(result.selection, problem.v, result.acceleration, result.multipliers, details)


@dataclass(frozen=True, eq=False, slots=True)
class NewtonEulerSolution(Details):
    """What dqNE gives in runs of the recursion (Silva et al., section 6)."""

    mass_matrix: Floats  # shape (nv, nv): M, one run for each column
    velocity_force: Floats  # shape (nv,): C v and g, one run each
    gravity_force: Floats  # shape (nv,): C v and g, one run each
    runs: int  # nv + 2


def by_newton_euler(problem: Problem) -> Motion:
    """Solve by nv + 2 runs of dqNE (Silva et al., section 6) and (62)."""
    run, q = problem.terms.newton_euler, problem.q
    at_rest = np.zeros(len(problem.v))
    gravity = run(q, at_rest, at_rest)
    bias = run(q, problem.v, at_rest)
    mass = np.array([run(q, at_rest, unit) - gravity for unit in np.eye(len(at_rest))])
    result = constrained_motion(mass, problem.applied - bias, problem.rows)
    details = NewtonEulerSolution(mass, bias - gravity, gravity, len(at_rest) + 2)
    return motion_of(result.selection, problem.v, result.acceleration, result.multipliers, details)
