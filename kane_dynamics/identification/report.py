# SPDX-License-Identifier: Apache-2.0
"""What an identification gives, as plain values for YAML and as one page without links."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping, Sequence
from html import escape
from io import BytesIO
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from kane_dynamics.identification.base_parameters import ALONE, IN_SUMS
from kane_dynamics.identification.friction import SMOOTHING
from kane_dynamics.identification.result import REFUSE, Identification
from kane_dynamics.identification.samples import Samples
from kane_dynamics.robot.inertial_parameters import PARAMETERS
from kane_dynamics.typing import Floats
from kane_dynamics.view.plots import legend_beside, paper_style

WORSE = 0.5  # points by which a joint gets worse, from which it is told
_KEY = """m [kg], m c [kg m], J [kg m^2] about the origin of the link below the moving joint, in
its axes, with all that is welded to it. Friction: viscous v + coulomb tanh(v/v0) + offset +
rotor_inertia a + stribeck tanh(v/v0) exp(-|v|/vs) + presliding z, z of Dahl with travel x_c."""
_SCALES = {'stribeck': 'vs', 'presliding': 'x_c'}
_SHOWN = 4000  # samples in a plot
_HEAD = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Identification</title>
<meta http-equiv="Content-Security-Policy"
content="default-src 'none'; img-src data:; style-src 'unsafe-inline'">
<style>body{font:15px sans-serif;max-width:70em;margin:2em auto}table{border-collapse:collapse}
td,th{border:1px solid #ccc;padding:.2em .6em;text-align:left}img{max-width:100%}</style></head>"""
Table = Mapping[str, Mapping[str, Any]]


def validation_errors(
    result: Identification, validation: Sequence[Samples]
) -> dict[str, dict[str, float]]:
    """Return errors [%] of each solution on samples that it has not seen, by joint."""
    counts, names = [len(x) for x in validation], result.equations.speeds.names
    errors = {}
    for solution in result.solutions:
        every = [result.errors(x, solution) for x in validation]
        for against in ('filtered', 'raw'):
            mean = np.average([getattr(x, against) for x in every], axis=0, weights=counts)
            errors[f'{solution} {against}'] = dict(zip(names, mean.tolist(), strict=True))
    return errors


def worse_joints(errors: Mapping[str, Mapping[str, float]]) -> list[str]:
    """Return which joints the result predicts worse than the model before with friction."""
    before, after = errors['friction filtered'], errors['consistent filtered']
    return [
        f'{name}: {after[name]:.1f} % where the URDF, with friction, has {before[name]:.1f} %'
        for name in before
        if after[name] > before[name] + WORSE
    ]


def refusal(result: Identification, errors: Mapping[str, Mapping[str, float]]) -> str:
    """Return why others should not use a result, or ''."""
    if not result.publishable:
        return (
            f'the condition number of the motion is {result.base.condition:.0f}, above {REFUSE:g}:'
            ' move more joints, faster, longer'
        )
    before, after = (
        float(np.mean([*errors[f'{x} filtered'].values()])) for x in ('friction', 'consistent')
    )
    if not after < before:
        return (
            f'on the validation samples its mean error is {after:.2f} %, that of the URDF with '
            f'friction fitted to it {before:.2f} %'
        )
    return ''


def findings(result: Identification) -> dict[str, Any]:
    """Return values, deviations and status of parameters, friction and base parameters."""
    base, robot = result.base, result.equations.dynamics.robot
    sigmas = np.sqrt(np.diag(result.fit.covariance)).tolist()
    deviations = dict(zip(base.leading.tolist(), sigmas, strict=True))
    owners = [(body.name, kind) for body in robot.bodies for kind in PARAMETERS]
    bodies: dict[str, dict[str, Any]] = {}
    friction: dict[str, dict[str, Any]] = {}
    terms = [(joint, term.kind) for joint, term in result.equations.columns]
    for k, (owner, kind) in enumerate([*owners, *terms]):
        status, sums = base.status[k], [base.sums[i] for i in np.flatnonzero(base.matrix[:, k])]
        row: dict[str, Any] = {
            'value': float(result.solutions['consistent'][k]),
            'before': float(result.solutions['nominal'][k]),
            'sigma': deviations[k] if status == ALONE else None,
            'status': f'{status}: {"; ".join(sums)}' if status == IN_SUMS else status,
        }
        if kind in ('coulomb', 'stribeck'):
            row['v0'] = SMOOTHING
        if kind in _SCALES:
            row[_SCALES[kind]] = result.equations.columns[k - len(owners)][1].scale
        (bodies if k < len(owners) else friction).setdefault(owner, {})[kind] = row
    rows = zip(base.sums, result.fit.values.tolist(), sigmas, strict=True)
    return {
        'condition': base.condition,
        'rank': base.rank,
        'key': ' '.join(_KEY.split()),
        'order': list(PARAMETERS),
        'bodies': bodies,
        'friction': friction,
        'base_parameters': {name: {'value': x, 'sigma': sigma} for name, x, sigma in rows},
    }


