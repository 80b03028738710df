# SPDX-License-Identifier: Apache-2.0
"""How a named frame moves, in six axes at its origin: rotations about x, y, z, then along them."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from kane_dynamics.algebra.pose import Pose
from kane_dynamics.algebra.quaternions import cross, pure, vec3
from kane_dynamics.algorithms.udwadia_kalaba import nearest
from kane_dynamics.constraints.base import ConstraintRows
from kane_dynamics.constraints.row_selection import RowSelection, select_rows
from kane_dynamics.dynamics import Dynamics
from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.robot.checks import as_nonnegative, as_vector
from kane_dynamics.typing import Floats


@dataclass(frozen=True, eq=False, slots=True)
class FrameTask:
    """A frame at one state, in axes of the world or its own."""

    pose: Pose
    axes: Floats
    jacobian: Floats
    drift: Floats
    velocity: Floats


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
    J = moved @ dynamics.frame_jacobian(body, q)
    drift = moved @ dynamics.frame_bias_acceleration(body, q, v)
    body_twist = J @ v
    drift[3:] += vec3(cross(pure(body_twist[:3]), pure(body_twist[3:])))  # the axes turn
    R = np.asarray(pose.rotation_matrix(), dtype=float)
    axes = R.T if own_axes else np.eye(3)
    parts = ((axes @ R @ x.reshape(2, 3, -1)).reshape(x.shape) for x in (J, drift, body_twist))
    return FrameTask(pose, axes, *parts)


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
