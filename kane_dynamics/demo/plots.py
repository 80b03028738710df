# SPDX-License-Identifier: Apache-2.0
"""Plots of a closed-loop demonstration, written as PNG and PDF."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from kane_dynamics.demo.curves import RunCurves
from kane_dynamics.demo.figures import Setup
from kane_dynamics.robot.joint_kinds import Prismatic
from kane_dynamics.view.colours import LIMIT
from kane_dynamics.view.style import paper_style, save_figure

BESIDE = 3  # panels in a row
NEAR = 0.3  # of its limit, from which an effort is drawn with the limit
LOWEST = 1e-7  # end of the axis of errors [rad or m]


@paper_style()
def write_demo_plots(folder: Path, setup: Setup, runs: Mapping[str, RunCurves]) -> list[Path]:
    """
    Write errors, efforts, forces on wheels, latencies and the path of a base that moves.

    Parameters
    ----------
    folder : Path
        It is made where it does not exist.
    setup : Setup
        What was to be done.
    runs : mapping of str to RunCurves
        What was done, by name.

    Returns
    -------
    list of Path
        The PNG files; each has a PDF beside it.

    """
    folder.mkdir(parents=True, exist_ok=True)
    figures = {
        'tracking_error': _errors(setup, runs),
        'effort': _efforts(setup, runs),
        'latency': _latency(runs),
    }
    if setup.motion.base.any():
        figures['base_path'] = _path(setup, runs)
    if any(run.forces for run in runs.values()):
        figures['wheel_forces'] = _wheel_forces(runs)
    return [save_figure(figure, folder / f'{name}.png')[0] for name, figure in figures.items()]


def _path(setup: Setup, runs: Mapping[str, RunCurves]) -> Figure:
    figure = Figure((5.0, 3.6), layout='constrained')
    axes = figure.subplots()
    target = setup.motion.base
    axes.plot(target[:, 0], target[:, 1], '-', color=LIMIT, linewidth=3, alpha=0.4, label='wanted')
    for name, run in runs.items():
        axes.plot(run.path[:, 0], run.path[:, 1], label=name)
    axes.set(xlabel='x [m]', ylabel='y [m]', title='Path of the base', aspect='equal')
    figure.legend(loc='outside lower center', ncols=3)
    return figure


def _errors(setup: Setup, runs: Mapping[str, RunCurves]) -> Figure:
    figure, panels = _panels(setup.motion.names)
    for k, (motor, axes) in enumerate(panels.items()):
        for name, run in runs.items():
            error = np.abs(run.error[:, k])
            axes.semilogy(run.time[error > 0.0], error[error > 0.0], label=name, linewidth=1.0)
        axes.set_ylabel(f'|error| [{_unit(setup, motor, "m", "rad")}]')
        axes.set_ylim(bottom=max(axes.get_ylim()[0], LOWEST))
    return _named(figure, panels)


def _efforts(setup: Setup, runs: Mapping[str, RunCurves]) -> Figure:
    """Draw efforts, with limits where these are not far away; else the limit is told."""
    robot = setup.compiled.robot
    figure, panels = _panels(setup.motion.names)
    for k, (motor, axes) in enumerate(panels.items()):
        largest = max(float(np.abs(run.effort[:, k]).max()) for run in runs.values())
        for name, run in runs.items():
            axes.plot(run.time, run.effort[:, k], label=name, linewidth=1.0)
        unit = _unit(setup, motor, 'N', 'N m')
        limit = float(robot.effort_limit[robot.velocity_index(motor)])
        axes.set_ylabel(f'effort [{unit}]')
        if np.isfinite(limit) and largest < NEAR * limit:
            axes.set_title(f'{motor}, limit {limit:g} {unit}')
        elif np.isfinite(limit):
            for side in (-limit, limit):
                axes.axhline(side, color=LIMIT, linestyle='-.', linewidth=0.8, label='limit')
    return _named(figure, panels)


def _wheel_forces(runs: Mapping[str, RunCurves]) -> Figure:
    labels = list(next(run.forces for run in runs.values() if run.forces))
    figure, panels = _panels(labels)
    for label, axes in panels.items():
        for name, run in runs.items():
            axes.plot(run.time, run.forces[label], label=name, linewidth=1.0)
        axes.set_ylabel('force [N]')
    return _named(figure, panels)


def _latency(runs: Mapping[str, RunCurves]) -> Figure:
    figure = Figure((5.0, 3.0), layout='constrained')
    axes = figure.subplots()
    top = max(np.percentile(run.latency, 99.5) for run in runs.values() if len(run.latency))
    bins = np.linspace(0.0, 1e3 * float(top), 60)
    for name, run in runs.items():
        axes.hist(1e3 * run.latency, bins=bins.tolist(), histtype='step', label=name)
    axes.set(xlabel='from a state to its efforts [ms]', ylabel='messages [1]')
    axes.set_title('Latency of the loop')
    figure.legend(loc='outside lower center', ncols=2)
    return figure


def _panels(names: tuple[str, ...] | list[str]) -> tuple[Figure, dict[str, Axes]]:
    """Return a figure with a panel for each name, and none besides."""
    columns = min(BESIDE, len(names))
    rows = -(-len(names) // columns)
    figure = Figure((2.6 * columns, 0.5 + 1.5 * rows), layout='constrained')
    grid = figure.subplots(rows, columns, sharex=True, squeeze=False)
    for axes in grid.flat[len(names) :]:
        axes.remove()
    panels = dict(zip(names, grid.flat, strict=False))
    for k, (name, axes) in enumerate(panels.items()):
        axes.set_title(name)
        if k + columns >= len(names):
            axes.set_xlabel('time [s]')
            axes.tick_params(labelbottom=True)
    return figure, panels


def _named(figure: Figure, panels: Mapping[str, Axes]) -> Figure:
    """Write what the curves are, once, below the panels."""
    named: dict[str, Any] = {}
    for axes in panels.values():
        handles, labels = axes.get_legend_handles_labels()
        named |= dict(zip(labels, handles, strict=True))
    figure.legend(named.values(), named, loc='outside lower center', ncols=len(named))
    return figure


def _unit(setup: Setup, motor: str, straight: str, turning: str) -> str:
    """Return the unit of a motor that slides or turns."""
    robot = setup.compiled.robot
    if motor in ('base_x', 'base_y'):
        return straight
    if motor not in robot.joint_names:
        return turning
    slides = isinstance(robot.bodies[robot.body_of_joint(motor)].joint.kind, Prismatic)
    return straight if slides else turning
