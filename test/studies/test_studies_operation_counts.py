# SPDX-License-Identifier: Apache-2.0
"""Operations of graphs that can be counted by hand, and how those of the algorithms grow."""

from functools import cache

import casadi as ca
import numpy as np
import pytest
from numpy.testing import assert_allclose

import kane_dynamics as kd
from kane_dynamics.exceptions import InvalidInputError
from studies.silva.operation_counts import (
    OperationCounts,
    count_operations,
    fit_polynomial,
    gauss_graph,
    newton_euler_graph,
    share_subexpressions,
)

x, y = ca.SX.sym('x'), ca.SX.sym('y')


def counted(*outputs):
    """Return the operations of expressions in x and y."""
    return count_operations(ca.Function('f', [x, y], list(outputs)))


@pytest.mark.claim(20)
@pytest.mark.parametrize(
    ('expression', 'expected'),
    [
        (x, OperationCounts()),
        (ca.SX(3.0), OperationCounts()),
        (3.0 * x + y, OperationCounts(multiplications=1, additions=1)),
        (x * x - y / x, OperationCounts(multiplications=1, divisions=1, additions=1)),
        (1.0 / x, OperationCounts(divisions=1)),
        (x + x, OperationCounts(additions=1)),
        (-x, OperationCounts(negations=1)),
        (ca.sin(x) * ca.cos(y), OperationCounts(multiplications=1, trigonometric=2)),
        (ca.atan2(y, x), OperationCounts(trigonometric=1)),
        (ca.sqrt(x) + ca.fabs(y), OperationCounts(additions=1, other=2)),
    ],
)
def test_counts_by_hand(expression, expected):
    found = counted(expression)
    assert found == expected
    assert found.total == found.products + found.sums + found.trigonometric + found.other


def test_shared_subexpressions_are_counted_once():
    def half():
        return (x + 1.0) * (y + 2.0)

    written = ca.Function('f', [x, y], [half() + x, half() * y])
    assert count_operations(written) == OperationCounts(multiplications=3, additions=5)
    shared = share_subexpressions(written)
    assert count_operations(shared) == OperationCounts(multiplications=2, additions=3)
    assert_allclose([float(r) for r in shared(0.3, -1.7)], [float(r) for r in written(0.3, -1.7)])


@pytest.mark.claim(20)
def test_a_pendulum_by_hand():
    """One joint about z, mass m at (c, 0, 0): tau = (I + m c^2) a + m g c cos q."""
    axis = kd.Joint('joint', kd.Revolute((0.0, 0.0, 1.0)))
    body = kd.Body('link', '', axis, inertia=kd.Inertia(2.0, [0.5, 0, 0], np.diag([0, 0.1, 0.1])))
    robot = kd.Robot('pendulum', [body], gravity=[0.0, -9.81, 0.0])
    graph = share_subexpressions(newton_euler_graph(robot))
    q, v, a = 0.4, 1.3, -0.7
    expected = (0.1 + 2.0 * 0.25) * a + 2.0 * 9.81 * 0.5 * np.cos(q)
    assert_allclose(float(graph(q, v, a)), expected, rtol=1e-14)
    found = count_operations(graph)
    assert found.trigonometric == 1  # only cos q is left
    assert found.other == found.divisions == 0
    # the closed form has three products and one sum; Table 3 has 834 and 684 for one joint
    assert 3 <= found.products <= 8 and 1 <= found.sums <= 8


@pytest.mark.claim(20)
@pytest.mark.parametrize('n', [1, 4])
def test_graphs_are_the_dynamics(n):
    robot = kd.serial_chain(n)
    q, v, a = np.random.default_rng(n).uniform(-1.0, 1.0, (3, n))
    for share in (lambda graph: graph, share_subexpressions):
        tau = share(newton_euler_graph(robot))(q, v, a)
        M, C, g = share(gauss_graph(robot))(q, v)
        # roundoff of efforts up to 100 N m
        assert_allclose(
            tau.full().ravel(), kd.inverse_dynamics(robot, q, v, a), rtol=0, atol=1e-11
        )
        assert_allclose(M.full(), kd.mass_matrix(robot, q), rtol=0, atol=1e-12)
        assert_allclose(C.full(), kd.coriolis_matrix(robot, q, v), rtol=0, atol=1e-12)
        assert_allclose(g.full().ravel(), kd.gravity_force(robot, q), rtol=0, atol=1e-11)


@cache
def chain_counts(make, n):
    return count_operations(share_subexpressions(make(kd.serial_chain(n))))


