# SPDX-License-Identifier: Apache-2.0
"""The robot of a command: a shipped one by name, a URDF, or a parameter file."""

from __future__ import annotations

import argparse
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import kane_dynamics as kd
from kane_dynamics.exceptions import InvalidInputError, ModelWarning
from kane_dynamics.messages.planar_frame import PlanarFrame
from kane_dynamics.robot.resources import resolve
from kane_dynamics.robot.text import robot_files, robot_text
from kane_dynamics.robot_config.parameters.tables import InverseDynamicsParameters, RobotParameters
from kane_dynamics.robot_config.robot_source import RobotModel, model_of_file, parameters_of_file

_URDF, _YAML = ('.urdf', '.xacro', '.xml'), ('.yaml', '.yml')
T = TypeVar('T', bound=RobotParameters)


@dataclass(frozen=True, eq=False)
class RobotSource:
    """A robot of the command line."""

    model: RobotModel  # Robot, constraints of its base, motors
    urdf: str  # URDF: its path, or the text where there is no such file
    file: str  # Parameter file, or the name of a shipped one; '' where there is none

    def parameters(self, table: type[T]) -> T:
        """Return the parameters of a node: those of the file, else defaults."""
        return parameters_of_file(self.file, table) if self.file else table()


def read_robot(
    options: argparse.Namespace, table: type[RobotParameters] = InverseDynamicsParameters
) -> RobotSource:
    """Return ROBOT of the command line; a parameter file is read for the node of `table`."""
    name, urdf, root_joint = options.robot, options.urdf or '', options.root_joint
    if _is_urdf(name):
        if urdf:
            raise InvalidInputError(f"need one URDF, got '{name}' and --urdf '{urdf}'")
        return RobotSource(*_urdf_model(name, root_joint or 'fixed'), '')
    if not name.endswith(_YAML) and name not in (known := robot_files()):
        raise InvalidInputError(
            f"no robot '{name}': need a URDF ({', '.join(_URDF)}), a parameter file (.yaml), or "
            f'one of {", ".join(known)}'
        )
    if root_joint is not None:
        raise InvalidInputError(
            f"--root-joint is only valid for a URDF: base_type in '{name}' says it"
        )
    model = model_of_file(name, urdf, table)
    named = urdf or parameters_of_file(name, table).urdf_file
    is_file = bool(named) and not named.endswith('.xacro')
    return RobotSource(model, str(resolve(named)) if is_file else model.text, name)


def _is_urdf(name: str) -> bool:
    """Return whether an argument means a robot description."""
    if name.endswith(_URDF) or name.startswith(('package://', 'file://')):
        return True
    return bool(name) and not name.endswith(_YAML) and Path(name).is_file()


def _urdf_model(name: str, root_joint: str) -> tuple[RobotModel, str]:
    """Return the model of a URDF alone, and where it is."""
    source = str(resolve(name, 'URDF')) if '://' in name else name
    if source.endswith('.xacro'):
        source = robot_text(source)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter('always', ModelWarning)
        robot = kd.load_urdf(source, base=root_joint)
    text = source if '<' in source else Path(source).read_text(encoding='utf-8', errors='replace')
    joints = tuple(n for n in robot.joint_names if n in robot.velocity_names)
    notes = tuple(str(warning.message) for warning in caught)
    names = robot.velocity_names
    return RobotModel(robot, (), joints, names, PlanarFrame(), text, notes), source
