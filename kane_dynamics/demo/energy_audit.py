# SPDX-License-Identifier: Apache-2.0
"""Energy balance of a simulated motion: work, friction losses, error of the integrator."""

from __future__ import annotations

import numpy as np

from kane_dynamics.kernels.compiled import CompiledRobot
from kane_dynamics.simulation.simulation import Trajectory
from kane_dynamics.typing import Floats


def energy_error(compiled: CompiledRobot, motion: Trajectory, effort: Floats) -> float:
    """
    Return how far a motion is from energy balance, relative to the energy turned over.

    ``E(t) - E(0) = sum tau (q_k+1 - q_k) - int v' (D v + F sign v) dt``. Efforts are constant over
    a step, so their work is exact on coordinates that are integrals of their speeds; friction is
    integrated by Simpson's rule on the steps' ends and mean speeds.

    Parameters
    ----------
    compiled : CompiledRobot
        The robot; its coordinates must be vectors (nq = nv).
    motion : Trajectory
        States after each step.
    effort : ndarray, shape (n, nv)
        Efforts in each step [N m or N].

    """
    robot = compiled.robot
    energy = compiled.kinetic_energy(motion.q, motion.v) + compiled.potential_energy(motion.q)
    moved, h = np.diff(motion.q, axis=0), np.diff(motion.time)
    work = np.sum(effort * moved, axis=1)

    def dissipated(v: Floats) -> Floats:
        power: Floats = np.sum(robot.damping * v * v + robot.friction * np.abs(v), axis=1)
        return power

    middle = moved / h[:, None]
    ends = dissipated(motion.v)
    lost = h / 6.0 * (ends[:-1] + 4.0 * dissipated(middle) + ends[1:])
    balance = energy[1:] - energy[0] - np.cumsum(work - lost)
    turned_over = np.abs(work).sum() + lost.sum()
    return float(np.abs(balance).max() / turned_over)
