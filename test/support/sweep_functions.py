# SPDX-License-Identifier: Apache-2.0
"""Functions of sweeps, which workers import by name."""

import os
import signal
import time
from pathlib import Path

import numpy as np

import kane_dynamics as kd
from kane_dynamics.compiler.batches import available_cores


def walks(job):
    """Return where random walks end, and their steps."""
    steps = np.array([rng.normal(size=4) for rng in job.generators()])
    return {'end': job.parameters['scale'] * steps.sum(axis=1), 'steps': steps}


def counted(job):
    """As `walks`; note each call in a file."""
    with open(job.parameters['calls'], 'a') as file:
        file.write(f'{job.items.start}\n')
    return walks(job)


def failing(job):
    """As `walks`; raise where item 7 is among the items, until a file is there."""
    if 7 in job.items and not Path(job.parameters['mended']).exists():
        raise RuntimeError('seven')
    return walks(job)


def killing(job):
    """As `walks`; kill the worker at item 20 always, and once at item 40."""
    start = job.items.start
    begun = Path(f'{job.parameters["begun"]}{start}')
    if start == 20 or (start == 40 and not begun.exists()):
        begun.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return walks(job)


def slow(job):
    """As `walks`, in its time."""
    time.sleep(0.2)
    return walks(job)


def cores(job):
    """Return how many cores a batch would run on, the process, and whether it compiled."""
    compiled = kd.compile(job.parameters['robot']).source == 'compiled'
    found = {'cores': available_cores(), 'process': os.getpid(), 'compiled': compiled}
    return {name: np.full(len(job), value) for name, value in found.items()}


def answers(job):
    """Return what the parameters say."""
    return job.parameters['answer']
