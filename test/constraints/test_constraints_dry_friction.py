# SPDX-License-Identifier: Apache-2.0
"""Dry friction at one instant, against answers by hand: rods, blocks, wheels on slopes."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from support.planar_bodies import C, double_pendulum, free_in_plane, on_ground, rod

import kane_dynamics as kd
from kane_dynamics.exceptions import ContactError, InvalidInputError

PRINTED = 1.1e-9  # of numbers with ten digits
PARTED = ('poisson', 'energetic')  # laws in two parts


def sliding_rod(friction, slip, turning=0.0):
    """Return Painleve's rod whose lower end slides on the ground, at tan(angle) = 2."""
    robot, q, end = rod(0.5, 1.0, np.arctan(2.0))
    contact = on_ground(robot, end, friction=friction)
    v = np.array([0.0, 0.0, -turning])
    along, up = (
        C.ConstraintSet(robot, [one]).rows(q, v, 0.0).matrix[0] @ v
        for one in (contact.tangent, contact.normal)
    )
    return robot, q, v + [slip - along, -up, 0.0], contact


@pytest.mark.claim(38)
@pytest.mark.parametrize(
    ('friction', 'slip', 'force'), [(1.0, -1.0, 24.525), (1.6, 1.0, 2.786931818), (0.0, 1.0, None)]
)
def test_a_rod_that_slides(friction, slip, force):
    robot, q, v, contact = sliding_rod(friction, slip)
    motion = kd.contact_forward_dynamics(robot, q, v, np.zeros(3), contacts=(contact,))
    expected = 9.81 / 1.6 if force is None else force  # 1 + 3 cos^2 = 1.6
    assert motion.pushes[0] == pytest.approx(expected, abs=PRINTED * 10)
    assert_allclose(motion.tractions, -friction * slip * motion.pushes, rtol=1e-13, atol=0)
    assert motion.states == ('slips',)
    assert motion.alternatives == ()
    assert abs(motion.separation[0]) < 1e-13


@pytest.mark.claim(38)
def test_painleves_rod_that_no_force_can_hold():
    robot, q, v, contact = sliding_rod(1.6, -1.0)
    with pytest.raises(ContactError, match=r"\['body/contact'\].*Painleve.*law='poisson'"):
        kd.contact_forward_dynamics(robot, q, v, np.zeros(3), contacts=(contact,))


@pytest.mark.claim(38)
def test_painleves_rod_that_two_forces_hold():
    robot, q, v, contact = sliding_rod(1.6, -1.0, 6.0)
    motion = kd.contact_forward_dynamics(robot, q, v, np.zeros(3), contacts=(contact,))
    assert motion.states == ('open',)
    assert motion.separation[0] == pytest.approx(6.289689438, abs=PRINTED)
    assert motion.pushes[0] == 0.0
    (other,) = motion.alternatives
    assert other.states == ('slips',)
    assert other.pushes[0] == pytest.approx(19.65527949, abs=10 * PRINTED)
    assert other.separation[0] == pytest.approx(0.0, abs=1e-13)


@pytest.mark.claim(38)
@pytest.mark.parametrize('law', PARTED)
def test_painleves_rod_has_an_impact_without_collision(law):
    robot, q, v, contact = sliding_rod(1.6, -1.0)
    found = kd.impact(robot, q, v, (), (contact,), law=law)
    impulse = [found.tractions[0], found.pushes[0]]
    assert_allclose(impulse, (0.4, 0.3), rtol=0, atol=PRINTED)
    assert_allclose(found.velocity, (-0.6, 0.3, -1.341640786), rtol=0, atol=PRINTED)
    assert found.energy_loss == pytest.approx(0.2, abs=PRINTED)
    assert found.states == ('sticks',)
    # with less friction, or the other way, the same state is no impact
    for friction, slip in ((1.0, -1.0), (1.6, 1.0)):
        robot, q, v, contact = sliding_rod(friction, slip)
        assert kd.impact(robot, q, v, (), (contact,), law=law).active == ()


