# SPDX-License-Identifier: Apache-2.0
r"""
Tracking laws of joints, and their friction compensation.

With the error :math:`e = q_d - q` and its rate, computed torque asks for the accelerations
:math:`a = a_d + K_d \dot e + K_p e` at the measured state; where the model is right and every
joint has a motor, :math:`\ddot e + K_d \dot e + K_p e = 0`.

Slotine and Li follow reference speeds :math:`v_r = v_d + \Lambda e` instead, with
:math:`\tau = M \dot v_r + C v_r + g - K s`, :math:`s = v - v_r`. Then :math:`s^T M s / 2` falls
with the power :math:`s^T K s`, whatever M is, and :math:`\dot e + \Lambda e = -s`.

Slotine, Li: On the adaptive control of robot manipulators, IJRR 6(3), 1987.

The sign of a measured speed is noise near rest, and with it F sign(v) shakes a robot that is to
stand; where F is too large, it drives the robot on. At reference speeds friction is a known
function of time, which no feedback closes over. A part of it is safe: motors that make up for more
than there is drive light joints off their way. Viscous friction stays that of measured speeds.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy

from kane_dynamics.algebra.pose import Pose, rotation_vector
from kane_dynamics.algebra.quaternions import vec3
from kane_dynamics.algorithms.udwadia_kalaba import nearest
from kane_dynamics.constraints.base import ConstraintRows
from kane_dynamics.constraints.row_selection import RowSelection, select_rows
from kane_dynamics.dynamics import Dynamics
from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.robot.checks import as_nonnegative, as_vector
from kane_dynamics.typing import Floats, Indices

__all__ = ['commanded_acceleration', 'reference_speeds']

FEEDFORWARD, COMPUTED, PASSIVE = 'feedforward_pd', 'computed_torque', 'slotine_li'
LAWS = (COMPUTED, PASSIVE, FEEDFORWARD)


def commanded_acceleration(
    acceleration: Floats, error: Floats, rate: Floats, stiffness: Floats, damping: Floats
) -> Floats:
    r"""
    Return :math:`a_d + K_d \dot e + K_p e`.

    Parameters
    ----------
    acceleration : ndarray, shape (k,)
        Wanted accelerations a_d [rad/s^2 or m/s^2].
    error, rate : ndarray, shape (k,)
        Wanted minus measured positions and speeds.
    stiffness, damping : ndarray, shape (k,)
        K_p [1/s^2], K_d [1/s].

    Examples
    --------
    >>> from kane_dynamics.analysis.tracking import commanded_acceleration
    >>> commanded_acceleration(np.zeros(1), np.array([0.1]), np.zeros(1), 100.0, 20.0)
    array([10.])

    """
    return acceleration + damping * rate + stiffness * error


def reference_speeds(
    velocity: Floats, acceleration: Floats, error: Floats, rate: Floats, slope: Floats
) -> tuple[Floats, Floats]:
    r"""
    Return :math:`v_r = v_d + \Lambda e` and its rate :math:`a_d + \Lambda \dot e`.

    Parameters
    ----------
    velocity, acceleration : ndarray, shape (k,)
        Wanted ones v_d, a_d.
    error, rate : ndarray, shape (k,)
        Wanted minus measured positions and speeds.
    slope : ndarray, shape (k,)
        Lambda [1/s].

    Examples
    --------
    >>> from kane_dynamics.analysis.tracking import reference_speeds
    >>> reference_speeds(np.zeros(1), np.zeros(1), np.array([0.1]), np.zeros(1), 5.0)
    (array([0.5]), array([0.]))

    """
    return velocity + slope * error, acceleration + slope * rate


_ROUNDOFF = 1e-9  # [rad/s, m/s]: no reference of a joint that moves


def to_reference_speeds(
    dynamics: Dynamics,
    actuated: Sequence[int] | Indices,
    q: Floats,
    v: Floats,
    reference: Floats,
    part: float = 1.0,
) -> Floats:
    """Return the efforts that take Coulomb friction from the speeds v to those that are wanted."""
    friction = dynamics.robot.friction
    effort, moved = np.zeros(len(v)), reference.copy()
    if not friction.any():
        return effort
    passive = np.setdiff1d(np.arange(len(v)), actuated)
    follow = np.zeros((len(passive), len(actuated)))
    if friction[passive].any():
        rows = dynamics.constraint_rows(q, v).matrix
        follow = -np.linalg.lstsq(rows[:, passive], rows[:, actuated])[0]
        moved[passive] = follow @ reference[actuated]
    moved[np.abs(moved) < _ROUNDOFF] = 0.0
    change = friction * (part * np.sign(moved) - np.sign(v))
    effort[actuated] = change[actuated] + follow.T @ change[passive]
    return effort


@dataclass(frozen=True, eq=False, slots=True)
class FrameTask:
    """A frame at one state, in axes of the world or its own."""

    pose: Pose
    axes: Floats
    jacobian: Floats
    drift: Floats
    velocity: Floats

    def error(self, target: Pose) -> Floats:
        """Return the rotation vector and the way to a wanted pose, shape (6,) [rad, m]."""
        turned = target.rotation * self.pose.rotation.conjugate()
        angle = vec3(rotation_vector(turned))
        way = target.position() - self.pose.position()
        return np.r_[self.axes @ angle, self.axes @ way]


def frame_place(dynamics: Dynamics, frame: str, q: Floats) -> Pose:
    """Return the pose of a frame in the world; parameters as for `frame_task`."""
    robot = dynamics.robot
    body = robot.bodies[robot.moving_body(frame)].name
    numbers = dynamics.frame_pose(body, q).tolist()
    return Pose.from_rotation_and_position(numbers[3:], numbers[:3]) * robot.frame(frame).pose


def frame_task(dynamics: Dynamics, frame: str, q: Floats, v: Floats, own_axes: bool) -> FrameTask:
    """Return how a frame moves at a state."""
    robot = dynamics.robot
    fixed, body = robot.frame(frame).pose, robot.bodies[robot.moving_body(frame)].name
    pose = frame_place(dynamics, frame, q)
    # twists of the body, and their rates, in the axes of the frame at its origin
    moved = np.asarray(fixed.conjugate().adjoint_matrix(), dtype=float)
    J, drift = (
        moved @ dynamics.frame_jacobian(body, q),
        moved @ dynamics.frame_bias_acceleration(body, q, v),
    )
    body_twist = J @ v
    drift[3:] += np.cross(body_twist[:3], body_twist[3:])  # the axes turn
    R = np.asarray(pose.rotation_matrix(), dtype=float)
    axes = R.T if own_axes else np.eye(3)
    turn = scipy.linalg.block_diag(axes @ R, axes @ R)
    return FrameTask(pose, axes, turn @ J, turn @ drift, turn @ body_twist)


def task_acceleration(rows: RowSelection, matrix: Floats, rate: Floats, target: Floats) -> Floats:
    """Return the accelerations nearest to others, in the metric M, that keep rows and a task."""
    kept = rows.independent
    whole, sides = np.vstack([kept.matrix, matrix]), np.r_[kept.acceleration, rate]
    both = select_rows(ConstraintRows.of(whole, 0.0 * sides, sides), rows.root).independent
    return nearest(rows.root, both.matrix, target, both.acceleration)[0]


def check_gains(law: Any) -> None:
    """Check the gains of a task-space law, and make arrays of them."""
    for name in ('stiffness', 'damping'):
        gains = as_vector(name, getattr(law, name), 6)
        if (gains < 0.0).any():
            raise InvalidInputError(f'{name}: need numbers >= 0, got {gains.tolist()}')
        object.__setattr__(law, name, gains)
    as_nonnegative('posture_stiffness [1/s^2]', law.posture_stiffness)
    as_nonnegative('posture_damping [1/s]', law.posture_damping)
