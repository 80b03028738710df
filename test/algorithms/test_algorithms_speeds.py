# SPDX-License-Identifier: Apache-2.0
"""Generalized speeds that the user chooses: the same motion, and the rules of Kane's method."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from support.calculus import along, derivative, relative
from support.trees import random_state, tree_and_state

import kane_dynamics as kd
from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.formulations import METHODS, SPEED_METHODS, ReferenceTerms
from kane_dynamics.formulations.problem import Problem, mass_rate, speed_balance

BASES = ('fixed', 'planar', 'floating')
CASES = [(seed, BASES[seed % 3]) for seed in range(9)]


def turning(robot, seed):
    """Return speeds with W and X that depend on q and t, W well conditioned."""
    W0 = np.eye(robot.nv) + 0.05 * np.random.default_rng(seed).normal(size=2 * (robot.nv,))

    def W(q, t):  # noqa: N802
        return W0 + 0.2 * np.diag(np.ones(robot.nv - 1), 1) * (np.sin(q[0] + t) * q[-1])

    def X(q, t):  # noqa: N802
        return [np.cos(t + 0.1 * k) * q[k % robot.nq] for k in range(robot.nv)]

    return kd.generalized_speeds(robot, W, X), W, X


def rows_of(robot):
    first = [1.0 + 0.1 * k for k in range(robot.nv)]
    return kd.constraints.pfaffian(
        robot, lambda q, t: [[c * np.cos(q[1] + t) for c in first]], lambda q, t: [q[0] * t]
    )


@pytest.mark.claim(30)
@pytest.mark.parametrize(('seed', 'base'), CASES)
def test_kinematical_equations_and_their_rates(seed, base):
    """v = W u + X, and W u' + bias is dv/dt along any motion."""
    robot, q, v, a = tree_and_state(seed, base)
    speeds, W, X = turning(robot, seed)
    t = 0.7
    found = speeds.at(q, v, t)
    assert_allclose(np.array(W(q, t), dtype=float) @ found.u + X(q, t), v, rtol=0, atol=1e-12)
    assert_allclose(speeds.velocity(q, found.u, t), v, rtol=0, atol=1e-12)
    assert_allclose(speeds.speeds(q, v, t), found.u, rtol=0, atol=1e-12)
    path = along(robot, q, v)
    # differences of order 8 of functions of size 1 to 10: 1e-13/step
    rate = derivative(lambda s: speeds.velocity(path(s), found.u, t + s))
    assert_allclose(found.bias, rate, rtol=0, atol=1e-10)
    W_rate = derivative(lambda s: speeds.matrices(path(s), t + s)[0])
    assert_allclose(found.W_rate, W_rate, rtol=0, atol=1e-10)


@pytest.mark.parametrize(('seed', 'base'), CASES)
def test_the_rate_of_the_mass_matrix_in_generalized_speeds(seed, base):
    robot, q, v, a = tree_and_state(seed, base)
    speeds, _, _ = turning(robot, seed)
    terms, t, path = (
        ReferenceTerms(robot, kd.constraints.ConstraintSet(robot)),
        0.7,
        along(robot, q, v),
    )
    no_rows = terms.rows(q, v, t)
    _, balance = speed_balance(Problem(terms, q, v, t, a, no_rows, speeds))

    def mass(s):
        W = speeds.matrices(path(s), t + s)[0]
        return W.T @ kd.mass_matrix(robot, path(s)) @ W

    # differences of order 8 of entries up to 100
    assert relative(mass_rate(terms, q, v, balance), derivative(mass)) < 1e-9


@pytest.mark.claim(30)
@pytest.mark.parametrize('method', SPEED_METHODS)
@pytest.mark.parametrize(('seed', 'base'), CASES)
def test_the_motion_does_not_depend_on_the_speeds(seed, base, method):
    robot, q, v, _ = tree_and_state(seed, base)
    tau = np.random.default_rng(seed).normal(size=robot.nv)
    rows = [rows_of(robot)]
    expected = kd.forward_dynamics(robot, q, v, tau, rows, time=0.7)
    speeds, *_ = turning(robot, seed)
    motion = kd.forward_dynamics(robot, q, v, tau, rows, method, speeds=speeds, time=0.7)
    scale = np.abs(expected.acceleration).max()
    # the condition of M times that of W: up to 1e5
    assert_allclose(motion.acceleration, expected.acceleration, rtol=0, atol=1e-9 * scale)
    assert_allclose(motion.multipliers, expected.multipliers, rtol=0, atol=1e-9 * scale)
    force = np.abs(expected.constraint_force).max() + scale
    assert_allclose(motion.constraint_force, expected.constraint_force, atol=1e-8 * force)
    back = speeds.at(q, v, 0.7)
    again = back.W @ motion.details.u_rate + back.bias
    assert_allclose(again, expected.acceleration, rtol=0, atol=1e-9 * scale)


