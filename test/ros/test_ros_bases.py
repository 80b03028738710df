# SPDX-License-Identifier: Apache-2.0
"""Every kind of base from the parameters of nodes; none of this needs ROS."""

from dataclasses import fields

import numpy as np
import pytest
from ros_models import parameters, trajectory, wanted_motion
from support.base_urdf import BASES

import kane_dynamics as kd
from kane_dynamics.algorithms.newton_euler import TERMS
from kane_dynamics.control.effort_law import EffortLaw, Terms
from kane_dynamics.control.node_dynamics import Dynamics, known_speeds, rolling_motion
from kane_dynamics.control.reference import Motors, ReferenceInput
from kane_dynamics.exceptions import ConstraintError, InvalidInputError, KaneDynamicsError
from kane_dynamics.messages.inputs import InputMonitor
from kane_dynamics.robot_config.parameters.spec import plain
from kane_dynamics.robot_config.parameters.tables import RobotParameters, SimulatorParameters
from kane_dynamics.robot_config.robot_source import build_model
from kane_dynamics.ros.diagnostics import OK, WARN, steering_status


def chosen(kind, **changes):
    """Return the text and the parameters of a base."""
    text, settings, _, _ = BASES[kind]
    own = {name.replace('.', '_'): plain(value) for name, value in settings.items()}
    return parameters(SimulatorParameters, **{'base_type': kind, **own, **changes}), text


@pytest.mark.parametrize('base_type', BASES)
def test_model_of_each_kind(base_type):
    model = build_model(*chosen(base_type))
    _, _, motors, (kind, mobility, steerability) = BASES[base_type]
    assert (model.base.kind, model.base.mobility(), model.base.steerability()) == (
        kind,
        mobility,
        steerability,
    )
    assert set(model.motors) == {*motors, 'lift_joint'}
    assert model.constraints == (*model.base.constraints, *model.base.assumed)
    assert model.mobile
    # it stands, and what moves it keeps its wheels rolling
    robot = model.robot
    rest = np.zeros(robot.nv)
    found = kd.constrained_inverse_dynamics(
        robot, robot.neutral(), rest, rest, model.constraints, model.motors
    )
    np.testing.assert_allclose(found.effort[robot.velocity_index('lift_joint')], 2.0 * 9.81)
    assert (
        kd.forward_dynamics(robot, robot.neutral(), rest, found.effort, model.constraints).residual
        < 1e-12
    )


def test_names_of_rows_of_a_differential_drive_are_kept():
    text, _, _, _ = BASES['diff_drive']
    p, _ = chosen('diff_drive', base_caster_swivel_names=(), base_caster_wheel_names=())
    model = build_model(p, text)
    (drive,) = model.constraints
    assert drive.labels == ('base/no_side_slip', 'l_wheel/rolling', 'r_wheel/rolling')
    same = kd.constraints.differential_drive(model.robot, 'l_wheel', 'r_wheel')
    v = np.random.default_rng(0).uniform(-1, 1, model.robot.nv)
    rows = [
        kd.dynamics(model.robot, (one,)).constraint_rows(model.robot.neutral(), v)
        for one in (drive, same)
    ]
    np.testing.assert_array_equal(rows[0].matrix, rows[1].matrix)
    np.testing.assert_array_equal(rows[0].acceleration, rows[1].acceleration)


def test_radius_and_multiplier():
    model = build_model(*chosen('skid_steer', base_wheel_radius=0.2))
    assert {wheel.radius for wheel in model.base.wheels} == {0.2}
    assert model.base.track_factor == 1.5
    casters = build_model(*chosen('diff_drive', base_wheel_radius=0.2)).base.wheels
    assert [wheel.radius for wheel in casters] == [0.2, 0.2, 0.1]


@pytest.mark.parametrize('constraint', ['none', 'no_sideslip'])
def test_wheels_that_do_not_roll(constraint):
    model = build_model(*chosen('mecanum', base_constraint=constraint))
    assert model.base is None
    assert len(model.constraints) == (constraint == 'no_sideslip')


