# SPDX-License-Identifier: Apache-2.0
"""
Files for ros2_control and Gazebo agree with each other, the robots and the sources of others.

No ROS needed; neither ros2_control nor Gazebo was run.
"""

import itertools
import runpy
from types import SimpleNamespace
from xml.etree import ElementTree

import fake_launch
import numpy as np
import pytest
import ros2_control_facts as facts
import yaml
from numpy.testing import assert_allclose
from ros_models import ROOT, flat, model_of, preset

import kane_dynamics as kd
from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.robot.resources import resolve
from kane_dynamics.robot_config.nodes import NODES
from kane_dynamics.robot_config.parameters import tables
from kane_dynamics.robot_config.parameters.spec import matching_spec


def is_here(robot):
    try:
        return bool(resolve(preset(robot)['urdf_file']))
    except InvalidInputError:
        return False


xacro = pytest.importorskip('xacro', reason='xacro is not installed: pip install .[test]')

HERE = ['nonholonomic', *(['tiago'] if is_here('tiago') else [])]
WHEELS = {'wheel_left_joint', 'wheel_right_joint'}
HARDWARE = ('topic', 'gz', 'ign', 'joint_force')
CHOSEN = ('effort_controller', 'arm_controller')
FOLDERS = ROOT / 'config' / 'ros2_control', ROOT / 'config' / 'gazebo'
missing = pytest.mark.skipif(len(HERE) < 2, reason='example-robot-data is not installed')
by_robot = pytest.mark.parametrize('robot', ['nonholonomic', pytest.param('tiago', marks=missing)])
by_hardware = pytest.mark.parametrize('hardware', HARDWARE)
by_controller = pytest.mark.parametrize('controller', CHOSEN)


def controllers(robot):
    """Return the parameters of each controller, with its type, by full name."""
    content = yaml.safe_load((FOLDERS[0] / f'{robot}_controllers.yaml').read_text())
    manager = flat(content.pop('controller_manager')['ros__parameters'])
    assert manager.pop('update_rate') == 250
    types = {name.removesuffix('.type'): kind for name, kind in manager.items()}
    assert set(types) == set(content)
    return {
        name: (types[name], flat(section['ros__parameters'])) for name, section in content.items()
    }


def bridge(robot, kind):
    return yaml.safe_load((FOLDERS[1] / f'{robot}_{kind}.yaml').read_text())


@pytest.fixture(scope='module')
def described():
    """Return the URDF text of a robot with its blocks, made once each."""
    made = {}

    def expanded(robot, hardware, controller='effort_controller'):
        key = robot, hardware, controller
        if key not in made:
            given = {
                'name': robot,
                'urdf': str(resolve(preset(robot)['urdf_file'])),
                'controllers': str(FOLDERS[0] / f'{robot}_controllers.yaml'),
                'preset': str(ROOT / 'config' / f'{robot}.yaml'),
                'hardware': hardware,
                'controller': controller,
                'casters': 'caster_link' if robot == 'nonholonomic' else '',
            }
            file = ROOT / 'robots' / 'xacro' / 'controlled_robot.urdf.xacro'
            made[key] = xacro.process_file(str(file), mappings=given).toxml()
        return made[key]

    return expanded


def interfaces(text):
    """Return the names of command and state interfaces of each joint in the block."""
    (block,) = ElementTree.fromstring(text).findall('ros2_control')
    return {
        joint.get('name'): tuple(
            [x.get('name') for x in joint.findall(f'{kind}_interface')]
            for kind in ('command', 'state')
        )
        for joint in block.findall('joint')
    }


def systems(text):
    """Return (file, class) and elements of the systems of Gazebo Sim."""
    found = []
    for plugin in ElementTree.fromstring(text).findall('gazebo/plugin'):
        if not plugin.get('filename').startswith('libgazebo'):  # TIAGo has some of Gazebo classic
            name = plugin.get('filename'), plugin.get('name')
            found.append((name, {child.tag: child.text for child in plugin}))
    return found


