# SPDX-License-Identifier: Apache-2.0
"""The robot that a command is for: a shipped one by name, a URDF, or a parameter file."""

from __future__ import annotations

import argparse
import warnings
from dataclasses import dataclass
from pathlib import Path

import kane_dynamics as kd
from kane_dynamics.cli.arguments import BASES
from kane_dynamics.exceptions import InvalidInputError, ModelWarning
from kane_dynamics.messages.planar_frame import PlanarFrame
from kane_dynamics.robot.parameter_files import robot_files
from kane_dynamics.robot.resources import resolve
from kane_dynamics.robot.text import robot_text
from kane_dynamics.robot_config.parameters.inverse_dynamics import InverseDynamicsParameters
from kane_dynamics.robot_config.parameters.robot import RobotParameters
from kane_dynamics.robot_config.robot_file import model_of_file, parameters_of_file
from kane_dynamics.robot_config.robot_source import RobotModel

_URDF, _YAML = ('.urdf', '.xacro', '.xml'), ('.yaml', '.yml')


@dataclass(frozen=True, eq=False)
class ChosenRobot:
    """
    A robot of the command line.

    Attributes
    ----------
    model : RobotModel
        Robot, constraints of its base, motors; without a parameter file every speed has a motor
        and there are no constraints.
    source : str
        URDF: its path, or the text where there is no such file.
    parameters : str
        Parameter file, or the name of a shipped one; '' where there is none.

    """

    model: RobotModel
    source: str
    parameters: str


def add_robot(parser: argparse.ArgumentParser, also: str = '') -> None:
    """Add what every command takes that is about a robot, or what it takes instead."""
    parser.add_argument(
        'robot',
        nargs='?',
        metavar='ROBOT',
        help=f'{also}{also and ", "}name of a shipped robot, URDF or xacro file, package:// '
        'address of one, or parameter file of the nodes (.yaml)',
    )
    parser.add_argument(
        '--config', metavar='FILE', help='parameter file, or name of a shipped one, of a URDF'
    )
    parser.add_argument(
        '--urdf', metavar='FILE', help='URDF or xacro file of a parameter file that names none'
    )
    parser.add_argument(
        '--base', choices=BASES, help='how the root link moves, without parameter file: fixed'
    )


def chosen_robot(
    selection: argparse.Namespace, table: type[RobotParameters] = InverseDynamicsParameters
) -> ChosenRobot:
    """
    Return the robot of the command line.

    Parameters
    ----------
    selection : argparse.Namespace
        With what `add_robot` added.
    table : type
        Parameters of a node that a parameter file is read for.

    Raises
    ------
    KaneDynamicsError
        If there is no such robot, it is given twice, or its description is wrong.

    """
    parameters, urdf = _files(selection)
    if not parameters:
        return ChosenRobot(*_of_urdf(urdf, selection.base or 'fixed'), '')
    if selection.base is not None:
        raise InvalidInputError(f"--base is of a URDF alone: base_type in '{parameters}' says it")
    model = model_of_file(parameters, urdf, table)
    named = urdf or parameters_of_file(parameters, table).urdf_file
    is_file = bool(named) and not named.endswith('.xacro')
    return ChosenRobot(model, str(resolve(named)) if is_file else model.text, parameters)


def _files(selection: argparse.Namespace) -> tuple[str, str]:
    """Return parameter file and URDF, '' for one that is not given."""
    name, config, urdf = selection.robot or '', selection.config or '', selection.urdf or ''
    if _is_urdf(name):
        if urdf:
            raise InvalidInputError(f"need one URDF, got '{name}' and --urdf '{urdf}'")
        return config, name
    if name and config:
        raise InvalidInputError(
            f"--config is of a URDF: '{name}' is a parameter file already; leave one of them out"
        )
    if name and not name.endswith(_YAML) and name not in (known := robot_files()):
        raise InvalidInputError(
            f"no robot '{name}': need a URDF ({', '.join(_URDF)}), a parameter file (.yaml), or "
            f'one of {", ".join(known)}'
        )
    if not (name or config or urdf):
        raise InvalidInputError(f'need a robot: a URDF, or one of {", ".join(robot_files())}')
    return name or config, urdf


def _is_urdf(name: str) -> bool:
    """Return whether an argument means a robot description."""
    if name.endswith(_URDF) or name.startswith(('package://', 'file://')):
        return True
    return bool(name) and not name.endswith(_YAML) and Path(name).is_file()


def _of_urdf(name: str, base: str) -> tuple[RobotModel, str]:
    """Return the model of a URDF alone, and where it is."""
    source = str(resolve(name, 'URDF')) if '://' in name else name
    if source.endswith('.xacro'):
        source = robot_text(source)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter('always', ModelWarning)
        robot = kd.load_urdf(source, base=base)
    text = source if '<' in source else Path(source).read_text(encoding='utf-8', errors='replace')
    joints = tuple(n for n in robot.joint_names if n in robot.velocity_names)
    notes = tuple(str(warning.message) for warning in caught)
    names = robot.velocity_names
    return RobotModel(robot, (), joints, names, PlanarFrame(), text, notes), source
