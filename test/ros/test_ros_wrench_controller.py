# SPDX-License-Identifier: Apache-2.0
"""Targets of a link to efforts, without ROS: what is refused, held, pushed."""

from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from ros_models import FakeClock, build_model, from_preset, read_description, time_message, xyz

import kane_dynamics as kd
from kane_dynamics.control.frame_controllers import WrenchController
from kane_dynamics.control.node_dynamics import Dynamics
from kane_dynamics.exceptions import InvalidInputError, NameNotFoundError
from kane_dynamics.messages.inputs import InputMonitor
from kane_dynamics.robot_config.parameters.tables import WrenchControlParameters

FREE = ('free', 'free', 'free')


class Case:
    """A controller of the shipped robot with a clock of its own, and its state."""

    def __init__(self, **values):
        given = {'modes': (*FREE, 'wrench', 'impedance', 'impedance'), **values}
        self.parameters = from_preset('nonholonomic', WrenchControlParameters, **given)
        self.clock = FakeClock()
        model = build_model(self.parameters, read_description(self.parameters))
        self.dynamics, self.robot = Dynamics(model), model.robot
        self.controller = WrenchController(self.dynamics, self.parameters, self.guard)
        self.q, self.v = self.robot.neutral(), np.zeros(self.robot.nv)
        self.q[self.robot.coordinate_index('arm_2_joint')] = 0.6
        self.hand = self.place(self.q)

    def guard(self, name):
        return InputMonitor(name, 0.5, now=lambda: self.clock.node, steady=lambda: self.clock.wall)

    def place(self, q):
        pose = kd.forward_kinematics(self.robot, q).pose('tool_link')
        return np.r_[pose.position(), pose.rotation.components]

    def header(self, frame, stamp=None):
        return SimpleNamespace(
            frame_id=frame, stamp=time_message(self.clock.node if stamp is None else stamp)
        )

    def push(self, force=(0.0, 0.0, 0.0), torque=(0.0, 0.0, 0.0), frame='odom', stamp=None):
        wrench = SimpleNamespace(force=xyz(*force), torque=xyz(*torque))
        message = SimpleNamespace(header=self.header(frame, stamp), wrench=wrench)
        return self.controller.wrench.take(message)

    def move(self, pose, frame='odom'):
        w, x, y, z = pose[3:]
        turned = SimpleNamespace(w=w, x=x, y=y, z=z)
        parts = SimpleNamespace(position=xyz(*pose[:3]), orientation=turned)
        return self.controller.pose.take(SimpleNamespace(header=self.header(frame), pose=parts))

    def go(self, linear, angular=(0.0, 0.0, 0.0), frame='odom'):
        twist = SimpleNamespace(linear=xyz(*linear), angular=xyz(*angular))
        return self.controller.twist.take(SimpleNamespace(header=self.header(frame), twist=twist))

    def effort(self):
        return self.controller.effort(self.q, self.v)

    def motion(self, effort, wrench=None):
        """Return the accelerations that efforts of the motors cause."""
        tau = np.zeros(self.robot.nv)
        tau[self.dynamics.model.v_index(self.controller.motors)] = effort
        model = self.dynamics.model
        return kd.forward_dynamics(
            self.robot, self.q, self.v, tau, model.constraints, external_wrenches=wrench
        )


def test_a_wrench_is_balanced_by_the_opposite_one():
    case = Case()
    assert case.push((15.0, 0.0, 0.0))
    effort = case.effort()
    R = kd.forward_kinematics(case.robot, case.q).pose('tool_link').rotation_matrix()
    answer = {'tool_link': np.r_[np.zeros(3), R.T @ (-15.0, 0.0, 0.0)]}
    motion = case.motion(effort, answer)
    assert_allclose(motion.acceleration, 0.0, rtol=0, atol=1e-9)
    assert case.controller.refused == ''


def test_without_targets_the_place_is_held():
    case = Case()
    assert_allclose(case.motion(case.effort()).acceleration, 0.0, rtol=0, atol=1e-9)
    case.q[case.robot.coordinate_index('arm_2_joint')] += 0.05  # pushed down
    down = case.place(case.q)[2] - case.hand[2]
    a = case.motion(case.effort()).acceleration
    J = kd.forward_kinematics(case.robot, case.q).jacobian('tool_link')
    R = kd.forward_kinematics(case.robot, case.q).pose('tool_link').rotation_matrix()
    assert np.sign((R @ np.asarray(J)[3:] @ a)[2]) == -np.sign(down)
    case.controller.halt()  # begins anew, here
    assert_allclose(case.motion(case.effort()).acceleration, 0.0, rtol=0, atol=1e-9)


def test_a_target_that_gets_old_counts_no_more():
    case = Case()
    idle = case.effort()
    case.push((15.0, 0.0, 0.0))
    assert np.abs(case.effort() - idle).max() > 0.1
    case.clock.forward(0.6)
    assert_allclose(case.effort(), idle, rtol=0, atol=1e-12)


def test_pose_and_twist_pull():
    case = Case(period=0.0)
    idle = case.effort()
    ahead = case.hand + np.r_[0.0, 0.0, 0.1, np.zeros(4)]
    assert case.move(ahead)
    spring = case.effort() - idle
    R = kd.forward_kinematics(case.robot, case.q).pose('tool_link').rotation_matrix()
    J = R @ np.asarray(kd.forward_kinematics(case.robot, case.q).jacobian('tool_link'))[3:]
    motors = case.dynamics.model.v_index(case.controller.motors)
    assert_allclose(spring, 500.0 * 0.1 * J[2][motors], rtol=0, atol=1e-9)
    case.controller.pose.reset()
    assert case.go((0.0, 0.0, 0.2))
    assert_allclose(case.effort() - idle, 50.0 * 0.2 * J[2][motors], rtol=0, atol=1e-9)


