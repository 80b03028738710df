# SPDX-License-Identifier: Apache-2.0
r"""
Which constraint rows are taken: the one rule of rank, for every method and both engines.

Rows are judged afresh at each (q, t), in two metrics: :math:`D = A L^{-T}` with
:math:`M = L L^T`, and A itself in SI units. In each metric the rows of one kind (the rows of a
wheel, the rotations of a loop, ...) are divided by the largest of them, so that a row that
vanishes beside its kind stays small. The *strength* of a row is its distance from the span of the
rows already taken, in the metric where it is larger:

.. math:: s_i = \max\big(\mathrm{dist}(D_i, \mathrm{span}\,D_K),\,
   \mathrm{dist}(A_i, \mathrm{span}\,A_K)\big).

Rows are taken holonomic ones first, otherwise as given, the strong ones (0.1) before the weaker
(0.01, 0.001). What is weaker than `TAKEN` = 0.001 repeats other rows but for roundoff and angles
with six digits (1.5708 leaves 4e-6): it is one row with them, and enforcing the difference would
divide by it. Rows that are not taken get no force; taken ones hold exactly, and nothing is
regularised. The metric of M alone would drop a row that acts through a light gear, SI units alone
one of a small mechanism; both together err towards taking a row.

A state that is off the constraints (an inner stage of a time step) turns repeated rows away from
each other by about the angle that it is off. So in the last round a row must also be stronger
than the strong rows are violated, in the same units: max of :math:`|\Phi_i|` over the size of
its kind. On the constraints nothing changes; Newton's method, which brings a state there, asks for
all rows that it can.

What this cannot know: an angle below 0.001 that is meant, and that 1.57 is not.
"""

import math
from dataclasses import dataclass

import numpy as np

from kane_dynamics.algebra.matrices import row_lengths, solve_lower, triangle
from kane_dynamics.constraints.base import ConstraintRows
from kane_dynamics.exceptions import InconsistentConstraintsError
from kane_dynamics.typing import Bools, Floats, Indices

# Above what four-digit angles of a URDF leave (1.5707: 2.5e-4), below a toe angle of 0.1 degrees
# (4e-3). Weaker rows are one with others.
TAKEN = 1e-3
# Strong rows come first, so that the rows taken are well conditioned.
GRADES = (1e-1, 1e-2, TAKEN)
# Size of a row that is nothing but roundoff of the largest row of its constraint.
ROUNDOFF_ROW = 1e-14
# Size of a row that is zero: its square is still a normal number.
VANISHED = 1e-140
# A right side contradicts the rows it depends on beyond these: relative to the motion (what a
# dropped row misses is its strength times the motion) and to the right sides (drift).
SPEED_CONTRADICTION = 1e-5
ACCELERATION_CONTRADICTION = 1e-2
REPEATS = 1e-9  # strength of a row that repeats others but for roundoff: nothing to remark
_ROUNDOFF = 1e-12  # of right sides that should be zero, in scaled units


