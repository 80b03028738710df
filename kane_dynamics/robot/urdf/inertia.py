# SPDX-License-Identifier: Apache-2.0
"""
Mass properties of the links of a URDF, and of the bodies that they form.

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
from kane_dynamics.exceptions import InvalidInertiaError
from kane_dynamics.robot.urdf.records import UrdfInertial, UrdfLink

_TRIANGLE = 1e-6  # relative: files print about six digits
_NOISE = 1e-12  # [m^2] a radius of gyration under 1 um is roundoff of the tool that wrote the file


@dataclass(frozen=True, eq=False)
class LinkMass:
    """
    Mass properties of a link as its file gives them.

    Parameters
    ----------
    point : Inertia
        The mass at the centre of mass, in the link frame.
    tensor : ndarray, shape (3, 3)
        Inertia about the centre of mass in the axes of the link frame [kg m^2].

    """

    point: Inertia
    tensor: NDArray[np.float64]


def link_mass(link: UrdfLink) -> LinkMass:
    """
    Return the mass properties of a link, zero where it has no ``<inertial>``.

    Raises
    ------
    InvalidInertiaError
        If the mass or a moment of inertia is negative or not finite; the message names the link.

    """
    if link.inertial is None:
        return LinkMass(Inertia.zero(), np.zeros((3, 3)))
    tensor = _tensor(link.inertial)
    origin = link.inertial.origin.pose()
    try:
        point = Inertia(link.inertial.mass, np.zeros(3), np.zeros((3, 3))).moved(origin)
    except InvalidInertiaError as error:
        raise InvalidInertiaError(f"link '{link.name}': {error}") from error
    if np.abs(tensor).max() < _NOISE * point.mass:
        tensor = np.zeros((3, 3))
    if not (np.isfinite(tensor).all() and np.diag(tensor).min() >= 0.0):
        raise InvalidInertiaError(
            f"link '{link.name}': ixx, ixy, ixz, iyy, iyz, izz must be finite, and ixx, iyy, izz "
            f'>= 0 kg m^2, got {list(link.inertial.moments)}'
        )
    R = origin.rotation_matrix()
    return LinkMass(point, R @ tensor @ R.T)


def _tensor(inertial: UrdfInertial) -> NDArray[np.float64]:
    ixx, ixy, ixz, iyy, iyz, izz = inertial.moments
    return np.array([[ixx, ixy, ixz], [ixy, iyy, iyz], [ixz, iyz, izz]])


def triangle_remark(name: str, mass: LinkMass) -> str | None:
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
    """
    Return the inertia of a body in its frame B.

    Parameters
    ----------
    name : str
        Of the link that carries the others, for messages.
    parts : iterable of (Pose, LinkMass)
        Links with their poses x_L^B.

    Raises
    ------
    InvalidInertiaError
        If the sum has a negative principal moment.

    """
    points = Inertia.zero()
    tensor: Any = np.zeros((3, 3))
    for x_L_B, mass in parts:
        R = x_L_B.rotation_matrix()
        points = points + mass.point.moved(x_L_B)
        tensor = tensor + R @ mass.tensor @ R.T
    try:
        return Inertia(points.mass, points.com, points.tensor + tensor)
    except InvalidInertiaError as error:
        raise InvalidInertiaError(f"link '{name}' and what is fixed to it: {error}") from error
