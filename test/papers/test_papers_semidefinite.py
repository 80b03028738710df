# SPDX-License-Identifier: Apache-2.0
"""Mass matrices that are only positive semidefinite: thin rods, massless points (Roithmayr)."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from support.machines import X, inertia, prismatic

import kane_dynamics as kd
from kane_dynamics.exceptions import SingularMassMatrixError

ABLE = ('kane', 'nonminimal', 'lagrange', 'gibbs_appell')
UNABLE = ('gauss', 'newton_euler', 'canonical')  # they need M^-1 or a root of M


def rod(moment_about_itself):
    """Return a free rod along x, of central moments (given, 0.3, 0.3) kg m^2."""
    body = inertia(1.2, (0.1, 0.0, 0.0), (moment_about_itself, 0.3, 0.3))
    return kd.Robot('rod', [kd.Body('rod', '', kd.Joint('base', kd.Free()), inertia=body)])


def no_spin(robot):
    """Return the row omega_x = 0: the missing moment of inertia is bound."""
    return kd.constraints.pfaffian(robot, lambda q, t: np.eye(6)[0])


STATE = np.r_[0.1, -0.2, 0.3, 0.5, 0.5, 0.5, 0.5], np.r_[0.0, 0.7, -0.4, 0.2, 0.3, -0.1]
EFFORT = np.array([0.9, 0.4, -0.3, 1.0, 2.0, -1.0])


@pytest.mark.claim(33)
def test_a_thin_rod_has_no_moment_about_itself():
    robot = rod(0.0)
    M = kd.mass_matrix(robot, STATE[0])
    values = np.linalg.eigvalsh(M)
    assert abs(values[0]) < 1e-15 and values[1] > 0.1
    stacked = np.vstack([M, np.eye(6)[:1]])
    assert np.linalg.matrix_rank(stacked) == 6  # unique with the row, and only with it


@pytest.mark.claim(33)
@pytest.mark.parametrize('method', ABLE)
def test_thin_rod_that_may_not_spin(method):
    robot = rod(0.0)
    motion = kd.forward_dynamics(robot, *STATE, EFFORT, [no_spin(robot)], method)
    thick = rod(0.2)  # with omega_x = 0 the moment does not matter
    expected = kd.forward_dynamics(thick, *STATE, EFFORT, [no_spin(thick)])
    assert_allclose(motion.acceleration, expected.acceleration, rtol=0, atol=1e-12)
    assert_allclose(motion.constraint_force, expected.constraint_force, rtol=0, atol=1e-12)


@pytest.mark.claim(33)
@pytest.mark.parametrize('method', ABLE + UNABLE)
def test_thin_rod_that_may_spin_has_no_motion(method):
    with pytest.raises(SingularMassMatrixError):
        kd.forward_dynamics(rod(0.0), *STATE, EFFORT, method=method)


@pytest.mark.claim(33)
@pytest.mark.parametrize('method', ABLE)
def test_point_without_mass_that_carries_a_motion(method):
    """A massless slide pulls a mass through a lever of ratio 3."""
    bodies = [
        kd.Body('handle', '', prismatic('handle', X)),
        kd.Body('load', '', prismatic('load', X), inertia=inertia(2.0)),
    ]
    robot = kd.Robot('lever', bodies, (0.0, 0.0, 0.0))
    lever = kd.constraints.coupling(robot, 'handle', 'load', 3.0)
    motion = kd.forward_dynamics(robot, np.zeros(2), np.zeros(2), (5.0, 1.0), [lever], method)
    # power: 5 * 3 x' + 1 * x' = 2 x' x''
    assert_allclose(motion.acceleration, (24.0, 8.0), rtol=1e-12)
    assert_allclose(motion.constraint_force, (-5.0, 15.0), rtol=1e-12)


@pytest.mark.claim(33)
def test_less_and_less_inertia_goes_to_the_thin_rod():
    expected = kd.forward_dynamics(rod(0.0), *STATE, EFFORT, [no_spin(rod(0.0))], 'nonminimal')
    for moment in (1e-2, 1e-4, 1e-6):
        robot = rod(moment)
        assert kd.mass_matrix(robot, STATE[0])[0, 0] == pytest.approx(moment, rel=1e-12)
        motion = kd.forward_dynamics(robot, *STATE, EFFORT, [no_spin(robot)])
        assert_allclose(motion.acceleration, expected.acceleration, rtol=0, atol=1e-12)
