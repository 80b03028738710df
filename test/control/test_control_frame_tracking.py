# SPDX-License-Identifier: Apache-2.0
"""Computed torque of a frame: what the frame does by forward dynamics, and in closed loop."""

from functools import cache

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.transform import Rotation
from support.trees import random_state
from support.wheeled_robots import wheeled_robot

import kane_dynamics as kd
from kane_dynamics.algorithms.damped_task_inverse import DAMPED
from kane_dynamics.algorithms.task_space_law import TaskSpaceLaw
from kane_dynamics.control.task_space_tracking import FrameMotion, FrameTracking
from kane_dynamics.exceptions import InvalidInputError, NameNotFoundError

K = np.array([30.0, 20.0, 50.0, 80.0, 40.0, 60.0])
B = np.array([3.0, 2.0, 4.0, 9.0, 6.0, 5.0])


def pose_of(robot, frame, q):
    found = kd.forward_kinematics(robot, q).pose(frame)
    return np.r_[found.position(), found.rotation.components]


def twist_of(robot, frame, q, v):
    """Return (omega, v) of a frame in world axes."""
    kinematics = kd.forward_kinematics(robot, q)
    twist, R = kinematics.jacobian(frame) @ v, kinematics.pose(frame).rotation_matrix()
    return np.r_[R @ twist[:3], R @ twist[3:]]


def moved(pose, turn, way):
    """Return a pose that is turned and shifted in world axes."""
    w, x, y, z = pose[3:]
    x, y, z, w = (Rotation.from_rotvec(turn) * Rotation.from_quat([x, y, z, w])).as_quat()
    return np.r_[pose[:3] + way, w, x, y, z]


def rate_of(robot, frame, q, v, a, h=1e-6):
    """Return the rate of the twist of a frame, by differences along the motion."""
    ends = [
        twist_of(robot, frame, kd.integrate(robot, q, v + 0.5 * s * a, s), v + s * a)
        for s in (h, -h)
    ]
    return (ends[0] - ends[1]) / (2.0 * h)


def arm(seed, joints=8):
    robot = kd.serial_chain(joints, seed)
    q, v, _ = random_state(robot, np.random.default_rng(seed))
    return robot, (), robot.velocity_names, q, v


def on_wheels(seed):
    robot, constraints, actuated, q, v, _ = wheeled_robot('nonholonomic', seed)
    return robot, constraints, actuated, q, v


def target_at(wanted, s):
    """Return a wanted motion that has gone on for s, by its twist and acceleration."""
    place, turned = wanted[:3], Rotation.from_quat(wanted[[4, 5, 6, 3]])
    (omega, way), (alpha, rate) = wanted[7:13].reshape(2, 3), wanted[13:].reshape(2, 3)
    turned = Rotation.from_rotvec(s * omega + 0.5 * s * s * alpha) * turned
    place = place + s * way + 0.5 * s * s * rate
    x, y, z, w = turned.as_quat()
    return np.r_[place, w, x, y, z, wanted[7:13] + s * wanted[13:], wanted[13:]]


def error_of(robot, frame, q, wanted):
    """Return the rotation vector and the way to the wanted pose, by scipy."""
    pose = pose_of(robot, frame, q)
    turned = [Rotation.from_quat(x[[4, 5, 6, 3]]) for x in (wanted, pose)]
    return np.r_[(turned[0] * turned[1].inv()).as_rotvec(), wanted[:3] - pose[:3]]


def case(machine, seed):
    """Return a robot, a state, and a frame that is far from where it is wanted."""
    robot, constraints, actuated, q, v = machine(seed)
    hand, rng = robot.bodies[-1].name, np.random.default_rng(seed)
    twist, asked, turn, way = rng.normal(size=6), rng.normal(size=6), *rng.normal(size=(2, 3))
    wanted = np.r_[moved(pose_of(robot, hand, q), turn, way), twist, asked]
    return robot, constraints, actuated, q, v, hand, wanted


def unlimited(robot):
    """Return no limits: what laws give where nothing binds."""
    return dict.fromkeys(('effort_limit', 'velocity_limit'), np.full(robot.nv, np.inf))


def as_motion(wanted):
    return FrameMotion(wanted[:7], wanted[7:13], wanted[13:])


