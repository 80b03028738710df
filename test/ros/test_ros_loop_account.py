# SPDX-License-Identifier: Apache-2.0
"""What the simulator says of a loop that is too slow, clamped or stopped."""

import time

import pytest

from kane_dynamics.messages.conversions import nanoseconds, set_stamp
from kane_dynamics.messages.loop_statistics import LoopStatistics

MS = 1_000_000
LIMITED = """<robot name="limited"><link name="base_link"/>
  <link name="rod"><inertial><origin xyz="0 0 -0.5"/><mass value="1"/>
    <inertia ixx="0.1" iyy="0.1" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="hinge" type="revolute"><parent link="base_link"/><child link="rod"/>
    <axis xyz="0 1 0"/><limit lower="-0.5" upper="0.5" effort="10" velocity="5"/></joint>
</robot>"""
# with a second rod, speeds of 1e6 rad/s in one step diverge by their Coriolis terms
TWO = LIMITED.replace(
    '</robot>',
    """<link name="tip"><inertial><origin xyz="0 0 -0.5"/><mass value="1"/>
    <inertia ixx="0.1" iyy="0.1" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="elbow" type="continuous"><parent link="rod"/><child link="tip"/>
    <origin xyz="0 0 -1"/><axis xyz="0 1 0"/></joint></robot>""",
)
MODEL = {'robot_description': f"'{LIMITED}'", 'compiled': 'never'}
STATUS = 'kane_simulator: simulation'
DELAYS = 'efforts after [ms]'
SLOW = 0.02  # [s]
WARN, ERROR = b'\x01', b'\x02'


def test_a_period_is_missed_when_it_begins_without_the_efforts_of_its_state():
    account = LoopStatistics()
    account.period(0, 0, 0.5)  # nobody answers yet
    account.period(4 * MS, 4 * MS, 0.5)
    account.period(8 * MS, 4 * MS, 0.5)
    account.period(12 * MS, 8 * MS, 0.5)
    account.period(16 * MS, 16 * MS, 0.5, late=True)  # the process had no processor
    account.period(1000 * MS, 8 * MS, 0.5, late=True)  # the controller is gone: no miss
    assert account.values()['missed periods'] == '3 of 6'
    assert list(account.missed_stamps) == [8 * MS, 12 * MS, 16 * MS]
    assert account.note(1.0, 1.0).startswith('3 of 6 periods began without the efforts')
    assert account.note(1.0, 1.0) == ''


def test_a_few_missed_periods_are_no_warning():
    account = LoopStatistics()
    for k in range(1, 101):
        account.period(k * MS, k * MS if k % 20 else k * MS - MS, 0.5)
    assert account.values()['missed periods'] == '5 of 100'
    assert account.note(0.0, 0.0) == ''


def test_delays_of_efforts_are_those_since_the_last_report():
    account = LoopStatistics()
    assert account.delays() == ''
    for k in range(101):
        account.delay(k * 1e-3)
    assert account.delays() == 'half 50.00, 99 % 99.00, longest 100.00'
    account.delay(2e-3)
    assert account.delays() == 'half 2.00, 99 % 2.00, longest 2.00'


def test_too_slow_is_said_only_of_a_time_without_pause():
    account = LoopStatistics()
    assert account.note(20.0, 3.0) == ''  # it had just begun
    assert account.note(20.0, 3.0).startswith('too slow: real time factor 3.00 instead of 20')
    assert account.note(20.0, 19.5) == ''
    account.interrupt()
    assert account.note(20.0, 3.0) == ''
    assert account.note(0.0, 3.0) == ''  # as fast as possible


