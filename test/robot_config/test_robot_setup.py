# SPDX-License-Identifier: Apache-2.0
"""From a URDF and answers to a parameter file that the nodes accept: each question both ways."""

import math
from dataclasses import replace

import numpy as np
import pytest
import yaml
from support.base_urdf import BASES, RADIUS, urdf

import kane_dynamics as kd
from kane_dynamics.exceptions import InvalidInputError, NameNotFoundError
from kane_dynamics.robot_config.file_text import (
    MOST_RATIO,
    QUICKEST,
    RATE,
    file_text,
    proposed_tuning,
    start_positions,
)
from kane_dynamics.robot_config.inspection import Answer, inspect_urdf
from kane_dynamics.robot_config.parameters.tables import InverseDynamicsParameters
from kane_dynamics.robot_config.robot_source import model_of_file, parameters_of_file
from kane_dynamics.robot_config.settings import settle

DRIVE = {'l': ((0, 0.2),), 'r': ((0, -0.2),)}
CASTER = {'c': ((0.3, 0), 0.0, True, 0.05)}
TWO = urdf(DRIVE)
FOUR = BASES['skid_steer'][0]


class Owner:
    """Answers some questions; the others get their proposals."""

    def __init__(self, **answers):
        self.answers = {name.replace('_', '-'): value for name, value in answers.items()}
        self.asked = {}

    def __call__(self, question):
        self.asked[question.name] = question
        if question.name in self.answers:
            return Answer(self.answers[question.name])
        return Answer(question.proposal, guessed=question.open)


def settled(text, **answers):
    """Return the settings by name, and who answered."""
    owner = Owner(**answers)
    settings = settle(inspect_urdf(text), 'my.urdf', text, owner)
    return {setting.name: setting for setting in settings}, owner


@pytest.fixture
def written(tmp_path):
    """Return a function that writes URDF and parameter file, and gives the path of the latter."""

    def write(text, tuning=None, **answers):
        source = tmp_path / 'my.urdf'
        source.write_text(text, encoding='utf-8')
        found = inspect_urdf(text)
        settings = settle(found, str(source), text, Owner(**answers))
        path = tmp_path / 'my_robot.yaml'
        path.write_text(file_text(found, 'init my.urdf', settings, tuning), encoding='utf-8')
        return path

    return write


@pytest.mark.parametrize('base_type', BASES)
def test_a_node_accepts_the_file_of_each_kind_of_base(base_type, written):
    text, _, motors, (kind, *_) = BASES[base_type]
    path = written(text, base_type=base_type, drive='effort', casters='roll')
    model = model_of_file(path)
    assert model.base.kind == kind
    assert set(model.base.driven) | set(model.base.steering) == set(motors)
    given = parameters_of_file(path, InverseDynamicsParameters)
    assert given.base_type == base_type
    assert given.base_command_interface == 'effort'


@pytest.mark.parametrize('base_type', BASES)
def test_proposals_alone_make_a_file(base_type, written):
    path = written(BASES[base_type][0])
    model = model_of_file(path)
    assert 'lift_joint' in model.motors
    assert '# guessed: ' in path.read_text()


def test_the_likeliest_base_comes_first_and_others_are_named():
    settings, owner = settled(FOUR)
    assert settings['base_type'].value == 'skid_steer'
    assert settings['base_type'].guessed
    assert owner.asked['base-type'].choices == ('skid_steer', 'mecanum', 'planar', 'none')
    assert 'mecanum fits too' in owner.asked['base-type'].why
    said, _ = settled(FOUR.replace('name="base"', 'name="my_mecanum_base"'))
    assert said['base_type'].value == 'mecanum'
    assert said['base_type'].comment == "the description says 'mecanum'"
    answered, _ = settled(FOUR, base_type='mecanum')
    assert (answered['base_type'].guessed, answered['base_type'].comment) == (
        False,
        'by its owner',
    )


def test_a_base_without_wheels_and_one_that_fits_nothing():
    lift = urdf({})
    settings, owner = settled(lift)
    assert settings['base_type'].value == 'none'
    assert owner.asked['base-type'].choices == ('none', 'planar')
    assert 'drive' not in owner.asked
    one, owner = settled(urdf({'l': ((0, 0.2),)}))
    assert one['base_type'].value == 'planar'
    assert 'no kind of base on wheels fits l_wheel' in owner.asked['base-type'].why
    assert one['locked_joints'].value == ['l_wheel']


