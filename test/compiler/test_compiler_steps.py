# SPDX-License-Identifier: Apache-2.0
"""Compiled time steps against the same integrators on the reference algorithms."""

import math
import sys

import numpy as np
import pytest
from kernel_cases import CASES, error
from numpy.testing import assert_allclose, assert_array_equal
from support.machines import four_bar_coordinates

import kane_dynamics as kd
from kane_dynamics.exceptions import DivergedError, InvalidInputError
from kane_dynamics.simulation.integrators import INTEGRATORS

AGREEMENT = 1e-10
SYSTEMS = ('sled', 'drive', 'linkage', 'massless', 'planar_tree', 'floating_tree')


def efforts_of(robot):
    """Return efforts that differ from speed to speed."""
    return np.linspace(0.3, -0.4, robot.nv)


def twins(case, fast, integrator, projection=True, step=0.005):
    """Return a simulation by the reference and one by compiled steps."""
    arguments = (case.robot, case.constraints, step, integrator, projection)
    engine = fast.engine(integrator, projection)
    return kd.Simulation(*arguments), kd.Simulation(*arguments, engine=engine)


@pytest.mark.parametrize('projection', [True, False])
@pytest.mark.parametrize('integrator', INTEGRATORS)
@pytest.mark.parametrize('name', SYSTEMS)
def test_same_steps(name, integrator, projection, pair, rng):
    case, fast = pair(name)
    q, v, _ = case.state(rng)
    reference, compiled = twins(case, fast, integrator, projection)
    before = fast.fallback_count
    for simulation in (reference, compiled):
        simulation.reset(q, v, time=0.3)
        simulation.step(efforts_of(case.robot), 7)
        simulation.step(-efforts_of(case.robot))
    assert error(compiled.q, reference.q) < AGREEMENT
    assert error(compiled.v, reference.v) < AGREEMENT
    assert compiled.time == reference.time
    assert fast.fallback_count == before
    assert error(compiled.acceleration, reference.acceleration) < AGREEMENT
    assert error(compiled.multipliers, reference.multipliers) < AGREEMENT
    assert np.abs(compiled.v - v).max() > 1e-3


@pytest.mark.parametrize('step', [0.001, 0.02, 0.05])
def test_projection_of_coarse_steps(step, pair, rng):
    """Regression: one Newton step leaves the square of the drift, 1e-9 at these speeds."""
    case, fast = pair('linkage')
    q, v, _ = case.state(rng)
    reference, compiled = twins(case, fast, 'semi_implicit', step=step)
    for simulation in (reference, compiled):
        simulation.reset(q, v)
        simulation.step(np.zeros(4), 4)
    assert error(compiled.q, reference.q) < AGREEMENT
    assert error(compiled.v, reference.v) < AGREEMENT
    # the reference is content with 1e-12 m or rad on the rows
    closed = four_bar_coordinates(compiled.q[0])
    off = np.angle(np.exp(1j * (compiled.q - closed)))
    assert_allclose(off, 0.0, rtol=0, atol=1e-11)


@pytest.mark.parametrize('integrator', INTEGRATORS)
@pytest.mark.parametrize('name', ['sled', 'linkage', 'planar_tree'])
class TestSimulate:
    """The whole motion in one call."""

    def test_constant_efforts(self, name, integrator, pair, rng):
        case, fast = pair(name)
        q, v, _ = case.state(rng)
        tau = efforts_of(case.robot)
        expected = kd.simulate(
            case.robot,
            q,
            v,
            0.05,
            effort=lambda *state: tau,
            constraints=case.constraints,
            step=0.005,
            integrator=integrator,
        )
        run = fast.simulate(q, v, 0.05, effort=tau, step=0.005, integrator=integrator)
        assert_array_equal(run.time, expected.time)
        assert error(run.q, expected.q) < AGREEMENT
        assert error(run.v, expected.v) < AGREEMENT

    def test_efforts_of_each_step(self, name, integrator, pair, rng):
        case, fast = pair(name)
        q, v, _ = case.state(rng)
        rows = rng.uniform(-1, 1, (6, case.robot.nv))
        reference, _ = twins(case, fast, integrator)
        reference.reset(q, v)
        expected = [reference.v]
        for row in rows:
            reference.step(row)
            expected.append(reference.v)
        run = fast.simulate(q, v, 0.03, effort=rows, step=0.005, integrator=integrator)
        assert error(run.v, np.array(expected)) < AGREEMENT


