# SPDX-License-Identifier: Apache-2.0
"""Every compiled function against the function of the package, on every kind of robot."""

import numpy as np
import pytest
from kernel_cases import (
    AGREEMENT,
    CASES,
    FUNCTIONS,
    agree,
    compiled_value,
    error,
    reference,
    reference_poses,
)
from numpy.testing import assert_array_equal

import kane_dynamics as kd

STATES = 5


@pytest.mark.parametrize('name', CASES)
class TestEveryRobot:
    """One robot at a time, so that each is compiled once."""

    @pytest.mark.parametrize('function', FUNCTIONS)
    def test_function(self, name, function, pair, rng):
        case, fast = pair(name)
        for _ in range(STATES):
            state = case.state(rng)
            expected = reference(case, function, *state)
            assert error(compiled_value(fast, function, *state), expected) < AGREEMENT

    def test_frame_poses(self, name, pair, rng):
        case, fast = pair(name)
        assert fast.frames == tuple(body.name for body in case.robot.bodies)
        q = case.state(rng)[0]
        expected = reference_poses(case.robot, fast.frames, q)
        assert error(fast.frame_poses(q), expected) < AGREEMENT

    def test_forward_dynamics_and_motion(self, name, pair, rng):
        case, fast = pair(name)
        before = fast.fallback_count
        for _ in range(STATES):
            q, v, tau = case.state(rng)
            agree(case.robot, case.constraints, fast, q, v, tau)
        assert fast.fallback_count == before

    def test_special_states(self, name, pair):
        # at rest in the neutral configuration; friction has its jump at v = 0
        case, fast = pair(name)
        q, nothing = case.robot.neutral(), np.zeros(case.robot.nv)
        for function in FUNCTIONS:
            expected = reference(case, function, q, nothing, nothing)
            got = compiled_value(fast, function, q, nothing, nothing)
            assert error(got, expected) < AGREEMENT

    def test_mass_matrix_is_exactly_symmetric(self, name, pair, rng):
        case, fast = pair(name)
        M = fast.mass_matrix(case.state(rng)[0])
        assert_array_equal(M, M.T)


@pytest.mark.parametrize('name', ['planar_tree', 'floating_tree', 'free_tree'])
def test_quaternions_slightly_off_unit(name, pair, rng):
    # 1e-3 is the limit of the door of the reference
    case, fast = pair(name)
    q, v, a = case.state(rng)
    for body, index in zip(case.robot.bodies, case.robot.indices, strict=True):
        if body.mimic is None and isinstance(body.joint.kind, (kd.Spherical, kd.Free)):
            q[index.q][-4:] *= 1.0 + rng.uniform(-9e-4, 9e-4)
    for function in FUNCTIONS:
        expected = reference(case, function, q, v, a)
        assert error(compiled_value(fast, function, q, v, a), expected) < AGREEMENT
    expected = kd.forward_dynamics(case.robot, q, v, a).acceleration
    assert error(fast.acceleration(q, v, a), expected) < AGREEMENT
    assert error(fast.frame_poses(q), reference_poses(case.robot, fast.frames, q)) < AGREEMENT


@pytest.mark.parametrize('angle', [1e3, -1e5, 1e6])
def test_joints_that_have_turned_far(angle, pair, rng):
    # both sides take sine and cosine of the same angle of 1e6 rad, reduced to full precision
    case, fast = pair('fixed_tree')
    q, v, a = case.state(rng)
    q[case.robot.coordinate_index('revolute_joint')] += angle
    for function in FUNCTIONS:
        expected = reference(case, function, q, v, a)
        assert error(compiled_value(fast, function, q, v, a), expected) < AGREEMENT


def test_what_is_asked_for_is_what_is_compiled(pair):
    case, fast = pair('massless')
    assert fast.robot is case.robot
    assert tuple(fast.constraints) == tuple(case.constraints)
    assert set(fast.instructions) == {*FUNCTIONS, 'frame_poses', 'forward_dynamics', 'motion'}
    assert all(count > 0 for count in fast.instructions.values())
    two = kd.compile(case.robot, frames=('tip', 'upper'), cache=False)
    assert (two.source, two.note) == ('compiled', 'not asked for')
    q = np.array([0.3, -0.4, 0.5, 0.6])
    assert error(two.frame_poses(q), reference_poses(case.robot, ('tip', 'upper'), q)) < 1e-15
    with pytest.raises(kd.exceptions.NameNotFoundError, match="no frame named 'tipp'"):
        kd.compile(case.robot, frames=('tipp',), cache=False)


def test_progress_is_shown(pair):
    case, _ = pair('planar_2r')
    said = []
    kd.compile(case.robot, cache=False, progress=lambda *args: said.append(args))
    texts = [what for what, _, _ in said]
    assert 'tracing inverse_dynamics' in texts
    assert 'compiling forward_dynamics' in texts
    assert texts[-1] == 'done'
    steps, totals = [done for _, done, _ in said], {total for _, _, total in said}
    assert steps == sorted(steps)
    assert totals == {steps[-1]}


def test_robot_without_joints_and_without_frames():
    nobody = kd.Robot('nobody', [])
    fast, nothing = kd.compile(nobody, cache=False), np.zeros(0)
    assert fast.mass_matrix(nothing).shape == (0, 0)
    assert fast.acceleration(nothing, nothing, nothing).shape == (0,)
    assert fast.potential_energy(nothing) == 0.0
    assert fast.frame_poses(nothing).shape == (0, 7)


def test_tip_without_mass_has_no_forward_dynamics(pair):
    # everything that needs no solve is compiled; the solve names what is wrong
    bodies = pair('massless')[0].robot.bodies[:3]
    robot = kd.Robot('massless_tip', bodies)
    fast = kd.compile(robot, cache=False)
    q, v, a = np.array([0.1, 0.2, 0.3]), np.array([1.0, 2.0, 3.0]), np.array([4.0, 5.0, 6.0])
    expected = kd.inverse_dynamics(robot, q, v, a)
    assert error(fast.inverse_dynamics(q, v, a), expected) < AGREEMENT
    for solve in (fast.acceleration, fast.forward_dynamics):
        with pytest.raises(kd.exceptions.SingularMassMatrixError, match='not positive definite'):
            solve(q, v, a)
