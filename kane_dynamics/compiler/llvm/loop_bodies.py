# SPDX-License-Identifier: Apache-2.0
"""The code of one body, or of several in vector lanes, at one level."""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca

from kane_dynamics.compiler.llvm.loop_function import LoopFunction
from kane_dynamics.compiler.llvm.loop_shape import LoopShape, neighbours
from kane_dynamics.compiler.llvm.loop_spec import GroupCode
from kane_dynamics.compiler.llvm.straight_line import append_operation


class Bodies:
    """The code of one body, or of several in vector lanes, at one level."""

    def __init__(self, shape: LoopShape, function: LoopFunction, g: int, k: str) -> None:
        self._shape, self._function, self._g = shape, function, g
        self._group: GroupCode = shape.spec.groups[g]
        self._length = shape.layout.lengths[g]
        self._slots = function.pointer('%work', function.scaled(k, shape.states))
        self._table = function.pointer(f'@{shape.name}.c{g}', k)
        self._k = k
        self._values: dict[int, str] = {}
        self.entering: dict[int, list[str]] = {}

    def append(self, level: int, leaving: Sequence[int] = ()) -> list[str]:
        """Append the operations of a level, and return the values that leave a pass."""
        levels, block = self._group.levels, self._function.block
        unit = self._shape.states
        # what of the level is asked for; CasADi's order is that of the operations
        for k, node in enumerate(levels.nodes):
            if levels.level[k] != level:
                continue
            if node.operation == ca.OP_INPUT:
                if k in levels.kept:
                    self._values[k] = self.value(k, here=True)
            elif node.operation != ca.OP_CONST:
                a = self.value(node.sources[0])
                b = self.value(node.sources[1]) if len(node.sources) > 1 else ''
                self._values[k] = append_operation(block, node.operation, a, b)
            if k in levels.kept:
                place = self._shape.layout.slots[self._g][k] * unit
                self._function.store(self._values[k], self._slots, place, block.type)
        return [self.value(k) for k in leaving]

    def value(self, k: int, here: bool = False) -> str:
        """Return a value: known, a literal, of a table, of an input, or kept from before."""
        if k not in self._values:
            self._values[k] = self._read(k, here)
        return self._values[k]

    def _read(self, k: int, here: bool) -> str:
        function, levels, block = self._function, self._group.levels, self._function.block
        node = levels.nodes[k]
        if node.operation == ca.OP_CONST:
            return block.constant(node.constant)
        if node.operation == ca.OP_INPUT:
            column, entry = node.place
            if column == 0:
                return self._constant(entry)
            if column in self.entering:
                return self.entering[column][entry]
            if here or k not in levels.kept:
                return self._input(column - 1, entry)
        unit = self._shape.states
        place = self._shape.layout.slots[self._g][k] * unit
        return function.load(self._slots, place, block.type)

    def _constant(self, entry: int) -> str:
        function, block = self._function, self._function.block
        place = entry * self._length
        if self._shape.states == 1:
            return function.load(self._table, place, block.type)
        return self._splat(function.load(self._table, place, 'double'))

    def _splat(self, value: str) -> str:
        block = self._function.block
        first = block.emit(f'insertelement {block.type} poison, double {value}, i32 0')
        return block.emit(
            f'shufflevector {block.type} {first}, {block.type} poison, '
            f'<{block.lanes} x i32> zeroinitializer'
        )

    def _input(self, column: int, entry: int) -> str:
        """Append the loads of an own entry of all bodies, or of all states."""
        function, block, shape = self._function, self._function.block, self._shape
        number, indices = self._group.local[column]
        if shape.states == 1 and neighbours(indices):
            first = function.pointer(shape.inputs[number], indices[entry, 0])
            return function.load(function.pointer(first, self._k), 0, block.type)
        row = function.pointer(f'@{shape.name}.q{self._g}.{column}', entry * self._length)
        if block.lanes == 1 or shape.states > 1:
            return shape.loaded(function, number, function.index(row, self._k))
        value = 'poison'
        first = block.emit(f'getelementptr inbounds i64, ptr {row}, i64 {self._k}')
        for lane in range(block.lanes):
            place = function.index(first, str(lane))
            one = function.load(function.pointer(shape.inputs[number], place), 0, 'double')
            value = block.emit(f'insertelement {block.type} {value}, double {one}, i32 {lane}')
        return value
