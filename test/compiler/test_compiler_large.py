# SPDX-License-Identifier: Apache-2.0
"""Robots whose solves are too large for straight-line code: recursions compiled, solves dense."""

import numpy as np
import pytest
from kernel_cases import agree, error
from numpy.testing import assert_allclose
from support.machines import X, Y, at, inertia, revolute

import kane_dynamics as kd
from kane_dynamics.compiler import recipe
from kane_dynamics.exceptions import InvalidInputError


@pytest.fixture(scope='module')
def large(tmp_path_factory):
    """Return a small robot that is compiled as if it were large, with a coupling."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv('XDG_CACHE_HOME', str(tmp_path_factory.mktemp('cache')))
        patch.setattr(recipe, 'MOST_COUPLED_PAIRS', 5)
        robot = kd.serial_chain(4)
        first, second = robot.joint_names[:2]
        rows = [kd.constraints.coupling(robot, second, first, 0.5)]
        fast = kd.compile(robot, rows)
    return robot, rows, fast  # with the bound as it was: other robots of these tests are small


def states(robot, count):
    return np.random.default_rng(3).normal(size=(3, count, robot.nv))


def test_size_counts_coupled_pairs():
    assert not recipe.too_large(kd.serial_chain(24))  # 24 * 25 / 2 = 300
    assert recipe.too_large(kd.serial_chain(25))
    free = kd.serial_chain(14)  # 14 * 15 / 2 = 105
    assert recipe.as_loops(free, (), whole_graphs=False)
    assert not recipe.as_loops(free, (), whole_graphs=True)
    rows = [kd.constraints.lock(free, free.joint_names[0])]
    assert not recipe.as_loops(free, rows, whole_graphs=False)
    assert not recipe.as_loops(kd.serial_chain(13), (), whole_graphs=False)


def test_coriolis_matrix_in_columns_beside_straight_line_code(monkeypatch):
    monkeypatch.setattr(recipe, 'MOST_SQUARED_DEPTHS', 10)
    robot = kd.serial_chain(3)
    fast = kd.compile(robot, cache=False)
    assert 'motion' in fast.instructions and 'coriolis_matrix' not in fast.instructions
    q, v, _ = states(robot, 2)
    expected = [kd.coriolis_matrix(robot, *state) for state in zip(q, v, strict=True)]
    # some tens of roundings
    assert_allclose(fast.coriolis_matrix(q, v), expected, rtol=0, atol=1e-14)


def test_rollouts_in_single_precision_are_refused(large):
    """Regression: steps were taken in double, and nothing was said."""
    robot, _, fast = large
    q, v, _ = states(robot, 1)[:, 0]
    with pytest.raises(InvalidInputError, match=r"needs kd.compile\(precision='float32'\)"):
        kd.rollout(fast, q, v, 0.01, precision='float32')


def test_results_are_those_of_the_reference(large):
    robot, rows, fast = large
    q, v, tau = states(robot, 1)[:, 0]
    # a few hundred roundings each
    agree(robot, rows, fast, q, v, tau, bound=1e-13)
    assert error(fast.mass_matrix(q), kd.mass_matrix(robot, q)) < 1e-13
    assert error(fast.coriolis_matrix(q, v), kd.coriolis_matrix(robot, q, v)) < 1e-13


def test_small_entries_of_the_mass_matrix_are_as_exact_as_large_ones(monkeypatch):
    """Regression: M was a difference of two runs with gravity, with the roundoff of the root."""
    monkeypatch.setattr(recipe, 'MOST_COUPLED_PAIRS', 5)
    bodies = [
        kd.Body(
            f'link_{k}',
            f'link_{k - 1}' if k else '',
            revolute(f'joint_{k}', Y if k % 2 else X, armature=1e-9 * 0.03**k),
            at(0.0, 0.1, 0.4),
            inertia(0.03**k, (0.01, 0.02, 0.3)),
        )
        for k in range(6)
    ]
    robot = kd.Robot('whip', bodies)
    q = np.random.default_rng(5).normal(size=6)
    found, exact = kd.compile(robot, cache=False).mass_matrix(q), kd.mass_matrix(robot, q)
    scale = np.sqrt(np.outer(np.diag(exact), np.diag(exact)))
    assert scale.min() < 1e-7 * scale.max()
    assert np.abs((found - exact) / scale).max() < 1e-14  # some tens of roundings


def test_every_function_on_no_states_at_all(large, pair):
    case, small = pair('massless')
    for robot, fast in (large[::2], (case.robot, small)):
        empty = {'q': np.empty((0, robot.nq)), 'v': np.empty((0, robot.nv))}
        empty |= {'a': empty['v'], 'tau': empty['v']}
        square, poses = (robot.nv, robot.nv), (len(fast.frames), 7)
        shapes = {
            'inverse_dynamics': ('q v a', (robot.nv,)),
            'bias_force': ('q v', (robot.nv,)),
            'gravity_force': ('q', (robot.nv,)),
            'mass_matrix': ('q', square),
            'coriolis_matrix': ('q v', square),
            'kinetic_energy': ('q v', ()),
            'potential_energy': ('q', ()),
            'frame_poses': ('q', poses),
            'acceleration': ('q v tau', (robot.nv,)),
        }
        for name, (inputs, shape) in shapes.items():
            named = {x: empty[x] for x in inputs.split()}
            assert getattr(fast, name)(*named.values()).shape == (0, *shape), name
            out = np.empty((0, *shape))
            assert getattr(fast, name)(**named, out=out) is out


@pytest.mark.parametrize('bad', [np.nan, np.inf])
def test_a_row_that_is_not_finite_stays_alone(bad, large):
    robot, _, fast = large
    q, v, tau = states(robot, 4)
    clean = fast.acceleration(q, v, tau), fast.mass_matrix(q), fast.coriolis_matrix(q, v)
    q[2, 1] = bad
    others = [0, 1, 3]
    for found, before in zip(
        (fast.acceleration(q, v, tau), fast.mass_matrix(q), fast.coriolis_matrix(q, v)),
        clean,
        strict=True,
    ):
        assert np.isnan(found[2]).all()
        assert_allclose(found[others], before[others], rtol=0, atol=0)


def test_rows_of_states_and_out(large):
    robot, _, fast = large
    q, v, tau = states(robot, 5)
    together = fast.acceleration(q, v, tau[0])
    alone = [fast.acceleration(a, b, tau[0]) for a, b in zip(q, v, strict=True)]
    assert_allclose(together, alone, rtol=0, atol=0)
    out = np.empty((5, robot.nv, robot.nv))
    assert fast.mass_matrix(q, out=out) is out
    assert_allclose(out[2], fast.mass_matrix(q[2]), rtol=0, atol=0)
    with pytest.raises(InvalidInputError, match='different lengths'):
        fast.acceleration(q, v[:3], tau)
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


def test_derivatives_that_were_not_compiled_are_refused(large):
    robot, _, fast = large
    with pytest.raises(InvalidInputError, match='compile with derivatives=True'):
        fast.inverse_dynamics_derivatives(*states(robot, 1)[:, 0])
