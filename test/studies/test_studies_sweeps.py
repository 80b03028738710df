# SPDX-License-Identifier: Apache-2.0
"""Pieces of ``python -m studies.sweep`` and ``studies.tip_over_chances``."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

pytest.importorskip('distributed', reason='the extra "sweep" is not installed')
pytest.importorskip('mujoco', reason='the extra "oracle" is not installed')

import kane_dynamics as kd
from kane_dynamics.sweep import run
from studies import sweep, tip_over_chances
from studies.robots import case
from studies.slope import CASTER, WHEELS

pytestmark = pytest.mark.oracle


@pytest.fixture
def small(monkeypatch):
    """Let the study roll out a cart with one joint, which compiles in a moment."""
    box = kd.Inertia(2.0, [0.1, 0.0, 0.0], np.eye(3))
    cart = kd.Body('cart', '', kd.Joint('base', kd.Planar()), inertia=box)
    hinge = kd.Joint('hinge', kd.Revolute((0.0, 0.0, 1.0)))
    robot = kd.Robot('cart', [cart, kd.Body('pole', 'cart', hinge, inertia=box)])
    monkeypatch.setattr(sweep, 'nonholonomic', lambda wheels: case(robot))


@pytest.mark.thorough
def test_rollouts_do_not_depend_on_chunks(small, tmp_path):
    by_chunk = [
        run(sweep.sweep(60, chunk), tmp_path, workers=0, progress=lambda *done: None).arrays()
        for chunk in (60, 13)
    ]
    assert np.isfinite(by_chunk[0]['q']).all()
    assert np.ptp(by_chunk[0]['q'], axis=0).min() > 0.1  # each of them starts elsewhere
    for name, rows in by_chunk[0].items():
        assert np.array_equal(by_chunk[1][name], rows)


@pytest.mark.thorough  # test/sweep kills workers, too
def test_rollouts_of_killed_workers_are_those_of_undisturbed_ones(small, tmp_path):
    found = sweep.compare(tmp_path, count=600, kills=2, workers=(0, 2), chunk=50)
    assert (found.chunks, found.kills) == (12, 2)
    assert (found.different, found.failures) == (0, 0)


@pytest.fixture(scope='module')
def drawn():
    """Return a case of the chances, what it stands on and moves with."""
    definition = tip_over_chances.sweep(3)
    job = list(definition.chunks())[-1].job
    robot = job.parameters['robot']
    base = kd.bases.differential(robot, WHEELS[:1], WHEELS[1:], supports=list(CASTER.values()))
    return job, base, tip_over_chances.motions(job, tip_over_chances.drive_of(robot))


def test_random_motions_roll_without_slip(drawn):
    job, base, motions = drawn
    dynamics = kd.dynamics(job.parameters['robot'], base.constraints)
    for q, v, a in zip(*motions, strict=True):
        rows = dynamics.constraint_rows(q, v)
        A = np.asarray(rows.matrix, dtype=float)
        # rounding of speeds and accelerations below 100 rad/s and rad/s^2
        assert_allclose(A @ v, rows.velocity, rtol=0, atol=1e-12)
        assert_allclose(A @ a, rows.acceleration, rtol=0, atol=1e-12)
        assert np.abs(v[[0, 2]]).min() > 0.0


def test_margins_of_the_chances_are_those_of_the_stance(drawn):
    job, base, motions = drawn
    loaded = job.parameters['robot'].with_payload('tool_link', job.parameters['mass'])
    supports = list(CASTER.values())
    ground_contacts = kd.base_ground_contacts(
        kd.bases.differential(loaded, WHEELS[:1], WHEELS[1:], supports=supports)
    )
    expected = [ground_contacts.margins(*state).margin for state in zip(*motions, strict=True)]
    found = tip_over_chances.margins(job)
    assert_allclose(found['margin'], expected, rtol=0, atol=1e-12)


def test_heavier_payloads_and_harder_braking_tip_more(tmp_path):
    definition = tip_over_chances.sweep(400)
    rows = tip_over_chances.chances(run(definition, tmp_path, workers=0, progress=print))
    chance = {(row['acceleration'], row['mass']): row['tips'] for row in rows}
    assert chance[3.0, 5.0] > chance[3.0, 0.0] > chance[0.5, 0.0]
    assert chance[3.0, 5.0] > chance[0.5, 5.0]
    for row in rows:
        assert list(row['quantiles'].values()) == sorted(row['quantiles'].values())
