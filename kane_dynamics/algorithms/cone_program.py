# SPDX-License-Identifier: Apache-2.0
r"""
Quadratic programs over second-order cones, by the interior point method of Clarabel.

.. math:: \min \tfrac12 x^T P x + q^T x, \qquad b - A x \in R_+^k \times Q_1 \times \dots \times 0

(Goulart and Chen, 2024). The package is asked for where a problem needs it.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
import scipy

from kane_dynamics.exceptions import MissingPackageError
from kane_dynamics.typing import Floats


class ConeSolution(NamedTuple):
    """
    What the solver found.

    Attributes
    ----------
    x : ndarray, shape (n,)
        The solution.
    dual : ndarray, shape (m,)
        Multipliers of the rows of A; where there is no solution, a proof of that.
    solved, infeasible : bool
        How it ended; neither, where numbers are too far apart for double precision.

    """

    x: Floats
    dual: Floats
    solved: bool
    infeasible: bool


def cone_program(
    purpose: str,
    objective: tuple[Floats, Floats],
    rows: tuple[Floats, Floats],
    sizes: tuple[int, Sequence[int], int],
    accuracy: float,
) -> ConeSolution:
    """
    Solve a quadratic program over cones.

    Parameters
    ----------
    purpose : str
        What needs it, for the message where the solver is missing.
    objective : tuple of ndarray, shapes (n, n), (n,)
        P and q.
    rows : tuple of ndarray, shapes (m, n), (m,)
        A and b.
    sizes : tuple of int, sequence of int, int
        How many rows are bounds, then belong to each cone, then are equations.
    accuracy : float
        Of gap and rows.

    Raises
    ------
    MissingPackageError
        If Clarabel is not installed; the message says how.

    """
    try:
        clarabel: Any = import_module('clarabel')
    except ImportError as error:
        raise MissingPackageError(
            purpose, 'clarabel', "pip install 'kane_dynamics[cones]'"
        ) from error
    bounds, cones, equations = sizes
    kinds = [clarabel.NonnegativeConeT(bounds)] if bounds else []
    kinds += [clarabel.SecondOrderConeT(size) for size in cones]
    kinds += [clarabel.ZeroConeT(equations)] if equations else []
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = accuracy
    P, A = (scipy.sparse.csc_matrix(x) for x in (objective[0], rows[0]))
    result = clarabel.DefaultSolver(P, objective[1], A, rows[1], kinds, settings).solve()
    status = str(result.status)
    ended = 'Solved' in status, 'Infeasible' in status
    return ConeSolution(np.array(result.x), np.array(result.z), *ended)
