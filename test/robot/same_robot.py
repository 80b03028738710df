# SPDX-License-Identifier: Apache-2.0
"""Comparisons of two robots."""

import numpy as np
from numpy.testing import assert_allclose

from kane_dynamics.algorithms.newton_euler import newton_euler
from kane_dynamics.robot.motion import integrate_coordinates

BASES = ('fixed', 'planar', 'floating')


def random_state(loaded, rng):
    tangent, v, a = (rng.uniform(-1.0, 1.0, loaded.nv).tolist() for _ in range(3))
    return integrate_coordinates(loaded, loaded.neutral(), tangent, 1.0).tolist(), v, a


def assert_same_dynamics(one, other, rng):
    """Compare inverse dynamics at random states; coordinates are matched by name."""
    assert set(one.velocity_names) == set(other.velocity_names)
    to_q = [one.coordinate_index(name) for name in other.coordinate_names]
    to_v = [one.velocity_index(name) for name in other.velocity_names]
    for _ in range(3):
        q, v, a = random_state(one, rng)
        tau = newton_euler(one, q, v, a)[to_v]
        found = newton_euler(other, *([x[k] for k in order] for x, order in
                                      ((q, to_q), (v, to_v), (a, to_v))))  # fmt: skip
        assert_allclose(found, tau, rtol=0, atol=1e-12 * np.abs(tau).max())


def matrix(x):
    """Return a pose as a homogeneous matrix."""
    full = np.eye(4)
    full[:3, :3], full[:3, 3] = x.rotation_matrix(), x.position()
    return full