def test_released_and_clamped_efforts_are_said_once():
    account = LoopStatistics()
    account.add(released=2)
    account.seen(clamped=3, stopped=1)
    assert account.note(1.0, 1.0) == '2 efforts went to zero: timeout.command'
    account.seen(clamped=5, stopped=1)
    assert account.note(1.0, 1.0) == '2 efforts clamped to the URDF limits'
    account.seen(clamped=5, stopped=1)
    assert account.note(1.0, 1.0) == ''
    account.add(timeouts=1)
    assert account.note(1.0, 1.0) == '1 efforts went to zero: timeout.command'
    values = account.values()
    assert (values['clamped efforts'], values['joints at stops']) == (5, 1)
    assert (values['released commands'], values['lockstep timeouts']) == (2, 1)


@pytest.mark.ros
def test_a_thousand_newton_metres_press_a_joint_to_its_stop(bench):
    from sensor_msgs.msg import JointState

    states = bench.listen(JointState, '/joint_states')
    process = bench.start('simulator_node', params={**MODEL, 'step_size': 0.01})
    effort = bench.publisher(JointState, 'kane_simulator/effort_command')
    bench.matched(effort)
    push = JointState(name=['hinge'], effort=[1000.0])
    bench.until(
        lambda: states and states[-1].position[0] == 0.5 and states[-1].velocity[0] == 0.0,
        each=lambda: effort.publish(push),
    )
    bench.status_where(
        STATUS,
        lambda _, text, values: (
            'clamped to the URDF limits' in text and int(values['joints at stops']) > 0
        ),
        lambda: effort.publish(push),
    )
    assert max(m.effort[0] for m in states) == 10.0
    assert max(m.position[0] for m in states) == 0.5
    assert bench.terminate(process) == 0


@pytest.mark.ros
def test_too_slow_is_said_and_a_diverged_simulation_goes_on_after_reset(bench):
    from sensor_msgs.msg import JointState
    from std_srvs.srv import Empty, SetBool

    states = bench.listen(JointState, '/joint_states')
    process = bench.start(
        'simulator_node',
        params={
            'robot_description': f"'{TWO}'",
            'compiled': 'never',
            'rtf': 50.0,
            'enforce_command_limits': 'false',
            'joint_stops': 'false',
        },
    )
    effort = bench.publisher(JointState, 'kane_simulator/effort_command')
    bench.matched(effort)
    bench.status_where(
        STATUS, lambda level, text, _: level == WARN and 'too slow: real time factor' in text
    )
    push = JointState(name=['hinge'], effort=[1e9])
    bench.status_where(
        STATUS,
        lambda level, text, _: level == ERROR and 'stopped until ~/reset' in text,
        lambda: effort.publish(push),
    )
    response = bench.call(SetBool, '/kane_simulator/pause', data=False)
    assert not response.success
    assert 'stopped until ~/reset' in response.message
    del states[:]
    bench.call(Empty, '/kane_simulator/reset')
    bench.until(lambda: len(states) > 20)
    assert states[-1].header.stamp.nanosec > 0
    assert abs(states[-1].velocity[0]) < 100.0
    assert bench.terminate(process) == 0


@pytest.mark.ros
def test_the_simulator_says_how_long_efforts_take(bench):
    from sensor_msgs.msg import JointState

    effort = bench.publisher(JointState, 'kane_simulator/effort_command')
    behind = 0  # [ns]

    def answer(state):
        time.sleep(SLOW)
        answered = JointState(name=['hinge'], effort=[0.0])
        set_stamp(answered.header.stamp, nanoseconds(state.header.stamp) - behind)
        effort.publish(answered)

    bench.node.create_subscription(JointState, '/joint_states', answer, 1)
    params = {**MODEL, 'step_size': 0.01, 'joint_state_rate': 5.0}
    process = bench.start('simulator_node', params=params)
    words = bench.status_where(STATUS, lambda *_: _[2].get(DELAYS))[2][DELAYS]
    assert float(words.split()[1].rstrip(',')) >= 1e3 * SLOW
    behind = MS  # of no state that was
    bench.status_where(STATUS, lambda *_: _[2].get(DELAYS) == '')
    assert bench.terminate(process) == 0
