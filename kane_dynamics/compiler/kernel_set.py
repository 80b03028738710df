# SPDX-License-Identifier: Apache-2.0
"""The kernels of a compiled robot: loaded, made when they are first asked for, and counted."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from kane_dynamics.algorithms.task_space_law import TaskSpaceLaw, checked_law
from kane_dynamics.compiler.build import FORWARD, Build, build_one
from kane_dynamics.compiler.cache import CachedKernel
from kane_dynamics.compiler.generic import LargeDynamics, too_large
from kane_dynamics.compiler.graphs import inverse_dynamics as balance_graphs
from kane_dynamics.compiler.graphs.task_space import frame_effort
from kane_dynamics.compiler.graphs.trace import Tracer, function_graph
from kane_dynamics.compiler.kernel import Kernel
from kane_dynamics.compiler.kernel_names import DIRECT, IN_SINGLE, INPUTS
from kane_dynamics.compiler.llvm.kernel_spec import LARGEST_INPUT, KernelSpec
from kane_dynamics.compiler.llvm.native import Linker
from kane_dynamics.compiler.parameters import Parameters
from kane_dynamics.compiler.recipe import Recipe
from kane_dynamics.dynamics.reference import ReferenceDynamics
from kane_dynamics.dynamics.table import FUNCTIONS, ON_DEMAND
from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.robot.checks import as_names
from kane_dynamics.robot.state import checked_coordinates
from kane_dynamics.typing import Floats

_SOLVES: dict[str, Callable[..., KernelSpec]] = {
    'forward_dynamics': Tracer.forward_dynamics,
    'multipliers': Tracer.multipliers,
    'consistent_velocity': balance_graphs.consistent_velocity,
    'consistent_acceleration': balance_graphs.consistent_acceleration,
    'constrained_effort': balance_graphs.constrained_effort,
    'reference_effort': balance_graphs.reference_effort,
    'frame_effort': frame_effort,
}
Method = Callable[..., Floats]
Key = tuple[str, tuple[Any, ...]]


def graph_of(name: str) -> Callable[..., KernelSpec]:
    """Return what traces a function of the table, with its choices."""
    return _SOLVES[name] if name in _SOLVES else function_graph(name)


def checked_choices(name: str, choices: tuple[Any, ...], engine: Any) -> tuple[Any, ...]:
    """Return the choices of a function as what its graph takes."""
    if name == 'frame_effort':
        return tuple(checked_law(engine.robot, *choices))
    several = []
    for what, names in zip(('actuated', 'known')[-len(choices) :], choices, strict=True):
        several.append(None if names is None else tuple(dict.fromkeys(as_names(what, names))))
        for one in several[-1] or ():
            engine.robot.velocity_index(one)
    return tuple(several)


class KernelSet:
    """Kernels by name."""

    def __init__(
        self,
        build: Build,
        load: Parameters,
        reference: ReferenceDynamics,
        methods: Callable[[str], Method],
    ) -> None:
        self._build, self._load, self._methods = build, load, methods
        self.reference, self.linker = reference, Linker()
        self._kernels: dict[Key, Kernel] = {}
        self.calls: dict[Key, tuple[Method | None, int | None]] = {}
        for name in INPUTS:
            if name in build.kernels:
                self._kernels[name, ()] = self._loaded(name, build.kernels[name])
        if 'motion' not in build.kernels:
            calls = {name: self[name].call for name in ('mass_matrix', 'bias_force')}
            self.reference = LargeDynamics(load, reference.constraints, reference.frames, calls)

    def __contains__(self, name: str) -> bool:
        return (name, ()) in self._kernels

    def __getitem__(self, name: str) -> Kernel:
        return self._kernels[name, ()]

    @property
    def fallback_count(self) -> int:
        """Return how many states went to the reference."""
        return sum(kernel.fallback_count for kernel in set(self._kernels.values()))

    @property
    def double_precision_count(self) -> int:
        """Return how many states of batches in single precision were computed in double."""
        return sum(kernel.double_precision_count for kernel in set(self._kernels.values()))

    @property
    def instructions(self) -> dict[str, int]:
        """Return the number of operations of each kernel's graph."""
        return {
            name: kernel.instructions for (name, key), kernel in self._kernels.items() if not key
        }

    def use(self, name: str, method: Method) -> None:
        """Let a method stand for machine code of a function."""
        self.calls[name, ()] = method, None

    def method(self, name: str, choices: tuple[Any, ...]) -> tuple[Method | None, int | None]:
        """Return what computes a function and the number of its inputs; None where numpy does."""
        kernel = self.find(name, choices)
        made: tuple[Method | None, int | None] = None, None
        if kernel is not None:
            made = kernel.checked if kernel.name in DIRECT else kernel.call, kernel.count
        if all(x is None or isinstance(x, tuple) for x in choices):
            self.calls[name, choices] = made
        return made

    def find(self, name: str, choices: tuple[Any, ...] = ()) -> Kernel | None:
        """Return a kernel of the table, made where it is new; None where there is none."""
        row = FUNCTIONS[name]
        key = row.kernel, checked_choices(name, choices, self.reference) if choices else ()
        makes = row.compiled == ON_DEMAND and not too_large(self.reference.robot)
        if key not in self._kernels and makes:
            cached = build_one(self._build.recipe, graph_of(name), key[1])
            self._kernels[key] = self._loaded(*key[:1], cached, key[1])
        return self._kernels.get(key)

    def wrenches(self) -> Kernel | None:
        """Return the kernel of J' w, None where a robot is too large for it."""
        if 'external_force' not in self and not too_large(self.reference.robot):
            made = self.made(balance_graphs.external_force, self._build.recipe)
            self._kernels['external_force', ()] = made
        return self._kernels.get(('external_force', ()))

    def made(self, graph: Callable[[Tracer], KernelSpec], recipe: Recipe) -> Kernel:
        """Return the kernel of a graph by another recipe than the robot's own."""
        return self._loaded(graph.__name__, build_one(recipe, graph))

    def _loaded(self, name: str, cached: CachedKernel, key: tuple[Any, ...] = ()) -> Kernel:
        return Kernel(
            name,
            cached,
            INPUTS[name],
            self._fallback(name, key),
            self.linker,
            self._load.values,
            self._methods(DIRECT[name]) if name in DIRECT else None,
            in_single=self._build.recipe.precision == 'float32' and name in IN_SINGLE,
            code=self._build.linked(name) if name == FORWARD else (),
        )

    def _fallback(self, name: str, key: tuple[Any, ...]) -> Callable[..., Any]:
        """Return what a kernel asks where it is not sure."""
        name = DIRECT.get(name, name)
        if name not in FUNCTIONS:
            return self._no_reference
        choices = (TaskSpaceLaw(*key),) if name == 'frame_effort' else key
        return partial(self.reference.at_state, name, choices)

    def _no_reference(self, q: Floats, *_: Floats) -> Floats:
        """Say why machine code that solves nothing has no answer."""
        checked_coordinates(self.reference.robot, q)
        raise InvalidInputError(f'states must be below {LARGEST_INPUT:g} here, got q = {q}')
