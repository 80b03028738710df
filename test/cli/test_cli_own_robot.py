# SPDX-License-Identifier: Apache-2.0
"""The page on one's own robot: its commands work as printed, up to the closed loop."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from support.base_urdf import BASES

import kane_dynamics as kd
from kane_dynamics import cli
from kane_dynamics.cli import init
from kane_dynamics.cli.motions import LATE
from kane_dynamics.robot_config.robot_source import model_of_file

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / 'doc' / 'own_robot.md').read_text(encoding='utf-8')
COMMANDS = re.findall(r'^kane-dynamics (.*)$', PAGE, re.MULTILINE)


@pytest.fixture
def here(tmp_path, monkeypatch):
    """Work in a folder of its own that holds a robot with four wheels and a lift."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / 'my.urdf').write_text(BASES['skid_steer'][0], encoding='utf-8')
    return tmp_path


def test_every_option_has_a_row_in_the_table():
    rows = re.findall(r'^\| `--([\w-]+)` \|', PAGE, re.MULTILINE)
    assert rows == init.ANSWERS


def test_the_commands_that_write_a_file_work(here, monkeypatch):
    monkeypatch.setattr(init.kd, 'compile', lambda robot, rows, progress: kd.dynamics(robot, rows))
    monkeypatch.setattr(init.sys, 'stdin', _Terminal())
    monkeypatch.setattr(init.Prompt, 'ask', lambda prompt, default, **how: default)
    written = [command.split() for command in COMMANDS if command.startswith('init my.urdf')]
    assert len(written) == 2
    kinds = []
    for command in written:
        assert cli.main([*command, '--force']) == 0
        kinds.append(model_of_file('my_robot.yaml').base.kind)
    assert kinds == ['skid_steer', 'mecanum']


def command(*arguments, codes=(0,)):
    """Return what a command prints, in a process of its own as ROS wants it."""
    line = [sys.executable, '-m', 'kane_dynamics', *arguments]
    done = subprocess.run(line, capture_output=True, text=True, timeout=600)
    assert done.returncode in codes, done.stderr
    return done.stdout


@pytest.mark.thorough
@pytest.mark.parametrize('drive', ['effort', 'velocity'])
def test_a_robot_of_ones_own_runs_in_the_closed_loop(drive, here):
    pytest.importorskip('rclpy', reason='the demo needs ROS 2')
    command('init', 'my.urdf', '--yes', '--base', 'mecanum', '--drive', drive)
    (demo,) = {line for line in COMMANDS if line.startswith('demo')}
    output = command(*demo.split(), '--duration', '4', codes=(0, LATE))
    assert 'base_path.png' in output
    assert ('RMS error fl_wheel' in output) == (drive == 'effort')
    animation = here / 'demo-results' / 'my_robot' / 'animation.gif'
    assert animation.stat().st_size > 1000
    row = next(line for line in output.splitlines() if 'times smaller than PD' in line)
    ratio = float(row.split('│')[-2])
    assert ratio > 10.0  # 80 on a busy machine


class _Terminal:
    """Stands for standard input."""

    def isatty(self):
        return True


def test_make_init_keeps_the_packages_of_a_sourced_workspace(tmp_path):
    command, made, ready = (tmp_path / name for name in ('kane-dynamics', 'made', 'ready'))
    command.write_text('#!/bin/sh\necho "$AMENT_PREFIX_PATH, $RMW_IMPLEMENTATION, $2"\n')
    command.chmod(0o755)
    made.touch()
    ready.touch()
    outside = {
        name: x for name, x in os.environ.items() if not name.startswith(('MAKE', 'MFLAGS'))
    }
    variables = {'BIN': tmp_path, 'MADE': made, 'WITH_ROS': ready, 'URDF': 'my.urdf'}
    run = subprocess.run(
        [
            'make',
            '-s',
            '--no-print-directory',
            'init',
            *(f'{name}={value}' for name, value in variables.items()),
        ],
        cwd=ROOT,
        env={**outside, 'AMENT_PREFIX_PATH': '/my/install', 'RMW_IMPLEMENTATION': 'mine'},
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stdout.strip() == '/my/install, , my.urdf'
