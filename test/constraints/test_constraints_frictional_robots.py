# SPDX-License-Identifier: Apache-2.0
"""Robots whose contacts rub in two directions: Coulomb's law, energy, loads, shared forces."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from support.machines import inertia, planar_body
from support.planar_bodies import C, free_in_plane, on_ground
from support.trees import tree_and_state

import kane_dynamics as kd
from kane_dynamics.exceptions import (
    ConstraintError,
    InconsistentConstraintsError,
    InvalidInputError,
)

SOLVED = 1e-10  # relative; condition of M up to 1e4
LAWS = ('poisson', 'energetic')
CORNERS = [(x, y, -0.2) for x in (-0.3, 0.3) for y in (-0.4, 0.4)]
G = 9.81


def scrub_effort(robot, link, point, normal=(0.0, 0.0, 1.0), **options):
    """Return the contact of a point with a plane, which slips in two directions."""
    along = C.point_slip(robot, link, point, normal)
    return C.contact(C.point_contact(robot, link, point, normal), along, **options)


def random_case(seed, count, most=1.5):
    """Return a robot, its state, efforts and contacts anywhere on it."""
    pytest.importorskip('clarabel', reason='pip install .[cones]')  # one in twenty takes it
    robot, q, v, tau = tree_and_state(seed, ('floating', 'planar', 'fixed')[seed % 3])
    rng = np.random.default_rng(seed)
    links = [body.name for body in robot.bodies]
    contacts = [
        scrub_effort(
            robot,
            links[int(rng.integers(len(links)))],
            rng.uniform(-0.3, 0.3, 3),
            rng.normal(size=3),
            friction=rng.uniform(0.0, most),
            restitution=rng.uniform(),
        )
        for _ in range(count)
    ]
    return robot, q, v, tau, contacts


def rows_at(contacts, robot, q, v):
    """Return rows of all distances, then of all slips."""
    parts = [one.normal for one in contacts] + [one.tangent for one in contacts]
    return C.ConstraintSet(robot, parts).rows(q, v, 0.0).matrix


def assert_coulomb(contacts, found, x, rows_of, sliding=None):
    """Check forces against speeds or accelerations, contact by contact, in SI units."""
    scale = 1.0 + np.abs(found.pushes).max() + np.abs(x).max()
    for k, one in enumerate(contacts):
        up, slip = rows_of(one.normal, x)[0], rows_of(one.tangent, x)
        push, pull = found.pushes[k], found.tractions[2 * k : 2 * k + 2]
        assert push >= 0.0
        assert up > -SOLVED * scale
        assert push * up < SOLVED * scale**2
        if found.states[k] == 'open':
            assert push == 0.0
            assert up > 0.0
        against = slip if sliding is None else sliding[k]
        speed = np.linalg.norm(against)
        assert np.linalg.norm(pull) < one.friction * push + SOLVED * scale
        missing = pull * speed + one.friction * push * against
        assert np.linalg.norm(missing) < SOLVED * scale**2


@pytest.mark.claim(38)
@pytest.mark.parametrize('seed', range(24))
def test_accelerations_of_robots_that_begin_to_slip_or_slide(seed):
    """Half of the contacts slide already: their friction does not turn with the acceleration."""
    # with more friction what slides may jam
    robot, q, v, tau, contacts = random_case(seed, 1 + seed % 4, 0.4 if seed % 2 else 1.5)
    v = v if seed % 2 else np.zeros(robot.nv)
    motion = kd.contact_forward_dynamics(robot, q, v, 10.0 * tau, contacts=contacts)

    def rows_of(part, a):
        rows = C.ConstraintSet(robot, [part]).rows(q, v, 0.0)
        return rows.matrix @ a - rows.acceleration

    def slips(part):
        rows = C.ConstraintSet(robot, [part]).rows(q, v, 0.0)
        return rows.matrix @ v - rows.velocity

    sliding = [slips(one.tangent) for one in contacts] if seed % 2 else None
    assert_coulomb(contacts, motion, motion.acceleration, rows_of, sliding)
    needed = kd.inverse_dynamics(robot, q, v, motion.acceleration) - 10.0 * tau
    scale = 1.0 + np.abs(needed).max()
    assert_allclose(needed, motion.constraint_force, rtol=0, atol=SOLVED * scale)
    assert motion.residual < 1e-11
    opening = [rows_of(one.normal, motion.acceleration)[0] for one in contacts]
    assert_allclose(motion.separation, opening, rtol=0, atol=SOLVED * scale)


@pytest.mark.claim(38)
@pytest.mark.parametrize('seed', range(24))
def test_impulses_of_robots_obey_coulomb_and_the_equations_of_all_unknowns(seed):
    """e = 0, under a row: the forces that each contact's state asks for, as one linear system."""
    robot, q, v, _, contacts = random_case(seed, 1 + seed % 4)
    row = np.random.default_rng(seed).normal(size=robot.nv)
    held = C.pfaffian(robot, lambda q, t: row)
    found = kd.impact(robot, q, v, (held,), contacts, 0.0)
    x, M = found.velocity, kd.mass_matrix(robot, q)

    def rows_of(part, u):
        return C.ConstraintSet(robot, [part]).rows(q, v, 0.0).matrix @ u

    assert_coulomb(contacts, found, x, rows_of)
    assert row @ x == pytest.approx(0.0, abs=SOLVED * (1.0 + np.abs(v).max()))
    rows, forces = [row], [row]
    for k, one in enumerate(contacts):
        normal, tangent = (
            C.ConstraintSet(robot, [part]).rows(q, v, 0.0).matrix
            for part in (one.normal, one.tangent)
        )
        if found.states[k] != 'open':
            rows.append(normal[0])
            slip = tangent @ x if found.states[k] == 'slips' else np.zeros(2)
            along = slip / (np.linalg.norm(slip) or 1.0)
            forces.append(normal[0] - one.friction * along @ tangent)
        if found.states[k] == 'sticks':
            rows += list(tangent)
            forces += list(tangent)
    A, B = np.array(rows), np.array(forces)
    whole = np.block([[M, -B.T], [A, np.zeros((len(A), len(A)))]])
    expected = np.linalg.lstsq(whole, np.r_[M @ v, np.zeros(len(A))], rcond=None)[0]
    scale = 1.0 + np.abs(v).max() * np.linalg.cond(M) ** 0.5
    assert_allclose(x, expected[: robot.nv], rtol=0, atol=SOLVED * scale)


