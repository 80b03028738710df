# SPDX-License-Identifier: Apache-2.0
"""
Graphs of more values than there are registers: which of them wait in memory meanwhile.

Where an order of evaluation has more than `room` values alive, the one whose next use is furthest
away is written to a slot, once, and read from there for that use: the choice that reads least
(Belady, IBM Systems J. 5, 1966). Straight-line code tells all uses beforehand.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import NamedTuple

import casadi as ca

from kane_dynamics.compiler.value_graph import Graph


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
