# SPDX-License-Identifier: Apache-2.0
"""Mechanisms whose rows repeat others keep their energy."""

import functools

import numpy as np
import pytest
from numpy.testing import assert_allclose
from support.mechanisms import MECHANISMS

import kane_dynamics as kd
from kane_dynamics.compiler.graphs.row_plan import row_plan

RANKS = {'parallelogram': (5, 2), 'bricard': (6, 5), 'bennett': (6, 3), 'car': (9, 7)}
# What order 4 and order 2 leave of the energy that moves in these steps, all well below the
# tenth that the braking by a repeated row would take.
BOUNDS = {'rk4': 1e-6, 'midpoint': 1e-3}


@functools.cache
def compiled(name):
    """Return the compiled robot of a mechanism."""
    robot, rows, _, _ = MECHANISMS[name]()
    return kd.compile(robot, rows, derivatives=name == 'bennett', cache=False)


# Bricard's loop takes longest to compile; `make laws` simulates a minute of each
COMPILED = [
    pytest.param(name, marks=pytest.mark.thorough if name in ('bricard', 'bennett', 'car') else ())
    for name in MECHANISMS
]


@functools.cache
def plan_of(name):
    """Return which rows of a mechanism a compiled solve is for."""
    robot, rows, _, _ = MECHANISMS[name]()
    return row_plan(kd.constraints.ConstraintSet(robot, rows))


def energy(robot, motion):
    """Return T + V and T along a motion."""
    kinetic = np.array(
        [kd.kinetic_energy(robot, q, v) for q, v in zip(motion.q, motion.v, strict=True)]
    )
    return kinetic + [kd.potential_energy(robot, q) for q in motion.q], kinetic


@pytest.mark.parametrize('name', MECHANISMS)
def test_rank_of_redundant_rows(name):
    robot, rows, q, v = MECHANISMS[name]()
    motion = kd.forward_dynamics(robot, q, v, np.zeros(robot.nv), rows)
    assert (len(motion.labels), motion.rank) == RANKS[name]
    assert np.abs(v).max() > 0.5  # it moves


@pytest.mark.parametrize('name', MECHANISMS)
def test_compiled_solves_are_of_independent_rows(name):
    # whatever the order in which rows that repeat each other were given
    plan = plan_of(name)
    assert len(plan.order) == RANKS[name][1]
    assert len(plan.order) + len(plan.repeated) == RANKS[name][0]
    assert plan.certain


@pytest.mark.parametrize('seed', range(1, 5))
def test_plans_of_loops_singular_at_the_neutral_state_are_no_luck(seed, monkeypatch):
    """Regression: one try in five closed Bricard's loop, else its rows were judged while open."""
    rng = np.random.default_rng(seed)
    monkeypatch.setattr(np.random, 'default_rng', lambda _: rng)
    robot, rows, _, _ = MECHANISMS['bricard']()
    plan = row_plan(kd.constraints.ConstraintSet(robot, rows))
    assert (len(plan.order), plan.certain) == (RANKS['bricard'][1], True)


@pytest.mark.parametrize('name', MECHANISMS)
def test_no_choice_of_rows_is_weak_without_another(name):
    # every choice of three rows of Bennett's loop is singular somewhere on the way round
    plan = plan_of(name)
    assert plan.second or name != 'bennett'  # of others a choice may be strong all the way
    if plan.second:
        assert plan.second != plan.order
        assert len(plan.second) == RANKS[name][1]


@pytest.mark.parametrize('integrator', BOUNDS)
@pytest.mark.parametrize('name', COMPILED)
def test_compiled_steps_keep_the_energy_and_need_no_reference(name, integrator):
    """Regressions: rows that drift had turned by 1e-5 sent 700 of 800 steps to the reference, and
    rows of Bennett's loop that become dependent on its way round, where others do not, 17 of 800.
    """
    _, _, q, v = MECHANISMS[name]()
    fast = compiled(name)
    before = fast.fallback_count
    motion = fast.simulate(q, v, 4.0, step=5e-3, integrator=integrator, halvings=6)
    # the parallelogram changes its rank where it lies flat: there the reference decides
    assert bool(motion.rank_events) == (name == 'parallelogram')
    assert fast.fallback_count - before <= 2 * len(motion.rank_events)
    kinetic = fast.kinetic_energy(motion.q, motion.v)
    total = kinetic + fast.potential_energy(motion.q)
    assert np.abs(total - total[0]).max() < BOUNDS[integrator] * kinetic.max()


