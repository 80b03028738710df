# SPDX-License-Identifier: Apache-2.0
"""
What 10^12 states cost on many machines: rates of this one, and what follows from them.

``python -m studies.scale --speeds 24 50 94 104 --chains 104 200``: what robots of so many speeds
take to compile, to load and to call; none may fall back on the reference.

``python -m studies.scale [--machines 100] [--cores 64]``: states per second of one core, in time
of the processor, and what a sweep adds to them, are measured. A graphics card is not: its columns
are the most that its data sheet allows, for the operations of the same graphs. Prices are
assumptions.
"""

from __future__ import annotations

import argparse
import os
import pickle
import tempfile
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from time import perf_counter, process_time
from typing import Any

import numpy as np

import kane_dynamics as kd
from kane_dynamics.compiler.batches import limited_cores
from kane_dynamics.simulation.integrators import INTEGRATORS
from kane_dynamics.sweep import Job, Sweep, run
from studies import report
from studies.report import Table
from studies.robots import nonholonomic, of_speeds

STATES = 1e12
ROWS, REPEATS, STEP, STEPS = 20_000, 5, 0.001, 200
CHUNK = 60.0  # what a chunk takes [s]
TASKS = 1000  # chunks that measure what one costs
CORE_PRICE, CARD_PRICE = 0.04, 4.0  # assumptions [USD/h]
# H200 SXM, data sheet: 67 TFLOP/s in single precision, a multiplication and an addition counting
# as two, of which a graph of single operations reaches half; 4.8 TB/s of memory
CARD_OPERATIONS, CARD_BYTES = 67e12 / 2.0, 4.8e12
SINGLE, DOUBLE = 4, 8  # [bytes]


@dataclass(frozen=True)
class Work:
    """
    One kind of work.

    Parameters
    ----------
    name : str
        What is computed.
    rate : float
        States per second of one core.
    operations : float
        Of the graphs, for one state.
    numbers : int
        That are read and written for one state.

    """

    name: str
    rate: float
    operations: float
    numbers: int

    @property
    def card_bound(self) -> float:
        """Return states per second that one card cannot exceed."""
        return min(CARD_OPERATIONS / self.operations, CARD_BYTES / (SINGLE * self.numbers))


