# SPDX-License-Identifier: Apache-2.0
"""``kane-dynamics report``: recorded motions against the model, good ones and spoiled ones."""

import re

import numpy as np
import pytest
import yaml
from support.identified import exciting_motion
from support.recorded_drive import MOTORS, recorded_drive

import kane_dynamics as kd
from kane_dynamics import whole_file
from kane_dynamics.analysis.wheel_forces import picture_of
from kane_dynamics.cli import main
from kane_dynamics.cli.printing import write_csv
from kane_dynamics.robot_config.robot_source import model_of_file

JOINT = """<link name="l{0}"><inertial><origin xyz="0.1 0.02 0.3"/><mass value="{1}"/>
<inertia ixx="0.1" iyy="0.2" izz="0.15" ixy="0.01" ixz="0" iyz="0"/></inertial></link>
<joint name="j{0}" type="revolute"><parent link="{2}"/><child link="l{0}"/>
<origin xyz="0 0.1 0.4"/><axis xyz="{3}"/><limit lower="-3" upper="3" effort="80" velocity="4"/>
</joint>"""
ROWS = (1, 4, 'world', '0 0 1'), (2, 3, 'l1', '0 1 0'), (3, 2, 'l2', '0 1 0')
URDF = f'<robot name="arm"><link name="world"/>{"".join(JOINT.format(*x) for x in ROWS)}</robot>'
FRICTION = {
    'j1': {'viscous': 2.0, 'coulomb': 3.0, 'rotor_inertia': 0.5},
    'j2': {'coulomb': 2.0, 'stribeck': -0.5, 'offset': 1.5},
    'j3': {'viscous': 0.5, 'coulomb': 1.0, 'coulomb_velocity': 0.1},
}


@pytest.fixture(scope='module')
def columns():
    """Return a recording of the arm with friction in its joints."""
    robot = kd.load_urdf(URDF)
    t, q, v, a = exciting_motion(3, 6.0, 200.0)
    tau = np.array(kd.dynamics(robot).inverse_dynamics(q, v, a))
    for k, p in enumerate(FRICTION.values()):
        sign = np.tanh(v[:, k] / p.get('coulomb_velocity', 0.02))
        tau[:, k] += p.get('viscous', 0.0) * v[:, k] + p.get('rotor_inertia', 0.0) * a[:, k]
        dry = p['coulomb'] + p.get('stribeck', 0.0) * np.exp(-np.abs(v[:, k]) / 0.1)
        tau[:, k] += dry * sign + p.get('offset', 0.0)
    kinds = {'position': q, 'velocity': v, 'effort': tau}
    return {'time': t} | {
        f'{kind}:j{k + 1}': x[:, k] for kind, x in kinds.items() for k in range(3)
    }


@pytest.fixture
def report(run_json, tmp_path):
    """Return a function: columns, and friction or not, to the result and the page."""

    def made(columns, friction=FRICTION, robot='', more=()):
        (tmp_path / 'arm.urdf').write_text(URDF)
        values = {'urdf_file': str(tmp_path / 'arm.urdf'), 'friction': friction}
        file, table = tmp_path / 'robot.yaml', write_csv(tmp_path / 'motion.csv', columns)
        file.write_text(yaml.safe_dump({'/**': {'ros__parameters': values}}))
        page = tmp_path / 'page.html'
        options = '--bag', table, '--output', page, '--corner', 8
        found = run_json('report', robot or file, *options, *more)
        return found, page.read_text()

    return made


def test_the_page_needs_no_network_and_says_what_was_printed(report, columns):
    found, page = report(columns)
    assert re.findall(r'(?:src|href)="([^"]{4})', page) == ['data']
    assert 'http' not in page.replace('http-equiv', '')
    assert "default-src 'none'" in page
    for text in ('j1', 'j2', 'j3', 'error [%]', 'motion.csv', 'Error: 100 rms'):
        assert text in page
    assert f'{found["joints"]["j2"]["error [%]"]:.4g}' in page
    assert found['ground'] == {}


