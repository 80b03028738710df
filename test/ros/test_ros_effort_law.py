# SPDX-License-Identifier: Apache-2.0
"""Reference, efforts, plant, commands and pacing. No ROS needed."""

from array import array
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from ros_models import (
    FakeClock,
    from_preset,
    joint_state,
    model_of,
    parameters,
    trajectory,
    wanted_motion,
)

import kane_dynamics as kd
from kane_dynamics.algorithms.newton_euler import TERMS
from kane_dynamics.control.effort_law import EffortLaw, Terms, clamped
from kane_dynamics.control.node_dynamics import Dynamics
from kane_dynamics.control.reference import Motors, ReferenceInput
from kane_dynamics.exceptions import KaneDynamicsError, NameNotFoundError
from kane_dynamics.messages.inputs import InputMonitor
from kane_dynamics.plant.command_input import CommandInput
from kane_dynamics.plant.plant import Plant
from kane_dynamics.plant.timing import Rate
from kane_dynamics.robot.joint_tables import known_limits
from kane_dynamics.robot.resources import resolve
from kane_dynamics.robot_config.parameters.tables import SimulatorParameters
from kane_dynamics.robot_config.robot_source import read_description

ALL = Terms()
EACH = [Terms((term,)) for term in TERMS]


@pytest.fixture(scope='module', params=['nonholonomic', 'holonomic'])
def model(request):
    return model_of(request.param)


@pytest.fixture(scope='module')
def rolling():
    return model_of('nonholonomic')


def reader_of(model):
    return ReferenceInput(Motors(model), InputMonitor('reference', 0.5, now=lambda: 10**12))


def reference_of(model, *trajectory_values):
    """Return the reference of a setpoint, which must be accepted."""
    source = reader_of(model)
    assert source.take(trajectory(*trajectory_values)), source.guard.last_reason
    return source.at(10**12)


def motion_of(model, rng, names=None):
    names = list(names or model.motors)
    values = rng.uniform(-0.5, 0.5, (3, len(names)))
    reference = reference_of(model, names, *values)
    q = model.robot.neutral() + rng.uniform(-0.5, 0.5, model.robot.nq)
    return reference, q, rng.uniform(-0.5, 0.5, model.robot.nv)


# reference


def test_setpoint_is_taken_by_name(rolling):
    names = ['arm_2_joint', 'wheel_left_joint']
    reference = reference_of(rolling, names, [1.0, 2.0], [3.0, 4.0], [5.0, 6.0])
    at = {rolling.motors[m]: i for i, m in enumerate(reference.motor)}
    assert reference.position[at['arm_2_joint']] == 1.0
    assert reference.acceleration[at['wheel_left_joint']] == 6.0
    assert_array_equal(
        reference.v_index[at['arm_2_joint']], rolling.robot.velocity_index('arm_2_joint')
    )


def test_reference_without_velocities_is_at_rest(rolling):
    reference = reference_of(rolling, ['arm_1_joint'], [1.0])
    assert reference.velocity.tolist() == reference.acceleration.tolist() == [0.0]


@pytest.mark.parametrize(
    ('names', 'values', 'kind'),
    [
        (['arm_1_joint', 'elbow'], ([1.0, 2.0],), 'unknown'),
        (['base_x'], ([1.0],), 'unknown'),  # a rolling base has no motor of its own
        (['arm_1_joint'], ([],), 'short'),
        (['arm_1_joint'], ([1.0], [1.0, 2.0]), 'short'),
        (['arm_1_joint'], ([1.0], [], [np.nan]), 'nan'),
        (['arm_1_joint'], ([1.0], [1e160]), 'range'),  # finite, but its square is not
        (['arm_1_joint', 'arm_1_joint'], ([1.0, 1.0],), 'duplicate'),
    ],
)
def test_bad_reference_is_rejected(rolling, names, values, kind):
    source = reader_of(rolling)
    assert not source.take(trajectory(names, *values))
    assert source.guard.rejected == {kind: 1}


def test_reference_without_points_is_rejected(rolling):
    message = trajectory(['arm_1_joint'], [1.0])
    message.points = []
    source = reader_of(rolling)
    assert not source.take(message)
    assert source.at(10**12) is None


# effort law


