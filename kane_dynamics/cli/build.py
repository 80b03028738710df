# SPDX-License-Identifier: Apache-2.0
"""``kane-dynamics build``: the dynamics of a robot as a C library and a ROS 2 package."""

from __future__ import annotations

import argparse
from pathlib import Path

from rich.markup import escape

from kane_dynamics.cli.options import Command
from kane_dynamics.cli.printing import console, writable_folder
from kane_dynamics.cli.robots import read_robot


def run(options: argparse.Namespace) -> int:
    """Write the files and print what they are."""
    from kane_dynamics.constraints.constraint_set import ConstraintSet
    from kane_dynamics.control.node_dynamics import known_speeds
    from kane_dynamics.deployment.core import Plan, identifier, write_core
    from kane_dynamics.deployment.ros_package import package_problem, write_package

    model = read_robot(options).model
    plan = Plan(
        model.robot,
        ConstraintSet.of(model.robot, model.constraints),
        options.name or identifier(model.robot.name),
        model.actuated,
        known_speeds(model, ()),
        tuple(options.frames),
        tuple(options.payloads),
        tuple(options.functions),
        options.cpu,
        model.text,
        model.motors,
    )
    folder = writable_folder(options.output or Path(f'{plan.name}_dynamics'))
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


COMMAND = Command(
    'write the dynamics of a robot as a C library',
    'robot --urdf --root-joint --output --name --functions --frames --payloads --cpu',
    run,
)
