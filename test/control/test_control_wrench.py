# SPDX-License-Identifier: Apache-2.0
"""Wrench, impedance and motion of a hand: what the efforts do by forward dynamics."""

import dataclasses
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.transform import Rotation
from support.trees import random_state
from support.wheeled_robots import installed

import kane_dynamics as kd
from kane_dynamics.control.wrench_control import WrenchControl, WrenchTarget
from kane_dynamics.exceptions import (
    InvalidInputError,
    NameNotFoundError,
    UnreachableAccelerationError,
)

FREE = ['free'] * 6
K = np.array([30.0, 20.0, 50.0, 80.0, 40.0, 60.0])
B = np.array([3.0, 2.0, 4.0, 9.0, 6.0, 5.0])


def arm(seed=1, joints=8):
    """Return an arm with more joints than six, its last link, and a state."""
    robot = kd.serial_chain(joints, seed)
    q, v, _ = random_state(robot, np.random.default_rng(seed))
    return robot, robot.bodies[-1].name, q, v


def control(robot, frame, modes, **options):
    options = {'limits': np.full(robot.nv, np.inf), 'posture_damping': 0.0} | options
    gains = options.pop('stiffness', K), options.pop('damping', B)
    return WrenchControl(kd.dynamics(robot), frame, robot.velocity_names, modes, *gains, **options)


def pose_of(robot, frame, q):
    found = kd.forward_kinematics(robot, q).pose(frame)
    return np.r_[found.position(), found.rotation.components]


def twist_of(robot, frame, q, v, own):
    """Return (omega, v) of a frame in world axes, or in its own."""
    kinematics = kd.forward_kinematics(robot, q, v)
    twist = np.asarray(kinematics.jacobian(frame)) @ v
    R = np.eye(3) if own else kinematics.pose(frame).rotation_matrix()
    return np.r_[R @ twist[:3], R @ twist[3:]]


@pytest.mark.claim(21)
@pytest.mark.parametrize('axes', ['world', 'frame'])
@pytest.mark.parametrize('seed', range(3))
def test_motion_axes_accelerate_as_asked(seed, axes):
    """By forward dynamics, and differences of the velocity along the motion."""
    robot, hand, q, v = arm(seed)
    rng = np.random.default_rng(seed)
    asked, twist = rng.normal(size=(2, 6))
    pose = pose_of(robot, hand, q)
    turn, way = 0.3 * rng.normal(size=(2, 3))  # in world axes
    w, x, y, z = pose[3:]
    x, y, z, w = (Rotation.from_rotvec(turn) * Rotation.from_quat([x, y, z, w])).as_quat()
    target = WrenchTarget(np.r_[pose[:3] + way, w, x, y, z], twist, asked)
    law = control(robot, hand, ['motion'] * 6, axes=axes)
    found = law.effort(q, v, target)
    a = kd.forward_dynamics(robot, q, v, found.effort).acceleration
    assert_allclose(a, found.acceleration, rtol=1e-9, atol=1e-9)
    h = 1e-6
    ahead, behind = (kd.integrate(robot, q, v + 0.5 * s * a, s) for s in (h, -h))
    R = kd.forward_kinematics(robot, q).pose(hand).rotation_matrix()
    rate = twist_of(robot, hand, ahead, v + h * a, False)
    rate = (rate - twist_of(robot, hand, behind, v - h * a, False)) / (2.0 * h)
    into = R.T if axes == 'frame' else np.eye(3)
    rate, error = (np.r_[into @ e[:3], into @ e[3:]] for e in (rate, np.r_[turn, way]))
    own = twist_of(robot, hand, q, v, axes == 'frame')
    assert_allclose(rate, asked + K * error + B * (twist - own), rtol=0, atol=1e-6)


@pytest.mark.claim(21)
@pytest.mark.parametrize('axes', ['world', 'frame'])
def test_a_wrench_is_what_the_environment_gives_back(axes):
    """With the opposite wrench on the hand, nothing at rest accelerates."""
    robot, hand, q, _ = arm()
    rest, wrench = np.zeros(robot.nv), np.array([1.0, -2.0, 0.5, 8.0, -3.0, 6.0])
    law = control(robot, hand, ['wrench'] * 6, axes=axes)
    found = law.effort(q, rest, WrenchTarget(wrench=wrench))
    R = kd.forward_kinematics(robot, q).pose(hand).rotation_matrix()
    own = wrench if axes == 'frame' else np.r_[R.T @ wrench[:3], R.T @ wrench[3:]]
    motion = kd.forward_dynamics(robot, q, rest, found.effort, external_wrenches={hand: -own})
    assert_allclose(motion.acceleration, 0.0, rtol=0, atol=1e-9)
    idle = control(robot, hand, FREE, axes=axes).effort(q, rest, WrenchTarget(wrench=wrench))
    assert_allclose(idle.effort, kd.gravity_force(robot, q), rtol=0, atol=1e-10)