def test_derivatives_are_those_along_the_motion():
    # the change of vdot, where each of two choices of rows is singular or the stronger one
    robot, _, q, v = MECHANISMS['bennett']()
    fast, still, step = compiled('bennett'), np.zeros(robot.nv), 1e-3
    motion = fast.simulate(q, v, 0.9, step=step)
    a = np.array([fast.acceleration(p, u, still) for p, u in zip(motion.q, motion.v, strict=True)])
    for k in (20, 890):
        known = (a[k - 2] - 8.0 * a[k - 1] + 8.0 * a[k + 1] - a[k + 2]) / (12.0 * step)
        part = fast.forward_dynamics_derivatives(motion.q[k], motion.v[k], still)
        got = part.dq @ motion.v[k] + part.dv @ a[k]
        # h^4/30 of a fifth derivative, for motions of times of 0.03 s
        assert_allclose(got, known, rtol=0, atol=1e-5 * np.abs(known).max())


@pytest.mark.parametrize('integrator', BOUNDS)
@pytest.mark.parametrize('name', MECHANISMS)
def test_energy_of_mechanisms_with_redundant_rows(name, integrator):
    robot, rows, q, v = MECHANISMS[name]()
    motion = kd.simulate(robot, q, v, 0.12, constraints=rows, step=4e-3, integrator=integrator)
    total, kinetic = energy(robot, motion)
    assert np.abs(total - total[0]).max() < BOUNDS[integrator] * kinetic.max()
    assert np.abs(motion.q[-1] - q).max() > 0.02


def test_stages_far_off_the_manifold_take_no_repeated_row():
    """Regression: wheels that steer by 0.2 rad in a step of 5 ms; its stages are off by 4e-3 rad,
    rows that repeat each other were told apart by that, and a step gained 1.8 of 2.2 J."""
    robot, rows, _, v = MECHANISMS['car']()
    q, tau = robot.neutral(), np.zeros(robot.nv)
    q, v = kd.simulation.project(robot, rows, q, np.eye(robot.nv)[0], 0.0)
    tau[robot.velocity_index('steer_left')] = 0.02
    start = compiled('car').simulate(q, v, 1.9, effort=tau, step=2.5e-3)
    for simulate in (
        compiled('car').simulate,
        lambda *a, **k: kd.simulate(robot, *a, constraints=rows, **k),
    ):
        motion = simulate(start.q[-1], start.v[-1], 0.03, effort=tau, step=5e-3)
        total, kinetic = energy(robot, motion)
        gained = total - (motion.q - motion.q[0]) @ tau - total[0]
        assert np.abs(np.diff(motion.q, axis=0)).max() > 0.15
        assert np.abs(gained).max() < 1e-3 * kinetic.max()  # 0.2^5 of rk4


@pytest.mark.parametrize('integrator', BOUNDS)
def test_work_of_the_wheels_of_a_car(integrator):
    """Regression: rows that drift apart by 1e-8 braked it, motor work of 7.08 J left 4.85 J."""
    robot, rows, q, v = MECHANISMS['car']()
    tau = np.zeros(robot.nv)
    tau[[robot.velocity_index('rear_left'), robot.velocity_index('rear_right')]] = 0.2
    tau[robot.velocity_index('steer_left')] = -0.05
    motion = kd.simulate(
        robot,
        q,
        v,
        0.12,
        effort=lambda t, q, v: tau,
        constraints=rows,
        step=4e-3,
        integrator=integrator,
    )
    total, kinetic = energy(robot, motion)
    work = tau @ (motion.q[-1] - motion.q[0])
    assert work > 0.1
    assert total[-1] - total[0] == pytest.approx(work, abs=BOUNDS[integrator] * kinetic.max())
