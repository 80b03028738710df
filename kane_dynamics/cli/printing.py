# SPDX-License-Identifier: Apache-2.0
"""
Where commands print: results to standard output, remarks, progress and errors to standard error.

Rich leaves out colours where the output is no terminal or NO_COLOR is set.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from kane_dynamics.kernels.build import Progress as Told


class _Console(Console):
    """A console that says when nobody reads any more."""

    def on_broken_pipe(self) -> None:
        """Raise the error on, so that `cli.main` ends quietly."""
        raise BrokenPipeError


_PIPED = 160  # columns of a table that is no terminal's: names stay whole


def _console(to_errors: bool) -> Console:
    stream = sys.stderr if to_errors else sys.stdout
    return _Console(stderr=to_errors, width=None if stream.isatty() else _PIPED)


console, errors = _console(False), _console(True)


def new_table(title: str, *headings: str) -> Table:
    """Return a table whose long names are folded, never cut off."""
    table = Table(title=title, title_justify='left')
    for heading in headings:
        table.add_column(heading, overflow='fold')
    return table


def print_json(result: Mapping[str, Any]) -> None:
    """Print a result as JSON; numbers that are not finite, which JSON lacks, become null."""
    sys.stdout.write(json.dumps(plain(result), indent=2, allow_nan=False) + '\n')


def plain(x: Any) -> Any:
    """Return what JSON has of a value: arrays as lists, infinite numbers as None."""
    if isinstance(x, Mapping):
        return {str(key): plain(value) for key, value in x.items()}
    if isinstance(x, np.ndarray | np.generic):
        return plain(x.tolist())
    if isinstance(x, list | tuple):
        return [plain(value) for value in x]
    return None if isinstance(x, float) and not math.isfinite(x) else x


def number(x: float) -> str:
    """Return a number for a table; nothing where it is unknown, which infinite limits say."""
    return f'{x + 0.0:.5g}' if math.isfinite(x) else ''  # + 0: no -0


def print_remarks(remarks: Iterable[str], word: str = 'remark') -> None:
    """Print what is unusual, each once, to standard error."""
    for remark in dict.fromkeys(remarks):
        errors.print(f'[yellow]{word}:[/yellow] {escape(remark)}', soft_wrap=True)


@contextmanager
def progress(what: str) -> Iterator[Told]:
    """Show what is being done, on a terminal; yields progress(what, done, total)."""
    columns = TextColumn('{task.description:<34}'), BarColumn(), TimeElapsedColumn()
    with Progress(*columns, console=errors, transient=True) as bar:
        task = bar.add_task(what, total=None)
        yield lambda text, done, total: bar.update(
            task, description=text, completed=done, total=total
        )
