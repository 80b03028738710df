# SPDX-License-Identifier: Apache-2.0
"""Wheels with round tyres, and balls on turntables and in cylinders: closed-form answers."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from support.calculus import along, derivative
from support.machines import X, Y, Z, inertia, prismatic, revolute

import kane_dynamics as kd

G = 9.81
R, RHO, MASS, AXIAL, DIAMETRAL = 0.26, 0.045, 3.43, 0.21, 0.115
YAW, LEAN, SPIN = 3, 4, 5
RATES = (0.5, -0.2, 6.0)  # of yaw, lean and spin
PRINTED = 6e-10  # half a unit of ten digits, relative


def rolling(rho=RHO, axial=AXIAL, diametral=DIAMETRAL):
    """Return a wheel on slides x, y, z and hinges yaw, lean, spin, with its row."""
    bodies, parent = [], ''
    for name, axis in (('x', X), ('y', Y), ('z', Z)):
        bodies.append(kd.Body(name, parent, prismatic(name, axis)))
        parent = name
    load = inertia(MASS, (0, 0, 0), (diametral, axial, diametral))
    bodies += [
        kd.Body('yawed', 'z', revolute('yaw', Z)),
        kd.Body('leaned', 'yawed', revolute('lean', X)),
        kd.Body('wheel', 'leaned', revolute('spin', Y), inertia=load),
    ]
    robot = kd.Robot('wheel', bodies)
    return robot, kd.constraints.rolling_wheel(robot, 'spin', R + rho, tyre_radius=rho)


def state(robot, row, lean, rates):
    """Return q and v of a wheel that rolls at yaw 0."""
    q = np.zeros(6)
    q[LEAN] = lean
    q[2] = -row.contact_point(robot, q)[2]
    v = np.r_[0.0, 0.0, 0.0, rates]
    return q, kd.consistent_velocity(robot, q, v, (row,), known=('yaw', 'lean', 'spin'))


def test_velocities_of_a_wheel_with_a_round_tyre():
    robot, row = rolling()
    q, v = state(robot, row, 0.3, RATES)
    assert q[2] == pytest.approx(R * np.cos(0.3) + RHO, abs=1e-15)
    assert_allclose(v[:3], (1.856358479, 0.05867749743, 0.01536705075), rtol=PRINTED)
    # the contact point moves over the ground: (R + rho cos phi) theta' and -rho phi'
    path = along(robot, q, v)
    moved = derivative(lambda s: row.contact_point(robot, path(s)))
    assert_allclose(moved, (1.817940852, 0.009, 0.0), rtol=PRINTED, atol=1e-11)


def test_motion_of_a_wheel_with_a_round_tyre():
    robot, row = rolling()
    q, v = state(robot, row, 0.3, RATES)
    motion = kd.forward_dynamics(robot, q, v, np.zeros(6), (row,))
    expected = (2.282015314, 9.590123741, -0.5030835522)
    assert_allclose(motion.acceleration[3:], expected, rtol=PRINTED)
    expected = (-0.05251171369, -6.456527922, 31.08679284)
    assert_allclose(motion.multipliers, expected, rtol=3e-9)  # the first of ten digits is 1e-11


@pytest.mark.parametrize(
    ('rho', 'axial', 'diametral', 'critical'),
    [
        (RHO, AXIAL, DIAMETRAL, 3.00918288),
        (0.0, MASS * R * R / 2, MASS * R * R / 4, np.sqrt(G / (3 * R))),
    ],
    ids=['tyre', 'thin disc'],
)
def test_upright_rolling_is_stable_above_the_known_speed(rho, axial, diametral, critical):
    # (Id + m(R+rho)^2) phi'' = m g R phi + (Ia + m(R+rho)^2) theta' psi',
    # Id psi'' = -Ia theta' phi'
    robot, row = rolling(rho, axial, diametral)
    spin = 2.0

    def rates(lean, yaw_rate, lean_rate):
        q, v = state(robot, row, lean, (yaw_rate, lean_rate, spin))
        a = kd.forward_dynamics(robot, q, v, np.zeros(6), (row,)).acceleration
        return a[[LEAN, YAW]]

    by_lean = derivative(lambda s: rates(s, 0.0, 0.0))
    by_yaw_rate = derivative(lambda s: rates(0.0, s, 0.0))
    by_lean_rate = derivative(lambda s: rates(0.0, 0.0, s))
    carried = MASS * (R + rho) ** 2
    inertia_of_lean = diametral + carried
    tip, gyro = MASS * G * R / inertia_of_lean, (axial + carried) * spin / inertia_of_lean
    # order 8 over steps of 8e-3, of numbers up to 50
    assert_allclose(by_lean, (tip, 0.0), rtol=0, atol=1e-9)
    assert_allclose(by_yaw_rate, (gyro, 0.0), rtol=0, atol=1e-9)
    assert_allclose(by_lean_rate, (0.0, -axial * spin / diametral), rtol=0, atol=1e-9)
    neutral = spin * np.sqrt(by_lean[0] / (-by_yaw_rate[0] * by_lean_rate[1]))
    assert neutral == pytest.approx(critical, rel=2e-9)


def ball_robot(radius):
    """Return a homogeneous ball on a free joint."""
    load = inertia(0.7, (0, 0, 0), (0.4 * 0.7 * radius**2,) * 3)
    return kd.Robot('ball', [kd.Body('ball', '', kd.Joint('base', kd.Free()), inertia=load)])


def contact_velocity(q, arm):
    """Return the rows, per speed (omega, v) in the ball, of the point at an arm in the world."""
    w, x, y, z = q[3:7]
    R_W = np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )
    a, b, c = arm
    skew = np.array([[0 * a, -c, b], [c, 0 * a, -a], [-b, a, 0 * a]])
    return np.hstack([-skew @ R_W, R_W])


def test_a_ball_on_a_turntable_goes_in_circles():
    # v' = (2/7) Omega z x v; a plane that turns is two rows of the user's
    radius, turning = 0.2, 3.0
    robot = ball_robot(radius)
    table = kd.constraints.pfaffian(
        robot,
        lambda q, t: contact_velocity(q, (0.0 * t, 0.0 * t, -radius + 0.0 * t)),
        lambda q, t: [-turning * q[1], turning * q[0], 0.0],
    )
    q = np.array([0.3, 0.1, radius, 1, 0, 0, 0])
    v = np.array([0, 0, 0, 0.2, -0.1, 0])
    v = kd.consistent_velocity(robot, q, v, (table,), known=('base_wz', 'base_vx', 'base_vy'))
    assert_allclose(v[3:], (0.2, -0.1, 0.0), atol=1e-15)
    a = kd.forward_dynamics(robot, q, v, np.zeros(6), (table,)).acceleration
    rate = a[3:] + np.cross(v[:3], v[3:])
    assert_allclose(rate, 2 / 7 * turning * np.array([0.1, 0.2, 0.0]), rtol=0, atol=1e-13)
    path = kd.simulate(robot, q, v, 1.0, constraints=(table,), step=0.01)
    # Runge-Kutta of fourth order of a spin of 5 rad/s: (5 h)^5/120 a step
    assert_allclose(path.q[-1, :2], (0.5166909108, 0.09239619184), rtol=0, atol=1e-7)
    centre = np.array([0.4166666667, 0.3333333333])
    radii = np.linalg.norm(path.q[:, :2] - centre, axis=1)
    assert_allclose(radii, 0.2608745974, rtol=0, atol=1e-7)


def test_a_ball_in_a_cylinder_comes_back_up():
    # the vertical motion is harmonic with n = sqrt(2/7) Omega, (10/7) g/n^2 deep
    radius, orbit, turning = 1.0, 0.1, 6.0  # the motion does not depend on the first two
    robot = ball_robot(radius)
    c = kd.constraints
    wall = c.holonomic(robot, lambda q, t: np.sqrt(q[0] * q[0] + q[1] * q[1]) - orbit)

    def A(q, t):  # noqa: N802
        out = np.array([q[0] / orbit, q[1] / orbit, 0.0 * t])
        rows = contact_velocity(q, radius * out)
        return np.array([rows[1] * out[0] - rows[0] * out[1], rows[2]])

    rows = (wall, c.pfaffian(robot, A))
    frequency = np.sqrt(2 / 7) * turning
    period = 2 * np.pi / frequency
    deepest = -10 / 7 * G / frequency**2
    assert period == pytest.approx(1.959127226, abs=6e-10)
    assert deepest == pytest.approx(-1.3625, abs=1e-12)
    for phase in np.linspace(0.0, 2 * np.pi, 7):
        # z, and the spin: along the tangent z'/r, about the radius it turns with the orbit
        z, speed = 0.5 * deepest * (1 - np.cos(phase)), 0.5 * deepest * frequency * np.sin(phase)
        q = np.array([orbit, 0, z, 1, 0, 0, 0])
        spin = np.array([turning * z, speed, -turning * orbit]) / radius
        v = np.r_[spin, 0.0, turning * orbit, speed]
        assert_allclose(c.ConstraintSet(robot, rows).rows(q, v, 0.0).matrix @ v, 0.0, atol=1e-14)
        a = kd.forward_dynamics(robot, q, v, np.zeros(6), rows).acceleration
        rate = a[3:] + np.cross(v[:3], v[3:])
        expected = (-(turning**2) * orbit, 0.0, 0.5 * deepest * frequency**2 * np.cos(phase))
        assert_allclose(rate, expected, rtol=0, atol=1e-12)
    q, v = (
        np.array([orbit, 0, 0, 1, 0, 0, 0]),
        np.r_[0, 0, -turning * orbit / radius, 0, turning * orbit, 0],
    )
    path = kd.simulate(robot, q, v, 0.5 * period, constraints=rows, step=period / 200)
    assert path.q[-1, 2] == pytest.approx(deepest, abs=1e-5)  # of fourth order; measured 5e-6


@pytest.mark.parametrize('seed', range(3))
def test_chaplygins_ball_on_any_plane(seed):
    # three moments of inertia, centre of mass in the middle: the momentum about the contact,
    # K = I omega + m r^2 (omega - k <k, omega>), is constant in the world
    rng = np.random.default_rng(seed)
    plane = kd.Plane(rng.normal(size=3), rng.normal())
    k, radius, mass = np.array(plane.normal), 0.3, 0.9
    tensor = np.diag((0.02, 0.035, 0.05))
    load = kd.Inertia(mass, (0, 0, 0), tensor)
    body = kd.Body('ball', '', kd.Joint('base', kd.Free()), inertia=load)
    robot = kd.Robot('ball', [body], -9.0 * k)
    row = kd.constraints.rolling_ball(robot, 'base', radius, plane=plane)
    wxyz = rng.normal(size=4)
    q = np.r_[
        plane.directions().T @ (0.3, -0.2) + (plane.offset + radius) * k,
        wxyz / np.linalg.norm(wxyz),
    ]
    v = np.r_[rng.uniform(-4, 4, 3), 0, 0, 0]
    v = kd.consistent_velocity(robot, q, v, (row,), known=('base_wx', 'base_wy', 'base_wz'))

    def momentum(q, v):
        R_W = kd.forward_kinematics(robot, q).pose('ball').rotation_matrix()
        omega = R_W @ v[:3]
        return R_W @ tensor @ v[:3] + mass * radius**2 * (omega - k * (k @ omega))

    a = kd.forward_dynamics(robot, q, v, np.zeros(6), (row,)).acceleration
    R_W = kd.forward_kinematics(robot, q).pose('ball').rotation_matrix()
    turning, up = v[:3], R_W.T @ k
    carried = tensor + mass * radius**2 * (np.eye(3) - np.outer(up, up))
    expected = np.linalg.solve(carried, -np.cross(turning, tensor @ turning))
    assert_allclose(a[:3], expected, rtol=0, atol=1e-11)
    path = kd.simulate(robot, q, v, 0.1, constraints=(row,), step=5e-3)
    # fourth order, of spins of 7 rad/s: (7 h)^5/120 = 4e-10 a step
    assert_allclose(momentum(path.q[-1], path.v[-1]), momentum(q, v), rtol=0, atol=1e-8)
    assert np.linalg.norm(path.v[-1] - v) > 1e-2