@by_robot
def test_parameters_of_controllers_exist_and_have_the_right_type(robot):
    doubles = ('gains', 'constraints', 'wheel_separation', 'wheel_radius', 'cmd_vel_timeout')
    for name, (kind, values) in controllers(robot).items():
        joints = values.get('joints', ())
        for parameter, value in values.items():
            parts = parameter.split('.')
            pattern = '.'.join('<joint>' if part in joints else part for part in parts)
            assert pattern in facts.CONTROLLERS[kind], (name, parameter)
            assert isinstance(value, float) is (parts[0] in doubles), (name, parameter)
    assert {kind for kind, _ in controllers(robot).values()} == set(facts.CONTROLLERS)


@by_robot
def test_joints_of_controllers_are_those_of_the_robot(robot):
    model, found = model_of(robot), controllers(robot)
    arm = [name for name in model.motors if name not in WHEELS]
    assert found['effort_controller'][1]['joints'] == list(model.motors)
    assert found['effort_controller'][1]['interface_name'] == 'effort'
    for name in ('arm_controller', 'arm_position_effort_controller'):
        assert found[name][1]['joints'] == arm
        assert found[name][1]['command_interfaces'] in facts.COMMAND_INTERFACES
        for joint in arm:
            assert f'constraints.{joint}.goal' in found[name][1]
    for joint in arm:
        for gain in 'pd':
            parameter = f'gains.{joint}.{gain}'
            assert found['arm_controller'][1][parameter] == preset(robot)[parameter]


@by_robot
def test_wheels_of_the_base_controller_are_those_of_the_robot(robot):
    model, values = model_of(robot), controllers(robot)['base_controller'][1]
    assert {*values['left_wheel_names'], *values['right_wheel_names']} == WHEELS
    turn, forward = 0.7, 0.4  # [rad/s], [m/s]
    names, v = model.robot.velocity_names, np.zeros(model.robot.nv)
    v[[0, 2]] = forward, turn
    engine = kd.dynamics(model.robot, constraints=model.constraints)
    known = [name for name in names if name not in WHEELS]
    v = engine.consistent_velocity(model.robot.neutral(), v, known=known)
    half = 0.5 * values['wheel_separation'] * turn
    for side, sign in (('left', -1.0), ('right', 1.0)):
        rate = v[model.robot.velocity_index(*values[f'{side}_wheel_names'])]
        # the sheet rounds TIAGo's track to 0.1 mm
        assert_allclose(rate * values['wheel_radius'], forward + sign * half, rtol=1e-3)


@pytest.mark.parametrize(
    'path', sorted(p for folder in FOLDERS for p in folder.glob('*')), ids=lambda p: p.name
)
def test_files_have_no_aliases_which_ros_cannot_read(path):
    events = list(yaml.parse(path.read_text()))
    assert not any(isinstance(event, yaml.AliasEvent) for event in events)


@by_robot
@pytest.mark.ros
def test_parser_of_ros_reads_the_controllers(robot):
    rclpy = pytest.importorskip('rclpy', reason='ROS 2 is not installed: pip install .[ros]')
    file = FOLDERS[0] / f'{robot}_controllers.yaml'
    context = rclpy.context.Context()
    rclpy.init(args=['--ros-args', '--params-file', str(file)], context=context)
    node = rclpy.create_node(
        'arm_controller', context=context, automatically_declare_parameters_from_overrides=True
    )
    assert (
        list(node.get_parameter('joints').value)
        == controllers(robot)['arm_controller'][1]['joints']
    )
    node.destroy_node()
    context.try_shutdown()


@pytest.mark.filterwarnings('ignore::kane_dynamics.exceptions.ModelWarning')  # TIAGo's own
@by_robot
@by_hardware
def test_the_robot_stays_what_it_is(described, robot, hardware):
    plain, model = resolve(preset(robot)['urdf_file']).read_text(), model_of(robot)
    text = described(robot, hardware)
    assert ElementTree.fromstring(text).get('name') == robot == model.robot.name
    made, given = (kd.load_urdf(t, base='planar') for t in (text, plain))
    assert made.velocity_names == given.velocity_names
    q = given.neutral()
    assert_allclose(kd.mass_matrix(made, q), kd.mass_matrix(given, q), rtol=0, atol=0)


