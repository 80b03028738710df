# SPDX-License-Identifier: Apache-2.0
r"""
A robot whose constraints come and go while it moves (Gillespie, figure 2).

Between events the robot moves under one set of rows (`flow`). Every step ends with a look at what
ends the mode (`watch`): distances, normal forces, friction, limits. Where one of them has crossed
zero, the instant is found (`instant`); there the speeds jump if contacts strike, and the contacts
decide anew (`transition`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from kane_dynamics.algorithms.impact import LAWS
from kane_dynamics.constraints.base import Constraint, ConstraintRows
from kane_dynamics.constraints.constraint_set import ConstraintSet
from kane_dynamics.constraints.dry_friction import Contact
from kane_dynamics.dynamics import Dynamics
from kane_dynamics.events.compiled_mode import CompiledMode, compiled_mode
from kane_dynamics.events.compiled_subsets import CompiledSubsets
from kane_dynamics.events.event import ADDED, BREAKS, CHANGES, IMPACT, REMOVED, RESTS, Event
from kane_dynamics.events.flow import INTEGRATOR, FlowMotion
from kane_dynamics.events.guards import LIMIT, Guard
from kane_dynamics.events.named_constraints import (
    NamedConstraint,
    as_part,
    check_new_name,
    labelled,
    shared_labels,
)
from kane_dynamics.events.root_finding import ROOT_TOLERANCE, State, StepInterval
from kane_dynamics.events.transition import Setting, Transition, transition
from kane_dynamics.events.validation import check_place, free_dynamics
from kane_dynamics.exceptions import EventError, InvalidInputError, NameNotFoundError
from kane_dynamics.robot.checks import (
    as_choice,
    as_count,
    as_mapping,
    as_nonnegative,
    as_number,
    as_positive,
    as_vector,
    describe,
)
from kane_dynamics.robot.robot import Robot
from kane_dynamics.robot.state import checked_coordinates, checked_robot, checked_speeds
from kane_dynamics.simulation.damping import check_damping, is_slow
from kane_dynamics.typing import Floats

MOST_EVENTS = 1000  # in a step; then nothing rebounds any more
_MOST_PIECES = 2 * MOST_EVENTS  # of a step


class EventSimulation:
    """
    A robot in time with constraints and contacts that come and go.

    Parameters
    ----------
    robot : Robot
        The robot.
    parts : mapping of str to Constraint or Contact, optional
        What holds from the start; contacts may be open.
    q, v : array_like, shapes (nq,), (nv,), optional
        State at the start: neutral and at rest where left out. Speeds jump onto the constraints,
        and contacts that approach strike.
    step : float
        Length of a step [s]. Events are found within steps.
    dynamics : Dynamics, optional
        Of the robot without constraints: `kane_dynamics.compile` gives machine code, also for any
        set of the parts. Its gravity and payloads may be set while time runs. The reference
        engine where left out.
    later : sequence of Constraint or Contact, optional
        What will be added, so that the machine code knows it from the start.
    beside : bool
        Whether machine code that knows a part that is new is made in a thread, while the robot
        moves on the generic path; runs then differ by the error of a step. Otherwise `add` waits.
    rest_speed : float
        Speed of approach [m/s] below which contacts do not rebound: bouncing ends.
    law : str
        'newton', 'poisson' or 'energetic': what restitution means, see `kane_dynamics.impact`.

    Raises
    ------
    InvalidInputError
        If a number is out of range, or the law is unknown.
    ConstraintError
        If a part was built for another robot, or does not hold at the start.

    """

    def __init__(
        self,
        robot: Robot,
        parts: Mapping[str, Constraint | Contact] | None = None,
        q: ArrayLike | None = None,
        v: ArrayLike | None = None,
        *,
        step: float = 0.001,
        dynamics: Dynamics | None = None,
        later: Sequence[Constraint | Contact] = (),
        beside: bool = True,
        rest_speed: float = 1e-6,
        law: str = 'poisson',
    ) -> None:
        checked_robot(robot)
        self.step_size = as_positive('step [s]', step)
        remainder = as_nonnegative('rest_speed [m/s]', rest_speed)
        arguments = as_mapping('parts', parts or {})
        self._first = {name: as_part(robot, name, what) for name, what in arguments.items()}
        self._dynamics = free_dynamics(robot, dynamics)
        if not isinstance(later, (list, tuple)):
            raise InvalidInputError(
                f'later: need a list of constraints and contacts, got {describe(later)}'
            )
        known = [as_part(robot, f'later[{k}]', one) for k, one in enumerate(later)]
        self._shared = shared_labels([*self._first.values(), *known])
        self._first = labelled(self._first.values(), self._shared)
        self._sets = CompiledSubsets(self._dynamics, [*self._first.values(), *known], beside)
        self._setting = Setting(self._dynamics, remainder, as_choice('law', law, LAWS))
        self._origin = State(robot.neutral(), np.zeros(robot.nv), 0.0)
        self._now: State
        self._stage: CompiledMode
        self.reset(q, v)
        self._origin = self._now

    def reset(
        self, q: ArrayLike | None = None, v: ArrayLike | None = None, time: float = 0.0
    ) -> None:
        """
        Start again with the first parts, at q and v (where left out, as at the first start).

        Raises
        ------
        InvalidInputError
            If a shape is wrong or a number is not finite.
        ConstraintError
            If a constraint does not hold at q, or a contact is below zero.

        """
        robot = self.robot
        self._start, self._steps = as_number('time [s]', time), 0
        place = np.array(checked_coordinates(robot, self._origin.q if q is None else q))
        speeds = np.array(checked_speeds(robot, self._origin.v if v is None else v))
        for part in self._first.values():
            check_place(robot, part, State(place, speeds, self._start))
        self._efforts, self._events = np.zeros(robot.nv), list[Event]()
        self._slow = is_slow(robot, INTEGRATOR, place, self._start, self.step_size)
        self._checked = set[tuple[str, ...]]()
        start = State(place, speeds, self._start)
        self._enter(self._next(self._first, start))

    @property
    def robot(self) -> Robot:
        """Return the robot with the present gravity and payloads."""
        return self._dynamics.robot

    @property
    def time(self) -> float:
        """Return the time [s]: start + number of steps x step, without accumulated roundoff."""
        return self._start + self._steps * self.step_size

    @property
    def q(self) -> Floats:
        """Return the coordinates, read-only, shape (nq,)."""
        return _read_only(self._now.q)

    @property
    def v(self) -> Floats:
        """Return the speeds, read-only, shape (nv,)."""
        return _read_only(self._now.v)

    @property
    def events(self) -> tuple[Event, ...]:
        """Return what happened since the reset, or since `take_events`."""
        return tuple(self._events)

    @property
    def parts(self) -> dict[str, Constraint | Contact]:
        """Return the constraints and contacts that there are now, by name."""
        parts = self._stage.mode.parts.values()
        arguments = {
            part.name: part.held if part.contact is None else part.contact for part in parts
        }
        return {name: what for name, what in arguments.items() if what is not None}

    @property
    def states(self) -> dict[str, str]:
        """Return what each part does: 'holds', 'open', 'slips' or 'sticks'."""
        return dict(self._stage.mode.states)

    @property
    def directions(self) -> dict[str, Floats]:
        """Return the unit vectors along which contacts with friction slip, or begin to."""
        return dict(self._stage.directions)

    @property
    def labels(self) -> tuple[str, ...]:
        """
        Return the names of the rows that hold now.

        Those of their constraints; where several have one, the name of the part is in front.
        """
        return self._stage.mode.labels

    @property
    def row_labels(self) -> dict[str, tuple[str, ...]]:
        """Return the names of the rows of each part, also of those that do not hold now."""
        return {name: part.labels for name, part in self._stage.mode.parts.items()}

    @property
    def rows(self) -> ConstraintRows:
        """Return the rows that hold, at this state."""
        held = ConstraintSet(self.robot, self._stage.mode.held)
        return replace(held.rows(self.q, self.v, self.time), labels=self.labels)

    @property
    def independent_speeds(self) -> tuple[str, ...]:
        """Return the names of the speeds that are integrated."""
        return self._stage.flow.independent

    @property
    def notes(self) -> tuple[str, ...]:
        """Return which sets of constraints have no machine code, and why."""
        return self._sets.refused

    @property
    def motion(self) -> FlowMotion:
        """Return accelerations and forces at this state under the last efforts."""
        return self._stage.flow.motion(self.q, self.v, self._efforts, self.time)

    @property
    def forces(self) -> dict[str, float]:
        """Return the multiplier of each row that holds: forces of contacts and constraints."""
        return dict(zip(self.labels, self.motion.multipliers.tolist(), strict=True))

    def add(self, name: str, what: Constraint | Contact, limit: float | None = None) -> Event:
        """
        Impose a constraint or add a contact; return what that did.

        The speeds jump by the impulse that makes them consistent.

        Parameters
        ----------
        name : str
            A new name.
        what : Constraint or Contact
            From `kane_dynamics.constraints`.
        limit : float, optional
            Norm of the multipliers of a constraint [N or N m] beyond which it lets go.

        Raises
        ------
        InvalidInputError
            If the name is no text, the limit not positive, or a contact has one.
        ConstraintError
            If the name is taken, the constraint was built for another robot, or is violated here.
        InconsistentConstraintsError, ContactError
            If it contradicts what holds, or no motion obeys the law of dry friction; nothing has
            changed then.

        """
        part, parts = as_part(self.robot, name, what, limit), self._stage.mode.parts
        check_new_name(name, parts)
        check_place(self.robot, part, self._now)
        return self._change(ADDED, name, labelled([part], self._shared, parts))

    def remove(self, name: str) -> Event:
        """
        Delete a constraint or contact; nothing jumps. Return what changed.

        Raises
        ------
        NameNotFoundError
            If there is none of this name.
        ContactError
            If no motion without it obeys the law of dry friction; nothing has changed then.

        """
        parts = self._stage.mode.parts
        if not isinstance(name, str) or name not in parts:
            raise NameNotFoundError('part', name, parts)
        return self._change(REMOVED, name, {k: part for k, part in parts.items() if k != name})

    def step(self, tau: ArrayLike, n: int = 1) -> None:
        """
        Advance by n steps at constant efforts.

        Parameters
        ----------
        tau : array_like, shape (nv,)
            Efforts on v [N m or N].
        n : int
            Number of steps.

        Raises
        ------
        InvalidInputError
            If the shape is wrong, a number is not finite, or n is negative.
        DivergedError
            If the motion leaves all bounds: the step is too long.
        EventError
            If there is no end of events in a step.
        ContactError, InconsistentConstraintsError
            If an event has no consistent motion after it. The state is that before the step.

        """
        efforts, n = as_vector('tau', tau, self.robot.nv), as_count('n', n)
        for _ in range(n):
            if self._sets.take_over():
                self._stage = compiled_mode(self._sets, self._stage.mode, self._stage.directions)
            before = self._stage, self._now, self._efforts, len(self._events)
            self._efforts = efforts
            try:
                self._move(self._start + (self._steps + 1) * self.step_size)
            except BaseException:
                self._stage, self._now, self._efforts, count = before
                del self._events[count:]
                raise
            self._steps += 1

    def take_events(self) -> tuple[Event, ...]:
        """
        Return `events` and forget them: what runs for ever keeps none.

        Returns
        -------
        tuple of Event
            What happened since the reset, or since the last call.

        """
        independent_indices, self._events = self._events, []
        return tuple(independent_indices)

    # the loop of figure 2

    def _move(self, end: float) -> None:
        """Advance to a time, through all events before it."""
        events = 0
        for _ in range(_MOST_PIECES):
            piece = StepInterval(self._stage.flow, self._stage.watch, self._now, self._efforts)
            reached = piece.reached(end - self._now.t)
            self._now = reached.state
            if reached.failing:
                events += 1
                self._event(reached.failing, rebound=events <= MOST_EVENTS)
            if end - self._now.t <= ROOT_TOLERANCE:
                self._now = State(self._now.q, self._now.v, end)
                return
        names = [guard.part.name for guard in reached.failing]
        raise EventError(
            f'after {events} events in one step, at t = {self._now.t:.9g} s, contacts still '
            f'change: {names}'
        )

    def _event(self, failing: list[Guard], rebound: bool) -> None:
        """Go over to the next mode where guards ended the last one."""
        broken = [guard.part.name for guard in failing if guard.kind == LIMIT]
        parts = self._stage.mode.parts
        if broken:
            parts = {name: part for name, part in parts.items() if name not in broken}
        result = self._next(parts, self._now, failing, rebound)
        kind = (
            BREAKS if broken else RESTS if result.settled else IMPACT if result.struck else CHANGES
        )
        before = self._stage.mode.states
        self._enter(result)
        self._record(kind, tuple(guard.part.name for guard in failing), result, before)

    def _change(self, kind: str, name: str, parts: Mapping[str, NamedConstraint]) -> Event:
        result = self._next(parts, self._now)
        before = self._stage.mode.states
        self._enter(result)
        return self._record(kind, (name,), result, before)

    def _record(
        self, kind: str, names: tuple[str, ...], result: Transition, before: Mapping[str, str]
    ) -> Event:
        """Keep what a transition changed, against the states of before."""
        after = result.mode.states
        changed = {
            name: after.get(name, '')
            for name in {**before, **after}
            if before.get(name) != after.get(name)
        }
        q, v, t = self._now
        multipliers = self._stage.flow.multipliers(q, v, self._efforts, t)
        forces = dict(zip(self.labels, multipliers.tolist(), strict=True))
        jump = result.impulse, result.energy_loss
        event = Event(t, kind, names, changed, *jump, _read_only(q), _read_only(v), forces)
        self._events.append(event)
        return event

    def _next(
        self,
        parts: Mapping[str, NamedConstraint],
        state: State,
        failing: Sequence[Guard] = (),
        rebound: bool = True,
    ) -> Transition:
        """Return the mode that follows with some parts."""
        rows = self._sets.rows(parts)
        return transition(self._setting, rows, state, self._efforts, failing, rebound)

    def _enter(self, result: Transition) -> None:
        """Begin a mode."""
        stage = compiled_mode(self._sets, result.mode, result.directions)
        if not self._slow and stage.mode.labels not in self._checked:  # each set once
            held, (q, _, t) = ConstraintSet(self.robot, result.mode.held), result.state
            check_damping(self.robot, held, INTEGRATOR, q, t, self.step_size)
            self._checked.add(stage.mode.labels)
        self._stage, self._now = stage, result.state


def _read_only(x: Floats) -> Floats:
    x.setflags(write=False)
    return x
