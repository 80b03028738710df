# SPDX-License-Identifier: Apache-2.0
"""The traced form of what rows ask and give, on numbers, against the reference."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import kane_dynamics as kd
from kane_dynamics.algorithms.constrained_inverse import balance_force
from kane_dynamics.algorithms.projection import complete_entries
from kane_dynamics.algorithms.row_elimination import SparseRows
from kane_dynamics.algorithms.traced_inverse_solve import PivotedSolve, TracedInverseSolve
from kane_dynamics.constraints.base import ConstraintRows
from kane_dynamics.constraints.row_selection import select_rows

NV = 6
SOLVED = 1e-12
WELL_CONDITIONED = 1e-6
ROBOT = kd.serial_chain(NV)


def rows_of(rng, count, again=()):
    """Return A of some rows and multiples of them, their balance and selection."""
    A = rng.normal(size=(count, NV))
    A[0, ::2] = 0.0
    factors = rng.uniform(0.5, 3.0, len(again))
    A = np.vstack([A, *(factor * A[k] for factor, k in zip(factors, again, strict=True))])
    order = list(range(count))
    sparse = [{k: x for k, x in enumerate(row) if x} for row in A.tolist()]
    kinds, repeated = list(range(len(A))), list(range(count, len(A)))
    balance = PivotedSolve(SparseRows(sparse, kinds, kinds, order, repeated), NV)
    rows = ConstraintRows.of(A, np.zeros(len(A)), np.zeros(len(A)))
    return A, balance, select_rows(rows)


@pytest.mark.parametrize('seed', range(4))
@pytest.mark.parametrize('known', [(2, 3, 4, 5), (0, 1, 2, 4, 5), (0, 1, 2, 3, 4, 5)])
def test_completed_entries(seed, known):
    rng = np.random.default_rng(seed)
    A, balance, _ = rows_of(rng, 2, again=(1,))
    x = rng.normal(size=NV)
    c = A @ x
    vague = np.array([x[k] if k in known else 9.0 for k in range(NV)])
    found = balance.completed(vague.tolist(), c.tolist(), known)
    assert_allclose(found.x, x, rtol=0, atol=SOLVED)
    assert_allclose(
        found.x, complete_entries(ROBOT, A[:2], c[:2], vague, known), rtol=0, atol=SOLVED
    )
    assert found.rcond > WELL_CONDITIONED
    assert balance.allowed(x.tolist(), c.tolist()) > WELL_CONDITIONED
    # the reference says what is wrong with the others
    assert balance.completed(vague.tolist(), c.tolist(), known[3:]).rcond < WELL_CONDITIONED
    if len(known) > 4:
        assert balance.completed((vague + 0.1).tolist(), c.tolist(), known).rcond == 0.0
    for row in range(3):
        assert balance.allowed(x.tolist(), (c + 0.1 * np.eye(3)[row]).tolist()) == 0.0
    assert balance.agreed(x.tolist(), (c + 0.1 * np.eye(3)[0]).tolist()) == 1.0
    assert balance.agreed(x.tolist(), (c + 0.1 * np.eye(3)[2]).tolist()) == 0.0


@pytest.mark.parametrize('seed', range(4))
@pytest.mark.parametrize(
    'driven', [(2, 3, 4, 5), (1, 2, 3, 4, 5), (0, 1, 2, 3, 4, 5), (0, 2, 3, 5)]
)
def test_balanced_forces(seed, driven):
    rng = np.random.default_rng(10 + seed)
    A, balance, selection = rows_of(rng, 2, again=(0, 1, 1))
    force, weights = rng.normal(size=NV), rng.uniform(0.5, 2.0, NV)
    found = balance.balanced(force.tolist(), driven, weights.tolist())
    taken = A[selection.independent_indices]
    effort, multipliers, rank, residual = balance_force(ROBOT, taken, driven, force, weights)
    assert_allclose(found.effort, effort, rtol=0, atol=SOLVED)
    assert_allclose(found.multipliers, selection.shared(multipliers), rtol=0, atol=SOLVED)
    assert_allclose(found.effort + A.T @ found.multipliers, force, rtol=0, atol=SOLVED)
    assert_allclose(found.remaining, 0.0, rtol=0, atol=SOLVED)
    assert found.rcond > WELL_CONDITIONED
    assert (rank, residual < SOLVED) == (NV, True)


NEAR = 3e-3  # two rows that differ by this are too weak to be solved for


@pytest.mark.parametrize('choices', [([0, 1], [0, 2]), ([0, 2], [0, 1])])
def test_of_two_choices_of_rows_the_stronger_counts(choices):
    rng, driven, known = np.random.default_rng(7), (1, 2, 3, 4, 5), (0, 2, 3, 4, 5)
    A = rng.normal(size=(3, NV))
    A[1] = A[0] + NEAR * A[2]
    rows, kinds = [dict(enumerate(row)) for row in A.tolist()], [0, 0, 0]
    first, second = choices
    system = SparseRows(rows, kinds, kinds, first, [3 - sum(first)], second=second)
    both, strong = (
        TracedInverseSolve(system, NV),
        PivotedSolve(SparseRows(rows, kinds, kinds, [0, 2], [1]), NV),
    )
    x, force = rng.normal(size=NV), rng.normal(size=NV).tolist()
    x -= np.linalg.pinv(A) @ A @ x
    rest, vague = [0.0] * 3, [*x[:1], 9.0, *x[2:]]
    found, expected = (one.completed(vague, rest, known) for one in (both, strong))
    assert_allclose(found.x, x, rtol=0, atol=SOLVED)
    assert found.rcond == expected.rcond > WELL_CONDITIONED
    assert both.allowed(x.tolist(), rest) == strong.allowed(x.tolist(), rest) > WELL_CONDITIONED
    given, wanted = (one.balanced(force, driven, [1.0] * NV) for one in (both, strong))
    for name in ('effort', 'multipliers', 'remaining'):
        assert_allclose(getattr(given, name), getattr(wanted, name), rtol=0, atol=SOLVED)
    assert given.rcond == wanted.rcond > WELL_CONDITIONED
    assert both.agreed(x.tolist(), rest) == 1.0
    for row in (1, 2):  # each repeats the others in one of the choices
        assert both.agreed(x.tolist(), (0.1 * np.eye(3)[row]).tolist()) == 0.0


def test_what_cannot_be_given_has_no_health():
    rng = np.random.default_rng(3)
    _, balance, _ = rows_of(rng, 2)
    force = rng.normal(size=NV)
    found = balance.balanced(force.tolist(), (3, 4, 5), [1.0] * NV)
    assert found.rcond == 0.0
    assert np.abs(found.remaining).max() > 0.01


def test_rows_that_the_rule_may_judge_otherwise_have_no_health():
    rows = [{0: 1.0}, {0: 1.0, 1: 3e-3}]
    kinds = [0, 1]
    both = PivotedSolve(SparseRows(rows, kinds, kinds, [0, 1]), NV)
    one = PivotedSolve(SparseRows(rows, kinds, kinds, [0], [1]), NV)
    assert both.rcond < WELL_CONDITIONED
    assert one.rcond == 0.0
    uncertain = PivotedSolve(SparseRows(rows, kinds, kinds, [0, 1], certain=False), NV)
    assert uncertain.rcond < WELL_CONDITIONED
