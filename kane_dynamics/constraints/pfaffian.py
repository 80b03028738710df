# SPDX-License-Identifier: Apache-2.0
r"""
Constraints that a user writes as functions: A(q, t) v = b(q, t) and Phi(q, t) = 0.

Holonomic rows are differentiated twice. With :math:`\dot q = N(q) v`,

.. math:: A = \frac{\partial\Phi}{\partial q} N, \quad b_0 = -\frac{\partial\Phi}{\partial t},
   \quad b = \dot b_0 - \dot A v.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from kane_dynamics.algebra import casadi as ca
from kane_dynamics.algebra.scalars import Scalar, is_traced
from kane_dynamics.constraints.base import RobotRows, Row, unique_labels
from kane_dynamics.constraints.traced_rows import (
    TracedRows,
    check_shapes,
    state_symbols,
    traced_column,
    traced_pair,
    traced_rows,
)
from kane_dynamics.exceptions import ConstraintError, InvalidInputError
from kane_dynamics.robot.checks import as_function, as_numbers, as_text
from kane_dynamics.robot.motion import integrate_coordinates, rate_along_motion
from kane_dynamics.robot.robot import Robot
from kane_dynamics.robot.state import checked_robot
from kane_dynamics.typing import Floats, NDArray

PfaffianFunction = Callable[[NDArray, Any], Any]

# Central difference of order 8 along each speed and in time. For rows of angular frequency w the
# truncation is (w STEP)^8/630, 1e-11 of the rate at w = 50. STEP is a power of two and does not
# depend on v, so that q + STEP is exact at any q and b is off by 1e-13 |v|^2 at any v.
_WEIGHTS = (4 / 5, -1 / 5, 4 / 105, -1 / 280)
_STEP = 2.0**-9


class _UntraceableError(ConstraintError):
    """A function needs the values of its arguments."""


@dataclass(frozen=True, eq=False)
class DifferencedRows(RobotRows):
    """Rows A(q, t) v = b(q, t) of functions that cannot be traced. Built by `pfaffian`."""

    exact: ClassVar[bool] = False
    """b is a central difference of order 8, good to about 1e-11 |v|^2."""
    matrix: PfaffianFunction
    right_side: PfaffianFunction

    def rows(self, robot: Robot, q: Any, v: Any, t: Scalar) -> Sequence[Row]:
        """Return the rows, with d/dt (A, b) along the motion at constant v."""
        if any(is_traced(x) for x in [*q, *v, t]):
            # raises, with the reason
            _trace(robot, self.labels[0], self.matrix, self.right_side)
        coordinates = integrate_coordinates(robot, q, [0.0] * robot.nv, 0.0)
        speeds = np.array(v, dtype=float)

        def along(k: int) -> Floats:
            unit = np.eye(robot.nv)[k].tolist()
            return _rate(
                lambda s: self.evaluate(integrate_coordinates(robot, coordinates, unit, s), t)
            )

        values = self.evaluate(coordinates, t)
        rate = _rate(lambda s: self.evaluate(coordinates, t + s))
        rate += sum(speeds[k] * along(k) for k in range(robot.nv) if speeds[k])
        acceleration = rate[:, -1] - rate[:, :-1] @ speeds
        return [
            Row(dict(enumerate(row[:-1].tolist())), float(row[-1]), float(b))
            for row, b in zip(values, acceleration, strict=True)
        ]

    def evaluate(self, q: Floats, t: float) -> Floats:
        """Return [A b], shape (k, nv + 1)."""
        name = self.labels[0]
        matrix = np.atleast_2d(_numbers(f'{name}: A', self.matrix(q, t)))
        right_side = np.atleast_1d(_numbers(f'{name}: b', self.right_side(q, t)))
        check_shapes(self.robot, name, len(self.labels), matrix, right_side)
        if not (np.isfinite(matrix).all() and np.isfinite(right_side).all()):
            raise ConstraintError(f'{self.labels[0]}: A or b is not finite at t = {t}')
        return np.column_stack([matrix, right_side])


def _numbers(what: str, x: Any) -> Floats:
    """Return what a user's function gave as floats."""
    try:
        return as_numbers(what, x)
    except InvalidInputError as error:
        raise ConstraintError(str(error)) from None


