# SPDX-License-Identifier: Apache-2.0
"""Graph of the efforts that let a frame follow a wanted motion."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import casadi as ca

from kane_dynamics.algorithms.constrained_solve import ConstrainedSystem, Solved
from kane_dynamics.algorithms.newton_euler import TERMS, reference_effort
from kane_dynamics.algorithms.row_elimination import SparseRows, sparse_rows
from kane_dynamics.algorithms.sparse_ldl import factor_tree, smaller, symmetric_product
from kane_dynamics.algorithms.task_space_law import GAINS, WANTED, TaskSpaceLaw, following_motion
from kane_dynamics.compiler.graphs.inverse_dynamics import (
    effort_spec,
    indices_of,
    inverse_solve,
    row_rates,
)
from kane_dynamics.compiler.graphs.trace import Tracer, symbols
from kane_dynamics.compiler.llvm.kernel_spec import KernelSpec


class _Allowed:
    """What constraints allow at a state; see `algorithms.task_space_law.AllowedMotion`."""

    def __init__(self, tracer: Tracer, law: TaskSpaceLaw, v: list[Any]) -> None:
        self._tracer, self._v = tracer, v
        self._held, self._passive = indices_of(tracer, law.held), law.passive
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
    law, v, balance = TaskSpaceLaw(*choices), list(tracer.v), inverse_solve(tracer)
    target, gains = symbols('wanted', WANTED), symbols('gain', GAINS)
    posture, switches = symbols('posture', tracer.robot.nq), symbols('s', len(TERMS))
    rcond, indices = ca.SX(1.0), None if law.known is None else indices_of(tracer, law.known)
    if indices is not None:
        speeds = balance.completed(v, list(tracer.state_rows.velocity), indices)
        v, rcond = speeds.x, speeds.rcond
    allowed = _Allowed(tracer, law, v)
    state = tracer.robot, law, tracer.q, v
    result = following_motion(*state, target, gains, posture, allowed)
    x, a = result.reference, result.acceleration
    if indices is None:
        rcond = smaller(rcond, balance.allowed(a, allowed.rates(x)))
    else:
        rates = balance.completed(a, allowed.rates(x), indices)
        a, rcond = rates.x, smaller(rcond, rates.rcond)
    if law.passive:
        turning = reference_effort(tracer.robot, tracer.q, v, x, a, switches)
        force = [h + p for h, p in zip(turning, result.feedback, strict=True)]
    else:
        force = list(tracer.required_effort(v, a, switches))
    inputs = [tracer.q, tracer.v, tracer.a, target, gains, posture]
    rcond = smaller(rcond, allowed.rcond)
    named = 'frame_effort', tracer, law.actuated
    return effort_spec(*named, inputs, switches, (x, a), force, rcond, result.report)
