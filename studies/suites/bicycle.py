# SPDX-License-Identifier: Apache-2.0
"""
Whipple's bicycle of the published benchmark: two rolling wheels, no linearisation.

Meijaard, Papadopoulos, Ruina, Schwab, Linearized dynamics equations for the balance and steer of a
bicycle, Proc. R. Soc. A 463 (2007). Its axes: x forward, y to the right, z down. At an angle of
its own: Basu-Mandal, Chatterjee, Papadopoulos, Hands-free circular motions of a benchmark bicycle,
same volume, Table 1.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

import kane_dynamics as kd
from studies.suites.bodies import X, Y, Z, at, prismatic, revolute

BASE, TRAIL, TILT, G = 1.02, 0.08, np.pi / 10, 9.81
ROAD = kd.Plane((0.0, 0.0, -1.0))
NAMES = ('x', 'y', 'z', 'yaw', 'lean', 'pitch', 'rear', 'steer', 'front')

# of Table 1, in these axes: angle and rate; the pitch counts from the upright benchmark
STATE = {
    'yaw': (0.0, -0.7830033527065),
    'lean': (0.6206670416476966, -0.6068425835418),
    'pitch': (0.3300446174593725 - TILT, 0.0119185528069),
    'rear': (0.0, -8.9129896614890),
    'steer': (-0.2311385135743, -0.4859824687093),
    'front': (0.0, -8.0133620584155),
}
ACCELERATION = {
    'yaw': -0.8353281706379,
    'lean': 7.8555281128244,
    'pitch': -0.1205543897884,
    'rear': -1.8472554144217,
    'steer': 4.6198904039403,
    'front': -2.4548072904550,
}


def part(mass: float, com: Any, xx: float, yy: float, zz: float, xz: float = 0.0) -> kd.Inertia:
    """Return the inertia of a part that is symmetric about its middle plane."""
    return kd.Inertia(mass, com, [[xx, 0, xz], [0, yy, 0], [xz, 0, zz]])


@cache
def bicycle() -> tuple[kd.Robot, tuple[Any, ...]]:
    """Return the bicycle on slides x, y, z and hinges yaw, lean, pitch, and its two wheels."""
    head = BASE + TRAIL
    bodies = [
        kd.Body('moved_x', '', prismatic('x', X)),
        kd.Body('moved_y', 'moved_x', prismatic('y', Y)),
        kd.Body('moved', 'moved_y', prismatic('z', Z)),
        kd.Body('yawed', 'moved', revolute('yaw', Z)),
        kd.Body('leaned', 'yawed', revolute('lean', X)),
        kd.Body(
            'rear_frame',
            'leaned',
            revolute('pitch', Y),
            inertia=part(85.0, (0.3, 0, -0.9), 9.2, 11.0, 2.8, 2.4),
        ),
        kd.Body(
            'rear_wheel',
            'rear_frame',
            revolute('rear', Y),
            at(0, 0, -0.3),
            part(2.0, (0, 0, 0), 0.0603, 0.12, 0.0603),
        ),
        kd.Body(
            'front_frame',
            'rear_frame',
            revolute('steer', (np.sin(TILT), 0.0, np.cos(TILT))),
            at(head, 0, 0),
            part(4.0, (0.9 - head, 0, -0.7), 0.05892, 0.06, 0.00708, -0.00756),
        ),
        kd.Body(
            'front_wheel',
            'front_frame',
            revolute('front', Y),
            at(-TRAIL, 0, -0.35),
            part(3.0, (0, 0, 0), 0.1405, 0.28, 0.1405),
        ),
    ]
    robot = kd.Robot('bicycle', bodies, (0.0, 0.0, G))
    c = kd.constraints
    return robot, tuple(
        c.rolling_wheel(robot, joint, r, plane=ROAD)
        for joint, r in (('rear', 0.3), ('front', 0.35))
    )
