# SPDX-License-Identifier: Apache-2.0
"""Processor, cores, load, commit and package versions of the machine that measures."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
from datetime import datetime, timezone
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

PACKAGES = ('kane_dynamics', 'numpy', 'casadi', 'llvmlite', 'pin', 'mujoco')
CONTENDED = 0.6  # load average per core, before the run, above which others share the cores


def processor_name() -> str:
    """Return the model name of the processor."""
    information = Path('/proc/cpuinfo')
    if information.is_file():
        for line in information.read_text().splitlines():
            if line.startswith('model name'):
                return line.partition(':')[2].strip()
    return platform.processor() or platform.machine()


def cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, 'sched_getaffinity'):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def load() -> list[float]:
    """Return the load averages over 1, 5 and 15 minutes."""
    return [round(value, 2) for value in os.getloadavg()] if hasattr(os, 'getloadavg') else []


def commit() -> str:
    """Return the commit of the source tree, with '-dirty' where files differ from it."""
    git, root = shutil.which('git'), Path(__file__).resolve().parents[1]
    if git is None:
        return 'unknown'
    command = [git, '-C', str(root), 'describe', '--always', '--dirty']
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout.strip() or 'unknown'


def versions() -> dict[str, str]:
    """Return the versions of Python and of the packages that take part."""
    found = {'python': platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = 'from the source tree' if package == 'kane_dynamics' else 'missing'
    return found


def describe() -> dict[str, object]:
    """Return processor, cores, operating system, commit, date and load, now."""
    return {
        'processor': processor_name(),
        'cores': cores(),
        'system': f'{platform.system()} {platform.machine()}',
        'commit': commit(),
        'date': datetime.now(timezone.utc).date().isoformat(),
        'load': load(),
    }


def contended(load_before: list[float]) -> bool:
    """Return whether other programs used the cores before the run."""
    return bool(load_before) and load_before[0] > CONTENDED * cores()
