# SPDX-License-Identifier: Apache-2.0
r"""
Rows for velocities that enter nonlinearly, and rows that bind accelerations only.

:math:`\varphi(q, v, t) = 0` is differentiated once,

.. math:: \frac{\partial\varphi}{\partial v}\,\dot v =
   -\frac{\partial\varphi}{\partial q}\,\dot q - \frac{\partial\varphi}{\partial t},

and its forces are :math:`A^T\lambda` with :math:`A = \partial\varphi/\partial v`: Chetaev's rule,
under which Gauss's principle holds as for linear rows. At velocity level the rows are those of
Newton's method, :math:`A v^+ = A v - \varphi`, so that a projection is a Newton step.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kane_dynamics.algebra.quaternions import as_array
from kane_dynamics.algebra.scalars import Scalar
from kane_dynamics.algebra.traced_numbers import (
    UNTRACEABLE,
    TracedNumber,
    expression,
    is_traced,
)
from kane_dynamics.constraints.base import Row
from kane_dynamics.exceptions import ConstraintError
from kane_dynamics.model.integration import coordinate_rates
from kane_dynamics.model.robot import Robot

StateFunction = Callable[[NDArray[Any], NDArray[Any], Any], Any]


@dataclass(frozen=True, eq=False)
class TracedRows:
    """
    Rows traced once. Built by `nonlinear` and `acceleration_form`.

    Parameters
    ----------
    labels : tuple of str
        Names of the rows.
    function : casadi.Function
        (q, v, t) -> A, shape (k, nv), b_0 and b, shape (k,).
    columns : tuple of tuple of int
        Where each row of A is not identically zero.
    integrated : bool
        Whether the rows bind accelerations only.

    """

    labels: tuple[str, ...]
    function: Any
    columns: tuple[tuple[int, ...], ...]
    integrated: bool

    def rows(self, robot: Robot, q: Any, v: Any, t: Scalar) -> Sequence[Row]:
        """
        Return the rows at a state.

        Raises
        ------
        ConstraintError
            If a value is not finite, or the robot is not the one that the rows were built for.

        """
        import casadi as ca

        sizes = (self.function.size1_in(0), self.function.size1_in(1))
        if sizes != (robot.nq, robot.nv):
            raise ConstraintError(
                f'{self.labels[0]}: built for a robot with (nq, nv) = {sizes}, '
                f'not {(robot.nq, robot.nv)}'
            )
        if any(is_traced(x) for x in [*q, *v, t]):
            values = self.function(ca.vertcat(*q), ca.vertcat(*v), t)
        else:
            values = [value.full() for value in self.function(list(q), list(v), t)]
            if not all(np.isfinite(value).all() for value in values):
                raise ConstraintError(
                    f'{self.labels[0]}: the rows are not finite at t = {t}, v = {list(v)}'
                )
        A, b0, b = values
        return [
            Row(
                {k: _plain(A[i, k]) for k in columns},
                _plain(b0[i, 0]),
                _plain(b[i, 0]),
                integrated=self.integrated,
            )
            for i, columns in enumerate(self.columns)
        ]


def _plain(x: Any) -> Scalar:
    """Return a traced scalar as it is, a number as a float."""
    return x if is_traced(x) else float(x)


def nonlinear(robot: Robot, phi: StateFunction, label: str = '') -> TracedRows:
    r"""
    Return the rows of :math:`\varphi(q, v, t) = 0`, differentiated exactly.

    Quaternions among q turn with v. Where :math:`\partial\varphi/\partial v` vanishes, as at v = 0
    for rows that are quadratic in v, a row binds nothing.

    Parameters
    ----------
    robot : Robot
        The robot.
    phi : callable
        phi(q, v, t) -> a number or array_like, shape (k,): operators and numpy functions of
        arrays of shapes (nq,) and (nv,) and of t [s], without branches. It is traced once, here.
    label : str
        Name of the rows; rows are numbered where there is more than one.

    Raises
    ------
    ConstraintError
        If the function cannot be traced, does not give numbers, or a row does not depend on v.

    """
    import casadi as ca

    name = label or 'nonlinear'
    q, v, t = _state(robot)
    values = np.atleast_1d(_traced(name, 'phi', phi, q, v, t))
    if values.ndim != 1 or not len(values):
        raise ConstraintError(
            f'{name}: need phi as a number or of shape (k,), got shape {values.shape}'
        )
    column = _matrix(values[:, None])
    A = ca.jacobian(column, v)
    direction = ca.vertcat(*coordinate_rates(robot, ca.vertsplit(q), ca.vertsplit(v)), 1.0)
    rate = ca.jtimes(column, ca.vertcat(q, t), direction)
    return _rows(name, (q, v, t), A, A @ v - column, -rate, integrated=False)


def acceleration_form(
    robot: Robot, A: StateFunction, b: StateFunction, label: str = ''
) -> TracedRows:
    r"""
    Return the rows :math:`A(q, v, t) \dot v = b(q, v, t)`: servo constraints on accelerations.

    No speed violates them, so at velocity level they ask for nothing (:math:`b_0 = A v`), and
    nothing is projected.

    Parameters
    ----------
    robot : Robot
        The robot.
    A : callable
        A(q, v, t) -> array_like, shape (k, nv) or (nv,); written like phi of `nonlinear`.
    b : callable
        b(q, v, t) -> array_like, shape (k,) or a number.
    label : str
        Name of the rows; rows are numbered where there is more than one.

    Raises
    ------
    ConstraintError
        If a function cannot be traced, the shapes do not fit the robot, or a row is zero.

    """
    name = label or 'acceleration_form'
    q, v, t = _state(robot)
    matrix = np.atleast_2d(_traced(name, 'A', A, q, v, t))
    right_side = np.atleast_1d(_traced(name, 'b', b, q, v, t))
    count = len(matrix)
    if not count or matrix.shape != (count, robot.nv) or right_side.shape != (count,):
        raise ConstraintError(
            f'{name}: need A of shape (k, {robot.nv}) and b of shape (k,), got {matrix.shape} and '
            f'{right_side.shape}'
        )
    rows = _matrix(matrix)
    wanted = _matrix(right_side[:, None])
    return _rows(name, (q, v, t), rows, rows @ v, wanted, integrated=True)


def _state(robot: Robot) -> tuple[Any, Any, Any]:
    """Return symbols for q, v and t."""
    import casadi as ca

    return ca.SX.sym('q', robot.nq), ca.SX.sym('v', robot.nv), ca.SX.sym('t')


def _traced(
    name: str, what: str, function: StateFunction, q: Any, v: Any, t: Any
) -> NDArray[np.object_]:
    """Return what a user's function makes of symbols, an array of numbers and traced numbers."""
    import casadi as ca

    place, speeds = (as_array([TracedNumber(x) for x in ca.vertsplit(x)]) for x in (q, v))
    try:
        values = np.array(function(place, speeds, TracedNumber(t)), dtype=object)
        for value in values.ravel():
            expression(value)
    except UNTRACEABLE as error:
        raise ConstraintError(
            f'{name}: {what} cannot be traced; write it with operators and numpy functions of '
            f'arrays, without branches ({error})'
        ) from error
    return values


def _matrix(values: NDArray[np.object_]) -> Any:
    """Return numbers and traced numbers as a matrix of expressions, shape (k, n)."""
    import casadi as ca

    rows = [ca.horzcat(*[expression(value) for value in row]) for row in values]
    return ca.sparsify(ca.SX(ca.vertcat(*rows)))


def _rows(
    name: str, state: tuple[Any, Any, Any], A: Any, b0: Any, b: Any, *, integrated: bool
) -> TracedRows:
    """Return the rows with their names, none of them without a speed."""
    import casadi as ca

    count = A.shape[0]
    labels = (name,) if count == 1 else tuple(f'{name}/{k}' for k in range(count))
    columns: list[list[int]] = [[] for _ in labels]
    for i, k in zip(*A.sparsity().get_triplet(), strict=True):
        columns[i].append(k)
    for label, own in zip(labels, columns, strict=True):
        if not own:
            raise ConstraintError(f'{label}: the row does not depend on any speed')
    shared = ca.cse([A, ca.densify(b0), ca.densify(b)])
    function = ca.Function('rows', list(state), shared)
    return TracedRows(labels, function, tuple(map(tuple, columns)), integrated)
