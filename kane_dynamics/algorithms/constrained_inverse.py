# SPDX-License-Identifier: Apache-2.0
r"""
Inverse dynamics under constraints: efforts of the actuated joints and multipliers.

For accelerations with :math:`A a = b`, the force that is needed, :math:`h = M a + C v + g +
D v + F \mathrm{sign}(v) - J^T w` (inverse dynamics), must come from the actuators, selected by S,
and from the constraints:

.. math:: S^T \tau_a + A^T \lambda = h .

The rows are those that `row_selection` takes. Where actuators and constraints can share the force
in many ways (more actuators than freedoms), the efforts with the least :math:`\sum w_k \tau_k^2`
are taken.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy

from kane_dynamics.algorithms.newton_euler import TERMS, reference_effort, required_effort
from kane_dynamics.algorithms.projection import least_norm
from kane_dynamics.algorithms.traced_inverse_solve import REACHED
from kane_dynamics.algorithms.udwadia_kalaba import unit_scaling
from kane_dynamics.constraints.row_selection import RowSelection
from kane_dynamics.exceptions import InvalidInputError, UnreachableAccelerationError
from kane_dynamics.robot.checks import as_choice, as_names, as_vector
from kane_dynamics.robot.robot import Robot
from kane_dynamics.typing import ArrayLike, Floats

_NULL = 1e-10  # singular value, on rows of unit length, of a direction that is free


class ConstrainedEffort:
    """
    Efforts and constraint multipliers that produce given accelerations.

    Of many states, every array has one row, and rank and residuals one entry, for each.

    Parameters
    ----------
    numbers : ndarray, shape (3 nv + k + 3,)
        Effort, multipliers, velocity, acceleration, rank, residual and residual of the speeds, one
        after the other.
    labels : tuple of str
        Names of the rows.

    """

    __slots__ = ('labels', 'numbers')

    labels: tuple[str, ...]
    numbers: Floats

    def __init__(self, numbers: Floats, labels: tuple[str, ...]) -> None:
        self.numbers, self.labels = numbers, labels

    @property
    def _nv(self) -> int:
        return (self.numbers.shape[-1] - len(self.labels) - 3) // 3

    @property
    def effort(self) -> Floats:
        """Return efforts on v, zero where nothing is actuated, shape (nv,) [N m or N]."""
        return self.numbers[..., : self._nv]

    @property
    def multipliers(self) -> Floats:
        """Return lambda, one for each row, shape (k,)."""
        return self.numbers[..., self._nv : -2 * self._nv - 3]

    @property
    def velocity(self) -> Floats:
        """Return the speeds of the motion: as given, or completed from what was known, (nv,)."""
        return self.numbers[..., -2 * self._nv - 3 : -self._nv - 3]

    @property
    def acceleration(self) -> Floats:
        """Return the accelerations of the motion: as given, or completed, shape (nv,)."""
        return self.numbers[..., -self._nv - 3 : -3]

    @property
    def rank(self) -> Any:
        """Return the rank of [S' A']: how many forces actuators and constraints span; int."""
        rank = np.nan_to_num(self.numbers[..., -3])
        return int(rank) if rank.ndim == 0 else rank.astype(int)

    @property
    def residual(self) -> Any:
        """Return the norm of the force that remains unbalanced; float."""
        return self._number(-2)

    @property
    def velocity_residual(self) -> Any:
        """Return the norm of A v - b0: how far the speeds violate the rows; float."""
        return self._number(-1)

    def _number(self, place: int) -> Any:
        numbers = self.numbers[..., place]
        return float(numbers) if numbers.ndim == 0 else numbers

    def __repr__(self) -> str:
        names = ('effort', 'multipliers', 'velocity', 'acceleration', 'rank', 'residual')
        parts = [f'{name}={getattr(self, name)!r}' for name in (*names, 'velocity_residual')]
        return f'ConstrainedEffort({", ".join(parts)}, labels={self.labels!r})'


def constrained_effort(
    robot: Robot,
    selection: RowSelection,
    q: Sequence[float],
    v: Floats,
    a: Floats,
    columns: Sequence[int],
    weights: Floats,
    switches: Sequence[float],
    external: Floats,
    moving: Floats | None = None,
) -> ConstrainedEffort:
    """Return the efforts of some speeds that produce a motion under the rows that were taken."""
    pivots, rows = selection.independent, selection.rows
    check_allowed(selection, a)
    motion = v.tolist(), a.tolist()
    if moving is None:
        needed = required_effort(robot, q, *motion, switches=switches) - external
    else:
        needed = reference_effort(robot, q, moving.tolist(), *motion, switches) - external
    effort, multipliers, rank, residual = balance_force(
        robot, pivots.matrix, columns, needed, weights
    )
    slip = np.linalg.norm(rows.matrix @ v - rows.velocity)
    parts = effort, selection.shared(multipliers), v, a
    numbers = np.concatenate([*parts, [float(rank), residual, slip]])
    return ConstrainedEffort(numbers, rows.labels)


def term_switches(terms: Sequence[str]) -> list[float]:
    """Return 1 or 0 for each of `TERMS`."""
    names = as_names('terms', terms)
    for name in names:
        as_choice('terms', name, TERMS)
    return [float(name in names) for name in TERMS]


def checked_weights(
    robot: Robot, weights: ArrayLike | None, columns: Sequence[int], what: str = 'weights'
) -> Floats:
    """Return weights of speeds, 1 where they are left out, or do not count."""
    whole = np.ones(robot.nv)
    if weights is None:
        return whole
    arguments = as_vector(what, weights, robot.nv)
    whole[list(columns)] = arguments[list(columns)]
    if (whole <= 0.0).any():
        worst = int(np.argmin(whole))
        raise InvalidInputError(
            f"{what}: need numbers > 0, got {whole[worst]:g} for '{robot.velocity_names[worst]}'"
        )
    return whole


def balance_force(
    robot: Robot, A: Floats, columns: Sequence[int], force: Floats, weights: Floats
) -> tuple[Floats, Floats, int, float]:
    """Return efforts and multipliers with S' tau + A' lambda = force, their rank and residual."""
    driven = np.zeros(robot.nv, dtype=bool)
    driven[list(columns)] = True
    scaling = unit_scaling(np.linalg.norm(A, axis=1))
    unit = scaling[:, None] * A
    multipliers, rank = least_norm(unit[:, ~driven].T, force[~driven])
    if rank < len(A):
        free = scipy.linalg.null_space(unit[:, ~driven].T, rcond=_NULL)
        root = np.sqrt(weights[driven])
        left = root * (force - unit.T @ multipliers)[driven]
        multipliers += free @ scipy.linalg.lstsq(root[:, None] * unit[:, driven].T @ free, left)[0]
    remaining = force - unit.T @ multipliers
    effort = np.where(driven, remaining, 0.0)
    remaining[driven] = 0.0
    if np.abs(remaining).max(initial=0.0) > REACHED * (1.0 + np.abs(force).max()):
        lacking = [robot.velocity_names[k] for k in _large(remaining)]
        raise UnreachableAccelerationError(
            'no actuator or constraint gives the force needed on', lacking, np.abs(remaining).max()
        )
    rank += int(driven.sum())
    return effort, scaling * multipliers, rank, float(np.linalg.norm(remaining))


def check_allowed(selection: RowSelection, a: Floats) -> None:
    """Check that accelerations keep the rows, A a = b."""
    rows = selection.independent
    violation = rows.matrix @ a - rows.acceleration
    scale = 1.0 + np.abs(rows.acceleration).max(initial=0.0) + np.abs(a).max(initial=0.0)
    if np.abs(violation).max(initial=0.0) > REACHED * scale:
        raise UnreachableAccelerationError(
            'the accelerations violate the constraints',
            [rows.labels[k] for k in _large(violation)],
            np.abs(violation).max(),
        )
    selection.check_accelerations(a)


def _large(values: Floats) -> list[int]:
    """Return the indices of entries of the order of the largest."""
    return [int(k) for k in np.flatnonzero(np.abs(values) > 1e-3 * np.abs(values).max())]
