# SPDX-License-Identifier: Apache-2.0
"""Bases made of wheels: fixed, steered, caster and roller wheels under a trunk, by their plan."""

from dataclasses import dataclass

import numpy as np

import kane_dynamics as kd
from support.machines import Y, Z, inertia, revolute, turned

TRUNK = inertia(30.0, (0.05, -0.02, 0.2), (1.2, 1.5, 1.9))
WHEEL = inertia(0.9, (0, 0, 0), (0.003, 0.005, 0.003))
FORK = inertia(0.5, (-0.01, 0.0, 0.03), (0.002, 0.001, 0.002))


@dataclass(frozen=True)
class Mount:
    """
    A wheel in the plan of a base.

    Parameters
    ----------
    x, y : float
        Its steering axis, or the wheel itself where nothing steers it [m].
    heading : float
        Where it rolls to, from x of the base; of a steered wheel at steering angle 0 [rad].
    radius : float
        [m].
    steered : bool
        Whether it turns about z on a joint '<name>_steer' (a caster where it has a trail).
    trail, side : float
        Contact behind the steering axis, and left of it [m].
    roller : float or None
        Angle of the rollers on its rim [rad].

    """

    x: float
    y: float
    heading: float = 0.0
    radius: float = 0.1
    steered: bool = False
    trail: float = 0.0
    side: float = 0.0
    roller: float | None = None


def omni_mounts(bearings, distance, radius, roller=0.0):
    """Return wheels with rollers at bearings [rad] that drive tangentially."""
    return {
        f'w{k}': Mount(
            distance * np.cos(a), distance * np.sin(a), a + np.pi / 2, radius, roller=roller
        )
        for k, a in enumerate(bearings)
    }


def mecanum_mounts(lx, ly, radius, angle):
    """Return four wheels FL, FR, RL, RR; the rollers that touch are at -+angle, see A2."""
    places = {'fl': (lx, ly), 'fr': (lx, -ly), 'rl': (-lx, ly), 'rr': (-lx, -ly)}
    signs = (-1, 1, 1, -1)
    return {
        name: Mount(x, y, radius=radius, roller=sign * angle)
        for (name, (x, y)), sign in zip(places.items(), signs, strict=True)
    }


def wheeled_base(mounts, kind='planar', trunk=TRUNK, wheel=WHEEL, fork=FORK, more=()):
    """
    Return a base on its wheels: joints '<name>' about y, positive forward, and '<name>_steer'.

    The base frame is on the ground; speeds of a planar base at yaw 0 are (vx, vy, w). `more` are
    further bodies.
    """
    joint = kd.Joint('base', kd.Planar() if kind == 'planar' else kd.Free())
    bodies = [kd.Body('trunk', '', joint, inertia=trunk)]
    for name, m in mounts.items():
        parent, place = 'trunk', turned(Z, m.heading, (m.x, m.y, m.radius))
        if m.steered:
            steer = revolute(f'{name}_steer', Z)
            bodies.append(kd.Body(f'{name}_fork', 'trunk', steer, place, fork))
            parent, place = f'{name}_fork', turned(Z, 0.0, (-m.trail, m.side, 0.0))
        bodies.append(kd.Body(f'{name}_wheel', parent, revolute(name, Y), place, wheel))
    return kd.Robot('base', [*bodies, *more])


def wheel_rows(robot, mounts, plane=kd.constraints.GROUND):
    """Return a constraint for each wheel."""
    c = kd.constraints
    return tuple(
        c.rolling_wheel(robot, name, m.radius, plane=plane)
        if m.roller is None
        else c.roller_wheel(robot, name, m.roller, m.radius, plane=plane)
        for name, m in mounts.items()
    )


def _caster(x, y, heading):
    return Mount(x, y, heading, 0.04, steered=True, trail=0.05)


def _steered(x, y, heading):
    return Mount(x, y, heading, 0.1, steered=True)


AXLE = {'left': Mount(0.0, 0.25), 'right': Mount(0.0, -0.25)}
# Campion, Bastin, d'Andrea-Novel 1996: an instance of each class (mobility, steerability)
CAMPION = {
    (3, 0): omni_mounts(np.radians([0, 120, 240]), 0.3, 0.05),
    (2, 0): AXLE | {'caster': _caster(0.4, 0.0, 0.3)},
    (2, 1): {
        'front': _steered(0.3, 0.0, 0.4),
        'one': _caster(-0.3, 0.2, 0.2),
        'two': _caster(-0.3, -0.2, -0.7),
    },
    (1, 1): AXLE | {'front': _steered(0.6, 0.0, 0.4)},
    (1, 2): {
        'front': _steered(0.3, 0.2, 0.4),
        'rear': _steered(-0.3, -0.1, -0.5),
        'caster': _caster(-0.2, 0.3, 0.6),
    },
}
