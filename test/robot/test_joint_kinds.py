# SPDX-License-Identifier: Apache-2.0
"""The seven joint kinds: pose, axes, rates and integration agree, as do the axes with Table 1."""

import casadi as ca
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from support.calculus import derivative

from kane_dynamics.algebra import exp, from_vec8, twist_from_vector, vec6, vec8
from kane_dynamics.algebra.pose import Pose
from kane_dynamics.algorithms.mass_matrix import gauss_coriolis_matrix, gauss_mass_matrix
from kane_dynamics.algorithms.newton_euler import newton_euler
from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.robot.body import Body, Joint
from kane_dynamics.robot.joint_kinds import (
    Cylindrical,
    Free,
    Helical,
    Planar,
    Prismatic,
    Revolute,
    Spherical,
)
from kane_dynamics.robot.robot import Robot
from kane_dynamics.robot.sample_robots import serial_chain

AXIS = (0.36, -0.48, 0.8)
KINDS = [
    Revolute(AXIS),
    Prismatic(AXIS),
    Helical(AXIS, pitch=0.7),
    Cylindrical(AXIS),
    Planar(),
    Spherical(),
    Free(),
]
every_kind = pytest.mark.parametrize('kind', KINDS, ids=lambda kind: type(kind).__name__)
# derivative() is good to 1e-13 of functions whose size here is at most about 10
TOLERANCE = 5e-12


def random_q(kind, rng):
    q = rng.uniform(-1.5, 1.5, kind.nq)
    if isinstance(kind, (Spherical, Free)):
        q[-4:] /= np.linalg.norm(q[-4:])
    return q


def straight(kind, q, v):
    """Return s -> q + s dq/dt, a path that leaves the manifold only in second order."""
    rate = np.array(kind.coordinate_rate(q.tolist(), v.tolist()))
    return lambda s: (q + s * rate).tolist()


def twist_of(kind, q, v):
    """Return sum_k S_k v_k as a vector, shape (6,)."""
    return np.array([vec6(axis) for axis in kind.axes(q)]).T @ v


@pytest.mark.claim(5)
@every_kind
def test_twist_is_twice_conjugate_pose_times_pose_rate(kind, rng):
    q, v = random_q(kind, rng), rng.normal(size=kind.nv)
    path = straight(kind, q, v)
    rate = derivative(lambda s: vec8(kind.pose(path(s)).dual_quaternion()))
    x = kind.pose(q.tolist()).dual_quaternion()
    xi = x.conjugate() * from_vec8(2.0 * rate)  # xi_B = 2 x* dx/dt
    assert_allclose(xi.real(), 0.0, atol=TOLERANCE)
    assert_allclose(vec6(xi), twist_of(kind, q.tolist(), v), rtol=0, atol=TOLERANCE)


@pytest.mark.claim(5)
@every_kind
def test_axes_rate_is_derivative_of_axes(kind, rng):
    q, v = random_q(kind, rng), rng.normal(size=kind.nv)
    path = straight(kind, q, v)
    expected = derivative(lambda s: [vec6(axis) for axis in kind.axes(path(s))])
    rates = kind.axes_rate(q.tolist(), v.tolist())
    found = np.zeros((kind.nv, 6)) if rates is None else [vec6(rate) for rate in rates]
    assert_allclose(found, expected, rtol=0, atol=TOLERANCE)


@every_kind
def test_only_planar_axes_turn(kind):
    rates = kind.axes_rate([0.5] * kind.nq, [1.0] * kind.nv)
    assert (rates is not None) == isinstance(kind, Planar)


@pytest.mark.claim(5)
@every_kind
def test_coordinate_rate_is_derivative_of_integrate(kind, rng):
    q, v = random_q(kind, rng), rng.normal(size=kind.nv)
    rate = derivative(lambda s: kind.integrate(q.tolist(), v.tolist(), s))
    assert_allclose(kind.coordinate_rate(q.tolist(), v.tolist()), rate, rtol=0, atol=TOLERANCE)


