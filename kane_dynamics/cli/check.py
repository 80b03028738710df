# SPDX-License-Identifier: Apache-2.0
"""``kane-dynamics check``: what a URDF contains, and what is unusual about it."""

from __future__ import annotations

import argparse

from kane_dynamics.cli.arguments import Commands
from kane_dynamics.cli.facts import speeds
from kane_dynamics.cli.printing import console, new_table, number, print_json, print_remarks
from kane_dynamics.cli.robots import add_robot, chosen_robot
from kane_dynamics.cli.wheels import look_at, print_wheels

_COLUMNS = 'effort_limit', 'damping', 'friction', 'armature'


def add(commands: Commands) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser('check', help='read a URDF and say what is unusual about it')
    add_robot(parser)
    parser.add_argument('--json', action='store_true', help='print the remarks as JSON')
    parser.set_defaults(run=run)


def run(selection: argparse.Namespace) -> int:
    """Print the speeds of a robot and every remark about its description."""
    values = chosen_robot(selection)
    robot, look = values.model.robot, look_at(values)
    if selection.json:
        sizes = {'name': robot.name, 'base': robot.base, 'nq': robot.nq, 'nv': robot.nv}
        print_json({**sizes, 'fits': [fit.text for fit in look.fits], 'remarks': look.notes})
        return 0
    title = f"robot '{robot.name}', {robot.base} base, nq {robot.nq}, nv {robot.nv}"
    table = new_table(title, 'speed', *(name.replace('_', ' ') for name in _COLUMNS))
    for speed in speeds(values.model):
        table.add_row(speed['name'], *(number(speed[key]) for key in _COLUMNS))
    console.print(table)
    mass = sum(body.inertia.mass for body in robot.bodies)
    console.print(f'moving mass {mass:.6g} kg')
    print_wheels(look)
    print_remarks(look.notes)
    return 0
