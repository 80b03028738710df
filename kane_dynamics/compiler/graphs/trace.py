# SPDX-License-Identifier: Apache-2.0
"""Graphs of dynamics under constraints, of the functions of the table and of formulations."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import casadi as ca
import numpy as np

from kane_dynamics.algebra.scalars import where
from kane_dynamics.algorithms.row_elimination import residuals, sparse_rows, transpose_product
from kane_dynamics.algorithms.sparse_ldl import inertia_bounds, loses_precision
from kane_dynamics.compiler.graphs.traced_state import (
    Symbols,
    TracedState,
    column,
    matrix,
    symbols,
)
from kane_dynamics.compiler.llvm.kernel_spec import KernelSpec
from kane_dynamics.dynamics.table import AT_START, FUNCTIONS, Function
from kane_dynamics.formulations.gauss import gibbs
from kane_dynamics.formulations.lagrange import (
    lagrange_jacobians,
    mass_of_bodies,
    velocity_force_of_bodies,
)
from kane_dynamics.robot.motion import coordinate_rates

SOLVED = 'acceleration'  # what has a graph of its own, for it solves


class Tracer(TracedState):
    """Graphs of one robot with one set of constraints."""

    def function(self, row: Function) -> KernelSpec:
        """Trace a function of the table."""
        symbols_of = {'q': self.q, 'v': self.v, 'a': self.a}
        inputs, shape = [symbols_of[name] for name in row.inputs], row.shape_of(self)
        result = getattr(self, row.traced) if row.traced else row.formula(self, *inputs)
        if len(shape) < 2:
            output = column(result if shape else [result])
        elif isinstance(result, ca.SX):
            output = result
        else:
            rows = result if len(shape) == 2 else [row for part in result for row in part]
            output = matrix(rows, shape[-1])
        return self.spec(row.kernel, inputs, [output], [shape])

    def forward_dynamics(self) -> KernelSpec:
        """Trace accelerations under the constraints."""
        rcond = ca.SX(self.solution.rcond)
        if self.in_single:
            rcond = where(self._loses_precision() > 0.0, 0.0, rcond)
        return self._forward('forward_dynamics', self.inputs_of_forward_dynamics(), 1, rcond)

    def motion(self) -> KernelSpec:
        """Trace accelerations, multipliers, A' lambda, and what violates A vdot = b, b0, Phi."""
        rcond = ca.SX(self.solution.rcond)
        return self._forward('motion', self.inputs_of_forward_dynamics(), 6, rcond)

    def acceleration(self) -> KernelSpec:
        """Trace accelerations with time always among the inputs, for steps."""
        rcond = ca.SX(self.solution.rcond)
        return self._forward('acceleration', [self.q, self.v, self.tau, [self.t]], 1, rcond)

    def balance_derivatives(self) -> KernelSpec:
        """Trace the derivatives of what must vanish in a motion, at fixed vdot and lambda."""
        robot, rows = self.robot, self.state_rows.take(self.plan.solved)
        count = len(rows)
        multipliers = symbols('lambda', count)
        A = sparse_rows(rows.matrix)
        effort = self.required_effort(self.v, self.a)
        force = [
            tau - p
            for tau, p in zip(effort, transpose_product(A, multipliers, robot.nv), strict=True)
        ]
        balance = column(force + residuals(A, self.a, rows.acceleration))
        q, v = column(self.q), column(self.v)
        unit = np.eye(robot.nv).tolist()
        tangent = ca.horzcat(*[column(coordinate_rates(robot, self.q, e)) for e in unit])
        jacobian = ca.horzcat(ca.jacobian(balance, q) @ tangent, ca.jacobian(balance, v))
        inputs = [self.q, self.v, self.a, multipliers, [self.t]]
        shape = (robot.nv + count, 2 * robot.nv)
        return self.spec('balance_derivatives', inputs, [jacobian], [shape])

    def constraint_rows(self) -> KernelSpec:
        """Trace A, b0, b and Phi of all rows; Phi is 0 for rows that are not holonomic."""
        A, *sides = self._row_numbers
        shapes = [A.shape, *[(side.numel(),) for side in sides]]
        return self.spec('constraint_rows', [self.q, self.v, [self.t]], [A, *sides], shapes)

    def row_table(self) -> KernelSpec:
        """Trace what `constraint_rows` does, side by side in one matrix."""
        table = ca.horzcat(*self._row_numbers)
        return self.spec('row_table', [self.q, self.v, [self.t]], [table], [table.shape])

    @property
    def _row_numbers(self) -> list[ca.SX]:
        rows = self.state_rows
        sides = rows.velocity, rows.acceleration, self.violation
        return [matrix(rows.matrix, self.robot.nv), *[column(x) for x in sides]]

    def multipliers(self) -> KernelSpec:
        """Trace lambda of all rows."""
        inputs, solved = self.inputs_of_forward_dynamics(), self.solution
        matches = column(solved.multipliers)
        rcond = ca.SX(solved.rcond)
        return self.spec('multipliers', inputs, [matches], [(len(solved.multipliers),)], rcond)

    def inputs_of_forward_dynamics(self) -> list[Symbols]:
        """Return q, v, tau, and t where a constraint depends on it."""
        rows = self.state_rows
        numbers = *rows.matrix.ravel(), *rows.velocity, *rows.acceleration, *self.violation
        parts = [ca.SX(x) for x in numbers]
        timed = bool(parts) and ca.depends_on(ca.vertcat(*parts), self.t)
        return [self.q, self.v, self.tau] + ([[self.t]] if timed else [])

    def _forward(self, name: str, inputs: list[Symbols], outputs: int, rcond: ca.SX) -> KernelSpec:
        nv = self.robot.nv
        solved = self.solution
        rows = self.state_rows
        A = sparse_rows(rows.matrix)
        force = transpose_product(A, solved.multipliers, nv)
        residual = residuals(A, solved.x, rows.acceleration)
        slip = residuals(A, self.v, rows.velocity)
        results = solved.x, solved.multipliers, force, residual, slip, self.violation
        columns = [column(x) for x in results]
        shapes = [(len(x),) for x in results]
        return self.spec(name, inputs, columns[:outputs], shapes[:outputs], rcond)

    def _loses_precision(self) -> ca.SX:
        """Return 1 where accelerations may be off by too many roundings, else 0."""
        parts = [self.tau, list(self.bias), list(self._friction)]
        sizes = inertia_bounds(self.canonical_robot)
        return ca.SX(loses_precision(self.solution.x, self._factor.pivots, sizes, parts))


