# SPDX-License-Identifier: Apache-2.0
"""What a URDF file says, as plain frozen records; nothing is interpreted yet."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kane_dynamics.algebra.pose import Pose
from kane_dynamics.algebra.quaternions import make_quaternion, pure

Vector = tuple[float, float, float]


@dataclass(frozen=True)
class UrdfOrigin:
    """
    Pose of a child frame: shifted by xyz, turned by fixed-axis roll, pitch, yaw.

    Parameters
    ----------
    xyz : tuple of float
        [m], in the parent frame.
    rpy : tuple of float
        Roll about x, then pitch about y, then yaw about z of the parent frame [rad].

    """

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
    """
    Mass properties of a link.

    Parameters
    ----------
    origin : UrdfOrigin
        Pose of the central inertia frame in the link frame.
    mass : float
        [kg].
    moments : tuple of float
        ixx, ixy, ixz, iyy, iyz, izz about the centre of mass, in that frame [kg m^2].
    missing : tuple of str
        What the file leaves out and is taken as 0.

    """

    origin: UrdfOrigin
    mass: float
    moments: tuple[float, float, float, float, float, float]
    missing: tuple[str, ...] = ()


@dataclass(frozen=True)
class UrdfRound:
    """
    A collision cylinder or sphere of a link.

    Parameters
    ----------
    origin : UrdfOrigin
        Pose of the shape in the link frame.
    radius : float
        [m].
    is_sphere : bool
        Whether it is a sphere; a cylinder has its axis along z.

    """

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
class UrdfMimic:
    """The joint moves as ``multiplier * (position of joint) + offset``."""

    joint: str
    multiplier: float = 1.0
    offset: float = 0.0


@dataclass(frozen=True)
class UrdfJoint:
    """
    A joint.

    Parameters
    ----------
    name, type : str
        As written.
    parent, child : str
        Names of links.
    origin : UrdfOrigin
        Pose of the joint frame in the parent link's frame; the child link's frame coincides with
        it at position zero.
    axis : tuple of float
        In the joint frame, as written.
    limit : UrdfLimit, optional
        Bounds.
    damping, friction : float
        Viscous and Coulomb friction.
    mimic : UrdfMimic, optional
        The joint that it follows.

    """

    name: str
    type: str
    parent: str
    child: str
    origin: UrdfOrigin = UrdfOrigin()
    axis: Vector = (1.0, 0.0, 0.0)
    limit: UrdfLimit | None = None
    damping: float = 0.0
    friction: float = 0.0
    mimic: UrdfMimic | None = None


@dataclass(frozen=True)
class UrdfModel:
    """A robot description: name, links and joints in file order."""

    name: str
    links: tuple[UrdfLink, ...]
    joints: tuple[UrdfJoint, ...]
