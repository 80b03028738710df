# SPDX-License-Identifier: Apache-2.0
"""
Parameter sweeps and Monte Carlo on many cores or machines, resumable (Dask, extra `sweep`).

A sweep is a function x cases (robots, parameters) x random items. Its parts are named by their
content, so that what is done is never done again, and numbers do not depend on who computed them.
"""

from kane_dynamics.sweep.definition import Sweep
from kane_dynamics.sweep.job import Job
from kane_dynamics.sweep.parameters import grid
from kane_dynamics.sweep.result import Failure, SweepResult, status
from kane_dynamics.sweep.run import run

__all__ = ['Failure', 'Job', 'Sweep', 'SweepResult', 'grid', 'run', 'status']