def _rate(function: Callable[[float], Floats]) -> Floats:
    """Return the derivative of a function at 0."""
    pairs = [(function(k * _STEP), function(-k * _STEP)) for k in range(1, 5)]
    terms = [w * (ahead - behind) for w, (ahead, behind) in zip(_WEIGHTS, pairs, strict=True)]
    return np.asarray(sum(terms) / _STEP, dtype=float)


def pfaffian(
    robot: Robot, A: PfaffianFunction, b: PfaffianFunction | None = None, label: str = ''
) -> TracedRows | DifferencedRows:
    """
    Return the rows A(q, t) v = b(q, t) of two functions, differentiated for the user.

    The functions are traced once, here, and their derivatives are exact, if operators and numpy
    functions of q and t will do for them, without branches (``rows.exact``). Others cannot be
    compiled and are differentiated by differences, to about 1e-11 where they vary over 0.02 rad.

    Parameters
    ----------
    robot : Robot
        The robot.
    A : callable
        A(q, t) -> array_like, shape (k, nv) or (nv,); smooth, q an array of shape (nq,), t [s].
    b : callable, optional
        b(q, t) -> array_like, shape (k,) or a number; zero where left out.
    label : str
        Name of the rows; rows are numbered where there is more than one.

    Raises
    ------
    ConstraintError
        If the shapes do not fit the robot or a value is not finite.

    Examples
    --------
    >>> from kane_dynamics import constraints as C
    >>> robot = kd.serial_chain(2)
    >>> rows = [C.pfaffian(robot, lambda q, t: [[1.0, -1.0]])]
    >>> v = kd.dynamics(robot, rows).consistent_velocity([0, 0], [1.0, 0.0])
    >>> bool(np.isclose(v[0], v[1]))
    True

    """
    as_function('A', A, 'q', 't')
    if b is not None:
        as_function('b', b, 'q', 't')
    name = as_text('label', label) or 'pfaffian'
    count = np.atleast_2d(_numbers(f'{name}: A', A(checked_robot(robot).neutral(), 0.0))).shape[0]
    labels = unique_labels([name] * count)
    right_side = b if b is not None else lambda q, t: np.zeros(count)
    numeric = DifferencedRows(robot, labels, A, right_side)
    numeric.evaluate(robot.neutral(), 0.0)
    try:
        return _trace(robot, name, A, right_side)
    except _UntraceableError:
        return numeric


def _trace(robot: Robot, name: str, A: PfaffianFunction, b: PfaffianFunction) -> TracedRows:
    state = state_symbols(robot)
    symbols = state.coordinates, state.t
    rows, speeds = traced_pair(robot, name, (A, b), symbols, _UntraceableError)
    rate = rate_along_motion(robot, speeds - rows @ state.v, *state)
    return traced_rows(robot, name, state, rows, speeds, rate, bound=False)


def holonomic(robot: Robot, phi: Callable[[NDArray, Any], Any], label: str = '') -> TracedRows:
    r"""
    Return the rows of :math:`\Phi(q, t) = 0`: distances, guides, driven coordinates.

    Integrators project q onto :math:`\Phi = 0` and v onto :math:`\dot\Phi = 0`.

    Parameters
    ----------
    robot : Robot
        The robot.
    phi : callable
        phi(q, t) -> a number or array_like, shape (k,): operators and numpy functions of an array
        of shape (nq,) and of t [s], without branches. It is traced once, here. A row must vary to
        first order where it vanishes: a length minus its value, not the square of that.
    label : str
        Name of the rows; rows are numbered where there is more than one.

    Raises
    ------
    ConstraintError
        If the function cannot be traced, does not give numbers, or a row does not depend on q.

    Examples
    --------
    >>> from kane_dynamics import constraints as C
    >>> robot = kd.serial_chain(2)
    >>> rows = [C.holonomic(robot, lambda q, t: [q[0] - 0.1 * t])]  # a driven joint
    >>> float(kd.dynamics(robot, rows).consistent_velocity([0, 0], [0, 0])[0])
    0.1

    """
    as_function('phi', phi, 'q', 't')
    name, state = as_text('label', label) or 'holonomic', state_symbols(robot)
    column = traced_column(name, phi, (state.coordinates, state.t))
    A = ca.jacobian(rate_along_motion(robot, column, *state), state.v)
    b0 = -ca.jacobian(column, state.t)
    b = rate_along_motion(robot, b0 - A @ state.v, *state)
    return traced_rows(robot, name, state, A, b0, b, column)
