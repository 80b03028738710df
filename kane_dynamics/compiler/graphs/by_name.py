# SPDX-License-Identifier: Apache-2.0
"""What traces a kernel that is compiled on demand."""

from collections.abc import Callable

from kane_dynamics.compiler.graphs import inverse_dynamics
from kane_dynamics.compiler.graphs.trace import Tracer, function_graph
from kane_dynamics.compiler.llvm.kernel_spec import KernelSpec

_GRAPHS: dict[str, Callable[..., KernelSpec]] = {
    graph.__name__: graph
    for graph in (
        Tracer.forward_dynamics,
        Tracer.multipliers,
        Tracer.row_table,
        inverse_dynamics.consistent_velocity,
        inverse_dynamics.consistent_acceleration,
        inverse_dynamics.constrained_effort,
        inverse_dynamics.reference_effort,
        inverse_dynamics.frame_effort,
        inverse_dynamics.wrench_effort,
        inverse_dynamics.external_force,
    )
}


def graph_of(name: str) -> Callable[..., KernelSpec]:
    """Return what traces a kernel, with its choices."""
    return _GRAPHS[name] if name in _GRAPHS else function_graph(name)
