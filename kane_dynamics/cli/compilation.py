# SPDX-License-Identifier: Apache-2.0
"""``kane-dynamics cache`` and ``build``: compiled code on disk, and as a C library."""

import argparse
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rich.markup import escape

from kane_dynamics.cli import printing
from kane_dynamics.cli.options import read_robot
from kane_dynamics.cli.printing import console, progress, writable_folder
from kane_dynamics.compiler.cache import cache_folder, cached_files, remove_files
from kane_dynamics.constraints.constraint_set import ConstraintSet
from kane_dynamics.control.node_dynamics import CompileOptions, Dynamics
from kane_dynamics.deployment import controllers, core
from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.mujoco.prefix import write_prefix
from kane_dynamics.robot_config.parameters.tables import SimulatorParameters

_DAY = 86400.0  # [s]
_SHOWN = 12  # digits of a file's name


def cache(options: argparse.Namespace) -> int:
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
    listed = [
        {'path': str(f.path), 'bytes': f.size, 'age_s': now - f.used, 'kernels': f.kernels}
        for f in files
    ]
    result = {'folder': folder, 'bytes': size, 'cleared': options.clear, 'files': listed}
    printing.show(options.json, result, _print_list)
    return 0


def _print_list(result: Mapping[str, Any]) -> None:
    rows = []
    for f in result['files']:
        sizes = f'{f["bytes"] / 1e3:.1f}', f'{f["age_s"] / _DAY:.1f}'
        rows.append((Path(f['path']).stem[:_SHOWN], *sizes, ', '.join(f['kernels'])))
    printing.table('compiled code', ('file', 'size [kB]', 'last used [days]', 'kernels'), rows)
    what = 'deleted' if result['cleared'] else 'kept'
    size = f'{result["bytes"] / 1e6:.2f} MB'
    printing.lines(f'{len(rows)} files, {size} {what}, in {result["folder"]}')


def _compile(options: argparse.Namespace) -> int:
    """Compile what the nodes use; print times, sizes and where it is."""
    source = read_robot(options)
    model, integrator = source.model, source.parameters(SimulatorParameters).integrator
    before, start = {file.path for file in cached_files()}, time.perf_counter()
    choices = {'derivatives': options.derivatives, 'methods': options.methods}
    dynamics = Dynamics(model, CompileOptions(integrator=integrator))
    with progress('dynamics of the robot') as report:
        fast = dynamics.compile(progress=report, **choices)
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
    printing.show(options.json, result, _print_compiled)
    if fast.source != 'cache' and 'stored' not in fast.note.split(', '):
        printing.print_notes([f'the code was not kept: {fast.note}'])
    return 0


def _print_compiled(result: Mapping[str, Any]) -> None:
    rows = [(name, f'{count}') for name, count in sorted(result['operations'].items())]
    printing.table(f"robot '{result['robot']}'", ('kernel', 'operations'), rows)
    how = 'loaded from the cache' if result['source'] == 'cache' else 'compiled'
    size = sum(file['bytes'] for file in result['files'])
    took = f'{how} in {result["seconds"]:.2f} s; {size / 1e6:.2f} MB written'
    printing.lines(took, f'cache: {result["cache"]}')


def build(options: argparse.Namespace) -> int:
    """Write the files and print what they are."""
    if options.cpp == (options.robot is not None):
        raise InvalidInputError('need either ROBOT, or --cpp for the package that loads any robot')
    if options.cpp:
        folder = controllers.write_cpp_package(writable_folder(options.output or Path()))
    elif options.mujoco:
        folder = _build_mujoco(options)
    else:
        folder = _build_library(options)
    for path in sorted(folder.rglob('*')):
        if path.is_file():
            console.print(f'  {escape(str(path))}', soft_wrap=True)
    return 0


def _build_mujoco(options: argparse.Namespace) -> Path:
    """Write a model of MuJoCo and the plugin of its wheels."""
    model = read_robot(options).model
    name = options.name or core.identifier(model.robot.name)
    folder = writable_folder(options.output or Path(f'{name}_mujoco'))
    parts = model.text, model.robot, model.constraints, model.motors
    write_prefix(*parts, name, folder, options.scene)
    return folder


def _build_library(options: argparse.Namespace) -> Path:
    model = read_robot(options).model
    plan = core.Plan(
        model.robot,
        ConstraintSet.of(model.robot, model.constraints),
        options.name or core.identifier(model.robot.name),
        model.actuated,
        core.reference_speeds(model),
        tuple(options.frames),
        tuple(options.payloads),
        tuple(options.functions),
        options.cpu,
        model.text,
        model.motors,
    )
    folder = writable_folder(options.output or Path(f'{plan.name}_dynamics'))
    with console.status('') as status:
        names = core.write_core(
            plan, folder, lambda what, done, total: status.update(f'{what} ({done}/{total})')
        )
    console.print(f"robot '{escape(model.robot.name)}': {', '.join(names)}", soft_wrap=True)
    problem = controllers.controller_problem(plan, names)
    if problem:
        console.print(f'[yellow]no controller:[/yellow] {escape(problem)}', soft_wrap=True)
    else:
        controllers.write_controllers(plan, folder)
    return folder
