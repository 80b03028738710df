# SPDX-License-Identifier: Apache-2.0
"""Gibbs-Appell, Gauss and Kane: dG/da = dS/da - tau = phi - phi_bar on every robot (61)."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from support.calculus import relative
from support.machines import differential_drive, rolling_disc
from support.trees import thirty_trees, tree_and_state
from support.wheeled_robots import load

import kane_dynamics as kd
from kane_dynamics.exceptions import InvalidInputError, SingularMassMatrixError

AGREEMENT = 1e-12  # sums of some 1e3 products of size 1 to 100 in other orders


def slope(function, a):
    """Return the gradient of a function that is quadratic in a: differences are exact."""
    return np.array([0.5 * (function(a + e) - function(a - e)) for e in np.eye(len(a))])


def check_chain(robot, q, v, a, tau, whole=True):
    """Check (55) and the three sides of (61) against inverse dynamics."""
    expected = kd.inverse_dynamics(robot, q, v, a) - tau
    inertia = expected + tau - kd.gravity_force(robot, q) - kd.friction_force(robot, v)
    gradient = kd.gibbs_gradient(robot, q, v, a)
    assert relative(gradient, inertia) < AGREEMENT  # (55): M a + C v
    assert relative(slope(lambda x: kd.gibbs_function(robot, q, v, x), a), inertia) < AGREEMENT
    assert relative(kd.gauss_gradient(robot, q, v, a, tau), expected) < AGREEMENT  # (61)
    if whole:
        gauss = slope(lambda x: kd.gauss_function(robot, q, v, x, tau), a)
        # its value holds the squares of the bodies' free accelerations: 1e3 larger
        assert relative(gauss, expected) < 1e3 * AGREEMENT


@pytest.mark.claim(11, 12, 15)
@pytest.mark.parametrize(('seed', 'base'), thirty_trees())
def test_chain_on_random_trees(seed, base):
    robot, q, v, a = tree_and_state(seed, base)
    check_chain(robot, q, v, a, np.random.default_rng(seed).normal(size=robot.nv))


@pytest.mark.claim(15)
@pytest.mark.parametrize('file', ['nonholonomic', 'holonomic'])
def test_chain_on_the_shipped_robots(file, robots, rng):
    robot = kd.load_urdf(robots / f'{file}.urdf', base='planar')
    q = kd.integrate(robot, robot.neutral(), rng.uniform(-1, 1, robot.nv), 1.0)
    v, a, tau = rng.uniform(-1, 1, (3, robot.nv))
    check_chain(robot, q, v, a, tau)


@pytest.mark.oracle
def test_chain_on_tiago(rng):
    robot, *_ = load('tiago')
    q = kd.integrate(robot, robot.neutral(), rng.uniform(-1, 1, robot.nv), 1.0)
    v, a, tau = rng.uniform(-1, 1, (3, robot.nv))
    check_chain(robot, q, v, a, tau, whole=False)  # some of its links have no inertia


@pytest.mark.claim(12)
@pytest.mark.parametrize('seed', range(6))
def test_the_true_motion_has_the_least_constraint(seed):
    """Every other acceleration that the rows allow makes Gauss's function larger (31), (38)."""
    robot, q, v, _ = tree_and_state(seed, ('fixed', 'planar', 'floating')[seed % 3])
    rng = np.random.default_rng(seed)
    rows, tau = rng.normal(size=(2, robot.nv)), rng.normal(size=robot.nv)
    constraint = kd.constraints.pfaffian(robot, lambda q, t: rows * np.cos(t))
    motion = kd.forward_dynamics(robot, q, v, tau, [constraint], time=0.3)
    least = kd.gauss_function(robot, q, v, motion.acceleration, tau)
    for _ in range(10):
        direction = rng.normal(size=robot.nv)
        direction -= np.linalg.pinv(rows) @ (rows @ direction)
        size = rng.uniform(0.01, 1.0)
        other = kd.gauss_function(robot, q, v, motion.acceleration + size * direction, tau)
        assert other > least
    # above the free minimum it is half the square of the gap in the metric M
    free = kd.forward_dynamics(robot, q, v, tau).acceleration
    gap = least - kd.gauss_function(robot, q, v, free, tau)
    assert_allclose(motion.details.gauss_excess, gap, rtol=1e-7)


@pytest.mark.parametrize('make', [differential_drive, rolling_disc])
def test_free_accelerations_have_no_gradient(make, rng):
    robot = make()
    q, v, tau = rng.uniform(0.1, 1, (3, robot.nv))
    a = kd.forward_dynamics(robot, q, v, tau).acceleration
    assert_allclose(kd.gauss_gradient(robot, q, v, a, tau), 0.0, atol=1e-10)


def test_gauss_function_needs_inertia_of_every_body():
    robot = kd.Robot('point', [kd.Body('point', '', kd.Joint('slide', kd.Prismatic()))])
    with pytest.raises(SingularMassMatrixError, match="'point'"):
        kd.gauss_function(robot, [0.0], [0.0], [0.0], [0.0])


@pytest.mark.parametrize('name', ['gibbs_function', 'gibbs_gradient'])
def test_bad_accelerations_are_refused(name):
    with pytest.raises(InvalidInputError, match='a: need shape'):
        getattr(kd, name)(kd.serial_chain(2), [0.0, 0.0], [0.0, 0.0], [0.0])


@pytest.mark.parametrize('name', ['gauss_function', 'gauss_gradient'])
def test_bad_efforts_are_refused(name):
    with pytest.raises(InvalidInputError, match='tau: need'):
        getattr(kd, name)(kd.serial_chain(1), [0.0], [0.0], [0.0], [np.nan])
