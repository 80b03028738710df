# SPDX-License-Identifier: Apache-2.0
"""
Traced functions as LLVM IR for GPUs: one state a thread.

`state_function` is a function of one state. It returns the rcond of its solves as in
`llvm.module`: 0 where an input is not finite or too large. `kernel_ir` is the module of a kernel
``NAME(states, ...)`` over many: of each array a pointer and two strides, from state to state and
from entry to entry. So arrays of any layout are read and written where they lie: structure of
arrays (entry, state), where neighbouring threads read neighbouring numbers, rows of states, or one
state for all, of stride 0. Of graphs with more values than registers, some wait in an array of the
thread (`indices`). Where the rcond is below the limit, all outputs are NaN and ``ill`` counts the
state; the caller asks the reference. Outputs must not overlap inputs.
"""

from collections.abc import Iterable

from kane_dynamics.algebra import casadi as ca
from kane_dynamics.compiler.llvm.kernel_spec import KernelSpec
from kane_dynamics.compiler.llvm.limits import (
    LARGEST_INPUT,
    LARGEST_SINGLE_INPUT,
    RCOND_LIMIT,
    SINGLE_HEALTH_LIMIT,
)
from kane_dynamics.compiler.llvm.module import FunctionText, row_major_positions
from kane_dynamics.compiler.llvm.sines import sincos_definition
from kane_dynamics.compiler.llvm.straight_line import Block, append_operation
from kane_dynamics.compiler.value_graph import (
    Act,
    Graph,
    Step,
    best_order,
    graph_of,
    placed,
    register_pressure,
    slots,
)

THREADS = 128  # of a block: with 255 registers each, two blocks fit a multiprocessor
# Registers hold graphs with so many values alive at once in single precision, beside addresses and
# what the assembler begins early; of larger graphs, so many values stay in registers.
MOST_ALIVE, ROOM = 224, 200
ELEMENTS = {'float32': 'float', 'float64': 'double'}
HEALTH_LIMITS = {'float': SINGLE_HEALTH_LIMIT, 'double': RCOND_LIMIT}
_LARGEST = {'float': LARGEST_SINGLE_INPUT, 'double': LARGEST_INPUT}
# Not unrolled: the addresses of all results would wait in registers for it.
_COPY = """\
define internal void @copy(ptr %to, i64 %to.step, ptr %from, i64 %step, i64 %size) alwaysinline {{
entry:
  br label %next
next:
  %k = phi i64 [ 0, %entry ], [ %k.next, %next ]
  %from.k = mul i64 %k, %step
  %source = getelementptr {element}, ptr %from, i64 %from.k
  %to.k = mul i64 %k, %to.step
  %target = getelementptr {element}, ptr %to, i64 %to.k
  %x = load {element}, ptr %source
  store {element} %x, ptr %target
  %k.next = add i64 %k, 1
  %more = icmp slt i64 %k.next, %size
  br i1 %more, label %next, label %done, !llvm.loop !0
done:
  ret void
}}
"""
_KERNEL = """\
@nan = internal constant {element} {nan}
define ptx_kernel void @{name}(i64 %states, {arguments},
    ptr noalias writeonly %rcond, ptr noalias %ill) {{
  {thread}
  {rows}
  %own = call {element} @{name}_state({passed})
  %rcond.at = getelementptr {element}, ptr %rcond, i64 %thread
  store {element} %own, ptr %rcond.at
  %sound = fcmp oge {element} %own, {limit}
  br i1 %sound, label %end, label %ill.state
ill.state:
  {lost}
  %before = atomicrmw add ptr %ill, i32 1 monotonic
  br label %end
end:
  ret void
}}
"""
# Blocks enough to take all registers: the assembler would rather spill a few bytes than take one
# register more than lets four, or six, blocks run at once.
_METADATA = """\
!0 = distinct !{{!0, !1}}
!1 = !{{!"llvm.loop.unroll.disable"}}
!nvvm.annotations = !{{!2}}
!2 = !{{ptr @{name}, !"maxntidx", i32 {threads}, !"minctasm", i32 2}}
"""