def test_a_frame_that_nothing_stops_is_braked():
    robot, hand, q, v = arm()
    found = [
        control(robot, hand, ['wrench'] * 6, damping=gain * B).effort(q, v, WrenchTarget())
        for gain in (0.0, 1.0)
    ]
    power = (found[1].effort - found[0].effort) @ v
    own = twist_of(robot, hand, q, v, False)
    assert power == pytest.approx(-np.sum(B * own**2), rel=1e-9)


def test_friction_of_the_joints_is_made_up_for():
    robot, hand, q, v = arm()
    bodies = [
        dataclasses.replace(body, joint=dataclasses.replace(body.joint, damping=0.4, friction=0.3))
        for body in robot.bodies
    ]
    rough = kd.Robot('rough', bodies, robot.gravity)
    v[:2] = 0.01, -0.02  # nearly at rest
    target, modes = WrenchTarget(pose_of(robot, hand, q)), ['motion'] * 6
    efforts = [
        control(one, hand, modes, friction_speed=0.05).effort(q, v, target).effort
        for one in (robot, rough)
    ]
    expected = 0.4 * v + 0.3 * np.sign(v) * np.minimum(1.0, np.abs(v) / 0.05)
    assert_allclose(efforts[1] - efforts[0], expected, rtol=0, atol=1e-10)


@pytest.mark.parametrize('modes', [['wrench'] * 6, ['free', 'wrench', 'free'] * 2])
def test_a_damper_takes_no_more_than_all_of_the_speed(modes):
    """Held for a period, however strong; a weak one is what it is."""
    robot, hand, q, v = arm()
    h, chosen = 0.004, [k for k, mode in enumerate(modes) if mode == 'wrench']
    J = kd.forward_kinematics(robot, q).jacobian(hand)
    R = kd.forward_kinematics(robot, q).pose(hand).rotation_matrix()
    J = np.vstack([R @ np.asarray(J)[:3], R @ np.asarray(J)[3:]])[chosen]

    def slowed(damping):
        law = control(robot, hand, modes, damping=np.full(6, damping), period=h)
        undamped = control(robot, hand, modes, damping=np.zeros(6))
        efforts = [x.effort(q, v, WrenchTarget()).effort for x in (law, undamped)]
        one, other = (kd.forward_dynamics(robot, q, v, x).acceleration for x in efforts)
        return h * J @ (one - other)

    assert_allclose(slowed(1e9), -J @ v, rtol=0, atol=1e-5)
    weak = -1e-6 * h * J @ np.linalg.solve(kd.mass_matrix(robot, q), J.T @ (J @ v))
    assert_allclose(slowed(1e-6), weak, rtol=1e-3)


@pytest.mark.claim(21)
def test_impedance_is_a_spring_and_a_damper():
    robot, hand, q, v = arm()
    turn, way = np.array([0.1, -0.2, 0.15]), np.array([0.03, -0.02, 0.05])
    pose = pose_of(robot, hand, q)
    w, x, y, z = pose[3:]
    x, y, z, w = (Rotation.from_rotvec(turn) * Rotation.from_quat([x, y, z, w])).as_quat()
    wanted, more = np.r_[pose[:3] + way, w, x, y, z], np.arange(6.0)
    law = control(robot, hand, ['impedance'] * 6)
    pulled = law.effort(q, v, WrenchTarget(wanted, wrench=more))
    spring = K * np.r_[turn, way] - B * twist_of(robot, hand, q, v, False) + more
    same = control(robot, hand, ['wrench'] * 6, damping=np.zeros(6))
    assert_allclose(
        pulled.effort, same.effort(q, v, WrenchTarget(wrench=spring)).effort, rtol=1e-9, atol=1e-9
    )


