# SPDX-License-Identifier: Apache-2.0
"""
Graphs of dynamics under constraints, of the functions of the table and of formulations.

`SwitchedTracer` is for constraints that are switched on and off while the code runs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache, cached_property
from typing import Any

import numpy as np

from kane_dynamics.algebra import casadi as ca
from kane_dynamics.algebra.scalars import is_zero, where
from kane_dynamics.algebra.traced_scalar import column, symbols
from kane_dynamics.algorithms.constrained_solve import LockRow, Solved, solve_with_locked_speeds
from kane_dynamics.algorithms.row_elimination import (
    SparseRows,
    residuals,
    sparse_rows,
    transpose_product,
)
from kane_dynamics.algorithms.sparse_ldl import inertia_bounds, loses_precision
from kane_dynamics.compiler.graphs.row_plan import RowPlan
from kane_dynamics.compiler.graphs.shared_multipliers import shared_multipliers
from kane_dynamics.compiler.graphs.traced_state import Symbols, TracedState, matrix
from kane_dynamics.compiler.llvm.kernel_spec import KernelSpec
from kane_dynamics.constraints.base import Constraint, ConstraintRows
from kane_dynamics.dynamics.table import AT_START, FUNCTIONS, Function
from kane_dynamics.formulations.gauss import gibbs
from kane_dynamics.formulations.lagrange import (
    lagrange_jacobians,
    mass_of_bodies,
    velocity_force_of_bodies,
)
from kane_dynamics.robot.motion import coordinate_rates
from kane_dynamics.robot.robot import Robot

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
        return self._forward('forward_dynamics', self.inputs_of_forward_dynamics(), 1)

    def motion(self) -> KernelSpec:
        """Trace accelerations, multipliers, A' lambda, and what violates A vdot = b, b0, Phi."""
        return self._forward('motion', self.inputs_of_forward_dynamics(), 6)

    def acceleration(self) -> KernelSpec:
        """Trace accelerations with time always among the inputs, for steps."""
        return self._forward('acceleration', [self.q, self.v, self.tau, [self.t]], 1)

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

    def _forward(self, name: str, inputs: list[Symbols], outputs: int) -> KernelSpec:
        solved, rows = self.solution, self.state_rows
        rcond = ca.SX(solved.rcond)
        if self.in_single and name == 'forward_dynamics':
            rcond = where(self._loses_precision() > 0.0, 0.0, rcond)
        A = sparse_rows(rows.matrix)
        force = transpose_product(A, solved.multipliers, self.robot.nv)
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


class SwitchedTracer(Tracer):
    """Graphs of one robot under any set of its constraints: each has a switch, 1 or 0."""

    def __init__(
        self, robot: Robot, constraints: Sequence[Constraint], payloads: Sequence[str]
    ) -> None:
        super().__init__(robot, constraints, (), RowPlan(), payloads=payloads)
        self._switches = symbols('switch', len(self.constraints))
        self.parameters = [*self.parameters, *self._switches]
        self._holding = _holding(self._plain)
        order = [k for k in self._plain.elimination_order() if k not in self._holding]
        self.plan = RowPlan(tuple(order), (), certain=False)

    @cached_property
    def _plain(self) -> ConstraintRows:
        """Return the rows at q, v, t as if all were on."""
        return super().rows(self.q, self.v, self.t)

    def rows(self, q: Any, v: Any, t: Any) -> ConstraintRows:
        """Return the rows at a state, those that are off as zeros."""
        plain = super().rows(q, v, t)
        on = [self._switches[owner] > 0.0 for owner in plain.owners]
        matrix = plain.matrix.astype(object)
        for row, switch in zip(matrix, on, strict=True):
            row[:] = [x if is_zero(x) else where(switch, x, 0.0) for x in row]
        return replace(
            plain,
            matrix=matrix,
            velocity=_where(on, plain.velocity),
            acceleration=_where(on, plain.acceleration),
            positions=tuple(_where(on, plain.positions)),
        )

    def solve(
        self,
        force: Sequence[Any],
        system: SparseRows,
        right_side: Sequence[Any],
        speeds: tuple[Sequence[Any], Sequence[Any]] | None = None,
        *,
        holonomic: bool = False,
        watch: bool = True,
    ) -> Solved:
        """Return x of M x = Q + A' lambda, A x = c under the rows that are on."""
        holds: dict[int, list[LockRow]] = {}
        for k, (speed, sign) in self._holding.items():
            if not holonomic or self._plain.positions[k] is not None:
                hold = LockRow(k, sign, self._switches[self._plain.owners[k]])
                holds.setdefault(speed, []).append(hold)
        what = self.mass, force, system, right_side, holds, speeds
        return solve_with_locked_speeds(*what, holonomic=holonomic, watch=watch)

    def look(self) -> KernelSpec:
        """Trace Phi and A v - b0 of all rows, also of those that are off, and lambda."""
        plain, solved = self._plain, self.solution
        phi = [0.0 if x is None else x for x in plain.positions]
        rates = residuals(sparse_rows(plain.matrix), self.v, plain.velocity)
        multipliers, rcond = solved.multipliers, solved.rcond
        if solved.rows is not None:
            multipliers, rcond = shared_multipliers(solved, solved.rows)
            locks = sum((self._switches[plain.owners[k]] for k in self._holding), 0.0)
            for k in self.plan.order:  # rows that repeat those of locks share their forces
                repeats = self._switches[plain.owners[k]] * solved.dropped[k]
                rcond = where(repeats * locks > 0.0, 0.0, rcond)
        both = column([*phi, *rates, *multipliers])
        inputs = [self.q, self.v, self.tau, [self.t]]
        spec = self.spec('look', inputs, [both], [(3, len(plain))], ca.SX(rcond))
        return replace(spec, clock=True)


def _holding(rows: ConstraintRows) -> dict[int, tuple[int, float]]:
    """Return speed and sign of the rows that hold one speed, of constraints of such rows alone."""
    result: dict[int, tuple[int, float]] = {}
    for k, entries in enumerate(sparse_rows(rows.matrix)):
        if len(entries) == 1:
            ((speed, x),) = entries.items()
            if not ca.SX(x).is_constant() or abs(float(x)) != 1.0:
                continue
            result[k] = speed, float(x)
    others = {rows.owners[k] for k in range(len(rows)) if k not in result}
    return {k: one for k, one in result.items() if rows.owners[k] not in others}


def _where(on: Sequence[Any], values: Any) -> Any:
    selection = [
        x if x is None or is_zero(x) else where(switch, x, 0.0)
        for switch, x in zip(on, values, strict=True)
    ]
    return np.array(selection, dtype=object)


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
