# SPDX-License-Identifier: Apache-2.0
"""
Expression graphs as lists of values that are each computed once (static single assignment).

The instructions of a CasADi function reuse their places; here each value has a number of its own,
so that operations can be put on levels (`llvm.kernel_spec`) or in an order that keeps few of them
alive. A thread of a graphics card has at most 255 registers, vector lanes have 32 (AVX-512) or 16;
what does not fit is spilled to memory. An order is sought among depth-first walks from the
results, which differ in the result they begin with and in the operand they enter first; the one
with the fewest values alive at once is taken. Finding the best of all orders is NP-complete
(Sethi, SIAM J. Comput. 4, 1975); for trees, taking the operand that needs more registers first is
optimal (Sethi & Ullman, J. ACM 17, 1970).

Where an order has more than `room` values alive, the one whose next use is furthest away is
written to a slot, once, and read from there for that use: the choice that reads least (Belady, IBM
Systems J. 5, 1966). Straight-line code tells all uses beforehand.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from kane_dynamics.algebra import casadi as ca


@dataclass(frozen=True, slots=True)
class Value:
    """One value of a graph."""

    operation: int  # A CasADi operation
    sources: tuple[int, ...] = ()  # The values it is computed from
    place: tuple[int, int] = (0, 0)  # Of an input: which one, and which of its entries
    constant: float = 0.0  # Of a constant: the number


@dataclass(frozen=True)
class Graph:
    """The values of an ``SX`` function."""

    values: tuple[Value, ...]  # Sources come before what is computed from them
    outputs: tuple[dict[int, int], ...]

    @property
    def first_angles(self) -> list[int]:
        """Return the arguments of sines and cosines that are made of no others."""
        trigonometric = ca.OP_SIN, ca.OP_COS
        turns = {k for k, x in enumerate(self.values) if x.operation in trigonometric}
        angles = dict.fromkeys(self.values[k].sources[0] for k in sorted(turns))
        return [angle for angle in angles if turns.isdisjoint(self.ancestors([angle]))]

    def ancestors(self, ends: Iterable[int]) -> set[int]:
        """Return the values that some are made of, these included."""
        result, left = set(ends), list(ends)
        while left:
            new = set(self.values[left.pop()].sources) - result
            result |= new
            left += new
        return result


def graph_of(function: ca.Function) -> Graph:
    """Return the values of an ``SX`` function with dense inputs, in CasADi's order."""
    values: list[Value] = []
    work: dict[int, int] = {}
    outputs: list[dict[int, int]] = [{} for _ in range(function.n_out())]
    for k in range(function.n_instructions()):
        operation = function.instruction_id(k)
        target, source = function.instruction_output(k), function.instruction_input(k)
        if operation == ca.OP_OUTPUT:
            outputs[target[0]][target[1]] = work[source[0]]
            continue
        if operation == ca.OP_CONST:
            value = Value(operation, constant=function.instruction_constant(k))
        elif operation == ca.OP_INPUT:
            value = Value(operation, place=(source[0], source[1]))
        else:
            value = Value(operation, tuple(work[s] for s in source))
        work[target[0]] = len(values)
        values.append(value)
    return Graph(tuple(values), tuple(outputs))


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
    left = Counter(source for value in graph.values for source in set(value.sources))
    alive = most = 0
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


class Act(Enum):
    """What is done with a value."""

    COMPUTE = 'compute'
    KEEP = 'keep'
    FETCH = 'fetch'


class Step(NamedTuple):
    """One act on the value of a number; with memory, its slot."""

    act: Act
    number: int
    slot: int = -1


def placed(graph: Graph, order: Sequence[int], room: int) -> list[Step]:
    """Return an order of evaluation, with what is kept in memory and fetched between."""
    return _Walk(graph, order, room).steps()


def slots(steps: Sequence[Step]) -> int:
    """Return how many slots are needed."""
    return 1 + max((step.slot for step in steps), default=-1)


class _Walk:
    """One way along an order, with what is in registers and in slots."""

    def __init__(self, graph: Graph, order: Sequence[int], room: int) -> None:
        self._graph, self._order, self._room = graph, order, room
        self._uses: dict[int, list[int]] = {number: [] for number in order}
        for place in reversed(range(len(order))):
            for source in self._sources(order[place]):
                self._uses[source].append(place)  # the next one is the last of the list
        self._near: set[int] = set()
        self._slots: dict[int, int] = {}
        self._free: list[int] = []
        self._steps: list[Step] = []

    def steps(self) -> list[Step]:
        """Return all steps."""
        for number in self._order:
            sources = self._sources(number)
            for source in sources:
                self._fetch(source)
            self._steps.append(Step(Act.COMPUTE, number))
            for source in sources:
                self._cross_out(source)
            if self._uses[number]:  # a result alone is stored at once
                self._near.add(number)
            self._make_room()
        return self._steps

    def _sources(self, number: int) -> list[int]:
        """Return the operands that take registers; constants are part of the instructions."""
        values = self._graph.values
        sources = dict.fromkeys(values[number].sources)
        return [source for source in sources if values[source].operation != ca.OP_CONST]

    def _fetch(self, number: int) -> None:
        if number not in self._near:
            self._steps.append(Step(Act.FETCH, number, self._slots[number]))
            self._near.add(number)

    def _cross_out(self, number: int) -> None:
        """Cross out a use; a value without further ones leaves register and slot."""
        self._uses[number].pop()
        if not self._uses[number]:
            self._near.remove(number)
            if number in self._slots:
                self._free.append(self._slots.pop(number))

    def _make_room(self) -> None:
        while len(self._near) > self._room:
            last = max(self._near, key=lambda number: self._uses[number][-1])
            self._near.remove(last)
            if last not in self._slots:
                slot = self._free.pop() if self._free else len(self._slots)
                self._slots[last] = slot
                self._steps.append(Step(Act.KEEP, last, slot))
