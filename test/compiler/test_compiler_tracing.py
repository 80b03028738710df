# SPDX-License-Identifier: Apache-2.0
"""Every algorithm, constraint and integrator on traced scalars; the code that graphs become."""

import casadi as ca
import numpy as np
import pytest
from kernel_cases import CASES, error
from support.compiling import compiled_kernel
from support.constraint_cases import CASES as CONSTRAINTS
from support.constraint_cases import rows_at
from support.machines import planar_2r
from support.trees import BASES, tree_and_state

import kane_dynamics as kd
from kane_dynamics.algebra.scalars import sign, where
from kane_dynamics.algebra.traced_scalar import column, symbols
from kane_dynamics.compiler.graphs.by_name import graph_of
from kane_dynamics.compiler.graphs.step_graphs import STEP_GRAPHS
from kane_dynamics.compiler.graphs.trace import DERIVATIVE_GRAPHS, GRAPHS, Tracer, function_graph
from kane_dynamics.compiler.graphs.traced_state import matrix, spec
from kane_dynamics.compiler.llvm.kernel_spec import KernelSpec
from kane_dynamics.compiler.llvm.module import batch_ir, kernel_ir
from kane_dynamics.compiler.steps.step_program import Recorder, record_step
from kane_dynamics.constraints.constraint_set import ConstraintSet
from kane_dynamics.exceptions import UnsupportedOperationError
from kane_dynamics.robot.motion import coordinate_rates, integrate_coordinates
from kane_dynamics.simulation.integrators import INTEGRATORS


@pytest.mark.parametrize('base', BASES)
@pytest.mark.parametrize('graph', [*GRAPHS, *DERIVATIVE_GRAPHS, *STEP_GRAPHS])
def test_graphs_depend_on_symbols_alone(graph, base):
    # a Python `if` on a traced value raises; a float() of one leaves NaN among the constants
    robot, *_ = tree_and_state(4, base, kinds=('revolute', 'spherical'))
    lock = kd.constraints.lock(robot, 'revolute_joint')
    function = graph(Tracer(robot, (lock,), ('tool', 'anchor'))).function
    constants = [
        function.instruction_constant(k)
        for k in range(function.n_instructions())
        if function.instruction_id(k) == ca.OP_CONST
    ]
    assert np.isfinite(constants).all()
    assert function.get_free() == []


@pytest.mark.parametrize('base', BASES)
def test_tree_of_every_joint_kind(base):
    # the graphs are evaluated by CasADi; what becomes of them is compiled elsewhere
    robot, q, v, a = tree_and_state(2, base)
    tracer = Tracer(robot, (), ('tool', 'anchor'))
    values = {
        'inverse_dynamics': kd.inverse_dynamics(robot, q, v, a),
        'bias_force': kd.bias_force(robot, q, v),
        'gravity_force': kd.gravity_force(robot, q),
        'mass_matrix': kd.mass_matrix(robot, q),
        'kinetic_energy': kd.kinetic_energy(robot, q, v),
        'potential_energy': kd.potential_energy(robot, q),
        'forward_dynamics': kd.forward_dynamics(robot, q, v, a).acceleration,
    }
    for name, expected in values.items():
        function = graph_of(name)(tracer).function
        got = np.array(function.call([q, v, a][: function.n_in()])[0])
        assert error(got.reshape(np.shape(expected)), expected) < 1e-10


@pytest.mark.parametrize('base', BASES)
def test_motion_of_coordinates(base):
    robot, q, v, _ = tree_and_state(3, base)
    x, w, h = symbols('q', robot.nq), symbols('v', robot.nv), ca.SX.sym('h')
    rates, moved = coordinate_rates(robot, x, w), integrate_coordinates(robot, x, w, h)
    inputs = [column(x), column(w), h]
    function = ca.Function('f', inputs, [column(rates), column(moved)])
    for step in (0.3, 0.0, -1e-9):
        got = [np.array(part).ravel() for part in function(q, v, step)]
        assert error(got[0], coordinate_rates(robot, q, v)) < 1e-14
        assert error(got[1], kd.integrate(robot, q, v, step)) < 1e-14


