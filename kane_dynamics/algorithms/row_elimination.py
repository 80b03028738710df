# SPDX-License-Identifier: Apache-2.0
r"""
Constrained accelerations by elimination, with the rank rule in a form that can be traced.

:math:`A M^{-1} A^T \lambda = b - A M^{-1} Q` is solved by :math:`L D L^T` in the order of the
rows. A pivot over the largest diagonal of its kind is the squared strength of a row in the metric
of M^-1 (`row_selection`), a pivot of :math:`A A^T` that in SI units; a row that both call weak
gets the inverse pivot 0, which is all that leaving it out takes.

Wherever the rule might decide otherwise the health is 0, and the caller asks the reference: at
pivots between `_CLEAR` and `_DROPPED`, where rows are weak that others drop beside or that another
order might drop (the reference takes strong rows first), where right sides may contradict, and
where rows that were left out, because they repeat others wherever they were sampled, ask for
something else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from kane_dynamics.algebra.scalars import Scalar, absolute, is_number, is_zero, sqrt, where
from kane_dynamics.algorithms.row_selection import (
    ACCELERATION_CONTRADICTION,
    GRADES,
    ROUNDOFF_ROW,
    SPEED_CONTRADICTION,
    TAKEN,
    VANISHED,
)
from kane_dynamics.algorithms.sparse_ldl import TreeFactor, smaller

# The Gram matrix of rows squares the angle between them: vdot is off by up to 3e-15/s^2, as
# measured. Rows of s = 1e-2 must still be good to 1e-10: at that strength the health is 1e-6.
ROW_WEIGHT = 1e-2
_CLEAR = 1e-4
_DROPPED = 0.9 * TAKEN**2
_FIRST = (1.1 * GRADES[0]) ** 2  # taken by the reference in its first round, whatever the order
# Rows of unit size that span this volume (squared) are this far from each other in any order.
_SOLID = 1.2 * TAKEN**2
# What a row that was left out may miss: of its own terms, of those of the free motion, and of
# the terms of the other rows of its constraint (some rows are nothing but their roundoff).
_MISSED, _MISSED_FREE, _MISSED_BESIDE = 1e-6, 1e-9, 1e-9
_NOTHING = 1e-13  # right side of a row that vanishes

SparseRow = Mapping[int, Scalar]


@dataclass(frozen=True, eq=False)
class SparseRows:
    """
    Constraint rows at a state, and how a compiled solve treats them.

    Parameters
    ----------
    rows : sequence of mapping of int to scalar
        Nonzeros of A.
    kinds, owners : sequence of int
        As in `ConstraintRows`.
    order : sequence of int
        Rows that are solved for, holonomic ones first.
    repeated : sequence of int
        Rows that repeat these in general; whether they do is watched.
    certain : bool
        Whether none of `order` is expected to drop; where one does, the health is 0.

    """

    rows: Sequence[SparseRow]
    kinds: Sequence[int]
    owners: Sequence[int]
    order: Sequence[int]
    repeated: Sequence[int] = ()
    certain: bool = True

    @classmethod
    def of(cls, rows: Sequence[SparseRow]) -> SparseRows:
        """Return independent rows, each measured against itself."""
        own = range(len(rows))
        return cls(rows, own, own, own)


@dataclass(frozen=True, eq=False)
class Solved:
    """
    The solution of M x = Q + A' lambda, A x = c.

    Parameters
    ----------
    x, multipliers : list of scalar
        x and lambda.
    health : scalar
        Of the solves.
    dropped : list of scalar
        1 for rows that were not taken, 0 for the others.
    system : SparseRows
        A.
    found : Solvable or None
        The rows after elimination, where there are any.

    """

    x: list[Scalar]
    multipliers: list[Scalar]
    health: Scalar
    dropped: list[Scalar]
    system: SparseRows
    found: Solvable | None

    def health_of_speeds(self, v: Sequence[Scalar], b0: Sequence[Scalar]) -> Scalar:
        """Return the health, 0 where a row that was not taken may ask for other speeds than v."""
        if self.found is None:
            return self.health
        health = _unless_missed(self.health, self.system, b0, v)
        if self.system.certain or all(is_zero(c) for c in b0):
            return health
        sides = [b0[i] for i in self.system.order]
        return _agreed(health, self.found, sides, 0.0, 0.5 * SPEED_CONTRADICTION)

    @property
    def rank(self) -> Scalar:
        """Return the number of rows that were taken."""
        return len(self.dropped) - sum(self.dropped, 0.0)


def constrained_acceleration(
    factor: TreeFactor,
    force: Sequence[Scalar],
    system: SparseRows,
    right_side: Sequence[Scalar],
    speeds: tuple[Sequence[Scalar], Sequence[Scalar]] | None = None,
    *,
    watch: bool = True,
) -> tuple[list[Scalar], list[Scalar], Scalar]:
    """Return x, lambda and health of `solve_constrained`."""
    solved = solve_constrained(factor, force, system, right_side, speeds, watch=watch)
    return solved.x, solved.multipliers, solved.health


def solve_constrained(
    factor: TreeFactor,
    force: Sequence[Scalar],
    system: SparseRows,
    right_side: Sequence[Scalar],
    speeds: tuple[Sequence[Scalar], Sequence[Scalar]] | None = None,
    *,
    watch: bool = True,
) -> Solved:
    """
    Return x and lambda of M x = Q + A' lambda, A x = c, the health of the solves, and the rank.

    Parameters
    ----------
    factor : TreeFactor
        Of M.
    force : sequence of scalar, length nv
        Q.
    system : SparseRows
        A.
    right_side : sequence of scalar, length k
        c.
    speeds : tuple of two sequences of scalar, optional
        v and b0, where A v = b0 must not be contradictory either; v is to satisfy the rows that
        repeat others.
    watch : bool
        Whether rows that are not taken must be satisfied too; not so in a Newton step.

    """
    free = factor.solve(force)
    if not system.rows:
        return Solved(free, [], factor.health, [], system, None)
    rows = [system.rows[i] for i in system.order]
    # Y = L'^-1 A', so that A M^-1 A' = Y' D^-1 Y
    half = [factor.solve_upper([row.get(k, 0.0) for k in range(len(free))]) for row in rows]
    weighted = [[y / d for y, d in zip(column, factor.pivots, strict=True)] for column in half]
    gram = [[_dot(weighted[i], half[j]) for j in range(i + 1)] for i in range(len(rows))]
    found = eliminate(system, gram)
    gap = [right_side[i] - _times(system.rows[i], free) for i in system.order]
    solved = found.factors.solve(gap)
    pull = [
        sum((y[k] * m for y, m in zip(weighted, solved, strict=True)), 0.0)
        for k in range(len(free))
    ]
    x = [a + s for a, s in zip(free, factor.solve_lower(pull), strict=True)]
    multipliers: list[Scalar] = [0.0] * len(system.rows)
    dropped: list[Scalar] = [1.0] * len(system.rows)
    for i, multiplier, gone in zip(system.order, solved, found.dropped, strict=True):
        multipliers[i], dropped[i] = multiplier, gone
    # false for NaN: a row has no value here, and comparisons of pivots did not notice
    known = sum((part * part for part in x), 0.0) >= 0.0
    health = where(known, smaller(factor.health, found.health), 0.0)
    if watch:
        health = _watched(health, system, found, right_side, x, free, force, multipliers)
    solution = Solved(x, multipliers, health, dropped, system, found)
    if speeds is None or all(is_zero(c) for c in speeds[1]):
        return solution
    return replace(solution, health=solution.health_of_speeds(*speeds))


class Elimination:
    """
    L D L' of a Gram matrix, row by row; rows that are not taken get the inverse pivot 0.

    Parameters
    ----------
    gram : sequence of sequence of scalar
        Lower triangle.
    kinds : sequence of int
        Rows of one kind share a number.

    Attributes
    ----------
    scale : list of scalar
        Largest squared size in the kind of each row.

    """

    def __init__(self, gram: Sequence[Sequence[Scalar]], kinds: Sequence[int]) -> None:
        self.scale = _largest(kinds, [row[-1] for row in gram])
        self._gram = gram
        self._lower: list[list[Scalar]] = []
        self._inverse: list[Scalar] = []
        self._pivot: Scalar = 0.0

    def strength(self) -> Scalar:
        """Eliminate the next row; return its squared strength beside the rows taken so far."""
        given = self._gram[len(self._lower)]
        scaled: list[Scalar] = []
        row: list[Scalar] = []
        for j, inverse in enumerate(self._inverse):
            entry = given[j] - _dot(scaled, self._lower[j])
            scaled.append(entry)
            row.append(entry * inverse)
        self._lower.append(row)
        self._pivot = given[-1] - _dot(scaled, row)
        return ratio(self._pivot, self.scale[len(row)])

    def take(self, taken: Scalar = 1.0) -> None:
        """Take the row just eliminated, where `taken` is not 0."""
        if is_number(taken):
            self._inverse.append(1.0 / (self._pivot if not is_zero(self._pivot) else 1.0))
            return
        self._inverse.append(where(taken > 0.0, 1.0 / where(taken > 0.0, self._pivot, 1.0), 0.0))

    def forward(self, right_side: Sequence[Scalar]) -> list[Scalar]:
        """Return L^-1 c: for a row that is not taken, what c asks beyond the rows taken."""
        x: list[Scalar] = []
        for c, row in zip(right_side, self._lower, strict=True):
            x.append(c - _dot(row, x))
        return x

    def solve(self, right_side: Sequence[Scalar]) -> list[Scalar]:
        """Return the multipliers, 0 for rows that are not taken."""
        y = self.forward(right_side)
        x = [entry * inverse for entry, inverse in zip(y, self._inverse, strict=True)]
        for i in reversed(range(len(x))):
            for j in range(i):
                x[j] = x[j] - self._lower[i][j] * x[i]
        return x


@dataclass(frozen=True, eq=False)
class Solvable:
    """
    Rows after elimination.

    Parameters
    ----------
    factors : Elimination
        In the metric of M^-1.
    dropped, vanished : list of scalar
        1 for rows that are not taken, and for those of them that are nothing but roundoff.
    health : scalar
        0 where the rule might decide otherwise; else `ROW_WEIGHT` times the smallest squared
        strength of a row that is taken.

    """

    factors: Elimination
    dropped: list[Scalar]
    vanished: list[Scalar]
    health: Scalar


def eliminate(system: SparseRows, gram: Sequence[Sequence[Scalar]]) -> Solvable:
    """Return the factors of the lower triangle of a Gram matrix A M^-1 A', by the rank rule."""
    kinds = [system.kinds[i] for i in system.order]
    factors = Elimination(gram, kinds)
    plain = _plain_gram(system)
    vanished = _vanished(system, [row[-1] for row in plain])
    health, weakest, volume = 1.0, 1.0, 1.0
    if system.certain:
        for gone in vanished:
            strength = factors.strength()
            weakest, volume = smaller(weakest, strength), volume * strength
            health = where(gone > 0.0, 0.0, health)
            factors.take()
        health = where(weakest < _FIRST, where(volume < _SOLID, 0.0, health), health)
        health = smaller(health, ROW_WEIGHT * weakest)
        return Solvable(factors, [0.0] * len(kinds), vanished, health)
    in_si = Elimination(plain, kinds)
    dropped: list[Scalar] = []
    for gone in vanished:
        strength, plain_strength = factors.strength(), in_si.strength()
        taken = where(strength >= _CLEAR, 1.0 - gone, 0.0)
        weak = where(strength <= _DROPPED, where(plain_strength <= _DROPPED, 1.0, 0.0), 0.0)
        dropped.append(where(gone > 0.0, 1.0, weak))
        health = where(taken + dropped[-1] > 0.0, health, 0.0)
        counted = where(taken > 0.0, strength, 1.0)
        weakest, volume = smaller(weakest, counted), volume * counted
        factors.take(taken)
        in_si.take(where(plain_strength > ROUNDOFF_ROW, taken, 0.0))
    unclear = sum(dropped, 0.0) + where(volume < _SOLID, 1.0, 0.0)
    unclear = where(weakest < _FIRST, unclear, 0.0)
    health = where(unclear > 0.0, 0.0, smaller(health, ROW_WEIGHT * weakest))
    return Solvable(factors, dropped, vanished, health)


