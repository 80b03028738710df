# SPDX-License-Identifier: Apache-2.0
"""
Recorded steps of many rollouts on a GPU: one rollout a thread, the loop over time in the kernel.

Kernels that the recorded program calls are functions, one copy each, with arrays in the local
memory of the thread. The kernel reads and writes states in place: a rollout whose step is not
sound stays where it is, with its number of steps; the caller takes that step by the reference, and
starts the kernel again for such rollouts.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from kane_dynamics.compiler.build import callees, step_programs, tracer_of
from kane_dynamics.compiler.cache import CachedKernel
from kane_dynamics.compiler.cuda.device import Array, CudaDevice, PtxCompiler
from kane_dynamics.compiler.cuda.kernel import View
from kane_dynamics.compiler.cuda.kernel_ir import (
    ELEMENTS,
    HEALTH_LIMITS,
    gpu_module,
    row,
    state_function,
    thread_number,
)
from kane_dynamics.compiler.graphs.step_graphs import Program
from kane_dynamics.compiler.llvm.kernel_spec import KernelSpec
from kane_dynamics.compiler.llvm.straight_line import Block
from kane_dynamics.compiler.recipe import Recipe, step_name
from kane_dynamics.compiler.steps.step_code import step_text
from kane_dynamics.exceptions import InvalidInputError

ROLLOUT = 'rollout'  # the name of the kernel
_KERNEL = """\
define ptx_kernel void @{name}(i64 %rollouts, ptr noalias readonly %indices,
    ptr noalias %q, i64 %q.state, i32 %q.entry, ptr noalias %v, i64 %v.state, i32 %v.entry,
    ptr noalias readonly %tau, i64 %tau.state, i32 %tau.entry, i64 %tau.piece,
    ptr noalias readonly %parameters, i64 %parameters.state, i32 %parameters.entry,
    ptr noalias %kept, i64 %kept.state, i64 %kept.sample, ptr noalias %done,
    double %h, i64 %count, i64 %piece, i64 %every) {{
  {arrays}
  {thread}
  %place = getelementptr i64, ptr %indices, i64 %thread
  %state = load i64, ptr %place
  {rows}
  call void @copy(ptr %q.now, i64 1, ptr %q.at, i64 %q.step, i64 {nq})
  call void @copy(ptr %v.now, i64 1, ptr %v.at, i64 %v.step, i64 {nv})
  %kept.offset = mul i64 %state, %kept.state
  %h.rounded = {round} double %h to {element}
  %h.at = getelementptr {element}, ptr %th, i64 1
  store {element} %h.rounded, ptr %h.at
  %done.at = getelementptr i64, ptr %done, i64 %state
  %first = load i64, ptr %done.at
  br label %turn
turn:
  %step = phi i64 [ %first, %begin ], [ %next, %sample ], [ %next, %advance ]
  %more = icmp slt i64 %step, %count
  br i1 %more, label %solve, label %last
solve:
  %number = sdiv i64 %step, %piece
  %tau.row = mul i64 %number, %tau.piece
  %tau.now = getelementptr {element}, ptr %tau.at, i64 %tau.row
  call void @copy(ptr %effort, i64 1, ptr %tau.now, i64 %tau.step, i64 {nv})
  %step.wide = sitofp i64 %step to double
  %time = fmul double %step.wide, %h
  %time.rounded = {round} double %time to {element}
  store {element} %time.rounded, ptr %th
  %rcond = call {element} @{name}_once(ptr %q.now, ptr %v.now, ptr %effort, ptr %th,
    ptr %q.end, ptr %v.end, ptr %rank, ptr %parameters.at)
  %sound = fcmp oge {element} %rcond, {limit}
  br i1 %sound, label %advance, label %last
advance:
  call void @copy(ptr %q.now, i64 1, ptr %q.end, i64 1, i64 {nq})
  call void @copy(ptr %v.now, i64 1, ptr %v.end, i64 1, i64 {nv})
  %next = add i64 %step, 1
  %beyond = srem i64 %next, %every
  %is.sample = icmp eq i64 %beyond, 0
  br i1 %is.sample, label %sample, label %turn
sample:
  %sample.number = sdiv i64 %next, %every
  %sample.row = mul i64 %sample.number, %kept.sample
  %sample.offset = add i64 %sample.row, %kept.offset
  %sample.q = getelementptr {element}, ptr %kept, i64 %sample.offset
  %sample.v = getelementptr {element}, ptr %sample.q, i64 {nq}
  call void @copy(ptr %sample.q, i64 1, ptr %q.now, i64 1, i64 {nq})
  call void @copy(ptr %sample.v, i64 1, ptr %v.now, i64 1, i64 {nv})
  br label %turn
last:
  call void @copy(ptr %q.at, i64 %q.step, ptr %q.now, i64 1, i64 {nq})
  call void @copy(ptr %v.at, i64 %v.step, ptr %v.now, i64 1, i64 {nv})
  store i64 %step, ptr %done.at
  br label %end
end:
  ret void
}}
"""


def rollout_ir(program: Program, callees: Mapping[str, KernelSpec], element: str) -> str:
    """Return the module of the rollouts of a program, of 'float' or 'double'."""
    parts = [state_function(spec, element, by_strides=False) for spec in callees.values()]
    parts.append(step_text(ROLLOUT, program, callees, 1, element))
    nq, nv, *_ = (column.numel() for column in program.inputs)
    sizes = {'q.now': nq, 'v.now': nv, 'q.end': nq, 'v.end': nv, 'effort': nv, 'th': 2, 'rank': 1}
    names = ('q', 'v', 'tau', 'parameters')
    kernel = _KERNEL.format(
        name=ROLLOUT,
        arrays='\n  '.join(f'%{name} = alloca [{n} x {element}]' for name, n in sizes.items()),
        thread='\n  '.join(thread_number('%rollouts')),
        rows='\n  '.join(line for name in names for line in row(name, element, '%state')),
        round='bitcast' if element == 'double' else 'fptrunc',  # the time has more digits
        element=element,
        limit=Block(1, element).constant(HEALTH_LIMITS[element]),
        nq=nq,
        nv=nv,
    )
    return gpu_module(ROLLOUT, [*parts, (kernel, set())], element)


def steps_code(
    recipe: Recipe, integrator: str, projection: bool, compiler: PtxCompiler, precision: str
) -> CachedKernel:
    """Return the code of the rollouts of one integrator."""
    tracer = tracer_of(recipe, in_single=precision == 'float32')
    holonomic = projection and bool(tracer.holonomic)
    if precision == 'float32' and (integrator == 'midpoint' or holonomic):
        what = "the integrator 'midpoint'" if not holonomic else 'projection onto positions'
        raise InvalidInputError(
            f"{what} asks for more digits than float32 has: compile with precision='float64'"
        )

    def make() -> CachedKernel:
        programs = step_programs(tracer, recipe.law, integrator, projection)
        called = callees(tracer, programs)
        (program,) = programs.values()
        code = compiler.compile(rollout_ir(program, called, ELEMENTS[precision]))
        return CachedKernel(code, (), (), sum(spec.operations for spec in called.values()))

    how = step_name(integrator, projection), recipe.law_content, 'cuda', compiler.identity
    return recipe.cached_kernel(ROLLOUT, make, *how, precision)


class CardSteps:
    """Code of the rollouts of one integrator."""

    def __init__(self, code: CachedKernel, device: CudaDevice) -> None:
        self._run_on, self.usage = device.load(code.code, ROLLOUT)

    def run(
        self,
        indices: Array,
        q: Array,
        v: Array,
        efforts: Array,
        parameters: Array,
        kept: Array,
        done: Array,
        schedule: tuple[float, int, int, int],
    ) -> None:
        """Take steps of some rollouts, until the last or until one is not sound."""
        h, count, piece, every = schedule
        state, part, entry = [stride // efforts.itemsize for stride in efforts.strides]
        tau = efforts, np.int64(state), np.int32(entry), np.int64(part)
        inputs: list[Any] = [np.int64(len(indices)), indices]
        for array in (q, v):
            inputs += View.of(array).arguments()
        inputs += [*tau, *View.of(parameters).arguments()]
        room = [stride // kept.itemsize for stride in kept.strides]
        inputs += [kept, np.int64(room[1]), np.int64(room[0]), done, np.float64(h)]
        inputs += [np.int64(count), np.int64(piece), np.int64(every or count + 1)]
        self._run_on(len(indices), inputs)