Stores = dict[int | None, list[tuple[str, int]]]
"""Where values are stored: arrays and entries."""


def _arrays(spec: KernelSpec) -> dict[str, str]:
    """Return the names of the arrays of a kernel, in its order, and what it does with each."""
    return {x: 'writeonly' if x.startswith('out') else 'readonly' for x in spec.arrays}


def kernel_ir(spec: KernelSpec, element: str) -> str:
    """Return the module of a kernel over states, of 'float' or 'double'."""
    parts = [state_function(spec, element, by_strides=True), _kernel(spec, element)]
    return gpu_module(spec.name, parts, element)


def gpu_module(kernel: str, parts: Iterable[FunctionText], element: str) -> str:
    """Return the module of a kernel and the functions that it calls."""
    parts = [sincos_definition(1, element), *parts]
    declared = {f'declare i32 @llvm.nvvm.read.ptx.sreg.{x}.x()' for x in ('tid', 'ctaid')}
    declared = declared.union(*(names for _, names in parts))
    texts = [*sorted(declared), _COPY.format(element=element), *[text for text, _ in parts]]
    return '\n'.join([*texts, _METADATA.format(name=kernel, threads=THREADS)])


def thread_number(count: str) -> list[str]:
    """Return the code of ``%thread``; goes on at ``begin`` below a count, else at ``end``."""
    return [
        '%lane = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()',
        '%block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()',
        *('%lane.wide = zext i32 %lane to i64', '%block.wide = zext i32 %block to i64'),
        f'%block.first = mul i64 %block.wide, {THREADS}',
        '%thread = add i64 %block.first, %lane.wide',
        f'%within = icmp slt i64 %thread, {count}',
        *('br i1 %within, label %begin, label %end', 'begin:'),
    ]


def row(array: str, element: str, number: str) -> list[str]:
    """Return the code of ``%ARRAY.at`` and of the wide ``%ARRAY.step``: the row of a number."""
    return [
        f'%{array}.offset = mul i64 {number}, %{array}.state',
        f'%{array}.at = getelementptr {element}, ptr %{array}, i64 %{array}.offset',
        f'%{array}.step = sext i32 %{array}.entry to i64',
    ]


def _kernel(spec: KernelSpec, element: str) -> FunctionText:
    """Return the kernel, which calls the function of one state."""
    constant, kinds = Block(1, element).constant, _arrays(spec)
    text = _KERNEL.format(
        name=spec.name,
        element=element,
        nan=constant(float('nan')),
        limit=constant(HEALTH_LIMITS[element]),
        arguments=', '.join(
            f'ptr noalias {kind} %{name}, i64 %{name}.state, i32 %{name}.entry'
            for name, kind in kinds.items()
        ),
        thread='\n  '.join(thread_number('%states')),
        rows='\n  '.join(line for name in kinds for line in row(name, element, '%thread')),
        passed=', '.join(f'ptr %{name}.at, i64 %{name}.step' for name in kinds),
        lost='\n  '.join(
            f'call void @copy(ptr %out{o}.at, i64 %out{o}.step, ptr @nan, i64 0, i64 {size})'
            for o, size in enumerate(spec.output_sizes)
            if size
        ),
    )
    return text, set()


def state_function(spec: KernelSpec, element: str, *, by_strides: bool) -> FunctionText:
    """Return ``NAME_state``, with strides of entries, or ``NAME``, one copy of arrays in a row."""
    writer = _StateWriter(spec, element, by_strides)
    lines = '\n  '.join(writer.lines())
    strides = ', i64 %{0}.step' if by_strides else ''
    arguments = [
        f'ptr noalias {kind} %{name}.at{strides.format(name)}'
        for name, kind in _arrays(spec).items()
    ]
    name, copies = f'{spec.name}_state', 'alwaysinline'
    if not by_strides:
        name, copies = spec.name, 'noinline'
    head = f'define internal {element} @{name}({", ".join(arguments)}) {copies}'
    return f'{head} {{\n  {lines}\n}}\n', writer.block.declarations


