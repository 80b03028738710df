# SPDX-License-Identifier: Apache-2.0
"""
How a compiled solve treats its constraint rows.

Which rows are taken is decided at each state, by the rule of `constraints.row_selection`. What is
decided here only saves work: rows that repeat others at all samples are left out of the solve and
watched at every state, and where no row is ever weak nothing asks which to drop. Where such a
guess is wrong the health of a solve says so, and the reference runs.

Of rows that repeat each other one choice is strong here and may be singular elsewhere (of
Bennett's loop every one is): the mechanism is walked around, and where the choice is weak on the
way, a second one is solved for beside it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kane_dynamics.algebra import casadi as ca
from kane_dynamics.algorithms.mass_matrix import gauss_mass_matrix
from kane_dynamics.algorithms.projection import project
from kane_dynamics.algorithms.row_elimination import ROW_WEIGHT, SparseRows, eliminate
from kane_dynamics.algorithms.udwadia_kalaba import cholesky_factor
from kane_dynamics.constraints.base import ConstraintRows
from kane_dynamics.constraints.constraint_set import ConstraintSet
from kane_dynamics.constraints.rolling import RollingWheel
from kane_dynamics.constraints.row_selection import GRADES, ROUNDOFF_ROW, select_rows
from kane_dynamics.exceptions import (
    ConstraintError,
    InconsistentConstraintsError,
    ProjectionError,
    SingularMassMatrixError,
)
from kane_dynamics.robot.motion import integrate_coordinates
from kane_dynamics.robot.robot import Robot
from kane_dynamics.typing import Bools, Floats

MOST_ROWS = 60  # of straight-line code: it grows with their square, and its plan with their cube
_SAMPLES = 3
_REPEATS = 1e-10  # strength of a row that repeats others but for roundoff
_SPANNING = 4e-4  # squared strength of rows that span the others; weaker ones drop too often
_NEVER_WEAK = 2.5e-3  # squared strength, 25 times above what the solve still takes
_HEADINGS = 24  # closer than a choice of rows stays weak
_STRONG = GRADES[0] ** 2  # squared strength of a choice that needs no other
_WIDTHS = (0.5, 0.5, 1.5, 1.5, 3.0, 3.0, 3.0)  # [rad, m] of tries around a state
_STEPS, _TURN = 24, 0.3  # a walk of more than a turn, in steps [rad, m] that meet what is weak
_STILL = 1e-9  # of speeds of about 1 [rad/s, m/s] what roundoff leaves where nothing moves

Sample = tuple[ConstraintRows, Floats]
"""Rows and M at a state."""


@dataclass(frozen=True)
class RowPlan:
    """Which rows a compiled solve is for."""

    order: tuple[int, ...] = ()  # Rows that are solved for, holonomic ones first
    repeated: tuple[int, ...] = ()  # Rows that repeat these in general
    certain: bool = True  # Whether none of `order` was ever weak
    second: tuple[int, ...] = ()
    agreeing: tuple[int, ...] = ()
    second_agreeing: tuple[int, ...] = ()

    @property
    def balance(self) -> RowPlan:
        """Return the plan for efforts and completed speeds."""
        if not self.agreeing:
            return self
        every = (*self.order, *self.repeated)
        remainder = tuple(k for k in sorted(every) if k not in self.agreeing)
        return RowPlan(self.agreeing, remainder, second=self.second_agreeing)

    @property
    def solved(self) -> tuple[int, ...]:
        """Return the rows that any choice solves for."""
        return (*self.order, *(k for k in self.second if k not in self.order))

    def system(
        self,
        rows: ConstraintRows,
        entries: Sequence[Mapping[int, Any]],
        *,
        holonomic: bool = False,
    ) -> SparseRows:
        """Return the rows of a solve with their nonzeros; only the holonomic ones if wished."""
        choice = [rows.positions[k] is not None or not holonomic for k in range(len(rows))]
        return SparseRows(
            entries,
            rows.kinds,
            rows.owners,
            [k for k in self.order if choice[k]],
            [k for k in self.repeated if choice[k]],
            self.certain,
            [k for k in self.second if choice[k]],
        )


def row_plan(constraints: ConstraintSet) -> RowPlan:
    """Return how a compiled solve treats the rows of some constraints."""
    plan = _general_plan(constraints)
    if not constraints or not all(isinstance(one, RollingWheel) for one in constraints):
        return plan
    try:
        if agreeing := _agreeing(constraints, len(plan.order)):  # where it moves, none is certain
            plan = replace(plan, certain=False, second=(), agreeing=agreeing)
            return replace(plan, second_agreeing=_second_agreeing(constraints, plan.balance))
    except (SingularMassMatrixError, ConstraintError):
        pass  # no mass, or a wheel that lies flat at the neutral state
    return plan


def _general_plan(constraints: ConstraintSet) -> RowPlan:
    if not constraints:
        return RowPlan()
    rng = np.random.default_rng(0)
    if len(constraints.labels) > MOST_ROWS:
        q, v = constraints.robot.neutral(), np.zeros(constraints.robot.nv)
        return RowPlan(tuple(constraints.rows(q, v, 0.0).elimination_order()), certain=False)
    samples, near = list[Sample](), constraints.robot.neutral()
    for _ in range(_SAMPLES):
        near, v, t = _state(constraints, rng, near)
        samples.append(sample_at(constraints, near, v, t))
    order = samples[0][0].elimination_order()
    try:
        repeats = np.all([_repeats(rows, mass) for rows, mass in samples], axis=0)
        if repeats.any():
            repeats &= _without_time_and_switches(constraints)
        kept = tuple(k for k in order if not repeats[k])
        watched = tuple(k for k in order if repeats[k])
        plan = RowPlan(kept, watched)
        if all(_weakest(plan, rows, mass) > _NEVER_WEAK for rows, mass in samples):
            return _with_second_choice(plan, constraints, rng)
        best = _strongest_plan(samples)
        if best and _without_time_and_switches(constraints)[list(best.repeated)].all():
            return _with_second_choice(best, constraints, rng)
    except SingularMassMatrixError:
        return RowPlan(tuple(order))  # the reference solves, or says what has no mass
    return RowPlan(kept, watched, certain=False)


def _agreeing(constraints: ConstraintSet, general: int) -> tuple[int, ...]:
    """Return wheel rows that span the others at the neutral state, if fewer than in general."""
    q, v = constraints.robot.neutral(), np.zeros(constraints.robot.nv)
    result = _strongest_plan([sample_at(constraints, q, v, 0.0)])
    return result.order if result and len(result.order) < general else ()


def _second_agreeing(constraints: ConstraintSet, plan: RowPlan) -> tuple[int, ...]:
    """Return rows for the headings of steered wheels, all alike, at which a plan is weak."""
    robot = constraints.robot
    turned = [place for wheel in constraints for place in _steering(robot, wheel)]
    if not turned:
        return ()
    weak = []
    for heading in np.pi * np.arange(1, _HEADINGS) / _HEADINGS:
        q = np.array(robot.neutral())
        q[turned] += heading
        rows, mass = sample_at(constraints, q, np.zeros(robot.nv), 0.0)
        agrees = np.linalg.matrix_rank(rows.matrix, _REPEATS) == len(plan.order)
        if agrees and _weakest(plan, rows, mass) < _STRONG:
            weak.append((rows, mass))
    other = _strongest_plan(weak) if weak else None
    return other.order if other is not None and len(other.order) == len(plan.order) else ()


def _steering(robot: Robot, wheel: Any) -> list[int]:
    """Return the coordinate of the joint that carries a wheel's, if it is one angle."""
    carrying = robot.ancestors(wheel.wheel.body)[1:-1]
    index_list = [range(robot.nq)[robot.indices[body].q] for body in carrying[-1:]]
    return [local[0] for local in index_list if len(local) == 1]


