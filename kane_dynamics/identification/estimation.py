# SPDX-License-Identifier: Apache-2.0
r"""
Parameters from triangles of equations: weighted least squares, and physically consistent ones.

Weighted least squares give the base parameters beta, with weights 1/sigma_j of the residual of
each speed. Consistent parameters (Wensing, Kim and Slotine, IEEE RA-L 3(1), 2018) are those of

.. math:: \min \frac{|S \phi - \rho|^2}{n N}
   + \gamma \sum_i |L_i^{-1} (P_i - P_i^0) L_i^{-T}|_F^2, \quad P_i(\phi) \succeq 0,\; f \ge 0

with the pseudo-inertia :math:`P = [[\Sigma, h], [h^T, m]]`, :math:`\Sigma = \frac{tr J}{2} 1 - J`:
masses, principal moments and their triangle rule together. :math:`P_i^0 = L_i L_i^T` is the model
before: what the motion does not show stays as it was.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy

from kane_dynamics.algebra.inertia import UPPER
from kane_dynamics.algorithms.least_distance import clarabel_module
from kane_dynamics.exceptions import NotSolvedError
from kane_dynamics.identification.base_parameters import BaseParameters
from kane_dynamics.identification.equations import Equations, Triangles
from kane_dynamics.identification.friction import dissipation_rows, dissipative
from kane_dynamics.identification.samples import Samples
from kane_dynamics.robot.inertial_parameters import PARAMETERS, inertial_parameters
from kane_dynamics.robot.robot import Robot
from kane_dynamics.typing import Bools, Floats

PASSES = 4  # of weights
NEARNESS = 1e-3  # gamma
LEAST = 1e-6  # eigenvalue of pseudo-inertias [kg, kg m^2]
_SMALL = np.array([1e-5, 1e-5, 1e-5, 1e-3])  # [kg m^2, kg] of a body that the model gives less
_EXACT = 1e-4  # of the rms of an effort: none is known better, and solvers end
_FLAT = 1e-6  # relative eigenvalue of a body that the model gives no thickness
_WINDOW = 50  # samples, four periods of the filter's corner at the usual rates
_LEAST_WINDOWS = 40  # of fewer a variance is nothing to go by
_MASSES = 0.2, 5.0  # times the mass before, where a mass is not seen alone


@dataclass(frozen=True, eq=False)
class LeastSquares:
    """
    Base parameters by weighted least squares.

    Parameters
    ----------
    values : ndarray, shape (r,)
        beta.
    covariance : ndarray, shape (r, r)
        Of beta, for residuals that are independent from sample to sample.
    deviations : ndarray, shape (n,)
        Of the residual of each observed speed [N m or N].

    """

    values: Floats
    covariance: Floats
    deviations: Floats


def least_squares(triangles: Triangles, base: BaseParameters) -> LeastSquares:
    """
    Return base parameters by weighted least squares.

    Parameters
    ----------
    triangles : Triangles
        Of the equations.
    base : BaseParameters
        Of the same equations.

    """
    factors, counts = triangles.factors, triangles.counts
    columns = [*base.leading, -1]
    spare = np.maximum(counts - base.rank / len(counts), 1.0)
    sigma = np.ones(len(counts))
    for _ in range(PASSES):
        rows = triangles.weighted(1.0 / sigma)[:, columns]
        values, spread = _solved(rows[:, :-1], rows[:, -1])
        solution = np.zeros(factors.shape[-1] - 1)
        solution[base.leading] = values
        floor = 1e-12 * np.linalg.norm(factors[..., -1], axis=1) / np.sqrt(counts)
        sigma = np.maximum(np.sqrt(triangles.squares(solution) / spare), floor + 1e-300)
    scaled = triangles.weighted(1.0 / sigma)[:, base.leading]
    across = spread @ scaled.T
    return LeastSquares(values, across @ across.T, sigma)


def _solved(A: Floats, b: Floats) -> tuple[Floats, Floats]:
    """Return the x of least |A x - b|, and (A' A)^-1."""
    lengths = np.linalg.norm(A, axis=0)
    Q, R = np.linalg.qr(A / lengths)
    back = scipy.linalg.solve_triangular(R, np.eye(len(R))) / lengths[:, None]
    return back @ (Q.T @ b), back @ back.T


def pseudo_inertias(parameters: Floats) -> Floats:
    """Return P of bodies, shape (n, 4, 4), from their parameters, shape (10 n,)."""
    return np.asarray(np.tensordot(parameters.reshape(-1, len(PARAMETERS)), _UNITS, 1))


def _units() -> Floats:
    """Return P of a unit of each parameter, shape (10, 4, 4)."""
    units = np.zeros((len(PARAMETERS), 4, 4))
    units[0, 3, 3] = 1.0
    for k in range(3):
        units[1 + k, k, 3] = units[1 + k, 3, k] = 1.0
    for unit, i, j in zip(units[4:], *UPPER, strict=True):
        if i == j:
            unit[:3, :3] = 0.5 * np.eye(3)
            unit[i, i] -= 1.0
        else:
            unit[i, j] = unit[j, i] = -1.0
    return units


_UNITS = _units()
# scaled upper triangles, column by column: the inner product of two is that of the matrices
_ROWS, _COLUMNS = (
    np.array(x) for x in zip(*[(i, j) for j in range(4) for i in range(j + 1)], strict=True)
)
_SCALE = np.where(_ROWS == _COLUMNS, 1.0, np.sqrt(2.0))


def _upper(P: Floats) -> Floats:
    """Return scaled upper triangles of matrices, shape (..., 10)."""
    return np.asarray(P[..., _ROWS, _COLUMNS] * _SCALE)


def consistent_parameters(
    equations: Equations,
    triangles: Triangles,
    deviations: Floats,
    unseen_masses: Bools,
    nearness: float = NEARNESS,
) -> Floats:
    """
    Return parameters that a body can have, and coefficients that friction can have, shape (p,).

    Parameters
    ----------
    equations : Equations
        Of a robot whose parameters are those before.
    triangles : Triangles
        Of samples of them.
    deviations : ndarray, shape (n,)
        Of the residual of each observed speed.
    unseen_masses : ndarray of bool, shape (bodies,)
        Which masses are not seen alone, and bounded to 0.2 to 5 times the one before.
    nearness : float
        gamma.

    Raises
    ------
    MissingPackageError
        If Clarabel is not installed.
    NotSolvedError
        If the solver ends without a solution.

    """
    largest = np.linalg.norm(triangles.factors[..., -1], axis=1) / np.sqrt(triangles.counts)
    rows = triangles.weighted(1.0 / np.maximum(deviations, _EXACT * largest))
    rows = rows / np.sqrt(triangles.counts.sum())
    dissipation = dissipation_rows(equations.columns)
    inertial, start = equations.inertial, np.zeros(rows.shape[1] - 1)
    start[:inertial], local, back = inertial_coordinates(equations.dynamics.robot)
    lengths = np.linalg.norm(rows[:, inertial:-1], axis=0)
    held = np.r_[np.ones(inertial), lengths == 0.0]  # friction of joints that stand still is none
    lengths[lengths == 0.0] = 1.0
    scaling = scipy.linalg.block_diag(local, np.diag(1.0 / lengths))
    heavy = np.flatnonzero(unseen_masses & (start[: inertial : len(PARAMETERS)] > _SMALL[3]))
    masses = scaling[len(PARAMETERS) * heavy] / start[len(PARAMETERS) * heavy, None]
    bounds = np.vstack([dissipation @ scaling[inertial:], masses, -masses])
    counts = [len(dissipation), len(heavy), len(heavy)]
    limits = np.repeat([0.0, 1.0 - _MASSES[0], _MASSES[1] - 1.0], counts)
    least = _upper(np.eye(4) - LEAST * back @ back.transpose(0, 2, 1))
    S = rows[:, :-1] @ scaling
    P = S.T @ S + nearness * np.diag(held)
    side = S.T @ (rows[:, :-1] @ start - rows[:, -1])
    solution = start + scaling @ _interior(P, side, bounds, limits, least)
    solution[inertial:] = dissipative(equations.columns, solution[inertial:])
    return solution


def inertial_coordinates(robot: Robot) -> tuple[Floats, Floats, Floats]:
    """Return phi_0, scaling, L^-1 of phi = phi_0 + scaling y, y entries of L^-1 (P - P0) L^-T."""
    P, every = pseudo_inertias(inertial_parameters(robot)), range(4)
    P[:, every, every] = np.maximum(P[:, every, every], _SMALL)
    sizes = np.sqrt(P[:, every, every])
    values, vectors = np.linalg.eigh(P / (sizes[:, :, None] * sizes[:, None]))
    roots = vectors * sizes[..., None] * np.sqrt(np.maximum(values, _FLAT))[:, None]
    anchors = roots @ roots.transpose(0, 2, 1)  # where bodies have no mass a little
    back = np.linalg.inv(np.linalg.cholesky(anchors))
    local = [np.linalg.inv(_upper(one @ _UNITS @ one.T).T) for one in back]
    start = (_upper(anchors) @ np.linalg.inv(_upper(_UNITS))).ravel()
    return start, scipy.linalg.block_diag(*local), back


def _interior(P: Floats, side: Floats, bounds: Floats, limits: Floats, least: Floats) -> Floats:
    """Return y of least y' P y / 2 + side' y, bounds y + limits >= 0, least + y a positive P."""
    clarabel = clarabel_module('a physically consistent model')
    kinds = [clarabel.NonnegativeConeT(len(limits))] if len(limits) else []
    kinds += [clarabel.PSDTriangleConeT(4)] * len(least)
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    A = scipy.sparse.csc_matrix(-np.vstack([bounds, np.eye(least.size, len(side))]))
    b, upper = np.concatenate([limits, least.ravel()]), scipy.sparse.csc_matrix(np.triu(P))
    result = clarabel.DefaultSolver(upper, side, A, b, kinds, settings).solve()
    if 'Solved' not in str(result.status):
        raise NotSolvedError(f'no physically consistent model was found: {result.status}')
    return np.array(result.x)


def corrected_fit(
    equations: Equations, samples: Sequence[Samples], base: BaseParameters, fit: LeastSquares
) -> LeastSquares:
    r"""
    Return a fit without the bias that noise of speeds has on friction, and its covariance.

    .. math:: \beta + H^{-1} \sum_t d_t^T d_t \beta, \quad
       H^{-1} \Big( \frac{N}{G} \sum_g s_g s_g^T \Big) H^{-1}, \quad
       s_g = \sum_t h_t (x_t^T r_t + d_t^T d_t \beta), \quad \sum_t h_t^2 = 1

    with :math:`H^{-1}` the covariance of residuals r that are independent, x the weighted rows, d
    rows with the moments of their noise, which makes x' x larger (corrected score, Nakamura 1990),
    h windows that overlap by half (Welch). Filters correlate samples; noise of speeds, of which
    accelerations are differences, has less at the frequencies of a motion than elsewhere.
    """
    R, count, total = np.zeros((0, base.rank)), 0, sum(len(one) for one in samples)
    correction, friction = np.zeros(base.rank), base.leading >= equations.inertial
    length = min(_WINDOW, max(total // _LEAST_WINDOWS, 1))
    for rows, noise in equations.chunks_and_noise(samples):
        weighted = rows / fit.deviations[:, None]
        x = weighted[..., base.leading]
        score = np.einsum('tjk,tj->tk', x, weighted[..., -1] - x @ fit.values)
        d = noise[..., base.leading[friction]] / fit.deviations[:, None]
        bias = np.einsum('tjk,tj->tk', d, d @ fit.values[friction])
        score[:, friction] += bias
        correction[friction] += bias.sum(axis=0)
        n = min(length, len(score))
        window = np.hanning(n + 2)[1:-1]
        window /= np.linalg.norm(window)
        ends = range(n, len(score) + 1, max(n // 2, 1))
        scores = [window @ score[end - n : end] for end in ends]
        R = np.asarray(np.linalg.qr(np.vstack([R, *scores]), mode='r'))
        count += len(scores)
    half = fit.covariance @ R.T  # variances are squares, also where H is singular
    values = fit.values + fit.covariance @ correction
    return LeastSquares(values, total / count * half @ half.T, fit.deviations)
