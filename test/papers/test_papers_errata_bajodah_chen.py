# SPDX-License-Identifier: Apache-2.0
"""
Bajodah and Chen, the canonical form: printed statements that fail, beside the right ones.

The numbers E27, E28, ... are those of doc/errata.md. Q is the mass matrix, A_1bar and A_2bar are
the scaled matrices of (19) and (22).
"""

import numpy as np
import pytest
import scipy.linalg
from numpy.testing import assert_allclose
from support.calculus import along, derivative, relative
from support.trees import tree_and_state

import kane_dynamics as kd
from kane_dynamics.constraints import ConstraintRows
from kane_dynamics.constraints.row_selection import select_rows
from kane_dynamics.formulations.kane import canonical_motion

SOLVED = 1e-9  # eigenvectors of Q, condition up to 1e4

SEEDS = range(3)


def at_rest(A):
    """Return rows A u = 0, A udot = 0."""
    return ConstraintRows.of(A, np.zeros(len(A)), np.zeros(len(A)))


def random_rows(robot, rng):
    """Return two rows A(q, t) v = b(q, t) in general position that depend on place and time."""
    weights, phases = rng.normal(size=(2, robot.nv)), rng.normal(size=(2, robot.nv))

    def A(q, t):  # noqa: N802
        return [
            [w * np.cos(q[0] + t + p) for w, p in zip(*row, strict=True)]
            for row in zip(weights, phases, strict=True)
        ]

    return kd.constraints.pfaffian(robot, A, lambda q, t: [np.sin(t + q[1]), 0.3 * t * q[0]])


@pytest.fixture(params=SEEDS)
def solved(request):
    """Return a random tree with its rows and the details of the canonical form."""
    robot, q, v, tau = tree_and_state(request.param, 'planar')
    constraint = random_rows(robot, np.random.default_rng(request.param))
    _, v = kd.simulation.project(robot, (constraint,), q, v, 0.4)
    motion = kd.forward_dynamics(robot, q, v, tau, (constraint,), 'canonical', time=0.4)
    gauss = kd.forward_dynamics(robot, q, v, tau, (constraint,), time=0.4)
    assert relative(motion.acceleration, gauss.acceleration) < SOLVED
    return motion


def pinv(matrix):
    """Return the Moore-Penrose inverse of a matrix of full row rank, (27) and (32)."""
    return matrix.T @ np.linalg.inv(matrix @ matrix.T)


@pytest.mark.claim(44)
def test_e27_the_parts_lie_in_the_row_spaces(solved):
    d = solved.details
    for part, matrix, other in (
        (d.constraint_part, d.scaled_constraint, d.scaled_tangent),
        (d.momentum_part, d.scaled_tangent, d.scaled_constraint),
    ):
        size = np.linalg.norm(part)
        assert np.linalg.norm(part - pinv(matrix) @ (matrix @ part)) < SOLVED * size
        assert np.linalg.norm(other @ part) < SOLVED * size * np.linalg.norm(other)
        # the ranges that are printed, of the unscaled A_1 and A_2, hold no vector of this length
        assert len(part) != matrix.shape[0]
    # without the scaling the row spaces are those of A_1, A_2: the parts are not in them
    rows = d.partition.rows
    gap = d.constraint_part - pinv(rows) @ (rows @ d.constraint_part)
    assert np.linalg.norm(gap) > 0.01 * np.linalg.norm(d.constraint_part)


@pytest.mark.claim(44)
def test_e27_order_and_size_of_the_products(solved):
    d = solved.details
    m, p = len(d.scaled_constraint), len(d.scaled_tangent)
    assert_allclose(d.scaled_constraint @ d.scaled_tangent.T, np.zeros((m, p)), atol=SOLVED)
    assert m != p  # (35) prints an m x m zero
    right_order = pinv(d.scaled_tangent) @ d.scaled_tangent @ d.V2
    assert relative(d.momentum_part, right_order) < SOLVED
    printed_order = d.scaled_tangent @ pinv(d.scaled_tangent)  # the identity of the wrong size
    assert_allclose(printed_order, np.eye(p), rtol=0, atol=SOLVED)
    with pytest.raises(ValueError, match='matmul'):
        printed_order @ d.V2


@pytest.mark.claim(44)
def test_e28_gauss_compares_accelerations_of_one_state(solved):
    d = solved.details
    rng = np.random.default_rng(0)
    basis = d.partition.basis
    free = np.linalg.solve(d.root, d.V2 - d.root_rate @ d.u)

    def nearest(difference_of_speeds):
        """Return the allowed udot with the least norm of (59) for a given Delta u."""
        shift = d.root_rate @ difference_of_speeds
        gap = d.root @ (free - d.u_rate) + shift
        step = np.linalg.lstsq(d.root @ basis, gap, rcond=None)[0]
        return d.u_rate + basis @ step

    assert relative(nearest(np.zeros_like(d.u)), d.u_rate) < SOLVED  # (61)
    other_state = nearest(rng.uniform(-1, 1, len(d.u)))
    assert np.abs(other_state - d.u_rate).max() > 1e-3 * np.abs(d.u_rate).max()  # (59) alone