def _strongest_plan(samples: Sequence[Sample]) -> RowPlan | None:
    """Return the rows that span all others, strongly at every sample, where there are some."""
    rows, mass = samples[0]
    order = rows.elimination_order()
    first = set(select_rows(rows, cholesky_factor(mass)).independent_indices.tolist())
    others = [k for k in order if k not in first and _counts(k, samples)]
    sets = [first, *(first - {k} | {other} for k in first for other in others)]
    best, most = None, _SPANNING
    for choice in sets:
        kept = tuple(k for k in order if k in choice)
        plan = RowPlan(kept, tuple(k for k in order if k not in choice))
        least = min(_weakest(plan, *sample) for sample in samples)
        if least > most and all(_spans(plan, rows) for rows, _ in samples):
            best, most = plan, least
    return best


def _counts(k: int, samples: Sequence[Sample]) -> bool:
    """Return whether a row is more than roundoff beside those of its constraint, at a sample."""
    same = np.equal(samples[0][0].owners, samples[0][0].owners[k])
    A = np.abs([rows.matrix for rows, _ in samples])
    return bool((A[:, k].max(axis=1) > ROUNDOFF_ROW * A[:, same].max(axis=(1, 2))).any())


def _with_second_choice(
    plan: RowPlan, constraints: ConstraintSet, rng: np.random.Generator
) -> RowPlan:
    """Return a plan with other rows for where its own are weak, if they ever are."""
    if not plan.repeated:
        return plan
    way = walked(constraints, rng)
    weak = [sample for sample in way if _weakest(plan, *sample) < _STRONG]
    other = _strongest_plan(weak) if weak else None
    if other is None or other.order == plan.order or len(other.order) != len(plan.order):
        return plan
    positions = weak[0][0].positions  # a Newton step of q must ask for as much
    if len({sum(positions[k] is None for k in choice.order) for choice in (plan, other)}) > 1:
        return plan
    steady = _without_time_and_switches(constraints)[list(other.repeated)].all()
    return replace(plan, second=other.order) if steady else plan


