# SPDX-License-Identifier: Apache-2.0
"""Motions as CSV and as plots, for `simulate`."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from kane_dynamics.demo.energy_audit import EnergyBalance
from kane_dynamics.model.robot import Robot
from kane_dynamics.simulation.simulation import Trajectory
from kane_dynamics.typing import Floats, Indices
from kane_dynamics.view.plots import Panel, write_curves


def write_motion_csv(
    file: Path, robot: Robot, motion: Trajectory, balance: EnergyBalance, kept: Indices
) -> Path:
    """Write time, coordinates, speeds and energy of some instants, one a row, all digits."""
    names = [f'q:{name}' for name in robot.coordinate_names]
    names += [f'v:{name}' for name in robot.velocity_names]
    rows = np.column_stack([motion.time, motion.q, motion.v, balance.energy])[kept]
    return write_table(file, ['time', *names, 'energy'], rows)


def write_table(file: Path, names: list[str], rows: Floats) -> Path:
    """Write numbers under their names as CSV, with all their digits."""
    head = ','.join(names)
    np.savetxt(file, rows, delimiter=',', header=head, comments='', fmt='%.17g')
    return file


def write_motion_plot(
    file: Path, robot: Robot, motion: Trajectory, balance: EnergyBalance, kept: Indices
) -> Path:
    """Write coordinates, speeds and the energy over time."""
    panels = [
        Panel('position [rad or m]', _curves(robot.coordinate_names, motion.q[kept])),
        Panel('speed [rad/s or m/s]', _curves(robot.velocity_names, motion.v[kept])),
        Panel('energy [J]', {'T + V': balance.energy[kept]}),
    ]
    return write_curves(file, f"Motion of '{robot.name}'", motion.time[kept], panels)


def _curves(names: tuple[str, ...], rows: Floats) -> dict[str, Floats]:
    return dict(zip(names, rows.T, strict=True))
