# SPDX-License-Identifier: Apache-2.0
"""
Named constraints and contacts of a simulation: what each does in a mode, and their rows.

The rows of all of them are evaluated once at a state.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

from kane_dynamics.constraints.base import Constraint, ConstraintRows, unique_labels
from kane_dynamics.constraints.closed_contacts import NO_DISTANCE, ClosedContacts
from kane_dynamics.constraints.constraint_set import ConstraintSet, checked_constraint
from kane_dynamics.constraints.dry_friction import Contact
from kane_dynamics.dynamics import CompiledSubset, ConstraintSubsetDynamics, RowsFunction
from kane_dynamics.exceptions import ConstraintError, InvalidInputError
from kane_dynamics.robot.checks import as_positive, as_text
from kane_dynamics.robot.robot import Robot
from kane_dynamics.typing import Floats

ADDED, REMOVED, BREAKS = 'added', 'removed', 'breaks'
IMPACT, RESTS, CHANGES = 'impact', 'rests', 'changes'


@dataclass(frozen=True, eq=False)
class Event:
    """
    An instant at which the set of constraints changes, or contacts strike.

    Parameters
    ----------
    time : float
        [s].
    kind : str
        'added' or 'removed' by the user, 'breaks' beyond its limit; 'impact' where contacts strike
        and rebound, 'rests' where they strike and stay, 'changes' where contacts open, slip or
        stick without an impulse.
    names : tuple of str
        The parts it began with.
    states : mapping of str to str
        What the parts that changed do from now on; '' for those that are gone.
    impulse : ndarray, shape (nv,)
        M (v+ - v-) on the speeds [N s or N m s].
    energy_loss : float
        Kinetic energy that the impulse took [J].
    q, v : ndarray, shapes (nq,), (nv,)
        The state after it.
    forces : mapping of str to float
        Multipliers of the rows that hold after it, by `EventSimulation.labels`.

    """

    time: float
    kind: str
    names: tuple[str, ...]
    states: Mapping[str, str]
    impulse: Floats
    energy_loss: float
    q: Floats
    v: Floats
    forces: Mapping[str, float]

    def __str__(self) -> str:
        """Return what happened, in words."""
        now = ', '.join(f'{name} {state or "is gone"}' for name, state in self.states.items())
        lost = f', {self.energy_loss:.3g} J were lost' if self.energy_loss else ''
        return f'at t = {self.time:.9g} s {self.kind}: {list(self.names)}; {now or "-"}{lost}'


HOLDS = 'holds'  # a constraint in both directions
OPEN = 'open'  # a contact at a distance
SLIPS = 'slips'  # a contact that pushes, with the friction of its slip
STICKS = 'sticks'  # a contact that pushes and holds its rows of slip


_ON_CONSTRAINT = 1e-6  # [m or rad] that a constraint may be violated by when it is imposed
TOUCHING = 1e-9  # [m] gap of contacts that are closed


class State(NamedTuple):
    """Coordinates, speeds and time [s]."""

    q: Floats
    v: Floats
    t: float


@dataclass(frozen=True, eq=False)
class NamedConstraint:
    """A constraint or a contact with a name."""

    name: str
    held: Constraint | None
    contact: Contact | None
    distance: Constraint | None = None
    limit: float = float('inf')
    labels: tuple[str, ...] = ()

    @property
    def constraints(self) -> tuple[Constraint, ...]:
        """Return all that it may hold: the constraint, or distance and slip."""
        tangent = self.contact.tangent if self.contact else None
        return tuple(one for one in (self.held, self.distance, tangent) if one is not None)

    def rows_in(self, state: str) -> tuple[Constraint, ...]:
        """Return the constraints that hold in a state."""
        if self.contact is None:
            return () if self.held is None else (self.held,)
        normal, tangent = self.contact.normal, self.contact.tangent
        acting = (normal if state != OPEN else None, tangent if state == STICKS else None)
        return tuple(rows for rows in acting if rows is not None)


def as_named(
    robot: Robot, name: str, what: Constraint | Contact, limit: float | None = None
) -> NamedConstraint:
    """Return a named part."""
    if not as_text('name', name):
        raise InvalidInputError('name: need text that is not empty')
    bound = float('inf') if limit is None else as_positive('limit', limit)
    if not isinstance(what, Contact):
        rows = ConstraintSet(robot, [checked_constraint(f"constraint '{name}'", what)])
        return NamedConstraint(name, what, None, limit=bound, labels=rows.labels)
    if limit is not None:
        raise InvalidInputError(
            f"'{name}': limit is only valid for constraints, not contacts (friction is theirs)"
        )
    part = NamedConstraint(name, None, what, NO_DISTANCE if what.normal is None else what.normal)
    return replace(part, labels=ConstraintSet(robot, part.rows_in(STICKS)).labels)


def shared_labels(parts: Iterable[NamedConstraint]) -> set[str]:
    """Return the labels that rows of several parts have."""
    counts = Counter(label for part in parts for label in part.labels)
    return {label for label, count in counts.items() if count > 1}


def labelled(
    new: Iterable[NamedConstraint],
    shared: Collection[str],
    present: Mapping[str, NamedConstraint] | None = None,
) -> dict[str, NamedConstraint]:
    """Return present parts and new ones; names of these stand before labels of others."""
    parts = dict(present or {})
    for part in new:
        used = {label for one in parts.values() for label in one.labels}
        labels = [f'{part.name}/{x}' if x in used or x in shared else x for x in part.labels]
        parts[part.name] = replace(part, labels=unique_labels(labels, used))
    return parts


@dataclass(frozen=True, eq=False)
class Mode:
    """What every part does between two events."""

    parts: Mapping[str, NamedConstraint]
    states: Mapping[str, str]

    @cached_property
    def held(self) -> tuple[Constraint, ...]:
        """Return the constraints that hold."""
        return tuple(
            rows for name, part in self.parts.items() for rows in part.rows_in(self.states[name])
        )

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """Return the names of the rows that hold."""
        return tuple(
            label
            for name, rows in self.rows_by_name.items()
            for label in self.parts[name].labels[: len(rows)]
        )

    @property
    def rows_by_name(self) -> dict[str, range]:
        """Return the numbers of the rows of each part among those that hold."""
        numbers, first = {}, 0
        for name, part in self.parts.items():
            last = first + sum(len(rows.labels) for rows in part.rows_in(self.states[name]))
            numbers[name], first = range(first, last), last
        return numbers

    def in_state(self, *states: str) -> list[NamedConstraint]:
        """Return the parts in one of some states."""
        return [part for name, part in self.parts.items() if self.states[name] in states]

    @cached_property
    def slipping(self) -> list[NamedConstraint]:
        """Return the parts with friction that slip."""
        slips = self.in_state(SLIPS)
        return [part for part in slips if part.contact and part.contact.tangent is not None]


def check_position(robot: Robot, part: NamedConstraint, state: State) -> None:
    """Raise ConstraintError if a constraint is violated at a state, or a contact below zero."""
    distance = part.contact.normal if part.contact else None
    present = [rows for rows in (part.held, distance) if rows is not None]
    rows = ConstraintSet(robot, present).rows(*state)
    for label, position in zip(rows.labels, rows.positions, strict=True):
        if position is None:
            continue
        if part.held is not None and abs(position) > _ON_CONSTRAINT:
            raise ConstraintError(
                f"'{part.name}': row '{label}' is violated by {position:.3g} at this place; move "
                'the robot onto it first'
            )
        if distance is not None and position < -TOUCHING:
            raise ConstraintError(
                f"'{part.name}': the distance '{label}' is {position:.3g}, below zero"
            )


class NamedRows:
    """Rows of parts at states."""

    def __init__(
        self, parts: Mapping[str, NamedConstraint], switched: ConstraintSubsetDynamics
    ) -> None:
        self.parts, self.switched = parts, switched
        self._index: dict[int, tuple[int, range]] = {}
        first = 0
        for k, one in enumerate(switched.constraints):
            self._index[id(one)] = k, range(first, first + len(one.labels))
            first += len(one.labels)
        # of each part: of a contact, its distance, or zeros where its load is given
        self.first = {name: self.numbers(part.constraints)[0] for name, part in parts.items()}
        self.constraints = [part.held for part in parts.values() if part.held is not None]
        self.held = self.numbers(self.constraints)
        self._last: tuple[Floats, Floats, float, ConstraintRows] | None = None
        self.modes: dict[tuple[str, ...], Any] = {}  # that machine code moves, by their states

    def at(self, q: Floats, v: Floats, t: float) -> ConstraintRows:
        """Return all rows at a state; those of the last one are kept."""
        last = self._last
        if last is None or not (last[0] is q and last[1] is v and last[2] == t):
            last = self._last = q, v, t, self.switched.rows(q, v, t)
        return last[3]

    def of(self, constraints: Iterable[Constraint]) -> RowsFunction:
        """Return a function (q, v, t) -> rows of some constraints of the parts."""
        numbers = self.numbers(constraints)
        return lambda q, v, t: self.at(q, v, t).take(numbers)

    def numbers(self, constraints: Iterable[Constraint]) -> list[int]:
        """Return which of all rows are those of some constraints, in their order."""
        return [k for one in constraints for k in self._index[id(one)][1]]

    def code(self, held: Iterable[Constraint]) -> CompiledSubset | None:
        """Return machine code under some constraints of the parts, None where there is none."""
        subset = [self._index[id(one)][0] for one in held]
        if len({*subset}) < len(subset):  # one constraint in two parts: they share its forces
            return None
        return self.switched.on(subset)

    def code_beside(self, closed: Iterable[NamedConstraint]) -> CompiledSubset | None:
        """Return machine code under all constraints and the distances of some contacts."""
        return self.code([*self.constraints, *(part.distance for part in closed if part.distance)])

    def closed(self, parts: Sequence[NamedConstraint], rows: ConstraintRows) -> ClosedContacts:
        """Return the contacts of some parts, from all rows at a state."""
        contacts = [part.contact for part in parts if part.contact is not None]
        distances = self.numbers(part.distance for part in parts if part.distance is not None)
        slips = self.numbers(one.tangent for one in contacts if one.tangent is not None)
        labels = tuple(part.labels[0] for part in parts if part.contact is not None)
        normal = replace(rows.take(distances), labels=labels)
        return ClosedContacts.of(contacts, normal, rows.take(slips))
