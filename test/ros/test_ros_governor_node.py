# SPDX-License-Identifier: Apache-2.0
"""kane_governor: its core without ROS, and as a process over real DDS."""

import signal
import time

import numpy as np
import pytest
from numpy.testing import assert_allclose
from ros_models import ROOT, FakeClock, from_preset, model_of, path, point
from test_ros_velocity_base import command

from kane_dynamics.analysis.base_motion import DriveResponse
from kane_dynamics.control.governed_base import ArmTrajectoryPreview, GovernedBase
from kane_dynamics.control.node_dynamics import Dynamics
from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.messages.inputs import InputMonitor
from kane_dynamics.robot_config.parameters.tables import GovernorParameters
from kane_dynamics.trajectories.joint_trajectory import UNNAMED, JointTrajectory

NODE = 'kane_governor'
POINTS = (0.25, 0.0, 0.0, -0.25, 0.0, 0.0)
CHANGES = {
    'base_support_points': POINTS,
    'base_acceleration_limit': (2.0, 2.0, 4.0),
    'base_response_time': 0.05,
}


def governed(clock, plays=False, **changes):
    values = {**CHANGES, **changes}
    p = from_preset('nonholonomic', GovernorParameters, **values)
    model = model_of('nonholonomic', base_support_points=values['base_support_points'])
    guard, other = (
        InputMonitor(name, age, lambda: clock.node, steady=lambda: clock.wall)
        for name, age in (('cmd_vel', 0.5), ('arm_trajectory', np.inf))
    )
    arm = ArmTrajectoryPreview(model, other, p.arm_tolerance) if plays else None
    return GovernedBase(Dynamics(model), p, guard, arm)


def at_rest(base):
    robot = base._model.robot
    return robot.neutral(), np.zeros(robot.nv)


def test_a_gentle_command_passes_and_a_stale_one_stops_the_base():
    clock = FakeClock()
    base = governed(clock)
    q, v = at_rest(base)
    assert_allclose(base.admit(clock.node, q, v), np.zeros(3))
    assert base.command.problem()
    assert base.command.take(command(0.05, rate=0.1))
    assert base.command.problem() == ''
    assert_allclose(base.admit(clock.node, q, v), [0.05, 0.0, 0.1])
    clock.forward(0.6)
    assert_allclose(base.admit(clock.node, q, v), np.zeros(3), atol=1e-12)
    assert not base.command.take(command(np.nan))
    assert base.command.guard.rejected == {'nan': 1}


def test_a_rough_command_is_let_through_step_by_step():
    clock = FakeClock()
    base = governed(clock, friction_coefficient=0.2)
    q, v = at_rest(base)
    sent = []
    for _ in range(5):
        assert base.command.take(command(1.5))
        sent.append(base.admit(clock.node, q, v)[0])
        clock.forward(0.05)
        v[:1] = sent[-1]  # the base follows at once
    assert 0.0 < sent[0] < 0.5
    assert sent == sorted(sent) and sent[-1] > sent[0]
    assert base.newest.limit.startswith('friction of wheel_')
    base.halt()
    assert base.newest is None
    assert base.admit(clock.node, q, 0.0 * v)[0] <= sent[0]


def stamped(clock, x, ahead=0.0, frame='', rate=0.0):
    """Return a command with a stamp that is ahead of the clock [s], and a frame."""
    message = command(x, rate=rate, stamp=clock.node + round(ahead * 1e9))
    message.header.frame_id = frame
    return message


def test_a_stop_passes_after_a_command_with_a_stamp_ahead():
    clock = FakeClock()
    base = governed(clock)
    q, v = at_rest(base)
    assert base.command.take(stamped(clock, 0.05, ahead=0.4))
    assert_allclose(base.admit(clock.node, q, v), [0.05, 0.0, 0.0])
    clock.forward(0.05)
    assert base.command.take(stamped(clock, 0.0, ahead=-0.04))
    assert_allclose(base.admit(clock.node, q, v), np.zeros(3))
    for ahead in (-100.0, 100.0):  # of no time, of any frame
        assert base.command.take(stamped(clock, 0.05))
        assert base.command.take(stamped(clock, 0.0, ahead, 'map'))
        assert_allclose(base.admit(clock.node, q, v), np.zeros(3))
        clock.forward(0.05)
    assert base.command.guard.rejected == {}


