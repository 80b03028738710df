# SPDX-License-Identifier: Apache-2.0
"""Rollouts on a graphics card; steps that it finds ill-conditioned are taken by the processor."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from types import MappingProxyType
from typing import Any, Protocol, runtime_checkable

import numpy as np

from kane_dynamics.dynamics import Dynamics
from kane_dynamics.exceptions import KaneDynamicsError
from kane_dynamics.rollouts.inputs import Inputs
from kane_dynamics.rollouts.steps import ReferenceSteps, Rollouts, Schedule


@runtime_checkable
class Gpu(Protocol):
    """A robot on a graphics card, as rollouts see it: `compiler.cuda.robot.CudaDynamics`."""

    precision: str
    device: Any

    @property
    def on_cpu(self) -> Dynamics:
        """Return the same robot for the processor."""

    def steps(self, integrator: str, projection: bool) -> Any:
        """Return the code of rollouts."""

    def rollout_parameters(self, count: int, gains: Any, gravity: Any, payloads: Any) -> Any:
        """Return what the code of rollouts reads, of so many."""


class GpuRun:
    """All rollouts of one call."""

    def __init__(self, gpu: Gpu, plan: Schedule, values: Inputs) -> None:
        self._plan, self._given = plan, values
        self._cpu = gpu.on_cpu
        self._reference = ReferenceSteps(self._cpu, plan, values)
        self._fallbacks = 0
        self._kernel = gpu.steps(plan.integrator, plan.projection)
        self._device, xp = gpu.device, gpu.device.xp
        count, dtype = len(values), np.dtype(gpu.precision)
        q, v = self._starts()
        self._q, self._v = (self._device.array(x, dtype) for x in (q, v))
        self._efforts = self._pieces(dtype)
        loads = values.gravity, values.payloads
        self._parameters = gpu.rollout_parameters(count, values.gains, *loads)
        self._done = xp.zeros(count, np.int64)
        shape = plan.samples, count, q.shape[1] + v.shape[1]
        self._kept = xp.full(shape, np.nan, dtype)
        if plan.every:
            self._kept[0] = xp.concatenate([self._q, self._v], axis=1)

    def result(self, samples: bool) -> Rollouts:
        """Return the motions; states at all sample times, or the last alone."""
        plan, nq = self._plan, self._q.shape[1]
        indices = np.flatnonzero(np.isfinite(self._given.q).all(axis=1))
        indices = indices[~np.isin(indices, list(self._reference.failures))]
        schedule = plan.step, plan.count, self._given.piece(plan.count), plan.every
        arrays = self._q, self._v, self._efforts, self._parameters, self._kept, self._done
        while len(indices):
            numbers = self._device.array(indices, np.dtype(np.int64))
            self._kernel.run(numbers, *arrays, schedule)
            indices = self._continued(indices)
        done = self._device.to_host(self._done)
        q, v = self._q, self._v
        if samples:
            kept = self._kept.transpose(1, 0, 2)
            q, v = kept[..., :nq], kept[..., nq:]
        else:
            short = self._device.xp.asarray(np.flatnonzero(done < plan.count))
            q[short], v[short] = np.nan, np.nan
        failures = MappingProxyType(self._reference.failures)
        return Rollouts(q, v, plan.times, None, done, failures, self._fallbacks)

    def _starts(self) -> tuple[Any, Any]:
        """Return the starts on the constraints: all at once where speeds alone have to move."""
        q, v = np.array(self._given.q), np.array(self._given.v)
        finite = np.flatnonzero(np.isfinite(np.hstack([q, v])).all(axis=1))
        if not (self._plan.projection and self._reference.constrained and len(finite)):
            return q, v
        one = finite[0]
        holonomic = len(self._cpu.constraints.rows(q[one], v[one], 0.0).holonomic)
        if not (holonomic or self._given.loaded):
            with suppress(KaneDynamicsError):  # each by itself then: that tells which cannot be
                v[finite] = self._cpu.consistent_velocity(q[finite], v[finite])
                return q, v
        for row in finite.tolist():
            state = self._reference.start(row, q[row].copy(), v[row].copy())
            if state is not None:
                q[row], v[row] = state
        return q, v

    def _pieces(self, dtype: np.dtype[Any]) -> Any:
        """Return the efforts on the device; one for all takes the memory of one."""
        efforts, count = self._given.efforts, len(self._given)
        alone = count > 0 and efforts.strides[0] == 0
        held = self._device.array(np.ascontiguousarray(efforts[:1] if alone else efforts), dtype)
        return self._device.xp.broadcast_to(held, efforts.shape)

    def _continued(self, indices: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """Take the step that the gpu was not sure of; return the rollouts that go on."""
        done = self._device.to_host(self._done)
        on = []
        for row in indices[done[indices] < self._plan.count].tolist():
            q, v = (self._device.to_host(x[row]).astype(float) for x in (self._q, self._v))
            state = self._reference.step(row, q, v, int(done[row]))
            if state is not None:
                self._fallbacks += 1
                self._put(row, int(done[row]) + 1, *state)
                on.append(row)
        return np.array(on, dtype=np.int64)

    def _put(self, row: int, steps: int, q: Any, v: Any) -> None:
        xp = self._device.xp
        self._q[row], self._v[row] = xp.asarray(q), xp.asarray(v)
        self._done[row] = steps
        if self._plan.every and steps % self._plan.every == 0:
            self._kept[steps // self._plan.every, row] = xp.asarray(np.concatenate([q, v]))


def rollouts_on_card(
    gpu: Gpu,
    plan: Schedule,
    values: Inputs,
    reduce: Callable[..., Any] | None,
    progress: Callable[[int, int], Any] | None,
) -> Rollouts:
    """Return the motions; `reduce` gets arrays of the gpu, all rollouts at once."""
    results = GpuRun(gpu, plan, values).result(plan.every > 0)
    if progress is not None:
        progress(len(values) * plan.count, len(values) * plan.count)
    if reduce is None:
        return results
    return replace(results, q=None, v=None, reduced=reduce(plan.times, results.q, results.v))


def on_host(gpu: Gpu, x: Any) -> Any:
    """Return an array of a gpu as one of numpy, anything else as it is."""
    if isinstance(x, np.ndarray) or not hasattr(x, '__dlpack_device__'):
        return x
    return gpu.device.to_host(gpu.device.array(x, np.dtype(float)))
