# SPDX-License-Identifier: Apache-2.0
"""States and steps a second on a graphics card, beside what the card can do at most."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Any

import numpy as np
from rich.progress import track

import kane_dynamics as kd
from kane_dynamics.kernels.compile_robot import on_card
from kane_dynamics.kernels.cuda.device import CudaDevice, Device
from kane_dynamics.kernels.cuda.prelude import TYPES
from kane_dynamics.kernels.cuda.robot import CudaRobot
from studies import robots
from studies.cuda.kernels import NAMES, ROBOTS, recipe_of
from studies.report import Table

REPEATS, STEPS = 5, 200
# Lanes of a multiprocessor by kind of card, in single and double precision.
_LANES = {'float32': 128, 'float64': 64}
_FEW_DOUBLES = ('86', '89', '120')  # two lanes there


def bounds(properties: dict[str, Any], capability: str, precision: str) -> tuple[float, float]:
    """Return operations [1/s] and bytes [1/s] that a card can do at most."""
    lanes = _LANES[precision]
    if precision == 'float64' and capability in _FEW_DOUBLES:
        lanes = 2
    operations = properties['multiProcessorCount'] * lanes * properties['clockRate'] * 1e3
    transfers = 2.0 * properties['memoryClockRate'] * 1e3
    return operations, transfers * properties['memoryBusWidth'] / 8.0


def rate(call: Callable[[], Any], count: int) -> float:
    """Return how many a second, the fastest of some calls, each of which waits for its end."""
    call()
    times = []
    for _ in range(REPEATS):
        begin = perf_counter()
        call()
        times.append(perf_counter() - begin)
    return count / min(times)


def rates(
    name: str, case: robots.Case, device: Device, precision: str, states: int
) -> list[dict[str, Any]]:
    """Return the rates of the kernels of one robot."""
    card = on_card(recipe_of(case, precision), None, device, lambda *_: None)
    found = []
    for layout in ('rows', 'side by side'):
        q, v, a, tau = (_many(device, x, states, precision, layout) for x in _state(case))
        calls: dict[str, Callable[[], Any]] = {
            'inverse_dynamics': lambda q=q, v=v, a=a: card.inverse_dynamics(q, v, a),
            'forward_dynamics': lambda q=q, v=v, tau=tau: card.acceleration(q, v, tau),
        }
        for kernel, call in calls.items():
            found.append(
                {
                    'robot': name,
                    'kernel': kernel,
                    'precision': precision,
                    'layout': layout,
                    'rate': rate(call, states),
                    'operations': card.instructions[kernel],
                    'bytes': (3 * len(case.v) + case.robot.nv + 1) * np.dtype(precision).itemsize,
                }
            )
    return [*found, _steps(name, case, card, device, precision, states // 16)]


def _steps(
    name: str, case: robots.Case, card: CudaRobot, device: Device, precision: str, count: int
) -> dict[str, Any]:
    q, v, _, _ = (np.repeat(x[None], count, axis=0) for x in _state(case))
    run = rate(lambda: kd.rollout(card, q, v, STEPS * 1e-3), count * STEPS)
    row = {'robot': name, 'kernel': 'rollout', 'precision': precision, 'layout': 'rows'}
    return {
        **row,
        'rate': run,
        'operations': 4 * card.instructions['forward_dynamics'],
        'bytes': 0,
    }


def _state(case: robots.Case) -> tuple[Any, ...]:
    return case.q, case.v, case.a, case.tau


def _many(device: Device, x: Any, states: int, precision: str, layout: str) -> Any:
    one = device.array(x, np.dtype(precision))
    rows = device.xp.broadcast_to(one, (states, len(one)))
    return device.xp.array(rows, order='C' if layout == 'rows' else 'F')


def measured(names: Sequence[str], states: int) -> tuple[list[dict[str, Any]], list[Table]]:
    """Return the rates on the card of this machine."""
    device = CudaDevice()
    properties = device.xp.cuda.runtime.getDeviceProperties(device.xp.cuda.Device().id)
    limits = {p: bounds(properties, device.architecture.removeprefix('sm_'), p) for p in TYPES}
    found = [
        row
        for name in track(names, 'running')
        for precision in TYPES
        for row in rates(name, ROBOTS[name](), device, precision, states)
    ]
    made = table(found, limits)
    made.notes.append(f'{properties["name"].decode()}, {states:,} states')
    return found, [made]


def table(found: list[dict[str, Any]], limits: dict[str, tuple[float, float]]) -> Table:
    """Return the rates beside the lower bound of operations and memory."""
    columns = ('robot, kernel', 'precision', 'layout', 'a second', 'bound', 'by', 'part of it')
    made = Table('Rates on this card', columns)
    for row in found:
        operations, memory = limits[row['precision']]
        by_operations = operations / row['operations']
        by_memory = memory / row['bytes'] if row['bytes'] else np.inf
        bound, kind = min((by_operations, 'operations'), (by_memory, 'memory'))
        made.add(
            f'{row["robot"]}: {NAMES[row["kernel"]]}',
            row['precision'],
            row['layout'],
            f'{row["rate"]:.2e}',
            f'{bound:.2e}',
            kind,
            f'{row["rate"] / bound:.0%}',
        )
    made.notes.append('operations: one a lane and cycle, products fused into sums not counted')
    return made
