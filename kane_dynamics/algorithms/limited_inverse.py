# SPDX-License-Identifier: Apache-2.0
r"""
Inverse dynamics under constraints, limits of efforts and friction cones.

.. math:: S^T \tau + A^T \lambda = h, \quad |\tau_k| \le \tau_k^{max}, \quad
   |T \lambda| \le \mu (n^T \lambda + N), \quad \min \textstyle\sum w_k \tau_k^2

Of all forces that give the h of inverse dynamics, those of `constrained_inverse` and what
actuators and rows can do against each other, the efforts nearest to zero are sought. Where none
of them satisfies limits and cones, and deviations are allowed, the efforts are free and the
acceleration follows from them, :math:`M a + c = S^T \tau + A^T \lambda,\; A a = b`: the one with
the least :math:`\sum d_k (a_k - a_k^{wanted})^2` is sought, and the least efforts among equals.

Limits and cones are conditions on forces :math:`f = (\tau, \lambda)`, :math:`C f \ge d` and
:math:`|T f| \le \mu (n^T f + N)`. A cone with one tangential row is two bounds; one that leaves no
tangential force at all, two for each row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from kane_dynamics.algorithms.least_distance import ConeRows, nearest_in_cones
from kane_dynamics.constraints.closed_contacts import PlacedCone
from kane_dynamics.exceptions import UnreachableAccelerationError
from kane_dynamics.typing import Floats, Indices

# A limit is reached at this part of the largest force.
REACHED = 1e-8
ROUNDOFF = 1e-13  # of forces
_UNMOVED = 1e-12  # of the largest change that a unit of effort makes


class ForceLimits(NamedTuple):
    """Conditions on forces."""

    bounds: Floats  # shape (c, nv + k): C
    least: Floats  # shape (c,): d
    cones: Sequence[ConeRows]  # Cones with several tangential rows
    names: tuple[str, ...]  # What bounds, and after them cones, are called
    friction: Sequence[PlacedCone]  # All friction cones
    padded: tuple[Floats, Floats] | None  # The first two for machine code; None: it has none

    def excess(self, forces: Floats) -> Floats:
        """Return by how much bounds, and after them cones, are exceeded; negative inside."""
        beyond = self.least - self.bounds @ forces
        if not self.cones:
            return beyond
        return np.concatenate([beyond, [cone.excess(forces) for cone in self.cones]])

    def result(
        self,
        forces: Floats,
        a: Floats,
        target: Floats,
        residual: float,
        labels: tuple[str, ...],
        excess: Floats,
    ) -> LimitedEffort:
        """Return what forces of all rows are called, and which limits they reach."""
        nv = len(a)
        reached = excess > -REACHED * (1.0 + np.abs(forces).max(initial=0.0))
        return LimitedEffort(
            forces[:nv],
            forces[nv:],
            a,
            a - target,
            self._names(np.flatnonzero(reached)) if reached.any() else (),
            np.array([cone.margin(forces[nv:]) for cone in self.friction]),
            residual,
            labels,
        )

    def nearest(
        self, factor: Floats, start: Floats, directions: Floats, excess: Floats, what: str
    ) -> Floats:
        """Return the least x, |L' x|, whose forces, start + directions x, satisfy all."""
        free = np.zeros(directions.shape[1])
        if directions.any():
            # a force that only roundoff changes would be changed by efforts beyond all bounds
            sizes = np.abs(directions).max(axis=1, keepdims=True)
            directions = np.where(sizes > _UNMOVED * sizes.max(), directions, 0.0)
            C = self.bounds @ directions
            cones = [cone.moved(start, directions) for cone in self.cones]
            missed = excess[: len(C)] - ROUNDOFF * np.abs(self.bounds @ start)
            result = nearest_in_cones(factor, free, C, missed, cones)
            if not result.conflict.size:
                return result.x
            conflict = self._names(result.conflict)
        else:
            conflict = self._names(
                np.flatnonzero(excess > REACHED * (1.0 + np.abs(start).max(initial=0.0)))
            )
            if not conflict:
                return free
        raise UnreachableAccelerationError(
            f'nothing within its limits gives {what}; these are in conflict',
            conflict,
            float(excess.max()),
        )

    def _names(self, numbers: Indices) -> tuple[str, ...]:
        return tuple(dict.fromkeys(self.names[k] for k in numbers))


def force_limits(
    limits: Floats,
    columns: Sequence[int],
    speeds: Sequence[str],
    rows: int,
    friction: Sequence[PlacedCone],
) -> ForceLimits:
    """Return limits of actuated efforts, and friction cones, as conditions on (tau, lambda)."""
    limited, nv = [k for k in columns if np.isfinite(limits[k])], len(limits)
    unit = np.eye(nv + rows)
    bounds = [(side * unit[k], -limits[k], speeds[k]) for side in (1.0, -1.0) for k in limited]
    cones, names = [], []
    for cone in friction:
        tangent, normal = cone.tangent @ unit[nv:], cone.normal @ unit[nv:]
        limit, size = cone.friction * normal, cone.friction * cone.load
        if normal.any():
            bounds.append((normal, 0.0, cone.name))
        if len(tangent) == 1 or not (limit.any() or size > 0.0):
            sides = [row for t in tangent for row in (limit + t, limit - t)]
            bounds += [(row, -size, cone.name) for row in sides]
        elif len(tangent):
            cones.append(ConeRows(tangent, np.zeros(len(tangent)), limit, size))
            names.append(cone.name)
    C = np.array([row for row, _, _ in bounds]).reshape(-1, nv + rows)
    d = np.array([least for _, least, _ in bounds])
    padded, free = None, most_bounds(nv, rows) - len(d)
    if not cones and free >= 0:
        padded = np.pad(C, ((0, free), (0, 0))).ravel(), np.append(d, np.full(free, -1.0))
    return ForceLimits(
        C,
        d,
        tuple(cones),
        (*(name for _, _, name in bounds), *names),
        friction,
        padded,
    )


def most_bounds(nv: int, rows: int) -> int:
    """Return how many bounds machine code takes."""
    return 2 * nv + 4 * rows


# Share of the efforts that move nothing beside the least motion that one of them makes alone, as
# squares: they decide only where motions are equal.
SHARE = 1e-10
STILL = 1e-9  # motion, beside those that single efforts make, that is none
SHARED = 1e-6  # part of an effort that moves nothing


@dataclass(frozen=True, eq=False, slots=True)
class LimitedEffort:
    """
    Efforts and multipliers within limits and cones.

    Parameters
    ----------
    effort : ndarray, shape (nv,)
        tau, zero where nothing is actuated [N m or N].
    multipliers : ndarray, shape (k,)
        lambda, one for each row; rows that repeat each other share with the least norm.
    acceleration : ndarray, shape (nv,)
        What they produce: the wanted acceleration, or the nearest.
    deviation : ndarray, shape (nv,)
        Acceleration less the wanted one.
    binding : tuple of str
        Speeds whose effort is at its limit, and names of cones whose force is at theirs.
    margins : ndarray, shape (c,)
        ``mu f_n - |f_t|`` of each cone [N].
    residual : float
        Norm of the force that remains unbalanced [SI].
    labels : tuple of str
        Names of the rows.

    """

    effort: Floats
    multipliers: Floats
    acceleration: Floats
    deviation: Floats
    binding: tuple[str, ...]
    margins: Floats
    residual: float
    labels: tuple[str, ...]
