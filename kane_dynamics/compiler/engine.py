# SPDX-License-Identifier: Apache-2.0
"""Compiled time steps; the reference takes a step where a solve is ill conditioned."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import NamedTuple

import numpy as np

from kane_dynamics.algorithms.projection import project
from kane_dynamics.algorithms.udwadia_kalaba import Motion
from kane_dynamics.compiler.graphs.row_plan import RowPlan
from kane_dynamics.compiler.kernel_loader import load_steps, load_switched
from kane_dynamics.compiler.kernel_set import CompiledRows, KernelSet
from kane_dynamics.compiler.llvm.entry import make_entry
from kane_dynamics.compiler.llvm.native import Linker, NativeModule
from kane_dynamics.compiler.parameters import Parameters
from kane_dynamics.compiler.recipe import STEPS, Kernels, one_step, step_name
from kane_dynamics.constraints.constraint_set import ConstraintSet
from kane_dynamics.dynamics import CompiledSubset, ConstraintSubsetDynamics, Dynamics, RowsFunction
from kane_dynamics.robot.checks import as_nonnegative, as_positive, as_vector
from kane_dynamics.robot.robot import Robot
from kane_dynamics.robot.state import checked_coordinates, checked_speeds
from kane_dynamics.simulation.integrators import rk4
from kane_dynamics.simulation.motions import Trajectory, effort_rows
from kane_dynamics.simulation.reference import ReferenceEngine, StepEnd
from kane_dynamics.simulation.step_checks import LARGEST, RankLog, check_not_diverged
from kane_dynamics.typing import ArrayLike, Floats

_MOST_STEPS_AT_ONCE = 10_000  # Ctrl-C waits for these


class CompiledEngine:
    """Time steps of one integrator as machine code; see `simulation.simulation.Engine`."""

    def __init__(
        self,
        compiled: Dynamics,
        kernels: KernelSet,
        integrator: str,
        projection: bool,
        halvings: int,
    ) -> None:
        self._compiled, self._law, load = compiled, kernels.build.recipe.law, kernels.load
        self.constraints = compiled.constraints
        name, law = step_name(integrator, projection), self._law
        pointers, one = [ctypes.c_void_p] * 6, one_step(name)
        steps = load_steps(kernels.build.recipe, integrator, projection)
        code = kernels.build.linked(STEPS, steps.code)
        module = NativeModule(code, [name, f'{one}_entry'], kernels.linker)
        self._run = module.function(
            name, ctypes.c_int64, *pointers, ctypes.c_int64, ctypes.c_int64
        )
        gains = np.array(law.gains if law is not None else ())
        self._values = load.with_more(gains) if len(gains) else load.values
        self._one = make_entry(module, one, _not_sure, self._values)
        nq, nv = compiled.robot.nq, compiled.robot.nv
        self._q, self._v = slice(nq), slice(nq, nq + nv)
        self._reference = ReferenceEngine(
            load,
            self.constraints,
            integrator,
            projection,
            halvings=halvings,
            passive_force=compiled.passive_force,
        )
        self._projection = projection
        self.fallback_count = 0

    def motion(self, q: Floats, v: Floats, tau: Floats, t: float) -> Motion:
        """Return accelerations and multipliers at a state."""
        if (passive := self._compiled.passive_force) is not None:
            tau = tau + as_vector('the passive force', passive(t, q, v), len(tau))
        return self._compiled.forward_dynamics(q, v, tau, t)

    def accelerations(self, q: Floats, v: Floats, efforts: Floats, t: float) -> Floats:
        """Return vdot at a state under efforts that are rows, one row for each."""
        return self._compiled.acceleration(q, v, efforts, np.array([t]))

    def check_damping(self, q: Floats, t: float, h: float) -> None:
        """Check that damping is not too stiff for steps of h [s]: DivergedError."""
        self._reference.check_damping(q, t, h)

    def advance(
        self,
        q: Floats,
        v: Floats,
        tau: Floats,
        t: float,
        h: float,
        n: int,
        log: RankLog | None = None,
    ) -> tuple[Floats, Floats]:
        """Return the state after n steps of h [s] at constant efforts; ranks go into the log."""
        end = self._one(q, v, tau, t, h) if n == 1 else None
        if end is not None and (log is None or end.item(-1) == log.rank):
            return end[self._q], end[self._v]
        tables = _tables(q, v, n)
        self._fill(tables, np.ascontiguousarray(tau)[None, :], t, h, log)
        q, v = tables.q[-1].copy(), tables.v[-1].copy()
        check_not_diverged(q, v, t + n * h)
        return q, v

    @property
    def robot(self) -> Robot:
        """Return the robot with the present gravity and payloads."""
        return self._compiled.robot

    def trajectory(
        self, q: ArrayLike, v: ArrayLike, duration: float, effort: ArrayLike | None, step: float
    ) -> Trajectory:
        """Return the motion over `duration` [s]; see `CompiledDynamics.simulate`."""
        robot = self._compiled.robot
        h = as_positive('step [s]', step)
        count = round(as_nonnegative('duration [s]', duration) / h)
        efforts = effort_rows(robot, effort, count)
        start_q = np.array(checked_coordinates(robot, q))
        start_v = np.array(checked_speeds(robot, v))
        log = None
        if self._projection:
            state = project(robot, self.constraints, start_q, start_v, 0.0)
            start_q, start_v, log = state.q, state.v, RankLog(state.rank)
        self.check_damping(start_q, 0.0, h)
        tables = _tables(start_q, start_v, count)
        self._fill(tables, efforts, 0.0, h, log)
        within = (np.abs(tables.v) < LARGEST).all(axis=1)
        first = int(np.argmin(within))  # row 0 where all are within
        check_not_diverged(tables.q[first], tables.v[first], first * h)
        events = () if log is None else tuple(log.events)
        return Trajectory(h * np.arange(count + 1.0), tables.q, tables.v, events)

    def _fill(
        self, tables: _Tables, efforts: Floats, t: float, h: float, log: RankLog | None
    ) -> None:
        """Take all steps, by the reference where the machine code stops."""
        done, count, varies = 0, len(tables.q) - 1, int(len(efforts) > 1)
        crossed: list[int] = []
        while done < count:
            clock = np.array([t + done * h, h])
            rows = (tables.q[done:], tables.v[done:], tables.ranks[done:])
            arrays = (efforts[varies * done :], clock, *rows, self._values)
            asked = min(count - done, _MOST_STEPS_AT_ONCE)
            steps = self._run(*[array.ctypes.data for array in arrays], asked, varies)
            done += steps
            if steps < asked:
                self.fallback_count += 1
                end = self._by_reference(tables, done, efforts, t, h)
                crossed += [done] * end.crossed
                done += 1
                tables.q[done], tables.v[done], tables.ranks[done] = end.q, end.v, end.rank
        if log is not None:
            tables.ranks[0] = log.rank
            changes = np.flatnonzero(np.diff(tables.ranks)).tolist()
            for row in sorted({*changes, *crossed}):
                now, after = t + row * h, row + 1
                start = tables.q[row], tables.v[row], now
                energy = self._reference.impact_energy(start, (tables.q[after], now + h))
                log.add(now + h, int(tables.ranks[after]), energy)

    def _by_reference(
        self, tables: _Tables, row: int, efforts: Floats, t: float, h: float
    ) -> StepEnd:
        """Return the end of the step that starts at a row."""
        now, q, v = t + row * h, tables.q[row], tables.v[row]
        tau = efforts[row if len(efforts) > 1 else 0]
        if self._law is not None:
            arguments = self._law(now, q, v)
            tau = tau + as_vector(f'the effort law at t = {now:g} s', arguments, len(tau))
        return self._reference.step(q, v, tau, now, h)


_STEP, _LOOK = one_step(step_name(rk4.__name__, True)), 'look'


class SwitchedCode(ConstraintSubsetDynamics):
    """Machine code of `graphs.trace.SwitchedTracer`."""

    def __init__(
        self,
        load: Parameters,
        constraints: ConstraintSet,
        rows: RowsFunction,
        kernels: Callable[[], Kernels],
    ) -> None:
        super().__init__(constraints, rows)
        self._load, self._kernels = load, kernels
        self._sets: dict[tuple[int, ...], CompiledSubset] = {}

    def on(self, selection: Sequence[int]) -> CompiledSubset:
        """Return machine code under the constraints of these numbers; kept once made."""
        key = tuple(sorted(selection))
        if key not in self._sets:
            self._sets[key] = self._set(key)
        return self._sets[key]

    @cached_property
    def _modules(self) -> tuple[NativeModule, NativeModule]:
        """Return both modules, compiled when the first set is asked for."""
        kernels, linker = self._kernels(), Linker()
        steps = NativeModule(kernels[STEPS].code, [f'{_STEP}_entry'], linker)
        return steps, NativeModule(kernels[_LOOK].code, [f'{_LOOK}_entry'], linker)

    def _set(self, selection: Sequence[int]) -> CompiledSubset:
        steps, values_of_rows = self._modules
        switches = np.zeros(len(self.constraints))
        switches[list(selection)] = 1.0
        values = self._load.with_more(switches)
        step = make_entry(steps, _STEP, _not_sure, values)
        look = make_entry(values_of_rows, _LOOK, _not_sure, values)
        return CompiledSubset(step, look)


def _not_sure(*_: object, **__: object) -> None:
    """Say that machine code has no answer."""


class _Tables(NamedTuple):
    """States and ranks after each step."""

    q: Floats
    v: Floats
    ranks: Floats


def _tables(q: Floats, v: Floats, n: int) -> _Tables:
    """Return tables for n steps from a state."""
    tables = _Tables(np.empty((n + 1, len(q))), np.empty((n + 1, len(v))), np.zeros(n + 1))
    tables.q[0], tables.v[0] = q, v
    return tables


def switched_code(kernels: KernelSet, constraints: ConstraintSet) -> SwitchedCode:
    """Return machine code under any set of other constraints."""
    recipe = replace(kernels.build.recipe, constraints=constraints, plan=RowPlan())
    table = kernels.made(recipe, 'row_table').call

    def numbers(q: ArrayLike, v: ArrayLike, t: Floats) -> Sequence[Floats]:
        results = table(q, v, t)
        return results[:, :-3], *results[:, -3:].T

    rows = CompiledRows(numbers, constraints)
    return SwitchedCode(kernels.load, constraints, rows, partial(load_switched, recipe))
