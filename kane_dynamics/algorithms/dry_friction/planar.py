# SPDX-License-Identifier: Apache-2.0
"""
All solutions of a few contacts that slip along one line each, by trying every state.

A contact is open, sticks, or slips one way or the other; each choice is a linear system. In
contrast to an iteration this finds every solution, and proves that there is none. Where contacts
share forces in many ways, the extreme ways are those in which some of them are about to slip or to
open: they are found as such states.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from math import prod

import numpy as np

from kane_dynamics.algorithms.dry_friction.problem import FrictionProblem
from kane_dynamics.typing import Floats

MOST_STATES = 300  # some 10 ms
# Relative to the size of what is given: errors of well scaled systems, and what differs.
_ACCURATE = 1e-10
_OTHER = 1e-7
_SINGULAR = 1e-11  # singular value, of rows of unit length


@dataclass(frozen=True, slots=True)
class _State:
    """Whether a contact's normal speed is zero, and which way it slips; 0 where it sticks."""

    closed: bool
    side: int


def planar_states(problem: FrictionProblem) -> list[tuple[_State, ...]]:
    """Return all states to try; none where contacts are not planar, or too many."""
    tangents = np.bincount(problem.owner, minlength=problem.count)
    if tangents.max(initial=0) > 1:
        return []
    ways = [
        [
            _State(closed, side)
            for closed in (False, True)
            for side in ((0, 1, -1) if rough and (closed or load > 0.0) else (0,))
        ]
        for rough, load in zip(
            (tangents > 0) & (problem.friction > 0.0), problem.load.tolist(), strict=True
        )
    ]
    return list(product(*ways)) if prod(map(len, ways)) <= MOST_STATES else []


def planar_solutions(problem: FrictionProblem, states: list[tuple[_State, ...]]) -> list[Floats]:
    """Return forces p of every motion that Coulomb's law allows."""
    result: list[tuple[Floats, Floats]] = []
    response = problem.response
    for state in states:
        p = _of_state(problem, response, state)
        if p is None:
            continue
        z = problem.pushes.T @ p
        if all(np.abs(z - other).max(initial=0.0) > _OTHER * problem.size for other, _ in result):
            result.append((z, p))
    return [p for _, p in result]


def _of_state(
    problem: FrictionProblem, response: Floats, state: tuple[_State, ...]
) -> Floats | None:
    """Return forces of a state of all contacts, if Coulomb's law allows it."""
    k, owner, load = problem.count, problem.owner, problem.load
    closed = np.array([one.closed for one in state])
    side = np.array([one.side for one in state], dtype=float)[owner]
    pressed = (closed | (load > 0.0)) & (problem.friction > 0.0)
    zero = np.concatenate([closed, (side == 0.0) & pressed[owner]])
    # normal forces, with the friction of those that slip, and tangents that stick are unknown
    columns = np.eye(len(zero))
    columns[k + np.arange(len(owner)), owner] = -side * problem.friction[owner]
    values = columns[:, :k] @ np.where(closed, 0.0, load)
    unknown = np.linalg.lstsq(
        response[zero] @ columns[:, zero],
        -(problem.free + response @ values)[zero],
        rcond=_SINGULAR,
    )[0]
    p: Floats = values + columns[:, zero] @ unknown
    u, allowed = response @ p + problem.free, _ACCURATE * problem.size + problem.roundoff(p)
    parts = u[:k] < -allowed, np.abs(u[zero]) > allowed, side * u[k:] < -allowed
    if any(part.any() for part in parts):
        return None
    return problem.lawful(p) if _is_allowed(problem, p, allowed) else None


def _is_allowed(problem: FrictionProblem, p: Floats, allowed: float) -> bool:
    pushes, pulls = p[: problem.count], p[problem.count :]
    if (pushes < problem.load - allowed).any():
        return False
    return bool((np.abs(pulls) <= (problem.friction * pushes)[problem.owner] + allowed).all())
