# SPDX-License-Identifier: Apache-2.0
"""Tip-over margins: known answers B, the identity that joins them, polygons."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from support.machines import at, inertia, revolute
from support.standing_robots import CORNERS, forward, standing, uphill

import kane_dynamics as kd
from kane_dynamics.analysis.normal_forces import pressed_shares
from kane_dynamics.analysis.support_polygon import support_polygon
from kane_dynamics.analysis.tip_over import edge_moments, tip_over
from kane_dynamics.exceptions import InvalidInputError

SLOPE, TURN = np.deg2rad(12.0), np.deg2rad(35.0)
COM = (-0.02, 0, 0.18)
PRINTED = 1e-9  # relative: ten digits
SQUARE = support_polygon([(x, y, 0.0) for x, y in CORNERS.values()], names=list(CORNERS))
FRONT, RIGHT, REAR, LEFT = ('FL', 'FR'), ('FR', 'RR'), ('RR', 'RL'), ('RL', 'FL')


def swinging():
    """Return the robot of the last case, an arm that falls and is braked, and its motion."""
    plain = standing(CORNERS, COM, load=0.0)
    hand = inertia(4.0, (0.6, 0, 0), (0, 0.05, 0))
    arm = kd.Body('arm', 'chassis', revolute('arm', (0, -1, 0)), at(0.1, 0, 0.5), hand)
    robot = kd.Robot('swinging', [*plain.bodies, arm])
    q, v, a = robot.neutral(), np.zeros(robot.nv), np.zeros(robot.nv)
    q[-1], v[-1], a[-1] = np.deg2rad(40.0), -2.5, 6.0
    return robot, q, v, a


def driven(rate=0.0, **options):
    robot = standing(CORNERS, COM, **options)
    return robot, robot.neutral(), np.zeros(robot.nv), forward(robot, rate)


# motion, edges with theta, |f_i|, |d_i|, distance; least of 1996, of 2000; zero-moment point
KNOWN = {
    'flat': (
        driven(),
        [0.9056936403, 0.8386023429, 0.9056936403, 0.7916092637],
        [333.54, 333.54, 333.54, 333.54],
        [0.3, 0.2617647059, 0.3, 0.2382352941],
        [0.3, 0.2617647059, 0.3, 0.2382352941],
        (264.0333538, 62.9020637, LEFT, 0.0, 0.01176470588),
    ),
    'slope': (
        driven(gravity=uphill(SLOPE, TURN)),
        [1.078081584, 0.9599210541, 0.7333056965, 0.6702905525],
        [331.159815, 328.6670844, 331.159815, 328.6670844],
        [0.335914655, 0.2883163181, 0.2551921206, 0.2080086353],
        [0.340968504, 0.2904511612, 0.259031496, 0.2095488388],
        (223.5687109, 45.82481023, LEFT, -0.040968504, 0.04045116122),
    ),
    'braking': (
        driven(-2.5, place=(0.25, 0, 1.2)),
        [0.5158702092, 0.6947382762, 1.054157183, 0.6947382762],
        [344.2004236, 333.54, 344.2004236, 333.54],
        [0.2052234546, 0.25, 0.3761936102, 0.25],
        [0.2117826947, 0.25, 0.3882173053, 0.25],
        (177.5627445, 36.44003984, FRONT, 0.08821730527, 0.0),
    ),
    'arm swinging': (
        swinging(),
        [0.6080635852, 0.7600239096, 1.034352282, 0.7600239096],
        [312.2466758, 334.9292258, 362.6100399, 334.9292258],
        [0.2080172367, 0.25, 0.3750719226, 0.25],
        [0.1939295997, 0.25, 0.4060704003, 0.25],
        (204.0486144, 39.49536597, FRONT, 0.1060704003, 0.0),
    ),
}


@pytest.mark.parametrize('case', KNOWN)
def test_margins_are_as_known(case):
    motion, angles, forces, levers, distances, (old, new, edge, x, y) = KNOWN[case]
    robot, q, v, a = motion
    found = tip_over(SQUARE, kd.ground_wrench(robot, q, v, a), kd.center_of_mass(robot, q))
    assert found.edges == (FRONT, RIGHT, REAR, LEFT)
    assert_allclose(found.angles, angles, rtol=PRINTED)
    assert_allclose(found.edge_forces, forces, rtol=PRINTED)
    assert_allclose(found.levers, levers, rtol=PRINTED)
    assert_allclose(found.distances, distances, rtol=PRINTED)
    assert found.force_angle_1996 == pytest.approx(old, rel=PRINTED)
    assert found.force_angle_2000 == pytest.approx(new, rel=PRINTED)
    assert (found.edge, found.margin) == (edge, pytest.approx(min(distances), rel=PRINTED))
    assert_allclose(found.zero_moment_point, [x, y, 0.0], rtol=PRINTED, atol=1e-12)


def test_edge_moments_of_many_wrenches_are_those_of_each(rng):
    polygon = SQUARE
    wrenches = rng.normal(size=(3, 6))
    each = [edge_moments(polygon, wrench) for wrench in wrenches]
    assert_allclose(edge_moments(polygon, wrenches), each, rtol=1e-12)


def test_the_case_that_swings_is_the_one_described():
    robot, q, v, a = swinging()
    links = kd.forward_kinematics(robot, q, v, a)
    arm, turn = links.pose('arm'), links.acceleration('arm')
    R = arm.rotation_matrix()
    assert_allclose(arm.position() + R @ [0.6, 0, 0], (0.5596266659, 0, 0.8856725658), rtol=1e-9)
    inward = np.cross(turn[:3], [0.6, 0, 0]) - 2.5**2 * np.array([0.6, 0, 0])
    assert_allclose(R @ inward, (-5.186702057, 0, 0.3473064589), rtol=1e-9, atol=1e-12)


def random_load(rng):
    """Return a polygon, a wrench that presses, a place of the mass, and a rotation."""
    R = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    R = R * np.linalg.det(R)
    flat = np.pad(rng.uniform(-1.0, 1.0, (int(rng.integers(3, 8)), 2)), ((0, 0), (0, 1)))
    polygon = support_polygon(flat @ R.T + rng.normal(size=3), R[:, 2])
    w = rng.normal(size=6) * [50, 50, 50, 80, 80, 80]
    w[3:] += (200.0 - min(0.0, w[3:] @ R[:, 2])) * R[:, 2]
    return polygon, w, polygon.middle + 0.5 * R[:, 2] + 0.2 * rng.normal(size=3), R


@pytest.mark.parametrize('seed', range(60))
def test_all_margins_are_one_moment(seed):
    """|l| |f| sin(theta) is the distance of the zero-moment point times the normal force."""
    polygon, w, com, _ = random_load(np.random.default_rng(seed))
    found = tip_over(polygon, w, com)
    corner, axis = polygon.ends, polygon.axes
    l = np.linalg.norm(np.cross(axis, corner - com), axis=1)  # noqa: E741
    sines = l * found.edge_forces * np.sin(found.angles)
    press = w[3:] @ polygon.normal
    assert_allclose(sines, found.distances * press, rtol=0, atol=1e-10 * press)
    assert_allclose(np.abs(sines), found.levers * found.edge_forces, rtol=0, atol=1e-10 * press)
    inside = np.sum(np.cross(axis, polygon.normal) * (found.zero_moment_point - corner), axis=1)
    assert_allclose(found.distances, inside, rtol=0, atol=1e-10)


@pytest.mark.parametrize('seed', range(10))
def test_no_place_of_the_world_is_special(seed):
    rng = np.random.default_rng(seed)
    polygon, w, com, R = random_load(rng)
    p = rng.normal(size=3)
    force = R @ w[3:]
    there = np.r_[R @ w[:3] + np.cross(p, force), force]
    moved = support_polygon(polygon.points @ R.T + p, R @ polygon.normal)
    found, expected = tip_over(moved, there, R @ com + p), tip_over(polygon, w, com)
    # the hull may begin elsewhere, but its corners are the same
    assert found.edges == expected.edges
    for name in ('angles', 'levers', 'distances', 'edge_forces'):
        assert_allclose(getattr(found, name), getattr(expected, name), rtol=0, atol=1e-9)
    assert found.force_angle_1996 == pytest.approx(expected.force_angle_1996, rel=1e-9, abs=1e-9)


def test_angles_are_zero_where_the_load_is_on_an_edge():
    w = np.array([0.0, -100.0 * 0.3, 0, 0, 0, 100.0])  # at x = 0.3
    found = tip_over(SQUARE, w, COM)
    assert (found.edge, found.margin) == (FRONT, pytest.approx(0.0, abs=1e-15))
    assert found.force_angle_1996 == pytest.approx(0.0, abs=1e-12)
    assert found.force_angle_2000 == pytest.approx(0.0, abs=1e-12)
    beyond = tip_over(SQUARE, w + [0, -1.0, 0, 0, 0, 0], COM)
    assert beyond.margin == pytest.approx(-0.01)
    assert max(beyond.force_angle_1996, beyond.force_angle_2000) < 0.0


def test_a_robot_that_does_not_press_has_no_margin():
    found = tip_over(SQUARE, [0, 0, 0, 1.0, 0, -1.0], COM)
    assert found.margin == -np.inf
    assert np.isnan(found.zero_moment_point).all()


def test_wheels_inside_make_no_edges():
    """A wheel in the middle and one on an edge; heights that differ a little are levelled."""
    points = [(0, 0, 0), *((x, y, 0) for x, y in CORNERS.values()), (0.1, 0.05, 0.002)]
    polygon = support_polygon(points)
    assert polygon.edges == tuple(
        (f'point {i}', f'point {j}') for i, j in ((1, 2), (2, 4), (4, 3), (3, 1))
    )
    assert np.ptp(polygon.points[:, 2]) < 1e-15


@pytest.mark.parametrize('angle', [0.0, 0.3, 1.1])
def test_points_on_edges_make_none(angle):
    """Regression: roundoff made corners of those on edges across the x axis of the plane."""
    square = np.array([*CORNERS.values()])[[0, 1, 3, 2]]
    shares = np.array([0.1, 0.5, 0.7])[:, None, None]
    between = ((1.0 - shares) * square + shares * np.roll(square, -1, axis=0)).reshape(-1, 2)
    points = np.column_stack([np.vstack([square, between]), np.zeros(16)])
    assert sorted(support_polygon(points @ _about_z(angle).T).corners) == [0, 1, 2, 3]


def test_heights_and_widths_are_compared_with_the_length():
    """A robot 4 m long may stand on points 6 cm high; 1 cm across are a line at 20 km."""
    points = np.array([(0, 0, 0), (4, 0, 0.06), (4, 0.5, 0), (0, 0.5, 0)])
    assert len(support_polygon(points).corners) == 4
    with pytest.raises(InvalidInputError, match=r'heights differ by 0.06 m'):
        support_polygon(points * (0.25, 1.0, 1.0))
    thin = np.array([(0, 0, 0), (1, 0, 0), (0.5, 1e-5, 0)])
    assert len(support_polygon(thin).corners) == 3
    with pytest.raises(InvalidInputError, match='not on one line'):
        support_polygon(thin * (1.0, 0.05, 1.0))


def test_points_are_moved_along_the_normal_into_the_plane_through_their_mean(rng):
    flat = np.array([(x, y, 0.0) for x, y in CORNERS.values()])
    tilted = kd.Pose.from_rotation_and_position([0.9, 0.3, -0.3, 0.1], [1.0, -2.0, 0.5])
    R, heights = tilted.rotation_matrix(), 1e-3 * rng.normal(size=len(flat))
    there = flat @ R.T + tilted.position()
    found = support_polygon(there + np.outer(heights, R[:, 2]), R[:, 2])
    mean = heights.mean() * R[:, 2]
    assert_allclose(found.points, there + mean, rtol=0, atol=1e-12)
    assert_allclose(found.flat @ found.in_plane, there - there.mean(axis=0), rtol=0, atol=1e-12)


def test_edges_run_clockwise():
    for seed in range(20):
        polygon, _, _, _ = random_load(np.random.default_rng(seed))
        to_middle = polygon.points.mean(axis=0) - polygon.ends
        assert (np.sum(np.cross(polygon.axes, to_middle) * polygon.normal, axis=1) < 0.0).all()


def test_polygons_of_many_places_are_those_of_each():
    rng = np.random.default_rng(4)
    polygon, w, _, R = random_load(rng)
    # turned and moved as a whole in the plane, corners by a little, and off it by a little
    turn = R @ _about_z(0.7) @ R.T
    near = 1e-3 * rng.normal(size=(5, *polygon.points.shape))
    points = polygon.points @ turn.T + rng.normal(size=(5, 1, 3)) @ (
        np.eye(3) - R[:, 2:] @ R.T[2:]
    )
    several = polygon.moved(points + near)
    moments, shares = edge_moments(several, w), pressed_shares(several)
    for k, place in enumerate(points + near):
        one = support_polygon(place, polygon.normal, polygon.names)
        assert set(one.edges) == set(polygon.edges)
        order = [polygon.edges.index(edge) for edge in one.edges]
        for name in ('ends', 'axes', 'inward'):
            of_each = getattr(several, name)[k][order]
            assert_allclose(of_each, getattr(one, name), rtol=0, atol=1e-12)
        assert_allclose(several.points[k], one.points, rtol=0, atol=1e-12)
        assert_allclose(several.middle[k], one.middle, rtol=0, atol=1e-12)
        assert_allclose(moments[k][order], edge_moments(one, w), rtol=1e-9)
        assert_allclose(shares[k], pressed_shares(one), rtol=0, atol=1e-9)


def _about_z(angle):
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


MOVED = {
    'other edges on the way': (1, (0.1, 0.1, 0.0)),  # a corner that moved inside
    'not on one line': (1, None),
    r'one plane .* heights differ by 0.1': (1, (0.3, -0.25, 0.1)),
}


@pytest.mark.parametrize('message', MOVED)
def test_places_with_other_polygons_are_refused(message):
    which, place = MOVED[message]
    points = np.array([SQUARE.points, SQUARE.points])
    if place is None:
        points[1] = points[1] * (1.0, 0.0, 0.0)
    else:
        points[1, which] = place
    with pytest.raises(InvalidInputError, match=message):
        SQUARE.moved(points)


BAD = {
    'three points': ([(0, 0, 0), (1, 0, 0)], {}),
    'not on one line': ([(0, 0, 0), (1, 0, 0), (2, 1e-9, 0)], {}),
    'heights differ by 0.2 m': ([(0, 0, 0), (1, 0, 0), (0, 1, 0.2)], {}),
    r'shape \(k, 3\)': ([(0, 0), (1, 0), (0, 1)], {}),
    'finite': ([(0, 0, 0), (1, 0, 0), (0, np.nan, 0)], {}),
    'need a direction': ([(0, 0, 0), (1, 0, 0), (0, 1, 0)], {'normal': (0, 0, 0)}),
    'names: need 3': ([(0, 0, 0), (1, 0, 0), (0, 1, 0)], {'names': ['a', 'b']}),
}


@pytest.mark.parametrize('message', BAD)
def test_what_is_no_polygon_is_refused(message):
    points, options = BAD[message]
    with pytest.raises(InvalidInputError, match=message):
        support_polygon(points, **options)
