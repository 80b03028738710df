# SPDX-License-Identifier: Apache-2.0
"""Small systems whose equations of motion are written down."""

from functools import cache

import numpy as np
from support.machines import (
    DRIVE,
    SLEIGH,
    Y,
    Z,
    at,
    differential_drive,
    four_bar,
    inertia,
    planar_2r,
    planar_body,
    prismatic,
    revolute,
    rolling_disc,
    turned,
    wrist,
)

import kane_dynamics as kd
from kane_dynamics.symbolic.equations import equations_of_motion
from studies.random_robots import random_inertia, random_pose, random_tree

CART_POLE = {'M': 2.0, 'm': 0.3, 'l': 0.5, 'I': 0.01, 'armature': 0.04}


def cart_pole():
    """Return a cart on x with a pole about y, upright at 0; damping, friction and a rotor."""
    n = CART_POLE
    slide = prismatic('x', damping=0.2, friction=0.5, armature=n['armature'])
    pole = inertia(n['m'], (0, 0, n['l']), (0, n['I'], 0))
    bodies = [
        kd.Body('cart', '', slide, inertia=inertia(n['M'])),
        kd.Body('pole', 'cart', revolute('theta', Y, friction=0.07), inertia=pole),
    ]
    return kd.Robot('cart_pole', bodies)


def double_pendulum():
    """Return two bodies on spherical joints."""
    rods = [
        inertia(m, (0.02, 0, -0.3), (0.03, 0.04, 0.02 + 0.01 * k))
        for k, m in enumerate((1.2, 0.7))
    ]
    bodies = [
        kd.Body('upper', '', kd.Joint('hip', kd.Spherical()), inertia=rods[0]),
        kd.Body('lower', 'upper', kd.Joint('knee', kd.Spherical()), at(0, 0, -0.6), rods[1]),
    ]
    return kd.Robot('double_pendulum', bodies)


def flying_arm():
    """Return a floating base with a hinge on a turned frame."""
    rng = np.random.default_rng(3)
    bodies = [
        kd.Body('base', '', kd.Joint('base', kd.Free()), inertia=random_inertia(rng)),
        kd.Body('arm', 'base', revolute('arm', Y), random_pose(rng), random_inertia(rng)),
    ]
    return kd.Robot('flying_arm', bodies)


def small_tree():
    """Return a random tree with mimic joints that follow by ratios like 1.3."""
    rng = np.random.default_rng(5)
    return random_tree(rng, kinds=('revolute', 'cylindrical'))


def turned_arm():
    """Return an arm whose frames are turned by quarter turns, as URDF files have them."""
    bodies = [
        kd.Body('a', '', revolute('a', Z), turned(Y, np.pi / 2), inertia(1.0, (0.3, 0, 0))),
        kd.Body('b', 'a', revolute('b', Z), turned(Y, -np.pi / 2, (0.4, 0, 0)), inertia(0.7)),
        kd.Body('c', 'b', revolute('c', Z), turned(Y, np.pi / 2), inertia(0.7, (0, 0.2, 0))),
    ]
    return kd.Robot('turned_arm', bodies)


def with_rows(robot, *constraints):
    """Return a robot and its constraints."""
    return robot, constraints


def sleigh():
    """Return the Chaplygin sleigh."""
    robot = planar_body(**SLEIGH)
    return with_rows(robot, kd.constraints.no_side_slip(robot))


def driven_arm():
    """Return the arm of two links with a row that depends on time and on a nonlinear function."""
    robot = planar_2r()
    row = kd.constraints.pfaffian(
        robot,
        lambda q, t: [np.cos(q[0] - 2.0 * t), 1.5 + np.tanh(q[1]) * t],
        lambda q, t: np.sqrt(2.0 + np.sin(q[0]) ** 2) + t**2,
    )
    return with_rows(robot, row)


def rolling():
    """Return the rolling disc."""
    robot = rolling_disc()
    return with_rows(robot, kd.constraints.rolling_wheel(robot, 'spin', 0.26))


def two_wheels():
    """Return the two-wheeled base with the radius of its wheels."""
    robot = differential_drive()
    rows = kd.constraints.differential_drive(robot, 'left', 'right', DRIVE['r'])
    return with_rows(robot, rows)


def linkage():
    """Return the four-bar linkage with its loop closed and its crank locked."""
    robot = four_bar()
    closure = kd.constraints.loop_closure(robot, 'coupler_end', 'rocker_end')
    return with_rows(robot, closure, kd.constraints.lock(robot, 'crank'))


CASES = {
    'planar_2r': lambda: with_rows(planar_2r()),
    'cart_pole': lambda: with_rows(cart_pole()),
    'sleigh': sleigh,
    'wrist': lambda: with_rows(wrist()),
    'double_pendulum': lambda: with_rows(double_pendulum()),
    'flying_arm': lambda: with_rows(flying_arm()),
    'small_tree': lambda: with_rows(small_tree()),
    'turned_arm': lambda: with_rows(turned_arm()),
    'driven_arm': driven_arm,
    'rolling_disc': rolling,
    'two_wheels': two_wheels,
    'linkage': linkage,
}


def equations_of(case, simplify=True):
    """Return the equations of a case; they are frozen, so tests share them."""
    return _made_once(case, simplify)


@cache
def _made_once(case, simplify):
    return equations_of_motion(*CASES[case](), simplify=simplify)
