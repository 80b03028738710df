# SPDX-License-Identifier: Apache-2.0
"""
Silva, Quiroz-Omana, Adorno: the printed formulas that fail, beside the ones used here.

The numbers E1, E2, ... are those of doc/errata.md.
"""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from support.calculus import along, derivative, lagrange_force, relative
from support.machines import WEIGHTLESS, Y, Z, at, inertia, planar_body, revolute, turned
from support.trees import random_state, tree_and_state, with_gravity

import kane_dynamics as kd
from kane_dynamics.algebra import DualQuaternion, pure, twist_from_vector
from kane_dynamics.algorithms.mass_matrix import body_jacobians, psi, s_bar
from kane_dynamics.algorithms.newton_euler import inertial_wrench

ROUNDOFF = 1e-12  # about ten bodies, entries up to 100: 1e3 roundings of 1e-16
DIFFERENCES = 1e-10  # differences of order 8, see support.calculus


def body_wrench_in_world(robot, kin, body):
    """Return the wrench (24) that a body needs, about the world origin: f + eps tau."""
    pose = kin.pose(body.name)
    gravity = pose.rotation_matrix().T @ robot.gravity
    rate = twist_from_vector(kin.twist_rate(body.name) - np.r_[np.zeros(3), gravity])
    twist = twist_from_vector(kin.twist(body.name))
    return pose.adjoint(inertial_wrench(body.inertia, twist, rate))


def transmitted(robot, q, v, a, first):
    """Return the wrench through the joint of body `first` (29), about the world origin."""
    kin = kd.forward_kinematics(robot, q, v, a)
    index = [body.name for body in robot.bodies].index(first)
    total = DualQuaternion(pure((0, 0, 0)), pure((0, 0, 0)))
    for i, body in enumerate(robot.bodies):
        if index in robot.ancestors(i):
            total = total + body_wrench_in_world(robot, kin, body)
    return total


def base_and_branches(seed, position):
    """Return a random tree on a planar base that stands at a position, with q, v, a."""
    robot, q, v, a = tree_and_state(seed, 'planar', armature=False, friction=False)
    q[:2] = position
    return robot, q, v, a


@pytest.mark.claim(8)
@pytest.mark.parametrize('seed', range(3))
def test_e1_torque_on_the_yaw_of_a_base(seed):
    robot, q, v, a = base_and_branches(seed, (2.0, 1.0))
    zeta = transmitted(robot, q, v, a, 'base')
    force, moment = zeta.primary, zeta.dual
    correct = (force.x, force.y, moment.z - (q[0] * force.y - q[1] * force.x))
    assert relative(kd.inverse_dynamics(robot, q, v, a)[:3], np.array(correct)) < ROUNDOFF
    # Lagrange's equations, of energies alone, agree, and not with the printed moment
    lagrange = lagrange_force(robot, q, v, a)
    assert relative(np.array(correct), lagrange[:3]) < DIFFERENCES
    assert abs(moment.z - lagrange[2]) > 1.0


def test_e1_printed_torque_holds_at_the_origin_and_for_the_components_of_the_twist():
    robot, q, v, a = base_and_branches(0, (0.0, 0.0))
    zeta = transmitted(robot, q, v, a, 'base')
    assert relative(zeta.dual.z, kd.inverse_dynamics(robot, q, v, a)[2:3]) < ROUNDOFF
    robot, q, v, a = base_and_branches(0, (2.0, 1.0))
    zeta = transmitted(robot, q, v, a, 'base')
    # the speeds of Table 1: angular rate, and the velocity of what passes through the origin
    through_origin = (v[0] + q[1] * v[2], v[1] - q[0] * v[2])
    power = zeta.dual.z * v[2] + zeta.primary.x * through_origin[0]
    power += zeta.primary.y * through_origin[1]
    assert power == pytest.approx(kd.inverse_dynamics(robot, q, v, a)[:3] @ v[:3], rel=ROUNDOFF)