FALLEN = [  # friction, e, (Jt, Jn, turning, vx, vz, loss)
    (0.0, 0.0, (0.0, 1.846153846, -4.79644839, 0.0, -2.076923077, 2.769230769)),
    (0.0, 0.6, (0.0, 2.953846154, -7.674317424, 0.0, -1.523076923, 1.772307692)),
    (0.8, 0.0, (1.948557159, 2.625, -3.897114317, 0.9742785793, -1.6875, 3.9375)),
    (0.8, 0.6, (3.117691454, 4.2, -6.235382907, 1.558845727, -0.9, 2.52)),
    (
        0.2,
        0.6,
        (0.6420991551, 3.210495775, -7.377963968, 0.3210495775, -1.394752112, 2.415397688),
    ),
]


@pytest.mark.claim(38)
@pytest.mark.parametrize('law', ['newton', *PARTED])
@pytest.mark.parametrize(('friction', 'e', 'expected'), FALLEN)
def test_a_rod_falls_on_its_end(friction, e, expected, law):
    robot, q, end = rod(0.5, 2.0, np.pi / 6)
    contact = on_ground(robot, end, friction=friction, restitution=e)
    found = kd.impact(robot, q, [0.0, -3.0, 0.0], (), (contact,), law=law)
    vx, vz, turn = found.velocity
    numbers = found.tractions[0], found.pushes[0], -turn, vx, vz, found.energy_loss
    assert_allclose(numbers, expected, rtol=0, atol=PRINTED)
    state = 'open' if e else 'sticks' if friction > 0.743 else 'slips'  # 0.742307489 holds it
    assert found.states == (state,)


@pytest.mark.claim(38)
@pytest.mark.parametrize(
    ('law', 'impulse', 'rates', 'loss'),
    [
        (
            'poisson',
            (0.04059796008, 0.113716732),
            (-0.1971797061, 0.2196066844),
            0.0105457341,
        ),
        (
            'energetic',
            (0.03825648185, 0.1183996885),
            (-0.198932336, 0.2231367854),
            0.01035773289,
        ),
    ],
)
def test_kanes_double_pendulum(law, impulse, rates, loss):
    """Slip stops while the contact expands, and turns round."""
    robot = double_pendulum()
    contact = on_ground(robot, (0, 0, -1), 'lower', friction=0.5, restitution=0.5)
    state = np.radians([20.0, 10.0]), [-0.1, -0.1]
    found = kd.impact(robot, *state, (), (contact,), law=law)
    assert_allclose([found.tractions[0], found.pushes[0]], impulse, rtol=0, atol=PRINTED)
    assert_allclose(np.cumsum(found.velocity), rates, rtol=0, atol=PRINTED)
    assert found.energy_loss == pytest.approx(loss, abs=PRINTED)


@pytest.mark.claim(38)
def test_newtons_law_creates_no_energy_with_less_restitution():
    """With all of e it would create 0.0136 J (Kane and Levinson)."""
    robot = double_pendulum()
    contact = on_ground(robot, (0, 0, -1), 'lower', friction=0.5, restitution=0.5)
    state = np.radians([20.0, 10.0]), [-0.1, -0.1]
    found = kd.impact(robot, *state, (), (contact,))
    assert 0.0 < found.restitution_scale < 1.0
    assert found.energy_loss == pytest.approx(0.0, abs=1e-9)
    up = C.ConstraintSet(robot, [contact.normal]).rows(*state, 0.0).matrix[0]
    rebound = found.restitution_scale * 0.5 * -(up @ state[1])
    assert up @ found.velocity == pytest.approx(rebound, abs=1e-12)


@pytest.mark.claim(38)
@pytest.mark.parametrize('law', ['newton', *PARTED])
def test_a_narrow_block_rocks_on_rough_ground(law):
    """Housner: B holds it by 0.2884615385 of its normal impulse, and A leaves."""
    robot = free_in_plane(1.0, (0.2**2 + 0.5**2) / 3.0)
    corners = (-0.2, 0.0, -0.5), (0.2, 0.0, -0.5)
    q, v = np.array([0.0, 0.5, 0.0]), np.array([0.4, -0.16, 0.8])  # about A
    for friction, state in ((0.289, 'sticks'), (0.288, 'slips')):
        contacts = [on_ground(robot, corner, friction=friction) for corner in corners]
        found = kd.impact(robot, q, v, (), contacts, law=law)
        assert found.states == ('open', state)
    contacts = [on_ground(robot, corner, friction=0.5) for corner in corners]
    found = kd.impact(robot, q, v, (), contacts, law=law)
    assert_allclose(found.pushes, (0.0, 0.2868965517), rtol=0, atol=PRINTED)
    assert_allclose(found.tractions, (0.0, -0.08275862069), rtol=0, atol=PRINTED)
    assert found.velocity[2] / 0.8 == pytest.approx(0.7931034483, abs=PRINTED)
    leaves = C.ConstraintSet(robot, [contacts[0].normal]).rows(q, v, 0.0).matrix[0]
    assert leaves @ found.velocity == pytest.approx(0.2537931034, abs=PRINTED)
    energy = 0.5 * v @ kd.mass_matrix(robot, q) @ v
    assert found.energy_loss / energy == pytest.approx(0.3709869203, abs=PRINTED)


