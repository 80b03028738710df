# SPDX-License-Identifier: Apache-2.0
"""URDF text of a xacro file, by the package xacro."""

from __future__ import annotations

import os
import re
from pathlib import Path

from kane_dynamics.exceptions import InvalidInputError


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
    prefixes = list(filter(None, os.environ.get('AMENT_PREFIX_PATH', '').split(os.pathsep)))
    missing = [
        name
        for name in dict.fromkeys(named)
        if not any((Path(prefix) / 'share' / name).is_dir() for prefix in prefixes)
    ]
    if not missing:
        return ''
    return (
        f'$(find ...) needs the packages {", ".join(missing)}, which are in none of '
        f'AMENT_PREFIX_PATH {prefixes}; source the workspace that holds them'
    )