@by_robot
@by_controller
@pytest.mark.parametrize('hardware', facts.HARDWARE)
def test_controllers_find_their_interfaces(described, robot, controller, hardware):
    text = described(robot, hardware, controller)
    plugin = ElementTree.fromstring(text).find('ros2_control/hardware/plugin')
    assert plugin.text == facts.HARDWARE[hardware]
    found, parameters = interfaces(text), controllers(robot)
    assert set(found) == set(model_of(robot).motors)
    efforts = parameters[controller][1]['joints']
    for joint, (command, state) in found.items():
        rest = ['velocity'] if hardware != 'topic' else []
        assert command == (['effort'] if joint in efforts else rest)
        assert state == ['position', 'velocity', 'effort']


@by_robot
def test_topic_hardware_always_sends(described, robot):
    hardware = ElementTree.fromstring(described(robot, 'topic')).find('ros2_control/hardware')
    given = {part.get('name'): part.text for part in hardware.findall('param')}
    assert set(given) == facts.TOPIC_PARAMETERS
    assert float(given['trigger_joint_command_threshold']) == -1.0


@by_robot
def test_mujoco_gets_parameters_that_it_has(described, robot):
    hardware = ElementTree.fromstring(described(robot, 'mujoco')).find('ros2_control/hardware')
    assert {part.get('name') for part in hardware.findall('param')} == facts.MUJOCO_PARAMETERS
    assert not systems(described(robot, 'mujoco'))
    file = FOLDERS[0] / f'{robot}_mujoco_pids.yaml'
    gains = yaml.safe_load(file.read_text())['/**']['ros__parameters']['pid_gains']['velocity']
    model = model_of(robot)
    assert sorted(gains) == sorted(
        controllers(robot)['base_controller'][1][f'{side}_wheel_names'][0]
        for side in ('left', 'right')
    )
    for joint, gain in gains.items():
        assert gain['p'] > 0.0
        limit = model.robot.effort_limit[model.robot.velocity_index(joint)]
        assert gain['u_clamp_max'] == -gain['u_clamp_min'] == limit


@pytest.mark.parametrize('scene', ['', 'package://kane_dynamics/config/mujoco/scene.xml'])
@by_robot
def test_mujoco_is_started_with_the_model_and_its_plugin(monkeypatch, robot, scene):
    fake_launch.install(monkeypatch)
    written = []
    monkeypatch.setattr(
        'kane_dynamics.mujoco.prefix.write_prefix',
        lambda *given: written.append(given) or given[5] / f'{given[4]}.xml',
    )
    module = runpy.run_path(str(ROOT / 'launch' / 'mujoco.launch.py'))
    launch = fake_launch.Described(module['generate_launch_description']())
    assert launch.used() == set(launch.arguments)
    nodes = launch.nodes(robot=robot, scene=scene)
    assert written[-1][4] == robot and written[-1][6] == (resolve(scene) if scene else None)
    for node in nodes:
        assert (node['package'], node['executable']) in facts.EXECUTABLES or node[
            'executable'
        ] in NODES
        assert fake_launch.parameters(node).get('use_sim_time', True) is True
    (manager,) = (n for n in nodes if n['executable'] == 'ros2_control_node')
    assert manager['additional_env']['AMENT_PREFIX_PATH'].startswith(f'{written[-1][5]}:')
    (publisher,) = (n for n in nodes if n['package'] == 'robot_state_publisher')
    _, (_, _, _, *options), _ = fake_launch.parameters(publisher)['robot_description'][1]
    names = [text.strip().removesuffix(':=') for text in options[::2]]
    chosen = dict(zip(names, options[1::2], strict=True))
    assert (chosen['hardware'], chosen['controller']) == ('mujoco', 'arm_controller')
    assert chosen['model'] == str(written[-1][5] / f'{robot}.xml')
    assert (ROOT / chosen['pids'].removeprefix('share/kane_dynamics/')).is_file()
    spawned = [n['arguments'][0] for n in spawners(nodes) if n['executable'] == 'spawner']
    assert spawned == ['joint_state_broadcaster', 'arm_controller', 'base_controller']
    (filler,) = (n for n in nodes if n['executable'] == 'kane_trajectory_feedforward')
    assert filler['remappings'] == [('cmd_vel', 'base_controller/cmd_vel')]


