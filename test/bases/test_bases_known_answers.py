# SPDX-License-Identifier: Apache-2.0
"""Kinematics of bases against published classes and numbers that were derived independently."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from support.base_robots import Spot, at_headings, robot_on, steering_of
from support.bases import CAMPION, wheeled_base

import kane_dynamics as kd

DIGITS = 1e-9  # relative: ten digits are printed
QUARTER = np.pi / 4


def campion(kind):
    """Return a base of one of the five classes (A1)."""
    mounts = CAMPION[kind]
    robot = wheeled_base(mounts)
    radius = {name: mount.radius for name, mount in mounts.items()}
    of = {True: {}, False: {}}
    for name, mount in mounts.items():
        if mount.steered:
            of[bool(mount.trail)][f'{name}_steer'] = name
    steered, more = of[False], {'casters': of[True], 'radius': radius}
    fixed = [name for name, mount in mounts.items() if not mount.steered]
    if kind == (3, 0):
        return kd.bases.omni(robot, fixed, radius=radius)
    if not fixed:
        return kd.bases.swerve(robot, steered, **more)
    if steered:
        return kd.bases.ackermann(robot, fixed, steered, **more)
    return kd.bases.differential(robot, fixed[:1], fixed[1:], **more)


# singular values of C1; N of C1 = N' B is orthonormal, and one axle is one row of a base here
SINGULAR = {(2, 1): (1.03747376,), (1, 2): (1.277765364, 0.7342633526)}


@pytest.mark.filterwarnings('ignore:swerve base')  # one steered wheel: the base may pivot on it
@pytest.mark.parametrize('kind', CAMPION)
def test_five_classes_of_wheeled_robots(kind):
    base = campion(kind)
    assert (base.mobility(), base.steerability()) == kind
    A = kd.dynamics(base.robot, base.constraints).constraint_rows(
        base.robot.neutral(), np.zeros(base.robot.nv)
    )
    assert base.robot.nv - np.linalg.matrix_rank(A.matrix, 1e-9) == sum(kind)
    if kind in SINGULAR:
        sizes = np.linalg.svd(lateral_rows(base), compute_uv=False)
        assert_allclose(sizes, SINGULAR[kind], rtol=DIGITS)


def lateral_rows(base, q=None):
    """Return C1 of C1 nu = 0."""
    return base._rows_at(q).bound_motions()


def mecanum(delta, lx=0.235, ly=0.15, signs=(-1, 1, 1, -1)):
    """Return a base on four mecanum wheels FL, FR, RL, RR (A2)."""
    corners = {'fl': (lx, ly), 'fr': (lx, -ly), 'rl': (-lx, ly), 'rr': (-lx, -ly)}
    robot = robot_on([Spot(name, *xy, radius=0.0762) for name, xy in corners.items()])
    return kd.bases.mecanum(robot, list(corners), delta * np.array(signs))


def inverse_map(base):
    """Return J of phi' = J nu, and J+."""
    count = len(base.driven)
    return base.wheel_rates(np.eye(3)).rates.T, base.twist(np.eye(count)).twist.T


@pytest.mark.parametrize(
    ('delta', 'lateral', 'turn', 'back', 'rates'),
    [
        (
            QUARTER,
            13.12335958,
            5.052493438,
            (0.01905, 0.04948051948),
            (6.660104987, 3.838582677, -1.213910761, 11.71259843),
        ),
        (
            np.pi / 6,
            7.576775186,
            3.749046106,
            (0.03299556788, 0.0666836291),
            (5.647853335, 4.850834329, 1.101788223, 9.396899441),
        ),
    ],
)
def test_mecanum_both_ways(delta, lateral, turn, back, rates):
    base = mecanum(delta)
    s, sg = np.array([-1, 1, 1, -1]), np.array([-1, 1, -1, 1])
    J, inverse = inverse_map(base)
    ones = np.ones(4)
    assert_allclose(J, np.transpose([13.12335958 * ones, lateral * s, turn * sg]), rtol=DIGITS)
    assert_allclose(inverse, [0.01905 * ones, back[0] * s, back[1] * sg], rtol=DIGITS, atol=1e-15)
    assert_allclose(base.wheel_rates((0.4, -0.3, 0.5)).rates, rates, rtol=DIGITS)
    assert_allclose([1, 1, -1, -1] @ J, 0.0, atol=1e-12)
    assert base.mobility() == 3


