# SPDX-License-Identifier: Apache-2.0
"""Estimates: exact without noise, as uncertain as they say, consistent, anchored at the model."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.signal import lfilter
from support.identified import exciting_motion, modelled_samples, samples_of

import kane_dynamics as kd
from kane_dynamics.algorithms.newton_euler_by_moments import pseudo_inertia
from kane_dynamics.analysis.momentum_observer import ObservedSpeeds
from kane_dynamics.identification.base_parameters import base_parameters
from kane_dynamics.identification.equations import Equations
from kane_dynamics.identification.estimation import (
    LEAST,
    consistent_parameters,
    least_squares,
    pseudo_inertias,
)
from kane_dynamics.identification.friction import LINK_SIDE
from kane_dynamics.identification.identification import identify, tool_difference
from kane_dynamics.identification.report import validation_errors, worse_joints
from kane_dynamics.robot.inertial_parameters import (
    PARAMETERS,
    inertial_parameters,
    with_inertial_parameters,
)

pytest.importorskip('clarabel', reason='pip install .[cones]')
FRICTION = {'viscous': 0.7, 'coulomb': 0.4, 'offset': -0.2}
IZZ7 = 6 * len(PARAMETERS) + PARAMETERS.index('Jzz')


def other_phi(robot, seed=2):
    """Return parameters of bodies that are up to 30 % heavier or lighter than those of a robot."""
    phi = inertial_parameters(robot)
    factors = np.random.default_rng(seed).uniform(0.7, 1.3, len(robot.bodies))
    return phi * np.repeat(factors, len(PARAMETERS))


def test_without_noise_nothing_is_left(panda):
    phi = other_phi(panda.robot)
    found = identify(panda, [modelled_samples(panda, phi, FRICTION)])
    assert found.base.rank == 64
    for solution, most in (('least_squares', 1e-12), ('consistent', 1e-3)):
        rms = found.errors(modelled_samples(panda, phi, FRICTION, seed=9), solution).rms
        assert rms.max() < most * 90.0, solution  # efforts are up to 90 N m
    truth = np.concatenate([phi, np.tile(list(FRICTION.values()), 7)])
    assert_allclose(found.fit.values, found.base.matrix @ truth, rtol=0, atol=1e-10)


def test_errors_are_of_the_size_that_they_are_said_to_be(panda):
    phi, speeds = other_phi(panda.robot), ObservedSpeeds(panda)
    system = Equations(panda, speeds, dict.fromkeys(speeds.names, LINK_SIDE))
    clean = modelled_samples(panda, phi, FRICTION, duration=4.0)
    rows = np.vstack(system.triangles([clean]).factors[..., :-1])
    base = base_parameters(rows, system.names, system.preferences)
    truth = base.matrix @ np.concatenate([phi, np.tile(list(FRICTION.values()), 7)])
    errors = []
    for seed in range(12):
        noise = np.random.default_rng(seed).normal(0.0, 0.1, clean.tau.shape)
        noisy = replace(clean, tau=clean.tau + noise)
        fit = least_squares(system.triangles([noisy]), base)
        assert_allclose(fit.deviations, 0.1, rtol=0.15)
        errors.append((fit.values - truth) / np.sqrt(np.diag(fit.covariance)))
    assert np.std(errors) == pytest.approx(1.0, abs=0.1)
    of_izz7 = np.array(errors)[:, base.leading.tolist().index(IZZ7)]
    assert np.abs(of_izz7).max() < 3.5


def test_deviations_count_what_the_fit_took(panda):
    """100 samples a joint, of which 64 / 7 equations are spent: a bias of 5 % if they counted."""
    phi, speeds = other_phi(panda.robot), ObservedSpeeds(panda)
    system = Equations(panda, speeds, dict.fromkeys(speeds.names, LINK_SIDE))
    clean = modelled_samples(panda, phi, FRICTION, duration=10.0, rate=10.0)
    rows = np.vstack(system.triangles([clean]).factors[..., :-1])
    base = base_parameters(rows, system.names, system.preferences)
    deviations = []
    for seed in range(20):
        noise = np.random.default_rng(seed).normal(0.0, 0.1, clean.tau.shape)
        triangles = system.triangles([replace(clean, tau=clean.tau + noise)])
        deviations.append(least_squares(triangles, base).deviations)
    assert np.mean(deviations) == pytest.approx(0.1, rel=0.02)


@pytest.mark.parametrize('factor', [0.02, 20.0])
def test_masses_that_are_not_seen_alone_stay_near_those_before(factor, panda):
    before = inertial_parameters(panda.robot)
    samples = modelled_samples(panda, factor * before)
    found = identify(panda, [samples], friction=(), nearness=1e-9)
    masses = found.solutions['consistent'][:: len(PARAMETERS)] / before[:: len(PARAMETERS)]
    assert masses.min() > 0.2 * (1.0 - 1e-6)
    assert masses.max() < 5.0 * (1.0 + 1e-6)
    assert np.abs(np.log(masses)).max() == pytest.approx(np.log(5.0), abs=1e-3)


def test_covariance_counts_noise_that_a_filter_has_correlated(panda):
    """Coloured noise, the same in part on all joints: the deviations are still those of errors."""
    phi, errors = other_phi(panda.robot), []
    clean = modelled_samples(panda, phi, duration=40.0, rate=50.0)
    for seed in range(8):
        noise = np.random.default_rng(seed).normal(size=(*clean.tau.shape, 2))
        noise = 0.1 * noise[..., 0] + 0.1 * noise[:, :1, 1]  # a part of all joints
        coloured = lfilter([1.0], [1.0, -0.6], noise, axis=0)
        found = identify(panda, [replace(clean, tau=clean.tau + coloured)], friction=())
        error = found.fit.values - found.base.matrix @ phi
        errors.append(error / np.sqrt(np.diag(found.fit.covariance)))
    assert np.std(errors) == pytest.approx(1.0, abs=0.12)


def test_twice_the_samples_have_half_the_covariance(panda):
    """The same ones again: each recording's windows are counted."""
    samples = modelled_samples(panda, other_phi(panda.robot), noise=0.1, duration=20.0, rate=100.0)
    once, twice = (identify(panda, [samples] * n, friction=()).fit for n in (1, 2))
    assert_allclose(twice.covariance, 0.5 * once.covariance, rtol=1e-6, atol=1e-12)