def test_wheels_that_would_slip_hold_instead():
    case = Case(friction_coefficient=0.5, wheel_load=20.0)
    idle = case.effort()
    assert case.controller.margin == pytest.approx(10.0)
    case.push((15.0, 0.0, 0.0))
    assert np.abs(case.effort() - idle).max() > 0.1
    assert case.controller.margin == pytest.approx(10.0 - 7.5)
    case.push((25.0, 0.0, 0.0))
    assert_allclose(case.effort(), idle, rtol=0, atol=1e-9)
    assert 'in conflict' in case.controller.refused
    assert 'wheel_left_joint/rolling' in case.controller.refused
    case.push((15.0, 0.0, 0.0))
    case.effort()
    assert case.controller.refused == ''


def test_a_base_that_cannot_stop_at_once_brakes_as_its_wheels_can():
    case = Case(friction_coefficient=0.5, wheel_load=20.0, damping=(0.0,) * 6)
    case.v[0] = 0.5
    case.v = kd.consistent_velocity(
        case.robot,
        case.q,
        case.v,
        case.dynamics.model.constraints,
        [n for n in case.robot.velocity_names if not n.startswith('wheel')],
    )
    motion = case.motion(case.effort())
    assert 'in conflict' in case.controller.refused
    assert_allclose(motion.multipliers[1:], -10.0, rtol=1e-6)  # 0.5 of 20 N, both against it
    assert motion.acceleration[0] < -0.1
    assert case.controller.margin == pytest.approx(0.0, abs=1e-6)


def test_the_even_share_of_the_weight_is_the_load():
    case = Case(friction_coefficient=0.5)
    case.effort()
    mass = sum(body.inertia.mass for body in case.robot.bodies)
    assert case.controller.margin == pytest.approx(0.5 * 0.5 * mass * 9.81)


def test_motors_stay_within_their_limits():
    strong = Case(enforce_command_limits=False)
    weak = Case(effort_limit_scale=0.9)
    weakest = np.asarray(weak.robot.effort_limit)[3:].min()
    for case in (strong, weak):
        case.push((10.0 * weakest / 0.1, 0.0, 0.0))
        effort = case.effort()
        within = (np.abs(effort) <= 0.9 * np.asarray(case.robot.effort_limit)[3:]).all()
        assert within == (case is weak)
    assert 'wheel' in weak.controller.refused


@pytest.mark.parametrize(('what', 'zero'), [('zero', True), ('stop', False)])
def test_without_any_target_as_told(what, zero):
    case = Case(timeout_action=what)
    effort = case.effort()
    assert (effort is not None and not effort.any()) if zero else effort is None
    case.push((1.0, 0.0, 0.0))
    assert np.any(case.effort())


def test_targets_that_are_refused():
    case = Case()
    nan, unit = float('nan'), (1.0, 0.0, 0.0, 0.0)
    assert not case.push((nan, 0.0, 0.0))
    assert not case.push((1e10, 0.0, 0.0))
    assert not case.push((1.0, 0.0, 0.0), frame='base_link')
    assert not case.push((1.0, 0.0, 0.0), stamp=case.clock.node - 10**9)
    assert not case.go((0.0, nan, 0.0))
    assert not case.move([0.0, 0.0, nan, *unit])
    assert not case.move([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    assert not case.move([0.0, 0.0, 0.0, *unit], frame='map')
    counted = {k: x.guard.rejected for k, x in case.controller.inputs.items()}
    assert counted == {
        'wrench': {'nan': 1, 'range': 1, 'frame': 1, 'stale': 1},
        'pose': {'nan': 1, 'frame': 2},
        'twist': {'nan': 1},
    }
    idle = Case().effort()
    assert_allclose(case.effort(), idle, rtol=0, atol=1e-12)
    far = case.hand + np.r_[0.31, np.zeros(6)]
    assert case.move(far)
    assert_allclose(case.effort(), idle, rtol=0, atol=1e-12)
    assert case.controller.pose.guard.rejected['jump'] == 1
    assert case.controller.pose.value is None


def test_axes_of_the_link():
    case = Case(axes='frame', frame_prefix='r1/')
    assert not case.push((1.0, 0.0, 0.0))
    assert case.push((1.0, 0.0, 0.0), frame='r1/tool_link')
    R = kd.forward_kinematics(case.robot, case.q).pose('tool_link').rotation_matrix()
    same = Case(modes=(*FREE, 'wrench', 'wrench', 'wrench'))
    same.push(R @ (1.0, 0.0, 0.0))
    one = Case(axes='frame', modes=(*FREE, 'wrench', 'wrench', 'wrench'))
    one.push((1.0, 0.0, 0.0), frame='tool_link')
    assert_allclose(one.effort(), same.effort(), rtol=0, atol=1e-9)


def test_the_law_follows_the_engine_and_the_parameters():
    case = Case()
    case.effort()
    case.dynamics.engine = kd.dynamics(case.robot, case.dynamics.model.constraints)
    before = case.effort()
    from dataclasses import replace

    case.controller.configure(replace(case.parameters, damping=(0.0,) * 6))
    case.v[case.robot.velocity_index('arm_2_joint')] = 0.5
    softer = case.effort()
    assert np.abs(softer - before).max() > 0.01


def test_parameters_that_no_robot_has():
    with pytest.raises(
        NameNotFoundError, match="no link of parameter 'frame' named ''; there are"
    ):
        Case(frame='')
    with pytest.raises(InvalidInputError, match='modes: need six, got 1'):
        Case(modes=('free',))
    with pytest.raises(NameNotFoundError, match='no constraint row of a wheel'):
        Case(friction_coefficient=0.5, base_constraint='no_sideslip')
