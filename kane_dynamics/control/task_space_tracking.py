# SPDX-License-Identifier: Apache-2.0
r"""
Task-space tracking of a frame within effort and velocity limits.

Near a singular pose, or far from its target, the law asks for more than motors have. There its
efforts :math:`\tau` go over to those :math:`\tau_0` of a spring along the gradient of the error,
:math:`a_0 = -r v + N J^T \Lambda K e`, which are bounded where J is singular, and end where the
error has its minimum. A part of the spring is taken that keeps the limits, then
:math:`\tau_0 + s^2 (\tau - \tau_0)`, where s is the largest part that keeps them: nothing jumps
where s is 1, and what is far above the limits counts little. A speed u below its limit keeps
:math:`u + a / r`, too.

The law is `algorithms.task_space_law`, one call of either engine. Here its arguments are checked
and its efforts are bounded.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import scipy

from kane_dynamics.algebra.pose import Pose
from kane_dynamics.algorithms.newton_euler import TERMS
from kane_dynamics.algorithms.projection import speed_indices
from kane_dynamics.algorithms.task_space_law import FrameEffort, TaskSpaceLaw, checked_law
from kane_dynamics.algorithms.udwadia_kalaba import cholesky_factor, solve_lower
from kane_dynamics.analysis.frame_task import check_gains, frame_task, task_acceleration
from kane_dynamics.analysis.tracking import COMPUTED, PASSIVE
from kane_dynamics.constraints.row_selection import select_rows
from kane_dynamics.dynamics import Dynamics, checked_dynamics
from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.robot.checks import as_choice, as_names, as_vector
from kane_dynamics.robot.joint_tables import known_limits
from kane_dynamics.robot.state import checked_coordinates, pose_numbers
from kane_dynamics.typing import ArrayLike, Bools, Floats

BRAKE = 10.0
"""r [1/s]: how fast motion is braked, and speeds may come to their limits."""
SPEED = 0.95
"""Part of the speed limits that is used: efforts are held for a period."""
STUCK = 0.01
"""Part of K e that the spring gives, below which the target is out of reach."""


REST = (0.0,) * 6
PARTS = ((1, 'twist', 7, 13), (2, 'acceleration', 13, 19))


class FrameMotion(NamedTuple):
    """What a frame is to do, in world axes."""

    pose: ArrayLike | Pose  # As such, or position and (w, x, y, z), whose length need not be one
    twist: ArrayLike = REST  # shape (6,): (omega, v) of its origin, and its rate
    acceleration: ArrayLike = REST  # shape (6,): (omega, v) of its origin, and its rate

    def numbers(self) -> Floats:
        """Return all of it, shape (19,)."""
        numbers = np.zeros(19)
        numbers[:7] = pose_numbers('pose', self.pose)
        for part, name, start, end in PARTS:
            if self[part] is not REST:
                numbers[start:end] = as_vector(name, self[part], end - start)
        return numbers


@dataclass(frozen=True, eq=False)
class FrameTracking:
    """The law that turns state and wanted motion of a frame into efforts."""

    dynamics: Dynamics  # Robot and constraints, of either engine
    frame: str  # A frame that is fixed in a moving body
    actuated: Sequence[str]  # Names of the speeds that have motors
    stiffness: ArrayLike
    damping: ArrayLike
    posture: ArrayLike  # shape (nq,): Coordinates; those of joints count that are one number
    posture_stiffness: float = 25.0  # Accelerations towards it [1/s^2, 1/s]
    posture_damping: float = 10.0  # Accelerations towards it [1/s^2, 1/s]
    known: Sequence[str] | None = None
    held: Sequence[str] = ()
    law: str = COMPUTED  # 'computed_torque' or 'slotine_li'
    effort_limit: ArrayLike | None = None
    velocity_limit: ArrayLike | None = None

    def __post_init__(self) -> None:
        robot = checked_dynamics(self.dynamics).robot
        check_gains(self)
        posture = np.array(checked_coordinates(robot, self.posture, 'posture'))
        object.__setattr__(self, 'posture', posture)
        as_choice('law', self.law, (COMPUTED, PASSIVE))
        checked_law(robot, self._choices)
        for name in ('effort_limit', 'velocity_limit'):
            value = getattr(self, name)
            limit = getattr(robot, name) if value is None else np.asarray(value, dtype=float)
            if limit.shape != (robot.nv,) or not (limit >= 0.0).all():
                raise InvalidInputError(f'{name}: need {robot.nv} numbers >= 0, got {value}')
            object.__setattr__(self, name, known_limits(limit))

    @cached_property
    def _choices(self) -> TaskSpaceLaw:
        actuated, held = as_names('actuated', self.actuated), as_names('held', self.held)
        known = None if self.known is None else tuple(as_names('known', self.known))
        passive = self.law == PASSIVE
        return TaskSpaceLaw(self.frame, tuple(actuated), known, tuple(held), passive)

    @cached_property
    def _limited(self) -> Bools:
        names = set(self._choices.actuated) - set(self._choices.held)
        return np.array([name in names for name in self.dynamics.robot.velocity_names])

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
        """Return the efforts at a state."""
        reference = motion.numbers(), self._gains, np.asarray(self.posture)
        unlimited = self.dynamics.frame_effort(self._choices, q, v, *reference, a, terms=terms)
        slope = np.asarray(self.stiffness)
        pull = (slope**2 if self._choices.passive else slope) * unlimited.error
        return self._within_limits(np.asarray(q), np.asarray(v), unlimited, pull, terms)

    def _within_limits(
        self, q: Floats, v: Floats, unlimited: FrameEffort, pull: Floats, terms: Sequence[str]
    ) -> FrameEffort:
        """Return what becomes of the efforts at a state."""
        d, law, passive = self.dynamics, self._choices, self._choices.passive
        asked, n = unlimited.result, len(v)
        zero = np.zeros(n)
        v = v if passive else asked.velocity  # of the passive law these are reference speeds
        if not passive and self._part(v, zero, zero, asked.effort, asked.acceleration) == 1.0:
            return unlimited
        root = cholesky_factor(d.mass_matrix(q))
        rows = select_rows(d.constraint_rows(q, v), root)
        held = np.eye(n)[speed_indices(d.robot, law.held, 'held')]
        J = frame_task(d, law.frame, q, v, False).jacobian

        def moved(force: Floats, a: Floats) -> Floats:
            """Return the accelerations that a force adds to a, as far as rows allow."""
            free = a + scipy.linalg.cho_solve((root, True), force)
            return task_acceleration(rows, held, held @ asked.acceleration, free)

        def balanced(a: Floats) -> Floats:
            motion = q, v, a, law.actuated, None, law.known
            return d.constrained_inverse_dynamics(*motion, terms=terms).numbers

        force = _inertia(J, root) * pull
        braked = moved(zero, -BRAKE * v)
        step = moved(J.T @ force, -BRAKE * v) - braked
        start = balanced(braked)
        change = balanced(braked + step) - start
        spring = self._part(v, start[:n], braked, change[:n], step)
        start, a = start + spring * change, braked + spring * step
        more = asked.effort - start[:n]
        part = self._part(v, start[:n], a, more, moved(more, a) - a)
        if part == 1.0:
            return unlimited
        numbers = unlimited.numbers.copy()
        numbers[: len(start)] = start + part**2 * (asked.numbers - start)
        top = np.where(self._limited, np.asarray(self.effort_limit), np.inf)
        numbers[:n] = np.clip(numbers[:n], -top, top)  # where braking alone takes more
        stuck = force @ (J @ step) < STUCK * (force @ pull)
        new = FrameEffort.of(numbers, asked.labels)
        return new._replace(share=part**2, out_of_reach=bool(stuck))

    def _part(self, v: Floats, effort: Floats, a: Floats, more: Floats, faster: Floats) -> float:
        """Return the largest part of a change of efforts and accelerations within the limits."""
        tops = np.asarray(self.effort_limit), SPEED * np.asarray(self.velocity_limit)
        pairs = (effort, more, tops[0]), (v + a / BRAKE, faster / BRAKE, tops[1])
        part = 1.0
        for start, change, top in pairs:
            size = np.abs(change)
            room = np.where(change > 0.0, top - start, top + start)
            over = self._limited & (size > room)
            part = min(part, (room[over] / size[over]).min(initial=1.0))
        return max(0.0, float(part))


def _inertia(J: Floats, root: Floats) -> Floats:
    """Return the mean inertias of a frame as it turns, and as it moves, for six axes."""
    push = np.square(solve_lower(root, J.T)).sum(axis=0)
    means = np.repeat([push[:3].mean(), push[3:].mean()], 3)
    return np.divide(1.0, means, out=np.zeros(6), where=means > 0.0)
