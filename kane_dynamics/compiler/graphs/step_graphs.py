# SPDX-License-Identifier: Apache-2.0
"""
Graphs of time steps: speeds after forces and constraints, projections, and their checks.

A step of a large robot is a `Program`: expressions between calls of other kernels.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kane_dynamics.algebra import casadi as ca
from kane_dynamics.algebra.scalars import where
from kane_dynamics.algebra.traced_scalar import column, symbol, symbols
from kane_dynamics.algorithms.constrained_solve import (
    ConstrainedSystem,
    Solved,
    better_conditioned,
)
from kane_dynamics.algorithms.newton_euler import implicit_drag
from kane_dynamics.algorithms.projection import POSITION_TOLERANCE
from kane_dynamics.algorithms.row_elimination import residuals
from kane_dynamics.algorithms.sparse_ldl import factor_tree, symmetric_product
from kane_dynamics.compiler.graphs.trace import Graph, Tracer
from kane_dynamics.compiler.graphs.traced_state import WELL_CONDITIONED
from kane_dynamics.compiler.llvm.kernel_spec import KernelSpec
from kane_dynamics.constraints.row_selection import TAKEN
from kane_dynamics.robot.motion import integrate_coordinates
from kane_dynamics.simulation.integrators import KICKS, STICTION_SPEED
from kane_dynamics.simulation.step_checks import (
    crossing_determinant,
    excess_gap,
    excess_jump,
    forecast,
)


def impulse(tracer: Tracer) -> KernelSpec:
    """Trace speeds h after v with implicit friction, forces at `a`: (q, v, a, tau, (t, h))."""
    h = symbol('h')
    drag = implicit_drag(tracer.robot, tracer.a, STICTION_SPEED)
    momentum = symmetric_product(tracer.mass, tracer.v)
    bias = tracer.tree_effort(tracer.a)
    force = [p + h * (u - c) for p, u, c in zip(momentum, tracer.tau, bias, strict=True)]
    rows = tracer.rows(tracer.q, tracer.a, tracer.t)
    damped = [{**row, k: row[k] + h * drag[k]} for k, row in enumerate(tracer.mass)]
    solved = ConstrainedSystem(factor_tree(damped), tracer.system(rows)).solve(
        force, list(rows.velocity_after(tracer.v, h)), (tracer.a, list(rows.velocity))
    )
    inputs = [tracer.q, tracer.v, tracer.a, tracer.tau, [tracer.t, h]]
    shapes = [(tracer.robot.nv,)]
    return tracer.spec('impulse', inputs, [column(solved.x)], shapes, ca.SX(solved.rcond))


def kick(tracer: Tracer) -> KernelSpec:
    """Trace speeds h after v across a middle place: (q, v, tau, (t, h))."""
    h = symbol('h')
    drag = implicit_drag(tracer.robot, tracer.v, STICTION_SPEED)
    momentum = symmetric_product(tracer.mass, tracer.v)
    damped = [{**row, k: row[k] + h * drag[k]} for k, row in enumerate(tracer.mass)]
    rows, middle = tracer.rows(tracer.q, tracer.v, tracer.t), tracer.v
    system = ConstrainedSystem(factor_tree(damped), tracer.system(rows))
    for turn in range(1, KICKS + 1):
        bias = tracer.tree_effort(middle)
        force = [p + h * (u - c) for p, u, c in zip(momentum, tracer.tau, bias, strict=True)]
        rows = tracer.rows(tracer.q, middle, tracer.t)
        last = turn == KICKS
        speeds = (middle, list(rows.velocity)) if last else None
        target = list(rows.velocity_across(tracer.v, h))
        solved = system.solve(force, target, speeds, watch=last)
        middle = [0.5 * (x + y) for x, y in zip(tracer.v, solved.x, strict=True)]
    inputs = [tracer.q, tracer.v, tracer.tau, [tracer.t, h]]
    shapes = [(tracer.robot.nv,)]
    return tracer.spec('kick', inputs, [column(solved.x)], shapes, ca.SX(solved.rcond))


def balance(tracer: Tracer) -> KernelSpec:
    """Trace whether the states (q, v) x 3 and h of a midpoint step keep the energy."""
    sizes = [tracer.robot.nq, tracer.robot.nv] * 3
    states = [symbols(f'state{k}_', size) for k, size in enumerate(sizes)]
    start, middle, end = zip(states[::2], states[1::2], strict=True)
    h = symbol('h')
    _, excess = excess_gap(tracer.robot, start, middle, end, h)
    return tracer.spec('balance', [*states, [h]], [], [], where(ca.SX(excess) > 0.0, 0.0, 1.0))


def jump(tracer: Tracer) -> KernelSpec:
    """Trace whether middle speeds follow from the start: (q, v, v_middle, tau, (t, h))."""
    h = symbol('h')
    excess = excess_jump(
        lambda x: symmetric_product(tracer.mass, x),
        tracer.v,
        forecast(tracer.v, tracer.solution.x, h),
        tracer.a,
    )
    inputs = [tracer.q, tracer.v, tracer.a, tracer.tau, [tracer.t, h]]
    rcond = where(ca.SX(excess) > 0.0, 0.0, ca.SX(tracer.solution.rcond))
    return tracer.spec('jump', inputs, [], [], rcond)


def place(tracer: Tracer) -> KernelSpec:
    """Trace one Newton step of the coordinates onto the holonomic rows."""
    violation = [-x for x in tracer.violation]
    system = tracer.system(tracer.state_rows, holonomic=True)
    solved = tracer.solve(tracer.at_rest, system, violation, holonomic=True, watch=False)
    q = integrate_coordinates(tracer.robot, tracer.q, solved.x, 1.0)
    inputs, rcond = [tracer.q, [tracer.t]], ca.SX(solved.rcond)
    return tracer.spec('place', inputs, [column(q)], [(tracer.robot.nq,)], rcond)


def crossing(tracer: Tracer) -> KernelSpec:
    """Trace whether no singular state lies between (q, q', (t, t')); see `crossing`."""
    ends, times = (tracer.q, symbols('end', tracer.robot.nq)), symbols('t', 2)
    rcond = WELL_CONDITIONED
    if tracer.plan.certain:
        systems = [
            tracer.system(tracer.rows(q, tracer.at_rest, t), holonomic=True)
            for q, t in zip(ends, times, strict=True)
        ]
        rcond = ca.SX(0.0)
        for order in (choice.order for choice in systems[0].choices):
            before, after = ([system.rows[k] for k in order] for system in systems)
            rcond = where(ca.SX(crossing_determinant(before, after)) < 0.0, rcond, 1.0)
    return tracer.spec('crossing', [*ends, times], [], [], rcond)


def project(tracer: Tracer) -> KernelSpec:
    """Trace the speeds onto the rows, and the rank; ill where the coordinates are off them."""
    solved = nearest_speeds(tracer)
    rcond = solved.rcond
    for k, phi in tracer.holonomic.items():  # as `algorithms.projection` ends
        limit = where(ca.SX(solved.dropped[k]) > 0.0, TAKEN, POSITION_TOLERANCE)
        rcond = where(ca.fabs(ca.SX(phi)) > limit, 0.0, rcond)
    inputs = [tracer.q, tracer.v, [tracer.t]]
    outputs, shapes = [column(solved.x), column([solved.rank])], [(tracer.robot.nv,), (1,)]
    return tracer.spec('project', inputs, outputs, shapes, ca.SX(rcond))


def nearest_speeds(tracer: Tracer) -> Solved:
    """Return the speeds on the rows that are nearest to v in the metric of M, as x."""
    system, b0 = tracer.system(tracer.state_rows), list(tracer.state_rows.velocity)
    gap = [-x for x in residuals(system.rows, tracer.v, b0)]
    solutions = []
    for rows in system.choices:
        solved = tracer.solve(tracer.at_rest, rows, gap, watch=False)
        v = [a + b for a, b in zip(tracer.v, solved.x, strict=True)]
        solutions.append(solved._replace(x=v, rcond=solved.rcond_of_speeds(v, b0)))
    return better_conditioned(solutions)


STEP_GRAPHS: tuple[Graph, ...] = (
    Tracer.acceleration,
    impulse,
    kick,
    balance,
    jump,
    place,
    crossing,
    project,
)


@dataclass(frozen=True)
class Call:
    """One call of a kernel."""

    kernel: str  # Name of the kernel
    arguments: tuple[ca.SX, ...]
    results: tuple[ca.SX, ...]  # Columns of symbols


@dataclass(frozen=True)
class Loop:
    """Calls that are repeated until a vector changes no more."""

    start: ca.SX  # The vector at first, in what is known before the loop
    vector: ca.SX  # Symbols of the vector before a turn
    calls: tuple[Call | Loop, ...]  # Of one turn
    better: ca.SX  # The vector after a turn
    change: ca.SX  # How much it changed, see `simulation.integrators.squared_change`
    result: ca.SX  # Symbols of the vector after the last turn


@dataclass(frozen=True)
class Program:
    """A step (q, v, tau, t, h) -> (q, v, rank) with its calls."""

    inputs: tuple[ca.SX, ...]
    calls: tuple[Call | Loop, ...]  # In order
    outputs: tuple[ca.SX, ...]  # Columns q, v and the rank of the rows at the end

    @property
    def kernels(self) -> list[str]:
        """Return the kernels in the order in which they are called, each turn of a loop once."""
        return [call.kernel for call in _flat(self.calls)]

    def segments(self) -> Iterator[ca.Function]:
        """Yield functions of the values known so far, in the order of the program."""
        known = list(self.inputs)
        yield from _segments(self.calls, known)
        yield _segment(known, self.outputs)


def _flat(calls: Sequence[Call | Loop]) -> Iterator[Call]:
    for call in calls:
        if isinstance(call, Loop):
            yield from _flat(call.calls)
        else:
            yield call


def _segments(calls: Sequence[Call | Loop], known: list[ca.SX]) -> Iterator[ca.Function]:
    """Yield the segments of calls, and append their results to what is known."""
    for call in calls:
        if isinstance(call, Loop):
            yield _segment(known, [call.start])
            inside = [*known, call.vector]
            yield from _segments(call.calls, inside)
            yield _segment(inside, [call.better, call.change])
            known.append(call.result)
        else:
            yield _segment(known, call.arguments)
            known += call.results


def _segment(known: Sequence[ca.SX], values: Sequence[ca.SX]) -> ca.Function:
    return ca.Function('segment', list(known), ca.cse(list(values)))
