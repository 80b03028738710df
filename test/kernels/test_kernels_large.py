# SPDX-License-Identifier: Apache-2.0
"""Robots whose solves are too large for straight-line code: recursions compiled, solves dense."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import kane_dynamics as kd
from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.kernels import generic


@pytest.fixture(scope='module')
def large(tmp_path_factory):
    """Return a small robot that is compiled as if it were large, with a coupling."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv('XDG_CACHE_HOME', str(tmp_path_factory.mktemp('cache')))
        patch.setattr(generic, 'MOST_COUPLED_PAIRS', 5)
        robot = kd.serial_chain(4)
        first, second = robot.joint_names[:2]
        rows = [kd.constraints.coupling(robot, second, first, 0.5)]
        yield robot, rows, kd.compile(robot, rows)


def states(robot, count):
    return np.random.default_rng(3).normal(size=(3, count, robot.nv))


def test_size_counts_coupled_pairs():
    assert not generic.too_large(kd.serial_chain(24))  # 24 * 25 / 2 = 300
    assert generic.too_large(kd.serial_chain(25))


def test_results_are_those_of_the_reference(large):
    robot, rows, fast = large
    q, v, tau = states(robot, 1)[:, 0]
    motion, reference = fast.motion(q, v, tau), kd.forward_dynamics(robot, q, v, tau, rows)
    pairs = [
        (fast.mass_matrix(q), kd.mass_matrix(robot, q)),
        (fast.coriolis_matrix(q, v), kd.coriolis_matrix(robot, q, v)),
        (fast.forward_dynamics(q, v, tau), reference.acceleration),
        (motion.acceleration, reference.acceleration),
        (motion.multipliers, reference.multipliers),
    ]
    for found, wanted in pairs:
        # M is a difference of two recursions: roundoff of gravity on top of its own
        assert_allclose(found, wanted, rtol=0, atol=1e-10 * np.abs(wanted).max())


def test_rows_of_states_and_out(large):
    robot, _, fast = large
    q, v, tau = states(robot, 5)
    together = fast.forward_dynamics(q, v, tau[0])
    alone = [fast.forward_dynamics(a, b, tau[0]) for a, b in zip(q, v, strict=True)]
    assert_allclose(together, alone, rtol=0, atol=0)
    out = np.empty((5, robot.nv, robot.nv))
    assert fast.mass_matrix(q, out=out) is out
    assert_allclose(out[2], fast.mass_matrix(q[2]), rtol=0, atol=0)
    with pytest.raises(InvalidInputError, match='different lengths'):
        fast.forward_dynamics(q, v[:3], tau)
    with pytest.raises(InvalidInputError, match='out: need'):
        fast.mass_matrix(q[0], out=np.empty(3))


@pytest.mark.parametrize('integrator', ['semi_implicit', 'rk4', 'midpoint'])
def test_simulation(large, integrator):
    robot, rows, fast = large
    q, v, tau = 0.1 * states(robot, 1)[:, 0]
    efforts = np.array([tau, 2.0 * tau, -tau])
    found = fast.simulate(q, v, 0.03, effort=efforts, step=0.01, integrator=integrator)
    reference = kd.Simulation(robot, rows, 0.01, integrator)
    reference.reset(q, v)
    for row in efforts:
        reference.step(row)
    assert_allclose(found.q[-1], reference.q, rtol=0, atol=1e-11)
    assert_allclose(found.v[-1], reference.v, rtol=0, atol=1e-9)


def test_effort_laws_need_compiled_steps(large, monkeypatch):
    robot, rows, _ = large
    monkeypatch.setattr(generic, 'MOST_COUPLED_PAIRS', 5)
    with pytest.raises(InvalidInputError, match='too large'):
        kd.compile(robot, rows, effort=lambda t, q, v: [0.0] * 4)
