# SPDX-License-Identifier: Apache-2.0
"""The function of a loop over bodies that is called from outside."""

from __future__ import annotations

from collections.abc import Sequence

from kane_dynamics.compiler.llvm.kernel_spec import LARGEST_INPUT, RCOND_LIMIT
from kane_dynamics.compiler.llvm.loop_bodies import Bodies
from kane_dynamics.compiler.llvm.loop_function import LoopFunction
from kane_dynamics.compiler.llvm.loop_shape import LoopShape
from kane_dynamics.compiler.llvm.straight_line import FLAGS, Block

_MOST_ON_STACK = 2**18  # bytes of the work array; threads may have stacks of 512 kB


def squares_function(shape: LoopShape) -> tuple[LoopFunction, str]:
    """Return the function of the sum of squares of all inputs, and its value."""
    if shape.states == 1:
        function = LoopFunction(shape.width)
        return function, _squares_of_one(shape, function)
    function = LoopFunction(shape.states)
    return function, _squares_of_many(shape, function)


def _squares_of_many(shape: LoopShape, function: LoopFunction) -> str:
    block = function.block
    total = function.block.emit(f'fadd {block.type} zeroinitializer, zeroinitializer')
    for i, size in enumerate(shape.spec.input_sizes):
        if size == 0:
            continue
        before, label = total, function.label
        k = function.begin(f's{i}', size)
        function.at_start(
            f'%t{i} = phi {block.type} [ {before}, %{label} ], [ %t{i}.next, %s{i}.latch ]'
        )
        value = shape.loaded(function, i, k)
        square = block.emit(f'fmul {FLAGS} {block.type} {value}, {value}')
        block.lines.append(f'%t{i}.next = fadd {FLAGS} {block.type} %t{i}, {square}')
        function.end()
        total = f'%t{i}.next'
    return total


def _squares_of_one(shape: LoopShape, function: LoopFunction) -> str:
    block, width = function.block, function.lanes
    scalar = Block(1)
    total, remainder = 'zeroinitializer', '0.0'
    for i, size in enumerate(shape.spec.input_sizes):
        whole = size // width * width
        if whole:
            before, label = total, function.label
            k = function.begin(f's{i}', whole, width)
            function.at_start(
                f'%t{i} = phi {block.type} [ {before}, %{label} ], [ %t{i}.next, %s{i}.latch ]'
            )
            value = function.load(function.pointer(f'%in{i}', k), 0, block.type)
            square = block.emit(f'fmul {FLAGS} {block.type} {value}, {value}')
            block.lines.append(f'%t{i}.next = fadd {FLAGS} {block.type} %t{i}, {square}')
            function.end()
            total = f'%t{i}.next'
        for j in range(whole, size):
            x = function.load(f'%in{i}', j, 'double')
            square = block.emit(f'fmul {FLAGS} double {x}, {x}')
            remainder = block.emit(f'fadd {FLAGS} double {remainder}, {square}')
    if width == 1:
        zero = scalar.constant(0.0) if total == 'zeroinitializer' else total
        return block.emit(f'fadd double {remainder}, {zero}')
    name = f'@llvm.vector.reduce.fadd.{block.suffix}'
    block.declarations.add(f'declare double {name}(double, {block.type})')
    return block.emit(f'call reassoc double {name}(double {remainder}, {block.type} {total})')


