# SPDX-License-Identifier: Apache-2.0
"""Tables for the terminal and for Markdown."""

from __future__ import annotations

from dataclasses import dataclass, field

from rich import box
from rich.console import Console
from rich.table import Table as RichTable


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
        made = RichTable(title=self.title, box=box.SIMPLE_HEAD, title_justify='left')
        for k, column in enumerate(self.columns):
            made.add_column(column, justify='left' if k == 0 else 'right', no_wrap=k == 0)
        for row in self.rows:
            if row:
                made.add_row(*row)
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
            _row(('---', *('---:' for _ in self.columns[1:]))),
            *(_row(row) for row in self.rows if row),
        ]
        notes = ''.join(f'- {note}\n' for note in self.notes)
        return '\n'.join(lines) + '\n' + (f'\n{notes}' if notes else '')


def _row(cells: tuple[str, ...]) -> str:
    return '| ' + ' | '.join(cell.replace('|', r'\|') for cell in cells) + ' |'
