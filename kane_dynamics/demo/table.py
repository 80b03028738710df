# SPDX-License-Identifier: Apache-2.0
"""The table of the closed loop without and with feed-forward, for the terminal."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from rich.markup import escape
from rich.table import Table

from kane_dynamics.demo.figures import Run, Setup

TARGET = 20.0  # how many times smaller the error with feed-forward is to be


def run_table(setup: Setup, runs: Mapping[str, Run]) -> Table:
    """Return the figures of both runs side by side, with their ratio."""
    names = setup.motion.names
    feedback, both = runs.values()
    table = Table(title=f'closed loop of {setup.name}, same gains in both runs')
    table.add_column('figure')
    for label in runs:
        table.add_column(label, justify='right')
    table.add_column('ratio', justify='right')
    for k, name in enumerate(names):
        a, b = feedback.rms[k], both.rms[k]
        table.add_row(f'RMS error {name}', f'{a:.2e}', f'{b:.2e}', f'{a / b:.0f}')
    a, b = (float(np.sqrt(np.mean(run.rms**2))) for run in (feedback, both))
    table.add_section()
    verdict = f'{a / b:.0f}' + ('' if a / b >= TARGET else f'  (target {TARGET:.0f})')
    table.add_row('RMS error of all motors', f'{a:.2e}', f'{b:.2e}', verdict)
    rows = [
        ('base off its path, largest [m]', lambda r: _known(r.base_error)),
        ('side slip, summed [m]', lambda r: _known(r.side_slip)),
        ('energy error, relative', lambda r: _known(r.energy_error)),
        ('loop rate [Hz]', lambda r: f'{r.rate:.1f}'),
        ('latency p50 / p99 [ms]', _latency),
        ('missed deadlines', lambda r: f'{r.missed} of {r.states}'),
        ('their causes', _causes),
    ]
    for label, text in rows:
        table.add_row(escape(label), text(feedback), text(both))
    if setup.overloaded:
        table.caption = escape(f'too weak for any motion: {", ".join(setup.overloaded)}')
    return table


def _known(x: float) -> str:
    """Return a figure, or a dash where the robot has none."""
    return '-' if np.isnan(x) else f'{x:.1e}'


def _latency(run: Run) -> str:
    p50, p99 = np.percentile(run.latency, [50, 99]) * 1e3
    return f'{p50:.2f} / {p99:.2f}'


def _causes(run: Run) -> str:
    return '\n'.join(f'{count} {cause}' for cause, count in run.causes.most_common()) or '-'
