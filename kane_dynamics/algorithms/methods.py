# SPDX-License-Identifier: Apache-2.0
"""Forward dynamics by every formulation of the papers, on the same terms and rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from kane_dynamics.algorithms.canonical import CanonicalSolution, canonical_motion
from kane_dynamics.algorithms.generalized_speeds import GeneralizedSpeeds
from kane_dynamics.algorithms.kane import KaneSolution, kane_motion
from kane_dynamics.algorithms.lagrange_motion import LagrangeSolution, lagrange_motion
from kane_dynamics.algorithms.lagrange_multipliers import multiplier_motion
from kane_dynamics.algorithms.nonminimal import NonminimalSolution, nonminimal_motion
from kane_dynamics.algorithms.row_selection import RowSelection
from kane_dynamics.algorithms.speed_balance import SpeedBalance, mass_rate, speed_balance
from kane_dynamics.algorithms.terms import MethodTerms
from kane_dynamics.algorithms.udwadia_kalaba import (
    GaussSolution,
    constrained_motion,
    gauss_solution,
    selected_rows,
)
from kane_dynamics.constraints.base import ConstraintRows
from kane_dynamics.typing import Floats


@dataclass(frozen=True, eq=False, slots=True)
class NewtonEulerSolution:
    """
    What dqNE gives in runs of the recursion (Silva et al., section 6).

    Parameters
    ----------
    mass_matrix : ndarray, shape (nv, nv)
        M, one run for each column.
    velocity_force, gravity_force : ndarray, shape (nv,)
        C v and g, one run each.
    runs : int
        nv + 2.

    """

    mass_matrix: Floats
    velocity_force: Floats
    gravity_force: Floats
    runs: int


@dataclass(frozen=True, eq=False, slots=True)
class GibbsAppellSolution:
    """
    Both sides of the Gibbs-Appell equations (53) at the solution.

    Parameters
    ----------
    gradient : ndarray, shape (nv,)
        dS/dvdot.
    active_force : ndarray, shape (nv,)
        Generalized forces of efforts, gravity, friction and external wrenches; the gradient is
        this and the constraint force.

    """

    gradient: Floats
    active_force: Floats


Details = (
    GaussSolution
    | NewtonEulerSolution
    | GibbsAppellSolution
    | LagrangeSolution
    | KaneSolution
    | NonminimalSolution
    | CanonicalSolution
)


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
    velocity_residual : float
        Norm of A v - b0: how far the given speeds violate the rows.
    labels : tuple of str
        Names of the rows.
    taken : tuple of str
        Names of the rows that were taken.
    details : object, optional
        Intermediate quantities of the method: `GaussSolution`, `NewtonEulerSolution`,
        `GibbsAppellSolution`, `LagrangeSolution`, `KaneSolution`, `NonminimalSolution` or
        `CanonicalSolution`; None where nobody asked for them (simulation, compiled motion).

    """

    acceleration: Floats
    multipliers: Floats
    constraint_force: Floats
    rank: int
    residual: float
    velocity_residual: float
    labels: tuple[str, ...]
    taken: tuple[str, ...]
    details: Details | None = None


def blank_motion(nv: int, labels: tuple[str, ...]) -> Motion:
    """Return the motion of a state that is not finite."""
    nothing, no_force = np.full(nv, np.nan), np.full(len(labels), np.nan)
    return Motion(nothing, no_force, nothing, 0, np.nan, np.nan, labels, ())


def motion_of(
    selection: RowSelection,
    v: Floats,
    acceleration: Floats,
    multipliers: Floats,
    details: Details | None = None,
) -> Motion:
    """
    Return a motion from its accelerations and the multipliers of the rows that were taken.

    Raises
    ------
    InconsistentConstraintsError
        If rows that were not taken ask for other speeds or accelerations.

    """
    rows = selection.rows
    selection.check_speeds(v)
    selection.check_accelerations(acceleration)
    return Motion(
        acceleration,
        selection.shared(multipliers),
        rows.matrix[selection.taken].T @ multipliers,
        len(selection.taken),
        float(np.linalg.norm(rows.matrix @ acceleration - rows.acceleration)),
        float(np.linalg.norm(rows.matrix @ v - rows.velocity)),
        rows.labels,
        selection.labels,
        details,
    )


@dataclass(frozen=True, eq=False, slots=True)
class Problem:
    """
    A state and the forces on it.

    Parameters
    ----------
    terms : MethodTerms
        Of the robot.
    q, v : ndarray
        State.
    t : float
        Time [s].
    applied : ndarray, shape (nv,)
        Efforts less friction, and external wrenches as generalized forces.
    rows : ConstraintRows
        Constraints at the state.
    speeds : GeneralizedSpeeds or None
        u of Kane's methods.

    """

    terms: MethodTerms
    q: Floats
    v: Floats
    t: float
    applied: Floats
    rows: ConstraintRows
    speeds: GeneralizedSpeeds | None = None

    def motion(
        self,
        selection: RowSelection,
        acceleration: Floats,
        multipliers: Floats,
        details: Details | None = None,
    ) -> Motion:
        """Return the motion with what follows from its accelerations and multipliers."""
        return motion_of(selection, self.v, acceleration, multipliers, details)


