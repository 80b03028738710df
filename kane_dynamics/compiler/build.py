# SPDX-License-Identifier: Apache-2.0
"""From a robot to machine code: trace, compile on all cores, keep on disk."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

import casadi as ca

from kane_dynamics.algebra.scalars import where
from kane_dynamics.compiler.cache import CachedKernel
from kane_dynamics.compiler.dense_kernels import (
    OUTSIDE,
    STEPS_BY_DENSE_ROWS,
    DenseKernels,
    LoopRecorder,
    loop_callees,
    own_mass,
)
from kane_dynamics.compiler.derivatives import effort_tangent, row_tangent
from kane_dynamics.compiler.graphs.bodies import LoopTracer
from kane_dynamics.compiler.graphs.step_graphs import STEP_GRAPHS, Program
from kane_dynamics.compiler.graphs.trace import (
    DERIVATIVE_GRAPHS,
    GRAPHS,
    METHOD_GRAPHS,
    SwitchedTracer,
    Tracer,
)
from kane_dynamics.compiler.llvm.kernel_spec import KernelSpec, RoutineSpec, Spec
from kane_dynamics.compiler.llvm.module import kernel_ir
from kane_dynamics.compiler.llvm.native import LlvmCall, Processor, start_compiling, vector_lanes
from kane_dynamics.compiler.recipe import (
    Kernels,
    Recipe,
    as_loops,
    coriolis_too_large,
    solved_by_loops,
)
from kane_dynamics.compiler.steps.step_program import Law, Recorder, record_step
from kane_dynamics.compiler.steps.time_loops import stepping_text
from kane_dynamics.robot.state import is_unit
from kane_dynamics.simulation.integrators import INTEGRATORS

Progress = Callable[[str, int, int], None]
STEPS = 'steps'  # the module of all integrators
FORWARD = Tracer.forward_dynamics.__name__
START = 'start'  # of a rollout: onto the constraints
_Made = TypeVar('_Made')
Makers = dict[str, Callable[[], Spec]]
"""What traces kernels, by name."""


@dataclass(frozen=True)
class Build:
    """Machine code of a robot's kernels and where it came from."""

    kernels: Kernels  # By name
    source: str  # 'cache' or 'compiled'
    note: str  # What the cache said
    recipe: Recipe  # What more of it can be made of

    def linked(self, name: str) -> list[bytes]:
        """Return the code of a kernel with that of the kernels which it may call."""
        others = [x for x in OUTSIDE if x in self.kernels and name in (STEPS, FORWARD)]
        return [self.kernels[x].code for x in (name, *others)]


def silent(what: str, done: int, total: int) -> None:
    """Tell nobody about progress."""


def build_kernels(recipe: Recipe, progress: Progress = silent) -> Build:
    """Return the kernels of a robot, from the cache where they are there and sound."""
    choices = recipe.derivatives, recipe.methods, recipe.law_content
    return Build(*recipe.cached(choices, partial(_compiled_kernels, recipe, progress)), recipe)


def _compiled_kernels(recipe: Recipe, progress: Progress) -> Kernels:
    robot, tracer = recipe.robot, recipe.tracer()
    whole_graphs = recipe.derivatives or recipe.methods or recipe.precision == 'float32'
    if as_loops(robot, recipe.constraints, whole_graphs):
        loops = LoopTracer(robot, recipe.frames, recipe.payloads)
        steps = partial(_steps, tracer, recipe.law, INTEGRATORS, loops)
        return _compile_all(recipe, loop_makers(recipe, tracer, loops), steps, progress)
    graphs = [*GRAPHS, *DERIVATIVE_GRAPHS * recipe.derivatives, *METHOD_GRAPHS * recipe.methods]
    if recipe.constraints:
        graphs.append(Tracer.constraint_rows)
    made: Makers = {graph.__name__: partial(straight_line, graph, tracer) for graph in graphs}
    made[FORWARD] = partial(forward_dynamics, tracer)
    if coriolis_too_large(robot):
        del made['coriolis_matrix']
        made['coriolis_effort'] = LoopTracer(robot, (), recipe.payloads).coriolis_effort
    steps = partial(_steps, tracer, recipe.law, INTEGRATORS)
    return _compile_all(recipe, made, steps, progress)


