# SPDX-License-Identifier: Apache-2.0
r"""
Constraint rows from users' functions that are traced once, so that derivatives are exact.

:math:`\varphi(q, v, t) = 0` is differentiated once,

.. math:: \frac{\partial\varphi}{\partial v}\,\dot v =
   -\frac{\partial\varphi}{\partial q}\,\dot q - \frac{\partial\varphi}{\partial t},

and its forces are :math:`A^T\lambda` with :math:`A = \partial\varphi/\partial v`: Chetaev's rule,
under which Gauss's principle holds as for linear rows. At velocity level the rows are those of
Newton's method, :math:`A v^+ = A v - \varphi`, so that a projection is a Newton step.

Speeds x that keep :math:`A x = b_0` while the robot moves at other speeds v change so that
:math:`A \dot x = \dot b_0 - \dot A x`, where :math:`\dot A` belongs to v (`turning_rate`).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

import numpy as np

from kane_dynamics.algebra import casadi as ca
from kane_dynamics.algebra.scalars import Scalar, expression_matrix, is_traced, traced_values
from kane_dynamics.constraints.base import ConstraintRows, RobotRows, Row, unique_labels
from kane_dynamics.exceptions import ConstraintError
from kane_dynamics.robot.checks import as_function, as_text
from kane_dynamics.robot.motion import at_unit_quaternions, rate_along_motion
from kane_dynamics.robot.robot import Robot
from kane_dynamics.robot.state import checked_robot
from kane_dynamics.typing import NDArray


class State(NamedTuple):
    """Symbols (casadi.SX) for q, shape (nq,), v, shape (nv,), and t."""

    q: Any
    v: Any
    t: Any

    @property
    def coordinates(self) -> list[Any]:
        """Return the entries of q."""
        return list(ca.vertsplit(self.q))

    @property
    def speeds(self) -> list[Any]:
        """Return the entries of v."""
        return list(ca.vertsplit(self.v))


def state_symbols(robot: Robot) -> State:
    """Return symbols for the state of a robot."""
    return State(ca.SX.sym('q', checked_robot(robot).nq), ca.SX.sym('v', robot.nv), ca.SX.sym('t'))


@dataclass(frozen=True, eq=False)
class TracedRows(RobotRows):
    """Rows traced once. Built by `pfaffian`, `holonomic`, `nonlinear` and `acceleration_form`."""

    exact: ClassVar[bool] = True
    """b is differentiated by the rules of calculus."""
    function: Any = field(compare=False)
    content: str = field(repr=False)  # of the function, for hashes
    columns: tuple[tuple[int, ...], ...]
    integrated: bool = False

    def rows(self, robot: Robot, q: Any, v: Any, t: Scalar) -> Sequence[Row]:
        """Return the rows at a state."""
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
    name: str,
    state: State,
    A: Any,
    b0: Any,
    b: Any,
    phi: Any = None,
    *,
    integrated: bool = False,
    bound: bool = True,
) -> TracedRows:
    """
    Return rows from expressions in a state; they are taken where quaternions are unit.

    Where rows are `bound`, each of them has a speed in it.
    """
    labels = unique_labels([name] * A.shape[0])
    columns: list[list[int]] = [[] for _ in labels]
    for i, k in zip(*A.sparsity().get_triplet(), strict=True):
        columns[i].append(k)
    for label, speeds in zip(labels, columns, strict=True):
        if bound and not speeds:
            raise ConstraintError(f'{label}: the row does not depend on any speed')
    expressions = [
        A,
        ca.densify(b0),
        ca.densify(b),
        ca.SX(0, 1) if phi is None else ca.densify(phi),
    ]
    values = ca.cse(at_unit_quaternions(robot, expressions, state.q))
    function = ca.Function('rows', list(state), values)
    content = function.serialize()
    return TracedRows(robot, labels, function, content, tuple(map(tuple, columns)), integrated)


def traced_column(name: str, phi: Callable[..., Any], arguments: Sequence[Any]) -> Any:
    """Return what a user's function makes of symbols as a column of expressions, shape (k, 1)."""
    values = np.atleast_1d(traced_values(f'{name}: phi', phi, arguments, ConstraintError))
    if values.ndim != 1 or not len(values):
        raise ConstraintError(
            f'{name}: need phi as a number or of shape (k,), got shape {values.shape}'
        )
    return expression_matrix(values[:, None])


