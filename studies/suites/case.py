# SPDX-License-Identifier: Apache-2.0
"""A published problem: what is simulated, what is known of its answer, and how close we come."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import kane_dynamics as kd

Observed = Callable[[np.ndarray, np.ndarray], Any]


@dataclass(frozen=True)
class Outcome:
    """What one run of a problem gave."""

    error: float  # largest deviation from the published answer, in its units
    cpu: float  # [s] of processor, without compilation
    fallbacks: int  # states that the reference computed


@dataclass(frozen=True)
class Case:
    """A problem with an answer that others published."""

    name: str
    source: str
    compared: str
    tolerance: float
    run: Callable[[], Outcome]


@dataclass(frozen=True)
class Model:
    """A robot with its rows, forces and first state."""

    robot: kd.Robot
    rows: Sequence[Any]
    q: Any
    v: Any
    passive_force: Callable[..., Any] | None = None


def simulated(
    model: Model,
    observed: Observed,
    answers: Mapping[float, Any],
    *,
    step: float = 1e-3,
    integrator: str = 'rk4',
    halvings: int = 0,
) -> Outcome:
    """Return how far compiled steps are from answers at some times [s]; the faster of two."""
    dynamics = kd.compile(model.robot, model.rows, passive_force=model.passive_force)
    engine = dynamics.engine(integrator, halvings=halvings)
    before = dynamics.fallback_count
    outcomes = [_run(model, engine, observed, answers, step) for _ in range(2)]
    error, spent = max(x for x, _ in outcomes), min(x for _, x in outcomes)
    return Outcome(error, spent, dynamics.fallback_count - before)


def _run(
    model: Model, engine: Any, observed: Observed, answers: Mapping[float, Any], step: float
) -> tuple[float, float]:
    """Return the largest error, and the processor time [s]."""
    q, v = np.array(model.q, dtype=float), np.array(model.v, dtype=float)
    still, moved, spent = np.zeros(model.robot.nv), 0.0, 0.0
    errors = []
    for until, answer in answers.items():
        count = round((until - moved) / step)
        began = time.thread_time()
        q, v = engine.advance(q, v, still, moved, step, count)
        spent += time.thread_time() - began
        moved += count * step
        errors.append(np.abs(np.asarray(observed(q, v)) - answer).max())
    return float(max(errors)), spent
