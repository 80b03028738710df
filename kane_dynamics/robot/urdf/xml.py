# SPDX-License-Identifier: Apache-2.0
"""URDF text or file to records. The XML parser refuses DTDs, entities and external references."""

from __future__ import annotations

import math
import os
from pathlib import Path
from xml.etree.ElementTree import Element, ParseError

from defusedxml import DefusedXmlException
from defusedxml.ElementTree import fromstring

from kane_dynamics.exceptions import (
    InvalidInputError,
    UrdfFileError,
    UrdfStructureError,
    UrdfSyntaxError,
)
from kane_dynamics.robot.checks import as_path
from kane_dynamics.robot.resources import resolve
from kane_dynamics.robot.urdf.attributes import number_of, numbers_of, origin_of, text_of
from kane_dynamics.robot.urdf.records import (
    UrdfInertial,
    UrdfJoint,
    UrdfLimit,
    UrdfLink,
    UrdfMimic,
    UrdfModel,
    UrdfRound,
)
from kane_dynamics.robot.urdf.xacro_file import xacro_text

MOST_LINKS, MOST_MOVING = 2000, 500  # read within a second; humanoids with hands have about 100
_MOMENTS = ('ixx', 'ixy', 'ixz', 'iyy', 'iyz', 'izz')


def read_urdf(source: str | os.PathLike[str]) -> UrdfModel:
    """
    Read a robot description.

    Parameters
    ----------
    source : str or path
        XML text if it is a str with a ``<`` in it, else the path of a file.

    Returns
    -------
    UrdfModel
        Its links and joints in file order.

    Raises
    ------
    UrdfFileError
        If there is no such file.
    UrdfSyntaxError
        If the text is not safe XML with a <robot>, or an attribute is missing or unreadable.
    UrdfStructureError
        If a joint has no parent or no child, or there are more than `MOST_LINKS` links or
        `MOST_MOVING` joints that are not fixed.
    InvalidInputError
        If `source` is neither text nor a path.

    """
    root = robot_element(source)
    _refuse_more('links', len(root.findall('link')), MOST_LINKS)
    links = tuple(_link(element, i) for i, element in enumerate(root.findall('link')))
    joints = tuple(_joint(element, i) for i, element in enumerate(root.findall('joint')))
    _refuse_more('moving joints', sum(j.type != 'fixed' for j in joints), MOST_MOVING)
    return UrdfModel(root.get('name', 'robot'), links, joints)


def _refuse_more(what: str, count: int, most: int) -> None:
    if count > most:
        raise UrdfStructureError(
            f'the robot has {count} {what}, at most {most} are read from a URDF; build a larger '
            'one as kane_dynamics.Robot'
        )


def robot_element(source: str | os.PathLike[str]) -> Element:
    """
    Return the <robot> of a robot description.

    Parameters and errors as for `read_urdf`.
    """
    text = as_path('path_or_xml_text', source)
    content: str | bytes
    if isinstance(source, str) and '<' in source:
        where, content = 'URDF text', source.lstrip('\ufeff \t\r\n')  # a str may keep its BOM
    else:
        where, content = f"URDF file '{text}'", _file_content(text).lstrip()
    root = _parsed(content, where)
    if root.tag != 'robot':
        raise UrdfSyntaxError(f'{where}: the root element is <{root.tag}>, need <robot>')
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
        raise UrdfSyntaxError(
            f'{where}: DTDs, entities and external references are refused: {error}'
        ) from error
    except (ParseError, ValueError, LookupError) as error:
        raise UrdfSyntaxError(f'{where} is not XML: {error}') from error
    for element in root.iter():
        if 'xacro}' in str(element.tag):
            name = str(element.tag).partition('}')[2]
            raise UrdfSyntaxError(f'{where}: <xacro:{name}> is left in; run xacro first')
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
        raise UrdfSyntaxError(f'{where}: no <mass>')
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
            raise UrdfStructureError(f'{where} has no <{tag}>')
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


def _mimic(element: Element, where: str) -> UrdfMimic:
    return UrdfMimic(
        text_of(element, 'joint', f'{where}, <mimic>'),
        number_of(element, 'multiplier', where, 1.0),
        number_of(element, 'offset', where, 0.0),
    )
