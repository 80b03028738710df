# SPDX-License-Identifier: Apache-2.0
"""Where the values of a loop over bodies are, and what its functions have in common."""

from __future__ import annotations

import numpy as np

from kane_dynamics.compiler.llvm.loop_function import LoopFunction
from kane_dynamics.compiler.llvm.loop_spec import LoopSpec, Places


class Layout:
    """Where everything is in the work array, in entries of `unit` doubles."""

    def __init__(self, spec: LoopSpec) -> None:
        self.lengths = [len(g.bodies) for g in spec.groups]
        self.slots: list[dict[int, int]] = []
        end = 0
        for group, length in zip(spec.groups, self.lengths, strict=True):
            kept = sorted(group.levels.kept)
            self.slots.append({node: end + k * length for k, node in enumerate(kept)})
            end += len(kept) * length
        self.handed = []
        for one in spec.passes:
            self.handed.append(end)
            end += (len(spec.parents) + 1) * one.width
        self.total = end
        self.size = end + spec.output_sizes[0]


class LoopShape:
    """What all functions of one kernel have in common."""

    def __init__(self, spec: LoopSpec, name: str, states: int, width: int) -> None:
        self.spec, self.name, self.states, self.width = spec, name, states, width
        self.layout = Layout(spec)
        self.inputs = [*[f'%in{i}' for i in range(len(spec.input_sizes))], '%parameters']
        self.parameters = ', '.join(f'ptr {p}' for p in ['%work', *self.inputs])
        self._strides = [*spec.input_sizes, 0]  # from state to state

    @property
    def kind(self) -> str:
        """Return the LLVM type of a value of one body."""
        return 'double' if self.states == 1 else f'<{self.states} x double>'

    @property
    def attributes(self) -> str:
        """Return the attributes of the functions."""
        return f'"prefer-vector-width"="{64 * max(self.width, self.states)}"'

    @property
    def serial(self) -> bool:
        """Return whether every body hangs on the one before it."""
        return all(parent == i - 1 for i, parent in enumerate(self.spec.parents))

    @property
    def placed_once(self) -> bool:
        """Return whether every entry of the output is one result."""
        indices = np.concatenate([group.indices.ravel() for group in self.spec.groups])
        return len(indices) == len(np.unique(indices)) == self.spec.output_sizes[0]

    def width_of(self, g: int) -> int:
        """Return how many bodies of a group run at once where they may."""
        return self.width if self.layout.lengths[g] >= self.width else 1

    def loaded(self, function: LoopFunction, i: int, place: str) -> str:
        """Append the loads of entry `place` of input i of all states."""
        block = function.block
        first = function.pointer(self.inputs[i], place)
        if self.states == 1:
            return function.load(first, 0, 'double')
        value = 'poison'
        for lane in range(self.states):
            one = function.load(first, lane * self._strides[i], 'double')
            value = block.emit(f'insertelement {block.type} {value}, double {one}, i32 {lane}')
        return value


def neighbours(indices: Places) -> bool:
    """Return whether the bodies of a group have neighbouring places in each row."""
    return bool((np.diff(indices, axis=1) == 1).all())
