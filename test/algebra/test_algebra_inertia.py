# SPDX-License-Identifier: Apache-2.0
"""Mass properties against clouds of particles, and every reason to reject them."""

import dataclasses
import functools
import operator
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.transform import Rotation

from kane_dynamics.algebra import (
    Inertia,
    Pose,
    dot,
    linear_map3,
    make_quaternion,
    pure,
    quaternionic_tensor,
    rotate,
    vec3,
    vec4,
)
from kane_dynamics.algebra.inertia import triangle_problem
from kane_dynamics.exceptions import InvalidInputError, KaneDynamicsError

# Clouds of some ten particles of order 1 kg within 2 m: sums of about 1e2, under 1e2 roundings.
TOLERANCE = 1e-12
TENSOR = np.array([[2.0, 0.3, -0.5], [0.3, 3.0, 0.7], [-0.5, 0.7, 4.0]])
seeds = st.integers(0, 2**32 - 1)
seeded = settings(derandomize=True, deadline=None, max_examples=25)


def cloud(rng, count):
    """Return masses [kg] and positions [m] of particles."""
    return rng.uniform(0.1, 2.0, count), rng.uniform(-2.0, 2.0, (count, 3))


def second_moment(masses, arms):
    """Return sum m (|r|^2 1 - r r') about the origin of the arms."""
    return sum(m * (r @ r * np.eye(3) - np.outer(r, r)) for m, r in zip(masses, arms, strict=True))


def inertia_of(masses, positions):
    """Return the inertia of a cloud by its definition."""
    com = masses @ positions / masses.sum()
    return Inertia(masses.sum(), com, second_moment(masses, positions - com))


def assert_same(inertia, expected):
    assert_allclose(inertia.mass, expected.mass, rtol=1e-14)
    assert_allclose(inertia.com, expected.com, rtol=0.0, atol=TOLERANCE)
    assert_allclose(inertia.tensor, expected.tensor, rtol=0.0, atol=TOLERANCE)


@pytest.mark.claim(3)
def test_the_quaternionic_tensor_holds_the_rows():
    """Equation (11), with rows that differ from columns."""
    matrix = np.arange(1.0, 10.0).reshape(3, 3)
    rows = quaternionic_tensor(matrix)
    assert_array_equal([vec4(row) for row in rows], np.column_stack((np.zeros(3), matrix)))


@pytest.mark.claim(3)
def test_linear_map_is_matrix_times_vector(evaluate):
    """Equation (12), with a matrix that is not symmetric."""
    matrix, b = np.array([[1.0, 2.0, 3.0], [4.0, -5.0, 6.0], [7.0, 8.0, 10.0]]), [0.3, 0.5, -0.7]

    def mapped(b, matrix):
        rows = quaternionic_tensor([matrix[:3], matrix[3:6], matrix[6:]])
        return vec4(linear_map3(rows, pure(b)))

    result = evaluate(mapped, b, matrix.ravel())
    assert_allclose(result, np.r_[0.0, matrix @ b], rtol=0.0, atol=1e-14)


@pytest.mark.claim(3)
def test_angular_momentum_is_that_of_the_particles(rng):
    """Equation (13): l = sum m r x (omega x r)."""
    masses, positions = cloud(rng, 9)
    inertia, omega = inertia_of(masses, positions), rng.uniform(-2.0, 2.0, 3)
    arms = positions - inertia.com
    expected = masses @ np.cross(arms, np.cross(omega, arms))
    momentum = linear_map3(quaternionic_tensor(inertia.tensor), pure(omega))
    assert_allclose(vec3(momentum), expected, rtol=0.0, atol=TOLERANCE)
    energy = 0.5 * masses @ np.sum(np.cross(omega, arms) ** 2, axis=1)
    assert_allclose(0.5 * dot(momentum, pure(omega)), energy, rtol=1e-13)


@pytest.mark.claim(3)
def test_angular_momentum_through_a_rotated_tensor(evaluate, rng):
    """Equation (14): Ad(r*) L3(I') Ad(r) omega, r taking F to F', is R' I' R omega."""
    r = Rotation.random(rng=rng)
    omega = rng.uniform(-2.0, 2.0, 3)

    def momentum(wxyz, omega):
        q = make_quaternion(*wxyz)
        inside = linear_map3(quaternionic_tensor(TENSOR), rotate(q, pure(omega)))
        return vec3(rotate(q.conjugate(), inside))

    R = r.as_matrix()
    result = evaluate(momentum, r.as_quat(scalar_first=True), omega)
    assert_allclose(result, R.T @ TENSOR @ R @ omega, rtol=0.0, atol=2e-14)


