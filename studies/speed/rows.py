# SPDX-License-Identifier: Apache-2.0
"""Measured values with their targets, as rows of a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from studies.report import Table

TIME, RATE, ERROR, SECONDS = 'us', 'states/s', '', 's'


@dataclass(frozen=True)
class Row:
    """
    One line of the table.

    Parameters
    ----------
    work : str
        What is computed.
    unit : str
        'us' for a call, 'states/s' or 'steps/s' for a rate, 's', '' for a relative error.
    ours : float
        Measured value of this package.
    peer : str
        Function of the other program; '' where there is none.
    theirs : float, optional
        Its value.
    least_ratio : float, optional
        Target: this many times faster than the peer.
    bound : float, optional
        Target of `ours` itself: a lower bound of rates, an upper bound of everything else.
    agreement : float, optional
        Largest difference of the two results relative to the largest entry.
    note : str
        What a reader must know.

    """

    work: str
    unit: str
    ours: float
    peer: str = ''
    theirs: float | None = None
    least_ratio: float | None = None
    bound: float | None = None
    agreement: float | None = None
    note: str = ''

    @property
    def ratio(self) -> float | None:
        """Return how many times faster this package is."""
        if self.theirs is None:
            return None
        return self.ours / self.theirs if self.is_rate else self.theirs / self.ours

    @property
    def is_rate(self) -> bool:
        """Return whether more is better."""
        return self.unit.endswith('/s')

    @property
    def passed(self) -> bool | None:
        """Return whether the target is met; None where there is none."""
        if self.least_ratio is not None and self.ratio is not None:
            return self.ratio >= self.least_ratio
        if self.bound is not None:
            return self.ours >= self.bound if self.is_rate else self.ours <= self.bound
        return None

    @property
    def target(self) -> str:
        """Return the target as text."""
        if self.least_ratio is not None:
            return f'>= {self.least_ratio:g} x'
        if self.bound is not None:
            return f'{">=" if self.is_rate else "<="} {self.bound:g}'
        return ''

    def as_dict(self) -> dict[str, Any]:
        """Return everything, for the file."""
        return {**asdict(self), 'ratio': self.ratio, 'passed': self.passed}


def rows_table(rows: Sequence[Row]) -> Table:
    """Return the table of rows; their notes below it."""
    headings = ('work', 'compared with', 'ours', 'other', 'ratio', 'target', 'met', 'differ')
    table = Table('Speed; us: one call from Python', headings)
    verdicts = {True: 'yes', False: 'NO', None: ''}
    for row in rows:
        table.add(
            row.work,
            row.peer,
            f'{_number(row.ours)} {row.unit}',
            _number(row.theirs),
            '' if row.ratio is None else f'{row.ratio:.2f}',
            row.target,
            verdicts[row.passed],
            '' if row.agreement is None else f'{row.agreement:.0e}',
        )
    table.notes += [f'{row.work}: {row.note}' for row in rows if row.note]
    return table


def scaling_table(scaling: Sequence[dict[str, Any]]) -> Table:
    """Return cost against number of joints."""
    names = ('joints', 'function', 'operations', 'trace s', 'compile s', 'code kB', 'ours us')
    table = Table(
        'Cost against number of joints of a serial chain',
        (*names, 'of', 'other us', 'ratio', 'differ'),
    )
    for entry in scaling:
        ours, theirs = entry['ours_us'], entry['theirs_us']
        table.add(
            str(entry['joints']),
            entry['function'],
            _number(entry['operations']),
            _number(entry['trace_s']),
            _number(entry['compile_s']) if ours else 'too large',
            _number(entry['code_kb']) if ours else '',
            _number(ours),
            entry['peer'].removeprefix('pinocchio.'),
            _number(theirs),
            f'{theirs / ours:.2f}' if ours else '',
            f'{entry["agreement"]:.0e}' if ours else '',
        )
    return table


def _number(value: float | None) -> str:
    if value is None:
        return ''
    if value != 0.0 and not 1e-2 <= abs(value) < 1e7:
        return f'{value:.1e}'
    return f'{value:.3g}' if abs(value) < 100.0 else f'{value:,.0f}'
