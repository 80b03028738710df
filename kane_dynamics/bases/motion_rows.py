# SPDX-License-Identifier: Apache-2.0
r"""
The rows of a base, split by what moves: :math:`B\nu + F x + S s = 0`, and their ranks.

:math:`\nu` is the twist (vx, vy, yaw rate) of the base in its own axes, x are the rates of the
wheels and of passive swivels, s those of the joints that are steered. All are columns of A(q) of
the constraint rows: there is no other kinematics of a wheel in this package. A twist of a planar
base is taken at the origin of the plane, where its axes are those of the world; rows do not change
when the base is moved.

Campion, Bastin, d'Andrea-Novel (1996): :math:`\delta_m = 3 - \mathrm{rank}\, C_1`, with the
lateral rows :math:`C_1 \nu = 0` of fixed and steered wheels; :math:`\delta_s` is what steered
ones add to that rank. Here :math:`C_1 = N^T B` is what remains of all rows when everything that
may turn does, :math:`N^T (D\, P\, S) = 0`: it holds for wheels of any kind.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kane_dynamics.bases.wheel import Wheel
from kane_dynamics.constraints.constraint_set import ConstraintSet
from kane_dynamics.constraints.row_selection import TAKEN
from kane_dynamics.robot.robot import Robot
from kane_dynamics.typing import Floats, Indices

# Where the components of a twist are in v. Of a floating base, v = (omega, v) in its own axes.
_TWIST_INDICES = {'planar': (0, 1, 2), 'floating': (3, 4, 2)}
# A length below this part of the smallest wheel radius is none: the trail of a wheel that is
# centred but for printed digits, and what a column of A adds to one.
SMALL = 1e-3


@dataclass(frozen=True, eq=False)
class Speeds:
    """Where the speeds and angles of a base are in v and q."""

    twist: Indices
    driven: Indices
    free: Indices
    steering: Indices
    steering_angles: Indices
    planar: bool
    small: float

    @classmethod
    def of(cls, robot: Robot, wheels: Sequence[Wheel]) -> Speeds:
        """Return the places of the wheels' joints."""
        driven = [wheel.joint for wheel in wheels if wheel.driven]
        steered = [w.steering for w in wheels if w.kind == 'steered' and w.steering]
        free = [wheel.joint for wheel in wheels if not wheel.driven]
        free += [w.steering for w in wheels if w.kind == 'caster' and w.steering]

        def joint_indices(joints: Sequence[str], which: str) -> Indices:
            slices = [getattr(robot.indices[robot.body_of_joint(j)], which) for j in joints]
            return np.array([k for s in slices for k in range(s.start, s.stop)], dtype=np.intp)

        return cls(
            np.array(_TWIST_INDICES[robot.base], dtype=np.intp),
            joint_indices(driven, 'v'),
            joint_indices(free, 'v'),
            joint_indices(steered, 'v'),
            joint_indices(steered, 'q'),
            robot.base == 'planar',
            SMALL * min(wheel.radius for wheel in wheels),
        )

    def at_origin(self, q: list[float]) -> list[float]:
        """Return coordinates with a planar base at the origin of its plane."""
        return [0.0, 0.0, 0.0, *q[3:]] if self.planar else q


@dataclass(frozen=True, eq=False)
class MotionRows:
    """B, D, P, S of the rows B nu + D x + P p + S s = 0: twist, driven, passive, steered."""

    twist: Floats
    driven: Floats
    free: Floats
    steering: Floats
    labels: tuple[str, ...]
    small: float

    @property
    def rolling(self) -> Floats:
        """Return the columns of everything that turns to follow the base, shape (k, d + f)."""
        return np.hstack([self.driven, self.free])

    def take(self, indices: list[int]) -> MotionRows:
        """Return some of the rows."""
        return MotionRows(
            self.twist[indices],
            self.driven[indices],
            self.free[indices],
            self.steering[indices],
            tuple(self.labels[k] for k in indices),
            self.small,
        )

    @property
    def owners(self) -> tuple[str, ...]:
        """Return the joint of the wheel of each row."""
        return tuple(label.rpartition('/')[0] for label in self.labels)


def motion_rows(
    rolling: ConstraintSet,
    assumed: ConstraintSet,
    speeds: Speeds,
    q: Sequence[float],
    track_factor: float,
) -> MotionRows:
    """Return the rows of a base at coordinates, split by what moves."""
    still = [0.0] * rolling.robot.nv
    parts = [rolling.rows(q, still, 0.0), assumed.rows(q, still, 0.0)]
    matrix = np.vstack([np.asarray(part.matrix, dtype=float) for part in parts])
    twist = matrix[:, speeds.twist]
    twist[: len(parts[0])] *= (1.0, 1.0, track_factor)
    labels = (*parts[0].labels, *parts[1].labels)
    return MotionRows(
        twist,
        matrix[:, speeds.driven],
        matrix[:, speeds.free],
        matrix[:, speeds.steering],
        labels,
        speeds.small,
    )


def left_null_space(columns: Floats, small: float) -> Floats:
    """Return orthonormal n with n' columns = 0 but for what is small, as columns (k, k - rank)."""
    if not columns.size:
        return np.eye(len(columns))
    left, sizes, _ = np.linalg.svd(columns)
    return np.asarray(left[:, int((sizes > small).sum()) :], dtype=float)


def least(matrix: Floats, right_side: Floats, small: float) -> Floats:
    """Return least squares of least norm; what moves rows by less than `small` stays at rest."""
    if not matrix.size:
        return np.zeros((matrix.shape[1], *right_side.shape[1:]))
    left, sizes, right = np.linalg.svd(matrix, full_matrices=False)
    kept = sizes > small
    inverse = (right[kept].T / sizes[kept]) @ left[:, kept].T
    return np.asarray(inverse @ right_side, dtype=float)


def bound_motions(rows: MotionRows) -> Floats:
    """Return C_1 of C_1 nu = 0, shape (m, 3)."""
    turning = np.hstack([rows.rolling, rows.steering])
    return left_null_space(turning, rows.small).T @ rows.twist


def mobility(rows: MotionRows) -> int:
    """Return delta_m: how many independent motions the base has at this instant."""
    return 3 - _rank(bound_motions(rows))


def steerability(rows: MotionRows, wheels: Sequence[Wheel]) -> int:
    """Return delta_s: how many steered wheels without trail turn the motion independently."""
    every, fixed = (_rank(bound_motions(part)) for part in (rows, not_steered(rows, wheels)))
    return max(0, min(every, 2) - fixed)


def not_steered(rows: MotionRows, wheels: Sequence[Wheel]) -> MotionRows:
    """Return the rows that hold at all steering angles."""
    steered = {wheel.joint for wheel in wheels if wheel.kind == 'steered'}
    return rows.take([k for k, owner in enumerate(rows.owners) if owner not in steered])


def undriven(rows: MotionRows) -> int:
    """Return how many motions the base can do while its motors stand still."""
    bound = left_null_space(rows.free, rows.small).T @ rows.twist
    return 3 - _rank(bound)


def _rank(matrix: Floats) -> int:
    """Return a rank; rows that nearly repeat others count as in `row_selection`."""
    sizes = np.linalg.svd(matrix, compute_uv=False) if matrix.size else np.zeros(0)
    return int((sizes > TAKEN).sum())