def test_feedforward_is_constrained_inverse_dynamics(model, rng):
    reference, q, v = motion_of(model, rng)
    law = EffortLaw(Dynamics(model))
    wanted = wanted_motion(law, q, v, reference)
    expected = kd.constrained_inverse_dynamics(
        model.robot, *wanted, model.constraints, model.motors
    )
    got = law.feedforward(q, v, reference, ALL).motors
    assert_allclose(got, expected.effort[model.v_index(model.motors)], atol=1e-10)


def test_terms_add_up(model, rng):
    reference, q, v = motion_of(model, rng)
    law = EffortLaw(Dynamics(model))
    parts = [law.feedforward(q, v, reference, terms).motors for terms in EACH]
    assert_allclose(sum(parts), law.feedforward(q, v, reference, ALL).motors, atol=1e-10)
    assert all(np.abs(part).max() > 1e-3 for part in parts)
    assert not law.feedforward(q, v, reference, Terms(())).motors.any()


def test_wanted_motion_keeps_reference_and_constraints(rolling, rng):
    reference, q, v = motion_of(rolling, rng)
    wanted_q, wanted_v, wanted_a = wanted_motion(EffortLaw(Dynamics(rolling)), q, v, reference)
    assert_allclose(wanted_q[reference.q_index], reference.position)
    assert_allclose(wanted_v[reference.v_index], reference.velocity)
    assert_allclose(wanted_a[reference.v_index], reference.acceleration)
    assert_array_equal(wanted_q[:3], q[:3])  # the base is where odometry says
    rows = kd.constraints.ConstraintSet(rolling.robot, rolling.constraints).rows(
        wanted_q.tolist(), wanted_v.tolist(), 0.0
    )
    assert_allclose(rows.matrix @ wanted_v, 0.0, atol=1e-14)
    assert_allclose(rows.matrix @ wanted_a, rows.acceleration, atol=1e-13)


@pytest.mark.parametrize('compiled', [False, True])
def test_base_motion_is_that_of_consistent_acceleration(rolling, rng, compiled):
    reference, q, v = motion_of(rolling, rng)
    dynamics = Dynamics(rolling)
    if compiled:
        dynamics.compile()
    wanted_q, wanted_v, wanted_a = wanted_motion(EffortLaw(dynamics), q, v, reference)
    expected = kd.consistent_acceleration(
        rolling.robot, wanted_q, wanted_v, wanted_a, rolling.constraints, rolling.joints
    )
    assert_allclose(wanted_a, expected, atol=1e-10)


def test_straight_wheels_move_the_base_straight(rolling):
    names = ['wheel_left_joint', 'wheel_right_joint']
    reference = reference_of(rolling, names, [0.0, 0.0], [2.0, 2.0], [1.0, 1.0])
    q = rolling.robot.neutral()
    q[2] = 0.5
    _, v, a = wanted_motion(EffortLaw(Dynamics(rolling)), q, np.zeros(rolling.robot.nv), reference)
    radius = rolling.robot.wheels['wheel_left_joint'].radius
    heading = np.array([np.cos(0.5), np.sin(0.5)])
    assert_allclose(v[:3], [*2.0 * radius * heading, 0.0], atol=1e-12)
    assert_allclose(a[:3], [*1.0 * radius * heading, 0.0], atol=1e-12)


def test_joints_that_are_not_named_stay_where_they_are(rolling, rng):
    reference, q, v = motion_of(rolling, rng, ['arm_1_joint'])
    wanted_q, wanted_v, wanted_a = wanted_motion(EffortLaw(Dynamics(rolling)), q, v, reference)
    i = rolling.robot.velocity_index('arm_2_joint')
    assert (wanted_q[i], wanted_v[i], wanted_a[i]) == (q[i], v[i], 0.0)


def test_hold_keeps_the_robot_at_rest(model, rng):
    q = model.robot.neutral() + rng.uniform(-0.5, 0.5, model.robot.nq)
    tau = np.zeros(model.robot.nv)
    tau[model.v_index(model.motors)] = EffortLaw(Dynamics(model)).hold(q, ALL)
    motion = kd.forward_dynamics(model.robot, q, 0.0 * tau, tau, model.constraints)
    assert_allclose(motion.acceleration, 0.0, atol=1e-10)


def test_hold_is_nothing_where_the_robot_compensates_gravity(model):
    q = model.robot.neutral()
    q[model.q_index(('arm_2_joint',))] = 0.7
    law = EffortLaw(Dynamics(model))
    assert not law.hold(q, Terms(('inertia', 'coriolis', 'friction'))).any()
    whole, part = law.hold(q, ALL), law.hold(q, Terms(compensated=('arm_2_joint',)))
    at = model.motors.index('arm_2_joint')
    assert abs(whole[at]) > 1.0
    assert part[at] == 0.0
    assert_allclose(np.delete(part, at), np.delete(whole, at), atol=1e-12)


