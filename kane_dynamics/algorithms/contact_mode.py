# SPDX-License-Identifier: Apache-2.0
r"""
Forces that do not act along the rows they enforce: contacts that slide.

The normal force N of a sliding contact brings friction :math:`-\mu N s/|s|` with it, so it acts
along :math:`C_n - \mu \hat s^T C_t` while it keeps :math:`C_n \dot v = d`:

.. math:: M (x - x_f) = B^T f, \qquad A x = c.

Rows and directions are the same where nothing slides: Gauss's principle.
"""

from __future__ import annotations

import numpy as np

from kane_dynamics.algebra.triangular import solve_lower
from kane_dynamics.algorithms.udwadia_kalaba import SINGULAR, nearest
from kane_dynamics.exceptions import ContactError
from kane_dynamics.typing import Floats


def solve_mode(
    factor: Floats, free: Floats, A: Floats, B: Floats, right_side: Floats
) -> tuple[Floats, Floats]:
    """
    Return x with A x = c, and the forces along B that make it of `free`.

    Parameters
    ----------
    factor : ndarray, shape (nv, nv)
        L of M = L L', lower triangular.
    free : ndarray, shape (nv,)
        x without these forces.
    A, B : ndarray, shape (m, nv)
        Independent rows, and the directions of their forces.
    right_side : ndarray, shape (m,)
        c.

    Raises
    ------
    ContactError
        If the forces cannot enforce the rows.

    """
    if A is B or np.array_equal(A, B):
        return nearest(factor, A, free, right_side)
    rows = solve_lower(factor, A.T)
    pushes = solve_lower(factor, B.T)
    along, across = np.linalg.norm(rows, axis=0), np.linalg.norm(pushes, axis=0)
    response = (rows / along).T @ (pushes / across)
    if not np.linalg.cond(response) < 1.0 / SINGULAR:
        raise ContactError('the forces of sliding contacts do not move these contacts')
    forces = np.linalg.solve(response, (right_side - A @ free) / along) / across
    step = solve_lower(factor, pushes @ forces, transposed=True)
    return free + step, forces
