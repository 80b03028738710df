# SPDX-License-Identifier: Apache-2.0
"""Every ``ros2 launch`` of a page has its arguments, and nodes that work; Python of ROS."""

import os
import re
import runpy
import shlex
import subprocess
import sys
from pathlib import Path

import fake_launch
import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / 'README.md', *sorted((ROOT / 'doc').rglob('*.md'))]
BEGINS = 'ros2 launch kane_dynamics '
# Which test runs the nodes of a launch file; None: this one does, as the page prints it.
RUN_BY = {
    **dict.fromkeys(('computed_torque.launch.py', 'forward_dynamics.launch.py')),
    'wrench_control.launch.py': None,
    'governor.launch.py': None,
    'contact_observer.launch.py': None,
    'trajectory_feedforward.launch.py': None,
    'simulation.launch.py': 'test_ros_closed_loop.py',
    'inverse_dynamics.launch.py': 'test_ros_preset_nodes.py',  # robots whose owners have the URDF
    'ros2_control.launch.py': 'test_ros_ros2_control_loop.py',
    'gazebo.launch.py': 'test_ros_ros2_control_loop.py',  # Gazebo is not on PyPI
    'mujoco.launch.py': 'test_ros_ros2_control.py',  # nor mujoco_ros2_control: mujoco_goals.py
}


def printed():
    """Return the launch commands of all pages."""
    found = set()
    for page in PAGES:
        if not {'_build', 'gallery'} & set(page.parts):
            text = page.read_text().replace('\\\n', ' ')
            lines = re.findall(rf'^ *({BEGINS}.*)$', text, re.MULTILINE)
            found |= {re.sub(r'\s+#.*', '', line).strip() for line in lines}
    return sorted(found)


COMMANDS = printed()
LIVE = [c for c in COMMANDS if RUN_BY[shlex.split(c)[3]] is None]


def described(command, monkeypatch):
    """Return the launch description of a command, and its arguments."""
    _, _, _, file, *given = shlex.split(command)
    fake_launch.install(monkeypatch)
    module = runpy.run_path(str(ROOT / 'launch' / file))
    description = fake_launch.Described(module['generate_launch_description']())
    pairs = (one.split(':=', 1) for one in given if one != '--show-args')
    return description, dict(pairs)


def test_every_launch_file_of_a_page_is_run_by_a_test():
    assert {shlex.split(command)[3] for command in COMMANDS} == set(RUN_BY)
    for file in filter(None, RUN_BY.values()):
        assert (ROOT / 'test' / 'ros' / file).is_file()


@pytest.mark.parametrize('command', COMMANDS)
def test_arguments_of_launch_commands_exist(command, monkeypatch):
    description, given = described(command, monkeypatch)
    for name, value in given.items():
        argument = description.arguments[name]
        assert value in argument.get('choices', [value])


def start(bench, given):
    """Start a node as a launch file would."""
    files = [
        str(file).replace('share/kane_dynamics', str(ROOT), 1) for file in fake_launch.files(given)
    ]
    values = {
        name: value[1] if isinstance(value, tuple) else value
        for name, value in fake_launch.parameters(given).items()
    }
    values |= {'compiled': 'never', 'params_file': files[-1]}  # the same nodes, at once
    moved = [f'{old}:={new}' for old, new in given['remappings']]
    arguments = [word for one in moved for word in ('-r', one)]
    module = f'{given["executable"].removeprefix("kane_")}_node'
    return bench.start(module, files=files, params=values, arguments=arguments)


@pytest.mark.ros
def test_nodes_share_a_process_as_the_page_shows():
    pytest.importorskip('rclpy', reason='ROS 2 is not installed: pip install .[ros]')
    from ros_bench import domain_id

    page = (ROOT / 'doc' / 'nodes' / 'scheduling.md').read_text()
    code, shown = re.search(r'```python\n(.*?)```\n\n```text\n(.*?)```', page, re.DOTALL).groups()
    environment = os.environ | {'ROS_DOMAIN_ID': str(domain_id())}
    run = subprocess.run(
        [sys.executable, '-c', code],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env=environment,
        timeout=120,
    )
    assert (run.returncode, run.stdout) == (0, shown), run.stderr


@pytest.mark.ros
@pytest.mark.parametrize('command', LIVE)
def test_nodes_of_a_command_work_with_a_robot(command, bench, monkeypatch):
    from geometry_msgs.msg import TwistStamped
    from nav_msgs.msg import Odometry

    description, given = described(command, monkeypatch)
    robot = given['robot']
    (node,) = description.nodes(**given)
    odom = bench.listen(Odometry, '/odom')
    wanted = bench.publisher(TwistStamped, 'nav_cmd_vel', 1)
    bench.start(
        'simulator_node',
        files=[ROOT / 'config' / f'{robot}.yaml'],
        params={
            'base.command_interface': 'velocity',
            'compiled': 'never',
            'step_size': 0.02,
            'joint_state_rate': 50.0,
            'odom_rate': 50.0,
            'publish_clock': 'false',
        },
    )
    start(bench, node)
    message = TwistStamped()
    message.twist.linear.x = 0.3

    def drive():
        message.header.stamp = bench.now()
        wanted.publish(message)

    def works(level, text, _):
        return level in (b'\x00', b'\x01')  # remarks on a URDF are warnings

    for part in ('model', 'joint_states', 'odom'):
        bench.status_where(f'{node["name"]}: {part}', works, each=drive)
    if node['name'] == 'kane_governor':
        bench.until(lambda: odom and odom[-1].twist.twist.linear.x > 0.25, each=drive)
    bench.end(bench.processes)  # the next command has a robot of its own
    bench.processes.clear()
    bench.statuses.clear()
