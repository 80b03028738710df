# SPDX-License-Identifier: Apache-2.0
"""Rollouts on their way: states, what is kept of them, and which have ended."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from kane_dynamics.exceptions import KaneDynamicsError
from kane_dynamics.rollouts.inputs import Inputs
from kane_dynamics.rollouts.reference_steps import ReferenceSteps
from kane_dynamics.rollouts.schedule import Schedule
from kane_dynamics.simulation.many_motions import ManyMotions, Motions
from kane_dynamics.typing import Floats

Tell = Callable[[int], None]
"""Takes the number of steps that are done."""


class Chunk:
    """
    States of some rollouts.

    Parameters
    ----------
    schedule : Schedule
        The steps.
    inputs : Inputs
        Of these rollouts.
    kept : tuple of ndarray, shapes (b, S, nq), (b, S, nv)
        Takes the states of `schedule.times`.

    Attributes
    ----------
    q, v : ndarray, shapes (b, nq), (b, nv)
        Present states.
    done : ndarray, shape (b,)
        Steps taken, whole floats.
    active : ndarray of bool, shape (b,)
        Which rollouts go on.
    failures : dict of int to KaneDynamicsError
        Why others do not.

    """

    def __init__(self, schedule: Schedule, inputs: Inputs, kept: tuple[Floats, Floats]) -> None:
        self.schedule, self.inputs, self.kept = schedule, inputs, kept
        self.q, self.v = np.array(inputs.q, order='C'), np.array(inputs.v, order='C')
        self.done = np.zeros(len(inputs))
        states = np.hstack([self.q, self.v])
        self.active: NDArray[np.bool_] = np.array(np.isfinite(states).all(axis=1))
        self.failures: dict[int, KaneDynamicsError] = {}
        for array in kept:
            array[...] = np.nan

    def start(self, row: int, steps: ReferenceSteps) -> None:
        """Move a rollout onto the constraints, and keep its start."""
        try:
            self.q[row], self.v[row] = steps.start(row, self.q[row].copy(), self.v[row].copy())
        except KaneDynamicsError as error:
            self.end(row, error)
        else:
            self.keep(row)

    def step(self, row: int, steps: ReferenceSteps) -> None:
        """Take one step of a rollout, and keep its end."""
        state = self.q[row].copy(), self.v[row].copy()
        try:
            self.q[row], self.v[row] = steps.step(row, int(self.done[row]), *state)
        except KaneDynamicsError as error:
            self.end(row, error)
        else:
            self.done[row] += 1
            self.keep(row)

    def keep(self, row: int) -> None:
        """Keep the present state of a rollout where it is one of those."""
        place = self.schedule.sample(int(self.done[row]))
        if place is not None:
            for array, state in zip(self.kept, (self.q, self.v), strict=True):
                array[row, place] = state[row]

    def end(self, row: int, error: KaneDynamicsError) -> None:
        """Leave a rollout where it is."""
        self.active[row] = False
        self.failures[row] = error

    def at_once(self, code: ManyMotions, steps: ReferenceSteps, tell: Tell) -> int:
        """
        Run all rollouts by machine code, and steps that it is not sure of by the reference.

        Return how many these are.
        """
        motions, fallback_count = self._motions(code), 0
        constrained = self.schedule.projection and steps.constrained
        rows = np.flatnonzero(self.active)
        ill = code.start(motions, rows) if constrained else np.zeros(len(rows), dtype=bool)
        if (first := self.schedule.sample(0)) is not None:
            self.kept[0][rows, first], self.kept[1][rows, first] = self.q[rows], self.v[rows]
        for row in rows[ill].tolist():
            self.start(row, steps)
        fallback_count += int(ill.sum())
        while len(rows := np.flatnonzero(self.active & (self.done < self.schedule.count))):
            ill = code.run(motions, rows, self.schedule.count)
            for row in rows[ill].tolist():
                self.step(row, steps)
            fallback_count += int(ill.sum())
            tell(int(self.done.sum()))
        if not self.schedule.every:
            self.kept[0][self.active, 0] = self.q[self.active]
            self.kept[1][self.active, 0] = self.v[self.active]
        return fallback_count

    def _motions(self, code: ManyMotions) -> Motions:
        inputs, count = self.inputs, self.schedule.count
        payloads = {
            frame: (payload.mass, payload.com, payload.inertia)
            for frame, payload in inputs.payloads.items()
        }
        parameters = code.parameters(len(inputs), inputs.gains, inputs.gravity, payloads)
        piece = max(1, count // inputs.efforts.shape[1])
        how = self.schedule.step, piece, self.schedule.every
        return Motions(self.q, self.v, self.done, inputs.efforts, parameters, self.kept, *how)

    def by_state(self, steps: ReferenceSteps, tell: Tell) -> None:
        """Run rollouts to their ends one after the other."""
        for row in np.flatnonzero(self.active).tolist():
            self.start(row, steps)
            while self.active[row] and self.done[row] < self.schedule.count:
                self.step(row, steps)
            tell((row + 1) * self.schedule.count)