@pytest.mark.parametrize('seed', range(3))
@pytest.mark.parametrize('machine', [arm, on_wheels])
def test_the_error_obeys_its_linear_equation_however_far_the_frame_has_turned(machine, seed):
    robot, constraints, actuated, q, v, hand, wanted = case(machine, seed)
    given = hand, actuated, K, B, robot.neutral()
    law = FrameTracking(kd.dynamics(robot, constraints), *given, **unlimited(robot))
    found = law.effort(q, v, as_motion(wanted))
    assert_allclose(found.missed, 0.0, atol=1e-7)
    assert found.rank == 6.0
    assert found.damping == 0.0
    effort = found.result
    a = kd.forward_dynamics(robot, q, v, effort.effort, constraints).acceleration
    assert_allclose(a, effort.acceleration, rtol=1e-8, atol=1e-8)
    h = 1e-4

    def error(s):
        there = kd.integrate(robot, q, v + 0.5 * s * a, s)
        return error_of(robot, hand, there, target_at(wanted, s))

    before, now, after = error(-h), error(0.0), error(h)
    obeyed = (after - 2.0 * now + before) / h**2 + B * (after - before) / (2.0 * h) + K * now
    assert_allclose(obeyed, 0.0, atol=2e-5 * np.abs(a).max())  # of differences: h^2, 1e-16 / h^2
    assert np.linalg.norm(now[:3]) > 0.5


@pytest.mark.parametrize('seed', range(3))
@pytest.mark.parametrize('machine', [arm, on_wheels])
def test_energy_of_sliding_falls_with_the_power_of_the_brakes(machine, seed):
    robot, constraints, actuated, q, v, hand, wanted = case(machine, seed)
    slope, brake = np.linspace(2.0, 7.0, 6), np.linspace(3.0, 8.0, 6)
    given = hand, actuated, slope, brake, robot.neutral()
    law = FrameTracking(
        kd.dynamics(robot, constraints), *given, law='slotine_li', **unlimited(robot)
    )
    found = law.effort(q, v, as_motion(wanted))
    effort = found.result.effort + robot.damping * (v - found.result.velocity)  # of joints: more
    a = kd.forward_dynamics(robot, q, v, effort, constraints).acceleration
    h = 1e-5

    def energy(s):
        there = kd.integrate(robot, q, v + 0.5 * s * a, s)
        speeds = v + s * a
        at = law.effort(there, speeds, as_motion(target_at(wanted, s)))
        gap = speeds - at.result.velocity
        return 0.5 * gap @ kd.mass_matrix(robot, there) @ gap, at

    fall = (energy(h)[0] - energy(-h)[0]) / (2.0 * h)
    power = brake @ found.sliding**2
    assert_allclose(fall, -power, rtol=1e-4)
    assert power > 1.0
    # and the reference twist is that of an error that vanishes: de/dt = -slope e
    kinematics = kd.forward_kinematics(robot, q)
    R, J = kinematics.pose(hand).rotation_matrix(), kinematics.jacobian(hand)
    x = found.result.velocity
    omega, way = R @ (J @ x)[:3], R @ (J @ x)[3:]

    def error(s):
        pose = pose_of(robot, hand, q)
        pose = moved(pose, s * omega, s * way)
        turned = [Rotation.from_quat(p[[4, 5, 6, 3]]) for p in (target_at(wanted, s), pose)]
        gone = target_at(wanted, s)[:3] - pose[:3]
        return np.r_[(turned[0] * turned[1].inv()).as_rotvec(), gone]

    rate = (error(h) - error(-h)) / (2.0 * h)
    assert_allclose(rate, -slope * error(0.0), atol=1e-6)


AXES = {'waist': 'z', 'shoulder': 'y', 'elbow': 'y', 'roll': 'x', 'pitch': 'y', 'tip': 'x'}


def anthropomorphic():
    """Return an arm with a wrist; where the elbow is straight, its hand cannot move along it."""
    link = (
        '<link name="{0}_link"><inertial><origin xyz="0.2 0 0"/><mass value="1"/><inertia '
        'ixx="0.01" iyy="0.02" izz="0.02" ixy="0" ixz="0" iyz="0"/></inertial></link>'
    )
    joint = (
        '<joint name="{0}" type="continuous"><parent link="{1}"/><child link="{0}_link"/>'
        '<origin xyz="0.3 0 0"/><axis xyz="{2}"/></joint>'
    )
    text, parent = '<link name="world_link"/>', 'world_link'
    for name, axis in AXES.items():
        direction = ' '.join('1' if axis == one else '0' for one in 'xyz')
        text += link.format(name) + joint.format(name, parent, direction)
        parent = f'{name}_link'
    return kd.load_urdf(f'<robot name="arm">{text}</robot>')


