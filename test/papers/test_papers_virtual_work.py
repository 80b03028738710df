# SPDX-License-Identifier: Apache-2.0
"""Virtual work, generalized forces, and Lagrange's equations with constraints (Parsa (4)-(16))."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from support.calculus import lagrange_force, relative
from support.constraint_cases import CASES, rows_at
from support.rows import partition_of
from support.trees import tree_and_state

import kane_dynamics as kd

SOLVED = 1e-9  # condition of M up to 1e4
NAMES = ('differential_drive', 'leaning_disc', 'loop_planar', 'lock_spherical', 'pfaffian')


@pytest.fixture(params=NAMES)
def constrained(request):
    """Return a case, its motion under random efforts, and a basis of its allowed changes."""
    case = CASES[request.param]
    rows = rows_at(case)
    tau = np.random.default_rng(3).uniform(-2, 2, case.robot.nv)
    motion = kd.forward_dynamics(
        case.robot, case.q, case.v, tau, (case.constraint,), 'lagrange', time=case.t
    )
    basis = partition_of(rows).basis
    return case, tau, motion, rows.matrix, basis


@pytest.mark.claim(22)
def test_generalized_force_is_the_power_of_the_wrenches():
    """(5), (7): the sum of f . dv/dqdot + n . domega/dqdot over all bodies."""
    robot, q, v, a = tree_and_state(2, 'floating')
    rng = np.random.default_rng(2)
    wrenches = {body.name: rng.uniform(-1, 1, 6) for body in robot.bodies}
    on_v = kd.inverse_dynamics(robot, q, v, a) - kd.inverse_dynamics(robot, q, v, a, wrenches)
    kin = kd.forward_kinematics(robot, q, v)
    summed = np.zeros(robot.nv)
    for name, wrench in wrenches.items():
        jacobian = kin.jacobian(name)  # of the link's origin, where the wrench acts
        summed += jacobian[3:].T @ wrench[3:] + jacobian[:3].T @ wrench[:3]
    assert relative(on_v, summed) < 1e-12
    power = sum(wrench @ kin.twist(name) for name, wrench in wrenches.items())
    assert on_v @ v == pytest.approx(power, rel=1e-12)


@pytest.mark.claim(22)
def test_what_is_missing_in_lagranges_equations_does_no_virtual_work(constrained):
    case, tau, motion, A, basis = constrained
    robot, q, v = case.robot, case.q, case.v
    force = tau - kd.friction_force(robot, v)
    phi = lagrange_force(robot, q, v, motion.acceleration) - force  # (4), from energies alone
    size = 1.0 + np.abs(phi).max()
    assert np.abs(basis.T @ phi).max() < 1e-8 * size  # (15), m equations
    multipliers = np.linalg.lstsq(A.T, phi, rcond=None)[0]
    assert np.abs(A.T @ multipliers - phi).max() < 1e-8 * size  # (11)
    assert np.abs(A.T @ multipliers - motion.constraint_force).max() < 1e-8 * size
    assert np.abs(phi).max() > 1e-2  # for free q it would have to vanish (6)


@pytest.mark.claim(22)
def test_directions_that_the_rows_forbid_are_the_complement(constrained):
    *_, A, basis = constrained
    assert_allclose(A @ basis, 0.0, atol=1e-10)  # (13)
    rank = np.linalg.matrix_rank(A, tol=1e-9)
    assert basis.shape == (A.shape[1], A.shape[1] - rank)  # (14), by dimension
    assert np.linalg.matrix_rank(basis) == basis.shape[1]


@pytest.mark.claim(22)
def test_forces_along_the_rows_change_no_motion(constrained):
    """(16): with dependent coordinates f is not unique, but B' f is, and so is the motion."""
    case, tau, motion, A, basis = constrained
    extra = A.T @ np.random.default_rng(7).uniform(-1, 1, len(A))
    assert np.abs(extra).max() > 0.01
    assert_allclose(basis.T @ (tau + extra), basis.T @ tau, rtol=0, atol=1e-11)
    other = kd.forward_dynamics(
        case.robot, case.q, case.v, tau + extra, (case.constraint,), 'lagrange', time=case.t
    )
    assert relative(other.acceleration, motion.acceleration) < SOLVED
    assert relative(other.constraint_force, motion.constraint_force - extra) < SOLVED
