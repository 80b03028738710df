# SPDX-License-Identifier: Apache-2.0
"""
LLVM code of a loop over bodies.

Each level of `loop_levels` is a function of its own. In a call for one state the even levels run
several bodies of a group at once, one in each vector lane; the passes run body after body. In a
batch every level runs body after body, with one state in each lane. Values that later levels need
are kept in an array for each value with one entry for each body; what passes hand on is kept body
by body. Results are summed in an array of their own, and stored last.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from kane_dynamics.kernels.kernel_spec import HEALTH_LIMIT, LARGEST_INPUT
from kane_dynamics.kernels.loop_spec import GroupCode, LoopSpec, Places
from kane_dynamics.kernels.straight_line import FLAGS, Block, append_operation

_MOST_ON_STACK = 2**18  # bytes of the work array; threads may have stacks of 512 kB


class _Layout:
    """
    Where everything is in the work array, in entries of `unit` doubles.

    Parameters
    ----------
    spec : LoopSpec
        The kernel.

    """

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


@dataclass
class _Function:
    """One LLVM function under construction: control flow around straight-line blocks."""

    lanes: int
    block: Block = field(init=False)
    label: str = 'entry'

    def __post_init__(self) -> None:
        self.block = Block(self.lanes)
        self.block.lines.append('entry:')

    def begin(self, name: str, count: int, step: int = 1, down: bool = False) -> str:
        """Open a loop over k = 0, step, ... < count, or count - 1 ... 0, and return k."""
        first, last = (count - 1, 0) if down else (0, count)
        self.block.lines += [
            f'br label %{name}',
            f'{name}:',
            f'%{name}.k = phi i64 [ {first}, %{self.label} ], [ %{name}.next, %{name}.latch ]',
        ]
        self._loop = name, -step if down else step, last, 'sge' if down else 'slt'
        return f'%{name}.k'

    def overlapping(self, count: int, width: int) -> str:
        """Open a loop of `width` at once; the last ones come together with those before them."""
        k = self.begin('g', count, width)
        if count % width == 0:
            return k
        beyond = self.block.emit(f'icmp sgt i64 {k}, {count - width}')
        return self.block.emit(f'select i1 {beyond}, i64 {count - width}, i64 {k}')

    def at_start(self, phi: str) -> None:
        """Insert a phi node at the start of the loop that is open."""
        place = self.block.lines.index(f'{self._loop[0]}:') + 1
        self.block.lines.insert(place, phi)

    def end(self) -> None:
        """Close the loop."""
        name, step, last, more = self._loop
        self.block.lines += [
            f'br label %{name}.latch',
            f'{name}.latch:',
            f'%{name}.next = add nsw i64 %{name}.k, {step}',
            f'%{name}.more = icmp {more} i64 %{name}.next, {last}',
            f'br i1 %{name}.more, label %{name}, label %{name}.end',
            f'{name}.end:',
        ]
        self.label = f'{name}.end'

    def pointer(self, base: str, offset: int | str) -> str:
        """Append the address of a double."""
        return self.block.emit(f'getelementptr inbounds double, ptr {base}, i64 {offset}')

    def load(self, base: str, offset: int, kind: str) -> str:
        """Append a load."""
        return self.block.emit(f'load {kind}, ptr {self.pointer(base, offset)}, align 8')

    def store(self, value: str, base: str, offset: int, kind: str) -> None:
        """Append a store."""
        self.block.lines.append(f'store {kind} {value}, ptr {self.pointer(base, offset)}, align 8')

    def index(self, table: str, k: str) -> str:
        """Append a load from a table of integers."""
        place = self.block.emit(f'getelementptr inbounds i64, ptr {table}, i64 {k}')
        return self.block.emit(f'load i64, ptr {place}')

    def scaled(self, k: str, factor: int) -> str:
        """Append k times a number."""
        return k if factor == 1 else self.block.emit(f'mul nsw i64 {k}, {factor}')


class _Writer:
    """
    All functions of one kernel, for one state or for one state in each lane.

    Parameters
    ----------
    spec : LoopSpec
        The kernel.
    name : str
        Of the main function.
    states : int
        How many run at once.
    width : int
        Bodies at once in even levels.

    """

    def __init__(self, spec: LoopSpec, name: str, states: int, width: int) -> None:
        self.spec, self.name, self.states, self.width = spec, name, states, width
        self.layout = _Layout(spec)
        self.inputs = [*[f'%in{i}' for i in range(len(spec.input_sizes))], '%parameters']
        self.strides = [*spec.input_sizes, 0]  # from state to state
        self.parameters = ', '.join(f'ptr {p}' for p in ['%work', *self.inputs])
        self.texts: list[str] = []
        self.declarations: set[str] = set()

    def text(self) -> str:
        """Return everything."""
        spec = self.spec
        self._tables()
        calls = []
        last = max(g.levels.last for g in spec.groups)
        for level in range(last + 1):
            name = f'@{self.name}_level{level}'
            if level % 2:
                calls.append(self._close(name, self._pass(level)))
                continue
            for g, group in enumerate(spec.groups):
                if any(group.levels.level[k] == level for k in group.levels.kept):
                    calls.append(self._close(f'{name}.{g}', self._map(level, g)))
        for g, group in enumerate(spec.groups):
            if len(group.places):
                calls.append(self._close(f'@{self.name}_results.{g}', self._results(g)))
        squares = _Function(self.width if self.states == 1 else self.states)
        self._close(f'@{self.name}_squares', squares, self._squares(squares))
        self._main(calls)
        return '\n'.join(self.texts)

    def _close(self, name: str, function: _Function, result: str = '') -> str:
        """Keep a function and return the call of it."""
        kind = f'{self._kind} ' if result else 'void '
        lines = '\n  '.join([*function.block.lines, f'ret {kind}{result}'])
        self.declarations |= function.block.declarations
        head = f'define internal {kind}{name}({self.parameters}) {self._attributes}'
        self.texts.append(f'{head} {{\n  {lines}\n}}\n')
        return f'call void {name}({self.parameters})'

    @property
    def _kind(self) -> str:
        return 'double' if self.states == 1 else f'<{self.states} x double>'

    @property
    def _attributes(self) -> str:
        return f'"prefer-vector-width"="{64 * max(self.width, self.states)}"'

    def _tables(self) -> None:
        for g, group in enumerate(self.spec.groups):
            self._table(f'c{g}', 'double', group.table)
            for k, (_, places) in enumerate(group.own):
                self._table(f'q{g}.{k}', 'i64', places)
            self._table(f'r{g}', 'i64', group.places)
        parents = np.array(self.spec.parents)
        world = len(parents)
        self._table('parent', 'i64', np.where(parents < 0, world, parents))
        kinds, places = np.zeros(world, dtype=int), np.zeros(world, dtype=int)
        for g, group in enumerate(self.spec.groups):
            kinds[list(group.bodies)], places[list(group.bodies)] = g, range(len(group.bodies))
        self._table('group', 'i64', kinds)
        self._table('place', 'i64', places)

    def _table(self, name: str, kind: str, values: NDArray[Any]) -> None:
        flat = values.ravel().tolist()
        entries = [f'{kind} {Block(1).constant(x) if kind == "double" else x}' for x in flat]
        content = f'[{", ".join(entries)}]' if entries else 'zeroinitializer'
        self.texts.append(
            f'@{self.name}.{name} = internal constant [{len(flat)} x {kind}] {content}, align 64'
        )

    def _map(self, level: int, g: int) -> _Function:
        """Return an even level of a group: several bodies at once for one state."""
        width = self._width(g)
        function = _Function(width if self.states == 1 else self.states)
        k = function.overlapping(self.layout.lengths[g], width)
        _Bodies(self, function, g, k).append(level)
        function.end()
        return function

    def _pass(self, level: int) -> _Function:
        """Return an odd level: body after body."""
        function, number = _Function(self.states), level // 2
        one = self.spec.passes[number]
        body = function.begin('body', len(self.spec.parents), down=not one.outward)
        handing = (_InRegisters if self._serial else _InMemory)(self, function, number, body)
        ends = [
            (label, handing.leave(self._case(function, g, number, place, handing.entering)))
            for g, label, place in self._cases(function, body)
        ]
        function.block.lines.append('joined:')
        handing.join(ends)
        function.end()
        return function

    @property
    def _serial(self) -> bool:
        """Return whether every body hangs on the one before it."""
        return all(parent == i - 1 for i, parent in enumerate(self.spec.parents))

    def _cases(self, function: _Function, body: str) -> Iterator[tuple[int, str, str]]:
        """Yield number, label and place in the group for each group, and append the jumps."""
        lines, count = function.block.lines, len(self.spec.groups)
        place = body
        if count > 1:
            kind = function.index(f'@{self.name}.group', body)
            place = function.index(f'@{self.name}.place', body)
            cases = ' '.join(f'i64 {g}, label %case{g}' for g in range(count))
            lines.append(f'switch i64 {kind}, label %case0 [ {cases} ]')
        else:
            lines.append('br label %case0')
        for g in range(count):
            lines.append(f'case{g}:')
            yield g, f'case{g}', place
            lines.append('br label %joined')

    def _case(
        self, function: _Function, g: int, number: int, place: str, entering: list[str]
    ) -> list[str]:
        """Append a group's code of a pass, and return what leaves it."""
        group = self.spec.groups[g]
        bodies = _Bodies(self, function, g, place)
        bodies.entering = {1 + len(group.own) + number: entering}
        return bodies.append(2 * number + 1, group.levels.outputs[number])

    def _results(self, g: int) -> _Function:
        """Return the sums of a group's results, or their places where nothing is summed."""
        group = self.spec.groups[g]
        width = self._width(g) if self._placed_once and _neighbours(group.places) else 1
        function, unit = _Function(width if self.states == 1 else self.states), self.states
        totals = function.pointer('%work', self.layout.total * unit)
        k = function.overlapping(len(group.bodies), width)
        bodies, kind = _Bodies(self, function, g, k), function.block.type
        for m, node in enumerate(group.levels.outputs[len(self.spec.passes)]):
            value = bodies.value(node)
            if _neighbours(group.places):
                place = function.block.emit(f'add nsw i64 {k}, {group.places[m, 0]}')
            else:
                row = function.pointer(f'@{self.name}.r{g}', m * self.layout.lengths[g])
                place = function.index(row, k)
            where = function.pointer(totals, function.scaled(place, unit))
            if not self._placed_once:
                value = function.block.binary('fadd', function.load(where, 0, kind), value)
            function.store(value, where, 0, kind)
        function.end()
        return function

    @property
    def _placed_once(self) -> bool:
        """Return whether every entry of the output is one result."""
        places = np.concatenate([group.places.ravel() for group in self.spec.groups])
        return len(places) == len(np.unique(places)) == self.spec.output_sizes[0]

    def _width(self, g: int) -> int:
        """Return how many bodies of a group run at once where they may."""
        return self.width if self.layout.lengths[g] >= self.width else 1

    def _squares(self, function: _Function) -> str:
        """Append the sum of squares of all inputs, and return it."""
        block = function.block
        if self.states == 1:
            return self._squares_of_one(function)
        total = function.block.emit(f'fadd {block.type} zeroinitializer, zeroinitializer')
        for i, size in enumerate(self.spec.input_sizes):
            if size == 0:
                continue
            before, label = total, function.label
            k = function.begin(f's{i}', size)
            function.at_start(
                f'%t{i} = phi {block.type} [ {before}, %{label} ], [ %t{i}.next, %s{i}.latch ]'
            )
            value = self.loaded(function, i, k)
            square = block.emit(f'fmul {FLAGS} {block.type} {value}, {value}')
            block.lines.append(f'%t{i}.next = fadd {FLAGS} {block.type} %t{i}, {square}')
            function.end()
            total = f'%t{i}.next'
        return total

    def _squares_of_one(self, function: _Function) -> str:
        block, width = function.block, function.lanes
        scalar = Block(1)
        total, rest = 'zeroinitializer', '0.0'
        for i, size in enumerate(self.spec.input_sizes):
            whole = size // width * width
            if whole:
                before, label = total, function.label
                k = function.begin(f's{i}', whole, width)
                function.at_start(
                    f'%t{i} = phi {block.type} [ {before}, %{label} ], '
                    f'[ %t{i}.next, %s{i}.latch ]'
                )
                value = function.load(function.pointer(f'%in{i}', k), 0, block.type)
                square = block.emit(f'fmul {FLAGS} {block.type} {value}, {value}')
                block.lines.append(f'%t{i}.next = fadd {FLAGS} {block.type} %t{i}, {square}')
                function.end()
                total = f'%t{i}.next'
            for j in range(whole, size):
                x = function.load(f'%in{i}', j, 'double')
                square = block.emit(f'fmul {FLAGS} double {x}, {x}')
                rest = block.emit(f'fadd {FLAGS} double {rest}, {square}')
        if width == 1:
            zero = scalar.constant(0.0) if total == 'zeroinitializer' else total
            return block.emit(f'fadd double {rest}, {zero}')
        name = f'@llvm.vector.reduce.fadd.{block.suffix}'
        block.declarations.add(f'declare double {name}(double, {block.type})')
        return block.emit(f'call reassoc double {name}(double {rest}, {block.type} {total})')

    def loaded(self, function: _Function, i: int, place: str) -> str:
        """Append the loads of entry `place` of input i of all states."""
        block = function.block
        first = function.pointer(self.inputs[i], place)
        if self.states == 1:
            return function.load(first, 0, 'double')
        value = 'poison'
        for lane in range(self.states):
            one = function.load(first, lane * self.strides[i], 'double')
            value = block.emit(f'insertelement {block.type} {value}, double {one}, i32 {lane}')
        return value

    def _main(self, calls: Sequence[str]) -> None:
        """Keep the function that is called from outside."""
        spec, layout, unit = self.spec, self.layout, self.states
        function = _Function(self.states)
        block = function.block
        on_heap = self._work(function, layout.size * unit)
        zero = block.constant(0.0)
        for one, base in zip(spec.passes, layout.handed, strict=True):
            if self._serial:
                break
            if one.outward:
                self._clear(function, base + len(spec.parents) * one.width, one.width)
            else:
                self._clear(function, base, (len(spec.parents) + 1) * one.width)
        if not self._placed_once:
            self._clear(function, layout.total, spec.output_sizes[0])
        squares = f'call {self._kind} @{self.name}_squares({self.parameters})'
        total = block.emit(squares)
        block.lines += calls
        health = self._health(function)
        sound = block.emit(f'fcmp ole {block.type} {total}, {block.constant(LARGEST_INPUT**2)}')
        health = block.emit(
            f'select {block.truth} {sound}, {block.type} {health}, {block.type} {zero}'
        )
        if unit == 1:
            ill = block.emit(f'fcmp olt double {health}, {block.constant(HEALTH_LIMIT)}')
            block.lines += [f'br i1 {ill}, label %done, label %store', 'store:']
            function.label = 'store'
        self._copy_out(function)
        if unit == 1:
            block.lines += ['br label %done', 'done:']
        if on_heap:
            block.lines.append('call void @free(ptr %work)')
        lines = '\n  '.join([*block.lines, f'ret {block.type} {health}'])
        parameters = ', '.join(f'ptr {p}' for p in [*self.inputs, '%out0'])
        attributes = f'noinline {self._attributes}' if unit == 1 else self._attributes
        linkage = '' if unit == 1 else 'internal '
        self.declarations |= block.declarations
        self.texts.append(
            f'define {linkage}{block.type} @{self.name}({parameters}) {attributes} '
            f'{{\n  {lines}\n}}\n'
        )

    def _work(self, function: _Function, size: int) -> bool:
        """Append the work array; return whether it is on the heap."""
        block = function.block
        if 8 * size <= _MOST_ON_STACK:
            block.lines.append(f'%work = alloca [{size} x double], align 64')
            return False
        block.declarations |= {'declare ptr @malloc(i64)', 'declare void @free(ptr)'}
        block.lines.append(f'%work = call ptr @malloc(i64 {8 * size})')
        return True

    def _clear(self, function: _Function, base: int, count: int) -> None:
        name = '@llvm.memset.p0.i64'
        function.block.declarations.add(f'declare void {name}(ptr, i8, i64, i1)')
        place = function.pointer('%work', base * self.states)
        size = 8 * count * self.states
        function.block.lines.append(
            f'call void {name}(ptr align 8 {place}, i8 0, i64 {size}, i1 false)'
        )

    def _health(self, function: _Function) -> str:
        """Append the smallest health of all bodies."""
        block = function.block
        least = block.constant(1.0)
        for g, group in enumerate(self.spec.groups):
            if group.health is None:
                continue
            before, label = least, function.label
            k = function.begin(f'h{g}', len(group.bodies))
            function.at_start(
                f'%m{g} = phi {block.type} [ {before}, %{label} ], [ %m{g}.next, %h{g}.latch ]'
            )
            value = _Bodies(self, function, g, k).value(group.health)
            # NaN, as from no number at all, is not smaller: the sum of squares tells
            truth = block.emit(f'fcmp olt {block.type} {value}, %m{g}')
            block.lines.append(
                f'%m{g}.next = select {block.truth} {truth}, {block.type} {value}, '
                f'{block.type} %m{g}'
            )
            function.end()
            least = f'%m{g}.next'
        return least

    def _copy_out(self, function: _Function) -> None:
        """Append the stores of the results."""
        size, block = self.spec.output_sizes[0], function.block
        if size == 0:
            return
        totals = function.pointer('%work', self.layout.total * self.states)
        if self.states == 1:
            name = '@llvm.memcpy.p0.p0.i64'
            block.declarations.add(f'declare void {name}(ptr, ptr, i64, i1)')
            parts = f'ptr %out0, ptr {totals}, i64 {8 * size}, i1 false'
            block.lines.append(f'call void {name}({parts})')
            return
        k = function.begin('o', size)
        place = function.pointer(totals, function.scaled(k, self.states))
        value = function.load(place, 0, block.type)
        first = function.pointer('%out0', k)
        for lane in range(self.states):
            one = block.emit(f'extractelement {block.type} {value}, i32 {lane}')
            function.store(one, first, lane * size, 'double')
        function.end()