def test_errors_and_what_feed_forward_carries(report, columns):
    """With the friction of the file nearly all, without it less, by what friction is."""
    (known, _), (bare, _) = report(columns), report(columns, {})
    for k, name in enumerate(('j1', 'j2', 'j3')):
        tau, row, v = columns[f'effort:{name}'], known['joints'][name], columns[f'velocity:{name}']
        assert row['error [%]'] < 1.5
        assert row['carried [%]'] > 90.0
        assert bare['joints'][name]['carried [%]'] < row['carried [%]'] - 10.0
        assert row['largest effort'] == pytest.approx(np.abs(tau).max(), rel=0.1)
        assert row['of the effort limit [%]'] == pytest.approx(row['largest effort'] / 0.8)
        assert row['of the speed limit [%]'] == pytest.approx(25.0 * np.abs(v).max(), rel=0.02)
        missed = bare['joints'][name]['error [%]'] / 100.0 * np.ptp(tau)
        p = FRICTION[name]
        inertia = p.get('rotor_inertia', 0.0) * np.gradient(v, columns['time'])
        friction = p.get('viscous', 0.0) * v + p['coulomb'] * np.sign(v) + p.get('offset', 0.0)
        assert missed == pytest.approx(np.sqrt(np.mean((friction + inertia) ** 2)), rel=0.15), k


def test_friction_that_the_file_lacks_is_no_lag(report, columns):
    """Regression: efforts with friction that the model has not were told to be late."""
    assert report(columns, {})[0]['warnings'] == []
    late(local := dict(columns))
    (warning,) = report(local, {})[0]['warnings']
    assert warning.startswith('efforts are 10 ms late')


def test_currents_with_gains_are_efforts(report, columns, tmp_path):
    """Regression: what was identified of currents could not be compared with a recording."""
    gains, local = {'j1': 12.0, 'j2': -8.0, 'j3': 5.0}, dict(columns)
    for name, gain in gains.items():
        local[f'effort:{name}'] = columns[f'effort:{name}'] / gain
    file = tmp_path / 'gains.yaml'
    file.write_text(yaml.safe_dump(gains))
    found, _ = report(local, more=('--gains', file))
    assert [text.split(' are')[0] for text in found['warnings']] == ["gains of ['j1', 'j2', 'j3']"]
    known = report(columns)[0]['joints']
    for name, row in found['joints'].items():
        assert row == pytest.approx(known[name], nan_ok=True)


def test_without_efforts_there_are_those_of_the_model(report, columns):
    found, page = report({key: x for key, x in columns.items() if 'effort' not in key})
    (warning,) = found['warnings']
    assert warning.startswith('no measured efforts, those of the model alone: table')
    row = found['joints']['j2']
    assert 'error [%]' not in row
    assert row['largest effort'] == pytest.approx(np.abs(columns['effort:j2']).max(), rel=0.1)
    assert 'carried [%]' not in page


def touched(columns):
    at = np.abs(columns['time'] - 4.0) < 0.03
    columns['effort:j3'] = columns['effort:j3'] + 30.0 * at


def flipped(columns):
    columns['effort:j2'] = -columns['effort:j2']


def currents(columns):
    columns['effort:j2'] = columns['effort:j2'] / 100.0


def still(columns):
    columns['velocity:j1'] = 0.0 * columns['velocity:j1']


def zero(columns):
    columns['effort:j1'] = 0.0 * columns['effort:j1']


def late(columns):
    for name in ('j1', 'j2', 'j3'):
        columns[f'effort:{name}'] = np.roll(columns[f'effort:{name}'], 2)


def without_velocities(columns):
    for name in ('j1', 'j2', 'j3'):
        del columns[f'velocity:{name}']