@pytest.mark.parametrize('name', CONSTRAINTS)
def test_rows_of_every_constraint(name):
    case = CONSTRAINTS[name]
    q, v, t = symbols('q', case.robot.nq), symbols('v', case.robot.nv), ca.SX.sym('t')
    rows = ConstraintSet(case.robot, (case.constraint,)).rows(q, v, t)
    known = rows_at(case)
    assert [phi is None for phi in rows.positions] == [phi is None for phi in known.positions]
    positions = [phi for phi in rows.positions if phi is not None]
    parts = [rows.matrix.ravel(), rows.velocity, rows.acceleration, positions]
    inputs = [column(q), column(v), t]
    function = ca.Function('f', inputs, [column(part) for part in parts])
    expected = [
        known.matrix.ravel(),
        known.velocity,
        known.acceleration,
        np.array([phi for phi in known.positions if phi is not None]),
    ]
    # the numeric pfaffian rows are differentiated by differences: 1e-16 over a step of 1e-3
    for got, value in zip(function(case.q, case.v, case.t), expected, strict=True):
        assert error(np.array(got).ravel(), value) < 1e-11


@pytest.mark.parametrize('projection', [True, False])
@pytest.mark.parametrize('integrator', INTEGRATORS)
def test_recorded_steps(integrator, projection):
    # a Runge-Kutta step calls the dynamics four times and holds them not at all
    case = CASES['linkage']()
    recorder = Recorder(case.robot, holonomic=True)
    program = record_step(recorder, INTEGRATORS[integrator], projection)
    expected = {
        'semi_implicit': ['kick'],
        'rk4': ['acceleration'] * 4,
        'midpoint': ['impulse', 'balance', 'jump'],  # the first in a loop
    }
    calls = expected[integrator] + ['place', 'place', 'crossing', 'project'] * projection
    assert program.kernels == calls
    sizes = [segment.n_instructions() for segment in program.segments()]
    assert len(sizes) == len(calls) + 1 + 2 * (integrator == 'midpoint')
    assert max(sizes) < 250  # the mixture of two turns stands in one segment


def test_holonomic_rows_are_known():
    for name, count in (('linkage', 6), ('sled', 0), ('planar_2r', 0)):
        case = CASES[name]()
        assert len(Tracer(case.robot, case.constraints, ()).holonomic) == count


def test_equal_subexpressions_are_shared():
    # sine and cosine of each angle once
    function = function_graph('inverse_dynamics')(Tracer(planar_2r(), (), ())).function
    kinds = [function.instruction_id(k) for k in range(function.n_instructions())]
    assert kinds.count(ca.OP_SIN) <= 2
    assert kinds.count(ca.OP_COS) <= 2
    assert len(kinds) < 100


def test_zeros_of_a_matrix_stay_structural():
    x = ca.SX.sym('x')
    M = matrix([[x, 0.0, ca.SX(0.0)], [0, 1.5, x * 0.0]], 3)
    assert M.shape == (2, 3)
    assert M.nnz() == 2
    assert matrix([], 4).shape == (0, 4)
    assert column([]).shape == (0, 1)
    assert column([0.0, x]).nnz() == 2


def compiled(outputs, inputs, shapes):
    """Return the compiled function of some expressions."""
    return compiled_kernel(spec('made', inputs, outputs, shapes), 'ab')


