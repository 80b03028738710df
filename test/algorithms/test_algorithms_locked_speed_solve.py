# SPDX-License-Identifier: Apache-2.0
"""Rows that hold one speed each, taken out of M: the solution of the whole system."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from kane_dynamics.algorithms.constrained_solve import AGREED, LockRow, solve_with_locked_speeds
from kane_dynamics.algorithms.row_elimination import SparseRows, sparse_rows

N = 5


def case(rng):
    """Return M, Q, rows of which 1 to 4 hold speeds 0, 0, 3 and 4, and their right sides."""
    root = rng.normal(size=(N, N))
    A = np.vstack([rng.normal(size=N), np.zeros((4, N))])
    A[[1, 2, 3, 4], [0, 0, 3, 4]] = 1.0, -1.0, -1.0, 1.0
    c = rng.normal(size=5)
    c[2] = -c[1]
    return root @ root.T + np.eye(N), rng.normal(size=N), A, c


def solved(M, Q, A, c, on, **options):
    """Return the solution where some rows are on."""
    on = np.array(on, dtype=float)
    rows, sides = on[:, None] * A, on * c
    lower = [{j: M[k, j] for j in range(k + 1)} for k in range(N)]
    own = tuple(range(5))
    system = SparseRows(sparse_rows(rows), own, own, (0,), (), certain=False)
    holds = {
        0: [LockRow(1, 1.0, on[1]), LockRow(2, -1.0, on[2])],
        3: [LockRow(3, -1.0, on[3])],
        4: [LockRow(4, 1.0, on[4])],
    }
    return solve_with_locked_speeds(lower, Q, system, sides.tolist(), holds, **options)


@pytest.mark.parametrize('seed', range(4))
def test_any_rows_hold(seed):
    rng = np.random.default_rng(seed)
    M, Q, A, c = case(rng)
    for number in range(2**5):
        on = [number >> k & 1 for k in range(5)]
        found = solved(M, Q, A, c, on)
        chosen = np.flatnonzero(on)
        # the rows of speed 0 repeat each other: the pseudoinverse shares their force
        system = np.block([[M, -A[chosen].T], [A[chosen], np.zeros((len(chosen),) * 2)]])
        wanted = np.linalg.pinv(system) @ np.r_[Q, c[chosen]]
        # a random M of condition up to 1e3
        assert_allclose(found.x, wanted[:N], rtol=0, atol=1e-10)
        forces = np.zeros(5)
        forces[chosen] = wanted[N:]
        assert_allclose(np.array(found.multipliers, float), forces, rtol=0, atol=1e-10)
        rank = len(chosen) - (on[1] and on[2])
        assert found.rank == rank
        assert found.rcond > 0.0
        taken = [k for k in range(5) if not found.dropped[k]]
        assert taken == [k for k in chosen if not (k == 2 and on[1])]


def test_rows_that_hold_a_speed_must_agree():
    rng = np.random.default_rng(9)
    M, Q, A, c = case(rng)
    every = [1, 1, 1, 1, 1]
    c[2] += 0.5 * AGREED
    assert solved(M, Q, A, c, every).rcond > 0.0
    c[2] += AGREED
    assert solved(M, Q, A, c, every).rcond == 0.0
    assert solved(M, Q, A, c, every, holonomic=True).rcond > 0.0
    assert solved(M, Q, A, c, [1, 0, 1, 1, 1]).rcond > 0.0
    assert solved(M, Q, A, c, [1, 1, 0, 1, 1]).rcond > 0.0
