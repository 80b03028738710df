# SPDX-License-Identifier: Apache-2.0
"""Pieces of ``python -m studies.governor``: two judges of drives that would tip a robot over."""

import pytest
from numpy.testing import assert_allclose

pytest.importorskip('mujoco', reason='the extra "oracle" is not installed')

import kane_dynamics as kd
from studies import governor

pytestmark = pytest.mark.oracle


@pytest.fixture(scope='module')
def rig():
    return governor.Rig()


def test_in_mujoco_a_contact_lifts_without_the_governor_and_none_with_it(rig):
    found = governor.judged(rig, 3)
    margin, load = found['free']
    assert margin < -0.02 and load == 0.0
    margin, load = found['governed']
    # loads are shares of the weight: in the middle of an edge one of 20 mm of 0.22 m
    assert margin > 0.0 and load > 0.02


def test_what_is_played_rolls_and_is_the_motion_of_its_speeds(rig):
    played = rig.played(rig.drawn(0), governed=False)
    h, joints = governor.STEP, slice(3, None)
    speeds = (played.q[2:, joints] - played.q[:-2, joints]) / (2.0 * h)
    # commands change in steps: 2 h of the largest acceleration of a wheel, 57 rad/s^2
    assert_allclose(speeds, played.v[1:-1, joints], rtol=0, atol=0.06)
    motors = [*governor.WHEELS, *rig.robot.velocity_names[5:]]
    efforts = rig.efforts(played)
    for k in (100, 777, 2500):  # it raises where the motion violates the rows
        state = played.q[k], played.v[k], played.a[k]
        rows = rig.base.constraints
        expected = kd.constrained_inverse_dynamics(rig.robot, *state, rows, motors).effort
        assert_allclose(efforts[k], expected[3:], rtol=0, atol=1e-9)