def test_feedback_has_the_sign_of_the_error_and_only_named_joints(rolling):
    reference = reference_of(rolling, ['arm_2_joint'], [0.5], [1.0])
    n = len(rolling.motors)
    q, v = rolling.robot.neutral(), np.zeros(rolling.robot.nv)
    effort = EffortLaw(Dynamics(rolling)).feedback(
        q, v, reference, np.full(n, 10.0), np.full(n, 2.0)
    )
    expected = np.zeros(n)
    expected[rolling.motors.index('arm_2_joint')] = 10.0 * 0.5 + 2.0 * 1.0
    assert_allclose(effort, expected)


def test_feedback_on_the_heading_takes_the_short_way():
    model = model_of('holonomic')
    reference = reference_of(model, ['base_yaw'], [3.1])
    q, v = model.robot.neutral(), np.zeros(model.robot.nv)
    q[2] = -3.1
    n = len(model.motors)
    effort = EffortLaw(Dynamics(model)).feedback(q, v, reference, np.ones(n), np.zeros(n))
    assert_allclose(effort[2], 6.2 - 2 * np.pi)


@pytest.mark.parametrize('terms', [ALL, *EACH])
def test_both_engines_give_the_same_efforts(terms, rolling, rng):
    reference, q, v = motion_of(rolling, rng)
    dynamics = Dynamics(rolling)
    law = EffortLaw(dynamics)
    slow = [law.feedforward(q, v, reference, terms).motors, law.hold(q, terms)]
    dynamics.compile()
    assert dynamics.compiled
    quick = [law.feedforward(q, v, reference, terms).motors, law.hold(q, terms)]
    for one, other in zip(slow, quick, strict=True):
        assert_allclose(one, other, rtol=0, atol=1e-11)
    assert dynamics.engine.fallback_count == 0


def test_motors_that_cannot_hold_the_arm_are_an_error():
    model = model_of('nonholonomic', joints=('wheel_left_joint', 'wheel_right_joint'))
    q = model.robot.neutral()
    q[model.q_index(('arm_2_joint',))] = 0.7
    with pytest.raises(KaneDynamicsError, match='arm_2_joint'):
        EffortLaw(Dynamics(model)).hold(q, ALL)


def test_limits():
    limit = known_limits(np.array([2.0, 0.0, np.inf]))
    assert_array_equal(limit, [2.0, np.inf, np.inf])
    assert_array_equal(clamped(np.array([-5.0, 70.0, -70.0]), limit), [-2.0, 70.0, -70.0])


# model


def test_unknown_names_are_errors():
    with pytest.raises(NameNotFoundError, match='elbow'):
        model_of('nonholonomic', joints=('elbow',))
    with pytest.raises(NameNotFoundError, match='elbow'):
        model_of('nonholonomic', command_joints=('elbow',))


@pytest.mark.parametrize(
    ('changes', 'words'),
    [
        ({'base_left_wheel_names': ()}, 'needs names of joints in base.left_wheel_names'),
        ({'base_type': 'none'}, 'needs a base_type'),
        ({'base_frame_id': 'arm_2_link'}, 'moves relative to the root'),
        ({'urdf_file': '/nowhere.urdf'}, 'not a file'),
        ({'urdf_file': 'package://kane_dynamics/robots/none.urdf'}, 'not found'),
        ({'robot_description': 'hello'}, 'no XML'),
        ({'robot_description': '<robot'}, '(?i)xml'),
    ],
)
def test_wrong_descriptions_are_clear_errors(changes, words):
    with pytest.raises(KaneDynamicsError, match=words):
        model_of('nonholonomic', **changes)


def test_frame_that_is_no_link_is_the_root_link():
    model = model_of('nonholonomic', base_frame_id='my_base')
    assert any('my_base' in remark for remark in model.notes)


def test_description_from_parameter_wins_over_file():
    p = from_preset('nonholonomic', robot_description='<robot/>')
    assert read_description(p) == '<robot/>'


