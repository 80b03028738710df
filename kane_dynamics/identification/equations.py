# SPDX-License-Identifier: Apache-2.0
r"""
Equations of samples, Z' W phi + F f = Z' tau, and their triangles R of (Z' W, F, Z' tau) = Q R.

What follows needs only the triangle of each observed speed: memory and time do not grow with the
samples, and recordings are added by triangles below each other. Z are the motions that constraints
allow (`ObservedSpeeds`): forces of wheels on the ground drop out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import scipy

from kane_dynamics.algebra.inertia import UPPER
from kane_dynamics.analysis.joint_friction import FrictionTerm
from kane_dynamics.analysis.momentum_observer import ObservedSpeeds
from kane_dynamics.dynamics import Dynamics
from kane_dynamics.identification.friction import check_terms, friction_columns, noise_columns
from kane_dynamics.identification.samples import Samples
from kane_dynamics.robot.checks import index_of
from kane_dynamics.robot.inertial_parameters import PARAMETERS
from kane_dynamics.robot.joint_kinds import JointKind, Prismatic, Revolute
from kane_dynamics.typing import Floats

Friction = Mapping[str, Sequence[FrictionTerm]]
CHUNK = 4096  # samples


@dataclass(frozen=True, eq=False)
class Triangles:
    """
    What least squares need of equations, by observed speed.

    Parameters
    ----------
    factors : ndarray, shape (n, p + 1, p + 1)
        Upper triangles R, the right side last.
    counts : ndarray, shape (n,)
        Equations of each speed.

    """

    factors: Floats
    counts: Floats

    def take(self, columns: Sequence[int]) -> Triangles:
        """Return the equations of some unknowns alone; what is left are no triangles any more."""
        return Triangles(self.factors[..., [*columns, -1]], self.counts)

    def __add__(self, other: Triangles) -> Triangles:
        pairs = zip(self.factors, other.factors, strict=True)
        joined = [_triangle(np.vstack(pair)) for pair in pairs]
        return Triangles(np.array(joined), self.counts + other.counts)

    def shifted(self, change: Floats) -> Triangles:
        """Return the triangles of which solutions are that much larger, residuals the same."""
        factors = self.factors.copy()
        factors[..., -1] += factors[..., :-1] @ change
        return Triangles(factors, self.counts)

    def weighted(self, weights: Floats) -> Floats:
        """Return the equations of all speeds as rows, each speed's times its weight."""
        width = self.factors.shape[-1]
        return (self.factors * weights[:, None, None]).reshape(-1, width)

    def squares(self, solution: Floats) -> Floats:
        """Return the sum of the squared residuals of each speed, shape (n,)."""
        missed = self.factors @ np.append(solution, -1.0)
        return np.asarray(np.einsum('nk,nk->n', missed, missed))


