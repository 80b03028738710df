# SPDX-License-Identifier: Apache-2.0
"""What an identification found, as plain values for YAML and as one page without links."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from io import BytesIO
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from kane_dynamics.identification.base_parameters import IN_SUMS
from kane_dynamics.identification.comparison import Comparison
from kane_dynamics.identification.friction import SMOOTHING
from kane_dynamics.identification.result import Identification
from kane_dynamics.robot.inertial_parameters import PARAMETERS
from kane_dynamics.view.plots import Panel, curves_figure, paper_style

ERRORS = {
    'nominal': 'URDF',
    'friction': 'URDF and friction',
    'least_squares': 'least squares',
    'consistent': 'identified',
}
FRAME = (
    'origin and axes of the link below the moving joint, with all that is welded to it; '
    'J about the origin'
)
FRICTION = (
    'tau = viscous v + coulomb tanh(v/v0) + offset + rotor_inertia a '
    '+ stribeck tanh(v/v0) exp(-|v|/vs) + presliding z, z of Dahl with travel x_c'
)
_SCALES = {'stribeck': 'vs', 'presliding': 'x_c'}
_SHOWN = 4000  # samples in a plot
_DOTS = 110  # an inch
_HEAD = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>%s</title>
<meta http-equiv="Content-Security-Policy"
content="default-src 'none'; img-src data:; style-src 'unsafe-inline'">
<style>body{font:15px sans-serif;max-width:70em;margin:2em auto;padding:0 1em}
table{border-collapse:collapse;margin:1em 0}td,th{border:1px solid #ccc;padding:.2em .6em;
text-align:right}td:first-child,th:first-child{text-align:left}img{max-width:100%%}</style>
</head><body>"""


def findings(result: Identification, comparison: Comparison) -> dict[str, Any]:
    """Return parameters with deviations and status, friction, base parameters and errors."""
    known = _known(result)
    robot = result.equations.dynamics.robot
    return {
        'order': list(PARAMETERS),
        'units': 'kg, kg m, kg m^2',
        'frame': FRAME,
        'bodies': {
            body.name: {
                'joint': body.joint.name,
                'parameters': {
                    kind: known[len(PARAMETERS) * i + k] for k, kind in enumerate(PARAMETERS)
                },
            }
            for i, body in enumerate(robot.bodies)
        },
        'friction_law': FRICTION,
        'friction': _friction(result, known),
        'base_parameters': [
            {'sum': text, 'value': float(value), 'sigma': float(sigma)}
            for text, value, sigma in zip(
                result.base.sums, result.fit.values, _sigmas(result), strict=True
            )
        ],
        'rank': result.base.rank,
        'condition': float(result.base.condition),
        'errors_percent': {
            f'{solution} {"raw" if raw else "filtered"}': dict(
                zip(comparison.names, comparison.errors(solution, raw).tolist(), strict=True)
            )
            for solution in ERRORS
            for raw in (False, True)
        },
    }


def _sigmas(result: Identification) -> Iterable[float]:
    return np.sqrt(np.diag(result.fit.covariance)).tolist()


def _known(result: Identification) -> list[dict[str, Any]]:
    """Return value, value before, deviation and status of each unknown."""
    base, rows = result.base, []
    sigmas = dict(zip(base.leading.tolist(), _sigmas(result), strict=True))
    for k, status in enumerate(base.status):
        sums = [base.sums[i] for i in np.flatnonzero(base.matrix[:, k])]
        if status == IN_SUMS:
            status = f'{status}: {"; ".join(sums)}'
        alone = len(sums) == 1 and status == 'alone'
        rows.append(
            {
                'value': float(result.solutions['consistent'][k]),
                'before': float(result.solutions['nominal'][k]),
                'sigma': float(sigmas[k]) if alone else None,
                'status': status,
            }
        )
    return rows


