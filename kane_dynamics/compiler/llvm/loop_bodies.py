# SPDX-License-Identifier: Apache-2.0
"""The code of one body, or of several in vector lanes, at one level of a loop over bodies."""

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from kane_dynamics.algebra import casadi as ca
from kane_dynamics.compiler.llvm.kernel_spec import LoopSpec, Places
from kane_dynamics.compiler.llvm.straight_line import Block, append_operation


class Layout:
    """Where the values of a kernel are, in entries of `states` doubles."""

    def __init__(self, spec: LoopSpec, states: int) -> None:
        self.spec, self.states = spec, states
        self.name = spec.name if states == 1 else f'{spec.name}_lanes'
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
        *self.inputs, _ = spec.arrays
        *self.strides, _ = spec.arrays.values()  # from state to state

    @cached_property
    def serial(self) -> bool:
        """Return whether every body hangs on the one before it."""
        return all(parent == i - 1 for i, parent in enumerate(self.spec.parents))

    @cached_property
    def placed_once(self) -> bool:
        """Return whether every entry of the output is one result."""
        indices = np.concatenate([group.indices.ravel() for group in self.spec.groups])
        return len(indices) == len(np.unique(indices)) == self.spec.output_sizes[0]


class Bodies:
    """The code of one body, or of several in vector lanes, at one level."""

    def __init__(self, layout: Layout, g: int, lanes: int) -> None:
        self._layout, self._g, self._states = layout, g, layout.states
        self._group, self._length = layout.spec.groups[g], layout.lengths[g]
        self._block = Block(lanes)
        self._name, self._values = layout.name, dict[int, str]()
        place = self._block.emit(f'mul nsw i64 %k, {self._states}')
        self._work = self._pointer('%work', place)
        self._entering: tuple[int, list[str]] = -1, []

    def level(self, level: int, number: int = -1, sums: bool = False) -> tuple[str, set[str]]:
        """Return the operations of a level, and what enters and leaves pass `number`."""
        group, block, unit = self._group, self._block, self._states
        levels, width = group.levels, 0
        if number >= 0:
            width = self._layout.spec.passes[number].width
            entering = [self._load('%from', m * unit) for m in range(width)]
            self._entering = 1 + len(group.local) + number, entering
        # what of the level is asked for; CasADi's order is that of the operations
        for k, node in enumerate(levels.nodes):
            if levels.level[k] != level:
                continue
            if node.operation == ca.OP_INPUT:
                if k in levels.kept:
                    self._values[k] = self._value(k, here=True)
            elif node.operation != ca.OP_CONST:
                a, b = [*(self._value(source) for source in node.sources), ''][:2]
                self._values[k] = append_operation(block, node.operation, a, b)
            if k in levels.kept:
                self._store(self._values[k], self._work, self._layout.slots[self._g][k] * unit)
        for m in range(width):
            value = self._value(levels.outputs[number][m])
            if sums:
                value = block.binary('fadd', self._load('%to', m * unit), value)
            self._store(value, '%to', m * unit)
        return '\n  '.join(block.lines), block.declarations

    def results(self) -> tuple[str, set[str]]:
        """Return the sums of results, or their stores where nothing is summed, and the rcond."""
        layout, group, unit = self._layout, self._group, self._states
        *_, results, (rcond,) = group.levels.outputs
        for m, node in enumerate(results):
            value = self._value(node)
            place = self._index(f'r{self._g}', m, group.indices)
            scaled = self._block.emit(f'mul nsw i64 {place}, {unit}')
            total = self._pointer('%work', layout.total * unit)
            if not layout.placed_once:
                before = self._load(self._pointer(total, scaled), 0)
                value = self._block.binary('fadd', before, value)
            self._store(value, self._pointer(total, scaled), 0)
        if not group.is_sound:
            value, before = self._value(rcond), self._load('%from', 0)
            value = self._block.select('uno', value, value, self._block.constant(0.0), value)
            self._store(self._block.select('olt', value, before, value, before), '%to', 0)
        return '\n  '.join(self._block.lines), self._block.declarations

    def _value(self, k: int, here: bool = False) -> str:
        """Return a value: known, a literal, of a table, of an input, or kept from before."""
        if k not in self._values:
            self._values[k] = self._read(k, here)
        return self._values[k]

    def _read(self, k: int, here: bool) -> str:
        levels, unit = self._group.levels, self._states
        node = levels.nodes[k]
        if node.operation == ca.OP_CONST:
            return self._block.constant(node.constant)
        if node.operation == ca.OP_INPUT:
            column, entry = node.place
            if column == 0:
                return self._constant(entry)
            if column == self._entering[0]:
                return self._entering[1][entry]
            if here or k not in levels.kept:
                return self._input(column - 1, entry)
        return self._load(self._work, self._layout.slots[self._g][k] * unit)

    def _constant(self, entry: int) -> str:
        place = entry * self._length
        table = self._pointer(f'@{self._name}.c{self._g}', '%k')
        if self._states == 1:
            return self._load(table, place)
        return self._block.splat(self._load(table, place, 'double'))

    def _input(self, column: int, entry: int) -> str:
        """Append the loads of an own entry of all bodies, or of all states."""
        block, name = self._block, f'q{self._g}.{column}'
        number, indices = self._group.local[column]
        source, stride = f'%{self._layout.inputs[number]}', self._layout.strides[number]
        if self._states == 1 and block.lanes > 1 and not neighbours(indices):
            ahead = range(block.lanes)
            indices_of = [self._index(name, entry, indices, lane) for lane in ahead]
            return self._vector([self._pointer(source, x) for x in indices_of], 0)
        return self._of_states(self._pointer(source, self._index(name, entry, indices)), stride)

    def squares(self, i: int) -> tuple[str, set[str]]:
        """Return what adds the squares of entry k of an input, and of the next ones, to a sum."""
        x = self._of_states(self._pointer(f'%in{i}', '%k'), self._layout.strides[i])
        square = self._block.binary('fmul', x, x)
        self._store(self._block.binary('fadd', self._load('%from', 0), square), '%to', 0)
        return '\n  '.join(self._block.lines), self._block.declarations

    def _of_states(self, place: str, stride: int) -> str:
        """Append the loads of an entry of all states, or of neighbouring ones of one state."""
        if self._states == 1:
            return self._load(place, 0)
        return self._vector([place] * self._states, stride)

    def _vector(self, addresses: Sequence[str], stride: int) -> str:
        pairs = enumerate(addresses)
        loads = (self._load(place, lane * stride, 'double') for lane, place in pairs)
        return self._block.packed(loads, 'poison')

    def _index(self, table: str, row: int, indices: Places, ahead: int = 0) -> str:
        """Append where entry `row` of body k + ahead is."""
        if neighbours(indices):
            return self._block.emit(f'add nsw i64 %k, {indices[row, 0] + ahead}')
        place = self._block.emit(f'add nsw i64 %k, {row * self._length + ahead}')
        table = f'ptr @{self._name}.{table}'
        place = self._block.emit(f'getelementptr inbounds i64, {table}, i64 {place}')
        return self._block.emit(f'load i64, ptr {place}')

    def _pointer(self, base: str, offset: int | str) -> str:
        return self._block.emit(f'getelementptr inbounds double, ptr {base}, i64 {offset}')

    def _load(self, base: str, offset: int, kind: str = '') -> str:
        place = self._pointer(base, offset)
        return self._block.emit(f'load {kind or self._block.type}, ptr {place}, align 8')

    def _store(self, value: str, base: str, offset: int) -> None:
        place = self._pointer(base, offset)
        self._block.lines.append(f'store {self._block.type} {value}, ptr {place}, align 8')


def neighbours(indices: Places) -> bool:
    """Return whether the bodies of a group have neighbouring places in each row."""
    return bool((np.diff(indices, axis=1) == 1).all())
