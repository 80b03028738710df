# SPDX-License-Identifier: Apache-2.0
"""Time steps of robots whose dynamics are loops over bodies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca
from numpy.typing import NDArray

from kane_dynamics.algebra.scalars import where
from kane_dynamics.kernels.body_graphs import LoopTracer
from kane_dynamics.kernels.cache import CachedKernel
from kane_dynamics.kernels.llvm.kernel_spec import KernelSpec
from kane_dynamics.kernels.llvm.loop_spec import LoopSpec
from kane_dynamics.kernels.parameters import parameter_count
from kane_dynamics.kernels.recording import Law, Recorder, as_scalar, record_step
from kane_dynamics.kernels.stepping import stepping_text
from kane_dynamics.kernels.trace import spec, symbols
from kane_dynamics.model.robot import Robot
from kane_dynamics.simulation.energy_balance import excess_of
from kane_dynamics.simulation.integrators import INTEGRATORS, KICKS


@dataclass
class LoopRecorder(Recorder):
    """A recorder of calls where other robots have one graph of all bodies."""

    def kick(self, q: Any, v: Any, tau: Any, t: Any, h: Any) -> NDArray[Any]:
        """Record calls of the velocity step, each with the forces at a better middle speed."""
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


def loop_steps(
    robot: Robot, law: Law | None, payloads: Sequence[str], width: int
) -> tuple[str, CachedKernel]:
    """Return LLVM IR and shape of the module of all integrators, without constraints."""
    known = parameter_count(robot, payloads)
    programs = {
        f'step_{name}': record_step(LoopRecorder(robot), integrate, law=law, parameters=known)
        for name, integrate in INTEGRATORS.items()
    }
    tracer = LoopTracer(robot, (), payloads)
    makers = (
        tracer.acceleration,
        tracer.impulse,
        tracer.kick,
        tracer.moving_effort,
        tracer.kinetic_energy,
        tracer.potential_energy,
    )
    callees: dict[str, KernelSpec | LoopSpec] = {made.__name__: made() for made in makers}
    callees['balance'] = _balance()
    operations = sum(callee.operations for callee in callees.values())
    return stepping_text(programs, callees, width), CachedKernel(b'', (), (), operations)


def _balance() -> KernelSpec:
    """Trace whether energies at the start and the end, and the work between, belong together."""
    values = [symbols(name, 1) for name in ('T0_', 'T1_', 'V0_', 'V1_', 'W')]
    (T0,), (T1,), (V0,), (V1,), (work,) = values
    _, excess = excess_of((T0, T1), (V0, V1), work)
    return spec('balance', values, [], [], where(ca.SX(excess) > 0.0, 0.0, 1.0))
