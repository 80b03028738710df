# SPDX-License-Identifier: Apache-2.0
"""From a parameter file of the nodes to parameters and model; nothing here needs rclpy."""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypeVar

from kane_dynamics.exceptions import InvalidInputError, shorten
from kane_dynamics.robot.text import file_parameters, parameter_file
from kane_dynamics.robot_config.parameters.spec import matching_spec, nearest_parameter
from kane_dynamics.robot_config.parameters.tables import (
    InverseDynamicsParameters,
    Parameters,
    RobotParameters,
    all_specs,
)
from kane_dynamics.robot_config.robot_source import RobotModel, build_model, read_description

T = TypeVar('T', bound=Parameters)


def read_parameter_file(path: str | Path) -> dict[str, Any]:
    """
    Return the parameters of a file by their full names, whichever node they are written for.

    Parameters
    ----------
    path : str or Path
        A YAML file as nodes take it with ``--params-file``, or the name of a shipped one.

    Raises
    ------
    InvalidInputError
        If there is no such file, it is no parameter file, or a name is like that of a parameter
        and is none.

    """
    file = parameter_file(path)
    values = file_parameters(file)
    for name in values:
        meant = '' if matching_spec(name, all_specs()) else nearest_parameter(name, all_specs())
        if meant:
            raise InvalidInputError(f"'{file}': no parameter '{name}'; did you mean '{meant}'?")
    return values


def parameters_of_file(path: str | Path, table: type[T], **values: Any) -> T:
    """
    Return a parameter table with the values of a file; what it does not name has its default.

    Parameters
    ----------
    path : str or Path
        See `read_parameter_file`.
    table : type
        Table of a node.
    **values
        Fields of the table that count instead of those in the file.

    Raises
    ------
    InvalidInputError
        As `read_parameter_file`, or if a value is not legal.

    """
    arguments, known = read_parameter_file(path), {}
    for spec in table.specs:
        if spec.name not in arguments:
            continue
        value = spec.typed(arguments[spec.name])
        if value is None:
            describe = shorten(arguments[spec.name])
            raise InvalidInputError(f"'{path}': {spec.name}: need {spec.kind}, got {describe}")
        if problem := spec.problem(value):
            raise InvalidInputError(f"'{path}': {problem}")
        known[spec.field] = value
    return table(**known | values)


def model_of_file(
    path: str | Path, urdf: str = '', table: type[RobotParameters] = InverseDynamicsParameters
) -> RobotModel:
    """
    Return the model that nodes build from a parameter file.

    Parameters
    ----------
    path : str or Path
        See `read_parameter_file`.
    urdf : str
        Path of a URDF or xacro file, where the parameters leave it to robot_state_publisher.
    table : type
        Table of the node whose model it is.

    Raises
    ------
    KaneDynamicsError
        If the file, the URDF, a name or the base constraint is wrong.

    """
    selection = {'urdf_file': urdf} if urdf else {}
    parameters = parameters_of_file(path, table, **selection)
    text = read_description(parameters)
    if not text:
        raise InvalidInputError(
            f"'{path}' names no urdf_file; give one with --urdf "
            f'({parameters.urdf_source_description})'
        )
    return build_model(parameters, text, getattr(parameters, 'joints', ()))