def _plain_gram(system: SparseRows) -> list[list[Scalar]]:
    """Return the lower triangle of A A' of the rows that are solved for."""
    rows = [system.rows[i] for i in system.order]
    return [
        [sum((x * b[k] for k, x in a.items() if k in b), 0.0) for b in rows[: i + 1]]
        for i, a in enumerate(rows)
    ]


def _vanished(system: SparseRows, sizes: Sequence[Scalar]) -> list[Scalar]:
    """Return 1 for rows that are nothing but roundoff beside the others of their constraint."""
    owners = [system.owners[i] for i in system.order]
    pairs = set(zip(system.owners, system.kinds, strict=True))
    gone: list[Scalar] = []
    for owner, size, most in zip(owners, sizes, _largest(owners, sizes), strict=True):
        if system.certain and sum(other == owner for other, _ in pairs) == 1:
            gone.append(0.0)  # measured against its kind, it has no strength
            continue
        zero = where(size <= VANISHED**2, 1.0, 0.0)
        gone.append(where(size <= ROUNDOFF_ROW**2 * most, 1.0, zero))
    return gone


def _largest(groups: Sequence[int], sizes: Sequence[Scalar]) -> list[Scalar]:
    """Return for each row the largest size in its group."""
    largest: dict[int, Scalar] = {}
    for group, size in zip(groups, sizes, strict=True):
        known = largest.get(group)
        largest[group] = size if known is None else where(size > known, size, known)
    return [largest[group] for group in groups]


