# SPDX-License-Identifier: Apache-2.0
"""Constraints of the simulator by name, and its events, over real DDS."""

import numpy as np
import pytest
from drop_robot import HEIGHT, STEP, URDF, G, drop_plant
from numpy.testing import assert_allclose

pytest.importorskip('rclpy', reason='ROS 2 is not installed: pip install .[ros]')

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from sensor_msgs.msg import JointState
from std_srvs.srv import Empty, SetBool, Trigger

from kane_dynamics.messages.conversions import nanoseconds

pytestmark = pytest.mark.ros
NODE = 'kane_simulator'
FALL = np.sqrt(2.0 * HEIGHT / G)
PARAMETERS = {
    'base_type': 'none',
    'compiled': 'never',
    'start_paused': 'true',
    'step_size': STEP,
    'joint_state_rate': 100.0,
    'initial_positions.lift': HEIGHT,
    'constraints.names': '[floor, brake]',
    'constraints.floor.type': 'point_contact',
    'constraints.floor.link': 'mass',
    'constraints.floor.restitution': 0.5,
    'constraints.brake.joint': 'spin',
    'constraints.brake.active': 'false',
    'constraints.brake.limit': 3.0,
}


def at(message):
    return nanoseconds(message.header.stamp)


class Drop:
    """The simulator of a falling mass, paused, with what tells of its constraints."""

    def __init__(self, bench, folder):
        self.bench = bench
        urdf = folder / 'drop.urdf'
        urdf.write_text(URDF)
        self.joints = bench.listen(JointState, '/joint_states')
        self.forces = bench.listen(JointState, f'/{NODE}/constraint_forces', 1000)
        self.events = bench.listen(DiagnosticArray, f'/{NODE}/events', 1000)
        bench.start('simulator_node', params={**PARAMETERS, 'urdf_file': str(urdf)})
        self.effort = bench.publisher(JointState, f'{NODE}/effort_command')
        bench.matched(self.effort)

    def step(self, count):
        for _ in range(count):
            assert self.bench.call(Trigger, f'/{NODE}/step').success

    def switch(self, name, on):
        return self.bench.call(SetBool, f'/{NODE}/constraints/{name}', data=on)

    def list(self):
        response = self.bench.call(Trigger, f'/{NODE}/list_constraints')
        assert response.success
        return dict(line.split(': ', 1) for line in response.message.split('\n'))


@pytest.fixture(scope='module')
def running(bench, tmp_path_factory):
    return Drop(bench, tmp_path_factory.mktemp('drop'))


@pytest.fixture
def drop(running):
    running.bench.call(Empty, f'/{NODE}/reset')
    running.bench.until(lambda: running.joints and at(running.joints[-1]) == 0)
    running.bench.spin(0.1)
    del running.events[:], running.forces[:], running.joints[:-1]
    return running


def test_constraints_are_listed(drop):
    assert drop.list() == {
        'lift/lower': 'open',
        'lift/upper': 'open',
        'floor': 'open',
        'brake': 'off',
    }
    _, _, values = drop.bench.status_where(
        f'{NODE}: constraints', lambda level, *_: level == b'\0'
    )
    assert values['brake'] == 'off'


def test_an_impact_has_the_stamp_of_its_instant(drop):
    drop.step(40)
    drop.bench.until(lambda: drop.events)
    (message,) = drop.events
    assert abs(at(message) - FALL * 1e9) < 2.0  # a nanosecond, rounded
    assert at(message) % round(STEP * 1e9) != 0  # within a step
    (status,) = message.status
    assert status.level == DiagnosticStatus.OK and status.name == 'impact: floor'
    values = {pair.key: pair.value for pair in status.values}
    assert_allclose(float(values['energy loss [J]']), 0.75 * 2.0 * G * HEIGHT, rtol=1e-8)
    assert_allclose(float(values['impulse on lift [N s or N m s]']), 3.0 * G * FALL, rtol=1e-8)
    # forces right after it, and the states from before and after, in the order of time
    drop.bench.until(lambda: any(at(m) == at(message) for m in drop.forces))
    plant = drop_plant()
    plant.advance(40)
    drop.bench.until(lambda: at(drop.joints[-1]) == plant.time)
    assert_allclose(drop.joints[-1].position, plant.simulation.q, atol=1e-14)


def test_a_brake_comes_and_goes_and_its_force_is_published(drop):
    drop.effort.publish(JointState(name=['spin'], effort=[2.0]))
    drop.bench.status_where(f'{NODE}: command', lambda level, text, v: int(v['accepted']) > 0)
    response = drop.switch('brake', True)
    assert response.success and 'brake holds' in response.message
    drop.bench.until(lambda: drop.events)
    assert drop.events[0].status[0].name == 'added: brake' and at(drop.events[0]) == 0
    assert drop.switch('brake', True).message == "'brake' is so already"
    drop.step(2)
    assert drop.list()['brake'] == 'holds'
    drop.bench.until(lambda: drop.forces and at(drop.forces[-1]) == round(2e9 * STEP))
    assert list(drop.forces[-1].name) == ['spin/lock']
    assert_allclose(drop.forces[-1].effort, [-2.0], atol=1e-9)
    assert drop.switch('brake', False).success
    drop.step(2)
    drop.bench.until(lambda: at(drop.joints[-1]) == round(4e9 * STEP))
    assert drop.joints[-1].velocity[1] > 0.0
    assert drop.list()['brake'] == 'off'


def test_a_brake_that_is_overloaded_breaks_with_a_warning(drop):
    assert drop.switch('brake', True).success
    drop.effort.publish(JointState(name=['spin'], effort=[5.0]))  # its limit is 3
    drop.bench.until(
        lambda: any(event.status[0].name == 'breaks: brake' for event in drop.events),
        each=lambda: drop.step(1),
    )
    assert drop.events[-1].status[0].level == DiagnosticStatus.WARN
    assert drop.list()['brake'] == 'off'


def test_reset_restores_the_constraints(drop):
    drop.switch('brake', True)
    drop.switch('floor', False)
    drop.bench.call(Empty, f'/{NODE}/reset')
    states = drop.list()
    assert (states['floor'], states['brake']) == ('open', 'off')


def test_a_constraint_that_cannot_hold_is_refused(drop):
    drop.switch('floor', False)
    drop.step(40)  # below the floor
    response = drop.switch('floor', True)
    assert not response.success and 'below zero' in response.message
    assert drop.list()['floor'] == 'off'


@pytest.mark.parametrize(
    ('changes', 'message'),
    [
        ({'constraints.brake.joint': 'elbow'}, "constraint 'brake' of type lock: no joint named"),
        ({'constraints.stuk.joint': 'spin'}, "'stuk' is not in constraints.names"),
        ({'constraints.floor.offset': 0.7}, "'floor': the distance 'mass/contact' is -0.2"),
    ],
)
def test_wrong_parameters_are_told_and_the_node_lives(bench, tmp_path, changes, message):
    urdf = tmp_path / 'drop.urdf'
    urdf.write_text(URDF)
    name = 'wrong_simulator'
    process = bench.start(
        'simulator_node',
        params={**PARAMETERS, **changes, 'urdf_file': str(urdf)},
        arguments=['-r', f'__node:={name}'],
    )
    _, text, _ = bench.status_where(f'{name}: model', lambda level, text, values: message in text)
    assert message in text
    bench.terminate(process)
