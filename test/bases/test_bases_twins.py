# SPDX-License-Identifier: Apache-2.0
"""Two wheels on one steering axis, as powered casters have them; wheels that a file has fixed."""

import re
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import yaml
from numpy.testing import assert_allclose
from support.base_urdf import CORNERS, RADIUS, urdf

import kane_dynamics as kd
from kane_dynamics.control.node_dynamics import Dynamics
from kane_dynamics.plant.plant import Plant
from kane_dynamics.robot_config.inspection import Answer, inspect_urdf
from kane_dynamics.robot_config.parameters.tables import SimulatorParameters
from kane_dynamics.robot_config.robot_source import build_model, parameters_of_file
from kane_dynamics.robot_config.settings import settle

BESIDE = 0.05  # [m] from the steering axis to each wheel
STEERED = {f'{at}_steer': (f'{at}_wheel', f'{at}_twin') for at in CORNERS}


def twins():
    """Return four steered forks with a wheel on each side."""
    text = urdf({name: (xy, 0.0, True) for name, xy in CORNERS.items()})
    parts = re.findall(r'<(?:link|joint) name="\w+(?:_rim|_wheel)".*?</(?:link|joint)>', text)
    beside = [
        re.sub(r'_rim\b', '_twin_rim', re.sub(r'_wheel\b', '_twin', part)).replace(
            '<origin xyz="-0.0 0 0"', f'<origin xyz="0 {-BESIDE} 0"'
        )
        for part in parts
    ]
    moved = text.replace('<origin xyz="-0.0 0 0"', f'<origin xyz="0 {BESIDE} 0"')
    return moved.replace('</robot>', ''.join(beside) + '</robot>')


@pytest.fixture(scope='module')
def robot():
    return kd.load_urdf(twins(), base='planar')


def test_twin_wheels_on_steered_casters_are_found(robot):
    found = kd.bases.found_wheels(robot)
    assert [wheel.kind for wheel in found] == ['steered'] * 8
    (kind,) = kd.bases.fitting_kinds(robot)
    assert kind.kind == 'swerve'
    assert {joint: tuple(own) for joint, own in kind.block['steered'].items()} == STEERED
    assert kind.needed(robot) == ()


def test_twins_roll_as_fast_as_their_places_move(robot, rng):
    base = kd.bases.swerve(robot, STEERED)
    assert (base.mobility(), base.steerability(), len(base.driven)) == (1, 2, 8)
    for twist in rng.normal(size=(20, 3)):
        q = robot.neutral()
        place = base.steering_angles(twist, q)
        q = base.at_angles(place.angles, q)
        turning = rng.normal(size=4)
        found = base.wheel_rates(twist, q, turning, exact=True)
        rates = dict(zip(base.driven, found.rates, strict=True))
        for angle, rate, (joint, own) in zip(place.angles, turning, STEERED.items(), strict=True):
            x, y = CORNERS[joint.removesuffix('_steer')]
            axis = np.array([twist[0] - twist[2] * y, twist[1] + twist[2] * x])
            along = axis @ [np.cos(angle), np.sin(angle)]
            for wheel, side in zip(own, (BESIDE, -BESIDE), strict=True):
                wanted = (along - side * (twist[2] + rate)) / RADIUS
                assert rates[wheel] == pytest.approx(wanted, abs=1e-9)


def written(text, tmp_path):
    """Return the parameter file of what init proposes."""
    (tmp_path / 'my.urdf').write_text(text, encoding='utf-8')
    found = inspect_urdf(text)
    settings = settle(
        found, str(tmp_path / 'my.urdf'), text, lambda question: Answer(question.proposal, True)
    )
    values = {setting.name: setting.value for setting in settings}
    file = tmp_path / 'my_robot.yaml'
    file.write_text(yaml.safe_dump({'/**': {'ros__parameters': values}}), encoding='utf-8')
    return file, values


def driven_by_command(file, text, speed):
    """Return how far a simulated base drives in 0.4 s [m]."""
    p = replace(parameters_of_file(file, SimulatorParameters), step_size=0.02)
    model = build_model(p, text)
    plant = Plant(Dynamics(model), p, np.zeros(len(model.joints)))
    still = SimpleNamespace(x=0.0, y=0.0, z=0.0)
    twist = SimpleNamespace(linear=SimpleNamespace(x=speed, y=0.0, z=0.0), angular=still)
    header = SimpleNamespace(stamp=SimpleNamespace(sec=0, nanosec=0), frame_id='')
    command = SimpleNamespace(header=header, twist=twist)
    assert plant.drives.take(command, plant.time)
    plant.advance(20)
    return np.array(plant.simulation.q[:3]), model


def test_a_base_on_twin_wheels_moves(tmp_path):
    text = twins()
    file, values = written(text, tmp_path)
    assert values['base_type'] == 'swerve'
    assert values['base.steering_names'] == [joint for joint in STEERED for _ in range(2)]
    moved, model = driven_by_command(file, text, 0.5)
    assert model.base.driven[:4] == tuple(own[0] for own in STEERED.values())
    assert_allclose(moved, [0.15, 0.0, 0.0], atol=0.02)  # less the lag of its drives


def test_a_base_whose_wheels_the_file_has_fixed_moves(tmp_path):
    """As the PR2 of example-robot-data: every joint of its casters is fixed."""
    text = re.sub(r'(name="\w+_(?:steer|wheel|twin)" type=)"continuous"', r'\1"fixed"', twins())
    file, values = written(text, tmp_path)
    assert (values['base_type'], values['base.command_interface']) == ('planar', 'velocity')
    moved, model = driven_by_command(file, text, 0.5)
    assert_allclose(moved, [0.15, 0.0, 0.0], atol=0.02)
    assert model.motors == ('lift_joint',)