@pytest.mark.parametrize(
    ('base_type', 'changes', 'error', 'message'),
    [
        (
            'mecanum',
            {'base_roller_angles': (0.7,)},
            InvalidInputError,
            r'base_type mecanum: roller_angles \[rad\]: need shape \(4,\)',
        ),
        (
            'swerve',
            {'base_steering_names': ('fl_steer',)},
            InvalidInputError,
            'base.steering_names and base.steered_wheel_names need as many names',
        ),
        (
            'swerve',
            {'base_wheel_names': ('fl_wheel',)},
            InvalidInputError,
            'base.wheel_names has no meaning for base_type swerve, which takes base.steering_nam',
        ),
        (
            'omni',
            {'base_wheel_names': ('a_weel',)},
            KaneDynamicsError,
            r"base_type omni: no joint named 'a_weel'; there are \['a_wheel', ",
        ),
        (
            'omni',
            {'base_wheel_names': ()},
            InvalidInputError,
            'needs names of joints in base.wheel_na',
        ),
        (
            'skid_steer',
            {'base_left_wheel_names': ('fl_wheel',)},
            ConstraintError,
            'base_type skid_steer: left: need 2 or more',
        ),
        (
            'omni',
            {'base_type': 'none', 'base_constraint': 'rolling'},
            ConstraintError,
            'needs a base_t',
        ),
    ],
)
def test_wrong_parameters(base_type, changes, error, message):
    with pytest.raises(error, match=message):
        build_model(*chosen(base_type, **changes))


def steady(base_type, speed=0.4):
    """Return a model whose base drives ahead, its q and v."""
    model = build_model(*chosen(base_type))
    robot, q = model.robot, model.robot.neutral()
    q[:3] = 0.2, -0.1, 0.7
    v = np.zeros(robot.nv)
    v[:2] = speed * np.cos(q[2]), speed * np.sin(q[2])
    for name, rate in model.base.wheel_rates((speed, 0, 0)).by_joint.items():
        v[robot.velocity_index(name)] = rate
    return model, q, v


OVERDETERMINED = ('skid_steer', 'mecanum', 'ackermann', 'swerve')


@pytest.mark.parametrize('base_type', BASES)
def test_motors_that_contradict_each_other(base_type):
    model, q, v = steady(base_type)
    dynamics = Dynamics(model)
    engine = dynamics.engine
    assert model.overactuated == (base_type in OVERDETERMINED)
    assert (known_speeds(model, ()) is None) == (base_type in OVERDETERMINED)
    if not model.overactuated:
        return
    robot, one = model.robot, model.robot.velocity_index(model.base.driven[0])
    a = np.zeros(robot.nv)
    for joint in model.base.driven:
        a[robot.velocity_index(joint)] = 2.0
    wanted_v, wanted_a = rolling_motion(dynamics, q, np.r_[np.zeros(3), v[3:]], a)
    motors = model.v_index(model.motors)
    # a motion that all agree on stays
    np.testing.assert_allclose(wanted_v[[0, 1, 2, *motors]], v[[0, 1, 2, *motors]], atol=1e-12)
    np.testing.assert_allclose(wanted_a[motors], a[motors], atol=1e-12)
    ahead = wanted_a[0] * np.cos(q[2]) + wanted_a[1] * np.sin(q[2])
    np.testing.assert_allclose(ahead, 0.2, atol=1e-12)
    v[one] += 0.1
    a[one] += 0.1
    wanted_v, wanted_a = rolling_motion(dynamics, q, v, a)
    rows = engine.constraint_rows(q, wanted_v)
    np.testing.assert_allclose(rows.matrix @ wanted_v, 0.0, atol=1e-12)
    np.testing.assert_allclose(rows.matrix @ wanted_a, rows.acceleration, atol=1e-12)
    found = engine.constrained_inverse_dynamics(q, wanted_v, wanted_a, model.motors)
    assert found.residual < 1e-9


