# SPDX-License-Identifier: Apache-2.0
"""Rows from users' functions that are traced once, so that their derivatives are exact."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from kane_dynamics.algebra.scalars import Scalar
from kane_dynamics.algebra.traced_numbers import is_traced
from kane_dynamics.algebra.tracing import expression_matrix, traced_values
from kane_dynamics.constraints.base import Row
from kane_dynamics.exceptions import ConstraintError
from kane_dynamics.robot.integration import at_unit_quaternions
from kane_dynamics.robot.robot import Robot
from kane_dynamics.robot.state import checked_robot


class State(NamedTuple):
    """Symbols (casadi.SX) for q, shape (nq,), v, shape (nv,), and t."""

    q: Any
    v: Any
    t: Any

    @property
    def place(self) -> list[Any]:
        """Return the entries of q."""
        import casadi as ca

        return list(ca.vertsplit(self.q))

    @property
    def speeds(self) -> list[Any]:
        """Return the entries of v."""
        import casadi as ca

        return list(ca.vertsplit(self.v))


def state_symbols(robot: Robot) -> State:
    """Return symbols for the state of a robot."""
    import casadi as ca

    return State(ca.SX.sym('q', checked_robot(robot).nq), ca.SX.sym('v', robot.nv), ca.SX.sym('t'))


@dataclass(frozen=True, eq=False)
class TracedRows:
    """
    Rows traced once. Built by `pfaffian`, `holonomic`, `nonlinear` and `acceleration_form`.

    Parameters
    ----------
    robot : Robot
        The robot.
    labels : tuple of str
        Names of the rows.
    function : casadi.Function
        (q, v, t) -> A, shape (k, nv), b_0, b, and Phi, shape (k,), of which Phi may be empty.
    columns : tuple of tuple of int
        Where each row of A is not identically zero.
    integrated : bool
        Whether the rows bind accelerations only.

    """

    robot: Robot = field(compare=False, repr=False)
    labels: tuple[str, ...]
    function: Any
    columns: tuple[tuple[int, ...], ...]
    integrated: bool = False

    @property
    def exact(self) -> bool:
        """Return True: b is differentiated by the rules of calculus."""
        return True

    def rows(self, robot: Robot, q: Any, v: Any, t: Scalar) -> Sequence[Row]:
        """
        Return the rows at a state.

        Raises
        ------
        ConstraintError
            If a value is not finite.

        """
        import casadi as ca

        if any(is_traced(x) for x in [*q, *v, t]):
            values = self.function(ca.vertcat(*q), ca.vertcat(*v), t)
        else:
            values = [value.full() for value in self.function(list(q), list(v), t)]
            if not all(np.isfinite(value).all() for value in values):
                raise ConstraintError(
                    f'{self.labels[0]}: the rows are not finite at t = {t}, v = {list(v)}'
                )
        A, b0, b, phi = values
        return [
            Row(
                {k: _plain(A[i, k]) for k in columns},
                _plain(b0[i, 0]),
                _plain(b[i, 0]),
                _plain(phi[i, 0]) if phi.shape[0] else None,
                integrated=self.integrated,
            )
            for i, columns in enumerate(self.columns)
        ]


def _plain(x: Any) -> Scalar:
    """Return a traced scalar as it is, a number as a float."""
    return x if is_traced(x) else float(x)


def traced_rows(
    robot: Robot,
    labels: tuple[str, ...],
    state: State,
    A: Any,
    b0: Any,
    b: Any,
    phi: Any = None,
    *,
    integrated: bool = False,
) -> TracedRows:
    """Return rows from expressions in a state; they are taken where quaternions are unit."""
    import casadi as ca

    columns: list[list[int]] = [[] for _ in range(A.shape[0])]
    for i, k in zip(*A.sparsity().get_triplet(), strict=True):
        columns[i].append(k)
    inputs = [A, ca.densify(b0), ca.densify(b), ca.SX(0, 1) if phi is None else ca.densify(phi)]
    values = ca.cse(at_unit_quaternions(robot, inputs, state.q))
    function = ca.Function('rows', list(state), values)
    return TracedRows(robot, labels, function, tuple(map(tuple, columns)), integrated)


def traced_column(name: str, phi: Callable[..., Any], arguments: Sequence[Any]) -> Any:
    """
    Return what a user's function makes of symbols as a column of expressions, shape (k, 1).

    Raises
    ------
    ConstraintError
        If the function cannot be traced or gives neither a number nor a list of numbers.

    """
    values = np.atleast_1d(traced_values(f'{name}: phi', phi, arguments, ConstraintError))
    if values.ndim != 1 or not len(values):
        raise ConstraintError(
            f'{name}: need phi as a number or of shape (k,), got shape {values.shape}'
        )
    return expression_matrix(values[:, None])


def check_speeds_bound(rows: TracedRows) -> TracedRows:
    """
    Return the rows if each of them has a speed in it.

    Raises
    ------
    ConstraintError
        If a row is zero in all states.

    """
    for label, columns in zip(rows.labels, rows.columns, strict=True):
        if not columns:
            raise ConstraintError(f'{label}: the row does not depend on any speed')
    return rows
