# SPDX-License-Identifier: Apache-2.0
"""Machines with every wheel kind roll: material points at rest, no power, energy kept."""

from functools import cache

import numpy as np
import pytest
from numpy.testing import assert_allclose
from support.calculus import derivative, relative
from support.rolling_machines import MACHINES

import kane_dynamics as kd
from kane_dynamics.constraints import ConstraintSet

STEPS, STEP = 10, 2e-3
SOLVED = 1e-10  # roundoff of a factorisation, condition of M up to 1e4
DIFFERENCE_STEP = 1e-3  # [s]
DIFFERENCES = 1e-9  # of order 8: (25 rad/s 1e-3)^8 and roundoff 1e-16/1e-3, of numbers up to 100
# Runge-Kutta of fourth order, (w h)^5/120 = 3e-10 a step at 25 rad/s, of up to 35 J
DRIFT = 1e-7
COMPILED = ('knife edge',)


@cache
def rolled(name, engine):
    """Return a machine and its motion under gravity."""
    m = MACHINES[name]()
    if engine == 'reference':
        return m, kd.simulate(m.robot, m.q, m.v, STEPS * STEP, constraints=m.rows, step=STEP)
    fast = kd.compile(m.robot, m.rows, cache=False)
    return m, fast.simulate(m.q, m.v, STEPS * STEP, step=STEP)


CASES = [(name, 'reference') for name in MACHINES] + [(name, 'compiled') for name in COMPILED]


@pytest.fixture(params=CASES, ids=lambda case: '-'.join(case))
def motion(request):
    """Return a machine and its motion."""
    return rolled(*request.param)


def test_rows_hold_along_the_motion(motion):
    m, path = motion
    rows = ConstraintSet(m.robot, m.rows)
    assert not np.allclose(path.q[-1], path.q[0], atol=1e-3)  # it moves
    for q, v in zip(path.q, path.v, strict=True):
        at = rows.rows(q, v, 0.0)
        scale = np.abs(at.matrix).max() * np.abs(v).max()
        assert np.abs(at.matrix @ v).max() < SOLVED * scale
        assert np.abs([x for x in at.positions if x is not None]).max(initial=0.0) < SOLVED


def slip_after(m, q, v, a, s):
    """Return A v a time s later, at constant acceleration."""
    place, speeds = kd.integrate(m.robot, q, v + 0.5 * s * a, s), v + s * a
    return ConstraintSet(m.robot, m.rows).rows(place, speeds, 0.0).matrix @ speeds


def test_accelerations_keep_the_rows(motion):
    # A a - b = 0, and it is the rate of A v along the motion, by differences
    m, path = motion
    rows = ConstraintSet(m.robot, m.rows)
    for k in (0, STEPS // 2, STEPS):
        q, v = path.q[k], path.v[k]
        at = rows.rows(q, v, 0.0)
        a = kd.forward_dynamics(m.robot, q, v, np.zeros(m.robot.nv), m.rows).acceleration
        assert relative(at.matrix @ a, at.acceleration) < SOLVED
        rate = derivative(lambda s, q=q, v=v, a=a: slip_after(m, q, v, a, s), DIFFERENCE_STEP)
        assert np.abs(rate).max() < DIFFERENCES * max(1.0, np.abs(a).max())


def test_constraint_forces_have_no_power(motion):
    m, path = motion
    for q, v in zip(path.q[::5], path.v[::5], strict=True):
        force = kd.forward_dynamics(m.robot, q, v, np.zeros(m.robot.nv), m.rows).constraint_force
        assert np.abs(force).max() > 1e-2  # the rows do something
        assert abs(force @ v) < SOLVED * np.abs(force).max() * np.abs(v).max()


def test_energy_is_kept(motion):
    m, path = motion
    energy = [
        kd.kinetic_energy(m.robot, q, v) + kd.potential_energy(m.robot, q)
        for q, v in zip(path.q, path.v, strict=True)
    ]
    assert_allclose(energy, energy[0], rtol=0, atol=DRIFT)
    kinetic = [kd.kinetic_energy(m.robot, q, v) for q, v in zip(path.q, path.v, strict=True)]
    assert np.ptp(kinetic) > 1e-4  # gravity works


@pytest.mark.parametrize('name', COMPILED)
def test_both_engines_roll_alike(name):
    (_, reference), (_, fast) = rolled(name, 'reference'), rolled(name, 'compiled')
    assert relative(fast.q[-1], reference.q[-1]) < SOLVED
    assert relative(fast.v[-1], reference.v[-1]) < SOLVED


@pytest.mark.parametrize('name', MACHINES)
def test_traced_rows_are_the_same(name):
    # what machine code is made of; all machines run compiled in make stress
    m, path = rolled(name, 'reference')
    q, v = path.q[-1], path.v[-1]
    graph = kd.casadi_function(m.robot, 'constraint_rows', m.rows)
    A, b0, b, _ = (np.array(x) for x in graph(q, v, 0.0))
    known = ConstraintSet(m.robot, m.rows).rows(q, v, 0.0)
    assert relative(A, known.matrix) < 1e-12
    assert relative(b.ravel(), known.acceleration) < 1e-12
    assert not b0.any()
