# SPDX-License-Identifier: Apache-2.0
"""Files of this and other packages, and URDF text that the package xacro makes of them."""

import os
import re
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path

from kane_dynamics.exceptions import InvalidInputError, KaneDynamicsError

__all__ = ['resolve', 'share_directory']

PACKAGE = 'kane_dynamics'
MARKER = 'package.xml'


def share_directory() -> Path:
    """
    Return the directory that holds ``robots/``, ``config/`` and ``launch/``.

    The first of these that exists: that in a prefix of ``AMENT_PREFIX_PATH``; the source tree, if
    this module runs from one (an editable install also leaves a copy below the prefix, which grows
    stale); ``share/kane_dynamics`` beside or above this module, wherever pip put it; the same
    below ``sys.prefix``.

    Returns
    -------
    pathlib.Path
        An existing absolute directory.

    Raises
    ------
    KaneDynamicsError
        If there is none; the error lists where it looked.

    Examples
    --------
    >>> from kane_dynamics.robot.resources import share_directory
    >>> (share_directory() / 'robots').is_dir()
    True

    """
    for candidate in _candidates():
        if (candidate / MARKER).is_file():
            return candidate
    listed = '\n  '.join(dict.fromkeys(map(str, _candidates())))
    raise KaneDynamicsError(
        f'no share directory of kane_dynamics (one with {MARKER} in it); looked at\n  {listed}\n'
        'install the package with pip or colcon, or source the workspace that holds it'
    )


def _candidates() -> Iterator[Path]:
    """Yield the places where the data files may be, the best first."""
    yield from _sourced_shares(PACKAGE)
    yield Path(__file__).resolve().parents[2]
    for parent in Path(__file__).resolve().parents[1:]:
        yield parent / 'share' / PACKAGE
    yield Path(sys.prefix) / 'share' / PACKAGE


def _sourced_shares(package: str) -> list[Path]:
    """Return where a package is in the prefixes of the workspaces that are sourced."""
    prefixes = filter(None, os.environ.get('AMENT_PREFIX_PATH', '').split(os.pathsep))
    return [Path(prefix) / 'share' / package for prefix in prefixes]


# what installs packages that the shipped files name
HINTS = {'example-robot-data': "pip install 'kane_dynamics[robots]' installs this package"}


def resolve(uri: str, what: str = 'urdf_file', remedy: str = '') -> Path:
    """
    Return the file that a path, a file:// or a package:// URI names.

    Parameters
    ----------
    uri : str
        The address.
    what : str
        What it is, for messages.
    remedy : str
        How to get the package, for messages; '' for what is known of it here.

    Raises
    ------
    InvalidInputError
        If there is no such file; the message lists where it was looked for.

    Examples
    --------
    >>> from kane_dynamics.robot.resources import resolve
    >>> resolve('package://kane_dynamics/robots/nonholonomic.urdf').name
    'nonholonomic.urdf'

    """
    if not uri.startswith('package://'):
        path = Path(uri.removeprefix('file://')).expanduser()
        if not path.is_file():
            raise InvalidInputError(f"{what} '{uri}' is not a file")
        return path
    package, _, path_in_share = uri.removeprefix('package://').partition('/')
    tried = [share / path_in_share for share in share_directories(package)]
    for path in tried:
        if path.is_file():
            return path
    remedy = remedy or HINTS.get(package, 'source the workspace that holds the package')
    raise InvalidInputError(
        f"{what} '{uri}' not found as any of {[str(p) for p in tried]}; {remedy}"
    )


def share_directories(package: str) -> Iterator[Path]:
    """Yield where a package may keep its share directory: ament, source tree, pip, cmeel."""
    if package == PACKAGE:
        yield share_directory()
    yield from _sourced_shares(package)
    yield Path(sys.prefix) / 'share' / package
    yield Path(sysconfig.get_path('purelib')) / 'cmeel.prefix' / 'share' / package


def xacro_text(path: Path) -> str:
    """Return a xacro file as URDF text."""
    try:
        import xacro
    except ImportError as error:
        raise InvalidInputError(
            f"xacro file '{path}' needs xacro, which is not installed: pip install xacro, or "
            'source a ROS 2 workspace'
        ) from error
    try:
        return str(xacro.process_file(str(path)).toxml())
    except Exception as error:  # xacro has no error family; whatever it says is about the file
        reason = _missing_packages(path) or str(error).strip() or type(error).__name__
        raise InvalidInputError(f"xacro file '{path}': xacro failed: {reason}") from error


def _missing_packages(path: Path) -> str:
    """Return which packages of a xacro file's $(find ...) no sourced workspace holds, or ''."""
    named = re.findall(r'\$\(find ([^)\s]+)\)', path.read_text(encoding='utf-8', errors='replace'))
    names = dict.fromkeys(named)
    missing = [name for name in names if not any(x.is_dir() for x in _sourced_shares(name))]
    if not missing:
        return ''
    prefixes = [str(share.parents[1]) for share in _sourced_shares(PACKAGE)]
    return (
        f'$(find ...) needs the packages {", ".join(missing)}, which are in none of '
        f'AMENT_PREFIX_PATH {prefixes}; source the workspace that holds them'
    )
