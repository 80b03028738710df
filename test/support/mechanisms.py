# SPDX-License-Identifier: Apache-2.0
"""Mechanisms with their rows and a state, most with one freedom more than rows promise."""

import functools

import numpy as np
from scipy.optimize import brentq

import kane_dynamics as kd
from support.machines import (
    Y,
    Z,
    at,
    four_bar,
    four_bar_coordinates,
    inertia,
    revolute,
    sled_with_arm,
    turned,
)

X_TURN = (1.0, 0.0, 0.0)


@functools.cache
def compiled(make):
    """Return the compiled robot of what returns robot, constraints and a state; made once."""
    robot, constraints, *_ = make()
    return kd.compile(robot, constraints)  # from the cache of the run where it is there


def bladed_sled():
    """Return a body on a blade with an arm, its constraint, and a state on it."""
    robot = sled_with_arm()
    blade = (kd.constraints.no_side_slip(robot, -0.1),)
    q, v = np.array([0.3, -0.2, 0.4, 0.5, -0.6]), np.array([0.5, 0.2, 0.9, 1.5, -1.0])
    return robot, blade, q, kd.simulation.project(robot, blade, q, v, 0.0)[1]


def four_bar_loop():
    """Return the closed four-bar linkage, its constraint, and a state on it."""
    robot = four_bar()
    loop = (kd.constraints.loop_closure(robot, 'coupler_end', 'rocker_end'),)
    q = four_bar_coordinates(0.9)
    return robot, loop, q, kd.simulation.project(robot, loop, q, np.array([1.4, 0, 0, 0]), 0.0)[1]


def parallelogram(start=0.9):
    """
    Return a crank and a rocker of equal length, a coupler, closed by a hinge, and its state.

    Five rows for three hinges: rank 2, and 1 where all links lie in line.
    """
    a, b = 0.3, 0.7
    bar = inertia(0.6, (a / 2, 0, 0), (1e-3, 0.6 * a * a / 12, 0.6 * a * a / 12))
    long_bar = inertia(1.4, (b / 2, 0, 0), (1e-3, 1.4 * b * b / 12, 1.4 * b * b / 12))
    bodies = [
        kd.Body('crank', '', revolute('crank'), inertia=bar),
        kd.Body('coupler', 'crank', revolute('coupler'), at(a, 0, 0), long_bar),
        kd.Body('rocker', '', revolute('rocker'), at(b, 0, 0), bar),
    ]
    frames = {'tip': kd.Frame(1, at(b, 0, 0)), 'pin': kd.Frame(2, at(a, 0, 0))}
    robot = kd.Robot('parallelogram', bodies, (0, -9.81, 0), frames)
    loop = kd.constraints.loop_closure(robot, 'tip', 'pin', 'revolute', Z)
    speed = 9.0  # fast enough to go round
    return robot, (loop,), np.array([start, -start, start]), speed * np.array([1.0, -1.0, 1.0])


def linkage_of(name, lengths, twists, angles):
    """Return a closed chain of hinges from Denavit-Hartenberg parameters without offsets."""
    bodies, place, parent = [], at(0, 0, 0), ''
    ends = []
    for k, (a, twist) in enumerate(zip(lengths, twists, strict=True)):
        load = inertia(0.8 + 0.1 * k, (a / 2, 0.01, 0.0), (4e-3, 6e-3, 7e-3))
        bodies.append(kd.Body(f'link_{k}', parent, revolute(f'joint_{k}'), place, load))
        parent, place = f'link_{k}', at(a, 0, 0) * turned(X_TURN, twist)
        ends.append(place)
    frames = {'ground': kd.Frame(-1, at(0, 0, 0)), 'end': kd.Frame(len(bodies) - 1, ends[-1])}
    robot = kd.Robot(name, bodies, (0, 0, -9.81), frames)
    return robot, (kd.constraints.loop_closure(robot, 'ground', 'end'),), np.array(angles)