def gibbs_gradient(tracer: Tracer) -> KernelSpec:
    """Trace dS/da, the derivative of the Gibbs-Appell function (54)."""
    q, v, a = tracer.q, tracer.v, tracer.a
    S = ca.SX(gibbs(tracer.robot, q, v, a))
    gradient = ca.densify(ca.gradient(S, column(a)))
    return tracer.spec('gibbs_gradient', [q, v, a], [gradient], [(tracer.robot.nv,)])


def lagrange_terms(tracer: Tracer) -> KernelSpec:
    """Trace Parsa's J_i, one below the other, M and h (26), (39)."""
    robot, q, v, nv = tracer.robot, tracer.q, tracer.v, tracer.robot.nv
    bodies = lagrange_jacobians(robot, q, v)
    stack = np.vstack([body.jacobian for body in bodies])
    outputs = [
        matrix(stack, nv),
        matrix(mass_of_bodies(robot, bodies), nv),
        column(velocity_force_of_bodies(robot, bodies, v)),
    ]
    return tracer.spec('lagrange_terms', [q, v], outputs, [stack.shape, (nv, nv), (nv,)])


@cache
def function_graph(name: str) -> Graph:
    """Return what traces a function of the table."""

    def traced(tracer: Tracer) -> KernelSpec:
        return tracer.function(FUNCTIONS[name])

    traced.__name__ = FUNCTIONS[name].kernel
    return traced


Graph = Callable[[Tracer], KernelSpec]
GRAPHS: tuple[Graph, ...] = (
    *(
        function_graph(x.name)
        for x in FUNCTIONS.values()
        if x.compiled == AT_START and x.name != SOLVED
    ),
    Tracer.forward_dynamics,
    Tracer.motion,
)
DERIVATIVE_GRAPHS: tuple[Callable[[Tracer], KernelSpec], ...] = (Tracer.balance_derivatives,)
METHOD_GRAPHS: tuple[Graph, ...] = (gibbs_gradient, lagrange_terms)
