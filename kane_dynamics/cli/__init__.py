# SPDX-License-Identifier: Apache-2.0
"""The command ``kane-dynamics``."""

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.markup import escape

import kane_dynamics as kd
from kane_dynamics.cli import (
    compilation,
    identification,
    init,
    models,
    motions,
    recordings,
    report,
    trajectories,
)
from kane_dynamics.cli.options import Command
from kane_dynamics.cli.printing import errors
from kane_dynamics.exceptions import KaneDynamicsError

_ROBOT = 'robot --urdf --root-joint'
_TARGET = 'robot target --urdf --root-joint --position'
_POINTS = 'robot source target --urdf --root-joint --position'
COMMANDS = {
    'init': Command(
        'write the parameter file of your robot',
        f'robot --output --force --yes {" ".join(f"--{name}" for name in init.ANSWERS)}',
        init.init,
        {'output': Path('my_robot.yaml')},
    ),
    'demo': Command(
        'closed loop over ROS 2, with a table and plots',
        'robot? --duration --output --domain',
        motions.demo,
        {'robot': 'nonholonomic', 'duration': 12.0, 'output': Path('demo-results')},
    ),
    'info': Command(
        'tree, masses, limits, wheels and frames of a robot, and what is unusual about its URDF',
        f'{_ROBOT} --json',
        models.info,
    ),
    'simulate': Command(
        'motion of a robot under constant efforts',
        f'{_ROBOT} --duration --step --integrator --position --velocity --effort '
        '--no-constraints --reference --rate --npz --csv --plot --json',
        motions.simulate,
    ),
    'bag': Command(
        'run the dynamics over a recorded bag, without ROS',
        'robot bag --urdf --root-joint --compute --joint-states --odom --clock --knot-spacing '
        '--reference --output --storage --csv --plot --json',
        recordings.bag,
    ),
    'identify': Command(
        'masses, inertias and friction from recorded motions and efforts, as a better URDF',
        'robot --urdf --root-joint --bag --validate --joint-states --odom --joints --gains '
        '--loaded --loaded-urdf --friction --corner --tool-mass-only --reference --output --csv '
        '--json',
        identification.identify_robot,
        {'output': Path('identified')},
    ),
    'identify plan': Command(
        'exciting motion for such a recording, within the limits of the robot',
        f'{_TARGET} --joints --duration --acceleration --floor --effort-scale --velocity-scale '
        '--friction-coefficient --friction-scale --tip-over-margin --base-csv',
        trajectories.plan_identification,
        {'duration': 20.0, 'friction_coefficient': 0.5},
    ),
    'report': Command(
        'a recorded motion against the model on one page: errors, feed-forward, limits, margins',
        'robot --urdf --root-joint --bag --joint-states --odom --joints --gains --corner '
        '--reference --output --json',
        report.report,
        {'output': Path('report.html')},
    ),
    'add-efforts': Command(
        'fill in the efforts of a joint trajectory',
        f'{_POINTS} --interpolation-tolerance --point-rate --base-csv --ramp',
        trajectories.add_efforts,
    ),
    'retime': Command(
        "time-optimal retiming of a joint trajectory within the robot's limits",
        f'{_POINTS} --interpolation-tolerance --point-rate --effort-scale --velocity-scale '
        '--friction-coefficient --friction-scale --tip-over-margin --smoothing',
        trajectories.retime,
        {'point_rate': 100.0, 'interpolation_tolerance': 0.1},
    ),
    'cache': Command(
        'compile a robot into the cache; without one list or clear the compiled code on disk',
        'robot? --urdf --root-joint --derivatives --methods --clear --older-than --json',
        compilation.cache,
    ),
    'build': Command(
        'write the dynamics of a robot as a C library or for MuJoCo; or the ROS 2 package that '
        'loads such libraries',
        'robot? --urdf --root-joint --output --name --functions --frames --payloads --cpu --cpp '
        '--mujoco --scene',
        compilation.build,
    ),
    'equations': Command(
        'print the equations of motion (SymPy)',
        f'{_ROBOT} --no-side-slip --lock --format --digits --no-simplify',
        models.equations,
    ),
    'view': Command(
        'show a recorded motion (.npz), or a robot, in the browser',
        'robot? --urdf --root-joint --live --host --port --gif --picture --camera',
        recordings.view,
    ),
}

DONE, REFUSED, USAGE, INTERRUPTED, PIPE = 0, 1, 2, 130, 141
EXIT_CODES = {
    DONE: 'done',
    REFUSED: 'input that cannot be used, or a package that is missing; one line says which',
    USAGE: 'arguments that the command does not have',
    motions.LATE: 'the demo ran, but missed more than one in a hundred of its deadlines',
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
    if (pair := ' '.join(words[:2])) in COMMANDS:
        words[:2] = [pair]
    cut = words.index('--ros-args') if '--ros-args' in words else len(words)
    return words[:cut], words[cut:]
