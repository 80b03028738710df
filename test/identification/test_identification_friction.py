# SPDX-License-Identifier: Apache-2.0
"""Friction: its columns, Dahl's state against a loop, terms that every block asks for."""

from dataclasses import replace
from itertools import combinations, pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import lsq_linear
from support.identified import exciting_motion, modelled_samples, samples_of

import kane_dynamics as kd
from kane_dynamics.analysis.joint_friction import FrictionTerm, presliding_states
from kane_dynamics.analysis.momentum_observer import ObservedSpeeds
from kane_dynamics.exceptions import InvalidInputError, NameNotFoundError
from kane_dynamics.identification.base_parameters import base_parameters
from kane_dynamics.identification.equations import Equations
from kane_dynamics.identification.estimation import (
    corrected_fit,
    least_squares,
    pseudo_inertias,
)
from kane_dynamics.identification.friction import (
    LINK_SIDE,
    dissipation_rows,
    dissipative,
    friction_columns,
    noise_columns,
)
from kane_dynamics.identification.friction_selection import select_friction
from kane_dynamics.identification.identification import identify
from kane_dynamics.identification.samples import prepared_samples
from kane_dynamics.robot.inertial_parameters import inertial_parameters

pytest.importorskip('clarabel', reason='pip install .[cones]')


def test_presliding_is_the_recursion(rng):
    q = np.cumsum(rng.normal(0.0, 0.01, 500))
    z, states = 0.0, [0.0]
    for before, after in pairwise(q):
        s = np.sign(after - before)
        z = s - (s - z) * np.exp(-abs(after - before) / 0.02)
        states.append(z)
    assert_allclose(presliding_states(q, 0.02), states, rtol=0, atol=1e-14)
    assert np.abs(states).max() <= 1.0


def test_presliding_saturates_and_holds_still():
    z = presliding_states(np.r_[np.linspace(0.0, 1.0, 50), np.ones(20)], 0.01)
    assert z[49] == pytest.approx(1.0)
    assert (z[49:] == z[49]).all()
    back = presliding_states(np.r_[0.0, 1.0, 1.0 - 0.01 * np.log(2.0)], 0.01)
    assert back[-1] == pytest.approx(0.0, abs=1e-12)  # after x_c log 2 against it


def test_columns_are_the_terms_of_the_equation():
    robot = kd.serial_chain(2)
    q, v, a = np.random.default_rng(1).normal(size=(3, 20, 2))
    samples = samples_of(np.arange(20.0), q, v, a, 0.0 * q)
    kinds = ('viscous', 0), ('coulomb', 0), ('offset', 0), ('rotor_inertia', 0), ('stribeck', 0.1)
    terms = [FrictionTerm(*kind) for kind in (*kinds, ('presliding', 0.3))]
    columns = friction_columns(robot, samples, robot.velocity_names[1], terms)
    tanh = np.tanh(v[:, 1] / 0.02)
    expected = [v[:, 1], tanh, np.ones(20), a[:, 1], tanh * np.exp(-np.abs(v[:, 1]) / 0.1)]
    expected.append(presliding_states(q[:, 1], 0.3))
    assert_allclose(columns, np.column_stack(expected), rtol=1e-14)


@pytest.mark.parametrize('kind', ['viscous', 'coulomb', 'stribeck'])
def test_columns_keep_their_mean_and_show_their_noise(kind, rng):
    """Regression: tanh of a speed with noise is less than tanh of the speed, in the mean."""
    robot, term, count = kd.serial_chain(1), FrictionTerm(kind, 0.1), 200_000
    still = samples_of(np.arange(float(count)), *np.zeros((4, count, 1)))
    for speed in (0.0, 0.02, -0.015):
        noise = 0.003 * rng.normal(size=(2, count, 1))
        rates = speed + noise[0]
        samples = replace(still, v=rates, rates=rates, noise=noise[1])
        column, twin = (
            f(robot, samples, 'joint_1', [term])[:, 0] for f in (friction_columns, noise_columns)
        )
        decay = np.exp(-abs(speed) / 0.1) if kind == 'stribeck' else 1.0
        expected = speed if kind == 'viscous' else np.tanh(speed / 0.02) * decay
        assert column.mean() == pytest.approx(expected, abs=3e-3)
        assert twin.std() == pytest.approx(column.std(), rel=0.1)
        assert abs(twin.mean()) < 1e-3
        assert abs(np.corrcoef(column, twin)[0, 1]) < 0.01


