# SPDX-License-Identifier: Apache-2.0
"""From a robot to machine code: trace, compile on all cores."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

from kane_dynamics.algebra import casadi as ca
from kane_dynamics.algebra.scalars import where
from kane_dynamics.compiler.cache import CachedKernel
from kane_dynamics.compiler.dense_kernels import (
    STEPS_BY_DENSE_ROWS,
    DenseKernels,
    LoopRecorder,
    loop_callees,
    own_mass,
)
from kane_dynamics.compiler.graphs.bodies import LoopTracer
from kane_dynamics.compiler.graphs.by_name import graph_of
from kane_dynamics.compiler.graphs.step_graphs import STEP_GRAPHS, Program
from kane_dynamics.compiler.graphs.tangents import effort_tangent, row_tangent
from kane_dynamics.compiler.graphs.trace import (
    DERIVATIVE_GRAPHS,
    GRAPHS,
    METHOD_GRAPHS,
    SwitchedTracer,
    Tracer,
)
from kane_dynamics.compiler.law import Law
from kane_dynamics.compiler.llvm.kernel_spec import KernelSpec, RoutineSpec, Spec, straight_part
from kane_dynamics.compiler.llvm.module import batch_ir, kernel_ir
from kane_dynamics.compiler.llvm.native import LlvmCall, Processor, start_compiling, vector_lanes
from kane_dynamics.compiler.recipe import (
    FORWARD,
    IN_SINGLE,
    INPUTS,
    SOLVES_ROWS,
    START,
    STEPS,
    Kernels,
    Progress,
    Recipe,
    coriolis_too_large,
    silent,
    solved_by_loops,
    step_name,
)
from kane_dynamics.compiler.steps.step_program import Recorder, record_start, record_step
from kane_dynamics.compiler.steps.time_loops import rollout_text, stepping_text
from kane_dynamics.robot.robot import Robot
from kane_dynamics.robot.state import is_unit
from kane_dynamics.simulation.integrators import INTEGRATORS

_Made = TypeVar('_Made')
Makers = dict[str, Callable[[], Spec]]
"""What traces kernels, by name."""


def tracer_of(recipe: Recipe, in_single: bool = False) -> Tracer:
    """Return the graphs of a robot."""
    parts = recipe.robot, recipe.constraints, recipe.frames, recipe.plan
    return Tracer(*parts, payloads=recipe.payloads, in_single=in_single)


def makers(recipe: Recipe, in_single: bool = False) -> Makers:
    """Return what traces the kernels that are compiled with a robot."""
    robot, tracer = recipe.robot, tracer_of(recipe, in_single)
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


def compile_kernels(recipe: Recipe, progress: Progress) -> Kernels:
    """Return the kernels that are compiled with a robot."""
    return _compile_all(makers(recipe), progress)


def compile_kernel(recipe: Recipe, name: str, choices: Sequence[Any]) -> CachedKernel:
    """Return a kernel that is compiled on demand."""
    return _compile_all({name: partial(_traced, recipe, name, choices)})[name]


def compile_batches(recipe: Recipe, name: str, choices: Sequence[Any]) -> CachedKernel:
    """Return the batches of a kernel."""
    spec = _traced(recipe, name, choices)
    by_float = _in_single(recipe, spec)
    single = straight_part(_traced(recipe, name, choices, in_single=True)) if by_float else None
    code = start_compiling(batch_ir(spec, single)).result()
    return replace(shape_of(spec), code=code, single=single is not None)


def _traced(recipe: Recipe, name: str, choices: Sequence[Any], in_single: bool = False) -> Spec:
    """Return a kernel of the robot or on demand; routines check q by what they call."""
    at_start = makers(recipe, in_single)
    if name in at_start:
        return at_start[name]()
    spec = graph_of(name)(tracer_of(recipe, in_single), *choices)
    return _of_unit_quaternions(spec, recipe.robot) if isinstance(spec, KernelSpec) else spec


def _in_single(recipe: Recipe, spec: Spec) -> bool:
    """Return whether a kernel has code in single precision."""
    if recipe.precision != 'float32' or spec.name not in IN_SINGLE:
        return False
    if spec.name in SOLVES_ROWS and not recipe.rows_are_certain:
        return False
    clock = len(spec.input_sizes) - 1
    quick, timeless = straight_part(spec), INPUTS[spec.name][clock] != 'time'
    return quick is not None and (timeless or not quick.depends_on(clock))


def compile_switched(recipe: Recipe) -> Kernels:
    """Return steps of rk4 and `SwitchedTracer.look` under any set of the constraints."""
    tracer = SwitchedTracer(recipe.robot, recipe.constraints, recipe.payloads)
    look = partial(straight_line, SwitchedTracer.look, tracer)
    return {**_compile_all({'look': look}), STEPS: _steps(tracer, None, ('rk4', True))}


def compile_steps(recipe: Recipe, integrator: str, projection: bool) -> CachedKernel:
    """Return the module of an integrator."""
    loops = loops_of(recipe) if recipe.by_loops else None
    return _steps(tracer_of(recipe), recipe.law, (integrator, projection), loops)


def compile_rollouts(
    recipe: Recipe, integrator: str, projection: bool, precision: str, lanes: int
) -> CachedKernel:
    """Return the module of motions in vector lanes by one integrator."""
    tracer, law = tracer_of(recipe), recipe.law
    programs = step_programs(tracer, law, integrator, projection)
    if projection:
        programs[START] = record_start(Recorder(tracer.robot, bool(tracer.holonomic)))
    called = callees(tracer, programs)
    parameters = len(tracer.parameters) + (0 if law is None else len(law.gains))
    in_single = ('acceleration',) if precision == 'float32' else ()
    text = rollout_text(programs, called, lanes, parameters, in_single)
    code = start_compiling(text).result()
    return CachedKernel(code, (), (), sum(spec.operations for spec in called.values()))


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
    return _of_unit_quaternions(graph(tracer, *choices), tracer.robot)


def _of_unit_quaternions(spec: KernelSpec, robot: Robot) -> KernelSpec:
    slices = robot.quaternion_slices
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


def shape_of(spec: Spec) -> CachedKernel:
    """Return a kernel without its code."""
    return CachedKernel(b'', spec.input_sizes, spec.output_shapes, spec.operations)