def loop_makers(
    recipe: Recipe, tracer: Tracer, loops: LoopTracer, known: Mapping[str, str] | None = None
) -> Makers:
    """Return what traces the kernels of a robot whose dynamics are loops over bodies."""
    made: Makers = {graph.__name__: graph for graph in loops.recursions}
    made['mass_matrix'] = partial(own_mass, loops)
    made[FORWARD] = DenseKernels(tracer, known or {}).forward_dynamics
    if solved_by_loops(tracer.robot, tracer.constraints):
        made[FORWARD] = loops.forward_dynamics
    if recipe.derivatives:
        made['effort_tangent'] = partial(effort_tangent, loops)
    if recipe.constraints:
        for graph in (Tracer.constraint_rows, *[row_tangent] * recipe.derivatives):
            made[graph.__name__] = partial(straight_line, graph, tracer)
    return made


def build_switched(recipe: Recipe) -> Kernels:
    """Return steps of rk4 and `SwitchedTracer.look` under any set of the constraints."""

    def make() -> Kernels:
        tracer = SwitchedTracer(recipe.robot, recipe.constraints, recipe.payloads)
        look = partial(straight_line, SwitchedTracer.look, tracer)
        return _compile_all(recipe, {'look': look}, partial(_steps, tracer, None, ['rk4']))

    return recipe.cached(('switched',), make)[0]


def build_one(recipe: Recipe, graph: Callable[..., KernelSpec], choices: Any = ()) -> CachedKernel:
    """Return the kernel of a graph with choices, from the cache where it is there and sound."""

    def make() -> CachedKernel:
        spec, single = straight_line(graph, recipe.tracer(), *choices), None
        if recipe.in_single(spec):
            single = straight_line(graph, recipe.tracer(in_single=True), *choices)
        code = start_compiling(kernel_ir(spec, single)).result()
        return replace(shape_of(spec), code=code, single=single is not None)

    return recipe.cached_kernel(graph.__name__, make, choices)


def _compile_all(
    recipe: Recipe,
    made: Makers,
    steps: Callable[[], tuple[str, CachedKernel]],
    progress: Progress = silent,
) -> Kernels:
    """Trace one graph after the other while earlier ones are being compiled."""

    def modules() -> Iterator[tuple[str, str, CachedKernel]]:
        for trace in made.values():
            spec = trace()
            single = _in_single(recipe, spec)
            shape = replace(shape_of(spec), single=single is not None)
            yield spec.name, kernel_ir(spec, single), shape
        yield STEPS, *steps()

    compiled = compile_modules(modules(), len(made) + 1, progress)
    return {name: replace(shape, code=code) for name, (shape, code) in compiled.items()}


def compile_modules(
    modules: Iterable[tuple[str, str, _Made]],
    total: int,
    progress: Progress,
    target: Processor | None = None,
) -> dict[str, tuple[_Made, bytes]]:
    """Compile modules (name, LLVM IR, what stands beside), each traced while others compile."""
    jobs: dict[str, tuple[_Made, LlvmCall[bytes]]] = {}
    try:
        for done, (name, ir, kept) in enumerate(modules):
            progress(f'tracing {name}', done, 2 * total)
            jobs[name] = kept, start_compiling(ir, target)
        results = {}
        for done, (name, (kept, job)) in enumerate(jobs.items(), start=total):
            progress(f'compiling {name}', done, 2 * total)
            results[name] = kept, job.result()
    finally:  # what is raised drops the modules that wait; nothing can stop the one inside LLVM
        for _, job in jobs.values():
            job.cancel()
    progress('done', 2 * total, 2 * total)
    return results


def _in_single(recipe: Recipe, spec: Spec) -> KernelSpec | None:
    """Return the graph of a kernel for single precision, or None where it has none."""
    quick = spec.quick if isinstance(spec, RoutineSpec) else spec
    if not isinstance(quick, KernelSpec) or not recipe.in_single(replace(quick, name=spec.name)):
        return None
    if spec.name == FORWARD:  # judges its digits too
        return straight_line(Tracer.forward_dynamics, recipe.tracer(in_single=True))
    return quick


