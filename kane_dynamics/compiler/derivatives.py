# SPDX-License-Identifier: Apache-2.0
r"""
Derivatives of inverse and of constrained forward dynamics.

A motion makes :math:`r = N(q, v, a) - A^T\lambda - \tau` and :math:`c = A a - b` vanish. Their
derivatives at fixed a and lambda come from the traced graph; of large robots, along one direction
(forward mode): what bodies hand on goes with its derivative in one loop over bodies, so that a
direction costs a few runs of the recursion, and the 2 nv directions are one batch. Those of a and
lambda follow from

.. math:: \begin{bmatrix} M & -A^T \\ A & 0 \end{bmatrix}
   \begin{bmatrix} \mathrm{d}a \\ \mathrm{d}\lambda \end{bmatrix}
   = -\begin{bmatrix} \mathrm{d}r \\ \mathrm{d}c \end{bmatrix} .

Derivatives with respect to q are taken along its tangent, :math:`q \oplus \delta`.
"""

from dataclasses import dataclass, replace

import casadi as ca
import numpy as np

from kane_dynamics.algebra.traced_scalar import symbols
from kane_dynamics.algorithms.row_elimination import residuals, sparse_rows, transpose_product
from kane_dynamics.compiler.graphs.bodies import LoopTracer
from kane_dynamics.compiler.graphs.body_groups import BodyGroup
from kane_dynamics.compiler.graphs.trace import Tracer
from kane_dynamics.compiler.graphs.traced_state import column
from kane_dynamics.compiler.llvm.kernel_spec import GroupCode, KernelSpec, LoopSpec, TreePass
from kane_dynamics.robot.motion import coordinate_rates
from kane_dynamics.typing import Floats


@dataclass(frozen=True, eq=False, slots=True)
class Derivatives:
    """Derivatives of a function of (q, v, x), x being accelerations or efforts."""

    dq: Floats  # shape (nv, nv): Row i holds the derivatives of component i
    dv: Floats  # shape (nv, nv): Row i holds the derivatives of component i
    dx: Floats  # shape (nv, nv): Row i holds the derivatives of component i


def of_inverse_dynamics(balance: Floats, mass: Floats) -> Derivatives:
    """Return d tau / d(q, v, a) from the derivatives of the balance without constraints' rows."""
    nv = mass.shape[-1]
    return Derivatives(balance[..., :nv, :nv], balance[..., :nv, nv:], mass)


def of_forward_dynamics(balance: Floats, mass: Floats, A: Floats) -> Derivatives:
    """Return d vdot / d(q, v, tau), of one state or of many; arrays of numpy or CuPy."""
    many, nv, count = mass.shape[:-2], mass.shape[-1], A.shape[-2]
    corner = np.zeros_like(mass, shape=(*many, count, count))
    efforts = np.zeros_like(mass, shape=(*many, nv + count, nv))
    efforts[..., range(nv), range(nv)] = -1.0
    upper = np.concatenate([mass, -A.swapaxes(-1, -2)], axis=-1)
    matrix = np.concatenate([upper, np.concatenate([A, corner], axis=-1)], axis=-2)
    solution = -np.linalg.solve(matrix, np.concatenate([balance, efforts], axis=-1))
    x = solution[..., :nv, :]
    return Derivatives(x[..., :nv], x[..., nv : 2 * nv], x[..., 2 * nv :])


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
