# SPDX-License-Identifier: Apache-2.0
"""Many motions as machine code: groups of states in vector lanes, on all cores."""

import ctypes
from collections.abc import Callable, Mapping

import numpy as np

from kane_dynamics.compiler.batches import run_parts
from kane_dynamics.compiler.kernel_loader import load_rollouts
from kane_dynamics.compiler.kernel_set import KernelSet
from kane_dynamics.compiler.llvm.native import NativeModule, vector_lanes
from kane_dynamics.compiler.recipe import FORWARD, START, step_name
from kane_dynamics.simulation.motions import Counts, Motions, PayloadRows
from kane_dynamics.typing import Bools, Floats

_STEPS_AT_ONCE = 2048  # of a group of lanes: some ten milliseconds, for which Ctrl-C waits
_NEVER = 2**62
_ARRAYS = 12  # of `steps.time_loops.motions`


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
            recipe.check_steps_in_single(integrator, kernels[FORWARD].timed)
        self._lanes = vector_lanes() * (2 if precision == 'float32' else 1)
        how = integrator, projection, precision
        code = load_rollouts(recipe, self._lanes, *how).code
        names = [f'{step_name(integrator, projection)}_lanes', *[f'{START}_lanes'] * projection]
        module = NativeModule(code, names, kernels.linker)
        pointers = [ctypes.c_void_p] * _ARRAYS
        functions = [
            module.function(each, None, *pointers, ctypes.c_int64, ctypes.c_int64)
            for each in names
        ]
        self._step, self._start = functions[0], functions[-1]
        self._load = kernels.load
        self._gains = np.array(recipe.law.gains if recipe.law is not None else ())

    def parameters(
        self,
        rows: int,
        gains: Floats | None,
        gravity: Floats | None,
        payloads: Mapping[str, PayloadRows],
    ) -> Floats:
        """Return what differs between rollouts besides states and efforts, shape (rows, P)."""
        known = self._gains if gains is None else gains
        values = self._load.rollout_rows(rows, known, gravity, payloads)
        return np.broadcast_to(values, (rows, values.shape[1]))

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
