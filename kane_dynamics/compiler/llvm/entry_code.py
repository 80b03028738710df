# SPDX-License-Identifier: Apache-2.0
"""The LLVM code of a kernel's entry for Python: a vectorcall function on numpy arrays."""

import math
from collections.abc import Mapping

from kane_dynamics.compiler.llvm.entry import OBJECT_HEADER, TABLE
from kane_dynamics.compiler.llvm.kernel_spec import TAKE_MORE, Signature
from kane_dynamics.compiler.llvm.limits import RCOND_LIMIT
from kane_dynamics.compiler.llvm.straight_line import Block

# PyArrayObject and PyFloatObject of the public C headers: offsets of their fields
_DATA, _NDIM, _DIMENSIONS, _DESCR, _FLAGS = (OBJECT_HEADER + k for k in (0, 8, 16, 40, 48))
_TYPE, _FLOAT_VALUE = OBJECT_HEADER - 8, OBJECT_HEADER
_CARRAY_READ, _CARRAY_WRITE = 0x101, 0x501  # C-contiguous, aligned (, writeable)
_DOUBLE_TYPE_NUMBER = 12


def entry_text(signature: Signature, *, clock: bool = False) -> str:
    """
    Return ``PyObject *entry(self, args, nargs, kwnames)``; self is the table array.

    The numbers of the last input come as Python floats where it is a clock.
    """
    block, sizes = Block(1), signature.input_sizes
    arrays, numbers = (sizes[:-1], sizes[-1]) if clock else (sizes, 0)
    count = len(arrays) + numbers
    result_shape, *other_shapes = signature.output_shapes
    block.lines.append('entry:')
    table = _field(block, '%self', _DATA)
    known = {slot: _field(block, table, 8 * k) for k, slot in enumerate(TABLE)}
    _with_out(block, count, signature.name not in TAKE_MORE, known['out_keyword'])
    pointers = [
        _checked(block, i, (size,), _CARRAY_READ, known)[1] for i, size in enumerate(arrays)
    ]
    if numbers:
        pointers.append(_floats(block, range(count - numbers, count), known['float_type']))
    block.lines += ['br i1 %with.out, label %reuse, label %create', 'reuse:']
    reused, reused_data = _checked(block, count, result_shape, _CARRAY_WRITE, known)
    block.lines += [
        f'call void {known["increment_reference"]}(ptr {reused})',
        *('br label %reused', 'reused:', 'br label %run', 'create:'),
    ]
    made = _created(block, result_shape, known)
    failed = block.emit(f'icmp eq ptr {made}, null')
    block.lines += [f'br i1 {failed}, label %error, label %created', 'created:']
    made_data = _field(block, made, _DATA)
    block.lines += ['br label %run', 'run:']
    result, data = (
        block.emit(f'phi ptr [ {x}, %reused ], [ {y}, %created ]')
        for x, y in ((reused, made), (reused_data, made_data))
    )
    others = [
        block.emit(f'alloca [{max(math.prod(shape), 1)} x double]') for shape in other_shapes
    ]
    passed = ', '.join(f'ptr {x}' for x in [*pointers, known['parameters'], data, *others])
    rcond = block.emit(f'call double @{signature.name}({passed})')
    ill = block.emit(f'fcmp ult double {rcond}, {block.constant(RCOND_LIMIT)}')
    block.lines += [
        f'br i1 {ill}, label %drop, label %return',
        *('drop:', f'call void {known["decrement_reference"]}(ptr {result})', 'br label %slow'),
        *('return:', f'ret ptr {result}', 'error:', 'ret ptr null', 'slow:'),
    ]
    arguments = f'(ptr {known["slow_path"]}, ptr %args, i64 %nargs, ptr %names)'
    answer = block.emit(f'call ptr {known["call"]}{arguments}')
    text = '\n  '.join([*block.lines, f'ret ptr {answer}'])
    head = f'define ptr @{signature.name}_entry(ptr %self, ptr %args, i64 %nargs, ptr %names)'
    return f'{head} {{\n  {text}\n}}\n'