class _InRegisters:
    """What the bodies of a serial chain hand on, from one turn of the loop to the next."""

    def __init__(self, writer: _Writer, function: _Function, number: int, body: str) -> None:
        self._block = function.block
        self.entering = []
        start = self._block.constant(0.0)
        for m in range(writer.spec.passes[number].width):
            self.entering.append(f'%entering{m}')
            function.at_start(
                f'%entering{m} = phi {self._block.type} [ {start}, %entry ], '
                f'[ %leaving{m}, %body.latch ]'
            )

    def leave(self, values: list[str]) -> list[str]:
        """Return what leaves one case."""
        return values

    def join(self, ends: Sequence[tuple[str, list[str]]]) -> None:
        """Append what leaves whichever case it was."""
        for m in range(len(self.entering)):
            cases = ', '.join(f'[ {values[m]}, %{label} ]' for label, values in ends)
            self._block.lines.append(f'%leaving{m} = phi {self._block.type} {cases}')


class _InMemory:
    """What the bodies of a tree hand on; inward it is summed."""

    def __init__(self, writer: _Writer, function: _Function, number: int, body: str) -> None:
        one, unit = writer.spec.passes[number], writer.states
        parent = function.index(f'@{writer.name}.parent', body)
        base = function.pointer('%work', writer.layout.handed[number] * unit)
        own, parents = (
            function.pointer(base, function.scaled(k, one.width * unit))
            for k in (body, parent)
        )
        source, self._target = (parents, own) if one.outward else (own, parents)
        self._function, self._unit, self._adds = function, unit, not one.outward
        kind = function.block.type
        self.entering = [function.load(source, m * unit, kind) for m in range(one.width)]

    def leave(self, values: list[str]) -> list[str]:
        """Store what leaves one case."""
        function, kind = self._function, self._function.block.type
        for m, value in enumerate(values):
            if self._adds:
                before = function.load(self._target, m * self._unit, kind)
                value = function.block.binary('fadd', before, value)
            function.store(value, self._target, m * self._unit, kind)
        return values

    def join(self, ends: Sequence[tuple[str, list[str]]]) -> None:
        """Do nothing: what leaves is in memory."""


