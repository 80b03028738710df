# SPDX-License-Identifier: Apache-2.0
"""States at which constraint rows are looked at before a robot is compiled."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from kane_dynamics.algorithms.mass_matrix import gauss_mass_matrix
from kane_dynamics.algorithms.projection import project
from kane_dynamics.constraints.base import ConstraintRows
from kane_dynamics.constraints.constraint_set import ConstraintSet
from kane_dynamics.exceptions import (
    InconsistentConstraintsError,
    ProjectionError,
    SingularMassMatrixError,
)
from kane_dynamics.robot.motion import integrate_coordinates
from kane_dynamics.typing import Floats

_WIDTHS = (0.5, 0.5, 1.5, 1.5, 3.0, 3.0, 3.0)  # [rad, m] of tries around the neutral state
_STEPS, _TURN = 24, 0.3  # a walk of more than a turn, in steps [rad, m] that meet what is weak
_STILL = 1e-9  # of speeds of about 1 [rad/s, m/s] what roundoff leaves where nothing moves

Sample = tuple[ConstraintRows, NDArray[np.float64]]
"""Rows and M at a state."""


def sampled(constraints: ConstraintSet, rng: np.random.Generator) -> Sample:
    """Return rows and M at a state in general position, on the constraints where that works."""
    return sample_at(constraints, *_state(constraints, rng))


def sample_at(constraints: ConstraintSet, q: Floats, v: Floats, t: float) -> Sample:
    """Return rows and M at a state."""
    return constraints.rows(q, v, t), gauss_mass_matrix(constraints.robot, q.tolist())


def walked(constraints: ConstraintSet, rng: np.random.Generator) -> Iterator[Sample]:
    """Yield rows and M along a motion of the mechanism, once around where it turns."""
    robot = constraints.robot
    q, v, t = _state(constraints, rng)
    for _ in range(_STEPS):
        fastest = np.abs(v).max(initial=0.0)
        if fastest < _STILL:
            return
        try:
            q = integrate_coordinates(robot, q, v, _TURN / fastest)
            q, v, _ = project(robot, constraints, q, v / fastest, t)
        except (ProjectionError, InconsistentConstraintsError):
            return
        yield sample_at(constraints, q, v, t)


def _state(constraints: ConstraintSet, rng: np.random.Generator) -> tuple[Floats, Floats, float]:
    """Return a state in general position, on the constraints where that works."""
    robot = constraints.robot
    v, t = rng.uniform(-1.0, 1.0, robot.nv), rng.uniform(0.0, 1.0)
    for width in _WIDTHS:
        turn = rng.uniform(-width, width, robot.nv)
        q = integrate_coordinates(robot, robot.neutral(), turn, 1.0)
        try:
            q, v, _ = project(robot, constraints, q, v, t)
            break
        except ProjectionError:
            continue  # a loop that does not close from here
        except (InconsistentConstraintsError, SingularMassMatrixError):
            break  # rows are judged off the constraints: none repeats others to roundoff there
    return q, v, t
