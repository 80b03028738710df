# SPDX-License-Identifier: Apache-2.0
"""
LLVM code of one recorded step, of one state or of several in vector lanes.

``NAME_once(q, v, tau, th, q_end, v_end, rank_end, parameters)`` returns the smallest rcond of its
calls. In lanes, entry k of every array is a vector with one state in each lane, and rcond is one
too. Where asked for, it is 0 where a state ends beyond all bounds. Lanes do not touch each other:
a loop goes on until each lane is done, and those that were done before keep what they had.
"""

from collections.abc import Mapping, Sequence

from kane_dynamics.compiler.graphs.step_graphs import Call, Loop, Program
from kane_dynamics.compiler.llvm.graph_code import append_graph
from kane_dynamics.compiler.llvm.kernel_spec import KernelSpec, Spec
from kane_dynamics.compiler.llvm.limits import SINGLE_HEALTH_LIMIT
from kane_dynamics.compiler.llvm.module import values_of
from kane_dynamics.compiler.llvm.straight_line import Block
from kane_dynamics.simulation.integrators import ENOUGH, SOLVED
from kane_dynamics.simulation.step_checks import LARGEST

Callees = Mapping[str, Spec]
TURNS = 40  # of a loop: a step that gains less than a digit in two turns is the reference's
_ENDS = ('%q_end', '%v_end', '%rank_end')


def step_text(
    name: str,
    program: Program,
    callees: Callees,
    lanes: int,
    element: str = 'double',
    bounded: bool = True,
) -> tuple[str, set[str]]:
    """Return the function of one step, and what it declares; rcond 0 beyond all bounds."""
    step = _Step(program, callees, Block(lanes, element))
    block = step.block
    arrays = ('%in0', '%in1', '%in2', '%in3', '%parameters')
    known = [
        [load(block, array, k) for k in range(column.numel())]
        for array, column in zip(arrays, program.inputs, strict=True)
    ]
    step.append(program.calls, known)
    ends = step.values(known)
    for array, values in zip(_ENDS, ends, strict=True):
        for k, value in enumerate(values):
            store(block, array, k, value)
    if bounded:
        step.bound([*ends[0], *ends[1]])
    passed = ', '.join(f'ptr {array}' for array in (*arrays[:4], *_ENDS, '%parameters'))
    rcond = step.rcond()
    lines = '\n  '.join([*step.arrays, *block.lines, f'ret {block.type} {rcond}'])
    width = '' if lanes == 1 else f'"prefer-vector-width"="{64 * lanes}" '
    text = f'define internal {block.type} @{name}_once({passed}) {width}{{\n  {lines}\n}}\n'
    return text, block.declarations


def side_by_side_text(
    spec: KernelSpec, lanes: int, *, in_single: bool = False
) -> tuple[str, set[str]]:
    """Return ``NAME_side``, a kernel whose arrays hold vectors with one state in each lane."""
    block = Block(lanes, 'float' if in_single else 'double')
    inputs = [
        [_read(block, f'%in{i}', k) for k in range(size)]
        for i, size in enumerate(spec.input_sizes)
    ]
    parameters = [_read(block, '%parameters', k) for k in range(spec.parameters)]
    outputs, rcond = values_of(block, spec, inputs, parameters)
    if in_single:  # not a number is ill too
        least = block.constant(SINGLE_HEALTH_LIMIT)
        rcond = block.select('oge', rcond, least, rcond, block.constant(0.0))
    for o, values in enumerate(outputs):
        for k, value in enumerate(values):
            _write(block, f'%out{o}', k, value)
    rcond, wide = _as_double(block, rcond), Block(lanes)
    lines = '\n  '.join([*block.lines, f'ret {wide.type} {rcond}'])
    how = f'noinline "prefer-vector-width"="{64 * lanes}" '
    text = (
        f'define internal {wide.type} @{spec.name}_side({spec.pointers}) {how}{{\n  {lines}\n}}\n'
    )
    return text, block.declarations


