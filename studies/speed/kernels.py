# SPDX-License-Identifier: Apache-2.0
"""One compiled function of a robot, with what it cost to make it."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import kane_dynamics as kd
from kane_dynamics.compiler.cache import CachedKernel
from kane_dynamics.compiler.graphs.by_name import graph_of
from kane_dynamics.compiler.graphs.trace import Tracer
from kane_dynamics.compiler.kernel import Kernel
from kane_dynamics.compiler.llvm.module import kernel_ir
from kane_dynamics.compiler.llvm.native import Linker, compile_object


@dataclass(frozen=True)
class OneFunction:
    """
    A compiled function and its costs.

    Parameters
    ----------
    call : callable or None
        As the method of `kane_dynamics.CompiledDynamics`; None where it was too large.
    operations : int
        Of the graph.
    trace_time, compile_time : float
        Processor time [s].
    code_size : int
        Of the object file [bytes].

    """

    call: Callable[..., Any] | None
    operations: int
    trace_time: float
    compile_time: float = 0.0
    code_size: int = 0


def one_function(
    robot: kd.Robot, name: str, inputs: Sequence[str], most_operations: float = float('inf')
) -> OneFunction:
    """Trace and compile one function without constraints and without the cache."""
    start = time.process_time()
    spec = graph_of(name)(Tracer(robot, (), ()))
    operations = spec.function.n_instructions()
    traced = time.process_time()
    if operations > most_operations:
        return OneFunction(None, operations, traced - start)
    code = compile_object(kernel_ir(spec))
    compiled = time.process_time()
    cached = CachedKernel(code, spec.input_sizes, spec.output_shapes, operations)
    function = getattr(kd, name)
    kernel = Kernel(
        name, cached, inputs, lambda *x: function(robot, *x), Linker(), batches=lambda: cached
    )
    return OneFunction(kernel.call, operations, traced - start, compiled - traced, len(code))