@pytest.mark.parametrize(
    ('answers', 'message'),
    [
        (
            {'base-type': 'ackermann'},
            '--base-type: need diff_drive or planar or none for this robot, got',
        ),
        ({'drive': 'torque'}, "--drive: need effort or velocity for this robot, got 'torque'"),
        ({'casters': 'swim'}, "--casters: need lock or roll for this robot, got 'swim'"),
        ({'gravity': 'nobody'}, "--gravity: need controller or robot for this robot, got 'nob"),
        (
            {'lock': 'elbow'},
            "--lock: no joint or hand named 'elbow'; there are lift",
        ),
    ],
)
def test_answers_that_are_none(answers, message):
    with pytest.raises(InvalidInputError, match=message):
        settled(urdf({**DRIVE, **CASTER}), **answers)


def test_rollers():
    settings, _ = settled(FOUR, base_type='mecanum')
    # front left, front right, rear left, rear right, as `kd.bases.mecanum` says is usual
    usual = np.array([-1.0, 1.0, 1.0, -1.0]) * math.pi / 4.0
    np.testing.assert_allclose(settings['base.roller_angles'].value, usual, atol=1e-6)
    assert settings['base.roller_angles'].guessed
    told, _ = settled(FOUR, base_type='mecanum', roller_angles='0.7,-0.7,-0.7,0.7')
    assert told['base.roller_angles'].value == [0.7, -0.7, -0.7, 0.7]
    assert not told['base.roller_angles'].guessed
    for wrong in ('0.7,0.7', 'round'):
        with pytest.raises(InvalidInputError, match='--roller-angles: need 4 numbers with comm'):
            settled(FOUR, base_type='mecanum', roller_angles=wrong)


def test_the_radius_of_wheels_without_a_round_shape(written):
    bare = TWO.replace('<collision>', '<visual>').replace('</collision>', '</visual>')
    settings, owner = settled(bare)
    assert settings['base.wheel_radius'].value == RADIUS  # height of the axles above base_link
    assert 'height of the axles above base_link' in owner.asked['wheel-radius'].why
    sunk = bare.replace('xyz="0 0.2 0.1"', 'xyz="0 0.2 0"').replace('-0.2 0.1"', '-0.2 0"')
    _, owner = settled(sunk, wheel_radius='0.2')
    assert owner.asked['wheel-radius'].proposal == ''
    assert model_of_file(written(sunk, wheel_radius='0.2')).base.wheels[0].radius == 0.2
    with pytest.raises(InvalidInputError, match=r"--wheel-radius: need 1 numbers .*got 'wide'"):
        settled(bare, wheel_radius='wide')
    assert 'base.wheel_radius' not in settled(TWO)[0]


def test_a_shape_that_is_not_about_its_axis_needs_a_radius(written):
    off = TWO.replace('<origin rpy', '<origin xyz="0.001 0 0" rpy')
    settings, owner = settled(off)
    assert settings['base.wheel_radius'].value == RADIUS
    assert 'eccentric' in owner.asked['wheel-radius'].text
    assert model_of_file(written(off)).base.kind == 'differential'


def test_casters_are_locked_or_roll():
    text = urdf({**DRIVE, **CASTER})
    locked, _ = settled(text)
    assert set(locked['locked_joints'].value) == {'c_steer', 'c_wheel'}
    rolling, _ = settled(text, casters='roll')
    assert rolling['base.caster_swivel_names'].value == ['c_steer']
    assert rolling['base.caster_wheel_names'].value == ['c_wheel']
    assert 'locked_joints' not in rolling


def test_powered_casters_stay(written):
    corners = {f'c{k}': (xy, 0.0, True, 0.05) for k, xy in enumerate([(0.3, 0.2), (-0.3, -0.2)])}
    text = urdf(corners)
    settings, owner = settled(text)
    assert settings['base_type'].value == 'swerve'
    assert 'casters' not in owner.asked
    assert 'locked_joints' not in settings
    assert model_of_file(written(text)).base.kind == 'swerve'


def test_drives_of_steered_bases_take_velocities():
    assert settled(TWO)[0]['base.command_interface'].value == 'effort'
    assert settled(TWO, drive='velocity')[0]['base.command_interface'].value == 'velocity'
    assert settled(BASES['swerve'][0])[0]['base.command_interface'].value == 'velocity'


