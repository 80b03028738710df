# SPDX-License-Identifier: Apache-2.0
"""Operations of dqNE and dqGP against the number of joints, and how long both take."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from time import perf_counter
from typing import Any

import casadi as ca
import numpy as np
import scipy.linalg

import kane_dynamics as kd
from kane_dynamics.algorithms.mass_matrix import gauss_gravity_force
from kane_dynamics.typing import Floats
from studies.silva.operation_counts import (
    OperationCounts,
    PolynomialFit,
    count_operations,
    fit_polynomial,
    gauss_graph,
    newton_euler_graph,
    share_subexpressions,
)

Say = Callable[[str], None]
DQNE, DQGP = 'dqNE', 'dqGP'
DEGREE = {DQNE: 1, DQGP: 3}
LARGEST = 50
SIZES = {
    DQNE: tuple(range(1, LARGEST + 1)),
    DQGP: (*range(1, 11), 12, 15, 20, 30, LARGEST),  # 50 joints take most of a minute
}
QUICK_SIZES = {DQNE: (1, 2, 3, 4, 5, 8), DQGP: (1, 2, 3, 4, 5, 8)}
_GRAPHS = {DQNE: newton_euler_graph, DQGP: gauss_graph}
_RUNS = 5  # of which the fastest counts


@dataclass(frozen=True, eq=False)
class Counts:
    """
    Operations of one algorithm for serial chains.

    Parameters
    ----------
    algorithm : str
        'dqNE' or 'dqGP'.
    sizes : tuple of int
        Numbers of joints.
    counts : tuple of OperationCounts
        At each size, common subexpressions shared.
    unshared : OperationCounts
        At the largest size, as the algorithm is written.
    largest : casadi.Function
        Graph of the largest size.

    """

    algorithm: str
    sizes: tuple[int, ...]
    counts: tuple[OperationCounts, ...]
    unshared: OperationCounts
    largest: ca.Function

    def fit(self, kind: str) -> PolynomialFit:
        """Return the polynomial of 'products' or 'sums', of the degree that Table 3 has."""
        numbers = [getattr(count, kind) for count in self.counts]
        return fit_polynomial(self.sizes, numbers, DEGREE[self.algorithm])

    def as_dict(self) -> dict[str, Any]:
        """Return everything but the graph, for the file."""
        fits = {kind: self.fit(kind) for kind in ('products', 'sums')}
        return {
            'algorithm': self.algorithm,
            'sizes': list(self.sizes),
            'counts': [asdict(count) for count in self.counts],
            'unshared_at_largest': asdict(self.unshared),
            'fits': {
                kind: {
                    'coefficients': fit.coefficients.tolist(),
                    'max_residual': fit.max_residual,
                    'relative_residual': fit.relative_residual,
                }
                for kind, fit in fits.items()
            },
        }


def count(
    algorithm: str, sizes: Sequence[int], say: Callable[[str, int], None] = lambda what, size: None
) -> Counts:
    """Return the operations of one algorithm for chains of each size; say(what comes, n done)."""
    found, before = [], 0
    for n in sizes:
        say(f'{algorithm}, {n} joints', before)
        before = n
        written = _GRAPHS[algorithm](kd.serial_chain(n))
        graph = share_subexpressions(written)
        found.append(count_operations(graph))
    unshared = count_operations(written)
    say(algorithm, before)
    return Counts(algorithm, tuple(sizes), tuple(found), unshared, graph)


@dataclass(frozen=True)
class Timing:
    """
    Times for accelerations of the largest chain [s], None where not measured.

    Parameters
    ----------
    way : str
        What runs the algorithm.
    one_run : float or None
        Inverse dynamics, one run of dqNE.
    newton_euler : float or None
        n + 2 runs of dqNE and a solve.
    gauss : float or None
        M, C and g of dqGP and a solve.

    """

    way: str
    one_run: float | None
    newton_euler: float | None
    gauss: float | None


def timings(counts: dict[str, Counts], say: Say = lambda what: None) -> list[Timing]:
    """Return times of the largest chain, the same one in both counts."""
    n = counts[DQGP].sizes[-1]
    robot = kd.serial_chain(n)
    rng = np.random.default_rng(n)
    q, v, a, tau = rng.uniform(-0.5, 0.5, (4, n))
    say('timing: functions of this package')
    by = partial(kd.forward_dynamics, robot, q, v, tau)
    plain = Timing(
        'Python functions of this package',
        _fastest(lambda: kd.inverse_dynamics(robot, q, v, a)),
        _fastest(lambda: by(method='newton_euler')),
        _fastest(lambda: _gauss_in_python(robot, q, v, tau)),
    )
    say('timing: the counted graphs')
    recursion = Evaluator(counts[DQNE].largest)
    closed_form = Evaluator(counts[DQGP].largest)
    graphs = Timing(
        'the counted graphs, interpreted by CasADi',
        _fastest(lambda: recursion(q, v, a)),
        _fastest(lambda: by_runs(lambda *x: recursion(*x)[0], q, v, tau)),
        _fastest(lambda: by_closed_form(closed_form, q, v, tau)),
    )
    say('timing: machine code')
    fast = kd.compile(robot)
    code = Timing(
        'machine code of kd.compile',
        _fastest(lambda: fast.inverse_dynamics(q, v, a)),
        _fastest(lambda: by_runs(fast.inverse_dynamics, q, v, tau)),
        None,
    )
    return [plain, graphs, code]


class Evaluator:
    """A graph with buffers of its own, so that calls cost little more than its operations."""

    def __init__(self, graph: ca.Function) -> None:
        self._buffer, self._call = graph.buffer()
        self.arguments = [np.zeros(graph.nnz_in(k)) for k in range(graph.n_in())]
        self.results = [np.zeros(graph.nnz_out(k)) for k in range(graph.n_out())]
        for k, array in enumerate(self.arguments):
            self._buffer.set_arg(k, memoryview(array))
        for k, array in enumerate(self.results):
            self._buffer.set_res(k, memoryview(array))
        # CasADi stores columns
        self._places = [graph.sparsity_out(k).get_triplet() for k in range(graph.n_out())]

    def __call__(self, *values: Floats) -> list[Floats]:
        """Return the nonzeros of all results, in arrays that the next call overwrites."""
        for array, value in zip(self.arguments, values, strict=True):
            array[:] = value
        self._call()
        return self.results

    def matrix(self, k: int, n: int) -> Floats:
        """Return a result as an n x n array."""
        full = np.zeros((n, n))
        full[tuple(self._places[k])] = self.results[k]
        return full


def by_runs(inverse: Callable[..., Any], q: Floats, v: Floats, tau: Floats) -> Floats:
    """Return accelerations by n + 2 runs: g, C v + g, and the columns of M."""
    n = len(q)
    rest, unit = np.zeros(n), np.eye(n)
    gravity = np.array(inverse(q, rest, rest))
    bias = np.array(inverse(q, v, rest))
    M = np.array([np.array(inverse(q, rest, column)) - gravity for column in unit])
    return _solved(M, tau - bias)


def by_closed_form(graph: Evaluator, q: Floats, v: Floats, tau: Floats) -> Floats:
    """Return accelerations by M, C and g."""
    g = graph(q, v)[2]
    M, C = graph.matrix(0, len(q)), graph.matrix(1, len(q))
    return _solved(M, tau - C @ v - g)


def _gauss_in_python(robot: kd.Robot, q: Floats, v: Floats, tau: Floats) -> Floats:
    M, C = kd.mass_matrix(robot, q), kd.coriolis_matrix(robot, q, v)
    return _solved(M, tau - C @ v - gauss_gravity_force(robot, q))


def _solved(M: Floats, force: Floats) -> Floats:
    result: Floats = scipy.linalg.solve(M, force, assume_a='pos')
    return result


def _fastest(work: Callable[[], Any]) -> float:
    """Return the time of the fastest of some calls after a first one [s]."""
    work()
    times = []
    for _ in range(_RUNS):
        start = perf_counter()
        work()
        times.append(perf_counter() - start)
    return min(times)
