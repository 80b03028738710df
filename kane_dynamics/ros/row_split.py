# SPDX-License-Identifier: Apache-2.0
r"""
Constraint rows at one state, solved for what the motors leave open, quickly.

With as many independent rows as speeds without a motor, u, one inverse :math:`B = A_u^{-1}` does
all: :math:`x_u = B (b - A_k x_k)` for speeds and accelerations, :math:`\lambda = B^T h_u` for the
forces. Anything else is left to `kane_dynamics.algorithms.constrained_inverse`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kane_dynamics.algorithms.consistent import completed
from kane_dynamics.algorithms.constrained_inverse import balanced_force
from kane_dynamics.algorithms.udwadia_kalaba import selected_rows
from kane_dynamics.constraints.base import ConstraintRows
from kane_dynamics.ros.dynamics import Dynamics
from kane_dynamics.ros.robot_source import BASE_NAMES

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]
WELL_CONDITIONED = 1e6
"""Largest condition (largest entries) of the square block; 1e-16 of it stays below 1e-10."""


class SpeedSplit:
    """
    Which speeds of a robot are given and which follow from the rows.

    Parameters
    ----------
    dynamics : Dynamics
        Algorithms and model.
    named : tuple of str
        Speeds of a base with motors that a reference gives; joints are always given.

    """

    def __init__(self, dynamics: Dynamics, named: tuple[str, ...]) -> None:
        model = dynamics.model
        self.robot, names = model.robot, model.robot.velocity_names
        self.count = sum(len(c.labels) for c in model.constraints)
        self.motors = model.v_index(model.motors)
        given = [name not in BASE_NAMES or name in named for name in names]
        self.known, self.unknown = np.flatnonzero(given), np.flatnonzero(np.logical_not(given))
        driven = np.isin(np.arange(len(names)), self.motors)
        self.aligned = bool((driven == given).all())
        self.free = bool(driven.all()) and not self.count


class RowSplit:
    """
    The rows of one state.

    Parameters
    ----------
    dynamics : Dynamics
        Algorithms and model.
    split : SpeedSplit
        Which speeds are given.
    q, v : ndarray, shapes (nq,), (nv,)
        State; unknown entries of v do not count.

    Attributes
    ----------
    speed : ndarray, shape (m,)
        b0 of A v = b0, of the rows that `row_selection` takes.

    """

    def __init__(self, dynamics: Dynamics, split: SpeedSplit, q: Floats, v: Floats) -> None:
        self._dynamics, self._split, self._q = dynamics, split, q
        self._A, self.speed = np.zeros((0, len(v))), np.zeros(0)
        self._taken = np.arange(split.count)
        self._inverse: Floats | None = None
        if split.count:
            rows = dynamics.constraint_rows(q, v)
            self._use(rows)
            if self._inverse is None:  # some rows may repeat others
                self._taken = selected_rows(dynamics.mass_matrix(q), rows).taken
                self._use(rows.take(self._taken.tolist()))

    def _use(self, rows: ConstraintRows) -> None:
        split = self._split
        self._A, self.speed = rows.matrix, rows.velocity
        if split.aligned and len(rows) == len(split.unknown):
            self._inverse = _inverse(self._A[:, split.unknown])

    def bias(self, v: Floats) -> Floats:
        """Return b(q, v) of A a = b, shape (m,)."""
        if not len(self._A):
            return self.speed
        rows = self._dynamics.constraint_rows(self._q, v)
        return np.asarray(rows.acceleration, dtype=float)[self._taken]

    def completed(self, x: Floats, right_side: Floats) -> Floats:
        """Return x with its unknown entries from A x = b; errors as for `completed`."""
        split, A = self._split, self._A
        if not len(A):
            return x
        if self._inverse is None:
            return completed(split.robot, A, right_side, x, split.known.tolist())
        x = x.copy()
        x[split.unknown] = 0.0
        x[split.unknown] = self._inverse @ (right_side - A @ x)
        return x

    def balance(self, force: Floats) -> Floats:
        """Return the motor efforts that, with the constraints, balance a force; least norm."""
        split = self._split
        if split.free:
            return force[split.motors]
        if self._inverse is None:
            motors = split.motors.tolist()
            weights = np.ones(split.robot.nv)
            return balanced_force(split.robot, self._A, motors, force, weights)[0][motors]
        rest = force - (self._inverse.T @ force[split.unknown]) @ self._A
        return rest[split.motors]


def _inverse(block: Floats) -> Floats | None:
    """Return the inverse of a square block, or None where it is not well conditioned."""
    if not len(block):
        return block
    try:
        inverse = np.asarray(np.linalg.inv(block), dtype=np.float64)
    except np.linalg.LinAlgError:
        return None
    condition = np.abs(block).max() * np.abs(inverse).max()
    return inverse if condition < WELL_CONDITIONED else None
