# SPDX-License-Identifier: Apache-2.0
"""The command ``kane-dynamics``."""

from __future__ import annotations

import argparse
import math
import os
import sys
import tempfile
import warnings
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from types import ModuleType

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

import kane_dynamics as kd
from kane_dynamics.exceptions import InvalidInputError, KaneDynamicsError, MissingPackageError
from kane_dynamics.model.checks import as_choice
from kane_dynamics.model.urdf.angles import angle_remarks
from kane_dynamics.model.urdf.xml import read_urdf
from kane_dynamics.resources import resolve
from kane_dynamics.view.recording import Recording

console = Console()
errors = Console(stderr=True)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status."""
    parser = argparse.ArgumentParser(prog='kane-dynamics', description=__doc__)
    commands = parser.add_subparsers(dest='command', required=True)
    demo = commands.add_parser('demo', help='closed loop over ROS 2, with a table and plots')
    demo.add_argument('--robot', default='nonholonomic', help='nonholonomic, holonomic or tiago')
    demo.add_argument('--duration', type=_seconds, default=12.0, help='of each run [s]')
    demo.add_argument('--output', type=Path, default=Path('demo-results'), help='folder of plots')
    demo.add_argument('--domain', type=int, default=1 + os.getpid() % 100, help='ROS domain')
    demo.set_defaults(run=run_demo)
    check = commands.add_parser('check', help='read a URDF and say what is unusual about it')
    check.add_argument('urdf', help='path of the file')
    check.add_argument('--base', default='fixed', choices=('fixed', 'planar', 'floating'))
    check.set_defaults(run=run_check)
    equations = commands.add_parser('equations', help='print the equations of motion (SymPy)')
    equations.add_argument('urdf', help='path of the file')
    equations.add_argument('--base', default='fixed', choices=('fixed', 'planar', 'floating'))
    equations.add_argument('--no-side-slip', action='store_true', help='of a planar base')
    equations.add_argument('--lock', action='append', default=[], metavar='JOINT')
    equations.add_argument('--format', default='text', choices=('text', 'latex', 'sympy'))
    equations.add_argument('--digits', type=int, default=6, help='of coefficients, not for sympy')
    equations.add_argument('--no-simplify', action='store_true', help='fast, but much longer')
    equations.set_defaults(run=run_equations)
    view = commands.add_parser('view', help='show a recorded motion, or a robot, in the browser')
    view.add_argument(
        'source', nargs='?', help='recording (.npz), or path or package:// address of a URDF'
    )
    view.add_argument(
        '--live', action='store_true', help='a robot on ROS topics; --ros-args may follow'
    )
    view.add_argument('--base', default='fixed', choices=('fixed', 'planar', 'floating'))
    view.add_argument('--host', default='localhost', help='address that the browser asks')
    view.add_argument('--port', type=_port, default=8080, help='the next free one from here')
    view.add_argument('--gif', type=Path, metavar='FILE', help='write a recording as animation')
    view.set_defaults(run=run_view)
    own, of_ros = _split(sys.argv[1:] if arguments is None else arguments)
    chosen = parser.parse_args(own)
    if of_ros and not getattr(chosen, 'live', False):
        parser.error('--ros-args are those of view --live')
    chosen.ros_args = of_ros
    try:
        status: int = chosen.run(chosen)
    except KaneDynamicsError as error:
        errors.print(f'[red]error:[/red] {escape(str(error))}', soft_wrap=True)
        return 1
    except KeyboardInterrupt:
        return 130
    return status


def run_check(chosen: argparse.Namespace) -> int:
    """Print the speeds of a robot and every remark about its description."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter('always', kd.exceptions.ModelWarning)
        robot = kd.load_urdf(chosen.urdf, base=chosen.base)
    table = Table(title=f"robot '{robot.name}', {robot.base} base, nq {robot.nq}, nv {robot.nv}")
    for heading in ('speed', 'effort limit', 'damping', 'friction', 'armature'):
        table.add_column(heading)
    columns = (robot.effort_limit, robot.damping, robot.friction, robot.armature)
    for name, *values in zip(robot.velocity_names, *columns, strict=True):
        table.add_row(name, *(f'{value:g}' for value in values))
    console.print(table)
    mass = sum(body.inertia.mass for body in robot.bodies)
    console.print(f'moving mass {mass:.6g} kg')
    remarks = [str(warning.message) for warning in caught]
    remarks += _print_wheels(chosen.urdf, robot)
    remarks += angle_remarks(read_urdf(chosen.urdf))
    for remark in remarks:
        console.print(f'[yellow]remark:[/yellow] {escape(remark)}', soft_wrap=True)
    return 0


def _print_wheels(urdf: str, robot: kd.Robot) -> list[str]:
    """Print the wheels that a robot shows, and the bases that fit; return remarks about these."""
    wheels = kd.bases.found_wheels(robot)
    if not wheels:
        return []
    table = Table(title='wheels by their axes and collision shapes')
    for heading in ('joint', 'kind', 'radius [m]', 'x, y [m]', 'steering', 'trail [m]'):
        table.add_column(heading)
    for wheel in wheels:
        radius = '?' if wheel.radius is None else f'{wheel.radius:g}'
        place = f'{wheel.centre[0]:g}, {wheel.centre[1]:g}'
        trail = f'{wheel.trail:.4g}' if wheel.steering else ''
        table.add_row(wheel.joint, wheel.kind, radius, place, wheel.steering or '', trail)
    console.print(table)
    with warnings.catch_warnings():  # told already
        warnings.simplefilter('ignore', kd.exceptions.ModelWarning)
        mobile = robot if robot.base != 'fixed' else kd.load_urdf(urdf, base='planar')
    fits = kd.bases.fitting_kinds(mobile)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter('always', kd.exceptions.ModelWarning)
        for fit in fits:
            console.print(f'fits: {escape(fit.text())}', soft_wrap=True)
            for need in fit.needed(mobile):
                console.print(f'  [yellow]needs:[/yellow] {escape(need)}', soft_wrap=True)
    if not fits:
        console.print('no kind of base fits these wheels, with x of the root link forward')
    return list(dict.fromkeys(str(warning.message) for warning in caught))


