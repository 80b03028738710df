# SPDX-License-Identifier: Apache-2.0
r"""
The wheels of a base, their rows, split by what moves, and the ranks of these.

The rows are :math:`B\nu + F x + S s = 0`.

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
import scipy

from kane_dynamics.algebra.pose import Pose
from kane_dynamics.constraints.base import Constraint
from kane_dynamics.constraints.constraint_set import ConstraintSet
from kane_dynamics.constraints.rolling import RollingWheel
from kane_dynamics.constraints.row_selection import TAKEN
from kane_dynamics.exceptions import ConstraintError
from kane_dynamics.robot.body import WORLD, Frame
from kane_dynamics.robot.joint_kinds import Revolute
from kane_dynamics.robot.motion import Place, place_on_base
from kane_dynamics.robot.robot import Robot
from kane_dynamics.typing import Floats, Indices


@dataclass(frozen=True)
class Wheel:
    """
    A wheel of a mobile base.

    Parameters
    ----------
    joint : str
        Name of the joint that it turns on.
    kind : str
        'fixed' (its axle turns with the base), 'steered' (a motor turns its heading), 'twin'
        (beside a steered wheel, on the same steering axis), 'caster' (it
        swivels freely), 'roller' (omni or mecanum: rollers on its rim) or 'ball'.
    radius : float
        [m].
    steering : str, optional
        Joint that turns its heading, of a steered wheel or a caster.
    driven : bool
        Whether a motor turns it.

    Examples
    --------
    >>> wheel = kd.bases.Wheel('wheel_left_joint', 'rolling', 0.1)
    >>> wheel.driven
    True

    """

    joint: str
    kind: str
    radius: float
    steering: str | None = None
    driven: bool = True


# Where the components of a twist are in v. Of a floating base, v = (omega, v) in its own axes.
_TWIST_INDICES = {'planar': (0, 1, 2), 'floating': (3, 4, 2)}
# A length below this part of the smallest wheel radius is none: the trail of a wheel that is
# centred but for printed digits, and what a column of A adds to one.
SMALL = 1e-3


class BaseRows:
    """The rows of a base at any coordinates, and where its speeds and angles are in v and q."""

    def __init__(
        self,
        robot: Robot,
        wheels: Sequence[Wheel],
        constraints: Sequence[Constraint],
        assumed: Sequence[Constraint],
        track_factor: float,
    ) -> None:
        self.robot, self._track_factor = robot, track_factor
        self._sets = ConstraintSet(robot, constraints), ConstraintSet(robot, assumed)
        self.steered = tuple(wheel for wheel in wheels if wheel.kind == 'steered')
        self.steered_wheels = tuple(wheel.joint for wheel in self.steered)
        self.small = SMALL * min(wheel.radius for wheel in wheels)
        free = [wheel.joint for wheel in wheels if not wheel.driven]
        free += [w.steering for w in wheels if w.kind == 'caster' and w.steering]
        steering = [w.steering for w in self.steered if w.steering]
        self.twist: Indices = np.array(_TWIST_INDICES[robot.base], dtype=np.intp)
        self.driven = self._indices([wheel.joint for wheel in wheels if wheel.driven], 'v')
        self.free, self.steering = self._indices(free, 'v'), self._indices(steering, 'v')
        self.steering_angles = self._indices(steering, 'q')
        self.steering_places: list[int] = self.steering_angles.tolist()
        self.steering_speeds: list[int] = self.steering.tolist()

    def _indices(self, joints: Sequence[str], which: str) -> Indices:
        robot = self.robot
        slices = [getattr(robot.indices[robot.body_of_joint(j)], which) for j in joints]
        return np.array([k for s in slices for k in range(s.start, s.stop)], dtype=np.intp)

    def at_origin(self, q: list[float]) -> list[float]:
        """Return coordinates with a planar base at the origin of its plane."""
        return [0.0, 0.0, 0.0, *q[3:]] if self.robot.base == 'planar' else q

    def at(self, q: Sequence[float]) -> MotionRows:
        """Return the rows at coordinates, split by what moves."""
        rolling, assumed = (each.rows(q, [0.0] * self.robot.nv, 0.0) for each in self._sets)
        matrix = np.vstack([np.asarray(x.matrix, dtype=float) for x in (rolling, assumed)])
        columns = (matrix[:, k] for k in (self.twist, self.driven, self.free, self.steering))
        twist, driven, free, steering = columns
        twist[: len(rolling)] *= (1.0, 1.0, self._track_factor)
        labels = (*rolling.labels, *assumed.labels)
        return MotionRows(twist, driven, free, steering, labels, self.small)

    def lateral(self, q: Sequence[float]) -> tuple[Floats, Floats, Floats]:
        """Return k_0, k_c and k_s of each steered wheel's lateral row over the twist, (s, 3)."""
        numbers = [self._sets[0].labels.index(f'{joint}/lateral') for joint in self.steered_wheels]
        samples = []
        thirds = np.arange(3) * 2.0 * np.pi / 3.0
        for angle in thirds:
            coordinates = np.array(q)
            coordinates[self.steering_angles] = angle
            rows = self._sets[0].rows(coordinates.tolist(), [0.0] * self.robot.nv, 0.0)
            samples.append(np.asarray(rows.matrix[numbers][:, self.twist], dtype=float))
        each = np.array(samples)
        waves = (np.cos(thirds)[:, None, None] * each, np.sin(thirds)[:, None, None] * each)
        return each.mean(axis=0), 2.0 * waves[0].mean(axis=0), 2.0 * waves[1].mean(axis=0)


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

    def without(self, wheels: Sequence[Wheel]) -> MotionRows:
        """Return the rows of all other wheels."""
        joints = {wheel.joint for wheel in wheels}
        kept = [k for k, label in enumerate(self.labels) if label.rpartition('/')[0] not in joints]
        columns = (x[kept] for x in (self.twist, self.driven, self.free, self.steering))
        twist, driven, free, steering = columns
        labels = tuple(self.labels[k] for k in kept)
        return MotionRows(twist, driven, free, steering, labels, self.small)

    def bound_motions(self) -> Floats:
        """Return C_1 of C_1 nu = 0, shape (m, 3)."""
        turning = np.hstack([self.rolling, self.steering])
        return left_null_space(turning, self.small).T @ self.twist

    def mobility(self) -> int:
        """Return delta_m: how many independent motions the base has at this instant."""
        return 3 - _rank(self.bound_motions())

    def steerability(self, steered: Sequence[Wheel]) -> int:
        """Return delta_s: how many steered wheels without trail turn the motion independently."""
        every, fixed = (_rank(x.bound_motions()) for x in (self, self.without(steered)))
        return max(0, min(every, 2) - fixed)

    def undriven(self) -> int:
        """Return how many motions the base can do while its motors stand still."""
        return 3 - _rank(left_null_space(self.free, self.small).T @ self.twist)


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
    return scipy.linalg.pinv(matrix, atol=small, rtol=0.0) @ right_side