def by_gauss(problem: Problem) -> Motion:
    """Solve by dqGP and the Udwadia-Kalaba equations (Silva et al., (46)-(51), (62))."""
    mass = problem.terms.mass_matrix(problem.q)
    force = problem.applied - problem.terms.bias_force(problem.q, problem.v)
    found = constrained_motion(mass, force, problem.rows)
    details = gauss_solution(mass, force, found)
    return problem.motion(found.selection, found.acceleration, found.multipliers, details)


def by_newton_euler(problem: Problem) -> Motion:
    """Solve by nv + 2 runs of dqNE (Silva et al., section 6) and (62)."""
    run, q = problem.terms.newton_euler, problem.q
    at_rest = np.zeros(len(problem.v))
    gravity = run(q, at_rest, at_rest)
    bias = run(q, problem.v, at_rest)
    mass = np.array([run(q, at_rest, unit) - gravity for unit in np.eye(len(at_rest))])
    found = constrained_motion(mass, problem.applied - bias, problem.rows)
    details = NewtonEulerSolution(mass, bias - gravity, gravity, len(at_rest) + 2)
    return problem.motion(found.selection, found.acceleration, found.multipliers, details)


def by_gibbs_appell(problem: Problem) -> Motion:
    """Solve dS/dvdot = active force (Silva et al., (53)) under the rows, by multipliers."""
    gradient, q, v = problem.terms.gibbs_gradient, problem.q, problem.v
    at_rest = np.zeros(len(v))
    start = gradient(q, v, at_rest)  # dS/da is linear in a: its columns are differences
    columns = np.array([gradient(q, v, unit) - start for unit in np.eye(len(v))])
    mass = 0.5 * (columns + columns.T)
    active = problem.applied - problem.terms.gravity_force(q)
    selection = selected_rows(mass, problem.rows)
    rows = selection.independent
    acceleration, multipliers = multiplier_motion(
        mass, active - start, rows.matrix, rows.acceleration
    )
    details = GibbsAppellSolution(gradient(q, v, acceleration), active)
    return problem.motion(selection, acceleration, multipliers, details)


def by_lagrange(problem: Problem) -> Motion:
    """Solve Parsa's closed form of Lagrange's and Kane's equations ((38)-(50))."""
    terms, q = problem.terms, problem.q
    jacobians, mass, velocity_force = terms.lagrange_terms(q, problem.v)
    selection = selected_rows(mass, problem.rows)
    rows = selection.independent
    found = lagrange_motion(
        jacobians,
        mass,
        velocity_force,
        problem.applied - terms.gravity_force(q),
        rows.matrix,
        rows.acceleration,
    )
    return problem.motion(selection, found.acceleration, found.multipliers, found)


def by_kane(problem: Problem) -> Motion:
    """Solve Kane's equations in the independent speeds (Gillespie (44)-(46))."""
    selection, balance = _balance(problem)
    found = kane_motion(
        balance.mass, balance.active_force, balance.remainder, balance.map.u, *balance.rows
    )
    return _in_velocities(problem, selection, balance, found)


def by_nonminimal(problem: Problem) -> Motion:
    """Solve the nonminimal equations (Roithmayr et al. (9), Bajodah and Chen (17))."""
    selection, balance = _balance(problem)
    found = nonminimal_motion(balance.mass, balance.force, balance.map.u, *balance.rows)
    return _in_velocities(problem, selection, balance, found)


def by_canonical(problem: Problem) -> Motion:
    """Solve the canonical generalized inversion form (Bajodah and Chen (44))."""
    selection, balance = _balance(problem)
    rate = mass_rate(problem.terms, problem.q, problem.v, balance)
    found = canonical_motion(balance.mass, rate, balance.force, balance.map.u, *balance.rows)
    return _in_velocities(problem, selection, balance, found)


def _balance(problem: Problem) -> tuple[RowSelection, SpeedBalance]:
    p = problem
    mass = p.terms.mass_matrix(p.q)
    selection = selected_rows(mass, p.rows)
    taken = selection.independent
    return selection, speed_balance(p.terms, mass, p.q, p.v, p.t, p.applied, taken, p.speeds)


def _in_velocities(
    problem: Problem,
    selection: RowSelection,
    balance: SpeedBalance,
    found: KaneSolution | NonminimalSolution | CanonicalSolution,
) -> Motion:
    """Return a motion in u as one in v, with the forces of constraints built into u."""
    acceleration = balance.map.W @ found.u_rate + balance.map.bias
    motion = problem.motion(selection, acceleration, found.multipliers, found)
    if problem.speeds is None:
        return motion
    force = balance.velocity_mass @ acceleration - balance.velocity_balance
    return replace(motion, constraint_force=force)


METHODS: dict[str, Callable[[Problem], Motion]] = {
    'gauss': by_gauss,
    'newton_euler': by_newton_euler,
    'gibbs_appell': by_gibbs_appell,
    'lagrange': by_lagrange,
    'kane': by_kane,
    'nonminimal': by_nonminimal,
    'canonical': by_canonical,
}
SPEED_METHODS = ('kane', 'nonminimal', 'canonical')
