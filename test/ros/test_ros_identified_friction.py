# SPDX-License-Identifier: Apache-2.0
"""What ``kane-dynamics identify`` writes is what kane_inverse_dynamics takes, over real DDS."""

import numpy as np
import pytest
import yaml
from support.wheeled_robots import installed

pytest.importorskip('rclpy', reason='ROS 2 is not installed: pip install .[ros]')
pytest.importorskip('clarabel', reason='pip install .[cones]')

from feeder import TIMEOUT, Feeder
from rcl_interfaces.msg import Parameter, ParameterType, ParameterValue
from rcl_interfaces.srv import SetParameters

from kane_dynamics.cli import main
from kane_dynamics.cli.options import RobotSource
from kane_dynamics.cli.printing import write_csv
from kane_dynamics.control.effort_law import EffortLaw, Terms
from kane_dynamics.control.reference import Reference
from kane_dynamics.robot_config.parameters.tables import FrictionParameters
from kane_dynamics.robot_config.robot_source import model_of_file, parameters_of_file

pytestmark = pytest.mark.ros
JOINTS = (
    *('shoulder_pan_joint', 'shoulder_lift_joint', 'elbow_joint'),
    *('wrist_1_joint', 'wrist_2_joint', 'wrist_3_joint'),
)
STEPS = 0.0, 0.02, 0.004, 0.03  # [rad] forth, back and forth


@pytest.fixture(scope='module')
def written(tmp_path_factory):
    """Return the parameter file of a real UR10."""
    installed('panda')
    from studies import robots
    from studies.identification.arms import ur10_recording

    (urdf,) = robots.arm('panda').path.parents[2].glob('*/*/ur10_robot.urdf')
    folder, (time, x) = tmp_path_factory.mktemp('identified'), ur10_recording(None)
    columns = {f'{kind}:{name}': x[kind][:, k] for kind in x for k, name in enumerate(JOINTS)}
    table = write_csv(folder / 'table.csv', {'time': time, **columns})
    assert main(['identify', str(urdf), '--bag', str(table), '--output', str(folder)]) == 0
    return folder / 'parameters.yaml'


@pytest.fixture(scope='module')
def robot(bench, written):
    """Return the robot of a node that was started with the file alone."""
    values = {'compiled': 'never', 'timeout.joint_states': TIMEOUT}
    bench.start('inverse_dynamics_node', files=[written], params=values)
    feeder = Feeder(bench, model_of_file(written))
    bench.matched(feeder.joints)
    bench.matched(feeder.reference)
    return feeder


def law_of(written, model):
    """Return the law of a file, and its friction."""
    dynamics = RobotSource(model, '', str(written)).dynamics()
    return EffortLaw(dynamics), dynamics.friction


def answered(robot, position, velocity, expected):
    """Feed a reference until its efforts are the expected ones."""

    def feed():
        robot.send_reference(robot.model.motors, position, velocity, 0.0 * position)
        robot.send()

    def right():
        efforts = [np.array(m.effort) for m in robot.answers()]
        return efforts and np.abs(efforts[-1] - expected).max() < 1e-9

    robot.bench.until(right, each=feed)


def test_the_file_says_what_was_identified(written):
    found = yaml.safe_load(written.with_name('identification.yaml').read_text())
    values = yaml.safe_load(written.read_text())['/**']['ros__parameters']
    assert values['urdf_file'] == str(written.with_name('robot_identified.urdf'))
    for joint, terms in found['friction'].items():
        p = parameters_of_file(written, FrictionParameters, joint)
        assert {kind: getattr(p, kind) for kind in terms} == {
            kind: row['value'] for kind, row in terms.items()
        }
        assert p.coulomb > 0.0


def test_feed_forward_has_the_friction_with_its_memory(robot, written):
    """Steps of the reference forth and back: presliding friction is that of the whole way."""
    model = robot.model
    law, friction = law_of(written, model)
    assert 'presliding' in friction.coefficients
    robot.healthy()
    q, v = (np.array([x[name] for name in model.joints]) for x in (robot.position, robot.velocity))
    motor, state, without = np.arange(6), None, []
    speed = np.array([0.3, -0.2, 0.0, 0.1, -0.05, 0.01])
    for step in STEPS:
        state = friction.moved(state, q + step)
        reference = Reference(motor, motor, motor, q + step, speed, 0.0 * speed)
        forward = law.feedforward(q, v, reference, Terms(presliding=state)).motors
        without.append(forward - law.feedforward(q, v, reference, Terms()).motors)
        answered(robot, q + step, speed, forward)
    assert np.ptp(without, axis=0).max() > 0.1


def test_friction_changes_while_the_node_runs(robot, written):
    """And what cannot be is refused."""

    def change(name, value):
        one = ParameterValue(type=ParameterType.PARAMETER_DOUBLE, double_value=value)
        parameters = [Parameter(name=f'friction.elbow_joint.{name}', value=one)]
        service = '/kane_inverse_dynamics/set_parameters'
        return robot.bench.call(SetParameters, service, parameters=parameters).results[0]

    assert 'below zero' in change('stribeck', -1000.0).reason
    assert change('offset', 5.0).successful
    law, friction = law_of(written, robot.model)
    q, v = (np.array([x[n] for n in robot.model.joints]) for x in (robot.position, robot.velocity))
    motor, rest = np.arange(6), np.zeros(6)
    bare = law.feedforward(q, v, Reference(motor, motor, motor, q, rest, rest), Terms()).motors
    expected = bare[2] + 5.0 - friction.coefficients['offset'][2]
    preslid = friction.coefficients['presliding'][2]  # times the state of the motion before

    def feed():
        robot.send_reference(robot.model.motors, q, rest, rest)
        robot.send()

    def changed():
        return [m for m in robot.answers() if abs(m.effort[2] - expected) <= preslid + 1e-9]

    robot.bench.until(lambda: len(changed()) > 3, each=feed)
