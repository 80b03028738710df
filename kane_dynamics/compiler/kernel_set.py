# SPDX-License-Identifier: Apache-2.0
"""The kernels of a compiled robot: loaded, made when they are first asked for, and counted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

from kane_dynamics.algorithms.newton_euler import TERMS
from kane_dynamics.algorithms.task_space_law import TaskSpaceLaw, checked_law
from kane_dynamics.compiler.build import FORWARD, Build, build_one
from kane_dynamics.compiler.cache import CachedKernel
from kane_dynamics.compiler.generic import LargeDynamics, too_large
from kane_dynamics.compiler.graphs.frames import FRAME_GRAPHS
from kane_dynamics.compiler.graphs.task_space import frame_effort
from kane_dynamics.compiler.graphs.trace import Tracer
from kane_dynamics.compiler.kernel import Kernel
from kane_dynamics.compiler.kernel_names import IN_SINGLE, INPUTS
from kane_dynamics.compiler.llvm.kernel_spec import LARGEST_INPUT, KernelSpec
from kane_dynamics.compiler.llvm.native import Linker
from kane_dynamics.compiler.parameters import Parameters
from kane_dynamics.compiler.recipe import Recipe
from kane_dynamics.dynamics import Dynamics
from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.robot.checks import as_names
from kane_dynamics.robot.state import checked_coordinates
from kane_dynamics.typing import Floats

METHODS = {'forward_dynamics': 'acceleration'}  # of kernels that are methods by another name
_ON_DEMAND = {graph.__name__: graph for graph in (*FRAME_GRAPHS, Tracer.multipliers)}
_NEVER_SOLVED = (
    'balance_derivatives',
    'effort_tangent',
    'row_tangent',
    'constraint_rows',
    'row_table',
    'external_force',
    'gibbs_gradient',
    'inertial_effort',
    'coriolis_effort',
    'lagrange_terms',
)


class KernelSet:
    """
    Kernels by name.

    Parameters
    ----------
    build : Build
        Machine code.
    load : Parameters
        Gravity and payloads, which all code reads.
    reference : Dynamics
        Answers where a kernel is not sure.
    unusual : callable
        unusual(name) -> what takes the calls of a kernel that are not on plain arrays, or None.

    """

    def __init__(
        self,
        build: Build,
        load: Parameters,
        reference: Dynamics,
        unusual: Callable[[str], Callable[..., Any] | None],
    ) -> None:
        self._build, self._load, self._unusual = build, load, unusual
        self.reference, self.linker = reference, Linker()
        self._chosen: dict[tuple[Any, ...], Kernel] = {}
        self._kernels: dict[str, Kernel] = {}
        for name in INPUTS:
            if name in build.kernels:
                self._kernels[name] = self._loaded(name, build.kernels[name])
        if 'motion' not in build.kernels:
            calls = (self[name].call for name in ('mass_matrix', 'bias_force'))
            self.reference = LargeDynamics(load, reference.constraints, reference.frames, *calls)

    def __contains__(self, name: str) -> bool:
        return name in self._kernels

    def __getitem__(self, name: str) -> Kernel:
        return self._kernels[name]

    @property
    def fallback_count(self) -> int:
        """Return how many states went to the reference."""
        return sum(k.fallback_count for k in {*self._kernels.values(), *self._chosen.values()})

    @property
    def double_precision_count(self) -> int:
        """Return how many states of batches in single precision were computed in double."""
        return sum(
            k.double_precision_count for k in {*self._kernels.values(), *self._chosen.values()}
        )

    @property
    def instructions(self) -> dict[str, int]:
        """Return the number of operations of each kernel's graph."""
        return {name: kernel.instructions for name, kernel in self._kernels.items()}

    def find(self, name: str) -> Kernel | None:
        """Return a kernel, None where there is none; some are made when they are asked for."""
        graph = _ON_DEMAND.get(name)
        if name not in self and graph is not None and not too_large(self.reference.robot):
            self._kernels[name] = self._loaded(name, build_one(self._build.recipe, graph))
        return self._kernels.get(name)

    def made(self, graph: Callable[[Tracer], KernelSpec], recipe: Recipe) -> Kernel:
        """Return the kernel of a graph by another recipe than the robot's own."""
        return self._loaded(graph.__name__, build_one(recipe, graph))

    def of_speeds(
        self, graph: Callable[..., KernelSpec], **names: Sequence[str] | None
    ) -> Kernel | None:
        """
        Return the kernel for some speeds, made where they are named for the first time.

        None where a robot is too large for it.
        """
        robot = self.reference.robot
        if too_large(robot):
            return None
        key: list[tuple[str, ...] | None] = []
        for what, several in names.items():
            key.append(None if several is None else tuple(dict.fromkeys(as_names(what, several))))
            for name in key[-1] or ():
                robot.velocity_index(name)
        result = (graph, *key)
        if result not in self._chosen:
            cached = build_one(self._build.recipe, graph, tuple(key))
            self._chosen[result] = self._loaded(graph.__name__, cached, tuple(key))
        return self._chosen[result]

    def of_frame(self, law: TaskSpaceLaw) -> Kernel | None:
        """Return the kernel that lets a frame follow; as `of_speeds`."""
        key = (frame_effort, *law)
        if key in self._chosen:
            return self._chosen[key]
        choices = tuple(checked_law(self.reference.robot, law))
        if too_large(self.reference.robot):
            return None
        cached = build_one(self._build.recipe, frame_effort, choices)
        self._chosen[key] = self._loaded('frame_effort', cached, choices)
        return self._chosen[key]

    def _loaded(self, name: str, cached: CachedKernel, key: tuple[Any, ...] = ()) -> Kernel:
        return Kernel(
            name,
            cached,
            INPUTS[name],
            self._fallback(name, key),
            self.linker,
            self._load.values,
            self._unusual(name),
            in_single=self._build.recipe.precision == 'float32' and name in IN_SINGLE,
            code=self._build.linked(name) if name == FORWARD else (),
        )

    def _fallback(self, name: str, key: tuple[Any, ...]) -> Callable[..., Any]:
        """Return what a kernel asks where it is not sure."""
        reference = self.reference
        if name in _NEVER_SOLVED:
            return self._no_reference
        if name in ('forward_dynamics', 'motion'):
            return lambda q, v, tau, t=(0.0,): reference.acceleration(q, v, tau, float(t[0]))
        if name == 'multipliers':
            return lambda q, v, tau, t=(0.0,): reference.multipliers(q, v, tau, float(t[0]))
        if name == 'consistent_velocity':
            return lambda q, v, t: reference.consistent_velocity(q, v, key[0], float(t[0]))
        if name == 'consistent_acceleration':
            return lambda q, v, a, t: reference.consistent_acceleration(
                q, v, a, key[0], float(t[0])
            )
        if name == 'constrained_effort':
            return lambda q, v, *remainder: self._balanced(key, None, q, v, *remainder)
        if name == 'reference_effort':
            return lambda q, v, x, *remainder: self._balanced(key, x, q, v, *remainder)
        if name == 'frame_effort':
            return lambda *inputs: self._following(TaskSpaceLaw(*key), *inputs)
        return cast(Callable[..., Any], getattr(reference, name))

    def _following(
        self,
        law: TaskSpaceLaw,
        q: Floats,
        v: Floats,
        a: Floats,
        target: Floats,
        gains: Floats,
        posture: Floats,
        weights: Floats,
        switches: Floats,
        t: Floats,
    ) -> Floats:
        """Return the numbers of the efforts that let a frame follow."""
        terms = [name for name, on in zip(TERMS, switches, strict=True) if on]
        state = law, q, v, target, gains, posture, a, weights
        numbers: Floats = self.reference.frame_effort(*state, float(t[0]), terms=terms).numbers
        return numbers

    def _balanced(
        self,
        key: tuple[Any, ...],
        reference: Floats | None,
        q: Floats,
        v: Floats,
        a: Floats,
        weights: Floats,
        switches: Floats,
        t: Floats,
    ) -> Floats:
        """Return the numbers of constrained inverse dynamics."""
        terms = [name for name, on in zip(TERMS, switches, strict=True) if on]
        actuated, known = key
        return self.reference.constrained_inverse_dynamics(
            q, v, a, actuated, weights, known, float(t[0]), terms=terms, reference=reference
        ).numbers

    def _no_reference(self, q: Floats, *_: Floats) -> Floats:
        """Say why machine code that solves nothing has no answer."""
        checked_coordinates(self.reference.robot, q)
        raise InvalidInputError(f'states must be below {LARGEST_INPUT:g} here, got q = {q}')
