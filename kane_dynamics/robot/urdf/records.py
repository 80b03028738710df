# SPDX-License-Identifier: Apache-2.0
"""
Contents of a URDF file as plain frozen records, and the mass properties of its links.

Real files hold tensors that no link can have: links of TIAGo, PR2 and Fetch break the triangle
rule, and TIAGo's antennas (1e-6 kg) have a negative principal moment. That does no harm once they
are part of a heavier body, so a link is refused only for a negative or non-finite entry, and the
body for a negative principal moment.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kane_dynamics.algebra.inertia import Inertia
from kane_dynamics.algebra.pose import Pose
from kane_dynamics.algebra.quaternions import make_quaternion, pure
from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.robot.body import Mimic, Vector


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


_TRIANGLE = 1e-6  # relative: files print about six digits
_NOISE = 1e-12  # [m^2] a radius of gyration under 1 um is roundoff of the tool that wrote the file


@dataclass(frozen=True, eq=False)
class LinkMass:
    """Mass properties of a link as its file gives them."""

    point: Inertia
    tensor: NDArray[np.float64]


def link_mass(link: UrdfLink) -> LinkMass:
    """Return the mass properties of a link, zero where it has no ``<inertial>``."""
    if link.inertial is None:
        return LinkMass(Inertia.zero(), np.zeros((3, 3)))
    tensor = _tensor(link.inertial)
    origin = link.inertial.origin.pose()
    try:
        point = Inertia(link.inertial.mass, np.zeros(3), np.zeros((3, 3))).moved(origin)
    except InvalidInputError as error:
        raise InvalidInputError(f"link '{link.name}': {error}") from error
    if np.abs(tensor).max() < _NOISE * point.mass:
        tensor = np.zeros((3, 3))
    if not (np.isfinite(tensor).all() and np.diag(tensor).min() >= 0.0):
        raise InvalidInputError(
            f"link '{link.name}': ixx, ixy, ixz, iyy, iyz, izz must be finite, and ixx, iyy, izz "
            f'>= 0 kg m^2, got {list(link.inertial.moments)}'
        )
    R = origin.rotation_matrix()
    return LinkMass(point, R @ tensor @ R.T)


def _tensor(inertial: UrdfInertial) -> NDArray[np.float64]:
    ixx, ixy, ixz, iyy, iyz, izz = inertial.moments
    return np.array([[ixx, ixy, ixz], [ixy, iyy, iyz], [ixz, iyz, izz]])


def triangle_warning(name: str, mass: LinkMass) -> str | None:
    """Return what is wrong with the principal moments of a link, with the numbers, or None."""
    moments = np.linalg.eigvalsh(mass.tensor)
    if moments[2] <= (moments[0] + moments[1]) * (1.0 + _TRIANGLE):
        return None
    numbers = ', '.join(f'{moment:.6g}' for moment in moments)
    return (
        f"link '{name}': principal moments {numbers} kg m^2 break the triangle rule "
        '(the largest exceeds the sum of the others)'
    )


def welded_inertia(name: str, parts: Iterable[tuple[Pose, LinkMass]]) -> Inertia:
    """Return the inertia of a body in its frame B."""
    points = Inertia.zero()
    tensor: Any = np.zeros((3, 3))
    for x_L_B, mass in parts:
        R = x_L_B.rotation_matrix()
        points = points + mass.point.moved(x_L_B)
        tensor = tensor + R @ mass.tensor @ R.T
    try:
        return Inertia(points.mass, points.com, points.tensor + tensor)
    except InvalidInputError as error:
        raise InvalidInputError(f"link '{name}' and what is fixed to it: {error}") from error