def test_pseudo_inertias_are_those_of_the_bodies(panda):
    P = pseudo_inertias(inertial_parameters(panda.robot))
    expected = [pseudo_inertia(body.inertia) for body in panda.robot.bodies]
    assert_allclose(P, expected, rtol=0, atol=1e-14)


def test_a_moment_below_zero_is_repaired(panda):
    phi = inertial_parameters(panda.robot).copy()
    phi[IZZ7] = -0.006
    found = identify(panda, [modelled_samples(panda, phi, noise=0.02)], friction=())
    place = found.base.leading.tolist().index(IZZ7)
    assert found.fit.values[place] < -0.004
    P = pseudo_inertias(found.solutions['consistent'])
    assert np.linalg.eigvalsh(P).min() > 0.9 * LEAST
    assert found.solutions['consistent'][IZZ7] > 0.0
    for body in found.robot.bodies:
        assert kd.Inertia(body.inertia.mass, body.inertia.com, body.inertia.tensor).mass > 0.0


def test_what_is_not_seen_stays_as_it_was(panda):
    before = inertial_parameters(panda.robot)
    found = identify(panda, [modelled_samples(panda, before)], friction=())
    assert_allclose(found.solutions['consistent'], before, rtol=0, atol=1e-3)
    assert found.warnings == ()


def test_friction_that_would_drive_is_none(panda):
    phi = inertial_parameters(panda.robot)
    found = identify(panda, [modelled_samples(panda, phi, {'coulomb': -0.3}, noise=0.01)])
    coefficients = [dict((t.kind, f) for t, f in x.items()) for x in found.friction.values()]
    assert all(x['coulomb'] > -1e-6 for x in coefficients)
    assert sum('coulomb' in message and 'below zero' in message for message in found.warnings) == 7


def test_recordings_add_up(panda):
    phi, speeds = other_phi(panda.robot), ObservedSpeeds(panda)
    first, second = (modelled_samples(panda, phi, seed=seed, duration=2.0) for seed in (1, 2))
    system = Equations(panda, speeds, dict.fromkeys(speeds.names, ()))
    both, one, other = (system.triangles(x) for x in ([first, second], [first], [second]))
    together = one + other
    products = [x.factors.transpose(0, 2, 1) @ x.factors for x in (both, together)]
    assert_allclose(*products, rtol=1e-10, atol=1e-9)
    assert both.counts.tolist() == together.counts.tolist() == [400.0] * 7
    rows = np.concatenate(list(system.chunks([first])))
    solution = np.random.default_rng(0).normal(size=70)
    expected = ((rows[..., :-1] @ solution - rows[..., -1]) ** 2).sum(axis=0)
    assert_allclose(one.squares(solution), expected, rtol=1e-10)


