# SPDX-License-Identifier: Apache-2.0
"""The command ``kane-dynamics``; one file for each of its commands."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from rich.markup import escape

from kane_dynamics.cli import annotate, build, check, demo, equations, retime, view
from kane_dynamics.cli.arguments import split
from kane_dynamics.cli.printing import errors
from kane_dynamics.exceptions import KaneDynamicsError

COMMANDS = (demo, check, annotate, retime, build, equations, view)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status."""
    parser = argparse.ArgumentParser(prog='kane-dynamics', description=__doc__)
    commands = parser.add_subparsers(dest='command', required=True)
    for command in COMMANDS:
        command.add(commands)
    own, of_ros = split(sys.argv[1:] if arguments is None else arguments)
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
