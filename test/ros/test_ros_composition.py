# SPDX-License-Identifier: Apache-2.0
"""Nodes composed into one process, as the demo does; what the demo makes of its recording."""

import inspect
import time
from types import SimpleNamespace

import pytest
from numpy.testing import assert_allclose

pytest.importorskip('rclpy', reason='ROS 2 is not installed: pip install .[ros]')

import rclpy
from rclpy.clock import Clock, ClockType
from rclpy.context import Context
from rclpy.node import Node
from rclpy.parameter import Parameter
from ros_bench import START_TIMEOUT, domain_id
from sensor_msgs.msg import JointState

from kane_dynamics.demo.figures import Answer, LoopLog, motor_efforts
from kane_dynamics.ros.effort_controller_node import EffortControllerNode
from kane_dynamics.ros.runtime import spin, without_arguments
from kane_dynamics.ros.simulator_node import SimulatorNode

pytestmark = pytest.mark.ros
ROD = """<robot name="pendulum"><link name="base_link"/>
  <link name="rod"><inertial><origin xyz="0 0 -0.5"/><mass value="1"/>
    <inertia ixx="0.1" iyy="0.1" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="hinge" type="continuous"><parent link="base_link"/><child link="rod"/>
    <axis xyz="0 1 0"/></joint>
</robot>"""


def test_the_signature_of_a_timer_is_found_once():
    rings = []
    ring = without_arguments(lambda: rings.append(1))
    assert not inspect.signature(ring).parameters
    assert inspect.signature(ring) is inspect.signature(ring)
    ring()
    assert rings == [1]


def test_simulator_and_controller_share_a_process_and_a_thread():
    context = Context()
    rclpy.init(context=context, domain_id=domain_id())

    def options(**parameters):
        given = {'robot_description': ROD, 'compiled': 'never', **parameters}
        return {
            'context': context,
            'namespace': 'cell',
            'use_global_arguments': False,
            'cli_args': ['--ros-args', '-r', '~/effort_command:=kane_inverse_dynamics/effort'],
            'parameter_overrides': [Parameter(k, value=v) for k, v in given.items()],
        }

    start = {'initial_positions.hinge': 1.5707963, 'step_size': 0.005}
    simulator = SimulatorNode(**options(**start))
    controller = EffortControllerNode(**options(use_sim_time=True, timeout_action='hold_gravity'))
    assert controller.get_fully_qualified_name() == '/cell/kane_inverse_dynamics'
    applied, end = [], time.monotonic() + START_TIMEOUT

    def finished():
        applied.append(float(simulator.plant.applied[0]))
        return sum(effort != 0.0 for effort in applied) > 50 or time.monotonic() > end

    spin([simulator, controller], finished)
    context.try_shutdown()
    assert max(applied) == pytest.approx(9.81 * 0.5, rel=0.05)
    missed, _, periods = simulator.statistics.values()['missed periods'].partition(' of ')
    assert simulator.statistics.missed == int(missed) < int(periods)


class LateNode(Node):
    """Its callbacks take longer than their period."""

    rings, stopped = 0, False

    def start(self):
        self.create_timer(1e-3, self.ring, clock=Clock(clock_type=ClockType.STEADY_TIME))

    def ring(self):
        self.rings += 1
        assert self.rings < 200, 'nobody looked whether to end'
        time.sleep(0.02)

    def stop(self):
        self.stopped = True


def test_a_node_that_is_always_late_can_be_ended():
    """No spin returned while a callback was due: ~/step of 10^6 steps ended at no signal."""
    context = Context()
    rclpy.init(context=context, domain_id=domain_id())
    node = LateNode('late', context=context)
    spin([node], lambda: node.rings > 10)
    context.try_shutdown()
    assert node.stopped and node.rings < 100  # a look each 0.1 s


def test_efforts_of_the_base_come_from_the_answers():
    recording = LoopLog(
        names=('arm',),
        stamps=[4, 8, 12],
        effort=[[0.1], [0.2], [0.3]],
        answers={0: Answer(0.0, [7.0, 1.0]), 4: Answer(0.0, [8.0, 2.0])},  # none for 8
    )
    setup = SimpleNamespace(
        motors=('base_x', 'arm'), motion=SimpleNamespace(names=('base_x', 'arm'))
    )
    efforts = motor_efforts(setup, recording)
    assert_allclose(efforts, [[7.0, 0.1], [8.0, 0.2], [8.0, 0.3]], rtol=0, atol=0)


def test_nodes_of_one_process_have_parameters_of_their_own_and_end_together(bench):
    controller, simulator = names = ('kane_inverse_dynamics', 'kane_simulator')
    efforts = bench.listen(JointState, f'/{controller}/effort')
    process = bench.start(
        'container',
        names=names,
        params={
            'robot_description': f"'{ROD}'",
            'compiled': 'never',
            'base_type': 'none',
            f'{controller}:use_sim_time': 'true',
            f'{controller}:timeout_action': 'hold_gravity',
            f'{simulator}:initial_positions.hinge': 1.5707963,
        },
        arguments=['-r', f'{simulator}:~/effort_command:=/{controller}/effort'],
    )
    assert len(bench.processes) == 1
    bench.until(lambda: any(abs(e) > 0.0 for m in efforts for e in m.effort))
    bench.status_where(f'{simulator}: command', lambda *s: int(s[2]['accepted']) > 0)
    # each state and each effort is handed over, and none comes by DDS as well
    handed = bench.status_where(
        f'{simulator}: simulation', lambda *s: int(s[2]['intra-process messages']) > 200
    )
    accepted = int(bench.status(f'{simulator}: command')[2]['accepted'])
    assert int(handed[2]['intra-process messages']) > 1.5 * accepted
    outputs = int(bench.next_status(f'{controller}: output')[2]['outputs'])
    assert 0 < accepted <= outputs
    assert bench.terminate(process) == 0
    bench.until(lambda: not any(efforts[-1].effort))  # the last word


def test_a_process_whose_second_node_cannot_start_ends(bench):
    process = bench.start(
        'container',
        names=('kane_inverse_dynamics', 'kane_simulator'),
        params={'robot_description': f"'{ROD}'", 'kane_simulator:step_size': -1.0},
    )
    assert process.wait(START_TIMEOUT) == 1
    assert 'cannot start' in process.log.read_text()