@seeded
@given(seed=seeds)
def test_sum_of_two_clouds_is_the_cloud_of_both(seed):
    rng = np.random.default_rng(seed)
    (m, r), (n, s) = cloud(rng, 5), cloud(rng, 6)
    both = inertia_of(np.r_[m, n], np.vstack((r, s)))
    assert_same(inertia_of(m, r) + inertia_of(n, s), both)


@seeded
@given(seed=seeds)
def test_a_cloud_is_the_sum_of_its_point_masses(seed):
    """The parallel axis theorem alone: point masses have no tensor of their own."""
    masses, positions = cloud(np.random.default_rng(seed), 7)
    points = [Inertia(m, r, np.zeros((3, 3))) for m, r in zip(masses, positions, strict=True)]
    assert_same(functools.reduce(operator.add, points), inertia_of(masses, positions))


def test_parallel_axis_of_a_known_case():
    """A dumbbell of 2 kg and 6 kg, 4 m apart: reduced mass 1.5 kg, so 24 kg m^2."""
    light = Inertia(2.0, [0.0, 0.0, 0.0], np.zeros((3, 3)))
    heavy = Inertia(6.0, [4.0, 0.0, 0.0], np.zeros((3, 3)))
    dumbbell = light + heavy
    assert dumbbell.mass == 8.0
    assert_array_equal(dumbbell.com, [3.0, 0.0, 0.0])
    assert_array_equal(dumbbell.tensor, np.diag([0.0, 24.0, 24.0]))


def test_sum_commutes_and_a_massless_body_adds_nothing(rng):
    one, other = (inertia_of(*cloud(rng, 4)) for _ in range(2))
    assert_same(one + other, other + one)
    assert_same(one + Inertia.zero(), one)
    assert_same(Inertia.zero() + one, one)


def test_the_massless_body():
    zero = Inertia.zero()
    assert zero.mass == 0.0
    assert_array_equal(zero.com, np.zeros(3))
    assert_array_equal(zero.tensor, np.zeros((3, 3)))


def test_sum_of_massless_bodies_keeps_their_tensors():
    """A rotor given by its tensor only: there is no mass to divide by."""
    rotor = Inertia(0.0, [1.0, 2.0, 3.0], np.diag([1.0, 2.0, 3.0]))
    total = rotor + rotor
    assert total.mass == 0.0
    assert_array_equal(total.com, np.zeros(3))
    assert_array_equal(total.tensor, np.diag([2.0, 4.0, 6.0]))


@pytest.mark.claim(3)
@seeded
@given(seed=seeds)
def test_moved_is_the_inertia_of_the_moved_particles(seed):
    rng = np.random.default_rng(seed)
    masses, positions = cloud(rng, 6)
    rotation, p = Rotation.random(rng=rng), rng.uniform(-3.0, 3.0, 3)
    x_B_A = Pose.from_rotation_and_position(rotation.as_quat(scalar_first=True), p)
    moved = inertia_of(masses, positions).moved(x_B_A)
    assert_same(moved, inertia_of(masses, rotation.apply(positions) + p))


def test_moved_there_and_back_is_the_same_body(rng):
    body = inertia_of(*cloud(rng, 6))
    x = Pose.from_rotation_and_position(
        Rotation.random(rng=rng).as_quat(scalar_first=True), [1.0, -2.0, 3.0]
    )
    assert_same(body.moved(x).moved(x.conjugate()), body)
    assert_same(body.moved(x * x), body.moved(x).moved(x))


GOOD = {'mass': 2.0, 'com': [0.1, 0.2, 0.3], 'tensor': TENSOR}


def with_entry(value):
    tensor = TENSOR.copy()
    tensor[1, 1] = value
    return tensor


@pytest.mark.parametrize(
    ('name', 'value', 'message'),
    [
        ('mass', -1.0, r'mass must be finite and >= 0 kg, got -1\.0'),
        ('mass', -1e-300, 'mass must be'),
        ('mass', np.nan, 'mass must be finite and >= 0 kg, got nan'),
        ('mass', np.inf, 'mass must be finite and >= 0 kg, got inf'),
        ('com', [1.0, 2.0], r'centre of mass must be 3 finite numbers \[m\], got \[1\. 2\.\]'),
        ('com', [[1.0, 2.0, 3.0]], 'centre of mass must be'),
        ('com', [1.0, np.nan, 3.0], 'centre of mass must be 3 finite'),
        ('com', [1.0, -np.inf, 3.0], 'centre of mass must be 3 finite'),
        ('tensor', [1.0, 2.0, 3.0], r'inertia must be 3 x 3 finite numbers \[kg m\^2\]'),
        ('tensor', np.eye(2), 'inertia must be 3 x 3'),
        ('tensor', with_entry(np.nan), 'inertia must be 3 x 3 finite'),
        ('tensor', with_entry(np.inf), 'inertia must be 3 x 3 finite'),
        ('tensor', np.triu(TENSOR), 'inertia must be symmetric'),
        ('tensor', with_entry(-3.0), 'must not have a negative principal moment, got -3'),
        ('tensor', np.diag([1.0, 1.0, -1e-5]), 'negative principal moment, got -1e-05 kg m'),
        ('tensor', [[1, 2, 0], [2, 1, 0], [0, 0, 1]], 'negative principal moment, got -1 kg'),
    ],
)
def test_impossible_numbers_are_rejected_by_name(name, value, message):
    with pytest.raises(InvalidInputError, match=message) as caught:
        Inertia(**{**GOOD, name: value})
    assert isinstance(caught.value, KaneDynamicsError)
    assert isinstance(caught.value, ValueError)


