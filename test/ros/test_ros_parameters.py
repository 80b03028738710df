# SPDX-License-Identifier: Apache-2.0
"""Misspelt parameters, integers for doubles, and values that would let the arm fall."""

import pytest
import yaml
from ros_models import PENDULUM_URDF

from kane_dynamics.robot_config.parameters.spec import nearest, nearest_parameter
from kane_dynamics.robot_config.parameters.tables import all_specs

COMMON = {'compiled': 'never', 'robot_description': f"'{PENDULUM_URDF}'"}
ERROR = b'\x02'


@pytest.mark.parametrize(
    ('name', 'meant'),
    [
        ('base_typ', 'base_type'),
        ('gain.arm_1_joint.p', 'gains.arm_1_joint.p'),
        ('gains.arm_1_joint.pp', 'gains.arm_1_joint.p'),
        ('initial_position.arm_1_joint', 'initial_positions.arm_1_joint'),
        ('timeout.joint_state', 'timeout.joint_states'),
        ('update_rate', ''),  # of another package, in a file for all nodes
    ],
)
def test_the_parameter_that_was_meant(name, meant):
    assert nearest_parameter(name, all_specs()) == meant


def test_names_that_are_not_alike_have_no_nearest():
    assert nearest('elbow', ('shoulder', 'wrist')) == ''
    assert nearest('elbo', ('shoulder', 'elbow')) == 'elbow'


@pytest.fixture(scope='module')
def nodes(bench, tmp_path_factory):
    """Start all nodes of this file at once: their log, by the name of the case."""
    path = tmp_path_factory.mktemp('parameters') / 'typing_error.yaml'
    gains = {
        'gains': {'hing': {'p': 5.0}},
        'robot_description': PENDULUM_URDF,
        'compiled': 'never',
    }
    path.write_text(yaml.safe_dump({'/**': {'ros__parameters': gains}}))
    cases = {
        'unknown': ('inverse_dynamics_node', {'params': {**COMMON, 'base_typ': 'planar'}}),
        'gain': ('inverse_dynamics_node', {'files': [path]}),
        'start': ('simulator_node', {'params': {**COMMON, 'initial_positions.hing': 0.5}}),
        'integer': (
            'inverse_dynamics_node',
            {'params': {**COMMON, 'gains.hinge.p': 100, 'gravity': '[0, 0, -9]'}},
        ),
        'text': ('inverse_dynamics_node', {'params': {**COMMON, 'timeout.odom': 'long'}}),
    }
    return {
        name: bench.start(
            module, arguments=['-r', f'__node:={name}', '-r', f'__ns:=/{name}'], **chosen
        )
        for name, (module, chosen) in cases.items()
    }


@pytest.mark.ros
@pytest.mark.parametrize(
    ('case', 'words'),
    [('unknown', "no parameter 'base_typ'; did you mean 'base_type'?"), ('text', 'timeout.odom')],
)
def test_a_node_with_a_wrong_parameter_does_not_start(bench, nodes, case, words):
    bench.until(lambda: nodes[case].poll() is not None)
    assert nodes[case].returncode == 1
    log = nodes[case].log.read_text()
    assert words in log
    assert 'Traceback' not in log


@pytest.mark.ros
@pytest.mark.parametrize('case', ['gain', 'start'])
def test_a_value_for_a_misspelt_joint_is_an_error(bench, nodes, case):
    name = f'{case}/{case}: model'
    bench.until(lambda: "did you mean 'hinge'?" in bench.status(name)[1])
    assert bench.status(name)[0] == ERROR
    assert nodes[case].poll() is None


@pytest.mark.ros
def test_integers_are_taken_for_doubles(bench, nodes):
    from rcl_interfaces.msg import Parameter, ParameterType, ParameterValue
    from rcl_interfaces.srv import GetParameters, SetParameters

    names = ['gains.hinge.p', 'gravity']
    bench.until(lambda: bench.status('integer/integer: model')[1] == 'ok')
    found = bench.call(GetParameters, '/integer/integer/get_parameters', names=names).values
    assert found[0].double_value == 100.0
    assert list(found[1].double_array_value) == [0.0, 0.0, -9.0]
    value = ParameterValue(type=ParameterType.PARAMETER_INTEGER, integer_value=70)
    request = [Parameter(name='gains.hinge.p', value=value)]
    result = bench.call(SetParameters, '/integer/integer/set_parameters', parameters=request)
    assert result.results[0].successful, result.results[0].reason
    found = bench.call(GetParameters, '/integer/integer/get_parameters', names=names).values
    assert found[0].double_value == 70.0
