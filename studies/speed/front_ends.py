# SPDX-License-Identifier: Apache-2.0
"""
Why kernels are LLVM IR and not Python source for Numba: ``python -m studies.speed.front_ends``.

The same graph is compiled both ways, and a function that only adds its inputs is called both ways.
Needs numba, which the package itself does not.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import casadi as ca
import numba
import numpy as np
from rich.console import Console
from rich.table import Table

import kane_dynamics as kd
from kane_dynamics.compiler.cache import CachedKernel
from kane_dynamics.compiler.graphs.trace import Tracer, function_graph
from kane_dynamics.compiler.kernel import Kernel
from kane_dynamics.compiler.llvm.kernel_spec import KernelSpec
from kane_dynamics.compiler.llvm.module import kernel_ir
from kane_dynamics.compiler.llvm.native import Linker, compile_object
from studies.speed.timing import Contender, Effort, race

_INPUTS = ('q', 'v', 'a')
_BINARY = {ca.OP_ADD: '+', ca.OP_SUB: '-', ca.OP_MUL: '*', ca.OP_DIV: '/'}
_UNARY = {
    ca.OP_NEG: '-{}',
    ca.OP_SQ: '{0} * {0}',
    ca.OP_TWICE: '{0} + {0}',
    ca.OP_INV: '1.0 / {}',
    ca.OP_SIN: 'np.sin({})',
    ca.OP_COS: 'np.cos({})',
    ca.OP_ASSIGN: '{}',
}


def python_source(function: ca.Function, size: int) -> str:
    """Return a graph of q, v, a with one dense output (and a health) as Python source."""
    lines = [f'def kernel({", ".join(_INPUTS)}):', f'r = np.empty({size})']
    for k in range(function.n_instructions()):
        operation = function.instruction_id(k)
        target, source = function.instruction_output(k), function.instruction_input(k)
        if operation == ca.OP_CONST:
            lines.append(f'w{target[0]} = {function.instruction_constant(k)!r}')
        elif operation == ca.OP_INPUT:
            lines.append(f'w{target[0]} = {_INPUTS[source[0]]}[{source[1]}]')
        elif operation == ca.OP_OUTPUT:
            if target[0] == 0:
                lines.append(f'r[{target[1]}] = w{source[0]}')
        elif operation in _BINARY:
            sign = _BINARY[operation]
            lines.append(f'w{target[0]} = w{source[0]} {sign} w{source[1]}')
        else:
            code = _UNARY[operation].format(f'w{source[0]}')
            lines.append(f'w{target[0]} = {code}')
    return '\n    '.join([*lines, 'return r'])


def by_numba(spec: KernelSpec) -> tuple[Callable[..., Any], float]:
    """Return a kernel compiled from Python source, and how long that took [s]."""
    names: dict[str, Any] = {'np': np}
    exec(python_source(spec.function, spec.output_sizes[0]), names)
    start = time.process_time()
    array = numba.float64[::1]
    flags = {'contract', 'arcp', 'nsz'}
    compiled = numba.njit(array(array, array, array), fastmath=flags)(names['kernel'])
    return compiled, time.process_time() - start


def by_llvmlite(spec: KernelSpec) -> tuple[Callable[..., Any], float]:
    """Return a kernel compiled from LLVM IR, and how long that took [s]."""
    start = time.process_time()
    code = compile_object(kernel_ir(spec))
    duration = time.process_time() - start
    cached = CachedKernel(code, spec.input_sizes, spec.output_shapes, 0)
    made = Kernel(spec.name, cached, _INPUTS, lambda *x: np.nan, Linker(), batches=lambda: cached)
    return made.call, duration


def sum_of_inputs(size: int) -> KernelSpec:
    """Return q + v + a: what is left is the cost of the call."""
    q, v, a = (ca.SX.sym(name, size) for name in _INPUTS)
    function = ca.Function('total', [q, v, a], [q + v + a, ca.SX(1.0)])
    return KernelSpec('total', (size,) * 3, ((size,),), function)


def main() -> None:
    """Print compile times and call times."""
    table = Table(title='One graph, two front ends')
    for name in ('graph', 'operations', 'llvmlite s', 'numba s', 'llvmlite us', 'numba us'):
        table.add_column(name, justify='right')
    by_numba(sum_of_inputs(2))  # imports and first use
    by_llvmlite(sum_of_inputs(2))
    graphs = [('q + v + a of 9', sum_of_inputs(9))]
    for joints in (9, 50):
        spec = function_graph('inverse_dynamics')(Tracer(kd.serial_chain(joints), (), ()))
        graphs.append((f'inverse dynamics, chain of {joints}', spec))
    for name, spec in graphs:
        (ours, ours_s), (theirs, theirs_s) = by_llvmlite(spec), by_numba(spec)
        inputs = np.random.default_rng(0).uniform(-1.0, 1.0, (3, spec.input_sizes[0]))
        state = dict(zip(_INPUTS, inputs, strict=True))
        times = race(
            [
                Contender('ours', 'f(q, v, a)', {'f': ours, **state}),
                Contender('theirs', 'f(q, v, a)', {'f': theirs, **state}),
            ],
            Effort(),
        )
        table.add_row(
            name,
            str(spec.function.n_instructions()),
            f'{ours_s:.2f}',
            f'{theirs_s:.2f}',
            f'{1e6 * times["ours"].median:.3f}',
            f'{1e6 * times["theirs"].median:.3f}',
        )
    Console(width=100).print(table)


if __name__ == '__main__':
    main()
