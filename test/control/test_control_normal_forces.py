# SPDX-License-Identifier: Apache-2.0
"""Normal forces of wheels: known answers A11, equilibrium, springs that do not pull."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from support.standing_robots import CORNERS, PAIR, forward, standing, uphill

import kane_dynamics as kd
from kane_dynamics.analysis.normal_forces import normal_forces
from kane_dynamics.analysis.support_polygon import support_polygon
from kane_dynamics.exceptions import InvalidInputError

SLOPE, TURN = np.deg2rad(12.0), np.deg2rad(35.0)
SPRINGS = (9000.0, 9000.0, 14000.0, 12000.0)
PRINTED = 1e-9  # relative: ten digits


def ground(places):
    return support_polygon([(x, y, 0.0) for x, y in places.values()], names=list(places))


def wrench(robot, rate=0.0):
    q, rest = robot.neutral(), np.zeros(robot.nv)
    return kd.ground_wrench(robot, q, rest, forward(robot, rate))


THREE = [
    (uphill(0.0), 0.0, (145.8704348, 128.8095652, 58.86)),
    (uphill(SLOPE, TURN), 0.0, (140.7517404, 83.37241002, 102.1272003)),
    (uphill(SLOPE), 0.6, (107.4879666, 90.79991801, 127.9634661)),
]


@pytest.mark.parametrize(('gravity', 'rate', 'expected'), THREE)
def test_three_wheels_carry_as_known(gravity, rate, expected):
    robot = standing(PAIR, (-0.08, 0, 0.18), gravity=gravity)
    found = normal_forces(ground({**PAIR, 'caster': (-0.3, 0.0)}), wrench(robot, rate))
    assert_allclose(found.forces, expected, rtol=PRINTED)
    assert (found.determined, found.balanced, found.lift.tolist()) == ('exact', True, [0, 0, 0])


EQUAL = 'least norm'
FOUR = [
    (uphill(0.0), 0.0, SPRINGS, (83.9736, 82.7964, 90.6444, 76.1256)),
    (uphill(SLOPE, TURN), 0.0, SPRINGS, (78.33270691, 62.51625218, 111.1874604, 74.21493122)),
    (uphill(0.0), -2.0, SPRINGS, (97.72798596, 95.7086807, 76.89001404, 63.2133193)),
    (uphill(0.0), 0.0, None, (87.309, 79.461, 87.309, 79.461)),
    (uphill(SLOPE, TURN), 0.0, None, (83.62172553, 57.22723356, 105.8984418, 79.50394984)),
]


@pytest.mark.parametrize(('gravity', 'rate', 'springs', 'expected'), FOUR)
def test_four_wheels_share_as_known(gravity, rate, springs, expected):
    robot = standing(CORNERS, (-0.02, 0, 0.18), gravity=gravity)
    found = normal_forces(ground(CORNERS), wrench(robot, rate), springs)
    assert_allclose(found.forces, expected, rtol=PRINTED)
    assert found.determined == ('least norm' if springs is None else 'suspension')
    if springs is None:  # as with equal springs
        same = normal_forces(ground(CORNERS), wrench(robot, rate), [7e3] * 4)
        assert_allclose(found.forces, same.forces, rtol=PRINTED)


def test_a_wheel_that_springs_would_pull_lifts():
    robot = standing(CORNERS, (-0.02, 0, 0.18), load=9.0, place=(0.75, 0.55, 0.5))
    w = wrench(robot)
    pulling = _two_sided(ground(CORNERS), w, np.array(SPRINGS))
    assert_allclose(pulling, (184.3608789, 107.4866211, 104.0531211, -13.31062105), rtol=PRINTED)
    found = normal_forces(ground(CORNERS), w, SPRINGS)
    assert_allclose(found.forces, (197.6715, 94.176, 90.7425, 0.0), rtol=PRINTED, atol=1e-12)
    assert_allclose(found.lift, (0, 0, 0, 0.005017892857), rtol=PRINTED, atol=0)
    unknown = normal_forces(ground(CORNERS), w)
    assert_allclose(unknown.forces, found.forces, rtol=PRINTED, atol=1e-12)
    assert np.isnan(unknown.lift).tolist() == [False, False, False, True]


def _rows(polygon):
    """Return G of G N = W for a horizontal plane: N, the moments about x and y."""
    x, y, _ = polygon.points.T
    return np.array([np.ones(len(x)), y, -x])


def _two_sided(polygon, w, k):
    G = _rows(polygon)
    return k * (G.T @ np.linalg.solve(G * k @ G.T, [w[5], w[0], w[1]]))


@pytest.mark.parametrize('count', [3, 4, 6, 9])
def test_forces_balance_and_do_not_pull(count):
    """Any load: equilibrium and springs, N = k max(0, c), c = G' u of a rigid body."""
    rng = np.random.default_rng(count)
    lifted = 0
    for _ in range(40):
        polygon = support_polygon(np.c_[rng.uniform(-1.0, 1.0, (count, 2)), np.zeros(count)])
        k = rng.uniform(1e3, 2e4, count)
        inside = rng.dirichlet(np.full(count, 0.5)) @ polygon.points
        load = rng.uniform(50.0, 500.0)
        w = load * np.array([inside[1], -inside[0], rng.normal(), *rng.normal(size=2), 1.0])
        found = normal_forces(polygon, w, k)
        G, N = _rows(polygon), found.forces
        assert found.balanced
        assert (N >= 0.0).all() and (found.lift >= 0.0).all()
        assert_allclose(G @ N, [w[5], w[0], w[1]], rtol=0, atol=1e-9 * load)
        pressed = N > 0.0
        compression = np.where(pressed, N / k, -found.lift)
        moved = np.linalg.lstsq(G.T, compression, rcond=None)[0]
        assert_allclose(G.T @ moved, compression, rtol=0, atol=1e-9 * load / k.min())
        lifted += (~pressed).sum()
    assert (lifted > 0) == (count > 3)


