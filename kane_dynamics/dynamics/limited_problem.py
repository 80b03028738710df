# SPDX-License-Identifier: Apache-2.0
r"""
Efforts and multipliers within limits at one state, from what forces do there.

Rows of the table say what may be added to forces and moves nothing, and which accelerations and
multipliers forces cause; `limited_effort` is both and the active set method in machine code.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from kane_dynamics.algebra.matrices import orthonormal, solve_lower, solve_squared, triangle
from kane_dynamics.algorithms.constrained_inverse import balance_force, check_allowed
from kane_dynamics.algorithms.limited_inverse import (
    SHARE,
    SHARED,
    STILL,
    ForceLimits,
    LimitedEffort,
)
from kane_dynamics.algorithms.projection import speed_indices
from kane_dynamics.algorithms.udwadia_kalaba import cholesky_factor, nearest, unit_scaling
from kane_dynamics.constraints.row_selection import select_rows
from kane_dynamics.dynamics.rows import independent_rows
from kane_dynamics.dynamics.table import add_row
from kane_dynamics.exceptions import UnreachableAccelerationError
from kane_dynamics.typing import Floats


def _inner_forces(
    d: Any, q: Any, v: Any, weights: Floats, t: float, actuated: Sequence[str]
) -> Floats:
    """Return the changes of forces that move nothing, orthonormal efforts but for a projection."""
    selection, robot = independent_rows(d.robot, q, d.constraints, v, time=t), d.robot
    columns, A = speed_indices(robot, actuated), selection.independent.matrix
    moves = np.zeros((robot.nv + len(selection.rows), robot.nv))
    for k in columns:
        unit = np.eye(robot.nv)[k]
        effort, multipliers, _, _ = balance_force(robot, A, columns, unit, weights)
        moves[:, k] = np.concatenate([effort - unit, selection.shared(multipliers)])
    return moves / np.sqrt(weights)


def _force_responses(d: Any, q: Any, v: Any, t: float) -> Floats:
    """Return accelerations and multipliers of unit forces, and of b in the last column; A, b."""
    selection = independent_rows(d.robot, q, d.constraints, v, time=t)
    rows, root, nv = selection.independent, selection.root, d.robot.nv
    forces, sides = np.eye(nv, nv + 1), np.zeros((len(rows), nv + 1))
    sides[:, -1] = rows.acceleration
    x, multipliers = nearest(root, rows.matrix, solve_squared(root, forces), sides)
    every = selection.rows
    known = np.column_stack([every.matrix, every.acceleration])
    return np.vstack([x, selection.shared(multipliers), known])


def _still_efforts(motions: Floats, weights: Floats) -> Floats:
    """Return rows whose squares are the efforts that move nothing, a share of their motions."""
    lengths, roots = np.linalg.norm(motions, axis=0), np.sqrt(weights)
    scale = unit_scaling(lengths)
    _, sizes, rows = np.linalg.svd(motions * scale)
    rank = np.count_nonzero(sizes > STILL * sizes.max(initial=0.0))
    efforts, _ = orthonormal((rows[rank:] * scale * roots).T)
    shared = (np.abs(efforts).max(axis=1, initial=0.0) > SHARED) & (lengths > 0.0)
    least = np.min(lengths[shared] / roots[shared], initial=np.inf)
    return np.sqrt(SHARE) * (least if least < np.inf else 1.0) * efforts.T * roots


add_row('inner_forces', 'q v weights time', 'forces nv', '', _inner_forces)
add_row('force_responses', 'q v time', 'responses augmented', '', _force_responses)
_LIMITED = 'q v weights deviation a bias free bounds sides time'
add_row('limited_effort', _LIMITED, 'limited', '', lambda *_: np.nan)  # by machine code alone


class LimitedInverse(NamedTuple):
    """Inverse dynamics at one state, c = C v + g + friction - J' w, and what limits its forces."""

    dynamics: Any
    state: tuple[Any, Any, Floats]  # q, v and time
    bias: Floats
    actuated: tuple[str, ...]
    columns: Sequence[int]
    weights: Floats
    limits: ForceLimits

    def effort(
        self,
        target: Floats,
        deviation: Floats | None = None,
        unlimited: tuple[Floats, float, Floats] | None = None,
    ) -> LimitedEffort:
        """
        Return efforts for an acceleration, or for the nearest one within limits.

        Forces without limits, what remains of the balance, and by how much the forces exceed the
        limits are computed where they are not known.
        """
        d, limits, (q, v, t), known = self.dynamics, self.limits, self.state, unlimited
        try:
            known = known or self._unlimited(target)
        except UnreachableAccelerationError:
            if deviation is None:
                raise
        allowed = 0.0 * self.bias if deviation is None else deviation
        if limits.padded is not None:
            free = np.full(limits.bounds.shape[1], np.nan) if known is None else known[0]
            state = q, v, self.weights, allowed, target, self.bias, free, *limits.padded, t
            numbers = d._call('limited_effort', state, (self.actuated,))
            forces = numbers[:-1]
            if known is not None and numbers[-1] > 0.0:
                excess = limits.excess(forces)
                return limits.result(forces, target, target, known[1], d.labels, excess)
            if numbers[-1] < 0.0:
                return self._motion(target, forces)
        try:
            if known is not None:
                return self._exact(target, *known)
        except UnreachableAccelerationError:
            if deviation is None:
                raise
        return self._nearest(target, allowed)

    def _unlimited(self, target: Floats) -> tuple[Floats, float, Floats]:
        """Return the forces of all rows without limits, the residual, and the excess."""
        d, (q, v, t) = self.dynamics, self.state
        mass = d.mass_matrix(q)
        selection = select_rows(d.constraint_rows(q, v, float(t[0])), cholesky_factor(mass))
        check_allowed(selection, target)
        force, A = mass @ target + self.bias, selection.independent.matrix
        effort, multipliers, _, residual = balance_force(
            d.robot, A, self.columns, force, self.weights
        )
        forces = np.concatenate([effort, selection.shared(multipliers)])
        return forces, residual, self.limits.excess(forces)

    def _exact(
        self, target: Floats, start: Floats, residual: float, excess: Floats
    ) -> LimitedEffort:
        d, (q, v, t), forces, beyond = self.dynamics, self.state, start, excess
        if (excess > 0.0).any():
            moves = d._call('inner_forces', (q, v, self.weights, t), (self.actuated,))
            what = 'the wanted acceleration'
            factor = np.eye(moves.shape[1])
            forces = start + moves @ self.limits.nearest(factor, start, moves, excess, what)
            beyond = self.limits.excess(forces)
        return self.limits.result(forces, target, target, residual, d.labels, beyond)

    def _nearest(self, target: Floats, deviation: Floats) -> LimitedEffort:
        d, driven, nv, count = self.dynamics, self.columns, len(target), len(self.columns)
        whole = d._call('force_responses', self.state)
        end = len(whole) - len(d.labels)  # of accelerations and multipliers; A and b follow
        start, moves = whole[:end, -1] - whole[:end, :-1] @ self.bias, whole[:end, driven]
        stack, weights = np.zeros((nv + count, count + 1)), np.sqrt(deviation)
        stack[:nv, -1] = weights * (target - start[:nv])
        stack[:nv, :-1] = weights[:, None] * moves[:nv]
        still = _still_efforts(stack[:nv, :-1], self.weights[driven])
        stack[nv : nv + len(still), :-1] = still
        R = triangle(stack)
        root, directions = R[:-1, :-1].T, np.concatenate([np.eye(nv)[:, driven], moves[nv:]])
        free = solve_lower(root, R[:-1, -1], transposed=True)
        forces = directions @ free
        forces[nv:] += start[nv:]
        excess, what = self.limits.excess(forces), 'any acceleration'
        x = self.limits.nearest(root, forces, directions, excess, what)
        return self._motion(target, forces + directions @ x)

    def _motion(self, target: Floats, forces: Floats) -> LimitedEffort:
        """Return the motion that forces of all rows produce."""
        d, nv = self.dynamics, len(target)
        whole = d._call('force_responses', self.state)
        a = whole[:nv, -1] + whole[:nv, :-1] @ (forces[:nv] - self.bias)
        values = forces[:nv] + whole[len(forces) :, :-1].T @ forces[nv:]
        missed = d.mass_matrix(self.state[0]) @ a + self.bias - values
        residual, excess = float(np.linalg.norm(missed)), self.limits.excess(forces)
        return self.limits.result(forces, a, target, residual, d.labels, excess)
