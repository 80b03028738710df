# SPDX-License-Identifier: Apache-2.0
r"""
Base parameters: the combinations of parameters that a motion shows (Gautier and Khalil 1990).

Rows W phi of a motion have rank r. With r leading columns, W_1 of full rank and W_2 = W_1 K,

.. math:: W \phi = W_1 \beta, \quad \beta = \phi_1 + K \phi_2

A parameter is seen alone if no vector that W maps to zero has it, unseen if its column is zero,
and seen only in sums otherwise. That does not depend on which columns lead; those lead after which
sums read best.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import qr, solve_triangular

from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.typing import Floats, Indices

__all__ = ['BaseParameters', 'base_parameters']

ALONE, IN_SUMS, UNSEEN = 'alone', 'only in sums', 'unseen'
MOVING = 1e-8  # of the largest column, what is below it is roundoff
RANK = 1e-4  # of columns of unit length; less is noise, or an angle that a URDF rounds, 1.5708


@dataclass(frozen=True, eq=False)
class BaseParameters:
    """
    What rows of equations say of their unknowns.

    Parameters
    ----------
    names : tuple of str
        Of all p unknowns.
    leading : ndarray, shape (r,)
        Columns that lead.
    matrix : ndarray, shape (r, p)
        B of beta = B phi; the unit matrix in the leading columns.
    status : tuple of str
        Of each unknown: ALONE, IN_SUMS or UNSEEN.
    condition : float
        Condition number of the r most independent columns, each of unit length.
    independent : ndarray, shape (r,)
        The most independent columns.

    """

    names: tuple[str, ...]
    leading: Indices
    matrix: Floats
    status: tuple[str, ...]
    condition: float
    independent: Indices

    @property
    def rank(self) -> int:
        """Return r."""
        return len(self.leading)

    @property
    def sums(self) -> tuple[str, ...]:
        """Return beta in words, e.g. 'my2 - 0.316 (m3 + m4) - mz3'."""
        rows = zip(self.matrix, self.leading, strict=True)
        return tuple(_sum(self.names, *row) for row in rows)

    def with_status(self, status: str) -> tuple[str, ...]:
        """Return the names of the unknowns of a status."""
        pairs = zip(self.names, self.status, strict=True)
        return tuple(name for name, one in pairs if one == status)


def base_parameters(
    rows: Floats, names: Sequence[str], preferences: Sequence[int]
) -> BaseParameters:
    """
    Return the base parameters of rows of equations.

    Parameters
    ----------
    rows : ndarray, shape (n, p)
        W, or the triangle R of W = Q R.
    names : sequence of str
        Of the columns.
    preferences : sequence of int
        How early each column leads, where several could.

    Raises
    ------
    InvalidInputError
        If all rows are zero.

    Examples
    --------
    >>> from kane_dynamics.identification.base_parameters import base_parameters
    >>> rows = np.array([[1.0, 2.0, 0.0], [3.0, 6.0, 0.0]])
    >>> base = base_parameters(rows, ['m1', 'm2', 'm3'], [0, 1, 1])
    >>> base.sums, base.status
    (('m1 + 2 m2',), ('only in sums', 'only in sums', 'unseen'))

    """
    lengths = np.linalg.norm(rows, axis=0)
    moving = np.flatnonzero(lengths > MOVING * lengths.max(initial=0.0))
    if not moving.size:
        raise InvalidInputError('rows: all are zero, the motion shows nothing')
    R, order = qr(rows[:, moving] / lengths[moving], mode='r', pivoting=True)
    pivots = np.abs(np.diag(R))
    rank = int(np.sum(pivots > RANK * pivots[0]))
    between = np.zeros((rank, len(moving)))  # the space of the rows, without their roundoff
    between[:, order[:rank]] = np.eye(rank)
    between[:, order[rank:]] = solve_triangular(R[:rank, :rank], R[:rank, rank:])
    leading = leading_columns(between, [preferences[k] for k in moving.tolist()])
    local = np.linalg.solve(between[:, leading], between)
    local = local * lengths[moving] / lengths[moving[leading]][:, None]
    matrix = np.zeros((rank, len(names)))
    matrix[:, moving] = np.where(np.abs(local) > RANK, local, 0.0)
    status = np.full(len(names), UNSEEN, dtype=object)
    shared = np.count_nonzero(matrix, axis=1) > 1
    for i, k in enumerate(moving):
        rows_of = np.flatnonzero(matrix[:, k])
        alone = i in leading and not shared[rows_of].any()
        status[k] = ALONE if alone else IN_SUMS
    seen = matrix, tuple(status), float(np.linalg.cond(R[:rank, :rank]))
    return BaseParameters(tuple(names), moving[leading], *seen, moving[order[:rank]])


def leading_columns(matrix: Floats, preferences: Sequence[int]) -> Indices:
    """Return independent columns, as many as there are rows, early ones first."""
    basis, selection = np.zeros((len(matrix), 0)), list[int]()
    for k in np.argsort(preferences, kind='stable'):
        across = matrix[:, k] - basis @ (basis.T @ matrix[:, k])
        across = across - basis @ (basis.T @ across)  # once more: roundoff of the first
        size = float(np.linalg.norm(across))
        if size > RANK * np.linalg.norm(matrix[:, k]):
            basis = np.column_stack([basis, across / size])
            selection.append(int(k))
        if len(selection) == len(matrix):
            break
    return np.sort(np.array(selection, dtype=np.intp))


def _sum(names: Sequence[str], row: Floats, leader: int) -> str:
    """Return a combination in words, equal factors of a kind of parameter in brackets."""
    groups: dict[tuple[str, float], list[str]] = {}
    for k in np.flatnonzero(row).tolist():
        if k != leader:
            kind = names[k].rstrip('0123456789')
            groups.setdefault((kind, float(f'{row[k]:.3g}')), []).append(names[k])
    text = names[leader]
    for (_, factor), members in groups.items():
        listed = members if len(members) < 4 else [members[0], '...', members[-1]]
        inner = ' + '.join(listed)
        inner = inner if len(members) == 1 else f'({inner})'
        size = '' if abs(factor) == 1.0 else f'{abs(factor):g} '
        text += f' {"+" if factor > 0 else "-"} {size}{inner}'
    return text
