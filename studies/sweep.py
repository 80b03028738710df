# SPDX-License-Identifier: Apache-2.0
"""
Rollouts on workers that are killed: bit for bit those of undisturbed workers.

``python -m studies.sweep [--rollouts 1000000] [--kills 10] [--workers 2]``: the shipped mobile
manipulator of 8 speeds, which cannot slip sideways, starts in random states under random efforts.
The sweep runs twice; the second time, workers are killed at random moments. Then every file of
both is compared.
"""

from __future__ import annotations

import argparse
import random
import shutil
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import psutil

import kane_dynamics as kd
from kane_dynamics.sweep import Job, Sweep, SweepResult, run
from studies import report
from studies.report import Table
from studies.robots import nonholonomic

STEP, STEPS = 0.001, 10  # [s]
EFFORT = 10.0  # largest [N, N m]


@dataclass(frozen=True)
class Comparison:
    """
    Two runs of one sweep.

    Parameters
    ----------
    rollouts, chunks : int
        Of each run.
    kills : int
        Workers that were killed in the second one.
    undisturbed, killed : float
        What the runs took [s].
    different : int
        Files that are not the same, bit for bit.
    failures : int
        Chunks without a result.

    """

    rollouts: int
    chunks: int
    kills: int
    undisturbed: float
    killed: float
    different: int
    failures: int


def rollouts(job: Job) -> dict[str, Any]:
    """Return the last state of each rollout, and the steps that it took."""
    robot = job.parameters['robot']
    dynamics = kd.compile(robot, [kd.constraints.no_side_slip(robot)])
    size = robot.nq + 2 * robot.nv
    draws = np.array([rng.uniform(-1.0, 1.0, size) for rng in job.generators()])
    q, v, effort = np.split(draws, [robot.nq, robot.nq + robot.nv], axis=1)
    found = kd.rollout(dynamics, q, v, STEPS * STEP, effort=EFFORT * effort, step=STEP)
    return {'q': found.q, 'v': found.v, 'steps': found.steps}


def sweep(count: int, chunk: int) -> Sweep:
    """Return the sweep over so many rollouts."""
    cases = [{'robot': nonholonomic(wheels=False).robot}]
    return Sweep('studies.sweep:rollouts', cases, count, chunk=chunk)


class Killer:
    """
    Kills workers at random moments of a sweep.

    Parameters
    ----------
    kills : int
        How many.
    total : int
        Number of items.
    seed : int
        Of the moments and of who is hit.

    Attributes
    ----------
    killed : int
        How many it has killed.

    """

    def __init__(self, kills: int, total: int, seed: int = 0) -> None:
        self._random = random.Random(seed)
        # not in the last tenth: a worker that has nothing left to do dies for nothing
        moments = [self._random.uniform(0.0, 0.9 * total) for _ in range(kills)]
        self._moments = sorted(moments, reverse=True)
        self.killed = 0

    def progress(self, done: int, total: int, failed: int) -> None:
        """Kill a worker, while another one has just ended a chunk, if so much is done."""
        if not self._moments or done < self._moments[-1]:
            return
        self._moments.pop()
        workers = _workers()
        if workers:
            self._random.choice(workers).kill()
            self.killed += 1


def _workers() -> list[psutil.Process]:
    """Return the workers that this process has started and that live."""
    found = []
    for one in psutil.Process().children(recursive=True):
        with suppress(psutil.NoSuchProcess):  # it has ended since
            if 'spawn_main' in ' '.join(one.cmdline()):
                found.append(one)
    return found


def compare(
    folder: Path, count: int, kills: int, workers: tuple[int, int], chunk: int
) -> Comparison:
    """Run a sweep twice, the second time with workers that are killed, and compare all files."""
    definition = sweep(count, chunk)
    killer, times, found = Killer(kills, count), [], []
    runs = (('undisturbed', None), ('killed', killer.progress))
    for (name, progress), processes in zip(runs, workers, strict=True):
        shutil.rmtree(folder / name, ignore_errors=True)
        begun = perf_counter()
        found.append(run(definition, folder / name, workers=processes, progress=progress))
        times.append(perf_counter() - begun)
    files = [_files(result) for result in found]
    names = files[0].keys() | files[1].keys()
    different = sum(files[0].get(name) != files[1].get(name) for name in names)
    failures = sum(len(result.failures) + result.missing for result in found)
    return Comparison(count, len(names), killer.killed, *times, different, failures)


def _files(result: SweepResult) -> dict[str, bytes]:
    """Return what is in each file of a sweep."""
    return {path.name: path.read_bytes() for path in result.store.folder.glob('*.npz')}


def table(found: Comparison) -> Table:
    """Return the comparison as a table."""
    title = f'{found.rollouts} rollouts of {STEPS} steps in {found.chunks} chunks'
    result = Table(title, ('run', 'time', 'steps/s'))
    for name, seconds in (('undisturbed', found.undisturbed), ('killed', found.killed)):
        result.add(name, f'{seconds:.1f} s', f'{found.rollouts * STEPS / seconds:.3g}')
    result.notes.append(
        f'{found.kills} workers killed; {found.different} of {found.chunks} files differ, '
        f'{found.failures} chunks without a result'
    )
    return result


def main() -> int:
    """Run the comparison as a command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--rollouts', type=int, default=1_000_000)
    parser.add_argument('--kills', type=int, default=10)
    parser.add_argument('--workers', type=int, default=2)
    parser.add_argument('--chunk', type=int, default=10_000, help='rollouts at once')
    report.add_output(parser)
    chosen = parser.parse_args()
    console, results = report.begin()
    folder = chosen.output / 'rollouts'
    workers = chosen.workers, chosen.workers
    found = compare(folder, chosen.rollouts, chosen.kills, workers, chosen.chunk)
    results['rollouts'] = asdict(found)
    report.finish(console, chosen.output, 'sweep', results, [table(found)])
    return int(found.different or found.failures or found.kills < chosen.kills)


if __name__ == '__main__':
    raise SystemExit(main())
