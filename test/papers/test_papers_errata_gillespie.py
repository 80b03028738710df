# SPDX-License-Identifier: Apache-2.0
"""
Gillespie, Kane's equations for haptic display: printed formulas that fail, beside the right ones.

The numbers E14, E15, ... are those of doc/errata.md. E17, E22, E23 and E24, which belong to the
three examples of the paper, are shown with the examples.
"""

from itertools import pairwise

import numpy as np
import pytest
from numpy import cos, sin
from numpy.testing import assert_allclose
from support.calculus import relative
from support.machines import (
    CART,
    WEIGHTLESS,
    X,
    Y,
    Z,
    inertia,
    prismatic,
    revolute,
    shopping_cart,
    turned,
)
from support.rows import partition_of
from support.trees import tree_and_state

import kane_dynamics as kd
from kane_dynamics.algorithms.independent_speeds import partition_speeds
from kane_dynamics.constraints import ConstraintRows

ROUNDOFF = 1e-12  # about ten bodies, entries up to 100: 1e3 roundings of 1e-16


def speeds_in_general_position(robot, seed):
    """Return speeds u = Y(q, t) v + Z(q, t) that mix all v, with Y and Z."""
    rng = np.random.default_rng(seed)
    mixing = np.eye(robot.nv) + 0.3 * rng.normal(size=(robot.nv, robot.nv))

    def matrix(q, t):
        return mixing * (1.5 + sin(q[0] + t))

    def offset(q, t):
        return [cos(t + k) * q[1] for k in range(robot.nv)]

    return kd.generalized_speeds_from_definition(robot, matrix, offset), matrix, offset


@pytest.mark.claim(35)
@pytest.mark.parametrize('seed', range(2))
def test_e14_sign_of_the_dependent_speeds(seed):
    rng = np.random.default_rng(seed)
    G, c = rng.normal(size=(2, 5)), rng.normal(size=2)  # (3): G u + c = 0
    part = partition_speeds(ConstraintRows.of(G, -c, -c))
    independent = rng.normal(size=3)

    def misfit(D, E):
        u = np.zeros(5)
        u[part.independent], u[part.dependent] = independent, D @ independent + E
        return np.abs(G @ u + c).max()

    assert misfit(part.dependence, part.velocity_offset) < 1e-12
    # (4), (5) read with the blocks of (3) as they stand
    printed_d = np.linalg.solve(G[:, part.dependent], G[:, part.independent])
    printed_e = np.linalg.solve(G[:, part.dependent], c)
    assert misfit(printed_d, printed_e) > 0.1
    assert misfit(-printed_d, -printed_e) < 1e-12


@pytest.mark.claim(34)
@pytest.mark.parametrize('seed', range(3))
def test_e15_index_of_the_tangent_vectors(seed):
    robot, q, v, _ = tree_and_state(seed, 'planar')
    speeds, Y, Z = speeds_in_general_position(robot, seed)
    W, u = speeds.at(q, v, 0.3).W, speeds.speeds(q, v, 0.3)
    assert relative(u, Y(q, 0.3) @ v + Z(q, 0.3)) < ROUNDOFF  # (1)
    for tangents, partials in zip(
        kd.partial_velocities(robot, q), kd.partial_velocities(robot, q, speeds, 0.3), strict=True
    ):
        tau, v_r = tangents.v, partials.v  # dp/dq_j of (20), and (23)
        assert relative(v_r, sum(np.outer(tau[:, j], W[j]) for j in range(robot.nv))) < ROUNDOFF
        printed = tau * W.sum(axis=0)  # (21) with dp/dq_r before the sum over j
        assert relative(printed, v_r) > 0.1
        assert relative(v_r @ u + partials.v_t, tau @ v) < ROUNDOFF  # (23)
    # W belongs to (2), v = W u + X; the matrix of the definition (1) is its inverse
    assert relative(W @ u + speeds.velocity(q, 0.0 * u, 0.3), v) < ROUNDOFF
    assert np.abs(Y(q, 0.3) @ u - W @ u).max() > 0.1


@pytest.mark.claim(34)
@pytest.mark.parametrize('seed', range(3))
def test_e16_sign_of_the_generalized_inertia_forces(seed):
    robot, q, v, tau = tree_and_state(seed, 'floating', armature=False, friction=False)
    speeds, *_ = speeds_in_general_position(robot, seed)
    W = speeds.at(q, v, 0.3).W
    a = kd.forward_dynamics(robot, q, v, tau).acceleration
    kin = kd.forward_kinematics(robot, q, v, a)
    rates_of_momentum = np.zeros(robot.nv)  # sum of Ldot . v_r + Hdot . omega_r
    for body, partial in zip(
        robot.bodies, kd.partial_velocities(robot, q, speeds, 0.3), strict=True
    ):
        omega, alpha = kin.twist(body.name)[:3], kin.acceleration(body.name)[:3]
        arm, tensor = body.inertia.com, body.inertia.tensor
        com = kin.acceleration(body.name)[3:] + np.cross(alpha, arm)
        com = com + np.cross(omega, np.cross(omega, arm))
        rates_of_momentum += body.inertia.mass * com @ partial.v
        rates_of_momentum += (tensor @ alpha + np.cross(omega, tensor @ omega)) @ partial.omega
    active = W.T @ (tau - kd.gravity_force(robot, q))
    assert relative(-rates_of_momentum, -active) < 1e-9  # F + F* = 0 with F* = - sum (...)
    assert relative(rates_of_momentum, -active) > 1.0  # as printed in (33)


