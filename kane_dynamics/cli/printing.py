# SPDX-License-Identifier: Apache-2.0
"""
What commands share: output, files, ROS. Results go to standard output, all else to errors.

Rich leaves out colours where the output is no terminal or NO_COLOR is set.
"""

import argparse
import json
import math
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from io import StringIO
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.progress import Progress as Bars
from rich.table import Table

import kane_dynamics as kd
from kane_dynamics.compiler.compiled import CompiledDynamics
from kane_dynamics.compiler.recipe import Progress
from kane_dynamics.constraints.base import Constraint
from kane_dynamics.exceptions import InvalidInputError, KaneDynamicsError, MissingPackageError
from kane_dynamics.robot.robot import Robot
from kane_dynamics.typing import Floats
from kane_dynamics.whole_file import whole_file


class _Console(Console):
    """A console that says when nobody reads any more."""

    def on_broken_pipe(self) -> None:
        """Raise the error on, so that `cli.main` ends quietly."""
        raise BrokenPipeError


Result = Mapping[str, Any]
QUIET = 2.0  # of a computation before a line says how far it is [s]
RARER = 0.1  # of the time that it took so far
_PIPED = 160  # columns of a table that is no terminal's: names stay whole


def _console(to_errors: bool) -> Console:
    stream = sys.stderr if to_errors else sys.stdout
    return _Console(stderr=to_errors, width=None if stream.isatty() else _PIPED)


console, errors = _console(False), _console(True)


def table(title: str, headings: Sequence[str], rows: Iterable[Sequence[str | None]]) -> None:
    """Print a table, unless it is empty; names that fill half of it are folded, never cut off."""
    table, cells = Table(title=escape(title), title_justify='left'), [*rows]
    whole = 2 * max((len(row[0] or '') for row in cells), default=0) < console.width
    for k, heading in enumerate(headings):
        table.add_column(escape(heading), overflow='fold', no_wrap=whole and k == 0)
    for row in cells:
        table.add_row(*(escape(cell or '') for cell in row))
    if table.row_count:
        console.print(table)


def lines(*lines: str) -> None:
    """Print lines of results as they are."""
    for line in lines:
        console.print(line, soft_wrap=True, markup=False)


def as_json(result: Result) -> None:
    """Print a result as JSON; numbers that are not finite, which JSON lacks, become null."""
    sys.stdout.write(json.dumps(plain(result), indent=2, allow_nan=False) + '\n')


def show(in_json: bool, result: Result, write: Callable[[Result], None]) -> None:
    """Print a result as JSON where that is asked for, else as `write` does."""
    (as_json if in_json else write)(result)


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


def print_notes(notes: Iterable[str], word: str = 'remark') -> None:
    """Print what is unusual, each once, to standard error."""
    for note in dict.fromkeys(notes):
        errors.print(f'[yellow]{word}:[/yellow] {escape(note)}', soft_wrap=True)


@contextmanager
def progress(what: str) -> Iterator[Progress]:
    """Show how far a computation is, and how long it took; yields progress(what, done, total)."""
    begin = time.perf_counter()
    if errors.is_terminal:
        times = TimeElapsedColumn(), TimeRemainingColumn()
        columns = TextColumn('{task.description:<34}'), BarColumn(), *times
        with Bars(*columns, console=errors, transient=True) as bar:
            task = bar.add_task(what, total=None)
            yield lambda text, done, total: bar.update(
                task, description=text, completed=done, total=total
            )
    else:
        yield _lines(what)
    if (spent := time.perf_counter() - begin) > QUIET:
        errors.print(escape(f'{what}: {spent:.0f} s'), soft_wrap=True)


def _lines(what: str) -> Progress:
    begin = last = time.perf_counter()

    def tell(text: str, done: int, total: int) -> None:
        nonlocal last
        now = time.perf_counter()
        spent = now - begin
        if now - last < max(QUIET, RARER * spent):
            return
        last = now
        to_go = f', about {spent * (total - done) / done:.0f} s to go' if done else ''
        line = f'{what}: {text}, {done} of {total}, {spent:.0f} s{to_go}'
        errors.print(escape(line), soft_wrap=True)

    return tell


def write_csv(file: Path, columns: Mapping[str, Floats]) -> Path:
    """Write columns under their names as CSV, with all digits."""
    rows, head = np.column_stack([*columns.values()]), ','.join(columns)
    text = StringIO()
    np.savetxt(text, rows, delimiter=',', header=head, comments='', fmt='%.17g')
    write_whole(file, text.getvalue())
    return file


def write_whole(path: Path, text: str) -> None:
    """Write a text file whole, or leave what was there before."""
    if path.exists() and not path.is_file():  # a pipe, a terminal
        path.write_text(text, encoding='utf-8')
        return
    with whole_file(path) as stream:
        stream.write(text.encode())


def compiled(robot: Robot, constraints: Sequence[Constraint], **options: Any) -> CompiledDynamics:
    """Return the machine code of a robot, telling how far it is; options as of `kd.compile`."""
    with progress('dynamics of the robot') as report:
        return kd.compile(robot, constraints, progress=report, **options)


def writable_folder(folder: Path, option: str = '--output') -> Path:
    """Return a folder that exists and takes files; known before minutes of work, not after."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return folder
    except OSError as error:
        raise InvalidInputError(
            f"{option}: no files can be written to '{folder}': {error.strerror}"
        ) from error


def check_files(options: argparse.Namespace, *names: str) -> None:
    """Check before minutes of work that the files of options can be written."""
    for name in names:
        file = getattr(options, name)
        if file and (file.is_file() or not file.exists()):  # not a pipe, a terminal
            writable_folder(file.parent, f'--{name}')


def ros_module(name: str, purpose: str) -> ModuleType:
    """Return a module that needs ROS 2."""
    try:
        return import_module(f'kane_dynamics.ros.{name}')
    except ImportError as error:
        if isinstance(error, KaneDynamicsError):
            raise
        raise MissingPackageError(
            purpose,
            f'ROS 2 ({error.name})',
            "pip install 'kane_dynamics[ros]' (Linux on x86_64), or source a ROS 2 workspace",
        ) from error
