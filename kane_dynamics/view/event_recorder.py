# SPDX-License-Identifier: Apache-2.0
"""Records motions whose constraints come and go."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from kane_dynamics.constraints.base import Constraint
from kane_dynamics.constraints.constraint_set import ConstraintSet
from kane_dynamics.constraints.dry_friction import Contact
from kane_dynamics.events import EventSimulation
from kane_dynamics.robot.checks import as_nonnegative, as_positive
from kane_dynamics.simulation.motions import effort_law
from kane_dynamics.simulation.simulation import EffortLaw
from kane_dynamics.typing import ArrayLike, Floats
from kane_dynamics.view.drawing import Drawing
from kane_dynamics.view.forces import Force, constraint_forces
from kane_dynamics.view.recorder import Recorder
from kane_dynamics.view.recording import Recording

__all__ = ['EventRecorder']

STILL = 1e-9  # slip [m/s] without a direction
Parts = Mapping[str, Constraint | Contact]


class Instant(NamedTuple):
    """A state of a simulation, its constraints and contacts by name, and what each does."""

    time: float
    q: Floats
    v: Floats
    parts: Parts
    states: Mapping[str, str]

    @staticmethod
    def now(simulation: EventSimulation) -> Instant:
        """Return the present state of a simulation."""
        one = simulation
        return Instant(one.time, one.q, one.v, one.constraints, one.states)


class EventRecorder(Recorder):
    """
    Runs a simulation with events and keeps what it shows.

    Parameters
    ----------
    simulation : EventSimulation
        At its present state, which is recorded first, with the forces under the first efforts.
    drawing : Drawing, optional
        What the robot looks like; `simple_drawing` where left out.
    rate : float
        Instants a second that are kept [Hz]; those after events always.

    """

    def __init__(
        self, simulation: EventSimulation, drawing: Drawing | None = None, rate: float = 50.0
    ) -> None:
        super().__init__(simulation.robot, drawing)
        self._simulation = simulation
        self._every = max(round(1.0 / (as_positive('rate [Hz]', rate) * simulation.step_size)), 1)
        self._steps, self._seen = 0, len(simulation.events)
        self._first: Instant | None = Instant.now(simulation)

    def run(self, duration: float, effort: EffortLaw | ArrayLike | None = None) -> None:
        """
        Go on for some time; constraints may be added and removed between calls.

        Parameters
        ----------
        duration : float
            [s]; rounded to whole steps.
        effort : callable or array_like, shape (nv,), optional
            effort(t, q, v) -> efforts, or constant ones; zero where left out.

        Raises
        ------
        KaneDynamicsError
            As for `EventSimulation.step`.

        """
        one, h = self._simulation, self._simulation.step_size
        count = round(as_nonnegative('duration [s]', duration) / h)
        law = effort_law(one.robot, effort, count, h)
        self._note_events(one.states)
        for _ in range(count):
            before = one.states
            one.step(law(one.time, one.q, one.v))
            self._record_first()
            self._note_events(before)
            self._steps += 1
            if self._steps % self._every == 0:
                self._record(Instant.now(one), one.forces)

    def recording(self) -> Recording:
        """Return what has been recorded."""
        self._record_first()
        return super().recording()

    def _record(self, instant: Instant, forces: Mapping[str, float]) -> None:
        arrows = part_forces(self._simulation, instant, forces)
        self.add(instant.time, instant.q, instant.v, arrows)

    def _record_first(self) -> None:
        """Record the first instant, now that it is known which efforts act from it on."""
        if self._first is not None:
            first, self._first = self._first, None
            self._record(first, self._simulation.forces)

    def _note_events(self, states: Mapping[str, str]) -> None:
        """Record the states after the events that are new, from the states of before."""
        now, parts = dict(states), self._simulation.constraints
        for event in self._simulation.events[self._seen :]:
            self._record_first()
            now.update(event.states)
            known = {name: one for name, one in parts.items() if now.get(name)}
            self._record(Instant(event.time, event.q, event.v, known, dict(now)), event.forces)
            words = {name: _word(parts.get(name), state) for name, state in event.states.items()}
            what = ', '.join(f'{name} {word or "is gone"}' for name, word in words.items())
            self.event(event.time, what or f'{event.kind}: {", ".join(event.names)}')
        self._seen = len(self._simulation.events)


def part_forces(
    simulation: EventSimulation, instant: Instant, forces: Mapping[str, float]
) -> list[Force]:
    """Return arrows for the constraints and contacts that act; friction of those that slip too."""
    arrows: list[Force] = []
    for name, part in instant.parts.items():
        state, labels = instant.states[name], simulation.row_labels[name]
        if state == 'open':
            continue
        multipliers = np.array([forces.get(label, 0.0) for label in labels])
        if isinstance(part, Contact) and part.tangent is not None and state != 'sticks':
            push = part.load if part.normal is None else float(multipliers[0])
            start = simulation.directions.get(name)
            slip = _slip_direction(simulation, part.tangent, instant, start)
            multipliers[-len(slip) :] = -part.friction * push * slip
        rows = constraint_forces(
            simulation.robot, [part], instant.q, multipliers, time=instant.time
        )
        named = zip(rows, labels, strict=True)
        arrows += [force._replace(name=label, state=_word(part, state)) for force, label in named]
    return arrows


def _word(part: Constraint | Contact | None, state: str) -> str:
    """Return what a part does; a closed contact that nothing rubs on holds."""
    smooth = isinstance(part, Contact) and part.tangent is None
    return 'holds' if smooth and state == 'slips' else state


def _slip_direction(
    simulation: EventSimulation, tangent: Any, instant: Instant, start: Floats | None
) -> Floats:
    """Return the unit vector s of a contact's slip; as it begins where the slip is still zero."""
    q, v = instant.q.tolist(), instant.v.tolist()
    rows = ConstraintSet(simulation.robot, [tangent]).rows(q, v, instant.time)
    slip: Floats = rows.matrix @ instant.v - rows.velocity
    speed = float(np.linalg.norm(slip))
    if speed > STILL:
        return slip / speed
    return np.zeros(len(slip)) if start is None else start
