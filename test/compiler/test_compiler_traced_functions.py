# SPDX-License-Identifier: Apache-2.0
"""Users' functions on traced numbers: exact where they can be traced, refused where not."""

import math

import casadi as ca
import numpy as np
import pytest
from kernel_cases import error
from support.constraint_cases import CASES, rheonomic_rows
from support.machines import planar_body
from support.trees import tree_and_state

import kane_dynamics as kd
from kane_dynamics.algebra.scalars import TracedNumber, expression, is_traced
from kane_dynamics.constraints.constraint_set import ConstraintSet
from kane_dynamics.constraints.pfaffian import DifferencedRows
from kane_dynamics.exceptions import ConstraintError

# what a user may write: A(q, t) for a body with q = (x, y, yaw)
TRACEABLE = {
    'list': lambda q, t: [np.sin(q[0]) * t, q[1] ** 2, np.exp(-t)],
    'matrix': lambda q, t: np.array([[np.sin(q[2]), -np.cos(q[2]), 0.3], [t, 1.0, q[0] * q[1]]]),
    'array expression': lambda q, t: np.cos(2.0 * t) * np.eye(3)[0] + q / (2.0 + t),
    'outer product': lambda q, t: np.outer(q[:2] + [1.0, 2.0], q + 3.0) * t,
    'rows on rows': lambda q, t: np.vstack([q, np.ones(3), [t, t * t, 1.0 / (1.0 + t)]])[:2],
    'rotation': lambda q, t: np.array([[np.cos(q[2]), -np.sin(q[2])]]) @ np.ones((2, 3)) * q[0],
    'norm': lambda q, t: [np.linalg.norm(q), q @ q, np.sum(q) - np.prod(q + 1.0)],
    'functions of one': lambda q, t: [
        np.tan(0.3 * q[0]) + np.arctan(q[1]) + np.sinh(q[0]) - np.cosh(t),
        np.arcsin(0.3 * q[0]) * np.arccos(0.2 * q[1]) + np.tanh(q[2]),
        np.log(3.0 + q[0]) + np.sqrt(2.0 + q[1]) + np.square(q[2]) + abs(q[0]) - np.fabs(q[1]),
    ],
    'functions of two': lambda q, t: [
        np.arctan2(q[0], q[1] + 4.0),
        np.hypot(q[0], 2.0 + t),
        np.power(2.0 + q[0], 1.5) + (1.0 + t) ** q[1] + 2.0**t,
    ],
    'numbers only': lambda q, t: np.arange(3.0),
    'whole numbers': lambda q, t: [1, 0, np.int64(2)],
    'signs': lambda q, t: [-q[0], +q[1], -(t - q[2]) - 1],
    'numpy scalars': lambda q, t: [np.float64(2.0) * t, t * np.float64(0.5), np.float32(2) - q[0]],
}
RIGHT_SIDES = {1: lambda q, t: q[0] * np.cos(3.0 * t), 2: lambda q, t: [t**3, q[1] * q[2]]}
UNTRACEABLE = {
    'math': (lambda q, t: [math.sin(q[0]), 1.0, 1.0], 'must be real number'),
    'float': (lambda q, t: [float(t), 1.0, 1.0], 'float'),
    'array of floats': (lambda q, t: np.array([q[0], 1.0, t], dtype=float), 'float'),
    'assignment': (lambda q, t: _assigned(q[0]), 'float'),
    'branch on t': (lambda q, t: [1.0 if t < 0.5 else 2.0, 1.0, 1.0], 'compare or to branch'),
    'branch on q': (lambda q, t: [1.0 if q[0] else 2.0, 1.0, 1.0], 'compare or to branch'),
    'equality': (lambda q, t: [1.0 if t == 0.0 else 2.0, 1.0, 1.0], 'compare or to branch'),
    'where': (lambda q, t: np.where(q > 0.0, 1.0, 2.0), 'compare or to branch'),
    'maximum': (lambda q, t: np.maximum(q, 0.1), 'compare or to branch'),
    'inverse': (lambda q, t: np.linalg.inv(np.outer(q, q) + np.eye(3))[0], 'ufunc|cast'),
    'other function': (lambda q, t: np.cbrt(q), 'cbrt'),
    'index': (lambda q, t: np.eye(3)[int(t)], 'int'),
}


def _assigned(x):
    row = np.zeros(3)
    row[0] = x
    return row


def traced(robot, constraint):
    """Return the function (q, v, t) -> (A, b_0, b) of the traced rows."""
    q, v, t = ca.SX.sym('q', robot.nq), ca.SX.sym('v', robot.nv), ca.SX.sym('t')
    rows = ConstraintSet(robot, (constraint,)).rows(ca.vertsplit(q), ca.vertsplit(v), t)
    parts = [ca.vertcat(*x) for x in (rows.matrix.ravel(), rows.velocity, rows.acceleration)]
    return ca.Function('rows', [q, v, t], parts)


def numeric(robot, constraint, q, v, t):
    """Return (A, b_0, b) of the numeric rows as columns."""
    rows = ConstraintSet(robot, (constraint,)).rows(q.tolist(), v.tolist(), t)
    return [x.ravel() for x in (rows.matrix, rows.velocity, rows.acceleration)]


def by_differences(robot, A, b):
    """Return the rows of the same functions evaluated on numbers only."""
    count = len(np.atleast_2d(A(np.zeros(robot.nq), 0.0)))
    return DifferencedRows(robot, tuple(map(str, range(count))), A, b)