def test_the_edge_of_validity_is_accepted():
    Inertia(0.0, np.zeros(3), np.zeros((3, 3)))  # massless
    Inertia(1.0, np.zeros(3), np.diag([0.0, 1.0, 1.0]))  # a thin rod
    Inertia(1.0, np.zeros(3), np.diag([1.0, 1.0, -1e-7]))  # six printed digits


def test_roundoff_of_a_thin_body_is_forgiven_for_its_mass_only():
    """Adding up 1 kg within 1 m leaves 1e-16 kg m^2; a negative moment of 2e-12 is a mistake."""
    Inertia(1.0, np.zeros(3), np.diag([-0.9e-12, 0.0, 0.0]))
    Inertia(1e3, np.zeros(3), np.diag([-0.9e-9, 0.0, 0.0]))
    for mass in (1.0, 1e3):
        with pytest.raises(InvalidInputError, match='negative principal moment'):
            Inertia(mass, np.zeros(3), np.diag([-1.1e-12 * mass, 0.0, 0.0]))
    with pytest.raises(InvalidInputError, match='negative principal moment'):
        Inertia(0.0, np.zeros(3), np.diag([-1e-13, 0.0, 0.0]))


def test_a_tensor_is_symmetric_to_the_last_bit_even_if_it_came_rounded():
    rounded = TENSOR.copy()
    rounded[0, 1] += 1e-10
    tensor = Inertia(1.0, np.zeros(3), rounded).tensor
    assert_array_equal(tensor, tensor.T)
    assert_allclose(tensor[0, 1], TENSOR[0, 1] + 0.5e-10, rtol=1e-15)


def test_the_symmetry_tolerance_is_relative():
    """The same relative roundoff passes, and the same relative error fails, in any unit."""
    skewed = np.array([[0.0, 1.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    for size in (1e-9, 1.0, 1e9):
        Inertia(1.0, np.zeros(3), size * (TENSOR + 1e-10 * skewed))
        with pytest.raises(InvalidInputError, match='symmetric'):
            Inertia(1.0, np.zeros(3), size * (TENSOR + 1e-8 * skewed))


def test_an_inertia_is_a_copy_that_cannot_be_changed():
    com, tensor = np.array([0.1, 0.2, 0.3]), TENSOR.copy()
    inertia = Inertia(2, com, tensor)
    com[0], tensor[0, 0] = 9.0, 9.0
    assert isinstance(inertia.mass, float)
    assert_array_equal(inertia.com, [0.1, 0.2, 0.3])
    assert_array_equal(inertia.tensor, TENSOR)
    for array in (inertia.com, inertia.tensor):
        with pytest.raises(ValueError, match='read-only'):
            array[0] = 1.0
    with pytest.raises(dataclasses.FrozenInstanceError):
        inertia.mass = 3.0


def test_a_broken_triangle_rule_warns_with_the_link_and_the_moments():
    R = Rotation.from_euler('xyz', [0.3, 0.5, 0.7]).as_matrix()
    impossible = Inertia(1.0, np.zeros(3), R @ np.diag([1.0, 2.0, 3.5]) @ R.T)
    problem = triangle_problem('arm_3', impossible.tensor)
    assert re.match(r"link 'arm_3'.* 1, 2, 3\.5 kg m\^2.*triangle rule", problem)


@pytest.mark.parametrize(
    'moments', [(1.0, 2.0, 2.9), (1.0, 2.0, 3.0), (0.0, 1.0, 1.0), (1.0, 2.0, 3.000001)]
)
def test_a_possible_body_does_not_warn(moments):
    """Also the flat plate, the thin rod and six printed digits, which sit on the edge."""
    assert not triangle_problem('link', np.diag(moments))


def test_any_cloud_of_particles_obeys_the_triangle_rule(rng):
    for count in (1, 2, 3, 10):
        assert not triangle_problem('cloud', inertia_of(*cloud(rng, count)).tensor)