def straight_line(graph: Callable[..., KernelSpec], tracer: Tracer, *choices: Any) -> KernelSpec:
    """Return the kernel of a graph, ill where a quaternion of q, its first input, is not unit."""
    spec, slices = graph(tracer, *choices), tracer.robot.quaternion_slices
    if not slices:
        return spec
    inputs = spec.function.sx_in()
    *outputs, rcond = spec.function.call(inputs)
    q = ca.vertsplit(inputs[0])
    for _, one in slices:
        rcond = where(is_unit(q[one]), rcond, 0.0)
    return replace(spec, function=ca.Function(spec.name, inputs, [*outputs, rcond]))


def step_programs(
    tracer: Tracer,
    law: Law | None,
    steps: Iterable[tuple[str, bool]],
    recorder: Callable[..., Recorder] = Recorder,
) -> dict[str, Program]:
    """Return the programs of time steps by integrators, with or without projection, by name."""
    return {
        step_name(integrator, projection): record_step(
            recorder(tracer.robot, bool(tracer.holonomic)),
            INTEGRATORS[integrator],
            projection,
            law,
            len(tracer.parameters),
        )
        for integrator, projection in steps
    }


def _steps(
    tracer: Tracer, law: Law | None, integrators: Iterable[str], loops: LoopTracer | None = None
) -> tuple[str, CachedKernel]:
    """Return LLVM IR and shape of the module of some integrators, by graphs or by loops."""
    projections = (False, True) if tracer.constraints else (False,)
    steps = [(x, projection) for x in integrators for projection in projections]
    if loops is None:
        programs = step_programs(tracer, law, steps)
        called: Mapping[str, Spec] = with_dense_rows(tracer, callees(tracer, programs))
    else:
        free = solved_by_loops(tracer.robot, tracer.constraints)
        programs = step_programs(tracer, law, steps, partial(LoopRecorder, free=free))
        called = loop_callees(tracer, loops, _kernels_of(programs))
    operations = sum(spec.operations for spec in called.values())
    text = stepping_text(programs, called, vector_lanes())
    return text, CachedKernel(b'', (), (), operations)


def _kernels_of(programs: Mapping[str, Program]) -> set[str]:
    return {kernel for program in programs.values() for kernel in program.kernels}


def callees(tracer: Tracer, programs: Mapping[str, Program]) -> dict[str, KernelSpec]:
    """Return the kernels that some programs call."""
    used = _kernels_of(programs)
    return {g.__name__: g(tracer) for g in STEP_GRAPHS if g.__name__ in used}


def with_dense_rows(tracer: Tracer, quick: Mapping[str, KernelSpec]) -> dict[str, Spec]:
    """Return kernels of which those that solve for rows ask `DenseKernels` where they are ill."""
    results: dict[str, Spec] = dict(quick)
    if tracer.constraints and not isinstance(tracer, SwitchedTracer):
        dense = DenseKernels(tracer)
        for name in quick.keys() & STEPS_BY_DENSE_ROWS:
            results[name] = dense.kernel(name).after(quick[name])
    return results


def forward_dynamics(
    tracer: Tracer, known: Mapping[str, str] | None = None
) -> KernelSpec | RoutineSpec:
    """Return accelerations by straight-line code, and by dense rows where that is ill."""
    quick = straight_line(Tracer.forward_dynamics, tracer)
    if not tracer.constraints:
        return quick
    return DenseKernels(tracer, known or {}).forward_dynamics().after(quick)


def step_name(integrator: str, projection: bool) -> str:
    """Return the name of a step's kernel."""
    return f'step_{integrator}_projected' if projection else f'step_{integrator}'


def shape_of(spec: Spec) -> CachedKernel:
    """Return a kernel without its code."""
    return CachedKernel(b'', spec.input_sizes, spec.output_shapes, spec.operations)
