# SPDX-License-Identifier: Apache-2.0
"""
The evaluation of Silva, Quiroz-Omana and Adorno (2022), sections 5 and 6, with MuJoCo.

``python -m studies.silva [--quick] [--output FOLDER] [--only PART ...] [--seed N]`` from the
root of the source. Ends with 1 where a coordinate misses the target.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from studies import report
from studies.report import Table
from studies.silva import cases, counting, evaluation, plots
from studies.silva.count_tables import operations_table, timing_table
from studies.silva.counting import DQGP, DQNE, Counts
from studies.silva.evaluation import Evaluation
from studies.silva.motion_tables import (
    agreement_table,
    cutoff_table,
    protocol_table,
    softness_table,
)

ROBOTS: dict[str, Callable[[int], cases.Case]] = {
    'serial': lambda seed: cases.serial(seed=seed),
    'holonomic': lambda seed: cases.holonomic(seed),
    'nonholonomic': lambda seed: cases.nonholonomic(seed),
}
OPERATIONS = 'operations'
SAMPLES, QUICK_SAMPLES = 500, 60


def main(arguments: Sequence[str] | None = None) -> int:
    """Run everything that was asked for; return the exit status."""
    parser = argparse.ArgumentParser(prog='python -m studies.silva', description=__doc__)
    names = [*ROBOTS, OPERATIONS]
    parser.add_argument('--quick', action='store_true', help='short motions, small chains')
    report.add_output(parser)
    parser.add_argument('--only', nargs='+', choices=names, default=names, metavar='PART')
    parser.add_argument('--seed', type=int, default=cases.SEED, help='of postures and efforts')
    options = parser.parse_args(arguments)
    options.output.mkdir(parents=True, exist_ok=True)
    console, results = report.begin()
    results['quick'] = options.quick
    tables: list[Table] = []
    files: list[Path] = []
    columns = (TextColumn('{task.description}'), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console) as progress:
        samples = QUICK_SAMPLES if options.quick else SAMPLES
        chosen = [name for name in ROBOTS if name in options.only]
        done = [_evaluate(name, options.seed, samples, progress) for name in chosen]
        if done:
            files += [plots.write_waveforms(options.output, each) for each in done]
            files.append(plots.write_correlations(options.output, done))
            tables += [agreement_table(done), protocol_table(done), cutoff_table(done)]
            results['robots'] = [each.as_dict() for each in done]
        for each in done:
            if each.case.constraints:
                tables.append(_soften(each, progress, results))
        if OPERATIONS in options.only:
            tables += _count(options.quick, progress, results, options.output, files)
    passed = all(found.passed is not False for each in done for found in each.agreements)
    results['passed'] = passed
    report.finish(console, options.output, 'silva', results, tables)
    for file in files:
        console.print(f'written: {file}', highlight=False)
    console.print('All targets met.' if passed else '[red]A target is missed.[/]')
    return 0 if passed else 1


def _evaluate(name: str, seed: int, samples: int, progress: Progress) -> Evaluation:
    case = ROBOTS[name](seed)
    task = progress.add_task(case.title, total=1.0)
    made = evaluation.evaluate(
        case,
        samples,
        lambda what, part: progress.update(
            task, description=f'{case.title}: {what}', completed=part
        ),
    )
    progress.update(task, description=case.title, completed=1.0)
    return made


def _soften(each: Evaluation, progress: Progress, results: dict[str, Any]) -> Table:
    task = progress.add_task('softer contacts', total=1.0)

    def tick(what: str, part: float) -> None:
        progress.update(task, description=what, completed=part)

    rows = list(evaluation.softness(each, tick))
    progress.update(task, description='softer contacts', completed=1.0)
    results['contact'] = [vars(row) for row in rows]
    return softness_table(rows)


def _count(
    quick: bool, progress: Progress, results: dict[str, Any], folder: Path, files: list[Path]
) -> list[Table]:
    """Count and time; add what comes of it to the results and the files."""
    sizes = counting.QUICK_SIZES if quick else counting.SIZES
    # tracing takes about the square of the number of joints
    work = {name: sum(n**2 for n in sizes[name]) for name in (DQNE, DQGP)}
    counts: dict[str, Counts] = {}
    for name in (DQNE, DQGP):
        task = progress.add_task(name, total=float(work[name]))

        def say(what: str, size: int, task: Any = task) -> None:
            progress.update(task, description=f'counting {what}', advance=float(size**2))

        counts[name] = counting.count(name, sizes[name], say)
    task = progress.add_task('timing', total=None)
    times = counting.timings(counts, lambda what: progress.update(task, description=what))
    progress.update(task, description='timing', total=1.0, completed=1.0)
    results['operations'] = [counts[name].as_dict() for name in (DQNE, DQGP)]
    results['times'] = [vars(row) for row in times]
    files.append(plots.write_operations(folder, counts))
    return [operations_table(counts), timing_table(times, counts)]


if __name__ == '__main__':
    sys.exit(main())