def test_a_command_in_the_axes_of_another_frame_is_refused():
    clock = FakeClock()
    base = governed(clock)
    for frame in ('', 'base_footprint', 'base_link', 'teleop_twist_joy'):
        assert base.command.take(stamped(clock, 0.05, frame=frame)), frame
    for frame in ('map', 'odom', 'wheel_left_link', 'tool_link'):
        assert not base.command.take(stamped(clock, 0.05, frame=frame)), frame
    assert base.command.guard.rejected == {'frame': 4}


def test_what_no_differential_drive_can_do_is_not_sent():
    clock = FakeClock()
    base = governed(clock)
    q, v = at_rest(base)
    message = command(0.05, y=0.5)
    assert base.command.take(message)
    assert_allclose(base.admit(clock.node, q, v), [0.05, 0.0, 0.0])
    assert base.newest.limit == 'reach along y'


def test_the_picture_is_that_of_the_motion():
    clock = FakeClock()
    base = governed(clock, friction_coefficient=0.6)
    q, v = at_rest(base)
    weight = 9.81 * sum(body.inertia.mass for body in base._model.robot.bodies)
    picture = base.picture(q, v)
    assert_allclose(sum(one.normal for one in picture.contacts.values()), weight)
    assert picture.use == pytest.approx(0.0, abs=1e-9)
    assert base.command.take(command(0.1))
    base.admit(clock.node, q, v)
    pulls = [one.longitudinal for one in base.picture(q, v).contacts.values()]
    gain = 0.1 / 0.05  # of the lag: all of the command, below the limit of 2 m/s^2
    assert_allclose(sum(pulls), gain * weight / 9.81, rtol=1e-6)


def test_limits_of_acceleration_below_zero_are_none_that_exist():
    spec = next(x for x in GovernorParameters.specs if x.name == 'base.acceleration_limit')
    assert spec.problem((0.0, 1.0, 2.0)) == ''
    assert '3 numbers 0 to 1e+06' in spec.problem((-1.0, 0.0, 0.0))


@pytest.mark.parametrize(
    ('changes', 'message'),
    [
        ({'base_support_points': (0.1, 0.2)}, 'need x, y, z of each point, got 2'),
        (
            {'base_support_points': (0.0,)},
            'three points that are not on one line.*base.support_points',
        ),
    ],
)
def test_what_is_no_stance(changes, message):
    with pytest.raises(InvalidInputError, match=message):
        governed(FakeClock(), **changes)


def test_a_base_without_wheels():
    p = from_preset('holonomic', GovernorParameters)
    with pytest.raises(InvalidInputError, match='needs a base on wheels'):
        GovernedBase(Dynamics(model_of('holonomic')), p, InputMonitor('cmd_vel', 1.0, lambda: 0))


ARM = tuple(f'arm_{k}_joint' for k in range(1, 6))


def leaning(angle, after):
    """Return a trajectory of the arm that lowers it to one side."""
    return path(ARM, [point([0.0, angle, 0.0, 0.0, 0.0], [0.0] * 5, time=after)])


def play(base, clock, periods):
    """Play what the arm shall do at the pace that is let through; return places and paces."""
    model = base._model
    q, v = at_rest(base)
    base.admit(clock.node, q, v)
    assert base.arm.take(leaning(-1.5, 2.0))
    arm = model.q_index(ARM)
    begun, end, place, paces = clock.node, 2.0, 0.0, []
    motion = JointTrajectory(
        UNNAMED, [0.0, end], [np.zeros(5), [0.0, -1.5, 0, 0, 0]], np.zeros((2, 5))
    )
    for _ in range(periods):
        q[arm], speed, _ = motion.at(place)
        pace = 1.0 if not paces else paces[-1]
        v[model.v_index(ARM)] = pace * speed
        base.admit(clock.node, q, v)
        paces.append(base.newest.speed_scaling)
        place += 0.05 * paces[-1]
        clock.forward(0.05)
    assert clock.node > begun
    return place / end, paces


