# SPDX-License-Identifier: Apache-2.0
"""The ROS 2 package around a library, compiled against stubs of ros2_control's headers."""

import ctypes
import re
import shutil
import subprocess
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
import yaml
from numpy.testing import assert_allclose, assert_array_equal

import kane_dynamics as kd
from kane_dynamics import cli
from kane_dynamics.constraints.constraint_set import ConstraintSet
from kane_dynamics.deployment.core import NEEDED, Plan, package_problem, write_core, write_package

STUBS = Path(__file__).resolve().parents[1] / 'data' / 'ros2_control_stubs'
STRICT = ['-std=c++17', '-Wall', '-Wextra', '-Werror', '-pedantic']
NAN = float('nan')
CMAKE_PACKAGES = (
    *('ament_cmake', 'controller_interface', 'hardware_interface', 'pluginlib', 'rclcpp'),
    *('rclcpp_lifecycle', 'inverse_dynamics_solver'),
)


@pytest.fixture(scope='module')
def package(mobile, tmp_path_factory):
    """Return the root of the package of the shipped robot on two wheels."""
    if shutil.which('g++') is None:
        pytest.skip('NO C++ COMPILER: g++ is not installed, no controller is compiled')
    root = tmp_path_factory.mktemp('package')
    assert package_problem(mobile.plan, mobile.functions) == ''
    assert write_package(mobile.plan, root) == 'mobile_arm_dynamics'
    shutil.copytree(mobile.folder, root / 'core')
    return root


def built(package, folder, source, harness, *options):
    """Compile a source of the package with its harness and return the program."""
    core = package / 'core'
    paths = [f'-I{package / "include"}', f'-I{core}', f'-I{STUBS}', *options]
    link = [f'-L{core}', f'-Wl,-rpath,{core}', '-lmobile_arm']
    files = [package / 'src' / source, STUBS / harness]
    command = ['g++', *STRICT, *paths, *files, '-o', folder / 'program', *link]
    subprocess.run(command, check=True)
    return folder / 'program'


def driven(package, folder):
    """Return a function: cases -> names of the interfaces, and status and commands of each."""
    program = built(package, folder, 'effort_controller.cpp', 'harness.cpp')

    def run(*cases):
        text = '\n'.join(' '.join(map(str, case)) for case in cases)
        done = subprocess.run([program], input=text, capture_output=True, text=True, check=True)
        lines = done.stdout.splitlines()
        numbers = np.array([[float(x) for x in line.split()] for line in lines[3:]])
        assert not numbers[:, 1].any()  # no update takes memory from the heap
        return [line.split() for line in lines[:3]], numbers[:, 0], numbers[:, 2:]

    return run


@pytest.fixture(scope='module')
def controller(package, tmp_path_factory):
    """Return what drives the controller of the robot on two wheels."""
    return driven(package, tmp_path_factory.mktemp('program'))


def efforts(mobile, q, v, a):
    """Return the motors' efforts by the engine; of all joints, the base follows."""
    plan = mobile.plan
    whole = [np.concatenate([np.zeros(3), x]) for x in (q, v, a)]
    found = mobile.fast.constrained_inverse_dynamics(*whole, plan.actuated, known=plan.known)
    return found.effort[3:]


@pytest.fixture
def motion(mobile, rng):
    """Return measured positions, and q, v, a of a reference, of the joints."""
    return rng.uniform(-1.0, 1.0, (4, mobile.plan.robot.nv - 3))


def test_interfaces(controller, mobile, motion):
    joints = mobile.plan.robot.velocity_names[3:]
    (commands, states, references), *_ = controller(('d',))
    assert commands == [f'{name}/effort' for name in joints]
    assert states == [f'{name}/position' for name in joints]
    assert references == [
        f'effort_controller/{name}/{kind}'
        for name in joints
        for kind in ('position', 'velocity', 'acceleration')
    ]


def test_commands_are_the_efforts_of_the_reference(controller, mobile, motion):
    measured, q, v, a = motion
    reference = np.column_stack([q, v, a]).ravel()
    _, status, commands = controller(('c', *measured, *reference))
    assert_array_equal(status, 0)
    assert np.abs(commands).max() > 1.0
    assert_allclose(commands[0], efforts(mobile, q, v, a), rtol=1e-12, atol=1e-12)


