# SPDX-License-Identifier: Apache-2.0
"""The command line: what it prints, and one line for each mistake."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from rich.console import Console

from kane_dynamics import cli
from kane_dynamics.cli import printing

ROOT = Path(__file__).resolve().parents[2]
ARM = ROOT / 'robots' / 'nonholonomic.urdf'


def said(capsys):
    """Return what was printed, on one line each for output and errors."""
    captured = capsys.readouterr()
    return ' '.join(captured.out.split()), ' '.join(captured.err.split())


def test_info_of_a_urdf(capsys):
    assert cli.main(['info', str(ARM), '--root-joint', 'planar']) == 0
    output, errors = said(capsys)
    assert "robot 'nonholonomic', planar base, nq 10, nv 10" in output
    assert errors == ''


@pytest.mark.parametrize(
    ('arguments', 'message'),
    [
        (['info', 'no/such.urdf'], "error: URDF file 'no/such.urdf' cannot be read: No"),
        (
            ['info', 'package://arm/arm.urdf'],
            "error: URDF 'package://arm/arm.urdf' not found as any of",
        ),
        (['build', 'tiagoo', '--output', '.'], "error: no robot 'tiagoo': need a URDF"),
        (['equations', str(ARM), '--lock', 'elbow'], "error: no joint named 'elbow'; there are"),
    ],
)
def test_mistakes_are_one_line_on_standard_error(arguments, message, capsys):
    assert cli.main(arguments) == 1
    output, errors = said(capsys)
    assert errors.startswith(message)
    assert 'Traceback' not in output + errors


@pytest.mark.parametrize('duration', ['-1', '0', 'nan', 'inf', 'long'])
def test_a_duration_must_be_positive(duration, capsys):
    with pytest.raises(SystemExit) as left:
        cli.main(['demo', '--duration', duration])
    assert left.value.code == 2
    assert 'need a number > 0' in said(capsys)[1]


def test_a_motion_of_the_demo_has_a_shortest_duration(tmp_path, capsys):
    """Regression: a demonstration of one millisecond ended with a ValueError of SciPy."""
    pytest.importorskip('rclpy', reason='the demo needs ROS 2')
    assert cli.main(['demo', '--duration', '0.001', '--output', str(tmp_path)]) == 1
    assert 'error: duration [s]: need 0.1 or more, got 0.001' in said(capsys)[1]


@pytest.mark.parametrize('domain', ['-1', '99', '1.5', 'mine'])
def test_a_domain_of_the_demo_is_one_that_ros_has(domain, capsys):
    """Regression: any whole number was taken, and folded into another domain."""
    with pytest.raises(SystemExit) as left:
        cli.main(['demo', '--domain', domain])
    assert left.value.code == 2
    assert 'need a ROS domain from 0 to 98' in said(capsys)[1]


def test_unknown_robot_of_the_demo(capsys):
    pytest.importorskip('rclpy', reason='the demo needs ROS 2')
    assert cli.main(['demo', 'tiagoo']) == 1
    assert 'tiagoo' in said(capsys)[1]


@pytest.mark.skipif(os.name != 'posix', reason='permissions of POSIX')
def test_an_output_folder_that_takes_no_files(tmp_path, capsys):
    pytest.importorskip('rclpy', reason='the demo needs ROS 2')
    file = tmp_path / 'file'
    file.write_text('')
    assert cli.main(['demo', '--output', str(file)]) == 1
    assert f"--output: no files can be written to '{file}/nonholonomic'" in said(capsys)[1]


def test_the_demo_without_ros_says_what_to_install(tmp_path):
    code = """
import sys
sys.modules['rclpy'] = None
from kane_dynamics.cli import main
sys.exit(main(['demo']))
"""
    run = subprocess.run(
        [sys.executable, '-c', code],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, 'PYTHONPATH': str(ROOT)},
        cwd=tmp_path,
    )
    assert run.returncode == 1
    *_, message = run.stderr.splitlines()  # matplotlib may say first that it looks for fonts
    assert message.startswith('error: the demo needs ROS 2 (rclpy), which is not installed: pip')
    assert "pip install 'kane_dynamics[ros]'" in message
    assert 'Traceback' not in run.stderr


def test_names_in_tables_stay_whole(capsys, monkeypatch):
    """Regression: at 160 columns 'shoulder_lift_joint' of the report was broken in two."""
    monkeypatch.setattr(printing, 'console', Console(width=160))
    names = 'shoulder_lift_joint', 'x' * 100
    for name in names:
        headings = '', *('residual when fast' for _ in range(8))
        printing.table('joints', headings, [(name, *'12345678')])
    first, second = capsys.readouterr().out.split('joints')[1:]
    assert names[0] in first
    assert second.count('x') == 100
