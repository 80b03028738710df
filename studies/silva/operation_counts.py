# SPDX-License-Identifier: Apache-2.0
r"""
Operations of the algorithms of Silva et al., counted in their traced graphs (section 6, Table 3).

dqNE is one run of the Newton-Euler recursion (19)-(30); dqGP is the closed form M (46), C (47),
g (50) of Gauss's principle. The very functions of `kane_dynamics.algorithms` run on CasADi
scalars: what is counted is what one robot costs, after products with zeros and ones have vanished
and common subexpressions are shared. Table 3 counts any joints and no such savings.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, fields
from functools import reduce
from operator import or_

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike, NDArray

from kane_dynamics.algebra.traced_scalar import column, symbols
from kane_dynamics.algorithms.mass_matrix import (
    gauss_coriolis_matrix,
    gauss_gravity_force,
    gauss_mass_matrix,
)
from kane_dynamics.algorithms.newton_euler import newton_euler
from kane_dynamics.compiler.graphs.traced_state import matrix
from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.robot.robot import Robot

_FREE = frozenset((ca.OP_CONST, ca.OP_INPUT, ca.OP_OUTPUT, ca.OP_ASSIGN))
_KINDS = {
    'multiplications': frozenset((ca.OP_MUL, ca.OP_SQ)),
    'divisions': frozenset((ca.OP_DIV, ca.OP_INV)),
    'additions': frozenset((ca.OP_ADD, ca.OP_SUB, ca.OP_TWICE)),
    'negations': frozenset((ca.OP_NEG,)),
    'trigonometric': frozenset(
        (ca.OP_SIN, ca.OP_COS, ca.OP_TAN, ca.OP_ASIN, ca.OP_ACOS, ca.OP_ATAN, ca.OP_ATAN2)
    ),
}
_COUNTED = reduce(or_, _KINDS.values())


@dataclass(frozen=True)
class OperationCounts:
    """
    Operations on scalars; made by `count_operations`.

    Parameters
    ----------
    multiplications : int
        Products and squares.
    divisions : int
        Quotients and reciprocals.
    additions : int
        Sums, differences and doublings.
    negations : int
        Changes of sign, which most processors do for nothing.
    trigonometric : int
        Sines, cosines, tangents and their inverses.
    other : int
        Everything else that computes: roots, comparisons, powers.

    """

    multiplications: int = 0
    divisions: int = 0
    additions: int = 0
    negations: int = 0
    trigonometric: int = 0
    other: int = 0

    @property
    def products(self) -> int:
        """Return multiplications and divisions: the first column of Table 3."""
        return self.multiplications + self.divisions

    @property
    def sums(self) -> int:
        """Return additions and negations: the second column of Table 3."""
        return self.additions + self.negations

    @property
    def total(self) -> int:
        """Return all operations."""
        return sum(getattr(self, field.name) for field in fields(self))


def count_operations(graph: ca.Function) -> OperationCounts:
    """
    Return the operations of a graph; constants, inputs, outputs and copies are free.

    Parameters
    ----------
    graph : casadi.Function
        Of ``SX`` expressions.

    Raises
    ------
    InvalidInputError
        If it is no function of scalar expressions.

    """
    if not isinstance(graph, ca.Function) or not graph.is_a('SXFunction'):
        raise InvalidInputError(f'need a casadi.Function of SX expressions, got {graph!r}')
    found = Counter(graph.instruction_id(k) for k in range(graph.n_instructions()))
    kinds = {name: sum(found[code] for code in codes) for name, codes in _KINDS.items()}
    other = sum(n for code, n in found.items() if code not in _FREE | _COUNTED)
    return OperationCounts(**kinds, other=other)


def newton_euler_graph(robot: Robot) -> ca.Function:
    r"""
    Return dqNE, :math:`(q, v, \dot v) \mapsto M\dot v + C v + g` by (19)-(30), as a graph.

    Parameters
    ----------
    robot : Robot
        The robot; its friction and armature are left out.

    """
    q, v, a = symbols('q', robot.nq), symbols('v', robot.nv), symbols('a', robot.nv)
    tau = column(newton_euler(robot, q, v, a))
    return ca.Function('newton_euler', [column(q), column(v), column(a)], [tau])


def gauss_graph(robot: Robot) -> ca.Function:
    r"""
    Return dqGP, :math:`(q, v) \mapsto (M, C, g)` by (46), (47), (50), as a graph.

    Parameters
    ----------
    robot : Robot
        The robot; its armature is in M.

    """
    q, v = symbols('q', robot.nq), symbols('v', robot.nv)
    M = matrix(gauss_mass_matrix(robot, q), robot.nv)
    C = matrix(gauss_coriolis_matrix(robot, q, v), robot.nv)
    g = column(gauss_gravity_force(robot, q))
    return ca.Function('gauss', [column(q), column(v)], [M, C, g])


def share_subexpressions(graph: ca.Function) -> ca.Function:
    """Return the graph with common subexpressions computed once, those of all results too."""
    inputs = graph.sx_in()
    return ca.Function(graph.name(), inputs, ca.cse(graph.call(inputs)))


@dataclass(frozen=True, eq=False)
class PolynomialFit:
    """
    A polynomial through counts; made by `fit_polynomial`.

    Parameters
    ----------
    coefficients : ndarray, shape (degree + 1,)
        Highest power first, as for `numpy.polyval`.
    max_residual : float
        Largest distance of a count from the polynomial.
    relative_residual : float
        Norm of all distances over the norm of the counts.

    """

    coefficients: NDArray[np.float64]
    max_residual: float
    relative_residual: float

    def __call__(self, n: ArrayLike) -> NDArray[np.float64]:
        """Return the polynomial at n."""
        result: NDArray[np.float64] = np.polyval(self.coefficients, np.asarray(n, dtype=float))
        return result

    def __str__(self) -> str:
        """Return the polynomial in n, e.g. ``4n^3 + 386n^2 + 401n - 1``."""
        powers = range(len(self.coefficients) - 1, -1, -1)
        text = ''
        for power, number in zip(powers, self.coefficients, strict=True):
            sign = '-' if number < 0.0 else '+'
            variable = {0: '', 1: 'n'}.get(power, f'n^{power}')
            text += f' {sign} {abs(number):.4g}{variable}'
        return text.removeprefix(' + ').strip()


def fit_polynomial(sizes: ArrayLike, counts: ArrayLike, degree: int) -> PolynomialFit:
    """
    Return the polynomial of least squared distance from counts at sizes.

    Parameters
    ----------
    sizes, counts : array_like, shape (k,)
        Numbers of joints and operations; more different sizes than `degree`.
    degree : int
        >= 0.

    Raises
    ------
    InvalidInputError
        If shapes differ, a number is not finite, or there are too few sizes.

    """
    x, y = np.array(sizes, dtype=float), np.array(counts, dtype=float)
    if x.shape != y.shape or x.ndim != 1:
        raise InvalidInputError(
            f'sizes and counts need one shape (k,), got {x.shape} and {y.shape}'
        )
    if not (np.isfinite(x).all() and np.isfinite(y).all()):
        raise InvalidInputError('sizes and counts must be finite')
    if not isinstance(degree, (int, np.integer)) or degree < 0:
        raise InvalidInputError(f'degree must be a whole number >= 0, got {degree!r}')
    if len(np.unique(x)) <= degree:
        raise InvalidInputError(
            f'degree {degree} needs more than {degree} different sizes, got {len(np.unique(x))}'
        )
    lowest_first = np.polynomial.Polynomial.fit(x, y, degree).convert().coef
    coefficients = np.zeros(degree + 1)  # convert() drops zeros of the highest powers
    coefficients[degree + 1 - len(lowest_first) :] = lowest_first[::-1]
    distance = y - np.polyval(coefficients, x)
    scale = float(np.linalg.norm(y)) or 1.0
    return PolynomialFit(
        coefficients, float(np.abs(distance).max()), float(np.linalg.norm(distance)) / scale
    )
