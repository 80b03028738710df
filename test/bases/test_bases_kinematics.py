# SPDX-License-Identifier: Apache-2.0
"""Kinematics of bases of any kind and geometry: both ways, steering, batches, what slips."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from support.base_robots import Spot, robot_on, steering_of

import kane_dynamics as kd
from kane_dynamics.exceptions import InconsistentConstraintsError, InvalidInputError

KINDS = ('differential', 'skid_steer', 'mecanum', 'omni', 'ackermann', 'swerve', 'powered')
BASES = ('planar', 'floating')


def drawn_base(kind, seed, on):
    """Return a base of random geometry with a caster, and motions that it can do."""
    rng = np.random.default_rng(seed)
    caster = Spot('c', *rng.uniform(-0.4, 0.4, 2), steered=True, radius=0.04, d=0.03, b=0.01)
    half, r = rng.uniform(0.1, 0.4), rng.uniform(0.05, 0.2)
    passive = {'casters': steering_of([caster])}

    def robot(spots):
        return robot_on([*spots, caster], on)

    def corners(n, **more):
        bearing = 2 * np.pi * (np.arange(n) + rng.uniform(0.2, 0.8, n)) / n
        size = rng.uniform(0.2, 0.6, n)
        return [
            Spot(f'w{k}', size[k] * np.cos(b), size[k] * np.sin(b), radius=r, **more)
            for k, b in enumerate(bearing)
        ]

    if kind in ('differential', 'skid_steer'):
        x = (0.1, 0.1) if kind == 'differential' else rng.uniform(-0.4, 0.4, 3)
        left = [Spot(f'l{k}', a, half + 0.03 * k, radius=r) for k, a in enumerate(x)]
        right = [Spot(f'r{k}', a, -half - 0.03 * k, radius=r) for k, a in enumerate(x)]
        names = [s.name for s in left], [s.name for s in right]
        base = getattr(kd.bases, kind)(robot([*left, *right]), *names, **passive)
        offset = 0.0 if kind == 'differential' else -np.mean(x)
        motions = rng.uniform(-1, 1, (5, 3))
        motions[:, 1] = (offset if kind == 'skid_steer' else -0.1) * motions[:, 2]
        return base, motions
    motions = rng.uniform(-1, 1, (5, 3))
    if kind in ('mecanum', 'omni'):
        spots = corners(rng.integers(3, 6))
        names = [s.name for s in spots]
        spots = [s._replace(heading=np.arctan2(s.x, -s.y) + rng.normal(0, 0.2)) for s in spots]
        if kind == 'omni':
            return kd.bases.omni(robot(spots), names, **passive), motions
        return kd.bases.mecanum(robot(spots), names, rng.normal(0, 0.3, len(names)), **passive), (
            motions
        )
    trail = {'d': 0.05, 'b': 0.02} if kind == 'powered' else {'b': 0.02 * rng.integers(0, 2)}
    steered = corners(rng.integers(2, 5), steered=True, **trail)
    if kind != 'ackermann':
        return kd.bases.swerve(robot(steered), steering_of(steered), **passive), motions
    rear = [Spot('rl', -0.3, half, radius=r), Spot('rr', -0.3, -half, radius=r)]
    base = kd.bases.ackermann(
        robot([*rear, *steered]), ['rl', 'rr'], steering_of(steered), **passive
    )
    motions[:, 1] = 0.3 * motions[:, 2]
    return base, motions


@settings(max_examples=25, deadline=None, derandomize=True)
@given(st.sampled_from(KINDS), st.integers(0, 10**6), st.sampled_from(BASES))
def test_the_twist_of_the_rates_of_a_twist_is_that_twist(kind, seed, on):
    base, motions = drawn_base(kind, seed, on)
    q = base.robot.neutral()
    q[base._rows.steering_angles] = np.random.default_rng(seed).uniform(-3, 3, len(base.steering))
    for motion in motions:
        rates = np.zeros(len(base.steering))
        if kind in ('ackermann', 'swerve'):
            steering = base.steering_angles(motion, q, 0.5 * motion[::-1])
            q, rates = base.at_angles(steering.angles, q), steering.rates
            assert steering.reached.all()
        there = base.wheel_rates(motion, q, rates, exact=True)
        back = base.twist(there.rates, q, there.steering_rates, exact=True)
        # conditioned by random geometry: wheels 0.1 m apart, sometimes nearly on a line
        assert_allclose(back.twist, motion, atol=1e-10)


@pytest.mark.parametrize('kind', KINDS)
def test_rates_are_those_of_the_constraint_rows(kind):
    # the whole motion, casters included, satisfies A v = 0; without it wheels slip as is said
    base, motions = drawn_base(kind, 3, 'planar')
    robot, q = base.robot, base.robot.neutral()
    q[:3] = 0.4, -0.7, 1.1
    if base.steering:
        q = base.at_angles(base.steering_angles(motions[0], q).angles, q)
    found = base.wheel_rates(motions[0], q)
    c, s = np.cos(q[2]), np.sin(q[2])
    x, y, w = motions[0]
    v = np.zeros(robot.nv)
    v[:3] = c * x - s * y, s * x + c * y, w
    known = ['base_x', 'base_y', 'base_yaw', *base.driven, *base.steering]
    for name, rate in found.by_joint.items():
        v[robot.velocity_index(name)] = rate
    whole = kd.consistent_velocity(robot, q, v, base.constraints, known)
    A = kd.dynamics(robot, base.constraints).constraint_rows(q, whole).matrix
    assert_allclose(A @ whole, 0.0, atol=1e-12)
    assert set(base.passive) == {'c', 'c_steer'} | (
        {w.joint for w in base.wheels if kind == 'ackermann' and w.kind == 'steered'}
    )


@pytest.mark.parametrize('kind', ['mecanum', 'swerve', 'powered'])
def test_batches_are_single_motions(kind):
    base, motions = drawn_base(kind, 8, 'planar')
    rng = np.random.default_rng(1)
    places = np.array(
        [
            kd.integrate(base.robot, base.robot.neutral(), x, 1.0)
            for x in rng.uniform(-1, 1, (5, base.robot.nv))
        ]
    )
    turned = rng.uniform(-1, 1, (5, len(base.steering)))
    accelerations = rng.uniform(-1, 1, (5, 3))
    for q in (None, places[0], places):
        many = base.wheel_rates(motions, q, turned)
        back = base.twist(many.rates, q, many.steering_rates)
        steering = base.steering_angles(motions, q, accelerations)
        assert many.residual.shape == (5, len(many.labels))
        for k, motion in enumerate(motions):
            place = q if q is None or q.ndim == 1 else q[k]
            one = base.wheel_rates(motion, place, turned[k])
            assert_allclose(many.rates[k], one.rates, atol=1e-13)
            assert_allclose(many.steering_rates[k], one.steering_rates, atol=1e-13)
            assert_allclose(many.residual[k], one.residual, atol=1e-13)
            again = base.twist(one.rates, place, one.steering_rates)
            assert_allclose(back.twist[k], again.twist, atol=1e-13)
            angles = base.steering_angles(motion, place, accelerations[k])
            assert_allclose(steering.angles[k], angles.angles, atol=1e-13)
            assert_allclose(steering.rates[k], angles.rates, atol=1e-11)
    assert base.wheel_rates(np.zeros((0, 3)), np.zeros((0, base.robot.nq))).rates.shape == (
        0,
        len(base.driven),
    )


def test_the_worst_slip_comes_first():
    base = skid_steer()
    motion = base.twist((1.0, 1.0, 1.0, 1.5))
    slip_by_wheel = motion.slip_by_wheel
    assert list(slip_by_wheel.values()) == sorted(motion.slips.values(), reverse=True)
    assert min(slip_by_wheel.values()) < 0.5 * max(slip_by_wheel.values())


def skid_steer():
    """Return a base on four omni wheels, of which the last is far from the others."""
    places = {'a': (0.1, 0.1), 'b': (-0.1, 0.1), 'c': (-0.1, -0.1), 'd': (0.9, -0.8)}
    spots = [Spot(n, x, y, np.arctan2(x, -y)) for n, (x, y) in places.items()]
    return kd.bases.omni(robot_on(spots), list(places))


def test_given_steering_rates_change_only_where_rolling_determines_them():
    spots = [
        Spot('a', 0.3, 0, steered=True, d=0.05, b=0.02),
        Spot('b', -0.3, 0, steered=True, b=0.02),
    ]
    base = kd.bases.swerve(robot_on(spots), steering_of(spots))
    given = base.wheel_rates((0.5, 0, 0), steering_rates=(0.7, 0.4))
    assert_allclose(given.steering_rates, (0.0, 0.4), atol=1e-13)  # a trails straight behind
    still = base.wheel_rates((0.5, 0, 0))
    # r phi' = e.v - b (w + beta')
    assert_allclose(given.rates - still.rates, (0.0, -0.02 * 0.4 / 0.1), atol=1e-13)


def test_least_slips_are_least():
    # normal equations, and a wheel that turns alone is among those that fight
    base, _ = drawn_base('omni', 4, 'planar')
    rng = np.random.default_rng(2)
    rates = rng.uniform(-3, 3, len(base.driven))
    best = base.twist(rates)
    for step in np.vstack([np.eye(3), -np.eye(3)]) * 1e-4:
        moved = base.wheel_rates(best.twist + step)
        assert moved.slip_by_wheel == {}
    J = base.wheel_rates(np.eye(3)).rates.T
    if len(rates) > 3:
        assert_allclose(J.T @ (J @ best.twist - rates), 0.0, atol=1e-10)


def test_steering_rates_are_derivatives_of_angles():
    base, motions = drawn_base('swerve', 12, 'planar')
    twist, rate = motions[0], motions[1]
    step = 1e-5
    there = [base.steering_angles(twist + s * rate).angles for s in (-step, step)]
    exact = base.steering_angles(twist, twist_rate=rate).rates
    # central difference: truncation and roundoff 1e-9
    assert_allclose((there[1] - there[0]) / (2 * step), exact, rtol=1e-7, atol=1e-8)


def steered_pair(limit):
    spots = [Spot('a', 0.3, 0, steered=True), Spot('b', -0.3, 0, steered=True)]
    return kd.bases.swerve(robot_on(spots, limit=limit), steering_of(spots))


@pytest.mark.parametrize(
    ('present', 'limit', 'twist', 'angle', 'reached'),
    [
        (0.0, np.inf, (1, 0, 0), 0.0, True),
        (3.0, np.inf, (1, 0, 0), np.pi, True),  # backwards is nearer
        (7.0, np.inf, (1, 0, 0), 2 * np.pi, True),  # a whole turn away from zero
        (6.9, np.inf, (1, 0.5, 0), 2 * np.pi + np.arctan2(0.5, 1), True),
        (-20.0, np.inf, (1, 0, 0), -6 * np.pi, True),
        (1.5, 1.6, (0, 1, 0), np.pi / 2, True),
        (1.5, 1.6, (0.1, -1, 0), np.arctan2(1, -0.1) - np.pi, True),  # the near one is beyond
        (0.5, 1.0, (0, 1, 0), 1.0, False),
        (-0.5, 1.0, (0, 1, 0), -1.0, False),
        (0.7, np.inf, (0, 0, 0), 0.7, True),  # at rest wheels stay
    ],
)
def test_the_nearest_angle_within_limits(present, limit, twist, angle, reached):
    base = steered_pair(limit)
    found = base.steering_angles(twist, base.at_angles((present, present)))
    assert_allclose(found.angles, angle, atol=1e-12)
    assert list(found.reached) == [reached, reached]
    assert list(found.by_joint) == ['a_steer', 'b_steer']


@pytest.mark.parametrize('limit', [4.0, 6.0, 20.0])
def test_angles_of_wheels_with_trail_are_those_that_a_search_finds(limit):
    # the wheel stands still in its fork where -sin(b) vx + cos(b) vy = d w, of the axis' velocity
    d, w = 0.05, 1.0
    spots = [Spot('a', 0.3, 0, steered=True, d=d), Spot('b', -0.3, 0, steered=True, d=d)]
    base = kd.bases.swerve(robot_on(spots, limit=limit), steering_of(spots))
    rng = np.random.default_rng(6)
    for sign in rng.choice((-1.0, 1.0), 60):
        speed, bearing = d * rng.uniform(1.01, 1.3), rng.uniform(-np.pi, np.pi)
        vx, vy = speed * np.cos(bearing), speed * np.sin(bearing)
        present = rng.uniform(-limit, limit)
        found = base.steering_angles(
            (vx, vy - 0.3 * sign * w, sign * w), base.at_angles((present, 0.0))
        )
        angles = np.linspace(-limit, limit, 4001)
        across = -np.sin(angles) * vx + np.cos(angles) * vy - d * sign * w
        places = angles[:-1][across[:-1] * across[1:] <= 0.0]
        nearest = places[np.abs(places - present).argmin()]
        assert_allclose(found.angles[0], nearest, atol=2.5 * limit / 1000)


def test_a_wheel_that_turns_about_itself_keeps_its_angle():
    base = steered_pair(np.inf)
    q = base.at_angles((0.4, 0.3))
    found = base.steering_angles((0, 0.3, 1.0), q)  # the axis of b is at rest
    assert_allclose(found.angles, (np.pi / 2, 0.3), atol=1e-12)
    assert found.rates[1] == 0.0


def test_trail_leaves_no_heading_where_the_axis_is_slower_than_the_trail_swings():
    spots = [Spot('a', 0.3, 0, steered=True, d=0.05), Spot('b', -0.3, 0, steered=True, d=0.05)]
    base = kd.bases.swerve(robot_on(spots), steering_of(spots))
    assert base.steering_angles((0.3, 0, 1.0)).reached.tolist() == [True, True]
    found = base.steering_angles((0.0, 0.3, 1.0))
    assert found.reached.tolist() == [True, False]  # b's axis is at rest, its wheel is not
    # at the angle that is found, the steering stands still
    steady = base.wheel_rates(
        (0.3, 0, 1.0), base.at_angles(base.steering_angles((0.3, 0, 1)).angles)
    )
    assert_allclose(steady.steering_rates, 0.0, atol=1e-13)


def test_wrong_arguments():
    base, _ = drawn_base('swerve', 1, 'planar')
    many = np.zeros((3, base.robot.nq))
    for call, message in (
        (lambda: base.wheel_rates((1, 2)), r'twist: need shape \(3,\) or \(B, 3\), got \(2,\)'),
        (lambda: base.wheel_rates((1, 2, np.nan)), 'twist: need finite numbers'),
        (lambda: base.twist({'w0': 1.0}), 'are missing'),
        (lambda: base.wheel_rates(np.zeros((2, 3)), many), 'batches have different lengths'),
        (
            lambda: base.at_angles(np.zeros((2, len(base.steering)))),
            r'angles .*: need shape \(2,\), got \(2, 2\)',
        ),
        (lambda: base.wheel_rates((1, 0, 0), (1, 2)), 'q: need shape'),
    ):
        with pytest.raises(InvalidInputError, match=message):
            call()
    with pytest.raises(kd.exceptions.NameNotFoundError, match="no joint named 'front'"):
        base.twist({'front': 1.0})
    with pytest.raises(InconsistentConstraintsError, match='swerve base: its wheels cannot'):
        base.wheel_rates((0, 1, 0), exact=True)


def test_rates_by_name():
    base = steered_pair(np.inf)
    by_name = base.twist({'b': 2.0, 'a': 2.0}, steering_rates={'a_steer': 0, 'b_steer': 0})
    assert_allclose(by_name.twist, (0.2, 0, 0), atol=1e-15)
    rates = base.wheel_rates((0.2, 0, 0)).by_joint
    assert_allclose([rates[n] for n in ('a', 'b', 'a_steer', 'b_steer')], (2, 2, 0, 0), atol=1e-14)