@pytest.mark.claim(38)
@given(seed=st.integers(0, 10**6), count=st.integers(1, 4), law=st.sampled_from(LAWS))
@settings(max_examples=25, deadline=None)
def test_no_impact_creates_energy(seed, count, law):
    robot, q, v, _, contacts = random_case(seed, count)
    row = np.random.default_rng(seed).normal(size=robot.nv)
    held = C.pfaffian(robot, lambda q, t: row)
    found = kd.impact(robot, q, v, (held,), contacts, law=law)
    energy = kd.kinetic_energy(robot, q, v)
    assert row @ found.velocity == pytest.approx(0.0, abs=SOLVED * (1.0 + np.abs(v).max()))
    both = rows_at(contacts, robot, q, v)
    impulse = kd.mass_matrix(robot, q) @ (found.velocity - v)
    given = found.impulses[0] * row + np.r_[found.pushes, found.tractions] @ both
    scale = 1.0 + np.abs(found.pushes).max() + np.abs(impulse).max()
    assert_allclose(impulse, given, rtol=0, atol=SOLVED * scale)
    assert found.energy_loss > -SOLVED * energy
    after = kd.kinetic_energy(robot, q, found.velocity)
    assert found.energy_loss == pytest.approx(energy - after, abs=SOLVED * energy)
    rows = both[:count]
    assert (rows @ found.velocity).min() > -SOLVED * (1.0 + np.abs(rows @ v).max())
    limits = [one.friction * push for one, push in zip(contacts, found.pushes, strict=True)]
    pulls = np.linalg.norm(found.tractions.reshape(-1, 2), axis=1)
    assert (pulls <= np.array(limits) * (1.0 + SOLVED) + SOLVED).all()