def moving(robot, rows, q, speed):
    """Return a mechanism at a state, its first hinge near a speed."""
    v = np.zeros(robot.nv)
    v[0] = speed
    q, v = kd.simulation.project(robot, rows, q, v, 0.0)
    return robot, rows, q, v


def bricard():
    """
    Return the threefold symmetric 6R loop (a kaleidocycle) and its state: rank 5 of 6.

    cos a + cos b + cos a cos b = 0 at twists of a quarter turn.
    """
    first = 1.9
    second = -np.arccos(-np.cos(first) / (1.0 + np.cos(first)))
    twists = [np.pi / 2, -np.pi / 2] * 3
    robot, rows, q = linkage_of('bricard', [0.3] * 6, twists, [first, second] * 3)
    return moving(robot, rows, q, 1.0)


def bennett():
    """Return Bennett's 4R loop, a/sin(alpha) = b/sin(beta), and its state: rank 3 of 6."""
    a, b, alpha = 0.3, 0.45, 0.6
    beta = np.arcsin(b * np.sin(alpha) / a)
    first = 1.1
    ratio = np.sin((beta + alpha) / 2) / np.sin((beta - alpha) / 2)
    second = 2.0 * np.arctan(ratio / np.tan(first / 2))
    angles = [first, second, -first, -second]
    robot, rows, q = linkage_of('bennett', [a, b] * 2, [alpha, beta] * 2, angles)
    return moving(robot, rows, q, 3.0)


CAR = {'wheelbase': 0.5, 'track': 0.3, 'radius': 0.06}


def car():
    """
    Return a car on four rolling wheels with exact Ackermann steering and its state.

    Nine speeds, nine rows (eight of wheels, one of the steering), rank 7.
    """
    n = CAR
    half, wheel = n['track'] / 2, inertia(0.3, (0, 0, 0), (4e-4, 6e-4, 4e-4))
    base = inertia(6.0, (0.2, 0.01, 0.0), (0.0, 0.0, 0.15))
    knuckle = inertia(0.2, (0, 0, 0), (1e-4, 1e-4, 2e-4))
    bodies = [kd.Body('base', '', kd.Joint('base', kd.Planar()), inertia=base)]
    for side, y in (('left', half), ('right', -half)):
        front, hub = f'front_{side}', f'steer_{side}'
        up = at(0, y, n['radius'])
        bodies += [
            kd.Body(hub, 'base', revolute(hub, Z), at(n['wheelbase'], y, n['radius']), knuckle),
            kd.Body(front, hub, revolute(front, Y), inertia=wheel),
            kd.Body(f'rear_{side}', 'base', revolute(f'rear_{side}', Y), up, wheel),
        ]
    robot = kd.Robot('car', bodies)
    c = kd.constraints
    rows = [
        c.rolling_wheel(robot, name, n['radius'])
        for name in ('front_left', 'front_right', 'rear_left', 'rear_right')
    ]
    k_left, k_right = (robot.velocity_index(f'steer_{side}') for side in ('left', 'right'))

    def steering(q, t):
        # cot(outer) - cot(inner) = track/wheelbase, without its poles
        left, right = q[k_left], q[k_right]
        ratio = n['track'] / n['wheelbase']
        return np.sin(left - right) - ratio * np.sin(left) * np.sin(right)

    rows.append(c.holonomic(robot, steering, 'ackermann'))
    q = robot.neutral()
    q[k_left] = 0.35
    q[k_right] = brentq(lambda x: np.sin(0.35 - x) - 0.6 * np.sin(0.35) * np.sin(x), 0.1, 0.35)
    v = np.zeros(robot.nv)
    v[0] = 0.8
    q, v = kd.simulation.project(robot, rows, q, v, 0.0)
    return robot, tuple(rows), q, v


MECHANISMS = {'parallelogram': parallelogram, 'bricard': bricard, 'bennett': bennett, 'car': car}
