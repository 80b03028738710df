# SPDX-License-Identifier: Apache-2.0
"""Time stepping of constrained robots."""

from kane_dynamics.simulation.haptics import (
    CouplerWrenches,
    DeviceLoop,
    VirtualCoupler,
    needed_damping,
)
from kane_dynamics.simulation.motions import Trajectory, project, simulate
from kane_dynamics.simulation.simulation import Simulation
from kane_dynamics.simulation.step_checks import RankEvent

__all__ = [
    'CouplerWrenches',
    'DeviceLoop',
    'RankEvent',
    'Simulation',
    'Trajectory',
    'VirtualCoupler',
    'needed_damping',
    'project',
    'simulate',
]
