# SPDX-License-Identifier: Apache-2.0
"""Simulator and inverse dynamics in closed loop, each in a process of its own, over real DDS."""

import time

import numpy as np
import pytest
from ros_models import ROOT

pytest.importorskip('rclpy', reason='ROS 2 is not installed: pip install .[ros]')

from rclpy.qos import QoSProfile
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from kane_dynamics.messages.conversions import nanoseconds

pytestmark = pytest.mark.ros
CONFIG = ROOT / 'config'
REMAP = ['-r', '~/effort_command:=/kane_inverse_dynamics/effort']
REMAP += ['-r', 'joint_states:=simulated/joint_states']
AMPLITUDE, FREQUENCY = 0.4, 2.0  # [rad], [rad/s]
WHEELS = 1.5  # [rad/s^2]
HEAD_START = 0.003  # [s] of wall time for a reference before its state
DURATION = 0.5  # [s] of simulated time
PATIENCE = 20.0  # [s] of wall time, with what the next node is to send


def wanted(name, t):
    """Return position, velocity and acceleration of a joint at a time."""
    if name.startswith('wheel'):
        return 0.5 * WHEELS * t**2, WHEELS * t, WHEELS
    start = {'arm_2_joint': 0.5, 'arm_3_joint': -0.5}.get(name, 0.0)
    phase = FREQUENCY * t
    return (
        start + AMPLITUDE * (1.0 - np.cos(phase)),
        AMPLITUDE * FREQUENCY * np.sin(phase),
        AMPLITUDE * FREQUENCY**2 * np.cos(phase),
    )


class Loop:
    """
    The two nodes in lockstep, and a reference for each state.

    The states pass through the bench, which sends the reference of a state before the state
    itself: so the controller always has it, however busy the machine is.
    """

    def __init__(self, bench, feedforward):
        self.bench, self.errors = bench, []
        self.efforts = {}
        self.reference = bench.publisher(JointTrajectory, 'kane_inverse_dynamics/reference', 1)
        terms = {f'terms.{t}': feedforward for t in ('inertia', 'coriolis', 'gravity', 'friction')}
        common = {'compiled': 'never'}
        # a state is not stale where a busy machine takes seconds to pass it on
        limits = {f'timeout.{x}': PATIENCE for x in ('reference', 'joint_states', 'odom')}
        files = [CONFIG / 'nonholonomic.yaml', CONFIG / 'simulation.yaml']
        self.controller = bench.start(
            'inverse_dynamics_node',
            files=files,
            params={**common, **terms, **limits, 'use_sim_time': 'true'},
        )
        self.joints = bench.publisher(JointState, 'joint_states', 1)
        self.subscription = bench.node.create_subscription(
            JointState, '/simulated/joint_states', self.on_state, QoSProfile(depth=1)
        )
        bench.matched(self.reference)
        self.send(0.0)
        bench.spin(0.2)
        self.simulator = bench.start(
            'simulator_node',
            files=files,
            params={
                **common,
                'lockstep': 'true',
                'rtf': 0.0,
                'step_size': 0.004,
                'timeout.command': PATIENCE,
                'publish_tf': 'false',
            },
            arguments=REMAP,
        )

    def send(self, t):
        names = ['wheel_left_joint', 'wheel_right_joint', *(f'arm_{i}_joint' for i in range(1, 6))]
        values = np.array([wanted(n, t) for n in names]).T
        point = JointTrajectoryPoint()
        point.positions, point.velocities, point.accelerations = (v.tolist() for v in values)
        self.reference.publish(JointTrajectory(joint_names=names, points=[point]))

    def on_state(self, message):
        t = nanoseconds(message.header.stamp) * 1e-9
        self.send(t)
        time.sleep(HEAD_START)
        self.joints.publish(message)
        error = {
            n: p - wanted(n, t)[0] for n, p in zip(message.name, message.position, strict=True)
        }
        self.errors.append((t, error))

    def run(self):
        """Run for DURATION; return the root mean square error of the arm and of the wheels."""
        self.bench.until(lambda: self.errors and self.errors[-1][0] >= DURATION, 300.0)
        assert self.bench.terminate(self.simulator) == 0
        assert self.bench.terminate(self.controller) == 0
        self.bench.node.destroy_subscription(self.subscription)
        for publisher in (self.reference, self.joints):
            self.bench.node.destroy_publisher(publisher)
        rms = {}
        for kind in ('arm', 'wheel'):
            values = [
                e for _, error in self.errors for n, e in error.items() if n.startswith(kind)
            ]
            rms[kind] = float(np.sqrt(np.mean(np.square(values))))
        return rms


def test_feedforward_follows_far_better_than_the_same_gains_alone(bench):
    feedback = Loop(bench, 'false').run()
    both = Loop(bench, 'true').run()
    assert both['arm'] < 0.2 * feedback['arm']
    assert both['wheel'] < 0.2 * feedback['wheel']
    assert both['arm'] < 0.02