def _rank(matrix: Floats) -> int:
    """Return a rank; rows that nearly repeat others count as in `row_selection`."""
    return int(np.linalg.matrix_rank(matrix, TAKEN))


ALIGNED = 1e-2  # sine of what counts as an angle of zero: angles of two digits, 1.57


def joint_place(robot: Robot, joint: str) -> Place:
    """Return the origin and the axis of a revolute joint; other kinds have the axis zero."""
    body = robot.body_of_joint(joint)
    kind = robot.bodies[body].joint.kind
    axis = kind.axis if isinstance(kind, Revolute) else (0.0, 0.0, 0.0)
    return place_on_base(robot, Frame(body, Pose.identity()), axis)


def wheel_place(robot: Robot, rows: RollingWheel) -> Place:
    """Return the centre and the axis of a wheel that rolls; balls have the axis zero."""
    return place_on_base(robot, rows.wheel, rows.axis or (0.0, 0.0, 0.0))


def shape_place(robot: Robot, joint: str) -> Place:
    """Return the centre of the collision shape on a joint (else its origin), and its axis."""
    origin = joint_place(robot, joint)
    shape = robot.wheels.get(joint)
    if shape is None:
        return origin
    frame = Frame(robot.body_of_joint(joint), Pose.shift(shape.centre))
    return Place(place_on_base(robot, frame, (0.0, 0.0, 0.0)).point, origin.axis)


def is_vertical(axis: Floats) -> bool:
    """Return whether a unit axis stands upright, or hangs."""
    return bool(np.hypot(axis[0], axis[1]) <= ALIGNED and axis.any())


def is_horizontal(axis: Floats) -> bool:
    """Return whether a unit axis lies flat."""
    return bool(abs(axis[2]) <= ALIGNED and axis.any())


def trail(steering: Place, wheel: Place) -> float:
    """Return the distance along the heading from a vertical steering axis to the wheel [m]."""
    along = np.array([wheel.axis[1], -wheel.axis[0]])
    length = np.linalg.norm(along)
    return float(abs((wheel.point - steering.point)[:2] @ along) / length) if length else 0.0


def joint_above(robot: Robot, joint: str) -> str | None:
    """Return the joint that carries the body which a joint stands on; None on base or world."""
    parent = robot.parents[robot.body_of_joint(joint)]
    if parent == WORLD or (parent == 0 and robot.base != 'fixed'):
        return None
    return robot.bodies[parent].joint.name


def check_steers(robot: Robot, steering: str, wheel: str) -> None:
    """Refuse a steering joint that does not turn its wheel about a vertical axis."""
    ancestors = robot.ancestors(robot.body_of_joint(wheel))[:-1]
    if robot.body_of_joint(steering) not in ancestors:
        raise ConstraintError(
            f"steering joint '{steering}' does not carry wheel '{wheel}'; steered wheels need "
            'a mapping from steering joint to a wheel below it'
        )
    axis = joint_place(robot, steering).axis
    if not is_vertical(axis):
        raise ConstraintError(
            f"steering joint '{steering}' of wheel '{wheel}': its axis "
            f'{np.round(axis, 4).tolist()} in the base frame is not vertical'
        )
