# SPDX-License-Identifier: Apache-2.0
"""Ad(r) of quaternions against scipy's rotations, and what it leaves in a traced graph."""

import casadi
import numpy as np
from hypothesis import assume, given
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.transform import Rotation
from support.drawn import DIFFERENT, seeded, vectors

from kane_dynamics.algebra import make_quaternion, pure, rotate, vec3, vec4
from kane_dynamics.algebra.quaternions import NumericQuaternion, ScalarQuaternion, rotation_rows

# Components of order 1: a dozen operations of half an ulp each.
UNIT_TOLERANCE = 4e-15

vectors3 = vectors(3, 10.0)
vectors4 = vectors(4, 10.0)


def unit(wxyz):
    size = np.linalg.norm(wxyz)
    assume(size > 1e-3)
    return np.asarray(wxyz) / size


@seeded
@given(r=vectors4, a=vectors3)
def test_rotate_is_the_rotation_of_scipy(evaluate, r, a):
    r = unit(r)

    def rotated(r, a):
        return vec4(rotate(make_quaternion(*r), pure(a)))

    expected = Rotation.from_quat(r, scalar_first=True).apply(a)
    assert_allclose(evaluate(rotated, r, a), np.r_[0.0, expected], rtol=0.0, atol=1e-13)


@seeded
@given(r=vectors4)
def test_rotation_rows_are_the_matrix_of_scipy(evaluate, r):
    r = unit(r)
    expected = Rotation.from_quat(r, scalar_first=True).as_matrix()
    rows = evaluate(lambda r: rotation_rows(make_quaternion(*r)), r)
    assert_allclose(rows.reshape(3, 3), expected, rtol=0.0, atol=UNIT_TOLERANCE)


def test_rotate_with_four_different_numbers(evaluate):
    """Scalar first: any other order or the inverse rotation gives other numbers."""
    a = np.array([1.0, -2.0, 3.0])
    result = evaluate(lambda r, a: vec3(rotate(make_quaternion(*r), pure(a))), DIFFERENT, a)
    expected = Rotation.from_quat(DIFFERENT, scalar_first=True).apply(a)
    others = (
        Rotation.from_quat(DIFFERENT, scalar_first=False).apply(a),
        Rotation.from_quat(DIFFERENT, scalar_first=True).inv().apply(a),
    )
    assert_allclose(result, expected, rtol=0.0, atol=UNIT_TOLERANCE)
    assert min(np.abs(result - other).max() for other in others) > 0.1


def test_rotate_is_r_a_r_conjugate(evaluate):
    def difference(r, a):
        r, a = make_quaternion(*r), pure(a)
        return vec4(rotate(r, a) - r * a * r.conjugate())

    result = evaluate(difference, DIFFERENT, [1.0, -2.0, 3.0])
    assert_allclose(result, np.zeros(4), rtol=0.0, atol=UNIT_TOLERANCE)


def test_minus_r_is_the_same_rotation(evaluate):
    def difference(r, a):
        r, a = make_quaternion(*r), pure(a)
        return vec4(rotate(r, a) - rotate(-r, a))

    assert_array_equal(evaluate(difference, DIFFERENT, [1.0, -2.0, 3.0]), np.zeros(4))


def test_a_traced_rotation_stays_pure():
    x = casadi.SX.sym('x')
    for r in (NumericQuaternion(*DIFFERENT), ScalarQuaternion(*DIFFERENT[:3], x)):
        assert rotate(r, pure([x, 1.0, 2.0])).w == 0.0


def test_a_constant_quarter_turn_adds_no_operation_to_the_graph():
    """Its roundoff must not turn structural zeros and ones into instructions."""
    x, y, z = (casadi.SX.sym(name) for name in 'xyz')
    c, s = np.nextafter(np.cos(np.pi / 4), 0.0), np.sin(np.pi / 4)
    about_z = NumericQuaternion(c, 0.0, 0.0, s)
    both = about_z * NumericQuaternion(c, s, 0.0, 0.0)
    for r, expected in ((about_z, (-y, x, z)), (both, (z, x, y))):
        entries = np.abs(rotation_rows(r))
        assert ((entries > 0.0) & (entries < 0.5)).any()  # there is roundoff to remove
        assert ((entries > 0.5) & (entries != 1.0)).any()
        turned = vec3(rotate(r, pure([x, y, z])))
        assert all(casadi.is_equal(*pair, 3) for pair in zip(turned, expected, strict=True))


def test_a_small_constant_rotation_is_not_taken_for_roundoff():
    symbols = casadi.SX.sym('a', 3)
    r = NumericQuaternion(1.0, 0.0, 0.0, 0.5e-12)
    graph = casadi.Function(
        'f', [symbols], [casadi.vertcat(*vec3(rotate(r, pure([symbols[i] for i in range(3)]))))]
    )
    assert_allclose(graph([1.0, 0.0, 0.0]).full().ravel(), [1.0, 1e-12, 0.0], rtol=1e-15, atol=0.0)
