# SPDX-License-Identifier: Apache-2.0
"""
Orders of evaluation that keep few values alive.

A thread of a graphics card has at most 255 registers, vector lanes have 32 (AVX-512) or 16; what
does not fit is spilled to memory. The order in which a graph is written decides how many values
wait for their last use at once. That order is sought here among depth-first walks from the
results, which differ in the result they begin with and in the operand they enter first; the one
with the fewest values alive is taken.
Finding the best of all orders is NP-complete (Sethi, SIAM J. Comput. 4, 1975); for trees, taking
the operand that needs more registers first is optimal (Sethi & Ullman, J. ACM 17, 1970).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import casadi as ca

from kane_dynamics.compiler.value_graph import Graph

Rank = Callable[[int], float]


def best_order(graph: Graph) -> list[int]:
    """Return the numbers of the values that results need, with few of them alive at once."""
    results = [number for output in graph.outputs for number in output.values()]
    needs, heights = _needs(graph), _heights(graph)
    ranks: tuple[Rank, ...] = (
        lambda k: -needs[k],
        lambda k: -heights[k],
        lambda k: k,
        lambda k: -k,
    )
    orders = [sorted(_walk(graph, results, lambda k: k, whole=False))]
    for begin in (results, results[::-1], sorted(results, key=lambda k: heights[k])):
        orders += [_walk(graph, begin, rank, whole=True) for rank in ranks]
    return min(orders, key=lambda order: register_pressure(graph, order))


def register_pressure(graph: Graph, order: Sequence[int]) -> int:
    """Return how many values wait for a later use at most, at any point of an order."""
    uses = [len(users) for users in graph.users]
    alive = most = 0
    left = list(uses)
    for number in order:
        value = graph.values[number]
        if value.operation == ca.OP_CONST:
            continue
        for source in dict.fromkeys(value.sources):
            left[source] -= 1
            alive -= left[source] == 0 and graph.values[source].operation != ca.OP_CONST
        alive += left[number] > 0  # a result alone is stored at once
        most = max(most, alive)
    return most


def _needs(graph: Graph) -> list[int]:
    """Return the numbers of Sethi and Ullman: registers that each value would need as a tree."""
    needs: list[int] = []
    for value in graph.values:
        local = sorted((needs[s] for s in dict.fromkeys(value.sources)), reverse=True)
        if value.operation == ca.OP_CONST:
            needs.append(0)
        else:
            needs.append(max([1, *(need + k for k, need in enumerate(local))]))
    return needs


def _heights(graph: Graph) -> list[int]:
    """Return the number of operations on the longest way from an input to each value."""
    heights: list[int] = []
    for value in graph.values:
        heights.append(1 + max((heights[s] for s in value.sources), default=-1))
    return heights


def _walk(graph: Graph, results: Iterable[int], rank: Rank, *, whole: bool) -> list[int]:
    """Return the values in depth-first order, operands of least rank first."""
    done: set[int] = set()
    order: list[int] = []
    stack = [(result, False) for result in reversed(list(results))]
    while stack:
        number, ready = stack.pop()
        if number in done:
            continue
        if ready:
            done.add(number)
            order.append(number)
            continue
        stack.append((number, True))
        sources = [s for s in dict.fromkeys(graph.values[number].sources) if s not in done]
        if whole:
            sources.sort(key=rank)
        stack += [(source, False) for source in reversed(sources)]
    return order
