# SPDX-License-Identifier: Apache-2.0
"""CasADi functions and C code: names, numbers, derivatives, and a real C compiler."""

import ctypes
import shutil
import subprocess

import casadi as ca
import numpy as np
import pytest
from kernel_cases import CASES, FUNCTIONS, error, reference, reference_poses
from support.calculus import derivative
from support.machines import four_bar_coordinates, planar_2r

import kane_dynamics as kd
from kane_dynamics.compiler.export import casadi_function, export_c
from kane_dynamics.exceptions import NameNotFoundError

COMPILER = shutil.which('gcc') or shutil.which('cc') or shutil.which('clang')
NEEDS_COMPILER = pytest.mark.skipif(COMPILER is None, reason='no C compiler on this machine')
AGREEMENT = 1e-10
MOTION = 'acceleration multipliers constraint_force residual'.split()
MOTION += ['velocity_violation', 'position_violation']


@pytest.mark.parametrize('name', ['sled', 'floating_tree'])
class TestCasadiFunction:
    """The functions by name."""

    @pytest.mark.parametrize('function', FUNCTIONS)
    def test_names_and_values(self, name, function, rng):
        case = CASES[name]()
        graph = casadi_function(case.robot, function)
        assert graph.name() == function
        assert graph.name_in() == list(FUNCTIONS[function])
        assert graph.name_out() == [function]
        state = case.state(rng)
        values = {'q': state[0], 'v': state[1], 'a': state[2]}
        expected = np.asarray(reference(case, function, *state))
        result = np.array(graph(*[values[x] for x in FUNCTIONS[function]]))
        assert error(result.reshape(expected.shape), expected) < AGREEMENT

    def test_frame_poses(self, name, rng):
        case = CASES[name]()
        links = [body.name for body in case.robot.bodies][::-1]
        graph = casadi_function(case.robot, 'frame_poses', frames=links)
        q = case.state(rng)[0]
        assert error(np.array(graph(q)), reference_poses(case.robot, links, q)) < AGREEMENT

    def test_forward_dynamics_and_motion(self, name, rng):
        case = CASES[name]()
        q, v, tau = case.state(rng)
        expected = kd.forward_dynamics(case.robot, q, v, tau, case.constraints)
        graph = casadi_function(case.robot, 'forward_dynamics', case.constraints)
        assert graph.name_in() == ['q', 'v', 'tau']
        assert error(np.array(graph(q, v, tau)).ravel(), expected.acceleration) < AGREEMENT
        motion = casadi_function(case.robot, 'motion', case.constraints)
        assert motion.name_out() == MOTION
        by_name = motion(q=q, v=v, tau=tau)
        assert error(np.array(by_name['multipliers']).ravel(), expected.multipliers) < AGREEMENT
        force = np.array(by_name['constraint_force']).ravel()
        assert error(force, expected.constraint_force) < AGREEMENT


def test_derivatives_of_a_function(rng):
    case = CASES['sled']()
    graph = casadi_function(case.robot, 'forward_dynamics', case.constraints)
    q, v, tau = case.state(rng)
    jacobians = graph.factory('jacobians', ['q', 'v', 'tau'], [
        'jac:forward_dynamics:q', 'jac:forward_dynamics:v', 'jac:forward_dynamics:tau',
    ])  # fmt: skip
    got = [np.array(part) for part in jacobians(q, v, tau)]
    state = [q, v, tau]

    def moved(k, direction, s):
        inputs = [x + s * direction if i == k else x for i, x in enumerate(state)]
        return np.array(graph(*inputs)).ravel()

    for k, jacobian in enumerate(got):
        for column, unit in enumerate(np.eye(5)):
            expected = derivative(lambda s, k=k, unit=unit: moved(k, unit, s))
            assert error(jacobian[:, column], expected) < 1e-8


def test_functions_may_be_part_of_larger_graphs():
    # as acados and multiple shooting use them
    case = CASES['planar_2r']()
    graph = casadi_function(case.robot, 'inverse_dynamics')
    q, v, a = (ca.MX.sym(name, 2) for name in 'qva')
    cost = ca.Function('cost', [q, v, a], [ca.sumsqr(graph(q, v, a))])
    state = np.array([0.3, -0.4]), np.array([0.5, 0.6]), np.array([0.7, 0.8])
    expected = np.sum(kd.inverse_dynamics(case.robot, *state) ** 2)
    assert float(cost(*state)) == pytest.approx(expected, rel=1e-14)


