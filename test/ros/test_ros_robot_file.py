# SPDX-License-Identifier: Apache-2.0
"""Parameter files of the nodes, read without ROS."""

import pytest
from ros_models import ROOT, model_of

from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.robot_config.parameters.tables import SimulatorParameters
from kane_dynamics.robot_config.robot_source import (
    model_of_file,
    parameters_of_file,
    read_parameter_file,
)


@pytest.mark.parametrize('path', ['nonholonomic', ROOT / 'config' / 'nonholonomic.yaml'])
def test_the_model_is_that_of_the_nodes(path):
    found, wanted = model_of_file(path), model_of('nonholonomic')
    assert found.summary() == wanted.summary()


def test_tables_take_what_is_theirs(tmp_path):
    file = tmp_path / 'robot.yaml'
    file.write_text(
        '/**: {ros__parameters: {base: {wheel_radius: 1}}}\n'
        'kane_simulator: {ros__parameters: {rtf: 2.0, gains: {a: {p: 3.0}}}}\n'
    )
    table = parameters_of_file(file, SimulatorParameters, step_size=0.002)
    assert (table.rtf, table.step_size, table.base_wheel_radius) == (2.0, 0.002, 1.0)
    assert read_parameter_file(file)['gains.a.p'] == 3.0


@pytest.mark.parametrize(
    ('text', 'message'),
    [
        ('a: [', 'cannot be read'),
        ('[1, 2]', 'need <node>: ros__parameters'),
        ('/**: {base_type: none}', 'need <node>: ros__parameters'),
        ('/**: {ros__parameters: {base_typ: none}}', "did you mean 'base_type'"),
        ('/**: {ros__parameters: {rtf: -1.0}}', "'rtf' must be 0 to 1000, got -1.0"),
        ('/**: {ros__parameters: {base_type: 3}}', 'base_type: need string, got 3'),
        ('/**: {ros__parameters: {base_type: wheel}}', "'base_type' must be one of"),
        ('/**: {ros__parameters: {base_type: none}}', 'names no urdf_file; give one with --urdf'),
    ],
)
def test_what_is_wrong_is_said(tmp_path, text, message):
    file = tmp_path / 'robot.yaml'
    file.write_text(text)
    with pytest.raises(InvalidInputError, match=message):
        parameters_of_file(file, SimulatorParameters)
        model_of_file(file)


def test_files_that_do_not_exist():
    with pytest.raises(InvalidInputError, match="no parameter file 'nobody'; shipped are .*tiago"):
        model_of_file('nobody')
    with pytest.raises(InvalidInputError, match='cannot be read'):
        model_of_file('nobody.yaml')
