# SPDX-License-Identifier: Apache-2.0
"""Look at a URDF: its joints with roles, wheels, bases that fit, frames, masses, remarks."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

from kane_dynamics.bases.fitting import FittingKind, fitting_kinds
from kane_dynamics.bases.recognition import FoundWheel, found_wheels
from kane_dynamics.exceptions import ModelWarning
from kane_dynamics.inspection.frames import FoundFrames, found_frames, found_supports
from kane_dynamics.inspection.joints import FoundJoint, found_joints
from kane_dynamics.model.body import Vector
from kane_dynamics.model.robot import Robot
from kane_dynamics.model.urdf.angles import angle_remarks
from kane_dynamics.model.urdf.load import load_urdf
from kane_dynamics.model.urdf.xml import read_urdf


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
    wheels : tuple of FoundWheel
        Wheels by their axes and collision shapes.
    kinds : tuple of FittingKind
        Kinds of base that fit the wheels, the likeliest first; none is certain.
    supports : tuple of tuple of float
        Where casters that are no joints touch the ground, in the root link [m].
    frames : FoundFrames
        Frames of the base, of sensors, of tools.
    remarks : tuple of str
        What is unusual about the description.

    """

    robot: Robot
    mass: float
    joints: tuple[FoundJoint, ...]
    wheels: tuple[FoundWheel, ...]
    kinds: tuple[FittingKind, ...]
    supports: tuple[Vector, ...]
    frames: FoundFrames
    remarks: tuple[str, ...]

    def named(self, *roles: str) -> tuple[str, ...]:
        """Return the names of the joints with one of these roles."""
        return tuple(joint.name for joint in self.joints if joint.role in roles)


def inspect_urdf(text: str) -> Findings:
    """
    Return what a robot description shows.

    Parameters
    ----------
    text : str
        URDF text, or the path of a URDF file.

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
    joints = found_joints(robot, wheels)
    remarks = (*(str(warning.message) for warning in caught), *angle_remarks(urdf))
    return Findings(
        robot,
        sum(body.inertia.mass for body in robot.bodies),
        joints,
        wheels,
        kinds,
        found_supports(robot, urdf, wheels),
        found_frames(robot, urdf, joints),
        remarks,
    )