def test_a_body_without_mass_takes_part():
    robot = kd.serial_chain(3)
    phi = inertial_parameters(robot)
    phi[10:20] = 0.0
    dynamics = kd.dynamics(with_inertial_parameters(robot, phi))
    speeds = ObservedSpeeds(dynamics)
    system = Equations(dynamics, speeds, dict.fromkeys(speeds.names, ()))
    samples = modelled_samples(dynamics, inertial_parameters(robot), duration=1.0)
    triangles = system.triangles([samples])
    found = consistent_parameters(system, triangles, np.ones(3), np.ones(3, bool), 1e-11)
    predicted = system.predicted(samples, found)
    assert_allclose(predicted, samples.tau, rtol=0, atol=1e-2 * np.abs(samples.tau).max())
    assert found[10] > 0.0


def test_the_robot_carries_what_was_identified(panda):
    found = identify(
        panda, [modelled_samples(panda, other_phi(panda.robot), FRICTION, noise=0.01)]
    )
    robot, solution = found.robot, found.solutions['consistent']
    assert_allclose(inertial_parameters(robot), solution[:70], rtol=1e-12, atol=1e-14)
    assert_allclose(robot.damping, 0.7, atol=0.02)
    assert_allclose(robot.friction, 0.4, atol=0.02)
    assert (robot.armature == panda.robot.armature).all()
    t, q, v, a = exciting_motion(7, duration=0.1, seed=4)
    efforts = [
        kd.inverse_dynamics(robot, *x) - kd.friction_force(robot, x[1]) - robot.armature * x[2]
        for x in zip(q, v, a, strict=True)
    ]
    assert_allclose(efforts, panda.regressor(q, v, a) @ solution[:70], rtol=0, atol=1e-11)


def test_followers_are_in_the_terms_of_their_master():
    hinge = kd.Revolute((0, 0, 1))
    inertia, follower = kd.Inertia(1.0, (0.2, 0.0, 0.0), 0.01 * np.eye(3)), kd.Mimic('a', 2.0)
    bodies = [
        kd.Body('one', '', kd.Joint('a', hinge, damping=0.3), inertia=inertia),
        kd.Body('two', 'one', kd.Joint('b', hinge, damping=0.2), inertia=inertia, mimic=follower),
    ]
    robot = kd.Robot('pair', bodies, (0, -9.81, 0))
    dynamics = kd.dynamics(robot)
    assert robot.damping.tolist() == [1.1]
    phi = inertial_parameters(robot)
    found = identify(dynamics, [modelled_samples(dynamics, phi, {'viscous': 1.1})])
    assert_allclose(found.robot.damping, 1.1, rtol=1e-2)


@pytest.mark.parametrize(('duration', 'words'), [(0.9, 'condition number'), (0.3, 'more samples')])
def test_short_motions_are_in_doubt(duration, words, panda):
    phi = other_phi(panda.robot)
    found = identify(panda, [modelled_samples(panda, phi, noise=0.01, duration=duration)])
    assert any(words in message for message in found.warnings)
    assert (np.diag(found.fit.covariance) >= 0.0).all()


def test_a_motion_that_shows_too_little_is_not_published(panda):
    t, q, v, a = exciting_motion(7, duration=0.5)
    samples = samples_of(t, q, v, a, panda.regressor(q, v, a) @ other_phi(panda.robot))
    found = identify(panda, [samples])
    assert found.base.condition > 1000.0
    assert not found.publishable
    assert 'too little for a model that others use' in found.warnings[0]


def test_wrong_kinematics_are_told(panda):
    samples = modelled_samples(panda, inertial_parameters(panda.robot))
    wrong = -samples.tau[:, 1]
    samples.tau[:, 1] = wrong
    found = identify(panda, [samples])
    told = worse_joints(validation_errors(found, [samples]))
    assert any('frames, signs or joint offsets' in message for message in told)


def test_fewer_efforts_than_unknowns_are_refused(panda):
    samples = modelled_samples(panda, other_phi(panda.robot), duration=0.05)
    with pytest.raises(kd.exceptions.InvalidInputError, match='need more than'):
        identify(panda, [samples])


def test_a_tool_that_the_model_lacks(ur10):
    """Its ten parameters alone, as well as their deviations say; friction is fitted with them."""
    phi, tool = inertial_parameters(ur10.robot), np.zeros(60)
    tool[50:] = 0.8, 0.02, -0.01, 0.08, 0.012, 1e-3, -2e-3, 0.011, 1e-3, 2e-3
    friction, noise = {'viscous': 3.0, 'coulomb': 2.0, 'offset': 0.5}, 0.05
    samples = modelled_samples(ur10, phi + tool, friction, noise)
    speeds = ObservedSpeeds(ur10)
    found = tool_difference(ur10, [samples], LINK_SIDE, speeds)
    scores = (found.parameters - tool[50:]) / found.deviations
    assert np.abs(scores).max() < 3.0
    assert found.deviations[0] < 0.01
    half = tool_difference(ur10, [samples.part(slice(500))], LINK_SIDE, speeds)
    assert half.deviations[0] > found.deviations[0]
