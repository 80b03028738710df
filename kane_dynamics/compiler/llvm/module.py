# SPDX-License-Identifier: Apache-2.0
"""
LLVM modules of one kernel: single states with an entry for Python, and batches.

Exported functions, with a pointer for each input, one for the parameters, one for each output:

- ``NAME``: one state. Returns the health of its solves: the smallest pivot relative to the
  diagonal it came from, 1 where nothing is solved; 0 where an input is NaN, used or not, or
  larger than LARGEST_INPUT, so that NaN in is NaN out. Writes no output where that is below
  RCOND_LIMIT, or NaN: what is not known to be sound is not.
- ``NAME_batch``: states ``begin`` to ``end`` of row-major arrays, several at once in vector lanes,
  all with the same parameters; writes the health of each state.
- ``NAME_single_batch``: like ``NAME_batch`` on float32, where asked for; see `single_text`.
- ``NAME_entry``: a CPython function (vectorcall convention) on float64 arrays of exactly the right
  shape, C-contiguous and aligned. Everything else is passed on to a Python function that checks,
  converts, runs batches and raises the named errors.
"""

from collections.abc import Callable, Iterable
from dataclasses import replace

from kane_dynamics.algebra import casadi as ca
from kane_dynamics.compiler.llvm.entry_code import entry_text
from kane_dynamics.compiler.llvm.graph_code import append_graph
from kane_dynamics.compiler.llvm.kernel_spec import (
    KernelSpec,
    LoopSpec,
    RoutineSpec,
    Spec,
    straight_part,
)
from kane_dynamics.compiler.llvm.limits import LARGEST_INPUT, LARGEST_SINGLE_INPUT, RCOND_LIMIT
from kane_dynamics.compiler.llvm.loop_code import loop_text
from kane_dynamics.compiler.llvm.native import bodies_at_once, vector_lanes
from kane_dynamics.compiler.llvm.routine import Routine
from kane_dynamics.compiler.llvm.rows import SIZES, load_parameter, load_rows, store_rows
from kane_dynamics.compiler.llvm.sines import sincos_definition
from kane_dynamics.compiler.llvm.straight_line import Block
from kane_dynamics.compiler.value_graph import Graph, best_order

FunctionText = tuple[str, set[str]]


def kernel_ir(spec: Spec, lanes: int | None = None) -> str:
    """Return the LLVM IR of a kernel, for this processor where no lanes are given."""
    lanes = lanes or vector_lanes()
    clock = isinstance(spec, KernelSpec) and spec.clock
    return joined([*_one_state(spec, lanes), (entry_text(spec, clock=clock), set())])


def batch_ir(spec: Spec, single: KernelSpec | None = None, lanes: int | None = None) -> str:
    """Return the LLVM IR of the batches of a kernel, which call its function of one state."""
    lanes = lanes or vector_lanes()
    parts = [_batch(spec, lanes), sincos_definition(lanes)]
    if isinstance(spec, LoopSpec):
        parts.append(loop_text(spec, lanes, lanes))
    elif (quick := straight_part(spec)) is not None:
        parts.append(kernel_text(quick, lanes))
    if single is not None:
        parts += single_text(replace(single, name=spec.name), 2 * lanes)
    return joined(parts)


def _one_state(spec: Spec, lanes: int) -> list[FunctionText]:
    """Return the functions of one state."""
    parts = list(single_parts([spec], lanes).values())
    return parts + [sincos_definition(width) for width in sorted({1, bodies_at_once(lanes)})]


def joined(parts: Iterable[FunctionText]) -> str:
    """Return the LLVM IR of some functions, after what they declare."""
    parts = list(parts)
    declarations = set[str]().union(*(declared for _, declared in parts))
    return '\n'.join([*sorted(declarations), *(text for text, _ in parts)])


def single_parts(specs: Iterable[Spec], width: int) -> dict[str, FunctionText]:
    """Return the functions of one state of some kernels and of what belongs to them, by name."""
    parts: dict[str, FunctionText] = {}
    for spec in specs:
        if isinstance(spec, RoutineSpec):
            local = [*spec.callees, *([spec.quick] if spec.quick else [])]
            for name, (text, declared) in single_parts(local, width).items():
                hidden = text.replace(
                    f'define double @{name}(', f'define internal double @{name}('
                )
                parts[name] = hidden, declared
            parts |= spec.parts()
        elif isinstance(spec, LoopSpec):
            parts[spec.name] = loop_text(spec, 1, width)
        else:
            parts[spec.name] = kernel_text(spec, 1, width=bodies_at_once(width))
    return parts


