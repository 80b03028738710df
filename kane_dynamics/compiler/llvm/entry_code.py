# SPDX-License-Identifier: Apache-2.0
"""LLVM code of a kernel's entry for Python: a vectorcall function on numpy arrays."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from kane_dynamics.compiler.llvm.kernel_spec import RCOND_LIMIT, TAKE_MORE
from kane_dynamics.compiler.llvm.straight_line import Block

# Slots of the table that `entry` reads addresses from; see native.Entry.
TABLE = (
    'array_type',
    'float_type',
    'double_descr',
    'new_array',
    'increment_reference',
    'decrement_reference',
    'call',
    'slow_path',
    'out_keyword',
    'parameters',
)
# PyArrayObject of the public C headers: offsets after the object header.
_DATA, _NDIM, _DIMENSIONS, _DESCR, _FLAGS = 0, 8, 16, 40, 48
_FLOAT_VALUE = 0  # PyFloatObject
_CARRAY_READ, _CARRAY_WRITE = 0x101, 0x501  # C-contiguous, aligned (, writeable)
_DOUBLE_TYPE_NUMBER = 12


@dataclass(frozen=True)
class Signature:
    """What an entry is called with."""

    name: str  # Name of the function of one state
    input_sizes: Sequence[int]  # Length of each input array
    output_shapes: Sequence[tuple[int, ...]]  # Shape of each output array
    numbers: int = 0  # Python floats after the arrays, which the function gets as one more array


def entry_text(signature: Signature, header: int) -> str:
    """Return ``PyObject *entry(self, args, nargs, kwnames)``; self is the table array."""
    arrays, numbers = len(signature.input_sizes), signature.numbers
    count, (result_shape, *other_shapes) = arrays + numbers, signature.output_shapes
    positional_out = '' if signature.name in TAKE_MORE else f'i64 {count + 1}, label %with.out '
    lines = [
        'entry:',
        f'%table.p = getelementptr i8, ptr %self, i64 {header + _DATA}',
        '%table = load ptr, ptr %table.p',
    ]
    for slot, name in enumerate(TABLE):
        lines.append(f'%{name}.p = getelementptr ptr, ptr %table, i64 {slot}')
        lines.append(f'%{name} = load ptr, ptr %{name}.p')
    lines += [
        '%no.names = icmp eq ptr %names, null',
        'br i1 %no.names, label %positional, label %named',
        'named:',  # exactly one keyword, the interned string 'out', after all inputs
        f'%only.out = icmp eq i64 %nargs, {count}',
        'br i1 %only.out, label %named.count, label %slow',
        'named.count:',
        f'%names.n.p = getelementptr i8, ptr %names, i64 {header}',
        '%names.n = load i64, ptr %names.n.p',
        '%one.name = icmp eq i64 %names.n, 1',
        'br i1 %one.name, label %named.name, label %slow',
        'named.name:',
        f'%name.p = getelementptr i8, ptr %names, i64 {tuple.__basicsize__}',
        '%name = load ptr, ptr %name.p',
        '%is.out = icmp eq ptr %name, %out_keyword',
        'br i1 %is.out, label %with.out, label %slow',
        'positional:',
        f'switch i64 %nargs, label %slow [ i64 {count}, label %without.out {positional_out}]',
        'with.out:',
        'br label %inputs',
        'without.out:',
        'br label %inputs',
        'inputs:',
        '%given = phi i1 [ true, %with.out ], [ false, %without.out ]',
    ]
    for i, size in enumerate(signature.input_sizes):
        lines += _checked(f'a{i}', i, (size,), _CARRAY_READ, header)
    lines += _numbers(arrays, numbers, header)
    lines += ['br i1 %given, label %reuse, label %create', 'reuse:']
    lines += _checked('r', count, result_shape, _CARRAY_WRITE, header)
    lines += [
        'call void %increment_reference(ptr %r)',
        'br label %run',
        'create:',
        *_created(result_shape),
        '%failed = icmp eq ptr %c, null',
        'br i1 %failed, label %error, label %created',
        'created:',
        f'%c.data.p = getelementptr i8, ptr %c, i64 {header + _DATA}',
        '%c.data = load ptr, ptr %c.data.p',
        'br label %run',
        'run:',
        '%result = phi ptr [ %r, %r.good ], [ %c, %created ]',
        '%data = phi ptr [ %r.data, %r.good ], [ %c.data, %created ]',
    ]
    for o, shape in enumerate(other_shapes):
        lines.append(f'%scratch{o} = alloca [{max(math.prod(shape), 1)} x double]')
    pointers = [f'ptr %a{i}.data' for i in range(arrays)] + ['ptr %numbers'] * bool(numbers)
    pointers += ['ptr %parameters', 'ptr %data']
    pointers += [f'ptr %scratch{o}' for o in range(len(other_shapes))]
    lines += [
        f'%health = call double @{signature.name}({", ".join(pointers)})',
        f'%ill = fcmp ult double %health, {Block(1).constant(RCOND_LIMIT)}',
        'br i1 %ill, label %drop, label %return',
        'drop:',
        'call void %decrement_reference(ptr %result)',
        'br label %slow',
        'return:',
        'ret ptr %result',
        'error:',
        'ret ptr null',
        'slow:',
        '%answer = call ptr %call(ptr %slow_path, ptr %args, i64 %nargs, ptr %names)',
        'ret ptr %answer',
    ]
    text = '\n  '.join(lines)
    return (
        f'define ptr @{signature.name}_entry(ptr %self, ptr %args, i64 %nargs, ptr %names) '
        f'{{\n  {text}\n}}\n'
    )


def _checked(
    name: str, position: int, shape: tuple[int, ...], flags: int, header: int
) -> list[str]:
    """Return code that jumps to ``slow`` unless an argument is the array that is needed."""
    fields = {
        'type': (header - 8, 'ptr'),
        'data': (header + _DATA, 'ptr'),
        'ndim': (header + _NDIM, 'i32'),
        'dims': (header + _DIMENSIONS, 'ptr'),
        'descr': (header + _DESCR, 'ptr'),
        'flags': (header + _FLAGS, 'i32'),
    }
    lines = [
        f'%{name}.arg = getelementptr ptr, ptr %args, i64 {position}',
        f'%{name} = load ptr, ptr %{name}.arg',
    ]

    def field(key: str) -> None:
        offset, kind = fields[key]
        lines.append(f'%{name}.{key}.p = getelementptr i8, ptr %{name}, i64 {offset}')
        lines.append(f'%{name}.{key} = load {kind}, ptr %{name}.{key}.p')

    def require(label: str, condition: str) -> None:
        lines.append(f'%{name}.is.{label} = {condition}')
        lines.append(f'br i1 %{name}.is.{label}, label %{name}.{label}.ok, label %slow')
        lines.append(f'{name}.{label}.ok:')

    field('type')
    require('array', f'icmp eq ptr %{name}.type, %array_type')
    for key in ('descr', 'ndim', 'flags', 'dims'):
        field(key)
    require('double', f'icmp eq ptr %{name}.descr, %double_descr')
    lines.append(f'%{name}.set = and i32 %{name}.flags, {flags}')
    require('plain', f'icmp eq i32 %{name}.set, {flags}')
    require('flat', f'icmp eq i32 %{name}.ndim, {len(shape)}')
    for axis, length in enumerate(shape):
        lines.append(f'%{name}.n{axis}.p = getelementptr i64, ptr %{name}.dims, i64 {axis}')
        lines.append(f'%{name}.n{axis} = load i64, ptr %{name}.n{axis}.p')
        require(f'size{axis}', f'icmp eq i64 %{name}.n{axis}, {length}')
    field('data')
    lines += [f'br label %{name}.good', f'{name}.good:']
    return lines


def _numbers(first: int, count: int, header: int) -> list[str]:
    """Return code that fills ``%numbers``, or jumps to ``slow`` unless arguments are floats."""
    lines = [f'%numbers = alloca [{count} x double]'] if count else []
    for k in range(count):
        name = f'%x{k}'
        lines += [
            f'{name}.arg = getelementptr ptr, ptr %args, i64 {first + k}',
            f'{name} = load ptr, ptr {name}.arg',
            f'{name}.type.p = getelementptr i8, ptr {name}, i64 {header - 8}',
            f'{name}.type = load ptr, ptr {name}.type.p',
            f'{name}.is.float = icmp eq ptr {name}.type, %float_type',
            f'br i1 {name}.is.float, label %x{k}.good, label %slow',
            f'x{k}.good:',
            f'{name}.value.p = getelementptr i8, ptr {name}, i64 {header + _FLOAT_VALUE}',
            f'{name}.value = load double, ptr {name}.value.p',
            f'{name}.to = getelementptr double, ptr %numbers, i64 {k}',
            f'store double {name}.value, ptr {name}.to',
        ]
    return lines


def _created(shape: tuple[int, ...]) -> list[str]:
    """Return code that makes a new float64 array ``%c``."""
    lines = [f'%shape = alloca [{max(len(shape), 1)} x i64]']
    for axis, length in enumerate(shape):
        lines.append(f'%shape{axis} = getelementptr i64, ptr %shape, i64 {axis}')
        lines.append(f'store i64 {length}, ptr %shape{axis}')
    lines.append(
        f'%c = call ptr %new_array(ptr %array_type, i32 {len(shape)}, ptr %shape, '
        f'i32 {_DOUBLE_TYPE_NUMBER}, ptr null, ptr null, i32 0, i32 0, ptr null)'
    )
    return lines
