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
    """Return the parameters of a file by their full names, whichever node they are written for."""
    file = parameter_file(path)
    values = file_parameters(file)
    for name in values:
        meant = '' if matching_spec(name, all_specs()) else nearest_parameter(name, all_specs())
        if meant:
            raise InvalidInputError(f"'{file}': no parameter '{name}'; did you mean '{meant}'?")
    return values


def parameters_of_file(path: str | Path, table: type[T], **values: Any) -> T:
    """Return a parameter table with the values of a file, and defaults for what it leaves out."""
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
    """Return the model that nodes build from a parameter file."""
    selection = {'urdf_file': urdf} if urdf else {}
    parameters = parameters_of_file(path, table, **selection)
    text = read_description(parameters)
    if not text:
        raise InvalidInputError(
            f"'{path}' names no urdf_file; give one with --urdf "
            f'({parameters.urdf_source_description})'
        )
    return build_model(parameters, text, getattr(parameters, 'joints', ()))