def test_simulate_moves_the_start_onto_the_constraints(pair):
    """Regression: the start was taken as it is, unlike in kd.simulate."""
    case, fast = pair('sled')
    q, v = np.zeros(5), np.array([0.5, 0.8, -0.3, 1.0, 0.6])
    run = fast.simulate(q, v, 0.0)
    expected = kd.simulation.project(case.robot, case.constraints, q, v, 0.0)[1]
    assert_array_equal(run.v, [expected])
    assert_array_equal(fast.simulate(q, v, 0.0, projection=False).v, [v])


def test_simulate_without_efforts_and_rounded_to_whole_steps(pair):
    case, fast = pair('planar_2r')
    run = fast.simulate([0.3, 0.4], [0.0, 0.0], 0.0104, step=0.002)
    expected = kd.simulate(case.robot, [0.3, 0.4], [0.0, 0.0], 0.01, step=0.002)
    assert_array_equal(run.time, expected.time)
    assert error(run.q, expected.q) < AGREEMENT


WRONG = {
    'q': ({'q': np.zeros(3)}, 'q: need shape'),
    'v': ({'v': [0.0, np.nan]}, 'v: need finite'),
    'duration': ({'duration': -1.0}, r'duration \[s\] must be >= 0, got -1'),
    'endless': ({'duration': np.inf}, r'duration \[s\]: need one finite'),
    'step': ({'step': 0.0}, r'step \[s\] must be > 0'),
    'backwards': ({'step': -0.1}, r'step \[s\] must be > 0'),
    'efforts': ({'effort': np.zeros(3)}, r'effort: need shape \(2,\) or \(10, 2\), got \(3,\)'),
    'rows': ({'effort': np.zeros((9, 2))}, r'or \(10, 2\), got \(9, 2\)'),
    'words': ({'effort': ['a', 'b']}, 'effort: need real numbers'),
    'ragged': ({'effort': [[1.0], [1.0, 2.0]]}, 'effort: need real numbers'),
    'not finite': ({'effort': [0.0, np.inf]}, 'effort: need finite numbers'),
    'integrator': ({'integrator': 'euler'}, "integrator must be one of .*'euler'"),
}


@pytest.mark.parametrize('wrong', WRONG)
def test_wrong_arguments_of_simulate(wrong, pair):
    _, fast = pair('planar_2r')
    change, message = WRONG[wrong]
    arguments = {'q': [0.0, 0.0], 'v': [0.0, 0.0], 'duration': 0.1, 'step': 0.01, **change}
    with pytest.raises(InvalidInputError, match=message):
        fast.simulate(**arguments)


def test_midpoint_is_reversible_and_the_others_are_not(pair):
    # h and then -h: the implicit rule is solved to roundoff in its 8 iterations
    case, fast = pair('planar_2r')
    q, v, tau = np.array([0.4, -0.9]), np.array([1.0, -0.5]), np.array([0.2, 0.1])
    gap = {}
    for integrator in INTEGRATORS:
        engine = fast.engine(integrator)
        ahead = engine.advance(q, v, tau, 0.0, 0.01, 50)
        back = engine.advance(*ahead, tau, 0.5, -0.01, 50)
        assert np.abs(ahead[0] - q).max() > 0.05
        gap[integrator] = np.abs(np.r_[back] - np.r_[q, v]).max()
    assert gap['midpoint'] < 1e-11
    assert gap['rk4'] > 100 * gap['midpoint']
    assert gap['semi_implicit'] > 100 * gap['midpoint']  # two iterations


def test_energy_over_a_long_time(pair):
    # a swinging double pendulum, 20,000 steps: midpoint oscillates by h^2 and no more,
    # semi_implicit hardly more, rk4 gains or loses the same in each quarter
    case, fast = pair('planar_2r')
    q, v = np.array([-1.2, 0.5]), np.zeros(2)
    swing = 3.76  # of the potential energy [J]
    quarters = {}
    for integrator in INTEGRATORS:
        run = fast.simulate(q, v, 100.0, step=0.005, integrator=integrator)
        energy = fast.kinetic_energy(run.q, run.v) + fast.potential_energy(run.q)
        change = np.abs(energy - kd.potential_energy(case.robot, q))
        quarters[integrator] = [part.max() for part in np.array_split(change, 4)]
    assert max(quarters['midpoint']) < 1e-5 * swing
    assert quarters['midpoint'][3] < 1.05 * quarters['midpoint'][0]
    assert max(quarters['semi_implicit']) < 1e-3 * swing
    assert quarters['rk4'][3] > 3.0 * quarters['rk4'][0]
    assert max(quarters['rk4']) < 1e-7 * swing


