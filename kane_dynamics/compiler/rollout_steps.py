# SPDX-License-Identifier: Apache-2.0
"""Many motions as machine code: groups of states in vector lanes, on all cores."""

import ctypes
from collections.abc import Callable, Mapping
from functools import partial

import numpy as np

from kane_dynamics.compiler.batches import run_parts
from kane_dynamics.compiler.build import START, callees, step_name, step_programs
from kane_dynamics.compiler.cache import CachedKernel
from kane_dynamics.compiler.kernel_set import KernelSet
from kane_dynamics.compiler.llvm.native import NativeModule, start_compiling, vector_lanes
from kane_dynamics.compiler.recipe import Recipe
from kane_dynamics.compiler.steps.step_program import Recorder, record_start
from kane_dynamics.compiler.steps.time_loops import TABLES, rollout_text
from kane_dynamics.simulation.motions import Counts, Motions, PayloadRows
from kane_dynamics.typing import Bools, Floats

_STEPS_AT_ONCE = 2048  # of a group of lanes: some ten milliseconds, for which Ctrl-C waits
_NEVER = 2**62
_ROLLOUTS = 'rollouts'


class CompiledMotions:
    """Steps of one integrator for many states; see `simulation.motions.ManyMotions`."""

    def __init__(
        self,
        kernels: KernelSet,
        integrator: str,
        projection: bool,
        precision: str,
    ) -> None:
        recipe = kernels.build.recipe
        if precision == 'float32':
            recipe.check_steps_in_single(integrator)
        self._lanes = vector_lanes() * (2 if precision == 'float32' else 1)
        how = integrator, projection, precision
        make = partial(_rollouts, recipe, self._lanes, *how)
        code = recipe.cached_kernel(_ROLLOUTS, make, *how, recipe.law_content).code
        names = [f'{step_name(integrator, projection)}_lanes', *[f'{START}_lanes'] * projection]
        module = NativeModule(code, names, kernels.linker)
        pointers = [ctypes.c_void_p] * TABLES
        functions = [
            module.function(each, None, *pointers, ctypes.c_int64, ctypes.c_int64)
            for each in names
        ]
        self._step, self._start = functions[0], functions[-1]
        self._load = kernels.load
        self._gains = recipe.law.gains if recipe.law is not None else ()

    def parameters(
        self,
        rows: int,
        gains: Floats | None,
        gravity: Floats | None,
        payloads: Mapping[str, PayloadRows],
    ) -> Floats:
        """Return what differs between rollouts besides states and efforts, shape (rows, P)."""
        local = self._load.rows(rows, gravity, payloads)
        arguments = np.array([self._gains]) if gains is None else gains
        if len(local) == 1 and gains is None:
            return np.broadcast_to(
                np.hstack([local, arguments]), (rows, local.size + arguments.size)
            )
        parts = [np.broadcast_to(x, (rows, x.shape[1])) for x in (local, arguments)]
        return np.ascontiguousarray(np.hstack(parts))

    def start(self, motions: Motions, rows: Counts) -> Bools:
        """Move states onto the constraints; return for which rows machine code is not sure."""
        self._run(self._start, motions, rows, 1, _NEVER)
        sure = motions.done[rows] > 0.0
        motions.done[rows] = 0.0
        return ~sure

    def run(self, motions: Motions, rows: Counts, until: int) -> Bools:
        """Take the steps up to number `until` of some rows, or fewer at a time."""
        return self._run(self._step, motions, rows, until, motions.every or _NEVER)

    def _run(
        self, function: Callable[..., None], motions: Motions, rows: Counts, until: int, every: int
    ) -> Bools:
        done = motions.done[rows].astype(np.int64)
        groups, first = _groups(rows, done, self._lanes)
        last = np.minimum(first + _STEPS_AT_ONCE, until)
        q_kept, v_kept = motions.kept
        settings = [motions.piece, every]
        for array in (motions.efforts, motions.parameters, q_kept, v_kept):
            settings.append(0 if len(array) < 2 else array.strides[0] // array.itemsize)
        arrays = [
            groups,
            first,
            last,
            np.array(settings, dtype=np.int64),
            np.array([motions.step]),
            motions.q,
            motions.v,
            motions.efforts,
            motions.parameters,
            motions.done,
            q_kept,
            v_kept,
        ]
        longest = int((last - first).max(initial=1))
        run_parts(function, arrays, len(groups), max(1, _STEPS_AT_ONCE // longest))
        target = np.minimum(done + _STEPS_AT_ONCE, until)
        not_sure: Bools = motions.done[rows] < target
        return not_sure


def _groups(rows: Counts, done: Counts, lanes: int) -> tuple[Counts, Counts]:
    """Return groups of rows after the same step, shape (G, lanes), and these steps, (G,)."""
    groups, first = [], []
    for step in np.unique(done).tolist():
        same = rows[done == step]
        # padded by a state of its own group: one of another may be at work elsewhere
        filled = np.pad(same, (0, -len(same) % lanes), mode='edge')
        groups.append(filled.reshape(-1, lanes))
        first.append(np.full(len(filled) // lanes, step, dtype=np.int64))
    if not groups:
        return np.zeros((0, lanes), dtype=np.int64), np.zeros(0, dtype=np.int64)
    return np.ascontiguousarray(np.concatenate(groups)), np.concatenate(first)


def _rollouts(
    recipe: Recipe, lanes: int, integrator: str, projection: bool, precision: str
) -> CachedKernel:
    """Return the module of motions in vector lanes by one integrator."""
    tracer, law = recipe.tracer(), recipe.law
    programs = step_programs(tracer, law, integrator, projection)
    if projection:
        programs[START] = record_start(Recorder(tracer.robot, bool(tracer.holonomic)))
    called = callees(tracer, programs)
    parameters = len(tracer.parameters) + (0 if law is None else len(law.gains))
    in_single = ('acceleration',) if precision == 'float32' else ()
    text = rollout_text(programs, called, lanes, parameters, in_single)
    code = start_compiling(text).result()
    return CachedKernel(code, (), (), sum(spec.operations for spec in called.values()))