def _spans(plan: RowPlan, rows: ConstraintRows) -> bool:
    """Return whether the repeated rows of a plan are made of the others but for roundoff."""
    A, remainder = rows.matrix[list(plan.order)], rows.matrix[list(plan.repeated)]
    beyond = remainder - np.linalg.lstsq(A.T, remainder.T, rcond=None)[0].T @ A
    return bool(np.abs(beyond).max(initial=0.0) <= _REPEATS * np.abs(rows.matrix).max())


def _repeats(rows: ConstraintRows, mass: Floats) -> Bools:
    """Return which rows repeat others but for roundoff."""
    selection = select_rows(rows, cholesky_factor(mass))
    weak = selection.strength < _REPEATS
    weak[selection.independent_indices] = False
    return weak


def _weakest(plan: RowPlan, rows: ConstraintRows, mass: Floats) -> float:
    """Return the smallest squared strength of the rows of a plan, in the order of its solve."""
    entries = [dict(enumerate(row)) for row in rows.matrix.tolist()]
    A = rows.matrix[[*plan.order, *plan.repeated]]
    gram = A @ np.linalg.solve(mass, A.T)
    lower = [gram[i, : i + 1].tolist() for i in range(len(gram))]
    return float(eliminate(plan.system(rows, entries), lower).rcond / ROW_WEIGHT)


def _without_time_and_switches(constraints: ConstraintSet) -> Bools:
    """Return which rows hold neither time nor a switch: what they are at a sample, they stay."""
    robot = constraints.robot
    state = ca.SX.sym('q', robot.nq), ca.SX.sym('v', robot.nv), ca.SX.sym('t')
    q, v, t = state
    rows = constraints.rows(ca.vertsplit(q), ca.vertsplit(v), t)
    switches = {
        getattr(ca, f'OP_{name}')
        for name in 'LT LE EQ NE NOT AND OR IF_ELSE_ZERO FABS SIGN FLOOR CEIL FMIN FMAX'.split()
    }
    steady = []
    for A, b0, b in zip(rows.matrix, rows.velocity, rows.acceleration, strict=True):
        row = ca.vertcat(*[ca.SX(x) for x in (*A, b0, b)])
        function = ca.Function('row', list(state), [row])
        used = {function.instruction_id(k) for k in range(function.n_instructions())}
        steady.append(not ca.depends_on(row, t) and not used & switches)
    return np.array(steady)


def sample_at(constraints: ConstraintSet, q: Floats, v: Floats, t: float) -> Sample:
    """Return rows and M at a state."""
    return constraints.rows(q, v, t), gauss_mass_matrix(constraints.robot, q.tolist())


def walked(constraints: ConstraintSet, rng: np.random.Generator) -> Iterator[Sample]:
    """Yield rows and M along a motion of the mechanism, once around where it turns."""
    robot = constraints.robot
    q, v, t = _state(constraints, rng, robot.neutral())
    for _ in range(_STEPS):
        fastest = np.abs(v).max(initial=0.0)
        if fastest < _STILL:
            return
        try:
            q = integrate_coordinates(robot, q, v, _TURN / fastest)
            q, v, _ = project(robot, constraints, q, v / fastest, t)
        except (ProjectionError, InconsistentConstraintsError):
            return
        yield sample_at(constraints, q, v, t)


def _state(
    constraints: ConstraintSet, rng: np.random.Generator, near: Floats
) -> tuple[Floats, Floats, float]:
    """Return a state in general position, on the constraints where that works."""
    robot = constraints.robot
    v, t = rng.uniform(-1.0, 1.0, robot.nv), rng.uniform(0.0, 1.0)
    # a loop that is singular at the neutral state closes more often near one that has closed
    for start, width in [(x, width) for x in (robot.neutral(), near, near) for width in _WIDTHS]:
        turn = rng.uniform(-width, width, robot.nv)
        q = integrate_coordinates(robot, start, turn, 1.0)
        try:
            q, v, _ = project(robot, constraints, q, v, t)
            break
        except ProjectionError:
            continue  # a loop that does not close from here
        except (InconsistentConstraintsError, SingularMassMatrixError):
            break  # rows are judged off the constraints: none repeats others to roundoff there
    return q, v, t