def test_the_posture_moves_no_hand():
    robot, hand, q, v = arm()
    names = robot.velocity_names
    options = dict(posture=dict.fromkeys(names, 0.3), posture_stiffness=9.0, posture_damping=4.0)
    fixed = control(robot, hand, ['motion'] * 6, **options)
    target = WrenchTarget(pose_of(robot, hand, q))
    still = control(robot, hand, ['motion'] * 6).effort(q, v, target)
    moved = fixed.effort(q, v, target)
    J = kd.forward_kinematics(robot, q).jacobian(hand)
    inside = moved.acceleration - still.acceleration
    assert np.abs(inside).max() > 0.1
    assert_allclose(np.asarray(J) @ inside, 0.0, rtol=0, atol=1e-9)
    wish = 9.0 * (0.3 - q) - 4.0 * v
    alone = control(robot, hand, FREE, **options).effort(q, v, WrenchTarget())
    assert_allclose(alone.acceleration, wish, rtol=1e-12)
    # what is left of the wish is what M-weighted motions of the hand would take
    left = kd.mass_matrix(robot, q) @ (moved.acceleration - wish)
    assert np.linalg.lstsq(np.asarray(J).T, left, rcond=None)[1].max(initial=0.0) < 1e-9


def test_a_motion_that_an_arm_cannot_make():
    robot, hand, q, v = arm(joints=4)
    law = control(robot, hand, ['motion'] * 6)
    with pytest.raises(UnreachableAccelerationError, match='cannot move .* as its motion axes'):
        law.effort(q, v, WrenchTarget(pose_of(robot, hand, q), acceleration=np.arange(6.0)))
    target = WrenchTarget(pose_of(robot, hand, q), acceleration=np.arange(6.0))
    near = law.effort(q, v, target, nearest_motion=True)
    motion = kd.forward_dynamics(robot, q, v, near.effort)
    assert_allclose(motion.acceleration, near.acceleration, rtol=1e-9, atol=1e-9)
    short = control(robot, hand, [*['free'] * 3, *['motion'] * 3])
    short.effort(q, v, WrenchTarget(pose_of(robot, hand, q), acceleration=np.arange(6.0)))


def tiago():
    """Return TIAGo on its wheels with its arm ahead, its motors, and q."""
    with warnings.catch_warnings():
        warnings.simplefilter('ignore', kd.exceptions.ModelWarning)
        robot = kd.load_urdf(installed('tiago_no_hand'), base='planar')
    wheels = ('wheel_left_joint', 'wheel_right_joint')
    drive = kd.constraints.differential_drive(robot, *wheels)
    q = robot.neutral()
    angles = {2: -0.8, 3: -1.0, 4: 1.5, 6: 0.5, 1: 0.2}
    for number, angle in angles.items():
        q[robot.coordinate_index(f'arm_{number}_joint')] = angle
    q[robot.coordinate_index('torso_lift_joint')] = 0.15
    motors = [name for name in robot.velocity_names if not name.startswith('base_')]
    return robot, drive, wheels, motors, q


def pushing(robot, drive, wheels, motors, q, friction):
    """Return the law of a hand that pushes along x, and its target: 20 N."""
    load = 0.4 * 9.81 * sum(body.inertia.mass for body in robot.bodies)  # the rest on casters
    tyres = [
        kd.FrictionCone({f'{wheel}/rolling': 1.0, 'base/no_side_slip': 0.5}, friction, load)
        for wheel in wheels
    ]
    law = WrenchControl(
        kd.dynamics(robot, [drive]),
        'arm_tool_link',
        motors,
        [*['motion'] * 3, 'wrench', 'motion', 'motion'],
        [400.0] * 6,
        [40.0, 40.0, 40.0, 50.0, 40.0, 40.0],
        {name: q[robot.coordinate_index(name)] for name in motors},
        cones=tyres,
    )
    pose = pose_of(robot, 'arm_tool_link', q)
    return law, WrenchTarget(pose, wrench=[0.0, 0.0, 0.0, 20.0, 0.0, 0.0]), load


@pytest.mark.claim(21)
def test_tiago_pushes_a_wall_while_its_wheels_hold_the_base():
    robot, drive, wheels, motors, q = tiago()
    law, target, load = pushing(robot, drive, wheels, motors, q, 0.6)
    rest = np.zeros(robot.nv)
    found = law.effort(q, rest, target)
    assert found.binding == ()
    traction = [np.hypot(found.multipliers[k], found.multipliers[0] / 2.0) for k in (1, 2)]
    assert_allclose(found.margins, 0.6 * load - np.array(traction), rtol=0, atol=1e-9)
    assert found.multipliers[1:].sum() == pytest.approx(20.0, abs=1e-9)  # both wheels together
    x = pose_of(robot, 'arm_tool_link', q)[0]
    wall = kd.constraints.point_contact(robot, 'arm_tool_link', normal=(-1, 0, 0), offset=-x)
    motion = kd.forward_dynamics(robot, q, rest, found.effort, [drive, wall])
    assert_allclose(motion.acceleration, 0.0, rtol=0, atol=1e-9)
    assert motion.multipliers[-1] == pytest.approx(20.0, rel=1e-9)


