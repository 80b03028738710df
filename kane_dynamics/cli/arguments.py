# SPDX-License-Identifier: Apache-2.0
"""What commands read from the command line, and what they need to run."""

from __future__ import annotations

import argparse
import math
import tempfile
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TypeAlias

from kane_dynamics.exceptions import InvalidInputError, KaneDynamicsError, MissingPackageError
from kane_dynamics.typing import Floats

Commands: TypeAlias = 'argparse._SubParsersAction[argparse.ArgumentParser]'

BASES = ('fixed', 'planar', 'floating')


def add_trajectory(parser: argparse.ArgumentParser) -> None:
    """Add what every command takes that makes a trajectory of another one, for a robot."""
    parser.add_argument('source', help='trajectory: .yaml as ros2 topic echo, .json, .csv')
    parser.add_argument('target', help='where it goes, in any of these forms')
    parser.add_argument('--config', required=True, help='parameter file, or name of a shipped one')
    parser.add_argument('--urdf', default='', help='path, where the parameters have none')
    parser.add_argument(
        '--at', action='append', default=[], metavar='JOINT=POSITION', help='of other joints'
    )


def with_values(
    option: str, values: Floats, inputs: Sequence[str], index: Callable[[str], int]
) -> Floats:
    """
    Return values with those of the command line in their places, as a copy.

    Parameters
    ----------
    option : str
        Name of the option, for messages.
    values : ndarray
        What counts where nothing is given.
    inputs : sequence of str
        NAME=VALUE.
    index : callable
        index(name) -> its place.

    Raises
    ------
    NameNotFoundError
        If a name does not exist.
    InvalidInputError
        If a text is something else, a number is not finite, or a name comes twice.

    """
    filled, seen = values.copy(), set()
    for text in inputs:
        name, _, value = text.partition('=')
        place = index(name)
        try:
            filled[place] = float(value)
        except ValueError:
            filled[place] = math.nan
        if not math.isfinite(filled[place]):
            raise InvalidInputError(
                f'{option}: need NAME=VALUE with a finite number, got {text!r}'
            )
        if name in seen:
            raise InvalidInputError(f"{option}: '{name}' comes twice")
        seen.add(name)
    return filled


def seconds(text: str) -> float:
    """Return a duration > 0 [s] of the command line."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not (math.isfinite(value) and value > 0.0):
        raise argparse.ArgumentTypeError(f'need a number of seconds > 0, got {text!r}')
    return value


def port(text: str) -> int:
    """Return a port of the command line."""
    if not (text.isdecimal() and 1 <= int(text) <= 65535):
        raise argparse.ArgumentTypeError(f'need a port from 1 to 65535, got {text!r}')
    return int(text)


def split(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return arguments of this command, and those of ROS."""
    inputs = list(arguments)
    cut = inputs.index('--ros-args') if '--ros-args' in inputs else len(inputs)
    return inputs[:cut], inputs[cut:]


def ros_module(name: str, purpose: str) -> ModuleType:
    """Return a module that needs ROS 2."""
    try:
        return import_module(f'kane_dynamics.ros.{name}')
    except ImportError as error:
        if isinstance(error, KaneDynamicsError):
            raise
        raise MissingPackageError(
            purpose,
            f'ROS 2 ({error.name})',
            "pip install 'kane_dynamics[ros]' (Linux on x86_64), or source a ROS 2 workspace",
        ) from error


def writable_folder(folder: Path) -> Path:
    """Return a folder that exists and takes files; known before minutes of work, not after."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return folder
    except OSError as error:
        raise InvalidInputError(
            f"--output: no files can be written to '{folder}': {error.strerror}"
        ) from error
