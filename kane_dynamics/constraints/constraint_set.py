# SPDX-License-Identifier: Apache-2.0
"""The constraints of a robot as one object: names, rows at a state, and which rows are taken."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, overload

import numpy as np

from kane_dynamics.algebra.scalars import REAL_NUMBER, Scalar, as_array
from kane_dynamics.constraints.base import Constraint, ConstraintRows, Row, unique_labels
from kane_dynamics.constraints.rolling import RollingWheel
from kane_dynamics.constraints.row_selection import RowSelection, select_rows
from kane_dynamics.constraints.traced_rows import turning_rate
from kane_dynamics.exceptions import ConstraintError, InvalidInputError, NotFingerprintableError
from kane_dynamics.robot.body import content_hash
from kane_dynamics.robot.checks import as_sequence, describe
from kane_dynamics.robot.robot import Robot
from kane_dynamics.robot.state import checked_robot
from kane_dynamics.typing import Floats


@dataclass(frozen=True, eq=False)
class ConstraintSet(Sequence[Constraint]):
    """
    Constraints of one robot, checked when they are put together.

    Parameters
    ----------
    robot : Robot
        The robot. Copies of it are the same robot, also with other masses, friction or gravity.
    constraints : sequence of Constraint
        Redundant ones included.

    Attributes
    ----------
    labels : tuple of str
        Names of the rows: those of the constraints, with its number where one is repeated.

    Raises
    ------
    InvalidInputError
        If they are not several constraints, or `robot` is none.
    ConstraintError
        If one was built for a robot with other joints or another base.

    Examples
    --------
    >>> from kane_dynamics import constraints as C
    >>> robot = kd.load_robot('nonholonomic', base='planar')
    >>> rows = C.ConstraintSet(robot, [C.no_side_slip(robot), C.lock(robot, 'arm_1_joint')])
    >>> rows.labels
    ('base/no_side_slip', 'arm_1_joint/lock')

    """

    robot: Robot
    constraints: Sequence[Constraint] = ()
    labels: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        checked_robot(self.robot)
        several = _several(self.constraints)
        for one in several:
            _check_robot(self.robot, one)
        labels = unique_labels([label for one in several for label in one.labels])
        vars(self).update(constraints=several, labels=labels)

    @classmethod
    def of(cls, robot: Robot, constraints: Sequence[Constraint]) -> ConstraintSet:
        """Return the set of these constraints: the given one, if it is of this robot."""
        if isinstance(constraints, ConstraintSet) and constraints.robot is robot:
            return constraints
        return cls(robot, constraints)

    def same_as(self, others: ConstraintSet) -> bool:
        """Return whether robot and constraints are the others', or have their content."""
        if self.robot.kinematic_key != others.robot.kinematic_key:
            return False
        mine, theirs = self.constraints, others.constraints
        try:
            return mine == theirs or content_hash(mine) == content_hash(theirs)
        except NotFingerprintableError:  # a function
            return False

    def __len__(self) -> int:
        """Return the number of constraints."""
        return len(self.constraints)

    @overload
    def __getitem__(self, number: int) -> Constraint: ...
    @overload
    def __getitem__(self, number: slice) -> Sequence[Constraint]: ...
    def __getitem__(self, number: int | slice) -> Constraint | Sequence[Constraint]:
        """Return one constraint, or some."""
        return self.constraints[number]

    def __iter__(self) -> Iterator[Constraint]:
        """Return the constraints one by one."""
        return iter(self.constraints)

    def rows(self, q: Any, v: Any, t: Scalar) -> ConstraintRows:
        """
        Return A, b_0, b and Phi of all constraints at a state, in their order.

        Parameters
        ----------
        q, v : sequence of scalar, lengths nq, nv
            State, numbers or traced.
        t : scalar
            Time [s].

        """
        coordinates, speeds = _scalars(q), _scalars(v)
        rows: list[Row] = []
        kinds: list[int] = []
        owners: list[int] = []
        numbers: dict[tuple[int, str], int] = {}
        for owner, constraint in enumerate(self.constraints):
            for row in constraint.rows(self.robot, coordinates, speeds, t):
                key = (owner, row.kind or f' {len(rows)}')
                kinds.append(numbers.setdefault(key, len(numbers)))
                owners.append(owner)
                rows.append(row)
        entries = [c for row in rows for c in row.coefficients.values()]
        traced = not all(isinstance(c, REAL_NUMBER) for c in entries)
        matrix = np.zeros((len(rows), self.robot.nv), dtype=object if traced else float)
        for i, row in enumerate(rows):
            for column, coefficient in row.coefficients.items():
                matrix[i, column] = matrix[i, column] + coefficient
        return ConstraintRows(
            matrix,
            as_array([row.velocity for row in rows]),
            as_array([row.acceleration for row in rows]),
            tuple(row.position for row in rows),
            self.labels,
            tuple(row.integrated for row in rows),
            tuple(kinds),
            tuple(owners),
        )

    @cached_property
    def parts(self) -> tuple[Constraint, ...]:
        """Return the constraints, a differential drive taken apart; the order of rows stays."""
        return tuple(part for one in self for part in getattr(one, 'constraints', (one,)))

    @cached_property
    def wheels(self) -> tuple[RollingWheel, ...]:
        """Return those of the parts that are wheels and balls which roll."""
        return tuple(part for part in self.parts if isinstance(part, RollingWheel))

    @cached_property
    def turning_rate(self) -> Any:
        r"""Return (q, v, x, t) -> :math:`\dot A x`; see `traced_rows.turning_rate`."""
        return turning_rate(self.robot, self.rows)

    def selection(self, factor: Floats | None, q: Any, v: Any, t: float) -> RowSelection:
        """Return which rows are taken at a state; L of M = L L', None where M is singular."""
        return select_rows(self.rows(q, v, t), factor)


