# SPDX-License-Identifier: Apache-2.0
"""Stiff friction stays stable, Coulomb friction sticks and slides."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from support.machines import X, differential_drive, inertia, revolute, wrist

import kane_dynamics as kd
from kane_dynamics.simulation.integrators import STICTION_SPEED

STEP = 1e-3


def flywheel(**joint):
    """Return a wheel of 1e-4 kg m^2 on a hinge."""
    body = kd.Body(
        'wheel', '', revolute('hinge', X, **joint), inertia=inertia(0, (0, 0, 0), (1e-4,) * 3)
    )
    return kd.Robot('flywheel', [body])


def test_damping_ten_times_faster_than_the_step():
    # time constant 1e-4 s at steps of 1e-3 s: v+ = v/(1 + h D/I), no overshoot
    simulation = kd.Simulation(flywheel(damping=1.0), (), STEP)
    simulation.reset([0.0], [8.0])
    for k in range(1, 6):
        simulation.step([0.0])
        assert simulation.v[0] == pytest.approx(8.0 / 11.0**k, rel=1e-12)
    simulation.step([0.5], 20)
    assert simulation.v[0] == pytest.approx(0.5, rel=1e-12)  # tau/D


def test_stiff_arm_on_a_moving_base():
    robot = differential_drive(arm=True, damping=1.0)
    drive = (kd.constraints.differential_drive(robot, 'left', 'right', 0.0975),)
    simulation = kd.Simulation(robot, drive, 0.02)
    simulation.reset([0, 0, 0.3, 0, 0, 0.2, -0.4], [0.4, 0.12, 0.5, 3.0, 5.0, 6.0, -5.0])
    energies = []
    for _ in range(15):
        energies.append(
            kd.kinetic_energy(robot, simulation.q, simulation.v)
            + kd.potential_energy(robot, simulation.q)
        )
        simulation.step(np.zeros(robot.nv))
    assert (np.diff(energies) < 0.0).all()  # damping takes energy in each step


def test_coulomb_friction_sticks_below_its_limit():
    simulation = kd.Simulation(flywheel(friction=0.2), (), STEP)
    simulation.reset([0.3], [0.0])
    for effort in (0.1, 0.19, -0.19):
        simulation.step([effort], 50)
        # creep of the regularised law: v_s tau/F
        assert simulation.v[0] == pytest.approx(STICTION_SPEED * effort / 0.2, rel=1e-6)
    assert abs(simulation.q[0] - 0.3) < 150 * STEP * STICTION_SPEED


def test_coulomb_friction_stops_a_wheel_and_never_turns_it_back():
    # I dv/dt = -F: from 4 rad/s it takes I v/F = 2e-2 s
    simulation = kd.Simulation(flywheel(friction=0.02), (), STEP)
    simulation.reset([0.0], [4.0])
    speeds = []
    for _ in range(40):
        simulation.step([0.0])
        speeds.append(simulation.v[0])
    assert min(speeds) >= 0.0
    # F v+/|v| instead of F: too little by h F/(I v), 5 % at first and 10 % at half speed
    assert_allclose(np.diff(speeds[:10]), -0.02 / 1e-4 * STEP, rtol=0.1)
    assert speeds[-1] < STICTION_SPEED


def test_coulomb_friction_above_its_limit():
    # I dv/dt = tau - F
    simulation = kd.Simulation(flywheel(friction=0.02), (), STEP)
    simulation.reset([0.0], [0.0])
    simulation.step([0.05], 50)  # out of stiction
    before = simulation.v[0]
    simulation.step([0.05], 50)
    assert simulation.v[0] - before == pytest.approx((0.05 - 0.02) / 1e-4 * 0.05, rel=0.02)
    simulation.reset([0.0], [-30.0])
    simulation.step([0.0])
    assert simulation.v[0] == pytest.approx(-30.0 + 0.2, rel=1e-3)  # it acts against the motion


@pytest.mark.parametrize('integrator', ['rk4', 'midpoint', 'semi_implicit'])
def test_gentle_damping_against_the_exponential(integrator):
    # v = v0 exp(-D t/I), D/I = 2/s
    simulation = kd.Simulation(flywheel(damping=2e-4), (), 0.01, integrator)
    simulation.reset([0.0], [1.0])
    simulation.step([0.0], 50)
    # global errors over one time constant: h^4/120, h^2/12, h
    error = {'rk4': 1e-8, 'midpoint': 1e-4, 'semi_implicit': 1e-2}[integrator]
    assert simulation.v[0] == pytest.approx(np.exp(-1.0), abs=error)
    assert simulation.v[0] != pytest.approx(np.exp(1.0), abs=0.5)


def test_multi_dof_joint_has_friction_on_each_speed():
    arm = wrist()
    body = kd.Body(
        'C', '', kd.Joint('wrist', kd.Spherical(), damping=5.0), inertia=arm.bodies[0].inertia
    )
    simulation = kd.Simulation(kd.Robot('wrist', [body], (0, 0, 0)), (), 0.01)
    simulation.reset([1, 0, 0, 0], [1.0, -2.0, 3.0])
    simulation.step(np.zeros(3), 10)
    assert np.abs(simulation.v).max() < 1e-2
    assert np.linalg.norm(simulation.q) == pytest.approx(1.0, abs=1e-15)
