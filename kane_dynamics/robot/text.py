# SPDX-License-Identifier: Apache-2.0
"""Robots by name and by address: shipped ones, URDF and xacro files, package:// addresses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from kane_dynamics.exceptions import InvalidInputError, NameNotFoundError
from kane_dynamics.robot.checks import as_path
from kane_dynamics.robot.parameter_files import file_parameters, parameter_file, robot_files
from kane_dynamics.robot.resources import resolve
from kane_dynamics.robot.robot import Robot
from kane_dynamics.robot.urdf.joints import LockedJoints
from kane_dynamics.robot.urdf.load import STANDARD_GRAVITY, load_urdf
from kane_dynamics.robot.urdf.xacro_file import xacro_text


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
        return xacro_text(path)
    try:
        return path.read_text(encoding='utf-8')
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInputError(f"{what} '{path}' cannot be read: {error}") from error


def load_robot(
    name: str | Path,
    urdf: str | Path | None = None,
    *,
    base: str | None = None,
    locked_joints: LockedJoints | None = None,
    gravity: Any = None,
) -> Robot:
    """
    Load a robot as the nodes have it: a shipped one by its name, or that of a parameter file.

    Parameters
    ----------
    name : str or path
        Name of a shipped parameter file, ``'nonholonomic'`` or ``'tiago'`` for instance, or the
        path of one, as ``kane-dynamics init`` writes it.
    urdf : str or path, optional
        URDF or xacro file of a robot whose parameters name none.
    base, locked_joints, gravity
        As for `load_urdf`; where left out, those of the parameters: a planar base unless
        ``base_type`` is ``none``.

    Returns
    -------
    Robot
        x, y, yaw of a planar base come first.

    Raises
    ------
    InvalidInputError
        If there is no such robot, or it needs a URDF that is not shipped.
    KaneDynamicsError
        If the URDF is wrong, as `load_urdf`.

    Examples
    --------
    >>> import kane_dynamics as kd
    >>> kd.load_robot('nonholonomic').velocity_names[:5]
    ('base_x', 'base_y', 'base_yaw', 'wheel_left_joint', 'wheel_right_joint')

    """
    known = robot_files()
    file = as_path('name', name)
    if not Path(file).suffix and file not in known:
        raise NameNotFoundError('shipped robot', file, known)
    values = file_parameters(parameter_file(file))
    address = urdf or values.get('urdf_file')
    if not address:
        raise InvalidInputError(
            f"robot '{file}': its URDF is not shipped; load_robot('{file}', urdf=...) takes it "
            f'from: {values.get("urdf_source", "its owner")}'
        )
    if base is None:
        base = 'fixed' if values.get('base_type', 'none') == 'none' else 'planar'
    if locked_joints is None:
        locked_joints = [name for name in values.get('locked_joints', ()) if name]
    if gravity is None:
        gravity = values.get('gravity', STANDARD_GRAVITY)
    return load_urdf(address, base, locked_joints, gravity)


def shipped_robots() -> dict[str, str]:
    """Return the addresses of the URDFs that shipped parameter files name, by robot."""
    files = {name: file_parameters(parameter_file(name)) for name in robot_files()}
    return {name: str(x['urdf_file']) for name, x in files.items() if x.get('urdf_file')}


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