def _watched(
    health: Scalar,
    system: SparseRows,
    found: Solvable,
    right_side: Sequence[Scalar],
    x: Sequence[Scalar],
    free: Sequence[Scalar],
    force: Sequence[Scalar],
    multipliers: Sequence[Scalar],
) -> Scalar:
    """Return the health, 0 where a row that was not taken may ask for another x."""
    health = _unless_missed(health, system, right_side, x, free)
    if system.certain:
        return health
    total = list(force)
    for row, multiplier in zip(system.rows, multipliers, strict=True):
        for k, entry in row.items():
            total[k] = total[k] + entry * multiplier
    size = sqrt(absolute(_dot(total, x)))  # |x| in the metric of M
    sides = [right_side[i] for i in system.order]
    return _agreed(health, found, sides, 5.0 * TAKEN * size, 0.5 * ACCELERATION_CONTRADICTION)


def _unless_missed(
    health: Scalar,
    system: SparseRows,
    right_side: Sequence[Scalar],
    x: Sequence[Scalar],
    free: Sequence[Scalar] | None = None,
) -> Scalar:
    """Return the health, 0 where a row that was left out of the solve is not satisfied."""
    sizes = [
        _sizes(row, x) + absolute(c) for row, c in zip(system.rows, right_side, strict=True)
    ]
    for i in system.repeated:
        row, owner = system.rows[i], system.owners[i]
        beside = sum((sizes[k] for k in system.order if system.owners[k] == owner), 0.0)
        allowed = _MISSED * sizes[i] + _MISSED_BESIDE * beside
        if free is not None:
            allowed = allowed + _MISSED_FREE * _sizes(row, free)
        missed = absolute(_times(row, x) - right_side[i])
        health = where(missed > allowed, 0.0, health)
    return health