X, Y = symbols('x', 2)
# expression, numpy's function, and values that matter to it
OPERATIONS = {
    'add': (X + Y, np.add),
    'subtract': (X - Y, np.subtract),
    'multiply': (X * Y, np.multiply),
    'divide': (X / Y, np.divide),
    'negative': (-X, lambda x, y: -x),
    'square': (X * X, lambda x, y: x * x),
    'twice': (2 * X, lambda x, y: 2 * x),
    'inverse': (1 / X, lambda x, y: 1 / x),
    'sqrt': (ca.sqrt(X), lambda x, y: np.sqrt(x)),
    'fabs': (ca.fabs(X), lambda x, y: np.abs(x)),
    'floor': (ca.floor(X), lambda x, y: np.floor(x)),
    'ceil': (ca.ceil(X), lambda x, y: np.ceil(x)),
    'exp': (ca.exp(X), lambda x, y: np.exp(x)),
    'log': (ca.log(X), lambda x, y: np.log(x)),
    'power': (X**Y, np.power),
    'constant power': (X**1.7, lambda x, y: x**1.7),
    'sine': (ca.sin(X), lambda x, y: np.sin(x)),
    'cosine': (ca.cos(X), lambda x, y: np.cos(x)),
    'tangent': (ca.tan(X), lambda x, y: np.tan(x)),
    'arc sine': (ca.asin(X), lambda x, y: np.arcsin(x)),
    'arc cosine': (ca.acos(X), lambda x, y: np.arccos(x)),
    'arc tangent': (ca.atan(X), lambda x, y: np.arctan(x)),
    'arc tangent of two': (ca.atan2(X, Y), np.arctan2),
    'hyperbolic sine': (ca.sinh(X), lambda x, y: np.sinh(x)),
    'hyperbolic cosine': (ca.cosh(X), lambda x, y: np.cosh(x)),
    'hyperbolic tangent': (ca.tanh(X), lambda x, y: np.tanh(x)),
    'copysign': (ca.copysign(X, Y), np.copysign),
    'minimum': (ca.fmin(X, Y), np.minimum),
    'maximum': (ca.fmax(X, Y), np.maximum),
    'sign': (sign(X), lambda x, y: np.sign(x)),
    'less': (where(X < Y, 2.0, 3.0), lambda x, y: np.where(x < y, 2.0, 3.0)),
    'less or equal': (where(X <= Y, 2.0, 3.0), lambda x, y: np.where(x <= y, 2.0, 3.0)),
    'equal': (where(X == Y, 2.0, 3.0), lambda x, y: np.where(x == y, 2.0, 3.0)),
    'not equal': (where(X != Y, 2.0, 3.0), lambda x, y: np.where(x != y, 2.0, 3.0)),
    'not': (ca.logic_not(X < Y), lambda x, y: np.where(x < y, 0.0, 1.0)),
    'chosen': (where(X < Y, X, Y * Y), lambda x, y: np.where(x < y, x, y * y)),
}
VALUES = np.array([0.3, -0.7, 1.0, 2.5, 0.0, -1.0, 1e-8, 40.0, np.nan, np.inf, -np.inf])


@pytest.mark.parametrize('name', OPERATIONS)
def test_every_operation_in_scalars_and_in_lanes(name):
    expression, function = OPERATIONS[name]
    call = compiled([expression], [[X], [Y]], [()]).call
    x, y = (part.reshape(-1, 1) for part in np.meshgrid(VALUES, VALUES))
    with np.errstate(all='ignore'):
        expected = function(x, y).ravel()
    # what is not finite in either input, used or not, is no state: NaN
    expected = np.where(np.isfinite(x + y).ravel(), expected, np.nan)
    singles = np.array([call(a, b) for a, b in zip(x, y, strict=True)])
    # libm's functions are good to an ulp or two in both
    np.testing.assert_allclose(singles, expected, rtol=1e-15, atol=1e-300)
    np.testing.assert_allclose(call(x, y), expected, rtol=1e-15, atol=1e-300)


def test_no_flag_assumes_away_nan_or_infinity():
    # the contract of the design: reordered and contracted maybe, NaN in is NaN out always
    case = CASES['sled']()
    spec = Tracer(case.robot, case.constraints, ()).forward_dynamics()
    words = set((kernel_ir(spec) + batch_ir(spec)).split())
    assert 'contract' in words
    assert words.isdisjoint({'nnan', 'ninf', 'fast'})


def test_operation_without_code_is_named():
    with pytest.raises(UnsupportedOperationError, match='has no straight-line code'):
        compiled([ca.erf(X)], [[X], [Y]], [()])


def test_sparse_and_dense_outputs_stand_where_they_belong():
    made = ca.SX(2, 3)
    made[0, 2], made[1, 0] = X, X * Y
    kernel = compiled([made, ca.vertcat(Y, 0.0, X)], [[X], [Y]], [(2, 3), (3,)])
    outputs = kernel.all_outputs([2.0], [3.0])
    assert outputs[0].tolist() == [[0, 0, 2], [6, 0, 0]]
    assert outputs[1].tolist() == [3, 0, 2]
    rows = kernel.call([[2.0]] * 9, [[3.0]] * 9)
    assert rows.tolist() == [[[0, 0, 2], [6, 0, 0]]] * 9


def test_sizes_of_outputs():
    function = ca.Function('f', [X], [X, ca.SX(1.0)])
    assert KernelSpec('f', (1,), ((), (3, 4), (0, 7)), function).output_sizes == (1, 12, 0)