def test_the_pace_falls_before_the_trajectory_of_the_arm_tips_the_robot():
    clock = FakeClock()
    base = governed(clock, plays=True, base_support_points=(0.22, 0.0, 0.0), margin_tip_over=0.02)
    place, paces = play(base, clock, 50)
    assert paces[0] == 1.0 and paces[-1] <= 0.1
    assert base.newest.limit == 'tip-over' and base.newest.headroom >= 0.0
    assert 0.1 < place < 0.9


def test_a_trajectory_that_the_arm_does_not_follow_does_not_count():
    clock = FakeClock()
    base = governed(clock, plays=True)
    q, v = at_rest(base)
    assert not base.arm.take(leaning(0.5, 1.0))  # where from?
    assert base.arm.ahead(clock.node, 1.0, q, v) is None
    assert base.arm.take(leaning(0.5, 1.0))
    k = base._model.q_index(ARM)[1]
    states = base.arm.ahead(clock.node, 1.0, q, v)(np.array([0.0, 0.5, 5.0]))[0]
    assert_allclose(states[:, k], [0.0, 0.25, 0.5], rtol=0, atol=1e-9)
    clock.forward(0.8)  # at half the pace: as far as after 0.4 s
    q[k] = 0.5 * 0.4**2 * (3.0 - 2.0 * 0.4)
    states = base.arm.ahead(clock.node, 0.5, q, v)(np.array([0.0, 0.1]))[0]
    assert_allclose(states[:, k], [q[k], 0.25], rtol=0, atol=1e-9)
    q[k] += 0.3  # further than arm_tolerance
    assert base.arm.ahead(clock.node, 1.0, q, v) is None
    assert not base.arm.take(path(['wrist'], [point([0.0])]))
    base.reset()
    q[k] -= 0.3
    assert base.arm.ahead(clock.node, 1.0, q, v) is None


MU, LIMIT = 0.5, 0.8 * 0.5 * 9.81  # of the wheels, and what is used of it [m/s^2]
DRIVES = DriveResponse(0.05, (np.inf, np.inf, np.inf))


def driving(clock, speed=1.0):
    """Return a base at a speed, its governor and state."""
    base = governed(clock, friction_coefficient=MU, base_acceleration_limit=(0.0, 0.0, 0.0))
    q, v = at_rest(base)
    v[0] = speed
    assert base.command.take(command(speed))
    assert_allclose(base.admit(clock.node, q, v), [speed, 0.0, 0.0])
    return base, q, v


def hardest(speed, commands, period):
    """Return the largest deceleration of drives that follow commands, and the last speed."""
    twist, most = np.array([speed, 0.0, 0.0]), 0.0
    for one in commands:
        times = np.linspace(0.0, period, 11)
        most = max(most, *(-DRIVES.after(twist, one, t).acceleration[0] for t in times))
        twist = DRIVES.after(twist, one, period).twist
    return most, twist[0]


@pytest.mark.parametrize('period', [0.02, 0.05])
def test_a_base_whose_state_is_lost_is_braked_and_not_stopped_at_once(period):
    clock = FakeClock()
    base, _, _ = driving(clock)
    commands = [base.brake(period) for _ in range(round(1.0 / period))]
    most, left = hardest(1.0, commands, period)
    assert 0.3 * LIMIT < most < 1.01 * LIMIT  # supports carry a part
    assert not commands[-1].any() and left < 1e-3
    assert (np.diff([one[0] for one in commands]) <= 1e-9).all()


