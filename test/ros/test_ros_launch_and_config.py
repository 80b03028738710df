# SPDX-License-Identifier: Apache-2.0
"""Launch files, YAML files and the documentation agree with the nodes. No ROS needed."""

import ast
import os
import re
import runpy
from pathlib import Path
from types import SimpleNamespace

import fake_launch
import numpy as np
import pytest
import yaml
from ros_models import flat

from kane_dynamics.algorithms.newton_euler import TERMS
from kane_dynamics.control.effort_controller import EXCLUDED
from kane_dynamics.robot_config.nodes import NODES
from kane_dynamics.robot_config.parameters.spec import Spec, matching_spec, plain
from kane_dynamics.robot_config.parameters.tables import (
    GovernorParameters,
    RobotParameters,
    all_specs,
    table,
)

ROOT = Path(__file__).resolve().parents[2]
OTHERS = (
    'gazebo',
    'mujoco',
    'ros2_control',
)  # files for other packages too: test_ros_ros2_control.py
LAUNCH_FILES = sorted(
    path for path in (ROOT / 'launch').glob('*.py') if path.name.split('.')[0] not in OTHERS
)
YAML_FILES = sorted(
    path for path in (ROOT / 'config').rglob('*.yaml') if path.parent.name not in OTHERS
)
SIMULATED = ('nonholonomic', 'holonomic', 'tiago')
OWNED = sorted(path.stem for path in (ROOT / 'config' / 'robots').glob('*.yaml'))
ROS_PARAMETERS = {'use_sim_time'}  # declared by rclpy
UPDATE = runpy.run_path(str(ROOT / 'doc' / 'update_nodes.py'))
by_yaml = pytest.mark.parametrize('path', YAML_FILES, ids=lambda p: p.name)
by_node = pytest.mark.parametrize('node', NODES)


def specs_of(node):
    """Return all parameters of a node."""
    return table(NODES[node].parameters).specs


@pytest.fixture(params=LAUNCH_FILES, ids=lambda path: path.name)
def launch_file(request, monkeypatch):
    """Return a launch file as it is described with recording stand-ins, and its nodes."""
    fake_launch.install(monkeypatch)
    module = runpy.run_path(str(request.param))
    return fake_launch.Described(module['generate_launch_description']())


@pytest.fixture(scope='module')
def console_scripts():
    import setuptools

    captured = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(setuptools, 'setup', captured.update)
        patch.chdir(ROOT)
        runpy.run_path('setup.py')
    return dict(
        (part.strip() for part in line.split('='))
        for line in captured['entry_points']['console_scripts']
    )


def test_there_is_a_launch_file_for_each_node_and_for_the_closed_loop():
    assert {p.name for p in LAUNCH_FILES} >= {
        'inverse_dynamics.launch.py',
        'computed_torque.launch.py',
        'forward_dynamics.launch.py',
        'wrench_control.launch.py',
        'contact_observer.launch.py',
        'governor.launch.py',
        'trajectory_feedforward.launch.py',
        'simulation.launch.py',
    }


def test_every_argument_has_a_description_and_choices_where_finite(launch_file):
    assert launch_file.arguments
    for name, given in launch_file.arguments.items():
        assert given['description'].endswith('.'), name
        default = given['default_value']
        if default in ('true', 'false'):
            assert given['choices'] == ['true', 'false'], name
        assert default in given.get('choices', [default]), name


def test_arguments_are_used_and_declared(launch_file):
    assert launch_file.used() == set(launch_file.arguments)


def test_robot_choices_are_the_presets(launch_file):
    choices = launch_file.arguments['robot']['choices']
    assert {name for name in choices if name} == {*SIMULATED, *OWNED}


def test_nodes_exist_and_declare_their_parameters(launch_file, console_scripts):
    assert launch_file.nodes()
    for given in launch_file.nodes(urdf_file='robot.urdf', frame_prefix='r1/'):
        executable = given['executable']
        assert given['package'] == 'kane_dynamics'
        assert given['name'] == executable
        module, _, function = console_scripts[executable].partition(':')
        assert executable == f'kane_{function}'
        assert (ROOT / Path(*module.split('.'))).with_suffix('.py').is_file()
        names = fake_launch.parameters(given)
        assert {'params_file', 'parent_pid', 'urdf_file', 'frame_prefix'} <= set(names)
        for name in set(names) - ROS_PARAMETERS:
            assert matching_spec(name, specs_of(executable)), (executable, name)


def test_what_is_not_given_is_left_to_the_preset(launch_file):
    for given in launch_file.nodes(robot='tiago'):
        assert not {'urdf_file', 'frame_prefix'} & set(fake_launch.parameters(given))
        files = fake_launch.files(given)
        assert [file.rpartition('/')[2] for file in files[:-1]] == ['tiago.yaml']
        assert files[-1] == launch_file.arguments['params_file']['default_value']