class _StateWriter:
    """The code of one state: inputs are read where they are used, results stored at once."""

    def __init__(self, spec: KernelSpec, element: str, by_strides: bool) -> None:
        self.block = Block(1, element)
        self._spec, self._by_strides = spec, by_strides
        self._graph: Graph = graph_of(spec.function)
        self._names: dict[int, str] = {}
        self._read: set[tuple[int, int]] = set()
        self._squares = self.block.constant(0.0)

    def lines(self) -> list[str]:
        """Return the code."""
        block, steps, stores = self.block, self._steps(), self._stores()
        if slots(steps):
            block.lines.append(f'%kept = alloca [{slots(steps)} x {block.type}]')
        for step in steps:
            self._take(step, stores)
        for i, size in enumerate(self._spec.input_sizes):  # NaN in is NaN out, used or not
            for k in range(size):
                if (i, k) not in self._read:
                    self._load(i, k)
        zero, largest = block.constant(0.0), block.constant(_LARGEST[block.element] ** 2)
        for place in stores.get(None, ()):
            self._store(*place, zero)
        (rcond,) = self._graph.outputs[-1].values()
        local = block.select('ole', self._squares, largest, self._names[rcond], zero)
        return [*block.lines, f'ret {block.type} {local}']

    def _steps(self) -> list[Step]:
        order = best_order(self._graph)
        fits = register_pressure(self._graph, order) <= MOST_ALIVE
        return placed(self._graph, order, len(order) if fits else ROOM)

    def _take(self, step: Step, stores: Stores) -> None:
        block = self.block
        if step.act is Act.COMPUTE:
            self._names[step.number] = self._computed(step.number)
            for place in stores.get(step.number, ()):
                self._store(*place, self._names[step.number])
            return
        name = self._names[step.number]
        slot = block.emit(f'getelementptr {block.type}, ptr %kept, i64 {step.slot}')
        # volatile: the compiler would turn the array into registers again
        if step.act is Act.KEEP:
            block.lines.append(f'store volatile {block.type} {name}, ptr {slot}')
        else:
            code = f'load volatile {block.type}, ptr {slot}'
            self._names[step.number] = block.copy(code, name)

    def _computed(self, number: int) -> str:
        value = self._graph.values[number]
        if value.operation == ca.OP_CONST:
            return self.block.constant(value.constant)
        if value.operation == ca.OP_INPUT:
            return self._load(*value.place)
        a, b = [*(self._names[source] for source in value.sources), ''][:2]
        return append_operation(self.block, value.operation, a, b)

    def _address(self, array: str, k: int) -> str:
        offset = str(k)
        if self._by_strides:
            offset = self.block.emit(f'mul i64 {k}, %{array}.step')
        return self.block.emit(f'getelementptr {self.block.type}, ptr %{array}.at, i64 {offset}')

    def _load(self, i: int, k: int) -> str:
        block, is_state = self.block, i < len(self._spec.input_sizes)
        address = self._address(f'in{i}' if is_state else 'parameters', k)
        value = block.emit(f'load {block.type}, ptr {address}')
        if is_state:
            self._read.add((i, k))
            square = block.arithmetic('fmul', value, value)
            self._squares = block.arithmetic('fadd', self._squares, square)
        return value

    def _store(self, array: str, k: int, value: str) -> None:
        address = self._address(array, k)
        self.block.lines.append(f'store {self.block.type} {value}, ptr {address}')

    def _stores(self) -> Stores:
        """Return where each value is stored, and what is zero by structure, as that of None."""
        stores: Stores = {}
        for o, size in enumerate(self._spec.output_sizes):
            positions = row_major_positions(self._spec.function, o)
            values = {positions[k]: number for k, number in self._graph.outputs[o].items()}
            for k in range(size):
                stores.setdefault(values.get(k), []).append((f'out{o}', k))
        return stores
