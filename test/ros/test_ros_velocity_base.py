# SPDX-License-Identifier: Apache-2.0
"""Bases driven by velocity: sources of their motion, efforts beside them, their simulation."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from preset_robots import FILES, stand_in
from ros_models import (
    ROOT,
    FakeClock,
    from_preset,
    model_of,
    odometry,
    parameters,
    preset,
    time_message,
    xyz,
)
from support.base_urdf import BASES, CORNERS, urdf

import kane_dynamics as kd
from kane_dynamics.control.base_state_input import BaseMotionInput
from kane_dynamics.control.effort_controller import EffortController
from kane_dynamics.control.effort_law import BaseState, EffortLaw, Terms
from kane_dynamics.control.node_dynamics import Dynamics, driven_motion
from kane_dynamics.control.reference import Reference
from kane_dynamics.control.state_inputs import OdometryInput
from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.messages.conversions import PlanarFrame
from kane_dynamics.messages.inputs import InputMonitor
from kane_dynamics.plant.plant import Plant
from kane_dynamics.plant.velocity_drives import VelocityDrives
from kane_dynamics.robot_config.parameters.spec import plain
from kane_dynamics.robot_config.parameters.tables import (
    InverseDynamicsParameters,
    SimulatorParameters,
    WrenchControlParameters,
)
from kane_dynamics.robot_config.robot_source import BASE_NAMES, build_model, parameters_of_file

WHEELS = ('wheel_left_joint', 'wheel_right_joint')
LIMIT = (1.0, 1.0, 2.0)  # [m/s^2, m/s^2, rad/s^2]
DRIVEN = {
    'base_command_interface': 'velocity',
    'base_acceleration_limit': LIMIT,
    'base_response_time': 0.02,
}
AGES = {'cmd_vel': 0.5, 'odom': 0.25, 'imu': 0.1}


def command(x, rate=0.0, y=0.0, stamp=0):
    """Return what looks like a TwistStamped."""
    twist = SimpleNamespace(linear=xyz(x, y), angular=xyz(0.0, 0.0, rate))
    return SimpleNamespace(
        header=SimpleNamespace(stamp=time_message(stamp), frame_id=''), twist=twist
    )


def imu(force, frame='base_footprint', stamp=0, known=0.0):
    """Return what looks like an Imu."""
    return SimpleNamespace(
        header=SimpleNamespace(stamp=time_message(stamp), frame_id=frame),
        linear_acceleration=xyz(*force),
        linear_acceleration_covariance=[known] * 9,
    )


class Inputs:
    """The inputs of a driven base on a clock that a test sets."""

    def __init__(self, *sources, **changes):
        self.clock = FakeClock()
        values = {
            **DRIVEN,
            'base_acceleration_source': sources or ('cmd_vel', 'odom', 'imu'),
            **changes,
        }
        self.model = model_of('nonholonomic', **values)
        p = from_preset('nonholonomic', InverseDynamicsParameters, **values)
        self.odom = OdometryInput('base_footprint', self.model.child_frame, self.guard('odom'))
        self.base = BaseMotionInput(self.model, p, self.guard, self.odom)

    def guard(self, name):
        clock = self.clock
        return InputMonitor(name, AGES[name], lambda: clock.node, steady=lambda: clock.wall)

    def at_odom(self, x, rate=0.0):
        twist = (x, 0.0, rate)
        assert self.odom.take(odometry(stamp=self.clock.node, twist=twist))

    def motion(self):
        assert self.base.problem() == ''
        return self.base.at(self.clock.node, self.model.robot.gravity)


def test_the_command_says_how_the_base_accelerates():
    inputs = Inputs()
    inputs.at_odom(0.0)
    assert inputs.base.command.take(command(0.5, stamp=inputs.clock.node))
    inputs.clock.forward(0.2)
    inputs.at_odom(0.2)
    speeds, rates = inputs.motion()
    assert_allclose(speeds, [0.2, 0.0, 0.0], atol=1e-12)
    assert_allclose(rates, [1.0, 0.0, 0.0], atol=1e-12)  # the limit
    assert inputs.base.used == 'cmd_vel'


def test_without_odometry_the_speed_is_that_of_the_command():
    inputs = Inputs('cmd_vel')
    assert inputs.base.command.take(command(0.5, rate=0.4))
    inputs.clock.forward(0.15)
    speeds, rates = inputs.motion()
    assert_allclose(speeds, [0.15, 0.0, 0.3], atol=1e-12)
    assert_allclose(rates, [1.0, 0.15 * 0.3, 2.0], atol=1e-12)  # along y: w v


def test_a_stop_counts_after_a_command_with_a_stamp_ahead():
    inputs = Inputs('cmd_vel')
    ahead = inputs.clock.node + round(0.4e9)
    assert inputs.base.command.take(command(0.5, stamp=ahead))
    inputs.clock.forward(0.2)
    speeds, rates = inputs.motion()
    assert_allclose([speeds[0], rates[0]], [0.2, 1.0], atol=1e-12)  # it counts from its arrival
    assert inputs.base.command.take(command(0.0, stamp=inputs.clock.node))
    inputs.clock.forward(0.1)
    speeds, rates = inputs.motion()
    assert_allclose([speeds[0], rates[0]], [0.1, -1.0], atol=1e-12)


def test_an_old_command_gives_way_to_odometry():
    inputs = Inputs()
    assert inputs.base.command.take(command(0.5))
    inputs.clock.forward(0.6)
    assert 'cmd_vel: stale' in inputs.base.problem()
    for k in range(100):  # a steady acceleration, differentiated
        inputs.clock.forward(0.01)
        inputs.at_odom(0.3 * 0.01 * k)
        _, rates = inputs.motion()
    assert inputs.base.used == 'odom'
    assert_allclose(rates, [0.3, 0.0, 0.0], rtol=0.5)  # sampled at half the lag
    inputs.clock.forward(0.3)
    assert 'odom: stale' in inputs.base.problem()


def test_a_command_after_a_pause_goes_on_from_odometry():
    inputs = Inputs()
    for _ in range(40):
        inputs.at_odom(0.7)
        inputs.motion() if inputs.base.problem() == '' else None
        inputs.clock.forward(0.02)
    assert inputs.base.command.take(command(0.7, stamp=inputs.clock.node))
    inputs.at_odom(0.7)
    _, rates = inputs.motion()
    assert_allclose(rates, np.zeros(3), atol=1e-6)


def test_an_accelerometer_may_be_preferred():
    inputs = Inputs('imu', 'cmd_vel')
    inputs.at_odom(0.4)
    assert inputs.base.command.take(command(0.4))
    inputs.motion()
    assert inputs.base.used == 'cmd_vel'
    assert inputs.base.imu.take(imu((0.6, 0.1, 9.81)))
    _, rates = inputs.motion()
    assert inputs.base.used == 'imu'
    assert_allclose(rates, [0.6, 0.1, 0.0], atol=1e-9)


@pytest.mark.parametrize(
    ('message', 'kind'),
    [
        (imu((0.0, 0.0, 9.81), frame='tool_link'), 'frame'),
        (imu((0.0, 0.0, 9.81), frame='nowhere'), 'frame'),
        (imu((np.nan, 0.0, 9.81)), 'nan'),
        (imu((0.0, 0.0, 9.81), known=-1.0), 'missing'),
    ],
)
def test_an_accelerometer_that_is_refused(message, kind):
    inputs = Inputs()
    assert not inputs.base.imu.take(message)
    assert inputs.base.imu.guard.rejected == {kind: 1}


def test_commands_that_are_refused():
    inputs = Inputs()
    assert not inputs.base.command.take(command(np.nan))
    assert not inputs.base.command.take(command(1e12))
    assert not inputs.base.command.take(command(0.1, stamp=inputs.clock.node - 10**9))
    assert inputs.base.command.guard.rejected == {'nan': 1, 'range': 1, 'stale': 1}
    assert 'no usable message yet' in inputs.base.problem()


def test_sources_that_do_not_exist():
    with pytest.raises(InvalidInputError, match=r"need some of \['cmd_vel', 'odom', 'imu'\]"):
        Inputs('cmdvel')


def test_a_node_that_pushes_with_its_wheels_refuses_a_base_that_others_drive():
    (spec,) = (
        one for one in WrenchControlParameters.specs if one.name == 'base.command_interface'
    )
    assert spec.problem('effort') == ''
    said = spec.problem('velocity')
    assert "must be one of effort, got 'velocity'" in said
    assert 'base_type none while that stands' in said


def test_a_fixed_robot_has_no_velocity_drives():
    with pytest.raises(InvalidInputError, match='needs a base_type'):
        model_of('nonholonomic', base_type='none', base_constraint='none', **DRIVEN)


# the law


def held(model, q):
    """Return the reference that holds all motors where they are."""
    motors = np.arange(len(model.motors))
    zeros = np.zeros(len(motors))
    places = model.q_index(model.motors)
    return Reference(motors, places, model.v_index(model.motors), q[places], zeros, zeros)


@pytest.mark.parametrize(('kind', 'rows'), [('diff_drive', 'rolling'), ('planar', 'none')])
def test_efforts_are_those_of_the_whole_motion(rng, kind, rows):
    model = model_of('nonholonomic', base_type=kind, base_constraint=rows, **DRIVEN)
    robot, drives = model.robot, WHEELS if kind == 'diff_drive' else BASE_NAMES
    assert model.drives == drives
    assert not {*model.motors} & {*drives}
    q = robot.neutral() + rng.uniform(-1.0, 1.0, robot.nq)
    v = np.zeros(robot.nv)
    c, s = np.cos(q[2]), np.sin(q[2])
    speed, turning, gain, bend = 0.6, -0.4, 0.9, 0.7
    along = np.array([c, s, 0.0]), np.array([-s, c, 0.0])
    # the base of this robot rolls about an axle through its origin
    velocity = speed * along[0] + np.array([0.0, 0.0, turning])
    rate = gain * along[0] + speed * turning * along[1] + np.array([0.0, 0.0, bend])
    base = BaseState(velocity, rate)
    efforts = EffortLaw(Dynamics(model)).feedforward(q, v, held(model, q), Terms(), base)
    a = np.zeros(robot.nv)
    v[:3], a[:3] = velocity, rate
    for name, side in zip(WHEELS, (1.0, -1.0), strict=True):
        k = robot.velocity_index(name)
        wheel = robot.wheels[name]
        half = abs(robot.bodies[robot.body_of_joint(name)].placement.position()[1])
        if kind == 'diff_drive':
            v[k] = (speed - side * half * turning) / wheel.radius
            a[k] = (gain - side * half * bend) / wheel.radius
    exact = kd.constrained_inverse_dynamics(robot, q, v, a, model.constraints, model.actuated)
    assert_allclose(efforts.motors, exact.effort[model.v_index(model.motors)], atol=1e-9)
    assert_allclose(efforts.drives, exact.effort[model.v_index(model.drives)], atol=1e-9)
    tau = np.full(robot.nv, 7.0)  # what others measure of the drives does not count
    tau[model.v_index(model.motors)] = efforts.motors
    motion = driven_motion(Dynamics(model), q, v, tau, rate)
    assert_allclose(motion.acceleration, a, atol=1e-9)
    free = kd.forward_dynamics(robot, q, v, tau, model.constraints)
    assert np.abs(free.acceleration - a).max() > 1.0


@pytest.mark.parametrize('name', ['tmr_fr3', 'youbot', 'husky_ur5e', 'fetch'])
def test_efforts_cause_the_motion_of_the_arm_that_they_are_for(rng, name):
    # swerve, mecanum, skid steer, differential: drives are redundant, or more than wheels
    p = parameters_of_file(FILES[name], InverseDynamicsParameters)
    model = build_model(p, stand_in(name))
    q, v = model.robot.neutral(), np.zeros(model.robot.nv)
    base = BaseState(np.zeros(3), np.array([0.5, 0.0, 0.0]))
    arm = model.v_index(model.motors)
    wanted = held(model, q)
    wanted = replace(wanted, acceleration=rng.uniform(-1.0, 1.0, len(arm)))
    dynamics, tau = Dynamics(model), np.zeros(model.robot.nv)
    tau[arm] = EffortLaw(dynamics).feedforward(q, v, wanted, Terms(), base).motors
    motion = driven_motion(dynamics, q, v, tau, base.acceleration)
    assert_allclose(motion.acceleration[arm], wanted.acceleration, atol=1e-9)
    assert_allclose(motion.acceleration[:3], base.acceleration, atol=1e-9)


def hold_arm(coupled, cycles=40):
    """Return the largest error of an arm that holds while its base is driven [rad]."""
    gravity = {'gravity_compensated_joints': ()}
    rates = {'joint_state_rate': 250.0, 'step_size': 0.004}
    p = from_preset('nonholonomic', SimulatorParameters, **rates, **DRIVEN)
    text = model_of('nonholonomic').text
    model = build_model(p, text)
    p = from_preset(
        'nonholonomic',
        SimulatorParameters,
        gravity_compensated_joints=model.motors,
        **rates,
        **DRIVEN,
    )
    values = preset('nonholonomic')
    start = np.array([values.get(f'initial_positions.{name}', 0.0) for name in model.joints])
    plant = Plant(Dynamics(model), p, start)
    inputs = Inputs('cmd_vel', terms_gravity=False, **gravity)
    controller = EffortController(
        Dynamics(inputs.model), lambda name: InputMonitor(name, 0.5, lambda: inputs.clock.node)
    )
    own = from_preset(
        'nonholonomic', InverseDynamicsParameters, terms_gravity=False, **gravity, **DRIVEN
    )
    gains = [
        np.array([values.get(f'gains.{name}.{kind}', 0.0) for name in controller.motors])
        for kind in 'pd'
    ]
    controller.configure(own, *gains, np.zeros(len(controller.motors)))
    places = model.q_index(controller.motors)
    worst, begin = 0.0, plant.simulation.q[places]
    for k in range(cycles):
        if k % 25 == 0:
            message = command(1.0)
            assert plant.drives.take(message, plant.time)
            assert inputs.base.command.take(message)
        q, v = np.array(plant.simulation.q), np.array(plant.simulation.v)
        base = inputs.base.at(inputs.clock.node, inputs.model.robot.gravity)
        if not coupled:
            base = base._replace(acceleration=np.zeros(3))
        effort = controller.effort(inputs.clock.node, q, v, base)
        plant.command(model.v_index(controller.motors), effort)
        plant.advance(plant.steps_to_state)
        inputs.clock.forward(plant.period * 1e-9)
        worst = max(worst, np.abs(plant.simulation.q[places] - begin).max())
    return worst


def test_an_arm_that_knows_its_base_moves_stays_where_it_is():
    alone = hold_arm(coupled=False)
    assert alone > 0.01  # [rad]
    assert hold_arm(coupled=True) < alone / 20.0


def test_a_simulated_base_follows_its_command_and_stops_without_one():
    p = from_preset(
        'nonholonomic', SimulatorParameters, step_size=0.004, **DRIVEN, timeout_cmd_vel=0.4
    )
    model = build_model(p, model_of('nonholonomic').text)
    plant = Plant(Dynamics(model), p, np.zeros(len(model.joints)))

    def twist():
        q, v = plant.simulation.q[:3], plant.simulation.v[:3]
        return model.child_frame.child_state(q, v)[1]

    assert plant.drives.take(command(0.3, rate=0.4), 0)
    plant.advance(50)
    # 1 m/s^2 and 2 rad/s^2, but for a lag of 0.02 s near the end; the arm pulls at stiff drives
    assert_allclose(twist(), [0.2, 0.0, 0.4 - 0.04 * np.exp(-1.0)], atol=2e-3)
    plant.advance(49)
    assert_allclose(twist(), [0.3, 0.0, 0.4], atol=2e-3)
    plant.advance(100)
    assert_allclose(twist(), np.zeros(3), atol=2e-3)
    assert not plant.drives.take(command(np.nan), plant.time)
    assert plant.drives.take(command(0.3), plant.time)
    plant.reset()
    plant.advance(2)
    assert_allclose(twist(), np.zeros(3), atol=1e-3)


def simulated(kind, **changes):
    """Return the model of a simulated base driven by velocity, and its parameters."""
    text, settings, _, _ = BASES[kind]
    own = {name.replace('.', '_'): plain(value) for name, value in settings.items()}
    p = parameters(SimulatorParameters, base_type=kind, **own, **DRIVEN, **changes)
    return build_model(p, text), p


def test_drives_hold_a_base_against_the_friction_of_its_wheels():
    """A base on the wheels of a robot that is sold: 21.75 N m s/rad, and dry friction."""
    text, settings, _, _ = BASES['diff_drive']
    lossy = text.replace(
        '<axis xyz="0 1 0"/>', '<axis xyz="0 1 0"/><dynamics damping="21.75" friction="2"/>'
    )
    own = {name.replace('.', '_'): plain(value) for name, value in settings.items()}
    changes = DRIVEN | {'base_response_time': 0.001}
    p = parameters(SimulatorParameters, base_type='diff_drive', **own, **changes)
    model = build_model(p, lossy)
    plant = Plant(Dynamics(model), p, np.zeros(len(model.joints)))
    assert plant.drives.take(command(0.4), 0)
    plant.advance(round(0.45 / p.step_size))
    assert plant.simulation.v[0] == pytest.approx(0.4, rel=1e-3)


def test_drives_of_a_swerve_base_steer_it():
    model, p = simulated('swerve', base_steering_rate_limit=4.0, timeout_cmd_vel=10.0)
    drives, q, step = VelocityDrives(model, p), model.robot.neutral(), 10_000_000
    q[2] = 0.7
    places, speeds = model.q_index(model.base.steering), model.v_index(model.base.steering)
    assert drives.take(command(0.0, y=0.5), 0)
    turned = []
    for k in range(60):
        effort = drives.effort(q, k * step, step)
        rates = effort[speeds] / p.base_drive_gain
        turned.append(np.abs(rates).max())
        assert turned[-1] <= 4.0 * (1.0 + 1e-12)
        twist = PlanarFrame().child_state(q[:3], effort[:3] / p.base_drive_gain)[1]
        q[places] += rates * step * 1e-9  # stiff drives do as they are told
        assert model.base.mobility(q) == 1
        assert model.base.wheel_rates(twist, q).slip_by_wheel == {}
    assert max(turned) > 3.8
    assert_allclose(np.abs(q[places]), np.pi / 2, rtol=0, atol=1e-9)
    assert_allclose(twist, (0.0, 0.5, 0.0), rtol=0, atol=1e-3)  # but for the lag of the drives
    # at a standstill the wheels stay as they are; backwards they roll as they stand
    drives.reset()
    assert not drives.effort(q, 0, step).any()
    assert drives.take(command(0.0, y=-0.5), step)
    effort = drives.effort(q, step, step)
    assert_allclose(effort[speeds], 0.0, rtol=0, atol=p.base_drive_gain * 1e-9)
    assert PlanarFrame().child_state(q[:3], effort[:3])[1][1] < 0.0


def test_a_simulated_swerve_base_goes_where_it_is_told():
    model, p = simulated(
        'swerve',
        step_size=0.02,
        timeout_cmd_vel=10.0,
        base_steering_rate_limit=20.0,
        compiled='never',
    )
    plant = Plant(Dynamics(model), p, np.zeros(len(model.joints)))
    assert plant.drives.take(command(0.1, rate=0.3, y=0.1), 0)
    plant.advance(25)
    q, v = plant.simulation.q, plant.simulation.v
    twist = model.child_frame.child_state(q[:3], v[:3])[1]
    assert_allclose(twist, (0.1, 0.1, 0.3), rtol=0, atol=2e-3)
    angles = model.base.steering_angles(twist, q)
    assert_allclose(q[model.q_index(model.base.steering)], angles.angles, rtol=0, atol=1e-3)
    # under way it has come as far as the wheels allowed, not where the front had been
    assert q[1] > 0.02
    rows = Dynamics(model).engine.constraint_rows(q, v)
    assert np.abs(rows.matrix @ v).max() < 1e-9


def test_powered_casters_are_not_held():
    text, settings, _, _ = BASES['swerve']
    own = {name.replace('.', '_'): plain(value) for name, value in settings.items()}
    trailing = urdf({name: (xy, 0.0, True, 0.04) for name, xy in CORNERS.items()})
    p = parameters(SimulatorParameters, base_type='swerve', **own, **DRIVEN)
    model = build_model(p, trailing)
    assert model.base.centred == ()
    damping = [model.robot.damping[i] for i in model.v_index(model.base.steering)]
    assert damping == [0.0] * 4
    fixed = build_model(p, text)
    damping = [fixed.robot.damping[i] for i in fixed.v_index(fixed.base.steering)]
    assert damping == [p.base_drive_gain] * 4
    drives = VelocityDrives(model, p)
    assert drives.take(command(0.0, y=0.5), 0)
    effort = drives.effort(model.robot.neutral(), 0, 10_000_000)
    assert effort[1] > 0.0
    assert not np.delete(effort, 1).any()


@pytest.mark.ros
def test_both_nodes_with_a_driven_base(bench):
    from geometry_msgs.msg import Twist
    from nav_msgs.msg import Odometry
    from sensor_msgs.msg import JointState

    common = {
        'base.command_interface': 'velocity',
        'base.cmd_vel_stamped': 'false',
        'base.acceleration_limit': list(LIMIT),
        'compiled': 'never',
    }
    files = [ROOT / 'config' / 'nonholonomic.yaml']
    efforts = bench.listen(JointState, '/kane_inverse_dynamics/effort')
    drives = bench.listen(JointState, '/kane_inverse_dynamics/drive_effort')
    odom = bench.listen(Odometry, '/odom')
    velocity = bench.publisher(Twist, 'cmd_vel', 1)
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
        'inverse_dynamics_node', files=files, params={**common, 'timeout.joint_states': 1.0}
    )
    bench.matched(velocity)
    message = Twist()
    message.linear.x = 0.4

    def moving():
        fast = odom and abs(odom[-1].twist.twist.linear.x - 0.4) < 0.02
        return fast and drives and efforts

    def drive():
        velocity.publish(message)

    bench.until(moving, each=drive)
    assert tuple(drives[-1].name) == WHEELS
    assert not {*efforts[-1].name} & {*WHEELS}
    ok = b'\x00'
    source = 'acceleration from'
    bench.status_where(
        'kane_inverse_dynamics: base',
        lambda level, _, v: level == ok and v[source] == 'cmd_vel',
        each=drive,
    )
    bench.status_where('kane_simulator: cmd_vel', lambda level, *_: level == ok)
    # without commands the simulated base brakes, and the controller goes on by odometry
    bench.until(lambda: abs(odom[-1].twist.twist.linear.x) < 0.01)
    bench.status_where(
        'kane_inverse_dynamics: base', lambda level, _, v: level == ok and v[source] == 'odom'
    )
