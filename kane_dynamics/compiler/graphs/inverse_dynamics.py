# SPDX-License-Identifier: Apache-2.0
"""Graphs of what constraint rows ask of a motion, and of the efforts that produce or follow it."""

from collections.abc import Sequence
from functools import reduce
from typing import Any

from kane_dynamics.algebra import casadi as ca
from kane_dynamics.algebra.dual_quaternion import DualQuaternion, wrench_from_vector
from kane_dynamics.algebra.scalars import is_zero, sqrt
from kane_dynamics.algebra.traced_scalar import column, symbols
from kane_dynamics.algorithms.constrained_solve import ConstrainedSystem, Solved
from kane_dynamics.algorithms.newton_euler import TERMS, newton_euler
from kane_dynamics.algorithms.newton_euler import reference_effort as effort_of_reference
from kane_dynamics.algorithms.row_elimination import SparseRows, residuals, sparse_rows
from kane_dynamics.algorithms.sparse_ldl import factor_tree, smaller, symmetric_product
from kane_dynamics.algorithms.task_space_law import GAINS, WANTED, TaskSpaceLaw, following_motion
from kane_dynamics.algorithms.traced_inverse_solve import TracedInverseSolve
from kane_dynamics.algorithms.wrench_law import TASK, TASK_GAINS, WrenchLaw, wrench_motion
from kane_dynamics.compiler.graphs.step_graphs import nearest_speeds
from kane_dynamics.compiler.graphs.trace import Tracer
from kane_dynamics.compiler.llvm.kernel_spec import KernelSpec
from kane_dynamics.robot.robot import WORLD

Names = tuple[str, ...]


def consistent_velocity(tracer: Tracer, known: Names | None) -> KernelSpec:
    """Trace speeds with A v = b0."""
    if known is None:
        nearest = nearest_speeds(tracer)
        v, rcond = nearest.x, nearest.rcond
    else:
        (v,), (rcond,) = _speeds(tracer, known, tracer.v)
    inputs, shape = [tracer.q, tracer.v, [tracer.t]], (tracer.robot.nv,)
    return tracer.spec('consistent_velocity', inputs, [column(v)], [shape], ca.SX(rcond))


def consistent_acceleration(tracer: Tracer, known: Names | None) -> KernelSpec:
    """Trace accelerations with A a = b."""
    b = list(tracer.state_rows.acceleration)
    if known is None:
        force = symmetric_product(tracer.mass, tracer.a)
        system = tracer.system(tracer.state_rows)
        solved = ConstrainedSystem(factor_tree(tracer.mass), system).solve(force, b)
        a, rcond = solved.x, solved.rcond
    else:
        a, rcond = _accelerations(tracer, known, tracer.a, b)
    inputs, shape = [tracer.q, tracer.v, tracer.a, [tracer.t]], (tracer.robot.nv,)
    return tracer.spec('consistent_acceleration', inputs, [column(a)], [shape], ca.SX(rcond))


def constrained_effort(tracer: Tracer, actuated: Names, known: Names | None) -> KernelSpec:
    """Trace constrained inverse dynamics: the numbers of a `ConstrainedEffort`."""
    (v,), of_speeds = _speeds(tracer, known, tracer.v)
    b = list(tracer.rows(tracer.q, v, tracer.t).acceleration)
    a, rcond = _accelerations(tracer, known, tracer.a, b)
    switches = symbols('s', len(TERMS))
    force = tracer.required_effort(v, a, switches)
    named, rcond = ('constrained_effort', tracer, actuated), reduce(smaller, [*of_speeds, rcond])
    inputs = [tracer.q, tracer.v, tracer.a]
    return effort_spec(*named, inputs, switches, (v, a), force, rcond)


def reference_effort(tracer: Tracer, actuated: Names, known: Names | None) -> KernelSpec:
    """Trace constrained inverse dynamics of reference speeds: the same numbers."""
    x_in = symbols('x', tracer.robot.nv)
    (v, x), of_speeds = _speeds(tracer, known, tracer.v, x_in)
    a, rcond = _accelerations(tracer, known, tracer.a, row_rates(tracer, v, x))
    switches = symbols('s', len(TERMS))
    force = effort_of_reference(tracer.robot, tracer.q, v, x, a, switches)
    named, rcond = ('reference_effort', tracer, actuated), reduce(smaller, [*of_speeds, rcond])
    inputs = [tracer.q, tracer.v, x_in, tracer.a]
    return effort_spec(*named, inputs, switches, (x, a), force, rcond)


