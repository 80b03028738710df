# SPDX-License-Identifier: Apache-2.0
"""Derivatives of the balance of a motion along one direction; see `compiler.derivatives`."""

from dataclasses import replace

from kane_dynamics.algebra import casadi as ca
from kane_dynamics.algebra.traced_scalar import column, symbols
from kane_dynamics.algorithms.row_elimination import residuals, sparse_rows, transpose_product
from kane_dynamics.compiler.graphs.bodies import LoopTracer
from kane_dynamics.compiler.graphs.body_groups import BodyGroup
from kane_dynamics.compiler.graphs.trace import Tracer
from kane_dynamics.compiler.llvm.kernel_spec import GroupCode, KernelSpec, LoopSpec, TreePass
from kane_dynamics.robot.motion import coordinate_rates


def effort_tangent(loops: LoopTracer) -> LoopSpec:
    """Trace the derivative of inverse dynamics along tangents of q and v: (q, v, a, dq, dv)."""
    made, nv = loops.inverse_dynamics(), loops.robot.nv
    groups = zip(loops.canonical_robot, made.groups, strict=True)
    return replace(
        made,
        name='effort_tangent',
        input_sizes=(*made.input_sizes, nv, nv),
        passes=tuple(TreePass(one.outward, 2 * one.width) for one in made.passes),
        groups=tuple(_tangent(group, code, len(made.input_sizes)) for group, code in groups),
    )


def _tangent(group: BodyGroup, code: GroupCode, parameters: int) -> GroupCode:
    """Return a group's code with derivatives of what is handed on, and of the results alone."""
    function, kind, first = code.function, group.body.kind, 1 + len(code.local)
    enter = [ca.SX.sym(f'x{k}', function.size1_in(k)) for k in range(function.n_in())]
    along = [ca.SX.sym(f'd{k}', x.numel()) for k, x in enumerate(enter)]
    dq, dv = ca.SX.sym('dq', kind.nv), ca.SX.sym('dv', kind.nv)
    directions = [ca.SX(x.numel(), 1) for x in enter[:first]] + along[first:]
    rate = kind.coordinate_rate(ca.vertsplit(enter[1]), ca.vertsplit(dq))
    directions[1], directions[2] = column(rate), dv
    *leave, rcond = function.call(enter)
    moved = [ca.jtimes(x, ca.vertcat(*enter), ca.vertcat(*directions)) for x in leave]
    handed = [ca.vertcat(x, dx) for x, dx in zip(leave[:-1], moved[:-1], strict=True)]
    both = [ca.vertcat(x, dx) for x, dx in zip(enter[first:], along[first:], strict=True)]
    outputs = ca.cse([ca.densify(x) for x in (*handed, moved[-1], rcond)])
    made = ca.Function('body', [*enter[:first], dq, dv, *both], outputs)
    local = [(k + 2 * (k == parameters), indices) for k, indices in code.local]
    local += [(parameters + k, group.indices('v')) for k in range(2)]
    return GroupCode(code.bodies, made, code.table, local, code.indices)


def row_tangent(tracer: Tracer) -> KernelSpec:
    """Trace the same of what rows add to the balance: (q, v, a, lambda, t, dq, dv)."""
    robot, rows = tracer.robot, tracer.state_rows.take(tracer.plan.solved)
    multipliers = symbols('lambda', len(rows))
    dq, dv = symbols('dq', robot.nv), symbols('dv', robot.nv)
    A = sparse_rows(rows.matrix)
    force = [-x for x in transpose_product(A, multipliers, robot.nv)]
    balance = column(force + list(residuals(A, tracer.a, rows.acceleration)))
    state, rate = [*tracer.q, *tracer.v], coordinate_rates(robot, tracer.q, dq)
    moved = ca.jtimes(balance, column(state), column([*rate, *dv]))
    inputs = [tracer.q, tracer.v, tracer.a, multipliers, [tracer.t], dq, dv]
    return tracer.spec('row_tangent', inputs, [moved], [(robot.nv + len(rows),)])