def test_package_uri_is_found_through_the_ament_index(tmp_path, monkeypatch):
    target = tmp_path / 'share' / 'my_robot' / 'robot.urdf'
    target.parent.mkdir(parents=True)
    target.write_text('<robot/>')
    monkeypatch.setenv('AMENT_PREFIX_PATH', f'/nowhere:{tmp_path}')
    assert resolve('package://my_robot/robot.urdf') == target


def test_xacro_file(tmp_path):
    pytest.importorskip('xacro')
    source = tmp_path / 'robot.urdf.xacro'
    source.write_text(
        '<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro">'
        '<xacro:property name="n" value="base"/><link name="${n}"/></robot>'
    )
    text = read_description(parameters(urdf_file=str(source)))
    assert '<link name="base"/>' in text


def test_summary_names_motors_and_constraints(rolling):
    text = rolling.summary()
    assert 'wheel_left_joint: motor, effort limit 30' in text
    assert 'base_x: no motor' in text
    assert 'no_side_slip' in text


# plant, commands, pacing


def plant_of(model, **changes):
    p = from_preset('nonholonomic', SimulatorParameters, **changes)
    return Plant(Dynamics(model), p, np.zeros(len(model.joints)))


def test_plant_rates_are_whole_steps(rolling):
    plant = plant_of(rolling, joint_state_rate=250.0, odom_rate=50.0)
    assert (plant.steps_per_period, plant.periods_per_odom) == (4, 5)
    assert plant.period == 4_000_000
    assert plant.odom_due


def test_plant_is_deterministic_and_resets(rolling):
    plant = plant_of(rolling)
    index, effort = rolling.v_index(('wheel_left_joint',)), np.array([1.5])
    states = []
    for _ in range(2):
        plant.reset()
        plant.command(index, effort)
        plant.advance(7)
        plant.advance(3)
        states.append(np.concatenate([plant.simulation.q, plant.simulation.v]))
        assert plant.time == 10_000_000
    assert_array_equal(states[0], states[1])
    assert states[0][rolling.robot.coordinate_index('wheel_left_joint')] > 0.0


def test_commands_time_out_in_simulated_time_one_by_one(rolling):
    plant = plant_of(rolling)
    left, right = rolling.v_index(('wheel_left_joint', 'wheel_right_joint'))
    plant.command(np.array([left]), np.array([1.0]))
    plant.advance(5)
    plant.command(np.array([right]), np.array([1.0]))
    plant.advance(5)
    assert plant.release(0.01).tolist() == []
    plant.advance(1)
    assert plant.release(0.01).tolist() == [left]


def command(names, effort, stamp=0):
    return joint_state(names, stamp, effort=effort)


def test_command_by_name_may_name_a_part_and_the_base(rolling):
    plant = plant_of(rolling)
    source = CommandInput(plant, ())
    assert source.take(command(['arm_1_joint', 'base_x'], [3.0, 5.0]), 0, 0, False)
    plant.advance(1)
    assert plant.applied[rolling.robot.velocity_index('arm_1_joint')] == 3.0
    assert plant.applied[0] == 5.0
    assert np.count_nonzero(plant.applied) == 2


@pytest.mark.parametrize(
    ('message', 'kind'),
    [
        (command(['arm_1_joint', 'elbow'], [1.0, 1.0]), 'unknown'),
        (command(['arm_1_joint'], []), 'short'),
        (command(['arm_1_joint'], [np.nan]), 'nan'),
        (command(['arm_1_joint'] * 2, [1.0, 1.0]), 'duplicate'),
    ],
)
def test_bad_command_is_not_applied(rolling, message, kind):
    plant = plant_of(rolling)
    source = CommandInput(plant, ())
    assert not source.take(message, 0, 0, False)
    plant.advance(1)
    assert not plant.applied.any()
    assert source.guard.rejected == {kind: 1}


def test_command_with_an_old_stamp_is_not_applied(rolling):
    plant = plant_of(rolling)
    source = CommandInput(plant, ())
    judged = (200_000_000, 100_000_000, False)
    assert not source.take(command(['arm_1_joint'], [1.0], stamp=50_000_000), *judged)
    assert source.take(command(['arm_1_joint'], [1.0], stamp=150_000_000), *judged)
    assert source.take(command(['arm_1_joint'], [1.0], stamp=10**18), *judged)  # wall clock
    assert source.take(command(['arm_1_joint'], [1.0]), *judged)  # no stamp
    assert source.guard.rejected == {'stale': 1}


