# SPDX-License-Identifier: Apache-2.0
"""Matrices of vectors and rotations, triangular solves and QR."""

from collections.abc import Callable, Sequence

import numpy as np
import scipy

from kane_dynamics.algebra.scalars import REAL_NUMBER, Scalar, as_array, is_zero
from kane_dynamics.typing import Floats, NDArray


def matrix_of(rows: Sequence[Sequence[Scalar]]) -> NDArray:
    """Return rows of scalars as a matrix of floats, or of objects where one is traced."""
    return as_array([entry for row in rows for entry in row]).reshape(len(rows), -1)


def symmetric_of(entry: Callable[[int, int], Scalar]) -> NDArray:
    """Return a symmetric matrix, shape (3, 3), from its entries (i, j) with i <= j."""
    rows: list[list[Scalar]] = [[0.0] * 3 for _ in range(3)]
    for i in range(3):
        for j in range(i, 3):
            rows[i][j] = rows[j][i] = entry(i, j)
    return matrix_of(rows)


def cross_rows(a: Floats, b: Floats) -> Floats:
    """Return a x b along the last axis; numpy.cross takes eight times as long on few rows."""
    result: Floats = a.take(_YZX, -1) * b.take(_ZXY, -1) - a.take(_ZXY, -1) * b.take(_YZX, -1)
    return result


def cross_product(a: Sequence[float], b: Sequence[float]) -> tuple[float, float, float]:
    """Return a x b of plain floats, which arrays of three take ten times as long for."""
    (x, y, z), (u, v, w) = a, b
    return y * w - z * v, z * u - x * w, x * v - y * u


_YZX, _ZXY = np.array([1, 2, 0]), np.array([2, 0, 1])


def skew(a: NDArray) -> NDArray:
    """
    Return S(a) with S(a) b = a x b, shape (3, 3).

    Parameters
    ----------
    a : ndarray, shape (3,)
        Any vector.

    Examples
    --------
    >>> from kane_dynamics.algebra import skew
    >>> skew([1.0, 2.0, 3.0]) @ [0.0, 0.0, 1.0]
    array([ 2., -1.,  0.])

    """
    x, y, z = a
    return matrix_of(((0.0, -z, y), (z, 0.0, -x), (-y, x, 0.0)))


def product(a: NDArray, b: NDArray) -> NDArray:
    """Return a b; where entries are traced, zeros multiply nothing and stay plain zeros."""
    if a.dtype != object and b.dtype != object:
        return a @ b
    columns = b[:, None] if b.ndim == 1 else b
    result = np.zeros((a.shape[0], columns.shape[1]), dtype=object)
    filled = [[j for j, entry in enumerate(row) if not is_zero(entry)] for row in columns]
    for i, row in enumerate(a):
        for k, entry in enumerate(row):
            if not is_zero(entry):
                for j in filled[k]:
                    term = entry * columns[k, j]
                    known = result[i, j]
                    result[i, j] = term if is_zero(known) else known + term
    return result[:, 0] if b.ndim == 1 else result


def scaled(a: NDArray, s: Scalar) -> NDArray:
    """Return s a; where one of them is traced, zeros stay plain zeros."""
    if isinstance(s, REAL_NUMBER):
        return a * s
    result = np.zeros(a.shape, dtype=object)
    for index, entry in np.ndenumerate(a):
        if not is_zero(entry):
            result[index] = entry * s
    return result


def block_matrix(first: NDArray, last: NDArray, below: NDArray | None = None) -> NDArray:
    """Return [[A, 0], [C, B]] of blocks A, B and C of shape (3, 3)."""
    C = np.zeros((3, 3)) if below is None else below
    matrix = np.zeros((6, 6), dtype=np.result_type(first, last, C))
    matrix[:3, :3], matrix[3:, 3:], matrix[3:, :3] = first, last, C
    return matrix


Matrix = Floats


def solve_lower(L: Matrix, B: Matrix, *, transposed: bool = False) -> Matrix:
    """Return L^-1 B, or L'^-1 B."""
    if not B.size:
        return np.zeros(B.shape)
    if not (diagonal := L.diagonal()).all():
        zero = 1 + int(np.argmin(diagonal != 0.0))
        raise np.linalg.LinAlgError(f'triangular matrix with a zero at {zero} of its diagonal')
    # LAPACK's dtrtrs would start OpenBLAS's threads for the smallest matrices
    x = scipy.linalg.blas.dtrsm(1.0, L, B, lower=1, trans_a=int(transposed))
    return x if x.ndim == B.ndim else x[:, 0]


def orthonormal(A: Matrix, *, complete: bool = False) -> tuple[Matrix, Matrix]:
    """Return Q and R of A = Q R."""
    n, m = A.shape
    if not m:
        return np.eye(n, n if complete else 0), np.zeros((0, 0))
    factors, tau, _, _ = scipy.linalg.lapack.dgeqrf(A)
    wide = factors
    if complete:
        wide = np.zeros((n, n), order='F')
        wide[:, :m] = factors
    Q, _, _ = scipy.linalg.lapack.dorgqr(wide, tau)
    return Q, factors[:m]


def triangle(A: Matrix) -> Matrix:
    """Return R of A = Q R, shape (m, m); what stands below its diagonal makes Q."""
    m = A.shape[1]
    return np.asarray(scipy.linalg.lapack.dgeqrf(A)[0][:m]) if m else np.zeros((0, 0))


def row_lengths(A: Matrix) -> Matrix:
    """Return the norm of each row, along the last axis."""
    return np.asarray(np.sqrt(np.einsum('...i,...i->...', A, A)))


def solve_squared(L: Matrix, B: Matrix) -> Matrix:
    """Return (L L')^-1 B; parameters and errors as for `solve_lower`."""
    return solve_lower(L, solve_lower(L, B), transposed=True)
