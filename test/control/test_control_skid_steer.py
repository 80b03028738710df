# SPDX-License-Identifier: Apache-2.0
"""Skid steer: known answers A6, efforts of turns against side friction, the law of friction."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import brentq
from support.machines import Y, at, inertia, revolute

import kane_dynamics as kd
from kane_dynamics.analysis.contact_friction import sliding_friction
from kane_dynamics.analysis.wheel_forces import picture_of

MASS, HALF, RADIUS, LENGTH = 50.0, 0.25, 0.11, 0.44
MU = (0.7, 0.5)
PRINTED = 1e-9  # relative: ten digits
C = kd.constraints


def skid_steer(*axles):
    """Return a robot with the centre of mass in its origin, wheels left and right of each axle."""
    base = inertia(MASS, (0, 0, 0), (1, 1, 1))
    bodies = [kd.Body('base', '', kd.Joint('base', kd.Planar()), inertia=base)]
    massless = inertia(0.0, (0, 0, 0), (0, 1e-3, 0))
    for k, x in enumerate(axles):
        for side, y in (('left', HALF), ('right', -HALF)):
            wheel = revolute(f'{side} {k}', Y)
            bodies.append(kd.Body(f'{side} {k}', 'base', wheel, at(x, y, RADIUS), massless))
    return kd.Robot('skid steer', bodies)


def wheels_of(robot, *directions):
    return [
        C.rolling_wheel(robot, name, RADIUS).only(*directions) for name in robot.joint_names[1:]
    ]


def turning(robot, forward, side, yaw, spin=None):
    """Return speeds of a base along x, y and about z, and of wheels that roll or spin so."""
    v = np.zeros(robot.nv)
    v[:3] = forward, side, yaw
    signs = np.resize([-1.0, 1.0], robot.nv - 3)
    v[3:] = (forward + signs * HALF * yaw) / RADIUS if spin is None else signs * spin
    return v


def steady(robot, v):
    """Return accelerations at which the speeds stay the same in the axes of the base."""
    a = np.zeros(robot.nv)
    a[:2] = -v[2] * v[1], v[2] * v[0]
    return a


def picture(robot, v, rolling, sliding):
    q, wheels = robot.neutral(), robot.joint_names[1:]
    return kd.wheel_forces(
        robot, q, v, steady(robot, v), rolling, wheels, friction=MU, sliding=sliding
    )


def moment(found, part):
    """Return what sides or tracks give about the origin [N m]."""
    contacts = found.contacts.values()
    if part == 'lateral':
        return sum(one.point[0] * one.lateral for one in contacts)
    return -sum(one.point[1] * one.longitudinal for one in contacts)


def test_spinning_in_place_takes_what_is_known():
    robot = skid_steer(0.22, -0.22)
    rolling, sliding = wheels_of(robot, 'longitudinal'), wheels_of(robot, 'lateral')
    found = picture(robot, turning(robot, 0, 0, 1.0), rolling, sliding)
    assert moment(found, 'lateral') == pytest.approx(-53.955, rel=PRINTED)
    assert_allclose(np.abs(found.effort.effort[3:]), 5.93505, rtol=PRINTED)
    for one in found.contacts.values():
        assert abs(one.longitudinal) == pytest.approx(107.91 / 2, rel=PRINTED)
        assert abs(one.longitudinal) == pytest.approx(0.44 * one.normal, rel=PRINTED)
        assert one.use == pytest.approx(np.hypot(0.44 / 0.7, 1.0), rel=PRINTED)


def test_a_skid_steer_knows_what_slides():
    robot = skid_steer(0.22, -0.22)
    joints = robot.joint_names[1:]
    base = kd.bases.skid_steer(robot, joints[::2], joints[1::2], radius=RADIUS)
    v = turning(robot, 0, 0, 1.0)
    found = picture_of(
        kd.base_ground_contacts(base, friction=MU),
        robot.neutral(),
        v,
        steady(robot, v),
        base.driven,
    )
    assert moment(found, 'lateral') == pytest.approx(-53.955, rel=PRINTED)
    assert_allclose(np.abs(found.effort.effort[3:]), 5.93505, rtol=PRINTED)


TURNS = {  # forward, yaw rate, force of the front axle, moment
    # slow: centrifugal forces are below the digits printed
    'slow': (0.0, 1e-6, -89.18181818, 39.24),
    'fast': (0.5, 0.4, -79.18181818, 37.64),
}


@pytest.mark.parametrize('case', TURNS)
def test_the_more_loaded_axle_holds(case):
    """The rear axle slides; the centre of rotation lies on the front one, which sticks."""
    forward, yaw, force, turn = TURNS[case]
    robot = skid_steer(0.16, -0.28)
    v = turning(robot, forward, -0.16 * yaw, yaw)
    sides = wheels_of(robot, 'lateral')
    rolling = wheels_of(robot, 'longitudinal')
    found = picture(robot, v, [*rolling, *sides[:2]], sides[2:])
    loads = [one.normal for one in found.contacts.values()]
    # spinning wheels that turn press more on one side
    axles = np.sum(np.reshape(loads, (2, 2)), axis=1)
    assert_allclose(axles, [312.1363636, 178.3636364], rtol=PRINTED)
    front, rear = list(found.contacts.values())[:2], list(found.contacts.values())[2:]
    assert sum(one.lateral for one in front) == pytest.approx(force, rel=PRINTED)
    assert sum(one.lateral for one in rear) == pytest.approx(0.5 * 178.3636364, rel=PRINTED)
    assert moment(found, 'longitudinal') == pytest.approx(turn, rel=PRINTED)


@pytest.mark.parametrize('case', TURNS)
def test_coulombs_law_finds_the_axle_that_holds(case):
    """With these torques the frictional solver keeps the turn, and says which axle sticks."""
    forward, yaw, force, _ = TURNS[case]
    robot = skid_steer(0.16, -0.28)
    v = turning(robot, forward, -0.16 * yaw, yaw)
    sides, rolling = wheels_of(robot, 'lateral'), wheels_of(robot, 'longitudinal')
    found = picture(robot, v, [*rolling, *sides[:2]], sides[2:])
    loads = [found.contacts[name].normal for name in robot.joint_names[1:]]
    rub = [C.traction(side, load, MU[1]) for side, load in zip(sides, loads, strict=True)]
    motion = kd.contact_forward_dynamics(
        robot, robot.neutral(), v, found.effort.effort, rolling, rub
    )
    assert motion.states == ('sticks', 'sticks', 'slips', 'slips')
    assert_allclose(motion.acceleration, steady(robot, v), rtol=0, atol=1e-9)
    assert motion.tractions[:2].sum() == pytest.approx(force, rel=PRINTED)


def test_a_spin_in_which_wheels_slide_both_ways_is_as_known():
    robot = skid_steer(0.22, -0.22)
    contacts = kd.ground_contacts(
        robot, [], friction=MU, sliding=wheels_of(robot, 'longitudinal', 'lateral')
    )
    q = robot.neutral()
    loads = contacts.loads(q, *np.zeros((2, robot.nv))).forces

    def turn(yaw):
        forces = contacts.sliding_forces(q, turning(robot, 0, 0, yaw, spin=6.0), loads)
        places = contacts.polygon(q).points
        return sum(p[0] * f[1] - p[1] * f[0] for p, f in zip(places, forces.values(), strict=True))

    yaw = brentq(turn, 0.1, 2.6, xtol=1e-14)
    assert yaw == pytest.approx(1.892334699, rel=PRINTED)
    v = turning(robot, 0, 0, yaw, spin=6.0)
    found = picture(robot, v, [], contacts.sliding.values())
    for one in found.contacts.values():
        assert abs(one.longitudinal) == pytest.approx(45.68027501, rel=PRINTED)
        assert abs(one.lateral) == pytest.approx(51.90940342, rel=PRINTED)
        assert one.use == pytest.approx(1.0, rel=1e-12)
    assert_allclose(np.abs(found.effort.effort[3:]), 5.024830251, rtol=PRINTED)
    assert found.effort.effort @ v == pytest.approx(120.595926, rel=PRINTED)


def test_a_belt_is_many_wheels():
    places = (np.arange(4) + 0.5) / 4 * LENGTH - LENGTH / 2
    robot = skid_steer(*places)
    rolling, sliding = wheels_of(robot, 'longitudinal'), wheels_of(robot, 'lateral')
    found = picture(robot, turning(robot, 0, 0, 1.0), rolling, sliding)
    assert moment(found, 'lateral') == pytest.approx(-26.9775, rel=PRINTED)


def test_a_push_on_a_wheel_that_slides_adds_to_its_friction():
    robot = skid_steer(0.16, -0.28)
    v = turning(robot, 0.5, -0.16 * 0.4, 0.4)
    sides, rolling = wheels_of(robot, 'lateral'), wheels_of(robot, 'longitudinal')
    push = {'right 1': [0.1, -0.2, 0.3, 3.0, 2.0, -1.0]}
    q, a, wheels = robot.neutral(), steady(robot, v), robot.joint_names[1:]
    held = [*rolling, *sides[:2]]
    found = kd.wheel_forces(
        robot, q, v, a, held, wheels, friction=MU, sliding=sides[2:], external_wrenches=push
    )
    forces = np.array([one.force for one in found.contacts.values()])
    points = [one.point for one in found.contacts.values()]
    given = np.r_[np.cross(points, forces).sum(axis=0), forces.sum(axis=0)]
    assert_allclose(given, kd.ground_wrench(robot, q, v, a, push), rtol=0, atol=1e-9)


@pytest.mark.parametrize('seed', range(5))
def test_friction_takes_the_most_power(seed):
    rng = np.random.default_rng(seed)
    slip, load, friction = rng.normal(size=2), 80.0, rng.uniform(0.2, 1.0, 2)
    force = sliding_friction(slip, load, friction)
    assert np.linalg.norm(force / friction) == pytest.approx(load, rel=1e-12)
    angles = np.linspace(0.0, 2.0 * np.pi, 400)
    others = load * friction * np.c_[np.cos(angles), np.sin(angles)]
    assert force @ slip <= (others @ slip).min() * (1.0 - 1e-3) + 1e-12
    alike = sliding_friction(slip, load, np.array([0.4, 0.4]))
    assert_allclose(alike, -0.4 * load * slip / np.linalg.norm(slip), rtol=1e-12)


def test_nothing_rubs_where_nothing_slips_or_presses():
    some, mu = np.array([0.1, -0.2]), np.array([0.4, 0.6])
    assert_allclose(sliding_friction(np.zeros(2), 80.0, mu), 0.0, rtol=0, atol=0)
    assert_allclose(sliding_friction(some, 0.0, mu), 0.0, rtol=0, atol=0)
    assert_allclose(sliding_friction(some, 80.0, np.zeros(2)), 0.0, rtol=0, atol=0)


def test_roundoff_does_not_slide():
    """Rolling wheels have no friction of sliding, whatever the digits of their speeds."""
    robot = skid_steer(0.22, -0.22)
    sliding = wheels_of(robot, 'longitudinal', 'lateral')
    contacts = kd.ground_contacts(robot, [], friction=MU, sliding=sliding)
    v = turning(robot, 1.0 / 3.0, 0, 0) * (1.0 + 1e-16)
    forces = contacts.sliding_forces(robot.neutral(), v, np.full(4, 100.0))
    assert_allclose(list(forces.values()), 0.0, rtol=0, atol=0)
