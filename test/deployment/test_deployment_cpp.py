# SPDX-License-Identifier: Apache-2.0
"""kane_dynamics_cpp: a robot's library from C++; test/ros2_control has its controller."""

import re
import shutil
import subprocess
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
import yaml
from numpy.testing import assert_allclose

import kane_dynamics as kd
from kane_dynamics import cli
from kane_dynamics.analysis.momentum_observer import MomentumObserver
from kane_dynamics.constraints.constraint_set import ConstraintSet
from kane_dynamics.deployment.controllers import (
    NEEDED,
    controller_problem,
    write_controllers,
    write_cpp_package,
)
from kane_dynamics.deployment.core import Plan, reference_speeds, write_core
from kane_dynamics.robot_config.robot_source import model_of_file

STRICT = ['-std=c++17', '-Wall', '-Wextra', '-Werror', '-pedantic']
CLOSE = {'rtol': 1e-12, 'atol': 1e-12}


@pytest.fixture(scope='module')
def program(tmp_path_factory):
    """Return a program that calls a library through kane_dynamics::RobotLibrary."""
    if shutil.which('g++') is None:
        pytest.skip('NO C++ COMPILER: g++ is not installed')
    found = find_spec('casadi')  # its wheels have Eigen's headers
    eigen = Path(found.origin).parent / 'include' / 'eigen3'
    if not (eigen / 'Eigen' / 'Core').is_file():
        pytest.skip('NO EIGEN: kane_dynamics_cpp is not compiled')
    folder = tmp_path_factory.mktemp('program')
    package = write_cpp_package(folder)
    files = [package / 'src' / 'robot_library.cpp', Path(__file__).parent / 'library_harness.cpp']
    paths = [f'-I{package / "include"}', '-isystem', eigen]
    command = ['g++', *STRICT, *paths, *files, '-o', folder / 'program', '-ldl']
    subprocess.run(command, check=True)
    return folder / 'program'


