# SPDX-License-Identifier: Apache-2.0
"""The executables say what they take and what they need. No ROS needed."""

import subprocess
import sys

import pytest
from ros_models import ROOT

from kane_dynamics.ros.entry import NODES, start
from kane_dynamics.ros.parameters.nodes import TABLES


@pytest.mark.parametrize('name', NODES)
@pytest.mark.parametrize('option', ['-h', '--help'])
def test_help_names_every_parameter(name, option, capsys):
    assert start(name, [option]) == 0
    text = capsys.readouterr().out
    assert text.startswith(f'usage: {name}')
    assert all(f'  {spec.name}: {spec.kind}' in text for spec in TABLES[name])
    assert 'doc/nodes.md' in text
    assert (ROOT / 'doc' / 'nodes.md').is_file()


def test_without_ros_there_is_one_message_that_says_what_to_do(tmp_path):
    (tmp_path / 'rclpy.py').write_text('raise ImportError("no ROS here")')
    code = 'import sys; from kane_dynamics.ros.entry import simulator; sys.exit(simulator([]))'
    done = subprocess.run(
        [sys.executable, '-c', f'import sys; sys.path[:0] = [{str(tmp_path)!r}]; {code}'],
        capture_output=True,
        text=True,
        cwd=ROOT,
    )
    assert done.returncode == 1
    assert 'Traceback' not in done.stderr
    assert 'no ROS here' in done.stderr
    assert "pip install 'kane_dynamics[ros]'" in done.stderr
