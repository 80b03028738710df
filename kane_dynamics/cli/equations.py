# SPDX-License-Identifier: Apache-2.0
"""``kane-dynamics equations``: the equations of motion of a small robot."""

from __future__ import annotations

import argparse

import kane_dynamics as kd
from kane_dynamics.cli.options import Command
from kane_dynamics.cli.robots import read_robot
from kane_dynamics.exceptions import InvalidInputError


def run(options: argparse.Namespace) -> int:
    """Print the equations of motion of a small robot."""
    from kane_dynamics.symbolic.equations import equations_of_motion

    source = read_robot(options)
    robot, rows = source.model.robot, list(source.model.constraints)
    if options.lock:
        if source.file:
            raise InvalidInputError(f"--lock: name locked_joints in '{source.file}' instead")
        locked = options.lock.split(',')
        robot = kd.load_urdf(source.urdf, base=robot.base, locked_joints=locked)
    if options.no_side_slip:
        rows.append(kd.constraints.no_side_slip(robot))
    equations = equations_of_motion(robot, rows, simplify=not options.no_simplify)
    if options.format == 'sympy':
        print(equations.source())
    else:
        write = equations.latex if options.format == 'latex' else equations.text
        print(write(options.digits))
    return 0


COMMAND = Command(
    'print the equations of motion (SymPy)',
    'robot --urdf --root-joint --no-side-slip --lock --format --digits --no-simplify',
    run,
)
