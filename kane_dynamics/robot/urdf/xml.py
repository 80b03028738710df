# SPDX-License-Identifier: Apache-2.0
"""URDF text or file to records. The XML parser refuses DTDs, entities and external references."""

from __future__ import annotations

import math
import os
from pathlib import Path
from xml.etree.ElementTree import Element, ParseError

import numpy as np
from defusedxml import DefusedXmlException
from defusedxml.ElementTree import fromstring

from kane_dynamics.exceptions import InvalidInputError, UrdfError, UrdfFileError
from kane_dynamics.robot.body import Mimic
from kane_dynamics.robot.checks import as_path
from kane_dynamics.robot.resources import resolve, xacro_text
from kane_dynamics.robot.urdf.records import (
    UrdfInertial,
    UrdfJoint,
    UrdfLimit,
    UrdfLink,
    UrdfModel,
    UrdfOrigin,
    UrdfRound,
)

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


MOST_LINKS, MOST_MOVING = 2000, 500  # read within a second; humanoids with hands have about 100
_MOMENTS = ('ixx', 'ixy', 'ixz', 'iyy', 'iyz', 'izz')


def read_urdf(source: str | os.PathLike[str]) -> UrdfModel:
    """Read a robot description."""
    root = robot_element(source)
    _refuse_more('links', len(root.findall('link')), MOST_LINKS)
    links = tuple(_link(element, i) for i, element in enumerate(root.findall('link')))
    joints = tuple(_joint(element, i) for i, element in enumerate(root.findall('joint')))
    _refuse_more('moving joints', sum(j.type != 'fixed' for j in joints), MOST_MOVING)
    return UrdfModel(root.get('name', 'robot'), links, joints)


def _refuse_more(what: str, count: int, most: int) -> None:
    if count > most:
        raise UrdfError(
            f'the robot has {count} {what}, at most {most} are read from a URDF; build a larger '
            'one as kane_dynamics.Robot'
        )


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


def _link(element: Element, index: int) -> UrdfLink:
    name = text_of(element, 'name', f'link number {index + 1}')
    where = f"link '{name}'"
    inertial = element.find('inertial')
    collisions = element.findall('collision')
    rounds = [shape for collision in collisions for shape in _rounds(collision, where)]
    return UrdfLink(name, None if inertial is None else _inertial(inertial, where), tuple(rounds))


def _inertial(element: Element, where: str) -> UrdfInertial:
    """Return the inertial as written: numbers may be nan or inf here, `Inertia` refuses them."""
    where = f'{where}, <inertial>'
    mass, inertia = element.find('mass'), element.find('inertia')
    if mass is None:
        raise UrdfError(f'{where}: no <mass>')
    missing = [] if inertia is not None else ['<inertia>']
    moments = [0.0] * len(_MOMENTS)
    if inertia is not None:
        products = [m for m in _MOMENTS if m[1] != m[2]]
        missing = [m for m in products if inertia.get(m) is None]
        defaults = [0.0 if m in products else None for m in _MOMENTS]
        moments = [
            number_of(inertia, m, where, default, finite=False)
            for m, default in zip(_MOMENTS, defaults, strict=True)
        ]
    return UrdfInertial(
        origin_of(element, where),
        number_of(mass, 'value', where, finite=False),
        tuple(moments),  # type: ignore[arg-type]
        tuple(missing),
    )


def _rounds(collision: Element, where: str) -> list[UrdfRound]:
    where = f'{where}, <collision>'
    return [
        UrdfRound(origin_of(collision, where), number_of(shape, 'radius', where), tag == 'sphere')
        for tag in ('cylinder', 'sphere')
        for shape in collision.findall(f'geometry/{tag}')
    ]


def _joint(element: Element, index: int) -> UrdfJoint:
    name = text_of(element, 'name', f'joint number {index + 1}')
    where = f"joint '{name}'"
    ends = {tag: element.find(tag) for tag in ('parent', 'child')}
    for tag, end in ends.items():
        if end is None:
            raise UrdfError(f'{where} has no <{tag}>')
    parent, child = (text_of(end, 'link', where) for end in ends.values() if end is not None)
    axis, limit, dynamics, mimic = (
        element.find(tag) for tag in ('axis', 'limit', 'dynamics', 'mimic')
    )
    x_axis = (1.0, 0.0, 0.0)
    return UrdfJoint(
        name,
        text_of(element, 'type', where),
        parent,
        child,
        origin_of(element, where),
        x_axis if axis is None else numbers_of(axis, 'xyz', where, 3, x_axis),  # type: ignore[arg-type]
        None if limit is None else _limit(limit, where),
        0.0 if dynamics is None else number_of(dynamics, 'damping', where, 0.0),
        0.0 if dynamics is None else number_of(dynamics, 'friction', where, 0.0),
        None if mimic is None else _mimic(mimic, where),
    )


def _limit(element: Element, where: str) -> UrdfLimit:
    names = ('lower', 'upper', 'velocity', 'effort')
    return UrdfLimit(
        *(
            None
            if element.get(name) is None
            else number_of(element, name, where, largest=math.inf)  # which says: unlimited
            for name in names
        )
    )


def _mimic(element: Element, where: str) -> Mimic:
    return Mimic(
        text_of(element, 'joint', f'{where}, <mimic>'),
        number_of(element, 'multiplier', where, 1.0),
        number_of(element, 'offset', where, 0.0),
    )
