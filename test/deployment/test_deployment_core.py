# SPDX-License-Identifier: Apache-2.0
"""The C library of a robot is the in-process engine: numbers, refusals, threads, stamps."""

import ctypes
import hashlib
import importlib.util
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import kane_dynamics as kd
from kane_dynamics.constraints.constraint_set import ConstraintSet
from kane_dynamics.deployment.code_generation import c_string, supported, target_of
from kane_dynamics.deployment.core import Plan, identifier, write_core
from kane_dynamics.deployment.functions import makers
from kane_dynamics.exceptions import (
    InvalidInputError,
    MissingPackageError,
    NameNotFoundError,
    NotFingerprintableError,
)

# The same graphs by the same compiler for the same processor: what fused products may differ in.
SAME = {'rtol': 0.0, 'atol': 1e-12}
C_PROGRAM = r"""
#include <stdio.h>
#include "mobile_arm.h"
#define N MOBILE_ARM_NV
int main(void) {
  double x[3 * N], tau[N], bias[N], g[N], f[N], M[N * N], acc[N], t = 0.0;
  double effort[N], lambda[MOBILE_ARM_ROWS], v[N], a[N], quality[3];
  if (MOBILE_ARM_CHECK() != MOBILE_ARM_OK) return 2;
  while (fread(x, sizeof(double), 3 * N, stdin) == 3 * N) {
    if (mobile_arm_inverse_dynamics(x, x + N, x + 2 * N, NULL, tau)) return 3;
    if (mobile_arm_bias_force(x, x + N, NULL, bias)) return 3;
    if (mobile_arm_gravity_force(x, NULL, g)) return 3;
    if (mobile_arm_friction_force(x + N, NULL, f)) return 3;
    if (mobile_arm_mass_matrix(x, mobile_arm_default_parameters(), M)) return 3;
    if (mobile_arm_forward_dynamics(x, x + N, x + 2 * N, NULL, acc)) return 3;
    if (mobile_arm_motor_efforts(x, x + N, x + 2 * N, &t, NULL, effort, lambda, v, a, quality))
      return 3;
    fwrite(tau, sizeof(double), N, stdout);
    fwrite(bias, sizeof(double), N, stdout);
    fwrite(g, sizeof(double), N, stdout);
    fwrite(f, sizeof(double), N, stdout);
    fwrite(M, sizeof(double), N * N, stdout);
    fwrite(acc, sizeof(double), N, stdout);
    fwrite(effort, sizeof(double), N, stdout);
  }
  return 0;
}
"""
NUMPY_ALONE = """
import sys
class Wall:
    def find_spec(self, name, path=None, target=None):
        allowed = sys.stdlib_module_names | {'numpy', 'mobile_arm'}
        if name.split('.')[0] not in allowed and not name.startswith('_'):
            raise ImportError(f'there is no {name} here')
sys.meta_path.insert(0, Wall())
import numpy as np
import mobile_arm
robot = mobile_arm.Robot()
states = np.load(sys.argv[1])
np.save(sys.argv[2], [robot.inverse_dynamics(q, v, a) for q, v, a in states])
refused = 0
try:
    import casadi
except ImportError:
    refused += 1
foreign = {'kane_dynamics', 'casadi', 'llvmlite', 'scipy', 'quaternion'} & set(sys.modules)
sys.exit(0 if refused and not foreign else 4)
"""


def loader(folder, name):
    """Import the loader of a library."""
    spec = importlib.util.spec_from_file_location(f'{name}_loader', folder / f'{name}.py')
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope='module')
def states(mobile):
    """Return q, v, a in general position, shape (20, 3, nv)."""
    return np.random.default_rng(3).uniform(-2.0, 2.0, (20, 3, mobile.plan.robot.nv))


def motors(mobile, q, v, a):
    plan = mobile.plan
    return mobile.fast.constrained_inverse_dynamics(q, v, a, plan.actuated, known=plan.known)


