# SPDX-License-Identifier: Apache-2.0
"""Machines that strike, lock and grip (known answers C4, C5, C9)."""

import numpy as np

import kane_dynamics as kd
from support.machines import at, inertia, revolute


def arm(damping=0.0, **stop):
    """Return two links of 3 and 2 kg, relative angles, in the plane z = 0."""
    links = [inertia(3.0, (0.25, 0, 0), (0, 0, 0.07)), inertia(2.0, (0.2, 0, 0), (0, 0, 0.03))]
    bodies = [
        kd.Body('upper', '', revolute('q1', damping=damping), inertia=links[0]),
        kd.Body('lower', 'upper', revolute('q2', **stop), at(0.5, 0, 0), links[1]),
    ]
    return kd.Robot('arm', bodies, (0, 0, 0), {'tip': kd.Frame(1, at(0.4, 0, 0))})


def two_bodies():
    """Return two free bodies whose frames meet in a grip, and their state before it."""
    loads = [
        inertia(12.0, (0, 0, 0), (0.5, 0.6, 0.8)),
        inertia(4.0, (0, 0, 0), (0.02, 0.03, 0.04)),
    ]
    bodies = [
        kd.Body(name, '', kd.Joint(name, kd.Free()), inertia=load)
        for name, load in zip('AB', loads, strict=True)
    ]
    grips = {
        'A grip': kd.Frame(0, at(0.45, 0.15, 0.25)),
        'B grip': kd.Frame(1, at(-0.05, -0.05, -0.05)),
    }
    robot = kd.Robot('two', bodies, (0, 0, 0), grips)
    q = np.r_[0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.5, 0.2, 0.3, 1.0, 0.0, 0.0, 0.0]
    of_a, of_b = (0.1, -0.2, 0.2, 0.3, 0.0, 0.1), (0.5, 0.0, -1.0, -0.4, 0.1, 0.0)
    return robot, q, np.r_[of_a, of_b]