def test_joints_that_stand_still():
    settings, owner = settled(TWO)
    assert 'locked_joints' not in settings
    assert not owner.asked['lock'].open
    chosen, _ = settled(TWO, lock='lift_joint')
    assert chosen['locked_joints'].value == ['lift_joint']
    assert (
        'locked_joints' not in settled(urdf({**DRIVE, **CASTER}), lock='none', casters='roll')[0]
    )


def test_who_holds_the_arm(written):
    assert settled(TWO)[0]['gravity_compensated_joints'].value == ['']
    path = written(TWO, gravity='robot')
    given = parameters_of_file(path, InverseDynamicsParameters)
    assert given.gravity_compensated_joints == ('lift_joint',)
    assert (
        settled(TWO, gravity='robot', lock='lift_joint')[0]['gravity_compensated_joints'].value
        == []
    )


def test_the_tool_is_asked_for_where_there_are_several():
    two = TWO.replace('</robot>', _branch('head') + '</robot>')
    settings, owner = settled(two, tool='head')
    assert 'lift, head are at the ends' in owner.asked['tool'].text
    assert settings['frame'].value == 'head'
    assert not settled(TWO)[1].asked['tool'].open
    with pytest.raises(NameNotFoundError, match="no link for --tool named 'hand'; there are"):
        settled(two, tool='hand')


def test_tool_and_wheel_radius_of_the_owner_override_what_was_found():
    settings, _ = settled(TWO, tool='base_link', wheel_radius='0.07')
    assert settings['frame'].value == 'base_link'
    assert settings['base.wheel_radius'].value == 0.07
    assert settings['base.wheel_radius'].comment == '[m] by its owner'
    assert 'base.wheel_radius' not in settled(TWO)[0]


def test_a_link_without_inertia_is_proposed_to_be_locked():
    pan = (
        '<link name="camera"/><joint name="pan" type="continuous"><axis xyz="0 0 1"/>'
        '<parent link="lift"/><child link="camera"/></joint></robot>'
    )
    settings, owner = settled(TWO.replace('</robot>', pan))
    assert 'pan' in owner.asked['lock'].proposal.split(',')
    assert settings['locked_joints'].value == ['pan']
    assert settings['locked_joints'].guessed


def _branch(name):
    inertia = '<mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'
    return (
        f'<link name="{name}"><inertial>{inertia}</inertial></link>'
        f'<joint name="{name}_pan" type="revolute"><parent link="base_link"/>'
        f'<child link="{name}"/><axis xyz="0 0 1"/>'
        '<limit lower="1" upper="2" effort="9" velocity="9"/></joint>'
    )


@pytest.mark.parametrize('damping', [0.0, 2000.0])  # [N s/m] of the lift, whose d is 130
def test_gains_let_errors_die_out_at_every_state(damping):
    limit = 'effort="100" velocity="5"/>'  # the first is that of the lift
    found = inspect_urdf(TWO.replace(limit, f'{limit}<dynamics damping="{damping}"/>', 1))
    dynamics = kd.dynamics(
        found.robot, [kd.constraints.differential_drive(found.robot, 'l_wheel', 'r_wheel')]
    )
    motors = ('lift_joint', 'l_wheel', 'r_wheel')
    tuning = proposed_tuning(dynamics, motors)
    columns = [found.robot.velocity_index(name) for name in motors]
    q, rest = found.robot.neutral(), np.zeros(found.robot.nv)
    q[found.robot.coordinate_index('lift_joint')] = 0.4
    free = dynamics.acceleration(q, rest, rest)
    response = np.array(
        [dynamics.acceleration(q, rest, row) - free for row in np.eye(found.robot.nv)[columns]]
    )[:, columns].T
    p, d = (np.diag([gains[name] for name in motors]) for gains in (tuning.p, tuning.d))
    zero, one = np.zeros((3, 3)), np.eye(3)
    every = d + np.diag([damping, 0.0, 0.0])
    errors = np.linalg.eigvals(np.block([[zero, one], [-response @ p, -response @ every]]))
    assert errors.real.max() < -1.0  # within a second
    assert np.all(np.diag(p) <= MOST_RATIO * np.diag(d) * 1.01)
    # the gains are printed with three digits
    assert np.abs(np.linalg.eigvals(response @ d)).max() <= QUICKEST * RATE * 1.01


