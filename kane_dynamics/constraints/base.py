# SPDX-License-Identifier: Apache-2.0
r"""
What a constraint is: rows :math:`A(q,t) v = b_0(q,t)` and their derivative :math:`A \dot v = b`.

:math:`b = \dot b_0 - \dot A v` is exact, never a finite difference of A (but for users' functions
that cannot be traced, see `pfaffian`), and holds no hidden stabilisation gain. Holonomic rows also
know their violation :math:`\Phi(q,t)`, which an integrator may project away.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kane_dynamics.algebra.dual_quaternion import DualQuaternion
from kane_dynamics.algebra.quaternions import as_array
from kane_dynamics.algebra.scalars import REAL_NUMBER, Scalar
from kane_dynamics.exceptions import ConstraintError, InvalidInputError
from kane_dynamics.model.checks import came
from kane_dynamics.model.robot import Robot
from kane_dynamics.model.state import checked_robot


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
        rank is decided (`algorithms.row_selection`): a row that vanishes beside them binds
        nothing. A row without a kind is measured against itself.

    """

    coefficients: dict[int, Scalar]
    velocity: Scalar = 0.0
    acceleration: Scalar = 0.0
    position: Scalar | None = None
    integrated: bool = False
    kind: str = ''


class Constraint(Protocol):
    """
    A set of constraint rows with names.

    One that has an attribute `robot` is refused with another robot, see `check_robot`.
    """

    @property
    def labels(self) -> tuple[str, ...]:
        """Return a name for each row."""

    def rows(self, robot: Robot, q: Any, v: Any, t: Scalar) -> Sequence[Row]:
        """Return the rows at a state; q, v and t are numbers or traced."""


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

    matrix: NDArray[Any]
    velocity: NDArray[Any]
    acceleration: NDArray[Any]
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
        own = tuple(range(len(matrix)))
        return cls(
            matrix,
            np.atleast_1d(np.array(b0, dtype=float)),
            np.atleast_1d(np.array(b, dtype=float)),
            (None,) * len(own),
            tuple(f'row {k}' for k in own),
            (False,) * len(own),
            own,
            own,
        )

    def take(self, chosen: Sequence[int]) -> ConstraintRows:
        """Return some of the rows, in the given order."""
        picked = list(chosen)
        return ConstraintRows(
            self.matrix[picked],
            self.velocity[picked],
            self.acceleration[picked],
            tuple(self.positions[k] for k in picked),
            tuple(self.labels[k] for k in picked),
            tuple(self.integrated[k] for k in picked),
            tuple(self.kinds[k] for k in picked),
            tuple(self.owners[k] for k in picked),
        )

    @property
    def holonomic(self) -> ConstraintRows:
        """Return the rows that know their violation in q."""
        return self.take([k for k, phi in enumerate(self.positions) if phi is not None])

    def elimination_order(self) -> list[int]:
        """Return the numbers of the rows, holonomic ones first, otherwise as given."""
        return sorted(range(len(self)), key=lambda k: self.positions[k] is None)

    def velocity_after(self, v: Any, h: Scalar) -> NDArray[Any]:
        """Return the right side of A v+ = b_0 for speeds v+ that follow v after h [s], (k,)."""
        own = self.matrix @ as_array(v)
        return as_array(
            [
                speed + h * b if integrated else b0
                for b0, b, integrated, speed in zip(
                    self.velocity, self.acceleration, self.integrated, own, strict=True
                )
            ]
        )


def constraint_rows(
    robot: Robot, constraints: Sequence[Constraint], q: Any, v: Any, t: Scalar
) -> ConstraintRows:
    """
    Return A, b_0, b and Phi of all constraints at a state, in their order.

    Raises
    ------
    ConstraintError
        If a constraint was built for another robot.

    """
    check_robot(robot, constraints)
    rows: list[Row] = []
    kinds: list[int] = []
    owners: list[int] = []
    numbers: dict[tuple[int, str], int] = {}
    for owner, constraint in enumerate(constraints):
        for row in constraint.rows(robot, q, v, t):
            key = (owner, row.kind or f' {len(rows)}')
            kinds.append(numbers.setdefault(key, len(numbers)))
            owners.append(owner)
            rows.append(row)
    traced = not all(isinstance(c, REAL_NUMBER) for row in rows for c in row.coefficients.values())
    matrix = np.zeros((len(rows), robot.nv), dtype=object if traced else float)
    for i, row in enumerate(rows):
        for column, coefficient in row.coefficients.items():
            matrix[i, column] = matrix[i, column] + coefficient
    return ConstraintRows(
        matrix,
        as_array([row.velocity for row in rows]),
        as_array([row.acceleration for row in rows]),
        tuple(row.position for row in rows),
        tuple(label for constraint in constraints for label in constraint.labels),
        tuple(row.integrated for row in rows),
        tuple(kinds),
        tuple(owners),
    )


def checked_constraints(robot: Robot, constraints: Any) -> tuple[Constraint, ...]:
    """
    Return constraints of this robot.

    Raises
    ------
    InvalidInputError
        If they are not several constraints, or `robot` is none.
    ConstraintError
        If one was built for another robot.

    """
    if hasattr(constraints, 'rows'):
        raise InvalidInputError(
            f'constraints: need several, got one, {type(constraints).__name__}; put it in a list, '
            'constraints=[...]'
        )
    if isinstance(constraints, (str, bytes)) or not isinstance(constraints, Iterable):
        raise InvalidInputError(
            f'constraints: need a sequence of constraints, got {came(constraints)}'
        )
    several = tuple(constraints)
    for one in several:
        if isinstance(one, type) or not (hasattr(one, 'rows') and hasattr(one, 'labels')):
            raise InvalidInputError(
                'constraints: need what functions of kane_dynamics.constraints return, got '
                f'{came(one)}'
            )
    check_robot(checked_robot(robot), several)
    return several


def check_robot(robot: Robot, constraints: Sequence[Constraint]) -> None:
    """
    Refuse constraints that were built for a robot with other joints or another base.

    Copies are taken, and the same robot with other masses, friction or gravity.

    Raises
    ------
    ConstraintError
        If a constraint knows its robot and that is another one.

    """
    for constraint in constraints:
        own = getattr(constraint, 'robot', robot)
        if own is robot or not isinstance(own, Robot):
            continue
        if own.kinematic_key != robot.kinematic_key:
            raise ConstraintError(
                f"constraint '{constraint.labels[0]}' was built for another robot: "
                f'{_described(own)}; here it is used with {_described(robot)}'
            )


def _described(robot: Robot) -> str:
    joints = [body.joint.name for body in robot.bodies]
    return f"'{robot.name}' ({robot.base} base, {robot.nv} speeds, joints {joints})"


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
