# SPDX-License-Identifier: Apache-2.0
"""Coulomb friction that is fed forward never makes tracking worse; MuJoCo moves. No rclpy."""

from functools import cache

import numpy as np
import pytest
from ros_models import ROOT, from_preset, parameters

pytest.importorskip('mujoco', reason='the extra "oracle" is not installed')
import mujoco

from kane_dynamics.algorithms.newton_euler import TERMS
from kane_dynamics.analysis.tracking import COMPUTED, PASSIVE
from kane_dynamics.control.effort_controller import Gains, tracking_efforts
from kane_dynamics.control.effort_law import EffortLaw, Terms
from kane_dynamics.control.frame_controllers import FrameTorqueController
from kane_dynamics.control.node_dynamics import CompileOptions, Dynamics
from kane_dynamics.control.reference import Reference
from kane_dynamics.messages.inputs import InputMonitor
from kane_dynamics.robot_config.parameters.tables import ComputedTorqueParameters
from kane_dynamics.robot_config.robot_source import build_model
from studies.peers.mujoco_twin import MujocoTwin

PERIOD, STEPS, DURATION = 0.004, 4, 2.5
FRICTION = 1.0  # [N m], of every motor
WHEELS = ('wheel_left_joint', 'wheel_right_joint')


@cache
def scrub_effort():
    """Return the law and the model of the mobile manipulator with friction in its joints."""
    text = (ROOT / 'robots' / 'nonholonomic.urdf').read_text()
    text = text.replace('<dynamics damping=', f'<dynamics friction="{FRICTION}" damping=')
    p = from_preset('nonholonomic')
    dynamics = Dynamics(build_model(p, text), CompileOptions(aims=True))
    dynamics.compile()
    return EffortLaw(dynamics), dynamics.model


def wanted(model, t):
    """Return what all motors do at a time: sines that stop at their ends."""
    count = len(model.motors)
    size = np.where([name in WHEELS for name in model.motors], 1.0, 0.4)
    rate = np.linspace(1.5, 2.5, count)
    angle = rate * t
    parts = 1.0 - np.cos(angle), rate * np.sin(angle), rate**2 * np.cos(angle)
    motor = np.arange(count)
    places = model.q_index(model.motors), model.v_index(model.motors)
    return Reference(motor, *places, *(size * part for part in parts))


def error_in_mujoco(name, terms, factor):
    """Return the root mean square of the errors of the arm and wheels [rad]."""
    law, model = scrub_effort()
    twin = MujocoTwin(model.robot, WHEELS, skid=False, step=PERIOD / STEPS)
    twin.model.dof_frictionloss[:] *= factor
    both = np.ones(len(model.motors))
    gains = Gains(100.0 * both, 20.0 * both) if name == COMPUTED else Gains(5.0 * both, both)
    q, v = model.robot.neutral(), np.zeros(model.robot.nv)
    twin.set_state(q, v, v)
    errors = []
    for k in range(round(DURATION / PERIOD)):
        q, v = twin.state()
        reference = wanted(model, k * PERIOD)
        found = tracking_efforts(law, name, gains, q, v, reference, terms)
        twin.data.qfrc_applied[twin._v[law.motors.v]] = found.motors
        mujoco.mj_step(twin.model, twin.data, STEPS)
        errors.append(law.errors(q, v, reference)[0])
    return np.sqrt(np.mean(np.square(errors)))


def test_a_frame_that_stands_makes_up_for_no_friction():
    """In task space, too: noise of 1 mrad/s in what stands turned into efforts of 1 N m."""
    law, model = scrub_effort()
    dynamics = law._dynamics
    p = from_preset('nonholonomic', ComputedTorqueParameters, space='task', frame='tool_link')

    def guard(name):
        return InputMonitor(name, 0.5, lambda: 10**12)

    controller = FrameTorqueController(dynamics, guard, p)
    controller.configure(p, *np.zeros((3, len(model.motors))))
    q = model.robot.neutral()
    q[model.q_index(('arm_2_joint', 'arm_3_joint', 'arm_4_joint'))] = 0.6, -0.8, 0.5
    v = np.zeros(model.robot.nv)
    v[model.v_index(model.motors)] = 1e-5
    both = [controller.followed(10**12, q, each, None).motors for each in (v, -v)]
    assert np.abs(both[0] - both[1]).max() < 0.1 * FRICTION


@pytest.mark.parametrize('factor', [0.5, 1.0, 1.5])
@pytest.mark.parametrize('law', [COMPUTED, PASSIVE])
def test_friction_fed_forward_is_never_worse_than_none(law, factor):
    """The friction of the model is off by half; at measured speeds it shook the robot."""
    part = parameters(ComputedTorqueParameters).friction_compensation
    default = error_in_mujoco(law, Terms(coulomb=part), factor)
    without = error_in_mujoco(law, Terms(TERMS[:3]), factor)
    assert default <= without
    if factor == 1.0:
        assert error_in_mujoco(law, Terms(), factor) < 0.2 * without