@pytest.mark.claim(5)
@every_kind
def test_integrate_is_the_exponential(kind, rng):
    q, v, dt = random_q(kind, rng), rng.normal(size=kind.nv), 0.8
    moved = kind.pose(kind.integrate(q.tolist(), v.tolist(), dt))
    if isinstance(kind, Planar):  # v is constant in the joint frame, not in the child frame
        expected = kind.pose((q + v * dt).tolist())
    else:
        step = exp(twist_from_vector(0.5 * dt * twist_of(kind, q.tolist(), v)))
        expected = kind.pose(q.tolist()) * Pose.from_dual_quaternion(step)
    assert_allclose(moved.rotation_matrix(), expected.rotation_matrix(), rtol=0, atol=1e-14)
    assert_allclose(moved.position(), expected.position(), rtol=0, atol=1e-14)


@every_kind
def test_integrate_adds_up_and_stays_on_the_manifold(kind, rng):
    q, v = random_q(kind, rng).tolist(), rng.normal(size=kind.nv).tolist()
    twice = kind.integrate(kind.integrate(q, v, 0.3), v, 0.5)
    assert_allclose(twice, kind.integrate(q, v, 0.8), rtol=0, atol=1e-14)
    assert_allclose(kind.integrate(q, v, 0.0), q, rtol=0, atol=1e-15)
    if isinstance(kind, (Spherical, Free)):
        assert np.linalg.norm(twice[-4:]) == pytest.approx(1.0, abs=1e-15)


@every_kind
def test_traced_pose_is_that_of_numbers(kind, rng):
    q, symbol = (
        kind.integrate(kind.neutral, rng.normal(size=kind.nv), 1.0),
        ca.SX.sym('q', kind.nq),
    )
    traced, pose = kind.pose(ca.vertsplit(symbol)), kind.pose(q)
    entries = [ca.SX(x) for x in (*traced.rotation_matrix().ravel(), *traced.position())]
    found = ca.Function('pose', [symbol], [ca.vertcat(*entries)])(q).full().ravel()
    expected = np.r_[pose.rotation_matrix().ravel(), pose.position()]
    assert_allclose(found, expected, rtol=0, atol=1e-15 * (1.0 + np.abs(expected).max()))


@every_kind
def test_neutral_is_the_identity(kind):
    x = kind.pose(list(kind.neutral))
    assert_array_equal(vec8(x.dual_quaternion()), [1, 0, 0, 0, 0, 0, 0, 0])


@every_kind
def test_sizes_and_labels_agree(kind):
    q = list(kind.neutral)
    assert len(kind.neutral) == len(kind.coordinate_suffixes) == kind.nq
    assert len(kind.velocity_suffixes) == len(kind.axes(q)) == kind.nv
    assert len(kind.integrate(q, [0.1] * kind.nv, 0.1)) == kind.nq
    assert len(kind.coordinate_rate(q, [0.1] * kind.nv)) == kind.nq


@pytest.mark.claim(5)
def test_axes_are_those_of_table_1():
    l, o = np.array(AXIS), np.zeros(3)  # noqa: E741
    expected = {
        Revolute: [np.r_[l, o]],
        Prismatic: [np.r_[o, l]],
        Helical: [np.r_[l, 0.7 * l]],
        Cylindrical: [np.r_[l, o], np.r_[o, l]],
        Planar: [np.eye(6)[3], np.eye(6)[4], np.eye(6)[2]],
        Spherical: np.eye(6)[:3],
        Free: np.eye(6),
    }
    for kind in KINDS:
        axes = [vec6(axis) for axis in kind.axes(list(kind.neutral))]
        assert_allclose(axes, expected[type(kind)], rtol=0, atol=1e-16)


def test_revolute_turns_counterclockwise():
    x = Revolute((0.0, 0.0, 2.0)).pose([np.pi / 2])
    assert_allclose(x.rotation_matrix() @ [1, 0, 0], [0, 1, 0], atol=1e-15)


@pytest.mark.claim(5)
@pytest.mark.parametrize('q', [-2.0, 0.0, 0.4])
def test_helical_of_pitch_zero_is_revolute(q):
    helical, revolute = Helical(AXIS, pitch=0.0), Revolute(AXIS)
    poses = [vec8(kind.pose([q]).dual_quaternion()) for kind in (helical, revolute)]
    assert_array_equal(*poses)
    assert_array_equal(*(vec6(kind.axes([q])[0]) for kind in (helical, revolute)))


