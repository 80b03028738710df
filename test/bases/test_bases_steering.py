# SPDX-License-Identifier: Apache-2.0
"""Steering angles that agree: nearest to measured ones, and on the way to a motion."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import least_squares
from support.base_robots import Spot, robot_on, steering_of

import kane_dynamics as kd
from kane_dynamics.exceptions import InvalidInputError

AXES = {'fl': (0.3, 0.2), 'fr': (0.3, -0.2), 'rl': (-0.3, 0.2), 'rr': (-0.3, -0.2)}
NU = (0.8, 0.3, 0.6)
SQUARE = np.array(list(AXES.values()))


def swerve(d=0.0, b=0.025, axes=AXES):
    """Return a base on steered wheels with trail d, beside their axes by b."""
    spots = [Spot(n, *xy, steered=True, radius=0.06, d=d, b=b) for n, xy in axes.items()]
    return kd.bases.swerve(robot_on(spots), steering_of(spots))


def car(rear=0.0, limit=np.inf):
    """Return a car with its rear axle at x: wheelbase 2.5 m, kingpins 1.5 m apart."""
    spots = [Spot('rl', rear, 0.75, radius=0.3), Spot('rr', rear, -0.75, radius=0.3)]
    front = [
        Spot('fl', rear + 2.5, 0.75, steered=True, radius=0.3),
        Spot('fr', rear + 2.5, -0.75, steered=True, radius=0.3),
    ]
    robot = robot_on([*spots, *front], limit=limit)
    return kd.bases.ackermann(robot, ['rl', 'rr'], steering_of(front))


def headings(nu, places):
    """Return the headings of wheels at places for a motion, modulo pi."""
    nu, places = np.asarray(nu), np.asarray(places)
    return np.arctan2(nu[1] + nu[2] * places[:, 0], nu[0] - nu[2] * places[:, 1])


def off(angles, others):
    """Return differences of headings, a wheel that rolls backwards being the same."""
    return np.remainder(angles - others + np.pi / 2, np.pi) - np.pi / 2


@pytest.mark.parametrize('noise', [1e-6, 1e-3, 0.05])
@pytest.mark.parametrize('seed', range(3))
def test_nearest_angles_that_agree(noise, seed):
    rng = np.random.default_rng(seed)
    base, nu = swerve(), rng.normal(size=3)
    measured = headings(nu, SQUARE) + rng.normal(scale=noise, size=4)
    q = base.at_angles(measured)
    assert base.mobility(q) == 0 or noise < 0.05
    found = base.consistent_steering(q)
    assert base.mobility(found.q) == 1
    angles = found.q[[base.robot.coordinate_index(name) for name in base.steering]]
    assert_allclose(angles - measured, found.turned, rtol=0, atol=1e-15)
    moved = np.delete(found.q - q, [base.robot.coordinate_index(n) for n in base.steering])
    assert not moved.any()
    # no other direction of motion is nearer: another way to write it, another solver
    best = least_squares(lambda x: off(headings(x, SQUARE), measured), nu, xtol=1e-15, ftol=1e-15)
    assert np.sum(found.turned**2) <= 2.0 * best.cost * (1.0 + 1e-9) + 1e-28
    assert_allclose(off(headings(best.x, SQUARE), angles), 0.0, atol=1e-7)
    assert found.distance == np.abs(found.turned).max() < 4.0 * noise
    again = base.consistent_steering(found.q)  # roundoff of the singular vector
    assert again.distance < 1e-13


def test_who_fights_is_said():
    """Straight ahead the front wheels look along (vy + x w)/vx both: they meet in the middle."""
    base = swerve()
    found = base.consistent_steering(base.at_angles((0.05, 0, 0, 0)))
    assert_allclose(found.turned, (-0.025, 0.025, 0, 0), rtol=0, atol=1e-3)  # second order
    assert [*found.slip_by_wheel(0.01)] in (['fl', 'fr'], ['fr', 'fl'])
    assert max(found.slip_by_wheel().values()) == next(iter(found.slip_by_wheel().values()))
    assert next(iter(found.slip_by_wheel().values())) == found.distance
    assert found.slip_by_wheel(found.distance) == {}


def test_cars_agree_as_ackermann_says():
    base = car()
    found = base.consistent_steering(base.at_angles(np.radians((20.0, 20.0))))
    assert base.mobility(found.q) == 1
    inner, outer = np.radians(20.0) + found.turned
    assert 1 / np.tan(outer) - 1 / np.tan(inner) == pytest.approx(1.5 / 2.5, rel=1e-12)
    # the way to the nearest is normal to di/sin^2 i = do/sin^2 o, along which angles agree
    across = found.turned @ (np.sin(inner) ** 2, np.sin(outer) ** 2)
    assert across == pytest.approx(0.0, abs=1e-9)  # the search ends at steps of that size
    assert found.distance > 0.02


@pytest.mark.parametrize(
    ('base', 'angles'),
    [
        (swerve(d=0.04), (0.5, -0.3, 1.2, 2.0)),  # the trail lets them turn
        (swerve(axes={'fl': AXES['fl'], 'rr': AXES['rr']}), (0.5, -0.3)),  # two always agree
        (swerve(), np.array([0.7, 0.7, 0.7 - np.pi, 0.7])),  # backwards is the same heading
    ],
)
def test_angles_that_agree_stay(base, angles):
    found = base.consistent_steering(base.at_angles(angles))
    assert found.distance < 1e-13


@pytest.mark.parametrize('seed', range(3))
def test_rates_with_which_angles_go_on_to_agree(seed):
    rng = np.random.default_rng(seed)
    base, nu, nu_rate = swerve(), rng.normal(size=3), rng.normal(size=3)
    steering = base.steering_angles(nu, None, nu_rate)
    q, v = base.at_angles(steering.angles), np.zeros(base.robot.nv)
    places = [base.robot.velocity_index(name) for name in base.steering]
    v[places] = steering.rates
    found = base.consistent_steering(q, v)
    assert_allclose(found.v, v, rtol=0, atol=1e-9 * np.abs(v).max())
    # rates that do not agree: a little later the angles do, to second order
    v = rng.normal(size=base.robot.nv)
    found = base.consistent_steering(q, v)
    assert not np.delete(found.v - v, places).any()
    step = 1e-4 / np.abs(v[places]).max()
    later = base.consistent_steering(base.at_angles(steering.angles + step * found.v[places]))
    assert later.distance < 1e-6
    assert base.consistent_steering(
        base.at_angles(steering.angles + step * v[places])
    ).distance > (2e-6)
    # of least squares: what was changed is normal to what may be
    again = base.consistent_steering(q, found.v)
    assert_allclose(again.v, found.v, rtol=0, atol=1e-9 * np.abs(v).max())
    assert found.v[places] @ (v - found.v)[places] == pytest.approx(0.0, abs=1e-9)


def test_a_wheel_that_the_base_turns_about_may_look_anywhere():
    axes = {**AXES, 'middle': (0.0, 0.0)}
    base = swerve(axes=axes)
    places = np.array(list(axes.values()))
    angles = headings((0, 0, 1), places)
    angles[-1] = 0.4
    v = np.zeros(base.robot.nv)
    v[base.robot.velocity_index('middle_steer')] = 3.0
    found = base.consistent_steering(base.at_angles(angles), v)
    assert_allclose(found.v, v, rtol=0, atol=1e-6)
    assert found.distance < 1e-9
    assert base.mobility(found.q) == 1


@pytest.mark.parametrize('about', AXES)
@pytest.mark.parametrize('yaw', [-1.0, 1.0])
def test_turns_about_a_steering_axis_leave_its_wheel_alone(about, yaw):
    """The slopes of a wheel at the centre of turning have no bound: it counts as free."""
    base, (x, y) = swerve(), AXES[about]
    angles = headings((y * yaw, -x * yaw, yaw), SQUARE) + np.pi * np.arange(4)
    k = [*AXES].index(about)
    angles[k] = 0.7
    v = np.zeros(base.robot.nv)
    places = [base.robot.velocity_index(name) for name in base.steering]
    v[places[k]] = 3.0
    found = base.consistent_steering(base.at_angles(angles), v)
    assert found.distance < 1e-9
    assert found.v[places[k]] == 3.0
    assert_allclose(np.delete(found.v[places], k), 0.0, atol=1e-6)


def test_axles_on_one_line_agree_wherever_the_centre_of_turning_is():
    """Slopes have rank one there, whichever direction is found."""
    axes = {'a': (0.3, 0.0), 'b': (-0.2, 0.0), 'c': (0.1, 0.0)}
    base = swerve(axes=axes)
    angles = np.array([np.pi / 2, -np.pi / 2, np.pi / 2])
    found = base.consistent_steering(base.at_angles(angles))
    assert found.distance < 1e-13
    assert not found.v.any()
    near = base.consistent_steering(base.at_angles(angles + 1e-4 * np.array([1.0, -2.0, 0.5])))
    assert near.distance < 2e-4
    assert base.consistent_steering(near.q).distance < 1e-13


def test_wheels_that_fixed_axles_hold_do_not_turn():
    """Two fixed axles that cross leave one motion, and no rate of steering goes on to another."""
    spots = [Spot('fixed', 0.0, 0.3, radius=0.06), Spot('cross', 0.3, 0.0, np.pi / 2)]
    spots.append(Spot('front', 0.4, 0.3, steered=True, radius=0.06))
    robot = robot_on(spots)
    base = kd.bases.ackermann(robot, ['fixed', 'cross'], steering_of(spots[2:]))
    heading = np.arctan2(0.4, -0.3)
    v = np.zeros(robot.nv)
    v[robot.velocity_index('front_steer')] = 2.0
    found = base.consistent_steering(base.at_angles([heading + 0.1]), v)
    assert_allclose(found.turned, -0.1, rtol=0, atol=1e-12)
    assert found.v[robot.velocity_index('front_steer')] == 0.0


def test_the_neutral_coordinates_where_left_out():
    assert_allclose(swerve().consistent_steering().q, swerve().robot.neutral(), atol=1e-13)


MOTIONS = {
    'sideways': ((1, 0, 0), (0, 0.5, 0)),
    'spin': ((1, 0, 0), (0, 0, 0.7)),
    'turn': ((1, 0, 0), (0.4, -0.2, 0.9)),
    'about a wheel': ((0, 0, 1), (-0.2, -0.3, 1.0)),  # of fr, which may look anywhere
    'other way': ((0.5, 0, 0.3), (-0.5, 0.01, -0.3)),
}


@pytest.mark.parametrize('case', MOTIONS)
def test_wheels_turn_together_to_a_motion(case):
    first, wanted = MOTIONS[case]
    base, most = swerve(), 0.05
    q = base.at_angles(headings(first, SQUARE))
    places = [base.robot.coordinate_index(name) for name in base.steering]
    count = 0
    while True:
        step = base.steer_towards(wanted, q, most)
        count += 1
        assert np.abs(step.angles - q[places]).max() <= most * (1 + 1e-12)
        if np.abs(step.angles - q[places]).max() < 1e-12 or count > 200:
            break
        q = base.at_angles(step.angles)
        assert base.mobility(q) == 1
        assert base.wheel_rates(step.twist, q).slip_by_wheel == {}
        # never a larger motion than wanted, nor the other way
        scaled = [np.multiply(x, (1, 1, np.hypot(0.3, 0.2))) for x in (step.twist, wanted)]
        assert np.dot(*scaled) >= 0.0
        assert np.linalg.norm(scaled[0]) <= np.linalg.norm(scaled[1]) * (1 + 1e-9)
    assert_allclose(step.twist, wanted, rtol=0, atol=1e-12)
    free = np.array([case == 'about a wheel' and joint == 'fr' for joint in AXES])
    assert_allclose(off(step.angles, headings(wanted, SQUARE))[~free], 0.0, atol=1e-12)
    # a wheel turns by a right angle at most; what it takes more is the way of the others
    assert count <= np.pi / most


def test_backwards_needs_no_steering():
    base = swerve()
    q = base.at_angles(headings(NU, SQUARE))
    step = base.steer_towards(np.negative(NU), q, 0.01)
    assert_allclose(step.angles, headings(NU, SQUARE), rtol=0, atol=1e-13)
    assert_allclose(step.twist, np.negative(NU), rtol=0, atol=1e-13)


def test_standing_keeps_the_angles():
    base = swerve()
    q = base.at_angles((0.1, 0.2, 0.3, 0.4))
    step = base.steer_towards((0, 0, 0), q, 0.01)
    assert [*step.angles] == [0.1, 0.2, 0.3, 0.4]
    assert not step.twist.any()


def test_a_car_cannot_go_sideways():
    base = car()
    step = base.steer_towards((1.0, 5.0, 0.2), base.at_angles((0.0, 0.0)))
    assert_allclose(step.twist, (1.0, 0.0, 0.2), rtol=0, atol=1e-12)
    assert_allclose(step.angles, np.arctan(2.5 * 0.2 / (1 - np.array([0.75, -0.75]) * 0.2)))


def test_a_car_turns_about_its_rear_axle_wherever_that_is():
    base = car(rear=-1.2)
    step = base.steer_towards((1.0, 0.0, 0.2), base.at_angles((0.0, 0.0)))
    # speed and yaw rate are what a driver gives; sideways the base frame goes with them
    assert_allclose(step.twist, (1.0, 0.2 * 1.2, 0.2), rtol=0, atol=1e-5)


def test_a_car_turns_no_more_sharply_than_its_steering_allows():
    base, most = car(limit=0.4), 0.05
    q = base.at_angles((0.0, 0.0))
    for _ in range(20):
        step = base.steer_towards((1.0, 0.0, 2.0), q, most)
        assert np.abs(step.angles).max() <= 0.4
        q = base.at_angles(step.angles)
        assert base.mobility(q) == 1
    assert step.angles[0] > 0.39  # the inner wheel
    assert step.twist[0] == pytest.approx(1.0, rel=1e-5)  # as fast as was wanted
    assert base.wheel_rates(step.twist, q).slip_by_wheel == {}


def test_who_must_agree():
    assert swerve().centred == swerve().steering
    assert swerve(d=0.04).centred == ()
    assert car().centred == ('fl_steer', 'fr_steer')


def test_powered_casters_go_anywhere():
    base = swerve(d=0.04)
    q = base.at_angles((0.5, -0.3, 1.2, 2.0))
    step = base.steer_towards(NU, q, 0.01)
    assert_allclose(step.twist, NU, rtol=0, atol=1e-14)
    assert [*step.angles] == [0.5, -0.3, 1.2, 2.0]


def test_angles_that_do_not_agree_are_brought_together():
    base = swerve()
    q = base.at_angles((0.0, 0.3, 0.0, 0.0))
    step = base.steer_towards((1, 0, 0), q, 0.02)
    assert np.abs(step.angles - (0.0, 0.3, 0.0, 0.0)).max() <= 0.02 * (1 + 1e-12)


def test_refused():
    base = swerve()
    with pytest.raises(InvalidInputError, match='q'):
        base.consistent_steering([0.0])
    with pytest.raises(InvalidInputError, match='twist'):
        base.steer_towards((1, 0), base.robot.neutral())
    with pytest.raises(InvalidInputError, match='most'):
        base.steer_towards((1, 0, 0), base.robot.neutral(), 0.0)
