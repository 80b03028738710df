# SPDX-License-Identifier: Apache-2.0
"""From a robot to machine code: trace, compile on all cores, keep on disk."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from kane_dynamics.compiler.cache import CachedKernel, cache_folder, load_kernels, store_kernels
from kane_dynamics.compiler.dense_kernels import OUTSIDE, DenseKernels, own_mass
from kane_dynamics.compiler.generic import as_loops, coriolis_too_large, solved_by_loops
from kane_dynamics.compiler.graphs.bodies import LoopTracer
from kane_dynamics.compiler.graphs.formulations import METHOD_GRAPHS
from kane_dynamics.compiler.graphs.quaternion_check import with_quaternion_check
from kane_dynamics.compiler.graphs.subsets import SwitchedTracer
from kane_dynamics.compiler.graphs.trace import (
    DERIVATIVE_GRAPHS,
    GRAPHS,
    STEP_GRAPHS,
    Tracer,
    function_graph,
)
from kane_dynamics.compiler.llvm.kernel_spec import KernelSpec
from kane_dynamics.compiler.llvm.llvm_calls import LlvmCall
from kane_dynamics.compiler.llvm.loop_spec import LoopSpec
from kane_dynamics.compiler.llvm.module import Spec
from kane_dynamics.compiler.llvm.native import kernel_ir, start_compiling, vector_lanes
from kane_dynamics.compiler.llvm.routine_spec import RoutineSpec
from kane_dynamics.compiler.loop_steps import LoopRecorder, loop_callees
from kane_dynamics.compiler.programs import Program
from kane_dynamics.compiler.recipe import Recipe
from kane_dynamics.compiler.steps.step_program import Law, Recorder, record_step
from kane_dynamics.compiler.steps.stepping import stepping_text
from kane_dynamics.compiler.tangents import effort_tangent, row_tangent
from kane_dynamics.simulation.integrators import INTEGRATORS, Integrator

Progress = Callable[[str, int, int], None]
STEPS = 'steps'  # the module of all integrators
FORWARD = Tracer.forward_dynamics.__name__
START = 'start'  # of a rollout: onto the constraints
Graph = Callable[[Tracer], KernelSpec]
Made = Callable[[], Spec]
Steps = Callable[[], tuple[str, CachedKernel]] | None


@dataclass(frozen=True)
class Build:
    """Machine code of a robot's kernels and where it came from."""

    kernels: Mapping[str, CachedKernel]  # By name
    source: str  # 'cache' or 'compiled'
    note: str  # What the cache said
    derivatives: bool
    methods: bool
    recipe: Recipe  # What more of it can be made of

    def linked(self, name: str) -> list[bytes]:
        """Return the code of a kernel with that of the kernels which it may call."""
        others = [x for x in OUTSIDE if x in self.kernels and name in (STEPS, FORWARD)]
        return [self.kernels[x].code for x in (name, *others)]


def build_kernels(
    recipe: Recipe,
    derivatives: bool,
    methods: bool,
    law: Law | None,
    progress: Progress = lambda what, done, total: None,
) -> Build:
    """Return the kernels of a robot, from the cache where they are there and sound."""
    graphs = GRAPHS + (DERIVATIVE_GRAPHS if derivatives else ())
    if methods:
        graphs += METHOD_GRAPHS
    if recipe.constraints:
        graphs += (Tracer.constraint_rows,)
    key, note = recipe.key(derivatives, methods, law and law.content)
    if key is not None:
        kernels, note = load_kernels(cache_folder(), key)
        if kernels is not None:
            return Build(kernels, 'cache', note, derivatives, methods, recipe)
    robot, constraints, payloads = recipe.robot, recipe.constraints, recipe.payloads
    tracer = recipe.tracer()
    specs: list[Made] = [partial(_straight, one, tracer) for one in graphs]
    if coriolis_too_large(robot):
        products = LoopTracer(robot, (), payloads).coriolis_effort
        specs[graphs.index(function_graph('coriolis_matrix'))] = products
    steps: Steps = partial(_steps, tracer, law)
    specs[graphs.index(Tracer.forward_dynamics)] = partial(forward_dynamics, tracer)
    if as_loops(robot, constraints, derivatives or methods or recipe.precision == 'float32'):
        loops = LoopTracer(robot, recipe.frames, payloads)
        forward = partial(large_forward, tracer, loops)
        specs = [*loops.recursions, partial(own_mass, loops), forward]
        if derivatives:
            specs.append(partial(effort_tangent, loops))
        if constraints:
            row_graphs = Tracer.constraint_rows, *[row_tangent] * derivatives
            specs += [partial(_straight, graph, tracer) for graph in row_graphs]
        steps = partial(_steps, tracer, law, loops=loops)
    built = _compile_all(specs, steps, progress, partial(_in_single, recipe))
    if key is not None:
        note += ', ' + store_kernels(cache_folder(), key, built)
    return Build(built, 'compiled', note, derivatives, methods, recipe)


