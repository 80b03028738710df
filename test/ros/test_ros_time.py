# SPDX-License-Identifier: Apache-2.0
"""Whose time the stamps carry: wall time, one /clock for two robots, two simulators at once."""

import itertools
import time

import pytest

pytest.importorskip('rclpy', reason='ROS 2 is not installed: pip install .[ros]')

import rclpy
from builtin_interfaces.msg import Time
from nav_msgs.msg import Odometry
from rclpy.context import Context
from rclpy.parameter import Parameter
from ros_bench import START_TIMEOUT, Bench, domain_id
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_srvs.srv import Empty

from kane_dynamics.messages.conversions import nanoseconds
from kane_dynamics.plant.timing import BACKLOG, Rate
from kane_dynamics.ros.simulator_output import SimulatedClock

pytestmark = pytest.mark.ros
LEVEL = 1.5707963
REPORTS = 2 * (5 + 7)  # components of two controllers and two simulators
# a rod on a base that moves in the plane; at rest the rod pulls the base nowhere
ROBOT = """<robot name="wagon">
  <link name="base_link"><inertial><mass value="100"/>
    <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="rod"><inertial><origin xyz="0 0 -0.5"/><mass value="1"/>
    <inertia ixx="0.1" iyy="0.1" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="hinge" type="continuous"><parent link="base_link"/><child link="rod"/>
    <axis xyz="0 1 0"/></joint>
</robot>"""
MODEL = {'robot_description': f"'{ROBOT}'", 'compiled': 'never', 'base_type': 'planar'}
SIMULATOR = {**MODEL, 'initial_positions.hinge': LEVEL, 'step_size': 0.005, 'publish_tf': 'false'}
REMAP = ['-r', '~/effort_command:=kane_inverse_dynamics/effort']


def start_robot(bench, namespace, simulator, controller):
    ns = ['-r', f'__ns:=/{namespace}']
    prefix = {'frame_prefix': f'{namespace}/'}
    return (
        bench.start(
            'simulator_node', params={**SIMULATOR, **prefix, **simulator}, arguments=[*ns, *REMAP]
        ),
        bench.start(
            'inverse_dynamics_node',
            params={**MODEL, 'timeout_action': 'hold_gravity', **prefix, **controller},
            arguments=ns,
        ),
    )


def made(statuses, output):
    """Return how many outputs a controller has reported."""
    return int(statuses[output][2]['outputs'])


def acts(level, text, values):
    """Return whether a report of the output has efforts and no error; on a busy machine, late."""
    return level != b'\x02' and int(values['outputs']) > 0


def assert_rising(stamps):
    assert all(b >= a for a, b in itertools.pairwise(stamps))


def test_two_robots_in_one_graph_share_one_clock(tmp_path):
    bench = Bench(tmp_path)
    try:
        clock = bench.listen(Clock, '/clock')
        states, odom = {}, {}
        for name in ('r1', 'r2'):
            states[name] = bench.listen(JointState, f'/{name}/joint_states')
            odom[name] = bench.listen(Odometry, f'/{name}/odom')
        processes = [
            process
            for name in ('r1', 'r2')
            for process in start_robot(bench, name, {}, {'use_sim_time': 'true'})
        ]
        bench.until(lambda: bench.node.count_publishers('/clock') == 1 and clock)
        outputs = [f'{name}/kane_inverse_dynamics: output' for name in ('r1', 'r2')]
        for output in outputs:
            bench.status_where(output, acts)
        bench.statuses.clear()
        bench.until(lambda: len(bench.statuses) == REPORTS)
        before = dict(bench.statuses)
        for recorded in (clock, *states.values(), *odom.values()):
            del recorded[:]
        bench.until(lambda: all(made(bench.statuses, x) > made(before, x) + 20 for x in outputs))
        assert_rising([nanoseconds(m.clock) for m in clock])
        assert len(clock) > 20
        for name in ('r1', 'r2'):
            assert_rising([nanoseconds(m.header.stamp) for m in states[name]])
            assert len(states[name]) > 20
            assert any(m.effort[0] != 0.0 for m in states[name])
            assert odom[name][-1].header.frame_id == f'{name}/odom'
            assert odom[name][-1].child_frame_id == f'{name}/base_link'
            controller = f'{name}/kane_inverse_dynamics'
            for source in ('joint_states', 'odom'):
                key = f'{controller}: {source}'
                accepted, rejected = (
                    int(bench.statuses[key][2][kind]) - int(before[key][2][kind])
                    for kind in ('accepted', 'rejected')
                )
                assert rejected <= 0.2 * accepted  # a busy machine makes some late
        followers = [
            name
            for name in ('r1', 'r2')
            if bench.statuses[f'{name}/kane_simulator: simulation'][2]['stamps']
            != 'simulated time, published on /clock'
        ]
        assert len(followers) == 1
        assert f'{followers[0]}/kane_simulator' not in [
            f'{i.node_namespace}/{i.node_name}'.strip('/')
            for i in bench.node.get_publishers_info_by_topic('/clock')
        ]
        logs = ''.join(p.log.read_text() for p in processes)
        assert 'publishes /clock already: this simulator follows it' in logs
        assert [bench.terminate(process) for process in processes] == [0, 0, 0, 0]
    finally:
        bench.close()


