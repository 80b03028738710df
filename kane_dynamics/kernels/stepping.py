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

from collections.abc import Mapping, Sequence

from kane_dynamics.kernels.llvm.entry_code import Signature, entry_text
from kane_dynamics.kernels.llvm.kernel_spec import HEALTH_LIMIT, KernelSpec
from kane_dynamics.kernels.llvm.loop_code import bodies_at_once, loop_text
from kane_dynamics.kernels.llvm.loop_spec import LoopSpec
from kane_dynamics.kernels.llvm.module import kernel_text
from kane_dynamics.kernels.llvm.sines import sincos_definition
from kane_dynamics.kernels.llvm.straight_line import Block, append_graph
from kane_dynamics.kernels.recording import Call, Loop, Program
from kane_dynamics.simulation.fixed_point import ENOUGH, SOLVED
from kane_dynamics.simulation.reference import LARGEST

Callees = Mapping[str, KernelSpec | LoopSpec]
TURNS = 40.0  # of a loop: a step that gains less than a digit in two turns is the reference's


def stepping_text(programs: Mapping[str, Program], callees: Callees, width: int) -> str:
    """
    Return the LLVM IR of the loops over some programs and of the kernels that they call.

    Parameters
    ----------
    programs : mapping of str to Program
        By name.
    callees : mapping of str to KernelSpec or LoopSpec
        The kernels.
    width : int
        Doubles in a vector register of the machine.

    """
    bodies, declarations = [], set()
    widths = {1, bodies_at_once(width)}
    parts = [sincos_definition(lanes) for lanes in sorted(widths)]
    for callee in callees.values():
        if isinstance(callee, LoopSpec):
            parts.append(loop_text(callee, 1, width))
        else:
            parts.append(kernel_text(callee, 1))
    for text, more in parts:
        bodies.append(text)
        declarations |= more
    for name, program in programs.items():
        text, more = _step(name, program, callees)
        nq, nv, *_ = (column.numel() for column in program.inputs)
        one = Signature(one_step(name), (nq, nv, nv), ((nq + nv + 1,),), numbers=2)
        entry = entry_text(one, object.__basicsize__)
        bodies += [text, _loop(name, nq, nv), _one(name, nq, nv), entry]
        declarations |= more
    return '\n'.join([*sorted(declarations), *bodies])


def one_step(name: str) -> str:
    """Return the name of the function of one step."""
    return f'{name}_one'


def _step(name: str, program: Program, callees: Callees) -> tuple[str, set[str]]:
    """Return the function of one step; its value is the smallest health of its calls."""
    step = _Step(program, callees)
    block = step.block
    arrays = ('%in0', '%in1', '%in2', '%in3', '%parameters')
    known = [
        [_load(block, array, k) for k in range(column.numel())]
        for array, column in zip(arrays, program.inputs, strict=True)
    ]
    step.append(program.calls, known)
    ends = step.values(known)
    for array, values in zip(('%q_end', '%v_end', '%rank_end'), ends, strict=True):
        for k, value in enumerate(values):
            _store(block, array, k, value)
    arguments_text = 'ptr %in0, ptr %in1, ptr %in2, ptr %in3, ptr %q_end, ptr %v_end, '
    arguments_text += 'ptr %rank_end, ptr %parameters'
    health = step.health()
    lines = '\n  '.join([*step.arrays, *block.lines, f'ret double {health}'])
    text = f'define internal double @{name}_once({arguments_text}) {{\n  {lines}\n}}\n'
    return text, block.declarations