@pytest.mark.claim(38)
@pytest.mark.parametrize('law', ['newton', *PARTED])
def test_a_wide_block_stops_on_rough_ground(law):
    """Both corners push; of the friction, only the sum is determined."""
    robot = free_in_plane(1.0, (0.8**2 + 0.5**2) / 3.0)
    corners = (-0.8, 0.0, -0.5), (0.8, 0.0, -0.5)
    v = np.array([0.4, -0.64, 0.8])
    contacts = [on_ground(robot, corner, friction=0.7) for corner in corners]
    found = kd.impact(robot, [0.0, 0.5, 0.0], v, (), contacts, law=law)
    assert_allclose(found.velocity, 0.0, rtol=0, atol=1e-14)
    assert_allclose(found.pushes, (0.04666666667, 0.5933333333), rtol=0, atol=PRINTED)
    assert found.tractions.sum() == pytest.approx(-0.4, abs=1e-13)
    assert (np.abs(found.tractions) <= 0.7 * found.pushes + 1e-14).all()
    assert found.energy_loss == pytest.approx(0.3797333333, abs=PRINTED)
    assert found.states == ('sticks', 'sticks')


def on_slope(degrees, tensor=1e6, **options):
    """Return a wheel of 1 kg and radius 0.1, or a block, on a slope down along x."""
    angle = np.radians(degrees)
    robot = free_in_plane(1.0, tensor)
    pull = {'body': [0, 0, 0, 9.81 * np.sin(angle), 0, 9.81 * (1.0 - np.cos(angle))]}
    contact = on_ground(robot, (0.0, 0.0, -0.1), **options)
    hold = [C.lock(robot, 'turn')] if tensor == 1e6 else []
    q, rest = np.array([0.0, 0.1, 0.0]), np.zeros(3)
    return kd.contact_forward_dynamics(
        robot, q, rest, rest, hold, [contact], external_wrenches=pull
    )


@pytest.mark.claim(38)
def test_a_block_on_a_slope():
    stays = on_slope(25.0, friction=0.4, static_friction=0.5)
    assert stays.states == ('sticks',)
    assert_allclose(stays.acceleration, 0.0, rtol=0, atol=1e-13)
    assert stays.tractions[0] == pytest.approx(-4.145885148, abs=PRINTED)
    slides = on_slope(30.0, friction=0.4, static_friction=0.5)
    assert slides.states == ('slips',)
    assert slides.acceleration[0] == pytest.approx(1.506716316, abs=PRINTED)


@pytest.mark.claim(38)
@pytest.mark.parametrize(
    ('degrees', 'a', 'friction', 'turning', 'slip'),
    [
        (30.0, 3.503571429, 1.401428571, 35.03571429, 0.0),
        (45.0, 5.549374019, 1.387343505, 34.68358762, 2.081015257),
    ],
)
def test_a_ball_on_a_slope(degrees, a, friction, turning, slip):
    motion = on_slope(degrees, 0.4 * 0.1**2, friction=0.2)
    assert motion.acceleration[0] == pytest.approx(a, abs=PRINTED)
    assert motion.tractions[0] == pytest.approx(-friction, abs=PRINTED)
    assert motion.acceleration[2] == pytest.approx(turning, abs=10 * PRINTED)
    got = motion.acceleration[0] - 0.1 * motion.acceleration[2]
    assert got == pytest.approx(slip, abs=PRINTED)
    assert motion.states == ('slips' if slip else 'sticks',)


def test_what_is_no_law_is_refused():
    robot, q, end = rod(0.5, 2.0, 0.5)
    contact = on_ground(robot, end)
    with pytest.raises(InvalidInputError, match=r"law must be one of \['newton', 'poisson'"):
        kd.impact(robot, q, np.zeros(3), (), (contact,), law='hertz')