@pytest.mark.parametrize(('seed', 'base'), CASES)
def test_dependent_speeds_are_recovered(seed, base):
    """u_D = D u_I + E, with X and b in E, wherever A v = b0 holds (Gillespie (5))."""
    robot, q, v, _ = tree_and_state(seed, base)
    rows = [rows_of(robot)]
    _, v = kd.simulation.project(robot, rows, q, v, 0.7)
    speeds, *_ = turning(robot, seed)
    zero = np.zeros(robot.nv)
    found = kd.forward_dynamics(robot, q, v, zero, rows, 'kane', speeds=speeds, time=0.7).details
    part = found.partition
    recovered = part.dependence @ found.u[part.independent] + part.velocity_offset
    assert_allclose(recovered, found.u[part.dependent], rtol=0, atol=1e-11)


@pytest.mark.claim(30)
@pytest.mark.parametrize(('seed', 'base'), CASES)
def test_speeds_by_their_definition(seed, base):
    """u = Y v + Z gives the W and X of its inverse (Gillespie (1), (2)), rates included."""
    robot, q, v, _ = tree_and_state(seed, base)
    given, W, X = turning(robot, seed)
    size = robot.nv

    def Y(q, t):  # noqa: N802
        # I + s N with N^2 = 0, so that its inverse is 1 - s N
        nilpotent = np.zeros((size, size))
        nilpotent[0, -1] = 1.0
        return np.eye(size) + nilpotent * (np.sin(q[0]) * t)

    def Z(q, t):  # noqa: N802
        return [q[0] * t] * size

    defined = kd.generalized_speeds_from_definition(robot, Y, Z).at(q, v, 0.7)
    W_known = np.eye(size)
    W_known[0, -1] = -np.sin(q[0]) * 0.7
    assert_allclose(defined.W, W_known, rtol=0, atol=1e-14)
    assert_allclose(defined.X, -W_known @ np.full(size, q[0] * 0.7), rtol=0, atol=1e-13)
    assert_allclose(defined.u, np.linalg.inv(W_known) @ v + q[0] * 0.7, rtol=0, atol=1e-13)
    path, speeds = along(robot, q, v), kd.generalized_speeds_from_definition(robot, Y, Z)
    rate = derivative(lambda s: speeds.velocity(path(s), defined.u, 0.7 + s))
    assert_allclose(defined.bias, rate, rtol=0, atol=1e-10)


@pytest.mark.claim(34)
@pytest.mark.parametrize(('seed', 'base'), CASES)
def test_partial_velocities_give_the_velocities(seed, base):
    """omega = sum omega_r u_r + omega_t and v likewise, at the centre of mass (Gillespie (23))."""
    robot, q, v, _ = tree_and_state(seed, base)
    speeds, *_ = turning(robot, seed)
    u = speeds.speeds(q, v, 0.7)
    kinematics = kd.forward_kinematics(robot, q, v)
    for part, body in zip(kd.partial_velocities(robot, q, speeds, 0.7), robot.bodies, strict=True):
        twist = kinematics.twist(body.name)
        assert part.body == body.name
        assert_allclose(part.omega @ u + part.omega_t, twist[:3], rtol=0, atol=1e-11)
        at_com = twist[3:] + np.cross(twist[:3], body.inertia.com)
        assert_allclose(part.v @ u + part.v_t, at_com, rtol=0, atol=1e-11)