def test_a_base_goes_on_from_its_measured_twist_after_a_gap():
    clock = FakeClock()
    base, q, v = driving(clock)
    for _ in range(3):
        base.brake(0.05)
    v[0] = 0.6
    clock.forward(0.15)
    assert base.command.take(command(1.0))
    again = base.admit(clock.node, q, v)[0]
    assert 0.6 < again <= 0.6 + LIMIT * 0.05 + 1e-9


def test_another_model_goes_on_braking():
    clock = FakeClock()
    base, _, _ = driving(clock)
    other = governed(clock, friction_coefficient=MU)
    assert not other.brake(0.05).any()  # knows of no motion
    other.take_over(base)
    assert 0.7 < other.brake(0.05)[0] < 1.0


def test_a_base_that_cannot_be_braked_is_told_to_stand_in_the_end():
    clock = FakeClock()
    base, _, _ = driving(clock)
    base._governor.admit = lambda *given: base.newest._replace(command=np.array([1.0, 0.0, 0.0]))
    commands = [base.brake(0.5) for _ in range(10)]
    assert commands[6].any() and not commands[-1].any()


class Driven:
    """A base that follows cmd_vel and sends its state, over DDS."""

    def __init__(self, bench):
        from geometry_msgs.msg import Twist
        from nav_msgs.msg import Odometry
        from sensor_msgs.msg import JointState

        self.bench, self.twist, self.last = bench, np.zeros(3), time.monotonic()
        self.joints = bench.publisher(JointState, 'joint_states')
        self.odom = bench.publisher(Odometry, 'odom')
        self.wanted = bench.publisher(Twist, 'cmd_vel_in', 1)
        self.sent, self.sends = [], {'joints', 'odom', 'wanted'}
        self.names = list(model_of('nonholonomic').joints)
        self.message = Twist()
        self.message.linear.x = 1.0
        bench.node.create_subscription(Twist, 'cmd_vel', self.take, 50)

    def take(self, message):
        self.sent.append((time.monotonic(), message.linear.x))

    def step(self):
        from nav_msgs.msg import Odometry
        from sensor_msgs.msg import JointState

        now = time.monotonic()
        goal = np.array([self.sent[-1][1] if self.sent else 0.0, 0.0, 0.0])
        self.twist = DRIVES.after(self.twist, goal, now - self.last).twist
        self.last = now
        joints = JointState(name=self.names)
        joints.header.stamp = self.bench.now()
        joints.position = joints.velocity = [0.0] * len(self.names)
        odom = Odometry(child_frame_id='base_footprint')
        odom.header.stamp = self.bench.now()
        odom.pose.pose.orientation.w = 1.0
        odom.twist.twist.linear.x = self.twist[0]
        for name, message in (('joints', joints), ('odom', odom), ('wanted', self.message)):
            if name in self.sends:
                getattr(self, name).publish(message)

    def drive(self):
        """Drive until the base goes at 1 m/s."""
        self.sends = {'joints', 'odom', 'wanted'}
        self.bench.until(lambda: self.twist[0] > 0.99, each=self.step)

    def stopped(self, begun):
        """Return whether what was sent since then ends in a stop."""
        late = [x for t, x in self.sent if t > begun]
        return bool(late) and late[-1] == 0.0

    def check(self, begun):
        """Check that the base was braked along a ramp and then stopped."""
        times, speeds = np.array([one for one in self.sent if one[0] > begun - 0.03]).T
        first = int(np.argmax(speeds < 0.99))
        times, speeds = times[first:], speeds[first:]
        assert speeds[-1] == 0.0 and (np.diff(speeds) <= 1e-9).all()
        # the response brings 1 m/s down by LIMIT; a stop at once would be one message
        assert speeds[0] > 0.5 and len(speeds) > 3
        assert times[-1] - times[0] > 0.5 * (1.0 / LIMIT)