class _Bodies:
    """
    The code of one body, or of several in vector lanes, at one level.

    Parameters
    ----------
    writer : _Writer
        The kernel.
    function : _Function
        Where the code goes.
    g : int
        Number of the group.
    k : str
        Place of the first body in the group.

    """

    def __init__(self, writer: _Writer, function: _Function, g: int, k: str) -> None:
        self._writer, self._function, self._g = writer, function, g
        self._group: GroupCode = writer.spec.groups[g]
        self._length = writer.layout.lengths[g]
        self._slots = function.pointer('%work', function.scaled(k, writer.states))
        self._table = function.pointer(f'@{writer.name}.c{g}', k)
        self._k = k
        self._values: dict[int, str] = {}
        self.entering: dict[int, list[str]] = {}

    def append(self, level: int, leaving: Sequence[int] = ()) -> list[str]:
        """Append the operations of a level, and return the values that leave a pass."""
        levels, block = self._group.levels, self._function.block
        unit = self._writer.states
        # what of the level is asked for; CasADi's order is that of the operations
        for k, node in enumerate(levels.nodes):
            if levels.level[k] != level:
                continue
            if node.operation == ca.OP_INPUT:
                if k in levels.kept:
                    self._values[k] = self.value(k, here=True)
            elif node.operation != ca.OP_CONST:
                a = self.value(node.source[0])
                b = self.value(node.source[1]) if len(node.source) > 1 else ''
                self._values[k] = append_operation(block, node.operation, a, b)
            if k in levels.kept:
                place = self._writer.layout.slots[self._g][k] * unit
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
            return block.constant(node.value)
        if node.operation == ca.OP_INPUT:
            column, entry = node.source
            if column == 0:
                return self._constant(entry)
            if column in self.entering:
                return self.entering[column][entry]
            if here or k not in levels.kept:
                return self._input(column - 1, entry)
        unit = self._writer.states
        place = self._writer.layout.slots[self._g][k] * unit
        return function.load(self._slots, place, block.type)

    def _constant(self, entry: int) -> str:
        function, block = self._function, self._function.block
        place = entry * self._length
        if self._writer.states == 1:
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
        function, block, writer = self._function, self._function.block, self._writer
        number, places = self._group.own[column]
        if writer.states == 1 and _neighbours(places):
            first = function.pointer(writer.inputs[number], places[entry, 0])
            return function.load(function.pointer(first, self._k), 0, block.type)
        row = function.pointer(
            f'@{writer.name}.q{self._g}.{column}', entry * self._length
        )
        if block.lanes == 1 or writer.states > 1:
            return writer.loaded(function, number, function.index(row, self._k))
        value = 'poison'
        first = block.emit(f'getelementptr inbounds i64, ptr {row}, i64 {self._k}')
        for lane in range(block.lanes):
            place = function.index(first, str(lane))
            one = function.load(function.pointer(writer.inputs[number], place), 0, 'double')
            value = block.emit(f'insertelement {block.type} {value}, double {one}, i32 {lane}')
        return value


def _neighbours(places: Places) -> bool:
    """Return whether the bodies of a group have neighbouring places in each row."""
    return bool((np.diff(places, axis=1) == 1).all())


def bodies_at_once(width: int) -> int:
    """Return how many bodies share a vector of up to `width` doubles; wider ones gain nothing."""
    return min(width, 4)


def loop_text(spec: LoopSpec, lanes: int, width: int) -> tuple[str, set[str]]:
    """
    Return the code of a kernel for one state, or for one state in each lane.

    Parameters
    ----------
    spec : LoopSpec
        The kernel.
    lanes : int
        States at once.
    width : int
        Doubles in a vector register of the machine.

    """
    name = spec.name if lanes == 1 else f'{spec.name}_lanes'
    writer = _Writer(spec, name, lanes, bodies_at_once(width) if lanes == 1 else 1)
    return writer.text(), writer.declarations
