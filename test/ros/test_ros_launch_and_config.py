# SPDX-License-Identifier: Apache-2.0
"""Launch files, YAML files and the documentation agree with the nodes. No ROS needed."""

import ast
import importlib.util
import runpy
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml
from ros_models import flat

from kane_dynamics.ros.parameters.nodes import ALL_SPECS, TABLES
from kane_dynamics.ros.parameters.spec import Spec, markdown_table, matching_spec, specs

ROOT = Path(__file__).resolve().parents[2]
LAUNCH_FILES = sorted((ROOT / 'launch').glob('*.py'))
YAML_FILES = sorted((ROOT / 'config').glob('*.yaml'))
PRESETS = ('nonholonomic', 'holonomic', 'tiago')
ROS_PARAMETERS = {'use_sim_time'}  # declared by rclpy
NODE_FILES = {
    'kane_inverse_dynamics': 'inverse_dynamics_node',
    'kane_forward_dynamics': 'forward_dynamics_node',
    'kane_simulator': 'simulator_node',
}
by_name = pytest.mark.parametrize('path', LAUNCH_FILES, ids=lambda p: p.name)
by_yaml = pytest.mark.parametrize('path', YAML_FILES, ids=lambda p: p.name)
by_node = pytest.mark.parametrize('node', TABLES)


def calls(path, name):
    """Return all calls of a function in a file, as name-to-node mappings of their keywords."""
    tree = ast.parse(path.read_text())
    found = [n for n in ast.walk(tree) if isinstance(n, ast.Call)]
    return [n for n in found if isinstance(n.func, ast.Name) and n.func.id == name]


def keywords(call):
    return {k.arg: k.value for k in call.keywords}


def arguments(path):
    """Return the launch arguments of a file: name to its keywords."""
    return {ast.literal_eval(c.args[0]): keywords(c) for c in calls(path, 'DeclareLaunchArgument')}


def parameter_names(node):
    """Return the parameter names written in dictionaries below a syntax node."""
    found = [n for n in ast.walk(node) if isinstance(n, ast.Dict)]
    return {ast.literal_eval(key) for n in found for key in n.keys}


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
        'forward_dynamics.launch.py',
        'simulation.launch.py',
    }


@by_name
def test_every_argument_has_a_description_and_choices_where_finite(path):
    declared = arguments(path)
    assert declared
    for name, given in declared.items():
        assert ast.literal_eval(given['description']).endswith('.') or name == 'step_size', name
        default = given['default_value']
        if isinstance(default, ast.Constant) and default.value in ('true', 'false'):
            assert ast.literal_eval(given['choices']) == ['true', 'false'], name
        if 'choices' in given and isinstance(default, ast.Constant):
            assert default.value in ast.literal_eval(given['choices']), name


@by_name
def test_arguments_are_used_and_declared(path):
    used = {ast.literal_eval(c.args[0]) for c in calls(path, 'LaunchConfiguration')}
    assert used == set(arguments(path))


@by_name
def test_robot_choices_are_the_presets(path):
    choices = ast.literal_eval(arguments(path)['robot']['choices'])
    assert {name for name in choices if name} == set(PRESETS)


@by_name
def test_nodes_exist_and_declare_their_parameters(path, console_scripts):
    nodes = [keywords(c) for c in calls(path, 'Node')]
    assert nodes
    for given in nodes:
        executable = ast.literal_eval(given['executable'])
        assert ast.literal_eval(given['package']) == 'kane_dynamics'
        assert ast.literal_eval(given['name']) == executable
        module, _, function = console_scripts[executable].partition(':')
        assert executable == f'kane_{function}'
        assert (ROOT / Path(*module.split('.'))).with_suffix('.py').is_file()
        for name in parameter_names(given['parameters']) - ROS_PARAMETERS:
            assert matching_spec(name, TABLES[executable]), (executable, name)


@by_name
def test_parameters_shared_by_the_nodes_of_a_file_are_declared_by_all(path):
    executables = [ast.literal_eval(keywords(c)['executable']) for c in calls(path, 'Node')]
    inside = [n for c in calls(path, 'Node') for n in parameter_names(c)]
    shared = parameter_names(ast.parse(path.read_text())) - set(inside) - ROS_PARAMETERS
    environment = {name for name in shared if name.isupper()}
    for name in shared - environment:
        assert all(matching_spec(name, TABLES[e]) for e in executables), name


@by_name
def test_remapped_topics_exist_in_the_node(path):
    for call in calls(path, 'Node'):
        given = keywords(call)
        source = '\n'.join(p.read_text() for p in (ROOT / 'kane_dynamics' / 'ros').glob('*.py'))
        for pair in getattr(given.get('remappings'), 'elts', ()):
            assert f"'{ast.literal_eval(pair.elts[0])}'" in source


@by_name
def test_config_files_named_in_launch_files_exist(path):
    for node in ast.walk(ast.parse(path.read_text())):
        value = getattr(node, 'value', None)
        if isinstance(node, ast.Constant) and str(value).endswith('.yaml') and value != '.yaml':
            assert (ROOT / 'config' / value).is_file()