def test_without_a_clock_the_stamps_are_those_of_the_node_and_the_loop_works(bench):
    states = bench.listen(JointState, '/wall/joint_states')
    processes = start_robot(bench, 'wall', {'publish_clock': 'false'}, {})
    output = 'wall/kane_inverse_dynamics: output'
    bench.status_where(output, acts)
    bench.until(lambda: states and states[-1].effort[0] != 0.0)
    del states[:]
    bench.call(Empty, '/wall/kane_simulator/reset')  # simulated time begins again, stamps do not
    bench.until(lambda: len(states) > 100)
    stamps = [nanoseconds(m.header.stamp) for m in states]
    assert_rising(stamps)
    now = bench.node.get_clock().now().nanoseconds
    assert 0 <= now - stamps[-1] < 1_000_000_000
    bench.until(lambda: states[-1].effort[0] != 0.0)
    bench.status_where(output, acts)
    assert bench.next_status('wall/kane_simulator: simulation')[2]['stamps'] == 'wall time'
    assert bench.node.count_publishers('/clock') == 0
    assert [bench.terminate(process) for process in processes] == [0, 0]


def test_lockstep_answers_carry_wall_stamps_too(bench):
    states = bench.listen(JointState, '/step/joint_states')
    processes = start_robot(bench, 'step', {'publish_clock': 'false', 'lockstep': 'true'}, {})
    bench.until(lambda: len(states) > 20 and states[-1].effort[0] != 0.0)
    assert_rising([nanoseconds(m.header.stamp) for m in states])
    assert [bench.terminate(process) for process in processes] == [0, 0]


def test_lockstep_repeats_the_odometry_of_a_state_too(bench):
    """Regression: where none was due, a controller whose odometry ran out waited for ever."""
    states = bench.listen(JointState, '/again/joint_states')
    odometry = bench.listen(Odometry, '/again/odom')
    effort = bench.publisher(JointState, 'again/kane_simulator/effort_command', 1)
    given = {'lockstep': 'true', 'timeout.command': 600.0, 'odom_rate': 1.0}
    process = bench.start(
        'simulator_node',
        params={**SIMULATOR, 'publish_clock': 'false', **given},
        arguments=['-r', '__ns:=/again'],
    )
    bench.matched(effort)
    bench.until(lambda: states)
    answer = JointState(name=['hinge'], effort=[1.0])
    answer.header.stamp = states[-1].header.stamp
    effort.publish(answer)
    bench.until(lambda: states[-1].velocity[0] != 0.0)  # the next state, long before the second
    del odometry[:]
    bench.until(lambda: odometry, timeout=30.0)
    assert bench.terminate(process) == 0


@pytest.mark.parametrize(
    ('module', 'name'),
    [
        ('inverse_dynamics_node', 'kane_inverse_dynamics: output'),
        ('simulator_node', 'kane_simulator: simulation'),
    ],
)
def test_a_clock_before_zero_ends_no_node(tmp_path, module, name):
    bench = Bench(tmp_path)  # of its own, for it publishes /clock
    try:
        given = {'use_sim_time': 'true', 'publish_clock': 'false'}
        node = bench.start(module, params={**MODEL, **given})
        clock = bench.publisher(Clock, '/clock')
        bench.matched(clock)
        bad = Clock(clock=Time(sec=-(2**31), nanosec=3))
        told = 'left out before zero'
        bench.until(lambda: told in node.log.read_text(), each=lambda: clock.publish(bad))
        bench.next_status(name, lambda: clock.publish(Clock(clock=Time(sec=5))))
        assert node.poll() is None
    finally:
        bench.close()