def test_a_missing_params_file_does_not_end_the_launch(launch_file):
    for given in launch_file.nodes(params_file='/nowhere/p.yaml'):
        assert '/nowhere/p.yaml' not in fake_launch.files(given)
        assert 'params_file' in fake_launch.parameters(given)  # the node reports it


def test_presets_of_robots_are_found_by_name(launch_file):
    assert not set(SIMULATED) & set(OWNED)
    for robot in (*SIMULATED, *OWNED):
        for given in launch_file.nodes(robot=robot):
            file = fake_launch.files(given)[0].removeprefix('share/kane_dynamics/')
            assert (ROOT / file).stem == robot
            assert (ROOT / file).is_file()


def test_remapped_topics_exist_in_the_node(launch_file):
    source = '\n'.join(p.read_text() for p in (ROOT / 'kane_dynamics' / 'ros').rglob('*.py'))
    for given in launch_file.nodes():
        for topic, _ in given.get('remappings', ()):
            assert f"'{topic}'" in source


def test_config_files_named_in_launch_files_exist(launch_file):
    default = launch_file.arguments['params_file']['default_value']
    assert default.startswith('share/kane_dynamics/config/')
    assert (ROOT / default.removeprefix('share/kane_dynamics/')).is_file()


def test_nodes_end_with_their_launch_and_the_launch_with_its_nodes(launch_file):
    for given in launch_file.nodes():
        assert given['on_exit'].__name__ == 'end_all'
        assert fake_launch.parameters(given)['parent_pid'] == os.getpid()


@by_yaml
def test_yaml_names_and_types_are_those_of_the_nodes(path):
    content = yaml.safe_load(path.read_text())
    assert list(content) == ['/**']
    values = flat(content['/**']['ros__parameters'])
    assert values
    own = NODES.get(f'kane_{path.stem}')  # the others are for several nodes
    nodes = NODES.values() if own is None else [own]
    for name, value in values.items():
        found = [matching_spec(name, table(node.parameters).specs) for node in nodes]
        assert any(found), name
        kind = type(value[0] if isinstance(value, list) else value)
        expected = {'bool': bool, 'int': int, 'double': float, 'string': str}
        legal = [spec for spec in found if spec is not None and not spec.problem(value)]
        assert legal, name
        for spec in legal:
            assert kind is expected[spec.kind.removesuffix('_array')], name


@pytest.mark.parametrize(
    'path', [path for path in YAML_FILES if f'kane_{path.stem}' in NODES], ids=lambda p: p.name
)
def test_the_file_of_a_node_shows_its_defaults(path):
    values = flat(yaml.safe_load(path.read_text())['/**']['ros__parameters'])
    specs = {spec.name: spec.default for spec in specs_of(f'kane_{path.stem}')}
    assert {k: plain(x) for k, x in values.items()} == {name: specs[name] for name in values}


@pytest.mark.parametrize('path', sorted((ROOT / 'config').rglob('*.yaml')), ids=lambda p: p.name)
def test_numbers_carry_their_source_and_a_date(path):
    if path.parent.name != 'gazebo':  # names of topics alone
        assert re.search(r'^# Source: (?:.*\n#)*.*\b20\d\d-\d\d-\d\d', path.read_text(), re.M)


def test_presets_exist():
    assert {p.stem for p in YAML_FILES} >= set(SIMULATED)


@by_node
def test_every_parameter_is_described_and_its_default_is_legal(node):
    names = [spec.name for spec in specs_of(node)]
    assert len(set(names)) == len(names)
    for spec in specs_of(node):
        assert len(spec.description) > 10, spec.name
        assert spec.problem(spec.default) == '', spec.name
        if spec.bounds is not None:
            low, high = spec.bounds
            assert low <= np.min(spec.default) <= np.max(spec.default) <= high, spec.name


@by_node
def test_every_parameter_is_read_somewhere(node):
    folder = ROOT / 'kane_dynamics'
    source = '\n'.join(p.read_text() for p in folder.rglob('*.py'))
    fields = {spec.field for spec in specs_of(node) if spec.mark != '<joint>'}
    limits = {f'timeout_{name}' for name in re.findall(r"guard\('(\w+)'\)", source)}
    limits.add('timeout_imu')  # new_guard(IMU)
    built = {f'terms_{term}_excluded_joints' for term in EXCLUDED}
    built |= {f'terms_{term}' for term in TERMS}
    unread = {f for f in fields if not re.search(rf"['.]{f}\b", source)}
    assert unread <= limits | built


def test_documentation_and_types_are_those_of_the_files():
    for page, text in UPDATE['updated']().items():
        assert page.read_text() == text, 'run python doc/update_nodes.py'
    assert UPDATE['STUB'].read_text() == UPDATE['stub'](), 'run python doc/update_nodes.py'


