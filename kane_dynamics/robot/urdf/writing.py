# SPDX-License-Identifier: Apache-2.0
"""
From a `Robot` back to the URDF that it was loaded from, with its masses and joint friction.

A body is a link and all that is welded to it. Its inertia goes to that link; the welded ones lose
theirs, so that the sum stays. Links that are welded to the world keep what they have: it has no
effect. Shapes, limits and elements of other programs stay; comments are lost.
"""

import os
from collections.abc import Iterable
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from kane_dynamics.algebra.inertia import UPPER, Inertia
from kane_dynamics.robot.body import WORLD, Joint
from kane_dynamics.robot.robot import Robot
from kane_dynamics.robot.urdf.xml import robot_element

_MOMENTS = 'ixx', 'ixy', 'ixz', 'iyy', 'iyz', 'izz'


def updated_urdf(
    urdf: str | os.PathLike[str], robot: Robot, friction_joints: Iterable[str] = ()
) -> str:
    """
    Return a URDF with the inertias of a robot, and the friction of some of its joints.

    Parameters
    ----------
    urdf : str or path
        Path or XML text, as for `load_urdf`.
    robot : Robot
        Loaded from it, with other inertias, damping and friction since.
    friction_joints : iterable of str
        Joints that get ``<dynamics damping friction>``; their followers, too.

    Examples
    --------
    >>> from kane_dynamics.robot.urdf.writing import updated_urdf
    >>> path = 'package://kane_dynamics/robots/nonholonomic.urdf'
    >>> robot = kd.load_urdf(path)
    >>> again = kd.load_urdf(updated_urdf(path, robot))
    >>> q, v, a = np.random.default_rng(0).normal(size=(3, robot.nv))
    >>> efforts = (kd.inverse_dynamics(one, q, v, a) for one in (robot, again))
    >>> np.allclose(*efforts, rtol=0, atol=1e-12)
    True

    """
    root, names = robot_element(urdf), set(friction_joints)
    for link in root.findall('link'):
        name = link.get('name', '').strip()
        frame = robot.frames[name]
        if frame.body == WORLD:
            continue
        for inertial in link.findall('inertial'):
            link.remove(inertial)
        body = robot.bodies[frame.body]
        if name == body.name:
            link.insert(0, _inertial(body.inertia.moved(frame.pose.conjugate())))
    owners = {
        body.joint.name: body.joint
        for body in robot.bodies
        if body.joint.name in names or (body.mimic is not None and body.mimic.master in names)
    }
    for element in root.findall('joint'):
        if (name := element.get('name', '').strip()) in owners:
            _set_friction(element, owners[name])
    indent(root)
    return tostring(root, encoding='unicode', xml_declaration=True) + '\n'


def _inertial(inertia: Inertia) -> Element:
    """Return mass and centre of mass, and the tensor about it in the axes of the link."""
    element = Element('inertial')
    SubElement(element, 'origin', xyz=' '.join(map(repr, inertia.com.tolist())), rpy='0 0 0')
    SubElement(element, 'mass', value=repr(float(inertia.mass)))
    moments = zip(_MOMENTS, inertia.tensor[UPPER].tolist(), strict=True)
    SubElement(element, 'inertia', {name: repr(x) for name, x in moments})
    return element


def _set_friction(element: Element, joint: Joint) -> None:
    dynamics = element.find('dynamics')
    dynamics = SubElement(element, 'dynamics') if dynamics is None else dynamics
    dynamics.set('damping', repr(float(joint.damping)))
    dynamics.set('friction', repr(float(joint.friction)))