def core_text(spec: Spec, lanes: int) -> str:
    """Return LLVM IR of the function of one state alone, hidden in its library."""
    head = f'double @{spec.name}('
    return joined(
        (text.replace(f'define {head}', f'define hidden {head}'), more)
        for text, more in _one_state(spec, lanes)
    )


def kernel_text(
    spec: KernelSpec, lanes: int, element: str = 'double', width: int = 1
) -> tuple[str, set[str]]:
    """Return the straight-line function of one state, or of one state in each lane."""
    single = element == 'float'
    name = spec.name if lanes == 1 else f'{spec.name}_{"single_" * single}lanes'
    # both only in single precision: of doubles they made one robot faster and another slower
    block = Block(lanes, element, f'{name}_numbers' if single else '', width)
    inputs = [load_rows(block, f'%in{i}', size) for i, size in enumerate(spec.input_sizes)]
    parameters = [load_parameter(block, k) for k in range(spec.parameters)]
    outputs, rcond = values_of(block, spec, inputs, parameters, best_order if single else None)
    # stores come last, so that an output array may be one of the inputs, and only where the solve
    # is sound, so that the reference still finds its inputs
    if lanes == 1:
        ill = block.emit(f'fcmp ult double {rcond}, {block.constant(RCOND_LIMIT)}')
        block.lines += [f'br i1 {ill}, label %done, label %store', 'store:']
    for o, values in enumerate(outputs):
        store_rows(block, f'%out{o}', values)
    if lanes == 1:
        block.lines += ['br label %done', 'done:']
    linkage = '' if lanes == 1 else 'internal '
    attributes = (
        'noinline ' if lanes == 1 else f'"prefer-vector-width"="{8 * SIZES[element] * lanes}" '
    )
    table, code = block.with_table()
    lines = '\n  '.join([*code, f'ret {block.type} {rcond}'])
    text = f'define {linkage}{block.type} @{name}({spec.pointers}) {attributes}{{\n  {lines}\n}}\n'
    return table + text, block.declarations


def values_of(
    block: Block,
    spec: KernelSpec,
    inputs: list[list[str]],
    parameters: list[str],
    order_of: Callable[[Graph], Iterable[int]] | None = None,
) -> tuple[list[list[str]], str]:
    """Append a kernel's graph; return the entries of its outputs, and the rcond."""
    squares, zero = sum_of_squares(block, inputs), block.constant(0.0)
    *outputs, rcond = append_graph(block, spec.function, [*inputs, parameters], order_of)
    dense = []
    for o, (values, size) in enumerate(zip(outputs, spec.output_sizes, strict=True)):
        positions = row_major_positions(spec.function, o)
        entries = dict.fromkeys(range(size), zero) | {positions[k]: x for k, x in values.items()}
        dense.append([entries[k] for k in range(size)])
    # false for NaN in any input, used or not, and before sines of large angles lose digits
    most = LARGEST_SINGLE_INPUT if block.element == 'float' else LARGEST_INPUT
    return dense, block.select('ole', squares, block.constant(most**2), rcond[0], zero)


def sum_of_squares(block: Block, inputs: list[list[str]]) -> str:
    """Append the sum of squares of all inputs."""
    if block.lanes > 1:
        return _added(block, [block.arithmetic('fmul', x, x) for part in inputs for x in part])
    # four at once, from loads that lie side by side; the last ones once more where an array ends
    four = Block(4, lines=block.lines)
    vectors = [
        four.packed(part[max(0, min(k, len(part) - 4)) :][:4])
        for part in inputs
        for k in range(0, len(part), 4)
    ]
    total = _added(four, [four.arithmetic('fmul', x, x) for x in vectors])
    parts = [block.emit(f'extractelement {four.type} {total}, i32 {k}') for k in range(4)]
    return _added(block, parts)


