# SPDX-License-Identifier: Apache-2.0
"""Exciting motions: their limits by other functions, and what a noisy run of one identifies."""

import doctest

import numpy as np
import pytest
from numpy.testing import assert_allclose
from support.identified import samples_of
from support.wheeled_robots import installed

import kane_dynamics as kd
from kane_dynamics.analysis.momentum_observer import ObservedSpeeds
from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.identification import excitation
from kane_dynamics.identification.excitation import exciting_motion
from kane_dynamics.identification.friction import MOTOR_SIDE
from kane_dynamics.identification.identification import identify
from kane_dynamics.identification.planned_motion import (
    BLEND,
    EVEN,
    FADE,
    HARMONICS,
    SPEEDS,
    series,
    strokes,
)
from kane_dynamics.robot.inertial_parameters import inertial_parameters, with_inertial_parameters
from kane_dynamics.robot_config.robot_source import model_of_file
from studies.robots import mecanum_base

ACCELERATION, FLOOR, FRICTION = 5.0, 1.0, 0.5


def test_the_example_runs():
    (example,) = doctest.DocTestFinder(recurse=False).find(exciting_motion, globs={'kd': kd})
    assert doctest.DocTestRunner().run(example) == (0, 3)


def test_a_series_begins_and_ends_at_rest():
    rng = np.random.default_rng(2)
    centres, waves = rng.normal(size=(2, 3)), rng.normal(size=(2, 2 * HARMONICS, 3))
    t, h = np.linspace(0.0, 8.0, 161), 1e-5
    q, v, a = series(centres, waves, 8.0)(np.tile(t, 2))
    smooth = np.abs(np.minimum(t, 8.0 - t)[:, None] - [0.0, FADE]).min(axis=1) > h
    inner = np.tile(smooth, 2)
    shifted = [series(centres, waves, 8.0)(np.tile(t + step, 2)) for step in (-h, h)]
    for k, rate in ((0, v), (1, a)):
        assert_allclose(
            ((shifted[1][k] - shifted[0][k]) / (2.0 * h))[inner], rate[inner], rtol=0, atol=1e-6
        )
    for k in (0, 160):
        assert_allclose(q.reshape(2, 161, 3)[:, k], centres, rtol=0, atol=1e-12)
        assert_allclose([x.reshape(2, 161, 3)[:, k] for x in (v, a)], 0.0, atol=1e-12)
    whole = (t > FADE) & (t < 8.0 - FADE)
    order = np.arange(1, HARMONICS + 1)[:, None]
    angle = 0.2 * np.pi * order * t[whole]
    terms = np.vstack([np.cos(angle) / order, np.sin(angle) / order])
    assert_allclose(q[161:][whole], centres[1] + terms.T @ waves[1], rtol=0, atol=1e-12)


def test_strokes_have_constant_speeds_both_ways():
    fastest = np.array([1.0, -0.5, 0.005])
    points = strokes(['a', 'b', 'c'], np.array([0.1, 0.2, 0.3]), fastest)
    assert_allclose(points.positions[[0, -1]], [[0.1, 0.2, 0.3]] * 2, rtol=0, atol=1e-15)
    stroke = EVEN + 2.0 * BLEND
    middles = stroke * (np.arange(2 * SPEEDS) + 0.5)
    speeds = np.array([points.at(t)[1] for t in middles])
    assert_allclose(speeds[1::2], -speeds[::2])
    assert_allclose(speeds[-2], fastest)
    assert_allclose(speeds[0], [0.01, -0.01, 0.005])
    for t in (middles[:, None] + 0.49 * EVEN * np.array([-1.0, 1.0])).ravel():
        assert_allclose(points.at(t)[2], 0.0, atol=1e-9)


def quick(monkeypatch):
    """Make the search short."""
    for name, value in {'_STARTS': 1, '_DRAWS': 4, '_STEPS': 3}.items():
        monkeypatch.setattr(excitation, name, value)


def check_joints(dynamics, motion, q, v, a, efforts):
    """Check limits of all motors."""
    robot = dynamics.robot
    finite = np.isfinite(robot.lower)
    assert (q[:, finite] >= robot.lower[finite]).all()
    assert (q[:, finite] <= robot.upper[finite]).all()
    names = motion.trajectory.names
    k = [robot.velocity_index(name) for name in names]
    assert (np.abs(v[:, k]) <= 0.9 * robot.velocity_limit[k] * (1.0 + 1e-6)).all()
    assert np.abs(a[:, k]).max() <= ACCELERATION * (1.0 + 1e-6)
    assert (np.abs(efforts[:, k]) <= 0.9 * robot.effort_limit[k] * (1.0 + 1e-6)).all()


def resampled(motion, step=1e-3):
    """Return times, and positions, velocities and accelerations as a controller has them."""
    points = motion.trajectory
    t = np.arange(0.0, points.end, step)
    return t, *(np.array(x) for x in zip(*map(points.at, t.tolist()), strict=True))


def within_three_sigma(robot, before, motion, tau, noise, names):
    """Check that base parameters and friction are known as well as their deviations say."""
    tau = tau + noise * np.random.default_rng(5).normal(size=tau.shape)
    samples = samples_of(*motion, tau)
    result = identify(before, [samples], friction=MOTOR_SIDE, speeds=ObservedSpeeds(before, names))
    truth = np.zeros(len(result.equations.names))
    truth[: result.equations.inertial] = inertial_parameters(robot)
    for k, (name, term) in enumerate(result.equations.columns, result.equations.inertial):
        rotors = {'rotor_inertia': robot.armature[robot.velocity_index(name)]}
        truth[k] = (FRICTIONS | rotors)[term.kind]
    errors = result.fit.values - result.base.matrix @ truth
    scores = errors / np.sqrt(np.diag(result.fit.covariance))
    assert np.abs(scores).max() < 3.5  # the largest of some 70
    assert np.std(scores) == pytest.approx(1.0, abs=0.25)
    return result


