# SPDX-License-Identifier: Apache-2.0
r"""
Efforts of a law for a frame, within limits of efforts and speeds, whatever its target is.

Near a singular pose, or far from its target, the law asks for more than motors have. There its
efforts :math:`\tau` go over to those :math:`\tau_0` of a spring along the gradient of the error,
:math:`a_0 = -r v + N J^T \Lambda K e`, which are bounded where J is singular, and end where the
error has its minimum. A part of the spring is taken that keeps the limits, then
:math:`\tau_0 + s^2 (\tau - \tau_0)`, where s is the largest part that keeps them: nothing jumps
where s is 1, and what is far above the limits counts little. A speed u below its limit keeps
:math:`u + a / r`, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy

from kane_dynamics.algorithms.consistent import speed_indices
from kane_dynamics.algorithms.task_space_law import FrameEffort, TaskSpaceLaw
from kane_dynamics.algorithms.udwadia_kalaba import cholesky_factor, solve_lower
from kane_dynamics.analysis.frame_task import frame_task, task_acceleration
from kane_dynamics.constraints.row_selection import select_rows
from kane_dynamics.dynamics import Dynamics
from kane_dynamics.typing import Floats

BRAKE = 10.0
"""r [1/s]: how fast motion is braked, and speeds may come to their limits."""
SPEED = 0.95
"""Part of the speed limits that is used: efforts are held for a period."""
STUCK = 0.01
"""Part of K e that the spring gives, below which the target is out of reach."""


@dataclass(frozen=True, eq=False, slots=True)
class FrameLimits:
    """
    Limits of the motors that let a frame follow.

    Parameters
    ----------
    dynamics : Dynamics
        Robot and constraints.
    law : TaskSpaceLaw
        Which frame, and what moves it; what is held has no limits here.
    effort, velocity : ndarray, shape (nv,)
        Limits, infinite where there are none.

    """

    dynamics: Dynamics
    law: TaskSpaceLaw
    effort: Floats
    velocity: Floats

    def limited(
        self, q: Floats, v: Floats, result: FrameEffort, pull: Floats, terms: Sequence[str]
    ) -> FrameEffort:
        """
        Return what becomes of the efforts at a state.

        Parameters
        ----------
        q, v : ndarray, shapes (nq,), (nv,)
            State.
        result : FrameEffort
            What the law asks for.
        pull : ndarray, shape (6,)
            K e of the law, accelerations of the frame.
        terms : sequence of str
            What the efforts make up for, as for the law.

        """
        d, law, passive = self.dynamics, self.law, self.law.passive
        asked, n = result.result, len(v)
        zero = np.zeros(n)
        v = v if passive else asked.velocity  # of the passive law these are reference speeds
        if not passive and self._part(v, zero, zero, asked.effort, asked.acceleration) == 1.0:
            return result
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
            return result
        numbers = result.numbers.copy()
        numbers[: len(start)] = start + part**2 * (asked.numbers - start)
        top = np.where(self._limited(), self.effort, np.inf)
        numbers[:n] = np.clip(numbers[:n], -top, top)  # where braking alone takes more
        stuck = force @ (J @ step) < STUCK * (force @ pull)
        new = FrameEffort.of(numbers, n, asked.labels)
        return new._replace(share=part**2, out_of_reach=bool(stuck))

    def _limited(self) -> Any:
        robot, names = self.dynamics.robot, set(self.law.actuated) - set(self.law.held)
        return np.array([name in names for name in robot.velocity_names])

    def _part(self, v: Floats, effort: Floats, a: Floats, more: Floats, faster: Floats) -> float:
        """Return the largest part of a change of efforts and accelerations within the limits."""
        selection = self._limited()
        pairs = (effort, more, self.effort), (v + a / BRAKE, faster / BRAKE, SPEED * self.velocity)
        part = 1.0
        for start, change, top in pairs:
            size = np.abs(change)
            room = np.where(change > 0.0, top - start, top + start)
            over = selection & (size > room)
            part = min(part, (room[over] / size[over]).min(initial=1.0))
        return max(0.0, float(part))


def _inertia(J: Floats, root: Floats) -> Floats:
    """Return the mean inertias of a frame as it turns, and as it moves, for six axes."""
    push = np.square(solve_lower(root, J.T)).sum(axis=0)
    means = np.repeat([push[:3].mean(), push[3:].mean()], 3)
    return np.divide(1.0, means, out=np.zeros(6), where=means > 0.0)
