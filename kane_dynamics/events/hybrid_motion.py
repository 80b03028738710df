# SPDX-License-Identifier: Apache-2.0
"""
Motion through modes: each with its fastest available integrator, and the loop between them.

Machine code has a switch for each constraint, so every subset of the known constraints is ready
when it is first seen. An unknown one moves on the generic path; with `background` code that knows
it is compiled in a thread meanwhile and takes over at a later step. Both agree to the error of a
step, but not to the last bit.

In a mode the robot moves under one set of rows (`flow`) until a guard crosses zero (`guards`);
there the speeds jump if contacts strike, and the contacts decide anew (`transition`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from kane_dynamics.background import BackgroundTask
from kane_dynamics.constraints.base import Constraint
from kane_dynamics.constraints.constraint_set import ConstraintSet
from kane_dynamics.dynamics import ConstraintSubsetDynamics, Dynamics
from kane_dynamics.dynamics.interface import ReferenceDynamics
from kane_dynamics.events.event_times import ROOT_TOLERANCE, StepInterval
from kane_dynamics.events.flow import INTEGRATOR, Flow, Slip, SwitchedFlow, slips_of
from kane_dynamics.events.guards import LIMIT, EventDetector, Guard
from kane_dynamics.events.named_constraints import (
    BREAKS,
    CHANGES,
    IMPACT,
    RESTS,
    Event,
    Mode,
    NamedConstraint,
    NamedRows,
    State,
)
from kane_dynamics.events.transition import AT_REST, Instant, Setting, Transition
from kane_dynamics.exceptions import KaneDynamicsError, StepError
from kane_dynamics.simulation.step_checks import check_damping
from kane_dynamics.typing import Floats

MOST_EVENTS = 1000  # in a step; then nothing rebounds any more
_MOST_INTERVALS = 2 * MOST_EVENTS  # of a step


class ConstraintSubsets:
    """Compiled steps for the subsets of the constraints of one robot."""

    def __init__(
        self, dynamics: Dynamics, first: Sequence[NamedConstraint], background: bool
    ) -> None:
        self._free = dynamics
        self._background = background and not isinstance(dynamics, ReferenceDynamics)
        self._first = _unique(_constraints(first))
        self._compiled: list[ConstraintSubsetDynamics] = []
        self._tasks: list[tuple[ConstraintSet, BackgroundTask[ConstraintSubsetDynamics]]] = []
        self._failures: list[str] = []
        self._last: NamedRows | None = None
        known = ConstraintSet(dynamics.robot, self._first)
        self._add(known, partial(self._compile, known))

    @property
    def not_compiled(self) -> tuple[str, ...]:
        """Return which sets could not be compiled, and why."""
        return tuple(self._failures)

    def take_over(self) -> bool:
        """Use what was compiled in threads meanwhile; return whether there is any."""
        done = [task for task in self._tasks if task[1].done()]
        for known, task in done:
            self._tasks.remove((known, task))
            self._add(known, task.result)
            self._last = None
        return bool(done)

    def rows(self, parts: Mapping[str, NamedConstraint]) -> NamedRows:
        """Return the rows of parts; those of the last ones are cached."""
        if self._last is None or self._last.parts is not parts:
            self._last = NamedRows(parts, self._switched(_constraints(parts.values())))
        return self._last

    def compiled_mode(self, mode: Mode, directions: Mapping[str, Floats]) -> CompiledMode:
        """Return a mode, with the directions of its slips, ready to move in."""
        rows, key = self.rows(mode.parts), tuple(mode.states.values())
        if key in rows.modes:
            return rows.modes[key]
        flow = self._flow(rows, mode.held, slips_of(mode, directions))
        made = CompiledMode(mode, directions, flow, EventDetector(mode, rows, flow, directions))
        if isinstance(flow, SwitchedFlow):  # without directions of its own
            rows.modes[key] = made
        return made

    def _flow(self, rows: NamedRows, held: Sequence[Constraint], slips: Sequence[Slip]) -> Flow:
        code = None if slips or not rows.switched.constraints else rows.code(held)
        if code is None:
            return Flow(self._free, held, slips, rows)
        return SwitchedFlow(code, self._free, held, rows)

    def _switched(self, needed: list[Constraint]) -> ConstraintSubsetDynamics:
        """Return the code that knows some constraints, or the generic path of those."""
        for compiled in self._compiled:
            if _knows(compiled.constraints, needed):
                return compiled
        known = ConstraintSet(self._free.robot, _unique([*self._first, *needed]))
        if not self._background:
            return self._add(known, partial(self._compile, known))
        if not any(_knows(others, needed) for others, _ in self._tasks):
            self._tasks.append((known, BackgroundTask(partial(self._compile, known))))
        return ConstraintSubsetDynamics(known, known.rows)

    def _compile(self, known: ConstraintSet) -> ConstraintSubsetDynamics:
        code = self._free.switched(known)
        code.on(())  # steps are compiled with the first set
        return code

    def _add(
        self, known: ConstraintSet, compile_: Callable[[], ConstraintSubsetDynamics]
    ) -> ConstraintSubsetDynamics:
        try:
            compiled = compile_()
        except KaneDynamicsError as error:
            self._failures.append(f'{list(known.labels)} stay on the generic path: {error}')
            compiled = ConstraintSubsetDynamics(known, known.rows)
        self._compiled.append(compiled)
        return compiled


def _constraints(parts: Iterable[NamedConstraint]) -> list[Constraint]:
    return [one for part in parts for one in part.constraints]


def _unique(constraints: Sequence[Constraint]) -> list[Constraint]:
    """Return constraints without repeats; they are compared by identity."""
    return list({id(one): one for one in constraints}.values())


def _knows(known: Sequence[Constraint], needed: Sequence[Constraint]) -> bool:
    """Return whether some constraints are among others."""
    return {id(one) for one in needed} <= {id(one) for one in known}


class CompiledMode(NamedTuple):
    """A mode with its fastest available integrator, and the detector of its end."""

    mode: Mode
    directions: Mapping[str, Floats]
    flow: Flow
    detector: EventDetector


class HybridMotion:
    """The state of a robot, the mode that it is in, and the events on its way."""

    def __init__(self, setting: Setting, subsets: ConstraintSubsets, step: float) -> None:
        self.setting, self.subsets, self._step = setting, subsets, step
        self.state: State
        self.current: CompiledMode

    def start(self, parts: Mapping[str, NamedConstraint], state: State) -> None:
        """Begin at a state with some parts; speeds jump onto the constraints."""
        self.efforts, self.events = np.zeros_like(state.v), list[Event]()
        self._checked = set[tuple[str, ...]]()
        self._enter(self._next(parts, state))

    def advance(self, efforts: Floats, end: float) -> None:
        """Advance to a time [s] through all events before it; an error changes nothing."""
        if self.subsets.take_over():
            mode, directions, *_ = self.current
            self.current = self.subsets.compiled_mode(mode, directions)
        before = self.current, self.state, self.efforts, len(self.events)
        changed, self.efforts = not np.array_equal(efforts, self.efforts), efforts
        try:
            if changed:
                self._decide_rests()
            self._move(end)
        except BaseException:
            self.current, self.state, self.efforts, count = before
            del self.events[count:]
            raise

    def _decide_rests(self) -> None:
        """Decide anew where contacts are about to slip: what they do depends on the efforts."""
        mode, state = self.current.mode, self.state
        if not (slipping := mode.slipping):
            return
        rows = self.subsets.rows(mode.parts)
        closed = rows.closed(slipping, rows.at(*state))
        slip = closed.tangent.matrix @ state.v - closed.tangent.velocity
        if closed.slip_speeds(slip).min() > AT_REST:
            return
        new = self._next(mode.parts, state)
        if new.mode.states != mode.states:
            self._switch(CHANGES, tuple(part.name for part in slipping), new)
        else:
            self._enter(new)  # another direction

    def change(self, kind: str, name: str, parts: Mapping[str, NamedConstraint]) -> Event:
        """Go on with other parts; return the event."""
        return self._switch(kind, (name,), self._next(parts, self.state))

    def _move(self, end: float) -> None:
        events = 0
        for _ in range(_MOST_INTERVALS):
            mode = self.current
            interval = StepInterval(mode.flow, mode.detector, self.state, self.efforts)
            reached = interval.reached(end - self.state.t)
            self.state = reached.state
            if reached.failing:
                events += 1
                self._event(reached.failing, rebound=events <= MOST_EVENTS)
            if end - self.state.t <= ROOT_TOLERANCE:
                self.state = State(self.state.q, self.state.v, end)
                return
        names = [guard.part.name for guard in reached.failing]
        raise StepError(
            f'after {events} events in one step, at t = {self.state.t:.9g} s, contacts still '
            f'change: {names}'
        )

    def _event(self, failing: list[Guard], rebound: bool) -> None:
        """Switch mode after guards have triggered."""
        broken = {guard.part.name for guard in failing if guard.kind == LIMIT}
        parts = self.current.mode.parts
        if broken:
            parts = {name: part for name, part in parts.items() if name not in broken}
        new = self._next(parts, self.state, failing, rebound)
        kind = BREAKS if broken else RESTS if new.settled else IMPACT if new.struck else CHANGES
        self._switch(kind, tuple(guard.part.name for guard in failing), new)

    def _next(
        self,
        parts: Mapping[str, NamedConstraint],
        state: State,
        failing: Sequence[Guard] = (),
        rebound: bool = True,
    ) -> Transition:
        """Return the mode that follows with some parts."""
        rows = self.subsets.rows(parts)
        return Instant(self.setting, rows, state, self.efforts, failing, rebound).transition()

    def _switch(self, kind: str, names: tuple[str, ...], new: Transition) -> Event:
        """Enter a mode; return the event, with the states that changed."""
        before, after = self.current.mode.states, new.mode.states
        self._enter(new)
        changed = {
            name: after.get(name, '')
            for name in {**before, **after}
            if before.get(name) != after.get(name)
        }
        (q, v, t), (mode, _, flow, detector) = self.state, self.current
        multipliers = detector.share(q, v, t, flow.multipliers(q, v, self.efforts, t))
        forces = dict(zip(mode.labels, multipliers.tolist(), strict=True))
        jump = new.impulse, new.energy_loss
        event = Event(t, kind, names, changed, *jump, read_only(q), read_only(v), forces)
        self.events.append(event)
        return event

    def _enter(self, new: Transition) -> None:
        """Begin a mode."""
        mode = self.subsets.compiled_mode(new.mode, new.directions)
        if new.mode.labels not in self._checked:  # each set once
            dynamics, (q, _, t) = self.setting.dynamics, new.state
            how = INTEGRATOR, q, t, self._step, dynamics.mass_matrix(q)
            check_damping(dynamics.robot, ConstraintSet(dynamics.robot, new.mode.held), *how)
            self._checked.add(new.mode.labels)
        self.current, self.state = mode, new.state


def read_only(x: Floats) -> Floats:
    """Return an array, made read-only."""
    x.setflags(write=False)
    return x
