# SPDX-License-Identifier: Apache-2.0
"""The named parts of a run-time set of constraints, and what each of them does in a mode."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from kane_dynamics.constraints.base import Constraint, unique_labels
from kane_dynamics.constraints.closed_contacts import GivenLoad
from kane_dynamics.constraints.constraint_set import ConstraintSet, checked_constraint
from kane_dynamics.constraints.dry_friction import Contact
from kane_dynamics.exceptions import ConstraintError, InvalidInputError
from kane_dynamics.robot.checks import as_positive, as_text
from kane_dynamics.robot.robot import Robot

HOLDS = 'holds'  # a constraint in both directions
OPEN = 'open'  # a contact at a distance
SLIPS = 'slips'  # a contact that pushes, with the friction of its slip
STICKS = 'sticks'  # a contact that pushes and holds its rows of slip


_GIVEN_LOAD = GivenLoad(('given load',))  # one row of zeros for all


@dataclass(frozen=True, eq=False)
class NamedConstraint:
    """
    A constraint or a contact with a name.

    Parameters
    ----------
    name : str
        Unique.
    held : Constraint or None
        Rows that hold in both directions.
    contact : Contact or None
        What pushes, slips and sticks instead.
    distance : Constraint or None
        Row of the distance of a contact; zeros where its load is given.
    limit : float
        Norm of the multipliers of `held` beyond which it lets go.
    labels : tuple of str
        Of all rows that may act, the distance first.

    """

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
        selection = (normal if state != OPEN else None, tangent if state == STICKS else None)
        return tuple(rows for rows in selection if rows is not None)


def as_part(
    robot: Robot, name: str, what: Constraint | Contact, limit: float | None = None
) -> NamedConstraint:
    """
    Return a named part.

    Raises
    ------
    InvalidInputError
        If the name is no text, it is neither constraint nor contact, the limit is not positive, or
        a contact has one: its friction is its limit.
    ConstraintError
        If it was built for another robot.

    """
    if not as_text('name', name):
        raise InvalidInputError('name: need text that is not empty')
    bound = float('inf') if limit is None else as_positive('limit', limit)
    if not isinstance(what, Contact):
        rows = ConstraintSet(robot, [checked_constraint(f"part '{name}'", what)])
        return NamedConstraint(name, what, None, limit=bound, labels=rows.labels)
    if limit is not None:
        raise InvalidInputError(f"'{name}': a contact has friction, no limit")
    part = NamedConstraint(name, None, what, _GIVEN_LOAD if what.normal is None else what.normal)
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
        local = [f'{part.name}/{x}' if x in used or x in shared else x for x in part.labels]
        parts[part.name] = replace(part, labels=unique_labels(local, used))
    return parts


@dataclass(frozen=True, eq=False)
class Mode:
    """
    What every part does between two events.

    Parameters
    ----------
    parts : mapping of str to Part
        By name, in order.
    states : mapping of str to str
        'holds', 'open', 'slips' or 'sticks' for each.

    """

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
        indices = self.indices.items()
        return tuple(
            label
            for name, (first, last) in indices
            for label in self.parts[name].labels[: last - first]
        )

    @property
    def indices(self) -> dict[str, tuple[int, int]]:
        """Return where the rows of each part begin and end among those that hold."""
        result, first = {}, 0
        for name, part in self.parts.items():
            last = first + sum(len(rows.labels) for rows in part.rows_in(self.states[name]))
            result[name], first = (first, last), last
        return result

    def in_state(self, *states: str) -> list[NamedConstraint]:
        """Return the parts in one of some states."""
        return [part for name, part in self.parts.items() if self.states[name] in states]

    @property
    def slipping(self) -> list[NamedConstraint]:
        """Return the parts with friction that slip."""
        return [part for part in self.in_state(SLIPS) if _rubs(part)]


def _rubs(part: NamedConstraint) -> bool:
    contact = part.contact
    return contact is not None and contact.tangent is not None


def check_new_name(name: str, parts: Mapping[str, NamedConstraint]) -> None:
    """
    Refuse a name that is taken.

    Raises
    ------
    ConstraintError
        If there is a part of this name.

    """
    if name in parts:
        raise ConstraintError(f"there is a part '{name}' already; there are {sorted(parts)}")
