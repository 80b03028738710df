# SPDX-License-Identifier: Apache-2.0
"""``kane-dynamics identify``: on a recording of a real UR10, and on spoiled ones."""

import errno
import re
from types import SimpleNamespace

import numpy as np
import pytest
import yaml
from numpy.testing import assert_allclose
from support.recorded_drive import MOTORS, recorded_drive
from support.wheeled_robots import installed

import kane_dynamics as kd
from kane_dynamics.analysis.joint_friction import FrictionTerm
from kane_dynamics.bags import recordings
from kane_dynamics.bags.files import JOINT_STATE
from kane_dynamics.bags.recordings import file_hash
from kane_dynamics.cli import identification
from kane_dynamics.cli.options import RobotSource
from kane_dynamics.cli.printing import write_csv
from kane_dynamics.identification.friction import MOTOR_SIDE, friction_columns
from kane_dynamics.identification.identification import identify
from kane_dynamics.robot.inertial_parameters import (
    PARAMETERS,
    inertial_parameters,
    with_inertial_parameters,
)
from kane_dynamics.robot.urdf.writing import updated_urdf
from kane_dynamics.robot_config.parameters.tables import FrictionParameters
from kane_dynamics.robot_config.robot_source import (
    model_of_file,
    parameters_of_file,
    read_parameter_file,
)

JOINTS = (
    *('shoulder_pan_joint', 'shoulder_lift_joint', 'elbow_joint'),
    *('wrist_1_joint', 'wrist_2_joint', 'wrist_3_joint'),
)


def friction_of(file, joint):
    """Return the friction of a joint in a parameter file."""
    return parameters_of_file(file, FrictionParameters, joint)


POINTS = np.array([0.3, 0.3, 0.3, 0.3, 0.3, 0.8])
# first half -> second, by a program with numpy, Pinocchio and Clarabel; friction with the terms
# that are selected of the first half alone
NOMINAL = (32.3, 7.4, 14.9, 30.0, 39.0, 30.4)
IDENTIFIED = (1.9, 1.2, 1.3, 2.0, 3.6, 7.7)


@pytest.fixture(scope='module')
def urdf():
    """Return the path of the URDF."""
    pytest.importorskip('clarabel', reason='pip install .[cones]')
    installed('panda')
    from studies import robots

    (path,) = robots.arm('panda').path.parents[2].glob('*/*/ur10_robot.urdf')
    return path


@pytest.fixture(scope='module')
def recording():
    """Return time, and positions, velocities and efforts."""
    from studies.identification.arms import ur10_recording

    return ur10_recording(None)


@pytest.fixture
def table(recording, tmp_path):
    """Return a function that writes a part of the recording, spoiled by a function, as CSV."""

    def write(name='all', part=slice(None), spoil=lambda columns: None, kinds=()):
        time, values = recording
        columns = {
            f'{kind}:{joint}': values[kind][part, k].copy()
            for kind in (kinds or values)
            for k, joint in enumerate(JOINTS)
        }
        spoil(columns)
        return write_csv(tmp_path / f'{name}.csv', {'time': time[part], **columns})

    return write


def write_bag(folder, recording, part):
    """Write a part of the recording as a bag, joints in another order, with one more."""
    rosbag2 = pytest.importorskip('rosbags.rosbag2')
    typesys = pytest.importorskip('rosbags.typesys')
    store = typesys.get_typestore(typesys.Stores.ROS2_JAZZY)
    types, (time, x) = store.types, recording
    order = [3, 1, 0, 2, 5, 4]
    names = [*(JOINTS[k] for k in order), 'gripper_joint']
    with rosbag2.Writer(folder, version=9) as writer:
        topic = writer.add_connection('/joint_states', JOINT_STATE, typestore=store)
        for i in range(len(time))[part]:
            stamp = 1_700_000_000_000_000_000 + round(time[i] * 1e9)
            header = types['std_msgs/msg/Header'](
                types['builtin_interfaces/msg/Time'](*divmod(stamp, 1_000_000_000)), ''
            )
            fields = [np.append(x[kind][i, order], np.nan) for kind in x]
            message = types[JOINT_STATE](header, names, *fields)
            writer.write(topic, stamp, store.serialize_cdr(message, JOINT_STATE))
    return folder