FRICTIONS = {'viscous': 0.4, 'coulomb': 0.3, 'offset': 0.1}


def friction(v):
    """Return efforts of friction at speeds."""
    return 0.4 * v + 0.3 * np.tanh(v / 0.02) + 0.1


@pytest.fixture
def drive():
    """Return the shipped robot with two wheels and an arm, as a node builds it."""
    model = model_of_file('nonholonomic')
    return model, kd.compile(model.robot, model.constraints)


def test_a_base_with_arm(drive, monkeypatch):
    """Its limits by `wheel_forces`, its place by integration; a third heavier it is identified."""
    quick(monkeypatch)
    model, dynamics = drive
    robot, motors = model.robot, model.actuated
    contacts = kd.base_ground_contacts(model.base, friction=FRICTION)
    motion = exciting_motion(
        dynamics, motors, contacts=contacts, acceleration=ACCELERATION, floor=FLOOR, duration=10.0
    )
    assert motion.trajectory.names == motors
    assert max(motion.uses.values()) <= 1.0
    assert motion.base.condition < motion.random_condition
    t, *rows = resampled(motion, 0.01)
    k = [robot.velocity_index(name) for name in motors]
    q, v, a = np.zeros((3, len(t), robot.nv))
    for whole, part in zip((q, v, a), rows, strict=True):
        whole[:, k] = part
    for i in range(len(t) - 1):  # where it goes
        v[i] = dynamics.consistent_velocity(q[i], v[i], motors)
        q[i + 1, :3] = q[i, :3] + 0.01 * v[i, :3]
    v[-1] = dynamics.consistent_velocity(q[-1], v[-1], motors)
    a = dynamics.consistent_acceleration(q, v, a, motors)
    assert np.linalg.norm(q[:, :2], axis=1).max() < FLOOR + 0.02
    efforts = dynamics.constrained_inverse_dynamics(q, v, a, motors).effort
    check_joints(dynamics, motion, q, v, a, efforts)
    casters = {
        f'support {i}': (robot.bodies[0].name, x) for i, x in enumerate(model.base.supports)
    }
    for i in range(0, len(t), 40):
        forces = kd.wheel_forces(
            robot, q[i], v[i], a[i], model.constraints, motors, casters=casters, friction=FRICTION
        )
        assert forces.use < 0.8
        assert min(forces.margins.distances) > 0.05
    true = with_inertial_parameters(robot, 4.0 / 3.0 * inertial_parameters(robot))
    heavy = kd.dynamics(true, [kd.constraints.differential_drive(true, *motors[:2])])
    terms = 'inertia', 'coriolis', 'gravity'
    tau = heavy.constrained_inverse_dynamics(q, v, a, motors, terms=terms).effort
    tau[:, k] += friction(v[:, k])
    within_three_sigma(true, dynamics, (t, q, v, a), tau, 0.1, motors)


@pytest.mark.thorough
def test_an_arm():
    """Franka's, without hand: as good as 21 s of a published exciting motion."""
    installed('panda')
    from studies.identification.arms import panda

    dynamics = kd.compile(panda())
    robot = dynamics.robot
    names = robot.velocity_names[:7]
    motion = exciting_motion(dynamics, names, acceleration=ACCELERATION)
    assert motion.base.condition < 30.0 < 100.0 < motion.random_condition
    t, q, v, a = resampled(motion)
    check_joints(dynamics, motion, q, v, a, dynamics.inverse_dynamics(q, v, a))
    true = with_inertial_parameters(robot, 1.2 * inertial_parameters(robot))
    tau = kd.compile(true).inverse_dynamics(q, v, a) + friction(v)
    every = slice(None, None, 10)
    result = within_three_sigma(
        true, dynamics, [x[every] for x in (t, q, v, a)], tau[every], 0.1, names
    )
    assert result.base.condition < 30.0


def test_a_robot_that_cannot_hold_itself(monkeypatch):
    quick(monkeypatch)
    robot = kd.load_urdf(WEAK)
    with pytest.raises(InvalidInputError, match='no random motion keeps the limits.*effort of'):
        exciting_motion(kd.dynamics(robot), robot.velocity_names)


WEAK = """<robot name="weak"><link name="world"/><link name="arm"><inertial><mass value="10"/>
<origin xyz="1 0 0"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="hinge" type="revolute"><parent link="world"/><child link="arm"/><axis xyz="0 1 0"/>
<limit lower="-0.5" upper="0.5" velocity="2" effort="20"/></joint></robot>"""


def test_of_four_mecanum_motors_three_are_observed():
    """Regression: four motors for three freedoms were InconsistentConstraintsError."""
    base = mecanum_base()
    dynamics = kd.compile(base.robot, base.constraints)
    motion = exciting_motion(dynamics, [f'wheel_{k}' for k in range(4)], duration=4.0)
    assert max(motion.uses.values()) <= 1.0
    assert motion.base.condition < motion.random_condition
    assert any('wheel_2' in name for name in motion.base.names)
    assert not any('wheel_3' in name and 'viscous' in name for name in motion.base.names)
