# SPDX-License-Identifier: Apache-2.0
"""Time steps and motions by numpy; M and C v + g by the reference algorithms, or given."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from kane_dynamics.algebra.matrices import solve_squared
from kane_dynamics.algorithms.newton_euler import implicit_drag
from kane_dynamics.algorithms.projection import impact_energy, project
from kane_dynamics.algorithms.udwadia_kalaba import Motion, cholesky_factor, nearest, solve_motion
from kane_dynamics.constraints.base import Constraint, ConstraintRows
from kane_dynamics.constraints.constraint_set import ConstraintSet
from kane_dynamics.constraints.row_selection import RowSelection
from kane_dynamics.exceptions import ProjectionError, StepError
from kane_dynamics.formulations import ReferenceTerms
from kane_dynamics.formulations.problem import Terms
from kane_dynamics.robot.checks import as_vector
from kane_dynamics.robot.motion import coordinate_rates, integrate_coordinates
from kane_dynamics.robot.robot import Robot
from kane_dynamics.robot.state import GravityAndPayloads
from kane_dynamics.simulation.integrators import (
    INTEGRATORS,
    KICKS,
    STICTION_SPEED,
    solve_fixed_point,
)
from kane_dynamics.simulation.step_checks import (
    RankLog,
    check_damping,
    check_not_diverged,
    excess_gap,
    excess_jump,
    forecast,
    running_away,
)
from kane_dynamics.typing import ArrayLike, Floats

PassiveForce = Callable[[float, Floats, Floats], ArrayLike]


class StepEnd(NamedTuple):
    """The end of a step."""

    q: Floats
    v: Floats
    rank: int = 0
    crossed: bool = False


def _crossed(before: ConstraintRows, after: ConstraintRows, independent: Sequence[int]) -> bool:
    """Return whether the holonomic ones of some rows pass a singular configuration."""
    holonomic = [k for k in independent if after.positions[k] is not None]
    return bool(np.linalg.det(before.matrix[holonomic] @ after.matrix[holonomic].T) < 0.0)


def _moved(factor: Floats, impulse: Floats, selection: RowSelection, target: Floats) -> Floats:
    """Return the speeds of an impulse on a mass L L' under independent rows A v = c."""
    independent, free = selection.independent_indices, solve_squared(factor, impulse)
    return nearest(factor, selection.rows.matrix[independent], free, target[independent])[0]


