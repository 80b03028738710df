# SPDX-License-Identifier: Apache-2.0
"""Bodies that move in the vertical plane y = 0, and their contacts with the ground z = 0."""

import numpy as np

import kane_dynamics as kd
from support.machines import Y, Z, at, inertia, prismatic, revolute

ALONG = (1.0, 0.0, 0.0)
C = kd.constraints


def free_in_plane(mass, tensor):
    """Return a body with speeds (x, z, turn about y) and its centre of mass in its origin."""
    load = inertia(mass, (0, 0, 0), (1, tensor, 1))
    bodies = [
        kd.Body('x', '', prismatic('x')),
        kd.Body('z', 'x', prismatic('z', Z)),
        kd.Body('body', 'z', revolute('turn', Y), inertia=load),
    ]
    return kd.Robot('free in a plane', bodies)


def on_ground(robot, point, link='body', **options):
    """Return the contact of a point of a link with the ground, which slips along x."""
    normal = C.point_contact(robot, link, point)
    return C.contact(normal, C.point_contact(robot, link, point, ALONG), **options)


def rod(half_length, mass, angle):
    """Return a rod at an angle [rad] above the ground, on its left end, and its place."""
    robot = free_in_plane(mass, mass * half_length**2 / 3.0)
    q = np.array([0.0, half_length * np.sin(angle), -angle])
    return robot, q, (-half_length, 0.0, 0.0)


def double_pendulum():
    """Return two rods of 1 m and 1 kg that hang from a hinge; angles from the vertical."""
    load = inertia(1.0, (0, 0, -0.5), (1 / 12, 1 / 12, 1 / 12))
    down = (0.0, -1.0, 0.0)
    bodies = [
        kd.Body('upper', '', revolute('q1', down), inertia=load),
        kd.Body('lower', 'upper', revolute('q2', down), at(0, 0, -1.0), load),
    ]
    return kd.Robot('double pendulum', bodies)
