# SPDX-License-Identifier: Apache-2.0
"""Mechanisms whose rows repeat others keep their energy."""

import numpy as np
import pytest
from support.mechanisms import MECHANISMS

import kane_dynamics as kd
from kane_dynamics.kernels.selection import row_plan

RANKS = {'parallelogram': (5, 2), 'bricard': (6, 5), 'bennett': (6, 3), 'car': (9, 7)}
# What order 4 and order 2 leave of the energy that moves in these steps, all well below the
# tenth that the braking by a repeated row would take.
BOUNDS = {'rk4': 1e-6, 'midpoint': 1e-3}


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
    robot, rows, _, _ = MECHANISMS[name]()
    plan = row_plan(kd.constraints.ConstraintSet(robot, rows))
    assert len(plan.order) == RANKS[name][1]
    assert len(plan.order) + len(plan.repeated) == RANKS[name][0]
    assert plan.certain


@pytest.mark.parametrize('name', ['bricard', 'car'])
def test_compiled_stages_off_the_manifold_need_no_reference(name):
    # regression: rows that drift had turned by 1e-5 sent 700 of 800 steps to the reference
    robot, rows, q, v = MECHANISMS[name]()
    fast = kd.compile(robot, rows)
    motion = fast.simulate(q, v, 1.0, step=5e-3, integrator='rk4')
    assert fast.fallbacks == 0
    T = fast.kinetic_energy(motion.q, motion.v)
    total = T + fast.potential_energy(motion.q)
    assert np.abs(total - total[0]).max() < BOUNDS['rk4'] * T.max()


@pytest.mark.parametrize('integrator', BOUNDS)
@pytest.mark.parametrize('name', MECHANISMS)
def test_energy_of_mechanisms_with_redundant_rows(name, integrator):
    robot, rows, q, v = MECHANISMS[name]()
    motion = kd.simulate(robot, q, v, 0.12, constraints=rows, step=4e-3, integrator=integrator)
    total, kinetic = energy(robot, motion)
    assert np.abs(total - total[0]).max() < BOUNDS[integrator] * kinetic.max()
    assert np.abs(motion.q[-1] - q).max() > 0.02


@pytest.mark.parametrize('integrator', BOUNDS)
def test_work_of_the_wheels_of_a_car(integrator):
    # regression: rows that drift apart by 1e-8 braked it, motor work of 7.08 J left 4.85 J
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
