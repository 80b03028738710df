# SPDX-License-Identifier: Apache-2.0
"""Motions and series as CSV and as plots, for `simulate` and `bag`."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from kane_dynamics.bags.computing import Series
from kane_dynamics.demo.energy_audit import EnergyBalance
from kane_dynamics.robot.robot import Robot
from kane_dynamics.simulation.motions import Trajectory
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


def write_series_csv(file: Path, series: Series) -> Path:
    """Write time and values of a series; the measured efforts too, where there are any."""
    names = [f'{series.quantity}:{name}' for name in series.names]
    columns = [series.stamps * 1e-9, series.values]
    if np.isfinite(series.measured).any():
        names += [f'measured_effort:{name}' for name in series.names]
        columns.append(series.measured)
    return write_table(file, ['time', *names], np.column_stack(columns))


def write_series_plot(file: Path, series: Series) -> Path:
    """Write a series over the time from its start, and the measured efforts below."""
    unit = '[rad/s² or m/s²]' if series.quantity == 'acceleration' else '[N m or N]'
    label = f'{series.quantity.replace("_", " ")} {unit}'
    panels = [Panel(label, _curves(series.names, series.values))]
    if np.isfinite(series.measured).any():
        panels.append(Panel('measured effort [N m or N]', _curves(series.names, series.measured)))
    time = (series.stamps - series.stamps[0]) * 1e-9
    return write_curves(file, 'Dynamics over a bag', time, panels)