def measured() -> tuple[list[Work], float]:
    """Return rates of one core, and how long the robot takes to compile [s of the processor]."""
    case = nonholonomic(wheels=False)
    robot = case.robot
    begun = process_time()
    fast = kd.compile(robot, case.constraints, cache=False)
    compiling = process_time() - begun
    rng = np.random.default_rng(0)
    q, v, tau = rng.uniform(-1.0, 1.0, (3, ROWS, robot.nv))
    start = np.tile(case.q, (ROWS // STEPS, 1)), np.tile(case.v, (ROWS // STEPS, 1))

    def roll() -> Any:
        return kd.rollout(fast, *start, STEPS * STEP, effort=tau[: len(start[0])], step=STEP)

    count = fast.instructions
    forward = count['forward_dynamics']
    width = robot.nq + 2 * robot.nv
    with limited_cores(1):
        rates = [
            _rate(lambda: fast.inverse_dynamics(q, v, tau)),
            _rate(lambda: fast.acceleration(q, v, tau)),
            _rate(roll),
        ]
    works = [
        Work('inverse dynamics', rates[0], count['inverse_dynamics'], width + robot.nv),
        Work('constrained forward dynamics', rates[1], forward, width + robot.nv),
        # what a step adds to its four stages, the projection, is about one more of them
        Work(
            'RK4 steps of rollouts',
            rates[2],
            5.0 * forward,
            2 * (robot.nq + robot.nv) // STEPS + 1,
        ),
    ]
    return works, compiling


def nothing(job: Job) -> dict[str, Any]:
    """Return one number for each item: what is left is what a chunk costs."""
    return {'x': np.zeros(len(job))}


def cost_of_a_chunk() -> tuple[float, float, int]:
    """
    Return what a chunk costs besides its work.

    Returns
    -------
    longer : float
        How much longer a worker takes for it: scheduler, two files [s].
    served : float
        Time of the one processor that client and scheduler share [s].
    size : int
        What travels to the worker [bytes].

    """
    cases = [{'robot': nonholonomic(wheels=False).robot}]
    sweep = Sweep('studies.scale:nothing', cases, TASKS, chunk=1)
    ends: list[tuple[float, float]] = []

    def note(done: int, total: int, failed: int) -> None:
        ends.append((perf_counter(), process_time()))

    with tempfile.TemporaryDirectory() as folder:
        run(sweep, folder, workers=1, progress=note)
    # from the first chunk, which waits for the worker to start, to the last
    longer, served = (np.subtract(ends[-1], ends[1]) / (TASKS - 1)).tolist()
    return longer, served, len(pickle.dumps(next(sweep.chunks())))


def plan(works: list[Work], machines: int, cores: int) -> Table:
    """Return hours and prices of all states on these machines, with and without cards."""
    heads = ('rate of a core', 'time', 'price', 'bound of a card', 'least time', 'least price')
    title = f'10^12 states on {machines} machines of {cores} cores, or of one card each'
    table = Table(title, ('work', *heads))
    for work in works:
        hours = STATES / (work.rate * machines * cores) / 3600.0
        least = STATES / (work.card_bound * machines) / 3600.0
        table.add(
            work.name,
            f'{work.rate:.2g}/s',
            _duration(hours),
            f'{hours * machines * cores * CORE_PRICE:.2g} USD',
            f'{work.card_bound:.2g}/s',
            _duration(least),
            f'{least * machines * CARD_PRICE:.2g} USD',
        )
    table.notes.append(
        f'assumed: {CORE_PRICE} USD for an hour of a core, {CARD_PRICE} USD for one of a card; '
        'rates of a core in time of the processor; a card is a bound, not measured'
    )
    return table


def sizes(speeds: list[int], chains: list[int]) -> Table:
    """Return times of robots with so many speeds, on wheels; a chain on the shipped one last."""
    heads = ('speeds', 'rows', 'compile', 'from the cache', 'vdot', *INTEGRATORS, 'fallback_count')
    table = Table('Robots on two wheels by their number of speeds', heads)
    cases = [(str(n), of_speeds(n)) for n in speeds]
    for count, one in [*cases, *((f'{n}, chain', of_speeds(n, chained=True)) for n in chains)]:
        with warnings.catch_warnings(), tempfile.TemporaryDirectory() as folder:
            warnings.simplefilter('ignore', kd.exceptions.PerformanceWarning)
            os.environ['XDG_CACHE_HOME'] = folder
            times = []
            for _ in range(2):
                begun = process_time()
                fast = kd.compile(one.robot, one.constraints)
                times.append(process_time() - begun)
        q, v, tau = one.q, one.v, one.tau
        calls = [_shortest(partial(fast.acceleration, q, v, tau))]
        for name in INTEGRATORS:
            step = partial(fast.engine(name).advance, q, v, tau, 0.0, STEP, 1)
            calls.append(_shortest(step))
        shown = [f'{1e6 * x:.3g} us' for x in calls]
        compiling, loading = (f'{x:.2g} s' for x in times)
        table.add(
            count, str(len(fast.labels)), compiling, loading, *shown, str(fast.fallback_count)
        )
    table.notes.append(
        'compiling and loading in time of the processor; calls: the shortest of 300'
    )
    return table


def _shortest(call: Callable[[], Any]) -> float:
    """Return the shortest time of a call [s]."""
    times = []
    for _ in range(300):
        begun = perf_counter()
        call()
        times.append(perf_counter() - begun)
    return min(times)


def main() -> None:
    """Measure, and print the plan."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--machines', type=int, default=100)
    parser.add_argument('--cores', type=int, default=64)
    parser.add_argument('--speeds', type=int, nargs='+', default=[])
    parser.add_argument('--chains', type=int, nargs='+', default=[], help='speeds, as --speeds')
    report.add_output(parser)
    chosen = parser.parse_args()
    console, results = report.begin()
    if chosen.speeds or chosen.chains:
        report.finish(
            console, chosen.output, 'scale', results, [sizes(chosen.speeds, chosen.chains)]
        )
        return
    works, compiling = measured()
    longer, served, size = cost_of_a_chunk()
    results['scale'] = {
        'works': [asdict(work) | {'card_bound': work.card_bound} for work in works],
        'compiling_s': compiling,
        'chunk_longer_s': longer,
        'chunk_served_s': served,
        'chunk_bytes': size,
    }
    table = plan(works, chosen.machines, chosen.cores)
    chunks = [STATES / work.rate / CHUNK for work in works]
    table.notes += [
        f'{min(chunks):.2g} to {max(chunks):.2g} chunks of {CHUNK:g} s of a core; each takes its '
        f'worker {1e3 * longer:.1f} ms more, the scheduler {1e3 * served:.1f} ms of a core, '
        f'and {size} bytes on the way',
        f'compiling: {compiling:.1f} s of the processor, once a machine',
    ]
    report.finish(console, chosen.output, 'scale', results, [table])


def _rate(call: Callable[[], Any]) -> float:
    """Return states per second of one core, in its own time: others at work do not count."""
    call()
    times = []
    for _ in range(REPEATS):
        begun = process_time()
        call()
        times.append(process_time() - begun)
    return ROWS / min(times)


def _duration(hours: float) -> str:
    return f'{hours:.2g} h' if hours >= 1.0 else f'{3600.0 * hours:.2g} s'


if __name__ == '__main__':
    main()
