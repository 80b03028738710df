# SPDX-License-Identifier: Apache-2.0
"""URDF text or file to records. The XML parser refuses DTDs, entities and external references."""

from __future__ import annotations

import os
from pathlib import Path
from xml.etree.ElementTree import Element, ParseError

import numpy as np
from defusedxml import DefusedXmlException
from defusedxml.ElementTree import fromstring

from kane_dynamics.exceptions import UrdfFileError, UrdfStructureError, UrdfSyntaxError
from kane_dynamics.model.checks import as_path
from kane_dynamics.model.urdf.records import (
    UrdfInertial,
    UrdfJoint,
    UrdfLimit,
    UrdfLink,
    UrdfMimic,
    UrdfModel,
    UrdfOrigin,
    UrdfRound,
)

_MOMENTS = ('ixx', 'ixy', 'ixz', 'iyy', 'iyz', 'izz')
_SUBSTITUTIONS = ('$(', '${')  # of roslaunch and of xacro


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
        If a joint has no parent or no child.
    InvalidInputError
        If `source` is neither text nor a path.

    """
    text = as_path('path_or_xml_text', source)
    if '<' not in text and '://' in text:
        scheme = text.partition('://')[0]
        raise UrdfFileError(
            f"URDF file '{text}': {scheme}:// addresses are not resolved here; give the path of "
            'the file, e.g. from ament_index_python.get_package_share_path'
        )
    content: str | bytes
    if isinstance(source, str) and '<' in source:
        where, content = 'URDF text', source.lstrip('\ufeff \t\r\n')  # a str may keep its BOM
    else:
        where, content = f"URDF file '{os.fspath(source)}'", _file_content(source).lstrip()
    root = _parsed(content, where)
    if root.tag != 'robot':
        raise UrdfSyntaxError(f'{where}: the root element is <{root.tag}>, need <robot>')
    links = tuple(_link(element, i) for i, element in enumerate(root.findall('link')))
    joints = tuple(_joint(element, i) for i, element in enumerate(root.findall('joint')))
    return UrdfModel(root.get('name', 'robot'), links, joints)


def _file_content(path: str | os.PathLike[str]) -> bytes:
    try:
        return Path(path).read_bytes()
    except (OSError, ValueError) as error:
        reason = getattr(error, 'strerror', None) or str(error)
        raise UrdfFileError(f"URDF file '{os.fspath(path)}' cannot be read: {reason}") from error


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
    name = _text(element, 'name', f'link number {index + 1}')
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
            _number(inertia, m, where, default, finite=False)
            for m, default in zip(_MOMENTS, defaults, strict=True)
        ]
    return UrdfInertial(
        _origin(element, where),
        _number(mass, 'value', where, finite=False),
        tuple(moments),  # type: ignore[arg-type]
        tuple(missing),
    )


def _rounds(collision: Element, where: str) -> list[UrdfRound]:
    where = f'{where}, <collision>'
    return [
        UrdfRound(_origin(collision, where), _number(shape, 'radius', where), tag == 'sphere')
        for tag in ('cylinder', 'sphere')
        for shape in collision.findall(f'geometry/{tag}')
    ]


def _joint(element: Element, index: int) -> UrdfJoint:
    name = _text(element, 'name', f'joint number {index + 1}')
    where = f"joint '{name}'"
    ends = {tag: element.find(tag) for tag in ('parent', 'child')}
    for tag, end in ends.items():
        if end is None:
            raise UrdfStructureError(f'{where} has no <{tag}>')
    parent, child = (_text(end, 'link', where) for end in ends.values() if end is not None)
    axis, limit, dynamics, mimic = (
        element.find(tag) for tag in ('axis', 'limit', 'dynamics', 'mimic')
    )
    x_axis = (1.0, 0.0, 0.0)
    return UrdfJoint(
        name,
        _text(element, 'type', where),
        parent,
        child,
        _origin(element, where),
        x_axis if axis is None else _numbers(axis, 'xyz', where, 3, x_axis),  # type: ignore[arg-type]
        None if limit is None else _limit(limit, where),
        0.0 if dynamics is None else _number(dynamics, 'damping', where, 0.0),
        0.0 if dynamics is None else _number(dynamics, 'friction', where, 0.0),
        None if mimic is None else _mimic(mimic, where),
    )


def _limit(element: Element, where: str) -> UrdfLimit:
    names = ('lower', 'upper', 'velocity', 'effort')
    return UrdfLimit(
        *(None if element.get(name) is None else _number(element, name, where) for name in names)
    )


def _mimic(element: Element, where: str) -> UrdfMimic:
    return UrdfMimic(
        _text(element, 'joint', f'{where}, <mimic>'),
        _number(element, 'multiplier', where, 1.0),
        _number(element, 'offset', where, 0.0),
    )


def _origin(element: Element, where: str) -> UrdfOrigin:
    origin = element.find('origin')
    if origin is None:
        return UrdfOrigin()
    zero = (0.0, 0.0, 0.0)
    xyz, rpy = (_numbers(origin, name, where, 3, zero) for name in ('xyz', 'rpy'))
    return UrdfOrigin(xyz, rpy)  # type: ignore[arg-type]


def _text(element: Element, attribute: str, where: str) -> str:
    """Return an attribute that must be there and must not be empty."""
    text = element.get(attribute, '').strip()
    if not text:
        raise UrdfSyntaxError(f"{where}: <{element.tag}> has no attribute '{attribute}'")
    _refuse_substitution(text, f'{where}: <{element.tag} {attribute}="{text}">')
    return text


def _number(
    element: Element, attribute: str, where: str, default: float | None = None, finite: bool = True
) -> float:
    defaults = None if default is None else (default,)
    return _numbers(element, attribute, where, 1, defaults, finite)[0]


def _numbers(
    element: Element,
    attribute: str,
    where: str,
    count: int,
    default: tuple[float, ...] | None,
    finite: bool = True,
) -> tuple[float, ...]:
    """Return the numbers of an attribute, or the default where it is missing and has one."""
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