@pytest.fixture(scope='module')
def slow_reversals():
    """Return a joint that is slow for a third of the time, and samples of it by noise and seed."""
    dynamics = kd.compile(kd.serial_chain(1), cache=False)
    t = np.arange(0.0, 20.0, 0.001)[:, None]
    s, c = np.sin(t), np.cos(t)
    q, v, a = -0.3 * (c - 2.0 / 3.0 * c**3 + 0.2 * c**5), 0.3 * s**5, 1.5 * s**4 * c
    tau = dynamics.inverse_dynamics(q, v, a) + 0.3 * v + 2.0 * np.tanh(v / 0.02)

    def recorded(noise, seed):
        n = np.random.default_rng(seed).normal(size=(2, *t.shape))
        columns = q, tau + 0.02 * n[0], v + noise * n[1]
        return prepared_samples(t[:, 0], *columns, corner=4.0, rate=50.0)[0]

    return dynamics, recorded


def test_noise_of_speeds_takes_nothing_from_friction(slow_reversals):
    """Regression: Coulomb friction came out two deviations too small, viscous too large."""
    dynamics, recorded = slow_reversals
    equations = Equations(dynamics, ObservedSpeeds(dynamics), {'joint_1': LINK_SIDE})
    errors = []
    for seed in range(20):
        samples = recorded(0.02, seed)
        triangles = equations.triangles([samples])
        rows = triangles.weighted(np.ones(1))[:, :-1]
        base = base_parameters(rows, equations.names, equations.preferences)
        raw = least_squares(triangles, base)
        fit = corrected_fit(equations, [samples], base, raw)
        k = [base.sums.index(f'{kind} joint_1') for kind in ('viscous', 'coulomb')]
        deviations = np.sqrt(np.diag(fit.covariance))[k]
        errors.append([(one.values[k] - [0.3, 2.0]) / deviations for one in (raw, fit)])
    before, after = np.mean(errors, axis=0)
    assert np.abs(after).max() < 0.7  # 0.25 is the deviation of a mean of twenty
    assert before[0] > 1.2
    assert before[1] < -1.2


def test_consistent_friction_is_corrected_as_well(slow_reversals):
    dynamics, recorded = slow_reversals
    samples = recorded(0.02, 1)
    unknown = replace(samples, noise=np.zeros_like(samples.noise))
    known, before = (identify(dynamics, [one]) for one in (samples, unknown))
    k = known.base.names.index('coulomb joint_1')
    changes = {x: known.solutions[x][k] - before.solutions[x][k] for x in known.solutions}
    assert changes['least_squares'] > 1e-3
    assert changes['consistent'] == pytest.approx(changes['least_squares'], rel=0.3)
    assert changes['nominal'] == 0.0


def test_friction_takes_power_at_every_speed():
    terms = [*LINK_SIDE, FrictionTerm('stribeck', 0.1)]
    rows = dissipation_rows([(name, term) for name in 'ab' for term in terms])
    good = np.tile([0.1, 0.5, -3.0, -0.4], 2)  # less friction at low speed, but some
    assert (rows @ good >= 0.0).all()
    for k, value in ((0, -0.1), (1, 0.3), (5, -0.1), (7, -0.6)):
        bad = good.copy()
        bad[k] = value
        assert (rows @ bad < 0.0).any(), k


