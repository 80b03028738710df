# SPDX-License-Identifier: Apache-2.0
"""``kane-dynamics check``: what a URDF contains, and what is unusual about it."""

from __future__ import annotations

import argparse
import warnings

from rich.markup import escape
from rich.table import Table

import kane_dynamics as kd
from kane_dynamics.cli.arguments import BASES, Commands
from kane_dynamics.cli.printing import console
from kane_dynamics.model.urdf.angles import angle_remarks
from kane_dynamics.model.urdf.xml import read_urdf


def add(commands: Commands) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser('check', help='read a URDF and say what is unusual about it')
    parser.add_argument('urdf', help='path of the file')
    parser.add_argument('--base', default='fixed', choices=BASES)
    parser.set_defaults(run=run)


def run(chosen: argparse.Namespace) -> int:
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
