# SPDX-License-Identifier: Apache-2.0
"""The controller holds, brakes and follows trajectories in closed loop, over real DDS."""

import numpy as np
import pytest
from ros_models import ROOT

pytest.importorskip('rclpy', reason='ROS 2 is not installed: pip install .[ros]')

from rclpy.duration import Duration
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from kane_dynamics.messages.conversions import nanoseconds

pytestmark = pytest.mark.ros
FILES = [ROOT / 'config' / f'{name}.yaml' for name in ('nonholonomic', 'simulation')]
WHEELS = ['wheel_left_joint', 'wheel_right_joint']
ARM = 'arm_2_joint'
START = {ARM: 0.5, 'arm_3_joint': -0.5}
BUSY_MACHINE = 300.0  # [s] of wall time for a second or two of lockstep


class Loop:
    """Simulator and controller in lockstep, and what joint_states say."""

    def __init__(self, bench):
        self.bench, self.wanted = bench, START[ARM]
        common = {'compiled': 'never'}
        self.states = bench.listen(JointState, '/joint_states', 1000)
        self.reference = bench.publisher(JointTrajectory, 'kane_inverse_dynamics/reference', 1)
        controller = {'use_sim_time': 'true', 'timeout.joint_states': 60.0, 'timeout.odom': 60.0}
        bench.start('inverse_dynamics_node', files=FILES, params={**common, **controller})
        bench.matched(self.reference)
        simulator = {'lockstep': 'true', 'rtf': 0.0, 'step_size': 0.004, 'timeout.command': 120.0}
        bench.start(
            'simulator_node',
            files=FILES,
            params={**common, **simulator, 'publish_tf': 'false'},
            arguments=['-r', '~/effort_command:=/kane_inverse_dynamics/effort'],
        )
        bench.until(lambda: self.states)

    @property
    def now(self):
        return nanoseconds(self.states[-1].header.stamp) * 1e-9

    def spin(self, seconds, each=None):
        """Let simulated time pass."""
        end = self.now + seconds
        self.bench.until(lambda: self.now >= end, BUSY_MACHINE, each)

    def rest(self):
        """Let simulated time pass until the arm rests where it was sent."""

        def rests():
            last = self.states[-1]
            i = last.name.index(ARM)
            return abs(last.position[i] - self.wanted) < 1e-3 and abs(last.velocity[i]) < 1e-3

        self.bench.until(rests, BUSY_MACHINE)

    def times(self, since=0.0):
        """Return the stamps since a time [s]."""
        stamps = np.array([nanoseconds(m.header.stamp) * 1e-9 for m in self.states])
        return stamps[stamps >= since]

    def of(self, name, field='position', since=0.0):
        """Return the values of a joint since a time."""
        return np.array(
            [
                getattr(m, field)[m.name.index(name)]
                for m in self.states
                if nanoseconds(m.header.stamp) * 1e-9 >= since
            ]
        )

    def send(self, names, *points):
        """Send a trajectory of (time, positions, velocities)."""
        message = JointTrajectory(joint_names=list(names))
        for time, positions, velocities in points:
            message.points.append(
                JointTrajectoryPoint(
                    positions=[float(x) for x in positions],
                    velocities=[float(x) for x in velocities],
                    time_from_start=Duration(seconds=time).to_msg(),
                )
            )
        self.reference.publish(message)


@pytest.fixture(scope='module')
def loop(bench):
    return Loop(bench)


def test_a_mobile_base_without_reference_holds_its_place(loop):
    loop.spin(1.0)
    for name in ('arm_1_joint', ARM, 'arm_3_joint', 'arm_4_joint', 'arm_5_joint', *WHEELS):
        assert abs(loop.of(name) - START.get(name, 0.0)).max() < 2e-3, name


def test_wheels_brake_when_the_reference_stops(loop):
    speed, seen = 2.0, loop.now

    def drive():
        x = float(loop.of(WHEELS[0])[-1]) + 0.02 * speed
        loop.send(WHEELS, (0.0, [x, x], [speed, speed]))

    def fast():
        """Return whether the wheel has turned fast, for longer than a setpoint lives."""
        velocity = loop.of(WHEELS[0], 'velocity', seen)
        return velocity.max() > 0.5 * speed and loop.now > seen + 0.5

    def stopped():
        return all(abs(loop.of(n, 'velocity', loop.now - 0.3)).max() < 0.05 for n in WHEELS)

    loop.bench.until(fast, BUSY_MACHINE, drive)
    loop.bench.until(stopped, BUSY_MACHINE)
    times = loop.times(seen)
    last = times[loop.of(WHEELS[0], 'velocity', seen) > 0.5 * speed][-1]
    assert times[-1] - last < 1.2  # braking, and the time for which the wheels were watched
    for name in WHEELS:
        assert np.ptp(loop.of(name, since=times[-1] - 0.3)) < 0.01


def test_a_trajectory_of_51_points_moves_at_its_speed(loop):
    """Regression: the last point was taken at once, 6.8 rad/s at the limit of the motor."""
    since, start = loop.now, loop.wanted
    rate, period = 0.3, 0.02
    points = [(i * period, [start + rate * i * period], [rate]) for i in range(51)]
    loop.send([ARM], *points)
    loop.wanted = start + 50 * rate * period
    loop.rest()
    assert abs(loop.of(ARM, 'velocity', since)).max() < 2.0 * rate


@pytest.mark.parametrize(
    ('names', 'points', 'kind'),
    [
        ([ARM], [(0.2, [0.0], [0.0]), (0.1, [0.1], [0.0])], 'order'),
        ([ARM], [(0.1, [np.nan], [0.0]), (0.2, [0.1], [0.0])], 'nan'),
        ([ARM], [(0.1, [0.1], [1e160])], 'range'),
        ([ARM], [(0.1, [0.1, 0.2], [0.0])], 'short'),
        ([ARM, 'elbow'], [(0.1, [0.1, 0.2], [0.0, 0.0])], 'unknown'),
        ([ARM], [(0.0, [9.0], [0.0]), (0.2, [9.1], [0.0])], 'jump'),
    ],
)
def test_bad_trajectories_move_nothing_and_are_counted(loop, names, points, kind):
    loop.rest()
    since = loop.now
    loop.send(names, *points)
    loop.bench.status_where(
        'kane_inverse_dynamics: reference', lambda _, __, values: f'rejected: {kind}' in values
    )
    assert abs(loop.of(ARM, since=since) - loop.wanted).max() < 5e-3