def test_mecanum_wheels_that_contradict_each_other():
    base = mecanum(QUARTER)
    agreeing = base.twist((10, 11, 12, 9))
    assert_allclose(agreeing.twist, (0.8001, 0.0762, -0.09896103896), rtol=DIGITS)
    assert agreeing.slip_by_wheel == {}
    least = base.twist((10, 11, 12, 10))
    assert_allclose(least.twist, (0.81915, 0.05715, -0.04948051948), rtol=DIGITS)
    # phi' - J nu is what the wheel turns too fast; its row is r cos(delta) of that, negative
    own = -0.0762 * np.cos(QUARTER)
    assert_allclose(least.residual / own, (-0.25, -0.25, 0.25, 0.25), rtol=DIGITS)
    assert set(least.slip_by_wheel) == {'fl', 'fr', 'rl', 'rr'}
    assert_allclose(list(least.slip_by_wheel.values()), 0.25 * abs(own), rtol=DIGITS)
    with pytest.raises(kd.exceptions.InconsistentConstraintsError, match='fl by 0.0135 m/s'):
        base.twist((10, 11, 12, 10), exact=True)


def test_rollers_the_wrong_way_round_lose_yaw():
    with pytest.warns(kd.exceptions.ModelWarning, match='1 of its motions are held by none'):
        base = mecanum(QUARTER, 0.2, 0.2, (1, -1, -1, 1))
    J, _ = inverse_map(base)
    sizes = np.linalg.svd(J, compute_uv=False)
    assert_allclose(sizes, (26.24671916, 26.24671916, 0), rtol=DIGITS, atol=1e-12)
    assert base.undriven() == 1


@pytest.mark.parametrize(
    ('bearings', 'rates', 'square'),
    [
        ((30, 150, 270), (-7.396152423, 2.996152423, 9.8), (1.5, 1.5, 3)),
        ((45, 135, 225, 315), (-8.099494937, 0.3857864376, 11.69949494, 3.214213562), (2, 2, 4)),
    ],
)
def test_omni_wheels_both_ways(bearings, rates, square):
    L, r = 0.18, 0.05
    a = np.radians(bearings)
    spots = [
        Spot(f'w{k}', L * np.cos(b), L * np.sin(b), b + np.pi / 2, radius=r)
        for k, b in enumerate(a)
    ]
    base = kd.bases.omni(robot_on(spots), [spot.name for spot in spots])
    assert_allclose(base.wheel_rates((0.4, -0.3, 0.5)).rates, rates, rtol=DIGITS)
    J, inverse = inverse_map(base)
    assert_allclose(J.T @ J, np.diag(square) * (1, 1, L * L) / r**2, rtol=DIGITS, atol=1e-12)
    n = len(a)
    closed = (-2 * r / n * np.sin(a), 2 * r / n * np.cos(a), r / (n * L) * np.ones(n))
    assert_allclose(inverse, closed, atol=1e-15)
    if n == 4:
        assert_allclose([1, -1, 1, -1] @ J, 0.0, atol=1e-13)


AXES = {'fl': (0.3, 0.2), 'fr': (0.3, -0.2), 'rl': (-0.3, 0.2), 'rr': (-0.3, -0.2)}


def swerve(d, b, **options):
    """Return a base on four steered wheels FL, FR, RL, RR (A4)."""
    spots = [Spot(n, *xy, steered=True, radius=0.06, d=d, b=b) for n, xy in AXES.items()]
    return kd.bases.swerve(robot_on(spots, **options), steering_of(spots))


NU, NU_RATE = (0.8, 0.3, 0.6), (0.5, -0.2, 0.4)


