# SPDX-License-Identifier: Apache-2.0
"""Gravity and payloads of a robot that change."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import kane_dynamics as kd
from kane_dynamics.exceptions import InvalidInputError, ModelWarning, NameNotFoundError
from kane_dynamics.robot.state import GravityAndPayloads, checked_payload_frames
from studies.random_robots import random_inertia, random_pose, random_tree

TILTED = (1.2, -3.4, -8.0)


def state(robot, rng):
    tangent, v, a = rng.uniform(-1.0, 1.0, (3, robot.nv))
    return kd.integrate(robot, robot.neutral(), tangent, 1.0), v, a


def with_payload_on_a_joint(robot, frame, payload):
    """Return the robot with the payload as a body of its own, on a last joint that is held."""
    at = robot.frames[frame]
    body = kd.Body(
        'load', robot.bodies[at.body].name, kd.Joint('held', kd.Prismatic((1, 0, 0))), at.pose,
        payload,
    )  # fmt: skip
    return kd.Robot(robot.name, [*robot.bodies, body], robot.gravity)


@pytest.mark.parametrize('base', ['fixed', 'planar', 'floating'])
@pytest.mark.parametrize('frame', ['tool', 'revolute'])
def test_a_payload_is_a_body_on_a_joint_that_is_held(base, frame):
    rng = np.random.default_rng(1)
    robot = random_tree(rng, base).with_gravity(TILTED)
    payload = random_inertia(rng)
    loaded = robot.with_payload(frame, payload.mass, payload.com, payload.tensor)
    q, v, a = state(robot, rng)
    held = with_payload_on_a_joint(robot, frame, payload)
    expected = kd.inverse_dynamics(held, [*q, 0.0], [*v, 0.0], [*a, 0.0])[:-1]
    # sums of some ten bodies: a few ulp of the largest effort
    atol = 1e-13 * np.abs(expected).max()
    assert_allclose(kd.inverse_dynamics(loaded, q, v, a), expected, rtol=0, atol=atol)
    energy = kd.potential_energy(held, [*q, 0.0]), kd.kinetic_energy(held, [*q, 0.0], [*v, 0.0])
    found = kd.potential_energy(loaded, q), kd.kinetic_energy(loaded, q, v)
    assert_allclose(found, energy, rtol=1e-13)


def test_with_gravity_is_the_robot_built_with_it():
    rng = np.random.default_rng(2)
    robot = random_tree(rng, 'planar')
    before = robot.gravity.copy()
    built = kd.Robot(robot.name, robot.bodies, TILTED, robot.frames)
    q, v, a = state(robot, rng)
    tilted = robot.with_gravity(TILTED)
    assert_array_equal(kd.inverse_dynamics(tilted, q, v, a), kd.inverse_dynamics(built, q, v, a))
    assert_array_equal(robot.gravity, before)  # robots are frozen
    assert not tilted.gravity.flags.writeable
    assert tilted.kinematic_key == robot.kinematic_key


def test_two_payloads_add_up_and_are_copied_with_the_robot():
    rng = np.random.default_rng(3)
    robot = random_tree(rng)
    one, two = random_inertia(rng), random_inertia(rng)
    loaded = robot.with_payload('tool', one.mass, one.com, one.tensor)
    loaded = loaded.with_payload('tool', two.mass, two.com, two.tensor)
    body = robot.moving_body('tool')
    whole = loaded.bodies[body].inertia
    # the same mass points whichever way they are grouped
    assert_allclose(whole.mass, robot.bodies[body].inertia.mass + one.mass + two.mass, rtol=1e-15)
    both = one + two
    at_once = robot.with_payload('tool', both.mass, both.com, both.tensor)
    assert_allclose(whole.com, at_once.bodies[body].inertia.com, rtol=0, atol=1e-14)
    assert_allclose(whole.tensor, at_once.bodies[body].inertia.tensor, rtol=0, atol=1e-13)
    again = pickle.loads(pickle.dumps(loaded))
    assert_array_equal(again.bodies[body].inertia.tensor, whole.tensor)


def test_a_load_takes_payloads_off_again_without_a_trace():
    rng = np.random.default_rng(4)
    robot = random_tree(rng)
    load = GravityAndPayloads(robot)
    one, two = random_inertia(rng), random_inertia(rng)
    load.set_payload('tool', one.mass, one.com, one.tensor)
    load.set_gravity(TILTED)
    load.set_payload('revolute', two.mass, two.com, two.tensor)
    expected = robot.with_payload('tool', one.mass, one.com, one.tensor)
    expected = expected.with_payload('revolute', two.mass, two.com, two.tensor)
    q, v, a = state(robot, rng)
    assert_array_equal(load.robot.gravity, TILTED)
    assert_array_equal(
        kd.inverse_dynamics(load.robot, q, v, a),
        kd.inverse_dynamics(expected.with_gravity(TILTED), q, v, a),
    )
    load.set_payload('tool', 0.0)
    load.set_payload('revolute', 0.0, two.com, two.tensor)  # whatever it was
    load.set_gravity(robot.gravity)
    assert_array_equal(
        kd.inverse_dynamics(load.robot, q, v, a), kd.inverse_dynamics(robot, q, v, a)
    )


def test_a_point_mass_where_the_inertia_is_left_out():
    robot = random_tree(np.random.default_rng(5))
    tensor = robot.with_payload('tool', 2.0, (0.1, 0.2, 0.3)).bodies[robot.moving_body('tool')]
    point = robot.with_payload('tool', 2.0, (0.1, 0.2, 0.3), np.zeros((3, 3)))
    assert_array_equal(
        tensor.inertia.tensor, point.bodies[robot.moving_body('tool')].inertia.tensor
    )


WRONG = {
    'mass below zero': (('tool', -1.0), InvalidInputError, 'mass'),
    'mass not a number': (('tool', np.nan), InvalidInputError, 'mass'),
    'mass is text': (('tool', '1'), InvalidInputError, 'mass'),
    'com of two numbers': (('tool', 1.0, (0.0, 0.0)), InvalidInputError, 'centre of mass'),
    'com is text': (('tool', 1.0, 'here'), InvalidInputError, 'centre of mass'),
    'not symmetric': (
        ('tool', 1.0, (0, 0, 0), [[1, 1, 0], [0, 1, 0], [0, 0, 1]]),
        InvalidInputError,
        'symmetric',
    ),
    'negative moment': (('tool', 1.0, (0, 0, 0), -np.eye(3)), InvalidInputError, 'negative'),
    'unknown frame': (('gripper', 1.0), NameNotFoundError, "no frame named 'gripper'"),
    'part of the world': (('anchor', 1.0), InvalidInputError, "'anchor' is part of the world"),
}


@pytest.mark.parametrize('case', WRONG)
def test_what_no_payload_can_be_is_a_named_error(case):
    arguments, error, message = WRONG[case]
    robot = random_tree(np.random.default_rng(6))
    with pytest.raises(error, match=message):
        robot.with_payload(*arguments)
    load = GravityAndPayloads(robot)
    with pytest.raises(error, match=message):
        load.set_payload(*arguments)
    assert load.robot is robot


@pytest.mark.parametrize('vector', [(0, 0), (0, 0, np.nan), 'down', None, 9.81])
def test_what_no_gravity_can_be_is_a_named_error(vector):
    robot = random_tree(np.random.default_rng(6))
    with pytest.raises(InvalidInputError, match='gravity'):
        robot.with_gravity(vector)
    with pytest.raises(InvalidInputError, match='gravity'):
        GravityAndPayloads(robot).set_gravity(vector)


def test_principal_moments_of_no_mass_distribution_are_warned_of():
    robot = random_tree(np.random.default_rng(6))
    with pytest.warns(ModelWarning, match="'tool': principal moments"):
        robot.with_payload('tool', 1.0, (0, 0, 0), np.diag([1.0, 1.0, 3.0]))


def test_only_named_frames_carry_a_payload():
    robot = random_tree(np.random.default_rng(7))
    load = GravityAndPayloads(robot, checked_payload_frames(robot, ['tool']))
    load.set_payload('tool', 1.0)
    with pytest.raises(InvalidInputError, match=r"'revolute' must be named.*named were \['tool'"):
        load.set_payload('revolute', 1.0)
    with pytest.raises(NameNotFoundError, match='gripper'):
        load.set_payload('gripper', 1.0)
    with pytest.raises(NameNotFoundError, match='gripper'):
        checked_payload_frames(robot, ['gripper'])
    with pytest.raises(InvalidInputError, match='part of the world'):
        checked_payload_frames(robot, ['anchor'])
    with pytest.raises(InvalidInputError, match='different frames'):
        checked_payload_frames(robot, ['tool', 'tool'])
    with pytest.raises(InvalidInputError, match='sequence of names'):
        checked_payload_frames(robot, 'tool')


def test_a_payload_far_out_on_a_turned_frame_pulls_with_its_lever_arm():
    """One hinge about x: m g times the horizontal distance of the mass, in closed form."""
    frame = kd.Frame(0, random_pose(np.random.default_rng(8)))
    bodies = [kd.Body('arm', '', kd.Joint('hinge', kd.Revolute((1.0, 0.0, 0.0))))]
    robot = kd.Robot('hinge', bodies, frames={'hand': frame})
    com = np.array([0.3, -0.2, 0.5])
    lever = frame.pose.position() + frame.pose.rotation_matrix() @ com
    effort = kd.gravity_force(robot.with_payload('hand', 2.0, com), [0.0])
    assert_allclose(effort, [2.0 * 9.81 * lever[1]], rtol=1e-14)


@pytest.mark.parametrize('integrator', ['rk4', 'semi_implicit', 'midpoint'])
def test_time_steps_of_the_reference_follow(integrator):
    rng = np.random.default_rng(9)
    robot = random_tree(rng, 'planar', ('revolute', 'prismatic'))
    d = kd.dynamics(robot)
    engine = d.engine(integrator)  # made before
    d.set_gravity(TILTED)
    d.set_payload('tool', 1.5, (0.1, 0.2, 0.3))
    q, v, tau = state(robot, rng)
    loaded = robot.with_gravity(TILTED).with_payload('tool', 1.5, (0.1, 0.2, 0.3))
    expected = kd.simulate(loaded, q, v, 1e-3, effort=tau, integrator=integrator)
    found = engine.advance(q, v, tau, 0.0, 1e-3, 1)
    assert_array_equal(found[0], expected.q[-1])
    assert_array_equal(found[1], expected.v[-1])
