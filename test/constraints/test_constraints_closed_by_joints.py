# SPDX-License-Identifier: Apache-2.0
"""Loops that a ball joint or a hinge closes, against the same chains with that joint."""

import dataclasses

import numpy as np
import pytest
from numpy.testing import assert_allclose
from support.calculus import along, derivative, relative
from support.constraint_cases import CASES, Case, rows_at
from support.machines import at, four_bar, four_bar_coordinates, inertia

import kane_dynamics as kd
from kane_dynamics.exceptions import (
    ConstraintError,
    InvalidInputError,
    NameNotFoundError,
    ProjectionError,
)
from studies.random_robots import random_pose

DIFFERENCES = 1e-11  # first derivatives of order 8, see support.calculus
AXIS = (0.4, -0.3, 0.8)
GRAVITY = (0.4, -2.0, -9.0)
JOINTS = {'ball': kd.Spherical(), 'revolute': kd.Revolute(AXIS)}
CLOSURES = {'ball': {'joint': 'ball'}, 'revolute': {'joint': 'revolute', 'axis': AXIS}}


def chain(rng, joint):
    """Return two links that a joint of a kind connects, and the same links cut apart there."""
    mount, hinge = random_pose(rng), random_pose(rng)
    first = kd.Body(
        'first',
        '',
        kd.Joint('shoulder', kd.Revolute((0.2, 1.0, -0.3))),
        mount,
        inertia(2.0, (0.1, 0.2, -0.1), (0.2, 0.3, 0.25)),
    )
    load = inertia(1.3, (0.2, -0.1, 0.3), (0.1, 0.15, 0.12))
    whole = kd.Body('second', 'first', kd.Joint('elbow', JOINTS[joint]), hinge, load)
    free = kd.Body('second', '', kd.Joint('afloat', kd.Free()), inertia=load)
    socket = {'socket': kd.Frame(0, hinge)}
    return kd.Robot('whole', [first, whole], GRAVITY), kd.Robot(
        'cut', [first, free], GRAVITY, socket
    )


def cut_state(whole, q, v):
    """Return q and v of the links cut apart that move like the whole chain."""
    kin = kd.forward_kinematics(whole, q, v)
    pose = kin.pose('second')
    r = pose.rotation
    return (np.r_[q[0], pose.position(), r.w, r.x, r.y, r.z], np.r_[v[0], kin.twist('second')])


@pytest.mark.parametrize('joint', JOINTS)
@pytest.mark.parametrize('seed', range(3))
def test_a_closed_cut_moves_like_the_joint(joint, seed):
    rng = np.random.default_rng(seed)
    whole, cut = chain(rng, joint)
    q = kd.integrate(whole, whole.neutral(), rng.uniform(-1, 1, whole.nv), 1.0)
    v = rng.uniform(-2, 2, whole.nv)
    push = rng.uniform(-2, 2)
    expected = kd.forward_dynamics(whole, q, v, np.r_[push, np.zeros(whole.nv - 1)])
    rate = kd.forward_kinematics(whole, q, v, expected.acceleration).twist_rate('second')
    closure = (kd.constraints.loop_closure(cut, 'socket', 'second', **CLOSURES[joint]),)
    q_cut, v_cut = cut_state(whole, q, v)
    rows = rows_at(Case(cut, closure[0], q_cut, v_cut))
    assert_allclose(rows.positions, 0.0, atol=1e-14)
    assert_allclose(rows.matrix @ v_cut, rows.velocity, atol=1e-13)
    assert len(rows.labels) == cut.nv - whole.nv
    for method in ('gauss', 'kane', 'canonical'):
        motion = kd.forward_dynamics(cut, q_cut, v_cut, np.r_[push, np.zeros(6)], closure, method)
        found = np.r_[expected.acceleration[0], rate]
        assert_allclose(motion.acceleration, found, rtol=0, atol=1e-10)
        assert abs(motion.constraint_force @ v_cut) < 1e-10