class ReferenceEngine:
    """Time steps and motions by numpy."""

    def __init__(
        self,
        load: GravityAndPayloads,
        constraints: Sequence[Constraint],
        integrator: str,
        projection: bool,
        terms: Terms | None = None,
        halvings: int = 0,
        passive_force: PassiveForce | None = None,
    ) -> None:
        self._load = load
        self.constraints = ConstraintSet.of(load.robot, constraints)
        self._given, self._passive = terms, passive_force
        self._integrator = integrator
        self._projection = projection and bool(constraints)
        self._halvings = halvings

    @property
    def robot(self) -> Robot:
        """Return the robot with the present gravity and payloads."""
        return self._load.robot

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
            now, end = t + k * h, self.step(q, v, tau, t + k * h, h)
            if log is not None and (end.crossed or end.rank != log.rank):
                log.add(now + h, end.rank, self.impact_energy((q, v, now), (end.q, now + h)))
            q, v = end.q, end.v
        check_not_diverged(q, v, t + n * h)
        return q, v

    def impact_energy(
        self, start: tuple[Floats, Floats, float], end: tuple[Floats, float]
    ) -> float:
        """Return the energy that rows which came on between (q, v, t) and (q, t) took [J]."""
        return impact_energy(self.robot, self.constraints, start, end)

    def step(self, q: Floats, v: Floats, tau: Floats, t: float, h: float) -> StepEnd:
        """Return the state after one step of h [s]."""
        return self._step(q, v, tau, t, h, self._halvings)

    def _step(
        self, q: Floats, v: Floats, tau: Floats, t: float, h: float, halvings: int
    ) -> StepEnd:
        integrate = INTEGRATORS[self._integrator]
        try:
            q_end, v_end = integrate(self, q, v, tau, t, h)
            if not self._projection:
                return StepEnd(q_end, v_end)
            with running_away(v_end, t + h):
                end = project(self.robot, self.constraints, q_end, v_end, t + h)
            rows = self.constraints.rows
            before, after = rows(q, v_end, t), rows(end.q, v_end, t + h)
            crossed = _crossed(before, after, end.independent_indices)
            return StepEnd(end.q, end.v, end.rank, crossed)
        except (StepError, ProjectionError):
            if halvings == 0:
                raise
        half = self._step(q, v, tau, t, 0.5 * h, halvings - 1)
        end_half = self._step(half.q, half.v, tau, t + 0.5 * h, 0.5 * h, halvings - 1)
        return end_half._replace(crossed=half.crossed or end_half.crossed)

    def accelerations(self, q: Floats, v: Floats, efforts: Floats, t: float) -> Floats:
        """Return vdot at a state under efforts that are rows, one row for each."""
        return np.array([self.acceleration(q, v, tau, t) for tau in efforts])

    def check_damping(self, q: Floats, t: float, h: float) -> None:
        """Check that damping is not too stiff for steps of h [s]: DivergedError."""
        check_damping(self.robot, self.constraints, self._integrator, q, t, h)

    def _force(self, q: Floats, v: Floats, tau: Floats, t: float) -> Floats:
        """Return held efforts and the passive force of a state."""
        if self._passive is None:
            return tau
        what = f'the passive force at t = {t:g} s'
        return tau + as_vector(what, self._passive(t, q, v), len(tau))

    @property
    def _terms(self) -> Terms:
        return self._given or ReferenceTerms(self.robot, self.constraints)

    def motion(self, q: Floats, v: Floats, tau: Floats, t: float) -> Motion:
        """Return accelerations and multipliers; DivergedError where there are none."""
        check_not_diverged(q, v, t)
        tau = self._force(q, v, tau, t)
        with running_away(v, t):
            mass, bias = self._terms.mass_matrix(q), self._terms.bias_force(q, v)
            rows = self.constraints.rows(q, v, t)
            return solve_motion(self.robot, rows, mass, bias, v, tau)

    def acceleration(self, q: Floats, v: Floats, tau: Floats, t: float) -> Floats:
        """Return vdot, shape (nv,)."""
        return self.motion(q, v, tau, t).acceleration

    def impulse(self, q: Floats, v: Floats, at: Floats, tau: Floats, t: float, h: float) -> Floats:
        """Return speeds h [s] after v with implicit friction; errors as for `motion`."""
        check_not_diverged(q, at, t)
        tau = self._force(q, at, tau, t)
        with running_away(at, t):
            mass, bias = self._terms.mass_matrix(q), self._terms.bias_force(q, at)
            selection = self.constraints.selection(cholesky_factor(mass), q, at, t)
            selection.check_speeds(at)
            drag = implicit_drag(self.robot, at.tolist(), STICTION_SPEED)
            damped = cholesky_factor(mass + h * np.diag(drag))
            force = mass @ v + h * (tau - bias)
            return _moved(damped, force, selection, selection.rows.velocity_after(v, h))

    def kick(self, q: Floats, v: Floats, tau: Floats, t: float, h: float) -> Floats:
        """Return speeds h [s] after v, friction that of the end; errors as for `motion`."""
        check_not_diverged(q, v, t)
        tau = self._force(q, v, tau, t)
        with running_away(v, t):
            mass, middle = self._terms.mass_matrix(q), v
            factor = cholesky_factor(mass)
            drag = implicit_drag(self.robot, v.tolist(), STICTION_SPEED)
            damped = cholesky_factor(mass + h * np.diag(drag))
            for _ in range(KICKS):
                force = mass @ v + h * (tau - self._terms.bias_force(q, middle))
                selection = self.constraints.selection(factor, q, middle, t)
                end = _moved(damped, force, selection, selection.rows.velocity_across(v, h))
                middle = 0.5 * (v + end)
            selection.check_speeds(middle)
            return end

    fixed_point = staticmethod(solve_fixed_point)

    def check_energy(
        self,
        start: tuple[Floats, Floats],
        middle: tuple[Floats, Floats],
        end: tuple[Floats, Floats],
        h: float,
    ) -> None:
        """Check the states of a midpoint step: StepError where energy jumps."""
        states = [(q.tolist(), v.tolist()) for q, v in (start, middle, end)]
        gap, excess = excess_gap(self.robot, states[0], states[1], states[2], h)
        if excess > 0.0:
            raise StepError(
                f'in one step the energy changes by {gap:.3g} J that no force brought; take a '
                'shorter step, or ask for halvings'
            )

    def check_jump(
        self, start: tuple[Floats, Floats], v_middle: Floats, tau: Floats, t: float, h: float
    ) -> None:
        """Check the middle speeds of a mechanism with loops: StepError where they jump."""
        q, v = start
        rows = self.constraints.rows(q, v, t)
        if all(position is None for position in rows.positions):
            return
        mass = self._terms.mass_matrix(q)
        expected = forecast(v, self.acceleration(q, v, tau, t), h)
        if excess_jump(lambda x: mass @ np.array(x), v, expected, v_middle) <= 0.0:
            return
        middle = self.retract(q, v_middle, 0.5 * h), t + 0.5 * h
        if self._free_rows(q, v, t) == self._free_rows(middle[0], v, middle[1]):
            raise StepError(
                f'in the step at t = {t:.6g} s the speeds jump: another branch of the mechanism '
                'at a singular configuration; take a shorter step, or ask for halvings'
            )

    def _free_rows(self, q: Floats, v: Floats, t: float) -> int:
        """Return the number of independent rows that are not holonomic (brakes may close)."""
        factor = cholesky_factor(self._terms.mass_matrix(q))
        selection = self.constraints.selection(factor, q, v, t)
        return sum(selection.rows.positions[k] is None for k in selection.independent_indices)

    def slope(self, q: Floats, v: Floats, tau: Floats, t: float) -> tuple[Floats, Floats]:
        """Return dq/dt and vdot, shapes (nq,), (nv,)."""
        return coordinate_rates(self.robot, q, v), self.acceleration(q, v, tau, t)

    def retract(self, q: Floats, v: Floats, h: float) -> Floats:
        """Return q (+) v h, shape (nq,)."""
        return integrate_coordinates(self.robot, q, v, h)
