# SPDX-License-Identifier: Apache-2.0
"""Impacts of several rough contacts, none refused: boxes, wheels, and linked robots."""

import numpy as np
import pytest
from support.coulomb import broken
from support.landing import landing, linked

import kane_dynamics as kd

C = kd.constraints
LAWS = ('newton', 'poisson', 'energetic')
# Of the size of all speeds, in the metric of M: 1e-8 is what the solver accepts, and the second
# part of an impact begins where the first one ended.
LAW = 1e-7
ENERGY = 3e-8  # of the energy before: `impact` takes 1e-8 of v'Mv for none
MOMENTUM = 1e-10  # relative; conditions of M up to 1e4


def rows_in_one_unit(robot, q, v, contacts):
    """Return rows of all contacts with C M^-1 C' = 1, the factors, owners of slips and M."""
    normal = C.ConstraintSet(robot, [one.normal for one in contacts]).rows(q, v, 0.0).matrix
    tangent = C.ConstraintSet(robot, [one.tangent for one in contacts]).rows(q, v, 0.0).matrix
    M = kd.mass_matrix(robot, q)

    def size(rows):
        return np.sqrt(np.einsum('ij,ji->i', rows, np.linalg.solve(M, rows.T)))

    of_slips = size(tangent).reshape(-1, 2).max(axis=1)
    scale = np.r_[size(normal), np.repeat(of_slips, 2)]
    return np.vstack([normal, tangent]), scale, M


def check(robot, q, v, contacts, law):
    """Check momentum, signs, cones, slips and energy of an impact; return its scale of e."""
    found = kd.impact(robot, q, v, (), contacts, law=law)
    plastic = kd.impact(robot, q, v, (), contacts, 0.0, law=law)
    rows, scale, M = rows_in_one_unit(robot, q, v, contacts)
    k, energy = len(contacts), 0.5 * v @ M @ v
    size = np.sqrt(2.0 * energy)
    mu = np.array([one.friction for one in contacts]) * scale[k:][::2] / scale[:k]
    e = found.restitution_scale * np.array([one.restitution for one in contacts])
    own = [(i, k + np.arange(2 * i, 2 * i + 2)) for i in range(k)]
    p, p0 = (np.r_[x.pushes, x.tractions] * scale for x in (found, plastic))
    u, u0, before = (rows @ x / scale for x in (found.velocity, plastic.velocity, v))
    impulse = M @ (found.velocity - v) - rows.T @ (p / scale)
    assert np.abs(impulse).max() < MOMENTUM * (np.abs(M @ v).max() + np.abs(p / scale).max())
    assert -found.energy_loss < ENERGY * energy
    assert found.energy_loss == pytest.approx(
        energy - 0.5 * found.velocity @ M @ found.velocity, abs=1e-9 * energy
    )
    # an impact without restitution, and the second part of one with, have Coulomb's law
    assert broken(p0, u0, own, mu, np.zeros(k)) < LAW * size
    assert (u[:k] > -LAW * size).all()
    for i, mine in own:
        assert np.linalg.norm(p[mine]) <= mu[i] * p[i] + LAW * size
    if law == 'newton':
        least = np.r_[e * np.maximum(-before[:k], 0.0), np.zeros(2 * k)]
        assert broken(p, u - least, own, mu, np.zeros(k)) < LAW * size
    elif k > 1 and law == 'poisson':
        assert broken(p - p0, u, own, mu, e * p0[:k]) < LAW * size
    return found.restitution_scale


@pytest.mark.claim(38)
@pytest.mark.parametrize(
    'seeds',
    [
        range(12),
        *(
            pytest.param(range(k, k + 2000), marks=pytest.mark.thorough)
            for k in range(0, 10000, 2000)
        ),
    ],
    ids=str,
)
def test_what_lands_nearly_flat_has_an_impact(seeds):
    """Boxes, plates and wheels with eps from 0 to 1e-2, mu to 2, on 2, 4 and 8 corners."""
    for seed in seeds:
        for law in LAWS:
            check(*landing(seed), law)


@pytest.mark.claim(38)
@pytest.mark.parametrize(
    'seeds',
    [
        (*range(10), 183, 215),  # of these, Newton's law once contradicted itself
        *(
            pytest.param(range(k, k + 2000), marks=pytest.mark.thorough)
            for k in range(0, 10000, 2000)
        ),
    ],
    ids=str,
)
def test_no_law_refuses_linked_robots_or_gives_them_energy(seeds):
    """Floating trees with 2 or 3 contacts, each with its own restitution and friction."""
    for seed in seeds:
        for law in LAWS:
            check(*linked(seed), law)


@pytest.mark.parametrize(
    'seeds',
    [
        (*range(60), 4241),  # 4241 takes 700 steps of Newton's method
        pytest.param(range(10000), marks=pytest.mark.thorough),
    ],
    ids=str,
)
def test_what_lies_nearly_flat_has_accelerations(seeds):
    for seed in seeds:
        robot, q, _, contacts = landing(seed)
        rng, rest = np.random.default_rng(seed), np.zeros(robot.nv)
        tau = rng.normal(size=robot.nv) * rng.choice([0.0, 1.0, 20.0])
        motion = kd.contact_forward_dynamics(robot, q, rest, tau, contacts=contacts)
        rows, scale, M = rows_in_one_unit(robot, q, rest, contacts)
        k = len(contacts)
        mu = np.array([one.friction for one in contacts]) * scale[k:][::2] / scale[:k]
        own = [(i, k + np.arange(2 * i, 2 * i + 2)) for i in range(k)]
        p, u = np.r_[motion.pushes, motion.tractions] * scale, rows @ motion.acceleration / scale
        free = np.linalg.solve(M, tau) + np.r_[0, 0, 0, 0, 0, -9.81, rest[6:]]
        assert broken(p, u, own, mu, np.zeros(k)) < LAW * np.sqrt(free @ M @ free)
