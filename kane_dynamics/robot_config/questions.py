# SPDX-License-Identifier: Apache-2.0
"""What a URDF does not tell: questions to its owner, with a proposal and its reason."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from kane_dynamics.bases.recognition import FittingKind
from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.robot_config.declared_constraints import KINDS
from kane_dynamics.robot_config.inspection import Findings


@dataclass(frozen=True)
class Question:
    """One question."""

    name: str
    text: str
    proposal: str
    why: str
    choices: tuple[str, ...] = ()
    open: bool = True

    def answered(self, ask: Ask) -> Answer:
        """Return the answer, one of the choices where there are some."""
        answer = ask(self)
        value = answer.value
        if self.choices and value not in self.choices:
            raise InvalidInputError(
                f"--{self.name}: need {' or '.join(self.choices)} for this robot, got '{value}'; "
                f'{self.proposal} is likely: {self.why}'
            )
        return answer


@dataclass(frozen=True)
class Answer:
    """What was answered, and whether that is a guess which nobody confirmed."""

    value: str
    guessed: bool = False


Ask: TypeAlias = Callable[[Question], Answer]


def joints_of(
    name: str, text: str, available: Sequence[str], groups: Mapping[str, tuple[str, ...]]
) -> tuple[str, ...]:
    """Return the joints in a list of joints and groups with commas; '' or 'none' is no name."""
    names = tuple(part.strip() for part in text.split(',') if part.strip() not in ('', 'none'))
    for one in names:
        if one not in available and one not in groups:
            known = ', '.join((*groups, *available)) or 'none'
            raise InvalidInputError(f"--{name}: no joint or hand named '{one}'; there are {known}")
    joints = (joint for one in names for joint in ((one,) if one in available else groups[one]))
    return tuple(dict.fromkeys(joints))


def numbers_of(name: str, text: str, count: int, what: str) -> tuple[float, ...]:
    """Return the numbers in a list with commas."""
    try:
        numbers = tuple(float(part) for part in text.split(','))
    except ValueError:
        numbers = ()
    if len(numbers) != count:
        raise InvalidInputError(
            f"--{name}: need {count} numbers with commas, {what}, got '{text}'"
        )
    return numbers


_WHY = {
    'diff_drive': 'driven wheels on one axle',
    'skid_steer': 'two axles or more, and nothing steers',
    'mecanum': 'axles along y; only rollers, which no URDF shows, let it move sideways',
    'omni': 'axles in several directions: only rollers let these wheels move',
    'ackermann': 'an axle that nothing steers, and steered wheels',
    'swerve': 'every wheel is steered',
}
_ROLLERS = re.compile(r'mecanum|swedish', re.IGNORECASE)


def fitting_types(urdf: Findings) -> dict[str, FittingKind]:
    """Return the kinds of base that fit, by their base_type, the likeliest first."""
    types = {kind: base_type for base_type, kind in KINDS.items()}
    return {types[kind.kind]: kind for kind in urdf.kinds}


def base_question(urdf: Findings, text: str) -> Question:
    """Return the question for the kind of base."""
    types = fitting_types(urdf)
    choices = (*types, 'planar', 'none')
    if urdf.fixed_wheels:
        first, *others = urdf.fixed_wheels
        why = f'wheels are fixed joints in this file: {first} and {len(others)} others'
        return Question('base-type', _TEXT, 'planar', why, ('planar', 'none'))
    if not urdf.wheels:
        why = 'no joint turns a wheel on the ground'
        return Question('base-type', _TEXT, 'none', why, ('none', 'planar'))
    if not types:
        wheels = ', '.join(wheel.joint for wheel in urdf.wheels)
        why = f'no kind of base on wheels fits {wheels}, with x of the root link forward'
        return Question('base-type', _TEXT, 'planar', why, choices)
    if 'mecanum' in types and (match := _ROLLERS.search(text)):
        return Question(
            'base-type', _TEXT, 'mecanum', f"the description says '{match[0]}'", choices
        )
    first = next(iter(types))
    others = [f'{name} fits too ({_WHY[name]})' for name in types if name != first]
    return Question('base-type', _TEXT, first, '; '.join([_WHY[first], *others]), choices)


_TEXT = 'Which base carries the robot? (planar: pushed in the plane, wheels left out)'