@pytest.mark.parametrize('seed', range(5))
def test_no_direction_of_the_world_is_special(seed):
    rng = np.random.default_rng(seed)
    flat = np.c_[rng.uniform(-1.0, 1.0, (5, 2)), np.zeros(5)]
    middle = flat.mean(axis=0)
    w = 100.0 * np.array([middle[1], -middle[0], 0.1, 0.2, -0.3, 1.0])
    k = rng.uniform(1e3, 2e4, 5)
    R, p = _rotation(rng), rng.normal(size=3)
    force = R @ w[3:]
    there = np.r_[R @ w[:3] + np.cross(p, force), force]
    turned = normal_forces(support_polygon(flat @ R.T + p, R[:, 2]), there, k)
    expected = normal_forces(support_polygon(flat), w, k)
    assert_allclose(turned.forces, expected.forces, rtol=0, atol=1e-9)


def _rotation(rng):
    R = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    return R * np.linalg.det(R)


@pytest.mark.parametrize('ahead', [0.29, 0.31])
def test_it_tips_where_the_load_leaves_the_polygon(ahead):
    """Before, the front wheels carry; behind it they carry all, and that is no balance."""
    w = np.array([0.0, -100.0 * ahead, 0, 0, 0, 100.0])
    found = normal_forces(ground(CORNERS), w, SPRINGS)
    assert found.balanced == (ahead < 0.3)
    assert found.forces.sum() == pytest.approx(100.0, rel=1e-12)
    front = 50.0 if ahead > 0.3 else 50.0 * (1.0 + 0.29 / 0.3) / 2.0
    assert_allclose(found.forces[:2], front, rtol=1e-3)


def test_nothing_presses_on_a_robot_that_falls():
    found = normal_forces(ground(CORNERS), np.zeros(6))
    assert not found.balanced
    assert_allclose(found.forces, 0.0)


@pytest.mark.parametrize(
    ('springs', 'message'), [((1.0, 2.0), 'shape'), ((1.0, 0.0, 1.0, 1.0), "'FR': 0.0")]
)
def test_bad_springs_are_named(springs, message):
    with pytest.raises(InvalidInputError, match=message):
        normal_forces(ground(CORNERS), np.ones(6), springs)
