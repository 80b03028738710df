# SPDX-License-Identifier: Apache-2.0
"""
LLVM code of recorded steps: a loop over time in one compiled call.

``NAME(tau, th, q_rows, v_rows, ranks, parameters, count, effort_row)`` takes `count` steps from
the state in row 0 of its tables and writes the state after step k, and the rank of its rows, to
row k + 1. It reads efforts from row k when `effort_row` is 1, else from row 0. It returns the
number of steps taken: less than `count` where a solve was ill conditioned, or not solved; the
caller takes that step by the reference.

``NAME_one_entry(q, v, tau, t, h)`` is for one step a function of Python as kernels have: it
returns a new array (q, v, rank), or asks its Python function where the step is not sound or ends
beyond all bounds.
"""

from __future__ import annotations

from collections.abc import Mapping

from kane_dynamics.compiler.llvm.entry_code import Signature, entry_text
from kane_dynamics.compiler.llvm.kernel_spec import RCOND_LIMIT
from kane_dynamics.compiler.llvm.loop_code import bodies_at_once
from kane_dynamics.compiler.llvm.module import single_parts
from kane_dynamics.compiler.llvm.sines import sincos_definition
from kane_dynamics.compiler.llvm.straight_line import Block
from kane_dynamics.compiler.programs import Program
from kane_dynamics.compiler.steps.step_code import Callees, step_text
from kane_dynamics.simulation.step_checks import LARGEST


def stepping_text(programs: Mapping[str, Program], callees: Callees, width: int) -> str:
    """Return the LLVM IR of the loops over some programs and of the kernels that they call."""
    bodies, declarations = [], set()
    widths = {1, bodies_at_once(width)}
    parts = [sincos_definition(lanes) for lanes in sorted(widths)]
    parts += single_parts(callees.values(), width).values()
    for text, more in parts:
        bodies.append(text)
        declarations |= more
    for name, program in programs.items():
        text, more = step_text(name, program, callees, 1, bounded=False)
        nq, nv, *_ = (column.numel() for column in program.inputs)
        one = Signature(one_step(name), (nq, nv, nv), ((nq + nv + 1,),), numbers=2)
        entry = entry_text(one, object.__basicsize__)
        bodies += [text, _loop(name, nq, nv), _one(name, nq, nv), entry]
        declarations |= more
    return '\n'.join([*sorted(declarations), *bodies])


def one_step(name: str) -> str:
    """Return the name of the function of one step."""
    return f'{name}_one'


def _loop(name: str, nq: int, nv: int) -> str:
    limit = Block(1).constant(RCOND_LIMIT)
    arrays = ('q', 'v', 'e', 'clock', 'q.end', 'v.end', 'rank.end', 'parameters')
    passed = ', '.join(f'ptr %{p}' for p in arrays)
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
  %rank.end = getelementptr double, ptr %ranks, i64 %k.next
  %e.row = mul i64 %k, %effort_row
  %e.offset = mul i64 %e.row, {nv}
  %e = getelementptr double, ptr %tau, i64 %e.offset
  %health = call double @{name}_once({passed})
  %ill = fcmp ult double %health, {limit}
  br i1 %ill, label %done, label %good
good:
  br label %check
done:
  ret i64 %k
"""
    tables = ('tau', 'th', 'q_rows', 'v_rows', 'ranks', 'parameters')
    pointers = ', '.join(f'ptr %{table}' for table in tables)
    return f'define i64 @{name}({pointers}, i64 %count, i64 %effort_row) {{{body}}}\n'


def _one(name: str, nq: int, nv: int) -> str:
    """Return the function of one step into an array; its health is 0 beyond all bounds."""
    largest, nothing = Block(1).constant(LARGEST), Block(1).constant(0.0)
    arrays = ('q', 'v', 'tau', 'th', 'end', 'v.end', 'rank.end', 'parameters')
    passed = ', '.join(f'ptr %{p}' for p in arrays)
    body = f"""
entry:
  %v.end = getelementptr double, ptr %end, i64 {nq}
  %rank.end = getelementptr double, ptr %end, i64 {nq + nv}
  %health = call double @{name}_once({passed})
  br label %check
check:
  %k = phi i64 [ 0, %entry ], [ %k.next, %within ]
  %left = icmp slt i64 %k, {nq + nv}
  br i1 %left, label %look, label %sound
look:
  %x.p = getelementptr double, ptr %end, i64 %k
  %x = load double, ptr %x.p
  %negative = fneg double %x
  %below = fcmp olt double %x, {largest}
  %above = fcmp olt double %negative, {largest}
  %inside = and i1 %below, %above
  %k.next = add i64 %k, 1
  br i1 %inside, label %within, label %lost
within:
  br label %check
sound:
  ret double %health
lost:
  ret double {nothing}
"""
    pointers = ', '.join(f'ptr %{p}' for p in ('q', 'v', 'tau', 'th', 'parameters', 'end'))
    return f'define double @{one_step(name)}({pointers}) {{{body}}}\n'
