# SPDX-License-Identifier: Apache-2.0
"""
Kernels before they are machine code: graphs, loops over bodies, routines that call others.

In a loop over bodies the code of one body is one graph. What comes from the parent (or from the
children) enters a pass, and what the pass carries on leaves it. Only operations between these two
must run body after body; all others, such as sines, placements and inertial wrenches, may run for
any bodies at once. Levels are numbered: 0 before the first pass, 1 in it, 2 between it and the
second, and so on.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import prod
from types import FunctionType
from typing import Any

import numpy as np

from kane_dynamics.algebra import casadi as ca
from kane_dynamics.compiler.llvm.limits import RCOND_LIMIT
from kane_dynamics.compiler.llvm.routine import PREFIX, Constants, Routine, number
from kane_dynamics.compiler.llvm.straight_line import Block
from kane_dynamics.compiler.value_graph import Value, graph_of
from kane_dynamics.typing import Floats, NDArray

# Kernels whose methods take more than the inputs and `out`, which then comes by keyword alone.
TAKE_MORE = ('forward_dynamics', 'inverse_dynamics')


@dataclass(frozen=True, eq=False)
class Signature:
    """The name of a kernel and the shapes of its arrays."""

    name: str
    input_sizes: tuple[int, ...]  # Length of each input but the parameters
    output_shapes: tuple[tuple[int, ...], ...]  # Shape of each output array but the health

    @property
    def output_sizes(self) -> tuple[int, ...]:
        """Return the number of entries of each output."""
        return tuple(prod(shape) for shape in self.output_shapes)

    @property
    def arrays(self) -> dict[str, int]:
        """Return the names of the arrays in order, and from state to state the entries of each."""
        sizes = {f'in{i}': size for i, size in enumerate(self.input_sizes)} | {'parameters': 0}
        return sizes | {f'out{o}': size for o, size in enumerate(self.output_sizes)}

    @property
    def pointers(self) -> str:
        """Return the arrays as arguments in LLVM IR."""
        return ', '.join(f'ptr %{name}' for name in self.arrays)


@dataclass(frozen=True, eq=False)
class KernelSpec(Signature):
    """A traced function."""

    function: ca.Function  # Inputs dense vectors, `parameters` last where there are any
    parameters: int = 0  # Length of the vector of numbers that stay the same from call to call
    clock: bool = False  # Whether the Python entry takes the last input, the time, as a float

    @property
    def operations(self) -> int:
        """Return the number of operations of one call."""
        count: int = self.function.n_instructions()
        return count

    def depends_on(self, k: int) -> bool:
        """Return whether an output depends on input k."""
        inputs = self.function.sx_in()
        outputs = [ca.vec(x) for x in self.function.call(inputs)]
        return bool(ca.depends_on(ca.vertcat(*outputs), inputs[k]))


Places = NDArray[np.int64]


@dataclass(frozen=True)
class Levels:
    """The values of a graph in order, with their levels."""

    nodes: Sequence[Value]  # Each after those it is made of
    outputs: list[list[int]]  # Nodes of each output
    level: list[int]  # Of each node
    kept: set[int]  # Nodes that are used at a later level than their own, or are results

    @property
    def last(self) -> int:
        """Return the highest level."""
        return max(self.level, default=0)


def levels_of(function: ca.Function, local: int, passes: int, tables: Sequence[int]) -> Levels:
    """Return a graph with its levels."""
    graph = graph_of(function)
    nodes = graph.values
    outputs = [[row[k] for k in range(len(row))] for row in graph.outputs]
    needed = [graph.ancestors(outputs[k]) for k in range(passes)]
    level: list[int] = []
    for k, node in enumerate(nodes):
        if node.operation == ca.OP_INPUT:
            column = node.place[0]
            level.append(0 if column < local else 2 * (column - local) + 1)
        elif node.operation == ca.OP_CONST:
            level.append(0)
        else:
            latest = max(level[i] for i in node.sources)
            inside = latest % 2 == 0 or k in needed[latest // 2]
            level.append(latest if inside else latest + 1)
    _sink_inputs(nodes, level, local)
    free = {
        k
        for k, node in enumerate(nodes)
        if node.operation == ca.OP_CONST
        or (node.operation == ca.OP_INPUT and node.place[0] in tables)
    }
    kept = {
        i
        for k, node in enumerate(nodes)
        if node.operation not in (ca.OP_INPUT, ca.OP_CONST)
        for i in node.sources
        if level[i] < level[k]
    }
    for k, output in enumerate(outputs):
        kept |= {i for i in output if k >= passes or level[i] != 2 * k + 1}
    return Levels(nodes, outputs, level, kept - free)


def _sink_inputs(nodes: Sequence[Value], level: list[int], local: int) -> None:
    """Read own inputs where they are first used."""
    first: dict[int, int] = {}
    for k, node in enumerate(nodes):
        if node.operation not in (ca.OP_INPUT, ca.OP_CONST):
            for i in node.sources:
                first[i] = min(first.get(i, level[k]), level[k])
    for i, used in first.items():
        if nodes[i].operation == ca.OP_INPUT and nodes[i].place[0] < local:
            level[i] = used


@dataclass(frozen=True)
class TreePass:
    """One way over the tree."""

    outward: bool  # From the base to the tips, or back. Inward, what children hand on is summed
    width: int  # How many numbers are handed on


@dataclass(frozen=True, eq=False)
class GroupCode:
    """The code of the bodies of one group."""

    bodies: tuple[int, ...]  # Which bodies
    function: ca.Function
    table: Floats  # shape (constants, bodies): Values of the constants
    local: Sequence[tuple[int, Places]]
    indices: Places  # shape (results, bodies): Where in the output each result is added

    @cached_property
    def levels(self) -> Levels:
        """Return the values of the graph with their levels."""
        local = 1 + len(self.local)
        passes = self.function.n_in() - local
        return levels_of(self.function, local, passes, [0])

    @property
    def is_sound(self) -> bool:
        """Return whether the rcond is always 1."""
        value = self.levels.nodes[self.levels.outputs[-1][0]]
        return value.operation == ca.OP_CONST and value.constant == 1.0


@dataclass(frozen=True, eq=False)
class LoopSpec(Signature):
    """A kernel with one output whose code is a loop over bodies."""

    parents: tuple[int, ...]  # Parent of each body, -1 for the world
    passes: tuple[TreePass, ...]  # In order
    groups: tuple[GroupCode, ...]  # All bodies; those on the world take nothing from their parent
    parameters: int = 0  # As of `KernelSpec`

    @property
    def operations(self) -> int:
        """Return the number of operations of one call: each body's graph, once for each body."""
        return sum(len(g.bodies) * g.function.n_instructions() for g in self.groups)


