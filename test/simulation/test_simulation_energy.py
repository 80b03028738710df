# SPDX-License-Identifier: Apache-2.0
"""Energy that the default time step keeps over a million steps of 1 ms, without friction."""

import numpy as np
import pytest
from support.machines import DRIVE, differential_drive, inertia, planar_2r

import kane_dynamics as kd

STEPS, STEP = 1_000_000, 0.001


def spinning(kind):
    """Return a body of M = diag(1, 2, 3) about its centre of mass, without weight."""
    joint = kd.Joint('joint', kind())
    body = kd.Body('body', '', joint, inertia=inertia(1.0, diagonal=(1.0, 2.0, 3.0)))
    return kd.Robot('spinning', [body], (0, 0, 0))


def energies(dynamics, q, v, steps=STEPS):
    """Return T + V along a motion, and the largest T [J]."""
    run = dynamics.simulate(q, v, steps * STEP, step=STEP, integrator='semi_implicit')
    kinetic = dynamics.kinetic_energy(run.q, run.v)
    return kinetic + dynamics.potential_energy(run.q), kinetic.max()


@pytest.mark.parametrize('kind', [kd.Spherical, kd.Free])
def test_a_spinning_body_keeps_its_energy(kind):
    # was: twice the energy at 200 s, DivergedError at 462 s
    robot = spinning(kind)
    v = np.zeros(robot.nv)
    v[:3] = 1.0, 2.0, 3.0
    energy, _ = energies(kd.compile(robot, cache=False), robot.neutral(), v)
    assert energy[0] == pytest.approx(18.0)
    assert np.abs(energy - 18.0).max() < 1e-5 * 18.0


@pytest.mark.parametrize(('start', 'drift'), [((-1.2, 0.5), 1e-5), ((0.3, 0.4), 2e-3)])
def test_a_double_pendulum_keeps_its_energy(start, drift):
    # was: 11 J gained from the first, where 3.8 J move; the second turns over and is chaotic
    energy, most = energies(kd.compile(planar_2r()), start, np.zeros(2))
    assert np.abs(energy - energy[0]).max() < drift * most


def test_a_rolling_robot_keeps_its_energy():
    robot = differential_drive(arm=True)
    rows = [kd.constraints.differential_drive(robot, 'left', 'right', DRIVE['r'])]
    fast = kd.compile(robot, rows, cache=False)
    v = fast.consistent_velocity(robot.neutral(), [0.3, 0.0, 1.0, 0.0, 0.0, 2.0, -1.0])
    energy, most = energies(fast, robot.neutral(), v, STEPS // 10)
    assert np.abs(energy - energy[0]).max() < 1e-3 * most
    assert fast.fallback_count == 0


def test_the_reference_takes_the_same_steps():
    robot = spinning(kd.Free)
    v = np.array([1.0, 2.0, 3.0, 0.3, -0.2, 0.1])
    energy, _ = energies(kd.dynamics(robot), robot.neutral(), v, 200)
    assert np.abs(energy - energy[0]).max() < 1e-6 * energy[0]
