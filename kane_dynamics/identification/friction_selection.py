# SPDX-License-Identifier: Apache-2.0
"""Terms of friction by cross-validation: those that predict what they were not fitted to."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import product

import numpy as np
from scipy.optimize import nnls

from kane_dynamics.analysis.joint_friction import SMOOTHING, FrictionTerm
from kane_dynamics.analysis.momentum_observer import ObservedSpeeds
from kane_dynamics.dynamics import Dynamics
from kane_dynamics.identification import estimation
from kane_dynamics.identification.equations import Equations
from kane_dynamics.identification.friction import LINK_SIDE, dissipation_rows
from kane_dynamics.identification.samples import Samples
from kane_dynamics.typing import Floats

__all__ = ['select_friction']

CANDIDATES = (
    *(FrictionTerm('coulomb', smoothing=v0) for v0 in (0.002, 0.005, 0.01)),
    *(FrictionTerm('stribeck', scale) for scale in (0.1, 1.0)),
    *(FrictionTerm('presliding', travel) for travel in (0.001, 0.002, 0.005, 0.01, 0.02)),
)
GAIN = 0.05  # of the error, for each term
QUARTERS = 4
_ROUNDOFF = 1e-10  # of a square: what is left of columns that others explain


def select_friction(
    dynamics: Dynamics,
    samples: Sequence[Samples],
    *,
    start: Sequence[FrictionTerm] = LINK_SIDE,
    candidates: Sequence[FrictionTerm] = CANDIDATES,
    speeds: ObservedSpeeds | None = None,
) -> dict[str, tuple[FrictionTerm, ...]]:
    """
    Return the terms of each observed speed.

    Each combination of the start and at most one candidate of a kind is fitted to three quarters
    of each recording, with inertial parameters near the robot's and the start's terms of other
    speeds, and predicts the fourth quarter, whichever that is. The one with the least sum of the
    four rms errors is selected, where each term more must lower it by 5 %. A candidate takes the
    place of the start's term of its kind; Stribeck's v_0 is Coulomb's. Tests need other samples.

    Parameters
    ----------
    dynamics, samples, speeds
        As of `identify`.
    start : sequence of FrictionTerm
        Terms that every speed has.
    candidates : sequence of FrictionTerm
        Terms that it may have, at most one of a kind.

    Examples
    --------
    >>> from kane_dynamics.identification.friction_selection import select_friction
    >>> from kane_dynamics.identification.samples import prepared_samples
    >>> d, t = kd.dynamics(kd.serial_chain(1)), np.arange(0.0, 9.0, 0.02)
    >>> q, v, a = np.sin(2.0 * t)[:, None], np.cos(2.0 * t)[:, None], -np.sin(2.0 * t)[:, None]
    >>> tau = d.inverse_dynamics(q, 2.0 * v, 4.0 * a)
    >>> terms = select_friction(d, prepared_samples(t, q, tau, 2.0 * v, corner=5.0))
    >>> [term.kind for term in terms['joint_1']]
    ['viscous', 'coulomb', 'offset']

    """
    observed = ObservedSpeeds(dynamics) if speeds is None else speeds
    kinds = {kind: [x for x in candidates if x.kind == kind] for kind, *_ in candidates}
    combinations = [
        _with((*start, *more)) for more in product(*([None, *x] for x in kinds.values()))
    ]
    columns = list(dict.fromkeys(x for one in (start, *combinations) for x in one))
    equations = Equations(dynamics, observed, dict.fromkeys(observed.names, columns))
    cones = [([columns.index(x) for x in one], _cone(one)) for one in combinations]
    prices = (1.0 - GAIN) ** -np.array([len(one) for one in combinations])
    quarters = _squares(equations, samples)
    costs = np.zeros((len(observed.names), len(combinations)), np.float32)  # without roundoff
    for test in quarters:
        complements = _complements(quarters.sum(axis=0) - test, equations.inertial, len(start))
        for cost, square, (T, complement) in zip(costs, test, complements, strict=True):
            cost += prices * _errors(complement, T.T @ square @ T, cones)
    return {name: combinations[k] for name, k in zip(observed.names, costs.argmin(1), strict=True)}


def _with(terms: Iterable[FrictionTerm | None]) -> tuple[FrictionTerm, ...]:
    """Return terms, the last of each kind in the place of the first; one v_0 for all."""
    kinds = {x.kind: x for x in terms if x}
    v0 = kinds['coulomb'].smoothing if 'coulomb' in kinds else SMOOTHING
    return tuple(x._replace(smoothing=v0) if x.kind == 'stribeck' else x for x in kinds.values())


def _cone(terms: Sequence[FrictionTerm]) -> Floats:
    """Return B of f = B u, u >= 0: all coefficients that the terms can have."""
    offset = np.eye(len(terms))[:, [x.kind == 'offset' for x in terms]]
    return np.hstack([np.linalg.pinv(dissipation_rows([('', x) for x in terms])), offset, -offset])


def _squares(equations: Equations, samples: Iterable[Samples]) -> Floats:
    """Return X' X of X = (dtau/dy, F, tau - W phi_0) by quarter and speed."""
    p, n = equations.inertial, len(equations.speeds.names)
    width = len(equations.columns) // n
    columns = [[*range(p), *range(p + j * width, p + (j + 1) * width), -1] for j in range(n)]
    squares = np.zeros((QUARTERS, n, p + width + 1, p + width + 1))
    for one in samples:
        ends = np.array([len(one) * k // QUARTERS for k in range(1, QUARTERS)])
        for rows in equations.chunks([one]):
            X = rows[:, np.arange(n)[:, None], columns].swapaxes(0, 1)
            for k, part in enumerate(np.split(X, np.maximum(ends, 0), axis=1)):
                squares[k] += part.swapaxes(1, 2) @ part
            ends -= len(rows)
    T = np.eye(p + width + 1)
    phi_0, T[:p, :p], _ = estimation.inertial_coordinates(equations.dynamics.robot)
    T[:p, -1] = -phi_0
    return np.asarray(T.T @ squares @ T)


def _complements(squares: Floats, p: int, start: int) -> Iterator[tuple[Floats, Floats]]:
    """Yield, by speed, the `_complement` of y, with the start's terms of the other speeds."""
    inner, outer = [*range(p), -1], [*range(p + start), -1]
    shared = np.array([_complement(x, p, p + start)[1] for x in squares[:, outer][..., outer]])
    prior, errors = estimation.NEARNESS * np.diag([*np.ones(p), 0.0]), shared[:, -1, -1]
    for _ in range(estimation.PASSES):
        weights = np.divide(1.0, errors * len(errors), out=0.0 * errors, where=errors > 0.0)
        total = prior + np.tensordot(weights, shared, 1)
        y = np.append(np.linalg.solve(total[:p, :p], total[:p, -1]), -1.0)
        errors = y @ shared @ y
    for one, local in zip(*(weights[:, None, None] * x for x in (squares, shared)), strict=True):
        one[np.ix_(inner, inner)] += total - local
        yield _complement(one, 0, p)


def _complement(square: Floats, first: int, last: int) -> tuple[Floats, Floats]:
    """Return T of x = T z, z all but some entries, of least |X x|, and T' X' X T (Schur)."""
    T = np.delete(np.eye(len(square)), slice(first, last), axis=1)
    sizes = np.diag(square)[first:last]
    block = square[first:last, first:last] + np.diag(_ROUNDOFF * sizes + (sizes == 0.0))
    T[first:last] = -np.linalg.solve(block, square[first:last] @ T)
    return T, T.T @ square @ T


def _errors(training: Floats, test: Floats, cones: Iterable[tuple[list[int], Floats]]) -> Floats:
    """Return by how much combinations (columns, B of f = B u), fitted to training, miss a test."""
    values, vectors = np.linalg.eigh(training)
    rows = np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T
    squares = []
    for columns, cone in cones:
        f = np.append(cone @ nnls(rows[:, columns] @ cone, rows[:, -1])[0], -1.0)
        squares.append(f @ test[np.ix_([*columns, -1], [*columns, -1])] @ f)
    return np.sqrt(np.maximum(squares, 0.0))
