# SPDX-License-Identifier: Apache-2.0
"""
Which constraint rows a compiled solve uses.

Rows that depend on others in general (two wheels on one axle, a planar loop) are found once, at
states that satisfy the constraints, and left out; the accelerations do not change. Where the kept
rows become dependent at a special state, the health of the solve says so and the reference runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy

from kane_dynamics.algebra.scalars import Scalar
from kane_dynamics.algorithms.projection import project
from kane_dynamics.algorithms.udwadia_kalaba import RANK_TOLERANCE, unit_scaling
from kane_dynamics.constraints.base import Constraint, Row, constraint_rows
from kane_dynamics.exceptions import ProjectionError
from kane_dynamics.model.integration import integrate_coordinates
from kane_dynamics.model.robot import Robot

_SAMPLES = 3


@dataclass(frozen=True, eq=False)
class SelectedRows:
    """Some rows of several constraints, as one constraint."""

    constraints: tuple[Constraint, ...]
    kept: tuple[int, ...]

    @property
    def labels(self) -> tuple[str, ...]:
        """Return the names of the kept rows."""
        names = [label for constraint in self.constraints for label in constraint.labels]
        return tuple(names[k] for k in self.kept)

    def rows(self, robot: Robot, q: Any, v: Any, t: Scalar) -> Sequence[Row]:
        """Return the kept rows."""
        rows = [row for constraint in self.constraints for row in constraint.rows(robot, q, v, t)]
        return [rows[k] for k in self.kept]


def independent_rows(robot: Robot, constraints: Sequence[Constraint]) -> SelectedRows:
    """
    Return the rows that are independent at states in general position on the constraints.

    Raises
    ------
    InconsistentConstraintsError
        If the rows contradict each other there.

    """
    rng = np.random.default_rng(0)
    kept: tuple[int, ...] = ()
    for _ in range(_SAMPLES if constraints else 0):
        sample = _independent(robot, constraints, rng)
        if len(sample) > len(kept):
            kept = sample
    return SelectedRows(tuple(constraints), kept)


def _independent(
    robot: Robot, constraints: Sequence[Constraint], rng: np.random.Generator
) -> tuple[int, ...]:
    q = integrate_coordinates(robot, robot.neutral(), rng.uniform(-0.5, 0.5, robot.nv), 1.0)
    v, t = rng.uniform(-1.0, 1.0, robot.nv), rng.uniform(0.0, 1.0)
    try:
        q, v = project(robot, constraints, q, v, t)
    except ProjectionError:
        pass  # rows are judged off the constraint instead; the health guards what that misses
    A = constraint_rows(robot, constraints, q.tolist(), v.tolist(), t).matrix
    scaled = A * unit_scaling(np.linalg.norm(A, axis=1))[:, None]
    _, R, order = scipy.linalg.qr(scaled.T, mode='economic', pivoting=True)
    diagonal = np.abs(np.diag(R))
    rank = int(np.count_nonzero(diagonal > np.sqrt(RANK_TOLERANCE) * max(1.0, *diagonal)))
    return tuple(sorted(int(k) for k in order[:rank]))
