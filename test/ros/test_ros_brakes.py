# SPDX-License-Identifier: Apache-2.0
"""Brakes of the simulated robot: nothing falls before its controller is there, or after it."""

from types import SimpleNamespace

import numpy as np
import pytest
from drop_robot import STEP, G, drop_plant
from numpy.testing import assert_allclose, assert_array_equal
from ros_models import from_preset, model_of, preset, time_message, xyz

from kane_dynamics.control.node_dynamics import Dynamics
from kane_dynamics.plant.command_input import CommandInput
from kane_dynamics.plant.plant import NANO, Plant
from kane_dynamics.robot_config.parameters.tables import SimulatorParameters
from kane_dynamics.robot_config.robot_source import build_model

TIMEOUT = 0.1
ARM = 'arm_2_joint'
DRIVEN = {
    'base_command_interface': 'velocity',
    'base_response_time': 0.0,
    'base_acceleration_limit': (1e3, 1e3, 1e3),
    'timeout_cmd_vel': 0.5,
}


def plant_of(brakes=True, **changes):
    """Return a plant of the shipped robot, its arm stretched out."""
    p = from_preset('nonholonomic', SimulatorParameters, step_size=0.002, brakes=brakes, **changes)
    model = build_model(p, model_of('nonholonomic').text)
    given = preset('nonholonomic')
    start = [given.get(f'initial_positions.{name}', 0.0) for name in model.joints]
    return Plant(Dynamics(model), p, np.array(start))


def state(plant):
    """Return the positions and speeds of a plant."""
    return np.array(plant.simulation.q), np.array(plant.simulation.v)


def assert_stands(plant, q):
    """Check that time runs, and nothing else."""
    before = plant.time
    plant.advance(20)
    assert plant.braked and not plant.applied.any()
    assert plant.time == before + 20 * round(plant.simulation.step_size * NANO)
    assert_array_equal(state(plant)[0], q)
    assert not state(plant)[1].any()


def test_a_robot_stands_until_efforts_come_and_moves_then_as_one_without_brakes():
    plant, free = plant_of(), plant_of(brakes=False)
    place = plant.model.v_index((ARM,))
    assert_stands(plant, plant.simulation.q)
    plant.command(place, np.zeros(1))  # carries nothing
    assert_stands(plant, plant.simulation.q)
    for one in (plant, free):
        one.command(place, np.array([3.0]))
        one.advance(30)
    assert not plant.braked
    assert plant.simulation.time == pytest.approx(plant.time / NANO, abs=1e-12)
    for held, moved in zip(state(plant), state(free), strict=True):
        assert_allclose(held, moved, rtol=0, atol=1e-12)
    assert np.abs(state(plant)[1]).max() > 0.1


@pytest.mark.parametrize('end', ['zeros', 'silence', 'reset'])
def test_brakes_stop_a_robot_at_once_where_efforts_end(end):
    plant = plant_of()
    place = plant.model.v_index((ARM,))
    plant.advance(5)
    plant.command(place, np.array([-2.0]))
    plant.advance(30)
    q, v = state(plant)
    assert np.abs(v).max() > 0.1
    if end == 'zeros':
        plant.command(place, np.zeros(1))
    elif end == 'reset':
        plant.reset()
        q = np.array(plant.simulation.q)
    else:
        plant.advance(round(TIMEOUT / 0.002) - 30)
        assert not len(plant.release(TIMEOUT)) and not plant.braked
        plant.advance(1)
        q = np.array(plant.simulation.q)
        assert len(plant.release(TIMEOUT)) == 1
    assert_stands(plant, q)


def test_who_releases_the_brakes_lets_the_robot_fall_until_efforts_have_come_and_ended():
    plant, free = plant_of(), plant_of(brakes=False)
    place = plant.model.v_index((ARM,))
    plant.advance(7)
    plant.open_brakes()
    plant.command(place, np.zeros(1))
    for one in (plant, free):
        one.advance(40)
        one.release(TIMEOUT)
        one.advance(40)
    assert not plant.braked
    for held, moved in zip(state(plant), state(free), strict=True):
        assert_allclose(held, moved, rtol=0, atol=1e-12)
    plant.command(place, np.ones(1))
    plant.command(place, np.zeros(1))
    assert_stands(plant, plant.simulation.q)
    plant.open_brakes()
    plant.reset()
    assert_stands(plant, plant.simulation.q)


