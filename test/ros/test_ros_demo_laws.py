# SPDX-License-Identifier: Apache-2.0
"""The laws that the demonstration compares, and what it says of deadlines that were missed."""

from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose

pytest.importorskip('rclpy', reason='ROS 2 is not installed: pip install .[ros]')

from ros_models import model_of

import kane_dynamics as kd
from kane_dynamics.control.effort_law import EffortLaw, Terms
from kane_dynamics.control.node_dynamics import Dynamics
from kane_dynamics.control.reference import Reference
from kane_dynamics.demo.report import is_late, verdict
from kane_dynamics.ros.demo.laws import FULL, LAWS, ArmLaw, laws_for


@pytest.mark.parametrize('name', ['nonholonomic', 'holonomic'])
def test_the_arm_law_is_that_of_an_arm_on_a_fixed_base(name, rng):
    model = model_of(name)
    robot, law = model.robot, ArmLaw(Dynamics(model))
    q, v, a = robot.neutral(), *rng.normal(size=(2, robot.nv))
    arm = [n for n in model.motors if 'arm' in n]
    q[model.q_index(arm)] = rng.normal(size=len(arm))
    reference = Reference(
        np.arange(len(model.motors)),
        law.motors.q,
        law.motors.v,
        *(q[law.motors.q], v[law.motors.v], a[law.motors.v]),
    )
    found = law.feedforward(q, v, reference, Terms()).motors
    others = [n for n in robot.joint_names if n not in arm and n != 'base']
    bolted = kd.load_urdf(model.text, locked_joints=tuple(others), gravity=robot.gravity)
    own = [bolted.velocity_index(n) for n in arm]
    states = np.zeros((3, bolted.nv))
    for row, x, places in zip(
        states, (q, v, a), (model.q_index(arm), *[model.v_index(arm)] * 2), strict=True
    ):
        row[own] = x[places]
    wanted = kd.dynamics(bolted).inverse_dynamics(*states)[own]
    columns = [model.motors.index(n) for n in arm]
    assert_allclose(found[columns], wanted, rtol=1e-9, atol=1e-9)
    assert not np.delete(found, columns).any()
    full = EffortLaw(Dynamics(model)).feedforward(q, v, reference, Terms()).motors
    assert np.abs(full[columns] - wanted).max() > 1e-3


def test_an_arm_without_a_base_has_no_law_of_its_own():
    assert len(laws_for(SimpleNamespace(mobile=True))) == len(LAWS) == 4
    assert [law.label for law in laws_for(SimpleNamespace(mobile=False))][-1] == FULL.label
    assert len(laws_for(SimpleNamespace(mobile=False))) == 3


@pytest.mark.parametrize(('missed', 'late'), [(0, False), (1, False), (331, True), (675, True)])
def test_missed_deadlines_are_said(missed, late):
    runs = {
        'PD': SimpleNamespace(missed=0, states=3009, mean_error=1.0),
        'PD + full': SimpleNamespace(missed=missed, states=3009, mean_error=0.1),
    }
    text = verdict(runs)
    assert f'{missed} of 6018 deadlines missed' in text
    assert '10 times smaller than those of PD' in text
    assert is_late(runs) == late == ('too busy' in text)
