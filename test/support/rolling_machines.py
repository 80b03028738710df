# SPDX-License-Identifier: Apache-2.0
"""A machine for each wheel kind, at a state on its rows: they roll under gravity alone."""

from dataclasses import dataclass

import numpy as np

import kane_dynamics as kd
from support.bases import AXLE, Mount, mecanum_mounts, omni_mounts, wheel_rows, wheeled_base
from support.constraint_cases import SLOPE, free_body
from support.machines import Y, at, inertia, revolute

C = kd.constraints
DOWNHILL = (2.0, -1.3, -9.5)  # gravity on the slope of a base that moves in z = 0


@dataclass(frozen=True)
class Machine:
    """A robot with its constraints at a state that satisfies them."""

    robot: kd.Robot
    rows: tuple
    q: np.ndarray
    v: np.ndarray


def machine(robot, rows, height=0.2):
    """Return a machine near the neutral state, moved onto its rows."""
    rng = np.random.default_rng(4)
    q = kd.integrate(robot, robot.neutral(), rng.uniform(-0.2, 0.2, robot.nv), 1.0)
    if robot.base == 'floating':
        q[:3] += np.array(SLOPE.normal) * height
    v = rng.uniform(-1.5, 1.5, robot.nv)
    q, v = kd.simulation.project(robot, rows, q, v, 0.0)
    return Machine(robot, rows, q, v)


def coin(tyre):
    """Return a disc, thin or with a round tyre, on a slope."""
    robot = free_body()
    axis = (0.2, 1.0, 0.3)
    wheel = C.rolling_wheel(robot, 'base', 0.3, axis, plane=SLOPE, tyre_radius=tyre)
    return machine(robot, (wheel,), height=0.4)


def ball():
    """Return a ball with its centre of mass beside its centre, on a slope."""
    robot = free_body()
    return machine(robot, (C.rolling_ball(robot, 'base', 0.2, plane=SLOPE),), height=0.4)


def on_plan(mounts, kind='planar', plane=C.GROUND, **options):
    """Return a base on its wheels; a planar one with gravity along the plane too."""
    robot = wheeled_base(mounts, kind)
    if kind == 'planar':
        robot = robot.with_gravity(DOWNHILL)
    return machine(robot, wheel_rows(robot, mounts, plane), **options)


def on_kerb():
    """Return an axle with one wheel on a kerb and round tyres, and a ball caster on a ramp."""
    mounts = {'left': Mount(0.0, 0.25), 'right': Mount(0.0, -0.25)}
    load = inertia(0.4, (0, 0, 0), (6e-4,) * 3)
    caster = kd.Body(
        'caster', 'trunk', kd.Joint('caster', kd.Spherical()), at(-0.4, 0.05, 0.06), load
    )
    robot = wheeled_base(mounts, 'floating', more=[caster])
    rows = (
        C.rolling_wheel(robot, 'left', 0.1, plane=kd.Plane(offset=0.07), tyre_radius=0.03),
        C.rolling_wheel(robot, 'right', 0.1, tyre_radius=0.03),
        C.rolling_ball(robot, 'caster', 0.06, plane=kd.Plane((0.2, 0.1, 1.0))),
    )
    return machine(robot, rows, height=0.0)


def sleigh(kind):
    """Return a knife edge under a base in the plane, or under a body on three feet on a slope."""
    robot = wheeled_base({}, kind)
    if kind == 'planar':
        return machine(
            robot.with_gravity(DOWNHILL), (C.knife_edge(robot, 'trunk', (-0.2, 0.05, 0)),)
        )
    feet = tuple(
        C.point_contact(robot, 'trunk', foot, SLOPE.normal, SLOPE.offset)
        for foot in ((0.3, 0, 0), (-0.2, 0.2, 0), (-0.2, -0.2, 0))
    )
    edge = C.knife_edge(robot, 'trunk', (-0.2, 0.1, 0), (1, 0.3, 0), plane=SLOPE)
    return machine(robot, (*feet, edge), height=0.1)


def rocker():
    """
    Return four wheels on two rockers with a differential bar, each wheel on a plane of its own.

    One wheel rolls, the others have rollers: so it drives and turns wherever the planes lead.
    """
    trunk = kd.Body(
        'trunk',
        '',
        kd.Joint('base', kd.Free()),
        inertia=inertia(9.0, (0, 0, 0.2), (0.2, 0.3, 0.4)),
    )
    bodies = [trunk]
    arm, wheel = (
        inertia(1.0, (0.02, 0, -0.03), (0.01, 0.03, 0.03)),
        inertia(0.6, (0, 0, 0), (1e-3, 2e-3, 1e-3)),
    )
    for side, y in (('left', 0.25), ('right', -0.25)):
        bodies.append(
            kd.Body(f'{side}_arm', 'trunk', revolute(f'{side}_rocker', Y), at(0, y, 0.2), arm)
        )
        for end, x in (('front', 0.2), ('rear', -0.2)):
            name = f'{side}_{end}'
            bodies.append(
                kd.Body(name, f'{side}_arm', revolute(f'{name}_wheel', Y), at(x, 0, -0.1), wheel)
            )
    robot = kd.Robot('rocker', bodies)
    planes = {
        'left_front': kd.Plane((0.1, 0.0, 1.0), 0.04),
        'left_rear': kd.Plane(),
        'right_front': kd.Plane((-0.1, 0.1, 1.0), -0.02),
        'right_rear': kd.Plane((0.0, -0.1, 1.0)),
    }
    rows = [
        C.rolling_wheel(robot, f'{name}_wheel', 0.1, plane=plane, tyre_radius=0.02)
        if name == 'left_rear'
        else C.roller_wheel(robot, f'{name}_wheel', 0.0, 0.1, plane=plane)
        for name, plane in planes.items()
    ]
    bar = C.coupling(robot, 'left_rocker', 'right_rocker', -1.0)
    return machine(robot, (*rows, bar), height=0.0)


STEERED = {'front': Mount(0.5, 0.05, 0.2, 0.09, steered=True, side=0.03)}
CASTER = {'caster': Mount(-0.4, 0.1, 0.3, 0.04, steered=True, trail=0.05, side=0.01)}
# name: how it is made
MACHINES = {
    'thin wheel on a slope': lambda: coin(0.0),
    'round tyre on a slope': lambda: coin(0.06),
    'ball on a slope': ball,
    'axle on a kerb and a ramp': on_kerb,
    'mecanum at 45 degrees': lambda: on_plan(mecanum_mounts(0.24, 0.15, 0.08, np.pi / 4)),
    'mecanum at 30 degrees': lambda: on_plan(mecanum_mounts(0.24, 0.15, 0.08, np.pi / 6)),
    'omni wheels on a slope': lambda: on_plan(
        omni_mounts(np.radians([30, 150, 270]), 0.3, 0.05), 'floating', SLOPE, height=0.0
    ),
    'knife edge': lambda: sleigh('planar'),
    'knife edge on a slope': lambda: sleigh('floating'),
    'steered wheel with an offset': lambda: on_plan(AXLE | STEERED),
    'caster with trail': lambda: on_plan(AXLE | CASTER),
    'rocker suspension': rocker,
}
