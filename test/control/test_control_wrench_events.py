# SPDX-License-Identifier: Apache-2.0
"""A push where wheels and hand are held by dry friction: what the law says is what happens."""

import dataclasses
import warnings

import numpy as np
import pytest
from support.machines import DRIVE, at, differential_drive
from support.wheeled_robots import installed

import kane_dynamics as kd
from kane_dynamics.analysis.contact_friction import shared_weight, wheel_cones
from kane_dynamics.control.wrench_control import WrenchControl, WrenchTarget
from kane_dynamics.exceptions import NameNotFoundError, UnreachableAccelerationError

PUSH = 20.0  # [N]
C = kd.constraints


def tiago():
    """Return TIAGo, its wheels, its hand and a place; joints without drag, for explicit steps."""
    with warnings.catch_warnings():
        warnings.simplefilter('ignore', kd.exceptions.ModelWarning)
        robot = kd.load_urdf(installed('tiago_no_hand'), base='planar')
    bodies = [
        dataclasses.replace(b, joint=dataclasses.replace(b.joint, damping=0.0, friction=0.0))
        for b in robot.bodies
    ]
    parts = robot.gravity, dict(robot.frames), dict(robot.wheels)
    robot = kd.Robot(robot.name, bodies, *parts)
    q = robot.neutral()
    for number, angle in {1: 0.2, 2: -0.8, 3: -1.0, 4: 1.5, 6: 0.5}.items():
        q[robot.coordinate_index(f'arm_{number}_joint')] = angle
    wheels = ('wheel_left_joint', 'wheel_right_joint')
    return robot, [C.rolling_wheel(robot, name) for name in wheels], wheels, 'arm_tool_link', q


def drive_with_arm():
    """Return a light base with two links on it, the same."""
    bodies = differential_drive(arm=True, damping=0.2).bodies
    robot = kd.Robot('drive', bodies, frames={'hand': kd.Frame(4, at(0.4, 0, 0))})
    q = robot.neutral()
    q[-2:] = 0.3, 0.5
    wheels = ('left', 'right')
    rolling = [C.rolling_wheel(robot, name, radius=DRIVE['r']) for name in wheels]
    return robot, rolling, wheels, 'hand', q


def push(machine, friction, cones):
    """Return the law of a hand at a wall, the targets of holding and pushing, and the parts."""
    robot, rolling, wheels, hand, q = machine
    load = shared_weight(robot, 2)
    motors = robot.velocity_names[3:]
    dynamics = kd.dynamics(robot, rolling)
    law = WrenchControl(
        dynamics,
        hand,
        motors,
        ['free', 'free', 'free', 'wrench', 'motion', 'motion'],
        [400.0] * 6,
        [40.0] * 6,
        {name: q[robot.coordinate_index(name)] for name in motors},
        cones=wheel_cones(dynamics.labels, wheels, friction, load) if cones else (),
    )
    place = kd.forward_kinematics(robot, q).pose(hand)
    pose = [*place.position(), *place.rotation.components]
    targets = [WrenchTarget(pose, wrench=[0, 0, 0, f, 0, 0]) for f in (0.0, PUSH)]
    normal = (-1.0, 0.0, 0.0)
    wall = C.contact(
        C.point_contact(robot, hand, normal=normal, offset=-pose[0]),
        C.point_slip(robot, hand, normal=normal),
        friction=0.4,
    )
    grip = {
        name: C.traction(rows, load, friction) for name, rows in zip(wheels, rolling, strict=True)
    }
    return law, targets, grip, wall


def simulated(machine, law, targets, grip, wall, steps):
    """Return the simulation after some steps of a push; before, the hand is held at the wall."""
    simulation = kd.EventSimulation(machine[0], grip, machine[-1], step=0.004)
    simulation.step(law.effort(simulation.q, simulation.v, targets[0]).effort)
    simulation.add('wall', wall)
    for _ in range(steps):
        simulation.step(law.effort(simulation.q, simulation.v, targets[1]).effort)
    return simulation


@pytest.mark.claim(21)
@pytest.mark.parametrize(('machine', 'steps'), [(tiago, 2), (drive_with_arm, 5)])
def test_wheels_that_hold_push_with_what_is_asked(machine, steps):
    robot, _, wheels, hand, q = given = machine()
    law, targets, grip, wall = push(given, 0.6, cones=True)
    simulation = simulated(given, law, targets, grip, wall, steps)
    assert simulation.states == dict.fromkeys([*wheels, 'wall'], 'sticks')
    forces = simulation.forces
    assert forces[f'{hand}/contact'] == pytest.approx(PUSH, rel=0.01)
    found = law.effort(simulation.q, simulation.v, targets[1])
    for wheel, margin in zip(wheels, found.margins, strict=True):
        size = np.hypot(forces[f'{wheel}/longitudinal'], forces[f'{wheel}/lateral'])
        assert margin == pytest.approx(0.6 * shared_weight(robot, 2) - size, abs=0.01 * PUSH)
    assert np.abs(simulation.q - q).max() < 1e-6


@pytest.mark.claim(21)
def test_wheels_that_would_slip_do_so_where_nobody_looks():
    given = drive_with_arm()
    careless, targets, grip, wall = push(given, 0.05, cones=False)
    simulation = simulated(given, careless, targets, grip, wall, 1)
    assert 'slips' in [simulation.states[wheel] for wheel in given[2]]
    assert simulation.forces['hand/contact'] < 0.9 * PUSH
    law = push(given, 0.05, cones=True)[0]
    with pytest.raises(UnreachableAccelerationError, match='in conflict') as caught:
        law.effort(given[-1], 0.0 * simulation.v, targets[1])
    slipping = [wheel for wheel in given[2] if simulation.states[wheel] == 'slips']
    assert [name.split('/')[0] for name in caught.value.names] == slipping


def test_cones_of_wheels():
    names = ('base/no_side_slip', 'left/rolling', 'right/rolling')
    left, right = wheel_cones(names, ('left', 'right'), 0.5, 100.0)
    assert dict(left.shares) == {'left/rolling': 1.0, 'base/no_side_slip': 0.5}
    assert dict(right.shares) == {'right/rolling': 1.0, 'base/no_side_slip': 0.5}
    (own,) = wheel_cones(('a/longitudinal', 'a/lateral', 'b/lateral'), ['a'], 0.5, 100.0)
    assert dict(own.shares) == {'a/longitudinal': 1.0, 'a/lateral': 1.0}
    assert (own.friction, own.normal) == (0.5, 100.0)
    with pytest.raises(NameNotFoundError, match="no constraint row of a wheel named 'c'"):
        wheel_cones(names, ['c'], 0.5, 100.0)
    robot = differential_drive()
    mass = sum(body.inertia.mass for body in robot.bodies)
    assert shared_weight(robot, 2) == pytest.approx(0.5 * 9.81 * mass)
