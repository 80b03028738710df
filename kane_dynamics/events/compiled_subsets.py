# SPDX-License-Identifier: Apache-2.0
"""
Machine code of the parts of a simulation: one for all sets of them, made once and kept.

Which of its constraints hold is switched, so every set of known parts is ready when it is first
seen. A part that nobody knew moves on the generic path at once; with `beside` code that knows it
is made in a thread meanwhile and takes over at a later step. Both agree to the error of a step,
but not to the last bit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from kane_dynamics.background import BackgroundTask
from kane_dynamics.constraints.base import Constraint
from kane_dynamics.constraints.constraint_set import ConstraintSet
from kane_dynamics.dynamics import ConstraintSubsetDynamics, Dynamics
from kane_dynamics.events.constraint_rows import PartRows
from kane_dynamics.events.flow import Flow, FreeFlow, MinimalFlow, Slip, SwitchedFlow
from kane_dynamics.events.named_constraints import NamedConstraint
from kane_dynamics.exceptions import KaneDynamicsError
from kane_dynamics.reference_dynamics import ReferenceDynamics
from kane_dynamics.robot.robot import Robot


class CompiledSubsets:
    """
    The sets of constraints of one robot.

    Parameters
    ----------
    dynamics : Dynamics
        Of the robot without constraints.
    first : sequence of Part
        Parts that are made ready at once, and stay known.
    beside : bool
        Whether what is new later is made in a thread, and not when it is first needed.

    """

    def __init__(self, dynamics: Dynamics, first: Sequence[NamedConstraint], beside: bool) -> None:
        self._free, self._generic_only = dynamics, isinstance(dynamics, ReferenceDynamics)
        self._beside = beside and not self._generic_only
        self._first = _each_once(_constraints(first))
        self._made: list[ConstraintSubsetDynamics] = []
        self._at_work: list[tuple[ConstraintSet, BackgroundTask[ConstraintSubsetDynamics]]] = []
        self._refused: list[str] = []
        self._last: PartRows | None = None
        known = ConstraintSet(self.robot, self._first)
        self._keep(known, lambda: self._free.switched(known))

    @property
    def robot(self) -> Robot:
        """Return the robot with the present gravity and payloads."""
        return self._free.robot

    @property
    def refused(self) -> tuple[str, ...]:
        """Return what could not be made, and why."""
        return tuple(self._refused)

    def take_over(self) -> bool:
        """Keep what was made in a thread meanwhile; return whether there is any."""
        if not self._at_work:
            return False
        done = [one for one in self._at_work if one[1].done()]
        for known, work in done:
            self._at_work.remove((known, work))
            self._keep(known, work.result)
            self._last = None
        return bool(done)

    def rows(self, parts: Mapping[str, NamedConstraint]) -> PartRows:
        """Return the rows of parts; those of the last ones are kept."""
        if self._last is None or self._last.parts is not parts:
            self._last = PartRows(parts, self._switched(_constraints(parts.values())))
        return self._last

    def flow(self, rows: PartRows, held: Sequence[Constraint], slips: Sequence[Slip] = ()) -> Flow:
        """Return what moves the robot under some rows and slips."""
        if not (rows.switched.constraints or self._generic_only):
            return FreeFlow(self._free)
        minimal = MinimalFlow(self._free, held, slips, rows)
        code = None if slips else rows.code(held)
        return minimal if code is None else SwitchedFlow(code, minimal)

    def _switched(self, needed: list[Constraint]) -> ConstraintSubsetDynamics:
        """Return the code that knows some constraints, or the generic path of those."""
        for made in self._made:
            if _knows(made.constraints, needed):
                return made
        known = ConstraintSet(self.robot, _each_once([*self._first, *needed]))
        if not self._beside:
            return self._keep(known, lambda: self._free.switched(known))
        if not any(_knows(others, needed) for others, _ in self._at_work):
            self._at_work.append((known, BackgroundTask(lambda: self._free.switched(known))))
        return ConstraintSubsetDynamics(known, known.rows)

    def _keep(
        self, known: ConstraintSet, make: Callable[[], ConstraintSubsetDynamics]
    ) -> ConstraintSubsetDynamics:
        try:
            results = make()
        except KaneDynamicsError as error:
            self._refused.append(f'{list(known.labels)} stay on the generic path: {error}')
            results = ConstraintSubsetDynamics(known, known.rows)
        self._made.append(results)
        return results


def _constraints(parts: Iterable[NamedConstraint]) -> list[Constraint]:
    return [one for part in parts for one in part.constraints]


def _each_once(constraints: Sequence[Constraint]) -> list[Constraint]:
    """Return constraints without repeats; they are compared by identity."""
    return list({id(one): one for one in constraints}.values())


def _knows(known: Sequence[Constraint], needed: Sequence[Constraint]) -> bool:
    """Return whether some constraints are among others."""
    return {id(one) for one in needed} <= {id(one) for one in known}