def turn_reference(model, left, right):
    """Return the reference of wheels that spin so, with accelerations of the same numbers."""
    names = [*model.base.driven]
    rates = [left, left, right, right]
    source = ReferenceInput(Motors(model), InputMonitor('reference', 0.5, now=lambda: 10**12))
    assert source.take(trajectory(names, [0.0] * 4, rates, rates))
    return source.at(10**12)


def test_wheels_turn_a_base_that_skids_as_its_track_factor_says():
    """The yaw rate is (v_right - v_left)/(multiplier separation), as of diff_drive_controller."""
    model = build_model(*chosen('skid_steer'))
    q = model.robot.neutral()
    q[2] = 0.7
    law = EffortLaw(Dynamics(model))
    _, v, a = wanted_motion(law, q, np.zeros(model.robot.nv), turn_reference(model, 2.0, 3.0))
    forward, yaw = 0.1 * 2.5, 0.1 * (3.0 - 2.0) / (1.5 * 0.4)
    c, s = np.cos(0.7), np.sin(0.7)
    np.testing.assert_allclose(v[:3], (c * forward, s * forward, yaw), rtol=0, atol=1e-12)
    # as fast as they turn their rates rise; the base goes round
    along, across = forward, forward * yaw
    expected = (c * along - s * across, s * along + c * across, yaw)
    np.testing.assert_allclose(a[:3], expected, rtol=0, atol=1e-12)


def test_turning_a_base_that_skids_costs_friction():
    model = build_model(*chosen('skid_steer'))
    q, still = model.robot.neutral(), np.zeros(model.robot.nv)
    law = EffortLaw(Dynamics(model))
    turn, straight = turn_reference(model, -1.0, 1.0), turn_reference(model, 1.0, 1.0)
    free = [law.feedforward(q, still, one, Terms()).motors for one in (turn, straight)]
    law.skid_steer.configure((0.6, 0.6))
    paid = [law.feedforward(q, still, one, Terms()).motors for one in (turn, straight)]
    np.testing.assert_allclose(paid[1], free[1], rtol=0, atol=1e-9)
    # each wheel slides across with x omega, along with (f - 1) y omega
    side = 0.3 / np.hypot(0.3, (1.5 - 1.0) * 0.2)
    weight = 9.81 * sum(body.inertia.mass for body in model.robot.bodies)
    needed = 0.6 * weight * side * 0.3 / 0.4 / 2 * 0.1
    named = dict(zip(model.motors, paid[0] - free[0], strict=True))
    left, right = model.base.driven[:2], model.base.driven[2:]
    expected = dict.fromkeys(left, -needed) | dict.fromkeys(right, needed) | {'lift_joint': 0.0}
    assert named == pytest.approx(expected, rel=1e-9, abs=1e-9)
    scrub_effort = law.feedforward(q, still, turn, Terms(TERMS[:3])).motors
    law.skid_steer.configure((0.6, 0.0))
    assert [*law.feedforward(q, still, turn, Terms(TERMS[:3])).motors] == [*scrub_effort]
    assert [*law.feedforward(q, still, turn, Terms()).motors] == [*free[0]]


def test_friction_that_is_not_known_is_said():
    p, text = chosen('skid_steer')
    shared = {f.name: getattr(p, f.name) for f in fields(RobotParameters)}
    unknown = build_model(parameters(**shared), text).notes
    assert [
        one
        for one in unknown
        if 'base.friction_coefficient of the skid_steer base is not known' in one
    ]
    known = build_model(parameters(**shared, base_friction_coefficient=(0.7, 0.5)), text).notes
    assert not [one for one in known if 'base.friction_coefficient' in one]