def _friction(result: Identification, known: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    friction: dict[str, Any] = {}
    unknowns = known[result.equations.inertial :]
    for (joint, term), values in zip(result.equations.columns, unknowns, strict=True):
        row = {key: values[key] for key in ('value', 'sigma', 'status')}
        if term.kind in ('coulomb', 'stribeck'):
            row['v0'] = SMOOTHING
        if term.kind in _SCALES:
            row[_SCALES[term.kind]] = float(term.scale)
        friction.setdefault(joint, {})[term.kind] = row
    return friction


def page(title: str, facts: Mapping[str, Any], comparison: Comparison) -> str:
    """Return the page; facts are those of `findings` and what the command adds."""
    head = ('joint', *comparison.names, 'mean')
    errors = []
    for label, values in facts['errors_percent'].items():
        solution, _, against = label.partition(' ')
        numbers = [*values.values(), float(np.mean(list(values.values())))]
        errors.append((f'{ERRORS[solution]}, {against}', *(f'{x:.1f}' for x in numbers)))
    parameters = [
        _row(f'{name} {kind}', one, 'before', 'value', 'sigma')
        for name, body in facts['bodies'].items()
        for kind, one in body['parameters'].items()
    ]
    friction = [
        _row(f'{name} {kind}', one, 'value', 'sigma')
        for name, terms in facts['friction'].items()
        for kind, one in terms.items()
    ]
    sums = [_row(x['sum'], x, 'value', 'sigma') for x in facts['base_parameters']]
    reason = facts['reason']
    verdict = f'No URDF was written: {reason}' if reason else 'A better URDF was written.'
    parts = [
        _HEAD % escape(title),
        f'<h1>{escape(title)}</h1><p>{escape(verdict)}</p>',
        _list('Warnings', facts['warnings']),
        '<h2>Errors on the validation samples</h2><p>100 rms(measured - predicted) / (max - min '
        'of measured) [%]</p>',
        _table(head, errors),
        f'<p>Condition number {facts["condition"]:.1f}, rank {facts["rank"]}.</p>',
        _image('measured and predicted efforts', _efforts(comparison)),
        _image('residual against speed', _residuals(comparison)),
        f'<h2>Parameters</h2><p>{escape(facts["frame"])}; {escape(facts["units"])}</p>',
        _table(('parameter', 'before', 'value', 'sigma', 'seen'), parameters),
        f'<h2>Friction</h2><p>{escape(facts["friction_law"])}</p>',
        _table(('term', 'value', 'sigma', 'seen'), friction),
        '<h2>Base parameters by least squares</h2>',
        _table(('sum', 'value', 'sigma'), sums),
        _list('Settings', [f'{key}: {value}' for key, value in facts['settings'].items()]),
        _list('Recordings', [f'{x["file"]}: SHA-256 {x["sha256"]}' for x in facts['recordings']]),
        '</body></html>\n',
    ]
    return '\n'.join(parts)


def _row(name: str, values: Mapping[str, Any], *keys: str) -> list[str]:
    numbers = ('' if values[key] is None else f'{values[key]:.5g}' for key in keys)
    return [name, *numbers, *([values['status']] if 'status' in values else [])]


def _list(title: str, lines: Iterable[str]) -> str:
    rows = ''.join(f'<li>{escape(line)}</li>' for line in lines) or '<li>none</li>'
    return f'<h2>{title}</h2><ul>{rows}</ul>'


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    def row(tag: str, cells: Sequence[str]) -> str:
        return f'<tr>{"".join(f"<{tag}>{escape(x)}</{tag}>" for x in cells)}</tr>'

    return f'<table>{row("th", head)}{"".join(row("td", cells) for cells in rows)}</table>'


def _image(title: str, figure: Figure) -> str:
    stream = BytesIO()
    figure.savefig(stream, format='png', dpi=_DOTS)
    data = b64encode(stream.getvalue()).decode('ascii')
    return f'<h2>{title.capitalize()}</h2><img alt="{title}" src="data:image/png;base64,{data}">'


def _efforts(x: Comparison) -> Figure:
    every = slice(None, None, 1 + len(x.time) // _SHOWN)
    panels = [
        Panel(
            'effort [N m or N]',
            {
                'measured': x.measured[every, k],
                'URDF': x.predicted['nominal'][every, k],
                'identified': x.predicted['consistent'][every, k],
            },
            title=name,
        )
        for k, name in enumerate(x.names)
    ]
    return curves_figure('Validation', x.time[every], panels, columns=2)


def _residuals(x: Comparison) -> Figure:
    every = slice(None, None, 1 + len(x.time) // _SHOWN)
    columns = min(3, len(x.names))
    rows = -(-len(x.names) // columns)
    residuals = x.measured - x.predicted['consistent']
    with paper_style():
        figure = Figure((3.0 * columns, 0.4 + 2.0 * rows), layout='constrained')
        grid = list(figure.subplots(rows, columns, squeeze=False).flat)
        while len(grid) > len(x.names):
            grid.pop().remove()
        for k, axes in enumerate(grid):
            axes.plot(x.v[every, k], residuals[every, k], '.', markersize=1.5)
            axes.set(title=x.names[k], xlabel='speed [rad/s or m/s]')
            axes.set_ylabel('residual [N m or N]')
    return figure