def start_governor(bench):
    """Start the node for a base with quick drives."""
    bench.start(
        'governor_node',
        files=[ROOT / 'config' / 'nonholonomic.yaml'],
        params={
            'base.cmd_vel_stamped': 'false',
            'base.response_time': 0.05,
            'base.support_points': str(list(POINTS)),
            'compiled': 'never',
            'friction_coefficient': MU,
            'publish_rate': 50.0,
        },
    )


@pytest.mark.ros
def test_stops_of_the_governor_itself_are_ramps(bench):
    start_governor(bench)
    base = Driven(bench)
    bench.matched(base.wanted)
    for lost in ('joints', 'odom'):
        base.drive()
        begun = time.monotonic()
        base.sends = {'joints', 'odom', 'wanted'} - {lost}
        bench.until(lambda b=begun: base.stopped(b), each=base.step)
        base.check(begun)
    for number in (signal.SIGTERM, signal.SIGINT):
        base.drive()
        begun = time.monotonic()
        bench.processes[-1].send_signal(number)
        bench.until(lambda b=begun: base.stopped(b), each=base.step)
        base.check(begun)
        assert bench.processes[-1].wait(30.0) == 0
        if number == signal.SIGTERM:
            start_governor(bench)


@pytest.mark.ros
def test_the_node(bench):
    from geometry_msgs.msg import Twist
    from nav_msgs.msg import Odometry
    from sensor_msgs.msg import JointState
    from std_msgs.msg import Float64
    from trajectory_msgs.msg import JointTrajectory
    from visualization_msgs.msg import Marker, MarkerArray

    common = {
        'base.command_interface': 'velocity',
        'base.cmd_vel_stamped': 'false',
        'base.acceleration_limit': '[2.0, 2.0, 4.0]',
        'compiled': 'never',
    }
    files = [ROOT / 'config' / 'nonholonomic.yaml']
    odom = bench.listen(Odometry, '/odom')
    sent = bench.listen(Twist, '/cmd_vel')
    pace = bench.listen(Float64, f'/{NODE}/speed_scaling_factor')
    forces = bench.listen(JointState, f'/{NODE}/contact_forces')
    markers = bench.listen(MarkerArray, f'/{NODE}/markers')
    wanted = bench.publisher(Twist, 'cmd_vel_in', 1)
    plans = bench.publisher(JointTrajectory, 'arm_plan', 1)
    bench.start(
        'simulator_node',
        files=files,
        params={
            **common,
            'joint_state_rate': 50.0,
            'step_size': 0.02,
            'publish_clock': 'false',
        },
    )
    bench.start(
        'governor_node',
        files=files,
        params={
            **common,
            'base.support_points': str(list(POINTS)),
            'friction_coefficient': 0.15,
            'arm_trajectory_topic': 'arm_plan',
            'publish_rate': 10.0,
            'timeout.joint_states': 1.0,
            'timeout.odom': 1.0,
        },
    )
    bench.matched(wanted)
    bench.matched(plans)
    message = Twist()
    message.linear.x = 0.6

    def drive():
        wanted.publish(message)

    def moving():
        return odom and abs(odom[-1].twist.twist.linear.x - 0.6) < 0.05

    bench.until(moving, each=drive)
    steps = [one.linear.x for one in sent]
    assert max(steps) <= 0.6 + 1e-9
    assert any(0.0 < step < 0.55 for step in steps)  # 2 m/s^2 at once would slip
    bench.until(lambda: pace and forces and markers, each=drive)
    assert 0.0 <= pace[-1].data <= 1.0
    assert {'wheel_left_joint/normal', 'support 0/normal'} <= {*forces[-1].name}
    kinds = [marker.type for marker in markers[-1].markers]
    assert kinds.count(Marker.ARROW) == 4
    assert {Marker.LINE_STRIP, Marker.SPHERE_LIST} <= {*kinds}
    bench.until(lambda: abs(odom[-1].twist.twist.linear.x) < 0.05)  # nobody drives: it stands
    bench.status_where(
        f'{NODE}: cmd_vel_in', lambda level, text, _: level == b'\x01' and 'standing' in text
    )
