# SPDX-License-Identifier: Apache-2.0
"""Friction: its columns, Dahl's state against a loop, terms that every block asks for."""

from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose
from support.identified import exciting_motion, modelled_samples, samples_of

import kane_dynamics as kd
from kane_dynamics.analysis.joint_friction import FrictionTerm, presliding_states
from kane_dynamics.exceptions import InvalidInputError, NameNotFoundError
from kane_dynamics.identification.friction import (
    LINK_SIDE,
    dissipation_rows,
    dissipative,
    friction_columns,
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
