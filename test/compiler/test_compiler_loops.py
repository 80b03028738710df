# SPDX-License-Identifier: Apache-2.0
"""Kernels that are loops over bodies: long chains, and every joint kind on small trees."""

from contextlib import contextmanager

import casadi as ca
import numpy as np
import pytest
from numpy.testing import assert_allclose
from support.compiling import compiled_kernel
from support.trees import BASES, random_state, random_tree

import kane_dynamics as kd
from kane_dynamics.compiler import recipe
from kane_dynamics.compiler.graphs import body_groups
from kane_dynamics.compiler.graphs.bodies import LoopTracer
from kane_dynamics.compiler.llvm.kernel_spec import levels_of
from kane_dynamics.exceptions import InvalidInputError

INPUTS = {
    'inverse_dynamics': 'qva',
    'bias_force': 'qv',
    'gravity_force': 'q',
    'kinetic_energy': 'qv',
    'potential_energy': 'q',
    'mass_matrix': 'q',
    'coriolis_matrix': 'qv',
    'acceleration': 'qva',
}


@contextmanager
def as_if_large():
    """Let small robots be compiled as if they were large."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(recipe, 'MOST_COUPLED_PAIRS', -1)
        yield


THOROUGH = pytest.param('planar, followers', marks=pytest.mark.thorough)


@pytest.fixture(scope='module', params=['floating', THOROUGH])
def tree(request):
    """Return a tree of every joint kind, its compiled loops, and 21 states."""
    base, *followers = request.param.split(', ')
    rng = np.random.default_rng(1000 + BASES.index(base))
    robot = random_tree(rng, base, mimic=bool(followers))
    with as_if_large():
        fast = kd.compile(robot, frames=list(robot.frames), cache=False)
    states = [random_state(robot, rng) for _ in range(21)]  # whole vectors, and some left
    return robot, fast, dict(zip('qva', map(np.array, zip(*states, strict=True)), strict=True))


def kernel_of(robot, name):
    """Return one kernel of a robot as a loop, without the others."""
    spec = getattr(LoopTracer(robot, ()), name)()
    gravity = np.array(robot.gravity)

    def refused(*_):
        raise NotImplementedError('asked the reference')

    names = 'qva'[: len(spec.input_sizes)]
    return compiled_kernel(spec, names, refused, parameters=gravity).call


def reference(robot, name, *state):
    if name == 'acceleration':
        return kd.forward_dynamics(robot, *state).acceleration
    return getattr(kd, name)(robot, *state)


@pytest.mark.parametrize('name', INPUTS)
def test_every_joint_kind_agrees_with_the_reference(name, tree):
    robot, fast, states = tree
    rows = [states[x] for x in INPUTS[name]]
    expected = np.array([reference(robot, name, *state) for state in zip(*rows, strict=True)])
    single = [getattr(fast, name)(*state) for state in zip(*rows, strict=True)]
    # roundoff times the condition of M, about 1e3
    assert_allclose(single, expected, rtol=0, atol=1e-12 * np.abs(expected).max())
    out = np.empty_like(expected)
    assert getattr(fast, name)(*rows, out=out) is out
    assert_allclose(out, expected, rtol=0, atol=1e-12 * np.abs(expected).max())
    assert fast.fallback_count == 0


def test_poses_of_all_frames(tree):
    robot, fast, states = tree
    found = fast.frame_poses(states['q'][0])
    kinematics = kd.forward_kinematics(robot, states['q'][0])
    for name, (*position, w, x, y, z) in zip(fast.frames, found, strict=True):
        pose = kinematics.pose(name)
        assert_allclose(position, pose.position(), rtol=0, atol=1e-13)
        assert_allclose([w, x, y, z], pose.rotation.components, rtol=0, atol=1e-13)


def test_a_state_that_is_not_finite_stays_alone(tree):
    robot, fast, states = tree
    q, v, a = (states[x].copy() for x in 'qva')
    clean = fast.inverse_dynamics(q, v, a)
    a[3, -1] = np.nan
    found = fast.inverse_dynamics(q, v, a)
    assert np.isnan(found[3]).all()
    others = [k for k in range(len(q)) if k != 3]
    assert_allclose(found[others], clean[others], rtol=0, atol=0)
    assert np.isnan(fast.inverse_dynamics(q[3], v[3], a[3])).all()


def test_results_may_take_the_place_of_an_input(tree):
    robot, fast, states = tree
    q, v, a = (states[x][0].copy() for x in 'qva')
    expected = fast.inverse_dynamics(q, v, a)
    assert fast.inverse_dynamics(q, v, a, out=a) is a
    assert_allclose(a, expected, rtol=0, atol=0)


def test_quaternions_and_large_angles_go_to_the_reference(tree):
    robot, fast, states = tree
    q, v, a = (states[x][0].copy() for x in 'qva')
    place = robot.coordinate_names.index('spherical_joint_qw')
    q[place] += 1.0
    with pytest.raises(InvalidInputError, match="'spherical_joint' needs a unit quaternion"):
        fast.inverse_dynamics(q, v, a)
    q[place] -= 1.0
    q[robot.coordinate_names.index('revolute_joint')] = 3e13
    before = fast.fallback_count
    expected = kd.inverse_dynamics(robot, q, v, a)
    assert_allclose(fast.inverse_dynamics(q, v, a), expected, rtol=1e-9)  # of the reference
    assert fast.fallback_count == before + 1


@pytest.mark.parametrize('joints', [30, 50, 200])
def test_long_chains_agree_with_the_reference(joints):
    robot = kd.serial_chain(joints)
    inverse, forward = (kernel_of(robot, f'{name}_dynamics') for name in ('inverse', 'forward'))
    q, v, a = np.random.default_rng(joints).normal(size=(3, 9, joints))
    states = zip(q, v, a, strict=True)
    expected = np.array([kd.inverse_dynamics(robot, *state) for state in states])
    tolerance = 1e-12 * np.abs(expected).max()  # hundreds of roundings
    assert_allclose(inverse(q, v, a), expected, rtol=0, atol=tolerance)
    assert_allclose(inverse(q[0], v[0], a[0]), expected[0], rtol=0, atol=tolerance)
    # M of a chain of 200 has a condition near 1e7
    assert_allclose(forward(q, v, expected), a, rtol=0, atol=1e-8)
    assert_allclose(forward(q[0], v[0], expected[0]), a[0], rtol=0, atol=1e-8)


def test_a_massless_tip_goes_to_the_reference():
    links = list(kd.serial_chain(3).bodies)
    links.append(kd.Body('tip', 'link_3', kd.Joint('last', kd.Revolute((0.0, 0.0, 1.0)))))
    forward = kernel_of(kd.Robot('light', links), 'forward_dynamics')
    with pytest.raises(NotImplementedError, match='asked the reference'):
        forward(np.zeros(4), np.zeros(4), np.ones(4))


def test_a_health_that_is_not_a_number_goes_to_the_reference(monkeypatch):
    robot, state = kd.serial_chain(3), (np.zeros(3), np.zeros(3), np.ones(3))
    assert np.isfinite(kernel_of(robot, 'forward_dynamics')(*state)).all()
    monkeypatch.setattr(body_groups, 'hinge_rcond', lambda *_: np.nan)
    forward = kernel_of(robot, 'forward_dynamics')
    for rows in (state, [np.tile(x, (9, 1)) for x in state]):
        with pytest.raises(NotImplementedError, match='asked the reference'):
            forward(*rows)


@pytest.fixture(scope='module')
def driven():
    """Return a tree of three joint kinds under an effort law, its loops, and the law."""
    rng = np.random.default_rng(11)
    kinds = ('revolute', 'spherical', 'planar')
    robot = random_tree(rng, kinds=kinds, mimic=False)

    def damp(t, q, v):
        return [-0.3 * speed for speed in v]

    with as_if_large():
        return robot, kd.compile(robot, effort=damp, cache=False)


@pytest.mark.parametrize('integrator', ['semi_implicit', 'rk4', 'midpoint'])
def test_steps_are_those_of_the_reference(integrator, driven):
    robot, fast = driven
    q, v, tau = random_state(robot, np.random.default_rng(2))
    found = fast.simulate(q, v, 0.003, effort=tau, step=0.001, integrator=integrator)
    straight = kd.Simulation(robot, (), 0.001, integrator)
    straight.reset(q, v)
    for _ in range(3):
        straight.step(tau - 0.3 * straight.v)
    # the implicit midpoint rule is solved to 1e-12
    assert_allclose(found.q[-1], straight.q, rtol=0, atol=1e-11)
    assert_allclose(found.v[-1], straight.v, rtol=0, atol=1e-10)
    assert fast.fallback_count == 0


def test_midpoint_steps_that_are_too_long_go_to_the_reference(driven):
    robot, fast = driven
    q, v, tau = random_state(robot, np.random.default_rng(2))
    with pytest.raises(kd.exceptions.StepError):
        fast.simulate(q, 30.0 * v, 2.0, effort=tau, step=0.5, integrator='midpoint')


def test_motion_without_constraints(driven):
    robot, fast = driven
    q, v, tau = random_state(robot, np.random.default_rng(3))
    motion = fast.forward_dynamics(q, v, tau)
    expected = kd.forward_dynamics(robot, q, v, tau)
    # roundoff times the condition of M, about 1e3
    scale = np.abs(expected.acceleration).max()
    assert_allclose(motion.acceleration, expected.acceleration, rtol=0, atol=1e-12 * scale)
    assert (motion.rank, motion.labels, len(motion.multipliers)) == (0, (), 0)
    with pytest.raises(InvalidInputError, match='q: need shape'):
        fast.forward_dynamics(q[1:], v, tau)


def test_only_what_is_handed_on_runs_body_after_body():
    spec = LoopTracer(kd.serial_chain(5), ()).inverse_dynamics()
    levels = spec.groups[-1].levels
    for k, node in enumerate(levels.nodes):
        if node.operation == ca.OP_SIN:
            assert levels.level[k] == 0
        if node.operation not in (ca.OP_INPUT, ca.OP_CONST):
            assert all(levels.level[i] <= levels.level[k] for i in node.sources)
    in_passes = sum(level % 2 for level in levels.level)
    assert in_passes < 0.6 * len(levels.level)  # about half of the operations are per body


def test_levels_of_a_graph_with_one_pass():
    constant, own, entering = (ca.SX.sym(name) for name in ('c', 'x', 'p'))
    handed = entering * ca.sin(own)
    after = ca.exp(handed + constant)
    function = ca.Function('body', [constant, own, entering], [handed, after])
    levels = levels_of(function, 2, 1, [0])
    at = {node.operation: level for node, level in zip(levels.nodes, levels.level, strict=True)}
    assert at[ca.OP_SIN] == 0
    assert at[ca.OP_MUL] == 1
    assert at[ca.OP_ADD] == at[ca.OP_EXP] == 2
    kept = {levels.nodes[k].operation for k in levels.kept}
    assert kept == {ca.OP_SIN, ca.OP_MUL, ca.OP_EXP}


def test_gravity_and_payloads_are_set_at_run_time():
    rng = np.random.default_rng(8)
    robot = random_tree(rng, 'fixed', kinds=('revolute', 'spherical'))
    carrier = robot.bodies[-1].name
    with as_if_large():
        fast = kd.compile(robot, payloads=[carrier], cache=False)
    fast.set_gravity((1.0, -2.0, 3.0))
    fast.set_payload(carrier, 2.0, (0.1, 0.2, -0.1), np.diag([0.1, 0.2, 0.15]))
    q, v, a = random_state(robot, rng)
    for name in ('inverse_dynamics', 'kinetic_energy', 'potential_energy', 'mass_matrix'):
        state = [{'q': q, 'v': v, 'a': a}[x] for x in INPUTS[name]]
        expected = reference(fast.robot, name, *state)
        # some hundred roundings
        tolerance = 1e-13 * np.abs(expected).max()
        assert_allclose(getattr(fast, name)(*state), expected, rtol=0, atol=tolerance)
    assert kd.potential_energy(fast.robot, q) != kd.potential_energy(robot, q)