def test_e1_in_one_body():
    robot = planar_body(mass=3.0, tensor_zz=0.4, com_x=0.0)
    q, v, a = np.array([2.0, 1.0, 0.7]), np.zeros(3), np.array([1.0, 0.0, 0.0])
    assert_allclose(kd.inverse_dynamics(robot, q, v, a), (3.0, 0.0, 0.0), rtol=0, atol=1e-14)
    printed = transmitted(robot, q, v, a, 'base').dual.z
    assert printed == pytest.approx(-3.0, abs=1e-14)


@pytest.mark.claim(8)
def test_e2_axes_of_a_planar_joint_inside_a_chain():
    load = inertia(1.4, (0.1, -0.2, 0.05), (0.02, 0.03, 0.04))
    placement = turned(Z, 0.4, (0.3, 0.1, 0.2))
    bodies = [
        kd.Body('arm', '', revolute('shoulder', Y), inertia=load),
        kd.Body('stage', 'arm', kd.Joint('stage', kd.Planar()), placement, load),
    ]
    robot = kd.Robot('stage', bodies)
    q, v, a = random_state(robot, np.random.default_rng(5))
    x_J_W = kd.forward_kinematics(robot, q).pose('arm') * placement
    zeta = x_J_W.adjoint_inverse(transmitted(robot, q, v, a, 'stage'))
    force = np.array([zeta.primary.x, zeta.primary.y, zeta.primary.z])
    tau = kd.inverse_dynamics(robot, q, v, a)[1:3]
    assert relative(force[:2], tau) < ROUNDOFF  # along the joint frame's own x and y
    world_axes = x_J_W.rotation_matrix().T[:, :2]  # Ad(r_0^j) i, Ad(r_0^j) j
    assert np.abs(force @ world_axes - tau).min() > 1.0
    # where the joint frame is parallel to the world (a mobile base) the two are one
    base, q, v, a = base_and_branches(1, (0.4, -0.7))
    zeta = transmitted(base, q, v, a, 'base')
    efforts = kd.inverse_dynamics(base, q, v, a)[:2]
    assert relative(np.array((zeta.primary.x, zeta.primary.y)), efforts) < ROUNDOFF


@pytest.mark.claim(14)
@pytest.mark.parametrize('seed', range(3))
def test_e3_half_the_rate_of_m_minus_c(seed):
    robot, q, v, _ = tree_and_state(seed, 'floating')
    half_rate = 0.5 * derivative(lambda s: kd.mass_matrix(robot, along(robot, q, v)(s)))
    measured = half_rate - kd.coriolis_matrix(robot, q, v)
    printed, missing = np.zeros_like(measured), np.zeros_like(measured)
    for body, part in zip(
        robot.bodies, body_jacobians(robot, q.tolist(), v.tolist()), strict=True
    ):
        J, J_rate, Psi = part.jacobian, part.rate, psi(body.inertia)
        printed -= J.T @ s_bar(body.inertia, J[:3] @ v) @ J
        missing += 0.5 * (J_rate.T @ Psi @ J - J.T @ Psi @ J_rate)
    assert relative(printed + missing, measured) < DIFFERENCES
    assert relative(printed, measured) > 0.1
    # each part is skew, so (52) holds with either
    assert relative(missing, -missing.T) < ROUNDOFF and relative(printed, -printed.T) < ROUNDOFF


@pytest.mark.claim(15)
def test_e4_inertia_forces_are_the_first_sum_of_60():
    robot, q, v, a = tree_and_state(4, 'planar', friction=False)
    robot = with_gravity(robot, WEIGHTLESS)
    first_sum = robot.armature * a  # sum J'(Psi a + Sbar nu), which knows nothing of any wrench
    for body, part in zip(
        robot.bodies, body_jacobians(robot, q.tolist(), v.tolist()), strict=True
    ):
        twist = part.jacobian @ v
        kappa = psi(body.inertia) @ (part.jacobian @ a + part.rate @ v)
        kappa += s_bar(body.inertia, twist[:3]) @ twist
        first_sum = first_sum + part.jacobian.T @ kappa
    assert relative(first_sum, kd.inverse_dynamics(robot, q, v, a)) < ROUNDOFF
    assert relative(first_sum, 0.0 * a) > 1.0  # no wrench is given: the active side is zero


