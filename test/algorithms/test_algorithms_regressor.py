# SPDX-License-Identifier: Apache-2.0
"""The regressor: efforts are linear in inertial parameters; Pinocchio; one body at a time."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose
from support.calculus import relative
from support.trees import BASES, tree_and_state, tree_params
from support.wheeled_robots import installed

import kane_dynamics as kd
from kane_dynamics.analysis.payload import payload_regressor
from kane_dynamics.robot.inertial_parameters import (
    PARAMETERS,
    inertial_parameters,
    with_inertial_parameters,
)

SAME = 1e-13
PINOCCHIO = [0, 1, 2, 3, 4, 5, 7, 6, 8, 9]  # its Iyy before its Ixz


@pytest.fixture(params=tree_params())
def case(request):
    """Return a robot of every joint kind, with followers, and a state."""
    return tree_and_state(*request.param)


def panda():
    """Return Franka's arm with closed fingers."""
    with warnings.catch_warnings():
        warnings.simplefilter('ignore', kd.exceptions.ModelWarning)
        return kd.load_urdf(
            installed('panda'), locked_joints=('panda_finger_joint1', 'panda_finger_joint2')
        )


def efforts(robot, q, v, a):
    """Return inverse dynamics without friction and armature."""
    return kd.inverse_dynamics(robot, q, v, a) - kd.friction_force(robot, v) - robot.armature * a


def test_times_the_parameters_it_is_inverse_dynamics(case):
    robot, *state = case
    W = kd.regressor(robot, *state)
    assert W.shape == (robot.nv, 10 * len(robot.bodies))
    assert relative(W @ inertial_parameters(robot), efforts(robot, *state)) < SAME


def test_robots_with_other_parameters_have_the_efforts_of_these(case):
    robot, *state = case
    rng = np.random.default_rng(5)
    phi = inertial_parameters(robot)
    assert_allclose(
        inertial_parameters(with_inertial_parameters(robot, phi)), phi, rtol=1e-14, atol=1e-15
    )
    other = with_inertial_parameters(
        robot, phi * np.repeat(rng.uniform(0.5, 2.0, len(phi) // 10), 10)
    )
    assert other != robot
    expected = kd.regressor(robot, *state) @ inertial_parameters(other)
    assert relative(efforts(other, *state), expected) < SAME


def test_one_body_alone_is_the_regressor_of_a_payload_in_its_frame(case):
    robot, *state = case
    W, d = kd.regressor(robot, *state), kd.dynamics(robot)
    for i, body in enumerate(robot.bodies):
        alone = payload_regressor(d, body.name, *state)
        assert_allclose(W[:, 10 * i : 10 * i + 10], alone, rtol=0, atol=1e-12)


@pytest.mark.thorough
@pytest.mark.parametrize('base', BASES)
def test_machine_code(base):
    robot, *state = tree_and_state(BASES.index(base), base)
    many = [np.tile(x, (3, 1)) for x in state]
    expected = kd.regressor(robot, *state)
    fast = kd.compile(robot)
    assert relative(fast.regressor(*many), np.tile(expected, (3, 1, 1))) < SAME
    fast.set_gravity((1.0, 2.0, -3.0))
    other = kd.regressor(robot.with_gravity((1.0, 2.0, -3.0)), *state)
    assert relative(fast.regressor(*state), other) < SAME


@pytest.mark.parametrize('name', ['nonholonomic', 'holonomic'])
def test_shipped_robots(name, rng):
    robot = kd.load_robot(name)
    state = rng.uniform(-1.0, 1.0, (3, robot.nv))
    expected = efforts(robot, *state)
    found = kd.regressor(robot, *state) @ inertial_parameters(robot)
    assert relative(found, expected) < SAME


@pytest.mark.oracle
def test_pinocchio_has_the_same_in_another_order(rng):
    pin = pytest.importorskip('pinocchio', reason='the extra "oracle" is not installed')
    robot = panda()
    whole = pin.buildModelFromUrdf(str(installed('panda')))
    fingers = [whole.getJointId(f'panda_finger_joint{k}') for k in (1, 2)]
    model = pin.buildReducedModel(whole, fingers, pin.neutral(whole))
    for state in rng.uniform(-1.0, 1.0, (5, 3, 7)):
        theirs = pin.computeJointTorqueRegressor(model, model.createData(), *state)
        ours = kd.regressor(robot, *state).reshape(7, 7, 10)[..., PINOCCHIO].reshape(7, 70)
        assert relative(ours, theirs) < SAME


def test_a_body_without_mass_stays_one():
    robot = kd.Robot('arm', [kd.Body('link', '', kd.Joint('hinge', kd.Revolute((0, 0, 1))))])
    phi = inertial_parameters(robot)
    assert not phi.any()
    assert inertial_parameters(with_inertial_parameters(robot, phi)).tolist() == phi.tolist()


@pytest.mark.parametrize(
    ('parameter', 'value', 'message'),
    [('m', -1.0, 'mass'), ('mx', 3.0, 'principal moment'), ('Jzz', -1.0, 'principal moment')],
)
def test_parameters_that_no_body_has_are_refused(parameter, value, message):
    robot = kd.serial_chain(1)
    phi = inertial_parameters(robot)
    phi[PARAMETERS.index(parameter)] = value
    with pytest.raises(kd.exceptions.InvalidInputError, match=message):
        with_inertial_parameters(robot, phi)


def test_a_first_moment_without_mass_is_refused():
    robot = kd.serial_chain(1)
    with pytest.raises(kd.exceptions.InvalidInputError, match='without mass'):
        with_inertial_parameters(robot, [0.0, 0.1, *np.zeros(8)])
