# SPDX-License-Identifier: Apache-2.0
"""Records motions whose constraints come and go."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from kane_dynamics.constraints.base import Constraint
from kane_dynamics.constraints.constraint_set import ConstraintSet
from kane_dynamics.constraints.dry_friction import Contact
from kane_dynamics.events import EventSimulation
from kane_dynamics.robot.checks import as_nonnegative, as_positive
from kane_dynamics.robot.robot import Robot
from kane_dynamics.simulation.motions import effort_law
from kane_dynamics.simulation.simulation import EffortLaw
from kane_dynamics.typing import Floats
from kane_dynamics.view.drawing import Drawing
from kane_dynamics.view.forces import Force, constraint_forces
from kane_dynamics.view.recorder import Recorder
from kane_dynamics.view.recording import Recording

__all__ = ['EventRecorder']

STILL = 1e-9  # slip [m/s] without a direction


class _Instant(NamedTuple):
    """A state of a simulation and what acted in it."""

    time: float
    q: Floats
    v: Floats
    parts: Mapping[str, Constraint | Contact]
    states: Mapping[str, str]


class EventRecorder:
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
        self._simulation = simulation
        self._recorder = Recorder(simulation.robot, drawing)
        self._every = max(round(1.0 / (as_positive('rate [Hz]', rate) * simulation.step_size)), 1)
        self._steps, self._seen = 0, len(simulation.events)
        self._first: _Instant | None = self._present()

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
                self._record(self._present())

    def recording(self) -> Recording:
        """Return what has been recorded."""
        self._record_first()
        return self._recorder.recording()

    def _present(self) -> _Instant:
        one = self._simulation
        return _Instant(one.time, one.q, one.v, one.constraints, one.states)

    def _record(self, then: _Instant) -> None:
        """Record an instant under the forces of now."""
        one = self._simulation
        forces = part_forces(
            one.robot,
            then.parts,
            then.states,
            one.row_labels,
            one.forces,
            then.q,
            then.v,
            then.time,
            one.directions,
        )
        self._recorder.add(then.time, then.q, then.v, forces)

    def _record_first(self) -> None:
        """Record the first instant, now that it is known which efforts act from it on."""
        if self._first is not None:
            first, self._first = self._first, None
            self._record(first)

    def _note_events(self, states: Mapping[str, str]) -> None:
        """Record the states after the events that are new, from the states of before."""
        now, parts = dict(states), self._simulation.constraints
        for event in self._simulation.events[self._seen :]:
            self._record_first()
            now.update(event.states)
            known = {name: one for name, one in parts.items() if now.get(name)}
            forces = part_forces(
                self._simulation.robot,
                known,
                now,
                self._simulation.row_labels,
                event.forces,
                event.q,
                event.v,
                event.time,
                self._simulation.directions,
            )
            self._recorder.add(event.time, event.q, event.v, forces)
            words = {name: _word(parts.get(name), state) for name, state in event.states.items()}
            what = ', '.join(f'{name} {word or "is gone"}' for name, word in words.items())
            self._recorder.event(event.time, what or f'{event.kind}: {", ".join(event.names)}')
        self._seen = len(self._simulation.events)


def part_forces(
    robot: Robot,
    parts: Mapping[str, Constraint | Contact],
    states: Mapping[str, str],
    labels: Mapping[str, Sequence[str]],
    forces: Mapping[str, float],
    q: ArrayLike,
    v: ArrayLike,
    time: float = 0.0,
    directions: Mapping[str, Floats] | None = None,
) -> list[Force]:
    """
    Return arrows for the constraints and contacts that act; friction of those that slip too.

    Parameters
    ----------
    robot : Robot
        The robot.
    parts : mapping of str to Constraint or Contact
        By name, as of an `EventSimulation`.
    states : mapping of str to str
        What each does.
    labels : mapping of str to sequence of str
        Names of the rows of each, the distance first.
    forces : mapping of str to float
        Multipliers of the rows that hold, by label.
    q, v : array_like, shapes (nq,), (nv,)
        State.
    time : float
        [s].
    directions : mapping of str to ndarray, optional
        Along which contacts begin to slip whose slip is still zero, by name.

    """
    arrows: list[Force] = []
    for name, part in parts.items():
        state, speeds = states[name], np.asarray(v, dtype=float)
        if state == 'open':
            continue
        local = np.array([forces.get(label, 0.0) for label in labels[name]])
        if isinstance(part, Contact) and part.tangent is not None and state != 'sticks':
            begins = (directions or {}).get(name)
            push = part.load if part.normal is None else float(local[0])
            count = len(part.tangent.labels)
            local[-count:] = _sliding(
                robot, part.tangent, part.friction * push, q, speeds, time, begins
            )
        result = constraint_forces(robot, [part], q, local, time=time)
        named = zip(result, labels[name], strict=True)
        arrows += [force._replace(name=label, state=_word(part, state)) for force, label in named]
    return arrows


def _word(part: Constraint | Contact | None, state: str) -> str:
    """Return what a part does; a closed contact that nothing rubs on holds."""
    smooth = isinstance(part, Contact) and part.tangent is None
    return 'holds' if smooth and state == 'slips' else state


def _sliding(
    robot: Robot,
    tangent: Constraint,
    friction: float,
    q: ArrayLike,
    v: Floats,
    time: float,
    begins: Floats | None,
) -> Floats:
    """Return the forces along the slip of a contact that slides, -mu N s."""
    rows = ConstraintSet(robot, [tangent]).rows(np.asarray(q).tolist(), v.tolist(), time)
    slip = rows.matrix @ v - rows.velocity
    speed = float(np.linalg.norm(slip))
    direction = slip / speed if speed > STILL else np.zeros(len(slip))
    if speed <= STILL and begins is not None:
        direction = begins
    return np.asarray(-friction * direction, dtype=float)