@pytest.mark.claim(34)
@pytest.mark.parametrize(('seed', 'base'), CASES)
def test_generalized_forces_are_sums_over_the_bodies(seed, base):
    """F = sum v_r R + omega_r T and F* = -sum v_r m a + omega_r (I alpha + omega x I omega)."""
    robot, q, v, _ = tree_and_state(seed, base, armature=False, friction=False)
    rng = np.random.default_rng(seed)
    speeds, *_ = turning(robot, seed)
    wrenches = {body.name: rng.normal(size=6) for body in robot.bodies}
    nothing = np.zeros(robot.nv)
    motion = kd.forward_dynamics(
        robot, q, v, nothing, method='kane', speeds=speeds, external_wrenches=wrenches, time=0.7
    )
    kinematics = kd.forward_kinematics(robot, q, v, motion.acceleration)
    active, inertia_force = 0.0, 0.0
    for part, body in zip(kd.partial_velocities(robot, q, speeds, 0.7), robot.bodies, strict=True):
        com, mass, tensor = body.inertia.com, body.inertia.mass, body.inertia.tensor
        R = kinematics.pose(body.name).rotation_matrix()
        torque, force = wrenches[body.name][:3], wrenches[body.name][3:]
        weight = mass * R.T @ robot.gravity
        active += part.v.T @ (force + weight)  # (32)
        active += part.omega.T @ (torque - np.cross(com, force))
        omega = kinematics.twist(body.name)[:3]
        alpha, at_origin = np.split(kinematics.acceleration(body.name), 2)
        at_com = at_origin + np.cross(alpha, com) + np.cross(omega, np.cross(omega, com))
        spin = tensor @ alpha + np.cross(omega, tensor @ omega)
        inertia_force -= part.v.T @ (mass * at_com) + part.omega.T @ spin  # (33) with its sign
    scale = np.abs(active).max()
    assert_allclose(motion.details.active_force, active, rtol=0, atol=1e-11 * scale)
    assert_allclose(motion.details.inertia_force, inertia_force, rtol=0, atol=1e-10 * scale)
    assert_allclose(active + inertia_force, 0.0, atol=1e-10 * scale)  # (34)


@pytest.mark.claim(30)
@pytest.mark.parametrize('method', SPEED_METHODS)
def test_constraints_built_into_fewer_speeds(method):
    """A sled in speeds (forward, yaw) is the sled with the row of no side slip."""
    mass, central, ahead = 1.3, 0.4, 0.35
    body = kd.Inertia(mass, (ahead, 0.0, 0.0), np.diag([0.1, 0.2, central]))
    robot = kd.Robot('sled', [kd.Body('sled', '', kd.Joint('base', kd.Planar()), inertia=body)])
    speeds = kd.generalized_speeds(
        robot,
        lambda q, t: [[np.cos(q[2]), 0.0], [np.sin(q[2]), 0.0], [0.0, 1.0]],
        names=('forward', 'yaw'),
    )
    q, u = np.array([0.2, -0.1, 0.3]), np.array([0.8, 1.7])
    v, tau = speeds.velocity(q, u), np.array([0.4, -0.2, 0.1])
    motion = kd.forward_dynamics(robot, q, v, tau, method=method, speeds=speeds)
    row = kd.constraints.no_side_slip(robot)
    expected = kd.forward_dynamics(robot, q, v, tau, [row])
    assert_allclose(motion.acceleration, expected.acceleration, rtol=0, atol=1e-13)
    assert_allclose(motion.constraint_force, expected.constraint_force, rtol=0, atol=1e-13)
    free = kd.forward_dynamics(robot, q, v, np.zeros(3), method=method, speeds=speeds)
    turn = -mass * ahead * u[0] * u[1] / (central + mass * ahead**2)
    assert_allclose(free.details.u_rate, [ahead * u[1] ** 2, turn], rtol=1e-13)  # known answer
    assert speeds.names == ('forward', 'yaw') and speeds.count == 2


def test_four_ways_to_a_constraint_force():
    """The side force on a sled's edge: auxiliary speed, dependent row, multiplier, projection."""
    mass, central, ahead = 1.3, 0.4, 0.35
    body = kd.Inertia(mass, (ahead, 0.0, 0.0), np.diag([0.1, 0.2, central]))
    robot = kd.Robot('sled', [kd.Body('sled', '', kd.Joint('base', kd.Planar()), inertia=body)])
    q, u = np.array([0.2, -0.1, 0.3]), np.array([0.8, 1.7])
    along_edge = np.array([np.cos(q[2]), np.sin(q[2]), 0.0])
    across = np.array([-np.sin(q[2]), np.cos(q[2]), 0.0])
    v, zero = along_edge * u[0] + np.array([0.0, 0.0, u[1]]), np.zeros(3)
    expected = mass * central * u[0] * u[1] / (central + mass * ahead**2)  # known answer
    # Kane's auxiliary speed: F_aux + F*_aux = 0 along a speed that stays zero
    built_in = kd.generalized_speeds(
        robot, lambda q, t: [[np.cos(q[2]), 0.0], [np.sin(q[2]), 0.0], [0.0, 1.0]]
    )
    motion = kd.forward_dynamics(robot, q, v, zero, method='kane', speeds=built_in)
    assert_allclose(across @ motion.constraint_force, expected, rtol=1e-12)
    # the equation of the dependent speed, where all three are speeds (forward, side, yaw)
    square = kd.generalized_speeds(
        robot,
        lambda q, t: [
            [np.cos(q[2]), -np.sin(q[2]), 0.0],
            [np.sin(q[2]), np.cos(q[2]), 0.0],
            [0.0, 0.0, 1.0],
        ],
    )
    row = [kd.constraints.no_side_slip(robot)]
    motion = kd.forward_dynamics(robot, q, v, zero, row, 'kane', speeds=square)
    found = motion.details
    assert found.partition.dependent.tolist() == [1]
    assert_allclose(-(found.active_force + found.inertia_force)[1], expected, rtol=1e-12)
    assert_allclose(motion.multipliers, [expected], rtol=1e-12)
    # Lagrange's multiplier
    motion = kd.forward_dynamics(robot, q, v, zero, row, 'gibbs_appell')
    assert_allclose(motion.multipliers, [expected], rtol=1e-12)
    # orthogonal complement: the unbalanced force projected on the row
    unbalanced = kd.mass_matrix(robot, q) @ motion.acceleration + kd.bias_force(robot, q, v)
    assert_allclose(across @ unbalanced, expected, rtol=1e-12)


