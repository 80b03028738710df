# SPDX-License-Identifier: Apache-2.0
"""Curves of a motion over time with its events, and the one style of all plots: for papers."""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from cycler import cycler
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.robot.checks import as_numbers, as_path, as_text
from kane_dynamics.typing import ArrayLike, Floats

STATE_COLOURS = {
    'open': '#999999',
    'holds': '#0072B2',
    'sticks': '#009E73',
    'slips': '#D55E00',
}
CYCLE = ('#0072B2', '#D55E00', '#009E73', '#CC79A7', '#E69F00', '#56B4E9', '#000000')
PATH = '#56B4E9'  # where a robot went
LIMIT = '#555555'  # of efforts and speeds


def linear(colour: str) -> tuple[int, int, int]:
    """Return red, green and blue of '#rrggbb' as light, from 0 to 255 (sRGB undone)."""
    parts = (part / 255.0 for part in bytes.fromhex(colour.removeprefix('#')))
    linear = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
    red, green, blue = (round(255 * c) for c in linear)
    return red, green, blue


DOTS = 200  # an inch, of PNG
COLUMN = 4.4  # [in] of a paper; letters of 9 points are read where it is 300 pixels wide
STROKES = ('-', '--', ':', '-.')  # curves differ in stroke as well as in colour
TALL = 10  # names in a column of a legend, as many as stand beside a panel
PAPER = {
    'axes.axisbelow': True,
    'axes.grid': True,
    # 7 colours and 4 strokes have no common divisor: 28 pairs before the first comes again
    'axes.prop_cycle': cycler(color=len(STROKES) * CYCLE) + cycler(linestyle=len(CYCLE) * STROKES),
    'axes.spines.right': False,
    'axes.spines.top': False,
    'axes.titlesize': 9,
    'figure.titlesize': 10,
    'font.size': 9,
    'grid.alpha': 0.3,
    'grid.linewidth': 0.5,
    'image.interpolation': 'none',
    'legend.fontsize': 8,
    'legend.frameon': False,
    'lines.linewidth': 1.6,
    'lines.markersize': 4,
    'pdf.fonttype': 42,  # letters stay letters
    'svg.hashsalt': 'kane_dynamics',  # the same file each time
    'xtick.labelsize': 8,
    'ytick.labelsize': 8,
}


@contextmanager
def paper_style() -> Iterator[None]:
    """Draw in the style of all plots here; on leaving, Matplotlib's settings are as before."""
    with matplotlib.rc_context(PAPER):
        yield