@pytest.fixture(scope='module')
def half(recording):
    """Return both halves of the recording."""
    middle = len(recording[0]) // 2
    return slice(middle), slice(middle, None)


def test_one_half_predicts_the_other(run, recording, half, urdf, tmp_path):
    """Of two bags; the files say what was printed."""
    first, second = (write_bag(tmp_path / f'bag{k}', recording, half[k]) for k in (0, 1))
    out, curves = tmp_path / 'out', tmp_path / 'curves.csv'
    code, output, errors = run(
        *('identify', urdf, '--bag', first, '--validate', second, '--output', out),
        *('--csv', curves),
    )
    assert code == 0, errors
    found = yaml.safe_load((out / 'identification.yaml').read_text())
    percent = {name: [*values.values()] for name, values in found['errors_percent'].items()}
    assert (np.abs(np.subtract(percent['consistent filtered'], IDENTIFIED)) < POINTS).all(), (
        percent
    )
    assert_allclose(percent['nominal filtered'], NOMINAL, atol=0.6)  # less 0.5 s in the middle
    assert f'{percent["consistent filtered"][0]:.1f}' in output
    assert not found['reason']
    assert found['condition'] < 50.0  # Stribeck's term of the elbow is nearly viscous
    assert found['settings'] | {'corner_hz': 5.0, 'friction': 'motor'} == found['settings']
    assert found['recordings'] == {str(x): {'sha256': file_hash(x)} for x in (first, second)}
    assert found['order'] == list(PARAMETERS)
    assert set(found['friction']) == set(JOINTS)
    assert 'stribeck_velocity' in found['friction'][JOINTS[0]]['stribeck']
    rows = [row for body in found['bodies'].values() for row in body.values()]
    status = [row['status'] for row in rows]
    assert {x.partition(':')[0] for x in status} == {'alone', 'only in sums', 'unseen'}
    known = [row for row in rows if row['sigma'] is not None]
    assert known
    assert all(x['status'] == 'alone' and x['sigma'] > 0.0 for x in known)
    rows = np.genfromtxt(curves, delimiter=',', names=True, deletechars='')
    missed = rows['measured_effort:elbow_joint'] - rows['consistent_effort:elbow_joint']
    span = np.ptp(rows['measured_effort:elbow_joint'])
    error = 100.0 * np.sqrt(np.mean(missed**2)) / span
    assert error == pytest.approx(percent['consistent filtered'][2], rel=1e-12)


def test_the_page_shows_what_is_printed(run, run_json, recording, half, urdf, tmp_path, root):
    """The tables of identification.md: of `identify`, and of `report` before and after it."""
    text = (root / 'doc' / 'identification.md').read_text()
    _, errors, report = re.findall(r'```text\n(.*?)```', text, re.DOTALL)
    first, second = (
        write_bag(tmp_path / name, recording, x) for name, x in zip('ab', half, strict=True)
    )
    options = '--bag', first, '--validate', second, '--output', tmp_path / 'identified'
    output = re.sub(r'[^\w.\[\]%]+', ' ', run('identify', urdf, *options)[1])
    for line in errors.splitlines()[2:]:
        assert re.sub(r'[^\w.\[\]%]+', ' ', line) in output
    instead = re.search(r'with its URDF instead: (.*) % error; (.*) % carried', text).groups()
    of_urdf = zip(*(re.findall(r'[\d.]+', x) for x in instead), strict=True)
    of_file = [line.split()[1:] for line in report.splitlines()[1:]]
    for robot, rows in ((tmp_path / 'identified' / 'parameters.yaml', of_file), (urdf, of_urdf)):
        found = run_json('report', robot, '--bag', second, '--output', tmp_path / 'r.html')
        for joint, row in zip(JOINTS, rows, strict=False):
            values = (found['joints'][joint][key] for key in ('error [%]', 'carried [%]'))
            assert tuple(f'{x:.3g}' for x in values) == tuple(row)


