# SPDX-License-Identifier: Apache-2.0
"""Drives of joints that follow speeds, against friction, as a law for compiled time steps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kane_dynamics.robot.robot import Robot
from kane_dynamics.typing import Floats

DRY_SPEED = 0.2  # [rad/s] below which dry friction fades, so that a held step can follow it


@dataclass(frozen=True, eq=False)
class Drives:
    r"""
    Efforts of speed-controlled drives: drives(t, q, v, gains), for numbers and for tracing.

    The gains of a rollout are those that `packed` returns: targets :math:`w`, held efforts
    :math:`\tau_0`, viscous and dry friction :math:`b, c` of each drive. With its gain :math:`k`,
    its limit :math:`L`, and :math:`s` the speed `DRY_SPEED`,

    .. math:: \tau = \mathrm{clip}(\tau_0 + k (w - v), L) - b v - c \tanh(v / s) .

    Parameters
    ----------
    speeds : int
        Of the robot.
    indices : tuple of int
        Where the driven speeds are among them.
    gains : tuple of float
        Effort for a speed that is missing [N m s/rad].
    limits : tuple of float
        Largest efforts [N m].

    """

    speeds: int
    indices: tuple[int, ...]
    gains: tuple[float, ...]
    limits: tuple[float, ...]

    @staticmethod
    def of(robot: Robot, joints: Sequence[str], gains: Sequence[float]) -> Drives:
        """
        Return the drives of some joints, up to the robot's effort limits.

        Raises
        ------
        NameNotFoundError
            If a joint has no speed.

        """
        indices = tuple(robot.velocity_index(joint) for joint in joints)
        limits = tuple(robot.effort_limit[list(indices)].tolist())
        return Drives(robot.nv, indices, tuple(gains), limits)

    def __call__(self, t: Any, q: Any, v: Any, gains: Any) -> list[Any]:
        """Return the efforts on all speeds."""
        count, total = len(self.indices), [0.0] * self.speeds
        for j, place in enumerate(self.indices):
            target, held, viscous, dry = (gains[j + count * part] for part in range(4))
            request = held + self.gains[j] * (target - v[place])
            scrub_effort = viscous * v[place] + dry * np.tanh(v[place] / DRY_SPEED)
            total[place] = _clipped(request, self.limits[j]) - scrub_effort
        return total


def packed(targets: Floats, held: Floats, viscous: Floats, dry: Floats) -> Floats:
    """Return the gains of `Drives`, shape (B, 4 n), of its four parts, (B, n) each."""
    return np.concatenate([targets, held, viscous, dry], axis=1)


def _clipped(x: Any, limit: float) -> Any:
    """Return x within +-limit, without a branch."""
    return 0.5 * (abs(x + limit) - abs(x - limit))