@by_yaml
def test_yaml_names_and_types_are_those_of_the_nodes(path):
    content = yaml.safe_load(path.read_text())
    assert list(content) == ['/**']
    values = flat(content['/**']['ros__parameters'])
    assert values
    for name, value in values.items():
        spec = matching_spec(name, ALL_SPECS)
        assert spec is not None, name
        kind = type(value[0] if isinstance(value, list) else value)
        expected = {'bool': bool, 'int': int, 'double': float, 'string': str}
        assert kind is expected[spec.kind.removesuffix('_array')], name
        assert spec.problem(value) == '', name
        if spec.bounds is not None:
            assert spec.bounds[0] <= value <= spec.bounds[1], name


def test_presets_exist():
    assert {p.stem for p in YAML_FILES} >= set(PRESETS)


@by_node
def test_every_parameter_is_described_and_its_default_is_legal(node):
    names = [spec.name for spec in TABLES[node]]
    assert len(set(names)) == len(names)
    for spec in TABLES[node]:
        assert len(spec.description) > 10, spec.name
        assert spec.problem(spec.default) == '', spec.name
        if spec.bounds is not None:
            assert spec.bounds[0] <= spec.default <= spec.bounds[1], spec.name


@by_node
def test_every_parameter_is_read_somewhere(node):
    folder = ROOT / 'kane_dynamics' / 'ros'
    source = '\n'.join(p.read_text() for p in folder.glob('*.py') if p.name != 'tables.py')
    tables = runpy.run_path(str(folder / 'tables.py'))
    fields = {
        f.name
        for table in tables.values()
        for f in getattr(table, '__dataclass_fields__', {}).values()
        if 'spec' in f.metadata
    }
    unread = {name for name in fields if f'.{name}' not in source}
    assert not unread


@by_node
def test_documentation_has_the_present_tables(node):
    text = (ROOT / 'doc' / 'nodes.md').read_text()
    assert markdown_table(TABLES[node]) in text, 'run python doc/update_nodes.py'


@by_node
def test_documentation_names_every_topic_of_the_node(node):
    folder = ROOT / 'kane_dynamics' / 'ros'
    own = (folder / f'{NODE_FILES[node]}.py').read_text()
    helpers = {
        'kane_inverse_dynamics': ('base_node', 'effort_output', 'model_host', 'diagnostics'),
        'kane_forward_dynamics': ('base_node', 'model_host', 'diagnostics'),
        'kane_simulator': ('simulator_output', 'model_host', 'diagnostics'),
    }
    source = own + ''.join((folder / f'{name}.py').read_text() for name in helpers[node])
    makers = (
        'create_publisher',
        'create_lifecycle_publisher',
        'create_subscription',
        'create',
        'create_service',
        '_listen',
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
    page = (ROOT / 'doc' / 'nodes.md').read_text()
    section = page.split(f'### {node}\n')[1].split('\n### ')[0]
    assert len(topics) >= 6
    assert {t for t in topics if f'`{t}`' not in section} == set()


def test_patterns_match_joints_but_not_nothing():
    table = (Spec('gains.<joint>.p', 0.0, ''),)
    assert matching_spec('gains.arm_1_joint.p', table)
    assert matching_spec('gains.p', table) is None
    assert matching_spec('gains.arm.d', table) is None


def test_specs_of_a_table_are_in_order():
    from kane_dynamics.ros.parameters.nodes import RobotParameters

    assert [s.name for s in specs(RobotParameters)][:2] == ['robot_description', 'urdf_file']


@by_name
def test_launch_file_is_understood_by_launch(path):
    pytest.importorskip('launch_ros', reason='launch_ros is not on PyPI')
    spec = importlib.util.spec_from_file_location('launch_file', path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    description = module.generate_launch_description()
    assert {a.name for a in description.get_launch_arguments()} == set(arguments(path))


@by_name
def test_nodes_end_with_their_launch_and_the_launch_with_its_nodes(path):
    nodes = [keywords(c) for c in calls(path, 'Node')]
    assert all(given['on_exit'].id == 'end_all' for given in nodes)
    text = path.read_text()
    assert text.count("'end_with_process': os.getpid()") == 1


class Context:
    is_shutdown = False


def test_a_failed_node_ends_the_launch_with_an_error(monkeypatch):
    actions = SimpleNamespace(Shutdown=lambda reason: reason)
    monkeypatch.setitem(sys.modules, 'launch', SimpleNamespace(actions=actions))
    monkeypatch.setitem(sys.modules, 'launch.actions', actions)
    monkeypatch.delitem(sys.modules, 'kane_dynamics.ros.launching', raising=False)
    launching = importlib.import_module('kane_dynamics.ros.launching')
    monkeypatch.delitem(sys.modules, 'kane_dynamics.ros.launching')
    failed = SimpleNamespace(process_name='kane_simulator-1', returncode=1)
    with pytest.raises(RuntimeError, match='kane_simulator-1 ended with exit code 1'):
        launching.end_all(failed, Context())
    ended = SimpleNamespace(process_name='kane_simulator-1', returncode=0)
    assert launching.end_all(ended, Context()) == ['kane_simulator-1 has ended']
    Context.is_shutdown = True  # nodes that end because the launch ends
    assert launching.end_all(failed, Context()) is None
