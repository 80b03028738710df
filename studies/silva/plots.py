# SPDX-License-Identifier: Apache-2.0
"""Pictures: waveforms as in Fig. 3 of the paper, CMC of every coordinate, operations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import matplotlib
import numpy as np

matplotlib.use('Agg')
from matplotlib import pyplot as plt
from matplotlib.axes import Axes

from studies.silva import paper
from studies.silva.comparison import PAPER, REFERENCES, REPORTED, TARGET, lack
from studies.silva.counting import DQGP, DQNE, LARGEST, Counts
from studies.silva.evaluation import GAUSS, Evaluation

JOINTS = (1, 2, 5, 10, 20, 50)  # ticks
LEAST = 10.0  # operations at the lower end of the axis
FLOOR = 1e-16  # 1 - CMC of identical waveforms is drawn here
_MADE = 'MuJoCo, speeds filtered one way and differentiated'
_COLOURS = {REPORTED: 'tab:blue', 'differenced': 'tab:green', PAPER: 'tab:orange'}


def write_waveforms(folder: Path, done: Evaluation) -> Path:
    """Draw the first, the middle and the last coordinate of a robot."""
    nv = done.case.robot.nv
    figure, grid = plt.subplots(3, 1, figsize=(10, 8), sharex=True, layout='constrained')
    time = done.recording.time[done.samples]
    for k, axes in zip((0, nv // 2, nv - 1), grid, strict=True):
        name = done.case.robot.velocity_names[k]
        reported, made = (done.of(GAUSS, ref).correlation[k] for ref in (REPORTED, PAPER))
        curves = (
            (done.references[REPORTED], '0.75', '-', 4.0, 'MuJoCo, reported'),
            (done.references[PAPER], 'tab:orange', '-', 1.2, _MADE),
            (done.accelerations[GAUSS], 'black', '--', 1.2, 'gauss (dqGP)'),
        )
        for values, colour, style, width, label in curves:
            axes.plot(
                time, values[:, k], color=colour, linestyle=style, linewidth=width, label=label
            )
        unit = 'm/s$^2$' if name in ('base_x', 'base_y') else 'rad/s$^2$'
        axes.set_ylabel(f'[{unit}]')
        axes.set_title(
            f'coordinate {k + 1}, {name}: 1 - CMC {lack(reported)} against what is reported, '
            f'CMC = {made:.4f} with the filter',
            fontsize=9,
        )
        axes.grid(alpha=0.3)
    grid[-1].set_xlabel('time [s]')
    grid[-1].set_xlim(time[0], time[-1])
    figure.suptitle(f'{done.case.title}: accelerations')
    figure.legend(*grid[0].get_legend_handles_labels(), loc='outside lower center', ncols=3)
    return _saved(figure, folder / f'waveforms-{done.case.key}.png')


def write_correlations(folder: Path, done: Sequence[Evaluation]) -> Path:
    """Draw 1 - CMC of every coordinate of all robots."""
    figure, grid = plt.subplots(
        len(done), 1, figsize=(12, 3.2 * len(done)), squeeze=False, layout='constrained'
    )
    for each, axes in zip(done, grid[:, 0], strict=True):
        places = np.arange(each.case.robot.nv)
        for k, (reference, colour) in enumerate(_COLOURS.items()):
            lost = np.maximum(1.0 - each.of(GAUSS, reference).correlation, FLOOR)
            axes.bar(
                places + 0.27 * (k - 1),
                lost - 0.1 * FLOOR,
                0.27,
                bottom=0.1 * FLOOR,
                color=colour,
                label=REFERENCES[reference],
            )
        printed = paper.CORRELATIONS[each.case.key]['dqGP']
        axes.axhspan(
            1.0 - printed.maximum,
            1.0 - printed.minimum,
            color='tab:red',
            alpha=0.15,
            label='paper, dqGP: all its coordinates',
        )
        axes.axhline(1.0 - TARGET, color='black', linewidth=1, label=f'target, CMC {TARGET}')
        axes.set_yscale('log')
        axes.set_ylim(0.3 * FLOOR, 1.0)
        axes.set_ylabel('1 - CMC, at least 1e-16')
        axes.set_title(each.case.title, fontsize=10)
        _label_coordinates(axes, each)
    handles, labels = grid[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc='outside lower center', ncols=2, fontsize=9)
    return _saved(figure, folder / 'correlations.png')


def write_operations(folder: Path, counts: Mapping[str, Counts]) -> Path:
    """Draw operations against the number of joints with the formulas of Table 3."""
    figure, grid = plt.subplots(1, 2, figsize=(12, 5), sharey=True, layout='constrained')
    n = np.arange(1, LARGEST + 1)
    parts = (('products', paper.PRODUCTS), ('sums', paper.SUMS))
    for axes, (kind, formulas) in zip(grid, parts, strict=True):
        for name, colour in zip(formulas, ('C0', 'C2', 'C1', 'C3'), strict=True):
            values = [paper.formula(formulas[name], size) for size in n]
            axes.plot(n, values, color=colour, linestyle='--', label=f'paper, {name}')
        for name, colour in ((DQNE, 'C0'), (DQGP, 'C1')):
            measured = counts[name]
            numbers = [getattr(count, kind) for count in measured.counts]
            axes.plot(measured.sizes, numbers, 'o', color=colour, markersize=4)
            line = measured.fit(kind)(n)
            seen = (n <= measured.sizes[-1]) & (line > LEAST)
            axes.plot(n[seen], line[seen], '-', color=colour, label=f'here, {name}')
        axes.set(xscale='log', yscale='log', xlabel='joints n')
        axes.minorticks_off()
        axes.set_xticks(JOINTS, [str(size) for size in JOINTS])
        axes.grid(linewidth=0.3)
    grid[0].set(ylabel='operations', title='multiplications and divisions', ylim=(LEAST, None))
    grid[1].set(title='additions, subtractions and changes of sign')
    grid[0].legend(fontsize=9)
    return _saved(figure, folder / 'operations.png')


def _label_coordinates(axes: Axes, each: Evaluation) -> None:
    names = each.case.robot.velocity_names
    axes.set_xlim(-0.7, len(names) - 0.3)
    if len(names) > 12:
        axes.set_xticks(range(0, len(names), 5), [str(k + 1) for k in range(0, len(names), 5)])
        axes.set_xlabel('coordinate')
    else:
        axes.set_xticks(range(len(names)), [name.removesuffix('_joint') for name in names])
    axes.grid(axis='y', alpha=0.3)


def _saved(figure: plt.Figure, file: Path) -> Path:
    figure.savefig(file, dpi=120)
    plt.close(figure)
    return file