def test_the_page_needs_no_network(run, table, urdf, tmp_path):
    code, _, errors = run('identify', urdf, '--bag', table(), '--output', tmp_path)
    assert code == 0, errors
    page = (tmp_path / 'report.html').read_text()
    sources = re.findall(r'(?:src|href)="([^"]{4})', page)
    assert sources == ['data']
    assert 'http' not in page.replace('http-equiv', '')
    assert "default-src 'none'" in page
    for joint in JOINTS:
        assert page.count(joint) > 3
    for text in ('Condition number', 'the last third', 'base parameters', 'consistent raw'):
        assert text.lower() in page.lower()
    found = yaml.safe_load((tmp_path / 'identification.yaml').read_text())
    assert any('last third' in text for text in found['warnings'])


def test_the_urdf_loads_to_the_same_efforts(urdf):
    """inverse_dynamics of what was written, and friction that a URDF lacks, are W phi + F f."""
    from studies.identification.arms import halves, ur10_samples

    training, test = halves(ur10_samples())
    result = identify(kd.dynamics(kd.load_urdf(urdf)), [training], friction=MOTOR_SIDE)
    again = kd.dynamics(kd.load_urdf(updated_urdf(urdf, result.robot, JOINTS)))
    part, friction = test.part(slice(50)), result.friction
    without = again.inverse_dynamics(part.q, part.v, part.a) - again.friction_force(part.v)
    robot = again.robot
    for k, name in enumerate(JOINTS):
        local = {term.kind: value for term, value in friction[name].items()}
        assert robot.damping[k] == local['viscous']
        assert robot.friction[k] == local['coulomb']
        columns = friction_columns(robot, part, name, [*friction[name]])
        without[:, k] += columns @ [*friction[name].values()]
    predicted = result.efforts(part)
    assert_allclose(without, predicted, rtol=0, atol=1e-12 * np.abs(predicted).max())


def test_velocities_may_be_missing(run, table, urdf, tmp_path):
    kinds = 'position', 'effort'
    code, _, errors = run('identify', urdf, '--bag', table(kinds=kinds), '--output', tmp_path)
    assert code == 0, errors
    assert 'velocities were not recorded' in errors
    found = yaml.safe_load((tmp_path / 'identification.yaml').read_text())
    percent = [*found['errors_percent']['consistent filtered'].values()]
    assert (np.array(percent) < (3.0, 4.0, 3.0, 4.0, 5.0, 8.5)).all(), percent


def zero(columns):
    for joint in JOINTS:
        columns[f'effort:{joint}'][:] = 0.0


def constant(columns):
    columns['effort:elbow_joint'][:] = 4.0


def not_finite(columns):
    columns['effort:elbow_joint'][5] = np.nan


def without_elbow(columns):
    del columns['effort:elbow_joint']


def renamed(columns):
    columns['position:elbow'] = columns.pop('position:elbow_joint')


def flipped(columns):
    columns['effort:shoulder_lift_joint'] *= -1.0


def currents(columns):
    for joint in JOINTS:
        columns[f'effort:{joint}'] /= 150.0


def slow(columns):
    columns['velocity:elbow_joint'] *= 0.01


def degrees(columns):
    for name in columns:
        columns[name] *= 1.0 if 'effort' in name else 180.0 / np.pi


def positions_in_degrees(columns):
    for joint in JOINTS:
        columns[f'position:{joint}'] *= 180.0 / np.pi


def nanoseconds(columns):
    columns['time'] = 1.7e18 + 0.008e9 * np.arange(len(columns['effort:elbow_joint']))


def one_instant(columns):
    columns['time'] = np.full(len(columns['effort:elbow_joint']), 5.0)


@pytest.mark.parametrize(
    ('spoil', 'problem'),
    [
        (slow, "'elbow_joint': its velocity is 0.01 times the rate of its position"),
        (degrees, "'shoulder_pan_joint' move 8.88 ranges of the joint: degrees"),
        (positions_in_degrees, "'shoulder_pan_joint': its velocity is 0.017 times the rate"),
        (nanoseconds, 'median step 8e.06; need stamps in seconds'),
        (one_instant, 'need 3 different ones, got 1'),
        (zero, 'no effort, all are zero'),
        (constant, r"a constant effort: \['elbow_joint'\]"),
        (not_finite, r"not finite: \['elbow_joint'\]"),
        (without_elbow, "no column 'effort:elbow_joint'"),
        (renamed, "no column 'position:elbow_joint'.*did you mean 'position:elbow'"),
        (flipped, "'shoulder_lift_joint': sign flipped"),
        (currents, "'elbow_joint': .* currents"),
    ],
)
def test_recordings_that_are_of_no_use(spoil, problem, run, table, urdf, tmp_path):
    out = tmp_path / 'out'
    code, _, errors = run(
        'identify', urdf, '--bag', table(spoil=spoil), '--output', out, '--reference'
    )
    assert code == 1
    assert re.search(problem, errors), errors
    assert not list(out.iterdir())


