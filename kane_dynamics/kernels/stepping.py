# SPDX-License-Identifier: Apache-2.0
"""
LLVM code of recorded steps: a loop over time in one compiled call.

``NAME(tau, th, q_rows, v_rows, count, effort_row)`` takes `count` steps from the state in row 0 of
its tables and writes the state after step k to row k + 1. It reads efforts from row k when
`effort_row` is 1, else from row 0. It returns the number of steps taken: less than `count` where a
solve was ill conditioned; the caller takes that step by the reference.
"""

from __future__ import annotations

from collections.abc import Mapping

from kane_dynamics.kernels.module import HEALTH_LIMIT, KernelSpec, kernel_text
from kane_dynamics.kernels.recording import Program
from kane_dynamics.kernels.straight_line import Block, append_graph, sincos_definition


def stepping_text(programs: Mapping[str, Program], callees: Mapping[str, KernelSpec]) -> str:
    """Return the LLVM IR of the loops over some programs and of the kernels that they call."""
    sincos, declarations = sincos_definition(1)
    bodies = []
    for callee in callees.values():
        text, more = kernel_text(callee, 1)
        bodies.append(text)
        declarations |= more
    for name, program in programs.items():
        text, more = _step(name, program, callees)
        sizes = [column.numel() for column in program.inputs]
        bodies += [text, _loop(name, sizes[0], sizes[1])]
        declarations |= more
    return '\n'.join([*sorted(declarations), sincos, *bodies])


def _step(name: str, program: Program, callees: Mapping[str, KernelSpec]) -> tuple[str, set[str]]:
    """Return the function of one step; its value is the smallest health of its calls."""
    block = Block(1)
    known = [
        [_load(block, f'%in{i}', k) for k in range(column.numel())]
        for i, column in enumerate(program.inputs)
    ]
    health = block.constant(1.0)
    segments = program.segments()
    for call, segment in zip(program.calls, segments, strict=False):
        arguments = _dense(append_graph(block, segment, known))
        spec = callees[call.kernel]
        pointers = [_buffer(block, values) for values in arguments[: len(spec.input_sizes)]]
        results = [_buffer(block, [], size) for size in spec.output_sizes]
        passed = ', '.join(f'ptr {p}' for p in [*pointers, *results])
        own = block.emit(f'call double @{spec.name}({passed})')
        health = block.select('olt', own, health, own, health)
        for pointer, column in zip(results, call.results, strict=True):
            known.append([_load(block, pointer, k) for k in range(column.numel())])
    ends = _dense(append_graph(block, segments[-1], known))
    for array, values in zip(('%q_end', '%v_end'), ends, strict=True):
        for k, value in enumerate(values):
            _store(block, array, k, value)
    arguments_text = 'ptr %in0, ptr %in1, ptr %in2, ptr %in3, ptr %q_end, ptr %v_end'
    lines = '\n  '.join([*block.lines, f'ret double {health}'])
    text = f'define internal double @{name}_once({arguments_text}) {{\n  {lines}\n}}\n'
    return text, block.declarations


def _dense(outputs: list[dict[int, str]]) -> list[list[str]]:
    """Return the values of each output of a segment in order; segments have dense outputs."""
    return [[values[k] for k in range(len(values))] for values in outputs]


def _buffer(block: Block, values: list[str], size: int = 0) -> str:
    """Append an array on the stack, filled with values."""
    array = block.emit(f'alloca [{max(1, size, len(values))} x double], align 64')
    for k, value in enumerate(values):
        _store(block, array, k, value)
    return array


def _load(block: Block, array: str, k: int) -> str:
    address = block.emit(f'getelementptr inbounds double, ptr {array}, i64 {k}')
    return block.emit(f'load double, ptr {address}')


def _store(block: Block, array: str, k: int, value: str) -> None:
    address = block.emit(f'getelementptr inbounds double, ptr {array}, i64 {k}')
    block.lines.append(f'store double {value}, ptr {address}')


def _loop(name: str, nq: int, nv: int) -> str:
    limit = Block(1).constant(HEALTH_LIMIT)
    passed = ', '.join(f'ptr %{p}' for p in ('q', 'v', 'e', 'clock', 'q.end', 'v.end'))
    body = f"""
entry:
  %clock = alloca [2 x double]
  %h.p = getelementptr double, ptr %th, i64 1
  %t0 = load double, ptr %th
  %h = load double, ptr %h.p
  %clock.h = getelementptr double, ptr %clock, i64 1
  store double %h, ptr %clock.h
  br label %check
check:
  %k = phi i64 [ 0, %entry ], [ %k.next, %good ]
  %more = icmp slt i64 %k, %count
  br i1 %more, label %step, label %done
step:
  %k.f = sitofp i64 %k to double
  %elapsed = fmul double %k.f, %h
  %t = fadd double %t0, %elapsed
  store double %t, ptr %clock
  %k.next = add i64 %k, 1
  %q.from = mul i64 %k, {nq}
  %v.from = mul i64 %k, {nv}
  %q.to = mul i64 %k.next, {nq}
  %v.to = mul i64 %k.next, {nv}
  %q = getelementptr double, ptr %q_rows, i64 %q.from
  %v = getelementptr double, ptr %v_rows, i64 %v.from
  %q.end = getelementptr double, ptr %q_rows, i64 %q.to
  %v.end = getelementptr double, ptr %v_rows, i64 %v.to
  %e.row = mul i64 %k, %effort_row
  %e.offset = mul i64 %e.row, {nv}
  %e = getelementptr double, ptr %tau, i64 %e.offset
  %health = call double @{name}_once({passed})
  %ill = fcmp olt double %health, {limit}
  br i1 %ill, label %done, label %good
good:
  br label %check
done:
  ret i64 %k
"""
    parameters = 'ptr %tau, ptr %th, ptr %q_rows, ptr %v_rows, i64 %count, i64 %effort_row'
    return f'define i64 @{name}({parameters}) {{{body}}}\n'
