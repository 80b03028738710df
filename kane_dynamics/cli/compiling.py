# SPDX-License-Identifier: Apache-2.0
"""``kane-dynamics compile``: the machine code of a robot into the cache, before it is needed."""

from __future__ import annotations

import argparse
import time
from typing import Any

from rich.markup import escape

from kane_dynamics.cli.arguments import Commands
from kane_dynamics.cli.printing import console, new_table, print_json, print_remarks, progress
from kane_dynamics.cli.robots import add_robot, chosen_robot


def add(commands: Commands) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser('compile', help='compile the dynamics of a robot into the cache')
    add_robot(parser)
    parser.add_argument(
        '--derivatives', action='store_true', help='of inverse and forward dynamics too'
    )
    parser.add_argument(
        '--methods', action='store_true', help='what methods other than gauss need too'
    )
    parser.add_argument('--json', action='store_true', help='print the result as JSON')
    parser.set_defaults(run=run)


def run(selection: argparse.Namespace) -> int:
    """Compile what the nodes use and tell times, sizes and where it is."""
    from kane_dynamics.compiler.cache import cache_folder, cached_files
    from kane_dynamics.compiler.compile_robot import compile_robot
    from kane_dynamics.control.node_dynamics import known_speeds

    model = chosen_robot(selection).model
    before, start = {file.path: file for file in cached_files()}, time.perf_counter()
    with progress('dynamics of the robot') as told:
        fast = compile_robot(
            model.robot,
            model.constraints,
            payloads=model.payloads,
            derivatives=selection.derivatives,
            methods=selection.methods,
            progress=told,
        )
        fast.prepare_efforts(model.actuated, known_speeds(model, ()))
    written = [file for file in cached_files() if file.path not in before]
    result: dict[str, Any] = {
        'robot': model.robot.name,
        'source': fast.source,
        'seconds': time.perf_counter() - start,
        'cache': str(cache_folder()),
        'files': [{'path': str(file.path), 'bytes': file.size} for file in written],
        'operations': fast.instructions,
    }
    if selection.json:
        print_json(result)
    else:
        _print(result)
    if fast.source != 'cache' and 'stored' not in fast.note.split(', '):
        print_remarks([f'the code was not kept: {fast.note}'])
    return 0


def _print(result: dict[str, Any]) -> None:
    table = new_table(f"robot '{result['robot']}'", 'kernel', 'operations')
    for name, count in sorted(result['operations'].items()):
        table.add_row(name, f'{count}')
    console.print(table)
    how = 'loaded from the cache' if result['source'] == 'cache' else 'compiled'
    size = sum(file['bytes'] for file in result['files'])
    console.print(f'{how} in {result["seconds"]:.2f} s; {size / 1e6:.2f} MB written')
    console.print(f'cache: {escape(result["cache"])}', soft_wrap=True)