def test_a_c_program_gets_the_numbers_of_the_engine(mobile, states, tmp_path):
    (tmp_path / 'main.c').write_text(C_PROGRAM)
    strict = ['-std=c99', '-Wall', '-Wextra', '-Werror', '-pedantic', f'-I{mobile.folder}']
    link = [f'-L{mobile.folder}', f'-Wl,-rpath,{mobile.folder}', '-lmobile_arm']
    subprocess.run(['gcc', *strict, 'main.c', '-o', 'main', *link], cwd=tmp_path, check=True)
    done = subprocess.run(
        [tmp_path / 'main'], input=states.tobytes(), capture_output=True, check=True
    )
    nv, fast = mobile.plan.robot.nv, mobile.fast
    rows = np.frombuffer(done.stdout).reshape(len(states), -1)
    for (q, v, a), row in zip(states, rows, strict=True):
        expected = np.concatenate(
            [
                fast.inverse_dynamics(q, v, a),
                fast.bias_force(q, v),
                fast.gravity_force(q),
                fast.friction_force(v),
                fast.mass_matrix(q).ravel(),
                fast.acceleration(q, v, a),
                motors(mobile, q, v, a).effort,
            ]
        )
        assert np.abs(expected[:nv]).max() > 1.0  # of a robot that moves
        # relative to the largest effort of a state: accelerations here reach 1e4 rad/s^2
        assert_allclose(row / np.abs(expected).max(), expected / np.abs(expected).max(), **SAME)


def test_an_interpreter_with_numpy_alone_gets_the_numbers_of_the_engine(mobile, states, tmp_path):
    np.save(tmp_path / 'states.npy', states)
    command = [sys.executable, '-c', NUMPY_ALONE, tmp_path / 'states.npy', tmp_path / 'out.npy']
    subprocess.run(command, env={'PYTHONPATH': str(mobile.folder)}, check=True)
    expected = [mobile.fast.inverse_dynamics(*state) for state in states]
    assert_allclose(np.load(tmp_path / 'out.npy'), expected, **SAME)


def test_the_loader_has_every_function(mobile, states):
    robot = loader(mobile.folder, 'mobile_arm').Robot()
    (q, v, a), fast = states[0], mobile.fast
    found = robot.motor_efforts(q, v, a, 0.0)
    expected = motors(mobile, q, v, a)
    for name in ('effort', 'multipliers', 'velocity', 'acceleration'):
        assert_allclose(found[name], getattr(expected, name), rtol=1e-12, atol=1e-12)
    quality = expected.rank, expected.residual, expected.velocity_residual
    assert_allclose(found['quality'], quality, **SAME)
    rows = robot.constraint_rows(q, v, 0.0)
    assert_allclose(rows['A'], fast.constraint_rows(q, v).matrix, **SAME)
    assert_allclose(rows['b'], fast.constraint_rows(q, v).acceleration, **SAME)
    reference = kd.dynamics(mobile.plan.robot, frames=mobile.plan.frames)
    assert_allclose(robot.frame_poses(q)[0], reference.frame_pose('tool_link', q), **SAME)
    assert_allclose(robot.frame_jacobians(q)[0], reference.frame_jacobian('tool_link', q), **SAME)
    assert set(mobile.functions) == {
        *('inverse_dynamics', 'bias_force', 'gravity_force', 'friction_force', 'mass_matrix'),
        *('forward_dynamics', 'motor_efforts', 'constraint_rows', 'frame_poses'),
        'frame_jacobians',
    }


def test_gravity_is_set_without_a_compiler(mobile, states):
    robot = loader(mobile.folder, 'mobile_arm').Robot()
    q = states[0, 0]
    assert_array_equal(robot.parameters[:3], (0.0, 0.0, -9.81))
    robot.parameters[:3] = (1.0, -2.0, 1.6)
    mobile.fast.set_gravity((1.0, -2.0, 1.6))
    moon = mobile.fast.gravity_force(q)
    mobile.fast.set_gravity((0.0, 0.0, -9.81))
    assert_allclose(robot.gravity_force(q), moon, **SAME)
    robot.parameters[1] = np.nan
    with pytest.raises(Exception, match='gravity_force: no certain answer'):
        robot.gravity_force(q)


