# SPDX-License-Identifier: Apache-2.0
"""
Expression graphs as lists of values that are each computed once (static single assignment).

The instructions of a CasADi function reuse their places; here each value has a number of its own,
so that operations can be put in another order (`order`) or on levels (`llvm.loop_levels`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import casadi as ca


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

    @cached_property
    def users(self) -> list[list[int]]:
        """Return the values that are computed from each value."""
        users: list[list[int]] = [[] for _ in self.values]
        for number, value in enumerate(self.values):
            for source in dict.fromkeys(value.sources):
                users[source].append(number)
        return users


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