@pytest.fixture(scope='module')
def holonomic(robots):
    """Return a base that moves in every direction with an arm of six joints: nine speeds."""
    robot = kd.load_urdf(robots / 'holonomic.urdf', base='planar')
    assert robot.nv == 9
    rng = np.random.default_rng(31)
    q, v, _ = random_state(robot, rng)
    return robot, q, v, rng.uniform(-3.0, 3.0, 9)


def by_newton_euler(robot, q, v, tau, printed=False):
    """
    Return the accelerations by dqNE, n + 2 runs of it (section 5.3).

    With `printed` the torque of the base's yaw is the moment about the world origin (E1).
    """

    def run(speeds, accelerations):
        effort = kd.inverse_dynamics(robot, q, speeds, accelerations)
        effort = effort - kd.friction_force(robot, speeds)
        if printed:
            effort[2] += q[0] * effort[1] - q[1] * effort[0]
        return effort

    rest = np.zeros(robot.nv)
    gravity = run(rest, rest)
    M = np.column_stack([run(rest, e) - gravity for e in np.eye(robot.nv)])
    force = tau - kd.friction_force(robot, v) - run(v, rest)
    return np.linalg.solve(M, force)


def test_e31_both_algorithms_give_one_motion_of_a_holonomic_base(holonomic):
    robot, q, v, tau = holonomic
    gauss = kd.forward_dynamics(robot, q, v, tau).acceleration
    # the condition of M, about 1e4, times roundoff
    assert relative(by_newton_euler(robot, q, v, tau), gauss) < 1e-10
    # the paper's table has two different rows for this robot; the torque of E1 would do that
    assert abs(by_newton_euler(robot, q, v, tau, printed=True)[2] - gauss[2]) > 0.1  # rad/s^2
    q = q.copy()
    q[:2] = 0.0
    gauss = kd.forward_dynamics(robot, q, v, tau).acceleration
    assert relative(by_newton_euler(robot, q, v, tau, printed=True), gauss) < 1e-10


@pytest.mark.claim(15)
def test_e8_balance_holds_body_by_body_and_not_for_the_sum():
    # (58), (59): an arm at rest in its gravity field, joint wrenches included
    load = inertia(1.5, (0, 0, 0), (0.02, 0.03, 0.04))
    bodies = [
        kd.Body('a', '', kd.Joint('a', kd.Free()), turned(Z, 0.9), load),
        kd.Body('b', '', kd.Joint('b', kd.Free()), at(1.0, 0.0, 0.0), load),
    ]
    robot = kd.Robot('two bodies', bodies)
    q = np.r_[0, 0, 0, 1, 0, 0, 0, 1, 0, 0, np.cos(0.6), np.sin(0.6), 0, 0]
    tau = np.random.default_rng(2).uniform(-1, 1, 12)
    a = kd.forward_dynamics(robot, q, np.zeros(12), tau).acceleration
    kin = kd.forward_kinematics(robot, q, np.zeros(12), a)
    weights = []
    for k, body in enumerate(robot.bodies):
        R = kin.pose(body.name).rotation_matrix()
        weights.append(np.r_[np.zeros(3), R.T @ (1.5 * robot.gravity)])
        kappa = psi(load) @ kin.twist_rate(body.name)
        assert_allclose(kappa, tau[6 * k : 6 * k + 6] + weights[k], rtol=0, atol=1e-12)
    # the same weight has other components in other axes: a sum over bodies is no vector
    assert np.abs(weights[0] - weights[1]).max() > 1.0
