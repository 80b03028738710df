# SPDX-License-Identifier: Apache-2.0
"""``kane-dynamics equations``: the equations of motion of a small robot."""

from __future__ import annotations

import argparse

import kane_dynamics as kd
from kane_dynamics.cli.arguments import Commands
from kane_dynamics.cli.robots import add_robot, chosen_robot
from kane_dynamics.exceptions import InvalidInputError


def add(commands: Commands) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser('equations', help='print the equations of motion (SymPy)')
    add_robot(parser)
    parser.add_argument('--no-side-slip', action='store_true', help='of a planar base')
    parser.add_argument('--lock', action='append', default=[], metavar='JOINT')
    parser.add_argument('--format', default='text', choices=('text', 'latex', 'sympy'))
    parser.add_argument('--digits', type=int, default=6, help='of coefficients, not for sympy')
    parser.add_argument('--no-simplify', action='store_true', help='fast, but much longer')
    parser.set_defaults(run=run)


def run(selection: argparse.Namespace) -> int:
    """Print the equations of motion of a small robot."""
    from kane_dynamics.symbolic.equations import equations_of_motion

    values = chosen_robot(selection)
    robot, rows = values.model.robot, list(values.model.constraints)
    if selection.lock:
        if values.parameters:
            raise InvalidInputError(f"--lock: name locked_joints in '{values.parameters}' instead")
        robot = kd.load_urdf(values.source, base=robot.base, locked_joints=selection.lock)
    if selection.no_side_slip:
        rows.append(kd.constraints.no_side_slip(robot))
    equations = equations_of_motion(robot, rows, simplify=not selection.no_simplify)
    if selection.format == 'sympy':
        print(equations.source())
    else:
        write = equations.latex if selection.format == 'latex' else equations.text
        print(write(selection.digits))
    return 0