@pytest.mark.claim(38)
@pytest.mark.parametrize('seed', [0, 1, 2, 3, 4, 5, 8])
def test_what_several_contacts_give_back(seed):
    """Poisson: e times the impulse; Stronge: e^2 of the work, or of the energy if that is less."""
    robot, q, v, _, contacts = random_case(seed, 2 + seed % 2)
    e = 1.0 if seed in (4, 8) else 0.7  # where friction gives work while they are compressed
    k, rows = len(contacts), rows_at(contacts, robot, q, v)
    first = kd.impact(robot, q, v, (), contacts, 0.0, law='poisson')
    assert (first.pushes > 0.0).any()

    def work(before, after, impulses):
        return 0.5 * impulses * (rows @ (before + after))

    def forces(found):
        return np.r_[found.pushes, found.tractions]

    for law in LAWS:
        found = kd.impact(robot, q, v, (), contacts, e, law=law)
        taken = work(v, first.velocity, forces(first))
        given = work(first.velocity, found.velocity, forces(found) - forces(first))
        assert (found.pushes >= first.pushes).all()
        if law == 'poisson':
            again = found.pushes >= (1.0 + e) * first.pushes * (1.0 - SOLVED)
            assert again.all()
            assert (rows[:k] @ found.velocity)[found.pushes == 0.0].min(initial=0.0) > -SOLVED
            continue
        allowed = min(-(e**2) * np.minimum(taken[:k], 0.0).sum(), -taken.sum())
        assert max(given[:k].sum(), given.sum()) == pytest.approx(allowed, abs=SOLVED)


def box(friction, **options):
    """Return a box of 2 kg on the ground, its centre of mass beside its origin."""
    load = inertia(2.0, (0.05, 0.1, 0.0), (0.1, 0.15, 0.12))
    body = kd.Body('box', '', kd.Joint('base', kd.Free()), inertia=load)
    robot = kd.Robot('box', [body])
    feet = [scrub_effort(robot, 'box', corner, friction=friction, **options) for corner in CORNERS]
    return robot, feet, np.r_[0.0, 0.0, 0.2, 1.0, 0.0, 0.0, 0.0]


@pytest.mark.claim(38)
def test_a_box_is_pushed_along_the_ground():
    """Twelve forces, of which six are determined: it sticks up to mu m g, then slides on."""
    robot, feet, q = box(0.4)
    rest, most = np.zeros(6), 0.4 * 2.0 * G
    for push in (0.999 * most, 1.5 * most):
        # at the height of the ground, through the centre of mass: it does not turn
        wrench = {'box': np.r_[np.cross((0.05, 0.1, -0.2), (push, 0, 0)), push, 0.0, 0.0]}
        motion = kd.contact_forward_dynamics(
            robot, q, rest, rest, (), feet, external_wrenches=wrench
        )
        slides = push > most
        assert motion.states == ('slips' if slides else 'sticks',) * 4
        expected = [0.0, 0.0, 0.0, (push - most) / 2.0 if slides else 0.0, 0.0, 0.0]
        assert_allclose(motion.acceleration, expected, rtol=0, atol=1e-11)
        assert motion.tractions[::2].sum() == pytest.approx(-min(push, most))
        assert motion.pushes.sum() == pytest.approx(2.0 * G)
        grip = np.linalg.norm(motion.tractions.reshape(-1, 2), axis=1)
        assert (grip <= 0.4 * motion.pushes * (1.0 + 1e-12)).all()


@pytest.mark.parametrize('law', LAWS)
def test_a_box_lands_on_its_corners(law):
    """Flat on the ground, through its centre: without friction's part, as a ball does."""
    load = inertia(2.0, (0.0, 0.0, 0.0), (0.1, 0.15, 0.12))
    robot = kd.Robot('box', [kd.Body('box', '', kd.Joint('base', kd.Free()), inertia=load)])
    feet = [
        scrub_effort(robot, 'box', corner, friction=0.3, restitution=0.5) for corner in CORNERS
    ]
    q = np.r_[0.0, 0.0, 0.2, 1.0, 0.0, 0.0, 0.0]
    found = kd.impact(robot, q, [0, 0, 0, 0, 0, -2.0], (), feet, law=law)
    assert_allclose(found.velocity, [0, 0, 0, 0, 0, 1.0], rtol=0, atol=1e-9)
    assert found.pushes.sum() == pytest.approx(6.0)
    assert found.energy_loss == pytest.approx(0.75 * 4.0)
    assert found.states == ('open',) * 4


def test_static_friction_holds_what_does_not_slip_yet():
    robot = free_in_plane(1.0, 1.0)
    q, rest = np.array([0.0, 0.1, 0.0]), np.zeros(3)
    contact = on_ground(robot, (0, 0, -0.1), friction=0.2, static_friction=0.5)
    hold = [C.lock(robot, 'turn')]

    def pushed(force, v):
        wrench = {'body': [0, 0, 0, force, 0, 0]}
        return kd.contact_forward_dynamics(
            robot, q, v, rest, hold, [contact], external_wrenches=wrench
        )

    assert pushed(0.49 * G, rest).states == ('sticks',)
    begins = pushed(0.51 * G, rest)
    assert begins.states == ('slips',)
    assert begins.acceleration[0] == pytest.approx(0.31 * G)
    slides = pushed(0.49 * G, np.array([-1.0, 0.0, 0.0]))
    assert slides.states == ('slips',)
    assert slides.acceleration[0] == pytest.approx(0.69 * G)
    assert slides.alternatives == ()


