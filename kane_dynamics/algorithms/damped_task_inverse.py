# SPDX-License-Identifier: Apache-2.0
r"""
The least motion of the whole robot that moves a frame, damped near a singular pose.

With N, which makes accelerations that constraints allow of forces, and :math:`G = J N J^T`,
:math:`N J^T (G + \lambda^2)^{-1} r` moves the frame by r and the rest least. Each of rotations and
ways has the mean 1 on the diagonal of G. The distance from a singular pose is
:math:`\sigma^2 = 1 / \mathrm{tr}\, G^{-1}`, at most the smallest singular value; below `DAMPED`
:math:`\lambda` grows with its square (Nakamura and Hanafusa, J. Dyn. Sys. Meas. Control 108(3),
1986), above it is exactly 0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from kane_dynamics.algebra.scalars import Scalar, sqrt, where
from kane_dynamics.algorithms.row_elimination import Elimination, SparseRow, dot, factored, product
from kane_dynamics.constraints.row_selection import TAKEN

DAMPED = 0.01
"""Distance from a singular pose below which the frame's accelerations are damped."""
_NOTHING = 1e-12  # added to G where its inverse is looked at: a squared distance that is none
_BESIDE = 1e-20  # part of the size of ways that rotations have at least, squared, and vice versa

Spread = Callable[[Sequence[Scalar]], Sequence[Scalar]]


class DampedTaskInverse:
    """What a frame can do at a state; `response` is the lower triangle of J N J'."""

    def __init__(
        self,
        jacobian: Sequence[SparseRow],
        selection: Sequence[Scalar],
        spread: Spread,
        size: int,
        damped: float = DAMPED,
    ) -> None:
        self._columns = [spread([row.get(k, 0.0) for k in range(size)]) for row in jacobian]
        gram = [
            [product(row, column) for column in self._columns[: i + 1]]
            for i, row in enumerate(jacobian)
        ]
        self.response = gram
        means = [sum((gram[i][i] for i in axes), 0.0) / 3.0 for axes in (range(3), range(3, 6))]
        sizes = [means[k] + _BESIDE * means[1 - k] for k in range(2)]
        self._scale = [
            one / sqrt(where(size > 0.0, size, 1.0))
            for one, size in zip(selection, [sizes[0]] * 3 + [sizes[1]] * 3, strict=True)
        ]
        self._gram = [
            [entry * self._scale[i] * self._scale[j] for j, entry in enumerate(row)]
            for i, row in enumerate(gram)
        ]
        self._free = [1.0 - one for one in selection]
        looked = self._factors(_NOTHING)
        inverse = sum(looked.inverse_diagonal(), 0.0) - sum(self._free, 0.0)
        below = 1.0 - 1.0 / where(inverse > 0.0, damped**2 * inverse, 1.0)
        square = where(below > 0.0, (damped * below) * (damped * below), 0.0)
        self._solve = self._factors(square).solve
        self.damping = sqrt(square)
        rank, volume = 0.0, 1.0
        for pivot, one in zip(looked.pivots, selection, strict=True):
            rank = rank + where(pivot > TAKEN**2, one, 0.0)
            volume = volume * pivot
        self.rank, self.manipulability = rank, sqrt(volume)

    def _factors(self, more: Scalar) -> Elimination:
        """Return the factors of G with more on its diagonal."""
        gram = [
            [*row[:-1], row[-1] + (more + free)]
            for row, free in zip(self._gram, self._free, strict=True)
        ]
        return factored(gram)

    def step(self, target: Sequence[Scalar]) -> list[Scalar]:
        """Return the least accelerations that move the frame by `target`, as far as it can."""
        scaled = [s * r for s, r in zip(self._scale, target, strict=True)]
        pushes = [s * m for s, m in zip(self._scale, self._solve(scaled), strict=True)]
        return [dot(pushes, each) for each in zip(*self._columns, strict=True)]


class AllowedMotion(Protocol):
    """What constraint rows allow at a state, in the metric M."""

    def spread(self, force: Sequence[Scalar]) -> Sequence[Scalar]:
        """Return N f: the accelerations that a force causes beside those of no force."""

    def nearest(self, a: Sequence[Scalar], x: Sequence[Scalar]) -> Sequence[Scalar]:
        """Return the accelerations nearest to `a` that rows allow; speeds x change at them."""
