# SPDX-License-Identifier: Apache-2.0
"""Robots on the wheels of `support.bases` with collision shapes, limits and an arm."""

from typing import NamedTuple

import numpy as np

import kane_dynamics as kd
from support.bases import Mount, wheeled_base
from support.machines import Y, Z, at, inertia, revolute


class Spot(NamedTuple):
    """A named wheel; a steered one has its heading at that steering angle."""

    name: str
    x: float
    y: float
    heading: float = 0.0
    steered: bool = False
    radius: float = 0.1
    d: float = 0.0
    b: float = 0.0

    @property
    def mount(self):
        """Return it without a name, a steered one straight ahead."""
        heading = 0.0 if self.steered else self.heading
        return Mount(self.x, self.y, heading, self.radius, self.steered, self.d, self.b)


def robot_on(spots, base='planar', arm=0, limit=np.inf):
    """Return a robot; steering joints '<name>_steer' turn as far as `limit` [rad] either way."""
    bare = wheeled_base({spot.name: spot.mount for spot in spots}, base, more=_arm(arm))
    bodies = [
        kd.Body(
            x.name,
            x.parent,
            revolute(x.joint.name, Z, lower=-limit, upper=limit),
            x.placement,
            x.inertia,
        )
        if x.joint.name.endswith('_steer')
        else x
        for x in bare.bodies
    ]
    shapes = {spot.name: kd.WheelShape(spot.radius, axis=Y) for spot in spots}
    return kd.Robot('robot', bodies, wheels=shapes)


def _arm(joints):
    """Return the bodies of an arm on the trunk, its axes in turn upright and across."""
    bodies, parent = [], 'trunk'
    for k in range(joints):
        link = inertia(2.0 - 0.2 * k, (0.02, 0.01, 0.12), (0.02, 0.015, 0.01))
        place = at(0.1, 0.0, 0.3) if k == 0 else at(0.03, 0.0, 0.2)
        joint = revolute(f'arm_{k + 1}', (Z, Y)[k % 2])
        bodies.append(kd.Body(f'link_{k + 1}', parent, joint, place, link))
        parent = f'link_{k + 1}'
    return bodies


def steering_of(spots):
    """Return the wheels of steered spots by their steering joints."""
    return {f'{spot.name}_steer': spot.name for spot in spots if spot.steered}


def at_headings(robot, spots):
    """Return q with each steered spot at its heading."""
    q = robot.neutral()
    for spot in spots:
        if spot.steered:
            q[robot.coordinate_index(f'{spot.name}_steer')] = spot.heading
    return q
