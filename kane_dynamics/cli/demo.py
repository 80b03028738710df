# SPDX-License-Identifier: Apache-2.0
"""``kane-dynamics demo``: the closed loop over ROS 2, with a table and plots."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from kane_dynamics.cli.options import Command
from kane_dynamics.cli.printing import console, ros_module, writable_folder

LATE = 3
"""Exit code of figures that a busy machine spoilt."""


def run(options: argparse.Namespace) -> int:
    """Run the closed loop with one law after the other; print the table, write the plots."""
    demo, laws = (ros_module(name, 'the demo') for name in ('demo.demo', 'demo.laws'))
    from kane_dynamics.demo.report import is_late, run_table, verdict, write_motion, write_plots

    domain = 1 + os.getpid() % 100 if options.domain is None else options.domain
    folder = writable_folder(options.output / Path(options.robot).stem)
    bar = Progress(
        TextColumn('{task.description:<34}'), BarColumn(), TimeElapsedColumn(), console=console
    )
    with bar:
        task = bar.add_task('compiling the dynamics', total=None)
        setup = demo.prepare(
            options.robot,
            options.duration,
            lambda what, done, total: bar.update(task, completed=done, total=total),
        )
        how = 'loaded from the cache' if setup.compiled.source == 'cache' else 'compiled'
        bar.update(task, description=f'dynamics: {how}', total=1, completed=1)
        runs = {}
        for k, law in enumerate(laws.laws_for(setup)):
            task = bar.add_task(f'{law.label}, {options.duration:g} s', total=options.duration)
            runs[law.label] = run = demo.run_loop(
                setup,
                law,
                1 + (domain + k) % 100,
                lambda t, task=task: bar.update(task, completed=t),  # type: ignore[misc]
            )
    files = write_plots(folder, setup, runs) + write_motion(folder, setup, run)
    console.print(run_table(setup, runs))
    console.print(verdict(runs))
    console.print(f'dynamics {how}; plots in {folder}: {", ".join(f.name for f in files)}')
    return LATE if is_late(runs) else 0


COMMAND = Command(
    'closed loop over ROS 2, with a table and plots',
    'robot? --duration --output --domain',
    run,
    {'robot': 'nonholonomic', 'duration': 12.0, 'output': Path('demo-results')},
)
