# SPDX-License-Identifier: Apache-2.0
"""Parameters of what changes while a robot works: payloads, and where down is."""

from __future__ import annotations

from dataclasses import dataclass

from kane_dynamics.robot_config.parameters.robot import SECONDS
from kane_dynamics.robot_config.parameters.spec import Spec, fixed, param

FIXED, ODOM, IMU = 'fixed', 'odom', 'imu'


@dataclass(frozen=True)
class PayloadParameters:
    """Which links may carry something."""

    payloads: tuple[str, ...] = fixed(
        ('',),
        'Links that may carry a payload: each has the parameters payload.<frame>.mass, .com and '
        '.inertia, which change while the node runs.',
    )


@dataclass(frozen=True)
class TiltParameters:
    """Where gravity points."""

    gravity_from: str = fixed(
        FIXED,
        'Direction of gravity: fixed (the base stays level), odom or imu (as the orientation in '
        'these messages says, where slopes tilt the base or a robot is mounted at an angle).',
        choices=(FIXED, ODOM, IMU),
    )
    imu_timeout: float = param(
        0.1, 'Age from which imu is stale.', unit='s', bounds=SECONDS, name='timeout.imu'
    )


MASS = Spec(
    'payload.<frame>.mass', 0.0, 'Mass that a link carries; 0: none.', 'kg', bounds=(0.0, 1e6)
)
COM = Spec(
    'payload.<frame>.com',
    (0.0, 0.0, 0.0),
    'Its centre of mass, from the origin of the link in the axes of the link.',
    'm',
    size=3,
)
INERTIA = Spec(
    'payload.<frame>.inertia',
    (0.0,) * 6,
    'Its inertia about the centre of mass in the axes of the link: xx, xy, xz, yy, yz, zz.',
    'kg m^2',
    size=6,
)
PAYLOAD_SPECS = (MASS, COM, INERTIA)