def test_payloads_are_set_without_a_compiler(four_bar, rng):
    module = loader(four_bar.folder, 'four_bar')
    robot, plan = module.Robot(), four_bar.plan
    carrying = kd.dynamics(plan.robot, plan.constraints)
    carrying.set_gravity((0.5, -9.0, 1.0))
    rows = []
    for frame in plan.payloads:  # two frames of one body
        mass, com, root = rng.uniform(1, 3), rng.uniform(-0.2, 0.2, 3), rng.uniform(-1, 1, (3, 3))
        spread = root @ root.T
        inertia = np.trace(spread) * np.eye(3) - spread
        carrying.set_payload(frame, mass, com, inertia)
        rows.append([mass, *com, *inertia[np.triu_indices(3)]])
    robot.parameters = robot.load((0.5, -9.0, 1.0), rows)
    # roundoff of two ways to add inertias up; efforts of up to 60 N m
    expected = carrying.gravity_force(four_bar.q)
    assert_allclose(robot.gravity_force(four_bar.q), expected, rtol=0, atol=1e-12)
    tau = np.array([0.1, 0.2, 0.3, 0.4])
    found = robot.forward_dynamics(four_bar.q, four_bar.v, tau)
    expected = carrying.acceleration(four_bar.q, four_bar.v, tau)
    assert_allclose(found, expected, rtol=0, atol=1e-9)
    bare = module.Robot().parameters
    empty = robot.load((0.0, 0.0, -9.81), np.zeros((2, 10)))
    assert_allclose(empty[3:], bare[3:], rtol=0, atol=1e-15)
    with pytest.raises(module.NoAnswerError):
        robot.load((0, 0, 0), [-1.0, *np.zeros(19)])


@pytest.mark.parametrize('bad', [np.nan, np.inf, 1e14])
def test_inputs_without_an_answer_are_refused(bad, mobile, states):
    module = loader(mobile.folder, 'mobile_arm')
    robot, (q, v, a) = module.Robot(), states[0].copy()
    q[0] = bad  # of the planar base, which M does not depend on
    with pytest.raises(module.NoAnswerError):
        robot.mass_matrix(q)
    with pytest.raises(module.NoAnswerError):
        robot.motor_efforts(q, v, a, 0.0)


def test_where_rows_depend_on_each_other_there_are_the_numbers_of_the_reference(four_bar):
    """Regression: C had no answer at the dead centre, nor in 9 of 20 states of a swerve base."""
    module = loader(four_bar.folder, 'four_bar')
    robot, tau = module.Robot(), np.array([0.1, 0.2, 0.3, 0.4])
    found = robot.forward_dynamics(four_bar.q, four_bar.v, tau)
    plan = four_bar.plan
    motion = kd.forward_dynamics(plan.robot, four_bar.q, four_bar.v, tau, plan.constraints)
    # roundoff of two ways to the same accelerations, of up to 40 rad/s^2
    assert_allclose(found, motion.acceleration, rtol=0, atol=1e-9)
    # at the dead centre rank is 2, of 3
    stretched, at_rest = np.zeros(4), np.zeros(4)
    motion = kd.forward_dynamics(plan.robot, stretched, at_rest, tau, plan.constraints)
    assert motion.rank == 2
    found = robot.forward_dynamics(stretched, at_rest, tau)
    assert_allclose(found, motion.acceleration, rtol=0, atol=1e-9)


def test_where_there_is_no_answer_there_is_a_status_and_no_number(four_bar):
    module = loader(four_bar.folder, 'four_bar')
    robot, tau, at_rest = module.Robot(), np.full(4, np.nan), np.zeros(4)
    with pytest.raises(module.NoAnswerError):
        robot.forward_dynamics(four_bar.q, at_rest, tau)
    out = np.ones(4)
    places = [x.ctypes.data for x in (four_bar.q, at_rest, tau)]
    call = robot._library.four_bar_forward_dynamics
    status = call(*map(ctypes.c_void_p, [*places, None, out.ctypes.data]))
    assert status == 1
    assert np.isnan(out).all()


def test_threads_do_not_meet(mobile):
    robot = loader(mobile.folder, 'mobile_arm').Robot()
    nv = mobile.plan.robot.nv
    states = np.random.default_rng(8).uniform(-2.0, 2.0, (400, 3, nv))

    def work(state):
        return [robot.inverse_dynamics(*state), robot.motor_efforts(*state, 0.0)['effort']]

    alone = [work(state) for state in states]
    with ThreadPoolExecutor(8) as pool:
        assert_array_equal(list(pool.map(work, states)), alone)


