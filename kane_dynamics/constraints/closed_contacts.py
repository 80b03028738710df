# SPDX-License-Identifier: Apache-2.0
"""Contacts that are closed at a state: rows of their distances and slips, and their friction."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kane_dynamics.algebra.scalars import Scalar
from kane_dynamics.constraints.base import Constraint, ConstraintRows, Row
from kane_dynamics.constraints.constraint_set import ConstraintSet
from kane_dynamics.constraints.dry_friction import Contact
from kane_dynamics.robot.robot import Robot
from kane_dynamics.typing import Floats, Indices


@dataclass(frozen=True, eq=False, slots=True)
class ClosedContacts:
    """
    k contacts at a state, with none, one or two directions of slip each.

    Parameters
    ----------
    normal : ConstraintRows
        Rows of the distances, one a contact; a row of zeros where the load is given.
    tangent : ConstraintRows
        Rows of the slips.
    owner : ndarray of int, shape (m,)
        The contact that each slip belongs to.
    friction, static_friction : ndarray, shape (k,)
        mu of contacts that slip, and of those that stick.
    restitution : ndarray, shape (k,)
        e, from 0 to 1.
    load : ndarray, shape (k,)
        Normal force [N] that acts in any case.

    """

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

    @classmethod
    def at(
        cls,
        robot: Robot,
        contacts: Sequence[Constraint | Contact],
        q: Any,
        v: Any,
        t: Scalar,
    ) -> ClosedContacts:
        """
        Return contacts at a state.

        Parameters
        ----------
        robot : Robot
            The robot.
        contacts : sequence of Constraint or Contact
            Each row of a plain constraint is a contact without friction and restitution.
        q, v : sequence of scalar, lengths nq, nv
            State.
        t : scalar
            Time [s].

        Raises
        ------
        InvalidInputError
            If they are not several contacts.
        ConstraintError
            If one was built for another robot.

        """
        several: Any = contacts
        if isinstance(contacts, Iterable) and not _is_one(contacts):
            several = tuple(contacts)
            distances = ConstraintSet(robot, [distance_of(one) for one in several])
        else:
            distances = ConstraintSet.of(robot, several)
        each = tuple(several)
        tangents = [one.tangent for one in each if isinstance(one, Contact) and one.tangent]
        slips = ConstraintSet(robot, tangents)
        return cls.of(each, distances.rows(q, v, t), slips.rows(q, v, t))

    @classmethod
    def of(
        cls,
        contacts: Sequence[Constraint | Contact],
        normal: ConstraintRows,
        tangent: ConstraintRows,
    ) -> ClosedContacts:
        """Return contacts whose distances and slips have these rows, in their order."""
        counts, owner, first = list[int](), list[int](), 0
        for one in contacts:
            counts.append(1 if isinstance(one, Contact) else len(one.labels))
            if isinstance(one, Contact) and one.tangent is not None:
                owner += [first] * len(one.tangent.labels)
            first += counts[-1]

        def numbers(name: str) -> Floats:
            return np.repeat([float(getattr(one, name, 0.0)) for one in contacts], counts)

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
class GivenLoad:
    """A row that nothing moves, in the place of a distance."""

    labels: tuple[str, ...]

    def rows(self, robot: Robot, q: Any, v: Any, t: Scalar) -> Sequence[Row]:
        """Return it."""
        return [Row({})]


def _is_one(contacts: Any) -> bool:
    """Return whether something is no sequence of contacts, or has been checked already."""
    return isinstance(contacts, (str, bytes)) or hasattr(contacts, 'labels')


def distance_of(one: Any) -> Any:
    """Return the distance of a contact; what is none stays as it is, and is refused later."""
    if not isinstance(one, Contact):
        return one
    return GivenLoad(one.labels[:1]) if one.normal is None else one.normal
