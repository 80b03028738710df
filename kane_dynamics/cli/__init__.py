# SPDX-License-Identifier: Apache-2.0
"""The command ``kane-dynamics``."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from rich.markup import escape

import kane_dynamics as kd
from kane_dynamics.cli import (
    bag,
    build,
    cache,
    demo,
    equations,
    info,
    init,
    simulate,
    trajectories,
    view,
)
from kane_dynamics.cli.printing import errors
from kane_dynamics.exceptions import KaneDynamicsError

COMMANDS = {
    'init': init.COMMAND,
    'demo': demo.COMMAND,
    'info': info.COMMAND,
    'simulate': simulate.COMMAND,
    'bag': bag.COMMAND,
    'add-efforts': trajectories.ADD_EFFORTS,
    'retime': trajectories.RETIME,
    'cache': cache.COMMAND,
    'build': build.COMMAND,
    'equations': equations.COMMAND,
    'view': view.COMMAND,
}

DONE, REFUSED, USAGE, INTERRUPTED, PIPE = 0, 1, 2, 130, 141
EXIT_CODES = {
    DONE: 'done',
    REFUSED: 'input that cannot be used, or a package that is missing; one line says which',
    USAGE: 'arguments that the command does not have',
    demo.LATE: 'the demo ran, but missed more than one in a hundred of its deadlines',
    INTERRUPTED: 'ended by Ctrl-C',
    PIPE: 'output pipe closed',
}


def new_parser() -> argparse.ArgumentParser:
    """Return the parser of all commands."""
    codes = '\n'.join(f'  {code:<5}{meaning}' for code, meaning in EXIT_CODES.items())
    parser = argparse.ArgumentParser(
        prog='kane-dynamics',
        description='Dynamics of mobile manipulators, from the command line.',
        epilog=f'results go to standard output, all else to standard error\nexit codes:\n{codes}',
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument('--version', action='version', version=f'%(prog)s {kd.__version__}')
    commands = parser.add_subparsers(dest='command', required=True, metavar='COMMAND')
    for name, command in COMMANDS.items():
        command.add_to(commands.add_parser(name, help=command.help))
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code, one of `EXIT_CODES`."""
    parser = new_parser()
    local, of_ros = split(sys.argv[1:] if arguments is None else arguments)
    options = parser.parse_args(local)
    if of_ros and not getattr(options, 'live', False):
        parser.error('--ros-args is only valid with view --live')
    options.ros_args = of_ros
    try:
        status: int = options.run(options)
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # the flush at the exit
        return PIPE
    except (KaneDynamicsError, OSError, UnicodeEncodeError) as error:  # files that users name
        errors.print(f'[red]error:[/red] {escape(str(error))}', soft_wrap=True)
        return REFUSED
    except KeyboardInterrupt:
        return INTERRUPTED
    return status


def split(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return arguments of this command, and those of ROS."""
    words = list(arguments)
    cut = words.index('--ros-args') if '--ros-args' in words else len(words)
    return words[:cut], words[cut:]
