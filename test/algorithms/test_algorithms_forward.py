# SPDX-License-Identifier: Apache-2.0
"""Forward dynamics undoes inverse dynamics; calls do not remember each other."""

import dataclasses

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from support.calculus import relative
from support.machines import at, inertia, revolute
from support.trees import BASES, thirty_trees, tree_and_state

import kane_dynamics as kd
from kane_dynamics.exceptions import (
    InvalidInputError,
    KaneDynamicsError,
    NameNotFoundError,
    SingularMassMatrixError,
)

# Roundoff of 1e-15 in tau, times the condition number of M, at most 1e4 for these trees.
INVERSION = 1e-10


@pytest.mark.claim(9)
@pytest.mark.parametrize(('seed', 'base'), thirty_trees())
def test_forward_undoes_inverse(seed, base):
    robot, q, v, a = tree_and_state(seed, base)
    tau = kd.inverse_dynamics(robot, q, v, a)
    motion = kd.forward_dynamics(robot, q, v, tau)
    assert relative(motion.acceleration, a) < INVERSION
    assert motion.labels == ()
    assert motion.multipliers.shape == (0,)
    assert_array_equal(motion.constraint_force, np.zeros(robot.nv))
    assert (motion.rank, motion.residual) == (0, 0.0)


def functions(robot, q, v, a):
    """Return every function of the dynamics as a call without arguments."""
    wrench = {'tool': np.arange(6.0)}
    return {
        'inverse_dynamics': lambda: kd.inverse_dynamics(robot, q, v, a, wrench),
        'mass_matrix': lambda: kd.mass_matrix(robot, q),
        'coriolis_matrix': lambda: kd.coriolis_matrix(robot, q, v),
        'gravity_force': lambda: kd.gravity_force(robot, q),
        'bias_force': lambda: kd.bias_force(robot, q, v),
        'friction_force': lambda: kd.friction_force(robot, v),
        'kinetic_energy': lambda: kd.kinetic_energy(robot, q, v),
        'potential_energy': lambda: kd.potential_energy(robot, q),
        'integrate': lambda: kd.integrate(robot, q, v, 0.3),
        'forward_dynamics': lambda: kd.forward_dynamics(robot, q, v, a).acceleration,
        'forward_kinematics': lambda: kd.forward_kinematics(robot, q, v, a).acceleration('tool'),
    }


def test_repeated_calls_give_the_same_bits_and_write_nothing():
    robot, *state = tree_and_state(4, 'planar')
    kept = [x.copy() for x in state]
    calls = functions(robot, *state)
    first = {name: np.copy(call()) for name, call in calls.items()}
    other_robot, *other_state = tree_and_state(5, 'floating')
    for call in functions(other_robot, *other_state).values():
        call()
    for name in reversed(calls):
        assert_array_equal(calls[name](), first[name], err_msg=name)
    for x, before in zip(state, kept, strict=True):
        assert_array_equal(x, before)


def test_results_belong_to_the_caller():
    robot, q, v, a = tree_and_state(1, 'planar')
    for name, call in functions(robot, q, v, a).items():
        result = call()
        if isinstance(result, np.ndarray):
            expected = result.copy()
            result[:] = np.nan
            assert_array_equal(call(), expected, err_msg=name)


def test_lists_and_read_only_arrays_are_accepted():
    robot, q, v, a = tree_and_state(1, 'planar')
    expected = kd.inverse_dynamics(robot, q, v, a)
    for x in (q, v, a):
        x.setflags(write=False)
    assert_array_equal(kd.inverse_dynamics(robot, q, v, a), expected)
    assert_array_equal(kd.inverse_dynamics(robot, list(q), tuple(v), a.tolist()), expected)


@pytest.mark.parametrize('which', [0, 1, 2])
@pytest.mark.parametrize('bad', ['nan', 'infinite', 'short', 'matrix', 'text'])
def test_bad_vectors_are_named(which, bad):
    robot, *state = tree_and_state(0, 'fixed')
    x = state[which]
    state[which] = {
        'nan': np.r_[np.nan, x[1:]],
        'infinite': np.r_[np.inf, x[1:]],
        'short': x[:-1],
        'matrix': x[None],
        'text': 'abc',
    }[bad]
    name = 'qva'[which]
    pattern = rf'^{name}: '
    with pytest.raises(InvalidInputError, match=pattern):
        kd.inverse_dynamics(robot, *state)
    with pytest.raises(InvalidInputError, match='^tau: ' if name == 'a' else pattern):
        kd.forward_dynamics(robot, *state)
    with pytest.raises(InvalidInputError, match=pattern):
        kd.forward_kinematics(robot, *state)


