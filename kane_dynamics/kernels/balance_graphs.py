# SPDX-License-Identifier: Apache-2.0
"""Graphs of what constraint rows ask of a motion, and of the efforts that produce it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import casadi as ca

from kane_dynamics.algebra.scalars import is_zero, sqrt
from kane_dynamics.algorithms.constrained_solve import solve_constrained
from kane_dynamics.algorithms.coriolis_effort import reference_effort as effort_of_reference
from kane_dynamics.algorithms.newton_euler import TERMS
from kane_dynamics.algorithms.row_balance import REACHED, REACHED_IN_SINGLE
from kane_dynamics.algorithms.sparse_ldl import factor_tree, smaller, symmetric_product
from kane_dynamics.algorithms.sparse_rows import residuals, sparse_rows
from kane_dynamics.algorithms.stronger_balance import StrongerBalance
from kane_dynamics.kernels.llvm.kernel_spec import KernelSpec
from kane_dynamics.kernels.trace import Tracer, column, symbols

Names = tuple[str, ...]


def consistent_velocity(tracer: Tracer, known: Names | None) -> KernelSpec:
    """Trace speeds with A v = b0."""
    if known is None:
        nearest = tracer.nearest_speeds()
        v, health = nearest.x, nearest.health
    else:
        b0 = list(tracer.state_rows.velocity)
        found = row_balance(tracer).completed(tracer.v, b0, indices_of(tracer, known))
        v, health = found.x, found.health
    inputs, shape = [tracer.q, tracer.v, [tracer.t]], (tracer.robot.nv,)
    return tracer.spec('consistent_velocity', inputs, [column(v)], [shape], ca.SX(health))


def consistent_acceleration(tracer: Tracer, known: Names | None) -> KernelSpec:
    """Trace accelerations with A a = b."""
    b = list(tracer.state_rows.acceleration)
    if known is None:
        force = symmetric_product(tracer.mass, tracer.a)
        system = tracer.system(tracer.state_rows)
        solved = solve_constrained(factor_tree(tracer.mass), force, system, b)
        a, health = solved.x, solved.health
    else:
        found = row_balance(tracer).completed(tracer.a, b, indices_of(tracer, known))
        a, health = found.x, found.health
    inputs, shape = [tracer.q, tracer.v, tracer.a, [tracer.t]], (tracer.robot.nv,)
    return tracer.spec('consistent_acceleration', inputs, [column(a)], [shape], ca.SX(health))


def constrained_effort(tracer: Tracer, actuated: Names, known: Names | None) -> KernelSpec:
    """Trace constrained inverse dynamics: the numbers of a `ConstrainedEffort`."""
    v, a, rows, balance = tracer.v, tracer.a, tracer.state_rows, row_balance(tracer)
    if known is None:
        health = balance.allowed(a, list(rows.acceleration))
    else:
        places = indices_of(tracer, known)
        speeds = balance.completed(v, list(rows.velocity), places)
        v = speeds.x
        b = list(tracer.rows(tracer.q, v, tracer.t).acceleration)
        rates = balance.completed(a, b, places)
        a, health = rates.x, smaller(speeds.health, rates.health)
    switches = symbols('s', len(TERMS))
    force = tracer.required_effort(v, a, switches)
    inputs = [tracer.q, tracer.v, tracer.a]
    return effort_spec(
        'constrained_effort', tracer, actuated, inputs, switches, (v, a), force, health
    )


def reference_effort(tracer: Tracer, actuated: Names, known: Names | None) -> KernelSpec:
    """Trace constrained inverse dynamics of reference speeds: the same numbers."""
    v, a, rows, balance = tracer.v, tracer.a, tracer.state_rows, row_balance(tracer)
    x: list[Any] = symbols('x', tracer.robot.nv)
    inputs, health = [tracer.q, v, x, a], ca.SX(1.0)
    b0, places = list(rows.velocity), None if known is None else indices_of(tracer, known)
    if places is not None:
        speeds, aim = (balance.completed(u, b0, places) for u in (v, x))
        v, x, health = speeds.x, aim.x, smaller(speeds.health, aim.health)
    b = row_rates(tracer, v, x)
    if places is None:
        health = smaller(health, balance.allowed(a, b))
    else:
        rates = balance.completed(a, b, places)
        a, health = rates.x, smaller(health, rates.health)
    switches = symbols('s', len(TERMS))
    force = effort_of_reference(tracer.robot, tracer.q, v, x, a, switches)
    return effort_spec(
        'reference_effort', tracer, actuated, inputs, switches, (x, a), force, health
    )


def row_rates(tracer: Tracer, v: Sequence[Any], x: Sequence[Any]) -> list[Any]:
    """Return b of A a = b for the rate of reference speeds x, while the robot moves at v."""
    b = list(tracer.rows(tracer.q, v, tracer.t).acceleration)
    if not b:
        return b
    gap = [aim - speed for aim, speed in zip(x, v, strict=True)]
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
    health: Any,
    report: Sequence[Any] = (),
) -> KernelSpec:
    """Return the kernel of what motors and rows must give for a force and a motion."""
    robot, rows, balance, (v, a) = tracer.robot, tracer.state_rows, row_balance(tracer), motion
    weights, driven = symbols('w', robot.nv), indices_of(tracer, actuated)
    if not all(is_zero(c) for c in rows.velocity):
        health = smaller(health, balance.agreed(v, list(rows.velocity)))
    found = balance.balanced(list(force), driven, weights)
    slip = residuals(balance.rows, v, rows.velocity)
    rank = len(driven) + min(robot.nv - len(driven), len(tracer.plan.balance.order))
    numbers = rank, _norm(found.remaining), _norm(slip)
    whole = column([*found.effort, *found.multipliers, *v, *a, *numbers, *report])
    inputs = [*inputs, weights, switches, [tracer.t]]
    health = ca.SX(smaller(health, found.health))
    return tracer.spec(name, inputs, [whole], [(whole.numel(),)], health)


def row_balance(tracer: Tracer) -> StrongerBalance:
    """Return what the rows ask and give."""
    rows = tracer.state_rows
    system = tracer.plan.balance.system(rows, sparse_rows(rows.matrix))
    reached = REACHED_IN_SINGLE if tracer.in_single else REACHED
    return StrongerBalance(system, tracer.robot.nv, reached)


def indices_of(tracer: Tracer, names: Names) -> list[int]:
    """Return the places of names in v."""
    return [tracer.robot.velocity_index(name) for name in names]


def _norm(values: Sequence[Any]) -> Any:
    return sqrt(ca.SX(sum((x * x for x in values), 0.0)))
