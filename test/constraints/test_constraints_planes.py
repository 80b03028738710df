# SPDX-License-Identifier: Apache-2.0
"""Planes that wheels roll on: directions, turned worlds, kerbs, what a planar base refuses."""

import dataclasses

import numpy as np
import pytest
from numpy.testing import assert_allclose
from support.calculus import relative
from support.constraint_cases import CASES, SLOPE, wheeled
from support.machines import DRIVE, X, Y, differential_drive, inertia, prismatic, revolute

import kane_dynamics as kd
from kane_dynamics.exceptions import ConstraintError, InvalidInputError


@pytest.mark.parametrize('seed', range(4))
def test_directions_of_a_plane_are_right_handed(seed):
    normal = np.random.default_rng(seed).normal(size=3)
    plane = kd.Plane(normal, 0.3)
    k = normal / np.linalg.norm(normal)
    frame = np.vstack([plane.directions(), k])
    assert_allclose(frame @ frame.T, np.eye(3), rtol=0, atol=1e-15)
    assert np.linalg.det(frame) == pytest.approx(1.0, abs=1e-15)
    assert_allclose(plane.normal, k, rtol=0, atol=1e-16)
    assert plane.offset == 0.3


def test_directions_of_the_ground_a_slope_and_a_ceiling():
    assert_allclose(kd.constraints.GROUND.directions(), np.eye(3)[:2], rtol=0, atol=0)
    assert_allclose(kd.Plane((0, 0, -2)).directions(), [[1, 0, 0], [0, -1, 0]], rtol=0, atol=0)
    s, c = np.sin(0.3), np.cos(0.3)  # rising along x
    assert_allclose(kd.Plane((-s, 0, c)).directions(), [[c, 0, s], [0, 1, 0]], atol=1e-16)


def test_the_same_motion_on_a_turned_world():
    # frame invariance: a plane, gravity and motion turned together give the same accelerations
    turn = kd.Pose.from_rotation_and_position((0.8, 0.4, -0.4, 0.2), (0.3, -0.2, 0.5))
    R = turn.rotation_matrix()
    normal = R @ np.array(SLOPE.normal)
    moved = kd.Plane(normal, SLOPE.offset + normal @ turn.position())
    c = kd.constraints
    for name, build in {
        'round_tyre': lambda robot, plane: c.rolling_wheel(
            robot, 'base', 0.3, (0.9, 0.2, -0.4), plane=plane, tyre_radius=0.04
        ),
        'ball_on_slope': lambda robot, plane: c.rolling_ball(robot, 'base', 0.1, plane=plane),
        'edge_on_slope': lambda robot, plane: c.knife_edge(robot, 'wheel', plane=plane),
        'roller_on_slope': lambda robot, plane: c.roller_wheel(
            robot, 'wheel', 0.7, 0.1, plane=plane
        ),
    }.items():
        case = CASES[name]
        motion = kd.forward_dynamics(
            case.robot, case.q, case.v, np.zeros(case.robot.nv), (build(case.robot, SLOPE),)
        )
        pose = turn * kd.forward_kinematics(case.robot, case.q).pose(case.robot.bodies[0].name)
        r = pose.rotation
        q = np.r_[pose.position(), r.w, r.x, r.y, r.z, case.q[7:]]
        world = case.robot.with_gravity(R @ case.robot.gravity)
        again = kd.forward_dynamics(world, q, case.v, np.zeros(world.nv), (build(world, moved),))
        assert relative(again.acceleration, motion.acceleration) < 1e-12, name


@pytest.mark.parametrize('name', ['round_tyre', 'roller_on_slope', 'edge_on_slope'])
def test_zeros_of_the_ground_cost_nothing(name):
    # traced, the zeros of its normal are left out: a slope takes more operations
    case = CASES[name]

    def operations(plane):
        row = dataclasses.replace(case.constraint, plane=plane)
        return kd.casadi_function(case.robot, 'constraint_rows', (row,)).n_instructions()

    ground = operations(kd.constraints.GROUND)
    assert operations(kd.Plane((0, 0, 3))) == ground
    assert operations(SLOPE) > 1.05 * ground


def test_a_kerb_for_a_base_in_the_plane_must_be_at_its_wheel():
    robot, r = differential_drive(), DRIVE['r']
    for radius in (r, 0.9 * r):
        plane = kd.Plane(offset=r - radius)
        assert len(kd.constraints.rolling_wheel(robot, 'left', radius, plane=plane).labels) == 2
    with pytest.raises(
        ConstraintError, match=r"'left' touches a plane of offset .* got offset 0.1"
    ):
        kd.constraints.rolling_wheel(robot, 'left', r, plane=kd.Plane(offset=0.1))


def sliding_wheel():
    """Return a wheel about y on a slide along x."""
    slide = kd.Body('slide', '', prismatic('slide', X), inertia=inertia(1.0))
    load = inertia(0.5, (0, 0, 0), (1e-3, 2e-3, 1e-3))
    return kd.Robot(
        'sliding', [slide, kd.Body('wheel', 'slide', revolute('left', Y), inertia=load)]
    )


def test_errors_of_planes():
    c, robot, flying = kd.constraints, differential_drive(), wheeled('floating')
    slope, upright = kd.Plane((0.1, 0, 1)), kd.Plane((0, 1, 0))
    for build in (
        lambda: c.rolling_wheel(robot, 'left', 0.1, plane=slope),
        lambda: c.roller_wheel(robot, 'left', 0.5, 0.1, plane=slope),
        lambda: c.rolling_ball(robot, 'left', 0.1, plane=slope),
        lambda: c.knife_edge(robot, 'base', plane=slope),
        lambda: c.knife_edge(robot, 'base', plane=kd.Plane((0, 0, -1))),
    ):
        with pytest.raises(ConstraintError, match=r'moves in z = 0.*set_gravity'):
            build()
    with pytest.raises(InvalidInputError, match='plane: need a kane_dynamics.Plane, got str'):
        c.knife_edge(flying, 'base', plane='ground')
    for normal, message in (((0, 0, 0), 'a direction'), ((0, np.nan, 1), 'finite')):
        with pytest.raises(InvalidInputError, match=f'normal: need {message}'):
            kd.Plane(normal)
    with pytest.raises(InvalidInputError, match='offset .* finite'):
        kd.Plane(offset=np.inf)
    # a wall on which the axis of a wheel stands wherever the base goes
    with pytest.raises(ConstraintError, match="'left'.*perpendicular to its plane"):
        c.rolling_wheel(sliding_wheel(), 'left', 0.1, plane=upright)
    assert c.rolling_wheel(sliding_wheel(), 'left', 0.1, plane=kd.Plane((1, 0, 0))).labels
    # the axis of this disc stands on it at the start, and leaves it
    wheel = c.rolling_wheel(flying, 'wheel', 0.1, plane=upright)
    assert wheel.directions == ('longitudinal', 'lateral', 'vertical')
