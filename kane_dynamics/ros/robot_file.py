# SPDX-License-Identifier: Apache-2.0
"""From a parameter file of the nodes to parameters and model; nothing here needs rclpy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, TypeVar

from kane_dynamics.exceptions import InvalidInputError, brief
from kane_dynamics.resources import share_directory
from kane_dynamics.ros.parameters.inverse_dynamics import InverseDynamicsParameters
from kane_dynamics.ros.parameters.nodes import ALL_SPECS
from kane_dynamics.ros.parameters.robot import RobotParameters
from kane_dynamics.ros.parameters.spec import matching_spec, nearest_parameter, plain, specs
from kane_dynamics.ros.robot_source import RobotModel, build_model, read_description
from kane_dynamics.untrusted import yaml_value

T = TypeVar('T')


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
    values = _content(file)
    for name in values:
        meant = '' if matching_spec(name, ALL_SPECS) else nearest_parameter(name, ALL_SPECS)
        if meant:
            raise InvalidInputError(f"'{file}': no parameter '{name}'; did you mean '{meant}'?")
    return values


def _content(file: Path) -> dict[str, Any]:
    """Return the parameters of a file by their full names, which may be wrong."""
    try:
        content = yaml_value(file.read_text(encoding='utf-8'))
    except InvalidInputError as error:
        raise InvalidInputError(f"parameter file '{file}' {error}") from error
    except (OSError, ValueError) as error:  # what is no UTF-8 is a ValueError
        raise InvalidInputError(f"parameter file '{file}' cannot be read: {error}") from error
    values: dict[str, Any] = {}
    for section in content.values() if isinstance(content, dict) else (content,):
        if not (isinstance(section, dict) and isinstance(section.get('ros__parameters'), dict)):
            raise InvalidInputError(
                f"parameter file '{file}': need <node>: ros__parameters: <name>: <value>"
            )
        values.update(_by_full_name(section['ros__parameters']))
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
    given, known = read_parameter_file(path), {}
    for spec, field in zip(specs(table), fields(table), strict=True):  # type: ignore[arg-type]
        known[field.name] = plain(spec.default)
        if spec.name not in given:
            continue
        value = spec.typed(given[spec.name])
        if value is None:
            came = brief(given[spec.name])
            raise InvalidInputError(f"'{path}': {spec.name}: need {spec.kind}, got {came}")
        if problem := spec.problem(value):
            raise InvalidInputError(f"'{path}': {problem}")
        known[field.name] = value
    return replace(table(**known), **values)  # type: ignore[type-var]


def default_parameters(table: type[T]) -> T:
    """Return a parameter table without a file: every value has its default."""
    pairs = zip(specs(table), fields(table), strict=True)  # type: ignore[arg-type]
    return table(**{field.name: plain(spec.default) for spec, field in pairs})


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
    chosen = {'urdf_file': urdf} if urdf else {}
    parameters = parameters_of_file(path, table, **chosen)
    text = read_description(parameters)
    if not text:
        raise InvalidInputError(
            f"'{path}' names no urdf_file; give one with --urdf ({parameters.urdf_source})"
        )
    return build_model(parameters, text, getattr(parameters, 'joints', ()))


def robot_files() -> tuple[str, ...]:
    """Return the names of the shipped parameter files that describe a robot."""
    names = _shipped()
    return tuple(
        name for name in sorted(names) if {'urdf_file', 'urdf_source'} & {*_content(names[name])}
    )


def _shipped() -> dict[str, Path]:
    """Return the shipped parameter files by name."""
    folder = share_directory() / 'config'
    return {p.stem: p for p in (*folder.glob('*.yaml'), *folder.glob('robots/*.yaml'))}


def parameter_file(path: str | Path) -> Path:
    """
    Return the path of a parameter file, or of a shipped one of that name.

    Raises
    ------
    InvalidInputError
        If there is none of that name.

    """
    file = Path(path)
    if file.suffix or file.is_file():
        return file
    names = _shipped()
    if str(path) not in names:
        known = ', '.join(sorted(names))
        raise InvalidInputError(f"no parameter file '{path}'; shipped are {known}")
    return names[str(path)]


def _by_full_name(tree: Mapping[str, Any], prefix: str = '') -> dict[str, Any]:
    """Return a nested mapping as one with dotted names."""
    values: dict[str, Any] = {}
    for key, value in tree.items():
        name = f'{prefix}{key}'
        values.update(
            _by_full_name(value, f'{name}.') if isinstance(value, Mapping) else {name: value}
        )
    return values
