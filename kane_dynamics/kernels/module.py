# SPDX-License-Identifier: Apache-2.0
"""
One LLVM module for one kernel: single states, batches, and an entry for Python.

Exported functions, with one pointer for each input and output array:

- ``NAME``: one state. Returns the health of its solves: the smallest pivot relative to the
  diagonal it came from, 1 where nothing is solved; 0 where an input is NaN, used or not, or
  larger than LARGEST_INPUT, so that NaN in is NaN out. Writes no output where that is below
  HEALTH_LIMIT.
- ``NAME_batch``: states ``begin`` to ``end`` of row-major arrays, several at once in vector lanes;
  writes the health of each state.
- ``NAME_entry``: a CPython function (vectorcall convention) on float64 arrays of exactly the right
  shape, C-contiguous and aligned. Everything else is passed on to a Python function that checks,
  converts, runs batches and raises the named errors.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca

from kane_dynamics.kernels.straight_line import (
    FLAGS,
    Block,
    append_graph,
    sincos_definition,
)

# Slots of the table that `entry` reads addresses from; see native.Entry.
TABLE = (
    'array_type',
    'double_descr',
    'new_array',
    'increment_reference',
    'decrement_reference',
    'call',
    'slow_path',
    'out_keyword',
)
HEALTH_LIMIT = 1e-6  # relative pivots below this go to the reference solve
# Larger states go to the reference: sines of the kernels keep all digits to ten times this.
LARGEST_INPUT = 1e13
_FOUR = '<4 x double>'

# PyArrayObject of the public C headers: offsets after the object header.
_DATA, _NDIM, _DIMENSIONS, _DESCR, _FLAGS = 0, 8, 16, 40, 48
_CARRAY_READ, _CARRAY_WRITE = 0x101, 0x501  # C-contiguous, aligned (, writeable)
_DOUBLE_TYPE_NUMBER = 12


@dataclass(frozen=True)
class KernelSpec:
    """
    A traced function and the shapes of its arrays.

    Parameters
    ----------
    name : str
        Name of the kernel.
    function : casadi.Function
        Inputs dense vectors; outputs of any sparsity; the last output is the scalar health.
    input_sizes : tuple of int
        Length of each input.
    output_shapes : tuple of tuple of int
        Shape of each output array but the health. The Python entry returns the first.

    """

    name: str
    function: ca.Function
    input_sizes: tuple[int, ...]
    output_shapes: tuple[tuple[int, ...], ...]

    @property
    def output_sizes(self) -> tuple[int, ...]:
        """Return the number of entries of each output."""
        sizes = []
        for shape in self.output_shapes:
            size = 1
            for length in shape:
                size *= length
            sizes.append(size)
        return tuple(sizes)


def module_text(spec: KernelSpec, lanes: int, header: int) -> str:
    """
    Return the LLVM IR of a kernel.

    Parameters
    ----------
    spec : KernelSpec
        The traced function.
    lanes : int
        Doubles in a vector register of the machine.
    header : int
        Size of a Python object's header [bytes].

    """
    scalar_sincos, declarations = sincos_definition(1)
    vector_sincos, vector_declarations = sincos_definition(lanes)
    one, one_declarations = kernel_text(spec, 1)
    many, many_declarations = kernel_text(spec, lanes)
    everything = declarations | vector_declarations | one_declarations | many_declarations
    return '\n'.join(
        [
            *sorted(everything),
            scalar_sincos,
            vector_sincos,
            one,
            many,
            _batch(spec, lanes),
            _entry(spec, header),
        ]
    )


def kernel_text(spec: KernelSpec, lanes: int) -> tuple[str, set[str]]:
    """Return the straight-line function of one state, or of one state in each lane."""
    block = Block(lanes)
    inputs = [
        [_load(block, f'%in{i}', k, size) for k in range(size)]
        for i, size in enumerate(spec.input_sizes)
    ]
    squares = _sum_of_squares(block, inputs)
    outputs = append_graph(block, spec.function, inputs)
    # false for NaN in any input, used or not, and before sines of large angles lose digits
    sound = block.emit(f'fcmp ole {block.type} {squares}, {block.constant(LARGEST_INPUT**2)}')
    health = block.emit(
        f'select {block.truth} {sound}, {block.type} {outputs.pop()[0]}, '
        f'{block.type} {block.constant(0.0)}'
    )
    # stores come last, so that an output array may be one of the inputs, and only where the solve
    # is sound, so that the reference still finds its inputs
    if lanes == 1:
        ill = block.emit(f'fcmp olt double {health}, {block.constant(HEALTH_LIMIT)}')
        block.lines += [f'br i1 {ill}, label %done, label %store', 'store:']
    for o, (values, size) in enumerate(zip(outputs, spec.output_sizes, strict=True)):
        positions = _row_major_positions(spec.function, o)
        dense = dict.fromkeys(range(size), block.constant(0.0))
        dense |= {positions[k]: value for k, value in values.items()}
        for k, value in dense.items():
            _store(block, f'%out{o}', k, size, value)
    if lanes == 1:
        block.lines += ['br label %done', 'done:']
    arguments = ', '.join(
        [f'ptr %in{i}' for i in range(len(spec.input_sizes))]
        + [f'ptr %out{o}' for o in range(len(spec.output_sizes))]
    )
    name = spec.name if lanes == 1 else f'{spec.name}_lanes'
    linkage = '' if lanes == 1 else 'internal '
    attributes = 'noinline ' if lanes == 1 else f'"prefer-vector-width"="{64 * lanes}" '
    lines = '\n  '.join([*block.lines, f'ret {block.type} {health}'])
    text = f'define {linkage}{block.type} @{name}({arguments}) {attributes}{{\n  {lines}\n}}\n'
    return text, block.declarations


def _sum_of_squares(block: Block, inputs: list[list[str]]) -> str:
    """Append the sum of squares of all inputs."""
    if block.lanes > 1:
        squares = [block.binary('fmul', x, x) for part in inputs for x in part]
        return _added(block, squares, block.type)
    # four at once, from loads that lie side by side
    vectors = [_vector(block, part, k) for part in inputs for k in range(0, len(part), 4)]
    squares = [block.emit(f'fmul {FLAGS} {_FOUR} {x}, {x}') for x in vectors]
    total = _added(block, squares, _FOUR)
    parts = [block.emit(f'extractelement {_FOUR} {total}, i32 {k}') for k in range(4)]
    return _added(block, parts, block.type)


def _vector(block: Block, part: list[str], begin: int) -> str:
    """Return four neighbours as one vector; the last ones once more where the array ends."""
    begin = max(0, min(begin, len(part) - 4))
    vector = 'zeroinitializer'
    for k, x in enumerate(part[begin : begin + 4]):
        vector = block.emit(f'insertelement {_FOUR} {vector}, double {x}, i32 {k}')
    return vector


def _added(block: Block, values: list[str], kind: str) -> str:
    """Append the sum in two chains, which need not wait for each other."""
    zero = 'zeroinitializer' if kind == _FOUR else block.constant(0.0)
    chains = [*values[:2], zero, zero][:2]
    for k, value in enumerate(values[2:]):
        chains[k % 2] = block.emit(f'fadd {FLAGS} {kind} {chains[k % 2]}, {value}')
    return block.emit(f'fadd {FLAGS} {kind} {chains[0]}, {chains[1]}')


def _row_major_positions(function: ca.Function, output: int) -> list[int]:
    """Return where each nonzero of an output (column major) stands in row-major order."""
    sparsity = function.sparsity_out(output)
    rows, columns = sparsity.row(), sparsity.get_col()
    width = sparsity.size2()
    return [row * width + column for row, column in zip(rows, columns, strict=True)]


def _load(block: Block, array: str, k: int, stride: int) -> str:
    if block.lanes == 1:
        return block.emit(f'load double, ptr {_address(block, array, k)}')
    value = 'poison'
    for lane in range(block.lanes):
        one = block.emit(f'load double, ptr {_address(block, array, k + lane * stride)}')
        value = block.emit(f'insertelement {block.type} {value}, double {one}, i32 {lane}')
    return value


def _store(block: Block, array: str, k: int, stride: int, value: str) -> None:
    if block.lanes == 1:
        block.lines.append(f'store double {value}, ptr {_address(block, array, k)}')
        return
    for lane in range(block.lanes):
        one = block.emit(f'extractelement {block.type} {value}, i32 {lane}')
        address = _address(block, array, k + lane * stride)
        block.lines.append(f'store double {one}, ptr {address}')


def _address(block: Block, array: str, k: int) -> str:
    return block.emit(f'getelementptr inbounds double, ptr {array}, i64 {k}')


def _batch(spec: KernelSpec, lanes: int) -> str:
    """Return the loop over states: whole vectors first, then what is left one by one."""
    arrays = [(f'in{i}', size) for i, size in enumerate(spec.input_sizes)]
    arrays += [(f'out{o}', size) for o, size in enumerate(spec.output_sizes)]
    parameters = ', '.join(f'ptr %{name}' for name, _ in arrays)

    def at(index: str, tag: str) -> tuple[list[str], str]:
        lines = []
        for name, size in arrays:
            lines.append(f'%{name}.o{tag} = mul i64 {index}, {size}')
            lines.append(
                f'%{name}.p{tag} = getelementptr inbounds double, ptr %{name}, i64 %{name}.o{tag}'
            )
        return lines, ', '.join(f'ptr %{name}.p{tag}' for name, _ in arrays)

    vector_lines, vector_pointers = at('%i', 'v')
    scalar_lines, scalar_pointers = at('%j', 's')
    vector = f'<{lanes} x double>'
    body = [
        'entry:',
        'br label %vector.check',
        'vector.check:',
        '%i = phi i64 [ %begin, %entry ], [ %i.next, %vector.body ]',
        f'%i.next = add i64 %i, {lanes}',
        '%more = icmp sle i64 %i.next, %end',
        'br i1 %more, label %vector.body, label %scalar.check',
        'vector.body:',
        *vector_lines,
        f'%h.v = call {vector} @{spec.name}_lanes({vector_pointers})',
        '%h.vp = getelementptr inbounds double, ptr %health, i64 %i',
        f'store {vector} %h.v, ptr %h.vp, align 8',
        'br label %vector.check',
        'scalar.check:',
        '%j = phi i64 [ %i, %vector.check ], [ %j.next, %scalar.body ]',
        '%left = icmp slt i64 %j, %end',
        'br i1 %left, label %scalar.body, label %done',
        'scalar.body:',
        *scalar_lines,
        f'%h.s = call double @{spec.name}({scalar_pointers})',
        '%h.sp = getelementptr inbounds double, ptr %health, i64 %j',
        'store double %h.s, ptr %h.sp',
        '%j.next = add i64 %j, 1',
        'br label %scalar.check',
        'done:',
        'ret void',
    ]
    text = '\n  '.join(body)
    return (
        f'define void @{spec.name}_batch({parameters}, ptr %health, i64 %begin, i64 %end) '
        f'{{\n  {text}\n}}\n'
    )


def _entry(spec: KernelSpec, header: int) -> str:
    """Return ``PyObject *entry(self, args, nargs, kwnames)``; self is the table array."""
    count = len(spec.input_sizes)
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
        f'switch i64 %nargs, label %slow [ i64 {count}, label %without.out '
        f'i64 {count + 1}, label %with.out ]',
        'with.out:',
        'br label %inputs',
        'without.out:',
        'br label %inputs',
        'inputs:',
        '%given = phi i1 [ true, %with.out ], [ false, %without.out ]',
    ]
    for i, size in enumerate(spec.input_sizes):
        lines += _checked(f'a{i}', i, (size,), _CARRAY_READ, header)
    lines += ['br i1 %given, label %reuse, label %create', 'reuse:']
    lines += _checked('r', count, spec.output_shapes[0], _CARRAY_WRITE, header)
    lines += [
        'call void %increment_reference(ptr %r)',
        'br label %run',
        'create:',
        *_created(spec.output_shapes[0]),
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
    for o, size in enumerate(spec.output_sizes[1:], start=1):
        lines.append(f'%scratch{o} = alloca [{max(size, 1)} x double]')
    pointers = [f'ptr %a{i}.data' for i in range(count)] + ['ptr %data']
    pointers += [f'ptr %scratch{o}' for o in range(1, len(spec.output_sizes))]
    lines += [
        f'%health = call double @{spec.name}({", ".join(pointers)})',
        f'%ill = fcmp olt double %health, {Block(1).constant(HEALTH_LIMIT)}',
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
        f'define ptr @{spec.name}_entry(ptr %self, ptr %args, i64 %nargs, ptr %names) '
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
