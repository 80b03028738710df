# SPDX-License-Identifier: Apache-2.0
r"""
What a constraint is: rows :math:`A(q,t) v = b_0(q,t)` and their derivative :math:`A \dot v = b`.

:math:`b = \dot b_0 - \dot A v` is exact, never a finite difference of A (but for users' functions
that cannot be traced, see `pfaffian`), and holds no hidden stabilisation gain. Holonomic rows also
know their violation :math:`\Phi(q,t)`, which an integrator may project away.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any, Protocol

import numpy as np

from kane_dynamics.algebra.dual_quaternion import DualQuaternion
from kane_dynamics.algebra.scalars import Scalar, as_array
from kane_dynamics.robot.robot import Robot
from kane_dynamics.typing import ArrayLike, NDArray


@dataclass(frozen=True, eq=False, slots=True)
class Row:
    """
    One constraint row at a state.

    Parameters
    ----------
    coefficients : mapping of int to scalar
        Nonzero entries of the row of A by index in v.
    velocity : scalar
        b_0: the right side of A v = b_0.
    acceleration : scalar
        b: the right side of A vdot = b.
    position : scalar or None
        Violation Phi of a holonomic row (zero when satisfied); None for a nonholonomic one.
    integrated : bool
        Whether the row binds accelerations only, with b_0 = A v.
    kind : str
        Rows of one constraint with the same kind are measured against the largest of them where
        rank is decided (`constraints.row_selection`): a row that vanishes beside them binds
        nothing. A row without a kind is measured against itself.

    """

    coefficients: dict[int, Scalar]
    velocity: Scalar = 0.0
    acceleration: Scalar = 0.0
    position: Scalar | None = None
    integrated: bool = False
    kind: str = ''


def unique_labels(labels: Sequence[str], reserved: Collection[str] = ()) -> tuple[str, ...]:
    """Return names of rows, those numbered that are there more than once or taken already."""
    used, unique = {*reserved, *labels}, list[str]()
    for label in labels:
        if label in reserved or labels.count(label) > 1:
            label = next(one for k in count() if (one := f'{label}/{k}') not in used)
            used.add(label)
        unique.append(label)
    return tuple(unique)


class Constraint(Protocol):
    """
    Constraint rows with names; they depend on geometry and time, not on masses or gravity.

    One that has an attribute `robot` is refused with another robot, see `ConstraintSet`.
    """

    @property
    def labels(self) -> tuple[str, ...]:
        """Return a name for each row."""

    def rows(self, robot: Robot, q: Any, v: Any, t: Scalar) -> Sequence[Row]:
        """Return the rows at a state; q, v and t are numbers or traced."""


@dataclass(frozen=True, eq=False)
class RobotRows:
    """What constraints have that know their robot: it, and a name for each row."""

    robot: Robot = field(compare=False, repr=False)
    labels: tuple[str, ...]


@dataclass(frozen=True, eq=False, slots=True)
class ConstraintRows:
    """
    The rows of several constraints, stacked.

    Parameters
    ----------
    matrix : ndarray, shape (k, nv)
        A.
    velocity : ndarray, shape (k,)
        b_0 of A v = b_0.
    acceleration : ndarray, shape (k,)
        b of A vdot = b.
    positions : tuple of (scalar or None), length k
        Phi of holonomic rows, None for nonholonomic ones.
    labels : tuple of str
        Names of the rows.
    integrated : tuple of bool, length k
        Which rows bind accelerations only.
    kinds : tuple of int, length k
        Rows of one kind share a number.
    owners : tuple of int, length k
        Rows of one constraint share a number.

    """

    matrix: NDArray
    velocity: NDArray
    acceleration: NDArray
    positions: tuple[Scalar | None, ...]
    labels: tuple[str, ...]
    integrated: tuple[bool, ...]
    kinds: tuple[int, ...]
    owners: tuple[int, ...]

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.labels)

    @classmethod
    def of(cls, A: ArrayLike, b0: ArrayLike, b: ArrayLike) -> ConstraintRows:
        """Return nonholonomic rows A v = b0, A vdot = b, each measured against itself."""
        matrix = np.atleast_2d(np.array(A, dtype=float))
        numbers = tuple(range(len(matrix)))
        return cls(
            matrix,
            np.atleast_1d(np.array(b0, dtype=float)),
            np.atleast_1d(np.array(b, dtype=float)),
            (None,) * len(numbers),
            tuple(f'row {k}' for k in numbers),
            (False,) * len(numbers),
            numbers,
            numbers,
        )

    def take(self, indices: Sequence[int]) -> ConstraintRows:
        """Return some of the rows, in the given order."""
        picked = list(indices)
        if picked == list(range(len(self))):
            return self

        arrays = self.matrix, self.velocity, self.acceleration
        tuples = self.positions, self.labels, self.integrated, self.kinds, self.owners
        some: list[Any] = [x[picked] for x in arrays]
        some += [tuple([x[k] for k in picked]) for x in tuples]
        return ConstraintRows(*some)

    @property
    def holonomic(self) -> ConstraintRows:
        """Return the rows that know their violation in q."""
        return self.take([k for k, phi in enumerate(self.positions) if phi is not None])

    def elimination_order(self) -> list[int]:
        """Return the numbers of the rows, holonomic ones first, otherwise as given."""
        return sorted(range(len(self)), key=lambda k: self.positions[k] is None)

    def velocity_after(self, v: Any, h: Scalar) -> NDArray:
        """Return the right side of A v+ = b_0 for speeds v+ that follow v after h [s], (k,)."""
        row_speeds = self.matrix @ as_array(v)
        return as_array(
            [
                speed + h * b if integrated else b0
                for b0, b, integrated, speed in zip(
                    self.velocity, self.acceleration, self.integrated, row_speeds, strict=True
                )
            ]
        )

    def velocity_across(self, v: Any, h: Scalar) -> NDArray:
        """Return c of A v+ = c, shape (k,), where A (v + v+)/2 = b_0 in the middle of h [s]."""
        return 2.0 * self.velocity_after(v, 0.5 * h) - as_array(self.matrix @ as_array(v))


def gathered(columns: Sequence[tuple[int, Scalar]]) -> dict[int, Scalar]:
    """Return coefficients by index, adding those that share one (a joint and its followers)."""
    coefficients: dict[int, Scalar] = {}
    for index, value in columns:
        coefficients[index] = coefficients[index] + value if index in coefficients else value
    return coefficients


Projection = Any
"""A function that takes a pure dual quaternion (a twist) to a scalar, linearly."""


def projected_columns(
    columns: Sequence[tuple[int, DualQuaternion]], projection: Projection
) -> dict[int, Scalar]:
    """Return the row whose entry k is the projection of the twist that speed k makes."""
    return gathered([(index, projection(axis)) for index, axis in columns])