def test_time_among_the_inputs_where_constraints_need_it():
    robot = planar_2r()
    law = kd.constraints.pfaffian(robot, lambda q, t: [1.0, t], lambda q, t: np.sin(t))
    graph = casadi_function(robot, 'forward_dynamics', (law,))
    assert graph.name_in() == ['q', 'v', 'tau', 'time']
    q, v, tau = np.array([0.3, -0.4]), np.array([0.5, 0.6]), np.array([0.7, 0.8])
    expected = kd.forward_dynamics(robot, q, v, tau, (law,), time=0.9).acceleration
    assert error(np.array(graph(q, v, tau, 0.9)).ravel(), expected) < AGREEMENT


def test_redundant_rows_get_no_force():
    case = CASES['linkage']()
    motion = casadi_function(case.robot, 'motion', case.constraints)
    q, v = four_bar_coordinates(1.1), np.zeros(4)
    found = motion(q=q, v=v, tau=np.array([0.1, 0.2, 0.3, 0.4]))
    assert np.count_nonzero(np.array(found['multipliers'])) == 3
    assert np.abs(np.array(found['residual'])).max() < AGREEMENT


@pytest.mark.parametrize('use', [casadi_function, lambda *args: export_c(*args, '.')])
def test_unknown_names(use):
    with pytest.raises(NameNotFoundError, match="no function named 'dynamics'; there are") as e:
        use(planar_2r(), 'dynamics')
    assert 'inverse_dynamics' in e.value.available
    assert 'motion' in e.value.available


def test_unknown_frame():
    with pytest.raises(NameNotFoundError, match="no frame named 'hand'"):
        casadi_function(planar_2r(), 'frame_poses', frames=['c1', 'hand'])


def built(robot, name, folder, constraints=()):
    """Return the shared library of an exported function."""
    source, header = export_c(robot, name, folder, constraints)
    assert source == folder / f'{name}.c'
    assert header == folder / f'{name}.h'
    assert name in header.read_text()
    library = folder / f'{name}.so'
    command = [COMPILER, '-shared', '-fPIC', '-O1', str(source), '-o', str(library), '-lm']
    subprocess.run(command, check=True, capture_output=True)
    return library


@NEEDS_COMPILER
@pytest.mark.parametrize('name', ['inverse_dynamics', 'mass_matrix', 'forward_dynamics', 'motion'])
def test_exported_c(name, tmp_path, rng):
    case = CASES['sled']()
    library = built(case.robot, name, tmp_path, case.constraints)
    compiled = ca.external(name, str(library))
    graph = casadi_function(case.robot, name, case.constraints)
    assert compiled.name_in() == graph.name_in()
    assert compiled.name_out() == graph.name_out()
    inputs = case.state(rng)[: graph.n_in()]
    expected, got = graph.call(list(inputs)), compiled.call(list(inputs))
    for known, value in zip(expected, got, strict=True):
        assert error(np.array(value), np.array(known)) < 1e-12


@NEEDS_COMPILER
def test_exported_c_without_casadi(tmp_path):
    # as a controller in C calls it: f(arg, res, iw, w, mem)
    robot = planar_2r()
    library = ctypes.CDLL(str(built(robot, 'gravity_force', tmp_path)))
    sizes = [ctypes.c_longlong() for _ in range(4)]
    assert library.gravity_force_work(*[ctypes.byref(size) for size in sizes]) == 0
    n_arg, n_res, n_iw, n_w = (max(1, size.value) for size in sizes)
    q, tau = (ctypes.c_double * 2)(0.3, -0.4), (ctypes.c_double * 2)()
    arguments = (ctypes.POINTER(ctypes.c_double) * n_arg)()
    results = (ctypes.POINTER(ctypes.c_double) * n_res)()
    arguments[0] = ctypes.cast(q, ctypes.POINTER(ctypes.c_double))
    results[0] = ctypes.cast(tau, ctypes.POINTER(ctypes.c_double))
    work = (ctypes.c_longlong * n_iw)(), (ctypes.c_double * n_w)()
    assert library.gravity_force(arguments, results, *work, 0) == 0
    assert error(np.array(tau), kd.gravity_force(robot, [0.3, -0.4])) < 1e-14
