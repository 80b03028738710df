# SPDX-License-Identifier: Apache-2.0
"""
Where rows nearly repeat others: steered wheels a little off, and bars through a flat position.

``python -m studies.singular [--motions 200] [--bars 2 10]``: how often angles of four steered
wheels that are off by so much leave their base no motion; and what states and steps of four-bar
linkages in a row take far from their flat position, where the quick code is sure, and at it.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from time import perf_counter

import numpy as np
from scipy.integrate import solve_ivp

import kane_dynamics as kd
from studies import report, robots
from studies.report import Table

ERRORS = (0.5, 1.0, 1.5, 2.0, 5.0, 10.0)  # of angles, at most [mrad]
STATES, STEP, DURATION, REPEATS = 2000, 1e-3, 10.0, 5
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
    return table


def crossings_table(counts: Sequence[int]) -> Table:
    """
    Return what IFToMM's N-four-bar (A02) takes: singular each time its cranks lie flat.

    All cranks turn alike, ((N + 1) / 3 + N) th'' = -((N + 1) / 2 + N) g cos th.
    """
    heads = ('bars', 'integrator', 'a step, median', 'slowest', 'of 10 s', 'off by', 'reference')
    table = Table('N-four-bar, steps of 1 ms', heads)
    for count in counts:
        robot, rows = n_four_bar(count)
        fast, tau = kd.compile(robot, rows), np.zeros(robot.nv)
        alike = np.array([1.0] * (count + 1) + [-1.0] * count)
        expected = _crank(count, DURATION)
        for integrator in ('rk4', 'semi_implicit', 'midpoint'):
            engine, before = fast.engine(integrator), fast.fallback_count
            shortest = np.full(round(DURATION / STEP), np.inf)
            for _ in range(REPEATS):
                q, v, times = 0.5 * np.pi * alike, -alike, []
                for k in range(len(shortest)):
                    begun = perf_counter()
                    q, v = engine.advance(q, v, tau, k * STEP, STEP, 1)
                    times.append(perf_counter() - begun)
                shortest = np.minimum(shortest, times)
            told = [f'{1e6 * x:.3g} us' for x in (np.median(shortest), shortest.max())]
            whole = f'{shortest.sum():.2g} s', f'{abs(q[0] - expected):.1e} rad'
            left = str(fast.fallback_count - before)
            table.add(str(count), integrator, *told, *whole, left)
    table.notes.append(f'each step the shortest of {REPEATS}')
    return table


def _crank(count: int, t: float) -> float:
    """Return the angle of the cranks at a time."""
    factor = -9.81 * ((count + 1) / 2 + count) / ((count + 1) / 3 + count)
    start, exact = (0.5 * np.pi, -1.0), {'rtol': 1e-12, 'atol': 1e-12}
    solved = solve_ivp(lambda _, y: (y[1], factor * np.cos(y[0])), (0.0, t), start, **exact)
    return float(solved.y[0, -1])


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(prog='python -m studies.singular', description=__doc__)
    parser.add_argument('--motions', type=int, default=200, help='random motions of each error')
    parser.add_argument('--bars', type=int, nargs='+', default=[2, 10], help='of N-four-bars')
    report.add_output(parser)
    options = parser.parse_args()
    console, results = report.begin()
    tables = [wheels_table(options.motions), bars_table(), crossings_table(options.bars)]
    report.finish(console, options.output, 'singular', results, tables)


def _hinge(name: str) -> kd.Joint:
    return kd.Joint(name, kd.Revolute((0.0, 0.0, 1.0)))


def _at(x: float) -> kd.Pose:
    return kd.Pose.from_rotation_and_position((1.0, 0.0, 0.0, 0.0), (x, 0.0, 0.0))


if __name__ == '__main__':
    main()
