# SPDX-License-Identifier: Apache-2.0
"""Two choices of speeds of the wrist against the closed forms (48)-(50) and Table 3."""

import casadi as ca
import numpy as np
import pytest
from numpy.testing import assert_allclose
from spherical_wrist import ANGLES, COUPLE, FORCE, OMEGA, Wrist, graphs, operations, quaternion_of

import kane_dynamics as kd
from kane_dynamics.algebra.scalars import cos, sin

SEEDS = range(4)


def euler_like(wrist, q, u, T, F):
    """Return udot of (49)."""
    (I1, I2, I3), M, L, G = wrist.moments, wrist.mass, wrist.length, wrist.gravity
    s1, s3, c1, c2, c3 = sin(q[0]), sin(q[2]), cos(q[0]), cos(q[1]), cos(q[2])
    return [
        (T[0] - L * (F[1] + G * M * (s1 * c3 + s3 * c1 * c2)) - (I3 - I2 - M * L**2) * u[1] * u[2])
        / (I1 + M * L**2),
        (T[1] + L * (F[0] + G * M * (s1 * s3 - c1 * c2 * c3)) + (I3 - I1 - M * L**2) * u[0] * u[2])
        / (I2 + M * L**2),
        (T[2] + (I1 - I2) * u[0] * u[1]) / I3,
    ]


def angle_rates(q, u):
    """Return qdot of (50)."""
    s2, c2, s3, c3 = sin(q[1]), cos(q[1]), sin(q[2]), cos(q[2])
    return [
        (s3 * u[1] - c3 * u[0]) / s2,
        s3 * u[0] + c3 * u[1],
        u[2] - c2 * (s3 * u[1] - c3 * u[0]) / s2,
    ]


def case(seed):
    """Return a random wrist, q away from sin(q2) = 0, u, T, F."""
    rng = np.random.default_rng(seed)
    moments = tuple(rng.uniform(0.02, 0.04, 3))
    wrist = Wrist(moments, rng.uniform(0.5, 2.0), rng.uniform(0.05, 0.3), rng.uniform(5.0, 10.0))
    q = rng.uniform([-3.0, 0.4, -3.0], [3.0, 2.7, 3.0])
    return wrist, q, *rng.uniform(-2.0, 2.0, (3, 3))


@pytest.mark.claim(41)
def test_the_numbers_of_the_instant():
    wrist = Wrist()
    u_rate = wrist.speed_rates(wrist.choice_b, ANGLES, OMEGA)
    assert_allclose(u_rate, (-5.756271199, -24.320968901, 5.06), rtol=0, atol=5.1e-10)
    rates = wrist.choice_b.velocity(ANGLES, OMEGA)
    assert_allclose(rates, (-0.233342496, -0.319344174, 1.262571283), rtol=0, atol=5.1e-10)


@pytest.mark.claim(41)
@pytest.mark.parametrize('seed', SEEDS)
def test_choice_b(seed):
    wrist, q, u, T, F = case(seed)
    rates = wrist.choice_b.velocity(q, u)
    assert_allclose(rates, angle_rates(q, u), rtol=0, atol=1e-13)
    twist = kd.forward_kinematics(wrist.robot, q, rates).twist('C')
    assert_allclose(twist[:3], u, rtol=0, atol=1e-13)
    # Q goes through W, 1/sin(0.4) at most, twice: some tens of roundings of entries of order 100
    expected = euler_like(wrist, q, u, T, F)
    found = wrist.speed_rates(wrist.choice_b, q, u, T, F)
    assert_allclose(found, expected, rtol=0, atol=1e-12 * np.abs(expected).max())


@pytest.mark.claim(41)
@pytest.mark.parametrize('seed', SEEDS)
def test_choice_a_moves_alike(seed):
    wrist, q, u, T, F = case(seed)
    rates = wrist.choice_b.velocity(q, u)
    assert_allclose(wrist.choice_a.speeds(q, rates), rates, rtol=0, atol=1e-15)
    found = wrist.speed_rates(wrist.choice_a, q, rates, T, F)
    # qddot is the derivative of (50) along the motion: here by complex steps
    h = 1e-30j
    moved = angle_rates(q + h * rates, u + h * np.array(euler_like(wrist, q, u, T, F)))
    expected = np.imag(moved) / np.imag(h)
    assert_allclose(found, expected, rtol=0, atol=1e-11 * np.abs(expected).max())