def test_what_a_solver_misses_is_removed():
    """Coefficients just below their bounds are put on them, others stay."""
    terms = [*LINK_SIDE, FrictionTerm('stribeck', 0.1)]
    columns = [(name, term) for name in 'ab' for term in terms]
    missed = np.array([-1e-9, 0.3, -2.0, -0.3 - 1e-9, 0.1, -1e-9, -2.0, -1e-9])
    found = dissipative(columns, missed)
    assert_allclose(found, [0.0, 0.3, -2.0, -0.3, 0.1, 0.0, -2.0, 0.0], rtol=0, atol=0)
    assert (dissipation_rows(columns) @ found >= 0.0).all()
    assert_allclose(dissipative(columns, found), found, rtol=0, atol=0)


def test_terms_that_help_in_every_block_are_selected():
    dynamics = kd.dynamics(kd.serial_chain(3))
    phi = inertial_parameters(dynamics.robot)
    samples = modelled_samples(
        dynamics, phi, {'viscous': 0.3, 'coulomb': 0.2}, 0.02, rate=30.0, duration=20.0
    )
    name = dynamics.robot.velocity_names[1]
    term = FrictionTerm('presliding', 0.02)
    samples.tau[:, 1] += 0.8 * friction_columns(dynamics.robot, samples, name, [term])[:, 0]
    candidates = FrictionTerm('stribeck', 0.1), FrictionTerm('presliding', 0.002), term
    found = select_friction(dynamics, [samples], candidates=candidates)
    assert found[name] == (*LINK_SIDE, term)
    presliding = [speed for speed, terms in found.items() if term in terms]
    assert presliding == [name]


def slow_joint_samples(first):
    """Return two joints, one of them slow, whose v_0 is 0.002 but for a first block."""
    dynamics = kd.dynamics(kd.serial_chain(2))
    t, q, v, a = exciting_motion(2, duration=20.0, rate=50.0)
    q, v, a = (x * [1.0, 0.01] for x in (q, v, a))
    v0 = np.column_stack([np.full(len(t), 0.02), np.where(t < 5.0, first, 0.002)])
    tau = dynamics.inverse_dynamics(q, v, a) + 0.3 * v + 0.5 * np.tanh(v / v0)
    noise = np.random.default_rng(9).normal(0.0, 0.02, tau.shape)
    return dynamics, samples_of(t, q, v, a, tau + noise)


@pytest.mark.parametrize(('first', 'slow'), [(0.002, 0.002), (0.02, 0.005)])
def test_slow_joint_has_a_v0_of_its_own(first, slow):
    """Another v_0 adds no unknown: it need not predict each block better, as a first of 0.02."""
    dynamics, samples = slow_joint_samples(first)
    selection = select_friction(dynamics, [samples])
    assert [terms[1].smoothing for terms in selection.values()] == [0.02, slow]
    assert [len(terms) for terms in selection.values()] == [3, 3]


def test_coulomb_friction_of_a_slow_joint():
    """Regression: tanh(v / 0.02) is no sign of 0.01 rad/s, and Coulomb friction was too large."""
    dynamics, samples = slow_joint_samples(0.002)
    for terms, within in ((select_friction(dynamics, [samples]), True), (LINK_SIDE, False)):
        found = identify(dynamics, [samples], friction=terms)
        k = found.base.names.index('coulomb joint_2')
        (i,) = np.flatnonzero(found.base.leading == k)
        deviation = np.sqrt(found.fit.covariance[i, i])
        assert (abs(found.fit.values[i] - 0.5) < 3.0 * deviation) == within


def test_stribeck_turns_with_coulomb():
    """One v_0 is all that a node knows of a joint."""
    term, narrow = FrictionTerm('stribeck', 0.05), FrictionTerm('coulomb', smoothing=0.002)
    dynamics = kd.dynamics(kd.serial_chain(1))
    t, q, v, a = exciting_motion(1, duration=20.0, rate=50.0)
    q, v, a = 0.1 * q, 0.1 * v, 0.1 * a
    turn = np.tanh(v / 0.002) * (0.5 + 0.4 * np.exp(-np.abs(v) / 0.05))
    tau = dynamics.inverse_dynamics(q, v, a) + turn
    noise = np.random.default_rng(9).normal(0.0, 0.01, tau.shape)
    candidates = term, FrictionTerm('coulomb', smoothing=0.002)
    found = select_friction(dynamics, [samples_of(t, q, v, a, tau + noise)], candidates=candidates)
    expected = [narrow if x.kind == 'coulomb' else x for x in LINK_SIDE]
    assert found['joint_1'] == (*expected, term._replace(smoothing=0.002))