def _agreed(
    health: Scalar, found: Solvable, sides: Sequence[Scalar], motion: Scalar, relative: float
) -> Scalar:
    """Return the health, 0 where a right side may contradict; the limits are half the rule's."""
    scale = found.factors.scale
    norm = sqrt(sum((ratio(c * c, s) for c, s in zip(sides, scale, strict=True)), 0.0))
    limit = motion + relative * norm
    for i, asked in enumerate(found.factors.forward(sides)):
        much = where(asked * asked > limit * limit * scale[i], found.dropped[i], 0.0)
        alone = where(absolute(sides[i]) > _NOTHING, found.vanished[i], 0.0)
        health = where(much + alone > 0.0, 0.0, health)
    return health


def ratio(x: Scalar, scale: Scalar) -> Scalar:
    """Return x / scale, 0 where the scale is nothing; NaN stays NaN."""
    safe = where(scale <= VANISHED**2, 1.0, scale)
    return where(scale <= VANISHED**2, 0.0, x / safe)


def _times(row: SparseRow, x: Sequence[Scalar]) -> Scalar:
    return sum((entry * x[k] for k, entry in row.items()), 0.0)


def _sizes(row: SparseRow, x: Sequence[Scalar]) -> Scalar:
    return sum((absolute(entry * x[k]) for k, entry in row.items()), 0.0)


def _dot(a: Sequence[Scalar], b: Sequence[Scalar]) -> Scalar:
    return sum((x * y for x, y in zip(a, b, strict=True)), 0.0)
