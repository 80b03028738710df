# SPDX-License-Identifier: Apache-2.0
"""
All methods of forward dynamics on random trees under random constraints: one acceleration.

``python -m studies.agreement`` draws 50 trees of several joint kinds on every base, with rows
that depend on coordinates and time, some of them combinations of others, and compares all methods
on compiled terms with the compiled straight-line solve, on 10^4 states of each tree. It is a
sweep: stopped, it goes on at the next tree.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

import kane_dynamics as kd
from kane_dynamics.formulations import METHODS
from kane_dynamics.sweep import Job, Sweep, SweepResult, grid, run
from studies import report
from studies.random_robots import KINDS, random_tree
from studies.report import Table

TREES, STATES = 50, 10_000
TARGET = 1e-9  # largest difference of an acceleration, relative to the largest acceleration
BASES = ('fixed', 'planar', 'floating')
JOINTS = 3  # besides the base


@dataclass(frozen=True)
class Agreement:
    """
    How far the methods are from the compiled solve on one tree.

    Parameters
    ----------
    tree : int
        Seed of the tree.
    base : str
        Its base.
    speeds, rows, rank : int
        Numbers of speeds and rows, and largest rank that was met.
    gaps : dict
        Largest relative difference of accelerations by method.

    """

    tree: int
    base: str
    speeds: int
    rows: int
    rank: int
    gaps: dict[str, float]


def random_robot(seed: int) -> kd.Robot:
    """Return a branched robot of random joint kinds with armature, damping and friction."""
    rng = np.random.default_rng(seed)
    return random_tree(rng, BASES[seed % 3], rng.permutation(KINDS)[:JOINTS], mimic=False)


def random_constraints(robot: kd.Robot, seed: int) -> list[Any]:
    """Return rows in general position, rows that repeat them, and a wheel on a planar base."""
    rng = np.random.default_rng(1000 + seed)
    count = int(rng.integers(1, 4))
    rows, turning, rates = rng.normal(size=(3, count, robot.nv))
    mixing = rng.normal(size=(int(rng.integers(1, 3)), count))

    def A(q: Any, t: Any) -> Any:  # noqa: N802
        own = rows + np.sin(q[0] + t) * turning + 0.3 * q[-1] * rates
        return np.vstack([own, mixing.dot(own)])

    def b(q: Any, t: Any) -> Any:
        own = np.array([np.cos(t * (k + 1.0)) * q[k % robot.nq] for k in range(count)])
        return np.concatenate([own, mixing.dot(own)])

    constraints: list[Any] = [kd.constraints.pfaffian(robot, A, b, label='random')]
    if robot.base == 'planar':
        constraints.append(kd.constraints.no_side_slip(robot, axle_offset=0.2))
    return constraints


def gaps(job: Job) -> dict[str, Any]:
    """Return how far the methods are apart on one tree, at random states and times, and ranks."""
    seed = job.parameters['tree']
    robot = random_robot(seed)
    fast = kd.compile(robot, random_constraints(robot, seed), methods=True)
    found, ranks = np.zeros((len(job), len(METHODS))), np.zeros((len(job), len(METHODS)), int)
    for row, rng in enumerate(job.generators()):
        q = kd.integrate(robot, robot.neutral(), rng.uniform(-1.5, 1.5, robot.nv), 1.0)
        v, tau = rng.uniform(-1.0, 1.0, (2, robot.nv))
        t = rng.uniform(0.0, 2.0)
        expected = fast.acceleration(q, v, tau, t)
        scale = np.abs(expected).max()
        for column, method in enumerate(METHODS):
            motion = fast.forward_dynamics(q, v, tau, t, method=method)
            found[row, column] = np.abs(motion.acceleration - expected).max() / scale
            ranks[row, column] = motion.rank
    return {'gaps': found, 'ranks': ranks}


def sweep(trees: int, states: int) -> Sweep:
    """Return the sweep over all trees; a tree's code is made once, so it is one chunk."""
    return Sweep('studies.agreement:gaps', grid(tree=range(trees)), states, chunk=states)


def agreements(found: SweepResult) -> list[Agreement]:
    """Return how far the methods are apart on each tree that has a result."""
    trees = []
    for chunk, arrays in found.chunks():
        seed = chunk.job.parameters['tree']
        robot = random_robot(seed)
        rows = len([x for one in random_constraints(robot, seed) for x in one.labels])
        worst = dict(zip(METHODS, arrays['gaps'].max(axis=0).tolist(), strict=True))
        rank = int(arrays['ranks'].max())
        trees.append(Agreement(seed, robot.base, robot.nv, rows, rank, worst))
    return trees


def table(found: Sequence[Agreement], states: int) -> Table:
    """Return the largest differences over all trees."""
    headings = ('method', 'largest relative difference', 'trees above the target')
    result = Table(f'Accelerations of {len(found)} random trees, all methods', headings)
    for method in METHODS:
        gaps = [tree.gaps[method] for tree in found]
        missed = sum(gap > TARGET for gap in gaps)
        result.add(method, f'{max(gaps):.1e}', f'{missed} of {len(found)}')
    sizes, ranks = [tree.speeds for tree in found], [tree.rank for tree in found]
    result.notes.append(
        f'{states} states of each tree, {min(sizes)} to {max(sizes)} speeds, ranks {min(ranks)} '
        f'to {max(ranks)}, target {TARGET:.0e}'
    )
    return result


def main() -> int:
    """Run the comparison as a command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--trees', type=int, default=TREES)
    parser.add_argument('--states', type=int, default=STATES)
    parser.add_argument('--workers', type=int, default=os.cpu_count() or 1)
    parser.add_argument('--folder', type=Path, help='of the sweep; in that of the report if none')
    report.add_output(parser)
    chosen = parser.parse_args()
    console, results = report.begin()
    folder = chosen.folder or chosen.output / 'agreement'
    ended = run(sweep(chosen.trees, chosen.states), folder, workers=chosen.workers)
    found = agreements(ended)
    results['trees'] = [asdict(tree) for tree in found]
    results['failures'] = [str(failure.path) for failure in ended.failures]
    report.finish(console, chosen.output, 'agreement', results, [table(found, chosen.states)])
    missed = any(gap > TARGET for tree in found for gap in tree.gaps.values())
    return int(missed or bool(ended.failures))


if __name__ == '__main__':
    raise SystemExit(main())
