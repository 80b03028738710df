# SPDX-License-Identifier: Apache-2.0
r"""
A frame follows another, by computed torque or by passivity, and the rest keeps a posture.

The law is `algorithms.task_space_law`, one call of either engine. Here its arguments are
checked, and `frame_limits` bounds its efforts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from kane_dynamics.algebra.pose import Pose
from kane_dynamics.algorithms.newton_euler import TERMS
from kane_dynamics.algorithms.task_space_law import FrameEffort, TaskSpaceLaw, checked_law
from kane_dynamics.algorithms.tracking import COMPUTED, PASSIVE
from kane_dynamics.control.task_space_limits import FrameLimits
from kane_dynamics.dynamics import Dynamics, checked_dynamics
from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.robot.checks import as_choice, as_names, as_nonnegative, as_vector
from kane_dynamics.robot.joint_tables import known_limits
from kane_dynamics.robot.state import checked_coordinates, pose_numbers
from kane_dynamics.typing import Floats

REST = (0.0,) * 6
PARTS = ((1, 'twist', 7, 13), (2, 'acceleration', 13, 19))


class FrameMotion(NamedTuple):
    """
    What a frame is to do, in world axes.

    Parameters
    ----------
    pose : Pose or array_like, shape (7,)
        As such, or position and (w, x, y, z), whose length need not be one.
    twist, acceleration : array_like, shape (6,)
        (omega, v) of its origin, and its rate.

    """

    pose: ArrayLike | Pose
    twist: ArrayLike = REST
    acceleration: ArrayLike = REST

    def numbers(self) -> Floats:
        """
        Return all of it, shape (19,).

        Raises
        ------
        InvalidInputError
            If it is no motion.

        """
        numbers = np.zeros(19)
        numbers[:7] = pose_numbers('pose', self.pose)
        for part, name, start, end in PARTS:
            if self[part] is not REST:
                numbers[start:end] = as_vector(name, self[part], end - start)
        return numbers


@dataclass(frozen=True, eq=False)
class FrameTracking:
    """
    The law that turns state and wanted motion of a frame into efforts.

    Parameters
    ----------
    dynamics : Dynamics
        Robot and constraints, of either engine.
    frame : str
        A frame that is fixed in a moving body.
    actuated : sequence of str
        Names of the speeds that have motors.
    stiffness, damping : array_like, shape (6,)
        K [1/s^2], B [1/s] >= 0 of computed torque, about x, y, z and along them, in world axes;
        Lambda [1/s], K [N m s/rad, N s/m] of Slotine and Li's law. An axis on which both are 0 is
        free.
    posture : array_like, shape (nq,)
        Coordinates; those of joints count that are one number.
    posture_stiffness, posture_damping : float
        Accelerations towards it [1/s^2, 1/s].
    known : sequence of str, optional
        Speeds that say how the others move, where only these are measured well; see
        `kane_dynamics.constrained_inverse_dynamics`.
    held : sequence of str
        Speeds whose accelerations are given, as of a base that others drive.
    law : str
        'computed_torque' or 'slotine_li'.
    effort_limit, velocity_limit : array_like, shape (nv,), optional
        Of actuated speeds that are not held, >= 0, 0 where unknown; those of the URDF where left
        out. Where they bind, the efforts are those of `control.frame_limits`.

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
    held: Sequence[str] = ()
    law: str = COMPUTED
    effort_limit: ArrayLike | None = None
    velocity_limit: ArrayLike | None = None

    def __post_init__(self) -> None:
        robot = checked_dynamics(self.dynamics).robot
        for name in ('stiffness', 'damping'):
            gains = as_vector(name, getattr(self, name), 6)
            if (gains < 0.0).any():
                raise InvalidInputError(f'{name}: need numbers >= 0, got {gains.tolist()}')
            object.__setattr__(self, name, gains)
        as_nonnegative('posture_stiffness [1/s^2]', self.posture_stiffness)
        as_nonnegative('posture_damping [1/s]', self.posture_damping)
        posture = np.array(checked_coordinates(robot, self.posture, 'posture'))
        object.__setattr__(self, 'posture', posture)
        as_choice('law', self.law, (COMPUTED, PASSIVE))
        checked_law(robot, self._choices)
        for name in ('effort_limit', 'velocity_limit'):
            values = getattr(self, name)
            limit = getattr(robot, name) if values is None else np.asarray(values, dtype=float)
            if limit.shape != (robot.nv,) or not (limit >= 0.0).all():
                raise InvalidInputError(f'{name}: need {robot.nv} numbers >= 0, got {values}')
            object.__setattr__(self, name, known_limits(limit))

    @cached_property
    def _choices(self) -> TaskSpaceLaw:
        actuated, held = as_names('actuated', self.actuated), as_names('held', self.held)
        known = None if self.known is None else tuple(as_names('known', self.known))
        passive = self.law == PASSIVE
        return TaskSpaceLaw(self.frame, tuple(actuated), known, tuple(held), passive)

    @cached_property
    def _limits(self) -> FrameLimits:
        limits = np.asarray(self.effort_limit), np.asarray(self.velocity_limit)
        return FrameLimits(self.dynamics, self._choices, *limits)

    @cached_property
    def _start(self) -> Floats:
        return np.asarray(self.posture, dtype=float)

    @cached_property
    def _gains(self) -> Floats:
        posture = self.posture_stiffness, self.posture_damping
        return np.concatenate([self.stiffness, self.damping, posture])

    def effort(
        self,
        q: ArrayLike,
        v: ArrayLike,
        motion: FrameMotion,
        terms: Sequence[str] = TERMS,
        a: ArrayLike | None = None,
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
        a : array_like, shape (nv,), optional
            Accelerations of what is held.

        Raises
        ------
        InvalidInputError
            If a shape is wrong, or a number of the motion is not finite.
        KaneDynamicsError
            If motors and constraints cannot produce the motion.

        """
        target = motion.numbers(), self._gains, self._start
        result = self.dynamics.frame_effort(self._choices, q, v, *target, a, terms=terms)
        slope = np.asarray(self.stiffness)
        pull = (slope**2 if self._choices.passive else slope) * result.error
        return self._limits.limited(np.asarray(q), np.asarray(v), result, pull, terms)
