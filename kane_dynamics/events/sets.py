# SPDX-License-Identifier: Apache-2.0
"""
Dynamics of every set of constraints that occurs, made once and kept.

A set that is seen for the first time moves on the generic path at once. With `beside` its own
dynamics are made in a thread meanwhile and take over at a later step; both agree to the error of a
step, but not to the last bit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, TypeVar

from kane_dynamics.aside import Aside
from kane_dynamics.constraints.base import Constraint
from kane_dynamics.constraints.constraint_set import ConstraintSet
from kane_dynamics.dynamics import (
    Distances,
    Dynamics,
    ReferenceDynamics,
    RowsFunction,
    row_distances,
)
from kane_dynamics.events.flow import EngineFlow, Flow, MinimalFlow, Slip
from kane_dynamics.events.part_rows import PartRows
from kane_dynamics.events.parts import Part
from kane_dynamics.exceptions import KaneDynamicsError
from kane_dynamics.model.robot import Robot

Constraints = Sequence[Constraint]
T = TypeVar('T')


class Kept(Generic[T]):
    """
    What is made of sets of constraints, each once.

    Parameters
    ----------
    make : callable
        make(constraints) -> T.
    beside : bool
        Whether in a thread.

    Attributes
    ----------
    refused : list of str
        What could not be made, and why.

    """

    def __init__(self, make: Callable[[Constraints], T], beside: bool) -> None:
        self._make, self._beside = make, beside
        # by identity: constraints are compared by nothing else, and are kept alive here
        self._made: dict[tuple[int, ...], tuple[Constraints, T | None]] = {}
        self._at_work: dict[tuple[int, ...], tuple[Constraints, Aside[T]]] = {}
        self.refused: list[str] = []

    def of(self, constraints: Constraints) -> T | None:
        """Return what is made of a set; None while it is at work, or where it was refused."""
        key = tuple(map(id, constraints))
        if key in self._made:
            return self._made[key][1]
        if not self._beside:
            return self._keep(key, constraints, lambda: self._make(constraints))
        if key not in self._at_work:
            self._at_work[key] = constraints, Aside(lambda: self._make(constraints))
        work = self._at_work[key][1]
        if not work.done():
            return None
        del self._at_work[key]
        return self._keep(key, constraints, work.result)

    def _keep(
        self, key: tuple[int, ...], constraints: Constraints, made: Callable[[], T]
    ) -> T | None:
        found = None
        try:
            found = made()
        except KaneDynamicsError as error:
            labels = [label for one in constraints for label in one.labels]
            self.refused.append(f'{labels} stay on the generic path: {error}')
        self._made[key] = constraints, found
        return found

    @property
    def pending(self) -> int:
        """Return how many sets are at work."""
        return len(self._at_work)

    @property
    def done(self) -> bool:
        """Return whether one of them is done."""
        return any(work.done() for _, work in self._at_work.values())


class ConstraintSets:
    """
    The sets of constraints of one robot.

    Parameters
    ----------
    dynamics : Dynamics
        Of the robot without constraints.
    beside : bool
        Whether sets are made in a thread, and not when they are first needed.

    """

    def __init__(self, dynamics: Dynamics, beside: bool) -> None:
        self._free, self._generic_only = dynamics, isinstance(dynamics, ReferenceDynamics)
        self._flows = Kept(lambda constraints: EngineFlow(dynamics.under(constraints)), beside)
        self._distances = Kept(dynamics.distances_of, beside)
        self._rows = Kept(dynamics.rows_of, beside)
        self._kept: tuple[Kept[Any], ...] = self._flows, self._distances, self._rows

    def _rows_of(self, constraints: Constraints) -> RowsFunction:
        quick = None if self._generic_only else self._rows.of(constraints)
        return quick or ConstraintSet(self.robot, constraints).rows

    def rows(self, parts: Mapping[str, Part]) -> PartRows:
        """Return the rows of parts."""
        constraints = [one for part in parts.values() for one in part.constraints]
        return PartRows(parts, constraints, self._rows_of(constraints))

    @property
    def robot(self) -> Robot:
        """Return the robot with the present gravity and payloads."""
        return self._free.robot

    @property
    def pending(self) -> int:
        """Return how many sets are being made."""
        return sum(kept.pending for kept in self._kept)

    @property
    def done(self) -> bool:
        """Return whether one of them is done."""
        return any(kept.done for kept in self._kept)

    @property
    def refused(self) -> tuple[str, ...]:
        """Return what could not be made, and why."""
        return tuple(text for kept in self._kept for text in kept.refused)

    def flow(self, held: Constraints, slips: Sequence[Slip] = ()) -> Flow:
        """Return what moves the robot under some rows and slips."""
        own = None
        if not (self._generic_only or slips):
            own = self._flows.of(held) if held else EngineFlow(self._free)
        if own is not None:
            return own
        rows = self._rows_of([*held, *(slip.tangent for slip in slips)])
        return MinimalFlow(self._free, ConstraintSet(self.robot, held), slips, rows)

    def distances(self, constraints: Constraints) -> Distances:
        """Return a function (q, v, t) -> gaps and their rates, (2, k)."""
        quick = None if self._generic_only else self._distances.of(constraints)
        return quick or row_distances(ConstraintSet(self.robot, constraints))