def test_same_bits_twice_and_in_one_call_or_many(pair, rng):
    for name in ('sled', 'linkage', 'planar_tree'):
        case, fast = pair(name)
        q, v, tau = case.state(rng)
        for integrator in INTEGRATORS:
            engine = fast.engine(integrator)
            assert fast.engine(integrator) is engine
            at_once = engine.advance(q, v, tau, 0.0, 0.01, 20)
            fast.engine('rk4', False).advance(q, v, -tau, 1.0, 0.02, 3)
            assert_array_equal(np.r_[engine.advance(q, v, tau, 0.0, 0.01, 20)], np.r_[at_once])
            state = q, v
            for k in range(20):
                state = engine.advance(*state, tau, k * 0.01, 0.01, 1)
            assert_array_equal(np.r_[state], np.r_[at_once])
            nothing_done = engine.advance(q, v, tau, 0.0, 0.01, 0)
            assert_array_equal(np.r_[nothing_done], np.r_[q, v])


def test_one_step_of_plain_and_other_arguments(pair, rng):
    # plain arrays and floats go straight to machine code, all else through Python
    case, fast = pair('drive')
    q, v, tau = case.state(rng)
    spread = np.zeros((len(tau), 2))
    spread[:, 0] = tau
    for integrator in INTEGRATORS:
        engine = fast.engine(integrator)
        plain = engine.advance(q, v, tau, 0.0, 0.01, 1)
        assert not np.shares_memory(*plain)
        for others in ((q, v, tau, 0, 0.01), (q, v, spread[:, 0], 0.0, np.float64(0.01))):
            assert_array_equal(np.r_[engine.advance(*others, 1)], np.r_[plain])
        assert np.abs(plain[1] - v).max() > 1e-4


def test_one_step_keeps_no_memory(pair, rng):
    case, fast = pair('sled')
    engine, inputs = fast.engine('rk4'), (*case.state(rng), 0.5, 0.01, 1)

    def references():
        return [sys.getrefcount(x) for x in inputs]

    ends = [engine.advance(*inputs) for _ in range(100)]
    before = references()
    blocks = sys.getallocatedblocks()
    for _ in range(300):
        ends[0] = engine.advance(*inputs)
    assert references() == before
    assert sys.getallocatedblocks() - blocks < 150  # a block lost in every other call


@pytest.mark.parametrize('n', [1, 3])
@pytest.mark.parametrize('integrator', INTEGRATORS)
def test_steps_end_within_all_bounds(integrator, n, pair):
    """Regression: what an engine returned could be beyond them, and NaN."""
    case, fast = pair('slides')
    q, v, tau = case.robot.neutral(), np.zeros(case.robot.nv), np.zeros(case.robot.nv)
    v[0] = 0.9e12
    engines = fast.engine(integrator), kd.dynamics(case.robot).engine(integrator)
    for engine in engines:
        near = engine.advance(q, v, tau, 0.0, 0.1, n)
        assert np.abs(near[0]).max() > 0.05e12
        with pytest.raises(DivergedError, match=r'diverged by t = '):
            engine.advance(q, v, tau, 0.0, 2.0, n)


def test_arguments_of_steps_are_not_written(pair, rng):
    case, fast = pair('linkage')
    q, v, tau = (read_only(x) for x in case.state(rng))
    kept = q.copy(), v.copy(), tau.copy()
    fast.engine('rk4').advance(q, v, tau, 0.0, 0.01, 3)
    for array, before in zip((q, v, tau), kept, strict=True):
        assert_array_equal(array, before)


def read_only(x):
    """Return a copy that cannot be written."""
    x = x.copy()
    x.setflags(write=False)
    return x


@pytest.mark.parametrize('integrator', INTEGRATORS)
def test_not_a_number_is_a_motion_that_diverged(integrator, pair, rng):
    # the machine code stops before a state that is none, and the reference says so
    case, fast = pair('linkage')
    q, v, tau = case.state(rng)
    for bad in ((q * np.nan, v, tau), (q, v * np.nan, tau)):
        with pytest.raises(DivergedError, match='diverged by t = '):
            fast.engine(integrator).advance(*bad, 0.0, 0.01, 3)


@pytest.fixture(scope='module')
def unlocked():
    """Return an arm whose third joint is held by a row that nearly is another at t = 0.04 s."""
    robot = CASES['massless']().robot

    def rows(q, t):
        return [[1.0, 1.0, 0.0, 0.0], [1.0, 1.0, 2.0 * (t - 0.0405), 0.0]]

    constraints = (kd.constraints.pfaffian(robot, rows, label='rows'),)
    return robot, constraints, kd.compile(robot, constraints, cache=False)