@pytest.mark.claim(5)
def test_helical_advances_by_the_pitch():
    x = Helical(AXIS, pitch=0.7).pose([2.0])
    assert_allclose(x.position(), 1.4 * np.array(AXIS), rtol=1e-15)


def test_cylindrical_is_revolute_then_prismatic():
    two = Revolute(AXIS).pose([0.4]) * Prismatic(AXIS).pose([0.3])
    one = Cylindrical(AXIS).pose([0.4, 0.3])
    assert_allclose(one.rotation_matrix(), two.rotation_matrix(), rtol=0, atol=1e-16)
    assert_allclose(one.position(), two.position(), rtol=0, atol=1e-16)


def test_free_is_a_translation_then_spherical(rng):
    q = random_q(Free(), rng).tolist()
    x = Free().pose(q)
    assert_array_equal(x.position(), q[:3])
    assert_array_equal(x.rotation_matrix(), Spherical().pose(q[3:]).rotation_matrix())


def test_quaternions_that_drifted_are_normalised():
    q = np.array([0.5, 0.5, -0.5, 0.5])
    for kind, head in ((Spherical(), []), (Free(), [1.0, 2.0, 3.0])):
        drifted, unit = kind.pose([*head, *(1.001 * q)]), kind.pose([*head, *q])
        assert_allclose(drifted.rotation_matrix(), unit.rotation_matrix(), rtol=0, atol=1e-15)


def planar_in_a_chain(as_one_joint):
    """Return an arm with a planar joint in its middle, as one joint or as its three parts (E2)."""
    first, middle, last = serial_chain(3, seed=5).bodies
    names = ('link_2_x', 'link_2_y', 'link_2')
    if as_one_joint:
        moving = [Body('link_2', 'link_1', Joint('p', Planar()), middle.placement, middle.inertia)]
    else:
        kinds = (Prismatic((1, 0, 0)), Prismatic((0, 1, 0)), Revolute((0, 0, 1)))
        parents = ('link_1', *names[:2])
        moving = [
            Body(name, parent, Joint(f'p_{i}', kind))
            for i, (name, parent, kind) in enumerate(zip(names, parents, kinds, strict=True))
        ]
        moving[0] = Body(names[0], 'link_1', moving[0].joint, middle.placement)
        moving[2] = Body(names[2], names[1], moving[2].joint, inertia=middle.inertia)
    return Robot('arm', [first, *moving, last])


@pytest.mark.claim(8)
def test_planar_joint_in_a_chain_has_the_axes_of_its_joint_frame(rng):
    one, three = planar_in_a_chain(True), planar_in_a_chain(False)
    for _ in range(5):
        q, v, a = (rng.uniform(-2.0, 2.0, 5).tolist() for _ in range(3))
        tau = newton_euler(three, q, v, a)
        assert_allclose(newton_euler(one, q, v, a), tau, rtol=0, atol=1e-12 * np.abs(tau).max())
        M = gauss_mass_matrix(three, q)
        assert_allclose(gauss_mass_matrix(one, q), M, rtol=0, atol=1e-12 * np.abs(M).max())
        c, expected = (gauss_coriolis_matrix(r, q, v) @ v for r in (one, three))
        assert_allclose(c, expected, rtol=0, atol=1e-12 * np.abs(expected).max())


@pytest.mark.parametrize('axis', [(0, 0, 0), (1, 0), (np.nan, 0, 1), (np.inf, 0, 0)])
@pytest.mark.parametrize('make', [Revolute, Prismatic, Helical, Cylindrical])
def test_bad_axis_is_refused(make, axis):
    with pytest.raises(InvalidInputError, match='axis: need 3 finite numbers'):
        make(axis)


@pytest.mark.parametrize('pitch', [np.nan, np.inf])
def test_bad_pitch_is_refused(pitch):
    with pytest.raises(InvalidInputError, match='pitch'):
        Helical(AXIS, pitch=pitch)


def test_axis_is_scaled_to_length_one():
    assert_allclose(Revolute((0.0, 3.0, 4.0)).axis, (0.0, 0.6, 0.8), rtol=1e-16)
