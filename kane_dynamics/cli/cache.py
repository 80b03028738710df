# SPDX-License-Identifier: Apache-2.0
"""``kane-dynamics cache``: the compiled code that is kept on disk."""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Sequence

from rich.markup import escape

from kane_dynamics.cli.arguments import Commands
from kane_dynamics.cli.printing import console, new_table, print_json
from kane_dynamics.compiler.cache import CachedFile, cache_folder, cached_files, remove_files

_DAY = 86400.0  # [s]
_SHOWN = 12  # digits of a file's name


def add(commands: Commands) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser('cache', help='list or clear the compiled code on disk')
    parser.add_argument('--clear', action='store_true', help='delete the files that are listed')
    parser.add_argument(
        '--older-than', type=days, default=0.0, metavar='DAYS', help='only files not used since'
    )
    parser.add_argument('--json', action='store_true', help='print the list as JSON')
    parser.set_defaults(run=run)


def run(selection: argparse.Namespace) -> int:
    """List the files of the cache, and delete them where asked."""
    now = time.time()
    files = [f for f in cached_files() if now - f.used >= selection.older_than * _DAY]
    if selection.clear:
        files = remove_files(files)
    if selection.json:
        listed = [
            {'path': str(f.path), 'bytes': f.size, 'age_s': now - f.used, 'kernels': f.kernels}
            for f in files
        ]
        size = sum(f.size for f in files)
        print_json(
            {'folder': str(cache_folder()), 'bytes': size, 'cleared': selection.clear}
            | {'files': listed}
        )
        return 0
    _print(files, now, 'deleted' if selection.clear else 'kept')
    return 0


def days(text: str) -> float:
    """Return a number of days >= 0 of the command line."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not (math.isfinite(value) and value >= 0.0):
        raise argparse.ArgumentTypeError(f'need a number of days >= 0, got {text!r}')
    return value


def _print(files: Sequence[CachedFile], now: float, what: str) -> None:
    if files:
        table = new_table('compiled code', 'file', 'size [kB]', 'last used [days]', 'kernels')
        for file in files:
            age, kernels = f'{(now - file.used) / _DAY:.1f}', ', '.join(file.kernels)
            table.add_row(file.path.stem[:_SHOWN], f'{file.size / 1e3:.1f}', age, kernels)
        console.print(table)
    size = sum(file.size for file in files) / 1e6
    folder = escape(str(cache_folder()))
    console.print(f'{len(files)} files, {size:.2f} MB {what}, in {folder}', soft_wrap=True)
