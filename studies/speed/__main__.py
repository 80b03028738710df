# SPDX-License-Identifier: Apache-2.0
"""
Measure this package against Pinocchio and MuJoCo in one process and one run.

``python -m studies.speed [--quick] [--output FOLDER] [--only PART ...]`` from the root of the
source.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from studies import machine, report
from studies.robots import MissingRobotError
from studies.speed import plot
from studies.speed.accuracy import accuracy_rows
from studies.speed.batch import batch_rows
from studies.speed.changing import event_rows
from studies.speed.closed_loop import closed_loop_rows
from studies.speed.compile_time import compile_rows
from studies.speed.generated import generated_rows
from studies.speed.libraries import library_rows
from studies.speed.on_wheels import frame_law_rows, on_wheels_rows, swerve_rows
from studies.speed.rollouts import rollout_rows
from studies.speed.rows import Row, rows_table, scaling_table
from studies.speed.scaling import scaling
from studies.speed.single_calls import chain_rows, long_chain_rows, mobile_arm_rows, tiago_rows
from studies.speed.timing import QUICK, Effort

Rows = Iterable[Row]


def parts(quick: bool, effort: Effort) -> dict[str, Callable[[], Rows]]:
    """Return what makes the rows, by name, in order."""
    few = Effort(max(3, effort.repeats // 2), 2, effort.loop_time)  # where one call is long
    return {
        'tiago': lambda: tiago_rows(effort),
        'on-wheels': lambda: on_wheels_rows(effort),
        'frame-laws': lambda: frame_law_rows(effort),
        'swerve': lambda: swerve_rows(effort),
        'chain': lambda: chain_rows(effort),
        'mobile-arm': lambda: mobile_arm_rows(effort),
        'long-chain': lambda: long_chain_rows(effort),
        'batch': lambda: batch_rows(few),
        'rollouts': lambda: rollout_rows(few),
        'simulation': lambda: closed_loop_rows(few),
        'events': lambda: event_rows(quick, few),
        'build': lambda: library_rows(effort),
        'generated': lambda: generated_rows(quick, effort),
        'accuracy': lambda: accuracy_rows(quick),
        'compile': lambda: compile_rows(quick),
    }


def main() -> None:
    """Run everything that was asked for."""
    parser = argparse.ArgumentParser(prog='python -m studies.speed', description=__doc__)
    names = [*parts(True, QUICK), 'scaling']
    parser.add_argument('--quick', action='store_true', help='fewer repeats, robots and sizes')
    report.add_output(parser)
    parser.add_argument('--only', nargs='+', choices=names, default=names, metavar='PART')
    options = parser.parse_args()
    effort = QUICK if options.quick else Effort()
    console, results = report.begin()
    before = results['machine']
    rows, sizes, missing = _measure(console, options.only, options.quick, effort)
    results |= {
        'load_after': machine.load(),
        'contended': machine.contended(before['load']),
        'quick': options.quick,
        'rows': [row.as_dict() for row in rows],
        'scaling': sizes,
        'missing': missing,
    }
    tables = [rows_table(rows), *([scaling_table(sizes)] if sizes else [])]
    report.finish(console, options.output, 'speed', results, tables)
    title = f'{before["processor"]}, {before["cores"]} cores, load {before["load"]}'
    picture = plot.write(options.output, rows, sizes, title)
    console.print(f'written: {picture}', highlight=False)
    _conclude(console, rows, missing, results['contended'])


def _measure(
    console: Console, wanted: list[str], quick: bool, effort: Effort
) -> tuple[list[Row], list[dict[str, Any]], list[str]]:
    """Return rows, cost against joints, and what was left out for want of a robot."""
    rows: list[Row] = []
    sizes: list[dict[str, Any]] = []
    missing: list[str] = []
    columns = (
        TextColumn('{task.description}'),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    # no refreshing thread beside what is being measured
    with Progress(*columns, console=console, auto_refresh=False) as progress:
        task = progress.add_task('', total=len(wanted))

        def say(what: str) -> None:
            progress.update(task, description=what, refresh=True)

        for name, make in parts(quick, effort).items():
            if name in wanted:
                say(name)
                try:
                    for row in make():
                        rows.append(row)
                        say(row.work)
                except MissingRobotError as error:
                    missing.append(f'{name}: {error}')
                progress.advance(task)
        if 'scaling' in wanted:
            sizes = list(scaling(quick, effort, say))
            progress.advance(task)
        say('done')
    return rows, sizes, missing


def _conclude(console: Console, rows: list[Row], missing: list[str], contended: bool) -> None:
    judged = [row for row in rows if row.passed is not None]
    met = sum(bool(row.passed) for row in judged)
    console.print(f'{met} of {len(judged)} targets met.')
    for line in missing:
        console.print(f'[yellow]left out - {line}[/]')
    if contended:
        console.print('[yellow]Other programs used the cores: these numbers are contended.[/]')


if __name__ == '__main__':
    main()
