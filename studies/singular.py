# SPDX-License-Identifier: Apache-2.0
"""
Where rows nearly repeat others: steered wheels a little off, and bars through a flat position.

``python -m studies.singular [--motions 200]``: how often angles of four steered wheels that are
off by so much leave their base no motion; and what a state and a step of a two-loop four-bar
linkage take far from its flat position, where the quick code is sure, and at it.
"""

from __future__ import annotations

import argparse
from time import perf_counter

import numpy as np

import kane_dynamics as kd
from studies import report, robots
from studies.report import Table

ERRORS = (0.5, 1.0, 1.5, 2.0, 5.0, 10.0)  # of angles, at most [mrad]
STATES, STEPS, STEP = 2000, 400, 1e-3
ANGLES = (0.3, 1e-2, 3e-3, 2e-3, 1e-3, 1e-4, 0.0)  # of the rods [rad]


def n_four_bar(count: int = 2) -> tuple[kd.Robot, list[kd.constraints.Constraint]]:
    """Return rods on the ground with bars between their tips; flat at q = 0, where rank falls."""
    rod = kd.Inertia(1.0, (0.5, 0.0, 0.0), np.diag((1e-3, 1 / 12, 1 / 12)))
    bodies = [
        kd.Body(f'rod{k}', '', _hinge(f'rod{k}'), _at(float(k)), rod) for k in range(count + 1)
    ]
    frames = {}
    for k in range(count):
        bodies.append(kd.Body(f'bar{k}', f'rod{k}', _hinge(f'bar{k}'), _at(1.0), rod))
        frames[f'end{k}'] = kd.Frame(count + 1 + k, _at(1.0))
        frames[f'tip{k + 1}'] = kd.Frame(k + 1, _at(1.0))
    robot = kd.Robot('n_four_bar', bodies, (0, -9.81, 0), frames)
    closed = kd.constraints.loop_closure
    return robot, [
        closed(robot, f'end{k}', f'tip{k + 1}', 'revolute', (0, 0, 1)) for k in range(count)
    ]


def share_without_motion(base: kd.bases.WheeledBase, error: float, motions: int) -> float:
    """Return the share of random motions whose angles, off by up to `error` [rad], allow none."""
    rng, stuck = np.random.default_rng(0), 0
    for motion in rng.uniform(-1.0, 1.0, (motions, 3)):
        off = error * rng.uniform(-1.0, 1.0, 4)
        stuck += base.mobility(base.at_angles(base.steering_angles(motion).angles + off)) == 0
    return stuck / motions


def wheels_table(motions: int) -> Table:
    """Return the shares of all errors."""
    base = robots.swerve_base()
    table = Table(f'Four steered wheels, {motions} motions', ('off by up to [mrad]', 'no motion'))
    for error in ERRORS:
        table.add(f'{error:g}', f'{share_without_motion(base, 1e-3 * error, motions):.1%}')
    return table


def bars_table() -> Table:
    """Return times of states and steps, and how many the reference did."""
    robot, rows = n_four_bar()
    fast, tau = kd.compile(robot, rows), np.zeros(robot.nv)
    table = Table(
        'Two bars on three rods',
        ('rods at', 'rank', 'a state, median [us]', 'by the reference'),
    )
    for angle in ANGLES:
        q, v = (size * np.array([1.0, 1.0, 1.0, -1.0, -1.0]) for size in (angle, -5.0))
        times, before = [], fast.fallback_count
        for _ in range(STATES):
            begun = perf_counter()
            fast.acceleration(q, v, tau)
            times.append(perf_counter() - begun)
        rank = kd.forward_dynamics(robot, q, v, tau, rows).rank
        told = f'{1e6 * np.median(times):.2f}', f'{fast.fallback_count - before} of {STATES}'
        table.add(f'{angle:g} rad', str(rank), *told)
    for integrator in ('rk4', 'semi_implicit'):
        engine, before, times = fast.engine(integrator), fast.fallback_count, []
        q, v = (size * np.array([1.0, 1.0, 1.0, -1.0, -1.0]) for size in (ANGLES[0], -5.0))
        for k in range(STEPS):
            begun = perf_counter()
            q, v = engine.advance(q, v, tau, k * STEP, STEP, 1)
            times.append(perf_counter() - begun)
        most = f'median {1e6 * np.median(times):.1f} us, slowest {1e6 * max(times):.0f} us'
        table.notes.append(
            f'{STEPS} steps by {integrator} from {ANGLES[0]:g} to {q[0]:.2f} rad: {most}, '
            f'{fast.fallback_count - before} by the reference'
        )
    return table


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(prog='python -m studies.singular', description=__doc__)
    parser.add_argument('--motions', type=int, default=200, help='random motions of each error')
    report.add_output(parser)
    options = parser.parse_args()
    console, results = report.begin()
    tables = [wheels_table(options.motions), bars_table()]
    report.finish(console, options.output, 'singular', results, tables)


def _hinge(name: str) -> kd.Joint:
    return kd.Joint(name, kd.Revolute((0.0, 0.0, 1.0)))


def _at(x: float) -> kd.Pose:
    return kd.Pose.from_rotation_and_position((1.0, 0.0, 0.0, 0.0), (x, 0.0, 0.0))


if __name__ == '__main__':
    main()
