# SPDX-License-Identifier: Apache-2.0
r"""
Forward dynamics with exact constraints: the result of every method.

.. math:: M \dot v = \tau - C v - g - D v - F \mathrm{sign}(v) + J^T w + A^T\lambda, \quad
   A \dot v = b
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from kane_dynamics.algorithms.friction import joint_friction
from kane_dynamics.algorithms.udwadia_kalaba import constrained_motion
from kane_dynamics.constraints.base import ConstraintRows
from kane_dynamics.constraints.row_selection import RowSelection
from kane_dynamics.robot.robot import Robot
from kane_dynamics.typing import Floats


class Details:
    """Intermediate quantities of a method of forward dynamics."""

    __slots__ = ()


@dataclass(frozen=True, eq=False, slots=True)
class Motion:
    """
    Accelerations of a constrained robot and what the constraints do.

    Of many states, every array has one row, and rank, residuals, taken and details one entry, for
    each.

    Parameters
    ----------
    acceleration : ndarray, shape (nv,)
        vdot [rad/s^2 or m/s^2].
    multipliers : ndarray, shape (k,)
        lambda, one for each row; forces [N] for the wheel rows.
    constraint_force : ndarray, shape (nv,)
        A' lambda on v [N m or N], with the forces of constraints that are built into generalized
        speeds.
    rank : int
        Number of rows that were taken, see `row_selection`.
    residual : float
        Norm of A vdot - b over all rows: where rows nearly repeat others, what is not enforced.
    velocity_violation : ndarray, shape (k,)
        A v - b0: how far the given speeds violate each row.
    position_violation : ndarray, shape (k,)
        Phi of holonomic rows [m or rad], 0 for the others.
    labels : tuple of str
        Names of the rows.
    independent_labels : tuple of str
        Names of the rows that were taken.
    details : object, optional
        Intermediate quantities of the method, such as `GaussSolution`; None where nobody asked
        for them (simulation, compiled motion).

    """

    acceleration: Floats
    multipliers: Floats
    constraint_force: Floats
    rank: int
    residual: float
    velocity_violation: Floats
    position_violation: Floats
    labels: tuple[str, ...]
    independent_labels: tuple[str, ...]
    details: Details | None = None

    @property
    def velocity_residual(self) -> Any:
        """Return the norm of A v - b0; float."""
        norms = np.linalg.norm(self.velocity_violation, axis=-1)
        return float(norms) if norms.ndim == 0 else norms


def blank_motion(nv: int, labels: tuple[str, ...]) -> Motion:
    """Return the motion of a state that is not finite."""
    nothing, of_rows = np.full(nv, np.nan), np.full(len(labels), np.nan)
    return Motion(nothing, of_rows, nothing, 0, np.nan, of_rows, of_rows, labels, ())


def motion_of(
    selection: RowSelection,
    v: Floats,
    acceleration: Floats,
    multipliers: Floats,
    details: Details | None = None,
) -> Motion:
    """Return a motion from its accelerations and the multipliers of the rows that were taken."""
    rows = selection.rows
    selection.check_speeds(v)
    selection.check_accelerations(acceleration)
    return Motion(
        acceleration,
        selection.shared(multipliers),
        rows.matrix[selection.independent_indices].T @ multipliers,
        len(selection.independent_indices),
        float(np.linalg.norm(rows.matrix @ acceleration - rows.acceleration)),
        np.asarray(rows.matrix @ v - rows.velocity, dtype=float),
        np.array([phi or 0.0 for phi in rows.positions], dtype=float),
        rows.labels,
        selection.labels,
        details,
    )


def solve_motion(
    robot: Robot, rows: ConstraintRows, mass: Floats, bias: Floats, v: Floats, tau: Floats
) -> Motion:
    """Return the motion under given rows for a known mass matrix and bias force C v + g - J' w."""
    force = tau - bias - joint_friction(robot, v.tolist())
    result = constrained_motion(mass, force, rows)
    return motion_of(result.selection, v, result.acceleration, result.multipliers)
