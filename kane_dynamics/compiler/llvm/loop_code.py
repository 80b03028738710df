# SPDX-License-Identifier: Apache-2.0
"""
LLVM code of a loop over bodies.

Each level of a group is a function of its own. In a call for one state the even levels run
several bodies of a group at once, one in each vector lane; the passes run body after body. In a
batch every level runs body after body, with one state in each lane. A routine calls them all.
Values that later levels need are kept in an array for each value with one entry for each body;
what passes hand on is kept body by body, in serial chains from one body to the next. Results are
summed in an array of their own, and stored last.
"""

from collections.abc import Sequence

import numpy as np

from kane_dynamics.compiler.llvm.kernel_spec import LoopSpec, table_text
from kane_dynamics.compiler.llvm.limits import LARGEST_INPUT, RCOND_LIMIT
from kane_dynamics.compiler.llvm.loop_bodies import Bodies, Layout, neighbours
from kane_dynamics.compiler.llvm.native import bodies_at_once
from kane_dynamics.compiler.llvm.routine import Routine


def loop_text(spec: LoopSpec, lanes: int, width: int) -> tuple[str, set[str]]:
    """Return the code of a kernel for one state, or for one state in each lane."""
    return _Kernel(spec, lanes, bodies_at_once(width) if lanes == 1 else 1).text()