def _speeds(
    tracer: Tracer, known: Names | None, *several: Sequence[Any]
) -> tuple[list[list[Any]], list[Any]]:
    """Return speeds with what is not known from A v = b0, each with its rcond; or as they are."""
    if known is None:
        return [list(v) for v in several], []
    balance, b0 = inverse_solve(tracer), list(tracer.state_rows.velocity)
    results = [balance.completed(v, b0, indices_of(tracer, known)) for v in several]
    return [one.x for one in results], [one.rcond for one in results]


def _accelerations(
    tracer: Tracer, known: Names | None, a: Sequence[Any], b: list[Any]
) -> tuple[list[Any], Any]:
    """Return accelerations with what is not known from A a = b; the rcond, 0 off these rows."""
    balance = inverse_solve(tracer)
    if known is None:
        return list(a), balance.allowed(a, b)
    result = balance.completed(a, b, indices_of(tracer, known))
    return result.x, result.rcond


def external_force(tracer: Tracer) -> KernelSpec:
    """Trace J' w of a wrench (tau, f) on each frame, in its axes."""
    robot, at_rest = tracer.robot, tracer.at_rest
    w = symbols('w', 6 * len(tracer.frames))
    on_bodies: dict[int, DualQuaternion] = {}
    for k, name in enumerate(tracer.frames):
        frame = robot.frame(name)
        if frame.body != WORLD:
            moved = frame.pose.adjoint(wrench_from_vector(w[6 * k : 6 * k + 6]))
            known = on_bodies.get(frame.body)
            on_bodies[frame.body] = moved if known is None else known + moved
    force = newton_euler(robot, tracer.q, at_rest, at_rest, gravity=0.0, external=on_bodies)
    return tracer.spec('external_force', [tracer.q, w], [-column(force)], [(robot.nv,)])


def row_rates(tracer: Tracer, v: Sequence[Any], x: Sequence[Any]) -> list[Any]:
    """Return b of A a = b for the rate of reference speeds x, while the robot moves at v."""
    b = list(tracer.rows(tracer.q, v, tracer.t).acceleration)
    if not b:
        return b
    gap = [v_ref - speed for v_ref, speed in zip(x, v, strict=True)]
    turn = tracer.constraints.turning_rate(column(tracer.q), column(v), column(gap), tracer.t)
    return [side - rate for side, rate in zip(b, ca.vertsplit(turn), strict=True)]


def effort_spec(
    name: str,
    tracer: Tracer,
    actuated: Names,
    inputs: list[list[Any]],
    switches: list[Any],
    motion: tuple[list[Any], list[Any]],
    force: Any,
    rcond: Any,
    report: Sequence[Any] = (),
) -> KernelSpec:
    """Return the kernel of what motors and rows must give for a force and a motion."""
    robot, rows, balance, (v, a) = tracer.robot, tracer.state_rows, inverse_solve(tracer), motion
    weights, driven = symbols('w', robot.nv), indices_of(tracer, actuated)
    if not all(is_zero(c) for c in rows.velocity):
        rcond = smaller(rcond, balance.agreed(v, list(rows.velocity)))
    result = balance.balanced(list(force), driven, weights)
    slip = residuals(balance.rows, v, rows.velocity)
    rank = len(driven) + min(robot.nv - len(driven), len(tracer.plan.balance.order))
    numbers = rank, _norm(result.remaining), _norm(slip)
    whole = column([*result.effort, *result.multipliers, *v, *a, *numbers, *report])
    inputs = [*inputs, weights, switches, [tracer.t]]
    rcond = ca.SX(smaller(rcond, result.rcond))
    return tracer.spec(name, inputs, [whole], [(whole.numel(),)], rcond)


def inverse_solve(tracer: Tracer) -> TracedInverseSolve:
    """Return what the rows ask and give."""
    rows = tracer.state_rows
    system = tracer.plan.balance.system(rows, sparse_rows(rows.matrix))
    return TracedInverseSolve(system, tracer.robot.nv, tracer.in_single)


def indices_of(tracer: Tracer, names: Names) -> list[int]:
    """Return the places of names in v."""
    return [tracer.robot.velocity_index(name) for name in names]


def _norm(values: Sequence[Any]) -> Any:
    return sqrt(ca.SX(sum((x * x for x in values), 0.0)))


