# SPDX-License-Identifier: Apache-2.0
"""The disk on the ramp against the closed forms of Gillespie (36)-(47)."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from rolling_disk_on_a_ramp import Ramp, generalized_forces, motion, phases, recombined

import kane_dynamics as kd

EXACT = 1e-12  # a handful of roundings of numbers of order 10
SEEDS = range(4)


def case(seed):
    """Return a random disk and a state that rolls."""
    rng = np.random.default_rng(seed)
    slope, friction, mass, radius = rng.uniform(0.1, 1.0, 4)
    ramp = Ramp(slope, friction, mass, radius, rng.uniform(1.0, 10.0))
    u1 = rng.uniform(-2.0, 2.0)
    q = rng.uniform(-2.0, 2.0, 3)
    return ramp, q, ramp.speeds.velocity(q, [u1, -u1, 0.0]), rng


@pytest.mark.claim(40)
@pytest.mark.parametrize('seed', SEEDS)
def test_partial_velocities(seed):
    ramp, q, _, _ = case(seed)
    disk = kd.partial_velocities(ramp.robot, q, ramp.speeds)[-1]
    to_world = kd.forward_kinematics(ramp.robot, q).pose('disk').rotation_matrix()
    # (36): v_1 = a1, v_2 = 0, w_1 = 0, w_2 = a3/r; the auxiliary speed moves along a2
    assert_allclose(to_world @ disk.v, np.eye(3)[:, [0, 2, 1]] * [1, 0, 1], atol=EXACT)
    expected = np.zeros((3, 3))
    expected[2, 1] = 1.0 / ramp.radius
    assert_allclose(to_world @ disk.omega, expected, atol=EXACT / ramp.radius)


@pytest.mark.claim(40)
@pytest.mark.parametrize('seed', SEEDS)
def test_generalized_forces(seed):
    ramp, q, v, rng = case(seed)
    m, g, phi, J = ramp.mass, ramp.gravity, ramp.slope, 0.5 * ramp.mass * ramp.radius**2
    friction, u1_rate, u2_rate = rng.uniform(-3.0, 3.0, 3)  # friction along a1 is -F_f
    a = ramp.speeds.velocity(q, [u1_rate, u2_rate, 0.0])
    F, F_star = generalized_forces(ramp, q, ramp.speeds, friction, a)
    # (38), (39) with the right sign of F_2 (E17), and F_3 = -m g cos(phi) without N
    weight = -m * g * np.array([np.sin(phi), 0.0, np.cos(phi)])
    assert_allclose(F, weight + np.array([friction, friction, 0.0]), atol=EXACT)
    expected = [-m * u1_rate, -J / ramp.radius**2 * u2_rate, 0.0]
    assert_allclose(F_star, expected, atol=EXACT)
    # the package sums the same over all bodies
    details = motion(ramp, q, v, friction).details
    assert_allclose(details.active_force, F, atol=EXACT)
    # (41), (42): friction drops out; with the printed F_2 = F_f it would be there twice
    assert recombined(F) == pytest.approx(weight[0], abs=EXACT)
    printed = F * [1.0, -1.0, 1.0]
    assert recombined(printed) == pytest.approx(weight[0] + 2.0 * friction, abs=EXACT)
    assert abs(recombined(printed) - weight[0]) > 0.1


@pytest.mark.claim(40)
@pytest.mark.parametrize('seed', SEEDS)
def test_recombination_is_substitution(seed):
    ramp, q, _, rng = case(seed)
    u1_rate = rng.uniform(-3.0, 3.0)
    a = ramp.speeds.velocity(q, [u1_rate, -u1_rate, 0.0])
    parts = generalized_forces(ramp, q, ramp.speeds, 0.7, a)
    whole = generalized_forces(ramp, q, ramp.rolling_speed, 0.7, a)
    assert_allclose([recombined(x) for x in parts], np.ravel(whole), atol=EXACT)


@pytest.mark.claim(38, 40)
@pytest.mark.parametrize('seed', SEEDS)
def test_rolling(seed):
    ramp, q, v, _ = case(seed)
    m, g, phi = ramp.mass, ramp.gravity, ramp.slope
    rolling = motion(ramp, q, v, rolling=True)
    u1_rate = -2.0 / 3.0 * g * np.sin(phi)
    details = rolling.details
    assert_allclose(details.u_rate, [u1_rate, -u1_rate, 0.0], atol=EXACT)
    forces = [m * g * np.sin(phi) / 3.0, m * g * np.cos(phi)]
    assert_allclose(rolling.multipliers, forces, atol=EXACT)
    # lambda = -(F_s + F_s*) of the speeds that the rows forbid
    lacking = -(details.active_force + details.inertia_force)
    assert_allclose(lacking[1:], forces, atol=EXACT)
    # and the multipliers of the whole system M a - A' lambda = f, A a = 0
    M = kd.mass_matrix(ramp.robot, q)
    A = np.array([ramp.contact, [0.0, 1.0, 0.0]])
    whole = np.block([[M, -A.T], [A, np.zeros((2, 2))]])
    found = np.linalg.solve(whole, np.append(-kd.bias_force(ramp.robot, q, v), np.zeros(2)))
    assert_allclose(found, np.append(rolling.acceleration, rolling.multipliers), atol=EXACT)


@pytest.mark.claim(35)
def test_dependent_speed_has_the_sign_of_the_row():
    # u1 + u2 = 0 is [G_I G_D] = [1 1], so D = -1 (7); the printed D = A^-1 B (5) is +1 (E14)
    ramp, q, v, _ = case(0)
    partition = motion(ramp, q, v, rolling=True).details.partition
    basis = partition.basis[:, 0] / partition.basis[0, 0]
    assert_allclose(basis, [1.0, -1.0, 0.0], atol=EXACT)
    W = ramp.speeds.matrices(q)[0]
    assert_allclose(ramp.contact @ W, [1.0, 1.0, 0.0], atol=EXACT)
    assert abs(ramp.contact @ W @ [1.0, 1.0, 0.0]) > 1.0  # the printed sign would slip


@pytest.mark.claim(40)
def test_sliding_ends_at_the_known_instant():
    ramp = Ramp(slope=0.35, friction=0.2)
    start = ramp.speeds.velocity(np.zeros(3), [1.0, 0.0, 0.0])
    sliding, rolling = phases(ramp, np.zeros(3), start, 0.3)
    assert (sliding.kind, rolling.kind) == ('slides up', 'rolls')
    assert rolling.time[0] == pytest.approx(0.112448, abs=5e-7)
    m, g, phi, mu = ramp.mass, ramp.gravity, ramp.slope, ramp.friction
    end = 1.0 / (g * np.sin(phi) + 3.0 * mu * g * np.cos(phi))
    # rk4 is exact for constant accelerations, and the event is found to roundoff
    assert rolling.time[0] == pytest.approx(end, abs=1e-12)
    # friction is against the slip, then it is what rolling needs: up the ramp
    assert sliding.friction == pytest.approx(-mu * m * g * np.cos(phi), abs=EXACT)
    assert rolling.friction == pytest.approx(m * g * np.sin(phi) / 3.0, abs=EXACT)
    normals = sliding.normal, rolling.normal
    assert normals == pytest.approx([m * g * np.cos(phi)] * 2, abs=EXACT)
    # no impulse: speeds go on, and rolling already holds
    assert_allclose(rolling.v[0], sliding.v[-1], atol=0)
    assert rolling.impulse < 1e-12
    rows = (ramp.rolling, ramp.ground)
    _, after = kd.simulation.project(ramp.robot, rows, rolling.q[0], rolling.v[0], 0.0)
    assert_allclose(after, rolling.v[0], atol=1e-13)
    assert_allclose(rolling.v @ ramp.contact, 0.0, atol=1e-9)  # the integrator's tolerance
    assert_allclose(sliding.q[:, 1], 0.0, atol=1e-13)


@pytest.mark.claim(40)
def test_energy_goes_into_sliding():
    ramp = Ramp(slope=0.35, friction=0.2)
    start = ramp.speeds.velocity(np.zeros(3), [1.0, 0.0, 0.0])
    sliding, rolling = phases(ramp, np.zeros(3), start, 0.3)

    def energy(phase, k):
        q, v = phase.q[k], phase.v[k]
        return kd.kinetic_energy(ramp.robot, q, v) + kd.potential_energy(ramp.robot, q)

    # slip falls linearly from 1 m/s to 0
    heat = ramp.friction * sliding.normal * 0.5 * sliding.time[-1]
    assert energy(sliding, 0) - energy(sliding, -1) == pytest.approx(heat, abs=1e-10)
    assert energy(rolling, 0) == pytest.approx(energy(rolling, -1), abs=1e-9)


@pytest.mark.claim(40)
@pytest.mark.parametrize(('factor', 'kind'), [(0.99, 'rolls'), (1.01, 'slides down')])
@pytest.mark.parametrize('slip', [1.0, 0.0])
def test_the_disk_rolls_if_tan_phi_is_at_most_3_mu(factor, kind, slip):
    mu = 0.2
    ramp = Ramp(np.arctan(3.0 * mu * factor), mu)
    start = ramp.speeds.velocity(np.zeros(3), [slip, 0.0, 0.0])
    found = phases(ramp, np.zeros(3), start, 0.2)
    assert [part.kind for part in found] == (['slides up'] if slip else []) + [kind]
    last = found[-1]
    g, phi = ramp.gravity, ramp.slope
    # s' of the last phase: 0, or -g sin(phi) + 3 mu g cos(phi) < 0
    slip_rate = min(0.0, -g * np.sin(phi) + 3.0 * mu * g * np.cos(phi))
    expected = slip_rate * (last.time[-1] - last.time[0])
    assert (last.v @ ramp.contact)[-1] == pytest.approx(expected, abs=1e-9)
    assert last.friction > 0.0  # up the ramp in both


def test_a_contact_that_slips_down_sticks_later():
    ramp = Ramp(slope=0.35, friction=0.2)
    start = ramp.speeds.velocity(np.zeros(3), [-1.0, 0.0, 0.0])
    sliding, rolling = phases(ramp, np.zeros(3), start, 0.6)
    assert (sliding.kind, rolling.kind) == ('slides down', 'rolls')
    g, phi = ramp.gravity, ramp.slope
    end = 1.0 / (0.6 * g * np.cos(phi) - g * np.sin(phi))
    assert rolling.time[0] == pytest.approx(end, abs=1e-12)
