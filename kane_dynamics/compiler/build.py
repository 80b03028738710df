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
from kane_dynamics.compiler.llvm.kernel_spec import KernelSpec, RoutineSpec, Spec, straight_part
from kane_dynamics.compiler.llvm.module import batch_ir, kernel_ir
from kane_dynamics.compiler.llvm.native import LlvmCall, Processor, start_compiling, vector_lanes
from kane_dynamics.compiler.recipe import (
    Kernels,
    Recipe,
    coriolis_too_large,
    solved_by_loops,
)
from kane_dynamics.compiler.steps.step_program import Law, Recorder, record_step
from kane_dynamics.compiler.steps.time_loops import stepping_text
from kane_dynamics.robot.state import is_unit
from kane_dynamics.simulation.integrators import INTEGRATORS

Progress = Callable[[str, int, int], None]
STEPS = 'steps'  # the module of an integrator
FORWARD = Tracer.forward_dynamics.__name__
START = 'start'  # of a rollout: onto the constraints
_Made = TypeVar('_Made')
Makers = dict[str, Callable[[], Spec]]
"""What traces kernels, by name."""
Trace = Callable[[bool], Spec]
"""What traces a kernel, for single precision or for double."""


@dataclass(frozen=True)
class Build:
    """Machine code of a robot's kernels and where it came from."""

    kernels: Kernels  # By name
    source: str  # 'cache' or 'compiled'
    note: str  # What the cache said
    recipe: Recipe  # What more of it can be made of

    def linked(self, name: str, code: bytes) -> list[bytes]:
        """Return code of a kernel, or of steps, with that of the kernels which it may call."""
        others = [x for x in OUTSIDE if x in self.kernels and name in (STEPS, FORWARD)]
        return [code, *(self.kernels[x].code for x in others)]


def silent(what: str, done: int, total: int) -> None:
    """Tell nobody about progress."""


def build_kernels(recipe: Recipe, progress: Progress = silent) -> Build:
    """Return the kernels of a robot, from the cache where they are there and sound."""
    choices = recipe.derivatives, recipe.methods

    def make() -> Kernels:
        return _compile_all(makers(recipe), progress)

    return Build(*recipe.cached(choices, make), recipe)


def makers(recipe: Recipe, in_single: bool = False) -> Makers:
    """Return what traces the kernels that are compiled with a robot."""
    robot, tracer = recipe.robot, recipe.tracer(in_single)
    if recipe.by_loops:
        return loop_makers(recipe, tracer, loops_of(recipe))
    graphs = [*GRAPHS, *DERIVATIVE_GRAPHS * recipe.derivatives, *METHOD_GRAPHS * recipe.methods]
    if recipe.constraints:
        graphs.append(Tracer.constraint_rows)
    made: Makers = {graph.__name__: partial(straight_line, graph, tracer) for graph in graphs}
    made[FORWARD] = partial(forward_dynamics, tracer)
    if coriolis_too_large(robot):
        del made['coriolis_matrix']
        made['coriolis_effort'] = LoopTracer(robot, (), recipe.payloads).coriolis_effort
    return made


def loop_makers(
    recipe: Recipe, tracer: Tracer, loops: LoopTracer, known: Mapping[str, str] | None = None
) -> Makers:
    """Return what traces the kernels of a robot whose dynamics are loops over bodies."""
    made: Makers = {graph.__name__: graph for graph in loops.recursions}
    made['mass_matrix'] = partial(own_mass, loops)
    made[FORWARD] = DenseKernels(tracer, known or {}, loops).forward_dynamics
    if solved_by_loops(tracer.robot, tracer.constraints):
        made[FORWARD] = loops.forward_dynamics
    if recipe.derivatives:
        made['effort_tangent'] = partial(effort_tangent, loops)
    if recipe.constraints:
        for graph in (Tracer.constraint_rows, *[row_tangent] * recipe.derivatives):
            made[graph.__name__] = partial(straight_line, graph, tracer)
    return made