def test_a_joint_without_efforts_is_left_out(run_json, table, urdf, tmp_path):
    names = [name for name in JOINTS if name != 'elbow_joint']
    found = run_json(
        *('identify', urdf, '--bag', table(spoil=without_elbow), '--output', tmp_path),
        *('--joints', ','.join(names[::-1])),
    )
    assert found['settings']['joints'] == names
    assert 'elbow_joint' not in found['friction']
    again = kd.load_urdf(tmp_path / 'robot_identified.urdf')
    before = kd.load_urdf(urdf)
    assert again.damping[2] == before.damping[2]
    assert again.damping[1] == found['friction']['shoulder_lift_joint']['viscous']['value']


def late(columns):
    for joint in JOINTS:
        columns[f'effort:{joint}'] -= 4.0 * np.gradient(columns[f'velocity:{joint}'], 0.008)


def test_rotors_of_negative_inertia_are_none(run, table, urdf, tmp_path):
    """As of torques behind the gear, which lag."""
    run('identify', urdf, '--bag', table(spoil=late), '--output', tmp_path)
    found = yaml.safe_load((tmp_path / 'identification.yaml').read_text())
    assert found['settings']['friction'] == 'link'
    assert not any('rotor_inertia' in terms for terms in found['friction'].values())


def test_the_training_is_no_validation(run, table, urdf, tmp_path):
    one, other = table('one'), table('other', slice(1000, 2000))
    code, _, errors = run(
        *('identify', urdf, '--bag', one, '--validate', other, '--output', tmp_path / 'out'),
        '--reference',
    )
    assert code == 1
    assert '100 % of its samples are among those of the training' in errors


def test_a_recording_counts_once(run, table, urdf, tmp_path):
    """Regression: of one that was given twice, deviations came out too small."""
    options = '--bag', table('one'), '--bag', table('two'), '--output', tmp_path
    assert "two.csv' is the same recording as" in run('identify', urdf, *options)[2]


def test_the_room_for_temporary_files_may_end(run, table, urdf, tmp_path, monkeypatch):
    """Regression: the error was a count of numbers."""

    class Full:
        def write(self, data):
            raise OSError(errno.ENOSPC, 'No space left on device')

        def close(self):
            pass

    monkeypatch.setattr(recordings, 'TemporaryFile', Full)
    options = '--bag', table(), '--output', tmp_path / 'out', '--reference'
    code, _, errors = run('identify', urdf, *options)
    assert code == 1
    assert re.search(r"kept in '.*' \(TMPDIR\): No space left on device", errors), errors
    assert not list((tmp_path / 'out').iterdir())


def test_a_result_that_predicts_worse_is_no_urdf(run, table, urdf, tmp_path):
    """Of 2.4 s; a URDF of an earlier call goes away with the report that it belonged to."""
    (tmp_path / 'robot_identified.urdf').write_text('old')
    training, test = table('one', slice(300)), table('other', slice(1720, None))
    code, output, errors = run(
        *('identify', urdf, '--bag', training, '--validate', test, '--output', tmp_path),
    )
    assert code == 1
    assert 'no URDF is written: ' in errors
    assert not (tmp_path / 'robot_identified.urdf').exists()
    assert 'No URDF was written' in (tmp_path / 'report.html').read_text()
    assert yaml.safe_load((tmp_path / 'identification.yaml').read_text())['reason'] in errors
    assert 'report.html' in output


def test_what_is_asked_for_must_exist(run, table, urdf, tmp_path):
    options = 'identify', urdf, '--output', tmp_path, '--reference'
    assert 'need --bag, at least one recording' in run(*options)[2]
    code, _, errors = run(*options, '--bag', table(), '--joints', 'elbow')
    assert code == 1
    assert "no joint named 'elbow'" in errors
    assert "no joint named ''" in run(*options, '--bag', table(), '--joints', '')[2]
    assert 'cannot be read' in run(*options, '--bag', tmp_path / 'no.csv')[2]
    assert 'cannot be read' in run(*options, '--bag', tmp_path / 'no')[2]
    assert 'floating' in run(*options, '--bag', table(), '--root-joint', 'floating')[2]


