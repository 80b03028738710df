# SPDX-License-Identifier: Apache-2.0
"""
Steps a second of learning environments, measured by gymnasium's own `benchmark_vector_step`.

``python -m studies.environments [--seconds 5] [--output FOLDER]``: `KaneReach-v0` with 1 to 4096
robots, and beside it, for the order of magnitude, gymnasium's `Ant-v5` on MuJoCo, which also has
eight driven degrees of freedom or nearly so, control periods of 0.05 s and Runge-Kutta of order 4
(5 steps of 10 ms; ours are 20 of 2.5 ms), but soft contacts of its feet.
"""

from __future__ import annotations

import argparse
import time

import gymnasium
from gymnasium.utils.performance import benchmark_vector_step
from rich.progress import track

import kane_dynamics.learning
from studies import report
from studies.report import Table

OURS = (1, 16, 256, 1024, 4096)
THEIRS = 16
STEPS = 20  # of integration in a control period of ours


def rate_of(name: str, count: int, seconds: int, **options: object) -> tuple[float, float]:
    """Return steps of environments a second, and seconds of processors a second."""
    env = gymnasium.make_vec(name, count, **options)
    cpu, wall = time.process_time(), time.perf_counter()
    rate = benchmark_vector_step(env, seconds, seed=0)
    busy = (time.process_time() - cpu) / (time.perf_counter() - wall)
    env.close()
    return rate, busy


def main(arguments: list[str] | None = None) -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description='steps a second of learning environments')
    parser.add_argument('--seconds', type=int, default=5, help='for each row')
    report.add_output(parser)
    chosen = parser.parse_args(arguments)
    console, results = report.begin()
    ours = kane_dynamics.learning.ENVIRONMENT
    cases = [(ours, count, {}) for count in OURS]
    cases += [('Ant-v5', THEIRS, {'vectorization_mode': mode}) for mode in ('sync', 'async')]
    columns = ('environment', 'robots', 'steps/s', 'cores busy', 'integration steps/s')
    table = Table('Learning environments', columns)
    for name, count, options in track(cases, console=console):
        rate, busy = rate_of(name, count, chosen.seconds, **options)
        per_step = STEPS if name == ours else 5
        label = ' '.join([name, *options.values()])
        cores = '-' if 'async' in label else f'{busy:.1f}'  # its processes are others
        table.add(label, f'{count}', f'{rate:,.0f}', cores, f'{per_step * rate:,.0f}')
        results.setdefault('steps a second', {})[f'{label} x {count}'] = rate
    report.finish(console, chosen.output, 'environments', results, [table])


if __name__ == '__main__':
    main()
