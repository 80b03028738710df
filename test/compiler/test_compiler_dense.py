# SPDX-License-Identifier: Apache-2.0
"""Solves by dense rows: robots of any size, and states where rows depend on each other."""

import ctypes
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from support.machines import differential_drive

import kane_dynamics as kd
from kane_dynamics.algorithms.mass_matrix import gauss_mass_matrix
from kane_dynamics.compiler import recipe
from kane_dynamics.compiler.engine import CompiledEngine
from kane_dynamics.compiler.graphs import row_plan
from kane_dynamics.compiler.llvm.kernel_spec import routine_parts
from kane_dynamics.compiler.llvm.native import Linker, NativeModule, compile_object
from kane_dynamics.compiler.llvm.routine import Array, Table, empty, zeros
from kane_dynamics.exceptions import InconsistentConstraintsError, PerformanceWarning
from studies.random_robots import random_tree
from studies.singular import n_four_bar

STEP = 1e-3
SIZE = 3
TABLE: Table = np.zeros(0, dtype=np.int64)


def parallel(angle, speed):
    return np.array([angle] * 3 + [-angle] * 2), speed * np.array([1.0] * 3 + [-1.0] * 2)


@pytest.fixture(scope='module')
def bars():
    robot, rows = n_four_bar()
    return robot, rows, kd.compile(robot, rows)


def test_a_singular_crossing_stalled_in_the_reference(bars):
    """Regression: each state near the flat position went to numpy, 6 ms instead of 20 us."""
    robot, rows, fast = bars
    before, tau = fast.fallback_count, np.array([0.3, -0.2, 0.5, 0.1, -0.4])
    for angle in (0.3, 1e-2, 3e-3, 1e-3, 1e-5, 0.0):
        q, v = parallel(angle, -5.0)
        expected = kd.forward_dynamics(robot, q, v, tau, rows)
        assert expected.rank == (2 if angle <= 1e-3 else 4)
        assert_allclose(fast.acceleration(q, v, tau), expected.acceleration, rtol=0, atol=1e-10)
    batch = np.array([parallel(angle, -5.0) for angle in np.linspace(-2e-3, 2e-3, 9)])
    found = fast.acceleration(batch[:, 0], batch[:, 1], tau)
    ones = [fast.acceleration(q, v, tau) for q, v in batch]
    assert_allclose(found, ones, rtol=0, atol=1e-11)
    for integrator in ('rk4', 'midpoint'):
        engine, (q, v) = fast.engine(integrator), parallel(0.1, -5.0)
        start = kd.kinetic_energy(robot, q, v) + kd.potential_energy(robot, q)
        for k in range(40):
            q, v = engine.advance(q, v, np.zeros(5), k * STEP, STEP, 1)
        assert q[0] < -0.05  # through, and on the same branch: rods parallel
        assert_allclose(q[:3], q[0], rtol=0, atol=1e-6)
        end = kd.kinetic_energy(robot, q, v) + kd.potential_energy(robot, q)
        assert abs(end - start) < 1e-3 * start
    assert fast.fallback_count == before


def test_many_rows_took_hours_to_plan_and_to_compile(monkeypatch):
    """Regression: forty bars, 200 rows, were not planned after ten minutes."""
    for module in (recipe, row_plan):
        monkeypatch.setattr(module, 'MOST_ROWS', 9)
    robot, rows = n_four_bar()
    with pytest.warns(PerformanceWarning, match='5 speeds and 10 rows'):
        fast = kd.compile(robot, rows, cache=False)
    tau = np.array([0.3, -0.2, 0.5, 0.1, -0.4])
    for angle in (1.0, 3e-3, 0.0):
        q, v = parallel(angle, -5.0)
        expected = kd.forward_dynamics(robot, q, v, tau, rows).acceleration
        assert_allclose(fast.acceleration(q, v, tau), expected, rtol=0, atol=1e-10)
        nearest = kd.dynamics(robot, rows).consistent_velocity(q, v + 0.1)
        assert_allclose(fast.consistent_velocity(q, v + 0.1), nearest, rtol=0, atol=1e-10)
    assert fast.fallback_count == 0


def test_what_contradicts_goes_to_the_reference_which_says_so():
    robot = kd.serial_chain(2)
    one = kd.constraints.pfaffian(robot, lambda q, t: [1.0, 0.0], lambda q, t: t, label='one')
    other = kd.constraints.pfaffian(robot, lambda q, t: [1.0, 0.0], lambda q, t: -t, label='other')
    fast = kd.compile(robot, (one, other), cache=False)
    with pytest.raises(InconsistentConstraintsError):
        fast.acceleration(np.zeros(2), np.zeros(2), np.zeros(2), 1.0)
    assert fast.fallback_count == 1


@pytest.fixture
def large(monkeypatch):
    """Return a drive with wheels and an arm whose code is loops, and what compiling said."""
    monkeypatch.setattr(recipe, 'MOST_COUPLED_PAIRS', 5)
    robot = differential_drive(arm=True, damping=0.4, friction=0.2, armature=0.01)
    rows = (kd.constraints.differential_drive(robot, 'left', 'right', 0.1),)
    with pytest.warns(PerformanceWarning) as said:
        fast = kd.compile(robot, rows)
    return robot, rows, fast, str(said[0].message)


