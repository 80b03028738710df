# SPDX-License-Identifier: Apache-2.0
r"""
The rows of a base, split by what moves: :math:`B\nu + F x + S s = 0`.

:math:`\nu` is the twist (vx, vy, yaw rate) of the base in its own axes, x are the rates of the
wheels and of passive swivels, s those of the joints that are steered. All are columns of A(q) of
the constraint rows: there is no other kinematics of a wheel in this package. A twist of a planar
base is taken at the origin of the plane, where its axes are those of the world; rows do not change
when the base is moved.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kane_dynamics.bases.wheel import Wheel
from kane_dynamics.constraints.constraint_set import ConstraintSet
from kane_dynamics.robot.robot import Robot
from kane_dynamics.typing import Floats, Indices

# Where the components of a twist are in v. Of a floating base, v = (omega, v) in its own axes.
_TWIST_PLACES = {'planar': (0, 1, 2), 'floating': (3, 4, 2)}
# A length below this part of the smallest wheel radius is none: the trail of a wheel that is
# centred but for printed digits, and what a column of A adds to one.
SMALL = 1e-3


@dataclass(frozen=True, eq=False)
class Speeds:
    """
    Where the speeds and angles of a base are in v and q.

    Parameters
    ----------
    twist, driven, free, steering : ndarray of int
        Places in v of the twist; of driven wheels; of wheels that are not driven and of passive
        swivels; of steered joints.
    steering_places : ndarray of int
        Places in q of steered joints.
    planar : bool
        Whether the base moves in a plane.
    small : float
        A length that is none [m].

    """

    twist: Indices
    driven: Indices
    free: Indices
    steering: Indices
    steering_places: Indices
    planar: bool
    small: float

    @classmethod
    def of(cls, robot: Robot, wheels: Sequence[Wheel]) -> Speeds:
        """Return the places of the wheels' joints."""
        driven = [wheel.joint for wheel in wheels if wheel.driven]
        steered = [w.steering for w in wheels if w.kind == 'steered' and w.steering]
        free = [wheel.joint for wheel in wheels if not wheel.driven]
        free += [w.steering for w in wheels if w.kind == 'caster' and w.steering]

        def index_list(joints: Sequence[str], which: str) -> Indices:
            slices = [getattr(robot.indices[robot.body_of_joint(j)], which) for j in joints]
            return np.array([k for s in slices for k in range(s.start, s.stop)], dtype=np.intp)

        return cls(
            np.array(_TWIST_PLACES[robot.base], dtype=np.intp),
            index_list(driven, 'v'),
            index_list(free, 'v'),
            index_list(steered, 'v'),
            index_list(steered, 'q'),
            robot.base == 'planar',
            SMALL * min(wheel.radius for wheel in wheels),
        )

    def at_origin(self, q: list[float]) -> list[float]:
        """Return coordinates with a planar base at the origin of its plane."""
        return [0.0, 0.0, 0.0, *q[3:]] if self.planar else q


@dataclass(frozen=True, eq=False)
class MotionRows:
    """
    B, D, P, S of the rows B nu + D x + P p + S s = 0: twist, driven, passive, steered.

    Parameters
    ----------
    twist : ndarray, shape (k, 3)
        B.
    driven, free, steering : ndarray, shapes (k, d), (k, f), (k, s)
        D, P and S.
    labels : tuple of str
        Names of the rows, ``<joint>/<direction>``.
    small : float
        A length that is none [m].

    """

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

    def take(self, selection: list[int]) -> MotionRows:
        """Return some of the rows."""
        return MotionRows(
            self.twist[selection],
            self.driven[selection],
            self.free[selection],
            self.steering[selection],
            tuple(self.labels[k] for k in selection),
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
    """
    Return the rows of a base at coordinates, split by what moves.

    Parameters
    ----------
    rolling, assumed : ConstraintSet
        The rows that bind, and those of the kinematics only.
    speeds : Speeds
        Where speeds are in v.
    q : sequence of float, length nq
        Coordinates.
    track_factor : float
        What the yaw rate counts for in the rows that bind.

    """
    still = [0.0] * rolling.robot.nv
    bound = rolling.rows(q, still, 0.0)
    matrix = np.asarray(bound.matrix, dtype=float)
    labels = bound.labels
    twist = matrix[:, speeds.twist] * (1.0, 1.0, track_factor)
    if len(assumed):
        further = assumed.rows(q, still, 0.0)
        added = np.asarray(further.matrix, dtype=float)
        matrix, labels = np.vstack([matrix, added]), (*labels, *further.labels)
        twist = np.vstack([twist, added[:, speeds.twist]])
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
