# SPDX-License-Identifier: Apache-2.0
"""Time steps of robots whose dynamics are loops over bodies."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

import casadi as ca
from numpy.typing import NDArray

from kane_dynamics.algebra.scalars import where
from kane_dynamics.compiler.dense_kernels import DenseKernels
from kane_dynamics.compiler.generic import solved_by_loops
from kane_dynamics.compiler.graphs.bodies import LoopTracer
from kane_dynamics.compiler.graphs.trace import Tracer, spec, symbols
from kane_dynamics.compiler.llvm.kernel_spec import KernelSpec
from kane_dynamics.compiler.llvm.module import Spec
from kane_dynamics.compiler.steps.step_program import Recorder, as_scalar
from kane_dynamics.simulation.integrators import KICKS
from kane_dynamics.simulation.step_checks import excess_of


@dataclass
class LoopRecorder(Recorder):
    """A recorder of calls where other robots have one graph of all bodies."""

    free: bool = True

    def kick(self, q: Any, v: Any, tau: Any, t: Any, h: Any) -> NDArray[Any]:
        """Record calls of the velocity step, each with the forces at a better middle speed."""
        if not self.free:
            return super().kick(q, v, tau, t, h)
        middle, tau = v, self.force(q, v, tau, t)
        for _ in range(KICKS):
            inputs = (q, v, middle, tau, [as_scalar(t), as_scalar(h)])
            (end,) = self.call('kick', inputs, (self.robot.nv,))
            middle = 0.5 * (v + end)
        return end

    def check_energy(
        self, start: tuple[Any, Any], middle: tuple[Any, Any], end: tuple[Any, Any], h: Any
    ) -> None:
        """Record a check of the energy of a midpoint step; see `energy_balance.excess_gap`."""
        rates = (end[1] - start[1]) / h
        (effort,) = self.call('moving_effort', (*middle, rates), (self.robot.nv,))
        work = [sum((h * middle[1] * effort).tolist(), 0.0)]
        energies = [
            self.call(name, state[:inputs], (1,))[0]
            for name, inputs in (('kinetic_energy', 2), ('potential_energy', 1))
            for state in (start, end)
        ]
        self.call('balance', (*energies, work), ())


def loop_callees(tracer: Tracer, loops: LoopTracer, used: Collection[str]) -> dict[str, Spec]:
    """Return the kernels of some names that steps call."""
    dense = DenseKernels(tracer)
    free = solved_by_loops(tracer.robot, tracer.constraints)
    solver: LoopTracer | DenseKernels = loops if free else dense
    makers: tuple[Callable[[], Spec], ...] = (
        solver.acceleration,
        solver.impulse,
        solver.kick,
        loops.moving_effort,
        loops.kinetic_energy,
        loops.potential_energy,
        dense.jump,
        dense.place,
        dense.project,
        tracer.crossing,
        balance,
    )
    return {made.__name__: made() for made in makers if made.__name__ in used}


def balance() -> KernelSpec:
    """Trace whether energies at the start and the end, and the work between, belong together."""
    values = [symbols(name, 1) for name in ('T0_', 'T1_', 'V0_', 'V1_', 'W')]
    (T0,), (T1,), (V0,), (V1,), (work,) = values
    _, excess = excess_of((T0, T1), (V0, V1), work)
    return spec('balance', values, [], [], where(ca.SX(excess) > 0.0, 0.0, 1.0))