def called(program, library, *numbers):
    """Return the rows of numbers that the program prints."""
    words = [repr(float(x)) for x in np.concatenate([np.ravel(x) for x in numbers])]
    done = subprocess.run([program, library, *words], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return [np.array([float(x) for x in line.split()]) for line in done.stdout.splitlines()]


def test_functions_on_wheels(program, mobile, rng):
    plan, fast = mobile.plan, mobile.fast
    q, v, a, tau = rng.uniform(-1.0, 1.0, (4, plan.robot.nv))
    gain, h = 40.0, 1e-3
    q2, v2 = q + h * v, v + h * a
    rows = called(program, mobile.folder / 'libmobile_arm.so', q, v, a, q2, v2, tau, gain, h)

    def efforts(q, v, a):
        return fast.constrained_inverse_dynamics(q, v, a, plan.actuated, known=plan.known).effort

    assert_allclose(rows[0], efforts(q, v, a), **CLOSE)
    assert_allclose(rows[1], fast.mass_matrix(q).ravel(), **CLOSE)
    assert_allclose(rows[2], fast.bias_force(q, v), **CLOSE)
    assert_allclose(rows[3], fast.gravity_force(q), **CLOSE)
    assert_allclose(rows[4], fast.friction_force(v), **CLOSE)
    middle = efforts(0.5 * (q + q2), 0.5 * (v + v2), (v2 - v) / h)
    assert_allclose(rows[5], (1.0 - np.exp(-gain * h)) * (middle - tau), rtol=1e-9, atol=1e-9)
    twist = np.array([0.3, -0.2, 0.5])
    x, y, turn = followed = (1.0 - np.exp(-0.01 / 0.2)) * twist
    assert_allclose(rows[7], followed, **CLOSE)
    # the axes of the base turn with it: d/dt (R v) at yaw 0
    assert_allclose(rows[8], (twist - followed) / 0.2 + [-turn * y, turn * x, 0.0], **CLOSE)
    fast.set_gravity([0.0, 0.0, 5.0])
    try:
        assert_allclose(rows[6], efforts(q, v, a), **CLOSE)
    finally:
        fast.set_gravity(plan.robot.gravity)


def test_functions_without_constraints_and_the_observer_of_python(program, tmp_path, rng):
    robot = kd.serial_chain(3)
    rows, names = ConstraintSet.of(robot, ()), robot.joint_names
    plan = Plan(robot, rows, 'chain', names, functions=NEEDED, cpu='generic')
    assert controller_problem(plan, write_core(plan, tmp_path)) == ''
    q, v, a, tau = rng.uniform(-1.0, 1.0, (4, 3))
    gain, h = 30.0, 1e-5
    q2, v2 = kd.integrate(robot, q, v + 0.5 * h * a, h), v + h * a
    found = called(program, tmp_path / 'libchain.so', q, v, a, q2, v2, tau, gain, h)
    assert_allclose(found[0], kd.inverse_dynamics(robot, q, v, a), **CLOSE)
    observer = MomentumObserver(kd.dynamics(robot), gain)
    observer.update(q, v, tau, h)
    # a step of the momentum less the impressed efforts: the same to second order in h
    assert_allclose(found[5], observer.update(q2, v2, tau, h), rtol=1e-6)
    assert np.abs(found[5]).max() > 1e-4


def test_what_is_no_library_is_refused_with_a_reason(program, compiler, tmp_path):
    source = tmp_path / 'other.c'
    source.write_text('int other(void) { return 1; }\n', encoding='utf-8')
    other = tmp_path / 'libother.so'
    subprocess.run(['cc', '-shared', '-fPIC', '-o', other, source], check=True)
    for path, reason in ((tmp_path / 'none.so', 'none.so'), (other, 'kane_dynamics_describe')):
        done = subprocess.run([program, path], capture_output=True, text=True)
        assert done.returncode == 3
        assert reason in done.stderr


def test_controller_parameters(mobile, tmp_path):
    file = write_controllers(mobile.plan, tmp_path)
    text = (tmp_path / file).read_text()
    content = yaml.safe_load(text)
    plugin = content['controller_manager']['ros__parameters']['mobile_arm_effort_controller']
    assert plugin == {'type': 'kane_dynamics/EffortController'}
    chosen = content['mobile_arm_effort_controller']['ros__parameters']
    assert chosen['gravity'] == [0.0, 0.0, -9.81]
    assert chosen['joints'] == list(mobile.plan.motors) == list(chosen['gains'])
    assert chosen['robot_library'].endswith('/libmobile_arm.so')
    carrying = replace(mobile.plan, payloads=('tool_link',))
    file = write_controllers(carrying, tmp_path)
    chosen = yaml.safe_load((tmp_path / file).read_text())['mobile_arm_effort_controller']
    assert chosen['ros__parameters']['payload_frames'] == ['tool_link']


def test_a_base_driven_by_velocity_takes_its_own_velocity(mobile):
    model = model_of_file('nonholonomic')
    assert reference_speeds(model) == tuple(model.robot.velocity_names[3:])
    wheels = tuple(name for name in model.motors if name.startswith('wheel'))
    driven = replace(
        model, drives=wheels, motors=tuple(n for n in model.motors if n not in wheels)
    )
    base = 'base_x', 'base_y', 'base_yaw'
    assert reference_speeds(driven) == (*base, *driven.motors)
    arm = replace(mobile.plan, known=reference_speeds(driven), commanded=driven.motors)
    assert arm.motors == driven.motors
    assert not arm.rows_bind_motors  # the wheels have rows, the arm has none
    assert mobile.plan.rows_bind_motors
    assert replace(arm, known=driven.motors).rows_bind_motors  # by the motion of the base
    assert replace(arm, known=(*base, *driven.motors[:-1])).rows_bind_motors  # of a link
    lock = kd.constraints.lock(arm.robot, driven.motors[0])
    assert replace(arm, constraints=ConstraintSet.of(arm.robot, (lock,))).rows_bind_motors


def test_robots_without_a_controller(mobile):
    plan, functions = mobile.plan, mobile.functions
    assert 'needs motor_efforts' in controller_problem(plan, NEEDED)
    free = replace(plan, constraints=ConstraintSet.of(plan.robot, ()))
    assert controller_problem(free, NEEDED) == ''
    pushed = replace(free, actuated=('base_x', *plan.actuated))
    assert controller_problem(pushed, NEEDED).startswith('base_x are no joints')
    ball = kd.load_urdf(plan.urdf, base='floating')
    floating = Plan(ball, ConstraintSet.of(ball, ()), 'floating', plan.actuated)
    assert 'more than one degree of freedom' in controller_problem(floating, functions)


def test_the_command_writes_a_library(compiler, tmp_path, capsys):
    files = {'x.h', 'x.c', 'x.py', 'libx.so', 'kernels.o', 'kane_dynamics_robot.h'}
    arguments = ['build', 'nonholonomic', '--output', str(tmp_path), '--name', 'x']
    assert cli.main([*arguments, '--functions', 'gravity_force', '--frames', 'tool_link']) == 0
    assert {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob('*.*')} == files
    said = ' '.join(capsys.readouterr().out.split())
    assert 'no controller: the controller needs inverse_dynamics, bias_force' in said
    assert cli.main([*arguments, '--payloads', 'elbow']) == 1
    assert "no frame named 'elbow'" in capsys.readouterr().err


def test_the_command_writes_the_package_that_loads_any_robot(tmp_path, capsys):
    assert cli.main(['build', '--cpp', '--output', str(tmp_path)]) == 0
    package = tmp_path / 'kane_dynamics_cpp'
    for place in ('package.xml', 'CMakeLists.txt', 'controller_plugins.xml', 'src', 'include'):
        assert (package / place).exists()
    catkin_pkg = pytest.importorskip('catkin_pkg.package')
    warnings = []
    manifest = catkin_pkg.parse_package(package / 'package.xml', warnings=warnings)
    assert warnings == []
    cmake = (package / 'CMakeLists.txt').read_text()
    needed = {name for name in re.findall(r'find_package\((\w+)', cmake)} - {'Eigen3'}
    depends = {one.name for one in (*manifest.buildtool_depends, *manifest.build_depends)}
    assert needed | {'eigen'} == depends
    assert cli.main(['build']) == cli.main(['build', 'nonholonomic', '--cpp']) == 1
