# SPDX-License-Identifier: Apache-2.0
"""An LLVM function with loops around straight-line code."""

from __future__ import annotations

from dataclasses import dataclass, field

from kane_dynamics.compiler.llvm.straight_line import Block


@dataclass
class LoopFunction:
    """One function under construction."""

    lanes: int  # Of its values, see `straight_line.Block`
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