def check_shapes(robot: Robot, name: str, k: int, A: NDArray, b: NDArray) -> None:
    """Refuse A and b that are not k rows."""
    if A.shape != (k, robot.nv) or b.shape != (k,):
        raise ConstraintError(
            f'{name}: need A of shape ({k}, {robot.nv}) and b of shape ({k},), got {A.shape} and '
            f'{b.shape}'
        )


def traced_pair(
    robot: Robot,
    name: str,
    functions: tuple[Callable[..., Any], Callable[..., Any]],
    arguments: Sequence[Any],
    error: type[ConstraintError] = ConstraintError,
) -> tuple[Any, Any]:
    """Return what users' functions A and b make of symbols, shapes (k, nv) and (k, 1)."""
    matrix, sides = (
        traced_values(f'{name}: {letter}', function, arguments, error)
        for letter, function in zip('Ab', functions, strict=True)
    )
    A, b = np.atleast_2d(matrix), np.atleast_1d(sides)
    check_shapes(robot, name, max(len(A), 1), A, b)
    return expression_matrix(A), expression_matrix(b[:, None])


def turning_rate(robot: Robot, rows_at: Callable[[Any, Any, Any], ConstraintRows]) -> Any:
    r"""Return the function (q, v, x, t) -> :math:`\dot A(q, v, t) x`, a casadi.Function."""
    state, x = state_symbols(robot), ca.SX.sym('x', robot.nv)
    rows = rows_at(state.coordinates, state.speeds, state.t)
    for label, integrated in zip(rows.labels, rows.integrated, strict=True):
        if integrated:
            raise ConstraintError(
                f"constraint '{label}' binds accelerations only; it does not say which speeds "
                'besides those of the robot are allowed'
            )
    speeds_of_rows = expression_matrix(rows.matrix.astype(object)) @ x
    rate = rate_along_motion(robot, speeds_of_rows, *state)
    return ca.Function('turning_rate', [state.q, state.v, x, state.t], [ca.densify(rate)])


StateFunction = Callable[[NDArray, NDArray, Any], Any]


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

    Examples
    --------
    >>> from kane_dynamics import constraints as C
    >>> robot = kd.serial_chain(2)
    >>> rows = [C.nonlinear(robot, lambda q, v, t: [v[0] * v[1] - 1.0])]
    >>> a = kd.forward_dynamics(robot, [0, 0], [2.0, 0.5], [1, 1], rows).acceleration
    >>> bool(np.isclose(0.5 * a[0] + 2.0 * a[1], 0.0))
    True

    """
    name = as_text('label', label) or 'nonlinear'
    as_function('phi', phi, 'q', 'v', 't')
    state = state_symbols(robot)
    column = traced_column(name, phi, (state.coordinates, state.speeds, state.t))
    A = ca.jacobian(column, state.v)
    rate = rate_along_motion(robot, column, *state)
    return traced_rows(robot, name, state, A, A @ state.v - column, -rate)


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

    Examples
    --------
    >>> from kane_dynamics import constraints as C
    >>> robot = kd.serial_chain(2)
    >>> rows = [C.acceleration_form(robot, lambda q, v, t: [[1, 0]], lambda q, v, t: [3])]
    >>> float(kd.forward_dynamics(robot, [0, 0], [0, 0], [1, 1], rows).acceleration[0])
    3.0

    """
    name = as_text('label', label) or 'acceleration_form'
    as_function('A', A, 'q', 'v', 't')
    as_function('b', b, 'q', 'v', 't')
    state = state_symbols(robot)
    symbols = state.coordinates, state.speeds, state.t
    rows, accelerations = traced_pair(robot, name, (A, b), symbols)
    return traced_rows(robot, name, state, rows, rows @ state.v, accelerations, integrated=True)
