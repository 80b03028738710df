# SPDX-License-Identifier: Apache-2.0
"""All methods of forward dynamics on compiled terms, against the reference and each other."""

import functools

import numpy as np
import pytest
from kernel_cases import CASES, DEAD_CENTRE
from numpy.testing import assert_allclose
from support.trees import random_state

import kane_dynamics as kd
from kane_dynamics.compiler import recipe
from kane_dynamics.exceptions import InvalidInputError, PerformanceWarning
from kane_dynamics.formulations import METHODS, SPEED_METHODS
from studies.random_robots import random_tree

AGREEMENT = 1e-10  # the condition of M, up to 1e4, times roundoff
NAMES = ('drive', 'linkage', 'sled')


@functools.cache
def compiled(name):
    case = CASES[name]()
    return case, kd.compile(case.robot, case.constraints, methods=True, cache=False)


@pytest.mark.parametrize('method', METHODS)
@pytest.mark.parametrize('name', NAMES)
def test_methods_on_compiled_terms(name, method, rng):
    case, fast = compiled(name)
    tau = rng.normal(size=case.robot.nv)
    for _ in range(3):
        q, v, _ = case.state(rng)
        expected = kd.forward_dynamics(case.robot, q, v, tau, case.constraints, method)
        motion = fast.forward_dynamics(q, v, tau, method=method)
        scale = 1.0 + np.abs(expected.acceleration).max()
        gap = np.abs(motion.acceleration - expected.acceleration).max()
        assert gap <= AGREEMENT * scale
        force = 1.0 + np.abs(expected.constraint_force).max()
        assert_allclose(
            motion.constraint_force, expected.constraint_force, rtol=0, atol=AGREEMENT * force
        )
        assert motion.labels == expected.labels
        assert motion.rank == expected.rank


@pytest.mark.parametrize('method', METHODS)
def test_rows_that_coincide_at_one_state(method):
    """At the dead centre the rank drops by one; the compiled path follows."""
    case, fast = compiled('dead_centre')
    q, v = DEAD_CENTRE
    tau = np.array([0.3, -0.1, 0.2, 0.5])
    motion = fast.forward_dynamics(q, v, tau, method=method)
    expected = kd.forward_dynamics(case.robot, q, v, tau, case.constraints)
    scale = np.abs(expected.acceleration).max()
    assert motion.rank == expected.rank == 1
    assert_allclose(motion.acceleration, expected.acceleration, rtol=0, atol=1e-9 * scale)


@pytest.mark.parametrize('method', SPEED_METHODS)
def test_generalized_speeds(method, rng):
    case, fast = compiled('sled')
    q, v, _ = case.state(rng)
    size = case.robot.nv
    speeds = kd.generalized_speeds(
        case.robot, lambda q, t: np.eye(size) * (2.0 + np.sin(q[2])), lambda q, t: [q[0]] * size
    )
    tau = rng.normal(size=size)
    expected = kd.forward_dynamics(case.robot, q, v, tau, case.constraints)
    motion = fast.forward_dynamics(q, v, tau, method=method, speeds=speeds)
    scale = np.abs(expected.acceleration).max()
    assert_allclose(motion.acceleration, expected.acceleration, rtol=0, atol=AGREEMENT * scale)


@pytest.mark.thorough
@pytest.mark.parametrize('method', METHODS)
def test_large_robots_take_what_is_not_compiled_from_the_reference(method, rng):
    robot = kd.serial_chain(26)
    fast = _large()
    q, v, tau = rng.uniform(-1, 1, (3, 26))
    expected = kd.forward_dynamics(robot, q, v, tau, method=method)
    motion = fast.forward_dynamics(q, v, tau, method=method)
    scale = np.abs(expected.acceleration).max()
    # the condition of M is 1e5 here
    assert_allclose(motion.acceleration, expected.acceleration, rtol=0, atol=1e-9 * scale)


def test_what_a_large_robot_drops_of_the_methods_is_said(monkeypatch):
    monkeypatch.setattr(recipe, 'MOST_COUPLED_PAIRS', 5)
    with pytest.warns(PerformanceWarning, match=r"forward_dynamics\(method='gibbs_appell'\)"):
        fast = kd.compile(kd.serial_chain(5), methods=True, cache=False)
    assert "forward_dynamics(method='lagrange')" in fast.not_compiled


@functools.cache
def _large():
    return kd.compile(kd.serial_chain(26), methods=True, cache=False)


@pytest.mark.thorough
def test_redundant_rows_depending_on_time(rng):
    robot = random_tree(rng, 'planar', kinds=('revolute', 'spherical'))
    rows = rng.normal(size=(2, robot.nv))

    def A(q, t):  # noqa: N802
        first, second = rows * np.array([[np.cos(t)], [1.0]]) * (1.0 + q[0])
        return np.vstack([first, second, first - 2.0 * second])

    constraint = kd.constraints.pfaffian(robot, A, lambda q, t: np.array([t, q[1], t - 2 * q[1]]))
    fast = kd.compile(robot, [constraint], methods=True, cache=False)
    q, v, _ = random_state(robot, rng)
    tau = rng.normal(size=robot.nv)
    motions = [fast.forward_dynamics(q, v, tau, 0.6, method=method) for method in METHODS]
    scale = np.abs(motions[0].acceleration).max()
    for motion in motions[1:]:
        gap = np.abs(motion.acceleration - motions[0].acceleration).max()
        assert gap <= AGREEMENT * scale
        assert motion.rank == 2


def test_methods_must_be_compiled(pair):
    case, fast = pair('sled')
    zero = np.zeros(case.robot.nv)
    with pytest.raises(InvalidInputError, match='methods=True'):
        fast.forward_dynamics(case.robot.neutral(), zero, zero, method='kane')


def test_unknown_methods_are_refused():
    case, fast = compiled('sled')
    zero = np.zeros(case.robot.nv)
    with pytest.raises(InvalidInputError, match='must be one of'):
        fast.forward_dynamics(case.robot.neutral(), zero, zero, method='hamilton')