def noisy_samples(friction, rest=(), noise=0.05, duration=20.0):
    """Return three joints and samples with friction of v and z, those in rest at rest."""
    dynamics = kd.dynamics(kd.serial_chain(3))
    t, q, v, a = exciting_motion(3, duration=duration, rate=50.0)
    for x in (q, v, a):
        x[:, rest] = 0.0
    tau = dynamics.inverse_dynamics(q, v, a) + friction(q, v)
    return dynamics, samples_of(
        t, q, v, a, tau + noise * np.random.default_rng(4).normal(size=v.shape)
    )


def coulomb(q, v):
    return 0.3 * v + 0.5 * np.tanh(v / 0.02)


def concave(q, v):
    """Return friction that grows less and less, of harmonic drives: a Stribeck term below zero."""
    return coulomb(q, v) * [1.0, 0.0, 1.0] + [0, 1, 0] * np.tanh(v / 0.02) * (
        2.0 - np.exp(-np.abs(v))
    )


def added(selection):
    return {
        name: [x[:2] for x in terms if x not in LINK_SIDE] for name, terms in selection.items()
    }


@pytest.mark.parametrize('seed', range(3))
def test_noise_adds_no_term(seed):
    dynamics = kd.dynamics(kd.serial_chain(3))
    t, q, v, a = exciting_motion(3, duration=20.0, rate=50.0, seed=seed)
    noise = np.random.default_rng(seed).normal(size=v.shape)
    for tau in (noise, dynamics.inverse_dynamics(q, v, a) + coulomb(q, v) + 0.1 * noise):
        selection = select_friction(dynamics, [samples_of(t, q, v, a, tau)])
        assert {len(terms) for terms in selection.values()} == {len(LINK_SIDE)}


def test_concave_friction_is_a_negative_stribeck_term():
    dynamics, samples = noisy_samples(concave)
    selection = select_friction(dynamics, [samples])
    stribeck = FrictionTerm('stribeck', 1.0)
    assert added(selection) == {'joint_1': [], 'joint_2': [stribeck[:2]], 'joint_3': []}
    friction = identify(dynamics, [samples], friction=selection).friction['joint_2']
    assert friction[stribeck] == pytest.approx(-1.0, abs=0.1)


def test_coefficients_that_friction_cannot_have_help_nothing():
    """Presliding that pushes would explain these efforts; no fit can have it."""
    term = FrictionTerm('presliding', 0.02)

    def pushing(q, v):
        return 2.0 * coulomb(q, v) - 0.4 * np.column_stack(
            [presliding_states(x, 0.02) for x in q.T]
        )

    dynamics, samples = noisy_samples(pushing)
    selection = select_friction(dynamics, [samples], candidates=[term])
    assert set(selection.values()) == {LINK_SIDE}


def test_of_equal_candidates_one_is_selected():
    """Travels far below one step are the same sign of motion."""
    dynamics, samples = noisy_samples(
        lambda q, v: coulomb(q, v) + np.r_[np.zeros((1, 3)), np.sign(np.diff(q, axis=0))]
    )
    candidates = [FrictionTerm('presliding', travel) for travel in (1e-8, 1e-9)]
    for terms in select_friction(dynamics, [samples], candidates=candidates).values():
        assert terms[:-1] == LINK_SIDE
        assert terms[-1] in candidates


