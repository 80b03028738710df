# SPDX-License-Identifier: Apache-2.0
"""Which kind of base a robot has: what fits its wheels, and what is proposed."""

from __future__ import annotations

import re

from kane_dynamics.bases.fitting import FittingKind
from kane_dynamics.robot_config.inspection.findings import Findings
from kane_dynamics.robot_config.setup.questions import Question

BASE_TYPES = {'differential': 'diff_drive'}  # of the nodes, where they differ from the kinds
_WHY = {
    'diff_drive': 'driven wheels on one axle',
    'skid_steer': 'two axles or more, and nothing steers',
    'mecanum': 'axles along y; only rollers, which no URDF shows, let it move sideways',
    'omni': 'axles in several directions: only rollers let these wheels move',
    'ackermann': 'an axle that nothing steers, and steered wheels',
    'swerve': 'every wheel is steered',
}
_ROLLERS = re.compile(r'mecanum|swedish', re.IGNORECASE)


def fitting_types(result: Findings) -> dict[str, FittingKind]:
    """Return the kinds of base that fit, by their base_type, the likeliest first."""
    return {BASE_TYPES.get(kind.kind, kind.kind): kind for kind in result.kinds}


def base_question(result: Findings, text: str) -> Question:
    """
    Return the question for the kind of base.

    Parameters
    ----------
    result : Findings
        What the robot shows.
    text : str
        Its URDF: words in it may tell of rollers.

    """
    types = fitting_types(result)
    choices = (*types, 'planar', 'none')
    if result.fixed_wheels:
        first, *others = result.fixed_wheels
        why = f'wheels are fixed joints in this file: {first} and {len(others)} others'
        return Question('base-type', _TEXT, 'planar', why, ('planar', 'none'))
    if not result.wheels:
        why = 'no joint turns a wheel on the ground'
        return Question('base-type', _TEXT, 'none', why, ('none', 'planar'))
    if not types:
        wheels = ', '.join(wheel.joint for wheel in result.wheels)
        why = f'no kind of base on wheels fits {wheels}, with x of the root link forward'
        return Question('base-type', _TEXT, 'planar', why, choices)
    if 'mecanum' in types and (said := _ROLLERS.search(text)):
        return Question(
            'base-type', _TEXT, 'mecanum', f"the description says '{said[0]}'", choices
        )
    first = next(iter(types))
    others = [f'{name} fits too ({_WHY[name]})' for name in types if name != first]
    return Question('base-type', _TEXT, first, '; '.join([_WHY[first], *others]), choices)


_TEXT = 'Which base carries the robot? (planar: pushed in the plane, wheels left out)'