def loops_of(recipe: Recipe) -> LoopTracer:
    """Return the loops over the bodies of a robot."""
    return LoopTracer(recipe.robot, recipe.frames, recipe.payloads)


def build_switched(recipe: Recipe) -> Kernels:
    """Return steps of rk4 and `SwitchedTracer.look` under any set of the constraints."""

    def make() -> Kernels:
        tracer = SwitchedTracer(recipe.robot, recipe.constraints, recipe.payloads)
        look = partial(straight_line, SwitchedTracer.look, tracer)
        return {**_compile_all({'look': look}), STEPS: _steps(tracer, None, ('rk4', True))}

    return recipe.cached(('switched',), make)[0]


def build_steps(recipe: Recipe, integrator: str, projection: bool) -> CachedKernel:
    """Return the module of an integrator, from the cache where it is there and sound."""

    def make() -> CachedKernel:
        loops = loops_of(recipe) if recipe.by_loops else None
        return _steps(recipe.tracer(), recipe.law, (integrator, projection), loops)

    return recipe.cached_kernel(STEPS, make, integrator, projection, recipe.law_content)


def traced(recipe: Recipe, name: str, in_single: bool) -> Spec:
    """Return a kernel that is compiled with the robot."""
    return makers(recipe, in_single)[name]()


def traced_by_graph(
    recipe: Recipe, graph: Callable[..., KernelSpec], choices: Any, in_single: bool
) -> KernelSpec:
    """Return a kernel that is compiled on demand."""
    return straight_line(graph, recipe.tracer(in_single), *choices)


def build_one(recipe: Recipe, name: str, trace: Trace, choices: Any = ()) -> CachedKernel:
    """Return one kernel, from the cache where it is there and sound."""

    def make() -> CachedKernel:
        return _compile_all({name: partial(trace, False)})[name]

    return recipe.cached_kernel(name, make, choices)


def build_batches(recipe: Recipe, name: str, trace: Trace, choices: Any = ()) -> CachedKernel:
    """Return the batches of a kernel, from the cache where they are there and sound."""

    def make() -> CachedKernel:
        spec = trace(False)
        single = straight_part(trace(True)) if recipe.in_single(spec) else None
        code = start_compiling(batch_ir(spec, single)).result()
        return replace(shape_of(spec), code=code, single=single is not None)

    return recipe.cached_kernel(f'{name}_batch', make, choices)


def _compile_all(made: Makers, progress: Progress = silent) -> Kernels:
    """Trace one graph after the other while earlier ones are being compiled."""

    def modules() -> Iterator[tuple[str, str, CachedKernel]]:
        for trace in made.values():
            spec = trace()
            yield spec.name, kernel_ir(spec), shape_of(spec)

    compiled = compile_modules(modules(), len(made), progress)
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
    integrator: str,
    projection: bool,
    recorder: Callable[..., Recorder] = Recorder,
) -> dict[str, Program]:
    """Return the program of time steps by its name, with or without projection."""
    record = recorder(tracer.robot, bool(tracer.holonomic))
    how = INTEGRATORS[integrator], projection, law, len(tracer.parameters)
    return {step_name(integrator, projection): record_step(record, *how)}


def _steps(
    tracer: Tracer, law: Law | None, how: tuple[str, bool], loops: LoopTracer | None = None
) -> CachedKernel:
    """Return the module of time steps by an integrator, by graphs or by loops."""
    if loops is None:
        programs = step_programs(tracer, law, *how)
        called: Mapping[str, Spec] = with_dense_rows(tracer, callees(tracer, programs))
    else:
        free = solved_by_loops(tracer.robot, tracer.constraints)
        programs = step_programs(tracer, law, *how, partial(LoopRecorder, free=free))
        called = loop_callees(tracer, loops, _kernels_of(programs))
    operations = sum(spec.operations for spec in called.values())
    code = start_compiling(stepping_text(programs, called, vector_lanes())).result()
    return CachedKernel(code, (), (), operations)


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
