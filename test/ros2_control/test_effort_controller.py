# SPDX-License-Identifier: Apache-2.0
"""kane_dynamics/EffortController against the engine, driven as a controller manager drives it."""

from pathlib import Path

import numpy as np
import pytest
import yaml
from numpy.testing import assert_allclose, assert_array_equal

import kane_dynamics as kd
from kane_dynamics import cli
from kane_dynamics.deployment.core import reference_speeds
from kane_dynamics.robot_config.robot_source import model_of_file

NAN, INF = float('nan'), float('inf')
ROOT = Path(__file__).resolve().parents[2]
CLOSE = {'rtol': 1e-11, 'atol': 1e-11}


@pytest.fixture(scope='module')
def install():
    """Return the workspace; skip, with the reason, without a ROS 2 that has ros2_control."""
    from bed import missing

    if lacking := missing():
        pytest.skip(lacking)
    from workspace import built

    return built()


@pytest.fixture(scope='module')
def library(tmp_path_factory):
    """Return the folder of the library of the shipped robot, with a payload frame."""
    folder = tmp_path_factory.mktemp('robot')
    arguments = ['build', 'nonholonomic', '--output', str(folder), '--name', 'robot']
    assert cli.main([*arguments, '--payloads', 'tool_link']) == 0
    return folder


@pytest.fixture(scope='module')
def model():
    """Return model and engine of the robot."""
    made = model_of_file('nonholonomic')
    return made, kd.compile(made.robot, made.constraints, payloads=('tool_link',))


@pytest.fixture
def controller(install, library, model, tmp_path):
    """Return a function: parameters, folder of the library -> the harness of a controller."""
    from workspace import Harness

    opened = []
    (tmp_path / 'robot.urdf').write_text(model[0].text, encoding='utf-8')

    def start(*, folder=library, **parameters):
        lines = [f'    {name}: {value}' for name, value in parameters.items()]
        text = (folder / 'robot_controllers.yaml').read_text(encoding='utf-8')
        text = text.replace('robot_effort_controller:\n  ros', 'effort_controller:\n  ros')
        file = tmp_path / 'parameters.yaml'
        file.write_text('\n'.join([text, *lines]) + '\n', encoding='utf-8')
        log = tmp_path / 'harness.log'
        opened.append(Harness(install, tmp_path / 'robot.urdf', file, log))
        assert opened[-1].run('chained', 1) == '1'
        assert opened[-1].run('activate') == '1'
        return opened[-1]

    yield start
    for one in opened:
        one.close()


def efforts(model, q, v, a):
    """Return the motors' efforts by the engine; of all joints, the base follows."""
    made, engine = model
    whole = [np.concatenate([np.zeros(3), x]) for x in (q, v, a)]
    names = made.actuated, reference_speeds(made)
    return engine.constrained_inverse_dynamics(*whole, names[0], known=names[1]).effort[3:]


@pytest.fixture
def motion(rng):
    """Return measured q and v, and q, v, a and efforts of a reference, of the seven joints."""
    return rng.uniform(-0.5, 0.5, (6, 7))


def references(q, v, a, effort):
    """Return the values of the reference interfaces in their order."""
    return [*np.column_stack([q, v, a]).ravel(), *effort]


def test_interfaces(controller, model):
    joints = model[0].motors
    parts = [part.split() for part in controller().run('names').split('|')]
    assert parts[0] == [f'{name}/effort' for name in joints]
    states = [f'{name}/position' for name in joints] + [f'{name}/velocity' for name in joints]
    assert parts[1] == states
    kinds = 'position', 'velocity', 'acceleration'
    prefix = 'effort_controller'
    taken = [f'{prefix}/{name}/{kind}' for name in joints for kind in kinds]
    assert parts[2] == [*taken, *(f'{prefix}/{name}/effort' for name in joints)]
    terms = 'feedforward', 'feedback', 'external_effort'
    assert parts[3] == [f'{prefix}/{name}/{term}' for name in joints for term in terms]