def main_text(shape: LoopShape, calls: Sequence[str]) -> tuple[str, set[str]]:
    """Return the function that is called from outside, and its declarations."""
    spec, layout, unit = shape.spec, shape.layout, shape.states
    function = LoopFunction(shape.states)
    block = function.block
    on_heap = _work(function, layout.size * unit)
    zero = block.constant(0.0)
    for one, base in zip(spec.passes, layout.handed, strict=True):
        if shape.serial:
            break
        if one.outward:
            _clear(shape, function, base + len(spec.parents) * one.width, one.width)
        else:
            _clear(shape, function, base, (len(spec.parents) + 1) * one.width)
    if not shape.placed_once:
        _clear(shape, function, layout.total, spec.output_sizes[0])
    squares = f'call {shape.kind} @{shape.name}_squares({shape.parameters})'
    total = block.emit(squares)
    block.lines += calls
    rcond = _health(shape, function)
    sound = block.emit(f'fcmp ole {block.type} {total}, {block.constant(LARGEST_INPUT**2)}')
    rcond = block.emit(f'select {block.truth} {sound}, {block.type} {rcond}, {block.type} {zero}')
    if unit == 1:
        ill = block.emit(f'fcmp ult double {rcond}, {block.constant(RCOND_LIMIT)}')
        block.lines += [f'br i1 {ill}, label %done, label %store', 'store:']
        function.label = 'store'
    _copy_out(shape, function)
    if unit == 1:
        block.lines += ['br label %done', 'done:']
    if on_heap:
        block.lines.append('call void @free(ptr %work)')
    lines = '\n  '.join([*block.lines, f'ret {block.type} {rcond}'])
    parameters = ', '.join(f'ptr {p}' for p in [*shape.inputs, '%out0'])
    attributes = f'noinline {shape.attributes}' if unit == 1 else shape.attributes
    linkage = '' if unit == 1 else 'internal '
    head = f'define {linkage}{block.type} @{shape.name}({parameters}) {attributes}'
    return f'{head} {{\n  {lines}\n}}\n', block.declarations


def _work(function: LoopFunction, size: int) -> bool:
    """Append the work array; return whether it is on the heap."""
    block = function.block
    if 8 * size <= _MOST_ON_STACK:
        block.lines.append(f'%work = alloca [{size} x double], align 64')
        return False
    block.declarations |= {'declare ptr @malloc(i64)', 'declare void @free(ptr)'}
    block.lines.append(f'%work = call ptr @malloc(i64 {8 * size})')
    return True


def _clear(shape: LoopShape, function: LoopFunction, base: int, count: int) -> None:
    name = '@llvm.memset.p0.i64'
    function.block.declarations.add(f'declare void {name}(ptr, i8, i64, i1)')
    place = function.pointer('%work', base * shape.states)
    size = 8 * count * shape.states
    function.block.lines.append(
        f'call void {name}(ptr align 8 {place}, i8 0, i64 {size}, i1 false)'
    )


def _health(shape: LoopShape, function: LoopFunction) -> str:
    """Append the smallest health of all bodies."""
    block = function.block
    least = block.constant(1.0)
    for g, group in enumerate(shape.spec.groups):
        if group.rcond is None:
            continue
        before, label = least, function.label
        k = function.begin(f'h{g}', len(group.bodies))
        function.at_start(
            f'%m{g} = phi {block.type} [ {before}, %{label} ], [ %m{g}.next, %h{g}.latch ]'
        )
        value = Bodies(shape, function, g, k).value(group.rcond)
        value = block.select('uno', value, value, block.constant(0.0), value)
        truth = block.emit(f'fcmp olt {block.type} {value}, %m{g}')
        block.lines.append(
            f'%m{g}.next = select {block.truth} {truth}, {block.type} {value}, {block.type} %m{g}'
        )
        function.end()
        least = f'%m{g}.next'
    return least


def _copy_out(shape: LoopShape, function: LoopFunction) -> None:
    """Append the stores of the results."""
    size, block = shape.spec.output_sizes[0], function.block
    if size == 0:
        return
    totals = function.pointer('%work', shape.layout.total * shape.states)
    if shape.states == 1:
        name = '@llvm.memcpy.p0.p0.i64'
        block.declarations.add(f'declare void {name}(ptr, ptr, i64, i1)')
        parts = f'ptr %out0, ptr {totals}, i64 {8 * size}, i1 false'
        block.lines.append(f'call void {name}({parts})')
        return
    k = function.begin('o', size)
    place = function.pointer(totals, function.scaled(k, shape.states))
    value = function.load(place, 0, block.type)
    first = function.pointer('%out0', k)
    for lane in range(shape.states):
        one = block.emit(f'extractelement {block.type} {value}, i32 {lane}')
        function.store(one, first, lane * size, 'double')
    function.end()
