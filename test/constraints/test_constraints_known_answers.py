# SPDX-License-Identifier: Apache-2.0
"""Machines with published or closed-form answers."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from support.machines import (
    CART,
    DRIVE,
    SLEIGH,
    Z,
    differential_drive,
    inertia,
    planar_body,
    prismatic,
    revolute,
    rolling_disc,
    shopping_cart,
)

import kane_dynamics as kd

RADIUS, GRAVITY = 0.26, 9.81


def disc_state(yaw, lean, spin, contact, omega, frame):
    """Return q, v of the rolling disc from its angular rates in the axes of a frame."""
    robot = rolling_disc()
    q = np.array([0.0, 0.0, 0.0, yaw, lean, spin])
    kin = kd.forward_kinematics(robot, q)
    up = kin.pose('leaned').rotation_matrix()[:, 2]  # from the contact to the centre
    q[:3] = np.array([*contact, 0.0]) + RADIUS * up
    omega_W = kin.pose(frame).rotation_matrix() @ omega
    axes = kin.pose('disc').rotation_matrix() @ kin.jacobian('disc')[:3, 3:]
    return robot, q, np.r_[np.cross(omega_W, RADIUS * up), np.linalg.solve(axes, omega_W)]


@pytest.mark.parametrize(
    ('q', 'u', 'q_rate', 'u_rate', 'contact_acceleration'),
    [
        (
            (0.3, 0.1, 1.97, -0.35, 2.27),
            (-0.2, 1.3, 0.15),
            (
                0.126603940595934,
                0.215942571601660,
                1.28736069604936,
                0.319764288376543,
                0.0989146857254898,
            ),
            (-0.925848952664489, -0.0181350656532944, 2.91695398184589),
            (-0.00992793421754526, 0.0412861634829171),
        ),
        (
            (3.97, -0.28, 8.2, -0.35, 2.27),
            (-0.25, -2.2, 0.62),
            (
                0.0259159090798597,
                0.668041660387416,
                -2.19283799213811,
                0.385441810852219,
                0.420109283790573,
            ),
            (1.45030568179066, -0.0110924422400793, -8.35617840186040),
            (-0.154098542632173, -0.146102664410010),
        ),
    ],
    ids=['slow', 'fast'],
)
def test_rolling_disc_of_sympy(q, u, q_rate, u_rate, contact_acceleration):
    # sympy test_kane5: u are the angular rates in the axes of the spinning disc
    robot, state, v = disc_state(*q[:3], q[3:], u, 'disc')
    disc = kd.constraints.rolling_wheel(robot, 'spin', RADIUS)
    motion = kd.forward_dynamics(robot, state, v, np.zeros(6), (disc,))
    a = motion.acceleration
    assert_allclose(v[3:], q_rate[:3], rtol=0, atol=1e-10)
    kin = kd.forward_kinematics(robot, state, v, a)
    assert_allclose(kin.twist_rate('disc')[:3], u_rate, rtol=0, atol=1e-10)
    # the contact runs along the heading with r spin'
    heading, left = np.array([np.cos(q[0]), np.sin(q[0])]), np.array([-np.sin(q[0]), np.cos(q[0])])
    assert_allclose(RADIUS * v[5] * heading, q_rate[3:], rtol=0, atol=1e-10)
    trace = RADIUS * (a[5] * heading + v[5] * v[3] * left)
    assert_allclose(trace, contact_acceleration, rtol=0, atol=1e-10)


@pytest.mark.parametrize('seed', range(5))
def test_rolling_disc_in_closed_form(seed):
    # the minimal equations have u along the axes that lean but do not spin
    rng = np.random.default_rng(seed)
    lean, (u1, u2, u3) = rng.uniform(-1.0, 1.0), rng.uniform(-2.0, 2.0, 3)
    robot, q, v = disc_state(rng.uniform(-3, 3), lean, 0.0, (0, 0), (u1, u2, u3), 'leaned')
    disc = kd.constraints.rolling_wheel(robot, 'spin', RADIUS)
    a = kd.forward_dynamics(robot, q, v, np.zeros(6), (disc,)).acceleration
    slope, r = np.tan(lean), RADIUS
    expected = (
        (6 * u2 * u3 * r - u3**2 * r * slope + 4 * GRAVITY * np.sin(lean)) / (5 * r),
        -2 * u1 * u3 / 3,
        u1 * (-2 * u2 + u3 * slope),
    )
    # u1 = lean', u2 = spin' + yaw' sin(lean), u3 = yaw' cos(lean)
    yaw_rate, lean_rate, _ = v[3:]
    actual = (
        a[4],
        a[5] + a[3] * np.sin(lean) + yaw_rate * np.cos(lean) * lean_rate,
        a[3] * np.cos(lean) - yaw_rate * np.sin(lean) * lean_rate,
    )
    assert_allclose(actual, expected, rtol=1e-12, atol=1e-12)


def test_upright_disc_is_neutrally_stable_at_a_known_spin():
    # d lean''/d lean + (d lean''/d yaw') (d yaw'/d lean) changes sign at spin' = sqrt(g/(3 r))
    def stiffness(spin):
        def lean_acceleration(lean, yaw_rate):
            u = (0.0, spin + yaw_rate * np.sin(lean), yaw_rate * np.cos(lean))
            robot, q, v = disc_state(0.0, lean, 0.0, (0, 0), u, 'leaned')
            disc = kd.constraints.rolling_wheel(robot, 'spin', RADIUS)
            return kd.forward_dynamics(robot, q, v, np.zeros(6), (disc,)).acceleration[4]

        h = 1e-5
        by_lean = (lean_acceleration(h, 0) - lean_acceleration(-h, 0)) / (2 * h)
        by_yaw = (lean_acceleration(0, h) - lean_acceleration(0, -h)) / (2 * h)
        return by_lean + by_yaw * (-2 * spin)  # u3' = -2 u1 u2: yaw' = -2 spin lean

    critical = np.sqrt(GRAVITY / (3 * RADIUS))
    assert stiffness(0.99 * critical) > 0 > stiffness(1.01 * critical)
    assert abs(stiffness(critical)) < 1e-6 * GRAVITY / RADIUS  # h^2 = 1e-10, roundoff 1e-11


def sleigh(com_ahead_of_frame):
    """Return the Chaplygin sleigh and its knife edge, from either choice of the base frame."""
    robot = planar_body(SLEIGH['mass'], SLEIGH['tensor_zz'], com_ahead_of_frame)
    edge = com_ahead_of_frame - SLEIGH['com_x']
    return robot, kd.constraints.no_side_slip(robot, edge), edge


@pytest.mark.parametrize('com', [0.35, 0.0], ids=['frame at the edge', 'frame at the mass'])
def test_chaplygin_sleigh_at_an_instant(com):
    robot, knife, edge = sleigh(com)
    m, tensor, a, v, w, yaw = 1.3, 0.4, 0.35, 0.8, 1.7, 0.3
    ahead, left = np.array([np.cos(yaw), np.sin(yaw)]), np.array([-np.sin(yaw), np.cos(yaw)])
    speed = v * ahead - edge * w * left  # of the frame: the edge moves straight ahead
    motion = kd.forward_dynamics(robot, (0.4, -2.0, yaw), (*speed, w), np.zeros(3), (knife,))
    turn = -m * a * v * w / (tensor + m * a * a)
    assert motion.acceleration[2] == pytest.approx(turn, abs=1e-13)
    # d/dt v of the edge along the heading is a w^2; the frame is -edge behind it
    along_heading = motion.acceleration[:2] @ ahead - edge * w * w
    assert along_heading == pytest.approx(a * w * w, abs=1e-12)
    assert_allclose(motion.multipliers, [1.2645507375949934], rtol=0, atol=1e-13)


def test_chaplygin_sleigh_to_three_seconds():
    robot, knife, _ = sleigh(0.35)
    v0, yaw = 0.8, 0.3
    end = kd.simulate(
        robot,
        (0, 0, yaw),
        (v0 * np.cos(yaw), v0 * np.sin(yaw), 1.7),
        3.0,
        constraints=(knife,),
        step=0.01,
    )
    yaw = end.q[-1, 2]
    speed = end.v[-1, 0] * np.cos(yaw) + end.v[-1, 1] * np.sin(yaw)
    expected = (1.3714270076486565, 0.07536946991266953, 2.0098217617533383)
    # rk4: C h^4 with rates of 2/s: about 2^4 1e-8/120 over 3 s
    assert_allclose((speed, end.v[-1, 2], yaw), expected, rtol=0, atol=1e-8)


@pytest.mark.claim(17)
def test_differential_drive_of_dhaouadi_and_abu_hatab():
    robot, n = differential_drive(), DRIVE
    v, w, yaw = 0.6, 1.1, 0.7
    rates = (v - n['L'] * w) / n['r'], (v + n['L'] * w) / n['r']
    speeds = (v * np.cos(yaw), v * np.sin(yaw), w, *rates)
    drive = kd.constraints.differential_drive(robot, 'left', 'right', n['r'])
    motion = kd.forward_dynamics(
        robot, (0.5, 0.1, yaw, 0.2, 0.9), speeds, (0, 0, 0, -0.4, 1.2), (drive,)
    )
    along_heading = motion.acceleration[:2] @ (np.cos(yaw), np.sin(yaw))
    assert_allclose(
        (along_heading, motion.acceleration[2]),
        (0.6022154177025977, 1.971732977369607),
        rtol=0,
        atol=1e-13,
    )
    # lateral force, traction of the left and of the right wheel
    assert_allclose(
        motion.multipliers, (14.37311936, -4.17343712, 11.87176997), rtol=0, atol=5.1e-9
    )
    assert motion.labels == ('base/no_side_slip', 'left/rolling', 'right/rolling')


@pytest.mark.claim(40)
def test_disc_rolling_down_a_ramp():
    # 7.7: u1' = -(2/3) g sin phi, friction m g sin phi/3 up the ramp, N = m g cos phi
    phi, m, r = 0.35, 2.0, 0.3
    slides = [kd.Body('x', '', prismatic('x')), kd.Body('z', 'x', prismatic('z', Z))]
    disc = kd.Body(
        'disc',
        'z',
        revolute('spin', (0, -1, 0)),
        inertia=inertia(m, (0, 0, 0), (1, m * r * r / 2, 1)),
    )
    field = -GRAVITY * np.array([np.sin(phi), 0.0, np.cos(phi)])  # x up the ramp, z its normal
    robot = kd.Robot('ramp', [*slides, disc], field)
    wheel = kd.constraints.rolling_wheel(robot, 'spin', r)
    motion = kd.forward_dynamics(robot, (0, r, 0.2), (0.9, 0, -3.0), np.zeros(3), (wheel,))
    u1_rate = -2 / 3 * GRAVITY * np.sin(phi)
    assert_allclose(motion.acceleration, (u1_rate, 0, -u1_rate / r), rtol=0, atol=1e-13)
    friction, normal = m * GRAVITY * np.sin(phi) / 3, m * GRAVITY * np.cos(phi)
    # axis along -y: the longitudinal direction is -x
    assert_allclose(motion.multipliers, (-friction, 0.0, normal), rtol=0, atol=1e-13)


def cart_state():
    """Return the cart of 7.9 rolling with a free caster: robot, q, v, tau."""
    yaw, u1, u2, q4 = 0.8, 1.1, 0.35, 0.6
    u3 = (-np.sin(q4) * u1 + CART['L2'] * np.cos(q4) * u2) / CART['L3']
    ahead = np.array([np.cos(yaw), np.sin(yaw)])
    assert u3 == pytest.approx(-2.407506680, abs=5.1e-10)
    return (
        shopping_cart(),
        np.array([1.0, -2.0, yaw, q4]),
        np.r_[u1 * ahead, u2, u3 - u2],
        np.r_[5.0 * ahead, 1.2, 0.0],
    )


def caster(robot):
    """Return the rows of the rear axle and of the caster: its particle moves along c1 only."""

    def row(q, t):
        s, c = np.sin(q[2] + q[3]), np.cos(q[2] + q[3])
        return [-s, c, CART['L2'] * np.cos(q[3]) - CART['L3'], -CART['L3']]

    return kd.constraints.no_side_slip(robot), kd.constraints.pfaffian(robot, row, label='caster')


def cart_speeds(q, v):
    """Return (u1, u2, u3) of (56)."""
    return np.cos(q[2]) * v[0] + np.sin(q[2]) * v[1], v[2], v[2] + v[3]


@pytest.mark.claim(42)
def test_shopping_cart_with_a_free_caster():
    robot, q, v, tau = cart_state()
    motion = kd.forward_dynamics(robot, q, v, tau, caster(robot))
    rates = cart_speeds(q, motion.acceleration)
    assert_allclose(rates, (0.239537818, -0.458288565, 16.788274), rtol=0, atol=5.1e-7)
    assert motion.multipliers[1] == pytest.approx(-3.920859, abs=5.1e-7)


def sticking(robot):
    """Return the rows of the cart whose caster does not turn on its pivot."""
    return (*caster(robot), kd.constraints.lock(robot, 'caster'))


@pytest.mark.claim(42)
def test_shopping_cart_with_a_sticking_caster():
    robot, q, v, tau = cart_state()
    k = np.sin(0.6) / (CART['L2'] * np.cos(0.6) - CART['L3'])
    v[2:] = 1.1 * k, 0.0
    motion = kd.forward_dynamics(robot, q, v, tau, sticking(robot))
    assert k == pytest.approx(0.952497499, abs=5.1e-10)
    rates = cart_speeds(q, motion.acceleration)
    # the printed (67) gives 0.9467 (E22)
    assert_allclose(rates, 0.221424922 * np.array([1, k, k]), rtol=0, atol=1e-9)
    assert_allclose(motion.multipliers[1:], (18.193640, 2.389502), rtol=0, atol=5.1e-7)
    effective = (5.0 + k * 1.2) / rates[0]
    assert effective == pytest.approx(27.743024288, abs=1e-7)


@pytest.mark.claim(42)
def test_impulse_when_the_caster_sticks():
    robot, q, v, _ = cart_state()
    q_after, v_after = kd.simulation.project(robot, sticking(robot), q, v, 0.0)
    assert_allclose(cart_speeds(q, v_after), (0.938350, 0.893776, 0.893776), rtol=0, atol=5.1e-7)
    assert_allclose(q_after, q, rtol=0, atol=0)
    energies = [kd.kinetic_energy(robot, q, speeds) for speeds in (v, v_after)]
    assert_allclose(energies, (13.333235, 12.213885), rtol=0, atol=5.1e-7)
    loss = 0.5 * (v - v_after) @ kd.mass_matrix(robot, q) @ (v - v_after)
    assert energies[0] - energies[1] == pytest.approx(loss, abs=1e-12)


@pytest.mark.claim(42)
def test_cart_at_the_angle_where_turning_alone_is_left():
    # cos q4 = L3/L2 with a sticking caster: u1 = 0 whatever the force, no singularity for us
    robot, q, _, tau = cart_state()
    q[3] = np.arccos(CART['L3'] / CART['L2'])
    assert q[3] == pytest.approx(1.403348, abs=5.1e-7)
    motion = kd.forward_dynamics(robot, q, np.array([0, 0, 0.35, 0.0]), tau, sticking(robot))
    assert cart_speeds(q, motion.acceleration)[0] == pytest.approx(0.0, abs=1e-12)
    assert abs(motion.acceleration[2]) > 1e-2
