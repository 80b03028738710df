# SPDX-License-Identifier: Apache-2.0
"""Constraint rows at a state, by machine code."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from kane_dynamics.constraints.base import ConstraintRows
from kane_dynamics.constraints.constraint_set import ConstraintSet
from kane_dynamics.robot.checks import as_number
from kane_dynamics.robot.state import checked_coordinates, checked_speeds
from kane_dynamics.typing import Floats


class CompiledRows:
    """The rows of a set of constraints."""

    def __init__(
        self, numbers: Callable[..., Sequence[Floats]], constraints: ConstraintSet
    ) -> None:
        self._numbers, self._constraints = numbers, constraints
        self._known: ConstraintRows | None = None

    def __call__(self, q: ArrayLike, v: ArrayLike, time: float = 0.0) -> ConstraintRows:
        """Return all rows A v = b0, A vdot = b, of one state."""
        A, b0, b, phi = self._numbers(q, v, np.array([as_number('time [s]', time)]))
        if self._known is None:  # what does not depend on the state: labels, kinds, owners
            robot = self._constraints.robot
            state = checked_coordinates(robot, q), checked_speeds(robot, v)
            self._known = self._constraints.rows(*state, time)
        both = zip(self._known.positions, phi.tolist(), strict=True)
        positions = tuple(None if there is None else x for there, x in both)
        return replace(self._known, matrix=A, velocity=b0, acceleration=b, positions=positions)