def build_switched(recipe: Recipe) -> dict[str, CachedKernel]:
    """Return steps of rk4 and `SwitchedTracer.look` under any set of the constraints."""
    key, _ = recipe.key('switched')
    if key is not None:
        kernels, _ = load_kernels(cache_folder(), key)
        if kernels is not None:
            return dict(kernels)
    tracer = SwitchedTracer(recipe.robot, recipe.constraints, recipe.payloads)
    steps = partial(_steps, tracer, None, {'rk4': INTEGRATORS['rk4']})
    built = _compile_all([partial(_straight, SwitchedTracer.look, tracer)], steps, _silent)
    if key is not None:
        store_kernels(cache_folder(), key, built)
    return built


def _silent(what: str, done: int, total: int) -> None:
    """Tell nobody about progress."""


def build_one(recipe: Recipe, graph: Callable[..., KernelSpec], choices: Any = ()) -> CachedKernel:
    """Return the kernel of a graph with choices, from the cache where it is there and sound."""
    key, _ = recipe.key(graph.__name__, choices)
    if key is not None:
        kernels, _ = load_kernels(cache_folder(), key)
        if kernels is not None:
            return kernels[graph.__name__]
    built = with_quaternion_check(graph(recipe.tracer(), *choices), recipe.robot)
    single = None
    if recipe.in_single(built):
        single = with_quaternion_check(
            graph(recipe.tracer(in_single=True), *choices), recipe.robot
        )
    code = start_compiling(kernel_ir(built, single)).result()
    kernel = replace(shape_of(built), code=code, single=single is not None)
    if key is not None:
        store_kernels(cache_folder(), key, {graph.__name__: kernel})
    return kernel


def _compile_all(
    specs: Sequence[Made],
    steps: Steps,
    progress: Progress,
    in_single: Callable[[KernelSpec], KernelSpec | None] = lambda spec: None,
) -> dict[str, CachedKernel]:
    """Trace one graph after the other while earlier ones are being compiled."""
    total = len(specs) + 1
    jobs: dict[str, tuple[CachedKernel, LlvmCall[bytes]]] = {}
    try:
        for done, (name, ir, shape) in enumerate(_modules(specs, steps, in_single)):
            progress(f'tracing {name}', done, 2 * total)
            jobs[name] = (shape, start_compiling(ir))
        kernels = {}
        for done, (name, (shape, job)) in enumerate(jobs.items(), start=total):
            progress(f'compiling {name}', done, 2 * total)
            kernels[name] = replace(shape, code=job.result())
    finally:  # what is raised drops the modules that wait; nothing can stop the one inside LLVM
        for _, job in jobs.values():
            job.cancel()
    progress('done', 2 * total, 2 * total)
    return kernels


def _modules(
    specs: Sequence[Made], steps: Steps, in_single: Callable[[KernelSpec], KernelSpec | None]
) -> Iterator[tuple[str, str, CachedKernel]]:
    """Yield name, LLVM IR and shapes of every module."""
    for made in specs:
        spec = made()
        quick = spec.quick if isinstance(spec, RoutineSpec) else spec
        single = None
        if isinstance(quick, KernelSpec):
            single = in_single(replace(quick, name=spec.name))
        shape = replace(shape_of(spec), single=single is not None)
        yield spec.name, kernel_ir(spec, single), shape
    if steps is not None:
        yield STEPS, *steps()


