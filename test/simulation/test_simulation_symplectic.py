# SPDX-License-Identifier: Apache-2.0
"""What the steps keep: areas of phase space, and the energy over a million steps."""

import functools

import numpy as np
import pytest
from numpy.testing import assert_allclose
from support.machines import at, inertia, planar_2r, revolute

import kane_dynamics as kd

ROD = inertia(2.0, (0.5, 0, 0), (0, 0.2, 0.2))
J = np.block([[np.zeros((2, 2)), np.eye(2)], [-np.eye(2), np.zeros((2, 2))]])


def pendulums():
    """Return two pendulums side by side: M is constant, the weight is not."""
    bodies = [
        kd.Body('left', '', revolute('left'), inertia=ROD),
        kd.Body('right', '', revolute('right'), at(0, 0, 1.0), ROD),
    ]
    return kd.Robot('pendulums', bodies, (0, -9.81, 0))


def chained():
    """Return a double pendulum: M depends on the second angle."""
    return planar_2r()


@functools.cache
def compiled(make):
    """Return a compiled robot."""
    return kd.compile(make())


def momenta_map(robot, engine, step, count):
    """Return (q, p) -> (q, p) after some steps, p = M(q) v."""

    def flow(x):
        q, p = x[:2], x[2:]
        v = np.linalg.solve(kd.mass_matrix(robot, q), p)
        q, v = engine.advance(q, v, np.zeros(2), 0.0, step, count)
        return np.r_[q, kd.mass_matrix(robot, q) @ v]

    return flow


def jacobian(flow, x):
    """Return the derivative of a map, central differences of order 4: errors of 1e-11."""
    columns, h = [], 1e-3
    for unit in np.eye(len(x)):
        near = flow(x + h * unit) - flow(x - h * unit)
        far = flow(x + 2 * h * unit) - flow(x - 2 * h * unit)
        columns.append((8.0 * near - far) / (12.0 * h))
    return np.array(columns).T


@pytest.mark.parametrize('kind', ['reference', 'compiled'])
@pytest.mark.parametrize('integrator', ['semi_implicit', 'midpoint'])
def test_symplectic_where_the_mass_matrix_is_constant(integrator, kind):
    robot = pendulums()
    engine = kd.Simulation(robot, (), 0.02, integrator)._engine
    if kind == 'compiled':
        engine = compiled(pendulums).engine(integrator)
    S = jacobian(momenta_map(robot, engine, 0.02, 3), np.array([0.4, -0.9, 1.0, -2.0]))
    assert np.abs(S - np.eye(4)).max() > 0.1
    assert_allclose(S.T @ J @ S, J, rtol=0, atol=1e-8)


def test_areas_are_kept_under_a_constant_constraint():
    # the right pendulum turns -1.7 times as fast as the left: one freedom, M_red constant
    robot = pendulums()
    gear = (kd.constraints.coupling(robot, 'right', 'left', -1.7),)
    engine = kd.Simulation(robot, gear, 0.02, 'semi_implicit')._engine

    def flow(x):
        q, v = (np.array([entry, -1.7 * entry]) for entry in x)
        q, v = engine.advance(q, v, np.zeros(2), 0.0, 0.02, 3)
        return np.array([q[0], v[0]])

    S = jacobian(flow, np.array([0.4, 1.0]))
    assert np.linalg.det(S) == pytest.approx(1.0, abs=1e-8)
    assert abs(S[0, 0] - 1.0) > 1e-3


@pytest.mark.parametrize(
    ('integrator', 'order', 'step'),
    [('semi_implicit', 2, 0.0025), ('midpoint', 2, 0.0025), ('rk4', 4, 0.01)],
)
def test_no_rule_on_speeds_is_symplectic_in_general(integrator, order, step):
    # as documented: where M changes, a step misses it by its own error, h^(order + 1)
    robot, x = chained(), np.array([0.4, -0.9, 1.0, -2.0])
    engine, gaps = compiled(chained).engine(integrator), []
    for h in (step, step / 2):
        S = jacobian(momenta_map(robot, engine, h, 1), x)
        gaps.append(np.abs(S.T @ J @ S - J).max())
    assert gaps[1] > 1e-7  # far above the 1e-10 of differences
    assert np.log2(gaps[0] / gaps[1]) == pytest.approx(order + 1, abs=0.4)


def drift(make, q, v, duration, step, integrator):
    """Return the change of T + V over a motion [J], and its largest size in each quarter."""
    fast = compiled(make)
    run = fast.simulate(q, v, duration, step=step, integrator=integrator)
    energy = fast.kinetic_energy(run.q, run.v) + fast.potential_energy(run.q)
    change = energy - energy[0]
    tail = len(change) // 20
    return change[-tail:].mean(), [np.abs(part).max() for part in np.array_split(change, 4)]


def test_a_million_steps_where_the_mass_matrix_is_constant():
    # 1000 s at 1 ms, both pendulums swing by more than 1 rad; the error of order h stays
    _, quarters = drift(pendulums, [0.4, -0.9], [1.0, -0.5], 1000.0, 1e-3, 'semi_implicit')
    swing = 2.0 * 9.81 * 0.5
    assert max(quarters) < 5e-3 * swing
    assert quarters[3] < 1.02 * quarters[0]


def test_a_million_steps_of_the_midpoint_rule():
    # reversible: a double pendulum that swings by 1 rad neither gains nor loses
    _, quarters = drift(chained, [-1.2, 0.5], [0.0, 0.0], 1000.0, 1e-3, 'midpoint')
    assert max(quarters) < 1e-5
    assert quarters[3] < 1.05 * quarters[0]
