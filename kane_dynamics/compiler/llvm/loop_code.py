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

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kane_dynamics.compiler.llvm.loop_function import LoopFunction
from kane_dynamics.compiler.llvm.loop_main import main_text, squares_function
from kane_dynamics.compiler.llvm.loop_maps import map_function, results_function
from kane_dynamics.compiler.llvm.loop_passes import pass_function
from kane_dynamics.compiler.llvm.loop_shape import LoopShape
from kane_dynamics.compiler.llvm.loop_spec import LoopSpec
from kane_dynamics.compiler.llvm.straight_line import Block


class _Writer:
    """All functions of one kernel, for one state or for one state in each lane."""

    def __init__(self, shape: LoopShape) -> None:
        self._shape = shape
        self._texts: list[str] = []
        self._declarations: set[str] = set()

    def text(self) -> tuple[str, set[str]]:
        """Return everything, and the declarations of what it calls."""
        shape, spec = self._shape, self._shape.spec
        self._tables()
        calls = []
        last = max(g.levels.last for g in spec.groups)
        for level in range(last + 1):
            name = f'@{shape.name}_level{level}'
            if level % 2:
                calls.append(self._close(name, pass_function(shape, level)))
                continue
            for g, group in enumerate(spec.groups):
                if any(group.levels.level[k] == level for k in group.levels.kept):
                    calls.append(self._close(f'{name}.{g}', map_function(shape, level, g)))
        for g, group in enumerate(spec.groups):
            if len(group.indices):
                calls.append(self._close(f'@{shape.name}_results.{g}', results_function(shape, g)))
        self._close(f'@{shape.name}_squares', *squares_function(shape))
        main, declarations = main_text(shape, calls)
        self._declarations |= declarations
        return '\n'.join([*self._texts, main]), self._declarations

    def _close(self, name: str, function: LoopFunction, result: str = '') -> str:
        """Keep a function and return the call of it."""
        kind = f'{self._shape.kind} ' if result else 'void '
        lines = '\n  '.join([*function.block.lines, f'ret {kind}{result}'])
        self._declarations |= function.block.declarations
        head = f'define internal {kind}{name}({self._shape.parameters}) {self._shape.attributes}'
        self._texts.append(f'{head} {{\n  {lines}\n}}\n')
        return f'call void {name}({self._shape.parameters})'

    def _tables(self) -> None:
        for g, group in enumerate(self._shape.spec.groups):
            self._table(f'c{g}', 'double', group.table)
            for k, (_, indices) in enumerate(group.local):
                self._table(f'q{g}.{k}', 'i64', indices)
            self._table(f'r{g}', 'i64', group.indices)
        parents = np.array(self._shape.spec.parents)
        world = len(parents)
        self._table('parent', 'i64', np.where(parents < 0, world, parents))
        kinds, indices = np.zeros(world, dtype=int), np.zeros(world, dtype=int)
        for g, group in enumerate(self._shape.spec.groups):
            kinds[list(group.bodies)], indices[list(group.bodies)] = g, range(len(group.bodies))
        self._table('group', 'i64', kinds)
        self._table('place', 'i64', indices)

    def _table(self, name: str, kind: str, values: NDArray[Any]) -> None:
        flat = values.ravel().tolist()
        entries = [f'{kind} {Block(1).constant(x) if kind == "double" else x}' for x in flat]
        content = f'[{", ".join(entries)}]' if entries else 'zeroinitializer'
        head = f'@{self._shape.name}.{name} = internal constant [{len(flat)} x {kind}]'
        self._texts.append(f'{head} {content}, align 64')


def bodies_at_once(width: int) -> int:
    """Return how many bodies share a vector of up to `width` doubles; wider ones gain nothing."""
    return min(width, 4)


def loop_text(spec: LoopSpec, lanes: int, width: int) -> tuple[str, set[str]]:
    """Return the code of a kernel for one state, or for one state in each lane."""
    name = spec.name if lanes == 1 else f'{spec.name}_lanes'
    shape = LoopShape(spec, name, lanes, bodies_at_once(width) if lanes == 1 else 1)
    return _Writer(shape).text()