def test_terms_without_a_coefficient_keep_their_scale():
    """Regression: v_0 of Coulomb friction that must be zero was a matter of roundoff."""
    dynamics, samples = noisy_samples(lambda q, v: 0.3 * v - 0.2 * np.tanh(v / 0.02))
    candidates = [FrictionTerm('coulomb', smoothing=v0) for v0 in (0.002, 0.005, 0.01)]
    selection = select_friction(dynamics, [samples], candidates=candidates)
    assert set(selection.values()) == {LINK_SIDE}


def test_joint_at_rest_keeps_the_start():
    dynamics, samples = noisy_samples(coulomb, rest=[1])
    assert select_friction(dynamics, [samples])['joint_2'] == LINK_SIDE
    still = samples_of(
        samples.time, *(0.0 * x for x in (samples.q, samples.v, samples.a, samples.tau))
    )
    assert set(select_friction(dynamics, [still]).values()) == {LINK_SIDE}


@pytest.mark.parametrize('count', [1, 3, 5, 9])
def test_quarters_may_be_shorter_than_the_filter(count):
    dynamics, samples = noisy_samples(coulomb)
    selection = select_friction(dynamics, [samples.part(slice(count))])
    assert all(terms[0].kind == 'viscous' for terms in selection.values())


def test_recordings_add_up(monkeypatch):
    """Neither their order nor how many rows are made at once changes anything."""
    dynamics, samples = noisy_samples(concave)
    halves = [samples.part(slice(500)), samples.part(slice(500, None))]
    selection = select_friction(dynamics, halves)
    assert any(added(selection).values())
    monkeypatch.setattr('kane_dynamics.identification.equations.CHUNK', 64)
    assert select_friction(dynamics, halves[::-1]) == selection


def test_roundoff_adds_no_term():
    dynamics, samples = noisy_samples(coulomb, noise=0.0)
    assert set(select_friction(dynamics, [samples]).values()) == {LINK_SIDE}


def dense_cost(dynamics, samples, j, terms):
    """Return what `select_friction` minimizes, all unknowns of three quarters fitted at once."""
    robot, phi = dynamics.robot, inertial_parameters(dynamics.robot)
    n, size, start = robot.nv, len(phi), len(LINK_SIDE)
    W = dynamics.regressor(samples.q, samples.v, samples.a)
    names, kinds = robot.velocity_names, [x.kind for x in terms]
    A = np.zeros((n, len(samples), size + start * n + len(terms)))  # phi, starts, terms of j
    for k, name in enumerate(names):
        own = slice(size + start * k, size + start * (k + 1))
        A[k, :, :size], A[k, :, own] = W[:, k], friction_columns(robot, samples, name, LINK_SIDE)
    back = np.linalg.inv(np.linalg.cholesky(pseudo_inertias(phi)))
    units = [pseudo_inertias(unit) for unit in np.eye(size)]
    near = np.array([(back @ unit @ back.transpose(0, 2, 1)).ravel() for unit in units]).T
    near = np.hstack([np.sqrt(1e-3) * near, np.zeros((len(near), A.shape[2] - size))])
    lower = np.full(A.shape[2], -np.inf)
    lower[-len(terms) :] = np.where([kind == 'offset' for kind in kinds], -np.inf, 0.0)
    total = 0.0
    for quarter in np.array_split(np.arange(len(samples)), 4):
        others, B = np.delete(np.arange(len(samples)), quarter), A.copy()

        def fit(errors, bounds=(-np.inf, np.inf)):
            weights = 1.0 / np.sqrt(n * errors)
            rows = [w * B[k, others] for k, w in enumerate(weights)]  # noqa: B023
            right = [w * samples.tau[others, k] for k, w in enumerate(weights)]  # noqa: B023
            M, b = np.vstack([near, *rows]), np.concatenate([near[:, :size] @ phi, *right])
            return lsq_linear(M, b, bounds, method='bvls').x

        missing = [samples.tau[others, k] - W[others, k] @ phi for k in range(n)]
        friction = [A[k, others, size + start * k : size + start * (k + 1)] for k in range(n)]
        errors = np.concatenate(
            [np.linalg.lstsq(*x)[1] for x in zip(friction, missing, strict=True)]
        )
        for _ in range(3):
            missed = A[:, others] @ fit(errors) - samples.tau[others].T
            errors = np.sum(missed**2, axis=1)
        B[j, :, size : size + start * n] = 0.0
        B[j, :, -len(terms) :] = friction_columns(robot, samples, names[j], terms)
        if 'stribeck' in kinds:  # f_c and f_c + f_s are the unknowns
            c, stribeck = (kinds.index(x) - len(terms) for x in ('coulomb', 'stribeck'))
            B[j, :, c] -= B[j, :, stribeck]
        x = fit(errors, (lower, np.inf))
        total += np.sqrt(np.mean((B[j, quarter] @ x - samples.tau[quarter, j]) ** 2))
    return total * 0.95 ** -len(terms)


