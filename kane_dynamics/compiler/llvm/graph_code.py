# SPDX-License-Identifier: Apache-2.0
"""Code of a whole expression graph; of one state, sines of its coordinates share vectors."""

from collections.abc import Callable, Iterable

from kane_dynamics.algebra import casadi as ca
from kane_dynamics.compiler.llvm.straight_line import Block, append_operation
from kane_dynamics.compiler.value_graph import Graph, graph_of


def append_graph(
    block: Block,
    function: ca.Function,
    inputs: list[list[str]],
    order_of: Callable[[Graph], Iterable[int]] | None = None,
) -> list[dict[int, str]]:
    """Append all instructions of an ``SX`` function, sines of inputs first where several share."""
    graph = graph_of(function)
    names: dict[int, str] = {}
    angles = graph.first_angles if block.angles_at_once > 1 else []
    early = sorted(graph.ancestors(angles))
    order = range(len(graph.values)) if order_of is None else order_of(graph)
    for number in dict.fromkeys([*early, *order]):
        if len(names) == len(early):
            block.sines_at_once([names[k] for k in angles])
        value = graph.values[number]
        if value.operation == ca.OP_CONST:
            names[number] = block.constant(value.constant)
        elif value.operation == ca.OP_INPUT:
            names[number] = inputs[value.place[0]][value.place[1]]
        else:
            a, b = [*(names[source] for source in value.sources), ''][:2]
            names[number] = append_operation(block, value.operation, a, b)
    return [{k: names[number] for k, number in output.items()} for output in graph.outputs]
