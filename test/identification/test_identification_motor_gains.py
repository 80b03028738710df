# SPDX-License-Identifier: Apache-2.0
"""Gains from currents to efforts: exact without noise, and as sure as they say with it."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from support.identified import modelled_samples

import kane_dynamics as kd
from kane_dynamics.analysis.momentum_observer import ObservedSpeeds
from kane_dynamics.identification.equations import Equations
from kane_dynamics.identification.friction import MOTOR_SIDE
from kane_dynamics.identification.motor_gains import motor_gains, payload_gains
from kane_dynamics.robot.inertial_parameters import inertial_parameters, with_inertial_parameters

GAINS = np.array([12.0, -7.5, 0.8])
FRICTION = {'viscous': 0.3, 'coulomb': 0.4, 'offset': -0.2}


@pytest.fixture(scope='module')
def equations():
    """Return the equations of an arm of three joints."""
    dynamics = kd.dynamics(kd.serial_chain(3))
    speeds = ObservedSpeeds(dynamics)
    return Equations(dynamics, speeds, dict.fromkeys(speeds.names, MOTOR_SIDE))


def currents(equations, noise=0.0, factor=1.0):
    """Return samples with currents in place of efforts, of a robot that is heavier by a factor."""
    phi = factor * inertial_parameters(equations.dynamics.robot)
    samples = modelled_samples(equations.dynamics, phi, FRICTION, noise, duration=5.0, rate=50.0)
    return replace(samples, tau=samples.tau / GAINS)


def test_gains_are_those_of_the_motors_with_their_signs(equations):
    found = motor_gains(equations, [currents(equations)])
    assert_allclose(found.values, GAINS, rtol=1e-9)
    assert (found.deviations < 1e-9 * np.abs(GAINS)).all()
    assert not found.in_doubt.any()


def test_their_scale_is_that_of_the_masses(equations):
    """Of a robot that is twice as heavy as it is thought to be, gains are half."""
    found = motor_gains(equations, [currents(equations, factor=2.0)])
    assert_allclose(found.values, 0.5 * GAINS, rtol=1e-9)


@pytest.mark.parametrize('noise', [0.0, 0.02])
def test_a_known_payload_tells_them_whatever_the_masses_are(equations, noise):
    """Of a robot whose bodies weigh 0.8 to 1.3 times what its URDF says: within 2 %."""
    dynamics = equations.dynamics
    phi = inertial_parameters(dynamics.robot).reshape(-1, 10)
    more = np.array([5.0, 0.5, 0.2, 0.4, 0.1, -0.02, -0.04, 0.12, -0.016, 0.08])
    carried, true = phi.copy(), phi * np.array([[0.8], [1.3], [1.1]])
    carried[-1] += more
    both = []
    for k, extra in enumerate((0.0, more)):
        weights = true.copy()
        weights[-1] += extra
        motion = {'noise': 0.0, 'duration': 10.0, 'rate': 50.0, 'seed': 3 + k}
        samples = modelled_samples(dynamics, weights.ravel(), FRICTION, **motion)
        tau = samples.tau / GAINS
        tau += noise * tau.std(axis=0) * np.random.default_rng(k).normal(size=tau.shape)
        both.append(replace(samples, tau=tau))
    robot = with_inertial_parameters(dynamics.robot, carried.ravel())
    found = payload_gains(equations, both[:1], both[1:], kd.dynamics(robot))
    assert_allclose(found.values, GAINS, rtol=0.02 if noise else 1e-9)
    assert (np.abs(found.values - GAINS) <= 4.0 * found.deviations + 1e-9).all()
    assert not found.in_doubt.any()
    assert np.abs(motor_gains(equations, both[:1]).values / GAINS - 1.0).max() > 0.1
    without = payload_gains(equations, both[:1], both[:1], dynamics)
    assert without.in_doubt.all()  # a payload of nothing tells nothing


def test_deviations_are_those_of_the_noise(equations):
    found = motor_gains(equations, [currents(equations, 0.02)])
    off = np.abs(found.values - GAINS)
    assert (off < 4.0 * found.deviations).all()
    assert (found.deviations < 0.02 * np.abs(GAINS)).all()
    assert motor_gains(equations, [currents(equations, 20.0)]).in_doubt.all()