@pytest.mark.claim(21)
def test_tiago_comes_to_a_wall_and_pushes():
    """With the friction and damping of all joints, steps and efforts at 250 Hz."""
    robot, drive, wheels, motors, q = tiago()
    law, target, load = pushing(robot, drive, wheels, motors, q, 0.6)
    simulation, hand = kd.Simulation(robot, [drive], step=0.004), 'arm_tool_link'
    simulation.reset(q)
    wall, stiff, lossy, forces = pose_of(robot, hand, q)[0] + 0.001, 1e4, 100.0, []
    for _ in range(200):
        found = law.effort(simulation.q, simulation.v, target)
        kinematics = kd.forward_kinematics(robot, simulation.q)
        row = kinematics.pose(hand).rotation_matrix()[0] @ kinematics.jacobian(hand)[3:]
        deep = kinematics.pose(hand).position()[0] - wall
        force = max(0.0, stiff * deep + lossy * row @ simulation.v) if deep > 0.0 else 0.0
        simulation.step(found.effort - force * row)
        forces.append(force)
    assert forces[0] == 0.0  # it was 1 mm away
    assert_allclose(forces[-20:], 20.0, rtol=0.01)
    assert np.abs(simulation.q[:2]).max() < 1e-3  # the wheels hold the base
    assert found.multipliers[1:].sum() == pytest.approx(20.0, rel=0.01)
    assert found.margins.min() > 0.5 * 0.6 * load


@pytest.mark.claim(21)
def test_tiago_on_ice_says_that_its_wheels_would_slip():
    robot, drive, wheels, motors, q = tiago()
    law, target, load = pushing(robot, drive, wheels, motors, q, 0.02)
    rest = np.zeros(robot.nv)
    with pytest.raises(UnreachableAccelerationError, match='these are in conflict') as caught:
        law.effort(q, rest, target)
    assert caught.value.names == ('wheel_right_joint/rolling & base/no_side_slip',)
    softly = WrenchTarget(target.pose, wrench=[0.0, 0.0, 0.0, 2.0, 0.0, 0.0])
    assert law.effort(q, rest, softly).margins.min() > 0.0


def test_what_is_no_wrench_control_is_refused():
    robot, hand, q, v = arm()
    with pytest.raises(NameNotFoundError, match="no frame named 'nose'"):
        control(robot, 'nose', FREE)
    short = kd.dynamics(robot, frames=[robot.bodies[0].name])
    with pytest.raises(NameNotFoundError, match=f"no frame named '{hand}'"):
        WrenchControl(short, hand, robot.velocity_names, FREE, K, B)
    with pytest.raises(InvalidInputError, match='modes: need six, got 2'):
        control(robot, hand, ['wrench', 'free'])
    with pytest.raises(InvalidInputError, match="modes must be one of .*'impedance'"):
        control(robot, hand, ['force'] * 6)
    with pytest.raises(InvalidInputError, match="axes must be one of \\['world', 'frame'\\]"):
        control(robot, hand, FREE, axes='tool')
    with pytest.raises(InvalidInputError, match='stiffness: need numbers >= 0'):
        control(robot, hand, FREE, stiffness=-K)
    with pytest.raises(InvalidInputError, match='damping: need shape'):
        control(robot, hand, FREE, damping=[1.0])
    with pytest.raises(InvalidInputError, match='posture_stiffness .* must be >= 0'):
        control(robot, hand, FREE, posture_stiffness=-1.0)
    with pytest.raises(InvalidInputError, match='period .* must be >= 0'):
        control(robot, hand, FREE, period=-1.0)
    with pytest.raises(InvalidInputError, match='friction_speed must be > 0'):
        control(robot, hand, FREE, friction_speed=0.0)
    with pytest.raises(NameNotFoundError, match="no coordinate named 'elbow'"):
        control(robot, hand, FREE, posture={'elbow': 1.0})
    with pytest.raises(InvalidInputError, match='posture: need a mapping'):
        control(robot, hand, FREE, posture=[1.0])
    for modes in ('impedance', 'motion'):
        with pytest.raises(InvalidInputError, match='the target needs a pose'):
            control(robot, hand, [modes] * 6).effort(q, v, WrenchTarget())
    for bad in ({'pose': np.zeros(7)}, {'wrench': [1.0]}, {'twist': np.full(6, np.nan)}):
        with pytest.raises(InvalidInputError, match=next(iter(bad))):
            WrenchTarget(**bad)
