# SPDX-License-Identifier: Apache-2.0
"""Wrenches and states of the simulated robot, noise of its sensors. No ROS needed."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from ros_models import from_preset, model_of, preset

import kane_dynamics as kd
from kane_dynamics.control.node_dynamics import Dynamics
from kane_dynamics.plant.plant import Noise, Plant
from kane_dynamics.robot_config.parameters.tables import SimulatorParameters

STEP = 0.002


def plant_of(**changes):
    """Return a plant of the shipped robot."""
    model = model_of(
        'nonholonomic', **{k: v for k, v in changes.items() if k == 'base_constraint'}
    )
    p = from_preset(
        'nonholonomic', SimulatorParameters, step_size=STEP, integrator='rk4', **changes
    )
    chosen = preset('nonholonomic')
    start = np.array([chosen.get(f'initial_positions.{n}', 0.0) for n in model.joints])
    return Plant(Dynamics(model), p, start)


def test_a_wrench_gives_its_impulse_while_it_lasts():
    plant = plant_of(base_constraint='none')
    robot = plant.model.robot
    q = plant.simulation.q

    def forward():
        return kd.momentum(robot, plant.simulation.q, plant.simulation.v)[3]

    plant.push('base_link', np.array([0.0, 0.0, 0.0, 7.0, 0.0, 0.0]), 0.02)
    assert plant.pushed == ('base_link',)
    plant.advance(30)  # 0.06 s, of which it acts 0.02 s; nothing else pushes along x
    assert plant.pushed == ()
    assert_allclose(forward(), 7.0 * 0.02, rtol=1e-3)  # the base turns a little
    assert plant.steps == 30 and q[0] == 0.0


def test_a_couple_and_zero():
    plant = plant_of(base_constraint='none')
    robot = plant.model.robot
    plant.push('base_link', np.array([0.0, 0.0, 3.0, 0.0, 0.0, 0.0]), 1.0)
    plant.advance(5)
    turning = kd.momentum(robot, plant.simulation.q, plant.simulation.v)
    assert_allclose(turning[2], 3.0 * 5 * STEP, rtol=1e-3)
    plant.push('base_link', np.zeros(6), 1.0)
    assert plant.pushed == ()
    plant.push('base_link', np.ones(6), 1.0)
    plant.reset()
    assert plant.pushed == ()


def test_a_state_is_moved_onto_the_constraints():
    plant = plant_of()
    robot = plant.model.robot
    plant.advance(3)
    q, v = np.array(plant.simulation.q), np.zeros(robot.nv)
    v[:2] = 0.3, 0.4  # along x and y: the wheels allow x alone
    plant.set_state(q, v)
    rows = kd.dynamics(robot, plant.model.constraints).constraint_rows(q, plant.simulation.v)
    assert_allclose(rows.matrix @ plant.simulation.v, 0.0, atol=1e-12)
    assert plant.simulation.v[0] > 0.1
    assert plant.steps == 3 and plant.simulation.time == pytest.approx(3 * STEP)


def test_noise_is_a_function_of_seed_and_step():
    p = from_preset(
        'nonholonomic',
        SimulatorParameters,
        noise_seed=5,
        noise_position=0.1,
        noise_effort=2.0,
        noise_pose=(0.3, 0.0, 0.0),
    )
    noise, state, base = Noise(p), np.ones((3, 2000)), np.ones((2, 3))
    once = noise.on_joints(7, state)
    assert_array_equal(once, noise.on_joints(7, state))
    assert_array_equal(once[1], 1.0)  # no noise on velocities was asked for
    # 2000 draws: the deviation is known to 1.6 %; 5 of those
    assert_allclose(np.std(once, axis=1), (0.1, 0.0, 2.0), rtol=0.08)
    assert abs(np.corrcoef(once[0], noise.on_joints(8, state)[0])[0, 1]) < 0.1
    pose = noise.on_odometry(7, base)
    assert pose[0, 0] != 1.0 and (pose.ravel()[1:] == 1.0).all()
    quiet = Noise(from_preset('nonholonomic', SimulatorParameters))
    assert quiet.on_joints(7, state) is state and quiet.on_odometry(7, base) is base