def test_a_large_robot_fell_back_without_a_word(large):
    """Regression: above the straight-line bound steps were those of numpy, and nothing said so."""
    robot, rows, fast, said = large
    rng = np.random.default_rng(5)
    for integrator in ('semi_implicit', 'rk4', 'midpoint'):
        engine = fast.engine(integrator)
        assert isinstance(engine, CompiledEngine)
        q, v = rng.uniform(-0.5, 0.5, (2, robot.nv))
        q, v = kd.simulation.project(robot, rows, q, v, 0.0)
        slow = kd.Simulation(robot, rows, STEP, integrator)
        slow.reset(q, v)
        tau = rng.uniform(-2, 2, robot.nv)
        for k in range(5):
            slow.step(tau)
            q, v = engine.advance(q, v, tau, k * STEP, STEP, 1)
        assert_allclose(q, slow.q, rtol=0, atol=1e-11)
        assert_allclose(v, slow.v, rtol=0, atol=1e-9)
    expected = kd.forward_dynamics(robot, q, v, tau, rows).acceleration
    assert_allclose(fast.acceleration(q, v, tau), expected, rtol=1e-10, atol=1e-10)
    assert fast.fallback_count == 0
    for name in ('consistent_velocity', 'inverse_dynamics(external_wrenches=)'):
        assert name in fast.not_compiled
        assert name in said
        assert name in repr(fast)


def test_mass_matrix_of_loops_with_a_follower(monkeypatch, rng):
    monkeypatch.setattr(recipe, 'MOST_COUPLED_PAIRS', 5)
    bodies = list(kd.serial_chain(5).bodies)
    bodies[4] = replace(bodies[4], mimic=kd.Mimic('joint_2', -1.5, 0.3))
    robot = kd.Robot('follows', bodies)
    with pytest.warns(PerformanceWarning):
        fast = kd.compile(robot, cache=False)
    q, v, tau = rng.uniform(-1, 1, (3, robot.nv))
    expected = gauss_mass_matrix(robot, q.tolist())
    assert_allclose(fast.mass_matrix(q), expected, rtol=0, atol=1e-13)
    expected = kd.forward_dynamics(robot, q, v, tau).acceleration
    assert_allclose(fast.acceleration(q, v, tau), expected, rtol=1e-11, atol=1e-11)


def sums(x: Array, out: Array) -> float:
    """Do one of everything that a routine may hold."""
    own = empty(SIZE)
    for k in range(SIZE):
        own[k] = 2.0 * x[TABLE[k]]
    nothing = zeros(SIZE)
    total = nothing[SIZE - 1]
    for k in range(1, SIZE):
        total += own[k] - x[k - 1]
    if total < -1.0 or not total > -10.0:
        return -1.0
    rest = own[1:]
    out[0] = max(total, abs(rest[0]))
    out[1] = -min(int(total), SIZE)
    return total / 2


@pytest.mark.parametrize('x', [[1.0, 2.0, 3.0], [-4.0, 5.0, 0.25], [9.0, -9.0, -9.0]])
def test_a_routine_is_what_python_does(x, monkeypatch):
    monkeypatch.setitem(sums.__globals__, 'TABLE', np.array([2, 0, 1]))
    expected, given = np.zeros(2), np.array(x)
    rcond = sums(given, expected)
    parts = routine_parts((sums,), {'SIZE': SIZE, 'TABLE': [2, 0, 1]}, {}, {})
    declared = set().union(*(names for _, names in parts.values()))
    text = '\n'.join([*declared, *(text for text, _ in parts.values())])
    code = compile_object(text.replace('define internal', 'define'))
    call = NativeModule(code, ['rows_sums'], Linker()).function(
        'rows_sums', ctypes.c_double, ctypes.c_void_p, ctypes.c_void_p
    )
    found = np.zeros(2)
    assert call(given.ctypes.data, found.ctypes.data) == rcond
    assert_allclose(found, expected, rtol=0, atol=0)


THOROUGH = pytest.mark.thorough


@pytest.mark.parametrize(
    ('base', 'integrator'),
    [
        ('planar', 'semi_implicit'),
        pytest.param('fixed', 'rk4', marks=THOROUGH),
        pytest.param('floating', 'midpoint', marks=THOROUGH),
    ],
)
def test_rows_on_trees_of_all_joints_are_solved_body_by_body(base, integrator, rng, monkeypatch):
    """Articulated bodies in world axes, beside the reference: equal, repeated and dropped rows."""
    monkeypatch.setattr(recipe, 'MOST_COUPLED_PAIRS', 5)
    robot = random_tree(rng, base, mimic=False)
    link, last = robot.bodies[2].name, robot.nv - 1
    A = rng.uniform(-1, 1, (2, robot.nv))
    A[1, last] += 1e-5  # and one that all but repeats the first
    rows = tuple(
        kd.constraints.pfaffian(robot, lambda q, t, row=row: row.tolist(), label=f'row{k}')
        for k, row in enumerate((A[0], A[1], A[0] + 1e-6 * A[1], 2.0 * A[0]))
    )
    with pytest.warns(PerformanceWarning):
        fast = kd.compile(robot, rows, payloads=(link,), cache=False)
    slow = kd.dynamics(robot, rows)
    for engine in (fast, slow):
        engine.set_gravity((1.0, -2.0, -9.0))
        engine.set_payload(link, 2.0, (0.1, 0.2, -0.1), np.diag((0.1, 0.2, 0.15)))
    q = kd.integrate(robot, robot.neutral(), rng.uniform(-1, 1, robot.nv), 1.0)
    v, tau = rng.uniform(-1, 1, (2, robot.nv))
    v = slow.consistent_velocity(q, v)
    expected = slow.acceleration(q, v, tau)
    size = np.abs(expected).max()
    assert_allclose(fast.acceleration(q, v, tau), expected, rtol=0, atol=1e-10 * size)
    ends = [x.step(q, v, tau, STEP, integrator=integrator) for x in (fast, slow)]
    for one, other in zip(*ends, strict=True):
        assert_allclose(one, other, rtol=0, atol=1e-10 * (1.0 + size))
    assert fast.fallback_count == 0