@pytest.fixture(scope='module')
def heavy_drive():
    """Return columns of a drive of the shipped robot, a third heavier than its URDF says."""
    return recorded_drive(4.0 / 3.0)


def test_a_base_on_wheels(heavy_drive, run_json, tmp_path):
    """Forces of the floor drop out; the written robot has the mass that drives and arm felt."""
    pytest.importorskip('clarabel', reason='pip install .[cones]')
    unknown = {name: 0.0 * x for name, x in heavy_drive.items() if ':base_' in name}  # no odometry
    table = write_csv(tmp_path / 'drive.csv', heavy_drive | unknown)
    options = '--output', tmp_path / 'out', '--friction', 'link', '--corner', '4', '--reference'
    found = run_json('identify', 'nonholonomic', '--bag', table, *options)
    assert found['settings']['joints'] == list(MOTORS)
    errors = {name: max(values.values()) for name, values in found['errors_percent'].items()}
    assert errors['consistent filtered'] < 1.0 < 10.0 < errors['nominal filtered']
    file = tmp_path / 'out' / 'parameters.yaml'
    model = model_of_file(file)
    assert (model.base.kind, model.motors) == ('differential', MOTORS)
    known = [friction_of(file, name) for name in MOTORS]
    coulomb = [found['friction'][name]['coulomb']['value'] for name in MOTORS]
    assert [p.coulomb for p in known] == coulomb
    again = kd.load_urdf(tmp_path / 'out' / 'robot_identified.urdf', base='planar')
    mass = sum(body.inertia.mass for body in again.bodies)
    before = sum(body.inertia.mass for body in kd.load_robot('nonholonomic').bodies)
    assert mass == pytest.approx(4.0 / 3.0 * before, rel=0.05)


def test_currents_with_the_gains_of_the_maker(run, run_json, table, urdf, tmp_path):
    """They give what efforts give; what the scale came from is told."""
    gains = tmp_path / 'gains.yaml'
    gains.write_text(yaml.safe_dump(dict.fromkeys(JOINTS, 150.0)))
    options = '--output', tmp_path / 'out', '--gains', gains
    found = run_json('identify', urdf, '--bag', table(spoil=currents), *options)
    assert found['settings']['gains'] == dict.fromkeys(JOINTS, 150.0)
    assert any('masses have the scale of these' in text for text in found['warnings'])
    errors = [*found['errors_percent']['consistent filtered'].values()]
    assert (np.array(errors) < 8.5).all()
    gains.write_text('{elbow: 150.0}')
    assert (
        "no joint with a gain named 'elbow'"
        in run('identify', urdf, '--bag', table(spoil=currents), *options, '--reference')[2]
    )


@pytest.mark.parametrize(
    ('content', 'problem'),
    [
        (b'elbow_joint: 0', 'gain of .elbow_joint.: need a number that is not 0'),
        (b'elbow_joint: x', 'gain of .elbow_joint.: need one finite number'),
        (b'elbow_joint: [', "gains.yaml' cannot be read as YAML"),
        (b'\xff\xfe', "gains.yaml' cannot be read"),
    ],
)
def test_gains_that_are_none_are_refused(content, problem, run, table, urdf, tmp_path):
    """Regression: with a gain of 0 a URDF was written; what is no UTF-8 was a traceback."""
    gains, out = tmp_path / 'gains.yaml', tmp_path / 'out'
    gains.write_bytes(content)
    options = '--output', out, '--gains', gains, '--reference'
    code, _, errors = run('identify', urdf, '--bag', table(spoil=currents), *options)
    assert code == 1
    assert re.search(problem, errors), errors
    assert not (out / 'robot_identified.urdf').exists()


def test_a_table_that_cannot_be_written_is_told_before_the_work(run, urdf, tmp_path):
    """Regression: after the fit, and without the name of the option."""
    (tmp_path / 'file').write_text('')
    options = '--bag', tmp_path / 'no.csv', '--csv', tmp_path / 'file' / 'x.csv'
    code, _, errors = run('identify', urdf, '--output', tmp_path, *options, '--reference')
    assert code == 1
    assert '--csv: no files can be written' in errors


