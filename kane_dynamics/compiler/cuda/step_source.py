# SPDX-License-Identifier: Apache-2.0
"""
Recorded steps as CUDA C: one rollout a thread, the loop over time inside the kernel.

Calls of the recorded program are calls of ``NAME_one`` of `source`, one copy each, with arrays in
the local memory of the thread. The kernel reads and writes states in place: a rollout whose step
is not sound stays where it is, with its number of steps; the caller takes that step by the
reference, and starts the kernel again for such rollouts.
"""

from __future__ import annotations

from collections.abc import Mapping

from kane_dynamics.compiler.cuda.block import CudaBlock
from kane_dynamics.compiler.cuda.prelude import prelude
from kane_dynamics.compiler.cuda.source import PARAMETERS, THREADS, one_text
from kane_dynamics.compiler.llvm.kernel_spec import KernelSpec
from kane_dynamics.compiler.programs import Call, Loop, Program
from kane_dynamics.compiler.steps.program_writer import TURNS, ProgramWriter
from kane_dynamics.simulation.integrators import ENOUGH, SOLVED
from kane_dynamics.simulation.step_checks import LARGEST

ROLLOUT = 'rollout'  # the name of the kernel
_ARRAYS = ('q', 'v', 'tau', 'th')


def rollout_source(program: Program, callees: Mapping[str, KernelSpec]) -> str:
    """Return the whole CUDA C of a program."""
    parts = [prelude(), *[one_text(spec, inline=False) for spec in callees.values()]]
    return ''.join([*parts, _step_text(program, callees), _kernel_text(program)])


def _step_text(program: Program, callees: Mapping[str, KernelSpec]) -> str:
    step = _Step(program, callees)
    block = step.block
    known = [
        [block.emit(f'{array}[{k}]') for k in range(column.numel())]
        for array, column in zip(_ARRAYS, program.inputs, strict=False)
    ]
    read = f'{PARAMETERS}[{{}} * kd_index({PARAMETERS}_entry)]'
    known.append([block.emit(read.format(k)) for k in range(program.inputs[4].numel())])
    step.append(program.calls, known)
    ends = step.values(known)
    for array, values in zip(('q_end', 'v_end'), ends, strict=False):
        block.lines += [f'{array}[{k}] = {value};' for k, value in enumerate(values)]
    arguments = ', '.join(
        [f'const real* {a}' for a in _ARRAYS]
        + [f'const real* {PARAMETERS}, const int {PARAMETERS}_entry', 'real* q_end, real* v_end']
    )
    body = '\n  '.join(['real health = real(1);', *block.lines, 'return health;'])
    return f'static __device__ __noinline__ real kd_step({arguments})\n{{\n  {body}\n}}\n'


class _Step(ProgramWriter[CudaBlock]):
    """The statements of one step under construction."""

    def __init__(self, program: Program, callees: Mapping[str, KernelSpec]) -> None:
        super().__init__(CudaBlock(), program)
        self._callees, self._count = callees, 0

    def _call(self, call: Call, known: list[list[str]]) -> list[list[str]]:
        spec = self._callees[call.kernel]
        arguments = self.values(known)[: len(spec.input_sizes)]
        provided = [f'{self._filled(values)}, 1' for values in arguments]
        results = [self._array(size) for size in spec.output_sizes]
        passed = [*provided, f'{PARAMETERS}, {PARAMETERS}_entry', *[f'{r}, 1' for r in results]]
        self._lower_health(self.block.emit(f'{spec.name}_one({", ".join(passed)})'))
        return [
            [self.block.emit(f'{result}[{k}]') for k in range(column.numel())]
            for result, column in zip(results, call.results, strict=True)
        ]

    def _loop(self, loop: Loop, known: list[list[str]]) -> list[str]:
        block, (start,) = self.block, self.values(known)
        vector = self._filled(start)
        change, turns = f'{vector}_change', f'{vector}_turns'
        block.lines += [f'real {change};', f'int {turns} = 0;', 'do {']
        inside = [*known, [block.emit(f'{vector}[{k}]') for k in range(len(start))]]
        self.append(loop.calls, inside)
        better, (moved,) = self.values(inside)
        block.lines += [f'{vector}[{k}] = {value};' for k, value in enumerate(better)]
        solved, enough = block.constant(SOLVED), block.constant(ENOUGH)
        block.lines += [
            f'{change} = {moved};',
            f'}} while (++{turns} < {TURNS} && {change} > {solved});',
            # not a number at once: so was the state; later on: the iteration ran away
            f'if ({change} > {enough} || ({change} != {change} && {turns} > 1)) health = real(0);',
        ]
        block.forget()
        return [block.emit(f'{vector}[{k}]') for k in range(len(start))]

    def _lower_health(self, local: str) -> None:
        self.block.lines.append(
            f'health = {local} >= health ? health : {local} < health ? {local} : real(0);'
        )

    def _array(self, size: int) -> str:
        self._count += 1
        name = f'a{self._count}'
        self.block.lines.append(f'real {name}[{max(1, size)}];')
        return name

    def _filled(self, values: list[str]) -> str:
        name = self._array(len(values))
        self.block.lines += [f'{name}[{k}] = {value};' for k, value in enumerate(values)]
        return name


