# SPDX-License-Identifier: Apache-2.0
"""Counts of a node's outputs: late, failed, time of computing; for its diagnostics."""

from __future__ import annotations

from collections.abc import Callable

from kane_dynamics.messages.deadlines import Deadlines
from kane_dynamics.ros.messages.diagnostics import ERROR, OK, WARN, Status


class OutputLog:
    """Counts outputs, those that were late, and computations that failed."""

    def __init__(self) -> None:
        self._deadlines = Deadlines()
        self._done = self._failed = 0
        self._trouble = ''

    def done(self, stamp: int, now: int, busy: float) -> None:
        """Take one output; parameters as for `Deadlines.count`."""
        self._done += 1
        self._deadlines.count(stamp, now, busy)

    def failed(self, error: Exception) -> None:
        """Take a computation that failed."""
        self._failed += 1
        self._trouble = str(error)

    def status(
        self, active: bool, problem: str, otherwise: Callable[[dict[str, object]], Status]
    ) -> Status:
        """Return what was wrong since the last call."""
        report = self._deadlines.report()
        values: dict[str, object] = {
            'state': 'active' if active else 'inactive',
            'outputs': self._done,
            'late outputs': self._deadlines.missed,
            'failed computations': self._failed,
            'computing [ms]': f'{1e3 * report.mean:.3f}, longest {1e3 * report.longest:.3f}',
        }
        trouble, self._trouble = self._trouble, ''
        if trouble:
            return Status(ERROR, trouble, values)
        if not active:
            return Status(WARN, 'inactive', values)
        if problem:
            return Status(ERROR, problem, values)
        status = otherwise(values)
        if status.level == OK and report.problem:
            return Status(WARN, report.problem, values)
        return status
