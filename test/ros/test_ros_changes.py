# SPDX-License-Identifier: Apache-2.0
"""Changes of parameters while nodes run: what cannot be taken over is refused, nothing ends."""

import numpy as np
import pytest
from ros_models import PENDULUM_URDF, ROOT

pytest.importorskip('rclpy', reason='ROS 2 is not installed: pip install .[ros]')

from rclpy.parameter import Parameter
from ros_bench import domain_id

from kane_dynamics.robot.joint_tables import known_limits
from kane_dynamics.ros.effort_controller_node import EffortControllerNode, WrenchControlNode
from kane_dynamics.ros.trajectory_feedforward_node import TrajectoryFeedforwardNode

pytestmark = pytest.mark.ros


class ComputedTorque(EffortControllerNode):
    def __init__(self, **options):
        super().__init__('kane_computed_torque', **options)


@pytest.fixture(scope='module')
def context():
    import rclpy
    from rclpy.context import Context

    made = Context()
    rclpy.init(context=made, domain_id=domain_id())
    yield made
    made.try_shutdown()


@pytest.fixture
def node(context, request):
    kind, given = request.param
    given = {'robot_description': PENDULUM_URDF, 'compiled': 'never', **given}
    overrides = [Parameter(name, value=value) for name, value in given.items()]
    made = kind(context=context, parameter_overrides=overrides)
    made.start()
    yield made
    made.stop()
    made.destroy_node()


@pytest.mark.parametrize(
    ('node', 'name', 'value', 'words'),
    [
        ((TrajectoryFeedforwardNode, {}), 'gravity_compensated_joints', ['nonsense'], 'nonsense'),
        ((EffortControllerNode, {}), 'gravity_compensated_joints', ['nonsense'], 'nonsense'),
        ((ComputedTorque, {}), 'terms.inertia_excluded_joints', ['nonsense'], 'nonsense'),
        ((WrenchControlNode, {'frame': 'rod'}), 'stiffness', [-1.0] * 6, '>= 0'),
    ],
    indirect=['node'],
)
def test_a_value_that_a_node_cannot_take_over_is_refused_with_a_reason(node, name, value, words):
    before = node.parameters
    answer = node.set_parameters([Parameter(name, value=value)])[0]
    assert not answer.successful
    assert words in answer.reason
    assert node.parameters == before
    assert list(node.get_parameter(name).value) != value
    assert node.set_parameters([Parameter('timeout.joint_states', value=0.25)])[0].successful
    assert node.parameters.timeout_joint_states == 0.25


NODES = [
    (TrajectoryFeedforwardNode, {}),
    (EffortControllerNode, {}),
    (ComputedTorque, {}),
    (WrenchControlNode, {'frame': 'rod'}),
]


@pytest.mark.parametrize('node', NODES, indirect=True)
def test_whatever_taking_over_raises_leaves_the_old_values_in_force(node, monkeypatch):
    """An error of no family of ours, halfway through: the node goes on as before."""
    monkeypatch.setattr(type(node), 'configure', raises_for_a_tenth(node))
    old = node.parameters.timeout_joint_states
    answer = node.set_parameters([Parameter('timeout.joint_states', value=0.1234)])[0]
    assert not answer.successful
    assert answer.reason == 'a tenth is too short'
    assert node.parameters.timeout_joint_states == old
    assert node.inputs['joint_states'].guard.max_age == old


def raises_for_a_tenth(node):
    """Return what takes changes over, except one, which it finds wrong when all is done."""
    original = type(node).configure

    def changed(self, law):
        original(self, law)
        if self.parameters.timeout_joint_states == 0.1234:
            raise RuntimeError('a tenth is too short')

    return changed


@pytest.mark.parametrize('node', NODES, indirect=True)
def test_after_cleanup_a_node_has_no_model(node):
    """Regression: cleanup left the measured state, and a node activated anew computed with it."""
    assert node.state_problem() != 'no model'
    node.trigger_deactivate()
    node.trigger_cleanup()
    assert node.host.model is None
    assert node.state_problem() == 'no model'
    assert node.trigger_configure() == node.trigger_activate()
    assert node.state_problem() != 'no model'


@pytest.mark.parametrize('node', [(WrenchControlNode, {'frame': 'rod'})], indirect=True)
def test_nothing_of_an_unknown_limit_is_unknown(node):
    """0 of an unknown limit was no number: the law ended the node."""
    assert node.set_parameters([Parameter('effort_limit_scale', value=0.0)])[0].successful
    assert np.isfinite(node.law.effort(np.array([0.5]), np.zeros(1))).all()
    assert known_limits(np.array([0.0, np.inf, 8.0]), 0.0).tolist() == [np.inf, np.inf, 0.0]


def test_over_dds_a_node_survives_what_it_refuses(bench):
    from rcl_interfaces.srv import SetParameters

    process = bench.start(
        'wrench_control_node',
        files=[ROOT / 'config' / 'nonholonomic.yaml', ROOT / 'config' / 'wrench_control.yaml'],
        params={'compiled': 'never'},
    )
    service = '/kane_wrench_control/set_parameters'

    def ask(name, value):
        change = Parameter(name, value=value).to_parameter_msg()
        return bench.call(SetParameters, service, parameters=[change]).results[0]

    bench.until(lambda: bench.status('kane_wrench_control: model')[1] == 'ok')
    assert ask('effort_limit_scale', 0.0).successful
    refused = ask('damping', [-1.0] * 6)
    assert not refused.successful and 'damping' in refused.reason
    assert ask('effort_limit_scale', 1.0).successful
    assert process.poll() is None


CARRIES = {
    'robot_description': PENDULUM_URDF.replace(
        '<axis xyz="0 1 0"/>', '<axis xyz="0 1 0"/><limit effort="40" velocity="2"/>'
    ),
    'payloads': ['rod'],
}


@pytest.mark.parametrize('node', [(EffortControllerNode, CARRIES)], indirect=True)
@pytest.mark.parametrize(('mass', 'arm'), [(1e6, 0.5), (1.0, 1e9)])
def test_a_payload_that_no_pose_holds_is_refused(node, mass, arm):
    """Grams for kilograms went to the motors within 0.3 s."""

    def carry(mass, arm):
        values = [('mass', mass), ('com', [0.0, 0.0, -arm])]
        changes = [Parameter(f'payload.rod.{name}', value=value) for name, value in values]
        return node.set_parameters_atomically(changes)

    def weight():
        return abs(node.host.dynamics.engine.gravity_force([np.pi / 2])[0])

    assert carry(2.0, 0.5).successful
    before = weight()
    answer = carry(mass, arm)
    assert not answer.successful
    assert 'cannot hold this payload at any pose: hinge' in answer.reason
    assert weight() == before
    assert carry(10.0, 0.5).successful  # 49 N m stretched out, 40 N m at less than that