def _read(block: Block, array: str, k: int) -> str:
    """Append the value of entry k of an array of doubles."""
    address = _address(block, array, k, 'double')
    value = block.emit(f'load {Block(block.lanes).type}, ptr {address}{_aligned(block)}')
    if block.element == 'double':
        return value
    return block.emit(f'fptrunc {Block(block.lanes).type} {value} to {block.type}')


def _write(block: Block, array: str, k: int, value: str) -> None:
    """Append that entry k of an array of doubles becomes a value."""
    wide, address = _as_double(block, value), _address(block, array, k, 'double')
    block.lines.append(f'store {Block(block.lanes).type} {wide}, ptr {address}{_aligned(block)}')


def _as_double(block: Block, value: str) -> str:
    if block.element == 'double':
        return value
    return block.emit(f'fpext {block.type} {value} to {Block(block.lanes).type}')


class _Step:
    """Code of one step under construction: arrays on the stack first, then the block."""

    def __init__(self, program: Program, callees: Callees, block: Block) -> None:
        self.block, self._segments = block, program.segments()
        self.arrays: list[str] = []
        self._callees, self._shared = callees, dict[tuple[int, int], str]()
        self._going: str | None = None  # inside a loop: the array that says which lanes are
        self._health = self._array(1)
        store(self.block, self._health, 0, self.block.constant(1.0))

    def values(self, known: list[list[str]]) -> list[list[str]]:
        """Append the next segment and return its outputs, which are dense, in order."""
        outputs = append_graph(self.block, next(self._segments), known)
        return [[values[k] for k in range(len(values))] for values in outputs]

    def append(self, calls: Sequence[Call | Loop], known: list[list[str]]) -> None:
        """Append calls and loops, and their results to what is known."""
        for call in calls:
            if isinstance(call, Loop):
                known.append(self._loop(call, known))
            else:
                known += self._call(call, known)

    def rcond(self) -> str:
        """Return the smallest health so far."""
        return load(self.block, self._health, 0)

    def bound(self, values: list[str]) -> None:
        """Lower the health to 0 where a value is beyond all bounds, or none."""
        block, one, zero = self.block, self.block.constant(1.0), self.block.constant(0.0)
        limit = block.constant(LARGEST)
        for value in values:
            size = block.intrinsic('fabs', value)
            self._lower_health(block.select('olt', size, limit, one, zero))

    def _call(self, call: Call, known: list[list[str]]) -> list[list[str]]:
        spec, block = self._callees[call.kernel], self.block
        arguments = self.values(known)[: len(spec.input_sizes)]
        sizes = [*map(len, arguments), *spec.output_sizes]
        arrays = [self._shared_array(k, size) for k, size in enumerate(sizes)]
        pointers, results = arrays[: len(arguments)], arrays[len(arguments) :]
        for pointer, values in zip(pointers, arguments, strict=True):
            self._fill(pointer, values)
        passed = ', '.join(f'ptr {p}' for p in [*pointers, '%parameters', *results])
        function = spec.name if block.lanes == 1 else f'{spec.name}_side'
        self._lower_health(block.emit(f'call {block.type} @{function}({passed})'))
        return [
            [load(block, pointer, k) for k in range(column.numel())]
            for pointer, column in zip(results, call.results, strict=True)
        ]

    def _loop(self, loop: Loop, known: list[list[str]]) -> list[str]:
        """Append a loop that ends where the change is small, or after TURNS."""
        block, (start,) = self.block, self.values(known)
        one, none = block.constant(1.0), block.constant(0.0)
        vector, count, last, going = (self._array(size) for size in (len(start), 1, 1, 1))
        self._fill(vector, start)
        for array, value in ((count, none), (last, none), (going, one)):
            store(block, array, 0, value)
        label, self._going = f'turn{len(block.lines)}', going
        block.lines += [f'br label %{label}', f'{label}:']
        before = [load(block, vector, k) for k in range(len(start))]
        inside = [*known, before]
        self.append(loop.calls, inside)
        better, (change,) = self.values(inside)
        # an ill call leaves its results undefined
        change = block.emit(f'freeze {block.type} {change}')
        on = load(block, going, 0)
        for k, (old, new) in enumerate(zip(before, better, strict=True)):
            store(block, vector, k, block.select('ogt', on, none, new, old))
        store(block, last, 0, block.select('ogt', on, none, change, load(block, last, 0)))
        turns = block.binary('fadd', load(block, count, 0), on)
        store(block, count, 0, turns)
        moves = block.select('ogt', change, block.constant(SOLVED), on, none)
        again = block.select('olt', turns, block.constant(TURNS), moves, none)
        store(block, going, 0, again)
        any_lane = any_of(block, block.emit(f'fcmp ogt {block.type} {again}, {none}'))
        block.lines += [f'br i1 {any_lane}, label %{label}, label %{label}.end', f'{label}.end:']
        self._going = None
        change, turns = load(block, last, 0), load(block, count, 0)
        # not a number at once: so was the state; later on: the iteration ran away
        lost = block.select('uno', change, change, turns, one)
        self._lower_health(block.select('ogt', lost, one, none, one))
        self._lower_health(block.select('ogt', change, block.constant(ENOUGH), none, one))
        return [load(block, vector, k) for k in range(len(start))]

    def _lower_health(self, local: str) -> None:
        block, before = self.block, self.rcond()
        local = block.select('uno', local, local, block.constant(0.0), local)
        smaller = block.select('olt', local, before, local, before)
        if self._going is not None and block.lanes > 1:
            on = load(block, self._going, 0)
            smaller = block.select('ogt', on, block.constant(0.0), smaller, before)
        store(block, self._health, 0, smaller)

    def _array(self, size: int) -> str:
        """Return a new array on the stack."""
        name = f'%array{len(self.arrays)}'
        self.arrays.append(f'{name} = alloca [{max(1, size)} x {self.block.type}], align 64')
        return name

    def _shared_array(self, k: int, size: int) -> str:
        """Return array k of a call, which other calls use too: results are read at once."""
        if self.block.lanes > 1:  # rollouts of the processor were 4 % slower
            return self._array(size)
        if (k, size) not in self._shared:
            self._shared[k, size] = self._array(size)
        return self._shared[k, size]

    def _fill(self, array: str, values: list[str]) -> None:
        for k, value in enumerate(values):
            store(self.block, array, k, value)


def any_of(block: Block, truth: str) -> str:
    """Append whether a comparison holds in any lane."""
    if block.lanes == 1:
        return truth
    function = f'@llvm.vector.reduce.or.v{block.lanes}i1'
    block.declarations.add(f'declare i1 {function}({block.truth})')
    return block.emit(f'call i1 {function}({block.truth} {truth})')


def aligned(lanes: int) -> int:
    """Return where vectors of doubles begin [bytes]; larger ones fill several registers."""
    return min(8 * lanes, 64)


def load(block: Block, array: str, k: int) -> str:
    """Append the value of entry k of an array."""
    address = _address(block, array, k, block.element)
    return block.emit(f'load {block.type}, ptr {address}{_aligned(block)}')


def store(block: Block, array: str, k: int, value: str) -> None:
    """Append that entry k of an array becomes a value."""
    address = _address(block, array, k, block.element)
    block.lines.append(f'store {block.type} {value}, ptr {address}{_aligned(block)}')


def _address(block: Block, array: str, k: int, element: str) -> str:
    return block.emit(f'getelementptr inbounds {element}, ptr {array}, i64 {k * block.lanes}')


def _aligned(block: Block) -> str:
    return '' if block.lanes == 1 else f', align {aligned(block.lanes)}'