def test_feedforward_and_added_efforts(controller, model, motion):
    q, v, q_r, v_r, a_r, added = motion
    one = controller(enforce_command_limits='false')
    one.run('states', *q, *v)
    one.run('references', *references(q_r, v_r, a_r, added))
    code, allocations, values = one.update()
    assert (code, allocations) == (0, 0)
    assert_allclose(values[:7], efforts(model, q_r, v_r, a_r) + added, **CLOSE)
    assert_allclose(values[7::3], efforts(model, q_r, v_r, a_r), **CLOSE)
    assert_array_equal(values[8::3], 0.0)


def test_feedback_with_an_integral_that_is_limited(controller, model, motion):
    q, v, q_r, v_r, a_r, _ = motion
    one = controller(enforce_command_limits='false')
    for k, joint in enumerate(model[0].motors):
        for name, value in (('p', 10.0 + k), ('d', 1.0 + k), ('i', 5.0), ('i_limit', 0.004)):
            assert one.run('set', f'gains.{joint}.{name}', value) == 'ok'
    one.run('states', *q, *v)
    one.run('references', *references(q_r, v_r, a_r, [NAN] * 7))
    integral = np.zeros(7)
    for _ in range(3):  # in force at the first update
        _, allocations, values = one.update(1e-3)
        assert allocations == 0
        integral = np.clip(integral + 5.0 * (q_r - q) * 1e-3, -0.004, 0.004)
        gains = np.arange(7) + np.array([[10.0], [1.0]])
        feedback = gains[0] * (q_r - q) + gains[1] * (v_r - v) + integral
        assert_allclose(values[:7], efforts(model, q_r, v_r, a_r) + feedback, **CLOSE)
        assert_allclose(values[8::3], feedback, **CLOSE)
    assert (np.abs(integral) == 0.004).any() and (np.abs(integral) < 0.004).any()


def test_feedback_is_to_the_reference_of_the_update_before(controller, model, motion):
    q, v, q_r, v_r, a_r, later = motion
    one = controller(enforce_command_limits='false')
    for joint in model[0].motors:
        assert one.run('set', f'gains.{joint}.p', 7.0) == 'ok'
        assert one.run('set', f'gains.{joint}.d', 0.5) == 'ok'
    one.run('states', *q, *v)
    for reference in (q_r, later):
        one.run('references', *references(reference, v_r, a_r, [NAN] * 7))
        _, _, values = one.update()
        assert_allclose(values[8::3], 7.0 * (q_r - q) + 0.5 * (v_r - v), **CLOSE)
        assert_allclose(values[7::3], efforts(model, reference, v_r, a_r), **CLOSE)
    one.run('references', *[NAN] * 28)
    one.update()
    _, _, values = one.update()  # there was none before either
    assert_allclose(values[8::3], -0.5 * v, **CLOSE)


def test_without_references_the_weight_is_carried(controller, model, motion):
    q, v, *_ = motion
    one = controller()
    one.run('states', *q, *v)
    _, _, values = one.update()
    weight = efforts(model, q, np.zeros(7), np.zeros(7))
    assert_allclose(values[:7], weight, **CLOSE)
    one.run('deactivate')
    assert one.run('chained', 0) == '1'
    assert one.run('activate') == '1'
    one.run('references', *references(*motion[2:]))  # nothing precedes it: they do not count
    assert_allclose(one.update()[2][:7], weight, **CLOSE)


