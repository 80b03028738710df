# SPDX-License-Identifier: Apache-2.0
"""Coins, discs and balls on a free joint: published and closed-form answers."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from support.calculus import relative
from support.constraint_cases import CASES, Case, rows_at
from support.machines import inertia, rolling_disc

import kane_dynamics as kd
from kane_dynamics.robot.urdf import load_urdf

R, M, G = 0.26, 3.43, 9.81
DISC = inertia(M, (0, 0, 0), (M * R * R / 4, M * R * R / 2, M * R * R / 4))


def free(load, gravity=(0, 0, -G)):
    """Return a body on a free joint."""
    return kd.Robot(
        'coin', [kd.Body('coin', '', kd.Joint('base', kd.Free()), inertia=load)], gravity
    )


def coin_state(yaw, lean, spin, omega):
    """Return q and v of the rolling coin (axis y) from its angular rates in its own axes."""
    kin = kd.forward_kinematics(rolling_disc(), (0, 0, 0, yaw, lean, spin))
    pose, up = kin.pose('disc'), R * kin.pose('leaned').rotation_matrix()[:, 2]
    r, to_world = pose.rotation, pose.rotation_matrix()
    velocity = np.cross(to_world @ omega, up)
    return np.r_[up, r.w, r.x, r.y, r.z], np.r_[omega, to_world.T @ velocity]


@pytest.mark.parametrize(
    ('angles', 'u', 'u_rate'),
    [
        (
            (0.3, 0.1, 1.97),
            (-0.2, 1.3, 0.15),
            (-0.925848952664489, -0.0181350656532944, 2.91695398184589),
        ),
        (
            (3.97, -0.28, 8.2),
            (-0.25, -2.2, 0.62),
            (1.45030568179066, -0.0110924422400793, -8.35617840186040),
        ),
    ],
    ids=['slow', 'fast'],
)
@pytest.mark.parametrize('method', ['gauss', 'kane', 'canonical'])
def test_rolling_coin_of_sympy(angles, u, u_rate, method):
    # sympy test_kane5: u are the angular rates in the axes of the spinning disc
    robot = free(DISC)
    coin = kd.constraints.rolling_wheel(robot, 'base', R, (0, 1, 0))
    q, v = coin_state(*angles, u)
    rows = rows_at(Case(robot, coin, q, v))
    assert_allclose(rows.matrix @ v, 0.0, atol=1e-15)
    assert rows.positions[2] == pytest.approx(0.0, abs=1e-15)
    motion = kd.forward_dynamics(robot, q, v, np.zeros(6), (coin,), method)
    assert_allclose(motion.acceleration[:3], u_rate, rtol=0, atol=1e-10)
    assert abs(motion.constraint_force @ v) < 1e-12


@pytest.mark.parametrize('seed', range(2))
def test_the_same_coin_on_a_plane_of_any_normal(seed):
    # the published motion with plane, gravity and coin turned and moved together
    rng = np.random.default_rng(seed)
    wxyz = rng.normal(size=4)
    turn = kd.Pose.from_rotation_and_position(wxyz / np.linalg.norm(wxyz), rng.normal(size=3))
    normal = turn.rotation_matrix()[:, 2]
    robot = free(DISC, -G * normal)
    plane = kd.Plane(normal, normal @ turn.position())
    coin = kd.constraints.rolling_wheel(robot, 'base', R, (0, 1, 0), plane=plane)
    q, v = coin_state(0.3, 0.1, 1.97, (-0.2, 1.3, 0.15))
    pose = turn * kd.Pose.from_rotation_and_position(q[3:], q[:3])
    r = pose.rotation
    q = np.r_[pose.position(), r.w, r.x, r.y, r.z]
    rows = rows_at(Case(robot, coin, q, v))
    assert_allclose(rows.matrix @ v, 0.0, atol=1e-15)
    assert rows.positions[2] == pytest.approx(0.0, abs=1e-15)
    motion = kd.forward_dynamics(robot, q, v, np.zeros(6), (coin,))
    expected = (-0.925848952664489, -0.0181350656532944, 2.91695398184589)
    assert_allclose(motion.acceleration[:3], expected, rtol=0, atol=1e-10)


def test_coin_from_a_urdf():
    text = f"""<robot name="coin"><link name="coin"><inertial><origin xyz="0.1 0 0"/>
      <mass value="{M}"/><inertia ixx="{M * R * R / 4}" ixy="0" ixz="0" iyy="{M * R * R / 2}"
      iyz="0" izz="{M * R * R / 4}"/></inertial><collision>
      <origin xyz="0.1 0 0" rpy="1.5707963267948966 0 0"/>
      <geometry><cylinder radius="{R}" length="0.001"/></geometry></collision></link></robot>"""
    found = load_urdf(text, 'floating')
    coin = kd.constraints.rolling_wheel(found, 'base')
    q, v = coin_state(0.3, 0.1, 1.97, (-0.2, 1.3, 0.15))
    # the link's frame is beside the centre
    pose = kd.Pose.from_rotation_and_position(q[3:], (0, 0, 0))
    q[:3] -= pose.rotation_matrix() @ (0.1, 0, 0)
    v[3:] += np.cross(v[:3], (-0.1, 0, 0))
    motion = kd.forward_dynamics(found, q, v, np.zeros(6), (coin,))
    expected = (-0.925848952664489, -0.0181350656532944, 2.91695398184589)
    assert_allclose(motion.acceleration[:3], expected, rtol=0, atol=1e-10)


def ball(load, radius, gravity, rng):
    """Return a rolling ball, its constraint and a state that rolls."""
    robot = free(load, gravity)
    rolling = kd.constraints.rolling_ball(robot, 'base', radius)
    q = robot.neutral()
    q[3:] = rng.normal(size=4)
    q[3:] /= np.linalg.norm(q[3:])
    q[2] = radius
    to_world = kd.forward_kinematics(robot, q).pose('coin').rotation_matrix()
    omega = rng.uniform(-5, 5, 3)
    velocity = np.cross(omega, (0, 0, radius))
    return robot, rolling, q, np.r_[to_world.T @ omega, to_world.T @ velocity], to_world


@pytest.mark.parametrize('seed', range(3))
def test_homogeneous_ball_on_a_slope(seed):
    # m a = 5/7 of the force along the slope; the spin about the normal stays
    m, r, g = 0.7, 0.11, np.array([1.3, -0.4, -9.6])
    load = inertia(m, (0, 0, 0), (0.4 * m * r * r,) * 3)
    robot, rolling, q, v, R_W = ball(load, r, g, np.random.default_rng(seed))
    motion = kd.forward_dynamics(robot, q, v, np.zeros(6), (rolling,))
    kin = kd.forward_kinematics(robot, q, v, motion.acceleration)
    rate = kin.twist_rate('coin')
    acceleration = R_W @ (rate[3:] + np.cross(v[:3], v[3:]))
    assert_allclose(acceleration, 5 / 7 * g * [1, 1, 0], rtol=0, atol=1e-13)
    assert (R_W @ rate[:3])[2] == pytest.approx(0.0, abs=1e-12)
    # friction 2/7 m g along the slope, backwards; the normal force carries the weight
    assert_allclose(motion.multipliers, -m * g * [2 / 7, 2 / 7, 1], rtol=0, atol=1e-13)
    assert motion.labels == ('base/x', 'base/y', 'base/vertical')


def test_ball_rows_are_the_velocity_of_the_material_point():
    case = CASES['ball']
    kin = kd.forward_kinematics(case.robot, case.q, case.v)
    R_W, twist = kin.pose('body').rotation_matrix(), case.v
    centre = np.array([0.03, -0.02, 0.05])
    velocity = R_W @ (twist[3:] + np.cross(twist[:3], centre))
    velocity += np.cross(R_W @ twist[:3], (0, 0, -0.11))
    assert relative(rows_at(case).matrix @ case.v, velocity) < 1e-14
    height = (kin.pose('body').position() + R_W @ centre)[2] - 0.11
    assert rows_at(case).positions[2] == pytest.approx(height, abs=1e-15)


def test_loaded_ball_rocks_with_the_known_frequency():
    # centre of mass e below the centre: (I + m (r - e)^2) w^2 = m g e about the contact
    m, r, e, tensor = 1.3, 0.2, 0.03, 0.011
    robot = free(inertia(m, (0, 0, -e), (tensor,) * 3))
    rolling = kd.constraints.rolling_ball(robot, 'base', r)
    angle = 1e-6
    q = np.array([0, 0, r, np.cos(angle / 2), 0, np.sin(angle / 2), 0])
    motion = kd.forward_dynamics(robot, q, np.zeros(6), np.zeros(6), (rolling,))
    square = m * G * e / (tensor + m * (r - e) ** 2)
    assert motion.acceleration[1] == pytest.approx(-square * angle, rel=1e-10)


@pytest.mark.parametrize('name', ['coin', 'ball'])
def test_energy_is_kept(name):
    case = CASES[name]
    robot, rows = case.robot, (case.constraint,)
    q, v = kd.simulation.project(robot, rows, case.q, case.v, 0.0)
    path = kd.simulate(robot, q, v, 0.1, constraints=rows, step=1e-3)
    energy = [
        kd.kinetic_energy(robot, q, v) + kd.potential_energy(robot, q)
        for q, v in zip(path.q, path.v, strict=True)
    ]
    # Runge-Kutta of fourth order with w h of 0.01: 1e-8/120 a step of some joules
    assert_allclose(energy, energy[0], rtol=0, atol=1e-7)
    assert_allclose(rows_at(case, path.q[-1], path.v[-1]).positions[2], 0.0, atol=1e-12)


def test_a_wheel_on_a_spherical_joint_rolls_as_on_a_hinge():
    trunk, load = inertia(3.0, (0, 0, 0), (0.1, 0.1, 0.2)), inertia(0.1, (0, 0, 0), (4e-4,) * 3)
    base = kd.Body('base', '', kd.Joint('base', kd.Planar()), inertia=trunk)
    place = kd.Pose.from_rotation_and_position((1, 0, 0, 0), (0, 0.2, 0.05))
    kinds = kd.Spherical(), kd.Revolute((0, 1, 0))
    unhinged, hinged = (
        kd.Robot('r', [base, kd.Body('wheel', 'base', kd.Joint('hub', kind), place, load)])
        for kind in kinds
    )
    wheel = kd.constraints.rolling_wheel(unhinged, 'hub', 0.05, (0, 3, 0))
    q = np.array([0.3, -0.2, 0.7, 1, 0, 0, 0])
    rows = rows_at(Case(unhinged, wheel, q, np.zeros(6)))
    known = kd.constraints.rolling_wheel(hinged, 'hub', 0.05)
    expected = rows_at(Case(hinged, known, q[:4] * [1, 1, 1, 0], np.zeros(4)))
    assert rows.labels == expected.labels == ('hub/longitudinal', 'hub/lateral')
    assert_allclose(rows.matrix[:, [0, 1, 2, 4]], expected.matrix, rtol=0, atol=1e-15)
    # leaning with r across: the rim moves sideways; turning about the upright radius: not at all
    assert_allclose(rows.matrix[:, [3, 5]], [[0, 0], [0.05, 0]], rtol=0, atol=1e-15)


def test_a_ball_caster_under_a_planar_base_does_not_lift():
    # on a spherical joint two rows are left; the base turns freely about the ball
    trunk, load = inertia(3.0, (0, 0, 0), (0.1, 0.1, 0.2)), inertia(0.1, (0, 0, 0), (4e-4,) * 3)
    base = kd.Body('base', '', kd.Joint('base', kd.Planar()), inertia=trunk)
    place = kd.Pose.from_rotation_and_position((1, 0, 0, 0), (-0.3, 0, 0.05))
    caster = kd.Body('ball', 'base', kd.Joint('ball', kd.Spherical()), place, load)
    robot = kd.Robot('tripod', [base, caster], wheels={'ball': kd.WheelShape(0.05)})
    rolling = kd.constraints.rolling_ball(robot, 'ball')
    assert rolling.labels == ('ball/x', 'ball/y')
    # a straight run: the ball turns about y with v/r
    v = np.array([0.4, 0, 0, 0, 0.4 / 0.05, 0])
    assert_allclose(rows_at(Case(robot, rolling, robot.neutral(), v)).matrix @ v, 0.0, atol=1e-15)
    push = kd.forward_dynamics(robot, robot.neutral(), v, [1.0, 0, 0, 0, 0, 0], (rolling,))
    # mass and the ball's rolling inertia: 3.1 + 4e-4/0.05^2
    assert push.acceleration[0] == pytest.approx(1 / (3.1 + 4e-4 / 0.05**2), rel=1e-12)
