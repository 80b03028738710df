# SPDX-License-Identifier: Apache-2.0
"""Values that wait in memory where a graph has more of them than there are registers."""

from collections import Counter

import casadi as ca
import pytest
from numpy.testing import assert_array_equal
from support import cuda

from kane_dynamics.compiler.cuda import kernel_ir
from kane_dynamics.compiler.value_graph import (
    Act,
    best_order,
    graph_of,
    placed,
    register_pressure,
    slots,
)


def drawn(rng, size=5, operations=200):
    """Return symbols, and results of random operations in them that need many values at once."""
    x = ca.SX.sym('x', size)
    values = list(ca.vertsplit(x))
    for _ in range(operations):
        a, b = rng.integers(0, len(values), 2)
        values.append(ca.sin(values[a]) * values[b] + float(rng.integers(1, 9)))
    return x, ca.vertcat(*values[-40:])


def graph_drawn(rng):
    """Return a random graph and an order of it."""
    x, results = drawn(rng)
    graph = graph_of(ca.Function('f', [x], [results, ca.SX(1.0)]))
    return graph, best_order(graph)


@pytest.mark.parametrize('room', [3, 10, 30])
def test_operands_are_in_registers_and_values_within_the_room(room, rng):
    graph, order = graph_drawn(rng)
    assert register_pressure(graph, order) > 30
    steps = placed(graph, order, room)
    assert [step.number for step in steps if step.act is Act.COMPUTE] == order
    near, memory = set(), {}
    left = Counter(source for value in graph.values for source in set(value.sources))
    for act, number, slot in steps:
        if act is Act.KEEP:
            near.remove(number)
            memory[slot] = number
        elif act is Act.FETCH:
            assert memory[slot] == number
            near.add(number)
        else:
            operands = {s for s in graph.values[number].sources if not constant(graph, s)}
            assert near >= operands
            for operand in operands:
                left[operand] -= 1
            if not constant(graph, number):
                near.add(number)
            near = {k for k in near if left[k]}
        # beside what has a copy in memory: operands and result of one operation
        assert len(near - {*memory.values()}) <= room + 3
    kept = [step.number for step in steps if step.act is Act.KEEP]
    assert len(set(kept)) == len(kept)  # written once


def constant(graph, number):
    return graph.values[number].operation == ca.OP_CONST


def test_where_there_is_room_nothing_waits_in_memory(rng):
    graph, order = graph_drawn(rng)
    steps = placed(graph, order, register_pressure(graph, order))
    assert [step.number for step in steps] == order
    assert slots(steps) == 0


def test_the_value_whose_use_is_furthest_away_waits():
    x = ca.SX.sym('x', 3)
    graph = graph_of(ca.Function('f', [x], [(x[0] * x[1]) + x[2]]))
    number = {v.place[1]: k for k, v in enumerate(graph.values) if v.operation == ca.OP_INPUT}
    product, total = (
        next(k for k, v in enumerate(graph.values) if v.operation == operation)
        for operation in (ca.OP_MUL, ca.OP_ADD)
    )
    order = [number[2], number[0], number[1], product, total]
    found = [(step.act, step.number) for step in placed(graph, order, 2)]
    assert found == [
        (Act.COMPUTE, number[2]),
        (Act.COMPUTE, number[0]),
        (Act.COMPUTE, number[1]),
        (Act.KEEP, number[2]),
        (Act.COMPUTE, product),
        (Act.FETCH, number[2]),
        (Act.COMPUTE, total),
    ]


@pytest.mark.parametrize('precision', ['float32', 'float64'])
def test_numbers_are_the_same_bits_with_values_in_memory(precision, rng, monkeypatch):
    x, results = drawn(rng)
    states = rng.uniform(-1.0, 1.0, (100, x.numel()))
    plain = cuda.function_kernel(x, results, precision)(states)
    monkeypatch.setattr(kernel_ir, 'MOST_ALIVE', 10)
    monkeypatch.setattr(kernel_ir, 'ROOM', 8)
    spec = cuda.function_spec(x, results)
    assert '%kept = alloca [' in kernel_ir.kernel_ir(spec, kernel_ir.ELEMENTS[precision])
    assert_array_equal(cuda.function_kernel(x, results, precision)(states), plain)
