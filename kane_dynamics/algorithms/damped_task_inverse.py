# SPDX-License-Identifier: Apache-2.0
r"""
Accelerations that move a frame as wanted and the rest least; damped near singular poses.

With N, which makes accelerations that constraints allow of forces (:math:`M^{-1}` without any),
:math:`N J^T (G + \lambda^2)^{-1} r` moves the frame by r and the rest as little as can be, where
:math:`G = J N J^T`. Rotations and ways are brought to one unit: each has the mean 1 on the
diagonal of G. The distance from a singular pose is :math:`\sigma^2 = 1 / \mathrm{tr}\, G^{-1}`; it
is at most the smallest singular value, and the same whatever the directions of the axes are. Away
from singular poses :math:`\lambda` is exactly 0; below `DAMPED` it grows with the square (Nakamura
and Hanafusa, Journal of Dynamic Systems, Measurement, and Control 108(3), 1986), so that nothing
jumps and no effort is larger than that of an error over twice `DAMPED`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from kane_dynamics.algebra.scalars import Scalar, sqrt, where
from kane_dynamics.algorithms.row_elimination import Elimination, SparseRow, dot, product
from kane_dynamics.constraints.row_selection import TAKEN

DAMPED = 0.01
"""Distance from a singular pose below which the frame's accelerations are damped."""
_NOTHING = 1e-12  # added to G where its inverse is looked at: a squared distance that is none
_BESIDE = 1e-20  # part of the size of ways that rotations have at least, squared, and vice versa

Spread = Callable[[Sequence[Scalar]], Sequence[Scalar]]


class DampedTaskInverse:
    """What a frame can do at a state."""

    def __init__(
        self, jacobian: Sequence[SparseRow], selection: Sequence[Scalar], spread: Spread, size: int
    ) -> None:
        self._columns = [spread([row.get(k, 0.0) for k in range(size)]) for row in jacobian]
        gram = [
            [product(row, column) for column in self._columns[: i + 1]]
            for i, row in enumerate(jacobian)
        ]
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
        inverse = sum(looked[0].inverse_diagonal(), 0.0) - sum(self._free, 0.0)
        below = 1.0 - 1.0 / where(inverse > 0.0, DAMPED**2 * inverse, 1.0)
        square = where(below > 0.0, (DAMPED * below) * (DAMPED * below), 0.0)
        self._solve = self._factors(square)[0].solve
        self.damping = sqrt(square)
        rank, volume = 0.0, 1.0
        for pivot, one in zip(looked[1], selection, strict=True):
            rank = rank + where(pivot > TAKEN**2, one, 0.0)
            volume = volume * pivot
        self.rank, self.manipulability = rank, sqrt(volume)

    def _factors(self, more: Scalar) -> tuple[Elimination, list[Scalar]]:
        """Return the factors of G with more on its diagonal, and their pivots."""
        gram = [
            [*row[:-1], row[-1] + (more + free)]
            for row, free in zip(self._gram, self._free, strict=True)
        ]
        factors, pivots = Elimination(gram, [0] * len(gram)), []
        for _ in gram:
            pivots.append(factors.strength() * factors.scale[0])
            factors.take()
        return factors, pivots

    def step(self, target: Sequence[Scalar]) -> list[Scalar]:
        """Return the least accelerations that move the frame by `target`, as far as it can."""
        scaled = [s * r for s, r in zip(self._scale, target, strict=True)]
        pushes = [s * m for s, m in zip(self._scale, self._solve(scaled), strict=True)]
        return [dot(pushes, each) for each in zip(*self._columns, strict=True)]
