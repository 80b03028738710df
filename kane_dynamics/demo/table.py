# SPDX-License-Identifier: Apache-2.0
"""The table of the closed loop, one column for each law, and what it comes to in a sentence."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from rich.markup import escape
from rich.table import Table

from kane_dynamics.demo.figures import Run, Setup

LATE_PART = 0.01
"""Part of the deadlines; where more are missed, the machine was too busy for these figures."""


def run_table(setup: Setup, runs: Mapping[str, Run]) -> Table:
    """Return the figures of all runs side by side, with their errors as parts of the first's."""
    table = Table(title=f'closed loop of {setup.name}, same gains in all runs')
    table.add_column('figure')
    for label in runs:
        table.add_column(label, justify='right')
    for k, name in enumerate(setup.motion.names):
        table.add_row(f'RMS error {name}', *(f'{run.rms[k]:.2e}' for run in runs.values()))
    table.add_section()
    errors = [run.mean_error for run in runs.values()]
    table.add_row('geometric mean of these', *(f'{x:.2e}' for x in errors))
    table.add_row('times smaller than PD', *(f'{errors[0] / x:.3g}' for x in errors))
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
        table.add_row(escape(label), *(text(run) for run in runs.values()))
    notes = []
    if setup.overloaded:
        notes.append(f'too weak for any motion: {", ".join(setup.overloaded)}')
    if setup.commanded:
        notes.append('the base is behind its path by the lag of its drives, base.response_time')
    elif setup.mobile:
        notes.append('nothing feeds the pose of the base back: its errors add up along the path')
    table.caption = escape('; '.join(notes)) or None
    return table


def is_late(runs: Mapping[str, Run]) -> bool:
    """Return whether a run missed more than `LATE_PART` of its deadlines."""
    return any(run.missed > LATE_PART * run.states for run in runs.values())


def verdict(runs: Mapping[str, Run]) -> str:
    """Return how good the last law was beside the others, and whether the loop was on time."""
    *others, last = runs
    compared = ', '.join(
        f'{runs[one].mean_error / runs[last].mean_error:.3g} times smaller than those of {one}'
        for one in others
    )
    missed, states = (sum(getattr(run, x) for run in runs.values()) for x in ('missed', 'states'))
    on_time = f'{missed} of {states} deadlines missed'
    if is_late(runs):
        on_time += (
            f', in a run more than {LATE_PART:.0%}: the machine was too busy for these figures; '
            'repeat them on a quiet one, or with a lower joint_state_rate'
        )
    return f'errors of {last}: {compared}; {on_time}'


def _known(x: float) -> str:
    """Return a figure, or a dash where the robot has none."""
    return '-' if np.isnan(x) else f'{x:.1e}'


def _latency(run: Run) -> str:
    p50, p99 = np.percentile(run.latency, [50, 99]) * 1e3
    return f'{p50:.2f} / {p99:.2f}'


def _causes(run: Run) -> str:
    return '\n'.join(f'{count} {cause}' for cause, count in run.causes.most_common()) or '-'
