# SPDX-License-Identifier: Apache-2.0
"""Holonomic rows of users: rates, projection, and machines that also have built-in rows."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from support.calculus import along, derivative, relative
from support.constraint_cases import CASES, Case, rheonomic_guide, rows_at
from support.machines import X, Z, four_bar, four_bar_coordinates, inertia, planar_2r, prismatic

import kane_dynamics as kd
from kane_dynamics.exceptions import ConstraintError

DIFFERENCES = 1e-11  # first derivatives of order 8, see support.calculus


def test_rows_are_the_rate_of_phi():
    # quaternions among q turn with v; t moves on
    case = CASES['holonomic']
    path, rows = along(case.robot, case.q, case.v), rows_at(case)
    rate = derivative(lambda s: rheonomic_guide(path(s), case.t + s))
    assert relative(rows.matrix @ case.v - rows.velocity, rate) < DIFFERENCES
    assert_allclose(rows.positions, rheonomic_guide(case.q, case.t), rtol=1e-15)
    assert rows.labels == ('guide/0', 'guide/1')
    assert case.constraint.exact


def pendulum(length=0.8):
    """Return a particle on slides and the row that holds it at a distance from the origin."""
    bodies = [
        kd.Body('x', '', prismatic('x', X)),
        kd.Body('z', 'x', prismatic('z', Z), inertia=inertia(1.7)),
    ]
    robot = kd.Robot('particle', bodies)
    return robot, kd.constraints.holonomic(robot, lambda q, t: np.hypot(q[0], q[1]) - length)


def test_pendulum_in_cartesian_coordinates():
    # with the angle s from below: s'' = -g/L sin s, tension m (g cos s + L s'^2)
    robot, rod = pendulum()
    angle, rate, length = 0.6, 1.3, 0.8
    out, ahead = (
        np.array([np.sin(angle), -np.cos(angle)]),
        np.array([np.cos(angle), np.sin(angle)]),
    )
    q, v = length * out, length * rate * ahead
    motion = kd.forward_dynamics(robot, q, v, np.zeros(2), (rod,))
    expected = -9.81 * np.sin(angle) * ahead - length * rate**2 * out
    assert_allclose(motion.acceleration, expected, rtol=0, atol=1e-13)
    assert_allclose(
        motion.multipliers, [-1.7 * (9.81 * np.cos(angle) + length * rate**2)], rtol=1e-14
    )


def test_simulated_pendulum_stays_on_its_circle_and_keeps_its_energy():
    robot, rod = pendulum()
    path = kd.simulate(robot, [0.8, 0.0], [0.0, 0.0], 0.4, constraints=(rod,), step=5e-3)
    assert_allclose(np.linalg.norm(path.q, axis=1), 0.8, rtol=0, atol=1e-12)
    assert_allclose(np.sum(path.q * path.v, axis=1), 0.0, atol=1e-12)
    # Runge-Kutta: (h w)^4/120 with w of 5 rad/s, of 13 J
    assert_allclose(
        [
            kd.kinetic_energy(robot, q, v) + kd.potential_energy(robot, q)
            for q, v in zip(path.q, path.v, strict=True)
        ],
        0.0,
        atol=1e-5,
    )


def test_a_driven_joint_follows_its_law_without_drift():
    robot = planar_2r()
    drive = kd.constraints.holonomic(robot, lambda q, t: q[1] - np.sin(3.0 * t), 'drive')
    motion = kd.forward_dynamics(
        robot, [0.3, np.sin(1.2)], [0.5, 3 * np.cos(1.2)], [0, 0], (drive,), time=0.4
    )
    assert motion.acceleration[1] == pytest.approx(-9 * np.sin(1.2), abs=1e-13)
    assert motion.labels == ('drive',)
    path = kd.simulate(robot, [0.3, 0.0], [0.0, 3.0], 0.5, constraints=(drive,), step=0.01)
    assert_allclose(path.q[:, 1], np.sin(3.0 * path.time), rtol=0, atol=1e-12)
    assert_allclose(path.v[:, 1], 3.0 * np.cos(3.0 * path.time), rtol=0, atol=1e-12)


def test_four_bar_closed_by_its_coordinates_moves_as_by_frames():
    robot, q = four_bar(), four_bar_coordinates(0.9)

    def gap(q, t):
        coupler, rocker = q[0] + q[1], q[3]
        x = 0.3 * np.cos(q[0]) + 0.8 * np.cos(coupler) - 0.7 - 0.6 * np.cos(rocker)
        y = 0.3 * np.sin(q[0]) + 0.8 * np.sin(coupler) - 0.6 * np.sin(rocker)
        return [x, y, q[0] + q[1] + q[2] - q[3]]

    v = 1.4 * derivative(lambda s: four_bar_coordinates(0.9 + s))
    tau = np.array([3.0, 0.2, -0.1, -1.0])
    rows = kd.constraints.holonomic(robot, gap, 'gap')
    loop = kd.constraints.loop_closure(robot, 'coupler_end', 'rocker_end')
    found, known = (kd.forward_dynamics(robot, q, v, tau, (c,)) for c in (rows, loop))
    assert found.rank == known.rank == 3
    assert_allclose(found.acceleration, known.acceleration, rtol=0, atol=1e-10)
    assert_allclose(found.constraint_force, known.constraint_force, rtol=0, atol=1e-10)
    off = q + [0.0, 0.03, -0.02, 0.01]
    ends = [kd.simulation.project(robot, (c,), off, v, 0.0) for c in (rows, loop)]
    for found, known in zip(*ends, strict=True):
        # the nearest point to first order: Newton's steps differ by squares of the gap
        assert_allclose(found, known, rtol=0, atol=1e-3)
    assert_allclose(gap(ends[0][0], 0.0), 0.0, atol=1e-12)
    assert_allclose(rows_at(Case(robot, loop, *ends[0])).positions, 0.0, atol=1e-11)


def test_a_point_of_a_spinning_body_on_a_plane():
    # a ball joint's body whose tip slides on z = 0.1: against Phi from the rotation matrix
    load = inertia(1.2, (0, 0, 0.15), (0.02, 0.03, 0.01))
    robot = kd.Robot('wrist', [kd.Body('C', '', kd.Joint('wrist', kd.Spherical()), inertia=load)])

    def height(q, t):
        w, x, y, z = q
        return 0.4 * (w * w - x * x - y * y + z * z) - 0.1

    slide = kd.constraints.holonomic(robot, height)
    q = np.array([0.79, 0.3, -0.4, 0.2])
    q, v = kd.simulation.project(
        robot, (slide,), q / np.linalg.norm(q), np.array([0.3, -0.5, 2.0]), 0.0
    )
    tip = kd.forward_kinematics(robot, q).pose('C').rotation_matrix() @ (0.0, 0.0, 0.4)
    assert tip[2] == pytest.approx(0.1, abs=1e-12)
    motion = kd.forward_dynamics(robot, q, v, np.zeros(3), (slide,))
    kin = kd.forward_kinematics(robot, q, v, motion.acceleration)
    R, omega = kin.pose('C').rotation_matrix(), kin.twist('C')[:3]
    arm = np.array([0.0, 0.0, 0.4])
    rate = np.cross(kin.twist_rate('C')[:3], arm) + np.cross(omega, np.cross(omega, arm))
    assert (R @ np.cross(omega, arm))[2] == pytest.approx(0.0, abs=1e-12)
    assert (R @ rate)[2] == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize(
    ('phi', 'message'),
    [
        (lambda q, t: t - 1.0, 'the row does not depend on any speed'),
        (lambda q, t: q[0] if q[0] > 0 else q[1], 'phi cannot be traced.*branch'),
        (lambda q, t: q[None], r'got shape \(1, 2\)'),
        (lambda q, t: [], r'got shape \(0,\)'),
        (lambda q, t: 'far', 'phi cannot be traced'),
    ],
)
def test_functions_that_are_no_constraint(phi, message):
    with pytest.raises(ConstraintError, match=f'mine.*{message}'):
        kd.constraints.holonomic(planar_2r(), phi, 'mine')


def test_a_length_that_vanishes_is_said():
    robot, rod = pendulum(0.0)
    with pytest.raises(ConstraintError, match='holonomic: the rows are not finite'):
        kd.forward_dynamics(robot, *np.zeros((3, 2)), (rod,))
