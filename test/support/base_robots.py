# SPDX-License-Identifier: Apache-2.0
"""Robots on wheels of any kind and place, built in code: fixed, steered, casters, rollers."""

from typing import NamedTuple

import numpy as np

import kane_dynamics as kd
from support.machines import Y, Z, at, inertia, revolute, turned


class Spot(NamedTuple):
    """A wheel or steering axis with a heading; the wheel of a fork is d behind, b left of it."""

    name: str
    x: float
    y: float
    heading: float = 0.0
    steered: bool = False
    radius: float = 0.1
    d: float = 0.0
    b: float = 0.0


def robot_on(spots, base='planar', arm=0, mass=20.0, limit=np.inf):
    """Return a robot: wheel joints have the names of spots, steering joints '<name>_steer'."""
    kind = {'planar': kd.Planar(), 'floating': kd.Free()}[base]
    hull = inertia(mass, (0.02, -0.01, 0.2), (0.8, 0.9, 1.1))
    bodies = [kd.Body('base', '', kd.Joint('base', kind), inertia=hull)]
    for spot in spots:
        bodies += _wheel(spot, limit)
    parent = 'base'
    for k in range(arm):
        link = inertia(2.0 - 0.2 * k, (0.02, 0.01, 0.12), (0.02, 0.015, 0.01))
        place = at(0.1, 0.0, 0.3) if k == 0 else at(0.03, 0.0, 0.2)
        joint = revolute(f'arm_{k + 1}', (Z, Y)[k % 2])
        bodies.append(kd.Body(f'link_{k + 1}', parent, joint, place, link))
        parent = f'link_{k + 1}'
    shapes = {spot.name: kd.WheelShape(spot.radius, axis=Y) for spot in spots}
    return kd.Robot('robot', bodies, wheels=shapes)


def _wheel(spot, limit):
    rim = inertia(0.8, (0, 0, 0), (0.003, 0.005, 0.003))
    axle = revolute(spot.name, Y)
    if not spot.steered:
        place = turned(Z, spot.heading, (spot.x, spot.y, spot.radius))
        return [kd.Body(f'{spot.name}_rim', 'base', axle, place, rim)]
    fork = inertia(0.5, (0, 0, 0), (0.001, 0.001, 0.002))
    steer = revolute(f'{spot.name}_steer', Z, lower=-limit, upper=limit)
    return [
        kd.Body(f'{spot.name}_fork', 'base', steer, at(spot.x, spot.y, spot.radius), fork),
        kd.Body(f'{spot.name}_rim', f'{spot.name}_fork', axle, at(-spot.d, spot.b, 0), rim),
    ]


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