def test_nothing_but_the_c_library_is_needed_and_nothing_is_kept(mobile):
    listing = subprocess.run(
        ['nm', mobile.folder / 'kernels.o'], capture_output=True, text=True, check=True
    )
    symbols = [line.split()[-2:] for line in listing.stdout.splitlines()]
    assert {kind for kind, _ in symbols} <= {'T', 't', 'r', 'R', 'U'}  # no data that is written
    missing = {name for kind, name in symbols if kind == 'U'}
    assert missing <= {'memset', 'memcpy', 'fma', 'rint', 'floor', 'sin', 'cos', 'tan', 'atan2'}
    listing = subprocess.run(
        ['nm', '-D', '--defined-only', mobile.folder / 'libmobile_arm.so'],
        capture_output=True,
        text=True,
        check=True,
    )
    exported = {line.split()[-1] for line in listing.stdout.splitlines()}
    assert {f'mobile_arm_{name}' for name in mobile.functions} < exported
    others = [name for name in exported if not name.startswith('mobile_arm_')]
    assert others == ['kane_dynamics_describe']  # of what loads any robot
    assert not [name for name in exported if name.endswith('_kernel')]


def test_stamps(mobile):
    module = loader(mobile.folder, 'mobile_arm')
    library = module.Robot()._library
    text = mobile.plan.urdf.encode()
    library.mobile_arm_urdf_sha256.restype = module.ctypes.c_char_p
    assert library.mobile_arm_urdf_sha256().decode() == hashlib.sha256(text).hexdigest()
    names = library.mobile_arm_velocity_names
    names.restype = module.ctypes.POINTER(module.ctypes.c_char_p)
    found = names()[: mobile.plan.robot.nv + 1]
    assert [x and x.decode() for x in found] == [*mobile.plan.robot.velocity_names, None]
    assert module.VELOCITY_NAMES == mobile.plan.robot.velocity_names
    assert module.ROW_NAMES == mobile.plan.constraints.labels


def test_a_loader_refuses_another_library(mobile, tmp_path):
    text = (mobile.folder / 'mobile_arm.py').read_text()
    (tmp_path / 'mobile_arm.py').write_text(text.replace(mobile.plan.fingerprint(), '0' * 64))
    module = loader(tmp_path, 'mobile_arm')
    with pytest.raises(OSError, match='another robot'):
        module.Robot(mobile.folder / 'libmobile_arm.so')
    with pytest.raises(ValueError, match='inverse_dynamics: v: need 10 numbers, got 3'):
        loader(mobile.folder, 'mobile_arm').Robot().inverse_dynamics(
            np.zeros(10), np.zeros(3), np.zeros(10)
        )


def test_the_header_is_c_plus_plus_too(mobile):
    if subprocess.run(['which', 'g++'], capture_output=True, check=False).returncode:
        pytest.skip('NO C++ COMPILER: the header is not tried as C++')
    header = mobile.folder / 'mobile_arm.h'
    subprocess.run(['g++', '-Wall', '-Werror', '-fsyntax-only', '-x', 'c++', header], check=True)


def test_mistakes(mobile, tmp_path, monkeypatch):
    plan = mobile.plan
    with pytest.raises(InvalidInputError, match='name: need lower-case'):
        Plan(plan.robot, plan.constraints, 'Mobile-Arm', plan.actuated)
    with pytest.raises(NameNotFoundError, match='no function named'):
        write_core(Plan(plan.robot, plan.constraints, 'x', (), functions=('dance',)), tmp_path)
    free = type(plan.constraints).of(plan.robot, ())
    with pytest.raises(InvalidInputError, match="no machine code of 'motor_efforts'"):
        write_core(Plan(plan.robot, free, 'x', (), functions=('motor_efforts',)), tmp_path)
    with pytest.raises(InvalidInputError, match='cpu: need one of'):
        target_of('68000')
    monkeypatch.setenv('CC', 'no-such-compiler')
    with pytest.raises(MissingPackageError, match='needs a C compiler'):
        write_core(plan, tmp_path)
    monkeypatch.setenv('CC', 'false')
    one = Plan(plan.robot, free, 'x', (), functions=('friction_force',))
    with pytest.raises(InvalidInputError, match='false -r -nostdlib .* failed'):
        write_core(one, tmp_path)