@pytest.mark.parametrize('kind', ['spherical', 'free'])
def test_quaternions_must_be_unit(kind):
    robot, q, v, a = tree_and_state(0, 'fixed')
    first = robot.coordinate_index(f'{kind}_joint_qw')
    q[first : first + 4] *= 1.01
    with pytest.raises(InvalidInputError, match=f"'{kind}_joint' needs a unit quaternion"):
        kd.inverse_dynamics(robot, q, v, a)
    q[first : first + 4] *= 1.0 / 1.01 * (1 + 1e-5)  # stale by an integrator: accepted, normalised
    stale = kd.mass_matrix(robot, q)
    q[first : first + 4] /= 1 + 1e-5
    assert_allclose(stale, kd.mass_matrix(robot, q), rtol=0, atol=1e-12)


def test_other_bad_arguments():
    robot, q, v, a = tree_and_state(0, 'fixed')
    with pytest.raises(InvalidInputError, match="method must be one of .*'newton'"):
        kd.forward_dynamics(robot, q, v, a, method='newton')
    with pytest.raises(InvalidInputError, match='time'):
        kd.forward_dynamics(robot, q, v, a, time=np.nan)
    with pytest.raises(InvalidInputError, match='dt'):
        kd.integrate(robot, q, v, np.inf)
    with pytest.raises(NameNotFoundError, match='tool'):
        kd.forward_kinematics(robot, q).pose('nose')
    for error in (InvalidInputError, NameNotFoundError, SingularMassMatrixError):
        assert issubclass(error, KaneDynamicsError)


def test_a_speed_that_moves_no_mass():
    last = kd.Body('empty', 'link', revolute('loose'), at(0.2, 0, 0))
    first = kd.Body('link', '', revolute('hinge'), inertia=inertia(1.0, (0.1, 0, 0), (1, 1, 1)))
    robot = kd.Robot('loose', [first, last])
    with pytest.raises(SingularMassMatrixError, match='not positive definite'):
        kd.forward_dynamics(robot, (0.1, 0.2), (0, 0), (0, 0))
    rotor = dataclasses.replace(last, joint=revolute('loose', armature=0.01))
    motion = kd.forward_dynamics(kd.Robot('rotor', [first, rotor]), (0.1, 0.2), (0, 0), (0, 0.05))
    assert motion.acceleration[1] == pytest.approx(5.0)


@pytest.mark.claim(27)
@pytest.mark.parametrize('base', BASES)
def test_friction_opposes_motion(base):
    robot, q, v, _ = tree_and_state(6, base)
    friction = kd.friction_force(robot, v)
    assert v @ friction > 0.0
    assert_allclose(kd.friction_force(robot, -v), -friction, rtol=0, atol=0)
    slower = kd.forward_dynamics(robot, q, v, np.zeros(robot.nv)).acceleration
    free = np.linalg.solve(kd.mass_matrix(robot, q), -kd.bias_force(robot, q, v))
    assert v @ kd.mass_matrix(robot, q) @ (slower - free) == pytest.approx(-v @ friction)


def test_friction_and_armature_of_a_geared_follower():
    # a follower that turns ratio times as fast has its coefficients reflected: D r^2, F |r|, I r^2
    master = revolute('master', armature=0.2, damping=0.5, friction=0.3)
    slave = revolute('slave', armature=0.1, damping=0.7, friction=0.4)
    link = inertia(0.0, (0, 0, 0), (1.0, 1.0, 1.0))
    bodies = [
        kd.Body('one', '', master, inertia=link),
        kd.Body('two', '', slave, inertia=link, mimic=kd.Mimic('master', -2.0, 0.1)),
    ]
    robot = kd.Robot('gears', bodies)
    for v, sign in (([0.5], 1.0), ([-0.5], -1.0)):
        expected = sign * ((0.5 + 4 * 0.7) * 0.5 + 0.3 + 2 * 0.4)
        assert_allclose(kd.friction_force(robot, v), [expected], rtol=1e-15)
    assert_allclose(kd.mass_matrix(robot, [0.0]), [[1 + 0.2 + 4 * (1 + 0.1)]], rtol=1e-15)


def test_violations_of_a_row_that_moves():
    # Phi = q0 - 0.3 t - 0.1, so that v0 is to be 0.3
    robot, q, v, tau = tree_and_state(2, 'planar')
    ramp = kd.constraints.holonomic(robot, lambda q, t: q[0] - 0.3 * t - 0.1)
    motion = kd.forward_dynamics(robot, q, v, tau, (ramp,), time=2.0)
    assert_allclose(motion.velocity_violation, [v[0] - 0.3], rtol=0, atol=1e-15)
    assert motion.velocity_residual == abs(motion.velocity_violation[0])
    assert_allclose(motion.position_violation, [q[0] - 0.7], rtol=0, atol=1e-15)
