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


def geared_pair(friction):
    """Return two flywheels, the first with friction, and the gear v_1 = 2 v_2 between them."""
    bodies = [
        kd.Body(
            name,
            '',
            revolute(f'hinge_{name}', X, friction=f),
            inertia=flywheel().bodies[0].inertia,
        )
        for name, f in (('first', friction), ('second', 0.0))
    ]
    robot = kd.Robot('pair', bodies)
    return robot, (kd.constraints.pfaffian(robot, lambda q, t: [1.0, -2.0]),)


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


# creep settles at 1.6e6/s; the midpoint rule settles as fast only in steps that resolve it
@pytest.mark.parametrize(('integrator', 'step'), [('midpoint', 1e-6), ('semi_implicit', STEP)])
@pytest.mark.parametrize('compiled', [False, True])
@pytest.mark.parametrize('side', [1.0, -1.0])
def test_forces_of_rows_where_friction_holds(integrator, step, compiled, side):
    # efforts 0.1 and 0.1 on v_1 = 2 v_2: lambda = 0.1/2, and friction holds 0.15 < 0.2
    robot, gear = geared_pair(0.2)
    engine = kd.compile(robot, gear).engine(integrator) if compiled else None
    simulation = kd.Simulation(robot, gear, step, integrator, engine=engine)
    simulation.step([0.1 * side, 0.1 * side], 50)
    assert_allclose(simulation.multipliers, 0.05 * side, rtol=1e-6)
    assert_allclose(simulation.acceleration, 0.0, atol=1e-3)  # of 625 rad/s^2 without friction
    # the sign of the creep alone would be friction of 0.2
    other = kd.forward_dynamics(robot, simulation.q, simulation.v, [0.1 * side] * 2, gear)
    assert abs(other.acceleration[0]) > 100.0


@pytest.mark.parametrize('integrator', ['rk4', 'midpoint', 'semi_implicit'])
def test_forces_of_rows_where_friction_slides(integrator):
    robot, gear = geared_pair(0.02)
    simulation = kd.Simulation(robot, gear, STEP, integrator)
    simulation.step([0.1, 0.1], 20)
    motion = kd.forward_dynamics(robot, simulation.q, simulation.v, [0.1, 0.1], gear)
    assert simulation.v[0] > STICTION_SPEED
    assert_allclose(simulation.multipliers, motion.multipliers, rtol=1e-12)
    assert_allclose(simulation.acceleration, motion.acceleration, rtol=1e-12)


def test_explicit_steps_have_the_sign_of_slow_speeds():
    robot, gear = geared_pair(0.02)
    simulation = kd.Simulation(robot, gear, STEP, 'rk4')
    simulation.reset(v=[0.5 * STICTION_SPEED, 0.25 * STICTION_SPEED])
    motion = kd.forward_dynamics(robot, simulation.q, simulation.v, [0.0, 0.0], gear)
    assert_allclose(simulation.acceleration, motion.acceleration, rtol=1e-12)


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
