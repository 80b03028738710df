# SPDX-License-Identifier: Apache-2.0
"""Simulator and wrench control in closed loop, each in a process of its own, over real DDS."""

import time

import numpy as np
import pytest
from ros_models import ROOT, FakeClock, from_preset, model_of, preset

pytest.importorskip('rclpy', reason='ROS 2 is not installed: pip install .[ros]')

from geometry_msgs.msg import PoseStamped
from nav_msgs.msg import Odometry
from sensor_msgs.msg import JointState

from kane_dynamics.control.frame_controllers import WrenchController
from kane_dynamics.control.node_dynamics import Dynamics
from kane_dynamics.messages.conversions import nanoseconds
from kane_dynamics.messages.inputs import InputMonitor
from kane_dynamics.plant.plant import Plant
from kane_dynamics.robot_config.parameters.tables import (
    SimulatorParameters,
    WrenchControlParameters,
)

pytestmark = pytest.mark.ros
NODE = 'kane_wrench_control'
FILES = [ROOT / 'config' / f'{name}.yaml' for name in ('nonholonomic', 'wrench_control')]
STEP, PERIODS = 0.004, 50
UP = 0.1  # [m]
HEAD_START = 0.04  # [s] of wall time for an odometry before the joint_states of its instant
PATIENCE = 1.0  # [s] of wall time until a state is passed on once more
REMAP = ['-r', f'~/effort_command:=/{NODE}/effort', '-r', 'odom:=simulated/odom']
REMAP += ['-r', 'joint_states:=simulated/joint_states']
SIMULATED = {'step_size': STEP, 'joint_state_rate': 250.0, 'odom_rate': 250.0}


class InProcess:
    """The same loop without ROS: controller and plant call each other."""

    def __init__(self):
        model = model_of('nonholonomic')
        dynamics, clock = Dynamics(model), FakeClock()
        start = [preset('nonholonomic').get(f'initial_positions.{n}', 0.0) for n in model.joints]
        given = from_preset('nonholonomic', SimulatorParameters, **SIMULATED)
        self.plant = Plant(dynamics, given, np.array(start))
        self.controller = WrenchController(
            dynamics,
            from_preset('nonholonomic', WrenchControlParameters),
            lambda name: InputMonitor(name, 0.5, lambda: clock.node),
        )
        self.joints, self.motors = model.q_index(model.joints), model.v_index(model.motors)
        self.first = self.place()
        self.target = target(self.first)

    def place(self):
        return self.controller._place(self.plant.simulation.q)

    def run(self):
        """Return the joint positions at each state, and how far the hand rises."""
        path = []
        for _ in range(PERIODS):
            path.append(self.plant.simulation.q[self.joints])
            assert self.controller.pose.take(self.target)
            effort = self.controller.effort(self.plant.simulation.q, self.plant.simulation.v)
            self.plant.command(self.motors, effort)
            self.plant.advance(self.plant.steps_to_state)
        return np.array(path), self.place()[2] - self.first[2]


class Relay:
    """
    Passes states on, the odometry of an instant before its joint_states.

    So the controller answers with both, however busy the machine is, and never with the zeros of
    one that has no odometry yet; no state is missed, for lockstep repeats what nobody answers.
    """

    def __init__(self, bench):
        self.path, self.odom, self.bench = {}, {}, bench
        self.passed = {}
        self.out = {
            kind: bench.publisher(kind, topic, 1)
            for kind, topic in ((JointState, 'joint_states'), (Odometry, 'odom'))
        }
        bench.node.create_subscription(Odometry, '/simulated/odom', self.on_odom, 50)
        bench.node.create_subscription(JointState, '/simulated/joint_states', self.on_joints, 50)
        for publisher in self.out.values():
            bench.matched(publisher)

    def on_odom(self, message):
        self.odom[nanoseconds(message.header.stamp)] = message

    def on_joints(self, message):
        stamp = nanoseconds(message.header.stamp)
        if stamp not in self.odom or time.monotonic() < self.passed.get(stamp, 0.0) + PATIENCE:
            return  # it is repeated
        self.path[stamp] = list(message.position)
        self.out[Odometry].publish(self.odom[stamp])
        if self.bench.status(f'{NODE}: odom')[2].get('accepted', '0') != '0':
            time.sleep(HEAD_START)
            self.out[JointState].publish(message)
            self.passed[stamp] = time.monotonic()


def target(place):
    """Return the pose that is wanted: the present one, higher."""
    message = PoseStamped()
    message.header.frame_id = 'odom'
    position, orientation = message.pose.position, message.pose.orientation
    position.x, position.y, position.z = place[0], place[1], place[2] + UP
    orientation.w, orientation.x, orientation.y, orientation.z = place[3:]
    return message


def test_the_link_moves_as_in_one_process(bench):
    expected = InProcess()
    poses = bench.publisher(PoseStamped, f'{NODE}/pose', 1)
    patient = {f'timeout.{name}': 100.0 for name in ('joint_states', 'odom', 'pose')}
    bench.start(
        'wrench_control_node',
        files=FILES,
        params={'compiled': 'never', 'use_sim_time': 'true', **patient},
    )
    bench.matched(poses)
    relay = Relay(bench)
    bench.status_where(  # before the first state
        f'{NODE}: pose',
        lambda level, text, values: values.get('accepted', '0') != '0',
        each=lambda: poses.publish(expected.target),
    )
    lockstep = {'lockstep': 'true', 'rtf': 0.0, 'timeout.command': 20.0, 'publish_tf': 'false'}
    bench.start(
        'simulator_node',
        files=FILES[:1],
        params={'compiled': 'never', **SIMULATED, **lockstep},
        arguments=REMAP,
    )
    wanted, rise = expected.run()
    bench.until(lambda: len(relay.path) >= PERIODS)
    measured = np.array([relay.path[4_000_000 * k] for k in range(PERIODS)])
    assert rise > 0.1 * UP
    # an odometry that comes after its joint_states all the same counts one period later
    assert np.abs(measured - wanted).max() < 1e-3 * np.abs(wanted - wanted[0]).max()
