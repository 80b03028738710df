# SPDX-License-Identifier: Apache-2.0
"""LLVM IR of the graphs for GPUs: its numbers, on the processor, and what its PTX takes."""

import casadi as ca
import kernel_cases
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from support import cuda

import kane_dynamics as kd
from kane_dynamics.compiler.cuda.device import PtxCompiler
from kane_dynamics.compiler.cuda.kernel import kernel_code
from kane_dynamics.compiler.cuda.kernel_ir import ELEMENTS, kernel_ir
from kane_dynamics.compiler.cuda.rollouts import steps_code
from kane_dynamics.compiler.graphs.inverse_dynamics import (
    consistent_acceleration,
    consistent_velocity,
    constrained_effort,
)
from kane_dynamics.compiler.graphs.trace import Tracer, function_graph
from kane_dynamics.compiler.value_graph import best_order, graph_of, register_pressure
from kane_dynamics.exceptions import DeviceError
from studies.cuda import ptxas

MOST_REGISTERS = 255
# double: roundoff of some thousand operations; single: some hundred of its ulps (6e-8), which
# solves of well-conditioned states need
BOUNDS = {'float64': 1e-12, 'float32': 1e-5}
STATES = 1000


def gap(actual, expected):
    """Return the largest error of a state, relative to the norm of what is expected there."""
    assert actual.shape == expected.shape
    return (np.linalg.norm(actual - expected, axis=1) / np.linalg.norm(expected, axis=1)).max()


def known_states(case, rng):
    """Return the reference, a few states on the constraints, and numbers of many of them."""
    dynamics = kd.dynamics(case.robot, case.constraints)
    states = [case.state(rng) for _ in range(20)]
    q, v, a = (np.array(x) for x in zip(*states, strict=True))
    a = np.array([dynamics.consistent_acceleration(*state) for state in states])
    return dynamics, (q, v, a), rng.integers(0, len(q), STATES)


