# SPDX-License-Identifier: Apache-2.0
"""Contents of a URDF file as plain frozen records: links, joints, and what draws the links."""

import math
import os
from dataclasses import dataclass
from xml.etree.ElementTree import Element

import numpy as np

from kane_dynamics.algebra.pose import Pose
from kane_dynamics.algebra.quaternions import make_quaternion, pure
from kane_dynamics.exceptions import UrdfError
from kane_dynamics.robot.body import Mimic, Vector
from kane_dynamics.robot.urdf.xml import number_of, numbers_of, robot_element, text_of


@dataclass(frozen=True)
class UrdfOrigin:
    """Pose of a child frame: shifted by xyz, turned by fixed-axis roll, pitch, yaw."""

    xyz: Vector = (0.0, 0.0, 0.0)
    rpy: Vector = (0.0, 0.0, 0.0)

    def pose(self) -> Pose:
        """Return the pose with r = r_z(yaw) r_y(pitch) r_x(roll)."""
        (c_r, c_p, c_y), (s_r, s_p, s_y) = (
            tuple(f(0.5 * angle) for angle in self.rpy) for f in (np.cos, np.sin)
        )
        yaw = make_quaternion(c_y, 0.0, 0.0, s_y)
        pitch = make_quaternion(c_p, 0.0, s_p, 0.0)
        roll = make_quaternion(c_r, s_r, 0.0, 0.0)
        return Pose(yaw * pitch * roll, pure(self.xyz))


@dataclass(frozen=True)
class UrdfInertial:
    """Mass properties of a link."""

    origin: UrdfOrigin
    mass: float
    moments: tuple[float, float, float, float, float, float]
    missing: tuple[str, ...] = ()


@dataclass(frozen=True)
class UrdfRound:
    """A collision cylinder or sphere of a link."""

    origin: UrdfOrigin
    radius: float
    is_sphere: bool


@dataclass(frozen=True)
class UrdfLink:
    """A link: mass properties, if any, and the round ones of its collision shapes."""

    name: str
    inertial: UrdfInertial | None = None
    rounds: tuple[UrdfRound, ...] = ()


@dataclass(frozen=True)
class UrdfLimit:
    """Bounds of a joint as written; None where the attribute is missing."""

    lower: float | None = None
    upper: float | None = None
    velocity: float | None = None
    effort: float | None = None


@dataclass(frozen=True)
class UrdfJoint:
    """A joint."""

    name: str
    type: str
    parent: str
    child: str
    origin: UrdfOrigin = UrdfOrigin()
    axis: Vector = (1.0, 0.0, 0.0)
    limit: UrdfLimit | None = None
    damping: float = 0.0
    friction: float = 0.0
    mimic: Mimic | None = None


@dataclass(frozen=True)
class UrdfModel:
    """A robot description: name, links and joints in file order."""

    name: str
    links: tuple[UrdfLink, ...]
    joints: tuple[UrdfJoint, ...]


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


def _part(element: Element, tag: str) -> Element:
    """Return a part of an element, without attributes where there is none."""
    part = element.find(tag)
    return Element(tag) if part is None else part


def origin_of(element: Element, where: str) -> UrdfOrigin:
    """Return the <origin> of an element; identity where there is none."""
    origin, zero = _part(element, 'origin'), (0.0, 0.0, 0.0)
    xyz, rpy = (numbers_of(origin, name, where, 3, zero) for name in ('xyz', 'rpy'))
    return UrdfOrigin(xyz, rpy)  # type: ignore[arg-type]


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
    for tag in ('parent', 'child'):
        if element.find(tag) is None:
            raise UrdfError(f'{where} has no <{tag}>')
    parent, child = (text_of(_part(element, tag), 'link', where) for tag in ('parent', 'child'))
    axis = numbers_of(_part(element, 'axis'), 'xyz', where, 3, (1.0, 0.0, 0.0))
    limit, dynamics, mimic = (
        element.find('limit'),
        _part(element, 'dynamics'),
        element.find('mimic'),
    )
    return UrdfJoint(
        name,
        text_of(element, 'type', where),
        parent,
        child,
        origin_of(element, where),
        axis,  # type: ignore[arg-type]
        None if limit is None else _limit(limit, where),
        number_of(dynamics, 'damping', where, 0.0),
        number_of(dynamics, 'friction', where, 0.0),
        None if mimic is None else _mimic(mimic, where),
    )


def _limit(element: Element, where: str) -> UrdfLimit:
    names = [name for name in ('lower', 'upper', 'velocity', 'effort') if name in element.attrib]
    # an infinite bound says: unlimited
    return UrdfLimit(**{name: number_of(element, name, where, largest=math.inf) for name in names})


def _mimic(element: Element, where: str) -> Mimic:
    return Mimic(
        text_of(element, 'joint', f'{where}, <mimic>'),
        number_of(element, 'multiplier', where, 1.0),
        number_of(element, 'offset', where, 0.0),
    )


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