@by_robot
@by_hardware
@by_controller
def test_systems_of_gazebo_exist(described, robot, hardware, controller):
    found = systems(described(robot, hardware, controller))
    for name, elements in found:
        assert set(elements) <= facts.SYSTEMS[name]
    names = [name[1].rpartition('::')[2] for name, _ in found]
    motors = controllers(robot)[controller][1]['joints']
    assert names.count('OdometryPublisher') == (hardware != 'topic')
    assert names.count('JointStatePublisher') == (hardware == 'joint_force')
    assert names.count('ApplyJointForce') == (len(motors) if hardware == 'joint_force' else 0)
    assert names.count('GazeboSimROS2ControlPlugin') == (hardware == 'gz')
    assert names.count('IgnitionROS2ControlPlugin') == (hardware == 'ign')


def test_ball_casters_slide(described):
    root = ElementTree.fromstring(described('nonholonomic', 'gz'))
    friction = root.findall('gazebo[@reference="caster_link"]/*')
    assert [(part.tag, float(part.text)) for part in friction] == [('mu1', 0.0), ('mu2', 0.0)]


@by_robot
def test_bridges_join_the_topics_of_both_sides(described, robot):
    entries = [*bridge(robot, 'bridge'), *bridge(robot, 'joint_force_bridge')]
    sides = {}
    for entry in entries:
        assert set(entry) <= facts.BRIDGE_KEYS
        assert (entry['ros_type_name'], entry['gz_type_name']) in facts.BRIDGED
        ros = entry.get('ros_topic_name', entry.get('topic_name'))
        sides[ros] = entry.get('gz_topic_name', ros), entry['direction']
    assert len(sides) == len(entries)
    forces = {
        f'{elements["joint_name"]}/effort': (
            f'/model/{robot}/joint/{elements["joint_name"]}/cmd_force',
            'ROS_TO_GZ',
        )
        for name, elements in systems(described(robot, 'joint_force'))
        if name[1].endswith('ApplyJointForce')
    }
    assert sides == {
        '/clock': ('/clock', 'GZ_TO_ROS'),
        'odom': (f'/model/{robot}/odometry', 'GZ_TO_ROS'),
        '/tf': (f'/model/{robot}/pose', 'GZ_TO_ROS'),
        'joint_states': (f'/world/empty/model/{robot}/joint_state', 'GZ_TO_ROS'),
        **forces,
    }
    assert list(forces) == [f'{name}/effort' for name in model_of(robot).motors]


# launch files


@pytest.fixture(params=['ros2_control', 'gazebo'])
def launched(request, monkeypatch):
    """Return the name of a launch file and its description, with recording stand-ins."""
    fake_launch.install(monkeypatch)
    module = runpy.run_path(str(ROOT / 'launch' / f'{request.param}.launch.py'))
    return request.param, fake_launch.Described(module['generate_launch_description']())


def cases(name):
    """Return all launch arguments that matter, and the hardware."""
    for robot, controller, hardware in itertools.product(HERE, CHOSEN, HARDWARE):
        given = {'robot': robot, 'controller': controller}
        if name == 'ros2_control' and hardware == 'topic':
            yield given, hardware
        elif name == 'gazebo' and hardware != 'topic':
            if (hardware, controller) != ('joint_force', 'arm_controller'):
                yield {**given, 'hardware': hardware}, hardware


def test_arguments_are_described_and_used(launched):
    _, launch = launched
    assert launch.used() == set(launch.arguments)
    for name, given in launch.arguments.items():
        assert given['description'].endswith('.'), name
        assert given['default_value'] in given.get('choices', [given['default_value']])


