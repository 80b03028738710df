# SPDX-License-Identifier: Apache-2.0
"""Passes over cells against linear programs, and what lies between places."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import linprog

from kane_dynamics.trajectories.limit_rows import largest_scaling, peaks
from kane_dynamics.trajectories.speed_profile import CellInequalities

PLACES = np.linspace(-1.0, 1.0, 9)


@pytest.mark.parametrize('seed', range(20))
def test_speeds_are_those_of_linear_programs(seed):
    """Of one after the other, from the end backwards and then forwards."""
    rng = np.random.default_rng(seed)
    cells, rows = 6, 5
    h = rng.uniform(0.5, 1.0, cells)
    a, b = rng.normal(size=(2, cells, 2 * rows))
    a[:, rows:] = -a[:, :rows]
    b = np.abs(b) * 0.2
    if seed % 2:  # so much braking that x may fall to less than is left of it
        a, b = 0.1 * a, b * 10.0 ** rng.uniform(-1.0, 1.0, (cells, 1))
    room = rng.uniform(0.5, 1.0, a.shape)
    found = CellInequalities(h, a, b, room).fastest()
    left = np.append(np.cumsum(h[::-1])[::-1], 0.0)
    lower, upper = np.zeros((2, cells + 1))
    for k in reversed(range(cells)):
        least = 0.5 * left[k + 1] / left[k]  # of x, that is left
        matrix = np.vstack(
            [
                np.column_stack([a[k], b[k]]),
                [[2 * h[k], 1.0], [-2 * h[k], -1.0], [-2 * h[k], least - 1.0]],
            ]
        )
        bounds = np.concatenate([room[k], [upper[k + 1], -lower[k + 1], 0.0]])
        ends = [
            linprog([0.0, s], matrix, bounds, bounds=[(None, None), (0.0, None)]).fun * s
            for s in (1.0, -1.0)
        ]
        lower[k], upper[k] = ends
    assert found.lost == -1
    x = 0.0
    for k in range(cells):
        most = min(((room[k] - b[k] * x) / a[k])[a[k] > 0.0].min(), (upper[k + 1] - x) / 2 / h[k])
        assert found.x[k] == pytest.approx(x, abs=1e-9)
        assert found.u[k] == pytest.approx(most, abs=1e-7)
        x += 2.0 * h[k] * most


def test_what_must_be_fast_in_one_cell_is_slow_again_behind_it():
    """Each u is as large as it may be; x >= 1 in the third cell needs all of it before."""
    most = np.array([0.2625, 0.2625, -0.2, -0.2, 5.0])
    least = np.array([0.0, 0.0, 1.0, 0.0, 0.0])
    a = np.tile([1.0, -1.0, 0.0, 0.0], (5, 1))
    b = np.tile([0.0, 0.0, -1.0, 1.0], (5, 1))
    room = np.column_stack([most, np.full(5, 5.0), -least, np.full(5, 9.0)])
    found = CellInequalities(np.ones(5), a, b, room).fastest()
    assert_allclose(found.x, [0.0, 0.525, 1.05, 0.65, 0.25, 0.0], atol=1e-12)
    room[0, 0] = 0.2
    assert CellInequalities(np.ones(5), a, b, room).fastest().lost == 0


def test_rows_that_contradict_each_other_are_named():
    a, b, room = np.array([[1.0, -1.0, 1.0]]), np.zeros((1, 3)), np.array([[-1.0, -1.0, 5.0]])
    found = CellInequalities(np.ones(1), a, b, room).fastest()
    assert (found.lost, found.rows) == (0, (0, 1))


@pytest.mark.parametrize('most', [0.7, 0.1 + 0.2])
def test_equal_and_opposite_rows_leave_one_acceleration(most):
    a, b = np.array([[1.0, -1.0], [1.0, -1.0]]), np.zeros((2, 2))
    room = np.array([[round(most, 9), -most], [-most, most]])  # but for roundoff
    found = CellInequalities(np.ones(2), a, b, room).fastest()
    assert_allclose(found.u, [most, -most], rtol=1e-12)


@pytest.mark.parametrize('top', [-0.9, -0.3, 0.0, 0.07, 0.5])
def test_a_parabola_peaks_between_places(top):
    values = 1.2 - 3.0 * (PLACES[:, None] - [top, -top]) ** 2
    assert_allclose(peaks(values[None]), [[1.2, 1.2]], rtol=1e-12)


def test_what_rises_or_sags_peaks_at_an_end():
    values = np.stack([PLACES**3 + PLACES, -PLACES, PLACES**2], axis=1)
    assert_allclose(peaks(values[None]), [[2.0, 1.0, 1.0]], rtol=1e-12)


@pytest.mark.parametrize('seed', range(20))
def test_the_pace_is_the_largest_up_to_which_nothing_is_exceeded(seed):
    rng = np.random.default_rng(seed)
    inertial, drag, still = rng.normal(size=(3, 4, 3)) * [[[2.0]], [[0.5]], [[0.2]]]
    pace = largest_scaling(inertial, drag, np.minimum(still, 0.9), 1.0)
    paces = np.linspace(0.0, 1.0, 20001)[:, None, None]
    uses = (paces * (paces * inertial + drag) + np.minimum(still, 0.9)).max(axis=(1, 2))
    kept = paces[uses <= 1.0 + 1e-9].max()
    assert pace <= kept + 1e-4
    assert uses[int(pace * 20000)] <= 1.0 + 1e-3