def _kernel_text(program: Program) -> str:
    nq, nv, *_ = (column.numel() for column in program.inputs)
    return _KERNEL.format(
        name=ROLLOUT, threads=THREADS, nq=nq, nv=nv, p=PARAMETERS, largest=LARGEST
    )


_KERNEL = """\
extern "C" __global__ void __launch_bounds__({threads} KD_BLOCKS)
{name}(const kd_index rollouts, const kd_index* __restrict__ places,
  real* q, const kd_index q_state, const int q_entry,
  real* v, const kd_index v_state, const int v_entry,
  const real* __restrict__ tau, const kd_index tau_state, const int tau_entry,
  const kd_index tau_piece,
  const real* __restrict__ {p}, const kd_index {p}_state, const int {p}_entry,
  real* __restrict__ kept, const kd_index kept_state, const kd_index kept_sample,
  kd_index* __restrict__ done, const double h, const kd_index count, const kd_index piece,
  const kd_index every)
{{
  const kd_index thread = kd_index(blockIdx.x) * {threads} + threadIdx.x;
  if (thread >= rollouts) return;
  const kd_index state = places[thread];
  q += state * q_state;
  v += state * v_state;
  tau += state * tau_state;
  {p} += state * {p}_state;
  kept += state * kept_state;
  real q_now[{nq}], v_now[{nv}], q_end[{nq}], v_end[{nv}], effort[{nv}], th[2];
  for (int k = 0; k < {nq}; k++) q_now[k] = q[k * kd_index(q_entry)];
  for (int k = 0; k < {nv}; k++) v_now[k] = v[k * kd_index(v_entry)];
  th[1] = real(h);
  kd_index steps = done[state];
  kd_index held = -1;
  for (; steps < count; steps++) {{
    if (steps / piece != held) {{
      held = steps / piece;
      for (int k = 0; k < {nv}; k++)
        effort[k] = tau[held * tau_piece + k * kd_index(tau_entry)];
    }}
    th[0] = real(double(steps) * h);
    const real health = kd_step(q_now, v_now, effort, th, {p}, {p}_entry, q_end, v_end);
    bool within = health >= KD_HEALTH_LIMIT;
    for (int k = 0; k < {nq}; k++) within = within && fabs(q_end[k]) < real({largest!r});
    for (int k = 0; k < {nv}; k++) within = within && fabs(v_end[k]) < real({largest!r});
    if (!within) break;
    for (int k = 0; k < {nq}; k++) q_now[k] = q_end[k];
    for (int k = 0; k < {nv}; k++) v_now[k] = v_end[k];
    if (every && (steps + 1) % every == 0) {{
      real* sample = kept + (steps + 1) / every * kept_sample;
      for (int k = 0; k < {nq}; k++) sample[k] = q_now[k];
      for (int k = 0; k < {nv}; k++) sample[{nq} + k] = v_now[k];
    }}
  }}
  for (int k = 0; k < {nq}; k++) q[k * kd_index(q_entry)] = q_now[k];
  for (int k = 0; k < {nv}; k++) v[k * kd_index(v_entry)] = v_now[k];
  done[state] = steps;
}}
"""
