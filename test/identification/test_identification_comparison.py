# SPDX-License-Identifier: Apache-2.0
"""Which results others may use, by numbers that are made up."""

from dataclasses import replace

import numpy as np
import pytest
from support.identified import modelled_samples

import kane_dynamics as kd
from kane_dynamics.identification.comparison import compared, refusal
from kane_dynamics.identification.identification import identify
from kane_dynamics.robot.inertial_parameters import inertial_parameters, with_inertial_parameters


@pytest.fixture(scope='module')
def case():
    """Return a result on a chain that is heavier than it was known, and the comparison."""
    robot = kd.serial_chain(2)
    phi = inertial_parameters(robot)
    samples = modelled_samples(kd.dynamics(robot), phi, {'viscous': 0.5}, 0.01)
    before = kd.dynamics(with_inertial_parameters(robot, 0.7 * phi))
    result = identify(before, [samples.part(slice(500))])
    return result, compared(
        result, [samples.part(slice(500, 700)), samples.part(slice(700, None))]
    )


def test_a_better_model_is_for_others(case):
    result, comparison = case
    assert refusal(result, comparison) == ''
    assert comparison.warnings == ()
    assert len(comparison.time) == 500
    before, after = comparison.errors('friction'), comparison.errors('consistent')
    assert (after < 0.2 * before).all()


def test_a_motion_that_shows_too_little_is_refused(case):
    result, comparison = case
    poor = replace(result, base=replace(result.base, condition=1001.0))
    assert 'condition number of the motion is 1001, above 1000' in refusal(poor, comparison)


def test_a_model_that_is_not_better_is_refused(case):
    result, comparison = case
    equal = {**comparison.predicted, 'friction': comparison.predicted['consistent']}
    assert 'mean error' in refusal(result, replace(comparison, predicted=equal))
    worse = comparison.predicted['consistent'] + np.array([0.0, 1.0])
    swapped = replace(comparison, predicted={**equal, 'consistent': worse})
    assert 'mean error' in refusal(result, swapped)
    (message,) = swapped.warnings
    assert message.startswith(f'{comparison.names[1]}: ')