class _Step:
    """Code of one step under construction: arrays on the stack first, then the block."""

    def __init__(self, program: Program, callees: Callees) -> None:
        self.block = Block(1)
        self.arrays: list[str] = []
        self._callees = callees
        self._segments = program.segments()
        self._health = self._array(1)
        _store(self.block, self._health, 0, self.block.constant(1.0))

    def health(self) -> str:
        """Return the smallest health so far."""
        return _load(self.block, self._health, 0)

    def values(self, known: list[list[str]]) -> list[list[str]]:
        """Append the next segment and return its outputs."""
        return _dense(append_graph(self.block, next(self._segments), known))

    def append(self, calls: Sequence[Call | Loop], known: list[list[str]]) -> None:
        """Append calls and loops, and their results to what is known."""
        for call in calls:
            if isinstance(call, Loop):
                known.append(self._loop(call, known))
            else:
                known += self._call(call, known)

    def _call(self, call: Call, known: list[list[str]]) -> list[list[str]]:
        spec, block = self._callees[call.kernel], self.block
        arguments = self.values(known)[: len(spec.input_sizes)]
        pointers = [self._filled(values) for values in arguments]
        results = [self._array(size) for size in spec.output_sizes]
        passed = ', '.join(f'ptr {p}' for p in [*pointers, '%parameters', *results])
        self._lower_health(block.emit(f'call double @{spec.name}({passed})'))
        return [
            [_load(block, pointer, k) for k in range(column.numel())]
            for pointer, column in zip(results, call.results, strict=True)
        ]

    def _loop(self, loop: Loop, known: list[list[str]]) -> list[str]:
        """Append a loop that ends where the change is small, or after TURNS."""
        block, (start,) = self.block, self.values(known)
        vector, count = self._filled(start), self._array(1)
        _store(block, count, 0, block.constant(0.0))
        label = f'turn{len(block.lines)}'
        block.lines += [f'br label %{label}', f'{label}:']
        inside = [*known, [_load(block, vector, k) for k in range(len(start))]]
        self.append(loop.calls, inside)
        better, (change,) = self.values(inside)
        change = block.emit(f'freeze double {change}')  # an ill call leaves its results undefined
        for k, value in enumerate(better):
            _store(block, vector, k, value)
        turns = block.binary('fadd', _load(block, count, 0), block.constant(1.0))
        _store(block, count, 0, turns)
        moves = block.emit(f'fcmp ogt double {change}, {block.constant(SOLVED)}')
        left = block.emit(f'fcmp olt double {turns}, {block.constant(TURNS)}')
        again = block.emit(f'and i1 {moves}, {left}')
        block.lines += [f'br i1 {again}, label %{label}, label %{label}.end', f'{label}.end:']
        # not a number at once: so was the state; later on: the iteration ran away
        lost = block.select('uno', change, change, turns, block.constant(1.0))
        one, none = block.constant(1.0), block.constant(0.0)
        self._lower_health(block.select('ogt', lost, one, none, one))
        self._lower_health(block.select('ogt', change, block.constant(ENOUGH), none, one))
        return better

    def _lower_health(self, own: str) -> None:
        before = self.health()
        smaller = self.block.select('olt', own, before, own, before)
        _store(self.block, self._health, 0, smaller)

    def _array(self, size: int) -> str:
        """Return a new array on the stack."""
        name = f'%array{len(self.arrays)}'
        self.arrays.append(f'{name} = alloca [{max(1, size)} x double], align 64')
        return name

    def _filled(self, values: list[str]) -> str:
        array = self._array(len(values))
        for k, value in enumerate(values):
            _store(self.block, array, k, value)
        return array


def _dense(outputs: list[dict[int, str]]) -> list[list[str]]:
    """Return the values of each output of a segment in order; segments have dense outputs."""
    return [[values[k] for k in range(len(values))] for values in outputs]


def _load(block: Block, array: str, k: int) -> str:
    address = block.emit(f'getelementptr inbounds double, ptr {array}, i64 {k}')
    return block.emit(f'load double, ptr {address}')


def _store(block: Block, array: str, k: int, value: str) -> None:
    address = block.emit(f'getelementptr inbounds double, ptr {array}, i64 {k}')
    block.lines.append(f'store double {value}, ptr {address}')


def _loop(name: str, nq: int, nv: int) -> str:
    limit = Block(1).constant(HEALTH_LIMIT)
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
  %ill = fcmp olt double %health, {limit}
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