@pytest.mark.parametrize('name', ['drive', 'floating_tree'])
def test_numbers_are_those_of_the_reference(name, rng):
    case = kernel_cases.CASES[name]()
    made_of = cuda.recipe(case.robot, case.constraints)
    dynamics, (q, v, a), many = known_states(case, rng)
    tau = rng.uniform(-9.0, 9.0, v.shape)
    expected = {
        function_graph('inverse_dynamics'): ((q, v, a), dynamics.inverse_dynamics(q, v, a)),
        Tracer.forward_dynamics: ((q, v, tau), dynamics.acceleration(q, v, tau)),
    }
    for graph, (inputs, answer) in expected.items():
        for precision, bound in BOUNDS.items():
            call, made = cuda.kernel(made_of, graph, precision)
            gravity = case.robot.gravity.astype(precision)
            redone = []

            def redo(places, rows, whole=answer[many], redone=redone):
                redone.extend(places)
                return whole[places]

            found = call(*[x[many] for x in inputs], parameters=gravity, redo=redo)
            assert found.dtype == precision
            assert gap(found, answer[many]) < bound
            solved_in_single = precision == 'float32' and graph is Tracer.forward_dynamics
            assert made.fallback_count == len(redone) <= (STATES // 5 if solved_in_single else 0)


@pytest.mark.parametrize('precision', BOUNDS)
def test_constrained_inverse_dynamics_is_that_of_the_reference(precision, rng):
    case = kernel_cases.CASES['drive']()
    dynamics, (q, v, a), many = known_states(case, rng)
    driven = tuple(n for n in case.robot.velocity_names if not n.startswith('base_'))
    states = zip(q, v, a, strict=True)
    expected = [dynamics.constrained_inverse_dynamics(*one, driven).numbers for one in states]
    made_of = cuda.recipe(case.robot, case.constraints)
    call, effort = cuda.kernel(made_of, constrained_effort, precision, driven, None)
    fixed = np.ones(case.robot.nv), np.ones(4), np.zeros(1)
    gravity = case.robot.gravity.astype(precision)
    found = call(q[many], v[many], a[many], *fixed, parameters=gravity)
    # the last numbers are the rank and residuals, which are roundoff
    assert gap(found[:, :-2], np.array(expected)[many, :-2]) < BOUNDS[precision]
    assert effort.fallback_count == 0


OPERATIONS = {
    'sqrt': lambda x: ca.sqrt(ca.fabs(x)),
    'exp': lambda x: ca.exp(0.1 * x),
    'log': lambda x: ca.log(ca.fabs(x) + 0.1),
    'tan': lambda x: ca.tan(0.1 * x),
    'asin': lambda x: ca.asin(0.1 * x),
    'acos': lambda x: ca.acos(0.1 * x),
    'atan': ca.atan,
    'atan2': lambda x: ca.atan2(x, 0.3),
    'sinh': lambda x: ca.sinh(0.1 * x),
    'cosh': lambda x: ca.cosh(0.1 * x),
    'tanh': ca.tanh,
    'sin': ca.sin,
    'cos': ca.cos,
    'shifted': lambda x: ca.sin(2.0 * (x + 2.7)) + ca.cos(x - np.pi / 2),
    'floor': ca.floor,
    'ceil': ca.ceil,
    'sign': ca.sign,
    'copysign': lambda x: ca.copysign(3.0, x),
    'power': lambda x: (ca.fabs(x) + 0.5) ** 1.7,
    'least': lambda x: ca.fmin(x, 1.0) + ca.fmax(x, -2.0),
    'choice': lambda x: ca.if_else(x < 1.0, 2.0 * x, 1.0 / (x + 20.0)),
    'comparisons': lambda x: (x <= 2.0) + 3.0 * (x == 2.0) + 5.0 * (x != 1.0) + ca.logic_not(x),
    'infinity': lambda x: ca.if_else(x > 0.0, x, ca.inf),
}


@pytest.mark.parametrize('precision', BOUNDS)
def test_every_operation_is_that_of_casadi(precision):
    x = ca.SX.sym('x')
    results = ca.vertcat(*[of(x) for of in OPERATIONS.values()])
    made = cuda.function_kernel(x, results, precision)
    values = np.array([-9.5, -2.0, -1.0, 0.0, 0.25, 1.0, 2.0, 3.75])  # exact in both
    expected = np.array(ca.Function('f', [x], [results])(values[None]).T)
    bound = 4.0 * np.finfo(precision).eps  # of libraries, and of sums of two results
    assert_allclose(made(values[:, None]), expected, rtol=4.0 * bound, atol=bound)


@pytest.mark.parametrize('precision, largest', [('float64', 1e12), ('float32', 0.99e4)])
def test_sines_keep_their_digits_at_large_angles(precision, largest, rng):
    x = ca.SX.sym('x')
    made = cuda.function_kernel(x, ca.vertcat(ca.sin(x), ca.cos(x)), precision)
    quarters = np.arange(-64, 65) * (np.pi / 4)
    angles = np.r_[rng.uniform(-largest, largest, 5000), rng.uniform(-4, 4, 5000), quarters]
    angles = angles.astype(precision)
    exact = angles.astype(np.longdouble)
    expected = np.array([np.sin(exact), np.cos(exact)]).T
    # of polynomials and of the rounded reduced angle: an ulp of numbers up to 1 each, and a half
    assert np.abs(made(angles[:, None]) - expected).max() < 1.5 * np.finfo(precision).eps


@pytest.mark.parametrize('precision', BOUNDS)
@pytest.mark.parametrize('bad', [np.nan, np.inf, 1e30])
def test_a_number_that_is_none_is_seen_though_nothing_uses_it(precision, bad):
    x = ca.SX.sym('x', 3)
    made = cuda.function_kernel(x, 2.0 * x[:2], precision)
    found = made(np.array([[1.0, 2.0, 3.0], [1.0, 2.0, bad], [4.0, 5.0, 6.0]]))
    assert_array_equal(found, [[2.0, 4.0], [np.nan, np.nan], [8.0, 10.0]])


def test_an_order_is_one_of_evaluation(rng):
    """Sources come before what is computed from them, and all results are there."""
    x = ca.SX.sym('x', 5)
    for _ in range(20):
        values = list(ca.vertsplit(x))
        for _ in range(60):
            a, b = rng.integers(0, len(values), 2)
            values.append(values[a] * values[b] + float(rng.integers(1, 9)))
        graph = graph_of(ca.Function('f', [x], [ca.vertcat(*values[-3:]), ca.SX(1.0)]))
        order = best_order(graph)
        seen = set()
        for number in order:
            assert set(graph.values[number].sources) <= seen
            seen.add(number)
        assert {number for output in graph.outputs for number in output.values()} <= seen
        assert register_pressure(graph, order) <= register_pressure(
            graph, range(len(graph.values))
        )


def test_the_number_of_values_alive_is_counted_right():
    x = ca.SX.sym('x', 4)
    graph = graph_of(ca.Function('f', [x], [(x[0] + x[1]) * (x[2] + x[3])]))
    inputs, sums = {}, {}
    for number, value in enumerate(graph.values):
        if value.operation == ca.OP_INPUT:
            inputs[value.place[1]] = number
        elif value.operation == ca.OP_ADD:
            sums[min(value.sources)] = number
    product = graph.outputs[0][0]
    a, b = (sums[inputs[k]] for k in (0, 2))
    # depth first: a sum waits while the other's terms come
    assert (
        register_pressure(graph, [inputs[0], inputs[1], a, inputs[2], inputs[3], b, product]) == 3
    )
    # all inputs at first
    assert register_pressure(graph, [*(inputs[k] for k in range(4)), a, b, product]) == 4
    assert register_pressure(graph, best_order(graph)) == 3


ARCHITECTURES = 'sm_80', 'sm_90', 'sm_120'


def shipped_robot(robots, name):
    """Return what the kernels of a shipped robot are made of, and the speeds with a motor."""
    robot = kd.load_urdf(robots / f'{name}.urdf', base='planar')
    rows = ()
    if name == 'nonholonomic':
        wheels = 'wheel_left_joint', 'wheel_right_joint'
        rows = (kd.constraints.differential_drive(robot, *wheels),)
    driven = tuple(n for n in robot.velocity_names if not (rows and n.startswith('base_')))
    return cuda.recipe(robot, rows), driven


@pytest.mark.parametrize('architecture', ARCHITECTURES)
def test_the_shipped_robot_does_not_spill_in_single_precision(robots, architecture):
    made_of, driven = shipped_robot(robots, 'nonholonomic')
    graphs = (Tracer.forward_dynamics,), (constrained_effort, driven, None)
    for graph, *choices in graphs:
        usage = cuda.assembled(made_of, graph, 'float32', architecture, *choices)
        assert (usage.spill_stores, usage.spill_loads, usage.stack) == (0, 0, 0)
        assert 32 <= usage.registers <= 255
        assert 16_000 <= usage.code <= 100_000  # 16 bytes an instruction, some thousand of them


GRAPHS = (
    function_graph('inverse_dynamics'),
    Tracer.forward_dynamics,
    Tracer.multipliers,
    function_graph('bias_force'),
    function_graph('gravity_force'),
    function_graph('mass_matrix'),
    function_graph('coriolis_matrix'),
    function_graph('kinetic_energy'),
    function_graph('potential_energy'),
    function_graph('frame_poses'),
    Tracer.balance_derivatives,
    Tracer.constraint_rows,
    function_graph('center_of_mass'),
    function_graph('momentum'),
)


# solves of the first in single precision are assembled above
@pytest.mark.parametrize(
    ('name', 'precision'),
    [(name, one) for name in ('nonholonomic', 'holonomic') for one in BOUNDS],
)
@pytest.mark.thorough
def test_every_kernel_of_the_shipped_robots_assembles(robots, name, precision):
    made_of, driven = shipped_robot(robots, name)
    kernels = [(graph,) for graph in GRAPHS]
    if made_of.constraints:
        kernels += [
            (consistent_velocity, None),
            (consistent_acceleration, None),
            (constrained_effort, driven, None),
        ]
    for graph, *choices in kernels:
        usage = cuda.assembled(made_of, graph, precision, 'sm_90', *choices)
        assert 0 < usage.registers <= MOST_REGISTERS, graph
    steps = steps_code(made_of, 'rk4', bool(made_of.constraints), PtxCompiler(), precision)
    assert 0 < ptxas.assembled(steps.code, 'sm_90').registers <= MOST_REGISTERS


def operations_ptx(precision):
    x = ca.SX.sym('x')
    results = ca.vertcat(*[of(x) for of in OPERATIONS.values()])
    ir = kernel_ir(cuda.function_spec(x, results), ELEMENTS[precision])
    return PtxCompiler().compile(ir)


@pytest.mark.parametrize('precision', BOUNDS)
def test_functions_without_an_instruction_are_those_of_libdevice(precision):
    cuda.assembler()
    try:
        ptx = operations_ptx(precision)
    except DeviceError as error:
        pytest.skip(f'LIBDEVICE IS NOT LINKED: {error}')
    assert ptxas.assembled(ptx, 'sm_90').registers > 0


def test_a_missing_libdevice_is_told(monkeypatch):
    def not_there(name):
        raise RuntimeError(f'no {name}')

    monkeypatch.setattr('cuda.pathfinder.find_bitcode_lib', not_there)
    with pytest.raises(DeviceError, match=r'need libdevice \(no device\)'):
        operations_ptx('float64')


def test_the_assembler_tells_what_it_refuses():
    cuda.assembler()
    with pytest.raises(DeviceError, match='ptxas'):
        ptxas.assembled(b'no code', 'sm_90')


def test_code_is_compiled_once(cache_folder, monkeypatch):
    case = kernel_cases.CASES['sled']()
    made_of = cuda.recipe(case.robot, case.constraints)
    arguments = made_of, function_graph('gravity_force'), (), cuda.device()
    first = [kernel_code(*arguments, precision) for precision in BOUNDS]
    monkeypatch.setattr(type(cuda.device()), 'compile', lambda *_: pytest.fail('compiled again'))
    again = [kernel_code(*arguments, precision) for precision in BOUNDS]
    assert again == first
    assert len({one.code for one in again}) == len(list(cache_folder.iterdir())) == 2


# As assemblers write it: of a kernel, and of a function that it calls.
LOG = """\
ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'step' for 'sm_90'
ptxas info    : Function properties for step
ptxas         .     216 bytes stack frame, 12 bytes spill stores, 20 bytes spill loads
ptxas info    : Used 168 registers, used 0 barriers, 216 bytes cumulative stack size
ptxas info    : Function properties for acceleration_one
ptxas         .     40 bytes stack frame, 4 bytes spill stores, 8 bytes spill loads
"""


def test_what_the_assembler_says_is_read():
    assert ptxas.read(LOG, 80) == (168, 256, 16, 28, 80)