def noisy_swerve(noise, beside=0.0):
    """
    Return a base in a curve whose steering angles and rates are measured with noise.

    Its wheels stand beside their steering axes, so that steering rolls them.
    """
    p, text = chosen('swerve')
    assert text.count('xyz="-0.0 0 0"') == 4
    model = build_model(p, text.replace('xyz="-0.0 0 0"', f'xyz="0 {beside} 0"'))
    rng = np.random.default_rng(3)
    base, robot, twist = model.base, model.robot, (0.5, 0.1, 0.4)
    angles = base.steering_angles(twist, None, (0.2, 0.1, -0.1))
    q, v = base.at_angles(angles.angles), np.zeros(robot.nv)
    v[:3] = twist
    for name, rate in base.wheel_rates(twist, q, angles.rates).by_joint.items():
        v[robot.velocity_index(name)] = rate
    for name in base.steering:
        q[robot.coordinate_index(name)] += noise * rng.normal()
        v[robot.velocity_index(name)] += 10.0 * noise * rng.normal()
    return model, q, v


@pytest.mark.parametrize(
    ('noise', 'beside'), [(0.0, 0.0), (1e-3, 0.0), (1e-3, 0.03), (0.02, 0.03)]
)
def test_the_law_takes_steering_angles_that_agree(noise, beside):
    model, q, v = noisy_swerve(noise, beside)
    law, robot = EffortLaw(Dynamics(model)), model.robot
    source = ReferenceInput(Motors(model), InputMonitor('reference', 0.5, now=lambda: 10**12))
    assert source.take(trajectory(['lift_joint'], [0.1], [0.2], [0.3]))
    wanted_q, wanted_v, wanted_a = wanted_motion(law, q, v, source.at(10**12))
    # rows that repeat others do so but for roundoff: machine code answers, and the base can move
    selection = kd.independent_rows(robot, wanted_q, model.constraints, wanted_v)
    left = np.setdiff1d(np.arange(8), selection.independent_indices)
    assert len(left) == 2
    assert selection.strength[left].max() < 1e-12
    before = kd.independent_rows(robot, q, model.constraints, v)
    others = np.sort(before.strength)[:2]
    assert others.max() > 1e-6 or noise == 0.0
    # accelerations of these too
    rows = law._dynamics.engine.constraint_rows(wanted_q, wanted_v)
    assert np.abs(rows.matrix @ wanted_a - rows.acceleration).max() < 1e-12
    # the base goes on as measured, but for the noise
    assert np.linalg.norm(wanted_v[:3] - v[:3]) <= 5.0 * noise + 1e-12


def test_steering_angles_that_fight_are_named():
    model = build_model(*chosen('swerve'))
    q = model.robot.neutral()
    fine = steering_status(model.base, q, 0.05)
    assert (fine.level, fine.message) == (OK, 'angles agree to 0.0000 rad')
    q[model.robot.coordinate_index('fl_steer')] += 0.2
    status = steering_status(model.base, q, 0.05)
    assert status.level == WARN
    assert status.message.startswith('steering angles disagree by 0.')
    # straight ahead both front wheels look along the same line: they meet in the middle
    assert set(status.message.split(': ')[1].split(', ')) == {'fl_wheel', 'fr_wheel'}
    assert set(status.values) == {f'{wheel} [rad]' for wheel in model.base.driven}
    assert steering_status(model.base, q, 0.3).level == OK


def test_balls_and_massless_casters_carry_a_base():
    model = build_model(*chosen('diff_drive', base_support_points=(0.2, 0.1, 0.0, -0.2, 0.0, 0.0)))
    assert model.base.supports == ((0.2, 0.1, 0.0), (-0.2, 0.0, 0.0))
    plain_model = build_model(*chosen('diff_drive'))
    assert plain_model.base.supports == ()
    # they press and bind nothing
    labels = [[label for c in m.constraints for label in c.labels] for m in (model, plain_model)]
    assert labels[0] == labels[1]
    assert {'support 0', 'support 1'} < set(kd.base_ground_contacts(model.base).names)
    with pytest.raises(InvalidInputError, match='support_points: need x, y, z of each point, got'):
        build_model(*chosen('diff_drive', base_support_points=(0.2, 0.1)))
