# SPDX-License-Identifier: Apache-2.0
r"""
Coulomb's law for several contacts at once, in the coordinates that constraints leave.

.. math:: z = B^T p, \quad u = R z + w, \qquad l \le p_n \perp u_n \ge 0, \quad
   |p_t| \le \mu p_n, \quad p_t = -\mu p_n u_t / |u_t| \text{ where } u_t \ne 0

Rows R are of unit length, so that p and u have one unit and Coulomb's law can be asked as a
projection: p is what the law makes of p - u. Where contacts slide already, B is not R. The load l
is a normal force that acts in any case; mostly zero.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kane_dynamics.typing import Floats, Indices

_ROUNDOFF = 1e-14  # of a product with some ten rows of unit length


@dataclass(frozen=True, eq=False, slots=True)
class FrictionProblem:
    """
    Contacts of which forces p and speeds (or accelerations) u are wanted.

    Parameters
    ----------
    rows : ndarray, shape (k + m, r)
        R: rows of k normals, then of m tangents.
    pushes : ndarray, shape (k + m, r)
        B: the directions in which forces act.
    free : ndarray, shape (k + m,)
        w: u without forces.
    owner : ndarray of int, shape (m,)
        The contact each tangent belongs to.
    friction, load : ndarray, shape (k,)
        mu and l of the contacts.

    """

    rows: Floats
    pushes: Floats
    free: Floats
    owner: Indices
    friction: Floats
    load: Floats

    @property
    def count(self) -> int:
        """Return the number of contacts."""
        return len(self.friction)

    @property
    def response(self) -> Floats:
        """Return R B', of u to p."""
        return self.rows @ self.pushes.T

    def speeds(self, p: Floats) -> Floats:
        """Return u of forces p."""
        return self.rows @ (self.pushes.T @ p) + self.free

    @property
    def size(self) -> float:
        """Return the size of speeds and forces that are given; errors are measured against it."""
        return float(np.abs(self.free).max(initial=0.0) + self.load.max(initial=0.0))

    def roundoff(self, p: Floats) -> float:
        """Return what roundoff of forces leaves of speeds."""
        return _ROUNDOFF * float(np.abs(p).max(initial=0.0))

    def lengths(self, tangents: Floats) -> Floats:
        """Return the length of each contact's part of a vector of all tangents, shape (k,)."""
        squares = np.bincount(self.owner, np.square(tangents), self.count)
        return np.sqrt(squares)

    def lawful(self, p: Floats, u: Floats | None = None) -> Floats:
        """Return what Coulomb's law makes of p - u: p itself, but for roundoff, where p obeys."""
        wish, k = p - (self.speeds(p) if u is None else u), self.count
        pushes = np.maximum(self.load, wish[:k])
        limit, length = self.friction * pushes, self.lengths(wish[k:])
        within = np.where(length > limit, limit / np.where(length > 0.0, length, 1.0), 1.0)
        return np.concatenate([pushes, wish[k:] * within[self.owner]])

    def missed(self, p: Floats, u: Floats | None = None) -> float:
        """Return how far p is from what Coulomb's law makes of p - u."""
        return float(np.abs(p - self.lawful(p, u)).max(initial=0.0))

    def violation(self, p: Floats) -> float:
        """Return that, relative to the size of what is given."""
        return self.missed(p) / (self.size or 1.0)
