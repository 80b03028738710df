# SPDX-License-Identifier: Apache-2.0
"""Plots of a closed-loop demonstration, written as PNG."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import matplotlib
import numpy as np

matplotlib.use('Agg')
from matplotlib import pyplot as plt

from kane_dynamics.typing import Floats


@dataclass(frozen=True, eq=False)
class RunCurves:
    """
    What is drawn of one run.

    Parameters
    ----------
    time : ndarray, shape (n,)
        [s].
    error : ndarray, shape (n, m)
        Position errors of the motors [rad or m].
    effort : ndarray, shape (n, m)
        Applied efforts [N m or N].
    path : ndarray, shape (k, 2)
        Base positions [m].
    latency : ndarray, shape (l,)
        From a state to its efforts [s].

    """

    time: Floats
    error: Floats
    effort: Floats
    path: Floats
    latency: Floats


def write_demo_plots(
    folder: Path, motors: Sequence[str], wanted_path: Floats, runs: Mapping[str, RunCurves]
) -> list[Path]:
    """Write errors, efforts, latencies and the path of a base that moves; return the files."""
    folder.mkdir(parents=True, exist_ok=True)
    return [
        *([_path(folder, wanted_path, runs)] if wanted_path.any() else []),
        _per_motor(folder / 'tracking_error.png', motors, runs, 'error', '|error| [rad or m]'),
        _per_motor(folder / 'effort.png', motors, runs, 'effort', 'effort [N m or N]'),
        _latency(folder, runs),
    ]


def _path(folder: Path, wanted: Floats, runs: Mapping[str, RunCurves]) -> Path:
    figure, axes = plt.subplots(figsize=(7, 5), layout='constrained')
    axes.plot(wanted[:, 0], wanted[:, 1], 'k--', label='wanted', linewidth=2)
    for name, run in runs.items():
        axes.plot(run.path[:, 0], run.path[:, 1], label=name)
    axes.set(xlabel='x [m]', ylabel='y [m]', title='Path of the base', aspect='equal')
    axes.legend()
    return _saved(figure, folder / 'base_path.png')


def _per_motor(
    file: Path, motors: Sequence[str], runs: Mapping[str, RunCurves], what: str, label: str
) -> Path:
    rows = (len(motors) + 2) // 3
    figure, grid = plt.subplots(
        rows, 3, figsize=(12, 2.2 * rows), sharex=True, squeeze=False, layout='constrained'
    )
    for k, (motor, axes) in enumerate(zip(motors, grid.flat, strict=False)):
        for name, run in runs.items():
            values = getattr(run, what)[:, k]
            if what == 'error':  # a hundred times smaller in one run than in the other
                axes.semilogy(run.time, np.abs(values), label=name, linewidth=1)
            else:
                axes.plot(run.time, values, label=name, linewidth=1)
        axes.set_title(motor, fontsize=9)
        axes.grid(alpha=0.3)
    for axes in list(grid.flat)[len(motors) :]:
        axes.set_visible(False)
    for axes in grid[-1]:
        axes.set_xlabel('time [s]')
    grid[0, 0].legend(fontsize=8)
    figure.supylabel(label)
    return _saved(figure, file)


def _latency(folder: Path, runs: Mapping[str, RunCurves]) -> Path:
    figure, axes = plt.subplots(figsize=(7, 4), layout='constrained')
    top = max(np.percentile(run.latency, 99.5) for run in runs.values() if len(run.latency))
    bins = np.linspace(0.0, 1e3 * float(top), 60)
    for name, run in runs.items():
        axes.hist(1e3 * run.latency, bins=bins.tolist(), alpha=0.6, label=name)
    axes.set(xlabel='state to effort [ms]', ylabel='messages', title='Latency of the loop')
    axes.legend()
    return _saved(figure, folder / 'latency.png')


def _saved(figure: plt.Figure, file: Path) -> Path:
    figure.savefig(file, dpi=120)
    plt.close(figure)
    return file
