# SPDX-License-Identifier: Apache-2.0
"""
URDF to `Robot`.

Links that do not move against each other become one body: fixed joints, locked joints and the
followers of locked joints are lumped into the body of their parent, or into the world. The frame
of a body is that of the link below its moving joint (for a planar joint turned so that z is the
axis); every link keeps a named frame.
"""

import os
import warnings
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from kane_dynamics.algebra.pose import Pose
from kane_dynamics.exceptions import ModelWarning, UrdfError, known_names
from kane_dynamics.robot.body import Body, Frame, Joint, WheelShape
from kane_dynamics.robot.checks import as_choice
from kane_dynamics.robot.joint_kinds import Free, JointKind, Planar
from kane_dynamics.robot.robot import WORLD, Robot
from kane_dynamics.robot.urdf.joints import (
    Locked,
    LockedJoints,
    alignment,
    joint_kind,
    link_mass,
    locked_coordinates,
    moving_joint,
    welded_inertia,
    wheel_shape,
)
from kane_dynamics.robot.urdf.model_warnings import (
    inertial_warnings,
    limit_warnings,
    singular_warnings,
    with_exact_angles,
)
from kane_dynamics.robot.urdf.records import UrdfJoint, UrdfModel, read_urdf


def depth_first(urdf: UrdfModel) -> tuple[str, tuple[UrdfJoint, ...]]:
    """Return the root link and all joints depth first from it, siblings in file order."""
    carrier = _carriers(urdf)
    roots = [link.name for link in urdf.links if link.name not in carrier]
    if len(roots) > 1:
        raise UrdfError(f'need one root link, these have no parent: {roots}')
    children: dict[str, list[UrdfJoint]] = {link.name: [] for link in urdf.links}
    for joint in urdf.joints:
        children[joint.parent].append(joint)
    ordered: list[UrdfJoint] = []
    waiting = list(reversed(children[roots[0]])) if roots else []
    while waiting:
        joint = waiting.pop()
        ordered.append(joint)
        waiting += reversed(children[joint.child])
    if len(ordered) < len(urdf.joints):
        reached = {joint.child for joint in ordered}
        raise UrdfError(f'links form a cycle: {_cycle(carrier, reached)}')
    return roots[0], tuple(ordered)


def _carriers(urdf: UrdfModel) -> dict[str, UrdfJoint]:
    """Return the joint above each link but the roots."""
    if not urdf.links:
        raise UrdfError('the robot has no links')
    names = [link.name for link in urdf.links]
    for what, several in (('link', names), ('joint', [joint.name for joint in urdf.joints])):
        for name, count in Counter(several).items():
            if count > 1:
                raise UrdfError(f"two {what}s are named '{name}'")
    known, carrier = set(names), dict[str, UrdfJoint]()
    for joint in urdf.joints:
        for end, link in (('parent', joint.parent), ('child', joint.child)):
            if link not in known:
                raise UrdfError(
                    f"joint '{joint.name}': {end} link '{link}' does not exist; "
                    f'{known_names(known, link)}'
                )
        if joint.child in carrier:
            raise UrdfError(
                f"link '{joint.child}' has two parents, through the joints "
                f"'{carrier[joint.child].name}' and '{joint.name}'"
            )
        carrier[joint.child] = joint
    return carrier


def _cycle(carrier: Mapping[str, UrdfJoint], reached: set[str]) -> str:
    """Return the links of one cycle; it exists because some link is not reached from the root."""
    link = next(name for name in carrier if name not in reached)
    path: list[str] = []
    while link not in path:
        path.append(link)
        link = carrier[link].parent
    cycle = path[path.index(link) :]
    return ' <- '.join([*cycle, cycle[0]])


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
    UrdfError
        If the text is not XML, is unsafe XML, an attribute cannot be read, the links and joints
        do not form one tree, a mimic joint is wrong, or URDF does not define the type of a joint.
    NameNotFoundError
        If a locked joint does not exist.
    InvalidInputError
        If a link has a negative or non-finite mass or moment of inertia, or a body a negative
        principal moment, or another argument is wrong.

    Warns
    -----
    ModelWarning
        For a link whose principal moments break the triangle rule, an incomplete ``<inertial>``, a
        joint that moves no mass, and unknown limits.

    Examples
    --------
    >>> robot = kd.load_urdf('package://kane_dynamics/robots/nonholonomic.urdf', base='planar')
    >>> robot.nv, robot.velocity_names[:3]
    (10, ('base_x', 'base_y', 'base_yaw'))

    """
    as_choice('base', base, BASES)
    urdf = read_urdf(path_or_xml_text)
    if snap_angles:
        urdf = with_exact_angles(urdf)
    root, joints = depth_first(urdf)
    locked = locked_coordinates(joints, locked_joints)
    bodies, frames = _welded(root, joints, locked, BASES[base])
    links = {link.name: link for link in urdf.links}
    masses = {name: link_mass(link) for name, link in links.items()}
    wheels: dict[str, WheelShape] = {}
    for i, body in enumerate(bodies):
        fixed = [(frame.pose, name) for name, frame in frames.items() if frame.body == i]
        inertia = welded_inertia(body.name, ((x, masses[name]) for x, name in fixed))
        bodies[i] = replace(body, inertia=inertia)
        shape = wheel_shape(((x, links[name]) for x, name in fixed), body.joint.kind)
        if shape is not None:
            wheels[body.joint.name] = shape
    robot = Robot(urdf.name, bodies, gravity, frames, wheels)
    messages = [m for link in urdf.links for m in inertial_warnings(link, masses[link.name])]
    messages += [m for joint in joints if joint.name not in locked for m in limit_warnings(joint)]
    for message in (*messages, *singular_warnings(robot)):
        warnings.warn(message, ModelWarning, stacklevel=2)
    return robot


def _welded(
    root: str, joints: Iterable[UrdfJoint], locked: Locked, base: JointKind | None
) -> tuple[list[Body], dict[str, Frame]]:
    """Return the bodies left when locked joints are lumped, without inertia, and all links."""
    bodies = [] if base is None else [Body(root, '', Joint('base', base))]
    links = {root: Frame(WORLD if base is None else 0, Pose.identity())}
    for joint in joints:
        parent = links[joint.parent]
        kind, x_K_J = joint_kind(joint), alignment(joint)
        placement = parent.pose * joint.origin.pose() * x_K_J
        if kind is None or joint.name in locked:
            x = Pose.identity() if kind is None else kind.pose(locked[joint.name])
            links[joint.child] = Frame(parent.body, placement * x * x_K_J.conjugate())
            continue
        if base is not None and joint.name == 'base':
            raise UrdfError(
                "a joint is named 'base', as is the joint of a planar or floating base; "
                'rename or lock it'
            )
        links[joint.child] = Frame(len(bodies), x_K_J.conjugate())
        carrier = '' if parent.body == WORLD else bodies[parent.body].name
        moving = moving_joint(joint, kind)
        bodies.append(Body(joint.child, carrier, moving, placement, mimic=joint.mimic))
    return bodies, links