def run_equations(chosen: argparse.Namespace) -> int:
    """Print the equations of motion of a small robot."""
    from kane_dynamics.symbolic.equations import equations_of_motion

    robot = kd.load_urdf(chosen.urdf, base=chosen.base, locked_joints=chosen.lock)
    rows = [kd.constraints.no_side_slip(robot)] if chosen.no_side_slip else []
    equations = equations_of_motion(robot, rows, simplify=not chosen.no_simplify)
    if chosen.format == 'sympy':
        print(equations.source())
    else:
        write = equations.latex if chosen.format == 'latex' else equations.text
        print(write(chosen.digits))
    return 0


def run_view(chosen: argparse.Namespace) -> int:
    """Show a recording or a robot in the browser, until interrupted."""
    from kane_dynamics.view.drawing import urdf_drawing
    from kane_dynamics.view.recording import load_recording
    from kane_dynamics.view.scene import start_server
    from kane_dynamics.view.window import PoseWindow, RecordingWindow

    if chosen.live == (chosen.source is not None):
        raise InvalidInputError('view: need either a recording or a URDF, or --live')
    if chosen.live:
        live = _ros_module('live_view', 'a live view')
        return int(live.main(chosen.host, chosen.port, chosen.ros_args))
    window: RecordingWindow | PoseWindow
    if Path(chosen.source).suffix == '.npz':
        recording = load_recording(chosen.source)
        if chosen.gif is not None:
            return _write_gif(recording, chosen.gif)
        server = start_server(chosen.host, chosen.port)
        window = RecordingWindow(server, recording)
    elif chosen.gif is not None:
        raise InvalidInputError(f"--gif: need a recording (.npz), got '{chosen.source}'")
    else:
        path = resolve(chosen.source, 'URDF')
        with warnings.catch_warnings():  # `check` tells them
            warnings.simplefilter('ignore', kd.exceptions.ModelWarning)
            robot = kd.load_urdf(path, base=chosen.base)
        drawing = urdf_drawing(robot, path)
        for remark in drawing.remarks:
            console.print(f'[yellow]remark:[/yellow] {escape(remark)}', soft_wrap=True)
        server = start_server(chosen.host, chosen.port)
        window = PoseWindow(server, robot, drawing)
    console.print(f'open http://{chosen.host}:{server.get_port()} (Ctrl-C ends)')
    try:
        window.run()
    finally:
        server.stop()
    return 0


def _write_gif(recording: Recording, path: Path) -> int:
    from kane_dynamics.view.animation import write_animation

    console.print(f'wrote {write_animation(recording, path)}')
    return 0


def run_demo(chosen: argparse.Namespace) -> int:
    """Run the closed loop without and with feed-forward; print the table, write the plots."""
    demo = _ros_module('demo', 'the demo')
    as_choice('--robot', chosen.robot, demo.ROBOTS)
    from kane_dynamics.demo.plots import write_demo_plots
    from kane_dynamics.demo.table import run_table

    folder = _writable_folder(chosen.output / chosen.robot)
    bar = Progress(
        TextColumn('{task.description:<34}'), BarColumn(), TimeElapsedColumn(), console=console
    )
    with bar:
        task = bar.add_task('compiling the dynamics', total=None)
        setup = demo.prepare(
            chosen.robot,
            chosen.duration,
            lambda what, done, total: bar.update(task, completed=done, total=total),
        )
        how = 'loaded from the cache' if setup.compiled.source == 'cache' else 'compiled'
        bar.update(task, description=f'dynamics: {how}', total=1, completed=1)
        runs = {}
        for k, (label, feedforward) in enumerate((('PD', False), ('PD + feed-forward', True))):
            task = bar.add_task(f'{label}, {chosen.duration:g} s', total=chosen.duration)
            runs[label] = demo.run_loop(
                setup,
                feedforward,
                1 + (chosen.domain + k) % 100,
                lambda t, task=task: bar.update(task, completed=t),  # type: ignore[misc]
            )
    curves = {label: run.curves for label, run in runs.items()}
    names = setup.motion.names
    files = write_demo_plots(folder, names, setup.motion.base, curves)
    console.print(run_table(setup, runs))
    console.print(f'dynamics {how}; plots in {folder}: {", ".join(f.name for f in files)}')
    return 0


def _seconds(text: str) -> float:
    """Return a duration > 0 [s] of the command line."""
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not (math.isfinite(seconds) and seconds > 0.0):
        raise argparse.ArgumentTypeError(f'need a number of seconds > 0, got {text!r}')
    return seconds


def _port(text: str) -> int:
    """Return a port of the command line."""
    if not (text.isdecimal() and 1 <= int(text) <= 65535):
        raise argparse.ArgumentTypeError(f'need a port from 1 to 65535, got {text!r}')
    return int(text)


def _split(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return arguments of this command, and those of ROS."""
    given = list(arguments)
    cut = given.index('--ros-args') if '--ros-args' in given else len(given)
    return given[:cut], given[cut:]


def _ros_module(name: str, purpose: str) -> ModuleType:
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


def _writable_folder(folder: Path) -> Path:
    """Return a folder that exists and takes files; known before minutes of work, not after."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return folder
    except OSError as error:
        raise InvalidInputError(
            f"--output: no files can be written to '{folder}': {error.strerror}"
        ) from error


if __name__ == '__main__':
    sys.exit(main())
