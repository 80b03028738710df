# SPDX-License-Identifier: Apache-2.0
"""The algorithms traced for constraints that are switched on and off while the code runs."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np

from kane_dynamics.algebra.scalars import is_zero, where
from kane_dynamics.algorithms.constrained_solve import LockRow, Solved, solve_with_locked_speeds
from kane_dynamics.algorithms.row_elimination import SparseRows, residuals, sparse_rows
from kane_dynamics.compiler.graphs.row_plan import RowPlan
from kane_dynamics.compiler.graphs.trace import Tracer
from kane_dynamics.compiler.graphs.traced_state import column, symbols
from kane_dynamics.compiler.llvm.kernel_spec import KernelSpec
from kane_dynamics.constraints.base import Constraint, ConstraintRows
from kane_dynamics.robot.robot import Robot


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
        both = column([*phi, *rates, *solved.multipliers])
        rcond = ca.SX(solved.rcond)
        for k in self.plan.order:
            repeats = self._switches[plain.owners[k]] * solved.dropped[k]
            rcond = where(ca.SX(repeats) > 0.0, 0.0, rcond)
        inputs = [self.q, self.v, self.tau, [self.t]]
        spec = self.spec('look', inputs, [both], [(3, len(plain))], rcond)
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
