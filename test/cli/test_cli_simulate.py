# SPDX-License-Identifier: Apache-2.0
"""``kane-dynamics simulate``: the motion of the library, its files, and what is refused."""

import numpy as np
import pytest

import kane_dynamics as kd
from kane_dynamics import cli
from kane_dynamics.robot_config.robot_source import model_of_file
from kane_dynamics.simulation.motions import energy_balance
from kane_dynamics.view.recording import load_recording

PENDULUM = (
    '<robot name="pendulum"><link name="world"/><link name="rod"><inertial>'
    '<origin xyz="0.5 0 0"/><mass value="2"/>'
    '<inertia ixx="0.1" iyy="0.2" izz="0.2" ixy="0" ixz="0" iyz="0"/></inertial></link>'
    '<joint name="hinge" type="continuous"><parent link="world"/><child link="rod"/>'
    '<axis xyz="0 1 0"/><dynamics damping="{damping}"/></joint></robot>'
)


@pytest.fixture
def pendulum(tmp_path):
    """Return a URDF of a hinge without friction."""
    return written(tmp_path, 0.0)


def written(folder, damping):
    file = folder / 'pendulum.urdf'
    file.write_text(PENDULUM.format(damping=damping))
    return file


def balance(robot, motion, effort):
    """Return the energy balance of a motion."""
    dynamics = kd.dynamics(robot)
    energy = dynamics.kinetic_energy(motion.q, motion.v) + dynamics.potential_energy(motion.q)
    return energy_balance(robot, motion, effort, energy)


def test_files_and_summary_are_the_librarys_motion(pendulum, tmp_path, run_json):
    files = [tmp_path / name for name in ('m.npz', 'm.csv', 'm.png')]
    options = ['--position', 'hinge=0.3', '--velocity', 'hinge=1', '--effort', 'hinge=0.5']
    options += ['--duration', '0.2', '--step', '0.002', '--rate', '100']
    found = run_json(
        'simulate', pendulum, *options, '--npz', files[0], '--csv', files[1], '--plot', files[2]
    )
    robot = kd.load_urdf(pendulum)
    wanted = kd.simulate(robot, [0.3], [1.0], 0.2, effort=[0.5], step=0.002)
    assert found['q']['hinge'] == pytest.approx(wanted.q[-1, 0], abs=1e-12)
    assert found['v']['hinge'] == pytest.approx(wanted.v[-1, 0], abs=1e-12)
    assert found['files'] == [str(file) for file in files]
    every_fifth = slice(None, None, 5)
    np.testing.assert_allclose(load_recording(files[0]).q, wanted.q[every_fifth], atol=1e-12)
    table = np.genfromtxt(files[1], delimiter=',', names=True, deletechars='')
    np.testing.assert_allclose(table['time'], wanted.time[every_fifth], atol=1e-12)
    np.testing.assert_allclose(table['v:hinge'], wanted.v[every_fifth, 0], atol=1e-12)
    assert files[2].read_bytes()[1:4] == b'PNG'
    energy = found['energy_J']
    assert energy['work'] == pytest.approx(0.5 * (wanted.q[-1, 0] - 0.3), abs=1e-12)
    assert energy['error'] < 1e-9  # rk4: (rate h)^4 of 10 J, rate 4 1/s


def test_energy_that_is_lost_is_the_work_of_damping(tmp_path, run_json):
    energy = run_json('simulate', written(tmp_path, 0.4), '--velocity', 'hinge=2')['energy_J']
    assert energy['lost_to_friction'] > 0.1
    lost = energy['start'] - energy['end']
    assert lost == pytest.approx(energy['lost_to_friction'], rel=1e-6)  # of h^2 |v''| / 24


def test_the_gap_of_a_wrong_motion_is_seen(pendulum):
    robot = kd.load_urdf(pendulum)
    motion = kd.simulate(robot, [0.3], [1.0], 0.1)
    force = np.full((1, 1), 0.7)  # that the motion was not under
    wrong = balance(robot, motion, force)
    assert wrong.gap == pytest.approx(0.7 * (motion.q[-1, 0] - 0.3), rel=1e-6)


def test_coordinates_that_are_no_integrals_of_speeds():
    text, inertia = PENDULUM.format(damping=0.0), '<inertial><mass value="3"/><inertia ixx="1"'
    inertia += ' iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
    text = text.replace('<link name="world"/>', f'<link name="root">{inertia}</link>')
    robot = kd.load_urdf(text.replace('link="world"', 'link="root"'), base='floating')
    assert robot.nq > robot.nv
    v = [0.1, 0.2, 0.3, 0.0, 0.0, 0.0, 1.0]
    motion = kd.simulate(robot, robot.neutral(), v, 0.1)
    torque = np.array([[0.05, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]])
    assert balance(robot, motion, 0.0 * torque).gap < 1e-9
    assert balance(robot, motion, torque).work.sum() > 0.0


def test_the_base_follows_from_its_wheels(run_json):
    options = ('--velocity', 'wheel_left_joint=2', '--velocity', 'wheel_right_joint=2')
    options += ('--duration', '0.001', '--reference')
    found = run_json('simulate', 'nonholonomic', *options)
    model = model_of_file('nonholonomic')
    assert found['constraints'] == [label for c in model.constraints for label in c.labels]
    assert found['v']['base_x'] == pytest.approx(0.2, abs=0.01)  # 2 rad/s on 0.1 m
    free = run_json('simulate', 'nonholonomic', *options, '--no-constraints')
    assert free['constraints'] == []
    assert free['v']['base_x'] == pytest.approx(0.0, abs=0.01)


@pytest.mark.parametrize(
    ('options', 'message'),
    [
        (['--position', 'knee=1'], "no coordinate named 'knee'; there are ['hinge']"),
        (['--velocity', 'hinge'], "--velocity: need NAME=VALUE with a finite number, got 'hinge'"),
        (['--effort', 'hinge=nan'], '--effort: need NAME=VALUE with a finite number'),
        (['--position', 'hinge=1', '--position', 'hinge=2'], "--position: 'hinge' comes twice"),
        (['--duration', '1e9'], 'need at most 5000000 steps; make --step longer'),
        (['--rate', '0', '--csv', 'm.csv'], 'rate [Hz]'),
        (['--csv', 'pendulum.urdf/m.csv'], "--csv: no files can be written to 'pendulum.urdf'"),
        (['--npz', '/', '--reference'], "recording '/' cannot be written: it is a folder"),
        (['--plot', 'm.who'], "'m.who' cannot be written"),
    ],
)
def test_what_is_refused(pendulum, options, message, run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, output, errors = run('simulate', pendulum, *options)
    assert (code, output) == (cli.REFUSED, '')
    assert message in errors
    assert errors.startswith('error: ')


def test_speeds_that_contradict_the_wheels(run):
    given = ('--velocity', 'wheel_left_joint=1', '--velocity', 'base_y=1', '--reference')
    code, _, errors = run('simulate', 'nonholonomic', *given)
    assert code == cli.REFUSED
    assert errors.startswith('error: ')


def test_what_is_wrong_is_said_before_the_compilation(run, monkeypatch):
    monkeypatch.setattr('kane_dynamics.compile', lambda *_, **__: pytest.fail('compiled'))
    code, _, errors = run('simulate', 'nonholonomic', '--position', 'no_such_joint=1')
    assert code == 1
    assert "no coordinate named 'no_such_joint'" in errors
    code, _, errors = run('simulate', 'nonholonomic', '--csv', f'{__file__}/m.csv')
    assert code == 1
    assert '--csv: no files can be written to' in errors