def _field(block: Block, base: str, offset: int, kind: str = 'ptr') -> str:
    """Append the load of a field of a C structure."""
    place = block.emit(f'getelementptr i8, ptr {base}, i64 {offset}')
    return block.emit(f'load {kind}, ptr {place}')


def _require(block: Block, condition: str) -> None:
    """Append a jump to ``slow`` unless a condition holds."""
    truth, label = block.emit(condition), f'ok{len(block.lines)}'
    block.lines += [f'br i1 {truth}, label %{label}, label %slow', f'{label}:']


def _with_out(block: Block, count: int, positional: bool, keyword: str) -> None:
    """Append ``%with.out``: one argument more, or the keyword 'out' alone, which is interned."""
    last = f'i64 {count + 1}, label %out' if positional else ''
    block.lines += [
        '%no.names = icmp eq ptr %names, null',
        'br i1 %no.names, label %positional, label %named',
        'positional:',
        f'switch i64 %nargs, label %slow [ i64 {count}, label %inputs {last} ]',
        'named:',
    ]
    _require(block, f'icmp eq i64 %nargs, {count}')
    _require(block, f'icmp eq i64 {_field(block, "%names", OBJECT_HEADER, "i64")}, 1')
    name = _field(block, '%names', tuple.__basicsize__)
    _require(block, f'icmp eq ptr {name}, {keyword}')
    block.lines += [
        *('br label %out', 'out:', 'br label %inputs', 'inputs:'),
        '%with.out = phi i1 [ true, %out ], [ false, %positional ]',
    ]


def _checked(
    block: Block,
    position: int,
    shape: tuple[int, ...],
    flags: int,
    known: Mapping[str, str],
) -> tuple[str, str]:
    """Append jumps to ``slow`` unless an argument is the array that is needed; also its data."""
    array = _field(block, '%args', 8 * position)
    kind = _field(block, array, _TYPE)
    _require(block, f'icmp eq ptr {kind}, {known["array_type"]}')
    descr, data, dimensions = (
        _field(block, array, offset) for offset in (_DESCR, _DATA, _DIMENSIONS)
    )
    ndim, bits = (_field(block, array, offset, 'i32') for offset in (_NDIM, _FLAGS))
    _require(block, f'icmp eq ptr {descr}, {known["double_descr"]}')
    plain = block.emit(f'and i32 {bits}, {flags}')
    _require(block, f'icmp eq i32 {plain}, {flags}')
    _require(block, f'icmp eq i32 {ndim}, {len(shape)}')
    for axis, length in enumerate(shape):
        size = _field(block, dimensions, 8 * axis, 'i64')
        _require(block, f'icmp eq i64 {size}, {length}')
    return array, data


def _floats(block: Block, positions: range, kind: str) -> str:
    """Append an array of arguments, and jumps to ``slow`` unless they are floats."""
    numbers = block.emit(f'alloca [{len(positions)} x double]')
    for k, position in enumerate(positions):
        x = _field(block, '%args', 8 * position)
        _require(block, f'icmp eq ptr {_field(block, x, _TYPE)}, {kind}')
        value = _field(block, x, _FLOAT_VALUE, 'double')
        place = block.emit(f'getelementptr double, ptr {numbers}, i64 {k}')
        block.lines.append(f'store double {value}, ptr {place}')
    return numbers


def _created(block: Block, shape: tuple[int, ...], known: Mapping[str, str]) -> str:
    """Append a new float64 array, or null."""
    sizes = block.emit(f'alloca [{max(len(shape), 1)} x i64]')
    for axis, length in enumerate(shape):
        place = block.emit(f'getelementptr i64, ptr {sizes}, i64 {axis}')
        block.lines.append(f'store i64 {length}, ptr {place}')
    how = f'i32 {_DOUBLE_TYPE_NUMBER}, ptr null, ptr null, i32 0, i32 0, ptr null'
    inputs = f'ptr {known["array_type"]}, i32 {len(shape)}, ptr {sizes}, {how}'
    return block.emit(f'call ptr {known["new_array"]}({inputs})')
