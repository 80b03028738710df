# SPDX-License-Identifier: Apache-2.0
"""``kane-dynamics demo``: the closed loop over ROS 2, with a table and plots."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from kane_dynamics.cli.arguments import Commands, ros_module, seconds, writable_folder
from kane_dynamics.cli.printing import console
from kane_dynamics.robot.checks import as_choice

LATE = 3
"""Exit code of figures that a busy machine spoilt."""


def add(commands: Commands) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser('demo', help='closed loop over ROS 2, with a table and plots')
    which = parser.add_mutually_exclusive_group()
    which.add_argument('--robot', default='nonholonomic', help='nonholonomic, holonomic or tiago')
    which.add_argument('--config', default='', help='parameter file of kane-dynamics init')
    parser.add_argument('--duration', type=seconds, default=12.0, help='of each run [s]')
    parser.add_argument(
        '--output', type=Path, default=Path('demo-results'), help='folder of plots'
    )
    parser.add_argument('--domain', type=int, help='ROS domain; by the process where left out')
    parser.set_defaults(run=run)


def run(selection: argparse.Namespace) -> int:
    """Run the closed loop with one law after the other; print the table, write the plots."""
    demo, laws = (ros_module(name, 'the demo') for name in ('demo.demo', 'demo.laws'))
    if not selection.config:
        as_choice('--robot', selection.robot, demo.ROBOTS)
    from kane_dynamics.demo.animation import write_demo_motion
    from kane_dynamics.demo.plots import write_demo_plots
    from kane_dynamics.demo.table import is_late, run_table, verdict

    source = selection.config or selection.robot
    domain = 1 + os.getpid() % 100 if selection.domain is None else selection.domain
    folder = writable_folder(selection.output / Path(source).stem)
    bar = Progress(
        TextColumn('{task.description:<34}'), BarColumn(), TimeElapsedColumn(), console=console
    )
    with bar:
        task = bar.add_task('compiling the dynamics', total=None)
        setup = demo.prepare(
            source,
            selection.duration,
            lambda what, done, total: bar.update(task, completed=done, total=total),
        )
        how = 'loaded from the cache' if setup.compiled.source == 'cache' else 'compiled'
        bar.update(task, description=f'dynamics: {how}', total=1, completed=1)
        runs = {}
        for k, law in enumerate(laws.laws_for(setup)):
            task = bar.add_task(f'{law.label}, {selection.duration:g} s', total=selection.duration)
            runs[law.label] = run = demo.run_loop(
                setup,
                law,
                1 + (domain + k) % 100,
                lambda t, task=task: bar.update(task, completed=t),  # type: ignore[misc]
            )
    curves = {label: run.curves for label, run in runs.items()}
    files = write_demo_plots(folder, setup, curves)
    files += write_demo_motion(folder, setup, run)
    console.print(run_table(setup, runs))
    console.print(verdict(runs))
    console.print(f'dynamics {how}; plots in {folder}: {", ".join(f.name for f in files)}')
    return LATE if is_late(runs) else 0