def test_quaternions_need_not_be_perfectly_unit():
    """Rates belong to the rotation, not to the length of its quaternion."""
    robot = kd.Robot('ball', [kd.Body('ball', '', kd.Joint('ball', kd.Spherical()))])
    speeds = kd.generalized_speeds(robot, lambda q, t: np.eye(3) * (1.0 + q[1]))
    q, v, _ = random_state(robot, np.random.default_rng(1))
    assert_allclose(speeds.at(q * 1.0005, v).W_rate, speeds.at(q, v).W_rate, rtol=0, atol=1e-15)


class TestErrors:
    robot = kd.serial_chain(2)

    @pytest.mark.parametrize(
        'W', [np.eye(3), np.zeros((2, 0)), np.ones(3), lambda q, t: [[1.0, 2.0]], [[1.0], [1, 2]]]
    )
    def test_shapes(self, W):
        with pytest.raises(InvalidInputError):
            kd.generalized_speeds(self.robot, W)

    def test_offset_shape(self):
        with pytest.raises(InvalidInputError, match=r'offset of shape \(2,\), got .*\(3,\)'):
            kd.generalized_speeds(self.robot, np.eye(2), [1.0, 2.0, 3.0])

    def test_definition_must_be_square(self):
        with pytest.raises(InvalidInputError, match=r'\(2, 2\)'):
            kd.generalized_speeds_from_definition(self.robot, np.ones((2, 1)))

    def test_names_must_fit(self):
        with pytest.raises(InvalidInputError, match='names: need 2'):
            kd.generalized_speeds(self.robot, np.eye(2), names=('a',))

    def test_functions_must_be_traceable(self):
        with pytest.raises(InvalidInputError, match='traced'):
            kd.generalized_speeds(self.robot, lambda q, t: np.eye(2) if q[0] > 0 else -np.eye(2))

    def test_dependent_columns(self):
        speeds = kd.generalized_speeds(self.robot, [[1.0, 2.0], [1.0, 2.0]])
        with pytest.raises(InvalidInputError, match='rank 1 of 2'):
            speeds.at([0.0, 0.0], [1.0, 1.0])

    def test_velocity_out_of_reach(self):
        speeds = kd.generalized_speeds(self.robot, [[1.0], [1.0]])
        with pytest.raises(InvalidInputError, match='no generalized speeds'):
            speeds.speeds([0.0, 0.0], [1.0, -1.0])

    def test_singular_states(self):
        speeds = kd.generalized_speeds(self.robot, lambda q, t: [[1.0 / q[0], 0.0], [0.0, 1.0]])
        with pytest.raises(InvalidInputError, match='singular here'):
            speeds.velocity([0.0, 0.0], [1.0, 1.0])
        defined = kd.generalized_speeds_from_definition(
            self.robot, lambda q, t: [[q[0], 0.0], [0.0, 1.0]]
        )
        with pytest.raises(InvalidInputError, match='no inverse'):
            defined.velocity([0.0, 0.0], [1.0, 1.0])

    @pytest.mark.parametrize('method', [name for name in METHODS if name not in SPEED_METHODS])
    def test_methods_without_generalized_speeds(self, method):
        speeds = kd.generalized_speeds(self.robot, np.eye(2))
        zero = np.zeros(2)
        with pytest.raises(InvalidInputError, match='has no generalized speeds'):
            kd.forward_dynamics(self.robot, zero, zero, zero, method=method, speeds=speeds)
