# SPDX-License-Identifier: Apache-2.0
"""Elements and attributes of a URDF; DTDs, entities and external references are refused."""

import math
import os
from pathlib import Path
from xml.etree.ElementTree import Element, ParseError

import numpy as np
from defusedxml import DefusedXmlException
from defusedxml.ElementTree import fromstring

from kane_dynamics.exceptions import InvalidInputError, UrdfError, UrdfFileError
from kane_dynamics.robot.checks import as_path
from kane_dynamics.robot.resources import resolve, xacro_text

_SUBSTITUTIONS = ('$(', '${')  # of roslaunch and of xacro
LARGEST = 1e30  # [SI] no robot has more; products of a few such numbers are finite
LONGEST = 256  # characters of a name
_SHOWN = 80  # characters of a value in a message


def text_of(element: Element, attribute: str, where: str) -> str:
    """Return an attribute that must be there and must not be empty."""
    text = element.get(attribute, '').strip()
    if not text:
        raise UrdfError(f"{where}: <{element.tag}> has no attribute '{attribute}'")
    what = f'{where}: <{element.tag} {attribute}="{shortened(text)}">'
    _refuse_substitution(text, what)
    if len(text) > LONGEST:
        raise UrdfError(f'{what}: {len(text)} characters, a name has at most {LONGEST}')
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
    """Return the numbers of an attribute, or the default where it is missing and has one."""
    text = element.get(attribute)
    if text is None:
        if default is None:
            raise UrdfError(f"{where}: <{element.tag}> has no attribute '{attribute}'")
        return default
    what = f'{where}: <{element.tag} {attribute}="{shortened(text)}">'
    _refuse_substitution(text, what)
    parts = text.split()
    if len(parts) != count:
        raise UrdfError(f'{what}: need {count} numbers between spaces, got {len(parts)}')
    numbers = tuple(_float(part, what) for part in parts)
    if finite and not np.isfinite(numbers).all():
        raise UrdfError(f'{what}: need finite numbers')
    if any(largest < abs(number) < math.inf for number in numbers):
        raise UrdfError(f'{what}: need numbers of at most {largest:g} in SI units')
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
        raise UrdfError(f"{what}: '{shortened(part)}' is not a number") from None


def _refuse_substitution(text: str, what: str) -> None:
    if any(mark in text for mark in _SUBSTITUTIONS):
        raise UrdfError(f'{what}: a substitution is left in; run xacro first')


def robot_element(source: str | os.PathLike[str]) -> Element:
    """Return the <robot> of a robot description."""
    text = as_path('path_or_xml_text', source)
    content: str | bytes
    if isinstance(source, str) and '<' in source:
        where, content = 'URDF text', source.lstrip('\ufeff \t\r\n')  # a str may keep its BOM
    else:
        where, content = f"URDF file '{text}'", _file_content(text).lstrip()
    root = _parsed(content, where)
    if root.tag != 'robot':
        raise UrdfError(f'{where}: the root element is <{root.tag}>, need <robot>')
    return root


def _file_content(address: str) -> bytes:
    try:
        path = resolve(address, 'URDF file') if '://' in address else Path(address)
        return xacro_text(path).encode() if path.suffix == '.xacro' else path.read_bytes()
    except InvalidInputError as error:
        raise UrdfFileError(str(error)) from error
    except (OSError, ValueError) as error:
        reason = getattr(error, 'strerror', None) or str(error)
        raise UrdfFileError(f"URDF file '{address}' cannot be read: {reason}") from error


def _parsed(content: str | bytes, where: str) -> Element:
    """Return the root element. Blank lines before the XML declaration have been dropped."""
    try:
        root: Element = fromstring(content, forbid_dtd=True)
    except DefusedXmlException as error:
        raise UrdfError(
            f'{where}: DTDs, entities and external references are refused: {error}'
        ) from error
    except (ParseError, ValueError, LookupError) as error:
        raise UrdfError(f'{where} is not XML: {error}') from error
    for element in root.iter():
        if 'xacro}' in str(element.tag):
            name = str(element.tag).partition('}')[2]
            raise UrdfError(f'{where}: <xacro:{name}> is left in; run xacro first')
    return root