def test_a_robot_starts_within_its_limits():
    robot = kd.load_urdf(TWO.replace('</robot>', _branch('head') + '</robot>'))
    start = start_positions(robot)
    assert start['head_pan'] == pytest.approx(1.3)  # limits 1 and 2 rad: 0.3 from the nearer one
    assert start['lift_joint'] == pytest.approx(0.05)  # limits 0 and 1 m
    assert start['l_wheel'] == 0.0


def test_the_file_says_what_it_does_not_know(written):
    found = inspect_urdf(TWO)
    dynamics = kd.dynamics(found.robot)
    tuning = proposed_tuning(dynamics, ('lift_joint',))
    path = written(TWO, tuning)
    text = path.read_text()
    assert '# Not known: friction' in text
    assert '# guessed: nobody confirmed it' in text
    content = yaml.safe_load(text)['/**']['ros__parameters']
    assert content['gains']['lift_joint'] == {
        'p': tuning.p['lift_joint'],
        'd': tuning.d['lift_joint'],
    }
    assert content['initial_positions'] == {'lift_joint': 0.05}
    assert max(map(len, text.splitlines())) <= 99
    assert replace(tuning, start={}).start == {}
    assert 'initial_positions' not in written(TWO, replace(tuning, start={})).read_text()


STANDING = """<robot name="wrist"><link name="base_link"/>
  <link name="fork"><inertial><mass value="0.1"/>
    <inertia ixx="0.005" iyy="0.005" izz="0.005" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="arm"><inertial><origin xyz="0 0 0.3"/><mass value="2"/>
    <inertia ixx="0.1" iyy="0.1" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="hinge" type="continuous"><parent link="base_link"/><child link="fork"/>
    <axis xyz="0 1 0"/></joint>
  <joint name="roll" type="continuous"><parent link="fork"/><child link="arm"/>
    <axis xyz="0 1 0"/></joint>
</robot>"""


def test_gains_hold_an_arm_that_stands_up():
    """
    P and the stiffness of gravity together pull back in every pose: P + dg/dq > 0.

    As at a wrist whose axes align, the light fork alone has a quick response, and so a small d.
    """
    robot = kd.load_urdf(STANDING)
    dynamics = kd.dynamics(robot)
    tuning = proposed_tuning(dynamics, robot.velocity_names)
    p = np.diag([tuning.p[name] for name in robot.velocity_names])
    for angle in np.linspace(-np.pi, np.pi, 13):
        q = np.array([angle, 0.3])
        columns = [
            (dynamics.gravity_force(q + step) - dynamics.gravity_force(q - step)) / 2e-5
            for step in 1e-5 * np.eye(2)
        ]
        assert np.linalg.eigvalsh(p + 0.5 * (np.array(columns) + np.array(columns).T)).min() > 0.0


def test_a_base_without_efforts_and_without_an_arm_needs_no_gains(written):
    """A car whose drives take velocities: 'shapes (0,) (9,)' came from the gains."""
    answers = {'base': 'ackermann', 'drive': 'velocity', 'lock': 'lift_joint'}
    model = model_of_file(written(BASES['ackermann'][0], **answers))
    tuning = proposed_tuning(kd.dynamics(model.robot, model.constraints), model.motors)
    assert not tuning.p
    path = written(BASES['ackermann'][0], tuning, **answers)
    assert 'gains:' not in path.read_text()
    assert model_of_file(path).motors == ()


def test_a_robot_that_is_all_hand_is_not_locked_whole():
    """finger_edu of example-robot-data: all three joints were proposed to stand still."""
    joint = (
        '<joint name="finger_{0}" type="revolute"><parent link="l{0}"/><child link="l{1}"/>'
        '<axis xyz="0 1 0"/><origin xyz="0 0 0.1"/>'
        '<limit lower="-1" upper="1" effort="1" velocity="1"/></joint>'
    )
    link = (
        '<link name="l{}"><inertial><mass value="0.1"/><origin xyz="0 0 0.05"/>'
        '<inertia ixx="1e-4" iyy="1e-4" izz="1e-4" ixy="0" ixz="0" iyz="0"/></inertial></link>'
    )
    parts = [link.format(k) for k in range(4)] + [joint.format(k, k + 1) for k in range(3)]
    text = f'<robot name="finger">{"".join(parts)}</robot>'
    assert any(len(hand.joints) == 3 for hand in inspect_urdf(text).hands)
    assert 'locked_joints' not in settled(text)[0]
