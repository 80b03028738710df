# SPDX-License-Identifier: Apache-2.0
"""Reset, time, labels, multipliers, projection of the start, and errors."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from support.machines import at, four_bar, four_bar_coordinates, planar_body, sled_with_arm

import kane_dynamics as kd
from kane_dynamics.exceptions import (
    InconsistentConstraintsError,
    InvalidInputError,
    ProjectionError,
)


@pytest.fixture
def sled():
    """Return a robot and its blade."""
    robot = sled_with_arm()
    return robot, (kd.constraints.no_side_slip(robot),)


def test_start_is_neutral_and_at_rest(sled):
    simulation = kd.Simulation(*sled)
    assert_array_equal(simulation.q, sled[0].neutral())
    assert_array_equal(simulation.v, np.zeros(5))
    assert simulation.time == 0.0
    assert simulation.labels == ('base/no_side_slip',)


def test_reset_starts_again(sled):
    simulation = kd.Simulation(*sled, step=0.01)
    q, v = np.array([1.0, 2.0, 0.5, 0.1, 0.2]), np.array([1.0, 0.0, 0.3, 0.4, 0.5])
    tau = np.ones(5)
    ends = []
    for _ in range(2):
        simulation.reset(q, v, time=3.0)
        assert simulation.time == 3.0
        simulation.step(tau, 3)
        assert simulation.time == pytest.approx(3.03, abs=1e-15)
        ends.append(np.r_[simulation.q, simulation.v])
    assert_array_equal(*ends)
    simulation.reset()
    assert simulation.time == 0.0
    assert not simulation.v.any()


def test_time_does_not_accumulate_roundoff(sled):
    simulation = kd.Simulation(sled[0], (), 0.1)
    simulation._steps = 10**7
    assert simulation.time == 10**7 * 0.1


def test_reset_moves_the_start_onto_the_constraints(sled):
    simulation = kd.Simulation(*sled)
    simulation.reset(v=[0.0, 1.0, 0.0, 0.0, 0.0])
    assert simulation.v[1] == pytest.approx(0.0, abs=1e-15)
    as_given = kd.Simulation(*sled, projection=False)
    as_given.reset(v=[0.0, 1.0, 0.0, 0.0, 0.0])
    assert_array_equal(as_given.v, [0.0, 1.0, 0.0, 0.0, 0.0])


def test_projection_takes_the_least_kinetic_energy(sled):
    # v+ - v is a pure impulse of the row, M (v+ - v) = A' Lambda
    robot, constraints = sled
    q, v = np.array([0.1, 0.2, 0.7, 0.3, -0.4]), np.array([0.5, 0.8, -0.3, 1.0, 0.6])
    _, after = kd.simulation.project(robot, constraints, q, v, 0.0)
    impulse = kd.mass_matrix(robot, q) @ (after - v)
    row = np.array([-np.sin(0.7), np.cos(0.7), 0, 0, 0])
    assert_allclose(impulse - row * (row @ impulse), 0.0, atol=1e-13)
    assert row @ after == pytest.approx(0.0, abs=1e-15)
    assert row @ impulse != 0.0


def test_loop_is_closed_from_a_rough_guess():
    robot = four_bar()
    loop = (kd.constraints.loop_closure(robot, 'coupler_end', 'rocker_end'),)
    simulation = kd.Simulation(robot, loop)  # neutral is a dead centre: no error before a reset
    simulation.reset(four_bar_coordinates(0.9) + np.array([0.01, -0.02, 0.015, 0.01]))
    assert_allclose(simulation.q, four_bar_coordinates(simulation.q[0]), rtol=0, atol=1e-11)
    assert abs(simulation.q[0] - 0.9) < 0.05


def test_loop_that_cannot_close():
    robot = four_bar()
    far = kd.Robot(
        'far',
        robot.bodies,
        frames={'post': kd.Frame(-1, at(5, 0, 0)), 'end': kd.Frame(2, at(0, 0, 0))},
    )
    simulation = kd.Simulation(far, (kd.constraints.loop_closure(far, 'post', 'end'),))
    with pytest.raises(ProjectionError, match='after 20 Newton steps'):
        simulation.reset([0.9, -0.4, 0.7, 1.3])


def test_contradictory_rows_are_found_in_a_step():
    robot = planar_body(1.0, 1.0, 0.0)
    c = kd.constraints
    push = c.pfaffian(robot, lambda q, t: [1, 0, 0], lambda q, t: t)
    simulation = kd.Simulation(robot, (push, c.lock(robot, 'base')))
    with pytest.raises(InconsistentConstraintsError):
        simulation.step(np.zeros(3), 2)


def test_accelerations_and_multipliers_of_the_present_state(sled):
    robot, constraints = sled
    simulation = kd.Simulation(*sled, step=0.01)
    simulation.reset([0, 0, 0.4, 0.1, 0.2], [0.3, 0.1, 0.8, 0.5, -0.6])
    tau = np.array([1.0, 2.0, 0.5, 0.3, -0.2])
    simulation.step(tau)
    motion = kd.forward_dynamics(robot, simulation.q, simulation.v, tau, constraints)
    assert_allclose(simulation.acceleration, motion.acceleration, rtol=1e-14)
    assert_allclose(simulation.multipliers, motion.multipliers, rtol=1e-14)


def test_state_is_read_only(sled):
    simulation = kd.Simulation(*sled)
    simulation.step(np.zeros(5))
    for array in (simulation.q, simulation.v):
        with pytest.raises(ValueError, match='read-only'):
            array[0] = 1.0


def test_arguments_are_not_written(sled):
    q, v, tau = np.full(5, 0.1), np.full(5, 0.2), np.ones(5)
    simulation = kd.Simulation(*sled)
    simulation.reset(q, v)
    simulation.step(tau, 2)
    assert_array_equal(q, np.full(5, 0.1))
    assert_array_equal(v, np.full(5, 0.2))
    assert_array_equal(tau, np.ones(5))
    assert q.flags.writeable
    assert v.flags.writeable


def test_simulate_calls_the_law_and_keeps_every_state(sled):
    robot, constraints = sled
    calls, seen = [], []

    def law(t, q, v):
        calls.append((t, q.copy(), v.copy()))
        return np.full(5, 0.1 * t)

    def progress(steps):
        for k in steps:
            seen.append(k)
            yield k

    run = kd.simulate(
        robot,
        robot.neutral(),
        np.zeros(5),
        0.05,
        effort=law,
        constraints=constraints,
        step=0.01,
        integrator='semi_implicit',
        progress=progress,
    )
    assert_allclose(run.time, np.arange(6) * 0.01, rtol=0, atol=1e-15)
    assert run.q.shape == run.v.shape == (6, 5)
    assert seen == list(range(5))
    for (t, q, v), t_run, q_run, v_run in zip(calls, run.time, run.q, run.v, strict=False):
        assert t == t_run
        assert_array_equal(q, q_run)
        assert_array_equal(v, v_run)
    still = kd.simulate(planar_body(1, 1, 0), np.zeros(3), np.zeros(3), 0.01)
    assert not still.q.any()


def test_errors(sled):
    robot, constraints = sled
    with pytest.raises(InvalidInputError, match="integrator must be one of .*'euler'"):
        kd.Simulation(robot, constraints, integrator='euler')
    for step in (0.0, -1e-3, np.nan, np.inf):
        with pytest.raises(InvalidInputError, match=r'step \[s\]'):
            kd.Simulation(robot, constraints, step=step)
    simulation = kd.Simulation(robot, constraints)
    for bad in (np.ones(4), np.full(5, np.nan)):
        with pytest.raises(InvalidInputError, match='tau'):
            simulation.step(bad)
        with pytest.raises(InvalidInputError, match='v'):
            simulation.reset(v=bad)
        with pytest.raises(InvalidInputError, match='q'):
            simulation.reset(q=bad)
    with pytest.raises(InvalidInputError, match='n: '):
        simulation.step(np.zeros(5), -1)
    with pytest.raises(InvalidInputError, match='time'):
        simulation.reset(time=np.nan)
    with pytest.raises(InvalidInputError, match='duration'):
        kd.simulate(robot, robot.neutral(), np.zeros(5), np.inf)
    for halvings in (-1, 21, 1.5, True, '2'):
        with pytest.raises(InvalidInputError, match='halvings: need a whole number from 0 to 20'):
            kd.Simulation(robot, constraints, halvings=halvings)


@pytest.mark.parametrize('projection', [np.ones(3), np.zeros((2, 2)), [], 'no', None])
def test_projection_is_true_or_false(projection):
    """Regression: ValueError of numpy for arrays, and a text was true."""
    robot, how, state = kd.serial_chain(2), {'projection': projection}, np.zeros((2, 2))
    free = kd.dynamics(robot)
    for call in (
        lambda: kd.Simulation(robot, **how),
        lambda: kd.simulate(robot, *state, 0.01, **how),
        lambda: free.engine(**how),
        lambda: free.many_motions('rk4', **how),
        lambda: kd.rollout(free, state, state, 0.01, **how),
    ):
        with pytest.raises(InvalidInputError, match='projection: need True or False, got'):
            call()


def test_a_negative_duration_is_refused():
    with pytest.raises(InvalidInputError, match=r'duration \[s\] must be >= 0'):
        kd.simulate(kd.serial_chain(1), [0.0], [0.0], -1.0)


@pytest.mark.parametrize('engine', ['rk4', 0, object()])
def test_an_engine_is_one(engine):
    """Regression: an AttributeError, and 0 was taken for none."""
    with pytest.raises(InvalidInputError, match='engine: need one of this robot'):
        kd.Simulation(kd.serial_chain(2), engine=engine)


def test_an_engine_of_another_robot_is_refused():
    """Regression: the other robot was simulated, without a word."""
    robot, other = kd.serial_chain(2), kd.serial_chain(2, seed=5)
    with pytest.raises(InvalidInputError, match='engine: need one of this robot'):
        kd.Simulation(robot, engine=kd.dynamics(other).engine())
    light = robot.with_gravity((0.0, 0.0, -1.6))  # what changes while it moves is no other robot
    assert kd.Simulation(robot, engine=kd.dynamics(light).engine()).robot is light


def test_an_engine_of_other_constraints_is_refused():
    """Regression: the rows of the engine held, and the simulation told of its own."""
    robot = kd.serial_chain(3)
    one, two, _ = robot.joint_names
    gear, lock = kd.constraints.coupling(robot, one, two, 2.0), kd.constraints.lock(robot, two)
    engine = kd.dynamics(robot, [gear, lock]).engine()
    for others in (
        [],
        [gear],
        [lock, gear],
        [gear, lock, lock],
        [kd.constraints.coupling(robot, one, two, 3.0), lock],
    ):
        with pytest.raises(InvalidInputError, match='engine: need one of this robot with'):
            kd.Simulation(robot, others, engine=engine)
    with pytest.raises(InvalidInputError, match='engine: need one of this robot with'):
        kd.simulate(robot, *np.zeros((2, 3)), 0.01, engine=kd.compile(robot, [lock]).engine())
    again = [kd.constraints.coupling(robot, one, two, 2.0), kd.constraints.lock(robot, two)]
    assert kd.Simulation(robot, again, engine=engine).labels == engine.constraints.labels
    # functions without content are compared as they are
    rows = [
        kd.constraints.pfaffian(robot, lambda q, t: np.array([[1.0, 0.0, float(q[0] > 0.0)]]))
        for _ in '12'
    ]
    engine = kd.dynamics(robot, rows[:1]).engine()
    kd.Simulation(robot, rows[:1], engine=engine)
    with pytest.raises(InvalidInputError, match='engine: need one of this robot with'):
        kd.Simulation(robot, rows[1:], engine=engine)
