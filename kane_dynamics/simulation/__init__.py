# SPDX-License-Identifier: Apache-2.0
"""Time stepping of constrained robots."""

from kane_dynamics.simulation.projection import project
from kane_dynamics.simulation.rank_events import RankEvent
from kane_dynamics.simulation.simulation import Simulation, Trajectory, simulate

__all__ = ['RankEvent', 'Simulation', 'Trajectory', 'project', 'simulate']
