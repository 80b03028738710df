# SPDX-License-Identifier: Apache-2.0
"""
Angles of a URDF that were meant as parts of a turn and written with a few digits: 1.5708.

A wheel whose axis is off by 3.7e-6 rad is another wheel: rows of constraints that should repeat
each other differ a little. `angle_remarks` says so; `with_exact_angles` mends it where asked.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from kane_dynamics.robot.urdf.records import UrdfModel, UrdfOrigin, Vector

TOLERANCE = 1e-4  # [rad]; four digits, 1.571, are off by 2e-4 and may be meant
_TWELFTHS = {0, 3, 4, 6, 8, 9}  # of a half turn: multiples of pi/2, pi/3 and pi/4
_SHOWN = 4  # values in a remark
_ROUNDOFF = 1e-15  # of an angle of order 1 that was printed with all digits


def exact_angle(angle: float) -> float:
    """Return the multiple of pi/2, pi/3 or pi/4 within `TOLERANCE` of an angle, else the angle."""
    k = round(angle * 12.0 / math.pi)
    near = k * math.pi / 12.0
    meant = k % 12 in _TWELFTHS and abs(angle - near) < TOLERANCE
    return near if meant else angle


def with_exact_angles(urdf: UrdfModel) -> UrdfModel:
    """Return the description with exact angles in the origins of joints and round shapes."""
    joints = tuple(replace(joint, origin=_exact(joint.origin)) for joint in urdf.joints)
    links = tuple(
        replace(link, rounds=tuple(replace(r, origin=_exact(r.origin)) for r in link.rounds))
        for link in urdf.links
    )
    return replace(urdf, joints=joints, links=links)


def _exact(origin: UrdfOrigin) -> UrdfOrigin:
    roll, pitch, yaw = map(exact_angle, origin.rpy)
    return replace(origin, rpy=(roll, pitch, yaw))


def angle_remarks(urdf: UrdfModel) -> Iterator[str]:
    """Yield one remark on all angles of joint origins that are nearly parts of a turn."""
    inexact = [
        (abs(angle - exact_angle(angle)), joint.name, angle)
        for joint in urdf.joints
        for angle in _inexact(joint.origin.rpy)
    ]
    if not inexact:
        return
    counts = Counter(f'{angle:.12g}' for _, _, angle in inexact).most_common()
    shown = ', '.join(f'{text} ({n} times)' if n > 1 else text for text, n in counts[:_SHOWN])
    more = ', ...' if len(counts) > _SHOWN else ''
    largest, name, _ = max(inexact)
    yield (
        f'{len(inexact)} rpy angles of joint origins are nearly, not exactly, multiples of pi/2, '
        f'pi/3 or pi/4: {shown}{more}; the largest difference is {largest:.1e} rad, at joint '
        f"'{name}'. load_urdf(..., snap_angles=True) takes them as exact"
    )


def _inexact(rpy: Vector) -> list[float]:
    return [
        angle
        for angle in rpy
        if _ROUNDOFF * max(1.0, abs(angle)) < abs(angle - exact_angle(angle))
    ]