def test_a_wheel_under_a_given_load():
    """Nothing lifts it: the load's friction holds, or is what is left."""
    robot = planar_body(2.0, 0.5, 0.0)
    side = C.pfaffian(robot, lambda q, t: np.eye(3)[:2])
    wheel = C.traction(side, 30.0, 0.4)
    state = np.zeros(3), np.zeros(3)
    held = kd.contact_forward_dynamics(robot, *state, [6.0, 8.0, 0.0], contacts=[wheel])
    assert_allclose(held.acceleration, 0.0, rtol=0, atol=1e-13)
    assert_allclose(held.tractions, [-6.0, -8.0], rtol=1e-12)
    assert held.states == ('sticks',)
    assert_allclose(held.pushes, [30.0], rtol=1e-14)
    slips = kd.contact_forward_dynamics(robot, *state, [12.0, 16.0, 0.0], contacts=[wheel])
    assert_allclose(slips.acceleration, [2.4, 3.2, 0.0], rtol=1e-12)
    slides = kd.contact_forward_dynamics(
        robot, state[0], [0.0, -1.0, 0.0], [12.0, 0, 0], contacts=[wheel]
    )
    assert_allclose(slides.acceleration, [6.0, 6.0, 0.0], rtol=1e-12, atol=1e-14)
    # an impact has no time for it
    found = kd.impact(robot, state[0], [1.0, 2.0, 0.0], (), [wheel])
    assert_allclose(found.velocity, [1.0, 2.0, 0.0], rtol=1e-14)


def test_a_box_on_a_belt():
    """Slip is counted from what moves below."""
    robot, rest = planar_body(2.0, 0.5, 0.0), np.zeros(3)
    belt = C.pfaffian(robot, lambda q, t: np.eye(3)[:2], lambda q, t: np.array([0.5, 0.0]))
    on_it = C.traction(belt, 30.0, 0.4)
    lagging = kd.contact_forward_dynamics(robot, rest, rest, rest, contacts=[on_it])
    assert_allclose(lagging.acceleration, [6.0, 0.0, 0.0], rtol=1e-12, atol=1e-14)
    carried = kd.contact_forward_dynamics(robot, rest, [0.5, 0, 0], [3.0, 0, 0], contacts=[on_it])
    assert carried.states == ('sticks',)
    assert_allclose(carried.acceleration, 0.0, rtol=0, atol=1e-14)


def test_contacts_with_friction_that_contradict_each_other_are_named():
    robot = free_in_plane(1.0, 1.0)
    q, rest = np.array([0.0, 0.1, 0.0]), np.zeros(3)
    floor = on_ground(robot, (0, 0, -0.1), friction=0.5)
    down = C.holonomic(robot, lambda q, t: -q[1] - t**2, 'roof')  # comes down
    with pytest.raises(InconsistentConstraintsError, match=r"\['body/contact'\]"):
        kd.contact_forward_dynamics(robot, q, rest, rest, [down, C.lock(robot, 'turn')], [floor])


def test_what_is_no_contact_is_refused():
    robot, feet, q = box(0.4)
    rest = np.zeros(6)
    with pytest.raises(InvalidInputError, match='need several, got one, Contact'):
        kd.contact_forward_dynamics(robot, q, rest, rest, contacts=feet[0])
    with pytest.raises(InvalidInputError, match='need what functions of .* return, got str'):
        kd.impact(robot, q, rest, (), ['foot'])
    with pytest.raises(ConstraintError, match='was built for another robot'):
        kd.impact(free_in_plane(1.0, 1.0), np.zeros(3), np.zeros(3), (), feet)
    with pytest.raises(InvalidInputError, match=r"'box/contact', .* is a contact, .*contacts="):
        kd.forward_dynamics(robot, q, rest, rest, feet[:1])
    several = kd.contact_forward_dynamics(robot, q, rest, rest, contacts=(foot for foot in feet))
    assert len(several.contacts) == 4