def _in_single(recipe: Recipe, spec: KernelSpec) -> KernelSpec | None:
    """Return the graph of a kernel for single precision, or None where it has none."""
    if not recipe.in_single(spec):
        return None
    if spec.name == Tracer.forward_dynamics.__name__:  # judges its digits too
        return _straight(Tracer.forward_dynamics, recipe.tracer(in_single=True))
    return spec


def _straight(graph: Callable[..., KernelSpec], tracer: Tracer) -> KernelSpec:
    return with_quaternion_check(graph(tracer), tracer.robot)


def _steps(
    tracer: Tracer,
    law: Law | None,
    integrators: Mapping[str, Integrator] = INTEGRATORS,
    loops: LoopTracer | None = None,
) -> tuple[str, CachedKernel]:
    """Return LLVM IR and shape of the module of some integrators."""
    recorder: Callable[..., Recorder] = Recorder
    if loops is not None:
        free = solved_by_loops(tracer.robot, tracer.constraints)
        recorder = partial(LoopRecorder, free=free)
    programs = {
        step_name(integrator, projection): record_step(
            recorder(tracer.robot, bool(tracer.holonomic)),
            integrate,
            projection,
            law,
            len(tracer.parameters),
        )
        for integrator, integrate in integrators.items()
        for projection in ((False, True) if tracer.constraints else (False,))
    }
    if loops is None:
        called: Mapping[str, Spec] = with_dense_rows(tracer, callees(tracer, programs))
    else:
        used = {kernel for program in programs.values() for kernel in program.kernels}
        called = loop_callees(tracer, loops, used)
    operations = sum(spec.operations for spec in called.values())
    text = stepping_text(programs, called, vector_lanes())
    return text, CachedKernel(b'', (), (), operations)


def callees(tracer: Tracer, programs: Mapping[str, Program]) -> dict[str, KernelSpec]:
    """Return the kernels that some programs call."""
    used = {kernel for program in programs.values() for kernel in program.kernels}
    return {g.__name__: g(tracer) for g in STEP_GRAPHS if g.__name__ in used}


def with_dense_rows(tracer: Tracer, quick: Mapping[str, KernelSpec]) -> dict[str, Spec]:
    """Return kernels of which those that solve for rows ask `DenseKernels` where they are ill."""
    results: dict[str, Spec] = dict(quick)
    if not tracer.constraints or isinstance(tracer, SwitchedTracer):
        return results
    dense = DenseKernels(tracer)
    solves = dense.acceleration, dense.impulse, dense.kick, dense.jump, dense.place, dense.project
    for made in solves:
        name = made.__name__
        if name in quick:
            results[name] = made().after(quick[name])
    return results


def forward_dynamics(
    tracer: Tracer, known: Mapping[str, str] | None = None
) -> KernelSpec | RoutineSpec:
    """Return accelerations by straight-line code, and by dense rows where that is ill."""
    quick = _straight(Tracer.forward_dynamics, tracer)
    if not tracer.constraints:
        return quick
    return DenseKernels(tracer, known or {}).forward_dynamics(_is_timed(tracer)).after(quick)


def large_forward(
    tracer: Tracer, loops: LoopTracer, known: Mapping[str, str] | None = None
) -> LoopSpec | RoutineSpec:
    """Return accelerations of a robot whose dynamics are loops over bodies."""
    if solved_by_loops(tracer.robot, tracer.constraints):
        return loops.forward_dynamics()
    return DenseKernels(tracer, known or {}).forward_dynamics(_is_timed(tracer))


def _is_timed(tracer: Tracer) -> bool:
    return len(tracer.inputs_of_forward_dynamics()) > 3


def step_name(integrator: str, projection: bool) -> str:
    """Return the name of a step's kernel."""
    return f'step_{integrator}_projected' if projection else f'step_{integrator}'


def shape_of(spec: Spec) -> CachedKernel:
    """Return a kernel without its code."""
    return CachedKernel(b'', spec.input_sizes, spec.output_shapes, spec.operations)
