# SPDX-License-Identifier: Apache-2.0
"""The rows of all parts of a simulation, evaluated once at a state and handed out by part."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from kane_dynamics.constraints.base import Constraint, ConstraintRows
from kane_dynamics.constraints.closed_contacts import ClosedContacts
from kane_dynamics.dynamics import CompiledSubset, ConstraintSubsetDynamics, RowsFunction
from kane_dynamics.events.named_constraints import NamedConstraint
from kane_dynamics.typing import Floats


class PartRows:
    """
    Rows of parts at states.

    Parameters
    ----------
    parts : mapping of str to Part
        The present parts.
    switched : Switched
        Of all constraints that they may hold, and others.

    Attributes
    ----------
    held : list of int
        Which of all rows are those of constraints, which hold in any mode.

    """

    def __init__(
        self, parts: Mapping[str, NamedConstraint], switched: ConstraintSubsetDynamics
    ) -> None:
        self.parts, self.switched = parts, switched
        self._places: dict[int, tuple[int, range]] = {}
        first = 0
        for k, one in enumerate(switched.constraints):
            self._places[id(one)] = k, range(first, first + len(one.labels))
            first += len(one.labels)
        self.held = self.numbers(part.held for part in parts.values() if part.held is not None)
        self._last: tuple[Floats, Floats, float, ConstraintRows] | None = None

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
        return [k for one in constraints for k in self._places[id(one)][1]]

    def code(self, held: Iterable[Constraint]) -> CompiledSubset | None:
        """Return machine code under some constraints of the parts, None where there is none."""
        selection = [self._places[id(one)][0] for one in held]
        if len({*selection}) < len(
            selection
        ):  # one constraint in two parts: they share its forces
            return None
        return self.switched.on(selection)

    def closed(self, parts: Sequence[NamedConstraint], rows: ConstraintRows) -> ClosedContacts:
        """Return the contacts of some parts, from all rows at a state."""
        contacts = [part.contact for part in parts if part.contact is not None]
        distances = self.numbers(part.distance for part in parts if part.distance is not None)
        slips = self.numbers(one.tangent for one in contacts if one.tangent is not None)
        labels = tuple(part.labels[0] for part in parts if part.contact is not None)
        normal = replace(rows.take(distances), labels=labels)
        return ClosedContacts.of(contacts, normal, rows.take(slips))
