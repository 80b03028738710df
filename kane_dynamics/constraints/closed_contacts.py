# SPDX-License-Identifier: Apache-2.0
"""Friction cones, and the contacts of a set that are closed."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

import numpy as np

from kane_dynamics.algebra.scalars import Scalar
from kane_dynamics.constraints.base import Constraint, ConstraintRows, Row, unique_labels
from kane_dynamics.constraints.dry_friction import Contact
from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.robot.checks import as_names, as_nonnegative, as_number, index_of
from kane_dynamics.robot.robot import Robot
from kane_dynamics.typing import Floats, Indices

Contacts = Sequence[Constraint | Contact]
RowsOf = Callable[[Sequence[Constraint]], Callable[[Any, Any, Any], ConstraintRows]]


@dataclass(frozen=True)
class FrictionCone:
    """
    The force of some constraint rows is at most mu times a normal force, ``|f_t| <= mu f_n``.

    Parameters
    ----------
    rows : sequence of str, or mapping of str to float
        Names of the rows that make the tangential force, at right angles to each other: those of
        one wheel or point. A mapping gives the share of each row that this contact carries, e.g.
        a half of the side force of an axle with two wheels. May be empty, where `normal` is a row
        that only pushes.
    friction : float
        mu >= 0.
    normal : str or float
        Name of the row whose multiplier is the normal force, which then pushes only; or the load
        on the contact [N], >= 0.

    Raises
    ------
    InvalidInputError
        If rows are no names, or a number is negative or not finite.

    """

    rows: Sequence[str] | Mapping[str, float] = field(hash=False)
    friction: float
    normal: str | float
    shares: Mapping[str, float] = field(init=False, repr=False, hash=False)

    def __post_init__(self) -> None:
        names = as_names('rows of a friction cone', self.rows)
        weights = self.rows if isinstance(self.rows, Mapping) else dict.fromkeys(names, 1.0)
        shares = {name: as_number(f"share of row '{name}'", weights[name]) for name in names}
        object.__setattr__(self, 'shares', MappingProxyType(shares))
        object.__setattr__(self, 'friction', as_nonnegative('friction', self.friction))
        if not isinstance(self.normal, str):
            object.__setattr__(self, 'normal', as_nonnegative('normal load [N]', self.normal))
        elif not names and self.friction > 0.0:
            raise InvalidInputError(
                f"friction cone over '{self.normal}': need rows for its friction, or friction 0"
            )

    @property
    def name(self) -> str:
        """Return what it is called in messages: the names of its rows."""
        return ' & '.join(self.shares) or str(self.normal)

    def at(self, labels: Sequence[str]) -> PlacedCone:
        """
        Return the cone as a condition on the multipliers of rows with these names.

        Raises
        ------
        NameNotFoundError
            If one of its rows is not among them.

        """
        tangent = np.zeros((len(self.shares), len(labels)))
        for i, (name, share) in enumerate(self.shares.items()):
            tangent[i, index_of('constraint row', name, labels)] = share
        normal, load = np.zeros(len(labels)), 0.0
        if isinstance(self.normal, str):
            normal[index_of('constraint row', self.normal, labels)] = 1.0
        else:
            load = self.normal
        return PlacedCone(self.name, tangent, normal, load, self.friction)


@dataclass(frozen=True, eq=False, slots=True)
class PlacedCone:
    """|T lambda| <= mu (n lambda + load), n lambda >= 0."""

    name: str
    tangent: Floats
    normal: Floats
    load: float
    friction: float

    def margin(self, multipliers: Floats) -> float:
        """Return ``mu f_n - |f_t|`` [N]: how much more tangential force the contact can take."""
        limit = self.friction * float(self.normal @ multipliers + self.load)
        slip = self.tangent @ multipliers
        return limit - math.sqrt(slip @ slip)


@dataclass(frozen=True, eq=False, slots=True)
class ClosedContacts:
    """k contacts at a state, with none, one or two directions of slip each."""

    normal: ConstraintRows
    tangent: ConstraintRows
    owner: Indices
    friction: Floats
    static_friction: Floats
    restitution: Floats
    load: Floats

    def __len__(self) -> int:
        """Return the number of contacts."""
        return len(self.normal)

    @property
    def labels(self) -> tuple[str, ...]:
        """Return the names of the contacts: of their distances."""
        return self.normal.labels

    def slip_speeds(self, slip: Floats) -> Floats:
        """Return the size of the slip of each contact, from that along all directions."""
        return np.sqrt(np.bincount(self.owner, np.square(slip), len(self)))

    @classmethod
    def at(cls, rows_of: RowsOf, contacts: Contacts, q: Any, v: Any, t: Scalar) -> ClosedContacts:
        """Return contacts at a state, by what makes a function of constraints: their rows."""
        if not isinstance(contacts, Iterable) or _is_one(contacts):
            rows_of(contacts)  # type: ignore[arg-type]  # says what is wrong, or has been checked
        each: Any = tuple(contacts)
        normal = rows_of([distance_of(one) for one in each])(q, v, t)
        parts = [one.labels[:1] if isinstance(one, Contact) else one.labels for one in each]
        labels = unique_labels([label for part in parts for label in part])
        tangents = [one.tangent for one in each if isinstance(one, Contact) and one.tangent]
        return cls.of(each, replace(normal, labels=labels), rows_of(tangents)(q, v, t))

    @classmethod
    def of(
        cls, contacts: Contacts, normal: ConstraintRows, tangent: ConstraintRows
    ) -> ClosedContacts:
        """Return contacts whose distances and slips have these rows, in their order."""
        counts, owner, first = list[int](), list[int](), 0
        for one in contacts:
            counts.append(1 if isinstance(one, Contact) else len(one.labels))
            if isinstance(one, Contact) and one.tangent is not None:
                owner += [first] * len(one.tangent.labels)
            first += counts[-1]

        def numbers(name: str) -> Floats:
            pairs = zip(contacts, counts, strict=True)
            return np.array([x for one, k in pairs for x in k * [getattr(one, name, 0.0)]], float)

        return cls(
            normal,
            tangent,
            np.array(owner, dtype=np.intp),
            numbers('friction'),
            numbers('static_friction'),
            numbers('restitution'),
            numbers('load'),
        )


@dataclass(frozen=True, eq=False)
class ZeroRow:
    """A row that nothing moves, in the place of a distance."""

    labels: tuple[str, ...]

    def rows(self, robot: Robot, q: Any, v: Any, t: Scalar) -> Sequence[Row]:
        """Return it."""
        return [Row({})]


def _is_one(contacts: Any) -> bool:
    """Return whether something is no sequence of contacts, or has been checked already."""
    return isinstance(contacts, (str, bytes)) or hasattr(contacts, 'labels')


NO_DISTANCE = ZeroRow(('given load',))  # one for all


def distance_of(one: Any) -> Any:
    """Return the distance of a contact; what is none stays as it is, and is refused later."""
    if not isinstance(one, Contact):
        return one
    return NO_DISTANCE if one.normal is None else one.normal
