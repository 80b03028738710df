# SPDX-License-Identifier: Apache-2.0
r"""
The limits of a robot as limits of its speed along a path.

On a path q(s) speeds are :math:`q' \dot s` and accelerations :math:`q' u + q'' x` with
:math:`u = \ddot s` and :math:`x = \dot s^2`. Efforts, multipliers and the wrench of the ground are
linear in u and x (Bobrow et al. 1985), but for viscous friction, which goes with the root of x:

.. math:: a u + b x + d \sqrt x + c \le 1 .

Coulomb friction has a sign on a path: the worse one where a joint turns round nearby.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy

import numpy as np
import scipy

from kane_dynamics.algebra.quaternions import vec3
from kane_dynamics.algorithms.newton_euler import transmitted
from kane_dynamics.algorithms.projection import speed_indices
from kane_dynamics.analysis.ground_contacts import GroundContacts
from kane_dynamics.analysis.motion_limits import SafetyMargins
from kane_dynamics.dynamics import Dynamics, checked_dynamics
from kane_dynamics.exceptions import ConstraintError, InvalidInputError
from kane_dynamics.robot.checks import as_one, describe
from kane_dynamics.robot.robot import Robot
from kane_dynamics.trajectories.limit_rows import LimitRows
from kane_dynamics.trajectories.paths import Path, PathPoints, RolledPath
from kane_dynamics.trajectories.robot_limits import Bounds, GroundLimits, joint_bounds
from kane_dynamics.typing import Floats

_NULL = 1e-10  # singular values that are none
_FINER = 8  # looks for reversals in a cell
_HALVINGS = 45  # of their places
_KEPT = 1e-6  # of a tangent that leaves the constraint rows: what coordinates are rounded by


class PathLimits:
    """The limits of one robot on one path."""

    def __init__(
        self,
        dynamics: Dynamics,
        path: Path,
        actuated: Sequence[str],
        contacts: GroundContacts | None,
        kept: SafetyMargins,
        efforts: Bounds | None = None,
        velocities: Bounds | None = None,
        accelerations: Bounds | None = None,
    ) -> None:
        robot = checked_dynamics(dynamics).robot
        if robot.coordinate_names != robot.velocity_names:
            raise InvalidInputError('retiming: need a robot whose coordinates are its joints')
        if not (hasattr(path, 'length') and hasattr(path, 'at')):
            raise InvalidInputError(f'path: need a SplinePath or RolledPath, got {describe(path)}')
        columns = path.at(np.zeros(1)).q.shape[1]
        if columns != robot.nq:
            raise InvalidInputError(
                f'path: need one of {robot.nq} coordinates, {list(robot.coordinate_names)}, got '
                f'one of {columns}'
            )
        as_one(SafetyMargins, 'kept', kept, 'SafetyMargins')
        motors = speed_indices(robot, actuated, 'actuated')
        self.dynamics, self.path, self.actuated = dynamics, path, tuple(actuated)
        driven = np.isin(np.arange(robot.nv), motors)
        self._efforts = joint_bounds(
            robot, 'effort', np.where(driven, robot.effort_limit, np.inf), efforts, kept.effort
        )
        self._rates = joint_bounds(
            robot, 'acceleration', np.full(robot.nv, np.inf), accelerations, 1.0
        )
        self._speeds = joint_bounds(robot, 'speed', robot.velocity_limit, velocities, kept.speed)
        self._ground: GroundLimits | None = None
        if contacts is not None:
            needed = 'what stance or base_ground_contacts return'
            self._ground = GroundLimits(as_one(GroundContacts, 'contacts', contacts, needed), kept)
        self._slow = 'moving slowly' if robot.friction.any() else 'at rest'
        self._rubs = bool(robot.damping.any() or robot.friction.any())
        ground = () if self._ground is None else self._ground.names
        joints = (*self._efforts.rows, *self._rates.rows, *self._speeds.names)
        self.names = (*joints, *ground)
        self._of_speeds = slice(len(joints) - len(self._speeds.names), len(joints))
        ends = np.zeros(len(self._speeds.names)), np.ones(len(ground))
        self._constant = np.concatenate([self._efforts.constant, self._rates.constant, *ends])

    def on(self, path: Path) -> PathLimits:
        """Return the limits of the same robot on another path."""
        other = copy(self)
        other.path = path
        return other

    def at(self, s: Floats) -> LimitRows:
        """Return the rows at places, shape (n,)."""
        points = self.points(s)
        still, maps = np.zeros_like(points.q), self._ground_maps(points.q)
        a = self._rows(points.q, maps, (still, points.tangent), ('inertia',))
        b = self._rows(points.q, maps, (points.tangent, points.bend), ('inertia', 'coriolis'))
        b[:, self._of_speeds] = self._speeds.squares(points.tangent)
        d, dry = self._friction(points, maps)
        c = self._rows(points.q, maps, (still, still), ('gravity',)) + self._constant + dry
        return LimitRows(a, b, d, c)

    def reversals(self, grid: Floats) -> Floats:
        """Return where between places of a grid a joint with Coulomb friction turns round."""
        rubs = np.flatnonzero(self.dynamics.robot.friction)
        inside = grid[:-1, None] + np.diff(grid)[:, None] * (np.arange(_FINER) / _FINER)
        fine = np.append(inside, grid[-1])
        along = self.points(fine).tangent[:, rubs]
        k, column = np.nonzero(along[:-1] * along[1:] < 0.0)
        low, high, sign = fine[k], fine[k + 1], along[k, column]
        for _ in range(_HALVINGS if len(k) else 0):  # signs may be those of roundoff
            middle = 0.5 * (low + high)
            same = self.points(middle).tangent[np.arange(len(k)), rubs[column]] * sign > 0.0
            low, high = np.where(same, middle, low), np.where(same, high, middle)
        return np.concatenate([fine[(along == 0.0).any(axis=1)], low])

    def says(self, row: int, use: float) -> str:
        """Return words for a row of which so much is used at rest, or by friction, too."""
        efforts = self._efforts
        if row < len(efforts.rows):
            k, sign = row % len(efforts.names), 1.0 if row < len(efforts.names) else -1.0
            value = sign * (use - efforts.constant[row]) * efforts.half[k]
            limit = efforts.upper[k] if sign > 0.0 else efforts.lower[k]
            return f'{self.names[row]} ({value:.4g} {self._slow}, limit {limit:.4g})'
        return f'{self.names[row]} ({use:.4g} of it {self._slow})'

    def points(self, s: Floats) -> PathPoints:
        """Return points of the path whose derivatives keep the constraint rows to roundoff."""
        q, tangent, bend = self.path.at(s)
        rolled = isinstance(self.path, RolledPath) and self.path.dynamics is self.dynamics
        if rolled or not self.dynamics.labels:
            return PathPoints(q, tangent, bend)
        kept = self.dynamics.consistent_velocity(q, tangent)
        off = np.abs(kept - tangent).max(axis=1) / (1.0 + np.abs(tangent).max(axis=1))
        if (off > _KEPT).any():
            first = int(np.argmax(off > _KEPT))
            rows = self.dynamics.constraint_rows(q[first], tangent[first])
            label = rows.labels[int(np.argmax(np.abs(rows.matrix @ tangent[first])))]
            raise ConstraintError(
                f"the path leaves '{label}' at {s[first]:g} of {self.path.length:g}: "
                f"A q' = 0 is missed by {off[first]:.2g} of the tangent; a RolledPath keeps it"
            )
        return PathPoints(q, kept, self.dynamics.consistent_acceleration(q, kept, bend))

    def _friction(
        self, points: PathPoints, maps: tuple[Floats, Floats] | None
    ) -> tuple[Floats, Floats]:
        """Return what goes with the speed and what only with its sign, shape (n, m)."""
        if not self._rubs:
            none = np.zeros((len(points.q), len(self.names)))
            return none, none
        _, tangent, bend = points
        one, two = (
            self._rows(points.q, maps, (k * tangent, k * k * bend), ('friction',))
            for k in (1.0, 2.0)
        )
        return two - one, 2.0 * one - two

    def _rows(
        self,
        q: Floats,
        maps: tuple[Floats, Floats] | None,
        motion: tuple[Floats, Floats],
        terms: tuple[str, ...],
    ) -> Floats:
        """Return the part of the rows that is linear in some terms of a motion, (n, m)."""
        result = self.dynamics.constrained_inverse_dynamics(q, *motion, self.actuated, terms=terms)
        rates = motion[1] if 'inertia' in terms else np.zeros_like(q)
        wrench = np.zeros((len(q), 6))
        if maps is not None and 'friction' not in terms:
            wrench = ground_wrenches(self.dynamics.robot, q, *motion, 'gravity' in terms)
        return self._assembled(result.effort, rates, maps, wrench, result.multipliers)

    def _assembled(
        self,
        efforts: Floats,
        rates: Floats,
        maps: tuple[Floats, Floats] | None,
        wrench: Floats,
        multipliers: Floats,
    ) -> Floats:
        """Return the part of the rows that is linear in these, (n, m)."""
        parts = [self._efforts.linear(efforts), self._rates.linear(rates)]
        parts.append(np.zeros((len(efforts), len(self._speeds.names))))
        if maps is not None:
            ground = np.einsum('nmk,nk->nm', maps[0], wrench)
            parts.append(ground + np.einsum('nmk,nk->nm', maps[1], multipliers))
        return np.concatenate(parts, axis=1)

    def balancing(self, q: Floats) -> tuple[Floats, Floats]:
        """Return self-balancing multipliers, (n, k, r), and their efforts, (n, nv, r)."""
        robot = self.dynamics.robot
        driven = np.isin(robot.velocity_names, self.actuated)
        still, pairs = np.zeros(robot.nv), []
        for place in q:
            A = np.asarray(self.dynamics.constraint_rows(place, still).matrix, dtype=float)
            free = scipy.linalg.null_space(A[:, ~driven].T, rcond=_NULL)
            pairs.append((free, -np.where(driven[:, None], A.T @ free, 0.0)))
        most = max(free.shape[1] for free, _ in pairs)
        multipliers, efforts = (
            np.array([np.pad(x, ((0, 0), (0, most - x.shape[1]))) for x in parts])
            for parts in zip(*pairs, strict=True)
        )
        return multipliers, efforts

    def shares(self, s: Floats) -> Floats:
        """Return what the efforts of `balancing` add to the rows, shape (n, m, r)."""
        q = self.path.at(s).q
        multipliers, efforts = self.balancing(q)
        maps, none, still = self._ground_maps(q), np.zeros_like(q), np.zeros((len(q), 6))
        columns = [
            self._assembled(efforts[..., k], none, maps, still, multipliers[..., k])
            for k in range(efforts.shape[-1])
        ]
        return np.stack(columns, axis=-1)

    def _ground_maps(self, q: Floats) -> tuple[Floats, Floats] | None:
        """Return what rows of the ground are made of, shapes (n, m, 6) and (n, m, k)."""
        if self._ground is None:
            return None
        still = np.zeros_like(q)
        loads = ground_wrenches(self.dynamics.robot, q, still, still, gravity=True)
        return self._ground.at(q, loads)


def ground_wrenches(robot: Robot, q: Floats, v: Floats, a: Floats, gravity: bool) -> Floats:
    """Return `ground_wrench` of many states, shape (n, 6), with or without gravity."""
    wrench = transmitted(robot, q.T, v.T, a.T, gravity=float(gravity))[1]
    parts = *vec3(wrench.dual), *vec3(wrench.primary)
    return np.stack([np.broadcast_to(part, len(q)) for part in parts], axis=1).astype(float)