@pytest.mark.parametrize('name', ['ball_open', 'ball_planar', 'hinge_open', 'hinge_to_world'])
def test_rows_are_the_rates_of_their_violations(name):
    # of open loops as well: so Newton's method closes them quadratically
    case = CASES[name]
    path = along(case.robot, case.q, case.v)

    def violation(s):
        return np.array(rows_at(case, path(s)).positions)

    rows = rows_at(case)
    assert relative(rows.matrix @ case.v, derivative(violation)) < DIFFERENCES


@pytest.mark.parametrize('joint', CLOSURES)
def test_violations_by_hand(joint):
    rng = np.random.default_rng(7)
    _, cut = chain(rng, joint)
    a, b = random_pose(rng), random_pose(rng)
    cut = kd.Robot('cut', cut.bodies, frames={'socket': kd.Frame(-1, a), 'plug': kd.Frame(1, b)})
    closure = kd.constraints.loop_closure(cut, 'socket', 'plug', **CLOSURES[joint])
    positions = rows_at(Case(cut, closure, cut.neutral(), np.zeros(7))).positions
    R = a.rotation_matrix()
    gap = R.T @ (b.position() - a.position())
    assert_allclose(positions[:3], gap, rtol=0, atol=1e-15)
    if joint == 'revolute':
        n = np.array(AXIS) / np.linalg.norm(AXIS)
        sine = np.linalg.norm(np.cross(n, R.T @ b.rotation_matrix() @ n))
        cosine = n @ R.T @ b.rotation_matrix() @ n
        assert cosine > 0.0
        assert np.linalg.norm(positions[3:]) == pytest.approx(sine, abs=1e-15)


@pytest.mark.parametrize(
    'closure',
    [{'joint': 'ball'}, {'joint': 'revolute', 'axis': (0, 0, 1)}],
    ids=['ball', 'revolute'],
)
def test_planar_linkage_needs_no_joint_at_the_cut(closure):
    # against the linkage with a tip that turns on the coupler and is held by the rocker: here it
    # is a part of the rocker
    whole, q = four_bar(), four_bar_coordinates(0.9)
    v = 1.4 * derivative(lambda s: four_bar_coordinates(0.9 + s))
    tau = np.array([3.0, 0.2, 0.0, -1.0])
    rigid = (kd.constraints.loop_closure(whole, 'coupler_end', 'rocker_end'),)
    expected = kd.forward_dynamics(whole, q, v, tau, rigid)
    crank, coupler, tip, rocker = whole.bodies
    held = rocker.inertia + tip.inertia.moved(tip_on_rocker := at(0.6, 0, 0))
    frames = {'coupler_end': kd.Frame(1, tip.placement), 'rocker_end': kd.Frame(2, tip_on_rocker)}
    bodies = [crank, coupler, dataclasses.replace(rocker, inertia=held)]
    robot, keep = kd.Robot('hinges', bodies, whole.gravity, frames), [0, 1, 3]
    loop = (kd.constraints.loop_closure(robot, 'coupler_end', 'rocker_end', **closure),)
    motion = kd.forward_dynamics(robot, q[keep], v[keep], tau[keep], loop)
    assert motion.rank == 2  # in the plane
    assert_allclose(motion.acceleration, expected.acceleration[keep], rtol=0, atol=1e-9)


@pytest.mark.parametrize('joint', CLOSURES)
def test_projection_closes_the_loop(joint):
    rng = np.random.default_rng(3)
    whole, cut = chain(rng, joint)
    q = kd.integrate(whole, whole.neutral(), rng.uniform(-1, 1, whole.nv), 1.0)
    q_cut, v_cut = cut_state(whole, q, rng.uniform(-1, 1, whole.nv))
    off = kd.integrate(cut, q_cut, 0.05 * rng.uniform(-1, 1, cut.nv), 1.0)
    closure = kd.constraints.loop_closure(cut, 'socket', 'second', **CLOSURES[joint])
    assert np.abs(rows_at(Case(cut, closure, off, v_cut)).positions).max() > 1e-3
    q_on, v_on = kd.simulation.project(cut, (closure,), off, v_cut, 0.0)
    rows = rows_at(Case(cut, closure, q_on, v_on))
    assert_allclose(rows.positions, 0.0, atol=1e-12)
    assert_allclose(rows.matrix @ v_on, 0.0, atol=1e-12)


