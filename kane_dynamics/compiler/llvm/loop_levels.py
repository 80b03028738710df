# SPDX-License-Identifier: Apache-2.0
"""
When each operation of a body's code runs: between the passes over the tree, or in one of them.

The code of one body is one graph. What comes from the parent (or from the children) enters a pass,
and what the pass carries on leaves it. Only operations between these two must run body after
body; all others, such as sines, placements and inertial wrenches, may run for any bodies at once.
Levels are numbered: 0 before the first pass, 1 in it, 2 between it and the second, and so on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca

from kane_dynamics.compiler.value_graph import Value, graph_of


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
