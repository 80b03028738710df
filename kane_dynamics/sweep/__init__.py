# SPDX-License-Identifier: Apache-2.0
"""
Parameter sweeps and Monte Carlo on many cores or machines, resumable (Dask, extra `sweep`).

A sweep is a function x cases (robots, parameters) x random items. Its parts are named by their
content, so that what is done is never done again, and numbers do not depend on who computed them.
"""

from kane_dynamics.sweep.definition import Job, Sweep, grid
from kane_dynamics.sweep.execution import run
from kane_dynamics.sweep.store import Failure, SweepResult, status

__all__ = ['Failure', 'Job', 'Sweep', 'SweepResult', 'grid', 'run', 'status']
