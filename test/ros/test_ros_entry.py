# SPDX-License-Identifier: Apache-2.0
"""The executables say what they take and what they need. No ROS needed."""

import subprocess
import sys

import pytest
from ros_models import ROOT

from kane_dynamics.robot_config.nodes import NODES
from kane_dynamics.robot_config.parameters.tables import table
from kane_dynamics.ros.entry import container, node_class, start


@pytest.mark.parametrize('name', NODES)
@pytest.mark.parametrize('option', ['-h', '--help'])
def test_help_names_every_parameter(name, option, capsys):
    assert start(name, [option]) == 0
    text = capsys.readouterr().out
    assert text.startswith(f'usage: {name}')
    assert all(
        f'  {spec.name}: {spec.kind}' in text for spec in table(NODES[name].parameters).specs
    )
    assert f'doc/nodes/{name}.md' in text
    assert (ROOT / 'doc' / 'nodes' / f'{name}.md').is_file()


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


def test_nodes_that_share_a_process_are_named(capsys):
    def ended(*args):
        with pytest.raises(SystemExit) as end:
            container(args)
        return end.value.code

    assert ended('--help') == 0
    text = capsys.readouterr().out
    assert all(name in text for name in NODES)
    assert '-p <node>:<parameter>:=<value>' in text
    assert ended('--ros-args', '-p', 'rtf:=1.0') == 2
    assert 'nodes' in capsys.readouterr().err
    assert ended('kane_simulator', 'kane_toaster', 'rtf', '--ros-args') == 2
    assert "'kane_toaster' (choose from" in capsys.readouterr().err


@pytest.mark.ros
@pytest.mark.parametrize('name', NODES)
def test_each_node_is_made_by_the_class_of_its_name(name):
    pytest.importorskip('rclpy', reason='ROS 2 is not installed: pip install .[ros]')
    made = node_class(name).func
    assert NODES[name].path == f'{made.__module__.rpartition(".")[2]}:{made.__name__}'
    assert made.__name__.endswith('Node')