@pytest.mark.claim(41)
def test_both_choices_and_a_ball_joint_move_alike():
    wrist, duration = Wrist(), 0.2
    rates = wrist.choice_b.velocity(ANGLES, OMEGA)
    *_, v_a = wrist.motion(wrist.choice_a, ANGLES, rates, duration)
    _, q_b, v_b = wrist.motion(wrist.choice_b, ANGLES, OMEGA, duration)
    # solvers of relative error 1e-9 a step, some tens of steps
    assert_allclose(v_a[-1], v_b[-1], rtol=0, atol=1e-7)
    moment = COUPLE + wrist.length * np.array([-FORCE[1], FORCE[0], 0.0])
    start = quaternion_of(ANGLES)
    ball = kd.simulate(
        wrist.ball, start, OMEGA, duration, effort=lambda t, q, v: moment, step=2e-3
    )
    # rk4: 100 steps, h^4/120 times the fifth derivative, (30/s)^5 and less
    alike = abs(ball.q[-1] @ quaternion_of(q_b[-1]))  # q and -q are one attitude
    assert alike == pytest.approx(1.0, abs=1e-8)
    assert_allclose(ball.v[-1], wrist.choice_b.speeds(q_b[-1], v_b[-1]), rtol=0, atol=1e-5)
    assert np.abs(q_b[-1] - ANGLES).max() > 0.3  # it did move


@pytest.mark.parametrize('seed', SEEDS)
def test_graphs_are_the_equations(seed):
    _, q, u, T, F = case(seed)
    wrist = Wrist()
    found = {name: graph(q, u, T, F).full()[:, 0] for name, graph in graphs(wrist).items()}
    expected = {
        'A dynamics': wrist.speed_rates(wrist.choice_a, q, u, T, F),
        '(50)': angle_rates(q, u),
        '(49)': euler_like(wrist, q, u, T, F),
    }
    for name, values in expected.items():
        assert_allclose(found[name], values, rtol=0, atol=1e-11 * np.abs(values).max())


def printed_graphs():
    """Return (49) and (50) as they are printed, with symbols for all parameters."""
    q, u, T, F = ([ca.SX.sym(f'{name}{k}') for k in '123'] for name in 'quTF')
    parameters = [ca.SX.sym(name) for name in 'I1 I2 I3 M L G'.split()]
    wrist = Wrist(tuple(parameters[:3]), *parameters[3:])
    inputs = [ca.vertcat(*x) for x in (q, u, T, F, parameters)]
    equations = {'(49)': euler_like(wrist, q, u, T, F), '(50)': angle_rates(q, u)}
    return {name: ca.Function('f', inputs, [ca.vertcat(*x)]) for name, x in equations.items()}


@pytest.mark.claim(41)
def test_operations_of_the_printed_equations():
    printed = printed_graphs()
    assert operations(printed['(49)'], written_out=True) == (29, 16, 10)
    # Table 3 has 10 products for (50): a recount gives 9 (E24)
    assert operations(printed['(50)'], written_out=True) == (9, 4, 9)
    assert operations(printed['(50)'])[2] == 4  # sines and cosines of two angles


@pytest.mark.claim(41)
def test_choice_b_is_an_order_of_magnitude_shorter():
    found = graphs(Wrist())
    a = np.array(operations(found['A dynamics'], written_out=True))
    b = np.array(operations(printed_graphs()['(49)'], written_out=True))
    assert a.sum() > 10 * b.sum()  # in print
    # with each value computed once, and by moments of mass, A has nearly those of (49) twice over
    once = operations(found['A dynamics'])
    assert sum(once[:2]) > 2 * sum(b[:2])
    assert sum(once) > 1.7 * sum(operations(found['(49)']))


def test_operations_count_what_is_shared_once():
    x = ca.SX.sym('x')
    y = ca.sin(x) * x
    graph = ca.Function('f', [x], [ca.vertcat(y + x * y, -y)])
    assert operations(graph) == (2, 2, 1)
    assert operations(graph, written_out=True) == (4, 2, 3)


@pytest.mark.claim(41)
@pytest.mark.parametrize('seed', SEEDS)
def test_only_the_kinematics_of_b_are_singular(seed):
    wrist, q, u, T, F = case(seed)
    moments = np.diag(wrist.moments) + wrist.mass * wrist.length**2 * np.diag([1.0, 1.0, 0.0])
    for angle in (1.0, 1e-2, 1e-4):
        q[1] = angle
        M, W = kd.mass_matrix(wrist.robot, q), wrist.choice_b.matrices(q)[0]
        # roundoff of M goes through W twice
        atol = 1e-16 / np.sin(angle) ** 2
        assert_allclose(W.T @ M @ W, moments, rtol=0, atol=atol)
        assert np.linalg.det(M) == pytest.approx(
            np.prod(np.diag(moments)) * np.sin(angle) ** 2, rel=1e-6
        )
        assert np.linalg.norm(W[0]) == pytest.approx(1.0 / np.sin(angle), rel=1e-12)
    q[1] = 0.0  # the axes align: (49) goes on, on a ball joint
    load = {'Co': np.concatenate([T, F])}
    motion = kd.forward_dynamics(
        wrist.ball, quaternion_of(q), u, np.zeros(3), external_wrenches=load
    )
    assert_allclose(motion.acceleration, euler_like(wrist, q, u, T, F), rtol=1e-12)
    with pytest.raises(kd.exceptions.InvalidInputError, match='singular'):
        wrist.choice_b.velocity(q, u)
    assert np.linalg.cond(kd.mass_matrix(wrist.robot, q)) > 1e14  # choice A does not
