# SPDX-License-Identifier: Apache-2.0
"""Energy balance of a simulated motion: work, friction losses, error of the integrator."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kane_dynamics.robot.robot import Robot
from kane_dynamics.simulation.motions import Trajectory
from kane_dynamics.typing import Floats


@dataclass(frozen=True, eq=False)
class EnergyBalance:
    """Where the energy of a motion went."""

    energy: Floats  # shape (n + 1,): T + V of each state [J]
    work: Floats  # shape (n,): Of the efforts, and to friction, in each step [J]
    lost: Floats  # shape (n,): Of the efforts, and to friction, in each step [J]

    @property
    def gap(self) -> float:
        """Return the largest energy that appears from nowhere or gets lost there [J]."""
        balance = self.energy[1:] - self.energy[0] - np.cumsum(self.work - self.lost)
        return float(np.abs(balance).max(initial=0.0))

    @property
    def error(self) -> float:
        """Return the gap relative to the sum of all work and losses."""
        turned_over = float(np.abs(self.work).sum() + self.lost.sum())
        return self.gap / turned_over if turned_over else 0.0


def energy_balance(
    robot: Robot, motion: Trajectory, effort: Floats, energy: Floats
) -> EnergyBalance:
    """
    Return the energy of a motion, the work of its efforts and its losses to friction.

    ``E(t) - E(0) = sum tau (q_k+1 - q_k) - int v' (D v + F sign v) dt``. Efforts are constant over
    a step, so their work is exact on coordinates that are integrals of their speeds; where some
    are not (quaternions), displacements are mean speeds times the step. Friction is integrated by
    Simpson's rule on the steps' ends and mean speeds.
    """
    h = np.diff(motion.time)[:, None]
    if robot.nq == robot.nv:
        moved = np.diff(motion.q, axis=0)
    else:
        moved = 0.5 * h * (motion.v[1:] + motion.v[:-1])
    work = np.sum(effort * moved, axis=1)

    def dissipated(v: Floats) -> Floats:
        power: Floats = np.sum(robot.damping * v * v + robot.friction * np.abs(v), axis=1)
        return power

    ends, middle = dissipated(motion.v), dissipated(moved / h)
    return EnergyBalance(energy, work, h[:, 0] / 6.0 * (ends[:-1] + 4.0 * middle + ends[1:]))
