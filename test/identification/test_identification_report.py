# SPDX-License-Identifier: Apache-2.0
"""Which results others may use, by numbers that are made up."""

from dataclasses import replace

import pytest
from numpy.testing import assert_allclose
from support.identified import modelled_samples

import kane_dynamics as kd
from kane_dynamics.identification.identification import identify
from kane_dynamics.identification.report import refusal, validation_errors, worse_joints
from kane_dynamics.robot.inertial_parameters import inertial_parameters, with_inertial_parameters


@pytest.fixture(scope='module')
def case():
    """Return a result on a chain that is heavier than it was known, and its errors."""
    robot = kd.serial_chain(2)
    phi = inertial_parameters(robot)
    samples = modelled_samples(kd.dynamics(robot), phi, {'viscous': 0.5}, 0.01)
    before = kd.dynamics(with_inertial_parameters(robot, 0.7 * phi))
    result = identify(before, [samples.part(slice(500))])
    parts = samples.part(slice(500, 600)), samples.part(slice(600, None))
    return result, parts, validation_errors(result, parts)


def test_errors_are_means_over_all_samples(case):
    result, parts, errors = case
    assert list(errors) == [f'{x} {y}' for x in result.solutions for y in ('filtered', 'raw')]
    one, four = (result.errors(part, 'friction').raw for part in parts)
    assert_allclose([*errors['friction raw'].values()], 0.2 * one + 0.8 * four)


def test_a_better_model_is_for_others(case):
    result, _, errors = case
    assert refusal(result, errors) == ''
    assert worse_joints(errors) == []


def test_a_motion_that_shows_too_little_is_refused(case):
    result, _, errors = case
    poor = replace(result, base=replace(result.base, condition=1001.0))
    assert 'condition number of the motion is 1001, above 1000' in refusal(poor, errors)


def test_a_model_that_is_not_better_is_refused(case):
    result, _, errors = case
    equal = errors | {'friction filtered': errors['consistent filtered']}
    assert 'mean error' in refusal(result, equal)
    first, second = errors['consistent filtered']
    before = errors['consistent filtered'][second] - 1.0
    mixed = equal | {'friction filtered': equal['friction filtered'] | {second: before}}
    (message,) = worse_joints(mixed)
    assert message.startswith(f'{second}: ')
    assert 'mean error' in refusal(result, mixed)


def test_sums_that_no_bodies_can_have_are_told(case):
    """Regression: told of the fit itself, where sums follow the noise of a short recording."""
    _, _, errors = case
    first, second = errors['consistent filtered']
    bodies, sums = {first: 8.5, second: 5.5}, {first: 6.0, second: 3.4}
    mixed = errors | {'consistent filtered': bodies, 'least_squares filtered': sums}
    mixed |= {'friction filtered': {first: 9.0, second: 9.0}}
    (message,) = worse_joints(mixed)
    assert message.startswith(f'{second}: 5.5 % by bodies that can exist, 3.4 % by base')


def test_friction_that_predicts_worse_than_none_is_no_measure(case):
    """Regression: of one-way motions it missed by 30,000 %, and any result was better."""
    result, _, errors = case
    after = errors['consistent filtered']
    wild = {name: 3e4 for name in after}
    assert refusal(result, errors | {'friction filtered': wild}) == ''
    nominal = {name: x - 1.0 for name, x in after.items()}
    worse = errors | {'friction filtered': wild, 'nominal filtered': nominal}
    assert 'mean error' in refusal(result, worse)
    assert len(worse_joints(worse)) == len(after)
