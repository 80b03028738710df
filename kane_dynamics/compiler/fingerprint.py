# SPDX-License-Identifier: Apache-2.0
"""What compiled code depends on, as one hash."""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from kane_dynamics.compiler.llvm.native import OBJECT_HEADER, processor
from kane_dynamics.constraints.base import Constraint
from kane_dynamics.robot.body import add_content
from kane_dynamics.robot.robot import Robot

_SOURCES = (
    'algebra',
    'algorithms',
    'compiler',
    'constraints',
    'dynamics',
    'formulations',
    'robot',
    'simulation',
)


def fingerprint(robot: Robot, constraints: Sequence[Constraint], *more: Any) -> str:
    """Return a hash of everything that the machine code of a robot depends on."""
    digest = hashlib.sha256()
    environment = (
        platform.python_implementation(),
        OBJECT_HEADER,
        tuple.__basicsize__,
        np.__version__,
        version('casadi'),
        version('llvmlite'),
        processor(),
    )
    for part in (environment, robot, tuple(constraints), more):
        add_content(digest, part)
    for path in source_files():
        digest.update(path.read_bytes())
    return digest.hexdigest()


def source_files() -> list[Path]:
    """Return the files whose code the graphs come from."""
    root = Path(__file__).parent.parent
    return sorted(path for folder in _SOURCES for path in (root / folder).rglob('*.py'))