class _Kernel:
    """All functions of one kernel."""

    def __init__(self, spec: LoopSpec, states: int, width: int) -> None:
        self._layout = layout = Layout(spec, states)
        self._spec, self._states, self._width = spec, states, width
        self._inputs, self._lengths = layout.inputs, layout.lengths
        self._passed = ', '.join(['work', *self._inputs])
        self._functions: dict[str, tuple[str, set[str]]] = {}

    def text(self) -> tuple[str, set[str]]:
        """Return everything, and the declarations of what it calls."""
        spec, lines = self._spec, []
        for level in range(1 + max(g.levels.last for g in spec.groups)):
            lines += self._pass(level) if level % 2 else self._level(level)
        for g, group in enumerate(spec.groups):
            width = self._width if self._layout.placed_once and neighbours(group.indices) else 1
            lines += self._map(f'results_{g}', g, width, 'rcond')
            self._functions[f'results_{g}'] = Bodies(
                self._layout, g, self._lanes(g, width)
            ).results()
        parents = np.array(spec.parents)
        tables = {'PARENT': np.where(parents < 0, len(parents), parents).tolist()}
        tables |= {name: [0] * len(parents) for name in ('GROUP', 'PLACE')}
        numbers: dict[str, list[float]] = {}
        for g, group in enumerate(spec.groups):
            for place, body in enumerate(group.bodies):
                tables['GROUP'][body], tables['PLACE'][body] = g, place
            numbers[f'c{g}'] = group.table.ravel().tolist()
            indices = {f'q{g}.{k}': x for k, (_, x) in enumerate(group.local)}
            indices[f'r{g}'] = group.indices
            tables |= {name: x.ravel().tolist() for name, x in indices.items()}
        prefix = f'@{self._layout.name}.'
        constants = {'LANES': self._states, 'LIMIT': RCOND_LIMIT, 'LARGEST': LARGEST_INPUT**2}
        source = self._main(lines)
        names = {name: f'{prefix}{name}' for name in self._functions}
        main = Routine(source, {**constants, **tables}, names, prefix=prefix)
        linkage, how = ('', 'noinline ') if self._states == 1 else ('internal ', '')
        text = main.text(f'@{self._layout.name}', linkage, f'{how}{self._attributes} ')
        texts = [*table_text(prefix, numbers, 'double').values()]
        texts += table_text(prefix, tables).values()
        pointers = ', '.join(f'ptr %{x}' for x in ['work', *self._inputs])
        for name, (code, more) in self._functions.items():
            head = f'define internal double {prefix}{name}({pointers}, i64 %k, ptr %from, ptr %to)'
            texts.append(f'{head} {self._attributes} {{\n  {code}\n  ret double 0.0\n}}\n')
            main.declarations |= more
        return '\n'.join([*texts, text]), main.declarations

    @property
    def _attributes(self) -> str:
        return f'"prefer-vector-width"="{64 * max(self._width, self._states)}"'

    def _lanes(self, g: int, width: int) -> int:
        """Return the lanes of a function of several bodies, where there are so many, or states."""
        return self._states * (width if self._lengths[g] >= width else 1)

    def _map(self, name: str, g: int, width: int, handed: str = 'work') -> list[str]:
        """Return the loop of several bodies at once; the last come with those before them."""
        length, step = self._lengths[g], self._lanes(g, width) // self._states
        return [
            f'for i in range({-(-length // step)}):',
            f'    {name}({self._passed}, min({step} * i, {length - step}), {handed}, {handed})',
        ]

    def _level(self, level: int) -> list[str]:
        """Return the calls of an even level: several bodies at once for one state."""
        lines = []
        for g, group in enumerate(self._spec.groups):
            if any(group.levels.level[k] == level for k in group.levels.kept):
                name = f'level{level}_{g}'
                lines += self._map(name, g, self._width)
                bodies = Bodies(self._layout, g, self._lanes(g, self._width))
                self._functions[name] = bodies.level(level)
        return lines

    def _pass(self, level: int) -> list[str]:
        """Return the calls of an odd level: body after body, outward or inward."""
        number, count = level // 2, len(self._spec.parents)
        one = self._spec.passes[number]
        base, size = self._layout.handed[number] * self._states, one.width * self._states
        if self._layout.serial:  # in registers
            lines = [f'handed{number} = empty({size})']
            lines += [f'handed{number}[{m}] = 0.0' for m in range(size)]
            enter = leave = f'handed{number}'
        else:  # inward it is summed
            begin, stop = (count if one.outward else 0) * size, (count + 1) * size
            lines = [f'for i in range({base + begin}, {base + stop}):', '    work[i] = 0.0']
            leave, enter = (f'work[{base} + {size} * {x} :]' for x in ('body', 'PARENT[body]'))
            if not one.outward:
                enter, leave = leave, enter
        index = 'i' if one.outward else f'{count - 1} - i'
        lines += [f'for i in range({count}):', f'    body = {index}', '    group = GROUP[body]']
        for g in range(len(self._lengths)):
            name = f'level{level}_{g}'
            lines.append(f'    {"el" * (g > 0)}if group == {g}:')
            lines.append(f'        {name}({self._passed}, PLACE[body], {enter}, {leave})')
            sums = not one.outward and not self._layout.serial
            self._functions[name] = Bodies(self._layout, g, self._states).level(
                level, number, sums
            )
        return lines

    def _main(self, calls: Sequence[str]) -> str:
        """Return the routine that is called from outside."""
        size, states, width = self._spec.output_sizes[0], self._states, self._width
        end = self._layout.total + size
        arrays = [f'{x}: Array' for x in [*self._inputs, 'out0']]
        lines = [
            f'for i in range({self._layout.total * states}, {end * states}):',
            '    work[i] = 0.0',
        ]
        lines = lines * (not self._layout.placed_once)
        for i, n in enumerate(self._spec.input_sizes):
            name, whole = f'squares_{i}', n // width
            lines.append(f'for i in range({whole}):')
            lines.append(f'    {name}({self._passed}, {width} * i, squares, squares)')
            lines.append(f'for i in range({whole * width}, {n if states == 1 else 0}):')
            lines.append(f'    squares[0] += in{i}[i] * in{i}[i]')
            self._functions[name] = Bodies(self._layout, 0, states * width).squares(i)
        inside = '\n    '.join([*lines, *calls])
        return f"""
def main({', '.join(arrays)}) -> Lanes:
    work = empty({end * states})
    squares = empty({width * states})
    rcond = empty({width * states})
    for k in range({width * states}):
        squares[k] = 0.0
        rcond[k] = 1.0
    {inside}
    for k in range(1, {width}):
        for lane in range(LANES):
            squares[lane] += squares[LANES * k + lane]
            rcond[lane] = min(rcond[LANES * k + lane], rcond[lane])
    for lane in range(LANES):
        if not squares[lane] <= LARGEST:
            rcond[lane] = 0.0
        if rcond[lane] >= LIMIT:
            for k in range({size}):
                out0[{size} * lane + k] = work[{self._layout.total * states} + LANES * k + lane]
    return rcond[:]
"""
