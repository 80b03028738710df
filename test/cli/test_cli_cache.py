# SPDX-License-Identifier: Apache-2.0
"""``kane-dynamics cache``: code of a robot that is kept, listed, used again and deleted."""

import os
import time
from pathlib import Path

import pytest

from kane_dynamics import cli
from kane_dynamics.cli import printing
from kane_dynamics.compiler.cache import cache_folder
from kane_dynamics.control.node_dynamics import CompileOptions, Dynamics
from kane_dynamics.robot_config.parameters.tables import SimulatorParameters
from kane_dynamics.robot_config.robot_source import build_model

PENDULUM = (
    '<robot name="pendulum"><link name="world"/><link name="rod"><inertial>'
    '<origin xyz="0.5 0 0"/><mass value="2"/>'
    '<inertia ixx="0.1" iyy="0.2" izz="0.2" ixy="0" ixz="0" iyz="0"/></inertial></link>'
    '<joint name="hinge" type="continuous"><parent link="world"/><child link="rod"/>'
    '<axis xyz="0 1 0"/></joint></robot>'
)


@pytest.fixture
def pendulum(tmp_path, monkeypatch):
    """Return a URDF; the cache is a new one."""
    monkeypatch.setenv('XDG_CACHE_HOME', str(tmp_path / 'cache'))
    file = tmp_path / 'pendulum.urdf'
    file.write_text(PENDULUM)
    return file


def test_compiled_once_then_loaded_then_deleted(pendulum, run, run_json):
    assert run('cache')[1].startswith('0 files, 0.00 MB kept, in')
    first = run_json('cache', pendulum)
    assert first['source'] == 'compiled'
    assert first['cache'] == str(cache_folder())
    assert first['operations']['inverse_dynamics'] > 0
    assert all(Path(one['path']).stat().st_size == one['bytes'] for one in first['files'])
    second = run_json('cache', pendulum)
    assert (second['source'], second['files']) == ('cache', [])
    assert second['operations'] == first['operations']
    assert 'loaded from the cache' in run('cache', pendulum)[1]

    listed = run_json('cache')
    assert {one['path'] for one in listed['files']} == {one['path'] for one in first['files']}
    assert listed['bytes'] == sum(one['bytes'] for one in first['files'])
    assert any('inverse_dynamics' in one['kernels'] for one in listed['files'])
    assert run_json('cache', '--clear')['cleared'] is True
    assert list(cache_folder().iterdir()) == []


def test_the_simulator_finds_all_that_it_asks_for(pendulum, run):
    """Regression: batches for joints at their limits were left to the node."""
    dynamics = Dynamics(
        build_model(SimulatorParameters(), PENDULUM), CompileOptions(integrator='semi_implicit')
    )
    assert dynamics.find() is None
    run('cache', pendulum)
    assert dynamics.find() is not None


def test_only_old_files_are_deleted(pendulum, run_json, run):
    run('cache', pendulum)
    stranger = cache_folder() / 'notes.txt'
    stranger.write_text('not ours')
    old, *young = sorted(cache_folder().glob('*.kernels'))
    damaged = cache_folder() / 'damaged.kernels'
    damaged.write_bytes(b'?')
    ago = time.time() - 10 * 86400.0
    for file in (old, damaged):
        os.utime(file, (ago, ago))
    gone = run_json('cache', '--older-than', '9', '--clear')['files']
    assert {Path(one['path']) for one in gone} == {old, damaged}
    assert stranger.exists()
    assert all(file.exists() for file in young)
    assert run_json('cache', '--older-than', '9')['files'] == []


@pytest.mark.parametrize('name', ['key.first', '.writing-key.kernels-123-456'])
def test_what_an_interrupted_process_left_is_deleted(pendulum, run_json, name):
    left = cache_folder() / name
    left.parent.mkdir(parents=True)
    left.write_bytes(b'.')
    listed = run_json('cache', '--clear')['files']
    assert [(one['path'], one['kernels']) for one in listed] == [(str(left), [])]
    assert not left.exists()


def test_a_cache_that_cannot_be_written_is_told(pendulum, tmp_path, monkeypatch, run):
    (tmp_path / 'file').write_text('')
    monkeypatch.setenv('XDG_CACHE_HOME', str(tmp_path / 'file'))
    monkeypatch.setattr(printing, 'QUIET', float('inf'))  # a busy machine tells how far it is
    code, _, errors = run('cache', pendulum)
    assert code == 0
    assert errors.startswith('remark: the code was not kept: ')


@pytest.mark.parametrize('days', ['-1', 'nan', 'week'])
def test_days_that_are_none(days, capsys):
    with pytest.raises(SystemExit) as left:
        cli.main(['cache', '--older-than', days])
    assert left.value.code == cli.USAGE
    assert 'need a number >= 0' in ' '.join(capsys.readouterr().err.split())
