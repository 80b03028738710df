# SPDX-License-Identifier: Apache-2.0
"""Compilation in the background: a node works at once and becomes faster later."""

import signal

import numpy as np
import pytest
from numpy.testing import assert_allclose
from ros_models import ROOT, from_preset, parameters

from kane_dynamics.control.node_dynamics import Dynamics
from kane_dynamics.messages.conversions import nanoseconds
from kane_dynamics.robot_config.parameters.tables import (
    RobotParameters,
    TrajectoryFeedforwardParameters,
)
from kane_dynamics.robot_config.robot_source import build_model, read_description
from kane_dynamics.ros.background_compilation import (
    Compilation,
    CompilationError,
)

ROD = """<robot name="pendulum">
  <link name="base_link"/>
  <link name="rod"><inertial><origin xyz="0 0 -0.5"/><mass value="1"/>
    <inertia ixx="0.1" iyy="0.1" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="hinge" type="continuous"><parent link="base_link"/><child link="rod"/>
    <axis xyz="0 1 0"/><dynamics damping="0.2"/></joint>
</robot>"""


@pytest.fixture
def cold(tmp_path, monkeypatch):
    """An empty cache."""
    monkeypatch.setenv('XDG_CACHE_HOME', str(tmp_path))
    return tmp_path


def test_the_model_beside_a_node_is_that_of_the_node(cold):
    """Regression: it had no drives, and what they ask for was not compiled."""
    p = from_preset('nonholonomic', TrajectoryFeedforwardParameters)
    model = build_model(p, read_description(p))
    assert model.drives
    assert Compilation(p, Dynamics(model)).result(120.0).source == 'cache'


def test_background_process_fills_the_cache_and_results_agree(cold):
    p = parameters(RobotParameters)
    dynamics = Dynamics(build_model(p, ROD))
    assert not dynamics.load()
    state = [np.array([x]) for x in (0.7, -0.3, 1.1)]
    before = [
        dynamics.engine.inverse_dynamics(*state),
        dynamics.engine.bias_force(*state[:2]),
        dynamics.engine.gravity_force(state[0]),
        dynamics.engine.forward_dynamics(*state).acceleration,
    ]
    job = Compilation(p, dynamics)
    job.result(120.0)
    assert 'of' in job.progress
    assert dynamics.load()
    assert dynamics.compiled
    after = [
        dynamics.engine.inverse_dynamics(*state),
        dynamics.engine.bias_force(*state[:2]),
        dynamics.engine.gravity_force(state[0]),
        dynamics.engine.forward_dynamics(*state).acceleration,
    ]
    assert_allclose(after, before, rtol=0, atol=1e-10)
    assert dynamics.engine.engine('semi_implicit') is not None


def test_compilation_aside_gives_the_compiled_algorithms(cold):
    p = parameters(RobotParameters)
    dynamics = Dynamics(build_model(p, ROD))
    job = Compilation(p, dynamics)
    fast = job.result(120.0)
    assert not dynamics.compiled
    dynamics.use(fast)
    assert dynamics.compiled


def test_compilation_can_be_stopped(cold):
    p = parameters(RobotParameters)
    job = Compilation(p, Dynamics(build_model(p, ROD)))
    job.stop()
    with pytest.raises(CompilationError):
        job.result(30.0)


@pytest.mark.parametrize(
    ('name', 'text', 'words'),
    [
        ('llvmlite', 'raise RuntimeError("LLVM IR parsing error")', 'LLVM IR parsing error'),
        ('llvmlite', 'raise ImportError("no LLVM here")', 'no LLVM here'),
    ],
)
def test_a_compiler_that_fails_gives_its_reason(cold, monkeypatch, name, text, words):
    p = parameters(RobotParameters)
    dynamics = Dynamics(build_model(p, ROD))
    (cold / f'{name}.py').write_text(text)
    monkeypatch.syspath_prepend(cold)
    with pytest.raises(CompilationError, match=words):
        Compilation(p, dynamics).result(120.0)


def seconds(message):
    return nanoseconds(message.header.stamp) * 1e-9


@pytest.mark.ros
def test_node_switches_while_it_works(bench, cold):
    pytest.importorskip('rclpy', reason='ROS 2 is not installed: pip install .[ros]')
    from sensor_msgs.msg import JointState

    joints = bench.listen(JointState, '/joint_states')
    process = bench.start(
        'simulator_node', params={'robot_description': f"'{ROD}'", 'initial_positions.hinge': 0.5}
    )
    bench.until(lambda: len(joints) > 5)
    bench.until(lambda: 'dynamics: compiled' in process.log.read_text())
    count = len(joints)
    bench.until(lambda: len(joints) > count + 5)
    speed = np.diff([m.position[0] for m in joints]) / np.diff([seconds(m) for m in joints])
    assert np.abs(speed).max() < 3.0  # a fall from 0.5 rad gives 1.9 rad/s, a jump far more
    bench.status_where(
        'kane_simulator: model', lambda level, text, values: values.get('dynamics') == 'compiled'
    )
    assert bench.terminate(process) == 0


@pytest.mark.ros
def test_the_loop_does_not_jump_when_both_engines_switch(bench, cold):
    pytest.importorskip('rclpy', reason='ROS 2 is not installed: pip install .[ros]')
    from rclpy.duration import Duration
    from sensor_msgs.msg import JointState
    from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

    robot = {'robot_description': f"'{ROD}'"}
    gains = {'gains.hinge.p': 60.0, 'gains.hinge.d': 6.0, 'timeout.joint_states': 1.0}
    joints = bench.listen(JointState, '/joint_states', 1000)
    efforts = bench.listen(JointState, '/kane_inverse_dynamics/effort', 1000)
    reference = bench.publisher(JointTrajectory, 'kane_inverse_dynamics/reference', 1)
    processes = [
        bench.start('inverse_dynamics_node', params={**robot, **gains, 'use_sim_time': 'true'}),
        bench.start(
            'simulator_node',
            params={**robot, 'joint_state_rate': 250.0},
            arguments=['-r', '~/effort_command:=/kane_inverse_dynamics/effort'],
        ),
    ]
    bench.until(lambda: joints and len(efforts) > 20)
    del joints[:], efforts[:]
    rate, message = 0.3, JointTrajectory(joint_names=['hinge'])
    for t in (5.0, 120.0):
        point = JointTrajectoryPoint(positions=[rate * t], velocities=[rate])
        point.time_from_start = Duration(seconds=t).to_msg()
        message.points.append(point)
    reference.publish(message)
    ready = 'dynamics: compiled'
    bench.until(lambda: all(ready in p.log.read_text() for p in processes))
    count = len(joints)
    bench.until(lambda: len(joints) > count + 250)
    # gravity is 4.9 N m; engines that differ, or a stale torque, would show in both
    assert np.abs(np.diff([m.effort[0] for m in efforts])).max() < 0.5
    speed = np.array([m.velocity[0] for m in joints])
    assert np.abs(speed).max() < 1.5 * rate
    assert np.abs(np.diff(speed)).max() < 0.05
    for process in processes:
        assert bench.terminate(process) == 0


@pytest.mark.ros
def test_a_signal_ends_a_node_that_compiles(bench, cold):
    """Regression: it finished compiling first."""
    preset = ROOT / 'config' / 'nonholonomic.yaml'
    process = bench.start('simulator_node', files=[preset], params={'compiled': 'wait'})
    bench.until(lambda: 'compiling' in process.log.read_text())
    assert bench.terminate(process, signal.SIGINT) == 0
    assert not list(cold.rglob('*.kernels'))
