# SPDX-License-Identifier: Apache-2.0
"""The shapes that a URDF draws its links with: boxes, cylinders, spheres, mesh files."""

from __future__ import annotations

import os
from dataclasses import dataclass
from xml.etree.ElementTree import Element

from kane_dynamics.robot.urdf.records import UrdfOrigin
from kane_dynamics.robot.urdf.xml import number_of, numbers_of, origin_of, robot_element, text_of

SHAPES = ('box', 'cylinder', 'sphere', 'mesh')
Colour = tuple[float, ...]


@dataclass(frozen=True)
class UrdfVisual:
    """A shape of a link."""

    link: str
    origin: UrdfOrigin
    kind: str
    size: tuple[float, ...] = ()
    file: str = ''
    colour: Colour | None = None


def read_visuals(source: str | os.PathLike[str]) -> tuple[UrdfVisual, ...]:
    """Return the shapes of a robot description, of <collision> without <visual>."""
    root = robot_element(source)
    colours = {
        material.get('name', ''): colour
        for material in root.findall('material')
        if (colour := _colour(material, 'material')) is not None
    }
    visuals = []
    for link in root.findall('link'):
        name = link.get('name', '')
        elements = link.findall('visual') or link.findall('collision')
        visuals += [_visual(element, name, colours) for element in elements]
    return tuple(visuals)


def _visual(element: Element, link: str, colours: dict[str, Colour]) -> UrdfVisual:
    where = f"link '{link}', <{element.tag}>"
    origin = origin_of(element, where)
    kind, size, file = _geometry(element, where)
    material = element.find('material')
    colour = None
    if material is not None:
        colour = _colour(material, where) or colours.get(material.get('name', ''))
    return UrdfVisual(link, origin, kind, size, file, colour)


def _geometry(element: Element, where: str) -> tuple[str, tuple[float, ...], str]:
    for kind in SHAPES:
        shape = element.find(f'geometry/{kind}')
        if shape is None:
            continue
        if kind == 'box':
            return kind, numbers_of(shape, 'size', where, 3, None), ''
        if kind == 'mesh':
            scale = numbers_of(shape, 'scale', where, 3, (1.0, 1.0, 1.0))
            return kind, scale, text_of(shape, 'filename', where)
        names = ('radius', 'length') if kind == 'cylinder' else ('radius',)
        return kind, tuple(number_of(shape, name, where) for name in names), ''
    return '', (), ''


def _colour(material: Element, where: str) -> Colour | None:
    colour = material.find('color')
    return None if colour is None else numbers_of(colour, 'rgba', where, 4, None)
