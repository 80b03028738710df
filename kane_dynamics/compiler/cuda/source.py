# SPDX-License-Identifier: Apache-2.0
"""
Traced functions as CUDA C: one state a thread.

``NAME_one`` is a function of one state: of each array a pointer and a stride from entry to entry.
It returns the health of its solves as in `llvm.module`: 0 where an input is not finite or too
large. ``NAME(states, ...)`` is the kernel: of each array a pointer and two strides, from state to
state and from entry to entry. So arrays of any layout are read and written where they lie:
structure of arrays (entry, state), where neighbouring threads read neighbouring numbers, rows of
states, or one state for all, of stride 0. Of graphs with more values than registers, some wait in
an array of the thread (`indices`). Where the health is below the limit, all outputs are
NaN and ``ill`` counts the state; the caller asks the reference. Outputs must not overlap inputs.
"""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca

from kane_dynamics.compiler.cuda.block import CudaBlock
from kane_dynamics.compiler.llvm.kernel_spec import KernelSpec
from kane_dynamics.compiler.llvm.module import row_major_positions
from kane_dynamics.compiler.llvm.straight_line import append_operation
from kane_dynamics.compiler.scheduling import best_order, register_pressure
from kane_dynamics.compiler.spilling import Act, Step, placed, slots
from kane_dynamics.compiler.value_graph import Graph, graph_of

THREADS = 128  # of a block: with 255 registers each, two blocks fit a multiprocessor
# Registers hold graphs with so many values alive at once in single precision, beside addresses and
# what the assembler begins early; of larger graphs, so many values stay in registers.
MOST_ALIVE, ROOM = 224, 200
PARAMETERS = 'parameters'
KEPT = 'kept'


def input_names(spec: KernelSpec) -> list[str]:
    """Return the names of the arrays that a kernel reads, in its order."""
    return [*[f'in{i}' for i in range(len(spec.input_sizes))], PARAMETERS]


def output_names(spec: KernelSpec) -> list[str]:
    """Return the names of the arrays that a kernel writes, in its order."""
    return [f'out{o}' for o in range(len(spec.output_sizes))]


def one_text(spec: KernelSpec, inline: bool) -> str:
    """Return the function of one state, a copy for each caller or one for all."""
    lines = _Writer(spec).lines()
    arguments = [f'const real* __restrict__ {a}, const int {a}_entry' for a in input_names(spec)]
    arguments += [f'real* __restrict__ {a}, const int {a}_entry' for a in output_names(spec)]
    kind = '__forceinline__' if inline else '__noinline__'
    body = '\n  '.join(lines)
    return (
        f'static __device__ {kind} real {spec.name}_one({", ".join(arguments)})\n'
        f'{{\n  {body}\n}}\n'
    )


def kernel_text(spec: KernelSpec) -> str:
    """Return the kernel over all states, which calls the function of one."""
    names = [*input_names(spec), *output_names(spec)]
    read = set(input_names(spec))
    arguments = ['const kd_index states'] + [
        f'{"const real" if a in read else "real"}* __restrict__ {a}, '
        f'const kd_index {a}_state, const int {a}_entry'
        for a in names
    ]
    arguments += ['real* __restrict__ health', 'unsigned* __restrict__ ill']
    passed = ', '.join(f'{a}, {a}_entry' for a in names)
    lost = [
        # not unrolled: the addresses of all results would wait in registers for it
        f'#pragma unroll 1\n  for (int k = 0; k < {size}; k++) '
        f'{a}[k * kd_index({a}_entry)] = KD_NAN;'
        for a, size in zip(output_names(spec), spec.output_sizes, strict=True)
    ]
    lines = [
        f'const kd_index state = kd_index(blockIdx.x) * {THREADS} + threadIdx.x;',
        'if (state >= states) return;',
        *[f'{a} += state * {a}_state;' for a in names],
        f'const real found = {spec.name}_one({passed});',
        'health[state] = found;',
        'if (!(found >= KD_HEALTH_LIMIT)) {',
        *lost,
        '  atomicAdd(ill, 1u);',
        '}',
    ]
    body = '\n  '.join(lines)
    return (
        f'extern "C" __global__ void __launch_bounds__({THREADS} KD_BLOCKS)\n'
        f'{spec.name}({", ".join(arguments)})\n{{\n  {body}\n}}\n'
    )


class _Writer:
    """The statements of one function: inputs are read where they are used."""

    def __init__(self, spec: KernelSpec) -> None:
        self._spec = spec
        self._graph: Graph = graph_of(spec.function)
        self._block = CudaBlock()
        self._names: dict[int, str] = {}
        self._read: set[tuple[int, int]] = set()
        self._stores = self._places()

    def lines(self) -> list[str]:
        """Return the statements."""
        steps = self._steps()
        if slots(steps):  # volatile: the compiler would turn them into registers again
            self._block.lines.append(f'volatile real {KEPT}[{slots(steps)}];')
        self._block.lines.append('real squares = real(0);')
        for step in steps:
            self._take(step)
        for i, size in enumerate(self._spec.input_sizes):  # NaN in is NaN out, used or not
            for k in range(size):
                if (i, k) not in self._read:
                    self._load(i, k)
        self._store_zeros()
        (rcond,) = self._graph.outputs[-1].values()
        sound = 'squares <= KD_LARGEST * KD_LARGEST'
        return [*self._block.lines, f'return {sound} ? {self._names[rcond]} : real(0);']

    def _steps(self) -> list[Step]:
        order = best_order(self._graph)
        fits = register_pressure(self._graph, order) <= MOST_ALIVE
        return placed(self._graph, order, len(order) if fits else ROOM)

    def _take(self, step: Step) -> None:
        place = f'{KEPT}[{step.slot}]'
        if step.act is Act.KEEP:
            self._block.lines.append(f'{place} = {self._names[step.number]};')
        elif step.act is Act.FETCH:
            self._names[step.number] = self._block.copy(place, self._names[step.number])
        else:
            self._append(step.number)

    def _append(self, number: int) -> None:
        value, block = self._graph.values[number], self._block
        if value.operation == ca.OP_CONST:
            name = block.constant(value.constant)
        elif value.operation == ca.OP_INPUT:
            name = self._load(*value.place)
        else:
            operands = [self._names[s] for s in value.sources]
            name = append_operation(block, value.operation, operands[0], ''.join(operands[1:]))
        self._names[number] = name
        for place in self._stores.get(number, ()):
            block.lines.append(f'{place} = {name};')

    def _load(self, i: int, k: int) -> str:
        array = input_names(self._spec)[i]
        name = self._block.emit(f'{array}[{k} * kd_index({array}_entry)]')
        if array != PARAMETERS:
            self._read.add((i, k))
            self._block.lines.append(f'squares += {name} * {name};')
        return name

    def _places(self) -> dict[int, list[str]]:
        """Return where each value is stored."""
        indices: dict[int, list[str]] = {}
        for o, array in enumerate(output_names(self._spec)):
            positions = row_major_positions(self._spec.function, o)
            for k, number in self._graph.outputs[o].items():
                place = f'{array}[{positions[k]} * kd_index({array}_entry)]'
                indices.setdefault(number, []).append(place)
        return indices

    def _store_zeros(self) -> None:
        """Store what is zero by structure."""
        for o, (array, size) in enumerate(
            zip(output_names(self._spec), self._spec.output_sizes, strict=True)
        ):
            positions: Sequence[int] = row_major_positions(self._spec.function, o)
            for k in sorted(set(range(size)) - set(positions)):
                self._block.lines.append(f'{array}[{k} * kd_index({array}_entry)] = real(0);')