@pytest.mark.parametrize('name', TRACEABLE)
def test_traced_rows_against_numeric_ones(name, rng):
    robot, A = planar_body(1.0, 1.0, 0.2), TRACEABLE[name]
    count = len(np.atleast_2d(A(np.zeros(3), 0.0)))
    constraint = kd.constraints.pfaffian(robot, A, RIGHT_SIDES[count])
    function = traced(robot, constraint)
    for _ in range(3):
        q, v = rng.uniform(-1, 1, (2, 3))
        expected = numeric(robot, by_differences(robot, A, RIGHT_SIDES[count]), q, v, 0.7)
        for got, known in zip(function(q, v, 0.7), expected, strict=True):
            # roundoff over a step of 2e-3
            assert error(np.array(got).ravel(), known) < 1e-11


def test_rows_on_every_joint_kind():
    # dq/dt is not v for quaternions
    case = CASES['pfaffian']
    got = traced(case.robot, case.constraint)(case.q, case.v, case.t)
    known = by_differences(case.robot, *rheonomic_rows(case.robot))
    expected = numeric(case.robot, known, case.q, case.v, case.t)
    for traced_part, known in zip(got, expected, strict=True):
        assert error(np.array(traced_part).ravel(), known) < 1e-11


def test_quaternions_off_unit_count_as_unit():
    robot, q, v, _ = tree_and_state(1, 'fixed', kinds=('spherical', 'free'))
    A, b = rheonomic_rows(robot)
    off = q.copy()
    for index in robot.indices:
        off[index.q.stop - 4 : index.q.stop] *= 1.0 + 5e-4  # q ends with the quaternion in both
    for rows in (kd.constraints.pfaffian(robot, A, b), by_differences(robot, A, b)):
        for found, known in zip(
            numeric(robot, rows, off, v, 0.3), numeric(robot, rows, q, v, 0.3), strict=True
        ):
            assert error(found, known) < 1e-11


@pytest.mark.parametrize('name', UNTRACEABLE)
def test_functions_that_need_numbers_are_named(name):
    # none of them may end as NaN in the machine code
    A, reason = UNTRACEABLE[name]
    robot = planar_body(1.0, 1.0, 0.2)
    row = kd.constraints.pfaffian(robot, A, label='my row')
    with pytest.raises(ConstraintError, match=f'(?s)my row: [Ab] cannot be traced.*{reason}'):
        traced(robot, row)
    in_b = kd.constraints.pfaffian(
        robot, lambda q, t: np.ones(3), lambda q, t: A(q, t)[0], label='my row'
    )
    with pytest.raises(ConstraintError, match='my row: [Ab] cannot be traced'):
        traced(robot, in_b)
    # the package itself takes them
    assert np.isfinite(kd.forward_dynamics(robot, *np.ones((3, 3)), (row,)).acceleration).all()


def test_compile_says_which_rows_cannot_be_traced():
    robot = planar_body(1.0, 1.0, 0.2)
    row = kd.constraints.pfaffian(robot, UNTRACEABLE['math'][0], label='my row')
    with pytest.raises(ConstraintError, match='my row: [Ab] cannot be traced'):
        kd.compile(robot, (row,), cache=False)
    with pytest.raises(ConstraintError, match='my row: [Ab] cannot be traced'):
        kd.casadi_function(robot, 'forward_dynamics', (row,))


def test_shape_that_changes_when_traced():
    robot = planar_body(1.0, 1.0, 0.2)
    with pytest.raises(ConstraintError, match=r'need A of shape \(1, 3\).*got \(1, 4\)'):
        kd.constraints.pfaffian(
            robot, lambda q, t: np.ones(3) if isinstance(q[0], float) else np.ones(4)
        )


class TestTracedNumber:
    """The scalar itself."""

    def test_stays_a_scalar_in_arrays(self):
        x = TracedNumber(ca.SX.sym('x'))
        for array in (np.array([x, 1.0]), x * np.ones(3), np.ones((2, 2)) - x, np.r_[x, x]):
            assert array.dtype == object
            assert all(isinstance(entry, (TracedNumber, float)) for entry in array.ravel())
        assert isinstance(np.sin(x), TracedNumber)
        assert isinstance(np.float64(3.0) / x, TracedNumber)

    def test_has_no_value(self):
        x = TracedNumber(ca.SX.sym('x'))
        for use in (bool, float, int, complex, round, len, iter, math.exp, lambda y: y < 1.0):
            with pytest.raises(TypeError):
                use(x)
        for use in (lambda y: y == y, lambda y: y != 0, lambda y: y >= y, lambda y: y in (1, 2)):
            with pytest.raises(TypeError, match='no value to compare'):
                use(x)
        with pytest.raises(AttributeError, match="no function 'sign'"):
            x.sign()
        with pytest.raises(TypeError):
            x + 'text'

    def test_expressions(self):
        x = ca.SX.sym('x')
        assert is_traced(x)
        assert not is_traced(1.0)
        assert expression(np.float32(0.5)) == 0.5
        assert expression(TracedNumber(x)) is x
        with pytest.raises(TypeError, match='is not a number'):
            expression('1')

    def test_order_of_operands(self):
        x, y = ca.SX.sym('x'), ca.SX.sym('y')
        a, b = TracedNumber(x), TracedNumber(y)
        cases = {
            2 / 3: a / b,
            1.5 - 3: 1.5 - b,
            2 - 1.5: a - 1.5,
            5 / 2: 5 / a,
            2**3: a**b,
            3**2.5: b**2.5,
            1.5**2: 1.5**a,
            np.arctan2(2, 3): np.arctan2(a, b),
            np.arctan2(2, 0.5): np.arctan2(a, 0.5),
            np.hypot(2, 3): np.hypot(a, b),
        }
        for value, result in cases.items():
            function = ca.Function('f', [x, y], [result.expression])
            assert float(function(2, 3)) == pytest.approx(value, rel=1e-15)
