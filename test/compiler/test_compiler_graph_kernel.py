# SPDX-License-Identifier: Apache-2.0
"""Machine code of graphs that are no functions of the table."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import kane_dynamics as kd
from kane_dynamics.algebra.scalars import exp, where
from kane_dynamics.algebra.traced_scalar import symbols
from kane_dynamics.compiler.graph_kernel import GraphKernel


def formula(x, p):
    """Return three numbers of two of a row and two parameters, floats or traced."""
    return [exp(-x[0]) * p[0], where(x[1] > p[1], x[1], p[1]), x[0] / p[1]]


@pytest.mark.parametrize('count', [0, 1, 7, 8, 29])
def test_rows_share_parameters(count, rng):
    x, p = symbols('x', 2), symbols('p', 2)
    code = GraphKernel(kd.serial_chain(1), 'formula', x, p, formula(x, p))
    rows, parameters = rng.normal(size=(count, 2)), np.array([2.0, -0.1])
    expected = [formula(row, parameters) for row in rows]
    assert_allclose(code(rows, parameters), np.reshape(expected, (count, 3)), rtol=1e-14)
    parameters[1] = np.inf  # a limit that there is not
    assert (code(rows, parameters)[:, 1:] == [np.inf, 0.0]).all()
    rows[:1, 0] = np.nan
    assert np.isnan(code(rows, parameters)[:1]).all() or not count
    assert np.isfinite(code(rows, parameters)[1:, 0]).all()