@dataclass(frozen=True, eq=False, slots=True)
class RowSelection:
    """
    The rows that are taken at a state, and what the others are made of.

    Parameters
    ----------
    rows : ConstraintRows
        All rows.
    independent_indices : ndarray of int, shape (m,)
        Numbers of the rows that are taken, ascending.
    strength : ndarray, shape (k,)
        Of each row when it was taken; of the others beside all that were taken.
    coefficients : ndarray, shape (k, m)
        C of A ~ C A_K; unit rows for the taken ones.
    scaling : ndarray, shape (k,)
        Factors that bring the kinds of rows to unit size in the metric of M^-1.
    weights : ndarray, shape (k,)
        The same in SI units, in which multipliers are of least norm.
    root : ndarray, shape (nv, nv)
        L of M = L L'; the unit matrix where M is singular.

    """

    rows: ConstraintRows
    independent_indices: Indices
    strength: Floats
    coefficients: Floats
    scaling: Floats
    weights: Floats
    root: Floats

    @property
    def independent(self) -> ConstraintRows:
        """Return the rows that are taken."""
        return self.rows if self._takes_all else self.rows.take(self.independent_indices.tolist())

    @property
    def _takes_all(self) -> bool:
        return len(self.independent_indices) == len(self.rows)

    @property
    def labels(self) -> tuple[str, ...]:
        """Return the names of the rows that are taken."""
        return tuple(self.rows.labels[k] for k in self.independent_indices)

    @property
    def notes(self) -> tuple[str, ...]:
        """Return a sentence for each row that only nearly repeats others, or only nearly not."""
        sentences = []
        for k, strength in enumerate(self.strength.tolist()):
            row = f"row '{self.rows.labels[k]}'"
            if k not in self.independent_indices and strength > REPEATS:
                sentences.append(
                    f'{row} repeats other rows to within {strength:.1e} and is not enforced; if '
                    f'this small angle or offset is meant, it must be larger than {TAKEN:.0e}'
                )
            elif k in self.independent_indices and strength < GRADES[1]:
                sentences.append(
                    f'{row} differs from the other rows by only {strength:.1e}, but is enforced: '
                    'it may lock the motion; if the rows should agree, give angles with more '
                    'digits (1.5707963, not 1.57)'
                )
        return tuple(sentences)

    def shared(self, multipliers: Floats) -> Floats:
        """
        Return multipliers of all rows from those of the taken ones, with the same force.

        Among rows that repeat each other they are of least norm, rows scaled to unit size by kind.
        """
        if self._takes_all:
            return multipliers
        weighted = self.coefficients * np.square(self.weights)[:, None]
        return weighted @ np.linalg.solve(self.coefficients.T @ weighted, multipliers)

    def check_speeds(self, v: Floats) -> None:
        """
        Check that the rows that are not taken ask for no other speeds: A v = b0.

        Raises
        ------
        InconsistentConstraintsError
            If one of them does.

        """
        if self._takes_all:
            return
        motion = 10.0 * self.strength * self._size(v)
        self._check('speed satisfies A v = b0', self.rows.velocity, motion, SPEED_CONTRADICTION)

    def check_accelerations(self, a: Floats) -> None:
        """
        Check that the rows that are not taken ask for no other accelerations: A vdot = b.

        Raises
        ------
        InconsistentConstraintsError
            If one of them does.

        """
        if self._takes_all:
            return
        motion = np.full(len(self.rows), 10.0 * TAKEN * self._size(a))
        self._check(
            'acceleration satisfies A vdot = b',
            self.rows.acceleration,
            motion,
            ACCELERATION_CONTRADICTION,
        )

    def _size(self, x: Floats) -> float:
        """Return the norm of speeds or accelerations in the metric of M."""
        return float(np.linalg.norm(self.root.T @ x))

    def _check(self, what: str, right_side: Floats, motion: Floats, relative: float) -> None:
        scaled = self.scaling * right_side
        combination = (
            self.coefficients * self.scaling[:, None] / self.scaling[self.independent_indices]
        )
        contradiction = np.abs(scaled - combination @ scaled[self.independent_indices])
        contradiction /= 1.0 + np.linalg.norm(combination, axis=1)
        excess = contradiction - (motion + relative * np.linalg.norm(scaled) + _ROUNDOFF)
        excess[self.independent_indices] = -np.inf
        worst = int(np.argmax(excess))
        if excess[worst] > 0.0:
            raise InconsistentConstraintsError(
                f"no {what}: row '{self.rows.labels[worst]}' contradicts the others",
                len(self.independent_indices),
                float(contradiction[worst]),
            )