@dataclass(frozen=True, eq=False)
class RoutineSpec(Signature):
    """A kernel for single states whose code is routines and the kernels that they call."""

    routine: Callable[..., Any]
    constants: Constants  # See `routine`
    parameters: int = 0  # As of `KernelSpec`
    callees: tuple[KernelSpec | LoopSpec, ...] = ()  # Kernels that belong to it
    external: Mapping[str, str] = field(default_factory=dict)  # LLVM names of kernels that do not
    others: Mapping[str, Callable[..., Any]] = field(default_factory=dict)  # See `routines_of`
    quick: KernelSpec | None = None  # What is asked first; the routines, where that is ill

    @property
    def operations(self) -> int:
        """Return the number of operations of the graphs of one call."""
        parts = [*self.callees, *([self.quick] if self.quick else [])]
        return sum(part.operations for part in parts)

    def after(self, quick: KernelSpec) -> RoutineSpec:
        """Return this kernel with one that is asked first."""
        return replace(self, quick=replace(quick, name=f'{self.name}_quick'))

    def parts(self) -> dict[str, tuple[str, set[str]]]:
        """Return the LLVM IR of the kernel without its callees and what it declares, by name."""
        inside = {callee.name: f'@{callee.name}' for callee in self.callees}
        routines = routines_of(self.routine, self.others, {**inside, **self.external})
        parts = routine_parts(routines, self.constants, inside, self.external)
        passed = self.pointers
        lines = [f'%health = call double {[*parts][-1]}({passed})', 'ret double %health']
        if self.quick is not None:
            limit = Block(1).constant(RCOND_LIMIT)
            lines = [
                f'%first = call double @{self.quick.name}({passed})',
                f'%sound = fcmp oge double %first, {limit}',
                'br i1 %sound, label %done, label %other',
                *('done:', 'ret double %first', 'other:'),
                *lines,
            ]
        body = '\n  '.join(lines)
        whole = f'define double @{self.name}({passed}) noinline {{\n  {body}\n}}\n'
        return {**parts, self.name: (whole, set())}


Spec = KernelSpec | LoopSpec | RoutineSpec


def straight_part(spec: Spec) -> KernelSpec | None:
    """Return the straight-line code of a kernel, if it has any."""
    if isinstance(spec, RoutineSpec):
        return spec.quick
    return spec if isinstance(spec, KernelSpec) else None


def routines_of(
    routine: Callable[..., Any],
    others: Mapping[str, Callable[..., Any]],
    kernels: Collection[str],
) -> tuple[Callable[..., Any], ...]:
    """Return what a routine calls, kernels left out, and it; `others` replace those they name."""
    known, no_routines = routine.__globals__ | dict(others), {*kernels, Routine.__module__}
    called: dict[Callable[..., Any], None] = {}
    for name in routine.__code__.co_names:
        one = known.get(name)
        if isinstance(one, FunctionType) and no_routines.isdisjoint((name, one.__module__)):
            called |= dict.fromkeys(routines_of(one, others, kernels))
    return (*called, routine)


def routine_parts(
    functions: Sequence[Callable[..., Any]],
    constants: Constants,
    kernels: Mapping[str, str],
    external: Mapping[str, str],
) -> dict[str, tuple[str, set[str]]]:
    """Return the LLVM IR of routines and of their tables, and what each declares, by LLVM name."""
    local = {function.__name__: f'{PREFIX}{function.__name__}' for function in functions}
    names = {**kernels, **external, **local}
    lists = {name: x for name, x in constants.items() if not isinstance(x, (int, float))}
    tables = table_text(PREFIX, lists)
    parts = {name: (text, set[str]()) for name, text in tables.items()}
    for function in functions:
        made = Routine(function, constants, names, external)
        parts[local[function.__name__]] = made.text(local[function.__name__]), made.declarations
    return parts


def table_text(prefix: str, tables: Mapping[str, Any], kind: str = 'i64') -> dict[str, str]:
    """Return the LLVM IR of tables of numbers, by LLVM name; nothing of those without entries."""
    texts = {}
    for name, table in tables.items():
        entries = [f'{kind} {number(x)[1]}' for x in table]
        head = f'{prefix}{name} = internal constant [{len(entries)} x {kind}]'
        texts[f'{prefix}{name}'] = f'{head} [{", ".join(entries)}], align 64'
    return {name: text for name, text in texts.items() if not text.endswith('[], align 64')}
