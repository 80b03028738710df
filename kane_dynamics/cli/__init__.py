# SPDX-License-Identifier: Apache-2.0
"""The command ``kane-dynamics``; one file for each of its commands."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from rich.markup import escape

import kane_dynamics as kd
from kane_dynamics.cli import (
    annotate,
    bag,
    build,
    cache,
    check,
    compiling,
    demo,
    equations,
    info,
    init,
    retime,
    simulate,
    view,
)
from kane_dynamics.cli.arguments import split
from kane_dynamics.cli.printing import errors
from kane_dynamics.exceptions import KaneDynamicsError

COMMANDS = (
    init,
    demo,
    check,
    info,
    simulate,
    bag,
    annotate,
    retime,
    compiling,
    cache,
    build,
    equations,
    view,
)

DONE, REFUSED, USAGE, INTERRUPTED, PIPE = 0, 1, 2, 130, 141
EXIT_CODES = {
    DONE: 'done',
    REFUSED: 'input that cannot be used, or a package that is missing; one line says which',
    USAGE: 'arguments that the command does not have',
    demo.LATE: 'the demo ran, but missed more than one in a hundred of its deadlines',
    INTERRUPTED: 'ended by Ctrl-C',
    PIPE: 'nobody reads the output any more, as after head',
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
    for command in COMMANDS:
        command.add(commands)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code, one of `EXIT_CODES`."""
    parser = new_parser()
    local, of_ros = split(sys.argv[1:] if arguments is None else arguments)
    selection = parser.parse_args(local)
    if of_ros and not getattr(selection, 'live', False):
        parser.error('--ros-args are those of view --live')
    selection.ros_args = of_ros
    try:
        status: int = selection.run(selection)
        sys.stdout.flush()
    except KaneDynamicsError as error:
        return _refused(str(error))
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # the flush at the exit
        return PIPE
    except (OSError, UnicodeEncodeError) as error:  # a file or folder that the user named
        return _refused(str(error))
    except KeyboardInterrupt:
        return INTERRUPTED
    return status


def _refused(reason: str) -> int:
    errors.print(f'[red]error:[/red] {escape(reason)}', soft_wrap=True)
    return REFUSED