def test_gravity_and_payload_by_parameter_and_by_topic(controller, model, motion):
    q, v, *_ = motion
    made, engine = model
    one = controller(payload_frames='[tool_link]')
    one.run('states', *q, *v)
    inertia = [0.02, 0.001, 0.0, 0.03, 0.0, 0.04]

    def expected(gravity, mass, com):
        matrix = np.array(inertia)[[0, 1, 2, 1, 3, 4, 2, 4, 5]].reshape(3, 3)
        engine.set_gravity(gravity)
        engine.set_payload('tool_link', mass, com, matrix)
        return efforts(model, q, np.zeros(7), np.zeros(7))

    try:
        for how in ('set', 'publish'):
            gravity, mass, com = [1.0, -0.5, -9.0], 1.5, [0.1, 0.0, 0.05]
            if how == 'set':
                gravity = [0.5, 0.0, -9.7]
                assert one.run('set', 'gravity', *gravity) == 'ok'
                assert one.run('set', 'payload.tool_link.inertia', *inertia) == 'ok'
                assert one.run('set', 'payload.tool_link.com', *com) == 'ok'
                assert one.run('set', 'payload.tool_link.mass', mass) == 'ok'
            else:
                mass = 0.7
                one.run('gravity', *gravity)
                one.run('payload', 'tool_link', mass, *com, *inertia)
            assert_allclose(one.update()[2][:7], expected(gravity, mass, com), **CLOSE)
        assert one.run('set', 'gains.arm_1_joint.p', 0.0) == 'ok'  # what topics set stays
        one.run('gravity', NAN, 0.0, 0.0)
        one.run('payload', 'tool_link', -1.0, *com, *inertia)
        one.run('payload', 'elbow', mass, *com, *inertia)
        assert_allclose(one.update()[2][:7], expected(gravity, mass, com), **CLOSE)
    finally:
        engine.set_gravity(made.robot.gravity)
        engine.set_payload('tool_link', 0.0)
    said = one.log.read_text()
    assert '~/gravity refused' in said and '~/payload refused' in said


def test_unknown_states_are_waited_for_and_named(controller, motion):
    q, v, *_ = motion
    one = controller(state_timeout='0.003')
    for _ in range(3):
        code, _, values = one.update(1e-3)
        assert code == 0
        assert np.isnan(values[:7]).all()  # nothing was commanded
    one.run('states', *q, *v)
    assert one.update()[0] == 0
    one.run('states', *q, *v[:-1], NAN)
    assert one.update()[0] == 1
    said = one.log.read_text()
    assert said.count('no efforts yet: wheel_left_joint/position is nan') == 1
    assert said.count('arm_5_joint/velocity is nan') == 1


def test_states_that_never_come_end_with_a_reason(controller):
    one = controller(state_timeout='0.002')
    codes = [one.update(1e-3)[0] for _ in range(5)]
    assert codes[:2] == [0, 0] and codes[-1] == 1
    assert 'wheel_left_joint/position is nan since the activation' in one.log.read_text()


def test_no_answer_names_its_input_and_deactivation_commands_zero(controller, motion):
    q, v, q_r, v_r, a_r, _ = motion
    one = controller()
    one.run('states', *q, *v)
    a_r[3] = 1e300
    before = one.update()[2][:7]
    one.run('references', *references(q_r, v_r, a_r, [NAN] * 7))
    code, _, values = one.update()
    assert code == 1
    assert_array_equal(values[:7], before)  # nothing was written
    assert 'arm_2_joint/acceleration is 1' in one.log.read_text()
    answer = one.run('deactivate').split()
    assert answer[0] == '1'
    assert_array_equal(np.array(answer[1:8], float), 0.0)