def test_without_a_reference_the_weight_is_held(controller, mobile, motion):
    measured, q, v, a = motion
    zero = np.zeros(len(q))
    nothing, all_of_it = [NAN] * 3 * len(q), np.column_stack([q, v, a]).ravel()
    _, status, commands = controller(
        ('c', *measured, *nothing),
        ('u', *measured, *all_of_it),  # nothing precedes it: what stands there does not count
    )
    assert_array_equal(status, 0)
    weight = efforts(mobile, measured, zero, zero)
    assert_allclose(commands, [weight, weight], rtol=1e-12, atol=1e-12)


def test_what_is_missing_of_one_joint_is_measured_or_zero(controller, mobile, motion):
    measured, q, v, a = motion
    reference = np.column_stack([q, v, a])
    reference[0, 0] = reference[1, 1] = reference[2, 2] = NAN
    _, _, commands = controller(('c', *measured, *reference.ravel()))
    q[0], v[1], a[2] = measured[0], 0.0, 0.0
    assert_allclose(commands[0], efforts(mobile, q, v, a), rtol=1e-12, atol=1e-12)


def test_a_value_that_is_being_written_stays_as_it_was(controller, motion):
    measured, q, v, a = motion
    reference = np.column_stack([q, v, a]).ravel()
    _, status, commands = controller(
        ('c', *measured, *reference), ('b', *measured, *(2.0 * reference))
    )
    assert_array_equal(status, 0)
    assert_array_equal(commands[1], commands[0])


def test_no_answer_is_an_error_and_deactivation_commands_zero(controller, motion):
    measured, q, v, a = motion
    reference = np.column_stack([q, v, a]).ravel()
    far = reference.copy()
    far[0] = 1e14
    unknown = measured.copy()
    unknown[0] = NAN
    _, status, commands = controller(
        ('c', *measured, *reference),
        ('c', *measured, *far),
        ('c', *unknown, *[NAN] * len(reference)),
        ('d',),
    )
    assert_array_equal(status, [0, 1, 1, 0])
    assert_array_equal(commands[1:3], [commands[0]] * 2)  # nothing was written
    assert_array_equal(commands[3], 0.0)


def test_a_robot_without_constraints(package, tmp_path, rng):
    robot = kd.serial_chain(3)
    rows, names = ConstraintSet.of(robot, ()), robot.joint_names
    plan = Plan(robot, rows, 'mobile_arm', names, functions=NEEDED, cpu='generic')
    (tmp_path / 'core').mkdir()
    assert package_problem(plan, write_core(plan, tmp_path / 'core')) == ''
    write_package(plan, tmp_path)
    q, v, a = rng.uniform(-1.0, 1.0, (3, 3))
    reference = np.column_stack([q, v, a]).ravel()
    _, status, commands = driven(tmp_path, tmp_path)(('c', *np.zeros(3), *reference))
    assert_array_equal(status, 0)
    assert_allclose(commands[0], kd.inverse_dynamics(robot, q, v, a), rtol=1e-12, atol=1e-12)


def test_the_solver(package, mobile, tmp_path, rng):
    found = find_spec('casadi')  # its wheels have Eigen's headers
    eigen = Path(found.origin).parent / 'include' / 'eigen3'
    if not (eigen / 'Eigen' / 'Core').is_file():
        pytest.skip('NO EIGEN: the solver is not compiled')
    program = built(package, tmp_path, 'solver.cpp', 'solver_harness.cpp', '-isystem', eigen)
    nv, fast = mobile.plan.robot.nv, mobile.fast
    q, v = rng.uniform(-1.0, 1.0, (2, nv))
    text = ' '.join(map(repr, [nv, *q.tolist(), *v.tolist()]))
    done = subprocess.run([program], input=text, capture_output=True, text=True, check=True)
    rows = np.array([[float(x) for x in line.split()] for line in done.stdout.splitlines()])
    gravity = fast.gravity_force(q)
    assert_allclose(rows[:nv], fast.mass_matrix(q), rtol=1e-12, atol=1e-12)
    # C v = (C v + g) - g: roundoff of g
    assert_allclose(rows[nv], fast.bias_force(q, v) - gravity, rtol=1e-12, atol=1e-12)
    assert_allclose(rows[nv + 1], gravity, rtol=1e-12, atol=1e-12)
    assert_allclose(rows[nv + 2], fast.friction_force(v), rtol=1e-12, atol=1e-12)


