# SPDX-License-Identifier: Apache-2.0
"""Rows that come on, drop or become singular within a step are named in the trajectory."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from support.machines import X, inertia, revolute
from support.mechanisms import compiled, parallelogram

import kane_dynamics as kd

INTEGRATORS = ('semi_implicit', 'rk4', 'midpoint')
ENGINES = ('reference', 'compiled')


def braked():
    """Return two flywheels, a brake on the first that closes after 0.03 s, and a state."""
    wheels = [
        kd.Body(name, '', revolute(name, X), inertia=inertia(0, (0, 0, 0), (0.01, 0.0, 0.0)))
        for name in ('first', 'second')
    ]
    robot = kd.Robot('flywheels', wheels)

    def row(q, t):  # zero in doubles until then
        return [0.5 * (1.0 + np.tanh(20.0 * (t - 0.98))), 0.0]

    brake = kd.constraints.pfaffian(robot, row, label='brake')
    return robot, (brake,), np.zeros(2), np.array([3.0, 1.0])


SYSTEMS = {'braked': braked, 'parallelogram': parallelogram}


def run(name, kind, integrator, duration, step):
    """Return a trajectory of one engine."""
    robot, rows, q, v = SYSTEMS[name]()
    if kind == 'compiled':
        return compiled(SYSTEMS[name]).simulate(q, v, duration, step=step, integrator=integrator)
    return kd.simulate(robot, q, v, duration, constraints=rows, step=step, integrator=integrator)


@pytest.mark.parametrize('kind', ENGINES)
@pytest.mark.parametrize('integrator', INTEGRATORS)
def test_a_brake_that_closes_is_an_impact(integrator, kind):
    # the wheel stops within a step: all of its 1/2 I w^2 goes, the other turns on
    motion = run('braked', kind, integrator, 0.1, 0.004)
    (event,) = motion.rank_events
    assert (event.before, event.after) == (0, 1)
    assert event.time in motion.time
    assert 0.02 < event.time < 0.04
    assert event.energy == pytest.approx(0.5 * 0.01 * 3.0**2, rel=1e-12)
    assert_allclose(motion.v[-1], [0.0, 1.0], rtol=0, atol=1e-15)
    assert 'came on against the motion (rank 0 to 1): 0.045 J were lost' in str(event)


def assert_named(motion):
    """Check that each flat position is named, and that it stays a parallelogram."""
    flat = np.flatnonzero(np.diff(np.floor(motion.q[:, 0] / np.pi)))
    assert len(flat) > 0
    assert [round(event.time / motion.time[1]) for event in motion.rank_events] == [*(flat + 1)]
    for event in motion.rank_events:
        assert (event.before, event.after) == (2, 2)
        assert event.energy < 1e-12
        assert 'passed a singular configuration' in str(event)
    assert_allclose(motion.q[:, 0], motion.q[:, 2], rtol=0, atol=1e-9)


def test_a_parallelogram_that_passes_its_flat_position_is_named():
    # it goes round, 1.4 times in a second
    assert_named(run('parallelogram', 'compiled', 'rk4', 1.0, 1e-3))
    robot, rows, q, v = parallelogram(3.0)
    assert_named(kd.simulate(robot, q, v, 0.03, constraints=rows, step=1e-3))


def test_a_parallelogram_that_starts_flat_leaves_its_rank_of_one():
    robot, rows, _, _ = parallelogram()
    simulation = kd.Simulation(robot, rows, 1e-3, 'rk4')
    simulation.reset(np.zeros(3), np.array([9.0, -9.0, 9.0]))
    simulation.step(np.zeros(3), 3)
    (event,) = simulation.rank_events
    assert (event.before, event.after) == (1, 2)
    assert event.energy < 1e-9
    simulation.reset()
    assert simulation.rank_events == ()


def test_steps_one_by_one_name_what_one_call_names():
    robot, rows, q, v = parallelogram()
    whole = run('parallelogram', 'compiled', 'rk4', 0.5, 1e-3)
    simulation = kd.Simulation(
        robot, rows, 1e-3, 'rk4', engine=compiled(SYSTEMS['parallelogram']).engine('rk4')
    )
    simulation.reset(q, v)
    for _ in range(100):
        simulation.step(np.zeros(3), 5)
    times = [event.time for event in whole.rank_events]
    assert_allclose([event.time for event in simulation.rank_events], times, rtol=1e-12)
    free = kd.simulate(robot, q, v, 0.01, constraints=rows, projection=False)
    assert free.rank_events == ()