def test_two_simulators_on_one_topic_are_noticed(bench):
    status = 'kane_simulator: simulation'
    elsewhere = ['-r', 'joint_states:=measured/joint_states']  # regression: was not looked at
    paused = {**SIMULATOR, 'start_paused': 'true'}
    first = bench.start('simulator_node', params=paused, arguments=elsewhere)
    assert bench.next_status(status)[0] == b'\x00'
    second = bench.start(
        'simulator_node',
        params=paused,
        arguments=[*elsewhere, '-r', '__node:=second'],
    )
    for name in (status, 'second: simulation'):
        bench.until(lambda n=name: '2 nodes publish joint_states' in bench.status(n)[1])
        assert bench.status(name)[0] == b'\x01'
    for process in (first, second):
        assert process.log.read_text().count('2 nodes publish joint_states here') == 1
    assert bench.terminate(first) == 0
    # what the second followed is gone, and it says so
    bench.until(lambda: 'nobody publishes /clock' in bench.status('second: simulation')[1])
    assert bench.terminate(second) == 0


@pytest.fixture
def graph():
    """Return a maker of nodes in a context of its own."""
    context, nodes = Context(), []
    rclpy.init(context=context, domain_id=domain_id())

    def make(name):
        nodes.append(rclpy.create_node(name, context=context))
        return nodes[-1]

    yield make
    for node in nodes:
        node.destroy_node()
    context.try_shutdown()


def wait_for(condition):
    end = time.monotonic() + START_TIMEOUT
    while not condition():
        time.sleep(0.001)
        assert time.monotonic() < end


def test_of_two_that_began_together_one_keeps_the_clock(graph):
    first, second = graph('a'), graph('b')
    clocks = [SimulatedClock(second, True), SimulatedClock(first, True)]
    for clock in clocks:
        clock._found_until = 0.0  # discovery came too late for both
        clock._others = list
        clock.start()
        del clock._others
    assert [clock.local for clock in clocks] == [True, True]
    wait_for(lambda: {n.count_publishers('/clock') for n in (first, second)} == {2})
    assert not clocks[1].look()
    assert clocks[1].problem() == '/clock is published by /b too: time jumps for everybody'
    assert clocks[0].look()
    assert clocks[0].follows == '/a'
    assert second.get_parameter('use_sim_time').value
    wait_for(lambda: first.count_publishers('/clock') == 1)
    assert not clocks[1].look()
    assert clocks[1].problem() == ''
    assert [clock.local for clock in clocks] == [False, True]
    assert clocks[1].now(5) == 5


def test_a_clock_that_is_not_wanted_is_not_published(graph):
    node = graph('quiet')
    clock = SimulatedClock(node, False)
    clock.start()
    clock.publish(1)
    assert not clock.local
    assert clock.in_words() == 'wall time'
    assert abs(clock.now(0) - node.get_clock().now().nanoseconds) < 1_000_000_000
    node.set_parameters([Parameter('use_sim_time', value=True)])
    assert clock.problem() == 'time stands still: nobody publishes /clock'
    assert clock.in_words() == '/clock of another node'


@pytest.mark.parametrize(
    ('rate', 'expected'),
    [(0.0, [0, 2, 4, 6, 6, 0, 1]), (250.0, [0, 4, 0]), (1000.0, [0, 2, 4, 6, 0, 1])],
)
def test_the_clock_comes_at_most_so_often_and_at_once_after_a_jump_back(graph, rate, expected):
    clock, heard = SimulatedClock(graph('rare'), True, rate), []
    clock._found_until = 0.0
    clock.start()
    clock._publisher.publish = lambda message: heard.append(nanoseconds(message.clock))
    for stamp in (0, 2, 4, 6, 6, 0, 1):  # [ms]
        clock.publish(stamp * 1_000_000)
    assert [x // 1_000_000 for x in heard] == expected


def test_pacer_follows_another_time():
    wall, other = [0], [0]
    pacer = Rate(4.0, lambda: wall[0])
    pacer.start(100)
    wall[0] = 25
    assert pacer.due()
    pacer.follow(lambda: other[0])
    assert not pacer.due()  # that time stands still
    other[0] = 100
    assert pacer.due()
    pacer.count()
    assert not pacer.due()
    other[0] += 100 * (BACKLOG + 3)  # a jump: not made up for
    pacer.count()
    assert not pacer.due()
    wall[0] = 1025
    assert pacer.achieved(500) == pytest.approx(500 / 1025)
