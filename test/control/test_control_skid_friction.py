# SPDX-License-Identifier: Apache-2.0
"""What turning costs a skid steer: known answers A6, and the motion that Coulomb's law makes."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from support.machines import Y, Z, at, inertia, revolute

import kane_dynamics as kd
from kane_dynamics.analysis.skid_friction import SkidFriction
from kane_dynamics.exceptions import ConstraintError, InvalidInputError, NameNotFoundError

HALF, RADIUS, MU = 0.25, 0.11, (0.7, 0.5)
PRINTED = 1e-9  # relative: ten digits
C = kd.constraints


def skid_steer(*axles, mass=50.0, centre=(0, 0, 0), track_factor=1.0, wheel=0.0, arm=False):
    """Return a base with its centre of mass in the origin, wheels left and right of each axle."""
    body = inertia(mass, centre, (1, 1, 1))
    bodies = [kd.Body('base', '', kd.Joint('base', kd.Planar()), inertia=body)]
    spun = inertia(wheel, (0, 0, 0), (1e-4, 1e-3, 1e-4))
    joints = []
    for k, x in enumerate(axles):
        for side, y in (('left', HALF), ('right', -HALF)):
            joints.append(f'{side} {k}')
            place = at(x, y, RADIUS)
            bodies.append(kd.Body(joints[-1], 'base', revolute(joints[-1], Y), place, spun))
    if arm:
        link = inertia(4.0, (0.3, 0, 0), (0.02, 0.1, 0.1))
        bodies.append(kd.Body('arm', 'base', revolute('arm', Z), at(0.05, 0, 0.4), link))
    robot = kd.Robot('skid steer', bodies)
    return kd.bases.skid_steer(
        robot, joints[::2], joints[1::2], radius=RADIUS, track_factor=track_factor
    )


def turning(base, forward, side, yaw):
    """Return speeds of a base along x, y and about z with wheels that roll; and steady a."""
    v, a = np.zeros((2, base.robot.nv))
    v[:3] = forward, side, yaw
    v[3:7] = (forward + np.array([-1.0, 1.0, -1.0, 1.0]) * HALF * yaw) / RADIUS
    a[:2] = -yaw * side, yaw * forward
    return v, a


@pytest.mark.parametrize(
    ('axles', 'forward', 'yaw', 'moment'),
    [
        ((0.22, -0.22), 0.0, 1.0, -53.955),
        ((0.22, -0.22), 0.0, -1.0, 53.955),
        # slow: the centrifugal force is below the digits printed, the slip is not creeping
        ((0.16, -0.28), 0.0, 0.1, -39.24),
        ((0.16, -0.28), 0.5, 0.4, -37.64),
    ],
)
def test_moment_of_known_turns(axles, forward, yaw, moment):
    base = skid_steer(*axles)
    found = SkidFriction(base, MU)
    v, a = turning(base, forward, 0.0, yaw)
    q = np.array([0.4, -0.3, 0.0, *np.zeros(4)])
    # the printed moments are about the centre of mass, in the origin; this one is about the middle
    middle = np.mean(axles)
    about_middle = moment - middle * 50.0 * forward * yaw
    assert found.moment(q, v, a) == pytest.approx(about_middle, rel=PRINTED)
    efforts = found.effort(q, v, a)
    sides = np.array([-1.0, 1.0, -1.0, 1.0])
    assert_allclose(efforts[3:], -about_middle / (2 * HALF) / 2 * RADIUS * sides, rtol=PRINTED)
    assert_allclose(efforts[:3], 0.0, rtol=0, atol=0)
    # wherever the base stands and looks
    q[2] = 0.7
    c, s = np.cos(0.7), np.sin(0.7)
    for x in (v, a):
        x[:2] = c * x[0] - s * x[1], s * x[0] + c * x[1]
    assert found.moment(q, v, a) == pytest.approx(about_middle, rel=PRINTED)
    # all that the wheels need in a steady turn about the middle is the moment that is printed
    v, a = turning(base, forward, -middle * yaw, yaw)
    q = base.robot.neutral()
    rows = (*base.constraints, *base.assumed)
    needed = kd.constrained_inverse_dynamics(base.robot, q, v, a, rows, base.driven).effort
    given = (needed + found.effort(q, v, a))[3:] @ sides * HALF / RADIUS
    assert given == pytest.approx(-moment, rel=PRINTED)


def test_wheels_that_slide_along_too_rub_less_across():
    """Steady spin with elliptic friction: torques from the yaw rate that the ground allows."""
    yaw = 1.892334699
    base = skid_steer(0.22, -0.22, track_factor=2.64 / yaw)
    found = SkidFriction(base, MU)
    v, a = turning(base, 0.0, 0.0, yaw)
    efforts = found.effort(base.robot.neutral(), v, a)
    # ten digits of the yaw rate leave nine of the difference of track factors
    assert_allclose(np.abs(efforts[3:]), 5.024830251, rtol=1e-8)


@pytest.mark.parametrize('seed', range(4))
def test_with_these_efforts_coulombs_law_keeps_the_turn(seed):
    """Forward dynamics with dry friction under each wheel turns on as was wanted."""
    rng = np.random.default_rng(seed)
    base = skid_steer(0.2, -0.25, centre=(rng.uniform(0.02, 0.1), 0, 0.1), wheel=0.5, arm=True)
    robot, yaw = base.robot, rng.uniform(0.2, 0.5)
    q = robot.neutral()
    q[-1] = rng.uniform(-0.3, 0.3)
    # the front carries more: it holds, and the base turns about it, not about the middle
    v, a = turning(base, rng.uniform(0.0, 0.3), -0.2 * yaw, yaw)
    motors = [*base.driven, 'arm']
    assumed = turning(base, v[0], 0.025 * yaw, yaw)
    rows = (*base.constraints, *base.assumed)
    rolling = kd.constrained_inverse_dynamics(robot, q, *assumed, rows, motors)
    effort = rolling.effort + SkidFriction(base, MU[1], motors).effort(q, v, a)
    ground_contacts = kd.base_ground_contacts(base, friction=MU[1])
    loads = ground_contacts.loads(q, v, a).forces
    rub = [
        C.traction(C.rolling_wheel(robot, joint, RADIUS).only('lateral'), load, MU[1])
        for joint, load in zip(ground_contacts.names, loads, strict=True)
    ]
    motion = kd.contact_forward_dynamics(robot, q, v, effort, base.constraints, rub)
    states = dict(zip(ground_contacts.names, motion.states, strict=True))
    # how the wheels of the front axle share is not determined
    assert 'sticks' in (states['left 0'], states['right 0'])
    assert states['left 1'] == states['right 1'] == 'slips'
    # loads are those of a turn about the middle: 1e-5 of them
    assert abs(motion.acceleration[2]) < 1e-4
    # what it costs to turn about another point than the middle, omega^2 x, is not known
    assert abs(motion.acceleration[0] - a[0]) < 0.225 * yaw**2
    # without them it is stopped
    stopped = kd.contact_forward_dynamics(robot, q, v, rolling.effort, base.constraints, rub)
    assert stopped.acceleration[2] < -1.0


def test_the_base_slides_away_where_friction_cannot_hold_it():
    base = skid_steer(0.16, -0.28)
    v, a = turning(base, 20.0, 0.0, 1.0)
    # all wheels give mu N inwards: their moment about the middle, at x = -0.06
    limit = 0.5 * (0.22 * 312.1363636 - 0.22 * 178.3636364)
    moment = SkidFriction(base, MU).moment(base.robot.neutral(), v, a)
    assert moment == pytest.approx(limit, rel=PRINTED)
    v, a = turning(base, -20.0, 0.0, 1.0)
    moment = SkidFriction(base, MU).moment(base.robot.neutral(), v, a)
    assert moment == pytest.approx(-limit, rel=PRINTED)


def test_where_the_base_is_does_not_count(rng):
    base = skid_steer(0.2, -0.25, centre=(0.05, 0, 0.1), wheel=0.5, arm=True)
    found, q = SkidFriction(base, MU), base.robot.neutral()
    v, a = rng.uniform(-1.0, 1.0, (2, base.robot.nv))
    moved = q.copy()
    moved[:3] = 0.7, -0.4, 2.2
    turn = np.array([[np.cos(2.2), -np.sin(2.2)], [np.sin(2.2), np.cos(2.2)]])
    there = [np.r_[turn @ x[:2], x[2:]] for x in (v, a)]
    assert found.moment(moved, *there) == pytest.approx(found.moment(q, v, a), rel=1e-12)
    assert found.moment(moved, v, a) != pytest.approx(found.moment(q, v, a), rel=1e-3)


def test_noise_of_speeds_is_no_turn():
    base = skid_steer(0.22, -0.22)
    found, q = SkidFriction(base, MU), base.robot.neutral()
    assert found.moment(q, *turning(base, 0.5, 0.0, 0.0)) == 0.0
    crept = 0.5e-3 / 0.22  # rate of half the slip below which friction fades
    assert found.moment(q, *turning(base, 0.0, 0.0, crept)) == pytest.approx(-53.955 / 2, rel=1e-6)
    assert abs(found.moment(q, *turning(base, 0.5, 0.0, 1e-16))) < 1e-9


def test_refused():
    base = skid_steer(0.22, -0.22)
    names = base.driven
    with pytest.warns(kd.exceptions.ModelWarning, match='held by none'):
        other = kd.bases.omni(base.robot, names, radius=RADIUS)
    with pytest.raises(ConstraintError, match='this is omni on a planar base'):
        SkidFriction(other, MU)
    with pytest.raises(InvalidInputError, match='friction: need mu > 0, got'):
        SkidFriction(base, (0.5, 0.0))
    with pytest.raises(NameNotFoundError, match="'elbow'"):
        SkidFriction(base, MU, ['elbow'])
