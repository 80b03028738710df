# SPDX-License-Identifier: Apache-2.0
"""The nearest point under bounds and second-order cones: by hand, and by its conditions."""

import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose

from kane_dynamics.algorithms.least_distance import ConeRows, nearest_in_cones
from kane_dynamics.exceptions import MissingPackageError, NotSolvedError

# Newton's method ends at 1e-11 of numbers of the order of one
SOLVED = 1e-10
ICE = ConeRows(np.eye(3)[:2], np.zeros(2), 0.5 * np.eye(3)[2], 0.0)  # |(x, y)| <= z/2


def nearest(free, cones, C=None, d=(), M=None):
    C = np.zeros((0, len(free))) if C is None else C
    factor = np.linalg.cholesky(np.eye(len(free)) if M is None else np.array(M, dtype=float))
    return nearest_in_cones(factor, np.array(free, dtype=float), C, np.array(d), cones)


@pytest.mark.parametrize(
    ('free', 'x'),
    [
        ((0.3, 0.4, 2.0), (0.3, 0.4, 2.0)),  # inside
        # the projection of (r, z) = (5, 0) on the edge r = z/2: 4/5 and 2/5 of it
        ((3.0, 4.0, 0.0), (0.6, 0.8, 2.0)),
        ((0.3, 0.4, -3.0), (0.0, 0.0, 0.0)),  # the tip, where the edge would be z < 0
    ],
)
def test_projection_on_a_cone(free, x):
    pytest.importorskip('clarabel')
    found = nearest(free, [ICE])
    assert_allclose(found.x, x, rtol=0, atol=SOLVED)
    assert found.residual <= SOLVED
    assert not found.conflict.size


def test_a_cone_that_stands_elsewhere():
    pytest.importorskip('clarabel')
    # |(x - 1, y - 2)| <= (z - 3)/2
    moved = ConeRows(ICE.tangent, np.array([-1.0, -2.0]), ICE.normal, -1.5)
    assert_allclose(nearest((1.3, 2.4, 0.0), [moved]).x, (1.0, 2.0, 3.0), rtol=0, atol=SOLVED)
    found = nearest((4.0, 6.0, 3.0), [moved])
    assert_allclose(found.x, (1.6, 2.8, 5.0), rtol=0, atol=SOLVED)
    for free in ((4.0, 6.0, 3.0), (1.3, 2.4, 0.0)):
        assert nearest(free, [moved]).residual < 1e-11  # by Newton's method


def test_a_cone_of_given_size_and_a_bound():
    pytest.importorskip('clarabel')
    # a disc of radius 2 in the plane, cut off at x = 1: the nearest to (5, 5) is its corner
    disc = ConeRows(np.eye(2), np.zeros(2), np.zeros(2), 2.0)
    found = nearest((5.0, 5.0), [disc], np.array([[-1.0, 0.0]]), np.array([-1.0]))
    assert_allclose(found.x, (1.0, 3.0**0.5), rtol=0, atol=SOLVED)
    assert_allclose(nearest((3.0, 4.0), [disc]).x, (1.2, 1.6), rtol=0, atol=SOLVED)


def test_what_contradicts_each_other():
    pytest.importorskip('clarabel')
    disc = ConeRows(np.eye(2), np.zeros(2), np.zeros(2), 2.0)
    far = ConeRows(np.eye(2), np.array([-5.0, 0.0]), np.zeros(2), 1.0)
    upper = np.array([[0.0, 1.0]]), np.array([-9.0])  # y >= -9 is not in the way
    found = nearest((0.0, 0.0), [disc, far], *upper)
    assert found.conflict.tolist() == [1, 2]
    assert np.isnan(found.x).all()


@pytest.mark.parametrize('seed', range(100))
def test_random_problems_satisfy_the_conditions_of_the_nearest_point(seed):
    """The force M (x - x_f) is made of pushes on what is touched: a convex problem has one x."""
    pytest.importorskip('clarabel')
    rng = np.random.default_rng(seed)
    n, k, m = rng.integers(2, 8), rng.integers(0, 6), rng.integers(1, 4)
    root = rng.normal(size=(n, n)) + 2.0 * np.eye(n)
    M, free = root @ root.T, 3.0 * rng.normal(size=n)
    inside = rng.normal(size=n)
    C = rng.normal(size=(k, n))
    d = C @ inside - rng.uniform(0.0, 1.0, k)
    cones = []
    for _ in range(m):
        tangent, normal = rng.normal(size=(rng.integers(2, 4), n)), rng.normal(size=n)
        offset = rng.normal(size=len(tangent))
        size = np.linalg.norm(tangent @ inside + offset) - normal @ inside
        cones.append(ConeRows(tangent, offset, normal, size + rng.uniform(0.01, 1.0)))
    found = nearest(free, cones, C, d, M)
    gap = C @ found.x - d
    excess = np.array([cone.excess(found.x) for cone in cones])
    scale = 1.0 + np.abs(free).max() + np.abs(found.x).max()
    assert gap.min(initial=0.0) > -SOLVED * scale
    assert excess.max() < SOLVED * scale
    touched, tips = [*C[gap < 1e-8 * scale]], []
    for cone, over in zip(cones, excess, strict=True):
        along = cone.tangent @ found.x + cone.offset
        if over < -1e-8 * scale:
            continue
        if np.linalg.norm(along) > 1e-8 * scale:
            touched.append(cone.normal - along @ cone.tangent / np.linalg.norm(along))
        else:
            tips.append(cone)
    columns = [*touched, *(row for cone in tips for row in (cone.normal, *cone.tangent))]
    force, columns = M @ (found.x - free), np.array(columns).reshape(-1, n)
    pushes = np.linalg.lstsq(columns.T, force, rcond=None)[0]
    assert_allclose(columns.T @ pushes, force, rtol=0, atol=1e-9 * (1.0 + np.abs(force).max()))
    assert pushes[: len(touched)].min(initial=0.0) >= 0.0
    if tips:  # |p_t| <= p_n
        (tip,) = tips
        normal, *tangential = pushes[len(touched) :]
        assert np.linalg.norm(tangential) <= normal
    assert found.residual < SOLVED


def test_numbers_that_nothing_is_near_to():
    pytest.importorskip('clarabel')
    with pytest.raises(NotSolvedError, match='within 1 cones was not found'):
        nearest((np.nan, 4.0, 0.0), [ICE])


def test_where_the_solver_is_not_installed(monkeypatch):
    monkeypatch.setitem(sys.modules, 'clarabel', None)
    with pytest.raises(MissingPackageError, match=r"pip install 'kane_dynamics\[cones\]'"):
        nearest((3.0, 4.0, 0.0), [ICE])
    assert_allclose(nearest((0.3, 0.4, 2.0), [ICE]).x, (0.3, 0.4, 2.0))  # inside: not asked
    found = nearest((3.0, 4.0, 0.0), (), -np.eye(3), -np.ones(3))
    assert_allclose(found.x, (1.0, 1.0, 0.0), rtol=0, atol=1e-13)
