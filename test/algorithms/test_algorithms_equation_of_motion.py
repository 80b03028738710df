# SPDX-License-Identifier: Apache-2.0
"""Newton-Euler = Gauss = Lagrange on random trees of all joint kinds, bases and branches."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from support.calculus import along, derivative, lagrange_force, relative, tangent_gradient
from support.trees import BASES, tree_and_state, tree_params, with_gravity

import kane_dynamics as kd
from kane_dynamics.algorithms.mass_matrix import gauss_gravity_force

# Two recursions over ten bodies with entries of order 1 to 100: some 1e3 roundings of 1e-16.
ROUNDOFF = 1e-12
# Differences of order 8, see support.calculus: 1e-13 for the first derivative of these functions.
DIFFERENCES = 1e-10


@pytest.fixture(params=tree_params())
def case(request):
    """Return a robot with a state."""
    return tree_and_state(*request.param)


def test_states_differ_in_every_entry(case):
    robot, q, v, a = case
    names = {body.joint.kind.__class__.__name__ for body in robot.bodies}
    assert len(names) == 7
    for vector in (q, v, a):
        assert len(set(vector)) == len(vector)


@pytest.mark.claim(10, 13)
def test_inverse_dynamics_is_the_equation_of_motion(case):
    robot, q, v, a = case
    M, C = kd.mass_matrix(robot, q), kd.coriolis_matrix(robot, q, v)
    bias = C @ v + kd.gravity_force(robot, q)
    friction = robot.damping * v + robot.friction * np.sign(v)
    assert relative(M @ a + bias + friction, kd.inverse_dynamics(robot, q, v, a)) < ROUNDOFF
    assert relative(bias, kd.bias_force(robot, q, v)) < ROUNDOFF
    assert_allclose(kd.friction_force(robot, v), friction, rtol=0, atol=ROUNDOFF)
    assert relative(gauss_gravity_force(robot, q.tolist()), kd.gravity_force(robot, q)) < ROUNDOFF


@pytest.mark.claim(13)
def test_mass_matrix_is_symmetric_and_positive(case):
    robot, q, _, _ = case
    M = kd.mass_matrix(robot, q)
    assert relative(M, M.T) < ROUNDOFF
    assert np.linalg.eigvalsh(M)[0] > 0.0


@pytest.mark.claim(9)
def test_mass_matrix_by_columns_of_newton_euler(case):
    robot, q, _, _ = case
    weightless = with_gravity(robot, (0, 0, 0))
    rest = np.zeros(robot.nv)
    # column k = N(q, 0, e_k) in no field, n runs of it (section 2.6)
    columns = [kd.inverse_dynamics(weightless, q, rest, e) for e in np.eye(robot.nv)]
    assert relative(np.array(columns).T, kd.mass_matrix(robot, q)) < ROUNDOFF


@pytest.mark.claim(14)
def test_rate_of_the_mass_matrix_minus_twice_coriolis_is_skew(case):
    robot, q, v, a = case
    rate = derivative(lambda s: kd.mass_matrix(robot, along(robot, q, v)(s)))
    N = rate - 2.0 * kd.coriolis_matrix(robot, q, v)
    assert relative(N, -N.T) < DIFFERENCES
    assert abs(a @ N @ a) < DIFFERENCES * max(1.0, np.abs(N).max()) * (
        a @ a
    )  # (52), a is any vector


def test_coriolis_matrix_is_linear_in_v(case):
    robot, q, v, a = case
    sum_of_parts = 2.0 * kd.coriolis_matrix(robot, q, v) - 0.5 * kd.coriolis_matrix(robot, q, a)
    assert relative(sum_of_parts, kd.coriolis_matrix(robot, q, 2.0 * v - 0.5 * a)) < ROUNDOFF


@pytest.mark.claim(13, 26)
def test_gravity_force_is_the_slope_of_the_potential_energy(case):
    robot, q, _, _ = case
    slope = tangent_gradient(robot, q, lambda q_s: kd.potential_energy(robot, q_s))
    assert relative(slope, kd.gravity_force(robot, q)) < DIFFERENCES


@pytest.mark.claim(13)
def test_kinetic_energy_is_the_quadratic_form_of_m(case):
    robot, q, v, _ = case
    assert kd.kinetic_energy(robot, q, v) == pytest.approx(
        0.5 * v @ kd.mass_matrix(robot, q) @ v, rel=ROUNDOFF
    )


def test_inverse_dynamics_is_affine_in_a(case):
    robot, q, v, a = case
    b = np.roll(a, 1)
    tau = [kd.inverse_dynamics(robot, q, v, x) for x in (a, b, 3.0 * a - 2.0 * b)]
    assert relative(3.0 * tau[0] - 2.0 * tau[1], tau[2]) < ROUNDOFF


@pytest.mark.claim(10, 22)
@pytest.mark.parametrize('seed', range(6))
def test_lagrange_from_the_energies_alone(seed):
    robot, q, v, a = tree_and_state(seed, BASES[seed % 3])
    tau = kd.inverse_dynamics(robot, q, v, a) - kd.friction_force(robot, v)
    assert relative(lagrange_force(robot, q, v, a), tau) < DIFFERENCES


@pytest.mark.claim(8)
@pytest.mark.parametrize(
    'kind', ['revolute', 'prismatic', 'helical', 'cylindrical', 'planar', 'spherical', 'free']
)
def test_lagrange_for_each_joint_kind_alone(kind):
    robot, q, v, a = tree_and_state(7, 'fixed', kinds=(kind,), mimic=False)
    tau = kd.inverse_dynamics(robot, q, v, a) - kd.friction_force(robot, v)
    assert relative(lagrange_force(robot, q, v, a), tau) < DIFFERENCES


def test_no_motion_no_coriolis_and_no_field_no_gravity(case):
    robot, q, v, _ = case
    rest = np.zeros(robot.nv)
    assert not kd.coriolis_matrix(robot, q, rest).any()
    assert not kd.friction_force(robot, rest).any()
    weightless = with_gravity(robot, (0, 0, 0))
    assert not kd.gravity_force(weightless, q).any()
    assert kd.potential_energy(weightless, q) == 0.0
    assert (
        relative(kd.coriolis_matrix(robot, q, v) @ v, kd.bias_force(weightless, q, v)) < ROUNDOFF
    )