def test_a_singular_pose_is_told_and_nothing_jumps_there():
    robot = anthropomorphic()
    hand, names = 'tip_link', robot.velocity_names
    engine, rest = kd.dynamics(robot), np.zeros(robot.nv)
    bent = np.array([0.3, -0.4, 0.0, 0.5, 0.9, -0.2])  # the elbow is straight
    law = FrameTracking(engine, hand, names, K, B, bent)

    def found(elbow, along=None):
        q = bent + elbow * np.eye(6)[2]
        kinematics = kd.forward_kinematics(robot, q)
        R = np.kron(np.eye(2), kinematics.pose(hand).rotation_matrix())
        J = R @ kinematics.jacobian(hand)
        lost = np.linalg.svd(J.T)[2][5]  # no motion of the joints moves the hand along it
        asked = lost if along is None else J @ along
        motion = FrameMotion(pose_of(robot, hand, q), acceleration=asked)
        return law.effort(q, rest, motion), lost @ asked, lost

    at, asked, lost = found(0.0)
    assert at.rank == 5.0
    assert at.manipulability < 1e-5
    assert at.damping == pytest.approx(DAMPED, rel=1e-6)
    assert asked > 0.99
    assert_allclose(lost @ at.missed, asked, rtol=1e-9)  # it cannot be done at all
    can, nothing, _ = found(0.0, np.ones(6))
    assert abs(nothing) < 1e-12
    assert_allclose(can.missed, 0.0, atol=0.02)  # what can be done is, but for the damping
    away, _, _ = found(0.5)
    assert away.rank == 6.0
    assert away.damping == 0.0
    assert_allclose(away.missed, 0.0, atol=1e-9)
    # through the singular pose: a jump would be as large in steps of half the size
    motion = FrameMotion(pose_of(robot, hand, bent), acceleration=lost)
    efforts = np.array(
        [
            law.effort(bent + s * np.eye(6)[2], rest, motion).result.effort
            for s in np.linspace(-0.04, 0.04, 161)
        ]
    )
    coarse = np.abs(np.diff(efforts[::2], axis=0)).max()
    assert np.abs(np.diff(efforts, axis=0)).max() < 0.6 * coarse
    assert np.abs(efforts).max() < 100.0  # thousands without damping


def test_the_rest_of_the_robot_is_nearest_to_its_posture():
    robot, constraints, actuated, q, v = arm(4)
    hand, posture = robot.bodies[-1].name, q + 0.1
    law = FrameTracking(kd.dynamics(robot), hand, actuated, K, B, posture, 25.0, 10.0)
    motion = FrameMotion(pose_of(robot, hand, q), twist_of(robot, hand, q, v))
    a = law.effort(q, v, motion).result.acceleration
    wanted = 25.0 * (posture - q) - 10.0 * v
    J = kd.forward_kinematics(robot, q).jacobian(hand)
    # what is left is a force on the hand: no motion that keeps the hand would come nearer
    left = kd.mass_matrix(robot, q) @ (a - wanted)
    free = np.linalg.svd(J)[2][6:]
    assert_allclose(free @ left, 0.0, atol=1e-8)
    assert np.abs(left).max() > 1e-3


def test_a_base_that_others_drive_moves_as_it_does():
    robot, constraints, actuated, q, v = on_wheels(2)
    hand, names = robot.bodies[-1].name, robot.velocity_names
    arm_joints = [n for n in actuated if n.startswith('arm')]
    held = [n for n in names if n not in arm_joints]
    given = hand, actuated, K, B, robot.neutral()
    engine = kd.dynamics(robot, constraints)
    law, own = FrameTracking(engine, *given, held=held), FrameTracking(engine, *given)
    motion = FrameMotion(moved(pose_of(robot, hand, q), np.zeros(3), [0.01, 0.0, 0.02]))
    wheels = [n for n in held if n not in names[:3]]
    base = engine.consistent_acceleration(q, v, np.full(robot.nv, 0.7), known=wheels + arm_joints)
    found = law.effort(q, v, motion, a=base)
    places = [robot.velocity_index(n) for n in held]
    assert_allclose(found.result.acceleration[places], base[places], atol=1e-9)
    other = own.effort(q, v, motion).result.acceleration
    assert np.abs(other - found.result.acceleration)[places].max() > 0.1
    assert np.abs(found.missed).max() > 1e-3  # five joints cannot do all of six axes
    assert found.rank == 5.0
    assert found.damping > 0.0