def select_rows(
    rows: ConstraintRows, factor: Floats | None = None, *, by_drift: bool = True
) -> RowSelection:
    """Return which rows are taken at a state."""
    A = rows.matrix
    count, nv = A.shape
    sizes = row_lengths(A)
    active = (sizes > VANISHED) & (sizes > ROUNDOFF_ROW * _largest(rows.owners, sizes))
    weights = _unit_factors(rows, sizes, active)
    metrics = [A * weights[:, None]]
    scaling, root = weights, np.eye(nv) if factor is None else factor
    if factor is not None and count:
        D: Floats = solve_lower(factor, A.T).T
        scaling = _unit_factors(rows, row_lengths(D), active)
        metrics.append(D * scaling[:, None])
    order, every = rows.elimination_order(), np.eye(count)
    if count <= nv and active.all():
        distances = _in_order(metrics, order)
        if (distances >= GRADES[0]).all():  # the first round takes all
            return RowSelection(rows, np.arange(count), distances, every, scaling, weights, root)
    drift = np.zeros(count)
    if by_drift:
        drift = weights * [0.0 if phi is None else abs(float(phi)) for phi in rows.positions]
    independent_indices, strength = _graded(metrics, order, active, drift)
    if len(independent_indices) == count:
        return RowSelection(rows, independent_indices, strength, every, scaling, weights, root)
    basis = metrics[-1][independent_indices]
    coefficients = np.asarray(np.linalg.lstsq(basis.T, metrics[-1].T, rcond=None)[0].T, float)
    coefficients *= scaling[independent_indices] / scaling[:, None]
    coefficients[~active] = 0.0
    coefficients[independent_indices] = np.eye(len(independent_indices))
    return RowSelection(rows, independent_indices, strength, coefficients, scaling, weights, root)


def _in_order(metrics: list[Floats], order: list[int]) -> Floats:
    """Return the distance of each row from the span of those before it in an order."""
    triangles = [triangle(metric[order].T) for metric in metrics]
    distances: Floats = np.zeros(len(order))
    distances[order] = np.abs([R.diagonal() for R in triangles]).max(axis=0)
    return distances


def _graded(
    metrics: list[Floats], order: list[int], active: Bools, drift: Floats
) -> tuple[Indices, Floats]:
    """Return the rows that are taken, ascending, and the strength of all rows."""
    count, nv = metrics[0].shape
    left = [metric.copy() for metric in metrics]  # what is left of each row beside those taken
    distance = _distances(left)
    strength = np.zeros(count)
    independent_indices: list[int] = []
    for grade in GRADES:
        least = (
            max(grade, drift[independent_indices].max(initial=0.0)) if grade == TAKEN else grade
        )
        for i in order:
            if (
                i in independent_indices
                or not active[i]
                or distance[i] < least
                or len(independent_indices) == nv
            ):
                continue
            independent_indices.append(i)
            strength[i] = distance[i]
            for part in left:
                size = math.sqrt(part[i] @ part[i])
                if size > 0.0:
                    direction = part[i] / size
                    part -= (part @ direction)[:, None] * direction
            distance = _distances(left)
    others = [i for i in range(count) if i not in independent_indices]
    strength[others] = distance[others] * active[others]
    return np.array(sorted(independent_indices), dtype=np.intp), strength


def _distances(left: list[Floats]) -> Floats:
    return np.maximum.reduce([row_lengths(part) for part in left])


def _unit_factors(rows: ConstraintRows, sizes: Floats, active: Bools) -> Floats:
    """Return factors that bring the largest row of each kind (zero rows: constraint) to one."""
    largest = _largest(rows.kinds, sizes)
    if not active.all():
        largest = np.where(active, largest, _largest(rows.owners, sizes))
    fallback = float(sizes.max(initial=0.0)) or 1.0
    return 1.0 / np.where(largest > VANISHED, largest, fallback)


def _largest(groups: tuple[int, ...], sizes: Floats) -> Floats:
    """Return for each row the largest size in its group."""
    if len({*groups}) == len(groups):
        return sizes
    largest = dict.fromkeys(groups, 0.0)
    for group, size in zip(groups, sizes.tolist(), strict=True):
        largest[group] = max(largest[group], size)
    return np.array([largest[group] for group in groups])
