# SPDX-License-Identifier: Apache-2.0
"""Presets of robots that people own: their sheets, models and kinematics; no ROS needed."""

import re
import runpy
from functools import cache

import fake_launch
import numpy as np
import pytest
from numpy.testing import assert_allclose
from preset_robots import ARM, FILES, LENGTH, PAGE, facts_of, geometry, places, stand_in, values_of
from ros_models import ROOT, from_preset
from support.wheeled_robots import installed

from kane_dynamics.control.effort_law import BaseState, EffortLaw, Terms, with_base
from kane_dynamics.control.node_dynamics import Dynamics
from kane_dynamics.control.reference import Reference
from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.robot_config.parameters.tables import (
    InverseDynamicsParameters,
    SimulatorParameters,
)
from kane_dynamics.robot_config.robot_source import BASE_NAMES, build_model, read_description

REQUIRED = {'tiago_pmb2', 'tiago_omni', 'stretch', 'fetch', 'husky_ur5e', 'ridgeback_franka'}
REQUIRED |= {'tmr_fr3', 'youbot', 'mir100_ur10e'}
by_robot = pytest.mark.parametrize('robot', FILES)


def model_of(robot, table=InverseDynamicsParameters, **values):
    """Return the model of a preset on its stand-in."""
    p = from_preset(f'robots/{robot}', table, **values)
    return build_model(p, stand_in(robot))


# ---- the sheets


def test_the_robots_that_are_asked_for_have_presets():
    assert set(FILES) >= REQUIRED


@by_robot
def test_a_sheet_says_everything_and_what_is_not_known(robot):
    title, facts = PAGE['sheet'](FILES[robot].read_text())
    assert title
    assert tuple(facts) == PAGE['FACTS']
    assert all(len(fact) > 10 for fact in facts.values())
    assert re.search(r'read 20\d\d-\d\d-\d\d$', facts['Source'])
    assert '[?]' in facts['Not known']
    # what is marked as unknown anywhere is named in one place, or the reader would miss it
    assert facts['Not known'].count('[?]') >= max(
        fact.count('[?]') for name, fact in facts.items() if name != 'Not known'
    )


@by_robot
def test_a_preset_says_who_has_the_urdf_and_takes_it_from_the_topic(robot):
    values = values_of(robot)
    assert 'urdf_file' not in values
    assert re.search(
        r'(sudo apt install|pip install|github\.com/)', values['urdf_source_description']
    )
    assert read_description(from_preset(f'robots/{robot}')) == ''


@by_robot
def test_figures_of_the_sheet_are_those_of_the_parameters(robot):
    values, facts = values_of(robot), facts_of(robot)
    radius, track, _ = geometry(robot)
    assert min(radius, track) > 0.0
    assert values.get('base.wheel_radius', radius) == radius
    limits = values.get('base.acceleration_limit', [0.0, 0.0, 0.0])
    found = re.search(r'([\d.]+) m/s\^2', facts['Limits'])
    assert (float(found[1]) if found else 0.0) == limits[0]
    multiplier = re.search(r'times ([\d.]+)', facts['Wheels'])
    assert values.get('base.wheel_separation_multiplier') == (
        float(multiplier[1]) if multiplier else None
    )


@by_robot
def test_the_command_of_a_sheet_is_one_of_the_launch_file(robot, monkeypatch):
    fake_launch.install(monkeypatch)
    words = facts_of(robot)['Start'].split()
    assert words[:3] == ['ros2', 'launch', 'kane_dynamics']
    made = runpy.run_path(str(ROOT / 'launch' / words[3]))['generate_launch_description']()
    given = dict(word.split(':=') for word in words[4:])
    assert given['robot'] == robot
    assert set(given) <= set(fake_launch.Described(made).arguments)


def test_the_pages_have_the_present_sheets():
    made = PAGE['pages']()
    assert {file.stem for file in made} == {'robots', *FILES}
    for file, text in made.items():
        assert file.read_text() == text, 'run python doc/update_robots.py'
    assert {file.stem for file in PAGE['PAGES'].glob('*.md')} == {*FILES}


# ---- the models


