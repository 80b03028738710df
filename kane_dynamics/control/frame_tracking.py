# SPDX-License-Identifier: Apache-2.0
r"""
Computed torque of a frame: its pose is followed, and the rest of the robot keeps a posture.

The error is the rotation vector and the way to the wanted pose, so that it is right however far
the frame has turned. The frame accelerates as :math:`J a + \dot J v = \ddot x + B \dot e + K e`,
the wheels keep rolling, :math:`A a = b`, and among such accelerations those nearest to the
posture's are taken, in the metric M. The efforts are inverse dynamics of that motion.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from kane_dynamics.algorithms.consistent import speed_indices
from kane_dynamics.algorithms.constrained_inverse import ConstrainedEffort
from kane_dynamics.algorithms.newton_euler import TERMS
from kane_dynamics.algorithms.udwadia_kalaba import cholesky_factor
from kane_dynamics.constraints.row_selection import select_rows
from kane_dynamics.control.frame_task import frame_task, task_acceleration
from kane_dynamics.control.tracking import commanded_acceleration
from kane_dynamics.dynamics import Dynamics
from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.model.checks import as_nonnegative, as_vector, index_of
from kane_dynamics.model.state import as_pose, checked_coordinates, checked_speeds
from kane_dynamics.typing import Floats

REST = (0.0,) * 6


class FrameMotion(NamedTuple):
    """
    What a frame is to do, in world axes.

    Parameters
    ----------
    pose : array_like, shape (7,)
        Position and (w, x, y, z).
    twist, acceleration : array_like, shape (6,)
        (omega, v) of its origin, and its rate.

    """

    pose: ArrayLike
    twist: ArrayLike = REST
    acceleration: ArrayLike = REST


class FrameEffort(NamedTuple):
    """
    Efforts that follow a frame's motion.

    Parameters
    ----------
    found : ConstrainedEffort
        Efforts, multipliers and motion.
    missed : ndarray, shape (6,)
        What the robot cannot do of the wanted acceleration of the frame here, 0 on free axes.

    """

    found: ConstrainedEffort
    missed: Floats


@dataclass(frozen=True, eq=False)
class FrameTracking:
    """
    The law that turns state and wanted motion of a frame into efforts.

    Parameters
    ----------
    dynamics : Dynamics
        Robot and constraints, of either engine.
    frame : str
        The frame.
    actuated : sequence of str
        Names of the speeds that have motors.
    stiffness, damping : array_like, shape (6,)
        K [1/s^2], B [1/s] >= 0, about x, y, z and along them, in world axes. An axis on which
        both are 0 is free.
    posture : array_like, shape (nq,)
        Coordinates; those of joints count that are one number.
    posture_stiffness, posture_damping : float
        Accelerations towards it [1/s^2, 1/s].
    known : sequence of str, optional
        Speeds that say how the others move, where only these are measured well; see
        `kane_dynamics.constrained_inverse_dynamics`.

    Raises
    ------
    NameNotFoundError
        If there is no such frame or speed.
    InvalidInputError
        If anything else is not as said above.

    """

    dynamics: Dynamics
    frame: str
    actuated: Sequence[str]
    stiffness: ArrayLike
    damping: ArrayLike
    posture: ArrayLike
    posture_stiffness: float = 25.0
    posture_damping: float = 10.0
    known: Sequence[str] | None = None

    def __post_init__(self) -> None:
        robot = self.dynamics.robot
        index_of('frame', robot.bodies[robot.moving_body(self.frame)].name, self.dynamics.frames)
        speed_indices(robot, self.actuated, 'actuated')
        for name in ('stiffness', 'damping'):
            gains = as_vector(name, getattr(self, name), 6)
            if (gains < 0.0).any():
                raise InvalidInputError(f'{name}: need numbers >= 0, got {gains.tolist()}')
            object.__setattr__(self, name, gains)
        for name in ('posture_stiffness', 'posture_damping'):
            as_nonnegative(name, getattr(self, name))
        posture = np.array(checked_coordinates(robot, self.posture))
        object.__setattr__(self, 'posture', posture)
        object.__setattr__(self, 'actuated', tuple(self.actuated))

    def effort(
        self,
        q: ArrayLike,
        v: ArrayLike,
        motion: FrameMotion,
        terms: Sequence[str] = TERMS,
        base: ArrayLike | None = None,
    ) -> FrameEffort:
        """
        Return the efforts at a state.

        Parameters
        ----------
        q, v : array_like, shapes (nq,), (nv,)
            State.
        motion : FrameMotion
            What the frame is to do.
        terms : sequence of str
            What the efforts are to make up for, see `kane_dynamics.constrained_inverse_dynamics`.
        base : array_like, shape (3,), optional
            Accelerations of base_x, base_y and base_yaw that others cause, in the world.

        Raises
        ------
        InvalidInputError
            If a shape is wrong or a number is not finite.
        KaneDynamicsError
            If motors and constraints cannot produce the motion.

        """
        d, robot = self.dynamics, self.dynamics.robot
        where, speeds = np.array(checked_coordinates(robot, q)), np.array(checked_speeds(robot, v))
        twist, rate = (as_vector(n, getattr(motion, n), 6) for n in ('twist', 'acceleration'))
        task = frame_task(d, self.frame, where, speeds, False)
        error = task.error(as_pose('pose', motion.pose))
        gains = np.asarray(self.stiffness), np.asarray(self.damping)
        wanted = commanded_acceleration(rate, error, twist - task.velocity, *gains)
        chosen = (gains[0] > 0.0) | (gains[1] > 0.0)
        matrix, sides = task.jacobian[chosen], (wanted - task.drift)[chosen]
        if base is not None:  # first: what is given counts more than what is wanted
            matrix = np.vstack([np.eye(3, robot.nv), matrix])
            sides = np.r_[as_vector('base', base, 3), sides]
        rows = select_rows(d.constraint_rows(where, speeds), cholesky_factor(d.mass_matrix(where)))
        a = task_acceleration(rows, matrix, sides, self._to_posture(where, speeds))
        given = where, speeds, a, self.actuated, None, self.known
        found = d.constrained_inverse_dynamics(*given, terms=terms)
        missed = np.where(chosen, wanted - task.jacobian @ a - task.drift, 0.0)
        return FrameEffort(found, missed)

    def _to_posture(self, q: Floats, v: Floats) -> Floats:
        """Return the accelerations that bring the joints to their posture, and others to rest."""
        a = -self.posture_damping * v
        for name in self.actuated:
            place, k = self.dynamics.robot.coordinate_index(name), self._index(name)
            a[k] += self.posture_stiffness * (np.asarray(self.posture)[place] - q[place])
        return a

    def _index(self, name: str) -> int:
        return self.dynamics.robot.velocity_index(name)
