# SPDX-License-Identifier: Apache-2.0
"""The text of a robot description: from a URDF or xacro file, or of a shipped robot by name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.resources import resolve, share_directory


def robot_text(uri: str, what: str = 'URDF', remedy: str = '') -> str:
    """
    Return the URDF text that a file holds, or that xacro makes of it.

    Parameters
    ----------
    uri : str
        A path, a file:// or a package:// URI of a URDF or xacro file.
    what : str
        What it is, for messages.
    remedy : str
        How to get the package, for messages; '' for what is known of it here.

    Raises
    ------
    InvalidInputError
        If the file cannot be read or xacro cannot process it.

    """
    path = resolve(uri, what, remedy)
    if path.suffix == '.xacro':
        return _from_xacro(path, what)
    try:
        return path.read_text(encoding='utf-8')
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInputError(f"{what} '{path}' cannot be read: {error}") from error


def _from_xacro(path: Path, what: str) -> str:
    """Return a xacro file as URDF text."""
    try:
        import xacro
    except ImportError as error:
        raise InvalidInputError(
            f"{what} '{path}' needs xacro, which is not installed: pip install xacro, or source "
            'a ROS 2 workspace'
        ) from error
    try:
        return str(xacro.process_file(str(path)).toxml())
    except Exception as error:  # xacro has no error family; whatever it says is about the file
        raise InvalidInputError(f"{what} '{path}': xacro failed: {error}") from error


def shipped_robots() -> dict[str, str]:
    """Return the addresses of the URDFs that shipped parameter files name, by robot."""
    found: dict[str, str] = {}
    for file in sorted((share_directory() / 'config').glob('*.yaml')):
        content: Any = yaml.safe_load(file.read_text(encoding='utf-8'))
        uri = content['/**']['ros__parameters'].get('urdf_file')
        if uri:
            found[file.stem] = str(uri)
    return found


def robot_address(source: str) -> str:
    """
    Return the address of a robot description: of a file as it is, of a shipped robot its URDF's.

    Parameters
    ----------
    source : str
        A path or a URI, or the name of a shipped robot.

    Raises
    ------
    InvalidInputError
        If it is a bare word that is neither a file nor a shipped robot.

    """
    if '/' in source or Path(source).suffix or Path(source).is_file():
        return source
    known = shipped_robots()
    if source not in known:
        raise InvalidInputError(
            f"robot '{source}': need a URDF or xacro file, a package:// address or the name of a "
            f'shipped robot, which are {", ".join(known)}'
        )
    return known[source]