def test_lockstep_takes_only_the_answer_to_the_last_state(rolling):
    plant = plant_of(rolling)
    source = CommandInput(plant, ())
    judged = (4_000_000, 3_000_000, True)  # published twice, with two stamps
    for stamp in (0, 2_999_999, 4_000_001):
        assert not source.take(command(['arm_1_joint'], [1.0], stamp=stamp), *judged)
    assert source.guard.rejected == {'order': 3}
    for stamp in (3_000_000, 4_000_000):
        assert source.take(command(['arm_1_joint'], [1.0], stamp=stamp), *judged)


def test_plain_array_follows_command_joints(rolling):
    plant = plant_of(rolling)
    source = CommandInput(plant, ('arm_2_joint', 'wheel_left_joint'))
    assert source.attempt(source.accept_array, SimpleNamespace(data=array('d', [1.0, 2.0])))
    plant.advance(1)
    assert plant.applied[rolling.robot.velocity_index('wheel_left_joint')] == 2.0
    assert not source.attempt(source.accept_array, SimpleNamespace(data=array('d', [1.0])))
    assert not source.attempt(source.accept_array, SimpleNamespace(data=array('d', [np.nan, 1.0])))
    assert source.guard.rejected == {'short': 1, 'nan': 1}


HARDWARE = ('arm_2_joint', 'wheel_left_joint')
NAMES = ['gripper', 'wheel_left_joint', 'arm_1_joint', 'arm_2_joint']  # arm_1 takes positions


def test_hardware_commands_are_packed_and_nan_is_no_command(rolling):
    plant = plant_of(rolling)
    source = CommandInput(plant, (), HARDWARE)
    place = rolling.robot.velocity_index
    assert source.attempt(source.accept_packed, command(NAMES, [2.0, 3.0], stamp=10**18), 0, 0)
    plant.advance(1)
    assert plant.applied[place('wheel_left_joint')] == 2.0
    assert plant.applied[place('arm_2_joint')] == 3.0
    assert np.count_nonzero(plant.applied) == 2
    assert source.attempt(source.accept_packed, command(NAMES, [np.nan, 4.0]), 0, 0)
    plant.advance(1)
    assert plant.applied[place('wheel_left_joint')] == 2.0  # until it times out
    assert plant.applied[place('arm_2_joint')] == 4.0
    assert source.attempt(source.accept_packed, command(NAMES, [np.nan, np.nan]), 0, 0)


@pytest.mark.parametrize(
    ('message', 'kind'),
    [
        (command(NAMES, [1.0]), 'short'),
        (command(NAMES, [1.0] * 4), 'short'),
        (command(NAMES, [np.nan]), 'short'),
        (command(NAMES, [1.0, np.inf]), 'nan'),
        (command(NAMES, [1.0, 1e12]), 'range'),
        (command(NAMES[:3], [1.0]), 'missing'),
        (command([*NAMES, 'arm_2_joint'], [1.0, 1.0]), 'duplicate'),
        (command(NAMES, [1.0, 1.0], stamp=10), 'stale'),
    ],
)
def test_bad_hardware_command_is_not_applied(rolling, message, kind):
    plant = plant_of(rolling)
    source = CommandInput(plant, (), HARDWARE)
    assert not source.attempt(source.accept_packed, message, 200, 100)
    plant.advance(1)
    assert not plant.applied.any()
    assert source.guard.rejected == {kind: 1}


def test_hardware_joints_must_exist(rolling):
    with pytest.raises(NameNotFoundError, match='elbow'):
        CommandInput(plant_of(rolling), (), ('elbow',))


def test_pacer_follows_the_wall_clock_and_gives_up_a_long_delay():
    clock = FakeClock()
    pacer = Rate(0.5, steady=lambda: clock.wall)
    pacer.start(4_000_000)  # 8 ms of wall time each
    assert not pacer.due()
    run = 0
    for _ in range(100):
        clock.forward(0.001)
        assert not pacer.late()
        if pacer.due():
            pacer.count()
            run += 1
    assert run in (12, 13)
    pacer.count()
    clock.forward(0.0159)
    assert not pacer.late()
    clock.forward(0.0002)
    assert pacer.late()
    pacer.count()
    assert not pacer.late()  # also where the one after it is due
    clock.forward(10.0)
    late = 0
    while pacer.due():
        pacer.count()
        late += 1
    assert late <= 7


def test_pacer_without_rate_is_always_due():
    pacer = Rate(0.0)
    pacer.start(4_000_000)
    pacer.count()
    assert pacer.due() and not pacer.late()