@pytest.mark.claim(43)
@pytest.mark.parametrize('left_out', ['V1', 'V2', '(44)'])
def test_e29_the_rate_of_the_root_cancels_but_not_by_halves(solved, left_out):
    d = solved.details
    term = d.root_rate @ d.u

    def u_rate(*without):
        V1 = d.V1 - (d.scaled_constraint @ term if 'V1' in without else 0.0)
        V2 = d.V2 - (term if 'V2' in without else 0.0)
        w_rate = pinv(d.scaled_constraint) @ V1
        w_rate = w_rate + pinv(d.scaled_tangent) @ d.scaled_tangent @ V2
        return np.linalg.solve(d.root, w_rate - (0.0 if '(44)' in without else term))

    assert relative(u_rate(), d.u_rate) < SOLVED
    assert relative(u_rate('V1', 'V2', '(44)'), d.u_rate) < SOLVED
    assert np.abs(u_rate(left_out) - d.u_rate).max() > 1e-3


def turning_speeds(robot, rng):
    """Return speeds u = Y(q, t) v + Z(q, t) that turn with place and time."""
    mixing = np.eye(robot.nv) + 0.1 * rng.normal(size=(robot.nv, robot.nv))
    return kd.generalized_speeds_from_definition(
        robot,
        lambda q, t: mixing * (1.5 + np.sin(q[2] + t)),
        lambda q, t: [np.cos(t + k) * q[1] for k in range(robot.nv)],
    )


@pytest.mark.claim(43)
@pytest.mark.parametrize('seed', SEEDS)
def test_e29_the_rate_of_the_root_is_needed_for_w(seed):
    robot, q, v, tau = tree_and_state(seed, 'planar')
    speeds = turning_speeds(robot, np.random.default_rng(seed))
    motion = kd.forward_dynamics(robot, q, v, tau, method='canonical', speeds=speeds, time=0.4)
    d, path = motion.details, along(robot, q, v)

    def w(s):
        """Return Q^1/2 u a little later in the motion."""
        W = speeds.matrices(path(s), 0.4 + s)[0]
        values, vectors = np.linalg.eigh(W.T @ kd.mass_matrix(robot, path(s)) @ W)
        return (vectors * np.sqrt(values)) @ vectors.T @ (d.u + s * d.u_rate)

    assert relative(d.w, w(0.0)) < SOLVED
    assert relative(d.w_rate, derivative(w)) < 1e-8  # of order 8; eigenvectors of Q
    without = d.w_rate - d.root_rate @ d.u
    assert np.abs(without - derivative(w)).max() > 0.1


@pytest.mark.claim(44)
def test_e30_ranks_may_change_only_in_the_explicit_form(rng):
    half = rng.normal(size=(6, 6))
    mass, force, u = half @ half.T + np.eye(6), rng.normal(size=6), np.zeros(6)
    # explicit: u_D = D u_I with D of rank 1 (and even 0) has rows [-D 1] of full rank
    column, row = rng.normal(size=(2, 1)), rng.normal(size=(1, 4))
    for dependence in (column @ row, np.zeros((2, 4))):
        A1 = np.hstack([-dependence, np.eye(2)])
        found = canonical_motion(mass, np.zeros((6, 6)), force, u, at_rest(A1))
        scaled = A1 @ np.linalg.inv(found.root)
        w_rate = (np.eye(6) - pinv(scaled) @ scaled) @ np.linalg.solve(found.root, force)
        assert relative(found.u_rate, np.linalg.solve(found.root, w_rate)) < SOLVED
    # any rows: one that repeats another has no inverse in (27)
    A = np.vstack([row @ np.eye(4, 6), 2.0 * row @ np.eye(4, 6)])
    scaled = A @ np.linalg.inv(found.root)
    assert np.linalg.cond(scaled @ scaled.T) > 1e12
    # one of them is taken: the other is harmless
    taken = select_rows(ConstraintRows.of(A, np.zeros(2), np.zeros(2))).independent.matrix
    assert taken.shape == (1, 6)
    both = canonical_motion(mass, np.zeros((6, 6)), force, u, at_rest(taken))
    null = scipy.linalg.null_space(A)
    expected = null @ np.linalg.solve(null.T @ mass @ null, null.T @ force)
    assert relative(both.u_rate, expected) < SOLVED