def test_a_parameter_stands_once_in_the_documentation():
    page = '\n'.join(page.read_text() for page in UPDATE['PAGES'])
    for name in {spec.name for spec in all_specs()}:
        rows = re.findall(rf'^\| `{re.escape(name)}` \| (?:bool|int|double|string)', page, re.M)
        nodes = [node for node in NODES if any(spec.name == name for spec in specs_of(node))]
        different = {spec for node in nodes for spec in specs_of(node) if spec.name == name}
        assert len(rows) == len(different), name


@by_node
def test_documentation_names_every_topic_of_the_node(node):
    folder = ROOT / 'kane_dynamics' / 'ros'
    file, _, cls = NODES[node].path.partition(':')
    others = {entry.path.partition(':')[2] for entry in NODES.values()} - {cls}
    tree = ast.parse((folder / f'{file}.py').read_text())
    tree.body = [part for part in tree.body if getattr(part, 'name', '') not in others]
    own = ast.unparse(tree)
    shared = ('base_node', 'input_node', 'robot_description_manager', 'diagnostics')
    if node == 'kane_simulator':
        shared = ('simulator_output', 'simulator_inputs', *shared[2:])
    elif '(EffortNode)' in own:
        shared += ('effort_node',)
    files = {path.stem: path for path in folder.rglob('*.py')}
    source = own + ''.join(files[name].read_text() for name in shared)
    makers = (
        'create_publisher',
        'create_lifecycle_publisher',
        'create_subscription',
        'create',
        'create_service',
        'listen',
    )
    topics = set()
    for call in ast.walk(ast.parse(source.replace('from __future__ import annotations', ''))):
        name = getattr(
            getattr(call, 'func', None), 'attr', getattr(getattr(call, 'func', None), 'id', '')
        )
        if isinstance(call, ast.Call) and name in makers:
            topics |= {
                a.value
                for a in call.args
                if isinstance(a, ast.Constant) and isinstance(a.value, str)
            }
    page = (ROOT / 'doc' / 'nodes' / f'{node}.md').read_text()
    assert len(topics) >= 6
    assert {t for t in topics if f'`{t}`' not in page} == set()


@by_node
def test_parameters_that_a_page_prints_are_those_of_the_node(node):
    page = (ROOT / 'doc' / 'nodes' / f'{node}.md').read_text()
    for text in re.findall(r'```yaml\n(.*?)```', page, re.DOTALL):
        assert all(matching_spec(name, specs_of(node)) for name in flat(yaml.safe_load(text)))


def test_patterns_match_joints_but_not_nothing():
    known = (Spec('gains.<joint>.p', 'double', 0.0, ''),)
    assert matching_spec('gains.arm_1_joint.p', known)
    assert matching_spec('gains.p', known) is None
    assert matching_spec('gains.arm.d', known) is None


def test_a_table_has_the_parameters_of_its_file_after_those_it_includes():
    names = [spec.name for spec in specs_of('kane_governor')]
    assert names.index('base.cmd_vel_stamped') < names.index('urdf_file') < names.index('horizon')
    assert GovernorParameters(horizon=2.0).timeout_odom == 0.25
    assert issubclass(GovernorParameters, RobotParameters)


@pytest.mark.parametrize(
    ('entry', 'why'),
    [
        ({'validation': {'even<>': []}}, 'no validation'),
        ({'validation': {'element_bounds<>': [0.0, 1.0]}}, 'no validation'),
        ({'units': 'm'}, 'units'),
    ],
)
def test_a_file_with_something_unknown_is_refused(entry, why, monkeypatch):
    leaf = {'type': 'double', 'default_value': 0.0, 'description': 'A length.', **entry}
    text = yaml.safe_dump({'description': 'It.', 'gravity': {'x': leaf}})
    monkeypatch.setattr(Path, 'read_bytes', lambda _: text.encode())
    with pytest.raises((ValueError, TypeError), match=why):
        table.__wrapped__('gravity')


@pytest.mark.parametrize('path', sorted((ROOT / 'launch').glob('*.py')), ids=lambda p: p.name)
def test_launch_file_is_understood_by_launch(path):
    pytest.importorskip('launch_ros', reason='launch_ros is not on PyPI')
    description = runpy.run_path(str(path))['generate_launch_description']()
    assert 'robot' in {argument.name for argument in description.get_launch_arguments()}


class Context:
    is_shutdown = False


def test_a_failed_node_ends_the_launch_with_an_error(monkeypatch):
    launching = fake_launch.install(monkeypatch)
    failed = SimpleNamespace(process_name='kane_simulator-1', returncode=1)
    with pytest.raises(RuntimeError, match='kane_simulator-1 ended with exit code 1'):
        launching.end_all(failed, Context())
    ended = SimpleNamespace(process_name='kane_simulator-1', returncode=0)
    assert [end.given['reason'] for end in launching.end_all(ended, Context())] == [
        'kane_simulator-1 has ended'
    ]
    Context.is_shutdown = True  # nodes that end because the launch ends
    assert launching.end_all(failed, Context()) is None