def test_code_for_any_processor_of_the_kind(mobile, states, tmp_path):
    plan = mobile.plan
    write_core(
        Plan(plan.robot, plan.constraints, 'any', (), functions=('bias_force',), cpu='generic'),
        tmp_path,
    )
    robot = loader(tmp_path, 'any').Robot()
    for q, v, _ in states:
        assert_allclose(robot.bias_force(q, v), mobile.fast.bias_force(q, v), **SAME)
    assert supported('generic') == '1'
    if target_of('native').triple.startswith('x86_64'):
        assert '"fma"' in supported('x86-64-v3')
        assert '"avx512f"' not in supported('x86-64-v3')


def test_names_in_c_come_from_the_robot():
    assert identifier('My Robot-2') == 'my_robot_2'
    assert identifier('7dof') == 'robot_7dof'
    assert identifier('Ärm') == 'rm'


def test_code_that_loops_over_bodies(compiler, tmp_path, rng):
    robot = kd.serial_chain(26)  # too large for straight-line code: no frames' J
    plan = Plan(robot, ConstraintSet.of(robot, ()), 'chain', (), cpu='generic')
    names = ('inverse_dynamics', 'gravity_force', 'forward_dynamics')
    assert set(names) < set(makers(plan.recipe(), (), None))
    with pytest.raises(
        InvalidInputError, match="no machine code of 'frame_jacobians'.* too large"
    ):
        write_core(replace(plan, functions=('frame_jacobians',)), tmp_path)
    write_core(replace(plan, functions=names), tmp_path)
    chain = loader(tmp_path, 'chain').Robot()
    q, v, a = rng.uniform(-1.0, 1.0, (3, robot.nv))
    tau = kd.inverse_dynamics(robot, q, v, a)
    size = np.abs(tau).max()
    assert_allclose(chain.inverse_dynamics(q, v, a) / size, tau / size, **SAME)
    assert_allclose(chain.gravity_force(q) / size, kd.gravity_force(robot, q) / size, **SAME)
    # M of 26 links in a row loses about six digits
    assert_allclose(chain.forward_dynamics(q, v, tau), a, rtol=0, atol=1e-8)
    listing = subprocess.run(
        ['nm', '-D', tmp_path / 'libchain.so'], capture_output=True, text=True, check=True
    )
    assert 'kernel' not in listing.stdout


def test_a_library_for_other_processors_is_refused(compiler, tmp_path, monkeypatch):
    monkeypatch.setattr('kane_dynamics.deployment.core.supported', lambda cpu: '0')
    robot = replace(kd.serial_chain(2), name='two "links" */ \\')  # as it stands in comments
    plan = Plan(robot, ConstraintSet.of(robot, ()), 'two', (), functions=('friction_force',))
    write_core(plan, tmp_path)
    with pytest.raises(OSError, match='made for native processors, which this one is not'):
        loader(tmp_path, 'two').Robot()


def test_names_are_quoted_for_c():
    assert c_string('left "arm" \\ 1') == '"left \\"arm\\" \\\\ 1"'


def test_rows_of_a_function_are_stamped_by_what_it_computes():
    robot = kd.serial_chain(2)

    def stamp(slope):
        row = kd.constraints.pfaffian(robot, lambda q, t: [[1.0, slope * q[0]]])
        rows = ConstraintSet.of(robot, [row])
        return Plan(robot, rows, 'two', (), functions=('friction_force',)).fingerprint()

    assert stamp(2.0) == stamp(2.0) != stamp(3.0)


def test_rows_that_cannot_be_traced_have_no_stamp():
    robot = kd.serial_chain(2)
    row = kd.constraints.pfaffian(robot, lambda q, t: [[1.0, 1.0 if q[0] > 0.0 else 2.0]])
    rows = ConstraintSet.of(robot, [row])
    with pytest.raises(NotFingerprintableError):
        Plan(robot, rows, 'two', (), functions=('friction_force',)).fingerprint()
