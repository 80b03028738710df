# SPDX-License-Identifier: Apache-2.0
r"""
Speed-controlled drives, and inelastic stops at the position limits.

A step that carries joints past a limit is corrected twice at its end, each time by the smallest
change in the norm of the kinetic energy that respects the constraints (Gauss' principle for
impulses, restitution 0): the coordinates by :math:`\delta` so that no joint is beyond its limit,
the speeds by :math:`\Delta` so that none moves further out. Both are :math:`W s \lambda` with

.. math:: 0 \le \lambda \perp s^T W s\, \lambda - e \ge 0,

W the response of the accelerations to efforts under the constraints, s = -1 at upper limits and 1
at lower ones, e how far a coordinate is out, or how fast a speed leads out. The corrected speeds
are a projection onto a cone, so the kinetic energy never grows, whatever pushes the joint.

Stops do not enter `forward_dynamics` or the multipliers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kane_dynamics.algorithms.least_distance import nonnegative_least_squares
from kane_dynamics.robot.motion import integrate_coordinates
from kane_dynamics.robot.robot import Robot
from kane_dynamics.simulation.simulation import Engine
from kane_dynamics.simulation.step_checks import RankLog
from kane_dynamics.typing import Floats, Indices

DRY_SPEED = 0.2  # [rad/s] below which dry friction fades, so that a held step can follow it


@dataclass(frozen=True, eq=False)
class Drives:
    """Speed-controlled drives: clip(tau_0 + k (w - v), L) - b v - c tanh(v / s)."""

    speeds: int
    indices: tuple[int, ...]
    gains: tuple[float, ...]
    limits: tuple[float, ...]

    @staticmethod
    def of(robot: Robot, joints: Sequence[str], gains: Sequence[float]) -> Drives:
        """Return the drives of some joints, up to the robot's effort limits."""
        indices = tuple(robot.velocity_index(joint) for joint in joints)
        limits = tuple(robot.effort_limit[list(indices)].tolist())
        return Drives(robot.nv, indices, tuple(gains), limits)

    def __call__(self, t: Any, q: Any, v: Any, gains: Any) -> list[Any]:
        """Return the efforts on all speeds."""
        count, total = len(self.indices), [0.0] * self.speeds
        for j, place in enumerate(self.indices):
            target, held, viscous, dry = (gains[j + count * part] for part in range(4))
            command = held + self.gains[j] * (target - v[place])
            scrub_effort = viscous * v[place] + dry * np.tanh(v[place] / DRY_SPEED)
            total[place] = _clipped(command, self.limits[j]) - scrub_effort
        return total


def packed(targets: Floats, held: Floats, viscous: Floats, dry: Floats) -> Floats:
    """Return the gains of `Drives`, shape (B, 4 n), of its four parts, (B, n) each."""
    return np.concatenate([targets, held, viscous, dry], axis=1)


def _clipped(x: Any, limit: float) -> Any:
    """Return x within +-limit, without a branch."""
    return 0.5 * (abs(x + limit) - abs(x - limit))


AT_LIMIT = 1e-12  # [rad or m] roundoff of a coordinate that was put on its limit
SMALLEST_RESPONSE = 1e-12  # of the largest: constraints hold what responds less


class StoppedEngine:
    """Steps of another engine, and joints that stop at their limits."""

    def __init__(self, engine: Engine, robot: Robot) -> None:
        self._engine, self._robot = engine, robot
        limited = (robot.lower < robot.upper) & np.isfinite([robot.lower, robot.upper]).any(axis=0)
        names = [x for x, one in zip(robot.coordinate_names, limited, strict=True) if one]
        names = [name for name in names if name in robot.velocity_names]
        self._q = np.array([robot.coordinate_index(name) for name in names], dtype=np.intp)
        self._v = np.array([robot.velocity_index(name) for name in names], dtype=np.intp)
        self._lower, self._upper = robot.lower[self._q], robot.upper[self._q]
        self.hits = 0

    def __getattr__(self, name: str) -> Any:
        """Return what else the engine has."""
        if name.startswith('_'):  # a copy that is being made has no engine yet
            raise AttributeError(name)
        return getattr(self._engine, name)

    def advance(
        self,
        q: Floats,
        v: Floats,
        tau: Floats,
        t: float,
        h: float,
        n: int,
        log: RankLog | None = None,
    ) -> tuple[Floats, Floats]:
        """Return the state after n steps of h [s] at constant efforts; ranks go into the log."""
        for k in range(n):
            q, v = self._engine.advance(q, v, tau, t + k * h, h, 1, log)
            position = q[self._q]
            low, high = position <= self._lower, position >= self._upper
            if low.any() or high.any():
                q, v = self._stopped(q, v, t + (k + 1) * h)
        return q, v

    def _stopped(self, q: Floats, v: Floats, t: float) -> tuple[Floats, Floats]:
        """Return a state with every joint within its limits and none leading out."""
        position = q[self._q]
        sign = (position <= self._lower + AT_LIMIT).astype(float)
        sign -= position >= self._upper - AT_LIMIT
        at = np.flatnonzero(sign)
        sign, index = sign[at], self._v[at]
        limit = np.where(sign > 0.0, self._lower[at], self._upper[at])
        out, outward = sign * (limit - position[at]), -sign * v[index]
        if max(out.max(), outward.max()) <= 0.0 or not np.isfinite([out, outward]).all():
            return q, v
        self.hits += int(np.count_nonzero((out > 0.0) | (outward > 0.0)))
        response = self._response(q, index, t) * sign
        inner = sign[:, None] * response[index]
        inward, against = _pushes(inner, out, outward)
        if inward.any():
            q = integrate_coordinates(self._robot, q, response @ inward, 1.0)
            q[self._q[at]] = np.where(out > 0.0, limit, q[self._q[at]])  # without last roundoff
        v = v + response @ against
        v[index[against > 0.0]] = 0.0
        return q, v

    def _response(self, q: Floats, index: Indices, t: float) -> Floats:
        """Return the change of the accelerations per effort on some speeds, shape (nv, k)."""
        still, efforts = np.zeros(self._robot.nv), np.eye(self._robot.nv)[index]
        free, *pushed = self._engine.accelerations(q, still, np.vstack([still, efforts]), t)
        return np.column_stack(pushed) - free[:, None]


def _pushes(inner: Floats, *excesses: Floats) -> list[Floats]:
    """Return the complementary solution of 0 <= x, inner x - excess >= 0 for each, (k,)."""
    values, vectors = np.linalg.eigh(0.5 * (inner + inner.T))
    kept = values > SMALLEST_RESPONSE * values[-1]
    root, directions = np.sqrt(values[kept]), vectors[:, kept].T
    # 1/2 x' S x - e' x = 1/2 |R x - R^-T e|^2 + const. with S = R' R
    rows = root[:, None] * directions
    return [
        nonnegative_least_squares(rows, directions @ excess / root)[0]
        if excess.max() > 0.0
        else np.zeros(len(excess))
        for excess in excesses
    ]