def test_a_closed_chain_swings_like_the_open_one():
    # from the same state, Runge-Kutta at 2 ms
    rng = np.random.default_rng(5)
    whole, cut = chain(rng, 'revolute')
    q, v = rng.uniform(-1, 1, (2, 2))
    closure = (kd.constraints.loop_closure(cut, 'socket', 'second', 'revolute', AXIS),)
    q_cut, v_cut = cut_state(whole, q, v)
    ends = (
        kd.simulate(whole, q, v, 0.2, step=2e-3),
        kd.simulate(cut, q_cut, v_cut, 0.2, step=2e-3, constraints=closure),
    )
    expected = cut_state(whole, ends[0].q[-1], ends[0].v[-1])
    # (h w)^4/120 with w of about 10 rad/s, over 0.2 s
    assert_allclose(ends[1].q[-1], expected[0], rtol=0, atol=1e-8)
    assert_allclose(ends[1].v[-1], expected[1], rtol=0, atol=1e-7)


def test_a_hinge_put_together_the_wrong_way_round_is_not_closed():
    # its axes are parallel, but point against each other
    body = kd.Body('leaf', '', kd.Joint('leaf', kd.Free()), inertia=inertia(1, (0,) * 3, (1,) * 3))
    post = {'post': kd.Frame(-1, kd.Pose.identity())}
    robot = kd.Robot('door', [body], frames=post)
    hinge = kd.constraints.loop_closure(robot, 'post', 'leaf', 'revolute', (0, 0, 1))
    q = np.array([0, 0, 0, 0, 1.0, 0, 0])  # half a turn about x
    rows = rows_at(Case(robot, hinge, q, np.zeros(6)))
    assert_allclose(np.abs(rows.positions[3:]), 1.0, atol=1e-15)
    with pytest.raises(ProjectionError):
        kd.simulation.project(robot, (hinge,), q, np.zeros(6), 0.0)
    for r in np.random.default_rng(2).normal(size=(40, 4)):
        q[3:] = r / np.linalg.norm(r)
        cosine = kd.Pose.from_rotation_and_position(q[3:], (0, 0, 0)).rotation_matrix()[2, 2]
        tilts = rows_at(Case(robot, hinge, q, np.zeros(6))).positions[3:]
        assert np.abs(tilts).min() >= -cosine
    turned_about_the_axis = np.array([0, 0, 0, np.cos(1.0), 0, 0, np.sin(1.0)])
    rows = rows_at(Case(robot, hinge, turned_about_the_axis, np.zeros(6)))
    assert_allclose(rows.positions, 0.0, atol=1e-15)


def test_errors():
    robot, c = four_bar(), kd.constraints
    ends = 'coupler_end', 'rocker_end'
    with pytest.raises(
        InvalidInputError, match=r"one of \['fixed', 'ball', 'revolute'\], got str 'pin'"
    ):
        c.loop_closure(robot, *ends, 'pin')
    with pytest.raises(ConstraintError, match='a revolute joint needs an axis'):
        c.loop_closure(robot, *ends, 'revolute')
    with pytest.raises(ConstraintError, match="no other joint has one; got joint='ball'"):
        c.loop_closure(robot, *ends, 'ball', (0, 0, 1))
    for axis in ((0, 0, 0), (0, 1), (0, np.nan, 1)):
        with pytest.raises(InvalidInputError, match='3 finite numbers, not all 0'):
            c.loop_closure(robot, *ends, 'revolute', axis)
    with pytest.raises(NameNotFoundError):
        c.loop_closure(robot, 'coupler_end', 'nose', 'ball')
    with pytest.raises(ConstraintError, match='same body'):
        c.loop_closure(robot, 'coupler_end', 'tip', 'ball')
