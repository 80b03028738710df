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


def run(chosen: argparse.Namespace) -> int:
    """Print the equations of motion of a small robot."""
    from kane_dynamics.symbolic.equations import equations_of_motion

    given = chosen_robot(chosen)
    robot, rows = given.model.robot, list(given.model.constraints)
    if chosen.lock:
        if given.parameters:
            raise InvalidInputError(f"--lock: name locked_joints in '{given.parameters}' instead")
        robot = kd.load_urdf(given.source, base=robot.base, locked_joints=chosen.lock)
    if chosen.no_side_slip:
        rows.append(kd.constraints.no_side_slip(robot))
    equations = equations_of_motion(robot, rows, simplify=not chosen.no_simplify)
    if chosen.format == 'sympy':
        print(equations.source())
    else:
        write = equations.latex if chosen.format == 'latex' else equations.text
        print(write(chosen.digits))
    return 0
