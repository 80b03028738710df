# SPDX-License-Identifier: Apache-2.0
"""
Measure two trees of this package in turns: what a change made slower.

``python -m studies.speed.compare TREE [--rounds N] [--only PART ...]``, where TREE is another
checkout (`git worktree add TREE COMMIT`). Of each row the best value of all rounds counts.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from rich.console import Console

from studies.report import Table

Rows = dict[str, dict[str, Any]]
NOTABLE = 0.03  # part of a value


def measured(tree: Path, options: list[str]) -> Rows:
    """Return the rows of a run of `studies.speed` in a tree, by what is computed."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, '-m', 'studies.speed', '--output', folder, *options]
        environment = {**os.environ, 'PYTHONPATH': str(tree)}
        # exit code 1 says that a target of a row was missed
        subprocess.run(command, cwd=tree, env=environment, stdout=subprocess.DEVNULL, check=False)
        results = json.loads((Path(folder) / 'speed.json').read_text(encoding='utf-8'))
    return {row['work']: row for row in results['rows']}


def better(old: Rows, new: Rows) -> Rows:
    """Return of each row the better one of two runs."""
    best = dict(old)
    for work, row in new.items():
        rate = row['unit'].endswith('/s')
        if work not in best or (row['ours'] > best[work]['ours']) == rate:
            best[work] = row
    return best


def compared(before: Rows, after: Rows) -> Table:
    """Return how the rows of two trees differ; rates and times alike: more than 1 is slower."""
    table = Table('Two trees', ('work', 'before', 'after', 'time', f'> {NOTABLE:.0%}'))
    for work, row in after.items():
        if work in before and row['unit']:
            times = row['ours'] / before[work]['ours']
            times = 1.0 / times if row['unit'].endswith('/s') else times
            values = f'{before[work]["ours"]:.4g}', f'{row["ours"]:.4g} {row["unit"]}'
            table.add(work, *values, f'{times:.3f}', 'slower' if times > 1.0 + NOTABLE else '')
    for work in before.keys() ^ after.keys():
        table.notes.append(f'only in one tree: {work}')
    return table


def main() -> None:
    """Run both trees in turns and print the table."""
    parser = argparse.ArgumentParser(prog='python -m studies.speed.compare', description=__doc__)
    parser.add_argument('tree', type=Path)
    parser.add_argument('--rounds', type=int, default=3)
    parser.add_argument('--only', nargs='+', default=[], metavar='PART')
    chosen = parser.parse_args()
    options = ['--quick', *(['--only', *chosen.only] if chosen.only else [])]
    before: Rows = {}
    after: Rows = {}
    for _ in range(chosen.rounds):
        before = better(before, measured(chosen.tree.resolve(), options))
        after = better(after, measured(Path.cwd(), options))
    compared(before, after).show(Console(width=140))


if __name__ == '__main__':
    main()