@pytest.mark.parametrize(
    ('b', 'rates'),
    [
        (0.025, (13.77639929, 17.18103507, 11.49265122, 15.3894107)),
        (0.0, (13.8724347, 17.29482903, 11.508451, 15.46321801)),
    ],
)
def test_centred_swerve(b, rates):
    base = swerve(0.0, b)
    steering = base.steering_angles(NU, twist_rate=NU_RATE)
    beta = (0.6146629519, 0.4808872802, 0.174672199, 0.1297025372)
    assert_allclose(steering.angles, beta, rtol=DIGITS)
    beta_rate = (-0.3695150115, -0.3268945022, -0.5620805369, -0.4228624535)
    assert_allclose(steering.rates, beta_rate, rtol=DIGITS)
    assert steering.reached.all()
    q = base.at_angles(steering.angles)
    wheels = base.wheel_rates(NU, q, steering.rates)
    assert_allclose(wheels.rates, rates, rtol=DIGITS)
    assert_allclose(wheels.steering_rates, beta_rate, rtol=DIGITS)
    assert wheels.slip_by_wheel == {}
    assert_allclose(base.twist(wheels.rates, q, steering.rates).twist, NU, atol=1e-13)


@pytest.mark.parametrize(
    ('milliradians', 'stuck'), [(0.5, (0.0, 0.02)), (2.0, (0.5, 0.8)), (10.0, (0.95, 1.0))]
)
def test_angles_that_are_off_leave_no_motion(milliradians, stuck):
    base, rng = swerve(0.0, 0.025), np.random.default_rng(0)
    found = []
    for motion in rng.uniform(-1.0, 1.0, (60, 3)):
        off = 1e-3 * milliradians * rng.uniform(-1.0, 1.0, 4)
        q = base.at_angles(base.steering_angles(motion).angles + off)
        found.append(base.mobility(q) == 0)
    assert stuck[0] <= np.mean(found) <= stuck[1]


def test_consistency_of_steering_angles():
    base = swerve(0.0, 0.025)
    steering = base.steering_angles(NU)
    q = base.at_angles(steering.angles)
    c1 = lateral_rows(base, q)
    sizes = np.linalg.svd(c1, compute_uv=False)
    assert_allclose(sizes, (1.95886626, 0.7038086904, 0), rtol=DIGITS, atol=1e-14)
    assert base.mobility(q) == 1
    assert_allclose(c1 @ NU, 0.0, atol=1e-14)
    q = base.at_angles(steering.angles + (0.05, 0, 0, 0))
    c1 = lateral_rows(base, q)
    sizes = np.linalg.svd(c1, compute_uv=False)
    assert_allclose(sizes, (1.952002059, 0.7218102553, 0.02261641734), rtol=DIGITS)
    assert base.mobility(q) == 0
    # the wheel that was turned slips sideways by sin(0.05) of its speed, the others roll
    slips = base.wheel_rates(NU, q).slip_by_wheel
    assert list(slips) == ['fl']
    axis_speed = np.hypot(0.8 - 0.6 * 0.2, 0.3 + 0.6 * 0.3)
    assert_allclose(slips['fl'], np.sin(0.05) * axis_speed, rtol=1e-12)


def test_powered_casters():
    # any angle will do: the steering rate follows from rolling
    base = swerve(0.04, 0.015)
    q = base.at_angles((0.5, -0.3, 1.2, 2.0))
    wheels = base.wheel_rates(NU, q)
    beta_rate = (1.780756586, 17.66100262, -15.3575912, -22.76228133)
    rates = (13.18615086, 7.719080524, 9.660197189, 0.9782470249)
    assert_allclose(wheels.steering_rates, beta_rate, rtol=DIGITS)
    assert_allclose(wheels.rates, rates, rtol=DIGITS)
    assert wheels.slip_by_wheel == {}
    assert base.mobility(q) == 3
    assert base.steerability(q) == 0
    assert_allclose(base.twist(rates, q, beta_rate).twist, NU, rtol=1e-8)


def test_two_powered_casters_at_speed():
    spots = [
        Spot('one', 0.3, 0.0, 0.5, steered=True, radius=0.06, d=0.04, b=0.015),
        Spot('two', -0.3, 0.1, -0.9, steered=True, radius=0.06, d=0.04, b=0.015),
    ]
    robot = robot_on(spots)
    base = kd.bases.swerve(robot, steering_of(spots))
    wheels = base.wheel_rates((0.5, 0.2, 0.4), at_headings(robot, spots))
    assert_allclose(wheels.steering_rates, (0.6278412626, 9.851479397), rtol=DIGITS)
    assert_allclose(wheels.rates, (9.613163906, 1.158370695), rtol=DIGITS)


