# SPDX-License-Identifier: Apache-2.0
r"""
Checks of a time step: rank, branch, energy and damping.

Rows that come on against the motion (a brake closes, a linkage leaves its flat position) are an
impact on the speeds, which takes the energy :math:`\tfrac12 |\Delta v|^2_M`. That is physics, not
an error of the step, but must not pass unseen. Where the motion passes a singular configuration
between two states, its branch was chosen by the step (`simulation.step_checks`).

Where two branches of motion cross (a parallelogram that lies flat) a combination of rows vanishes
and comes back with the other sign: rows before and after turn to each other like a left and a
right hand, :math:`\det(A(q) A(q^+)^T) < 0`. In a step that passes no such place the rows turn by
less than a right angle, and the determinant is positive.

Near a configuration where branches cross (a parallelogram that lies flat) the equation of an
implicit step has solutions on each of them. Inertia knows one: speeds are continuous. So the
middle speeds must be near :math:`v + \tfrac h2 a(q, v)`, measured in the metric of M.

:math:`v_m^T (M (v^+ - v) + h (C v_m + g))` at the middle is what efforts, friction and driven
constraints did; without errors of the step, T + V changes by it. The gap is of order h^3. Where a
tenth of the energy that moves is missing, the step is too long, or the motion jumped.

Under viscous damping D alone, :math:`\dot v = -M^{-1} D v` on the speeds that the constraints
leave. The largest rate is the largest eigenvalue of D in the metric M on these speeds. An explicit
step multiplies that part of the motion by a polynomial of h times the rate, by more than 1 where
h is too long, whatever its order.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy

from kane_dynamics.algebra.matrices import solve_lower
from kane_dynamics.algebra.scalars import Scalar, absolute, is_zero
from kane_dynamics.algorithms.kinematics import tree_kinetic_energy, tree_potential_energy
from kane_dynamics.algorithms.mass_matrix import gauss_mass_matrix
from kane_dynamics.algorithms.newton_euler import newton_euler
from kane_dynamics.algorithms.row_elimination import inner_product
from kane_dynamics.constraints.constraint_set import ConstraintSet
from kane_dynamics.exceptions import (
    DivergedError,
    InconsistentConstraintsError,
    InvalidInputError,
    ProjectionError,
    SingularMassMatrixError,
)
from kane_dynamics.robot.checks import as_choice, describe
from kane_dynamics.robot.robot import Robot
from kane_dynamics.simulation.integrators import INTEGRATORS
from kane_dynamics.typing import Floats


@dataclass(frozen=True)
class RankEvent:
    """
    A change of the number of independent constraint rows, at the end of a step or within it.

    Parameters
    ----------
    time : float
        End of the step [s].
    before, after : int
        Ranks of the rows at its start and its end; equal where it was less in between.
    energy : float
        What the rows that came on took from the motion [J].

    """

    time: float
    before: int
    after: int
    energy: float

    def __str__(self) -> str:
        """Return what happened, in words."""
        if self.after == self.before:
            what = 'the motion passed a singular configuration'
        elif self.after > self.before:
            what = 'constraints came on against the motion'
        else:
            what = 'constraints became one with others, or ended'
        return (
            f'at t = {self.time:.6g} s {what} (rank {self.before} to {self.after}): '
            f'{self.energy:.3g} J were lost'
        )


@dataclass
class RankLog:
    """The ranks along a motion."""

    rank: int
    events: list[RankEvent] = field(default_factory=list)

    def add(self, time: float, rank: int, energy: float) -> None:
        """Keep an event and the rank at the end of its step."""
        self.events.append(RankEvent(time, self.rank, rank, energy))
        self.rank = rank


def crossing_determinant(before: Sequence[Any], after: Sequence[Any]) -> Scalar:
    """Return a number of the sign of det(A B'), numbers or traced."""
    left = [[inner_product(a, b) for b in after] for a in before]
    determinant: Scalar = 1.0
    for k in range(len(left)):
        pivot = left[k][k]
        if is_zero(pivot):
            return 0.0
        determinant = determinant * pivot
        for i in range(k + 1, len(left)):
            factor = left[i][k] / pivot
            left[i] = [x - factor * y for x, y in zip(left[i], left[k], strict=True)]
    return determinant


MOST_TURNED = 0.1  # of |v|^2: the speeds turn by 0.3 rad in half a step beyond the forecast
_STANDSTILL = 1e-18  # [J], of mechanisms that stand still


def forecast(v: Iterable[Scalar], acceleration: Iterable[Scalar], h: Scalar) -> list[Scalar]:
    """Return speeds half a step of h [s] after v."""
    return [x + 0.5 * h * a for x, a in zip(v, acceleration, strict=True)]


def excess_jump(product: Any, v: Any, expected: Any, v_middle: Any) -> Scalar:
    """Return how far middle speeds are beyond what is allowed (at most 0: sound) [J]."""

    def energy(a: Any, b: Any) -> Scalar:
        change = [x - y for x, y in zip(a, b, strict=True)]
        return sum((x * p for x, p in zip(change, product(change), strict=True)), 0.0)

    at_rest = [0.0] * len(list(v))
    allowed = MOST_TURNED * (energy(v, at_rest) + energy(expected, v)) + _STANDSTILL
    return energy(v_middle, expected) - allowed


State = tuple[Any, Any]

MOST_LOST = 0.1  # of the energy that moves: a joint then turns by about 1 rad in a step
_ROUNDOFF = 1e-9  # of the potential energy


def excess_gap(
    robot: Robot, start: State, middle: State, end: State, h: Scalar
) -> tuple[Scalar, Scalar]:
    """Return a step's energy gap [J], and its excess over the bound (<= 0: sound)."""
    potential = [tree_potential_energy(robot, q) for q, _ in (start, end)]
    kinetic = [tree_kinetic_energy(robot, *state) for state in (start, end)]
    rates = [(b - a) / h for a, b in zip(start[1], end[1], strict=True)]
    efforts = newton_euler(robot, middle[0], middle[1], rates)
    work: Scalar = 0.0
    for force, armature, rate, speed in zip(
        efforts, robot.armature.tolist(), rates, middle[1], strict=True
    ):
        work = work + h * speed * (force + armature * rate)
    return excess_of(kinetic, potential, work)


def excess_of(
    kinetic: Sequence[Scalar], potential: Sequence[Scalar], work: Scalar
) -> tuple[Scalar, Scalar]:
    """Return the same from the energies at the start and at the end and the work between [J]."""
    before, after = potential
    moved = after - before
    gap = kinetic[1] - kinetic[0] + moved - work
    allowed = MOST_LOST * (kinetic[0] + kinetic[1] + absolute(moved))
    return gap, absolute(gap) - allowed - _ROUNDOFF * (1e-3 + absolute(before) + absolute(after))


# Largest h times rate at which steps shrink: |1 - z + z^2/2 - z^3/6 + z^4/24| = 1 at z = 2.7853.
STABLE = {'rk4': 2.785}


def fastest_decay(
    robot: Robot, constraints: ConstraintSet, q: Floats, t: float, mass: Floats
) -> tuple[float, str]:
    """Return the largest rate of decay by damping [1/s], and the speed that decays most in it."""
    rows = constraints.rows(q, [0.0] * robot.nv, t)
    free = scipy.linalg.null_space(rows.matrix) if len(rows.labels) else np.eye(robot.nv)
    if not free.shape[1]:
        return 0.0, ''
    damping = free.T @ (robot.damping[:, None] * free)
    last = free.shape[1] - 1
    rates, modes = scipy.linalg.eigh(damping, free.T @ mass @ free, subset_by_index=(last, last))
    losses = robot.damping * (free @ modes[:, 0]) ** 2
    return float(rates[0]), robot.velocity_names[int(np.argmax(losses))]


def check_damping(
    robot: Robot,
    constraints: ConstraintSet,
    integrator: str,
    q: Floats,
    t: float,
    h: float,
    mass: Floats | None = None,
) -> None:
    """Check that damping is not too stiff for steps of h [s] of an explicit integrator."""
    limit = STABLE.get(integrator)
    if limit is None or not robot.damping.any():
        return
    mass = gauss_mass_matrix(robot, q.tolist()) if mass is None else mass
    try:
        inverse = solve_lower(np.asarray(np.linalg.cholesky(mass), float), np.eye(robot.nv))
        bound = float(robot.damping @ np.square(inverse).sum(axis=0))
    except np.linalg.LinAlgError:  # a speed without mass
        bound = np.inf
    if bound * abs(h) <= limit:  # all rates together, the trace of M^-1 D; rows make none faster
        return
    rate, name = fastest_decay(robot, constraints, q, t, mass)
    if rate * abs(h) > limit:
        raise DivergedError(
            f"the damping of '{name}' is too stiff for {integrator!r}: alone it would stop the "
            f'motion in {1.0 / rate:.2g} s, and steps of {h:g} s would diverge; take the '
            "integrator 'semi_implicit' or 'midpoint', which have damping implicit, or steps "
            f'below {limit / rate:.2g} s'
        )


LARGEST = 1e12  # of coordinates and speeds: sine and cosine of an angle still have four digits
MOST_HALVINGS = 20  # a millionth of a step
RUNAWAY = 1e5  # speed [rad/s or m/s] of no machine, from which on errors are put down to it


def check_not_diverged(q: Floats, v: Floats, t: float) -> None:
    """Check that a state can still be computed with."""
    if not ((np.abs(q) < LARGEST).all() and (np.abs(v) < LARGEST).all()):
        raise _diverged(t)


def check_steps(integrator: str, projection: bool, halvings: int = 0) -> None:
    """Check how steps are taken, and how often one may be cut in two."""
    as_choice('integrator', integrator, sorted(INTEGRATORS))
    if not isinstance(projection, (bool, np.bool_)):
        raise InvalidInputError(f'projection: need True or False, got {describe(projection)}')
    if isinstance(halvings, bool) or not (
        isinstance(halvings, (int, np.integer)) and 0 <= halvings <= MOST_HALVINGS
    ):
        raise InvalidInputError(
            f'halvings: need a whole number from 0 to {MOST_HALVINGS}, got {halvings!r}'
        )


@contextmanager
def running_away(v: Floats, t: float) -> Iterator[None]:
    """Say of errors at speeds of a motion that runs away that it does."""
    try:
        yield
    except (SingularMassMatrixError, InconsistentConstraintsError, ProjectionError) as error:
        if np.abs(v).max(initial=0.0) < RUNAWAY:
            raise
        raise _diverged(t) from error


def _diverged(t: float) -> DivergedError:
    return DivergedError(
        f'the motion diverged by t = {t:.6g} s: the step is too long for the forces on it; take a '
        'shorter one. Efforts are held over a step, so gains of a control law bound its length; '
        "damping of joints does not in 'semi_implicit' and 'midpoint'"
    )
