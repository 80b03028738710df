# SPDX-License-Identifier: Apache-2.0
"""The worked example of section 2.7 with its intermediate quantities, and that of section 7.8."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.transform import Rotation
from support.machines import inertia, measuring_2r, planar_2r, wrist

import kane_dynamics as kd
from kane_dynamics.algebra import DualQuaternion, pure, twist_from_vector, vec6, vec8
from kane_dynamics.algorithms.newton_euler import inertial_wrench

PRINTED = 5.1e-7  # six decimals are printed
Q, V, A = (0.3, 0.7), (0.5, -0.4), (1.0, 2.0)

POSE = {
    'c1': (0.988771, 0, 0, 0.149438, 0, 0.247193, 0.037360, 0),
    'c2': (0.877583, 0, 0, 0.479426, 0, 0.665550, -0.003450, 0),
}
POSITION = {'c1': (0.477668, 0.147760, 0), 'c2': (1.171457, 0.632109, 0)}
TWIST = {'c1': (0, 0, 0.5, 0, 0.25, 0), 'c2': (0, 0, 0.1, 0.322109, 0.422421, 0)}
TWIST_RATE = {'c1': (0, 0, 1, 0, 0.5, 0), 'c2': (0, 0, 3, 0.491249, 2.093686, 0)}
ACCELERATION = {'c1': (-0.125, 0.5, 0), 'c2': (0.449007, 2.125897, 0)}
GRAVITY = {'c1': (-2.899053, -9.371851, 0), 'c2': (-8.254830, -5.300366, 0)}
WRENCH = {
    'c1': (5.548106, 19.743702, 0, 0, 0, 0.166667),
    'c2': (13.055756, 11.139393, 0, 0, 0, 0.24),
}
# (moment, force) that the joints transmit, in the axes of the frames before them
TRANSMITTED = {
    'sensor_1': (0, 0, 31.664902, -2.853775, 37.506136, 0),
    'sensor_2': (0, 0, 4.695757, 2.809399, 16.930627, 0),
}
ROD = {'c1': (2.0, 1.0), 'c2': (1.5, 0.8)}


@pytest.mark.claim(6)
@pytest.mark.parametrize('link', ['c1', 'c2'])
def test_every_row_of_the_forward_recursion(link):
    kin = kd.forward_kinematics(planar_2r(), Q, V, A)
    assert_allclose(vec8(kin.pose(link).dual_quaternion()), POSE[link], rtol=0, atol=PRINTED)
    assert_allclose(kin.pose(link).position(), POSITION[link], rtol=0, atol=PRINTED)
    assert_allclose(kin.twist(link), TWIST[link], rtol=0, atol=PRINTED)  # (19)
    assert_allclose(kin.twist_rate(link), TWIST_RATE[link], rtol=0, atol=PRINTED)  # (20)
    assert_allclose(kin.acceleration(link)[3:], ACCELERATION[link], rtol=0, atol=PRINTED)  # (23)


@pytest.mark.claim(7)
@pytest.mark.parametrize('link', ['c1', 'c2'])
def test_wrench_on_each_body(link):
    robot = planar_2r()
    kin = kd.forward_kinematics(robot, Q, V, A)
    gravity = kin.pose(link).rotation_matrix().T @ robot.gravity
    assert_allclose(gravity, GRAVITY[link], rtol=0, atol=PRINTED)
    mass, length = ROD[link]
    rod = inertia(mass, (0, 0, 0), (0, mass * length**2 / 12, mass * length**2 / 12))
    rate = twist_from_vector(kin.twist_rate(link))
    moved = DualQuaternion(rate.primary, rate.dual - pure(gravity))
    wrench = inertial_wrench(rod, twist_from_vector(kin.twist(link)), moved)
    assert_allclose(vec6(wrench), WRENCH[link], rtol=0, atol=PRINTED)  # (24)-(26)


@pytest.mark.claim(7)
def test_wrench_through_each_joint():
    robot = measuring_2r()
    q, v, a = robot.neutral(), np.zeros(robot.nv), np.zeros(robot.nv)
    for joint, *values in zip(('joint_1', 'joint_2'), Q, V, A, strict=True):
        q[robot.coordinate_index(joint)] = values[0]
        column = robot.velocity_index(joint)
        v[column], a[column] = values[1:]
    tau = kd.inverse_dynamics(robot, q, v, a)
    for sensor, expected in TRANSMITTED.items():
        first = robot.velocity_index(f'{sensor}_wx')
        assert_allclose(tau[first : first + 6], expected, rtol=0, atol=PRINTED)  # (29)


@pytest.mark.claim(7, 13)
def test_torques_and_closed_form():
    robot = planar_2r()
    M = np.array([[3.404477, 0.778905], [0.778905, 0.32]])
    coriolis, gravity = (0.092767, 0.096633), (26.609847, 3.180219)
    assert_allclose(
        kd.inverse_dynamics(robot, Q, V, A), (31.664902, 4.695757), rtol=0, atol=PRINTED
    )
    assert_allclose(kd.mass_matrix(robot, Q), M, rtol=0, atol=PRINTED)
    assert_allclose(kd.coriolis_matrix(robot, Q, V) @ V, coriolis, rtol=0, atol=PRINTED)
    assert_allclose(kd.gravity_force(robot, Q), gravity, rtol=0, atol=PRINTED)
    assert_allclose(
        kd.bias_force(robot, Q, V), np.add(coriolis, gravity), rtol=0, atol=2 * PRINTED
    )


@pytest.mark.claim(41)
def test_spherical_wrist_of_gillespie():
    # (49): couples T and forces F at Co along c1, c2, c3; nine decimals are given
    robot = wrist()
    wxyz = np.roll(Rotation.from_euler('ZYZ', (0.4, 0.8, -0.5)).as_quat(), 1)
    u, couple, force = (0.3, -0.2, 1.1), (0.1, -0.2, 0.05), (1.0, 2.0, -0.5)
    motion = kd.forward_dynamics(
        robot, wxyz, u, couple, external_wrenches={'Co': (0, 0, 0, *force)}
    )
    expected = (-5.756271199, -24.320968901, 5.06)
    assert_allclose(motion.acceleration, expected, rtol=0, atol=5.1e-10)
    # (50): the Euler rates that belong to u, seen in how q moves
    euler_rate = np.array([-0.233342496, -0.319344174, 1.262571283])
    h = 1e-4
    ahead = Rotation.from_euler('ZYZ', np.array((0.4, 0.8, -0.5)) + h * euler_rate)
    behind = Rotation.from_euler('ZYZ', np.array((0.4, 0.8, -0.5)) - h * euler_rate)
    moved = [np.roll(kd.integrate(robot, wxyz, u, s), -1) for s in (h, -h)]
    errors = [
        (Rotation.from_quat(xyzw).inv() * other).magnitude()
        for xyzw, other in zip(moved, (ahead, behind), strict=True)
    ]
    assert max(errors) < 1e-7  # h^2 times second derivatives of about 3
