# SPDX-License-Identifier: Apache-2.0
"""Steps over cells: of fourth order along a row, of the middle where a row is no one equation."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp

from kane_dynamics.trajectories.cell_steps import CellSteps
from kane_dynamics.trajectories.limit_rows import LimitRows

START = 0.3
X = 0.8


def row(place, sign=1.0):
    """Return a, b and c of one row at a place."""
    return sign * (2.0 + np.sin(place)), 0.4 * np.cos(2.0 * place), 0.2 + 0.1 * place**2


def along(length, sign):
    """Return x at the end of a cell where the row is active all the way."""

    def rate(place, x):
        a, b, c = row(place, sign)
        return 2.0 * (1.0 - c - b * x) / a

    found = solve_ivp(rate, (START, START + length), [X], 'DOP853', rtol=1e-13, atol=1e-15)
    return found.y[0, -1]


@pytest.mark.parametrize('sign', [1.0, -1.0])
def test_a_step_along_a_row_is_of_fourth_order(sign):
    lengths = np.array([0.12, 0.06])
    parts = []
    for share in (0.0, 0.5, 1.0):
        a, b, c = (np.array([x]).T for x in row(START + share * lengths, sign))
        parts.append(LimitRows(a, b, 0.0 * a, c))
    cells = CellSteps(lengths, *parts)
    assert cells.curved.all()
    rows = cells.rows
    u = (1.0 - rows.c[:, 0] - rows.b[:, 0] * X) / rows.a[:, 0]
    errors = np.abs(X + 2.0 * lengths * u - [along(length, sign) for length in lengths])
    assert errors[0] < 1e-6
    assert np.log2(errors[0] / errors[1]) == pytest.approx(5.0, abs=0.3)  # of one step
    nodes = np.array([X, X + 2.0 * lengths[0] * u[0]])
    one = CellSteps(lengths[:1], *(part.part(slice(0, 1)) for part in parts))
    arcs = one.arcs(u[:1], nodes)
    assert (arcs.kinds.tolist(), arcs.rows.tolist()) == ([int(sign)], [0])
    for end, x, place in zip(arcs.ends[0], nodes, (START, START + lengths[0]), strict=True):
        a, b, c = row(place, sign)
        assert a * end + b * x + c == pytest.approx(1.0, abs=1e-12)


def test_a_row_that_turns_round_holds_in_the_middle():
    a = [np.array([[1.0, 1.0, 0.0]]), np.array([[0.2, 1.0, 0.0]]), np.array([[-0.5, 1.0, 0.0]])]
    b, c = np.array([[0.3, 90.0, 0.5]]), np.array([[0.1, 0.1, 0.1]])
    cells = CellSteps(np.array([0.1]), *(LimitRows(one, b, 0.0 * b, c) for one in a))
    assert not cells.curved.any()
    u, x = 0.7, 0.4
    rows = cells.rows
    assert_allclose(rows.a * u + rows.b * x + rows.c, a[1] * u + b * (x + 0.1 * u) + c, rtol=1e-12)
    arcs = cells.arcs(np.array([0.0]), np.array([x, x]))
    assert arcs.kinds.tolist() == [0]
    assert np.isnan(arcs.ends).all()


def test_what_is_cut_is_where_two_bounds_meet():
    """Up with u = 1, down with u = -2: x = 2 s meets x = 4 (1.2 - s) at 0.8."""
    one = np.ones((3, 1))
    rows = LimitRows(one * [1.0, -0.5], one * [0.0, 0.0], one * [0.0, 0.0], one * [0.0, 0.0])
    grid = np.array([0.0, 0.5, 1.0, 1.2])
    cells = CellSteps(np.diff(grid), rows, rows, rows)
    nodes = np.array([0.0, 1.0, 0.8, 0.0])
    u = np.diff(nodes) / (2.0 * np.diff(grid))
    arcs = cells.arcs(u, nodes)
    assert arcs.kinds.tolist() == [1, 0, -1]
    assert_allclose(cells.switches(grid, u, nodes, arcs), [0.8], rtol=1e-12)
