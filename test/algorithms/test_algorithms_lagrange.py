# SPDX-License-Identifier: Apache-2.0
"""Parsa's closed forms of Lagrange's terms, and the derivatives they rest on (17)-(42)."""

import casadi as ca
import numpy as np
import pytest
from numpy.testing import assert_allclose
from support import parsa
from support.calculus import along, derivative, relative, tangent_gradient
from support.seeds import seeds
from support.trees import tree_and_state, tree_params

import kane_dynamics as kd
from kane_dynamics.algorithms.mass_matrix import body_jacobians, gauss_coriolis_matrix
from kane_dynamics.formulations.lagrange import lagrange_jacobians
from kane_dynamics.formulations.orbit import wrenches_at_com

# Two sums over ten bodies with entries of order 1 to 100: some 1e3 roundings of 1e-16.
ROUNDOFF = 1e-12
# Differences of order 8, see support.calculus: 1e-13 for the first derivative of these functions.
DIFFERENCES = 1e-10
# Joints whose speeds are the derivatives of their coordinates, as (22) and (29) ask.
INTEGRABLE = ('revolute', 'prismatic', 'helical', 'cylindrical', 'planar')


@pytest.fixture(params=tree_params())
def case(request):
    """Return a robot of all joint kinds, with q, v and a."""
    return tree_and_state(*request.param)


@pytest.fixture(params=seeds(4, 6))
def integrable(request):
    """Return a robot with v = qdot, with q and v."""
    base = ('fixed', 'planar')[request.param % 2]
    return tree_and_state(request.param, base, kinds=INTEGRABLE)[:3]


def cross_matrix(w):
    return np.cross(np.eye(3), w)


@pytest.mark.claim(24, 26)
def test_terms_are_those_of_gauss_although_v_is_in_other_axes(case):
    robot, q, v, a = case
    M, C = kd.mass_matrix(robot, q), gauss_coriolis_matrix(robot, q.tolist(), v.tolist())
    assert relative(parsa.mass_matrix(robot, q), M) < ROUNDOFF
    assert relative(parsa.velocity_force(robot, q, v), C @ v) < ROUNDOFF
    assert relative(parsa.gravity_force(robot, q), kd.gravity_force(robot, q)) < ROUNDOFF
    friction = kd.friction_force(robot, v)
    tau = M @ a + parsa.velocity_force(robot, q, v) + parsa.gravity_force(robot, q)
    assert relative(tau + friction, kd.inverse_dynamics(robot, q, v, a)) < ROUNDOFF  # (38)


@pytest.mark.claim(24)
def test_jacobians_are_derivatives_of_the_motion(case):
    robot, q, v, _ = case
    path = along(robot, q, v)
    for k, body in enumerate(lagrange_jacobians(robot, q, v)):
        name, inertia = robot.bodies[k].name, robot.bodies[k].inertia
        kin = kd.forward_kinematics(robot, q, v)
        assert_allclose(body.omega, kin.twist(name)[:3], rtol=0, atol=ROUNDOFF)
        assert_allclose(body.omega, body.jacobian[:3] @ v, rtol=0, atol=ROUNDOFF)

        def centre(s, name=name, com=inertia.com):
            pose = kd.forward_kinematics(robot, path(s)).pose(name)
            return pose.position() + pose.rotation_matrix() @ com

        assert_allclose(body.jacobian[3:] @ v, derivative(centre), rtol=0, atol=DIFFERENCES)
        rate = derivative(lambda s, k=k: lagrange_jacobians(robot, path(s), v)[k].jacobian)
        assert relative(body.rate, rate) < DIFFERENCES
        assert_allclose(body.mass[:3, :3], inertia.tensor, rtol=0, atol=0)
        assert_allclose(body.mass[3:, 3:], inertia.mass * np.eye(3), rtol=0, atol=0)
        assert_allclose(body.precession[:3, :3], cross_matrix(body.omega), rtol=0, atol=0)
        assert not body.precession[3:].any() and not body.precession[:, 3:].any()


@pytest.mark.claim(25)
def test_coriolis_matrix_makes_the_rate_of_m_skew(case):
    robot, q, v, _ = case
    rate = derivative(lambda s: parsa.mass_matrix(robot, along(robot, q, v)(s)))
    C = parsa.coriolis_matrix(robot, q, v)
    N = rate - 2.0 * C
    assert relative(N, -N.T) < DIFFERENCES
    assert relative(C @ v, parsa.velocity_force(robot, q, v)) < ROUNDOFF  # (41)
    # without its last term the matrix gives the same h but is not passive
    for body in lagrange_jacobians(robot, q, v):
        C = C - body.jacobian.T @ body.mass @ body.precession @ body.jacobian
    assert relative(C @ v, parsa.velocity_force(robot, q, v)) < ROUNDOFF
    N = rate - 2.0 * C
    assert np.abs(N + N.T).max() > 1e-2


@pytest.mark.claim(23)
def test_theorem_1_in_body_axes(integrable):
    robot, q, v = integrable
    for body, gradient in zip(
        robot.bodies, parsa.angular_velocity_gradient(robot, q, v), strict=True
    ):
        numeric = tangent_gradient(
            robot, q, lambda x, n=body.name: kd.forward_kinematics(robot, x, v).twist(n)[:3]
        ).T
        assert relative(gradient, numeric) < DIFFERENCES  # (22)