def _added(block: Block, values: list[str]) -> str:
    """Append the sum in two chains, which need not wait for each other."""
    zero = block.constant(0.0)
    chains = [*values[:2], zero, zero][:2]
    for k, value in enumerate(values[2:]):
        chains[k % 2] = block.arithmetic('fadd', chains[k % 2], value)
    return block.arithmetic('fadd', *chains)


def row_major_positions(function: ca.Function, output: int) -> list[int]:
    """Return where each nonzero of an output (column major) stands in row-major order."""
    sparsity = function.sparsity_out(output)
    rows, columns = sparsity.row(), sparsity.get_col()
    width = sparsity.size2()
    return [row * width + column for row, column in zip(rows, columns, strict=True)]


def single_text(spec: KernelSpec, lanes: int) -> list[FunctionText]:
    """
    Return the functions of a kernel in single precision: its batches, on arrays of floats.

    All states run in vector lanes. Those after the last whole vector run in a vector of their own,
    from a copy, so a state gives the same bits at any place of any batch. The parameters stay
    doubles.
    """
    kernel, sines = kernel_text(spec, lanes, 'float'), sincos_definition(lanes, 'float')
    outputs = [(f'out{o}', size) for o, size in enumerate(spec.output_sizes)] + [('health', 1)]
    inputs = [(f'in{i}', size) for i, size in enumerate(spec.input_sizes)]
    lines = [f'{x}_part = empty({size} * LANES)' for x, size in inputs + outputs]
    for x, size in inputs:  # the last number again and again where there is no state
        lines.append(f'for i in range({size} * LANES):')
        lines.append(f'    {x}_part[i] = {x}[{size} * k + min(i, {size} * (end - k) - 1)]')
    names = [*(f'{x}_part' for x, _ in inputs), 'parameters', *(f'{x}_part' for x, _ in outputs)]
    lines.append(f'health_part[:] = several({", ".join(names[:-1])})')
    for x, size in outputs:
        lines.append(f'for i in range({size} * (end - k)):')
        lines.append(f'    {x}[{size} * k + i] = {x}_part[i]')
    inside = '\n        '.join(lines)
    left = f"""
    k = begin + LANES * whole
    if k < end:
        {inside}
"""
    several = f'{Block(lanes, "float").type} @{spec.name}_single_lanes'
    return [kernel, sines, _loop(spec, 'single_batch', lanes, {'several': several}, left=left)]


def _batch(spec: Spec, lanes: int) -> FunctionText:
    """Return the loops over states: whole vectors first, then what is left one by one."""
    quick, again = straight_part(spec), ''
    names = {'one': f'@{spec.name}'}
    if not isinstance(spec, RoutineSpec) or quick:
        names['several'] = (
            f'{Block(lanes).type} @{spec.name if quick is None else quick.name}_lanes'
        )
    if isinstance(spec, RoutineSpec):  # states keep their bits, whoever their neighbours are
        again = f"""
        for i in range(k, k + LANES):
            if not health[i] >= LIMIT:
                health[i] = one({_rows(spec, 'i')})"""
    left = f"""
    for k in range(begin + LANES * whole, end):
        health[k] = one({_rows(spec, 'k')})
"""
    return _loop(spec, 'batch', lanes, names, again, left)


def _loop(
    spec: Spec, name: str, lanes: int, names: dict[str, str], again: str = '', left: str = ''
) -> FunctionText:
    """Return a loop over states by whole vectors, and what is done with those that are left."""
    several = f"""
    for g in range(whole):
        k = begin + LANES * g
        health[k:] = several({_rows(spec, 'k')}){again}"""
    several = several * ('several' in names)
    text = f"""
def batch({', '.join(f'{x}: Array' for x in [*spec.arrays, 'health'])}, begin: int, end: int):
    whole = {'(end - begin) // LANES' if several else 0}{several}{left}
"""
    constants = {'LANES': lanes, 'LIMIT': RCOND_LIMIT}
    element = 'double' if name == 'batch' else 'float'
    made = Routine(text, constants, names, names.keys() & {'one'}, element=element)
    return made.text(f'@{spec.name}_{name}', linkage=''), made.declarations


def _rows(spec: Spec, k: str) -> str:
    return ', '.join(f'{name}[{size} * {k} :]' for name, size in spec.arrays.items())
