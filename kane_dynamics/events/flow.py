# SPDX-License-Identifier: Apache-2.0
r"""
Motion between two events, under the rows and the sliding friction of one mode.

`MinimalFlow` integrates the coordinates and the independent speeds: a minimal set of ordinary
differential equations, with the dependent speeds :math:`v_D = D v_I + E` embedded at every stage
(Gillespie, section 4). Sliding contacts bring friction along their slip with their normal forces.
`EngineFlow` steps with what a robot was compiled to, for modes in which nothing slides.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import scipy

from kane_dynamics.algorithms.contact_mode import solve_mode
from kane_dynamics.algorithms.friction import joint_friction
from kane_dynamics.algorithms.independent_speeds import dependent_speeds, partition_speeds
from kane_dynamics.algorithms.projection import project
from kane_dynamics.algorithms.udwadia_kalaba import cholesky_factor
from kane_dynamics.constraints.base import ConstraintRows
from kane_dynamics.constraints.constraint_set import ConstraintSet
from kane_dynamics.constraints.row_selection import RowSelection, select_rows
from kane_dynamics.dynamics import Dynamics
from kane_dynamics.model.integration import coordinate_rates, integrate_coordinates
from kane_dynamics.model.robot import Robot
from kane_dynamics.simulation.integrators import rk4
from kane_dynamics.simulation.reference import check_not_diverged, running_away
from kane_dynamics.typing import Floats, Indices

INTEGRATOR = rk4.__name__
STILL = 1e-9  # slip [m/s] below which the direction is that in which it began


@dataclass(frozen=True, eq=False)
class Slip:
    """
    A contact that slips with friction.

    Parameters
    ----------
    tangent : ConstraintSet
        The rows of its slip.
    friction : float
        mu.
    normal : int or None
        Number of the row of its distance among the held ones.
    load : float
        Normal force where there is no such row [N].
    direction : ndarray, shape (1,) or (2,)
        Unit vector along which it slips, or begins to.

    """

    tangent: ConstraintSet
    friction: float
    normal: int | None
    load: float
    direction: Floats

    def along(self, rows: ConstraintRows, v: Floats) -> Floats:
        """Return the row of A along the slip, shape (nv,)."""
        if len(self.direction) == 1:
            return self.direction[0] * rows.matrix[0]
        slip = rows.matrix @ v - rows.velocity
        speed = float(np.linalg.norm(slip))
        direction = slip / speed if speed > STILL else self.direction
        return np.asarray(direction @ rows.matrix, dtype=float)


@dataclass(frozen=True, eq=False, slots=True)
class FlowMotion:
    """
    Accelerations and forces in a mode.

    Parameters
    ----------
    acceleration : ndarray, shape (nv,)
        vdot [rad/s^2 or m/s^2].
    multipliers : ndarray, shape (k,)
        One for each row that is held; normal forces [N] of contacts among them.

    """

    acceleration: Floats
    multipliers: Floats


class Flow(Protocol):
    """What moves a robot in one mode."""

    @property
    def labels(self) -> tuple[str, ...]:
        """Return the names of the rows that are held."""

    @property
    def independent(self) -> tuple[str, ...]:
        """Return the names of the speeds that are integrated."""

    def advance(
        self, q: Floats, v: Floats, tau: Floats, t: float, h: float
    ) -> tuple[Floats, Floats]:
        """Return the state after h [s] at constant efforts; DivergedError if it leaves bounds."""

    def motion(self, q: Floats, v: Floats, tau: Floats, t: float) -> FlowMotion:
        """Return accelerations and forces."""

    def multipliers(self, q: Floats, v: Floats, tau: Floats, t: float) -> Floats:
        """Return the forces alone."""


class MinimalFlow:
    """
    The motion in independent speeds.

    Parameters
    ----------
    free : Dynamics
        The robot without constraints, under the present gravity and payloads.
    held : ConstraintSet
        Rows that hold.
    slips : sequence of Slip
        Contacts that slip with friction.

    """

    def __init__(self, free: Dynamics, held: ConstraintSet, slips: Sequence[Slip] = ()) -> None:
        self._free, self._held, self._slips = free, held, tuple(slips)
        self._dependent: Indices | None = None

    @property
    def _robot(self) -> Robot:
        return self._free.robot

    @property
    def labels(self) -> tuple[str, ...]:
        """Return the names of the rows that are held."""
        return self._held.labels

    @property
    def independent(self) -> tuple[str, ...]:
        """Return the names of the speeds that are integrated."""
        dependent = () if self._dependent is None else self._dependent.tolist()
        names = self._robot.velocity_names
        return tuple(name for k, name in enumerate(names) if k not in dependent)

    def choose_speeds(self, q: Floats, v: Floats, t: float) -> None:
        """Choose the independent speeds, or keep them, for the steps from a state on."""
        taken = self._selection(cholesky_factor(self._free.mass_matrix(q)), q, v, t).independent
        self._dependent = dependent_speeds(taken.matrix, self._dependent)

    def advance(
        self, q: Floats, v: Floats, tau: Floats, t: float, h: float
    ) -> tuple[Floats, Floats]:
        """Return the state after h [s] at constant efforts; DivergedError if it leaves bounds."""
        if self._held:
            self.choose_speeds(q, v, t)
        q_end, v_end = rk4(self, q, v, tau, t, h)
        check_not_diverged(q_end, v_end, t + h)
        if not self._held:
            return q_end, v_end
        with running_away(v_end, t + h):
            v_end = self._embedded(q_end, v_end, t + h)
            if any(x is not None for x in self._held.rows(q_end, v_end, t + h).positions):
                return project(self._robot, self._held, q_end, v_end, t + h)
        return q_end, v_end

    def motion(self, q: Floats, v: Floats, tau: Floats, t: float) -> FlowMotion:
        """Return accelerations and forces."""
        factor = cholesky_factor(self._free.mass_matrix(q))
        force = tau - self._free.bias_force(q, v) - joint_friction(self._robot, v.tolist())
        if not self._held and not self._slips:
            return FlowMotion(scipy.linalg.cho_solve((factor, True), force), np.zeros(0))
        selection = self._selection(factor, q, v, t)
        rows, taken = selection.rows, selection.taken
        pushes = rows.matrix.copy()
        for slip in self._slips:
            rubbing = slip.friction * slip.along(slip.tangent.rows(q, v, t), v)
            if slip.normal is None:
                force = force - slip.load * rubbing
            else:
                pushes[slip.normal] -= rubbing
        free = scipy.linalg.cho_solve((factor, True), force)
        right_side = rows.acceleration[taken]
        found, forces = solve_mode(factor, free, rows.matrix[taken], pushes[taken], right_side)
        selection.check_accelerations(found)
        return FlowMotion(found, selection.shared(forces))

    def multipliers(self, q: Floats, v: Floats, tau: Floats, t: float) -> Floats:
        """Return the forces alone."""
        return self.motion(q, v, tau, t).multipliers

    def slope(self, q: Floats, v: Floats, tau: Floats, t: float) -> tuple[Floats, Floats]:
        """Return dq/dt and vdot at the speeds that the independent ones give."""
        check_not_diverged(q, v, t)
        with running_away(v, t):
            speeds = self._embedded(q, v, t)
            rates = coordinate_rates(self._robot, q, speeds)
            return rates, self.motion(q, speeds, tau, t).acceleration

    def retract(self, q: Floats, v: Floats, h: float) -> Floats:
        """Return q (+) v h, shape (nq,)."""
        return integrate_coordinates(self._robot, q, v, h)

    def _embedded(self, q: Floats, v: Floats, t: float) -> Floats:
        """Return v with v_D = D v_I + E."""
        if not self._held:
            return v
        selection = self._selection(cholesky_factor(self._free.mass_matrix(q)), q, v, t)
        parts = partition_speeds(selection.independent, self._dependent)
        speeds = parts.basis @ v[parts.independent]
        speeds[parts.dependent] += parts.velocity_offset
        return np.asarray(speeds, dtype=float)

    def _selection(self, factor: Floats, q: Floats, v: Floats, t: float) -> RowSelection:
        return select_rows(self._held.rows(q, v, t), factor)


class EngineFlow:
    """
    The steps of dynamics with the held rows as their constraints, e.g. of a compiled robot.

    Parameters
    ----------
    dynamics : Dynamics
        With gravity and payloads set.

    """

    def __init__(self, dynamics: Dynamics) -> None:
        self._dynamics, self._engine = dynamics, dynamics.engine(INTEGRATOR)
        self._forces = dynamics.multiplier_function()

    @property
    def labels(self) -> tuple[str, ...]:
        """Return the names of the rows that are held."""
        return self._dynamics.labels

    @property
    def independent(self) -> tuple[str, ...]:
        """Return the names of the speeds that are integrated: all, drift is projected away."""
        return self._dynamics.robot.velocity_names

    def advance(
        self, q: Floats, v: Floats, tau: Floats, t: float, h: float
    ) -> tuple[Floats, Floats]:
        """Return the state after h [s] at constant efforts; DivergedError if it leaves bounds."""
        return self._engine.advance(q, v, tau, t, h, 1)

    def motion(self, q: Floats, v: Floats, tau: Floats, t: float) -> FlowMotion:
        """Return accelerations and forces."""
        found = self._engine.motion(q, v, tau, t)
        return FlowMotion(found.acceleration, found.multipliers)

    def multipliers(self, q: Floats, v: Floats, tau: Floats, t: float) -> Floats:
        """Return the forces alone."""
        return self._forces(q, v, tau, t)
