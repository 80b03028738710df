# SPDX-License-Identifier: Apache-2.0
"""Benchmark results as a picture."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from kane_dynamics.view.plots import CYCLE, paper_style, save_figure
from studies.speed.rows import Row

_MET, _MISSED, _FREE = '#009E73', '#D55E00', '#999999'


def write(
    folder: Path, rows: Sequence[Row], scaling: Sequence[dict[str, Any]], title: str
) -> Path:
    """Draw ratios with their targets, and cost against number of joints; return the file."""
    compared = [row for row in rows if row.ratio is not None]
    with paper_style():
        figure = Figure((11.0, 1.5 + 0.26 * max(len(compared), 12)), layout='constrained')
        panels = figure.subplots(1, 2 if scaling else 1, squeeze=False)[0]
        _ratios(panels[0], compared)
        if scaling:
            _costs(panels[1], scaling)
        figure.suptitle(title)
    return save_figure(figure, folder / 'speed.png')[0]


def _ratios(axes: Axes, rows: Sequence[Row]) -> None:
    colours = {True: _MET, False: _MISSED, None: _FREE}
    for k, row in enumerate(rows):
        axes.barh(k, row.ratio, color=colours[row.passed])
        axes.text(row.ratio, k, f' {row.ratio:.1f}', va='center', fontsize=8)
        if row.least_ratio is not None:
            axes.vlines(row.least_ratio, k - 0.45, k + 0.45, color='black', linewidth=2)
    labels = [f'{row.work}\nagainst {row.peer}' for row in rows]
    axes.set_yticks(range(len(rows)), labels, fontsize=7)
    axes.invert_yaxis()
    axes.set_xscale('log')
    axes.axvline(1.0, color='gray', linewidth=1)
    axes.set_xlabel('times as fast as the other [1]; black: target')


def _costs(axes: Axes, scaling: Sequence[dict[str, Any]]) -> None:
    functions = dict.fromkeys(entry['function'] for entry in scaling)
    for colour, function in zip(CYCLE, functions, strict=False):
        entries = [entry for entry in scaling if entry['function'] == function]
        ours = [entry for entry in entries if entry['ours_us']]
        axes.plot(
            [e['joints'] for e in ours],
            [e['ours_us'] for e in ours],
            'o-',
            color=colour,
            label=f'{function}, ours',
        )
        axes.plot(
            [e['joints'] for e in entries],
            [e['theirs_us'] for e in entries],
            's--',
            color=colour,
            label=entries[0]['peer'],
            fillstyle='none',
        )
    axes.set_xscale('log')
    axes.set_yscale('log')
    axes.minorticks_off()
    joints = sorted({entry['joints'] for entry in scaling})
    axes.set_xticks(joints, [str(count) for count in joints])
    axes.set_xlabel('joints of a serial chain [1]')
    axes.set_ylabel('one call from Python [us]')
    axes.grid(visible=True, which='both', linewidth=0.3)
    axes.legend(loc='upper center', bbox_to_anchor=(0.5, -0.12), ncols=2)
