# SPDX-License-Identifier: Apache-2.0
"""When rollouts step and are kept, and what they give."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kane_dynamics.exceptions import InvalidInputError, KaneDynamicsError
from kane_dynamics.robot.checks import as_choice, as_count, as_nonnegative, as_positive
from kane_dynamics.simulation.integrators import INTEGRATORS
from kane_dynamics.typing import Floats

_WHOLE = 1e-6  # of a step: what division leaves of a duration that was meant as whole steps


@dataclass(frozen=True)
class Schedule:
    """Steps of equal length."""

    step: float  # Length of a step [s]
    count: int  # Number of steps
    every: int  # Steps from one state that is kept to the next, 0 where only the last is
    integrator: str  # Key of `INTEGRATORS`
    projection: bool  # Whether drift off the constraints is projected away

    @property
    def samples(self) -> int:
        """Return how many states of a rollout are kept."""
        return 1 + self.count // self.every if self.every else 1

    @property
    def times(self) -> Floats:
        """Return when, shape (samples,) [s]."""
        if not self.every:
            return np.array([self.count * self.step])
        return self.step * (self.every * np.arange(float(self.samples)))

    def sample(self, done: int) -> int | None:
        """Return the place of the state after some steps among those kept, None if it is none."""
        if not self.every:
            return 0 if done == self.count else None
        return None if done % self.every else done // self.every


def schedule(
    duration: float, step: float, every: int | None, integrator: str, projection: bool
) -> Schedule:
    """Return the steps of a duration."""
    h = as_positive('step [s]', step)
    steps = as_nonnegative('duration [s]', duration) / h
    if abs(steps - round(steps)) > _WHOLE:
        raise InvalidInputError(
            f'duration [s]: need a whole number of steps of {h:g} s, got {duration:g} s'
        )
    kept = 0 if every is None else as_count('every', every, 1)
    as_choice('integrator', integrator, sorted(INTEGRATORS))
    return Schedule(h, round(steps), kept, integrator, bool(projection))


@dataclass(frozen=True, eq=False)
class Rollouts:
    """
    Motions of B rollouts.

    Parameters
    ----------
    q, v : ndarray or None
        The last states, shapes (B, nq), (B, nv); with `every`, states at `times`, shapes
        (B, S, nq), (B, S, nv); None with `reduce`. NaN where a motion did not get.
    times : ndarray, shape (S,)
        Of the states that were kept or reduced [s]; the last alone without `every`.
    reduced : ndarray or None
        What `reduce` made of the states, shape (B, ...).
    steps : ndarray of int, shape (B,)
        Steps that each rollout took: all, but where it failed or its start was not finite.
    failures : mapping of int to KaneDynamicsError
        Why rollouts ended early, by their number.
    fallback_count : int
        How many steps, and states on the way to the constraints, the reference took because
        machine code was not sure.

    """

    q: Floats | None
    v: Floats | None
    times: Floats
    reduced: NDArray[Any] | None
    steps: NDArray[Any]
    failures: Mapping[int, KaneDynamicsError]
    fallback_count: int