def _scalars(x: Any) -> Any:
    """Return Python's numbers of an array: quaternions are quicker with them."""
    return x.tolist() if isinstance(x, np.ndarray) else x


def _several(constraints: Any) -> tuple[Constraint, ...]:
    """Return constraints that may be some, as a tuple."""
    if hasattr(constraints, 'labels') and not isinstance(constraints, ConstraintSet):
        raise InvalidInputError(
            f'constraints: need several, got one, {type(constraints).__name__}; put it in a list, '
            'constraints=[...]'
        )
    several = as_sequence('constraints', constraints, 'constraints')
    return tuple(checked_constraint('constraints', one) for one in several)


def checked_constraint(name: str, one: Any) -> Constraint:
    """Return a constraint, if it is one."""
    if isinstance(one, type) or not (hasattr(one, 'rows') and hasattr(one, 'labels')):
        if hasattr(one, 'restitution'):
            raise InvalidInputError(
                f'{name}: {list(one.labels)} is a contact, which does not hold in both '
                'directions; put it into contacts=[...]'
            )
        raise InvalidInputError(
            f'{name}: need what functions of kane_dynamics.constraints return, got {describe(one)}'
        )
    return one


def _check_robot(robot: Robot, constraint: Constraint) -> None:
    """Refuse a constraint that knows its robot, where that is another one."""
    owner = getattr(constraint, 'robot', robot)
    if (
        owner is robot
        or not isinstance(owner, Robot)
        or owner.kinematic_key == robot.kinematic_key
    ):
        return
    raise ConstraintError(
        f"constraint '{constraint.labels[0]}' was built for another robot: "
        f'{_described(owner)}; here it is used with {_described(robot)}'
    )


def _described(robot: Robot) -> str:
    joints = [body.joint.name for body in robot.bodies]
    return f"'{robot.name}' ({robot.base} base, {robot.nv} speeds, joints {joints})"
