# SPDX-License-Identifier: Apache-2.0
"""
A kernel that is a loop over bodies, before it is machine code.

The code of one body is one graph. What comes from the parent (or from the children) enters a pass,
and what the pass carries on leaves it. Only operations between these two must run body after
body; all others, such as sines, placements and inertial wrenches, may run for any bodies at once.
Levels are numbered: 0 before the first pass, 1 in it, 2 between it and the second, and so on.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

import casadi as ca
import numpy as np

from kane_dynamics.compiler.value_graph import Value, graph_of
from kane_dynamics.typing import Floats, NDArray

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
    needed = [_ancestors(nodes, outputs[k]) for k in range(passes)]
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


def _ancestors(nodes: Sequence[Value], ends: Sequence[int]) -> set[int]:
    """Return the nodes that some nodes are made of, these included."""
    result, left = set(ends), list(ends)
    while left:
        node = nodes[left.pop()]
        if node.operation not in (ca.OP_INPUT, ca.OP_CONST):
            new = set(node.sources) - result
            result |= new
            left += new
    return result


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
class LoopSpec:
    """A kernel whose code is a loop over bodies."""

    name: str  # Name of the kernel
    input_sizes: tuple[int, ...]  # Length of each input
    output_shapes: tuple[tuple[int, ...], ...]  # Shape of the one output
    parents: tuple[int, ...]  # Parent of each body, -1 for the world
    passes: tuple[TreePass, ...]  # In order
    groups: tuple[GroupCode, ...]  # All bodies; those on the world take nothing from their parent
    parameters: int = 0  # Length of the vector of numbers that stay the same from call to call

    @property
    def output_sizes(self) -> tuple[int, ...]:
        """Return the number of entries of the output."""
        return tuple(prod(shape) for shape in self.output_shapes)

    @property
    def operations(self) -> int:
        """Return the number of operations of one call: each body's graph, once for each body."""
        return sum(len(g.bodies) * g.function.n_instructions() for g in self.groups)
