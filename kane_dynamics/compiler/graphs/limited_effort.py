# SPDX-License-Identifier: Apache-2.0
"""What forces do, as graphs, and efforts within limits, as routines that call them."""

from kane_dynamics.algebra import casadi as ca
from kane_dynamics.algebra.scalars import sqrt
from kane_dynamics.algebra.traced_scalar import symbols
from kane_dynamics.algorithms.constrained_solve import ConstrainedSystem
from kane_dynamics.algorithms.limited_inverse import most_bounds
from kane_dynamics.algorithms.sparse_ldl import factor_tree, smaller
from kane_dynamics.compiler.graphs.inverse_dynamics import Names, indices_of, inverse_solve
from kane_dynamics.compiler.graphs.trace import Tracer
from kane_dynamics.compiler.graphs.traced_state import column
from kane_dynamics.compiler.llvm import limited_forces
from kane_dynamics.compiler.llvm.kernel_spec import KernelSpec, RoutineSpec


def inner_forces(tracer: Tracer, actuated: Names) -> KernelSpec:
    """Trace changes of efforts and multipliers that move nothing, one for each actuated speed."""
    nv, weights, rcond = tracer.robot.nv, symbols('w', tracer.robot.nv), ca.SX(1.0)
    driven, balance = indices_of(tracer, actuated), inverse_solve(tracer)
    moves = ca.SX(nv + len(tracer.state_rows), nv)
    for k in driven:
        unit = [float(j == k) for j in range(nv)]
        result = balance.balanced(unit, driven, weights)
        effort = [x - e for x, e in zip(result.effort, unit, strict=True)]
        moves[:, k] = column([*effort, *result.multipliers]) / sqrt(weights[k])
        rcond = smaller(rcond, result.rcond)
    inputs = [tracer.q, tracer.v, weights, [tracer.t]]
    return tracer.spec('inner_forces', inputs, [ca.vec(moves.T)], [moves.shape], ca.SX(rcond))


def force_responses(tracer: Tracer) -> KernelSpec:
    """Trace what unit forces, and the right sides of rows, cause; then the rows."""
    nv, rows = tracer.robot.nv, tracer.state_rows
    system, rcond = ConstrainedSystem(factor_tree(tracer.mass), tracer.system(rows)), ca.SX(1.0)
    results = []
    for k in range(nv + 1):
        unit = [float(j == k) for j in range(nv)]
        solved = system.solve(unit, [float(k == nv) * x for x in rows.acceleration])
        results.append(column([*solved.x, *solved.multipliers]))
        rcond = smaller(rcond, solved.rcond)
    if tracer.plan.repeated or not tracer.plan.certain:  # forces are shared out
        rcond = ca.SX(0.0)
    known = [column([*row, b]).T for row, b in zip(rows.matrix, rows.acceleration, strict=True)]
    whole = ca.vertcat(ca.horzcat(*results), *known)
    inputs = [tracer.q, tracer.v, [tracer.t]]
    return tracer.spec('force_responses', inputs, [ca.vec(whole.T)], [whole.shape], ca.SX(rcond))


def limited_effort(tracer: Tracer, actuated: Names) -> RoutineSpec:
    """Return forces within bounds by loops; see `llvm.limited_forces`."""
    nv, rows, driven = tracer.robot.nv, len(tracer.state_rows), indices_of(tracer, actuated)
    forces, bounds = nv + rows, most_bounds(nv, rows)
    constants = {'N': nv, 'F': forces, 'C': bounds, 'S': len(driven), 'Z': forces + nv + 1}
    constants |= {'RESPONSES': forces + rows, 'TURNS': 10 * (bounds + nv)}
    return RoutineSpec(
        'limited_effort',
        (tracer.robot.nq, *[nv] * 5, forces, bounds * forces, bounds, 1),
        ((forces + 1,),),
        limited_forces.limited_effort,
        {**constants, 'DRIVEN': driven},
        len(tracer.parameters),
        (inner_forces(tracer, actuated), force_responses(tracer)),
    )


SOLVES = inner_forces, force_responses, limited_effort
"""Graphs and routines of rows of the table, with their choices after the tracer."""