def page(facts: Mapping[str, Any], result: Identification, samples: Samples) -> str:
    """Return the page; facts are those of the YAML file, samples are drawn."""
    unknowns = {
        f'{owner} {kind}': row
        for part in ('bodies', 'friction')
        for owner, rows in facts[part].items()
        for kind, row in rows.items()
    }
    settings = {key: {'value': value} for key, value in facts['settings'].items()}
    warnings = ''.join(f'<li>{escape(text)}</li>' for text in facts['warnings'])
    reason = facts['reason']
    image = BytesIO()
    _curves(result, samples).savefig(image, format='png', dpi=110)
    return '\n'.join(
        [
            f'{_HEAD}<body><h1>Identification of {escape(facts["robot"])}</h1>',
            f'<p>{escape(f"No URDF was written: {reason}" if reason else "A URDF was written.")}',
            f'Condition number {facts["condition"]:.1f}, rank {facts["rank"]}.</p>',
            f'<h2>Warnings</h2><ul>{warnings}</ul>',
            _table('Errors on validation samples [% of the range]', facts['errors_percent']),
            '<h2>Efforts on validation samples, residual against speed</h2><img alt="curves" '
            f'src="data:image/png;base64,{b64encode(image.getvalue()).decode()}">',
            _table('Parameters', unknowns, facts['key']),
            _table('Base parameters by least squares', facts['base_parameters']),
            _table('Settings', settings),
            _table('Recordings', facts['recordings']),
            '</body></html>\n',
        ]
    )


def _table(title: str, rows: Table, text: str = '') -> str:
    """Return a table; what a row lacks is left empty."""
    head = list(dict.fromkeys(key for row in rows.values() for key in row))
    lines = [['', *head]]
    lines += [[name, *(_cell(row.get(key)) for key in head)] for name, row in rows.items()]
    cells = (''.join(f'<td>{escape(cell)}</td>' for cell in line) for line in lines)
    body = ''.join(f'<tr>{row}</tr>' for row in cells)
    return f'<h2>{escape(title)}</h2><p>{escape(text)}</p><table>{body}</table>'


def _cell(x: Any) -> str:
    return '' if x is None else f'{x:.4g}' if isinstance(x, float) else str(x)


def _curves(result: Identification, samples: Samples) -> Figure:
    """Return efforts over time and residuals over speed, a row for each joint."""
    every = samples.part(slice(None, None, 1 + len(samples) // _SHOWN))
    speeds = result.equations.speeds
    measured = result.equations.efforts(every, every.tau)
    predicted: dict[str, Floats] = {
        'URDF': result.efforts(every, 'nominal'),
        'identified': result.efforts(every),
    }
    residuals = measured - predicted['identified']
    with paper_style():
        figure = Figure((10.0, 0.5 + 1.8 * len(speeds.names)), layout='constrained')
        axes = figure.subplots(len(speeds.names), 2, squeeze=False, width_ratios=(3, 1))
        for k, (left, right) in enumerate(axes):
            for name, efforts in {'measured': measured, **predicted}.items():
                left.plot(every.time, efforts[:, k], label=name)
            left.set(title=speeds.names[k], xlabel='time [s]', ylabel='effort [N m or N]')
            legend_beside(left)
            right.plot(every.v[:, speeds.indices[k]], residuals[:, k], '.', markersize=1.5)
            right.set(xlabel='speed [rad/s or m/s]', ylabel='residual')
    return figure
