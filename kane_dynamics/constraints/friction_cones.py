# SPDX-License-Identifier: Apache-2.0
"""Friction cones: how large the forces of constraint rows may be before a contact slips."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np

from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.robot.checks import as_names, as_nonnegative, as_number, index_of
from kane_dynamics.typing import Floats


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

    rows: Sequence[str] | Mapping[str, float]
    friction: float
    normal: str | float
    shares: Mapping[str, float] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        names = as_names('rows of a friction cone', self.rows)
        values = self.rows if isinstance(self.rows, Mapping) else dict.fromkeys(names, 1.0)
        shares = {name: as_number(f"share of row '{name}'", values[name]) for name in names}
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
    """
    |T lambda| <= mu (n lambda + load), n lambda >= 0.

    Parameters
    ----------
    name : str
        Of the cone.
    tangent : ndarray, shape (t, k)
        T.
    normal : ndarray, shape (k,)
        n; zero where the load is given.
    load : float
        [N].
    friction : float
        mu.

    """

    name: str
    tangent: Floats
    normal: Floats
    load: float
    friction: float

    def margin(self, multipliers: Floats) -> float:
        """Return ``mu f_n - |f_t|`` [N]: how much more tangential force the contact can take."""
        limit = self.friction * float(self.normal @ multipliers + self.load)
        return limit - float(np.linalg.norm(self.tangent @ multipliers))