@pytest.mark.parametrize(
    ('spoil', 'warning'),
    [
        (touched, r"'j3': residuals above 6 deviations at 3\.\d+-4\.\d+ s: contact\?"),
        (flipped, "'j2': sign flipped"),
        (currents, r"'j2': 0.0\d+ times .* currents"),
        (still, "'j1': its velocity is 0 times"),
        (zero, r"no effort, all are zero: \['j1'\]"),
        (late, 'efforts are 10 ms late'),
        (without_velocities, 'velocities were not recorded'),
    ],
)
def test_what_is_wrong_with_a_recording_is_a_warning(report, columns, spoil, warning):
    assert report(columns)[0]['warnings'] == []
    local = dict(columns)
    spoil(local)
    found, page = report(local)
    matches = [text for text in found['warnings'] if re.search(warning, text)]
    assert len(matches) == 1, found['warnings']
    assert matches[0].split(':')[0].strip("'") in page.replace('&#x27;', "'")


def test_a_recording_without_efforts_is_no_error(report, columns):
    """Regression: efforts that are all zero, as fixed simulations write them, divided by zero."""
    local = {name: 0.0 * x if 'effort' in name else x for name, x in columns.items()}
    found, _ = report(local)
    assert any('no effort, all are zero' in text for text in found['warnings'])


def test_an_interrupted_run_leaves_the_page_of_before(report, columns, monkeypatch, tmp_path):
    """Regression: half of the new page was left of both."""
    _, page = report(columns)

    def interrupted(handle):
        raise KeyboardInterrupt

    monkeypatch.setattr(whole_file.os, 'fsync', interrupted)
    file = tmp_path / 'page.html'
    options = '--bag', str(tmp_path / 'motion.csv'), '--output', str(file), '--reference'
    assert main(['report', str(tmp_path / 'robot.yaml'), *options]) == 130
    assert file.read_text() == page
    assert sorted(tmp_path.glob('*page*')) == [file]


def test_a_page_that_cannot_be_written_is_told_before_the_work(run, tmp_path):
    """Regression: after minutes of work, without the name of the option."""
    (tmp_path / 'arm.urdf').write_text(URDF)
    page = tmp_path / 'none' / 'page.html'
    page.parent.write_text('a file')
    options = 'report', tmp_path / 'arm.urdf', '--bag', tmp_path / 'no.csv', '--output', page
    code, _, errors = run(*options)
    assert code == 1
    assert '--output: no files can be written' in errors


def test_margins_of_a_base_on_wheels(report):
    """As `wheel_forces` has them at those times; wheels are among the joints."""
    drive = recorded_drive()
    found, page = report(drive, robot='nonholonomic')
    assert set(found['joints']) == set(MOTORS)
    assert max(row['error [%]'] for row in found['joints'].values()) < 2.0
    model = model_of_file('nonholonomic')
    robot, ground = model.robot, found['ground']
    contacts = kd.base_ground_contacts(model.base, friction=1.0)
    assert set(ground) == {'tip-over', *contacts.names}
    lists = {'position': robot.coordinate_names, 'velocity': robot.velocity_names}
    q, v = (
        np.column_stack([drive[f'{kind}:{x}'] for x in names]) for kind, names in lists.items()
    )
    rates, dynamics = np.gradient(v, drive['time'], axis=0), kd.dynamics(robot, model.constraints)
    seen = []
    for k in range(25, len(q) - 25, 3):
        a = dynamics.consistent_acceleration(q[k], v[k], rates[k], MOTORS)
        seen.append(picture_of(contacts, q[k], v[k], a, MOTORS))
    for name in contacts.names:
        most = max(x.contacts[name].use for x in seen)
        assert ground[name]['friction'] == pytest.approx(most, rel=0.05, abs=1e-3)
    least = min(x.margins.margin for x in seen)
    assert ground['tip-over']['margin [m]'] == pytest.approx(least, abs=2e-3)
    assert 'zero-moment point' in page