@pytest.mark.parametrize(
    ('seed', 'duration'), [(0, 12.0), (1, 12.0), *((k, 3.0) for k in range(4))]
)
def test_selection_is_that_of_dense_fits(seed, duration):
    """Friction is so small that a wrong weight, bound or sign selects other terms."""
    dynamics, rng = kd.dynamics(kd.serial_chain(2)), np.random.default_rng(seed)
    t, q, v, a = exciting_motion(2, duration=duration, rate=20.0, seed=seed)
    more = 0.05 * np.tanh(v / 0.02) * (rng.uniform(-1, 1, 2) - np.exp(-np.abs(v)))
    tau = dynamics.inverse_dynamics(q, v, 1.1 * a) + 0.3 * v + 0.3 * np.tanh(v / 0.02) + more
    samples = samples_of(t, q, v, a, tau + 0.05 * rng.normal(size=v.shape))
    candidates = [FrictionTerm('stribeck', 1.0), FrictionTerm('presliding', 0.05)]
    selection = select_friction(dynamics, [samples], candidates=candidates)
    choices = [(*LINK_SIDE, *more) for r in range(3) for more in combinations(candidates, r)]
    for j, name in enumerate(dynamics.robot.velocity_names):
        costs = [dense_cost(dynamics, samples, j, terms) for terms in choices]
        assert selection[name] == choices[int(np.argmin(costs))]


@pytest.mark.parametrize(
    ('terms', 'error', 'message'),
    [
        ([FrictionTerm('stiction')], InvalidInputError, 'must be one of'),
        ([FrictionTerm('viscous'), FrictionTerm('viscous')], InvalidInputError, 'different'),
        ([FrictionTerm('stribeck', 0.1)], InvalidInputError, "needs 'coulomb'"),
        ([FrictionTerm('presliding')], InvalidInputError, 'must be > 0'),
        ({'hinge': LINK_SIDE}, NameNotFoundError, 'no observed speed named'),
    ],
)
def test_terms_that_cannot_be_are_refused(terms, error, message):
    dynamics = kd.dynamics(kd.serial_chain(2))
    samples = modelled_samples(dynamics, inertial_parameters(dynamics.robot), duration=0.1)
    with pytest.raises(error, match=message):
        identify(dynamics, [samples], friction=terms)


def test_friction_that_turns_at_once_passes_the_filter_of_the_efforts():
    """Regression: of filtered efforts Coulomb friction came out 3 % too small."""
    dynamics = kd.dynamics(kd.serial_chain(1))
    t = np.arange(0.0, 20.0, 0.001)
    q = np.sin(3.0 * t)[:, None]
    v, a = 3.0 * np.cos(3.0 * t)[:, None], -9.0 * q
    tau = dynamics.inverse_dynamics(q, v, a) + 0.3 * v + 2.0 * np.tanh(v / 0.02)
    (samples,) = prepared_samples(t, q, tau, v, corner=4.0)
    friction = identify(dynamics, [samples]).friction['joint_1']
    values = {term.kind: value for term, value in friction.items()}
    assert values['coulomb'] == pytest.approx(2.0, rel=3e-3)
    assert values['viscous'] == pytest.approx(0.3, rel=0.02)