@by_robot
@pytest.mark.parametrize('table', [InverseDynamicsParameters, SimulatorParameters])
def test_model_of_every_preset(robot, table):
    values, model = values_of(robot), model_of(robot, table)
    assert model.motors == tuple(values['joints'])
    assert not {*values.get('locked_joints', [])} & {*model.joints}
    assert model.child_frame.x == model.child_frame.y == 0.0
    assert not [remark for remark in model.notes if 'base_frame_id' in remark]
    if values['base_type'] == 'planar':
        assert model.base is None
        assert model.drives == BASE_NAMES
        return
    wheels = {*places(robot)}
    assert {*model.drives} == wheels | {*values.get('base.steering_names', [])}
    assert {wheel.radius for wheel in model.base.wheels} == {values['base.wheel_radius']}


def test_names_of_wheels_are_of_the_side_and_corner_that_they_are_listed_for():
    short = {'front_left': 'fl', 'front_right': 'fr', 'rear_left': 'bl', 'rear_right': 'br'}
    for robot in FILES:
        values = values_of(robot)
        for side in ('left', 'right'):
            names = values.get(f'base.{side}_wheel_names', [])
            assert all(side in name or name.startswith(f'{side[0]}_') for name in names)
        for corner, name in zip(short, values.get('base.wheel_names', []), strict=False):
            assert corner in name or name.endswith(short[corner])


def test_wheels_that_a_urdf_lacks_are_named():
    text = stand_in('husky_ur5e').replace('rear_left_wheel_joint', 'other')
    p = from_preset('robots/husky_ur5e')
    with pytest.raises(Exception, match="no joint named 'rear_left_wheel_joint'; there are"):
        build_model(p, text)


def test_a_file_that_is_not_there_says_who_has_it():
    source = values_of('fetch')['urdf_source_description']
    p = from_preset('robots/fetch', urdf_file='package://fetch_description/robots/fetch.urdf')
    with pytest.raises(InvalidInputError, match='sudo apt install ros-noetic') as caught:
        read_description(p)
    assert str(caught.value).endswith(source)


def test_tiago_of_example_robot_data():
    path = installed('tiago_no_hand')
    heads = (
        'head_1_joint',
        'head_2_joint',
    )  # all that this file has of the joints that are locked
    p = from_preset('robots/tiago_pmb2', locked_joints=heads)
    model = build_model(p, path.read_text())
    assert model.motors == p.joints
    # its wheels are where the sheet says
    _, track, _ = geometry('tiago_pmb2')
    rates = model.base.wheel_rates((0.0, 0.0, 1.0)).by_joint
    assert_allclose(rates['wheel_right_joint'], track / 2 / p.base_wheel_radius, rtol=1e-6)


# ---- their kinematics, against the formulas of the controllers that drive them

TWIST = 0.4, -0.3, 0.7  # vx, vy [m/s], yaw rate [rad/s]


def sides(robot, signs, reach, along=(0.0, 0.0, 0.0, 0.0)):
    """Return (vx + along vy + sign reach w) / r of each wheel."""
    values, (x, y, yaw) = values_of(robot), TWIST
    return [
        (x + a * y + sign * reach * yaw) / values['base.wheel_radius']
        for sign, a in zip(signs, along, strict=False)
    ]


@pytest.mark.parametrize('robot', ['tiago_pmb2', 'fetch'])
def test_wheels_of_diff_drive_controller(robot):
    values, (_, track, _) = values_of(robot), geometry(robot)
    x, _, yaw = TWIST
    rates = model_of(robot).base.wheel_rates((x, 0.0, yaw)).by_joint
    names = [*values['base.left_wheel_names'], *values['base.right_wheel_names']]
    assert_allclose([rates[n] for n in names], sides(robot, (-1, 1), track / 2), rtol=1e-12)


def test_wheels_of_a_skid_steer_base_turn_about_a_wider_track():
    values, (_, track, _) = values_of('husky_ur5e'), geometry('husky_ur5e')
    x, _, yaw = TWIST
    rates = model_of('husky_ur5e').base.wheel_rates((x, 0.0, yaw)).by_joint
    names = [*values['base.left_wheel_names'], *values['base.right_wheel_names']]
    reach = values['base.wheel_separation_multiplier'] * track / 2
    expected = sides('husky_ur5e', (-1, -1, 1, 1), reach)
    assert_allclose([rates[n] for n in names], expected, rtol=1e-12)


@pytest.mark.parametrize('robot', ['tiago_omni', 'ridgeback_franka', 'youbot'])
def test_wheels_of_mecanum_drive_controller(robot):
    _, track, wheelbase = geometry(robot)
    rates = model_of(robot).base.wheel_rates(TWIST).by_joint
    expected = sides(robot, (-1, 1, -1, 1), (track + wheelbase) / 2, (-1, 1, 1, -1))
    names = values_of(robot)['base.wheel_names']
    assert_allclose([rates[n] for n in names], expected, rtol=1e-12)


