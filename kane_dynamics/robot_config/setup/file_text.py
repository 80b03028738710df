# SPDX-License-Identifier: Apache-2.0
"""The parameter file of a robot: YAML with comments on what was found, and what was guessed."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from typing import Any

import yaml

from kane_dynamics.robot_config.inspection.findings import Findings
from kane_dynamics.robot_config.setup.gains import RATE, Tuning
from kane_dynamics.robot_config.setup.settings import Setting

WIDTH = 99
NOT_KNOWN = (
    'friction of joints and wheels beyond <dynamics>; unit and sign of measured efforts; topics '
    'and rates of the robot; limits of acceleration and lag of the base; what the tool carries'
)


def file_text(
    result: Findings, command: str, settings: Sequence[Setting], tuning: Tuning | None = None
) -> str:
    """
    Return the parameter file.

    Parameters
    ----------
    result : Findings
        What the robot shows.
    command : str
        That writes the file.
    settings : sequence of Setting
        Parameters but for the tuning.
    tuning : Tuning, optional
        Gains and start; left out while they are not known.

    """
    lines = [*_head(result, command), '/**:', '  ros__parameters:', *_settings(settings)]
    lines += [f'    joint_state_rate: {RATE}   # [Hz] of kane_simulator, and of the gains']
    lines += [f'    odom_rate: {RATE}          # [Hz] of kane_simulator']
    if tuning is not None:
        lines += _tuning(tuning)
    return '\n'.join(lines) + '\n'


def _head(result: Findings, command: str) -> Iterator[str]:
    """Yield comments on the robot as a whole."""
    robot = result.robot
    yield f"# Parameters of the nodes for '{robot.name}', written by: {command}"
    roles: dict[str, int] = {}
    for joint in result.joints:
        roles[joint.role] = roles.get(joint.role, 0) + 1
    counts = ', '.join(f'{role}: {count}' for role, count in roles.items())
    yield from _comment(f'Found: {result.mass:.4g} kg in motion; joints by role: {counts}')
    sensors = ', '.join(result.frames.imu) or 'none'
    yield from _comment(f'Frames: root {result.frames.root}; IMU {sensors}')
    for joint in result.joints:
        if joint.mimic is not None:
            m = joint.mimic
            follows = f'{joint.name} = {m.ratio:g} {m.master} + {m.offset:g}'
            yield from _comment(f'Mimic, not in the model: {follows}')
    yield '# guessed: nobody confirmed it, and a URDF cannot tell. Look at these lines first.'
    yield from _comment(f'Not known: {NOT_KNOWN}')
    yield '# All parameters with units and bounds: --help of each node.'


def _comment(text: str) -> list[str]:
    return textwrap.wrap(
        text, WIDTH, initial_indent='# ', subsequent_indent='#   ', break_long_words=False
    )


def _settings(settings: Sequence[Setting]) -> Iterator[str]:
    """Yield lines of YAML; names with a dot stand together below their first part."""
    open_block = False
    ordered = sorted(settings, key=lambda setting: _PLACE.get(setting.name, len(_PLACE)))
    for setting in ordered:
        inside = setting.name.startswith('base.')
        if inside and not open_block:
            yield '    base:'
        open_block = inside
        note = f'guessed: {setting.comment}' if setting.guessed else setting.comment
        indent = '      ' if inside else '    '
        if note:
            yield from (
                f'{indent}# {line}' if k == 0 else f'{indent}#   {line}'
                for k, line in enumerate(textwrap.wrap(note, WIDTH - len(indent) - 4))
            )
        line = f'{setting.name.removeprefix("base.")}: {_yaml(setting.value)}'
        yield from _wrapped(line, indent) if isinstance(setting.value, list) else [indent + line]


def _wrapped(line: str, indent: str) -> list[str]:
    """Return a list of names or numbers as lines that are not too long."""
    return textwrap.wrap(
        line,
        WIDTH,
        initial_indent=indent,
        subsequent_indent=indent + '  ',
        break_long_words=False,
        break_on_hyphens=False,
    )


_PLACE = {'urdf_file': 0, 'base_type': 1}


def _yaml(value: Any) -> str:
    """Return a value as YAML on one line."""
    text: str = yaml.safe_dump(value, default_flow_style=True, width=10**9, allow_unicode=True)
    return text.removesuffix('...\n').strip()


def _tuning(tuning: Tuning) -> Iterator[str]:
    if tuning.start:
        yield '    initial_positions:   # of kane_simulator [rad or m]: zero is at or near a limit'
        yield from (f'      {_yaml(name)}: {x}' for name, x in tuning.start.items())
    if not tuning.p:
        return
    yield f'    # from the mass matrix, for a loop at {RATE:g} Hz: a start for the simulator; tune'
    yield '    # them on the robot'
    yield '    gains:'
    yield from (
        f'      {_yaml(name)}: {{p: {p}, d: {tuning.d[name]}}}' for name, p in tuning.p.items()
    )
