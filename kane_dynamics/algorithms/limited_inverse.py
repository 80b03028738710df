# SPDX-License-Identifier: Apache-2.0
r"""
Inverse dynamics under constraints, limits of efforts and friction cones.

.. math:: S^T \tau + A^T \lambda = h, \quad |\tau_k| \le \tau_k^{max}, \quad
   |T \lambda| \le \mu (n^T \lambda + N), \quad \min \textstyle\sum w_k \tau_k^2

Of all forces that give the h of inverse dynamics, those of `constrained_inverse` and what
actuators and rows can do against each other, the efforts nearest to zero are sought. Where none
of them satisfies limits and cones, and deviations are allowed, the efforts are free and the
acceleration follows from them, :math:`M a + c = S^T \tau + A^T \lambda,\; A a = b`: the one with
the least :math:`\sum d_k (a_k - a_k^{wanted})^2` is sought, and the least efforts among equals.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy

from kane_dynamics.algorithms.constrained_inverse import balanced_force, check_allowed
from kane_dynamics.algorithms.force_limits import ForceLimits
from kane_dynamics.algorithms.udwadia_kalaba import nearest, unit_scaling
from kane_dynamics.constraints.row_selection import RowSelection
from kane_dynamics.exceptions import UnreachableAccelerationError
from kane_dynamics.robot.robot import Robot
from kane_dynamics.typing import Floats

_NULL = 1e-10  # singular value, on rows of unit length, of a direction that is free
# Share of the efforts beside the deviation, as squares: they decide only where motions are equal.
_SHARE = 1e-10


@dataclass(frozen=True, eq=False, slots=True)
class LimitedEffort:
    """
    Efforts and multipliers within limits and cones.

    Parameters
    ----------
    effort : ndarray, shape (nv,)
        tau, zero where nothing is actuated [N m or N].
    multipliers : ndarray, shape (k,)
        lambda, one for each row; rows that repeat each other share with the least norm.
    acceleration : ndarray, shape (nv,)
        What they produce: the wanted acceleration, or the nearest.
    deviation : ndarray, shape (nv,)
        Acceleration less the wanted one.
    binding : tuple of str
        Speeds whose effort is at its limit, and names of cones whose force is at theirs.
    margins : ndarray, shape (c,)
        ``mu f_n - |f_t|`` of each cone [N].
    residual : float
        Norm of the force that remains unbalanced [SI].
    labels : tuple of str
        Names of the rows.

    """

    effort: Floats
    multipliers: Floats
    acceleration: Floats
    deviation: Floats
    binding: tuple[str, ...]
    margins: Floats
    residual: float
    labels: tuple[str, ...]


@dataclass(frozen=True, eq=False, slots=True)
class LimitedInverse:
    """
    Inverse dynamics at one state, and what limits its forces.

    Parameters
    ----------
    robot : Robot
        The robot.
    mass_matrix : ndarray, shape (nv, nv)
        M.
    bias : ndarray, shape (nv,)
        c = C v + g + friction - J' w.
    selection : RowSelection
        The rows.
    columns : sequence of int
        Indices in v of the actuated speeds.
    weights : ndarray, shape (nv,)
        w > 0 of the efforts.
    limits : ForceLimits
        On efforts and the multipliers of all rows.

    """

    robot: Robot
    mass_matrix: Floats
    bias: Floats
    selection: RowSelection
    columns: Sequence[int]
    weights: Floats
    limits: ForceLimits

    def effort(self, target: Floats, deviation: Floats | None = None) -> LimitedEffort:
        """
        Return efforts for an acceleration, or for the nearest one within limits.

        Parameters
        ----------
        target : ndarray, shape (nv,)
            The acceleration.
        deviation : ndarray, shape (nv,), optional
            d > 0 of deviations from it; where left out there may be none.

        Raises
        ------
        UnreachableAccelerationError
            If no such efforts are within limits and cones; the message names those in conflict.
        MissingPackageError
            If a cone needs Clarabel, and it is not installed.

        """
        try:
            return self._exact(target)
        except UnreachableAccelerationError:
            if deviation is None:
                raise
        return self._nearest(target, deviation)

    def _exact(self, target: Floats) -> LimitedEffort:
        A, driven = self.selection.independent.matrix, list(self.columns)
        check_allowed(self.selection, target)
        force = self.mass_matrix @ target + self.bias
        effort, multipliers, *_ = balanced_force(self.robot, A, driven, force, self.weights)
        scaling = unit_scaling(np.linalg.norm(A, axis=1))
        values = np.vstack([np.eye(self.robot.nv)[driven], scaling[:, None] * A])
        free = scipy.linalg.null_space(values.T, rcond=_NULL)
        efforts = np.zeros((self.robot.nv, free.shape[1]))
        efforts[driven] = free[: len(driven)]
        against = scaling[:, None] * free[len(driven) :]
        metric = efforts.T @ (self.weights[:, None] * efforts)
        x = self._within_limits(
            scipy.linalg.cholesky(metric, lower=True) if metric.size else metric,
            np.zeros(len(metric)),
            (effort, multipliers),
            (efforts, against),
            'the wanted acceleration',
        )
        return self._result(effort + efforts @ x, multipliers + against @ x, target, target)

    def _nearest(self, target: Floats, deviation: Floats) -> LimitedEffort:
        rows, root, driven = self.selection.independent, self.selection.root, list(self.columns)
        efforts = np.eye(self.robot.nv)[:, driven]
        pushed = scipy.linalg.cho_solve((root, True), np.column_stack([-self.bias, efforts]))
        sides = [rows.acceleration, *np.zeros((len(driven), len(rows)))]
        moved = [nearest(root, rows.matrix, a, b) for a, b in zip(pushed.T, sides, strict=True)]
        start, *moves = [a for a, _ in moved]
        multipliers, *against = [forces for _, forces in moved]
        missed = np.sqrt(deviation) * (start - target)
        scaled = np.sqrt(deviation)[:, None] * np.column_stack(moves)
        share = np.diag(np.sqrt(self.weights[driven]))
        share *= np.sqrt(_SHARE) * np.linalg.norm(scaled) / np.linalg.norm(share)
        Q, R = np.linalg.qr(np.vstack([scaled, share]))
        x = self._within_limits(
            R.T,
            scipy.linalg.solve_triangular(R, -Q[: len(missed)].T @ missed),
            (np.zeros(self.robot.nv), multipliers),
            (efforts, np.column_stack(against)),
            'any acceleration',
        )
        result = start + np.column_stack(moves) @ x
        forces = multipliers + np.column_stack(against) @ x
        return self._result(efforts @ x, forces, result, target)

    def _within_limits(
        self,
        factor: Floats,
        free: Floats,
        start: tuple[Floats, Floats],
        directions: tuple[Floats, Floats],
        what: str,
    ) -> Floats:
        """Return the x nearest to `free` whose efforts and multipliers are within limits."""
        shared = self.selection.shared
        forces = np.r_[start[0], shared(start[1])]
        moves = np.vstack([directions[0], shared(directions[1])])
        return self.limits.nearest(factor, free, forces, moves, what)

    def _result(
        self, effort: Floats, multipliers: Floats, a: Floats, target: Floats
    ) -> LimitedEffort:
        shared = self.selection.shared(multipliers)
        values = effort + self.selection.independent.matrix.T @ multipliers
        return LimitedEffort(
            effort,
            shared,
            a,
            a - target,
            self.limits.binding(np.r_[effort, shared]),
            np.array([cone.margin(shared) for cone in self.limits.friction]),
            float(np.linalg.norm(self.mass_matrix @ a + self.bias - values)),
            self.selection.rows.labels,
        )
