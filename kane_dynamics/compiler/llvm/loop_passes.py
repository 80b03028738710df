# SPDX-License-Identifier: Apache-2.0
"""The passes of a loop over bodies: body after body, outward or inward."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kane_dynamics.compiler.llvm.loop_bodies import Bodies
from kane_dynamics.compiler.llvm.loop_function import LoopFunction
from kane_dynamics.compiler.llvm.loop_shape import LoopShape


def pass_function(shape: LoopShape, level: int) -> LoopFunction:
    """Return an odd level: body after body."""
    function, number = LoopFunction(shape.states), level // 2
    one = shape.spec.passes[number]
    body = function.begin('body', len(shape.spec.parents), down=not one.outward)
    handing = (_InRegisters if shape.serial else _InMemory)(shape, function, number, body)
    ends = [
        (label, handing.leave(_case(shape, function, g, number, place, handing.entering)))
        for g, label, place in _cases(shape, function, body)
    ]
    function.block.lines.append('joined:')
    handing.join(ends)
    function.end()
    return function


def _cases(shape: LoopShape, function: LoopFunction, body: str) -> Iterator[tuple[int, str, str]]:
    """Yield number, label and place in the group for each group, and append the jumps."""
    lines, count = function.block.lines, len(shape.spec.groups)
    place = body
    if count > 1:
        kind = function.index(f'@{shape.name}.group', body)
        place = function.index(f'@{shape.name}.place', body)
        cases = ' '.join(f'i64 {g}, label %case{g}' for g in range(count))
        lines.append(f'switch i64 {kind}, label %case0 [ {cases} ]')
    else:
        lines.append('br label %case0')
    for g in range(count):
        lines.append(f'case{g}:')
        yield g, f'case{g}', place
        lines.append('br label %joined')


def _case(
    shape: LoopShape, function: LoopFunction, g: int, number: int, place: str, entering: list[str]
) -> list[str]:
    """Append a group's code of a pass, and return what leaves it."""
    group = shape.spec.groups[g]
    bodies = Bodies(shape, function, g, place)
    bodies.entering = {1 + len(group.local) + number: entering}
    return bodies.append(2 * number + 1, group.levels.outputs[number])


class _InRegisters:
    """What the bodies of a serial chain hand on, from one turn of the loop to the next."""

    def __init__(self, shape: LoopShape, function: LoopFunction, number: int, body: str) -> None:
        self._block = function.block
        self.entering = []
        start = self._block.constant(0.0)
        for m in range(shape.spec.passes[number].width):
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

    def __init__(self, shape: LoopShape, function: LoopFunction, number: int, body: str) -> None:
        one, unit = shape.spec.passes[number], shape.states
        parent = function.index(f'@{shape.name}.parent', body)
        base = function.pointer('%work', shape.layout.handed[number] * unit)
        local, parents = (
            function.pointer(base, function.scaled(k, one.width * unit)) for k in (body, parent)
        )
        source, self._target = (parents, local) if one.outward else (local, parents)
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
