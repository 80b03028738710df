# SPDX-License-Identifier: Apache-2.0
r"""
Motion between two events, under the rows and the sliding friction of one mode.

`Flow` integrates the coordinates and the independent speeds: a minimal set of ordinary
differential equations, with the dependent speeds :math:`v_D = D v_I + E` embedded at every stage
(Gillespie, section 4). Sliding contacts bring friction along their slip with their normal forces.
`SwitchedFlow` steps with machine code for any set of rows, where nothing slides, and `Flow` with
that of a robot without any.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from kane_dynamics.algebra.matrices import solve_squared
from kane_dynamics.algorithms.independent_speeds import dependent_speeds
from kane_dynamics.algorithms.newton_euler import joint_friction
from kane_dynamics.algorithms.projection import POSITION_TOLERANCE, onto_rows
from kane_dynamics.algorithms.udwadia_kalaba import cholesky_factor, solve_mode
from kane_dynamics.constraints.base import Constraint, ConstraintRows
from kane_dynamics.constraints.row_selection import RowSelection, select_rows
from kane_dynamics.dynamics import CompiledSubset, Dynamics
from kane_dynamics.events.named_constraints import Mode, NamedRows
from kane_dynamics.robot.motion import coordinate_rates, integrate_coordinates
from kane_dynamics.simulation.integrators import rk4
from kane_dynamics.simulation.simulation import Engine
from kane_dynamics.simulation.step_checks import check_not_diverged, running_away
from kane_dynamics.typing import Floats, Indices

INTEGRATOR = rk4.__name__
STILL = 5e-11  # slip [m/s] below which the direction is that in which it began; it ends above


@dataclass(frozen=True, eq=False)
class Slip:
    """A contact that slips with friction."""

    tangent: Constraint
    friction: float
    normal: int | None
    load: float
    direction: Floats

    def along(self, matrix: Floats, velocity: Floats, v: Floats) -> Floats:
        """Return the row of A along the slip, shape (nv,), from the rows A v = b0 of the slip."""
        if len(self.direction) == 1:
            return np.asarray(self.direction[0] * matrix[0], dtype=float)
        slip = matrix @ v - velocity
        speed = float(np.linalg.norm(slip))
        direction = slip / speed if speed > STILL else self.direction
        return np.asarray(direction @ matrix, dtype=float)


def slips_of(mode: Mode, directions: Mapping[str, Floats]) -> list[Slip]:
    """Return the contacts that slip with friction, for a flow."""
    slips, slipping = [], mode.slipping
    rows = mode.rows_by_name if slipping else {}
    for part in slipping:
        contact = part.contact
        if contact is not None and contact.tangent is not None:
            normal = rows[part.name].start if contact.normal is not None else None
            law = contact.friction, normal, contact.load, directions[part.name]
            slips.append(Slip(contact.tangent, *law))
    return slips


@dataclass(frozen=True, eq=False, slots=True)
class FlowMotion:
    """Accelerations and forces in a mode."""

    acceleration: Floats  # shape (nv,): vdot [rad/s^2 or m/s^2]
    multipliers: Floats  # shape (k,): One for each row that is held


class Flow:
    """The motion in independent speeds."""

    def __init__(
        self, free: Dynamics, held: Sequence[Constraint], slips: Sequence[Slip], rows: NamedRows
    ) -> None:
        self._free = free
        self._held, self._slips, self._every = held, tuple(slips), rows
        self.numbers = rows.numbers(held)
        self._rows = rows.of([*held, *(slip.tangent for slip in slips)])
        self._count = len(self.numbers)
        self._independent = self._dependent = np.zeros(0, dtype=np.intp)
        self._selected = False

    @cached_property
    def _engine(self) -> Engine:
        return self._free.engine(INTEGRATOR)

    @property
    def independent(self) -> tuple[str, ...]:
        """Return the names of the speeds that are integrated."""
        dependent = set(self._dependent.tolist())
        names = self._free.robot.velocity_names
        return tuple(name for k, name in enumerate(names) if k not in dependent)

    def choose_speeds(self, q: Floats, v: Floats, t: float) -> None:
        """Choose the independent speeds, or keep them, for the steps from a state on."""
        selection = self._selection(
            cholesky_factor(self._free.mass_matrix(q)), self._rows(q, v, t)
        )
        before = self._dependent if self._selected else None
        self._independent, self._selected = selection.independent_indices, True
        self._dependent = dependent_speeds(selection.independent.matrix, before)

    def advance(
        self, q: Floats, v: Floats, tau: Floats, t: float, h: float
    ) -> tuple[Floats, Floats]:
        """Return the state after h [s] at constant efforts; DivergedError if it leaves bounds."""
        if not (self._held or self._slips):
            return self._engine.advance(q, v, tau, t, h, 1)
        if self._held:
            self.choose_speeds(q, v, t)
        q_end, v_end = rk4(self, q, v, tau, t, h)
        check_not_diverged(q_end, v_end, t + h)
        with running_away(v_end, t + h):
            rows = self._rows(q_end, v_end, t + h)
            v_end = self._embedded(rows, v_end)
            gaps = [abs(phi) for phi in rows.positions[: self._count] if phi is not None]
            if max(gaps, default=0.0) > POSITION_TOLERANCE:
                held, mass = self._every.of(self._held), self._free.mass_matrix
                end = onto_rows(self._free.robot, held, mass, q_end, v_end, t + h)
                return end.q, end.v
        return q_end, v_end

    def motion(self, q: Floats, v: Floats, tau: Floats, t: float) -> FlowMotion:
        """Return accelerations and forces."""
        factor, rows = cholesky_factor(self._free.mass_matrix(q)), self._rows(q, v, t)
        selection = self._selection(factor, rows)
        a, forces = self._solved(factor, rows, selection.independent_indices, q, v, tau)
        selection.check_accelerations(a)
        return FlowMotion(a, selection.shared(forces))

    def multipliers(self, q: Floats, v: Floats, tau: Floats, t: float) -> Floats:
        """Return the forces alone."""
        return self.motion(q, v, tau, t).multipliers

    def row_values(self, q: Floats, v: Floats, tau: Floats, t: float, forces: bool) -> Floats:
        """Return Phi, A v - b0 and, where asked for, lambda of all rows of all parts, (3, k)."""
        rows = self._every.at(q, v, t)
        values = np.zeros((3, len(rows)))
        values[0] = [phi or 0.0 for phi in rows.positions]
        values[1] = rows.matrix @ v - rows.velocity
        if forces:
            values[2, self.numbers] = self.motion(q, v, tau, t).multipliers
        return values

    def left_null_space(self, q: Floats, v: Floats, t: float) -> Floats:
        """Return forces on the rows that are held which have no effect, shape (m, d)."""
        turned = {slip.normal for slip in self._slips}  # forces that act along other rows
        others = [k for k in range(self._count) if k not in turned]
        factor = cholesky_factor(self._free.mass_matrix(q))
        selection = select_rows(self._rows(q, v, t).take(others), factor)
        repeats = np.eye(len(others))  # A ~ C A_K, so that (1 - C) A ~ 0
        repeats[:, selection.independent_indices] -= selection.coefficients
        N = np.zeros((self._count, len(others)))
        N[others] = repeats.T
        return N

    def slope(self, q: Floats, v: Floats, tau: Floats, t: float) -> tuple[Floats, Floats]:
        """Return dq/dt and vdot at the speeds that the independent ones give."""
        check_not_diverged(q, v, t)
        q = self.retract(q, v, 0.0)  # between the stages quaternions are not unit
        with running_away(v, t):
            speeds = self._embedded(self._rows(q, v, t), v)
            factor, rows = cholesky_factor(self._free.mass_matrix(q)), self._rows(q, speeds, t)
            a, _ = self._solved(factor, rows, self._independent, q, speeds, tau)
            return coordinate_rates(self._free.robot, q, speeds), a

    def retract(self, q: Floats, v: Floats, h: float) -> Floats:
        """Return q (+) v h, shape (nq,)."""
        return integrate_coordinates(self._free.robot, q, v, h)

    def _solved(
        self,
        factor: Floats,
        rows: ConstraintRows,
        independent: Indices,
        q: Floats,
        v: Floats,
        tau: Floats,
    ) -> tuple[Floats, Floats]:
        """Return accelerations, and the forces of the independent rows."""
        force = tau - self._free.bias_force(q, v) - joint_friction(self._free.robot, v.tolist())
        pushes, first = rows.matrix[: self._count].copy(), self._count
        for slip in self._slips:
            last = first + len(slip.direction)
            along = slip.along(rows.matrix[first:last], rows.velocity[first:last], v)
            if slip.normal is None:
                force = force - slip.load * slip.friction * along
            else:
                pushes[slip.normal] -= slip.friction * along
            first = last
        free = solve_squared(factor, force)
        A, b = rows.matrix[independent], rows.acceleration[independent]
        return solve_mode(factor, free, A, pushes[independent], b)

    def _embedded(self, rows: ConstraintRows, v: Floats) -> Floats:
        """Return v with v_D = D v_I + E (Gillespie (5))."""
        if not len(self._independent):
            return v
        A, speeds = rows.matrix[self._independent], v.copy()
        speeds[self._dependent] = 0.0
        right_side = rows.velocity[self._independent] - A @ speeds
        speeds[self._dependent] = np.linalg.solve(A[:, self._dependent], right_side)
        return speeds

    def _selection(self, factor: Floats, rows: ConstraintRows) -> RowSelection:
        return select_rows(rows.take(range(self._count)), factor)


class SwitchedFlow(Flow):
    """Steps of machine code under the rows of one mode; `Flow` where it has none."""

    def __init__(
        self, code: CompiledSubset, free: Dynamics, held: Sequence[Constraint], rows: NamedRows
    ) -> None:
        super().__init__(free, held, (), rows)
        self._step, self._compiled = code
        nq, nv = free.robot.nq, free.robot.nv
        self._q, self._v = slice(nq), slice(nq, nq + nv)

    @property
    def independent(self) -> tuple[str, ...]:
        """Return the names of the speeds that are integrated: all, drift is projected away."""
        return self._free.robot.velocity_names

    def advance(
        self, q: Floats, v: Floats, tau: Floats, t: float, h: float
    ) -> tuple[Floats, Floats]:
        """Return the state after h [s] at constant efforts; DivergedError if it leaves bounds."""
        end = self._step(q, v, tau, t, h)
        if end is None:
            return super().advance(q, v, tau, t, h)
        return end[self._q], end[self._v]

    def multipliers(self, q: Floats, v: Floats, tau: Floats, t: float) -> Floats:
        """Return the forces alone."""
        return np.asarray(self.row_values(q, v, tau, t, True)[2, self.numbers])

    def row_values(self, q: Floats, v: Floats, tau: Floats, t: float, forces: bool) -> Floats:
        """Return Phi, A v - b0 and lambda of all rows of all parts, (3, k)."""
        values = self._compiled(q, v, tau, t)
        return super().row_values(q, v, tau, t, forces) if values is None else values
