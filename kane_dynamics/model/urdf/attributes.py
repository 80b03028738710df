# SPDX-License-Identifier: Apache-2.0
"""Attributes of XML elements as text, numbers and origins, with errors that name the element."""

from __future__ import annotations

from xml.etree.ElementTree import Element

import numpy as np

from kane_dynamics.exceptions import UrdfSyntaxError
from kane_dynamics.model.urdf.records import UrdfOrigin

_SUBSTITUTIONS = ('$(', '${')  # of roslaunch and of xacro


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
        If it is missing, or holds a substitution.

    """
    text = element.get(attribute, '').strip()
    if not text:
        raise UrdfSyntaxError(f"{where}: <{element.tag}> has no attribute '{attribute}'")
    _refuse_substitution(text, f'{where}: <{element.tag} {attribute}="{text}">')
    return text


def number_of(
    element: Element, attribute: str, where: str, default: float | None = None, finite: bool = True
) -> float:
    """Return the number of an attribute; errors as for `numbers_of`."""
    defaults = None if default is None else (default,)
    return numbers_of(element, attribute, where, 1, defaults, finite)[0]


def numbers_of(
    element: Element,
    attribute: str,
    where: str,
    count: int,
    default: tuple[float, ...] | None,
    finite: bool = True,
) -> tuple[float, ...]:
    """
    Return the numbers of an attribute, or the default where it is missing and has one.

    Raises
    ------
    UrdfSyntaxError
        If it is missing without a default, has another count or holds no (finite) numbers.

    """
    text = element.get(attribute)
    if text is None:
        if default is None:
            raise UrdfSyntaxError(f"{where}: <{element.tag}> has no attribute '{attribute}'")
        return default
    what = f'{where}: <{element.tag} {attribute}="{text}">'
    _refuse_substitution(text, what)
    parts = text.split()
    if len(parts) != count:
        raise UrdfSyntaxError(f'{what}: need {count} numbers between spaces, got {len(parts)}')
    numbers = tuple(_float(part, what) for part in parts)
    if finite and not np.isfinite(numbers).all():
        raise UrdfSyntaxError(f'{what}: need finite numbers')
    return numbers


def _float(part: str, what: str) -> float:
    try:
        if '_' in part or not part.isascii():  # Python would read these, no other URDF reader does
            raise ValueError
        return float(part)
    except ValueError:
        raise UrdfSyntaxError(f"{what}: '{part}' is not a number") from None


def _refuse_substitution(text: str, what: str) -> None:
    if any(mark in text for mark in _SUBSTITUTIONS):
        raise UrdfSyntaxError(f'{what}: a substitution is left in; run xacro first')
