# SPDX-License-Identifier: Apache-2.0
"""
URDF to `Robot`.

Links that do not move against each other become one body: fixed joints, locked joints and the
followers of locked joints are lumped into the body of their parent, or into the world. The frame
of a body is that of the link below its moving joint (for a planar joint turned so that z is the
axis); every link keeps a named frame.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from kane_dynamics.algebra.pose import Pose
from kane_dynamics.exceptions import ModelWarning, UrdfStructureError
from kane_dynamics.robot.body import Body, Frame, Joint, Mimic, WheelShape
from kane_dynamics.robot.checks import as_choice
from kane_dynamics.robot.joint_kinds import Free, JointKind, Planar
from kane_dynamics.robot.robot import WORLD, Robot
from kane_dynamics.robot.urdf.angles import with_exact_angles
from kane_dynamics.robot.urdf.inertia import link_mass, welded_inertia
from kane_dynamics.robot.urdf.joints import (
    Coordinates,
    LockedJoints,
    alignment,
    held_joints,
    joint_kind,
    moving_joint,
)
from kane_dynamics.robot.urdf.records import UrdfJoint, UrdfLink
from kane_dynamics.robot.urdf.remarks import inertial_remarks, limit_remarks, singular_remarks
from kane_dynamics.robot.urdf.tree import depth_first
from kane_dynamics.robot.urdf.wheels import wheel_shape
from kane_dynamics.robot.urdf.xml import read_urdf

STANDARD_GRAVITY = (0.0, 0.0, -9.81)  # in world axes [m/s^2]
BASES: Mapping[str, JointKind | None] = {'fixed': None, 'planar': Planar(), 'floating': Free()}


def load_urdf(
    path_or_xml_text: str | os.PathLike[str],
    base: str = 'fixed',
    locked_joints: LockedJoints = (),
    gravity: Any = STANDARD_GRAVITY,
    *,
    snap_angles: bool = False,
) -> Robot:
    """
    Read a robot from a URDF.

    Parameters
    ----------
    path_or_xml_text : str or path
        XML text if it is a str with a ``<`` in it, else the path of a URDF or xacro file, or its
        file:// or package:// address. Entities, DTDs and external references are refused; mesh
        files are not needed.
    base : {'fixed', 'planar', 'floating'}
        How the root link moves in the world: not at all; with x, y, yaw; with six degrees of
        freedom. The joint of a moving base is named ``base``.
    locked_joints : iterable of str, or mapping of str to float
        Joints that are held, at their neutral position (0, even outside the limits) or at the
        given one [rad or m]; their followers (mimic joints) are held with them. A joint with
        several coordinates takes a sequence.
    gravity : array_like, shape (3,)
        In world axes [m/s^2].
    snap_angles : bool
        Whether rpy angles of joints and round collision shapes that are within 1e-4 rad of a
        multiple of pi/2, pi/3 or pi/4 are taken as that multiple: 1.5708 as pi/2. What would be
        changed is said by ``kane-dynamics info``.

    Returns
    -------
    Robot
        Bodies depth first from the root, joints of one link in file order. A mimic joint moves
        with its master and is in neither q nor v. ``<collision>`` is used for
        `Robot.wheels` only.

    Raises
    ------
    UrdfFileError
        If there is no such file, or xacro cannot read it.
    UrdfSyntaxError
        If the text is not XML, is unsafe XML, or an attribute cannot be read.
    UrdfStructureError
        If the links and joints do not form one tree, or a mimic joint is wrong.
    UnknownJointTypeError
        If a joint has a type that URDF does not define.
    InvalidInertiaError
        If a link has a negative or non-finite mass or moment of inertia, or a body a negative
        principal moment.
    NameNotFoundError
        If a locked joint does not exist.
    InvalidInputError
        If another argument is wrong.

    Warns
    -----
    ModelWarning
        For a link whose principal moments break the triangle rule, an incomplete ``<inertial>``, a
        joint that moves no mass, and unknown limits.

    """
    as_choice('base', base, BASES)
    urdf = read_urdf(path_or_xml_text)
    if snap_angles:
        urdf = with_exact_angles(urdf)
    root, joints = depth_first(urdf)
    held = held_joints(joints, locked_joints)
    tree = _welded(root, joints, held, BASES[base])
    masses = {link.name: link_mass(link) for link in urdf.links}
    bodies = tuple(
        Body(
            part.name,
            part.parent,
            part.joint,
            part.placement,
            welded_inertia(part.name, ((x, masses[link]) for link, x in tree.links_of(part.name))),
            part.mimic,
        )
        for part in tree.parts
    )
    index = {'': WORLD, **{body.name: i for i, body in enumerate(bodies)}}
    robot = Robot(
        urdf.name,
        bodies,
        gravity,
        {name: Frame(index[weld.body], weld.pose) for name, weld in tree.welds.items()},
        _wheels(tree, {link.name: link for link in urdf.links}),
    )
    notes = [r for link in urdf.links for r in inertial_remarks(link, masses[link.name])]
    notes += [r for joint in joints if joint.name not in held for r in limit_remarks(joint)]
    for note in (*notes, *singular_remarks(robot)):
        warnings.warn(note, ModelWarning, stacklevel=2)
    return robot


@dataclass(frozen=True, eq=False)
class _Weld:
    """Where a link is fixed: the name of its body, '' for the world, and x_L^B."""

    body: str
    pose: Pose


@dataclass(frozen=True, eq=False)
class _Part:
    """A body before its inertia is known."""

    name: str
    parent: str
    joint: Joint
    placement: Pose
    mimic: Mimic | None = None


@dataclass(frozen=True, eq=False)
class _Tree:
    """The bodies in order, and where each link is fixed."""

    parts: list[_Part]
    welds: dict[str, _Weld]

    def links_of(self, body: str) -> Iterable[tuple[str, Pose]]:
        """Return the names of the links of a body and their poses in it."""
        return [(link, weld.pose) for link, weld in self.welds.items() if weld.body == body]


def _welded(
    root: str, joints: Iterable[UrdfJoint], held: Mapping[str, Coordinates], base: JointKind | None
) -> _Tree:
    """Return the tree of bodies that is left when the held joints are lumped."""
    tree = _Tree([], {root: _Weld('' if base is None else root, Pose.identity())})
    if base is not None:
        tree.parts.append(_Part(root, '', Joint('base', base), Pose.identity()))
    for joint in joints:
        parent = tree.welds[joint.parent]
        kind, x_K_J = joint_kind(joint), alignment(joint)
        placement = parent.pose * joint.origin.pose() * x_K_J
        if kind is None or joint.name in held:
            x = Pose.identity() if kind is None else kind.pose(held[joint.name])
            weld = _Weld(parent.body, placement * x * x_K_J.conjugate())
        else:
            if base is not None and joint.name == 'base':
                raise UrdfStructureError(
                    "a joint is named 'base', as is the joint of a planar or floating base; "
                    'rename or lock it'
                )
            moving = moving_joint(joint, kind)
            tree.parts.append(_Part(joint.child, parent.body, moving, placement, _mimic(joint)))
            weld = _Weld(joint.child, x_K_J.conjugate())
        tree.welds[joint.child] = weld
    return tree


def _mimic(joint: UrdfJoint) -> Mimic | None:
    if joint.mimic is None:
        return None
    return Mimic(joint.mimic.joint, joint.mimic.multiplier, joint.mimic.offset)


def _wheels(tree: _Tree, links: Mapping[str, UrdfLink]) -> dict[str, WheelShape]:
    """Return the collision cylinder or sphere of each body that a joint turns, by joint name."""
    shapes: dict[str, WheelShape] = {}
    for part in tree.parts:
        local = ((x, links[name]) for name, x in tree.links_of(part.name))
        shape = wheel_shape(local, part.joint.kind)
        if shape is not None:
            shapes[part.joint.name] = shape
    return shapes