def legend_beside(axes: Axes) -> None:
    """Write the legend to the right of a panel, off the data."""
    columns = -(-len(axes.get_legend_handles_labels()[1]) // TALL)
    axes.legend(loc='upper left', bbox_to_anchor=(1.01, 1.0), ncols=columns)


def save_figure(
    figure: Figure, path: str | os.PathLike[str], also: Sequence[str] = ('.pdf',)
) -> list[Path]:
    """Write a figure, a PNG with 200 dots an inch, and the same beside it in other formats."""
    file = Path(as_path('path', path))
    files = list(dict.fromkeys([file, *(file.with_suffix(ending) for ending in also)]))
    for each in files:
        kept = {'.pdf': 'CreationDate', '.svg': 'Date'}.get(each.suffix)
        try:
            figure.savefig(each, dpi=DOTS, metadata={kept: None} if kept else None)
        except (OSError, ValueError) as error:  # no such folder, no such format
            raise InvalidInputError(f"'{each}' cannot be written: {error}") from error
    return files


__all__ = ['Panel', 'write_curves']

NEAR, CROWDED = 0.3, 0.03  # of the time shown: names of events on other lines, left out


@dataclass(frozen=True, eq=False)
class Panel:
    """
    Curves of one quantity.

    Parameters
    ----------
    label : str
        What it is, with its unit in brackets: ``'slip [m/s]'``.
    curves : mapping of str to array_like, shape (n,)
        By name, over the times of the plot.
    log : bool
        Whether the axis of the quantity is logarithmic.
    title : str
        Above the panel.

    Raises
    ------
    InvalidInputError
        If the label has no unit.

    """

    label: str
    curves: Mapping[str, ArrayLike]
    log: bool = False
    title: str = ''

    def __post_init__(self) -> None:
        if not ('[' in as_text('label', self.label) and self.label.endswith(']')):
            raise InvalidInputError(f"label: need a unit in brackets at its end: '{self.label}'")


def write_curves(
    path: str | os.PathLike[str],
    title: str,
    time: ArrayLike,
    panels: Sequence[Panel],
    events: Sequence[tuple[float, str]] = (),
    columns: int = 1,
) -> Path:
    """
    Write panels one below the other, events as dotted lines with their names on top; also as PDF.

    Parameters
    ----------
    path : str or path
        File; its ending chooses the format.
    title : str
        Of the plot.
    time : array_like, shape (n,)
        [s].
    panels : sequence of Panel
        From above to below.
    events : sequence of (float, str)
        Times [s] and names.
    columns : int
        Of panels; several share one legend.

    Raises
    ------
    InvalidInputError
        If there is no panel, a curve has another length than the times, or the file cannot be
        written.

    """
    return save_figure(curves_figure(title, time, panels, events, columns), path)[0]


def curves_figure(
    title: str,
    time: ArrayLike,
    panels: Sequence[Panel],
    events: Sequence[tuple[float, str]] = (),
    columns: int = 1,
) -> Figure:
    """Return the figure; parameters and errors as for `write_curves`."""
    t = as_numbers('time [s]', time)
    if not panels:
        raise InvalidInputError('panels: need at least one')
    columns = min(columns, len(panels))
    rows = -(-len(panels) // columns)
    with paper_style():
        figure = Figure((max(COLUMN, 2.6 * columns), 0.8 + 1.4 * rows), layout='constrained')
        grid = list(figure.subplots(rows, columns, sharex=True, squeeze=False).flat)
        while len(grid) > len(panels):
            grid.pop().remove()
        for axes, panel in zip(grid, panels, strict=True):
            _draw_panel(axes, panel, t)
            for when, _ in events:
                axes.axvline(when, color='0.3', linestyle=':', linewidth=1.0)
        for axes in grid[-columns:]:
            axes.set_xlabel('time [s]')
            axes.tick_params(labelbottom=True)
        _name_curves(figure, grid, columns)
        _name_events(grid[0], events, float(np.ptp(t)))
        figure.suptitle(title)
    return figure


def _name_curves(figure: Figure, panels: Sequence[Axes], columns: int) -> None:
    """Write the names of curves beside each panel; below all where these stand in columns."""
    if columns == 1:
        for axes in panels:
            legend_beside(axes)
        return
    named: dict[str, Any] = {}
    for axes in panels:
        handles, labels = axes.get_legend_handles_labels()
        named |= dict(zip(labels, handles, strict=True))
    figure.legend(named.values(), named, loc='outside lower center', ncols=len(named))


def _draw_panel(axes: Axes, panel: Panel, t: Floats) -> None:
    for name, values in panel.curves.items():
        y = as_numbers(name, values)
        if y.shape != t.shape:
            raise InvalidInputError(f"'{name}': need shape {t.shape}, got {y.shape}")
        axes.plot(t, y, label=name)
    axes.set(ylabel=panel.label, title=panel.title, yscale='log' if panel.log else 'linear')
    if not panel.log:
        axes.locator_params(nbins=4)


def _name_events(axes: Axes, events: Sequence[tuple[float, str]], span: float) -> None:
    """Write names of events above a panel, on three lines; the first of those that crowd."""
    last, line = -np.inf, 0
    for when, text in events:
        if when - last < CROWDED * span:
            continue
        line = (line + 1) % 3 if when - last < NEAR * span else 0
        last = when
        axes.annotate(
            text,
            (when, 1.0),
            (0.0, 3.0 + 11.0 * line),
            xycoords=('data', 'axes fraction'),
            textcoords='offset points',
        )
