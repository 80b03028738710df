# SPDX-License-Identifier: Apache-2.0
"""``kane-dynamics cache``: the compiled code on disk; of a robot, before it is needed."""

from __future__ import annotations

import argparse
import time
from typing import Any

from kane_dynamics.cli.options import Command
from kane_dynamics.cli.printing import (
    print_json,
    print_lines,
    print_remarks,
    print_table,
    progress,
)
from kane_dynamics.cli.robots import read_robot
from kane_dynamics.compiler.cache import cache_folder, cached_files, remove_files
from kane_dynamics.exceptions import InvalidInputError

_DAY = 86400.0  # [s]
_SHOWN = 12  # digits of a file's name


def run(options: argparse.Namespace) -> int:
    """Compile a robot into the cache; without one list the files, and delete them where asked."""
    if options.robot is None:
        return _list(options)
    if options.clear or options.older_than:
        raise InvalidInputError('--clear and --older-than are only valid without ROBOT')
    return _compile(options)


def _list(options: argparse.Namespace) -> int:
    now = time.time()
    files = [f for f in cached_files() if now - f.used >= options.older_than * _DAY]
    if options.clear:
        files = remove_files(files)
    size, folder = sum(f.size for f in files), str(cache_folder())
    if options.json:
        listed = [
            {'path': str(f.path), 'bytes': f.size, 'age_s': now - f.used, 'kernels': f.kernels}
            for f in files
        ]
        print_json({'folder': folder, 'bytes': size, 'cleared': options.clear, 'files': listed})
        return 0
    print_table(
        'compiled code',
        ('file', 'size [kB]', 'last used [days]', 'kernels'),
        [
            (
                f.path.stem[:_SHOWN],
                f'{f.size / 1e3:.1f}',
                f'{(now - f.used) / _DAY:.1f}',
                ', '.join(f.kernels),
            )
            for f in files
        ],
    )
    what = 'deleted' if options.clear else 'kept'
    print_lines(f'{len(files)} files, {size / 1e6:.2f} MB {what}, in {folder}')
    return 0


def _compile(options: argparse.Namespace) -> int:
    """Compile what the nodes use; print times, sizes and where it is."""
    from kane_dynamics.compiler.compile_robot import compile_robot
    from kane_dynamics.control.node_dynamics import known_speeds

    model = read_robot(options).model
    before, start = {file.path for file in cached_files()}, time.perf_counter()
    with progress('dynamics of the robot') as report:
        fast = compile_robot(
            model.robot,
            model.constraints,
            payloads=model.payloads,
            derivatives=options.derivatives,
            methods=options.methods,
            progress=report,
        )
        fast.prepare_efforts(model.actuated, known_speeds(model, ()))
    result: dict[str, Any] = {
        'robot': model.robot.name,
        'source': fast.source,
        'seconds': time.perf_counter() - start,
        'cache': str(cache_folder()),
        'files': [
            {'path': str(file.path), 'bytes': file.size}
            for file in cached_files()
            if file.path not in before
        ],
        'operations': fast.instructions,
    }
    if options.json:
        print_json(result)
    else:
        rows = [(name, f'{count}') for name, count in sorted(fast.instructions.items())]
        print_table(f"robot '{model.robot.name}'", ('kernel', 'operations'), rows)
        how = 'loaded from the cache' if fast.source == 'cache' else 'compiled'
        size = sum(file['bytes'] for file in result['files'])
        took = f'{how} in {result["seconds"]:.2f} s; {size / 1e6:.2f} MB written'
        print_lines(took, f'cache: {result["cache"]}')
    if fast.source != 'cache' and 'stored' not in fast.note.split(', '):
        print_remarks([f'the code was not kept: {fast.note}'])
    return 0


COMMAND = Command(
    'compile a robot into the cache; without one list or clear the compiled code on disk',
    'robot? --urdf --root-joint --derivatives --methods --clear --older-than --json',
    run,
)
