# SPDX-License-Identifier: Apache-2.0
"""Rollouts: when states are kept, steps one by one or by machine code, and what they give."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from kane_dynamics.algorithms.projection import project
from kane_dynamics.dynamics import Dynamics
from kane_dynamics.exceptions import InvalidInputError, KaneDynamicsError
from kane_dynamics.robot.checks import as_count, as_nonnegative, as_positive, as_vector
from kane_dynamics.rollouts.inputs import Inputs
from kane_dynamics.simulation.motions import ManyMotions, Motions
from kane_dynamics.simulation.reference import ReferenceEngine, check_not_diverged
from kane_dynamics.simulation.simulation import Engine
from kane_dynamics.simulation.step_checks import check_steps
from kane_dynamics.typing import Bools, Floats, NDArray

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
    check_steps(integrator, projection)
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
    reduced: NDArray | None
    steps: NDArray
    failures: Mapping[int, KaneDynamicsError]
    fallback_count: int


State = tuple[Floats, Floats]
"""q and v."""
Tell = Callable[[int], None]
"""Takes the number of steps that are done."""


class ReferenceSteps:
    """Steps of single rollouts by an engine of one state; why rollouts ended is in `failures`."""

    def __init__(
        self, dynamics: Dynamics, schedule: Schedule, inputs: Inputs, whole: bool = True
    ) -> None:
        self._dynamics, self._schedule, self._inputs = dynamics, schedule, inputs
        self._by_law = not whole or inputs.loaded or inputs.gains is not None
        self._kept: tuple[int, Engine] | None = None
        self.failures: dict[int, KaneDynamicsError] = {}

    @property
    def constrained(self) -> bool:
        """Return whether there are constraints to keep."""
        return bool(self._dynamics.constraints)

    def start(self, row: int, q: Floats, v: Floats) -> State | None:
        """Return a state on the constraints, with projection; None where there is none."""
        return self._attempted(row, self._start, q, v)

    def step(self, row: int, q: Floats, v: Floats, done: int) -> State | None:
        """Return the state after one step more than were done; None where there is none."""
        return self._attempted(row, self._step, q, v, done)

    def _attempted(self, row: int, move: Callable[..., State], *state: Any) -> State | None:
        try:
            return move(row, *state)
        except KaneDynamicsError as error:
            self.failures[row] = error
            return None

    def _start(self, row: int, q: Floats, v: Floats) -> State:
        constraints = self._dynamics.constraints
        if not (self._schedule.projection and constraints):
            return q, v
        robot = self._inputs.load(self._dynamics, row).robot
        state = project(robot, constraints, q, v, 0.0)
        return state.q, state.v

    def _step(self, row: int, q: Floats, v: Floats, done: int) -> State:
        h, inputs = self._schedule.step, self._inputs
        time, pieces = done * h, inputs.efforts.shape[1]
        tau = inputs.efforts[row, done * pieces // self._schedule.count]
        law = self._dynamics.effort
        if self._by_law and law is not None:
            values = law(time, q, v, *self._gains(row))
            tau = tau + as_vector(f'the effort law at t = {time:g} s', values, len(tau))
        q, v = self._engine(row).advance(q, v, np.ascontiguousarray(tau), time, h, 1)
        check_not_diverged(q, v, time + h)
        return q, v

    def _gains(self, row: int) -> tuple[Floats, ...]:
        known, values = self._dynamics.gains, self._inputs.gains
        if not known:
            return ()
        return (np.array(known) if values is None else values[row],)

    def _engine(self, row: int) -> Engine:
        """Return the engine of a rollout; that of the last one asked for is kept."""
        shared = -1 if not self._inputs.loaded else row
        if self._kept is None or self._kept[0] != shared:
            self._kept = shared, self._new_engine(row)
        return self._kept[1]

    def _new_engine(self, row: int) -> Engine:
        how = self._schedule.integrator, self._schedule.projection
        if not self._by_law:
            return self._dynamics.engine(*how)
        load = self._inputs.load(self._dynamics, row)
        passive = self._dynamics.passive_force
        return ReferenceEngine(load, self._dynamics.constraints, *how, passive_force=passive)


class Chunk:
    """States of some rollouts, with steps they took; `kept` takes those of `schedule.times`."""

    def __init__(
        self, steps: ReferenceSteps, schedule: Schedule, inputs: Inputs, kept: State
    ) -> None:
        self.steps, self.schedule, self.inputs, self.kept = steps, schedule, inputs, kept
        self.q, self.v = np.array(inputs.q, order='C'), np.array(inputs.v, order='C')
        self.done = np.zeros(len(inputs))
        states = np.hstack([self.q, self.v])
        self.active: Bools = np.array(np.isfinite(states).all(axis=1))
        for array in kept:
            array[...] = np.nan

    def start(self, row: int) -> None:
        """Move a rollout onto the constraints, and keep its start."""
        self._put(row, self.steps.start(row, self.q[row].copy(), self.v[row].copy()))

    def step(self, row: int) -> None:
        """Take one step of a rollout, and keep its end."""
        done = int(self.done[row])
        state = self.steps.step(row, self.q[row].copy(), self.v[row].copy(), done)
        self.done[row] += state is not None
        self._put(row, state)

    def _put(self, row: int, state: State | None) -> None:
        """Keep the state of a rollout where it is one of those; without one it has ended."""
        if state is None:
            self.active[row] = False
            return
        self.q[row], self.v[row] = state
        sample = self.schedule.sample(int(self.done[row]))
        if sample is not None:
            self.kept[0][row, sample], self.kept[1][row, sample] = state

    def at_once(self, code: ManyMotions, tell: Tell) -> int:
        """Run all rollouts by machine code, ill-conditioned steps by the reference."""
        motions, fallback_count = self._motions(code), 0
        constrained = self.schedule.projection and self.steps.constrained
        rows = np.flatnonzero(self.active)
        ill = code.start(motions, rows) if constrained else np.zeros(len(rows), dtype=bool)
        if (first := self.schedule.sample(0)) is not None:
            self.kept[0][rows, first], self.kept[1][rows, first] = self.q[rows], self.v[rows]
        for row in rows[ill].tolist():
            self.start(row)
        fallback_count += int(ill.sum())
        while len(rows := np.flatnonzero(self.active & (self.done < self.schedule.count))):
            ill = code.run(motions, rows, self.schedule.count)
            for row in rows[ill].tolist():
                self.step(row)
            fallback_count += int(ill.sum())
            tell(int(self.done.sum()))
        if not self.schedule.every:
            self.kept[0][self.active, 0] = self.q[self.active]
            self.kept[1][self.active, 0] = self.v[self.active]
        return fallback_count

    def _motions(self, code: ManyMotions) -> Motions:
        inputs, count = self.inputs, self.schedule.count
        loads = inputs.gravity, inputs.payloads
        parameters = code.parameters(len(inputs), inputs.gains, *loads)
        how = self.schedule.step, inputs.piece(count), self.schedule.every
        return Motions(self.q, self.v, self.done, inputs.efforts, parameters, self.kept, *how)

    def by_state(self, tell: Tell) -> None:
        """Run rollouts to their ends one after the other."""
        for row in np.flatnonzero(self.active).tolist():
            self.start(row)
            while self.active[row] and self.done[row] < self.schedule.count:
                self.step(row)
            tell((row + 1) * self.schedule.count)
