# SPDX-License-Identifier: Apache-2.0
"""Parameter files of the nodes: where shipped ones lie, and the values of a file by full name."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.robot.resources import share_directory
from kane_dynamics.safe_parsing import yaml_value


def robot_files() -> tuple[str, ...]:
    """Return the names of the shipped parameter files that describe a robot."""
    names = _shipped()
    keys = {'urdf_file', 'urdf_source'}
    return tuple(name for name in sorted(names) if keys & {*file_parameters(names[name])})


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


def file_parameters(file: Path) -> dict[str, Any]:
    """
    Return the parameters of a file by their full names, which may be wrong.

    Raises
    ------
    InvalidInputError
        If it cannot be read, or is no parameter file.

    """
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


def _shipped() -> dict[str, Path]:
    """Return the shipped parameter files by name."""
    folder = share_directory() / 'config'
    return {p.stem: p for p in (*folder.glob('*.yaml'), *folder.glob('robots/*.yaml'))}


def _by_full_name(tree: Mapping[str, Any], prefix: str = '') -> dict[str, Any]:
    """Return a nested mapping as one with dotted names."""
    values: dict[str, Any] = {}
    for key, value in tree.items():
        name = f'{prefix}{key}'
        values.update(
            _by_full_name(value, f'{name}.') if isinstance(value, Mapping) else {name: value}
        )
    return values