@pytest.mark.claim(23)
def test_theorem_1_with_the_wrong_sign_is_off_by_order_one(integrable):
    robot, q, v = integrable
    wrong = [
        2.0 * np.cross(at.omega, at.jacobian[:3].T).T for at in lagrange_jacobians(robot, q, v)
    ]
    assert np.abs(wrong).max() > 0.1


@pytest.mark.claim(23)
def test_corollary_1_in_world_axes(integrable):
    robot, q, v = integrable
    path = along(robot, q, v)

    def world_jacobian(x, k):
        body = lagrange_jacobians(robot, x, v)[k]
        return body.to_world @ body.jacobian[:3]

    for k, body in enumerate(lagrange_jacobians(robot, q, v)):
        numeric = tangent_gradient(robot, q, lambda x, k=k: world_jacobian(x, k) @ v).T
        jacobian = body.to_world @ body.jacobian[:3]
        rate = derivative(lambda s, k=k: world_jacobian(path(s), k))
        spin = cross_matrix(body.to_world @ body.omega)
        assert relative(rate - spin @ jacobian, numeric) < DIFFERENCES
        # carried from (22): R (dJ + omega x J) would be the body's rate in world axes, plus it
        own = body.to_world @ (body.rate[:3] + cross_matrix(body.omega) @ body.jacobian[:3])
        assert relative(own, rate) < DIFFERENCES


@pytest.mark.claim(24)
def test_gradient_of_the_centre_velocity_is_the_rate_of_its_jacobian(integrable):
    robot, q, v = integrable
    for k, body in enumerate(lagrange_jacobians(robot, q, v)):
        numeric = tangent_gradient(
            robot, q, lambda x, k=k: lagrange_jacobians(robot, x, v)[k].jacobian[3:] @ v
        ).T
        assert relative(body.rate[3:], numeric) < DIFFERENCES  # (23)


@pytest.mark.claim(24)
def test_gradient_of_the_kinetic_energy(integrable):
    robot, q, v = integrable
    slope = tangent_gradient(robot, q, lambda x: kd.kinetic_energy(robot, x, v))
    gradient = parsa.kinetic_energy_gradient(robot, q, v)
    assert np.abs(slope).max() > 0.1
    assert relative(gradient, slope) < DIFFERENCES  # (29)
    # (4): h is what Lagrange's equations make of T, d/dt (M v) - dT/dq at constant v
    momentum = derivative(lambda s: parsa.mass_matrix(robot, along(robot, q, v)(s)) @ v)
    assert relative(parsa.velocity_force(robot, q, v), momentum - gradient) < DIFFERENCES


WRENCH = np.array([1.0, -2.0, 3.0, 4.0, 0.5, -6.0])  # (n, f)


@pytest.mark.claim(27)
def test_wrenches_at_the_centre_of_mass_in_body_axes(case):
    robot, q, v, a = case
    at_rest = kd.inverse_dynamics(robot, q, v, a)
    kin = kd.forward_kinematics(robot, q)
    for link in (robot.bodies[0].name, robot.bodies[-1].name, 'tool'):
        force = parsa.applied_force(robot, q, {link: WRENCH})
        external = wrenches_at_com(robot, {link: WRENCH})
        effect = kd.inverse_dynamics(robot, q, v, a, external) - at_rest
        assert relative(force, -effect) < ROUNDOFF
        assert relative(force, kin.jacobian(link).T @ external[link]) < ROUNDOFF
        own = body_jacobians(robot, q, v)[robot.frame(link).body]
        assert relative(force, own.jacobian.T @ WRENCH) < ROUNDOFF  # both parts in body axes


def test_wrenches_of_several_links_add():
    robot, q, *_ = tree_and_state(4, 'planar')
    last = robot.bodies[-1].name
    both = parsa.applied_force(robot, q, {'tool': WRENCH, last: -2.0 * WRENCH})
    assert relative(both, -parsa.applied_force(robot, q, {last: WRENCH})) < ROUNDOFF


def test_traced_as_with_numbers():
    robot, q, v, _ = tree_and_state(1, 'fixed', kinds=INTEGRABLE)
    x, w = ca.SX.sym('x', robot.nq), ca.SX.sym('w', robot.nv)
    for function in (
        lambda q, v: parsa.mass_matrix(robot, q),
        lambda q, v: parsa.gravity_force(robot, q)[:, None],
        lambda q, v: parsa.applied_force(robot, q, {'tool': WRENCH})[:, None],
        lambda q, v: parsa.velocity_force(robot, q, v)[:, None],
        lambda q, v: parsa.coriolis_matrix(robot, q, v),
        lambda q, v: parsa.kinetic_energy_gradient(robot, q, v)[:, None],
        lambda q, v: np.vstack(parsa.angular_velocity_gradient(robot, q, v)),
    ):
        rows = function(ca.vertsplit(x), ca.vertsplit(w))
        graph = ca.Function('f', [x, w], [ca.vertcat(*[ca.horzcat(*row) for row in rows])])
        assert relative(graph(q, v).full(), function(q, v)) < ROUNDOFF