def test_plugins_are_described(package):
    for file, kind in (
        ('controller_plugins.xml', 'controller_interface::ChainableControllerInterface'),
        ('solver_plugins.xml', 'inverse_dynamics_solver::InverseDynamicsSolver'),
    ):
        one = ElementTree.parse(package / file).getroot().find('class')
        assert one.get('base_class_type') == kind
        assert one.get('type') == one.get('name').replace('/', '::')
        name = ElementTree.parse(package / file).getroot().get('path')
        text = (package / 'CMakeLists.txt').read_text()
        assert name.replace('mobile_arm_dynamics', 'add_library(${PROJECT_NAME}') in text
    catkin_pkg = pytest.importorskip('catkin_pkg.package')
    warnings = []
    manifest = catkin_pkg.parse_package(package / 'package.xml', warnings=warnings)
    assert warnings == []
    assert {one.name for one in manifest.buildtool_depends} == {'ament_cmake'}
    content = yaml.safe_load((package / 'config' / 'controllers.yaml').read_text())
    chosen = content['mobile_arm_effort_controller']['ros__parameters']
    assert chosen == {'gravity': [0.0, 0.0, -9.81]}


def test_drives_that_take_velocities_get_no_efforts(mobile, tmp_path):
    arm = tuple(name for name in mobile.plan.actuated if name.startswith('arm'))
    plan = replace(mobile.plan, commanded=arm)
    write_package(plan, tmp_path)
    text = (tmp_path / 'src' / 'effort_controller.cpp').read_text()
    (motors,) = [line for line in text.splitlines() if 'MOTORS{{' in line]
    assert re.findall(r'"(\w+)"', motors) == list(arm)
    (references,) = [line for line in text.splitlines() if 'REFERENCES{{' in line]
    assert '"wheel_left_joint"' in references
    pushed = replace(plan, constraints=ConstraintSet.of(plan.robot, ()), actuated=('base_x', *arm))
    assert package_problem(pushed, mobile.functions) == ''


def test_robots_without_a_package(mobile):
    plan, functions = mobile.plan, mobile.functions
    assert 'needs motor_efforts' in package_problem(plan, NEEDED)
    free = replace(plan, constraints=ConstraintSet.of(plan.robot, ()))
    assert package_problem(free, NEEDED) == ''
    pushed = replace(free, actuated=('base_x', *plan.actuated))
    assert package_problem(pushed, NEEDED).startswith('base_x are no joints')
    ball = kd.load_urdf(plan.urdf, base='floating')
    floating = Plan(ball, ConstraintSet.of(ball, ()), 'floating', plan.actuated)
    assert 'more than one degree of freedom' in package_problem(floating, functions)


def test_the_command_writes_a_package(compiler, tmp_path, capsys):
    files = {'core/x.h', 'core/x.c', 'core/x.py', 'core/libx.so', 'core/kernels.o'}
    arguments = ['build', 'nonholonomic', '--output', str(tmp_path), '--name', 'x']
    assert cli.main([*arguments, '--functions', 'gravity_force', '--frames', 'tool_link']) == 0
    assert {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob('*.*')} == files
    said = ' '.join(capsys.readouterr().out.split())
    assert 'no ROS 2 package: the package needs inverse_dynamics, bias_force' in said
    assert cli.main([*arguments, '--payloads', 'elbow']) == 1
    assert "no frame named 'elbow'" in capsys.readouterr().err


def test_cmake_makes_the_library(package, tmp_path):
    if shutil.which('cmake') is None:
        pytest.skip('NO CMAKE: CMakeLists.txt is not tried')
    folders = [f'-D{name}_DIR={STUBS / "cmake"}' for name in CMAKE_PACKAGES]
    configure = ['cmake', '-S', package, '-B', tmp_path, *folders, '-Wdev', '-Werror=dev']
    said = subprocess.run(configure, capture_output=True, text=True, check=True).stdout
    assert 'plugins of controller_interface: controller_plugins.xml' in said
    assert 'plugins of inverse_dynamics_solver: solver_plugins.xml' in said
    assert 'ament_package mobile_arm_dynamics' in said
    build = ['cmake', '--build', tmp_path, '--target', 'mobile_arm']
    subprocess.run(build, capture_output=True, check=True)
    library = ctypes.CDLL(str(tmp_path / 'libmobile_arm.so'))
    wrong_build = 3
    assert library.mobile_arm_check(b'another', 0, 0, 0, 0, 0) == wrong_build