def numbers(make, sizes, kind):
    """Return products or sums of chains as an array of floats."""
    return np.array([getattr(chain_counts(make, n), kind) for n in sizes], dtype=float)


@pytest.mark.claim(9, 20)
@pytest.mark.parametrize('kind', ['products', 'sums'])
def test_newton_euler_grows_linearly(kind):
    sizes = np.arange(2, 15)
    counts = numbers(newton_euler_graph, sizes, kind)
    steps = np.diff(counts)
    assert (steps > 0).all()
    # links differ in their axes, by less than a fifth of a link; on average there is no curvature
    assert np.ptp(steps) < 0.2 * steps.mean()
    assert abs(np.diff(steps).mean()) < 0.01 * steps.mean()
    # general joints cost 882 and 724 in Table 3: what is written for any joint must not cost more
    assert steps.mean() < {'products': 882, 'sums': 724}[kind]


@pytest.mark.claim(20)
@pytest.mark.parametrize('kind', ['products', 'sums'])
def test_gauss_grows_with_the_cube(kind):
    sizes = np.array([2, 3, 4, 5, 6, 8, 10])
    counts = numbers(gauss_graph, sizes, kind)
    assert (np.diff(counts) > 0).all()
    # dlog/dlog: at least quadratic everywhere from 4 joints, tending to 3
    slope = np.diff(np.log(counts)) / np.diff(np.log(sizes))
    assert (slope[2:] > 2.0).all() and slope[-1] < 3.0
    # C of (47) is sum_i J_i' (6 x i)' times (6 x i): 4 n^3 + ... products, as in Table 3
    fit = fit_polynomial(sizes, counts, 3)
    assert_allclose(fit.coefficients[0], 4.0, rtol=0.05)
    assert fit.relative_residual < 1e-3


def test_every_joint_has_two_trigonometric_functions():
    for n in (2, 5):
        assert chain_counts(newton_euler_graph, n).trigonometric == 2 * n
        assert chain_counts(gauss_graph, n).trigonometric == 2 * n


@pytest.mark.parametrize('coefficients', [[3.0], [882.0, -48.0], [4.0, 386.0, 401.0, 0.0]])
def test_fit_finds_the_polynomial(coefficients):
    sizes = np.arange(1, 51)
    counts = np.polyval(coefficients, sizes)
    fit = fit_polynomial(sizes, counts, len(coefficients) - 1)
    assert_allclose(fit.coefficients, coefficients, rtol=1e-9, atol=1e-6)
    assert_allclose(fit(np.array([7, 60])), np.polyval(coefficients, [7, 60]), rtol=1e-9)
    assert fit.max_residual < 1e-6 and fit.relative_residual < 1e-12


def test_fit_is_least_squares_and_reports_what_is_left():
    fit = fit_polynomial([0.0, 1.0, 2.0], [0.0, 0.0, 3.0], 1)
    # normal equations by hand: 1.5 n - 0.5, residuals 0.5, -1, 0.5
    assert_allclose(fit.coefficients, [1.5, -0.5], rtol=1e-12)
    assert_allclose(fit.max_residual, 1.0, rtol=1e-12)
    assert_allclose(fit.relative_residual, np.sqrt(1.5) / 3.0, rtol=1e-12)


def test_fit_keeps_the_powers_that_vanish():
    fit = fit_polynomial([1, 2, 3, 4], [0, 0, 0, 0], 2)
    assert fit.coefficients.shape == (3,) and not fit.coefficients.any()


@pytest.mark.claim(20)
def test_polynomials_read_as_in_the_paper():
    fit = fit_polynomial(np.arange(5), np.polyval([4.0, 386.0, -401.0], np.arange(5)), 2)
    assert str(fit) == '4n^2 + 386n - 401'


@pytest.mark.parametrize(
    'call',
    [
        lambda: count_operations(lambda q: q),
        lambda: count_operations(ca.Function('f', [ca.MX.sym('x', 2)], [ca.MX(2)])),
        lambda: fit_polynomial([1, 2], [1, 2, 3], 1),
        lambda: fit_polynomial([[1, 2]], [[1, 2]], 1),
        lambda: fit_polynomial([1, 1, 1], [1, 2, 3], 1),
        lambda: fit_polynomial([1, 2], [1, np.nan], 1),
        lambda: fit_polynomial([1, 2], [1, 2], -1),
        lambda: fit_polynomial([1, 2], [1, 2], 0.5),
    ],
)
def test_bad_input_is_named(call):
    with pytest.raises(InvalidInputError):
        call()
