# SPDX-License-Identifier: Apache-2.0
"""Coulomb's law for many contacts: random problems, every state of a few, other solvers."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from support.coulomb import blocks, broken, by_cone_programs, by_gauss_seidel

from kane_dynamics.algorithms.dry_friction import (
    FrictionProblem,
    friction_forces,
    planar_solutions,
    planar_states,
    proximal_forces,
)

LAW = 1e-10  # what Coulomb's law may be missed by, at numbers of size 1 to 10
SAME = 1e-7  # two ways to one solution; the worst of these systems have a condition of 1e3


def rows_of_unit_length(rng, count, r):
    rows = rng.normal(size=(count, r))
    return rows / np.linalg.norm(rows, axis=1)[:, None]


def solvable(seed, most_slips=2, loads=False):
    """Return contacts with a motion in which all could open fast enough: then there are forces."""
    rng = np.random.default_rng(seed)
    k, r = int(rng.integers(1, 7)), int(rng.integers(2, 13))
    owner = np.repeat(np.arange(k), rng.integers(0, most_slips + 1, k))
    rows, mu = rows_of_unit_length(rng, k + len(owner), r), rng.uniform(0.0, 2.0, k)
    slip = rng.normal(size=len(owner)) * rng.integers(0, 2)
    opening = mu * np.sqrt(np.bincount(owner, slip**2, k)) + rng.uniform(0.0, 0.3, k)
    free = np.r_[opening, slip] - rows @ rng.normal(size=r) * 2.0
    load = rng.uniform(0.0, 1.0, k) * rng.integers(0, 2, k) if loads else np.zeros(k)
    return FrictionProblem(rows, rows, free, owner, mu, load)


def assert_coulomb(problem, p):
    """Check the law contact by contact, as it is written in books."""
    k, u = problem.count, problem.rows @ (problem.pushes.T @ p) + problem.free
    scale = 1.0 + np.abs(p).max()
    for i in range(k):
        mine = k + np.flatnonzero(problem.owner == i)
        push, up, pull, slip = p[i], u[i], p[mine], u[mine]
        assert push >= problem.load[i]
        assert up > -LAW * scale
        assert (push - problem.load[i]) * up < LAW * scale**2
        limit, speed = problem.friction[i] * push, np.linalg.norm(slip)
        assert np.linalg.norm(pull) < limit + LAW * scale
        # what slips is held back by all there is
        assert np.linalg.norm(pull * speed + limit * slip) < LAW * scale**2


@pytest.mark.claim(38)
@pytest.mark.oracle
@pytest.mark.parametrize('loads', [False, True])
def test_forces_are_found_wherever_they_must_exist(loads):
    """Acary, Cadoux, Lemarechal and Malick (2011): a speed inside the dual cone is enough."""
    for seed in range(200):
        problem = solvable(seed, loads=loads)
        found = friction_forces(problem)
        assert found, seed
        for p in found:
            assert_coulomb(problem, p)


@pytest.mark.claim(38)
def test_trying_every_state_and_iterating_agree():
    compared = 0
    for seed in range(120):
        problem = solvable(seed, most_slips=1, loads=seed % 2 == 1)
        states = planar_states(problem)
        by_hand = proximal_forces(problem)
        if not states or by_hand is None:
            continue
        motions = [problem.pushes.T @ p for p in planar_solutions(problem, states)]
        nearest = min(np.abs(z - problem.pushes.T @ by_hand).max() for z in motions)
        assert nearest < SAME, seed
        compared += 1
    assert compared > 70


def one_contact(mu, slip, across):
    """Return a contact that comes down with 1, whose normal force turns its slip by `across`."""
    rows = np.array([[1.0, 0.0], [across, np.sqrt(1.0 - across**2)]])
    none = np.zeros(1)
    owner = np.zeros(1, dtype=np.intp)
    return FrictionProblem(rows, rows, np.array([-1.0, slip]), owner, np.array([mu]), none)


def test_one_contact_in_each_state():
    # W = [1, 0.6; 0.6, 1]: it sticks by 0.6 <= mu of its normal force
    for mu, slip, expected in (
        (0.7, 0.0, [1.5625, -0.9375]),
        (0.5, 0.0, [1.0 / 0.7, -0.5 / 0.7]),
        (0.5, 3.0, [1.0 / 0.7, -0.5 / 0.7]),
        (0.5, -3.0, [1.0 / 1.3, 0.5 / 1.3]),
    ):
        (p,) = friction_forces(one_contact(mu, slip, 0.6))
        assert_allclose(p, expected, rtol=1e-14)
    open_ = one_contact(0.5, 1.0, 0.6)
    lifted = FrictionProblem(
        open_.rows, open_.pushes, -open_.free, open_.owner, open_.friction, open_.load
    )
    (p,) = friction_forces(lifted)
    assert not p.any()


def test_without_friction_there_is_none():
    smooth = one_contact(0.0, 1.0, 0.6)
    assert_allclose(proximal_forces(smooth), [1.0, 0.0], rtol=1e-14)


def test_a_load_rubs_also_where_a_contact_lifts():
    lifts = one_contact(0.5, 1.0, 0.0)
    loaded = FrictionProblem(
        lifts.rows, lifts.pushes, np.array([2.0, 3.0]), lifts.owner, lifts.friction, np.ones(1)
    )
    (p,) = friction_forces(loaded)
    assert_allclose(p, [1.0, -0.5], rtol=1e-14)
    assert_allclose(proximal_forces(loaded), p, rtol=1e-14)


def test_a_large_load_holds_what_hardly_moves():
    slow = one_contact(0.5, 1e-3, 0.0)
    loaded = replace(slow, free=np.array([0.0, 1e-3]), load=np.ones(1))
    (p,) = friction_forces(loaded)
    assert_allclose(p, [1.0, -1e-3], rtol=1e-12)
    assert_allclose(proximal_forces(loaded), p, rtol=1e-12)


@pytest.mark.parametrize('lean', [0.1, 1e-3, 1e-5])
def test_a_wedge_of_smooth_walls_is_pressed_by_forces_that_nearly_cancel(lean):
    rows = np.array([[1.0, lean], [-1.0, lean]]) / np.hypot(1.0, lean)
    nobody = np.zeros(0, dtype=np.intp)
    wedged = FrictionProblem(
        rows, rows, rows @ np.array([0.0, -1.0]), nobody, np.zeros(2), np.zeros(2)
    )
    expected = np.full(2, 0.5 * np.hypot(1.0, lean) / lean)
    (p,) = planar_solutions(wedged, planar_states(wedged))
    assert_allclose(p, expected, rtol=1e-5)
    assert_allclose(wedged.speeds(p), 0.0, atol=1e-9)
    if lean >= 1e-3:  # nearer to each other walls leave too little for an iteration
        assert_allclose(proximal_forces(wedged), expected, rtol=1e-7)


def test_a_wedge_that_may_stick_or_not():
    """Between two walls that nearly face each other, friction holds what comes, or lets it go."""
    rows = np.array([[1.0, 0.1], [-1.0, 0.1], [0.1, -1.0], [0.1, 1.0]])
    rows /= np.linalg.norm(rows[0])
    free = rows @ np.array([0.0, -1.0])
    owner, none = np.array([0, 1]), np.zeros(2)
    wedged = FrictionProblem(rows, rows, free, owner, np.full(2, 0.5), none)
    for p in friction_forces(wedged):
        assert_coulomb(wedged, p)
    assert len(friction_forces(wedged)) == 1
    # pulled out, it may still be held by forces that only push each other
    pulled = FrictionProblem(rows, rows, -free, owner, np.full(2, 0.5), none)
    found = friction_forces(pulled)
    assert len(found) == 2
    assert not found[0].any()  # the smaller change comes first
    assert_allclose(rows @ (rows.T @ found[1]) - free, 0.0, atol=1e-14)


def any_contacts(seed):
    """Return contacts that have forces, or not: nothing says that all could open."""
    rng = np.random.default_rng(seed)
    k, r = int(rng.integers(1, 6)), int(rng.integers(1, 7))
    owner = np.repeat(np.arange(k), rng.integers(1, 3, k))
    rows = rng.normal(size=(k + len(owner), r))
    rows[:k] += 2.0 * rng.normal(size=r)
    rows /= np.linalg.norm(rows, axis=1)[:, None]
    mu, none = rng.uniform(0.0, 2.0, k), np.zeros(k)
    return FrictionProblem(rows, rows, rng.normal(size=len(rows)), owner, mu, none)


def near(problem, p):
    """Return whether forces of another solver come near to the law."""
    found = p is not None and bool(np.isfinite(p).all())
    if not found:
        return False
    missed = broken(p, problem.speeds(p), blocks(problem), problem.friction, problem.load)
    return bool(missed < 1e-6 * problem.size)


@pytest.mark.oracle
@pytest.mark.parametrize(
    'count', [30, pytest.param(2000, marks=pytest.mark.thorough)], ids=['some', 'many']
)
def test_forces_are_missed_only_where_other_solvers_find_none(count):
    clarabel = pytest.importorskip('clarabel', reason='pip install .[cones]')
    without = 0
    for seed in range(count):
        problem = any_contacts(seed)
        found = friction_forces(problem)
        for p in found:
            assert near(problem, p), seed
        if not found:
            without += 1
            assert not near(problem, by_gauss_seidel(problem, 300)), seed
            assert not near(problem, by_cone_programs(clarabel, problem, 30)), seed
    assert 0.05 * count < without < 0.5 * count


@pytest.mark.oracle
def test_forces_are_those_of_other_solvers_where_they_are_unique():
    """With little friction the law is nearly associated: one motion, which all three give."""
    clarabel = pytest.importorskip('clarabel', reason='pip install .[cones]')
    compared = 0
    for seed in range(40):
        problem = solvable(seed)
        problem = replace(problem, friction=0.1 * problem.friction)
        p = proximal_forces(problem)
        for other in (by_gauss_seidel(problem), by_cone_programs(clarabel, problem)):
            if near(problem, other):
                apart = problem.pushes.T @ (p - other)
                assert np.abs(apart).max() < 1e-4 * (problem.size + np.abs(p).max()), seed
                compared += 1
    assert compared > 40


def test_what_slides_already_has_its_direction():
    """The normal force of a sliding contact acts along its own line; others are as before."""
    rng = np.random.default_rng(3)
    rows = rows_of_unit_length(rng, 4, 6)
    pushes = rows.copy()
    pushes[0] -= 0.3 * rows_of_unit_length(rng, 1, 6)[0]  # friction of a slip that is not asked
    owner, mu = np.array([1, 1]), np.array([0.3, 0.4])
    free = np.r_[-1.0, -2.0, 0.5, -0.3]
    problem = FrictionProblem(rows, pushes, free, owner, mu, np.zeros(2))
    (p,) = friction_forces(problem)
    assert_coulomb(problem, p)
    assert_allclose(proximal_forces(problem), p, rtol=0, atol=1e-10)


@pytest.mark.parametrize('eps', [0.0, *np.logspace(-14, -1, 14)])
def test_rows_that_nearly_repeat_each_other(eps):
    """Two contacts whose slips differ by eps; a load of size 1 wants them to stick, or cannot."""
    rng = np.random.default_rng(0)
    for _ in range(20):
        rows = rows_of_unit_length(rng, 6, 6)
        rows[3] = rows[2] + eps * rng.normal(size=6)  # slips of the first contact and the second
        rows[5] = rows[4] + eps * rng.normal(size=6)
        rows /= np.linalg.norm(rows, axis=1)[:, None]
        order = np.array([0, 1, 2, 4, 3, 5])
        free, load = rows @ rng.normal(size=6), rng.uniform(0.5, 1.0, 2)
        owner, mu = np.array([0, 0, 1, 1]), rng.uniform(0.2, 2.0, 2)
        problem = FrictionProblem(rows[order], rows[order], free[order], owner, mu, load)
        (p,) = friction_forces(problem)
        assert_coulomb(problem, p)


def test_contacts_that_nothing_moves_are_not_solved_by_large_forces():
    """u_n = -1 whatever the force: a force of 1e13 is no answer."""
    rows = np.array([[0.0, 0.0], [1.0, 0.0]])
    owner, mu, load = np.zeros(1, dtype=int), np.ones(1), np.zeros(1)
    assert (
        proximal_forces(FrictionProblem(rows, rows, np.array([-1.0, 0.5]), owner, mu, load))
        is None
    )
