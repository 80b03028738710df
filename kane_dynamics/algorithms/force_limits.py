# SPDX-License-Identifier: Apache-2.0
r"""
Limits of efforts and friction cones as conditions on forces :math:`f = (\tau, \lambda)`.

:math:`C f \ge d` and cones :math:`|T f| \le \mu (n^T f + N)`. A cone with one tangential row is
two bounds; one that leaves no tangential force at all, two for each row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kane_dynamics.algorithms.nearest_in_cones import ConeRows, nearest_in_cones
from kane_dynamics.constraints.friction_cones import PlacedCone
from kane_dynamics.exceptions import UnreachableAccelerationError
from kane_dynamics.typing import Floats, Indices

# A limit is reached at this part of the largest force.
REACHED = 1e-8
_ROUNDOFF = 1e-12  # of forces, relative to the largest that a unit of effort makes


@dataclass(frozen=True, eq=False, slots=True)
class ForceLimits:
    """
    Conditions on forces.

    Parameters
    ----------
    bounds : ndarray, shape (c, nv + k)
        C.
    least : ndarray, shape (c,)
        d.
    cones : sequence of ConeRows
        Cones with several tangential rows.
    names : tuple of str
        What bounds, and after them cones, are called.
    friction : sequence of PlacedCone
        All friction cones.

    """

    bounds: Floats
    least: Floats
    cones: Sequence[ConeRows]
    names: tuple[str, ...]
    friction: Sequence[PlacedCone]

    def excess(self, forces: Floats) -> Floats:
        """Return by how much bounds, and after them cones, are exceeded; negative inside."""
        external = [cone.excess(forces) for cone in self.cones]
        return np.array([*(self.least - self.bounds @ forces), *external])

    def binding(self, forces: Floats) -> tuple[str, ...]:
        """Return the names of those that are reached."""
        reached = self.excess(forces) > -REACHED * (1.0 + np.abs(forces).max(initial=0.0))
        return self._names(np.flatnonzero(reached))

    def nearest(
        self, factor: Floats, free: Floats, start: Floats, directions: Floats, what: str
    ) -> Floats:
        """
        Return the x nearest to `free` whose forces, start + directions x, satisfy all.

        Parameters
        ----------
        factor : ndarray, shape (n, n)
            L of the metric L L'.
        free : ndarray, shape (n,)
            The point to be near.
        start, directions : ndarray, shapes (nv + k,), (nv + k, n)
            Of the forces.
        what : str
            What these forces give, for the message.

        Raises
        ------
        UnreachableAccelerationError
            If there is none; the message names those in conflict.
        MissingPackageError
            If there are cones with several rows, one binds, and Clarabel is not installed.

        """
        forces = start + directions @ free
        excess = self.excess(forces)
        if len(free):
            # a force that only roundoff changes would be changed by efforts beyond all bounds
            real = np.abs(directions) > _ROUNDOFF * np.abs(directions).max()
            directions = np.where(real, directions, 0.0)
            C, d = self.bounds @ directions, self.least - self.bounds @ start
            cones = [cone.moved(start, directions) for cone in self.cones]
            result = nearest_in_cones(factor, free, C, d, cones)
            if not result.conflict.size:
                return result.x
            conflict = self._names(result.conflict)
        else:
            conflict = self._names(
                np.flatnonzero(excess > REACHED * (1.0 + np.abs(forces).max(initial=0.0)))
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
    """
    Return limits of the actuated efforts, and friction cones, as conditions on (tau, lambda).

    Parameters
    ----------
    limits : ndarray, shape (nv,)
        Of |tau|; may be infinite.
    columns : sequence of int
        Indices of the actuated speeds.
    speeds : sequence of str, length nv
        Names.
    rows : int
        Number of constraint rows, k.
    friction : sequence of PlacedCone
        On their multipliers.

    """
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
    return ForceLimits(
        np.array([row for row, _, _ in bounds]).reshape(-1, nv + rows),
        np.array([least for _, least, _ in bounds]),
        tuple(cones),
        (*(name for _, _, name in bounds), *names),
        friction,
    )