class _Allowed:
    """What constraints allow at a state; see `algorithms.task_space_law.AllowedMotion`."""

    def __init__(
        self, tracer: Tracer, v: list[Any], held: Names = (), passive: bool = False
    ) -> None:
        self._tracer, self._v = tracer, v
        self._held, self._passive = indices_of(tracer, held), passive
        rows = tracer.state_rows
        system = tracer.plan.balance.system(rows, sparse_rows(rows.matrix))
        if self._held:
            system = SparseRows.of([{k: ca.SX(1.0)} for k in self._held])
        self._none: list[Any] = [0.0] * len(system.rows)
        self._system = ConstrainedSystem(factor_tree(tracer.mass), system)
        self.rcond: Any = ca.SX(1.0)

    def spread(self, force: Sequence[Any]) -> list[Any]:
        """Return the accelerations that a force causes beside those of no force."""
        return self._told(self._system.solve(force, self._none, watch=False))

    def nearest(self, a: Sequence[Any], x: Sequence[Any]) -> list[Any]:
        """Return the accelerations nearest to `a` that rows allow; speeds x change at them."""
        force = symmetric_product(self._tracer.mass, a)
        return self._told(self._system.solve(force, self._right_side(x)))

    def rates(self, x: Sequence[Any]) -> list[Any]:
        """Return b of A a = b for the rate of speeds x."""
        if self._passive:
            return row_rates(self._tracer, self._v, x)
        return list(self._tracer.rows(self._tracer.q, self._v, self._tracer.t).acceleration)

    def _right_side(self, x: Sequence[Any]) -> list[Any]:
        return [self._tracer.a[k] for k in self._held] if self._held else self.rates(x)

    def _told(self, solved: Solved) -> list[Any]:
        self.rcond = smaller(self.rcond, solved.rcond)
        return solved.x


def frame_effort(tracer: Tracer, *choices: Any) -> KernelSpec:
    """Trace the numbers of `Dynamics.frame_effort`; the choices are those of a `TaskSpaceLaw`."""
    law = TaskSpaceLaw(*choices)
    target, gains = symbols('wanted', WANTED), symbols('gain', GAINS)
    posture, switches = symbols('posture', tracer.robot.nq), symbols('s', len(TERMS))
    (v,), of_speeds = _speeds(tracer, law.known, tracer.v)
    allowed = _Allowed(tracer, v, law.held, law.passive)
    state = tracer.robot, law, tracer.q, v
    result = following_motion(*state, target, gains, posture, allowed)
    x = result.reference
    a, rcond = _accelerations(tracer, law.known, result.acceleration, allowed.rates(x))
    if law.passive:
        turning = effort_of_reference(tracer.robot, tracer.q, v, x, a, switches)
        force = [h + p for h, p in zip(turning, result.feedback, strict=True)]
    else:
        force = list(tracer.required_effort(v, a, switches))
    inputs = [tracer.q, tracer.v, tracer.a, target, gains, posture]
    rcond = reduce(smaller, [*of_speeds, rcond, allowed.rcond])
    named = 'frame_effort', tracer, law.actuated
    return effort_spec(*named, inputs, switches, (x, a), force, rcond, result.report)


def wrench_effort(tracer: Tracer, *choices: Any) -> KernelSpec:
    """Trace the numbers of `Dynamics.wrench_effort`; the choices are those of a `WrenchLaw`."""
    law, v, allowed = WrenchLaw(*choices), list(tracer.v), _Allowed(tracer, list(tracer.v))
    task, gains, switches = symbols('x', TASK), symbols('g', TASK_GAINS), symbols('s', len(TERMS))
    state = tracer.robot, law, tracer.q, v, tracer.a
    motion = wrench_motion(*state, task, gains, allowed)
    a, needed = motion.acceleration, tracer.required_effort(v, motion.acceleration, switches)
    force = [h + more for h, more in zip(needed, motion.force, strict=True)]
    rcond = smaller(inverse_solve(tracer).allowed(a, allowed.rates(v)), allowed.rcond)
    named = 'wrench_effort', tracer, law.actuated, [tracer.q, v, tracer.a, task, gains], switches
    return effort_spec(*named, (v, a), force, rcond, motion.report)


SOLVES = (
    *(consistent_velocity, consistent_acceleration, constrained_effort, reference_effort),
    *(frame_effort, wrench_effort),
)
"""Graphs of rows of the table, with their choices after the tracer."""
