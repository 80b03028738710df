# SPDX-License-Identifier: Apache-2.0
"""One report of all studies: tables on the terminal, JSON and Markdown in one folder."""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table as RichTable

from studies import machine

FOLDER = Path('studies-results')


@dataclass
class Table:
    """
    A table under construction.

    Parameters
    ----------
    title : str
        Heading.
    columns : tuple of str
        Heads of the columns.
    rows : list of tuple of str
        Cells; an empty tuple is a line across.
    notes : list of str
        Sentences below it.

    """

    title: str
    columns: tuple[str, ...]
    rows: list[tuple[str, ...]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def add(self, *cells: str) -> None:
        """Append a row."""
        self.rows.append(cells)

    def line(self) -> None:
        """Append a line across."""
        self.rows.append(())

    def show(self, console: Console) -> None:
        """Print it."""
        made = RichTable(title=escape(self.title), box=box.SIMPLE_HEAD, title_justify='left')
        for k, column in enumerate(self.columns):
            justify: Literal['left', 'right'] = 'right' if self._numeric(k) else 'left'
            made.add_column(escape(column), justify=justify, no_wrap=k == 0)
        for row in self.rows:
            if row:
                made.add_row(*map(escape, row))
            else:
                made.add_section()
        console.print(made)
        for note in self.notes:
            console.print(f'- {note}', highlight=False, markup=False)
        console.print()

    def markdown(self) -> str:
        """Return it as Markdown."""
        lines = [
            f'## {self.title}\n',
            _row(self.columns),
            _row(tuple('---:' if self._numeric(k) else '---' for k in range(len(self.columns)))),
            *(_row(row) for row in self.rows if row),
        ]
        notes = ''.join(f'- {note}\n' for note in self.notes)
        return '\n'.join(lines) + '\n' + (f'\n{notes}' if notes else '')

    def _numeric(self, column: int) -> bool:
        """Return whether a column has figures; the first one has names."""
        cells = [row[column] for row in self.rows if row]
        return column > 0 and any(cell.lstrip('-+<>= ')[:1].isdigit() for cell in cells)


def add_output(parser: argparse.ArgumentParser) -> None:
    """Add the option --output."""
    parser.add_argument('--output', type=Path, default=FOLDER, help='folder of the report')


def begin() -> tuple[Console, dict[str, Any]]:
    """Return a console, and what the study runs on, which is printed."""
    console = Console() if sys.stdout.isatty() else Console(width=150)
    state, versions = machine.describe(), machine.versions()
    console.print(
        f'{state["processor"]}, {state["cores"]} cores, {state["system"]}, load average '
        f'{state["load"]}',
        highlight=False,
    )
    console.print(', '.join(f'{k} {v}' for k, v in versions.items()), highlight=False)
    return console, {'machine': state, 'versions': versions}


def finish(
    console: Console, folder: Path, name: str, results: dict[str, Any], tables: Sequence[Table]
) -> list[Path]:
    """Print the tables; write them, the figures, and the report of all studies in the folder."""
    for table in tables:
        table.show(console)
    figures = keep(folder, name, results)
    text, report = (folder / file for file in (f'{name}.md', 'report.md'))
    text.write_text('\n'.join([f'# {name}\n', *(table.markdown() for table in tables)]))
    parts = [path.read_text() for path in sorted(folder.glob('*.md')) if path != report]
    report.write_text('\n'.join(['<!-- SPDX-License-Identifier: Apache-2.0 -->', *parts]))
    for file in (figures, text, report):
        console.print(f'written: {file}', highlight=False)
    return [figures, text, report]


def keep(folder: Path, name: str, results: dict[str, Any]) -> Path:
    """Write the figures in the folder; return where."""
    folder.mkdir(parents=True, exist_ok=True)
    figures = folder / f'{name}.json'
    figures.write_text(json.dumps(_without_nan(results), indent=2, allow_nan=False) + '\n')
    return figures


def _without_nan(value: Any) -> Any:
    """Return null for NaN, which JSON does not have."""
    if isinstance(value, dict):
        return {key: _without_nan(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [_without_nan(entry) for entry in value]
    return None if isinstance(value, float) and math.isnan(value) else value


def _row(cells: tuple[str, ...]) -> str:
    return '| ' + ' | '.join(cell.replace('|', r'\|') for cell in cells) + ' |'