def test_wheels_of_a_swerve_base_point_where_their_place_moves():
    model, values = model_of('tmr_fr3'), values_of('tmr_fr3')
    x, y, yaw = TWIST
    robot, q = model.robot, model.robot.neutral()
    angles = model.base.steering_angles(TWIST)
    moves = {
        wheel: np.array([x - yaw * place[1], y + yaw * place[0]])
        for wheel, place in places('tmr_fr3').items()
    }
    for steer, move in zip(values['base.steering_names'], moves.values(), strict=True):
        angle = angles.by_joint[steer]
        across = np.array([-np.sin(angle), np.cos(angle)])
        assert_allclose(across @ move, 0.0, atol=1e-12)
        q[robot.coordinate_index(steer)] = angle
    rates = model.base.wheel_rates(TWIST, q).by_joint
    found = [abs(rates[wheel]) * values['base.wheel_radius'] for wheel in moves]
    assert_allclose(found, [np.linalg.norm(move) for move in moves.values()], rtol=1e-12)


# ---- the efforts


RESTING = (0.0, 0.0, 0.0)


@cache
def arm_efforts(robot, twist=RESTING, rate=RESTING):
    """Return the efforts of an arm that keeps its pose on a base at yaw 0 that moves."""
    model, values = model_of(robot), values_of(robot)
    q = model.robot.neutral()
    if model.base is not None and model.base.steering:
        for name, angle in model.base.steering_angles(twist).by_joint.items():
            q[model.robot.coordinate_index(name)] = angle
    motors, zeros = np.arange(len(model.motors)), np.zeros(len(model.motors))
    q_index, v_index = model.q_index(model.motors), model.v_index(model.motors)
    held = Reference(motors, q_index, v_index, q[q_index], zeros, zeros)
    terms = Terms(compensated=tuple(values.get('gravity_compensated_joints', ())))
    base = BaseState(np.array(twist), np.array(rate))
    law = EffortLaw(Dynamics(model))
    efforts = law.feedforward(q, np.zeros(model.robot.nv), held, terms, base)
    return dict(zip(model.motors, efforts.motors, strict=True))


def test_a_steering_rate_is_the_measured_one():
    model = model_of('tmr_fr3')
    robot, steering = model.robot, model.base.steering
    q, v, a = robot.neutral(), np.zeros(robot.nv), np.zeros(robot.nv)
    turning = model.v_index(steering)
    v[turning] = 0.7
    base = BaseState(np.array([0.3, 0.0, 0.0]), np.zeros(3))
    rolling = model.v_index(model.base.driven)
    law = EffortLaw(Dynamics(model))
    assert {*law.rolling} == {*rolling}
    found, _ = with_base(Dynamics(model), q, v, a, base, rolling)
    assert_allclose(found[turning], 0.7)
    radii = [wheel.radius for wheel in model.base.wheels if wheel.driven]
    assert_allclose(np.abs(found[rolling]), 0.3 / np.array(radii))


@by_robot
def test_gravity_is_left_to_the_robots_that_compensate_it(robot):
    values, efforts = values_of(robot), arm_efforts(robot)
    compensated = values.get('gravity_compensated_joints', [])
    # the robots that do so do it for whole arms; Fetch's torso is none
    others = {*values['joints']} - {*compensated}
    assert not compensated or others <= {'torso_lift_joint'}
    for name, effort in efforts.items():
        assert (abs(effort) < 1e-9) == (name in compensated), name


@by_robot
@pytest.mark.parametrize(
    ('twist', 'rate'),
    [(RESTING, (1.0, 0.0, 0.0)), ((0.3, 0.0, 0.5), (0.0, 0.15, 0.0))],
    ids=['straight', 'steady turn'],
)
def test_arms_feel_how_their_base_moves(robot, twist, rate):
    moved, resting = arm_efforts(robot, twist, rate), arm_efforts(robot)
    change = np.array([moved[name] - resting[name] for name in moved])
    # r x m a about y, of links of 1 kg whose centres lie 0.1 m above their joint and at x: in a
    # turn they are drawn to its centre as well
    x = ARM[0] + LENGTH / 2 + LENGTH * np.arange(len(change))
    each = 0.5 * LENGTH * (rate[0] - twist[2] ** 2 * x)
    assert_allclose(change, np.cumsum(each[::-1])[::-1], atol=1e-9)
