# SPDX-License-Identifier: Apache-2.0
"""What moves the joints in an environment: drives that follow speeds, against friction."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from kane_dynamics.model.robot import Robot
from kane_dynamics.typing import Floats

DRY_SPEED = 0.2  # [rad/s] below which dry friction fades, so that a held step can follow it


class Drives(NamedTuple):
    """
    Speed-controlled drives.

    Parameters
    ----------
    joints : tuple of str
        Joints that have one.
    gains : tuple of float
        Effort for a speed that is missing [N m s/rad].
    limits : tuple of float
        Largest efforts [N m].

    """

    joints: tuple[str, ...]
    gains: tuple[float, ...]
    limits: tuple[float, ...]

    def law(self, robot: Robot) -> Any:
        r"""
        Return the efforts on all speeds of the robot as law(t, q, v, gains), for tracing.

        The gains of a rollout are those that `packed` returns: targets :math:`w`, held efforts
        :math:`\tau_0`, viscous and dry friction :math:`b, c`. With :math:`L` the limit and
        :math:`s` the speed `DRY_SPEED`,

        .. math:: \tau = \mathrm{clip}(\tau_0 + k (w - v), L) - b v - c \tanh(v / s) .

        """
        places = [robot.velocity_index(joint) for joint in self.joints]

        def efforts(t: Any, q: Any, v: Any, gains: Any) -> list[Any]:
            count, total = len(places), [0.0] * robot.nv
            for j, place in enumerate(places):
                target, held, viscous, dry = (gains[j + count * part] for part in range(4))
                wanted = held + self.gains[j] * (target - v[place])
                rubbing = viscous * v[place] + dry * np.tanh(v[place] / DRY_SPEED)
                total[place] = _clipped(wanted, self.limits[j]) - rubbing
            return total

        return efforts


def packed(targets: Floats, held: Floats, viscous: Floats, dry: Floats) -> Floats:
    """Return the gains of `Drives.law`, shape (B, 4 n), of its four parts, (B, n) each."""
    return np.concatenate([targets, held, viscous, dry], axis=1)


def _clipped(x: Any, limit: float) -> Any:
    """Return x within +-limit, without a branch."""
    return 0.5 * (abs(x + limit) - abs(x - limit))
