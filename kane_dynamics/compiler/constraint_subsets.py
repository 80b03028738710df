# SPDX-License-Identifier: Apache-2.0
"""Machine code for any set of some constraints: steps of rk4, distances and forces."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from kane_dynamics.compiler.build import STEPS, step_name
from kane_dynamics.compiler.cache import CachedKernel
from kane_dynamics.compiler.llvm.native import Linker, NativeModule, make_entry
from kane_dynamics.compiler.parameters import Parameters
from kane_dynamics.compiler.steps.stepping import one_step
from kane_dynamics.constraints.constraint_set import ConstraintSet
from kane_dynamics.dynamics import CompiledSubset, ConstraintSubsetDynamics, RowsFunction
from kane_dynamics.simulation.integrators import rk4

_STEP, _LOOK = one_step(step_name(rk4.__name__, True)), 'look'


class SwitchedCode(ConstraintSubsetDynamics):
    """Machine code of `switched_graphs.SwitchedTracer`."""

    def __init__(
        self,
        load: Parameters,
        constraints: ConstraintSet,
        rows: RowsFunction,
        kernels: Mapping[str, CachedKernel],
    ) -> None:
        super().__init__(constraints, rows)
        self._load, linker = load, Linker()
        self._steps = NativeModule(kernels[STEPS].code, [f'{_STEP}_entry'], linker)
        self._looks = NativeModule(kernels[_LOOK].code, [f'{_LOOK}_entry'], linker)
        self._sets: dict[tuple[int, ...], CompiledSubset] = {}

    def on(self, selection: Sequence[int]) -> CompiledSubset:
        """Return machine code under the constraints of these numbers; kept once made."""
        key = tuple(sorted(selection))
        if key not in self._sets:
            self._sets[key] = self._set(key)
        return self._sets[key]

    def _set(self, selection: Sequence[int]) -> CompiledSubset:
        switches = np.zeros(len(self.constraints))
        switches[list(selection)] = 1.0
        values = self._load.copy(switches)
        step = make_entry(self._steps, _STEP, _not_sure, values)
        look = make_entry(self._looks, _LOOK, _not_sure, values)
        return CompiledSubset(step, look)


def _not_sure(*_: object, **__: object) -> None:
    """Say that machine code has no answer."""
