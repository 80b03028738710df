# SPDX-License-Identifier: Apache-2.0
"""Rows that a user gives as functions: A(q, t) v = b(q, t)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kane_dynamics.algebra.scalars import Scalar
from kane_dynamics.constraints.base import Row
from kane_dynamics.exceptions import ConstraintError
from kane_dynamics.model.integration import integrate_coordinates
from kane_dynamics.model.robot import Robot

PfaffianFunction = Callable[[NDArray[np.float64], float], Any]

# Central difference of order 8 with STEP between samples, in the norm of the motion and in seconds:
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
        """Return the rows, with d/dt (A, b) along the motion at constant v."""

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

    def _evaluate(
        self, robot: Robot, q: NDArray[np.float64], t: float
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        count = len(self.labels)
        matrix = np.atleast_2d(np.array(self.matrix(q, t), dtype=float))
        right_side = np.atleast_1d(np.array(self.right_side(q, t), dtype=float))
        if matrix.shape != (count, robot.nv) or right_side.shape != (count,):
            raise ConstraintError(
                f'{self.labels[0]}: need A of shape ({count}, {robot.nv}) and b of shape '
                f'({count},), got {matrix.shape} and {right_side.shape}'
            )
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
