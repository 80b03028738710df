# SPDX-License-Identifier: Apache-2.0
"""Rotation vectors against scipy, and their rates by differences, beside a series too."""

import casadi as ca
import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.transform import Rotation

from kane_dynamics.algebra.pose import (
    rate_of_turning,
    rotation_vector,
    turned_by,
    turned_by_rate,
)
from kane_dynamics.algebra.quaternions import make_quaternion, pure, vec3

ANGLES = [0.0, 1e-12, 1e-9, 1e-4, 2.1e-4, 0.5, 0.999, 1.001, 2.0, 3.1, np.pi - 1e-9]
H = 1e-5


def vectors(angle):
    rng = np.random.default_rng(7)
    axis, u, rate = rng.normal(size=(3, 3))
    return angle * axis / np.linalg.norm(axis), u, rate


@pytest.mark.parametrize('angle', ANGLES)
@pytest.mark.parametrize('sign', [1.0, -1.0])
def test_rotation_vector_is_that_of_scipy(angle, sign):
    e, _, _ = vectors(angle)
    x, y, z, w = sign * Rotation.from_rotvec(e).as_quat()
    assert_allclose(vec3(rotation_vector(make_quaternion(w, x, y, z))), e, rtol=4e-15, atol=1e-16)


@pytest.mark.parametrize('angle', ANGLES)
def test_rates_and_angular_velocities_go_together(angle):
    e, u, rate = vectors(angle)
    ends = [Rotation.from_rotvec(e + s * H * u) for s in (1.0, -1.0)]
    omega = (ends[0] * ends[1].inv()).as_rotvec() / (2.0 * H)
    found = vec3(turned_by(pure(e), pure(u)))
    assert_allclose(found, omega, rtol=0, atol=2e-9)  # H^2 of the differences
    assert_allclose(vec3(rate_of_turning(pure(e), pure(found))), u, rtol=1e-13)
    ends = [vec3(turned_by(pure(e + s * H * rate), pure(u))) for s in (1.0, -1.0)]
    slope = (ends[0] - ends[1]) / (2.0 * H)
    assert_allclose(vec3(turned_by_rate(pure(e), pure(rate), pure(u))), slope, rtol=0, atol=2e-9)


def test_traced_ones_are_the_same():
    e, u, rate = vectors(0.7)
    x, y, z, w = Rotation.from_rotvec(e).as_quat()
    numbers = w, x, y, z
    symbols = [ca.SX.sym(f'x{k}') for k in range(4)]

    def together(quaternion):
        turned = rotation_vector(quaternion)
        parts = turned, turned_by(turned, pure(u)), turned_by_rate(turned, pure(rate), pure(u))
        return [c for part in parts for c in vec3(part)]

    traced = ca.Function('f', symbols, [ca.vertcat(*together(make_quaternion(*symbols)))])
    found = np.array(traced(*numbers)).ravel()
    assert_allclose(found, together(make_quaternion(*numbers)), rtol=1e-14)