def test_nodes_exist_and_get_parameters_that_they_have(launched):
    name, launch = launched
    for given, _ in cases(name):
        for node in launch.nodes(**given):
            if node['executable'] not in NODES:
                assert (node['package'], node['executable']) in facts.EXECUTABLES
                continue
            table = tables.table(NODES[node['executable']].parameters).specs
            parameters = fake_launch.parameters(node)
            for parameter in set(parameters) - {'use_sim_time'}:
                assert matching_spec(parameter, table), parameter
            assert parameters.get('use_sim_time', False) is (name == 'gazebo')
            for file in fake_launch.files(node):
                assert (ROOT / file.removeprefix('share/kane_dynamics/')).is_file()


def spawners(nodes):
    """Yield what spawns controllers: at once, and when the joints have states."""
    ended, running = SimpleNamespace(returncode=0), SimpleNamespace(is_shutdown=False)
    for node in nodes:
        if node['executable'] == 'spawner':
            yield node
        elif node['executable'] == 'kane_wait_for_states':
            later = node['on_exit'](ended, running)
            yield from (fake_launch.given(one) for one in later)


def test_controllers_are_spawned_when_their_joints_have_states(launched):
    name, launch = launched
    for given, hardware in cases(name):
        nodes = launch.nodes(**given)
        waits = [node for node in nodes if node['executable'] == 'kane_wait_for_states']
        at_once = [node['arguments'][0] for node in nodes if node['executable'] == 'spawner']
        if hardware == 'joint_force':
            assert not waits and not at_once
            continue
        assert at_once == ['joint_state_broadcaster']  # who else would publish joint_states
        (wait,) = waits
        joints = controllers(given['robot'])[given['controller']][1]['joints']
        robots = ['robot_joint_states'] if hardware == 'topic' else []
        assert wait['arguments'] == [*joints, '--topics', 'joint_states', *robots]
        failed = SimpleNamespace(process_name='wait', returncode=1)
        with pytest.raises(RuntimeError, match='wait ended with exit code 1'):
            wait['on_exit'](failed, SimpleNamespace(is_shutdown=False))
        assert wait['on_exit'](failed, SimpleNamespace(is_shutdown=True)) is None


def test_controllers_that_are_spawned_exist(launched):
    name, launch = launched
    for given, hardware in cases(name):
        spawned = []
        for node in spawners(launch.nodes(**given)):
            if node['executable'] == 'spawner':
                controller, option, file = node['arguments']
                assert option == '--param-file'
                assert (ROOT / file.removeprefix('share/kane_dynamics/')).is_file()
                assert controller in controllers(given['robot'])
                assert node['on_exit'].__name__ == 'end_failed'
                spawned.append(controller)
        wanted = ['joint_state_broadcaster', given['controller']]
        if hardware in ('gz', 'ign') and given['controller'] == 'arm_controller':
            wanted.append('base_controller')
        assert spawned == ([] if hardware == 'joint_force' else wanted)


def test_the_description_is_made_with_what_the_xacro_file_takes(launched):
    name, launch = launched
    taken = (ROOT / 'robots' / 'xacro' / 'controlled_robot.urdf.xacro').read_text()
    for given, hardware in cases(name):
        (publisher,) = (
            node for node in launch.nodes(**given) if node['package'] == 'robot_state_publisher'
        )
        kind, command, given_type = fake_launch.parameters(publisher)['robot_description']
        assert (kind, given_type) == ('ParameterValue', {'value_type': str})
        _, (_, _, file, *options), _ = command
        assert (ROOT / file.removeprefix('share/kane_dynamics/')).is_file()
        names = [text.strip().removesuffix(':=') for text in options[::2]]
        chosen = dict(zip(names, options[1::2], strict=True))
        for option in chosen:
            assert f'<xacro:arg name="{option}"' in taken
        assert chosen['hardware'] == hardware
        assert chosen['controller'] == given['controller']
        for option in ('controllers', 'preset'):
            assert (ROOT / chosen[option].removeprefix('share/kane_dynamics/')).is_file()


