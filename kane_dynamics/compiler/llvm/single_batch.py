# SPDX-License-Identifier: Apache-2.0
"""
Batches in single precision: ``NAME_single_batch``, like ``NAME_batch`` on arrays of floats.

All states run in vector lanes. Those after the last whole vector run in a vector of their own,
from a copy, so a state gives the same bits at any place of any batch. The parameters stay doubles.
"""

from __future__ import annotations

from kane_dynamics.compiler.llvm.kernel_spec import KernelSpec
from kane_dynamics.compiler.llvm.module import kernel_text
from kane_dynamics.compiler.llvm.sines import sincos_definition

_COPY = 'declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)'
_CLEAR = 'declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)'


def single_text(spec: KernelSpec, lanes: int) -> tuple[str, set[str]]:
    """Return the functions of a kernel in single precision, and their declarations."""
    text, declarations = kernel_text(spec, lanes, 'float')
    sines, more = sincos_definition(lanes, 'float')
    return '\n'.join([text, sines, _batch(spec, lanes)]), declarations | more | {_COPY, _CLEAR}


def _batch(spec: KernelSpec, lanes: int) -> str:
    """Return the loop over states: whole vectors, then one with what is left."""
    inputs = [(f'in{i}', size) for i, size in enumerate(spec.input_sizes)]
    outputs = [*((f'out{o}', size) for o, size in enumerate(spec.output_sizes)), ('health', 1)]
    parameters = [f'ptr %{name}' for name, _ in [*inputs, ('parameters', 0), *outputs]]
    indices = [line for part in (inputs, outputs) for x in part for line in _place(*x)]
    kind = f'<{lanes} x float>'
    body = [
        'entry:',
        *[f'%{name}.own = alloca [{max(size, 1)} x {kind}]' for name, size in inputs + outputs],
        'br label %check',
        'check:',
        '%i = phi i64 [ %begin, %entry ], [ %i.next, %whole ]',
        f'%i.next = add i64 %i, {lanes}',
        *indices,
        '%more = icmp sle i64 %i.next, %end',
        'br i1 %more, label %whole, label %last',
        'whole:',
        *_call(spec, kind, 'at'),
        'br label %check',
        'last:',
        '%left = sub i64 %end, %i',
        '%some = icmp sgt i64 %left, 0',
        'br i1 %some, label %rest, label %done',
        'rest:',
        *[line for name, size in inputs for line in _copied_in(name, size, lanes)],
        *_call(spec, kind, 'own'),
        *[line for name, size in outputs for line in _copied_out(name, size)],
        'br label %done',
        'done:',
        'ret void',
    ]
    head = f'define void @{spec.name}_single_batch({", ".join(parameters)}, i64 %begin, i64 %end)'
    lines = '\n  '.join(body)
    return f'{head} {{\n  {lines}\n}}\n'


def _place(name: str, size: int) -> list[str]:
    """Return the address of row i of an array."""
    return [
        f'%{name}.row = mul i64 %i, {size}',
        f'%{name}.at = getelementptr inbounds float, ptr %{name}, i64 %{name}.row',
    ]


def _call(spec: KernelSpec, kind: str, place: str) -> list[str]:
    """Return the call on rows in the arrays (at) or in the copy (own)."""
    names = [f'ptr %in{i}.{place}' for i in range(len(spec.input_sizes))]
    names += ['ptr %parameters']
    names += [f'ptr %out{o}.{place}' for o in range(len(spec.output_sizes))]
    return [
        f'%h.{place} = call {kind} @{spec.name}_single_lanes({", ".join(names)})',
        f'store {kind} %h.{place}, ptr %health.{place}, align 4',
    ]


def _copied_in(name: str, size: int, lanes: int) -> list[str]:
    """Return what copies the rows that are left, beside states of zeros."""
    return [
        f'call void @llvm.memset.p0.i64(ptr %{name}.own, i8 0, i64 {4 * size * lanes}, i1 false)',
        f'%{name}.size = mul i64 %left, {4 * size}',
        f'call void @llvm.memcpy.p0.p0.i64(ptr %{name}.own, ptr %{name}.at, '
        f'i64 %{name}.size, i1 false)',
    ]


def _copied_out(name: str, size: int) -> list[str]:
    """Return what copies the results of the rows that are left."""
    return [
        f'%{name}.size = mul i64 %left, {4 * size}',
        f'call void @llvm.memcpy.p0.p0.i64(ptr %{name}.at, ptr %{name}.own, '
        f'i64 %{name}.size, i1 false)',
    ]
