# SPDX-License-Identifier: Apache-2.0
"""Attributes of XML elements as text, numbers and origins, with errors that name the element."""

from __future__ import annotations

import math
from xml.etree.ElementTree import Element

import numpy as np

from kane_dynamics.exceptions import UrdfSyntaxError
from kane_dynamics.robot.urdf.records import UrdfOrigin

_SUBSTITUTIONS = ('$(', '${')  # of roslaunch and of xacro
LARGEST = 1e30  # [SI] no robot has more; products of a few such numbers are finite
LONGEST = 256  # characters of a name
_SHOWN = 80  # characters of a value in a message


def origin_of(element: Element, where: str) -> UrdfOrigin:
    """Return the <origin> of an element; identity where there is none."""
    origin = element.find('origin')
    if origin is None:
        return UrdfOrigin()
    zero = (0.0, 0.0, 0.0)
    xyz, rpy = (numbers_of(origin, name, where, 3, zero) for name in ('xyz', 'rpy'))
    return UrdfOrigin(xyz, rpy)  # type: ignore[arg-type]


def text_of(element: Element, attribute: str, where: str) -> str:
    """
    Return an attribute that must be there and must not be empty.

    Raises
    ------
    UrdfSyntaxError
        If it is missing, is longer than `LONGEST`, or holds a substitution.

    """
    text = element.get(attribute, '').strip()
    if not text:
        raise UrdfSyntaxError(f"{where}: <{element.tag}> has no attribute '{attribute}'")
    what = f'{where}: <{element.tag} {attribute}="{shortened(text)}">'
    _refuse_substitution(text, what)
    if len(text) > LONGEST:
        raise UrdfSyntaxError(f'{what}: {len(text)} characters, a name has at most {LONGEST}')
    return text


def number_of(
    element: Element,
    attribute: str,
    where: str,
    default: float | None = None,
    finite: bool = True,
    largest: float = LARGEST,
) -> float:
    """Return the number of an attribute; errors as for `numbers_of`."""
    defaults = None if default is None else (default,)
    return numbers_of(element, attribute, where, 1, defaults, finite, largest)[0]


def numbers_of(
    element: Element,
    attribute: str,
    where: str,
    count: int,
    default: tuple[float, ...] | None,
    finite: bool = True,
    largest: float = LARGEST,
) -> tuple[float, ...]:
    """
    Return the numbers of an attribute, or the default where it is missing and has one.

    Raises
    ------
    UrdfSyntaxError
        If it is missing without a default, has another count, or holds no (finite) numbers or
        some larger than `largest`.

    """
    text = element.get(attribute)
    if text is None:
        if default is None:
            raise UrdfSyntaxError(f"{where}: <{element.tag}> has no attribute '{attribute}'")
        return default
    what = f'{where}: <{element.tag} {attribute}="{shortened(text)}">'
    _refuse_substitution(text, what)
    parts = text.split()
    if len(parts) != count:
        raise UrdfSyntaxError(f'{what}: need {count} numbers between spaces, got {len(parts)}')
    numbers = tuple(_float(part, what) for part in parts)
    if finite and not np.isfinite(numbers).all():
        raise UrdfSyntaxError(f'{what}: need finite numbers')
    if any(largest < abs(number) < math.inf for number in numbers):
        raise UrdfSyntaxError(f'{what}: need numbers of at most {largest:g} in SI units')
    return numbers


def shortened(text: str) -> str:
    """Return a text for a message, without the middle of a long one."""
    return text if len(text) <= _SHOWN else f'{text[: _SHOWN - 20]} ... {text[-15:]}'


def _float(part: str, what: str) -> float:
    try:
        if '_' in part or not part.isascii():  # Python would read these, no other URDF reader does
            raise ValueError
        return float(part)
    except ValueError:
        raise UrdfSyntaxError(f"{what}: '{shortened(part)}' is not a number") from None


def _refuse_substitution(text: str, what: str) -> None:
    if any(mark in text for mark in _SUBSTITUTIONS):
        raise UrdfSyntaxError(f'{what}: a substitution is left in; run xacro first')