def test_efforts_reach_the_joints_in_the_order_of_the_controller(launched):
    name, launch = launched
    for given, hardware in cases(name):
        wanted = ('kane_inverse_dynamics', 'kane_computed_torque')[hardware == 'gz']
        nodes = {node['executable']: node for node in launch.nodes(**given, source=wanted)}
        joints = controllers(given['robot'])[given['controller']][1]['joints']
        source = nodes.get(wanted)
        assert (source is not None) is (given['controller'] == 'effort_controller')
        if source is not None:
            assert fake_launch.parameters(source)['command_joints'] == joints
            assert source['remappings'] == [('~/commands', 'effort_controller/commands')]
            alone = fake_launch.parameters(source).get('joint_topics', False)
            assert alone is (hardware == 'joint_force')
        else:
            filler = nodes['kane_trajectory_feedforward']
            assert fake_launch.parameters(filler)['controller'] == given['controller']
            moved = 'cmd_vel' if name == 'ros2_control' else 'base_controller/cmd_vel'
            assert filler['remappings'] == [('cmd_vel', moved)]
        if name == 'ros2_control':
            simulator = fake_launch.parameters(nodes['kane_simulator'])
            assert simulator['hardware_joints'] == joints
            assert simulator['brakes'] is True
            driven = 'effort' if source is not None else 'velocity'
            assert simulator['base.command_interface'] == driven


def test_simulator_and_hardware_share_their_topics(monkeypatch, described):
    fake_launch.install(monkeypatch)
    module = runpy.run_path(str(ROOT / 'launch' / 'ros2_control.launch.py'))
    launch = fake_launch.Described(module['generate_launch_description']())
    (simulator,) = (n for n in launch.nodes() if n['executable'] == 'kane_simulator')
    hardware = ElementTree.fromstring(described('nonholonomic', 'topic'))
    topics = {p.get('name'): p.text for p in hardware.findall('ros2_control/hardware/param')}
    remapped = dict(simulator['remappings'])
    assert topics['joint_states_topic'] == '/' + remapped['joint_states']
    source = (ROOT / 'kane_dynamics' / 'ros' / 'simulator_node.py').read_text()
    assert f"'{topics['joint_commands_topic'].removeprefix('/')}'" in source
    # only one robot_description, that with the ros2_control block, reaches the manager
    assert remapped['robot_description'] != 'robot_description'


def test_gazebo_is_started_with_the_model_of_the_bridges(monkeypatch):
    fake_launch.install(monkeypatch)
    module = runpy.run_path(str(ROOT / 'launch' / 'gazebo.launch.py'))
    launch = fake_launch.Described(module['generate_launch_description']())
    for gui, server in (('true', ''), ('false', '-s ')):
        ((file, given),) = launch.includes(gui=gui)
        assert file == 'share/ros_gz_sim/launch/gz_sim.launch.py'
        assert set(given) == facts.GZ_SIM_ARGUMENTS
        assert given['gz_args'] == f'-r {server}empty.sdf'
    for given, hardware in cases('gazebo'):
        nodes = launch.nodes(**given)
        (create,) = (node for node in nodes if node['executable'] == 'create')
        assert create['arguments'][:4] == ['-topic', 'robot_description', '-name', given['robot']]
        files = [
            fake_launch.parameters(node)['config_file']
            for node in nodes
            if node['executable'] == 'parameter_bridge'
        ]
        assert len(files) == 1 + (hardware == 'joint_force')
        for file in files:
            assert (ROOT / file.removeprefix('share/kane_dynamics/')).is_file()
            assert file.rpartition('/')[2].startswith(given['robot'])
    with pytest.raises(InvalidInputError, match='joint_force has no controllers'):
        launch.nodes(hardware='joint_force', controller='arm_controller')


def test_what_has_to_end_may_end_but_not_fail(monkeypatch):
    launching = fake_launch.install(monkeypatch)
    running = SimpleNamespace(is_shutdown=False)
    good, bad = (SimpleNamespace(process_name='spawner-1', returncode=n) for n in (0, 1))
    assert launching.end_failed(good, running) is None
    with pytest.raises(RuntimeError, match='spawner-1 ended with exit code 1'):
        launching.end_failed(bad, running)
    assert launching.end_failed(bad, SimpleNamespace(is_shutdown=True)) is None
