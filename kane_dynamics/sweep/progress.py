# SPDX-License-Identifier: Apache-2.0
"""How far a sweep is, on the terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

Watcher = Callable[[int, int, int], Any]


@contextmanager
def watched(values: Watcher | None) -> Iterator[Watcher]:
    """Give what is told how far a sweep is; a bar on the terminal where nobody else wants to."""
    if values is not None:
        yield values
        return
    columns = (
        TextColumn('{task.description}'),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task('items')

        def show(done: int, total: int, failed: int) -> None:
            text = f'items, {failed} failed' if failed else 'items'
            bar.update(task, completed=done + failed, total=total, description=text)

        yield show
