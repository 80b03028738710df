# SPDX-License-Identifier: Apache-2.0
"""Pieces of ``python -m studies.slope`` and ``studies.tip_over``."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

pytest.importorskip('mujoco', reason='the extra "oracle" is not installed')

import kane_dynamics as kd
from kane_dynamics.analysis.wheel_forces import picture_of
from studies import slope, tip_over

pytestmark = pytest.mark.oracle


@pytest.mark.parametrize('case', slope.CASES, ids=lambda case: case.name)
def test_efforts_on_the_slope_are_those_of_statics(case):
    ours, statics = slope.by_inverse_dynamics(case), slope.by_statics(case)
    assert_allclose(ours[:2], statics[:2], rtol=0, atol=1e-9)
    # products of inertia of the arm, which a turning body feels and statics does not know
    assert ours[2] == pytest.approx(statics[2], abs=1.0 if case.yaw_rate else 1e-9)


@pytest.mark.parametrize('case', (slope.CASES[0], slope.CASES[2]), ids=lambda case: case.name)
def test_mujoco_agrees_the_better_the_stiffer_its_contacts_are(case):
    soft, stiff = (slope.off_mujoco(case, slope.in_mujoco(case, t)) for t in (0.02, 0.005))
    assert stiff < 1e-4
    assert stiff < 0.5 * soft


def test_across_the_slope_the_upper_wheel_slips_where_its_use_is_above_one():
    case, robot = slope.CASES[2], slope.robot_on_slope()
    ground_contacts = kd.base_ground_contacts(slope.base_of(robot), friction=1.0)
    q = slope.placed(case, robot)
    motors = [*slope.WHEELS, *robot.velocity_names[5:]]
    contacts = picture_of(ground_contacts, q, *slope.motion(case, robot, q), motors).contacts
    upper, lower = (contacts[name] for name in reversed(slope.WHEELS))
    assert upper.use == pytest.approx(1.09, abs=0.005)
    assert lower.use < 0.3
    slips = slope.off_mujoco(case, slope.in_mujoco(case, 0.005, friction=1.0))
    assert slips > 10.0 * slope.off_mujoco(case, slope.in_mujoco(case, 0.005))


def test_the_caster_lifts_where_the_margin_is_zero():
    (pose,) = tip_over.arm_poses(1)
    ours = tip_over.tipping(pose, 1.0)
    seen, lifted = tip_over.lifts_in_mujoco(pose, 1.0, ours.factor / 0.5)
    assert seen == pytest.approx(ours.factor, rel=0.02)
    assert (lifted, ours.edge) == ('support 0', ('wheel_right_joint', 'wheel_left_joint'))


def test_references_are_the_integrals_of_their_rates():
    case, h = slope.Case('both', 0.0, 0.5, 0.3), 1e-5
    for time in (0.3, 0.99, 1.4):
        ahead, here, behind = (slope.reference(case, time + s) for s in (h, 0.0, -h))
        for k in range(2):
            assert_allclose((ahead[k] - behind[k]) / (2 * h), here[k + 1], rtol=0, atol=1e-8)
    assert_allclose(slope.reference(case, 0.0), np.zeros((3, 2)), rtol=0, atol=0)
