# SPDX-License-Identifier: Apache-2.0
"""
A real UR10, 27 s (Automatic Control Group, University of Salerno, BSD-3-Clause).

The table test/data/ur10_exciting_trajectory.npz has differences of positions, velocities and
efforts in units of 1e-5 rad, 1e-5 rad/s and 1e-4 N m; its licence is beside it. Known errors come
from a program with numpy, Pinocchio and Clarabel alone, which did not filter the columns of
friction; each half predicts the other.
"""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from kane_dynamics.analysis.joint_friction import FrictionTerm
from kane_dynamics.identification.friction import MOTOR_SIDE
from kane_dynamics.identification.identification import identify

pytest.importorskip('clarabel', reason='pip install .[cones]')
STRIBECK, PRESLIDING = FrictionTerm('stribeck', 0.1), FrictionTerm('presliding', 0.01)
POINTS = np.array([0.3, 0.3, 0.3, 0.3, 0.3, 0.8])  # of joint 6 friction is ten times gravity
KNOWN = {
    'nominal': ((32.3, 7.4, 14.9, 30.0, 39.0, 30.4), (31.3, 12.4, 14.2, 32.1, 39.6, 35.0)),
    (): ((4.4, 1.2, 1.7, 2.5, 3.8, 9.9), (4.2, 1.4, 1.8, 2.9, 4.0, 10.2)),
    (STRIBECK,): ((1.8, 1.3, 1.4, 1.9, 4.0, 10.5), (1.8, 1.6, 1.4, 2.3, 3.9, 11.1)),
    (STRIBECK, PRESLIDING): ((1.6, 1.3, 1.3, 1.8, 3.9, 7.3), (1.7, 1.6, 1.3, 2.1, 4.0, 8.0)),
}
LEAST_SQUARES = (5.3, 1.3, 1.7, 4.1, 4.5, 9.7), (4.9, 1.5, 1.8, 3.6, 3.9, 10.1)
TARGETS = (2.0, 2.0, 2.0, 2.0, 4.5, 8.5)


@pytest.fixture(scope='module')
def both_halves(ur10):
    """Return the halves of the recording, each way round."""
    from studies.identification.arms import halves, ur10_samples

    parts = halves(ur10_samples())
    return parts, parts[::-1]


@pytest.mark.parametrize('way', [0, 1])
@pytest.mark.parametrize('more', [(), (STRIBECK,), (STRIBECK, PRESLIDING)], ids=len)
def test_one_half_predicts_the_other(more, way, ur10, both_halves):
    training, test = both_halves[way]
    found = identify(ur10, [training], friction=(*MOTOR_SIDE, *more))
    errors = found.errors(test).filtered
    assert (errors < KNOWN[more][way] + POINTS).all(), errors
    nominal = found.errors(test, 'nominal').filtered
    assert_allclose(nominal, KNOWN['nominal'][way], atol=0.1)
    if not more:
        by_base = found.errors(test, 'least_squares').filtered
        assert (by_base < np.array(LEAST_SQUARES[way]) + 0.15).all()
    if len(more) == 2:
        assert (errors[:3] < 2.0).all()
        assert (errors <= np.array(TARGETS) + 0.2).all()
        assert (errors < found.errors(test, 'friction').filtered + 0.1).all()
    assert found.publishable
    assert found.base.condition < 30.0


def test_torques_that_lag_are_told(ur10, both_halves):
    terms = (*MOTOR_SIDE, STRIBECK, PRESLIDING)
    found = identify(ur10, [both_halves[0][0]], friction=terms)
    assert any('rotor_inertia wrist_2_joint' in message for message in found.warnings)
