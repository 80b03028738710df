# SPDX-License-Identifier: Apache-2.0
"""States and steps a second on a graphics card, beside what the card can do at most."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from time import perf_counter
from typing import Any

import numpy as np

import kane_dynamics as kd
from kane_dynamics.compiler.cuda.device import CudaDevice
from kane_dynamics.compiler.cuda.kernel_ir import ELEMENTS
from kane_dynamics.compiler.cuda.robot import CudaDynamics
from studies import robots
from studies.cuda import timed
from studies.cuda.kernels import NAMES, ROBOTS, driven, recipe_of
from studies.cuda.limits import Limits, bound, limits
from studies.cuda.timed import Timed
from studies.report import Table

REPEATS, STEPS = 5, 100
STEP = 1e-6  # [s]; damping stops the last joint of TIAGo in 4e-6 s
LAYOUTS = 'rows', 'side by side'
_FEW = 1024  # states of a first call: the kernel is compiled, and seen to answer
# Rollouts: their starts are moved onto the constraints by the processor.
_MOST_ROLLOUTS = 2**15
TARGET = 0.25  # of the bound
Row = dict[str, Any]
Keep = Callable[[list[Row]], None]


class Case:
    """A robot on a card in one precision, and its state as many."""

    def __init__(self, name: str, precision: str, device: Timed, limit: Limits) -> None:
        self.case: robots.Case = ROBOTS[name]()
        self.device, self.precision = device, precision
        recipe = recipe_of(self.case, precision)
        self.gpu: CudaDynamics = CudaDynamics(recipe, device)
        self.common = {'robot': name, 'precision': precision, 'limits': limit._asdict()}

    def many(self, x: Any, states: int, layout: str) -> Any:
        """Return so many copies of a state: rows, or the same numbers of all side by side."""
        one = self.device.array(x, np.dtype(self.precision))
        shape = (states, len(one)) if layout == 'rows' else (len(one), states)
        memory = self.device.xp.empty(shape, self.precision)
        made = memory if layout == 'rows' else memory.T
        made[...] = one
        return made

    def calls(self) -> dict[str, tuple[Callable[..., Any], tuple[Any, ...]]]:
        """Return what is called of each kernel, and one state of its inputs."""
        case, gpu = self.case, self.gpu
        found: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
            'inverse_dynamics': (gpu.inverse_dynamics, (case.q, case.v, case.a)),
            'forward_dynamics': (gpu.acceleration, (case.q, case.v, case.tau)),
        }
        if case.constraints:
            a = kd.consistent_acceleration(case.robot, case.q, case.v, case.a, case.constraints)
            names = driven(case)

            def effort(q: Any, v: Any, a: Any) -> Any:
                return gpu.constrained_inverse_dynamics(q, v, a, names).numbers

            found['constrained_effort'] = effort, (case.q, case.v, a)
        return found

    def kernel(self, kernel: str, layout: str, states: int) -> Row:
        """Return the rate of one kernel on arrays of one layout."""
        function, state = self.calls()[kernel]
        before = self.gpu.fallback_count
        few = function(*(self.many(x, _FEW, layout) for x in state))
        redone = self.gpu.fallback_count - before
        if redone:
            raise RuntimeError(f'{redone} of {_FEW} states went to the processor: not timed')
        arrays = [self.many(x, states, layout) for x in state]
        numbers = sum(len(x) for x in state) + few.shape[1] + 1  # and the health of each state
        return {
            **self._times(lambda: function(*arrays), states),
            'operations': self.gpu.instructions[kernel],
            'bytes': numbers * np.dtype(self.precision).itemsize,
        }

    def steps(self, states: int) -> Row:
        """Return the rate of steps of rk4 in rollouts."""
        count = min(states, _MOST_ROLLOUTS)
        q, v = (np.repeat(x[None], count, axis=0) for x in (self.case.q, self.case.v))
        found = kd.rollout(self.gpu, q[:_FEW], v[:_FEW], STEPS * STEP, step=STEP)
        if found.fallback_count or int(found.steps.min()) < STEPS:
            raise RuntimeError(
                f'{found.fallback_count} steps went to the processor, the shortest rollout has '
                f'{found.steps.min()} of {STEPS}: not timed'
            )
        return {
            **self._times(
                lambda: kd.rollout(self.gpu, q, v, STEPS * STEP, step=STEP), count * STEPS
            ),
            'operations': 4 * self.gpu.instructions['forward_dynamics'],  # at least
            'bytes': 0,  # states stay where they are
        }

    def _times(self, call: Callable[[], Any], count: int) -> Row:
        """Return rates of the kernels alone and of whole calls, each the fastest of some."""
        alone, whole = [], []
        for number in range(1 + REPEATS):
            self.device.seconds()
            begin = perf_counter()
            call()  # waits for its kernel
            if number:  # the first takes memory
                whole.append(perf_counter() - begin)
                alone.append(self.device.seconds())
        return {'rate': count / min(alone), 'rate_of_calls': count / min(whole), 'count': count}


def rows(name: str, precision: str, device: Timed, limit: Limits, states: int) -> Iterator[Row]:
    """Yield a row for each kernel and layout of a robot; what fails has an error in place."""
    common: Row = {'robot': name, 'precision': precision}
    try:
        case = Case(name, precision, device, limit)
        wanted = [(kernel, layout) for kernel in case.calls() for layout in LAYOUTS]
    except Exception as error:  # noqa: BLE001  other robots are worth their time on the card
        yield {**common, 'error': _said(error)}
        return
    for kernel, layout in [*wanted, ('rollout', 'rows')]:
        row = {**case.common, 'kernel': kernel, 'layout': layout}
        try:
            if kernel == 'rollout':
                found = case.steps(states // 16)
            else:
                found = case.kernel(kernel, layout, states)
            yield {**row, **found}
        except Exception as error:  # noqa: BLE001  other rows are worth their time on the card
            yield {**row, 'error': _said(error)}


def _said(error: Exception) -> str:
    return f'{type(error).__name__}: {error}'


def measured(
    names: Sequence[str],
    states: int,
    keep: Keep,
    say: Callable[[str], None],
    device: Timed | None = None,
) -> tuple[list[Row], list[Table]]:
    """
    Return the rates on the card of this machine; `device`: on the processor in its place.

    Each row is said, and all so far are given to `keep`, as soon as it is there.
    """
    made_of, title = device, 'the processor in place of a card'
    if made_of is None:
        made_of = timed.on_gpu(CudaDevice())
        number = made_of.xp.cuda.Device().id
        title = made_of.xp.cuda.runtime.getDeviceProperties(number)['name'].decode()
    found: list[Row] = []
    for name in names:
        for precision in ELEMENTS:
            limit = Limits(None, None) if device else limits(made_of.xp, precision)
            for row in rows(name, precision, made_of, limit, states):
                found.append(row)
                keep(found)
                say(' '.join(cell for cell in _cells(row) if cell))
    made = table(found)
    made.notes.append(f'{title}, {states:,} states')
    return found, [made]


def _cells(row: Row) -> tuple[str, ...]:
    kernel = NAMES[row['kernel']] if 'kernel' in row else 'all'
    head = f'{row["robot"]}: {kernel}', row['precision'], row.get('layout', '')
    if 'error' in row:
        return (*head, row['error'], '', '', '', '')
    most, kind = bound(row)
    part = '' if most is None else f'{row["rate"] / most:.0%}'
    largest = '' if most is None else f'{most:.2e}'
    return (*head, f'{row["rate"]:.2e}', f'{row["rate_of_calls"]:.2e}', largest, kind, part)


def table(found: list[Row]) -> Table:
    """Return the rates beside the lower bound of operations and memory."""
    columns = ('robot, kernel', 'precision', 'layout', 'kernel [1/s]', 'whole call [1/s]')
    made = Table('Rates on this card', (*columns, 'bound', 'by', 'part of it'))
    for row in found:
        made.add(*_cells(row))
    judged = [(row, bound(row)[0]) for row in found if 'error' not in row]
    met = [row for row, most in judged if most is not None and row['rate'] >= TARGET * most]
    known = [row for row, most in judged if most is not None]
    made.notes.append(f'{len(met)} of {len(known)} kernels reach {TARGET:.0%} of their bound')
    made.notes.append(f'{len(found) - len(judged)} rows failed')
    made.notes.append('operations: one a lane and cycle, products fused into sums not counted')
    made.notes.append(
        'whole call: with the launch and the wait; of rollouts with checks of starts'
    )
    return made
