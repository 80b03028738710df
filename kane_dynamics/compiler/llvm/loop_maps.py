# SPDX-License-Identifier: Apache-2.0
"""The levels between the passes of a loop over bodies, and its results."""

from __future__ import annotations

from kane_dynamics.compiler.llvm.loop_bodies import Bodies
from kane_dynamics.compiler.llvm.loop_function import LoopFunction
from kane_dynamics.compiler.llvm.loop_shape import LoopShape, neighbours


def map_function(shape: LoopShape, level: int, g: int) -> LoopFunction:
    """Return an even level of a group: several bodies at once for one state."""
    width = shape.width_of(g)
    function = LoopFunction(width if shape.states == 1 else shape.states)
    k = function.overlapping(shape.layout.lengths[g], width)
    Bodies(shape, function, g, k).append(level)
    function.end()
    return function


def results_function(shape: LoopShape, g: int) -> LoopFunction:
    """Return the sums of a group's results, or their places where nothing is summed."""
    group = shape.spec.groups[g]
    width = shape.width_of(g) if shape.placed_once and neighbours(group.indices) else 1
    function, unit = LoopFunction(width if shape.states == 1 else shape.states), shape.states
    totals = function.pointer('%work', shape.layout.total * unit)
    k = function.overlapping(len(group.bodies), width)
    bodies, kind = Bodies(shape, function, g, k), function.block.type
    for m, node in enumerate(group.levels.outputs[len(shape.spec.passes)]):
        value = bodies.value(node)
        if neighbours(group.indices):
            place = function.block.emit(f'add nsw i64 {k}, {group.indices[m, 0]}')
        else:
            row = function.pointer(f'@{shape.name}.r{g}', m * shape.layout.lengths[g])
            place = function.index(row, k)
        where = function.pointer(totals, function.scaled(place, unit))
        if not shape.placed_once:
            value = function.block.binary('fadd', function.load(where, 0, kind), value)
        function.store(value, where, 0, kind)
    function.end()
    return function