def test_a_hardware_that_commands_a_part_of_its_joints_opens_no_brakes():
    plant, names = plant_of(), [ARM, 'arm_1_joint']
    source = CommandInput(plant, (), tuple(names))

    def take(*effort):
        values = np.array(effort)
        stamp = SimpleNamespace(stamp=time_message())
        message = SimpleNamespace(header=stamp, name=names, effort=values)
        assert source.attempt(source.accept_packed, message, 0, 0)
        return plant.braked

    assert take(np.nan, np.nan) and take(4.0, np.nan) and take(0.0, 0.0)
    assert_stands(plant, plant.simulation.q)
    assert not take(4.0, 0.0)
    assert not take(5.0, np.nan)  # the other effort is held until it times out
    assert not take(0.0, 1.0)


def test_a_state_that_is_set_under_brakes_is_held_from_there_on():
    plant = plant_of()
    plant.advance(3)
    q = np.array(plant.simulation.q)
    q[plant.model.q_index((ARM,))] += 0.2
    plant.set_state(q, np.ones(plant.model.robot.nv))
    assert_stands(plant, q)
    readings = plant.readings()
    assert len(readings.labels) and not readings.multipliers.any()


def command(x, rate=0.0):
    """Return what looks like a TwistStamped."""
    twist = SimpleNamespace(linear=xyz(x), angular=xyz(0.0, 0.0, rate))
    header = SimpleNamespace(stamp=time_message(), frame_id='')
    return SimpleNamespace(header=header, twist=twist)


def test_a_base_that_follows_velocities_drives_a_robot_whose_arm_is_braked():
    plant = plant_of(**DRIVEN)
    model, speed, rate = plant.model, 0.3, 0.2
    assert ARM in model.motors and 'wheel_left_joint' not in model.motors
    arm, speeds = model.q_index(model.motors), model.v_index(model.motors)
    start = np.array(plant.simulation.q)
    plant.advance(10)
    assert plant.drives.take(command(speed, rate), plant.time)
    for _ in range(50):
        plant.advance(4)
        q, v = state(plant)
        assert_array_equal(q[arm], start[arm])
        assert_allclose(v[speeds], 0.0, rtol=0, atol=1e-15)  # moved onto the rows of the base
    t = 50 * 4 * 0.002
    way = speed / rate * np.sin(rate * t), speed / rate * (1.0 - np.cos(rate * t)), rate * t
    moved = model.child_frame.child_state(q[:3], v[:3])[0]
    assert_allclose(moved, way, rtol=0, atol=2e-3)  # a circle; stiff drives lag a little
    rows = Dynamics(model).engine.constraint_rows(q, v)
    assert np.abs(rows.matrix @ v).max() < 1e-9  # the wheels roll
    plant.advance(200)  # 0.4 s: the command times out 0.1 s before
    assert np.abs(state(plant)[1]).max() < 1e-3
    assert plant.braked


def test_constraints_that_come_and_go_stand_under_brakes_too():
    plant = drop_plant(brakes=True)
    begin = np.array(plant.simulation.q)
    assert_stands(plant, begin)
    now = plant.time
    event = plant.switch('brake', True)
    assert round(event.time * NANO) == now
    assert_stands(plant, begin)
    plant.open_brakes()
    plant.advance(10)
    fallen = plant.simulation.q[0] - begin[0]
    assert fallen == pytest.approx(-0.5 * G * (10 * STEP) ** 2, rel=1e-9)
    assert 'brake' in plant.active
    plant.command(np.array([0]), np.array([1.0]))
    plant.command(np.array([0]), np.array([0.0]))
    assert_stands(plant, plant.simulation.q)
    assert plant.new_events() == ()
