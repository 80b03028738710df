# SPDX-License-Identifier: Apache-2.0
"""Forward dynamics by every formulation of the papers, on the same terms and rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from kane_dynamics.algorithms.canonical import CanonicalSolution, canonical_motion
from kane_dynamics.algorithms.generalized_speeds import GeneralizedSpeeds
from kane_dynamics.algorithms.kane import KaneSolution, kane_motion
from kane_dynamics.algorithms.lagrange_motion import LagrangeSolution, lagrange_motion
from kane_dynamics.algorithms.lagrange_multipliers import multiplier_motion
from kane_dynamics.algorithms.nonminimal import NonminimalSolution, nonminimal_motion
from kane_dynamics.algorithms.speed_balance import SpeedBalance, mass_rate, speed_balance
from kane_dynamics.algorithms.terms import MethodTerms
from kane_dynamics.algorithms.udwadia_kalaba import (
    GaussSolution,
    constrained_motion,
    gauss_solution,
)
from kane_dynamics.constraints.base import ConstraintRows

Floats = NDArray[np.float64]


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
        Number of independent rows.
    residual : float
        Norm of A vdot - b.
    labels : tuple of str
        Names of the rows.
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
    labels: tuple[str, ...]
    details: Details | None = None


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
        self, acceleration: Floats, multipliers: Floats, rank: int, details: Details
    ) -> Motion:
        """Return the motion with what follows from its accelerations and multipliers."""
        rows = self.rows
        residual = float(np.linalg.norm(rows.matrix @ acceleration - rows.acceleration))
        force = rows.matrix.T @ multipliers
        return Motion(acceleration, multipliers, force, rank, residual, rows.labels, details)


def by_gauss(problem: Problem) -> Motion:
    """Solve by dqGP and the Udwadia-Kalaba equations (Silva et al., (46)-(51), (62))."""
    rows = problem.rows
    mass = problem.terms.mass_matrix(problem.q)
    force = problem.applied - problem.terms.bias_force(problem.q, problem.v)
    found = constrained_motion(mass, force, rows.matrix, rows.velocity, rows.acceleration)
    details = gauss_solution(mass, force, rows.matrix, found.acceleration)
    return problem.motion(found.acceleration, found.multipliers, found.rank, details)


def by_newton_euler(problem: Problem) -> Motion:
    """Solve by nv + 2 runs of dqNE (Silva et al., section 6) and (62)."""
    run, q, rows = problem.terms.newton_euler, problem.q, problem.rows
    at_rest = np.zeros(len(problem.v))
    gravity = run(q, at_rest, at_rest)
    bias = run(q, problem.v, at_rest)
    mass = np.array([run(q, at_rest, unit) - gravity for unit in np.eye(len(at_rest))])
    found = constrained_motion(
        mass, problem.applied - bias, rows.matrix, rows.velocity, rows.acceleration
    )
    details = NewtonEulerSolution(mass, bias - gravity, gravity, len(at_rest) + 2)
    return problem.motion(found.acceleration, found.multipliers, found.rank, details)


def by_gibbs_appell(problem: Problem) -> Motion:
    """Solve dS/dvdot = active force (Silva et al., (53)) under the rows, by multipliers."""
    gradient, q, v, rows = problem.terms.gibbs_gradient, problem.q, problem.v, problem.rows
    at_rest = np.zeros(len(v))
    start = gradient(q, v, at_rest)  # dS/da is linear in a: its columns are differences
    mass = np.array([gradient(q, v, unit) - start for unit in np.eye(len(v))])
    active = problem.applied - problem.terms.gravity_force(q)
    acceleration, multipliers, rank = multiplier_motion(
        0.5 * (mass + mass.T), active - start, rows.matrix, rows.velocity, rows.acceleration
    )
    details = GibbsAppellSolution(gradient(q, v, acceleration), active)
    return problem.motion(acceleration, multipliers, rank, details)


def by_lagrange(problem: Problem) -> Motion:
    """Solve Parsa's closed form of Lagrange's and Kane's equations ((38)-(50))."""
    terms, q, v, rows = problem.terms, problem.q, problem.v, problem.rows
    found = lagrange_motion(
        *terms.lagrange_terms(q, v),
        problem.applied - terms.gravity_force(q),
        rows.matrix,
        rows.velocity,
        rows.acceleration,
    )
    return problem.motion(found.acceleration, found.multipliers, found.rank, found)


def by_kane(problem: Problem) -> Motion:
    """Solve Kane's equations in the independent speeds (Gillespie (44)-(46))."""
    balance = _balance(problem)
    found = kane_motion(
        balance.mass, balance.active_force, balance.remainder, balance.map.u, *balance.rows
    )
    return _in_velocities(problem, balance, found)


def by_nonminimal(problem: Problem) -> Motion:
    """Solve the nonminimal equations (Roithmayr et al. (9), Bajodah and Chen (17))."""
    balance = _balance(problem)
    found = nonminimal_motion(balance.mass, balance.force, balance.map.u, *balance.rows)
    return _in_velocities(problem, balance, found)


def by_canonical(problem: Problem) -> Motion:
    """Solve the canonical generalized inversion form (Bajodah and Chen (44))."""
    balance = _balance(problem)
    rate = mass_rate(problem.terms, problem.q, problem.v, balance)
    found = canonical_motion(balance.mass, rate, balance.force, balance.map.u, *balance.rows)
    return _in_velocities(problem, balance, found)


def _balance(problem: Problem) -> SpeedBalance:
    p = problem
    return speed_balance(p.terms, p.q, p.v, p.t, p.applied, p.rows, p.speeds)


def _in_velocities(
    problem: Problem,
    balance: SpeedBalance,
    found: KaneSolution | NonminimalSolution | CanonicalSolution,
) -> Motion:
    """Return a motion in u as one in v, with the forces of constraints built into u."""
    acceleration = balance.map.W @ found.u_rate + balance.map.bias
    rank = len(found.partition.dependent)
    motion = problem.motion(acceleration, found.multipliers, rank, found)
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
