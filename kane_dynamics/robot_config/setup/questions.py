# SPDX-License-Identifier: Apache-2.0
"""What a URDF does not tell: questions to its owner, with a proposal and its reason."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from kane_dynamics.exceptions import InvalidInputError


@dataclass(frozen=True)
class Question:
    """
    One question.

    Parameters
    ----------
    name : str
        Of the option of the command line that answers it, without dashes.
    text : str
        What is asked.
    proposal : str
        The likeliest answer.
    why : str
        Why it is proposed.
    choices : tuple of str
        Legal answers; empty: any text.
    open : bool
        Whether the URDF leaves it open; else the proposal stands where nobody answers.

    """

    name: str
    text: str
    proposal: str
    why: str
    choices: tuple[str, ...] = ()
    open: bool = True

    def checked(self, value: str) -> str:
        """
        Return an answer.

        Raises
        ------
        InvalidInputError
            If it is none of the choices.

        """
        if self.choices and value not in self.choices:
            raise InvalidInputError(
                f"--{self.name}: need {' or '.join(self.choices)} for this robot, got '{value}'; "
                f'{self.proposal} is likely: {self.why}'
            )
        return value


@dataclass(frozen=True)
class Answer:
    """What was answered, and whether that is a guess which nobody confirmed."""

    value: str
    guessed: bool = False


Ask: TypeAlias = Callable[[Question], Answer]


def joints_of(
    name: str, text: str, available: Sequence[str], groups: Mapping[str, tuple[str, ...]]
) -> tuple[str, ...]:
    """
    Return the joints in a list of joints and groups with commas; '' or 'none' is no name.

    Raises
    ------
    InvalidInputError
        If there is no such name.

    """
    names = tuple(part.strip() for part in text.split(',') if part.strip() not in ('', 'none'))
    for one in names:
        if one not in available and one not in groups:
            known = ', '.join((*groups, *available)) or 'none'
            raise InvalidInputError(f"--{name}: no joint or hand named '{one}'; there are {known}")
    joints = (joint for one in names for joint in ((one,) if one in available else groups[one]))
    return tuple(dict.fromkeys(joints))


def numbers_of(name: str, text: str, count: int, what: str) -> tuple[float, ...]:
    """
    Return the numbers in a list with commas.

    Raises
    ------
    InvalidInputError
        If they are not as many numbers as needed.

    """
    try:
        numbers = tuple(float(part) for part in text.split(','))
    except ValueError:
        numbers = ()
    if len(numbers) != count:
        raise InvalidInputError(
            f"--{name}: need {count} numbers with commas, {what}, got '{text}'"
        )
    return numbers
