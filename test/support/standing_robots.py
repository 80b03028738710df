# SPDX-License-Identifier: Apache-2.0
"""Robots of known_answers parts A11 and B: 30 kg on massless wheels, with 4 kg carried high."""

import numpy as np

import kane_dynamics as kd
from support.machines import Y, at, inertia, revolute

G = 9.81
RADIUS = 0.09
CORNERS = {'FL': (0.3, 0.25), 'FR': (0.3, -0.25), 'RL': (-0.3, 0.25), 'RR': (-0.3, -0.25)}
PAIR = {'L': (0.0, 0.23), 'R': (0.0, -0.23)}


def uphill(slope, heading=0.0):
    """Return gravity in the axes of a robot whose heading [rad] is left of uphill."""
    along = np.array([np.cos(heading), -np.sin(heading), 0.0])
    return G * (-np.sin(slope) * along - np.cos(slope) * np.array([0.0, 0.0, 1.0]))


def standing(wheels, com, load=4.0, place=(0.15, 0.1, 0.65), gravity=(0, 0, -G), **options):
    """
    Return a robot on wheels whose joints have the names of their places, and a payload.

    Parameters
    ----------
    wheels : mapping of str to (x, y)
        Where they touch [m].
    com : sequence of float
        Of the base [m].
    load, place
        A point mass [kg] and where it is [m].
    gravity : array_like
        [m/s^2].
    **options
        `base`: 'planar' or 'floating'; `mass`, `yaw`: of the base; `spin`: inertia of a wheel.
    """
    kind = {'planar': kd.Planar(), 'floating': kd.Free()}[options.get('base', 'planar')]
    body = inertia(options.get('mass', 30.0), com, (0.5, 0.6, options.get('yaw', 0.8)))
    spin = inertia(0.0, (0, 0, 0), (0, options.get('spin', 0.0), 0))
    bodies = [kd.Body('chassis', '', kd.Joint('base', kind), inertia=body)]
    bodies += [
        kd.Body(f'wheel {name}', 'chassis', revolute(name, Y), at(x, y, RADIUS), spin)
        for name, (x, y) in wheels.items()
    ]
    return kd.Robot('standing', bodies, gravity).with_payload('chassis', load, place)


def rolling(robot, wheels):
    """Return the rows of each wheel."""
    return [kd.constraints.rolling_wheel(robot, name, RADIUS) for name in wheels]


def forward(robot, rate):
    """Return accelerations in which the base is driven along x, and wheels roll with it."""
    a = np.zeros(robot.nv)
    a[robot.velocity_index('base_x')] = rate
    for name in robot.velocity_names[3:]:
        a[robot.velocity_index(name)] = rate / RADIUS
    return a