@dataclass(frozen=True, eq=False)
class Equations:
    """
    How samples become equations.

    Parameters
    ----------
    dynamics : Dynamics
        Of either engine; compiled ones are quicker.
    speeds : ObservedSpeeds
        Speeds whose efforts were measured.
    friction : mapping of str to sequence of FrictionTerm
        Columns by observed speed, or by a speed that follows them, which has a motor too.

    """

    dynamics: Dynamics
    speeds: ObservedSpeeds
    friction: Friction

    def __post_init__(self) -> None:
        robot, speeds = self.dynamics.robot, self.speeds
        for name, terms in self.friction.items():
            names = robot.velocity_names if speeds.follow else speeds.names
            index_of('observed speed', name, names)
            check_terms(name, terms)

    @property
    def inertial(self) -> int:
        """Return how many of the unknowns are inertial parameters."""
        return len(PARAMETERS) * len(self.dynamics.robot.bodies)

    @property
    def columns(self) -> list[tuple[str, FrictionTerm]]:
        """Return speed and term of each column of friction."""
        return [(name, term) for name, terms in self.friction.items() for term in terms]

    @property
    def names(self) -> list[str]:
        """Return the names of all unknowns: m1, ..., Jzz7, 'viscous joint_1', ..."""
        bodies = range(1, 1 + len(self.dynamics.robot.bodies))
        inertial = [f'{name}{i}' for i in bodies for name in PARAMETERS]
        return inertial + [f'{term.kind} {name}' for name, term in self.columns]

    @property
    def preferences(self) -> list[int]:
        """Return how early each unknown leads a sum; by the axis of each body's joint."""
        ranks = [rank for body in self.dynamics.robot.bodies for rank in _ranks(body.joint.kind)]
        return ranks + [-1] * len(self.columns)

    def chunks(self, samples: Iterable[Samples]) -> Iterator[Floats]:
        """Yield (Z' W, F, Z' tau) of some samples at a time, shape (N, n, p + 1)."""
        return (rows for (rows,) in self._chunks(samples, friction_columns))

    def chunks_and_noise(self, samples: Iterable[Samples]) -> Iterator[tuple[Floats, ...]]:
        """Yield those of `chunks`, each with the moments of the noise of speeds in its F."""
        return self._chunks(samples, friction_columns, noise_columns)

    def _chunks(
        self, samples: Iterable[Samples], *kinds: Callable[..., Floats]
    ) -> Iterator[tuple[Floats, ...]]:
        """Yield rows of each kind of columns of friction, the first with Z' W and Z' tau."""
        for one in samples:
            friction = [
                [columns(self.dynamics.robot, one, *pair) for pair in self.friction.items()]
                for columns in kinds
            ]
            for start in range(0, len(one), CHUNK):
                selection = slice(start, start + CHUNK)
                part = one.part(selection)
                Z, W = self._directions(part), self.dynamics.regressor(part.q, part.v, part.a)
                along = (
                    Z.transpose(0, 2, 1) @ W if self.speeds.follow else W[:, self.speeds.indices]
                )
                rows, *others = (self._along(Z, columns, selection) for columns in friction)
                rows[..., : self.inertial] = along
                rows[..., -1] = np.einsum('njk,nj->nk', Z, part.tau)
                yield rows, *others

    def _along(self, Z: Floats, friction: Sequence[Floats], selection: slice) -> Floats:
        """Return rows with columns of friction alone, along the motions Z."""
        rows = np.zeros((len(Z), Z.shape[-1], self.inertial + len(self.columns) + 1))
        column = self.inertial
        for name, local in zip(self.friction, friction, strict=True):
            moved = Z[:, self.dynamics.robot.velocity_index(name), :, None]
            rows[..., column : column + local.shape[1]] = moved * local[selection, None]
            column += local.shape[1]
        return rows

    def efforts(self, samples: Samples, tau: Floats) -> Floats:
        """Return the efforts along the observed speeds, Z' tau, shape (N, n, ...)."""
        return np.asarray(np.einsum('njk,nj...->nk...', self._directions(samples), tau))

    def predicted(self, samples: Samples, solution: Floats) -> Floats:
        """Return the efforts along the observed speeds of solutions (p, ...): (N, n, ...)."""
        return np.concatenate([rows[..., :-1] @ solution for rows in self.chunks([samples])])

    def triangles(self, samples: Iterable[Samples]) -> Triangles:
        """Return the triangles of recordings together."""
        width = self.inertial + len(self.columns) + 1
        return triangles_of(self.chunks(samples), len(self.speeds.names), width)

    def _directions(self, samples: Samples) -> Floats:
        """Return the motions Z that observed speeds of 1 are, without what rows of b0 add."""
        if not self.speeds.follow:
            Z = self.speeds.directions(samples.q[0])
            return np.broadcast_to(Z, (len(samples), *Z.shape))
        q, time, names = samples.q, samples.time, self.speeds.names
        units = [np.zeros(samples.v.shape) for _ in (None, *names)]
        for unit, k in zip(units[1:], self.speeds.indices, strict=True):
            unit[:, k] = 1.0
        none, *motions = (self.dynamics.consistent_velocity(q, v, names, time) for v in units)
        return np.stack([motion - none for motion in motions], axis=-1)


def _ranks(kind: JointKind) -> list[int]:
    """Return how early parameters lead: across the joint's axis before along it, mass last."""
    along = int(np.argmax(np.abs(kind.axis))) if isinstance(kind, (Revolute, Prismatic)) else 2
    beside, third = (along + 1) % 3, (along + 2) % 3
    first = {along: 3, beside: 0, third: 0}
    second = {along: 1, beside: 2, third: 4}
    pairs = zip(*(x.tolist() for x in UPPER), strict=True)
    tensor = [second[i] if i == j else -1 for i, j in pairs]
    return [5, *(first[k] for k in range(3)), *tensor]


def triangles_of(chunks: Iterable[Floats], n: int, width: int) -> Triangles:
    """Return the triangles of equations of n speeds, shape (N, n, width) at a time."""
    factors, total = np.zeros((n, width, width)), 0
    for rows in chunks:
        total += len(rows)
        for k, factor in enumerate(factors):
            factors[k] = _triangle(np.vstack([factor, rows[:, k]]))
    return Triangles(factors, np.full(n, float(total)))


def _triangle(rows: Floats) -> Floats:
    """Return R of rows = Q R, square; columns without an entry take no time."""
    width = rows.shape[1]
    moving = np.flatnonzero(rows.any(axis=0))
    result = np.zeros((width, width))
    R = scipy.linalg.qr(rows[:, moving], mode='r', overwrite_a=True, check_finite=False)[0]
    result[: min(R.shape), moving] = R[: len(moving)]
    return result
