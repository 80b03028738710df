# SPDX-License-Identifier: Apache-2.0
"""Robots by name and by address: shipped ones, URDF and xacro files, parameter files."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kane_dynamics.exceptions import InvalidInputError, NameNotFoundError
from kane_dynamics.robot.checks import as_path
from kane_dynamics.robot.resources import resolve, share_directory, xacro_text
from kane_dynamics.robot.robot import Robot
from kane_dynamics.robot.urdf import STANDARD_GRAVITY, load_urdf
from kane_dynamics.robot.urdf.joints import LockedJoints
from kane_dynamics.safe_parsing import yaml_value

_OF_ROBOTS = {'urdf_file', 'urdf_source_description'}
"""Parameters of which files that describe a robot have one."""


def robot_files() -> tuple[str, ...]:
    """Return the names of the shipped parameter files that describe a robot."""
    names = _shipped()
    return tuple(name for name in sorted(names) if _OF_ROBOTS & {*file_parameters(names[name])})


def parameter_file(path: str | Path) -> Path:
    """Return the path of a parameter file, or of a shipped one of that name."""
    file = Path(path)
    if file.suffix or file.is_file():
        return file
    names = _shipped()
    if str(path) not in names:
        known = ', '.join(sorted(names))
        raise InvalidInputError(f"no parameter file '{path}'; shipped are {known}")
    return names[str(path)]


def file_parameters(file: Path) -> dict[str, Any]:
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


def robot_text(uri: str, what: str = 'URDF', remedy: str = '') -> str:
    """Return the URDF text that a file holds, or that xacro makes of it."""
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
    file = as_path('name', name)
    is_known = bool(Path(file).suffix) or file in _shipped()
    values = file_parameters(parameter_file(file)) if is_known else {}
    if not Path(file).suffix and not _OF_ROBOTS & {*values}:
        raise NameNotFoundError('shipped robot', file, robot_files())
    address = urdf or values.get('urdf_file')
    if not address:
        raise InvalidInputError(
            f"robot '{file}': its URDF is not shipped; load_robot('{file}', urdf=...) takes it "
            f'from: {values.get("urdf_source_description", "its owner")}'
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
    """Return the address of a file as it is, of a shipped robot its URDF's."""
    if '/' in source or Path(source).suffix or Path(source).is_file():
        return source
    known = shipped_robots()
    if source not in known:
        raise InvalidInputError(
            f"robot '{source}': need a URDF or xacro file, a package:// address or the name of a "
            f'shipped robot, which are {", ".join(known)}'
        )
    return known[source]
