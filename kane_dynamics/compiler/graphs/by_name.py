# SPDX-License-Identifier: Apache-2.0
"""What traces a kernel that is compiled on demand."""

from collections.abc import Callable

from kane_dynamics.compiler.graphs import inverse_dynamics, limited_effort
from kane_dynamics.compiler.graphs.trace import Tracer, function_graph
from kane_dynamics.compiler.llvm.kernel_spec import Spec

_GRAPHS: dict[str, Callable[..., Spec]] = {
    graph.__name__: graph
    for graph in (
        Tracer.forward_dynamics,
        Tracer.multipliers,
        Tracer.row_table,
        *inverse_dynamics.SOLVES,
        inverse_dynamics.external_force,
        *limited_effort.SOLVES,
    )
}


def graph_of(name: str) -> Callable[..., Spec]:
    """Return what traces a kernel, with its choices."""
    return _GRAPHS[name] if name in _GRAPHS else function_graph(name)