@pytest.mark.parametrize('integrator', INTEGRATORS)
def test_steps_where_rows_depend_on_each_other(integrator, unlocked):
    robot, constraints, fast = unlocked
    v = np.array([0.5, -0.5, 0.0, 0.8])
    q, tau = np.array([0.3, 0.2, -0.4, 0.6]), np.array([0.3, -0.2, 0.0, 0.1])
    expected = kd.simulate(
        robot,
        q,
        v,
        0.1,
        effort=lambda *state: tau,
        constraints=constraints,
        step=0.01,
        integrator=integrator,
    )
    before = fast.fallback_count
    run = fast.simulate(q, v, 0.1, effort=tau, step=0.01, integrator=integrator)
    assert fast.fallback_count == before
    assert error(run.q, expected.q) < AGREEMENT
    assert error(run.v, expected.v) < AGREEMENT
    # the same with efforts of each step
    rows = np.tile(tau, (10, 1))
    rows[8:] *= -1.0
    varied = fast.simulate(q, v, 0.1, effort=rows, step=0.01, integrator=integrator)
    assert_array_equal(varied.v[:9], run.v[:9])
    assert (varied.v[9:] != run.v[9:]).any()


def test_unknown_integrator(pair):
    with pytest.raises(InvalidInputError, match="integrator must be one of .*'leapfrog'"):
        pair('planar_2r')[1].engine('leapfrog')


def feedback(t, q, v):
    """Return efforts that hold the third and fourth joint of the arm on moving targets."""
    targets = np.array([0.0, 0.0, 0.3, 0.2]) * np.sin(3.0 * t)
    gains = np.array([0.0, 0.0, 4.0, 1.0])
    return gains * (targets - q) - 0.2 * v + np.cos(q) * t


@pytest.fixture(scope='module')
def loop(unlocked):
    """Return robot, constraints and compiled robot with an effort law."""
    robot, constraints, _ = unlocked
    fast = kd.compile(robot, constraints, effort=feedback, cache=False)
    return robot, constraints, fast


class TestEffortLaw:
    """A closed loop in one compiled call."""

    @pytest.mark.parametrize('integrator', INTEGRATORS)
    def test_same_motion(self, integrator, loop):
        # held over each step; near t = 0.04 s rows depend on each other
        robot, constraints, fast = loop
        q, v = np.array([0.3, 0.2, -0.4, 0.6]), np.array([0.5, -0.5, 0.0, 0.8])
        more = np.array([0.1, 0.0, -0.2, 0.3])
        expected = kd.simulate(
            robot,
            q,
            v,
            0.1,
            effort=lambda t, q, v: feedback(t, q, v) + more,
            constraints=constraints,
            step=0.01,
            integrator=integrator,
        )
        before = fast.fallback_count
        run = fast.simulate(q, v, 0.1, effort=more, step=0.01, integrator=integrator)
        assert error(run.q, expected.q) < AGREEMENT
        assert error(run.v, expected.v) < AGREEMENT
        assert fast.fallback_count == before

    @pytest.mark.parametrize(
        'law',
        [
            lambda t, q, v: [math.sin(q[0]) + q[1], 0.0],
            lambda t, q, v: np.where(q > 0.0, 1.0, -1.0),
            lambda t, q, v: np.array(q + v, dtype=float),
            lambda t, q, v: np.clip(q, -1.0, 1.0),
            lambda t, q, v: 1.0,
            lambda t, q, v: q[5],
            lambda t, q, v: q.unknown,
            lambda t, q, v: 'no',
        ],
    )
    def test_laws_that_need_numbers(self, law, pair):
        """Regression: math.sin of a CasADi symbol is NaN, and q[1] + NaN no NaN to isnan."""
        with pytest.raises(InvalidInputError, match='the effort law (cannot|must give 2)'):
            kd.compile(pair('planar_2r')[0].robot, effort=law, cache=False)

    def test_a_law_that_gives_no_number_is_named(self, pair):
        fast = kd.compile(
            pair('planar_2r')[0].robot,
            effort=lambda t, q, v: [(0.005 - t) ** 0.5, 0.0],
            cache=False,
        )
        with pytest.raises(InvalidInputError, match=r'effort law at t = 0\.006 s: need'):
            fast.simulate([0.0, 0.0], [0.0, 0.0], 0.1)

    def test_wrong_number_of_efforts(self, pair):
        with pytest.raises(InvalidInputError, match='must give 2 efforts'):
            kd.compile(pair('planar_2r')[0].robot, effort=lambda t, q, v: [1.0], cache=False)