def test_a_base_that_follows_a_twist(controller, model, motion, tmp_path):
    shipped = ROOT / 'config' / 'nonholonomic.yaml'
    content = yaml.safe_load(shipped.read_text(encoding='utf-8'))
    content['/**']['ros__parameters']['base.command_interface'] = 'velocity'
    file = tmp_path / 'driven.yaml'
    file.write_text(yaml.safe_dump(content), encoding='utf-8')
    folder = tmp_path / 'driven'
    assert cli.main(['build', str(file), '--output', str(folder), '--name', 'robot']) == 0
    source = {'base.source': 'twist', 'base.response_time': '0.2', 'base.timeout': '0.05'}
    one = controller(folder=folder, enforce_command_limits='false', **source)
    made, engine = model
    q, v = motion[0, 2:], motion[1, 2:]
    one.run('states', *q, *v)
    twist, h, lag = np.array([1.5, 0.0, 2.0]), 0.01, 0.2
    one.run('twist', *twist)
    followed, zero = np.zeros(3), np.zeros(5)
    known = ('base_x', 'base_y', 'base_yaw', *made.motors[2:])
    for k in range(8):  # from the seventh update on the twist is stale: the base brakes
        target = twist if k < 6 else np.zeros(3)
        followed = target + (followed - target) * np.exp(-h / lag)
        rate = (target - followed) / lag
        turn = followed[2] * np.array([-followed[1], followed[0], 0.0])
        whole = (
            [np.zeros(3), [0.0, 0.0], q],
            [followed, [0.0, 0.0], zero],
            [rate + turn, [0, 0], zero],
        )
        arguments = [np.concatenate(x) for x in whole]
        found = engine.constrained_inverse_dynamics(*arguments, made.actuated, known=known)
        assert_allclose(one.update(h)[2][:5], found.effort[5:], **CLOSE)
    assert abs(turn[1]) > 0.1 and np.abs(rate).max() > 1.0


@pytest.mark.parametrize('added', [INF, -INF, 1e300])
def test_added_efforts_without_bounds_are_refused(controller, motion, added):
    q, v, *_ = motion
    one = controller(enforce_command_limits='false')
    one.run('states', *q, *v)
    before = one.update()[2][:7]
    one.run('references', *references(*[[NAN] * 7] * 3, [*[NAN] * 6, added]))
    code, _, values = one.update()
    assert code == 1
    assert_array_equal(values[:7], before)  # nothing was written
    assert 'arm_5_joint/effort is ' in one.log.read_text()


def test_the_observer_feels_what_pulls(controller, model, motion):
    q, v, *_ = motion
    one = controller(observer_gain='50.0', enforce_command_limits='false')
    zero = np.zeros(7)
    one.run('states', *q, *zero)
    values = [one.update()[2] for _ in range(400)][-1]
    assert_allclose(values[9::3], 0.0, atol=1e-9)  # the weight is carried, nothing moves
    pull = np.array([0.0, 0.0, 1.0, -2.0, 0.0, 0.5, 0.0])
    one.run('references', *references(*[[NAN] * 7] * 3, -pull))
    values = [one.update()[2] for _ in range(400)][-1]  # still at rest: something else holds it
    assert_allclose(values[9::3], pull * (1.0 - np.exp(-50.0 * 0.4)), atol=1e-2 * 2.0)


@pytest.mark.parametrize(
    ('name', 'values'),
    [
        ('gravity', [0.0, NAN, -9.81]),
        ('gravity', [0.0, -9.81]),
        ('gains.arm_1_joint.p', [-1.0]),
        ('gains.arm_1_joint.p', [NAN]),
        ('gains.arm_1_joint.p', [float('inf')]),
        ('gains.elbow.p', [1.0]),
        ('effort_limit_scale', [1.5]),
        ('observer_gain', [-1.0]),
        ('payload.tool_link.inertia', [1.0, 0.0, 0.0, 1.0, 0.0, 5.0]),
        ('payload.tool_link.mass', [-0.1]),
        ('base.response_time', [0.0]),
        ('state_timeout', [NAN]),
    ],
)
def test_wrong_parameters_are_refused_with_a_reason(controller, motion, name, values):
    one = controller(payload_frames='[tool_link]')
    one.run('states', *motion[0], *motion[1])
    before = one.update()[2]
    answer = one.run('set', name, *values)
    assert answer.startswith('refused: ') and len(answer) > len('refused: ')
    code, _, after = one.update()
    assert code == 0
    assert_array_equal(after[:7], before[:7])
