# SPDX-License-Identifier: Apache-2.0
"""``kane-dynamics build``: the dynamics of a robot as a C library and a ROS 2 package."""

from __future__ import annotations

import argparse
from pathlib import Path

from rich.markup import escape

from kane_dynamics.cli.arguments import Commands, writable_folder
from kane_dynamics.cli.printing import console
from kane_dynamics.cli.robots import add_robot, chosen_robot
from kane_dynamics.deployment.code_generation import CPUS
from kane_dynamics.deployment.functions import FUNCTIONS


def add(commands: Commands) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser('build', help='write the dynamics of a robot as a C library')
    add_robot(parser)
    parser.add_argument('--output', required=True, type=Path, metavar='FOLDER')
    parser.add_argument('--name', default='', help="prefix of names in C; from the robot's name")
    parser.add_argument('--functions', nargs='+', default=[], choices=FUNCTIONS, metavar='NAME')
    parser.add_argument('--frames', nargs='+', default=[], metavar='FRAME')
    parser.add_argument('--payloads', nargs='+', default=[], metavar='FRAME')
    parser.add_argument('--cpu', default='native', choices=CPUS)
    parser.set_defaults(run=run)


def run(selection: argparse.Namespace) -> int:
    """Write the files and print what they are."""
    from kane_dynamics.constraints.constraint_set import ConstraintSet
    from kane_dynamics.control.node_dynamics import known_speeds
    from kane_dynamics.deployment.core import Plan, identifier, write_core
    from kane_dynamics.deployment.ros_package import package_problem, write_package

    model = chosen_robot(selection).model
    plan = Plan(
        model.robot,
        ConstraintSet.of(model.robot, model.constraints),
        selection.name or identifier(model.robot.name),
        model.actuated,
        known_speeds(model, ()),
        tuple(selection.frames),
        tuple(selection.payloads),
        tuple(selection.functions),
        selection.cpu,
        model.text,
        model.motors,
    )
    folder = writable_folder(selection.output)
    core = writable_folder(folder / 'core')
    with console.status('') as status:
        names = write_core(
            plan, core, lambda what, done, total: status.update(f'{what} ({done}/{total})')
        )
    console.print(f"robot '{escape(model.robot.name)}': {', '.join(names)}", soft_wrap=True)
    problem = package_problem(plan, names)
    if problem:
        console.print(f'[yellow]no ROS 2 package:[/yellow] {escape(problem)}', soft_wrap=True)
    else:
        console.print(f'ROS 2 package {write_package(plan, folder)}')
    for path in sorted(folder.rglob('*')):
        if path.is_file():
            console.print(f'  {escape(str(path))}', soft_wrap=True)
    return 0
