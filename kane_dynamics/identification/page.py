# SPDX-License-Identifier: Apache-2.0
"""One page that opens without a network: tables, lists, and measured against modelled efforts."""

import math
from base64 import b64encode
from collections.abc import Iterable, Mapping
from html import escape
from io import BytesIO
from typing import Any

from matplotlib.figure import Figure

from kane_dynamics.analysis.momentum_observer import ObservedSpeeds
from kane_dynamics.identification.samples import Samples
from kane_dynamics.typing import Floats
from kane_dynamics.view.plots import legend_beside, paper_style

_SHOWN = 4000  # samples in a plot
_HEAD = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>
<meta http-equiv="Content-Security-Policy"
content="default-src 'none'; img-src data:; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width">
<style>body{{font:15px sans-serif;max-width:70em;margin:2em auto;padding:0 1em}}
table,figure{{display:block;overflow-x:auto;margin:0;border-collapse:collapse}}
img{{width:100%;min-width:45em}}
td,th{{border:1px solid #ccc;padding:.2em .6em;text-align:left}}</style></head><body>
<h1>{title}</h1>"""
Table = Mapping[str, Mapping[str, Any]]


def html_page(title: str, parts: Iterable[str]) -> str:
    """Return the page."""
    return '\n'.join([_HEAD.format(title=escape(title)), *parts, '</body></html>\n'])


def listing(title: str, texts: Iterable[str]) -> str:
    """Return a list."""
    items = ''.join(f'<li>{escape(text)}</li>' for text in texts)
    return f'<h2>{escape(title)}</h2><ul>{items}</ul>'


def table(title: str, rows: Table, text: str = '') -> str:
    """Return a table; what a row lacks is left empty."""
    head = list(dict.fromkeys(key for row in rows.values() for key in row))
    lines = [['', *head]]
    lines += [[name, *(cell(row.get(key)) for key in head)] for name, row in rows.items()]
    cells = (''.join(f'<td>{escape(cell)}</td>' for cell in line) for line in lines)
    body = ''.join(f'<tr>{row}</tr>' for row in cells)
    return f'<h2>{escape(title)}</h2><p>{escape(text)}</p><table>{body}</table>'


def cell(x: Any) -> str:
    """Return a value of a table in words."""
    if x is None or (isinstance(x, float) and not math.isfinite(x)):
        return ''
    return f'{x:.4g}' if isinstance(x, float) else str(x)


def curves(
    title: str, samples: Samples, speeds: ObservedSpeeds, efforts: Mapping[str, Floats]
) -> str:
    """Return efforts over time and, of the first less the last, residuals over speed."""
    every = slice(None, None, 1 + len(samples) // _SHOWN)
    values = [*efforts.values()]
    missed = values[0] - values[-1]
    with paper_style():
        figure = Figure((10.0, 0.5 + 1.8 * len(speeds.names)), layout='constrained')
        axes = figure.subplots(len(speeds.names), 2, squeeze=False, width_ratios=(3, 1))
        for k, (left, right) in enumerate(axes):
            for name, effort in efforts.items():
                left.plot(samples.time[every], effort[every, k], label=name)
            left.set(title=speeds.names[k], xlabel='time [s]', ylabel='effort [N m or N]')
            legend_beside(left)
            v, residuals = samples.v[every, speeds.indices[k]], missed[every, k]
            right.plot(v, residuals, '.', markersize=1.5)
            right.set(xlabel='speed [rad/s or m/s]', ylabel='residual')
        png = BytesIO()
        figure.savefig(png, format='png', dpi=110)
    data = b64encode(png.getvalue()).decode()
    image = f'<img alt="curves" src="data:image/png;base64,{data}">'
    return f'<h2>{escape(title)}</h2><figure>{image}</figure>'
