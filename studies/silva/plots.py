# SPDX-License-Identifier: Apache-2.0
"""Pictures: waveforms as in Fig. 3 of the paper, CMC of every coordinate, operations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from kane_dynamics.view.plots import CYCLE, paper_style, save_figure
from studies.silva import paper
from studies.silva.comparison import PAPER, REFERENCES, REPORTED, TARGET, lack
from studies.silva.counting import DQGP, DQNE, LARGEST, Counts
from studies.silva.evaluation import GAUSS, Evaluation

JOINTS = (1, 2, 5, 10, 20, 50)  # ticks
LEAST = 10.0  # operations at the lower end of the axis
FLOOR = 1e-16  # 1 - CMC of identical waveforms is drawn here
_MADE = 'MuJoCo, speeds filtered one way and differentiated'
_BLUE, _VERMILION, _GREEN, _PURPLE, _ORANGE = CYCLE[:5]
_COLOURS = {REPORTED: _BLUE, 'differenced': _GREEN, PAPER: _ORANGE}


@paper_style()
def write_waveforms(folder: Path, done: Evaluation) -> Path:
    """Draw the first, the middle and the last coordinate of a robot."""
    nv = done.case.robot.nv
    figure = Figure((7.0, 6.0), layout='constrained')
    grid = figure.subplots(3, 1, sharex=True)
    time = done.recording.time[done.samples]
    for k, axes in zip((0, nv // 2, nv - 1), grid, strict=True):
        name = done.case.robot.velocity_names[k]
        reported, made = (done.of(GAUSS, ref).correlation[k] for ref in (REPORTED, PAPER))
        curves = (
            (done.references[REPORTED], '0.75', '-', 4.0, 'MuJoCo, reported'),
            (done.references[PAPER], _ORANGE, '-', 1.2, _MADE),
            (done.accelerations[GAUSS], 'black', '--', 1.2, 'gauss (dqGP)'),
        )
        for values, colour, style, width, label in curves:
            axes.plot(
                time, values[:, k], color=colour, linestyle=style, linewidth=width, label=label
            )
        unit = 'm/s$^2$' if name in ('base_x', 'base_y') else 'rad/s$^2$'
        axes.set_ylabel(f'acceleration [{unit}]')
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


@paper_style()
def write_correlations(folder: Path, done: Sequence[Evaluation]) -> Path:
    """Draw 1 - CMC of every coordinate of all robots."""
    figure = Figure((7.5, 0.8 + 2.2 * len(done)), layout='constrained')
    grid = figure.subplots(len(done), 1, squeeze=False)
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
            color=_VERMILION,
            alpha=0.15,
            label='paper, dqGP: all its coordinates',
        )
        axes.axhline(1.0 - TARGET, color='black', linewidth=1, label=f'target, CMC {TARGET}')
        axes.set_yscale('log')
        axes.set_ylim(0.3 * FLOOR, 1.0)
        axes.set_ylabel('1 - CMC [1], at least 1e-16')
        axes.set_title(each.case.title)
        _label_coordinates(axes, each)
    handles, labels = grid[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc='outside lower center', ncols=2)
    return _saved(figure, folder / 'correlations.png')


@paper_style()
def write_operations(folder: Path, counts: Mapping[str, Counts]) -> Path:
    """Draw operations against the number of joints with the formulas of Table 3."""
    figure = Figure((7.5, 3.6), layout='constrained')
    grid = figure.subplots(1, 2, sharey=True)
    n = np.arange(1, LARGEST + 1)
    parts = (('products', paper.PRODUCTS), ('sums', paper.SUMS))
    for axes, (kind, formulas) in zip(grid, parts, strict=True):
        for name, colour in zip(formulas, (_BLUE, _GREEN, _VERMILION, _PURPLE), strict=True):
            values = [paper.formula(formulas[name], size) for size in n]
            axes.plot(n, values, color=colour, linestyle='--', label=f'paper, {name}')
        for name, colour in ((DQNE, _BLUE), (DQGP, _VERMILION)):
            measured = counts[name]
            numbers = [getattr(count, kind) for count in measured.counts]
            axes.plot(measured.sizes, numbers, 'o', color=colour, markersize=4)
            line = measured.fit(kind)(n)
            seen = (n <= measured.sizes[-1]) & (line > LEAST)
            axes.plot(n[seen], line[seen], '-', color=colour, label=f'here, {name}')
        axes.set(xscale='log', yscale='log', xlabel='joints n [1]')
        axes.minorticks_off()
        axes.set_xticks(JOINTS, [str(size) for size in JOINTS])
        axes.grid(linewidth=0.3)
    grid[0].set(ylabel='operations [1]', title='multiplications and divisions', ylim=(LEAST, None))
    grid[1].set(title='additions, subtractions and changes of sign')
    figure.legend(*grid[0].get_legend_handles_labels(), loc='outside lower center', ncols=3)
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


def _saved(figure: Figure, file: Path) -> Path:
    return save_figure(figure, file)[0]