def test_currents_without_gains_have_the_scale_of_the_masses(run, table, urdf, tmp_path):
    """Gravity loads the wrists too little to tell; of lift and elbow efforts are 0.9 to 1.0."""
    gains = tmp_path / 'gains.yaml'
    gains.write_text('{}')
    options = '--output', tmp_path / 'out', '--gains', gains, '--bag', table(spoil=currents)
    code, _, errors = run('identify', urdf, *options)
    assert code == 1
    left = [JOINTS[0], *JOINTS[3:]]
    assert f'gains of {left} cannot be told from the masses of the URDF' in errors
    gains.write_text(yaml.safe_dump(dict.fromkeys(left, 150.0)))
    assert run('identify', urdf, *options)[0] == 0
    found = yaml.safe_load((tmp_path / 'out' / 'identification.yaml').read_text())
    texts = [text for text in found['warnings'] if 'how heavy the robot is' in text]
    assert [text.split("'")[1] for text in texts] == [*JOINTS[1:3]]
    known = [found['settings']['gains'][name] / 150.0 for name in JOINTS]
    assert_allclose(known, [1.0, 1.02, 0.92, 1.0, 1.0, 1.0], atol=0.03)


def test_friction_of_the_file_before_is_replaced(tmp_path):
    """What was not identified stays; nothing of the old friction of a joint is left."""
    file = tmp_path / 'robot.yaml'
    before = {'arm_1_joint': {'stribeck': 0.5, 'coulomb': 1.0}, 'arm_2_joint': {'viscous': 3.0}}
    values = read_parameter_file('nonholonomic') | {'friction': before, 'ramp_time': 0.25}
    file.write_text(yaml.safe_dump({'/**': {'ros__parameters': values}}))
    source = RobotSource(model_of_file('nonholonomic'), '', str(file))
    result = SimpleNamespace(friction={'arm_1_joint': {FrictionTerm('viscous'): 2.0}})
    after = identification._node_parameters(source, result)
    file.write_text(yaml.safe_dump({'/**': {'ros__parameters': after}}))
    first, second = (friction_of(file, f'arm_{k}_joint') for k in (1, 2))
    assert first == FrictionParameters(viscous=2.0)
    assert second == FrictionParameters(viscous=3.0)
    assert read_parameter_file(file)['ramp_time'] == 0.25


def test_currents_with_and_without_a_payload(run_json, run, table, urdf, recording, tmp_path):
    """The second half carries what the URDF of --loaded-urdf has more."""
    before, text = kd.load_urdf(urdf), urdf.read_text()
    phi = inertial_parameters(before).reshape(-1, len(PARAMETERS)).copy()
    phi[-1] += [8.0, 0.4, 0.3, 0.9, 0.20, -0.02, -0.05, 0.20, -0.04, 0.08]
    carrying = kd.dynamics(with_inertial_parameters(before, phi.ravel()))
    (tmp_path / 'loaded.urdf').write_text(updated_urdf(text, carrying.robot, ()))
    time, x = recording
    a = np.gradient(x['velocity'], time, axis=0)
    states = x['position'], x['velocity'], a
    more = carrying.inverse_dynamics(*states) - kd.dynamics(before).inverse_dynamics(*states)
    half = len(time) // 2

    def loaded(columns):
        for k, joint in enumerate(JOINTS):
            columns[f'effort:{joint}'] += more[half:, k]
        currents(columns)

    options = (
        *(
            'identify',
            urdf,
            '--bag',
            table('without', slice(half), currents),
            '--output',
            tmp_path,
        ),
        *('--loaded', table('with', slice(half, None), loaded)),
    )
    assert 'need --loaded-urdf' in run(*options, '--reference')[2]
    found = run_json(*options, '--loaded-urdf', tmp_path / 'loaded.urdf')
    gains = [found['settings']['gains'][name] / 150.0 for name in JOINTS]
    assert any('by the payload' in text for text in found['warnings'])
    assert_allclose(gains[1:5], 1.0, atol=0.02)
    assert_allclose(gains, 1.0, atol=0.08)  # gravity does not load the others
