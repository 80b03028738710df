# SPDX-License-Identifier: Apache-2.0
"""The one style of all plots, fit for a paper and told apart without colours; saving them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import matplotlib
from cycler import cycler
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.robot.checks import as_path

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
STROKES = ('-', '--', ':', '-.')  # curves differ in stroke as well as in colour
TALL = 10  # names in a column of a legend, as many as stand beside a panel
PAPER = {
    'axes.axisbelow': True,
    'axes.grid': True,
    'axes.labelsize': 8,
    'axes.linewidth': 0.6,
    # 7 colours and 4 strokes have no common divisor: 28 pairs before the first comes again
    'axes.prop_cycle': cycler(color=len(STROKES) * CYCLE) + cycler(linestyle=len(CYCLE) * STROKES),
    'axes.spines.right': False,
    'axes.spines.top': False,
    'axes.titlesize': 8,
    'figure.titlesize': 10,
    'font.size': 8,
    'grid.alpha': 0.3,
    'grid.linewidth': 0.5,
    'image.interpolation': 'none',
    'legend.fontsize': 7,
    'legend.frameon': False,
    'lines.linewidth': 1.3,
    'lines.markersize': 4,
    'pdf.fonttype': 42,  # letters stay letters
    'svg.hashsalt': 'kane_dynamics',  # the same file each time
    'xtick.labelsize': 7,
    'ytick.labelsize': 7,
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