def disc_on_ramp(slope):
    """Return a disc on slides x, y (up is y) with a spin about z, ramp at an angle [rad]."""
    m, r = 2.0, 0.25
    bodies = [
        kd.Body('x', '', prismatic('x', X)),
        kd.Body('y', 'x', prismatic('y', Y)),
        kd.Body(
            'disc', 'y', revolute('spin', Z), inertia=inertia(m, (0, 0, 0), (0, 0, m * r**2 / 2))
        ),
    ]
    robot = kd.Robot('disc', bodies, (0.0, -9.81, 0.0))
    rolls = kd.constraints.pfaffian(robot, lambda q, t: [cos(slope), sin(slope), r])
    return robot, rolls


@pytest.mark.claim(40)
def test_e18_height_of_the_disc_over_the_ramp():
    slope = 0.35
    ramp = turned(Z, slope)
    for along in (-2.0, 0.3, 5.0):
        x, y, _ = (
            ramp * kd.Pose.from_rotation_and_position((1, 0, 0, 0), (along, 0.25, 0))
        ).position()
        assert -x * sin(slope) + y * cos(slope) == pytest.approx(0.25, abs=1e-12)
        assert abs(x * cos(slope) - y * sin(slope) - 0.25) > 0.04  # as printed
    robot, rolls = disc_on_ramp(slope)

    def up_the_ramp(normal):
        rests = kd.constraints.pfaffian(robot, lambda q, t: [*normal, 0.0])
        a = kd.forward_dynamics(robot, np.zeros(3), np.zeros(3), np.zeros(3), (rolls, rests))
        return a.acceleration[:2] @ (cos(slope), sin(slope))

    expected = -2.0 / 3.0 * 9.81 * sin(slope)  # (42) with J = m r^2/2
    assert up_the_ramp((-sin(slope), cos(slope))) == pytest.approx(expected, rel=1e-12)
    assert abs(up_the_ramp((cos(slope), -sin(slope))) - expected) > 0.1


def sticking_rows(q4):
    """Return the rows (64) of the cart with a sticking caster on (u1, u2, u3)."""
    n = CART
    return np.array([[-sin(q4), n['L2'] * cos(q4), -n['L3']], [0.0, -1.0, 1.0]])


@pytest.mark.claim(36)
def test_e20_a_singular_partition_has_a_large_condition_number():
    singular = np.arccos(CART['L3'] / CART['L2'])
    distances = np.array([1e-1, 1e-3, 1e-5, 1e-7])
    conditions = [np.linalg.cond(sticking_rows(singular + d)[:, 1:]) for d in distances]
    assert all(b > 50.0 * a for a, b in pairwise(conditions))
    assert conditions[0] > 10.0 and conditions[-1] > 1e7
    part = partition_speeds(ConstraintRows.of(sticking_rows(singular), np.zeros(2), np.zeros(2)))
    assert np.linalg.cond(sticking_rows(singular)[:, part.dependent]) < 20.0
    assert 0 in part.dependent  # u1 = 0 there, one of the others stays independent


@pytest.mark.claim(42)
def test_e21_angle_of_the_cart_is_that_of_its_long_axis():
    robot = shopping_cart()
    q, v = np.array([0.3, -0.4, 0.8, 0.6]), np.array([1.1, 0.7, 0.2, -0.3])
    forward = kd.forward_kinematics(robot, q, v).twist('base')[3]  # v^P1 . b1, (51)
    assert forward == pytest.approx(cos(q[2]) * v[0] + sin(q[2]) * v[1], rel=1e-14)  # (56)
    from_b2 = q[2] + np.pi / 2  # q3 as it is printed: the angle from n1 to b2
    assert abs(cos(from_b2) * v[0] + sin(from_b2) * v[1] - forward) > 0.1


def dumbbell():
    """Return two particles in a plane, each on slides x and y, and the rod between them."""
    bodies = []
    for name, mass in (('a', 1.3), ('b', 0.7)):
        bodies.append(kd.Body(f'{name}_x', '', prismatic(f'{name}_x', X)))
        bodies.append(kd.Body(name, f'{name}_x', prismatic(f'{name}_y', Y), inertia=inertia(mass)))
    robot = kd.Robot('dumbbell', bodies, WEIGHTLESS)

    def rod(q, t):
        dx, dy = q[0] - q[2], q[1] - q[3]
        return [dx, dy, -dx, -dy]

    return robot, kd.constraints.pfaffian(robot, rod)


@pytest.mark.claim(38)
def test_e25_only_the_sum_over_particles_vanishes():
    robot, rod = dumbbell()
    q, v = np.array([0.1, 0.2, 0.7, 0.5]), np.array([0.3, -0.2, 0.1, 0.2])
    motion = kd.forward_dynamics(robot, q, v, (1.0, -2.0, 0.5, 1.5), (rod,))
    rows = kd.constraints.ConstraintSet(robot, (rod,)).rows(q.tolist(), v.tolist(), 0.0)
    basis = partition_of(rows).basis
    on_a, on_b = motion.constraint_force[:2], motion.constraint_force[2:]
    assert_allclose(on_a, -on_b, rtol=0, atol=1e-13)  # the rod pulls both
    assert np.linalg.norm(on_a) > 0.1
    power_a, power_b = on_a @ basis[:2], on_b @ basis[2:]  # F_i^c . v_r for each r
    assert_allclose(power_a + power_b, 0.0, atol=1e-13)
    assert np.abs(power_a).max() > 0.1  # (18) as printed, for a alone