def test_an_axis_without_gains_is_free():
    robot, constraints, actuated, q, v = on_wheels(5)
    hand, rng = robot.bodies[-1].name, np.random.default_rng(5)
    way = np.repeat([0.0, 1.0], 3)
    given = hand, actuated, way * K, way * B, robot.neutral()
    law = FrameTracking(kd.dynamics(robot, constraints), *given, **unlimited(robot))
    asked = rng.normal(size=6)
    motion = FrameMotion(pose_of(robot, hand, q), acceleration=asked)
    effort = law.effort(q, v, motion)
    found = rate_of(robot, hand, q, v, effort.result.acceleration)
    expected = asked - B * twist_of(robot, hand, q, v)
    assert_allclose(found[3:], expected[3:], rtol=0, atol=2e-6)
    assert np.abs(found - expected)[:3].max() > 0.1
    assert_allclose(effort.missed, 0.0, atol=1e-9)
    assert effort.rank == 3.0


def test_what_is_wrong_is_an_error():
    robot, constraints, actuated, q, v = arm(1)
    engine, hand = kd.dynamics(robot), robot.bodies[-1].name
    right = engine, hand, actuated, K, B, q
    with pytest.raises(NameNotFoundError, match='elbow'):
        FrameTracking(engine, 'elbow', actuated, K, B, q)
    with pytest.raises(NameNotFoundError, match='elbow'):
        FrameTracking(engine, hand, ['elbow'], K, B, q)
    with pytest.raises(InvalidInputError, match='stiffness: need numbers >= 0'):
        FrameTracking(engine, hand, actuated, -K, B, q)
    with pytest.raises(InvalidInputError, match='damping'):
        FrameTracking(engine, hand, actuated, K, B[:3], q)
    for wrong in (np.ones(2), -np.ones(robot.nv), np.full(robot.nv, np.nan)):
        with pytest.raises(InvalidInputError, match='velocity_limit: need'):
            FrameTracking(*right, velocity_limit=wrong)
    with pytest.raises(InvalidInputError, match='posture_damping'):
        FrameTracking(*right, 1.0, -1.0)
    with pytest.raises(InvalidInputError, match='posture: need shape'):
        FrameTracking(engine, hand, actuated, K, B, q[:-1])
    law = FrameTracking(*right)
    pose = pose_of(robot, hand, q)
    for wrong, word in (
        (FrameMotion(pose[:-1]), 'pose'),
        (FrameMotion(pose, np.full(6, np.nan)), 'twist'),
        (FrameMotion(pose, acceleration=np.zeros(5)), 'acceleration'),
    ):
        with pytest.raises(InvalidInputError, match=word):
            law.effort(q, v, wrong)
    with pytest.raises(InvalidInputError, match='a: need shape'):
        law.effort(q, v, FrameMotion(pose), a=[0.0, 0.0])
    with pytest.raises(InvalidInputError, match='pose: need a quaternion that is not zero'):
        law.effort(q, v, FrameMotion(np.zeros(7)))
    with pytest.raises(InvalidInputError, match='law'):
        FrameTracking(*right, law='feedforward_pd')
    with pytest.raises(NameNotFoundError, match='elbow'):
        FrameTracking(*right, held=['elbow'])


@cache
def compiled_case():
    robot, constraints, *rest = case(on_wheels, 2)
    return kd.compile(robot, constraints, cache=False), robot, constraints, *rest


@pytest.mark.parametrize(
    'law', [pytest.param('computed_torque', marks=pytest.mark.thorough), 'slotine_li']
)
def test_one_compiled_call_gives_the_same(law):
    fast, robot, constraints, actuated, q, v, hand, wanted = compiled_case()
    gains = hand, actuated, K, B, robot.neutral(), 25.0, 10.0
    terms = ('inertia', 'gravity')
    for driven in (False, True):
        held = [n for n in robot.velocity_names if not n.startswith('arm')] if driven else []
        reference, compiled = (
            FrameTracking(engine, *gains, None if driven else actuated, held, law)
            for engine in (kd.dynamics(robot, constraints), fast)
        )
        a = fast.consistent_acceleration(q, v, np.full(robot.nv, 0.7)) if driven else None
        given = as_motion(wanted), terms, a
        expected, found = (one.effort(q, v, *given).numbers for one in (reference, compiled))
        # damping makes of roundoff in the distance from a singular pose 1e-16 / DAMPED^2
        assert_allclose(found, expected, rtol=1e-8, atol=1e-8)
    assert fast.fallback_count == 0
    states = np.array([q, q + 1e-3]), np.array([v, 0.5 * v])
    named = tuple(actuated)
    law_of_frame = TaskSpaceLaw(hand, named, named, passive=law == 'slotine_li')
    numbers = wanted, np.r_[K, B, 25.0, 10.0], robot.neutral()
    batch = fast.frame_effort(law_of_frame, *states, *numbers)
    single = fast.frame_effort(law_of_frame, *(x[1] for x in states), *numbers)
    assert_allclose(batch.numbers[1], single.numbers, rtol=1e-12, atol=1e-12)
