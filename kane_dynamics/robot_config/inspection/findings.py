# SPDX-License-Identifier: Apache-2.0
"""Look at a URDF: its joints with roles, wheels, bases that fit, frames, masses, remarks."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

from kane_dynamics.bases.fitting import FittingKind, fitting_kinds
from kane_dynamics.bases.recognition import FoundWheel, found_wheels
from kane_dynamics.exceptions import ModelWarning
from kane_dynamics.robot.body import Vector
from kane_dynamics.robot.robot import Robot
from kane_dynamics.robot.urdf.angles import angle_remarks
from kane_dynamics.robot.urdf.load import load_urdf
from kane_dynamics.robot.urdf.remarks import speeds_without_inertia
from kane_dynamics.robot.urdf.xml import read_urdf
from kane_dynamics.robot_config.inspection.frames import (
    FoundFrames,
    found_fixed_wheels,
    found_frames,
    found_supports,
)
from kane_dynamics.robot_config.inspection.hands import Hand, srdf_groups
from kane_dynamics.robot_config.inspection.joints import FoundJoint, found_joints
from kane_dynamics.robot_config.inspection.masses import mass_remarks


@dataclass(frozen=True, eq=False)
class Findings:
    """
    What a robot description shows; made by `inspect_urdf`.

    Parameters
    ----------
    robot : Robot
        With a planar base where it shows wheels, else with a fixed one.
    mass : float
        Of everything that moves [kg].
    joints : tuple of FoundJoint
        Every joint that moves, with its role, in the order of the robot.
    hands : tuple of Hand
        Grippers and hands, by SRDF, names and where fingers hang.
    massless : tuple of str
        Joints that no inertia resists: the mass matrix is singular while they move.
    wheels : tuple of FoundWheel
        Wheels by their axes and collision shapes.
    kinds : tuple of FittingKind
        Kinds of base that fit the wheels, the likeliest first; none is certain.
    fixed_wheels : tuple of str
        Fixed joints that are called wheels, where nothing rolls.
    supports : tuple of tuple of float
        Where casters that are no joints touch the ground, in the root link [m].
    frames : FoundFrames
        Frames of the base, of sensors, of tools.
    notes : tuple of str
        What is unusual about the description.

    """

    robot: Robot
    mass: float
    joints: tuple[FoundJoint, ...]
    hands: tuple[Hand, ...]
    massless: tuple[str, ...]
    wheels: tuple[FoundWheel, ...]
    kinds: tuple[FittingKind, ...]
    fixed_wheels: tuple[str, ...]
    supports: tuple[Vector, ...]
    frames: FoundFrames
    notes: tuple[str, ...]

    def named(self, *roles: str) -> tuple[str, ...]:
        """Return the names of the joints with one of these roles."""
        return tuple(joint.name for joint in self.joints if joint.role in roles)


def inspect_urdf(text: str, path: str = '') -> Findings:
    """
    Return what a robot description shows.

    Parameters
    ----------
    text : str
        URDF text, or the path of a URDF file.
    path : str
        Of the URDF or xacro file whose text it is: an SRDF beside it names hands.

    Raises
    ------
    KaneDynamicsError
        As `load_urdf`.

    """
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter('always', ModelWarning)
        robot = load_urdf(text)
    with warnings.catch_warnings():
        warnings.simplefilter('ignore', ModelWarning)  # told already
        wheels = found_wheels(robot)
        if wheels:
            robot = load_urdf(text, base='planar')
            wheels = found_wheels(robot)
        kinds = fitting_kinds(robot) if wheels else ()
    urdf = read_urdf(text)
    path = path or ('' if '<' in text else text)
    groups = srdf_groups(path, robot) if path else {}
    joints, hands = found_joints(robot, wheels, groups)
    massless = speeds_without_inertia(robot)
    notes = (
        *(str(warning.message) for warning in caught),
        *mass_remarks(robot),
        *angle_remarks(urdf),
    )
    return Findings(
        robot,
        sum(body.inertia.mass for body in robot.bodies),
        joints,
        hands,
        tuple(joint.name for joint in joints if joint.name in massless),
        wheels,
        kinds,
        () if wheels else found_fixed_wheels(robot, urdf),
        found_supports(robot, urdf, wheels),
        found_frames(robot, urdf, joints),
        notes,
    )
