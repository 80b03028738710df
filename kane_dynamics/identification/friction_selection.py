# SPDX-License-Identifier: Apache-2.0
"""Terms of friction by forward selection: those that predict every block of a recording better."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from kane_dynamics.analysis.joint_friction import SMOOTHING, FrictionTerm
from kane_dynamics.analysis.momentum_observer import ObservedSpeeds
from kane_dynamics.dynamics import Dynamics
from kane_dynamics.identification.base_parameters import base_parameters
from kane_dynamics.identification.equations import Equations, Triangles
from kane_dynamics.identification.estimation import consistent_parameters, least_squares
from kane_dynamics.identification.friction import LINK_SIDE
from kane_dynamics.identification.samples import Samples
from kane_dynamics.typing import Bools, Floats

__all__ = ['select_friction']

CANDIDATES = (
    *(FrictionTerm('coulomb', smoothing=v0) for v0 in (0.002, 0.005, 0.01)),
    FrictionTerm('stribeck', 0.1),
    *(FrictionTerm('presliding', travel) for travel in (0.001, 0.002, 0.005, 0.01, 0.02)),
)
GAIN = 0.05  # of the errors of all blocks together
BLOCKS = 4
Split = tuple[Triangles, Triangles, Floats]
Selection = dict[str, tuple[FrictionTerm, ...]]


def select_friction(
    dynamics: Dynamics,
    samples: Sequence[Samples],
    *,
    start: Sequence[FrictionTerm] = LINK_SIDE,
    candidates: Sequence[FrictionTerm] = CANDIDATES,
    speeds: ObservedSpeeds | None = None,
) -> Selection:
    """
    Return the terms of each observed speed.

    Each recording is cut into four blocks. A candidate is added to a speed if, fitted on three
    blocks, it predicts the fourth better, whichever that is, and all four together by more than
    5 %; of several the one with the least error. One of a kind that all speeds have, Coulomb's of
    another v_0, takes the place of it, which adds no unknown: then all four together are enough.
    Stribeck's v_0 is Coulomb's. In the end each term is tried without once more. Samples for tests
    must not be among these.

    Parameters
    ----------
    dynamics : Dynamics
        Of either engine, of the robot as it is known.
    samples : sequence of Samples
        From `prepared_samples`.
    start : sequence of FrictionTerm
        Terms that every speed has.
    candidates : sequence of FrictionTerm
        Terms that it may have, at most one of a kind.
    speeds : ObservedSpeeds, optional
        Speeds whose efforts were measured; all where left out.

    Examples
    --------
    >>> from kane_dynamics.identification.friction_selection import select_friction
    >>> from kane_dynamics.identification.samples import prepared_samples
    >>> d, t = kd.dynamics(kd.serial_chain(1)), np.arange(0.0, 9.0, 0.02)
    >>> q, v, a = np.sin(2.0 * t)[:, None], np.cos(2.0 * t)[:, None], -np.sin(2.0 * t)[:, None]
    >>> tau = d.inverse_dynamics(q, 2.0 * v, 4.0 * a)
    >>> terms = select_friction(d, prepared_samples(t, q, tau, 2.0 * v, corner=5.0))
    >>> [term.kind for term in terms['joint_1']][:3]
    ['viscous', 'coulomb', 'offset']

    """
    observed = ObservedSpeeds(dynamics) if speeds is None else speeds
    every = *start, *candidates
    columns = dict.fromkeys(term for x in every for y in every for term in _with((x,), y))
    equations = Equations(dynamics, observed, dict.fromkeys(observed.names, tuple(columns)))
    blocks = [equations.triangles(_block(samples, k)) for k in range(BLOCKS)]
    splits = [_split(blocks, k) for k in range(BLOCKS)]
    selection: Selection = dict.fromkeys(observed.names, tuple(start))
    errors = _errors(equations, splits, selection)
    while True:
        better, least = dict(selection), errors.sum(axis=0)
        for candidate in candidates:
            tried = {name: _with(terms, candidate) for name, terms in selection.items()}
            after = _errors(equations, splits, tried)
            gains = _helps(errors, after, candidate, start) & (after.sum(axis=0) < least)
            for k in np.flatnonzero(gains):
                name = observed.names[k]
                better[name], least[k] = tried[name], after[:, k].sum()
        if better == selection:
            return _without_idle_terms(equations, splits, selection, start)
        selection = better
        errors = _errors(equations, splits, selection)


def _without_idle_terms(
    equations: Equations,
    splits: Sequence[Split],
    selection: Selection,
    start: Sequence[FrictionTerm],
) -> Selection:
    """Return the terms that still help: those of other speeds have been added since."""
    errors = _errors(equations, splits, selection)
    for k, (name, terms) in enumerate(list(selection.items())):
        for term in (x for x in terms if x not in start):
            others = (x for x in selection[name] if x.kind != term.kind)
            shorter = {**selection, name: _with(start, *others)}
            without = _errors(equations, splits, shorter)
            if not _helps(without, errors, term, start)[k]:
                selection, errors = shorter, without
    return selection


def _helps(
    before: Floats, after: Floats, term: FrictionTerm, start: Sequence[FrictionTerm]
) -> Bools:
    """Return which speeds are predicted better by a gain, in every block if a term is added."""
    every = (after < before).all(axis=0) | (term.kind in [x.kind for x in start])
    return np.asarray(every & (after.sum(axis=0) < (1.0 - GAIN) * before.sum(axis=0)))


def _with(terms: Sequence[FrictionTerm], *more: FrictionTerm) -> tuple[FrictionTerm, ...]:
    """Return terms and more, each in the place of that of its kind; one v_0 for all."""
    kinds = {x.kind: x for x in (*terms, *more)}
    v0 = kinds['coulomb'].smoothing if 'coulomb' in kinds else SMOOTHING
    return tuple(x._replace(smoothing=v0) if x.kind == 'stribeck' else x for x in kinds.values())


def _block(samples: Iterable[Samples], k: int) -> Iterator[Samples]:
    """Yield block k of each recording."""
    return (x.part(slice(len(x) * k // BLOCKS, len(x) * (k + 1) // BLOCKS)) for x in samples)


def _split(blocks: Sequence[Triangles], k: int) -> Split:
    """Return block k, the others together, and deviations of the equations of each speed."""
    first, *others = (one for i, one in enumerate(blocks) if i != k)
    training = sum(others, first)
    names = [str(i) for i in range(training.factors.shape[-1] - 1)]
    rows = training.weighted(np.ones(len(training.counts)))[:, :-1]
    base = base_parameters(rows, names, range(len(names)))
    return blocks[k], training, least_squares(training, base).deviations


def _errors(equations: Equations, splits: Sequence[Split], selection: Selection) -> Floats:
    """Return the error of each speed in each block by fits on the others, shape (blocks, n)."""
    local = replace(equations, friction=selection)
    indices = [equations.columns.index(column) for column in local.columns]
    columns = [*range(local.inertial), *(local.inertial + k for k in indices)]
    masses = np.ones(len(local.dynamics.robot.bodies), dtype=bool)
    errors = []
    for unseen, training, deviations in splits:
        solution = consistent_parameters(local, training.take(columns), deviations, masses)
        errors.append(np.sqrt(unseen.take(columns).squares(solution) / unseen.counts))
    return np.array(errors)
