# SPDX-License-Identifier: Apache-2.0
"""Rows that a user gives as functions: A(q, t) v = b(q, t)."""

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
from kane_dynamics.model.integration import coordinate_rates, integrate_coordinates
from kane_dynamics.model.robot import Robot

PfaffianFunction = Callable[[NDArray[Any], Any], Any]

# Central difference of order 8 with STEP between samples, in the norm of the motion and in time:
# the truncation, (w STEP)^8/630 for rows of angular frequency w (1e-11 at w = 50), and the
# roundoff, 1e-16/STEP, stay far below what the solvers add.
_WEIGHTS = (4 / 5, -1 / 5, 4 / 105, -1 / 280)
_STEP = 2e-3


@dataclass(frozen=True, eq=False)
class Pfaffian:
    """Rows A(q, t) v = b(q, t) given as functions. Built by `pfaffian`."""

    labels: tuple[str, ...]
    matrix: PfaffianFunction
    right_side: PfaffianFunction

    def rows(self, robot: Robot, q: Any, v: Any, t: Scalar) -> Sequence[Row]:
        """
        Return the rows, with d/dt (A, b) along the motion at constant v.

        Raises
        ------
        ConstraintError
            If the shapes do not fit the robot, a value is not finite, or a function cannot be
            traced.

        """
        if any(is_traced(x) for x in [*q, *v, t]):
            return self._traced_rows(robot, q, v, t)

        def along(s: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
            moved = integrate_coordinates(robot, q, v, s)
            return self._evaluate(robot, moved, t + s)

        speed = float(np.linalg.norm(v)) + 1.0
        step = _STEP / speed
        matrix, right_side = self._evaluate(robot, np.array(q), t)
        matrix_rate, right_side_rate = np.zeros_like(matrix), np.zeros_like(right_side)
        for k, weight in enumerate(_WEIGHTS, start=1):
            (ahead, b_ahead), (behind, b_behind) = along(k * step), along(-k * step)
            matrix_rate += weight / step * (ahead - behind)
            right_side_rate += weight / step * (b_ahead - b_behind)
        acceleration = right_side_rate - matrix_rate @ np.array(v)
        return [
            Row(dict(enumerate(row.tolist())), float(b0), float(b))
            for row, b0, b in zip(matrix, right_side, acceleration, strict=True)
        ]

    def _traced_rows(self, robot: Robot, q: Any, v: Any, t: Scalar) -> Sequence[Row]:
        """Return the rows with the exact d/dt (b - A v), taken where quaternions are unit."""
        import casadi as ca

        symbols = ca.SX.sym('x', robot.nq), ca.SX.sym('w', robot.nv), ca.SX.sym('s')
        x, w, s = symbols
        matrix, right_side = self._trace(robot, ca.vertsplit(x), s)
        direction = ca.vertcat(*coordinate_rates(robot, ca.vertsplit(x), ca.vertsplit(w)), 1.0)
        rate = ca.jtimes(right_side - matrix @ w, ca.vertcat(x, s), direction)
        speeds = ca.vertcat(*v)
        given = ca.Function('rows', [x, s], [matrix, right_side])
        A, b0 = given(ca.vertcat(*q), t)
        place = ca.vertcat(*integrate_coordinates(robot, q, [0.0] * robot.nv, 0.0))
        b = ca.Function('rates', list(symbols), [rate])(place, speeds, t)
        return [
            Row({k: A[i, k] for k in range(robot.nv)}, b0[i], b[i])
            for i in range(len(self.labels))
        ]

    def _trace(self, robot: Robot, q: Sequence[Any], t: Any) -> tuple[Any, Any]:
        """Return A, shape (k, nv), and b, shape (k, 1), as expressions."""
        import casadi as ca

        place, time = as_array([TracedNumber(x) for x in q]), TracedNumber(t)
        try:
            matrix = np.atleast_2d(np.array(self.matrix(place, time), dtype=object))
            right_side = np.atleast_1d(np.array(self.right_side(place, time), dtype=object))
            self._check_shapes(robot, matrix, right_side)
            rows = [ca.horzcat(*[expression(entry) for entry in row]) for row in matrix]
            return ca.vertcat(*rows), ca.vertcat(*[expression(b) for b in right_side])
        except ConstraintError:
            raise
        except UNTRACEABLE as error:
            raise ConstraintError(
                f'{self.labels[0]}: A or b cannot be traced; write them with operators and numpy '
                f'functions of arrays, without branches ({error})'
            ) from error

    def _check_shapes(self, robot: Robot, A: NDArray[Any], b: NDArray[Any]) -> None:
        count = len(self.labels)
        if A.shape != (count, robot.nv) or b.shape != (count,):
            raise ConstraintError(
                f'{self.labels[0]}: need A of shape ({count}, {robot.nv}) and b of shape '
                f'({count},), got {A.shape} and {b.shape}'
            )

    def _evaluate(
        self, robot: Robot, q: NDArray[np.float64], t: float
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        matrix = np.atleast_2d(np.array(self.matrix(q, t), dtype=float))
        right_side = np.atleast_1d(np.array(self.right_side(q, t), dtype=float))
        self._check_shapes(robot, matrix, right_side)
        if not (np.isfinite(matrix).all() and np.isfinite(right_side).all()):
            raise ConstraintError(f'{self.labels[0]}: A or b is not finite at t = {t}')
        return matrix, right_side


def pfaffian(
    robot: Robot, A: PfaffianFunction, b: PfaffianFunction | None = None, label: str = ''
) -> Pfaffian:
    """
    Return the rows A(q, t) v = b(q, t) of two functions, differentiated for the user.

    Parameters
    ----------
    robot : Robot
        The robot.
    A : callable
        A(q, t) -> array_like, shape (k, nv) or (nv,); smooth, q an array of shape (nq,), t [s].
        To be compiled it must do with operators and numpy functions of q and t, and no branches.
    b : callable, optional
        b(q, t) -> array_like, shape (k,) or a number; zero where left out.
    label : str
        Name of the rows; rows are numbered where there is more than one.

    Raises
    ------
    ConstraintError
        If the shapes do not fit the robot or a value is not finite.

    """
    count = np.atleast_2d(np.array(A(robot.neutral(), 0.0), dtype=float)).shape[0]
    name = label or 'pfaffian'
    labels = (name,) if count == 1 else tuple(f'{name}/{k}' for k in range(count))
    rows = Pfaffian(labels, A, b if b is not None else lambda q, t: np.zeros(count))
    rows._evaluate(robot, robot.neutral(), 0.0)
    return rows