def ackermann(radius=0.3):
    """Return a car with the rear axle at its origin (A5)."""
    spots = [Spot('rl', 0, 0.75, radius=radius), Spot('rr', 0, -0.75, radius=radius)]
    front = [
        Spot('fl', 2.5, 0.75, steered=True, radius=radius),
        Spot('fr', 2.5, -0.75, steered=True, radius=radius),
    ]
    robot = robot_on([*spots, *front])
    return kd.bases.ackermann(robot, ['rl', 'rr'], steering_of(front))


def test_ackermann():
    base, L, T, v, delta = ackermann(), 2.5, 1.5, 5.0, np.radians(20.0)
    w = v * np.tan(delta) / L
    assert_allclose(w, 0.7279404685, rtol=DIGITS)
    # v' = 1.2, delta' = 0.3 of the middle wheel
    w_rate = 1.2 * np.tan(delta) / L + v * 0.3 / (L * np.cos(delta) ** 2)
    assert_allclose(w_rate, 0.8541903113, rtol=DIGITS)
    steering = base.steering_angles((v, 0, w), twist_rate=(1.2, 0, w_rate))
    assert_allclose(steering.angles, (0.387884364, 0.3170695202), rtol=DIGITS)
    inner, outer = steering.angles
    assert_allclose(1 / np.tan(outer) - 1 / np.tan(inner), T / L, rtol=1e-12)
    # cot delta_i = cot delta - T/(2 L): -delta_i'/sin^2 delta_i = -delta'/sin^2 delta
    expected = 0.3 * np.sin(steering.angles) ** 2 / np.sin(delta) ** 2
    assert_allclose(steering.rates, expected, rtol=1e-12)
    q = base.at_angles(steering.angles)
    assert (base.mobility(q), base.steerability(q)) == (1, 1)
    rates = base.wheel_rates((v, 0, w), q)
    assert_allclose(rates.rates * 0.3, (4.454044649, 5.545955351), rtol=DIGITS)
    assert rates.slip_by_wheel == {}
    assert_allclose(base.twist(rates.rates, q).twist, (v, 0, w), atol=1e-12)
    # the wheels that no motor turns follow from the rows
    motion = kd.consistent_velocity(
        base.robot,
        q,
        np.r_[v, 0, w, np.zeros(base.robot.nv - 3)],
        base.constraints,
        ['base_x', 'base_y', 'base_yaw', *base.steering],
    )
    front = [0.3 * motion[base.robot.velocity_index(name)] for name in ('fl', 'fr')]
    assert_allclose(front, (4.811483349, 5.836906633), rtol=DIGITS)


def test_both_front_wheels_at_the_same_angle():
    base = ackermann()
    q = base.at_angles(np.radians((20.0, 20.0)))
    c1 = lateral_rows(base, q)
    sizes = np.linalg.svd(c1, compute_uv=False)
    assert_allclose(sizes, (3.668125082, 1.308266905, 0.05170935665), rtol=DIGITS)
    assert base.mobility(q) == 0
    assert set(base.twist((5 / 0.3, 5 / 0.3), q).slip_by_wheel) >= {'fl', 'fr'}


def skid_steer(track_factor=1.0, c=0.25):
    """Return a base on two axles that skids (A6)."""
    corners = {'fl': (0.22, c), 'rl': (-0.22, c), 'fr': (0.22, -c), 'rr': (-0.22, -c)}
    robot = robot_on([Spot(name, *xy, radius=0.11) for name, xy in corners.items()])
    names = list(corners)
    return kd.bases.skid_steer(robot, names[:2], names[2:], track_factor=track_factor)


def test_skid_steer_turns_on_the_spot():
    turn = skid_steer().twist((-6, -6, 6, 6))
    assert_allclose(turn.twist, (0, 0, 2.64), atol=1e-13)
    assert turn.slip_by_wheel == {}


def test_track_factor_is_the_wheel_separation_multiplier():
    # diff_drive_controller: yaw rate = (v_right - v_left)/(multiplier separation)
    base = skid_steer(1.7)
    spun = base.twist((3, 3, 5, 5))
    assert_allclose(spun.twist, (0.44, 0, 0.11 * 2 / (1.7 * 0.5)), atol=1e-13)
    assert_allclose(base.wheel_rates(spun.twist).rates, (3, 3, 5, 5), rtol=1e-12)
    assert base.mobility() == 2
