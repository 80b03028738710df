# SPDX-License-Identifier: Apache-2.0
"""Time stepping of constrained robots."""

from kane_dynamics.simulation.device_loop import DeviceLoop
from kane_dynamics.simulation.projection import project
from kane_dynamics.simulation.rank_events import RankEvent
from kane_dynamics.simulation.simulation import Simulation, Trajectory, simulate
from kane_dynamics.simulation.virtual_coupler import (
    CouplerWrenches,
    VirtualCoupler,
    needed_damping,
)

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
