# SPDX-License-Identifier: Apache-2.0
"""
Time and memory to compile everything for TIAGo and long chains, and to load it from the cache.

Each measurement is a process of its own with a cache folder of its own, so that nothing is warm
but what shall be. Run as a module it is that process.
"""

from __future__ import annotations

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import kane_dynamics as kd
from studies import robots
from studies.speed.rows import SECONDS, Row

_ROOT = Path(__file__).resolve().parents[2]
_MEGABYTE = 2**20


# name of a robot in rows, and the longest that everything of it may take to compile [s]
_BOUNDS = {'TIAGo': 8.0, 'chain of 50': 5.0, 'chain of 200': 8.0}


def compile_rows(quick: bool) -> Iterator[Row]:
    """Yield cold and warm times of TIAGo without hand and its constraints, and of chains."""
    for name, bound in _BOUNDS.items():
        with tempfile.TemporaryDirectory(prefix='kane-benchmark-') as folder:
            cold = _in_new_process(folder, name)
            warm = [_in_new_process(folder, name) for _ in range(2 if quick else 7)]
            size = sum(path.stat().st_size for path in Path(folder).rglob('*.kernels'))
        note = (
            f'{cold["processor_s"]:.1f} s of processor time; memory {cold["before_mb"]:.0f} MB '
            f'after imports, {cold["after_mb"]:.0f} MB at most'
        )
        yield Row(f'compile everything, {name}, cold', SECONDS, cold['s'], bound=bound, note=note)
        last = warm[-1]
        note = (
            f'source {last["source"]}; {size / _MEGABYTE:.1f} MB on disk; memory '
            f'{last["before_mb"]:.0f} MB after imports, {last["after_mb"]:.0f} MB at most'
        )
        median = statistics.median(run['s'] for run in warm)
        yield Row(f'compile everything, {name}, warm', SECONDS, median, bound=0.3, note=note)


def _in_new_process(cache: str, name: str) -> dict[str, Any]:
    environment = {**os.environ, 'XDG_CACHE_HOME': cache}
    done = subprocess.run(
        [sys.executable, '-m', 'studies.speed.compile_time', name],
        cwd=_ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result


def _measure(name: str) -> dict[str, Any]:
    """Compile or load here and return what it took."""
    case = robots.tiago() if name == 'TIAGo' else robots.chain(int(name.split()[-1]))
    before, start, processor = _peak_memory(), time.perf_counter(), time.process_time()
    fast = kd.compile(case.robot, case.constraints)
    return {
        's': time.perf_counter() - start,
        'processor_s': time.process_time() - processor,
        'source': fast.source,
        'before_mb': before,
        'after_mb': _peak_memory(),
    }


def _peak_memory() -> float:
    """Return the largest resident memory of this process so far [MB]."""
    status = Path('/proc/self/status')
    if status.is_file():  # a new process inherits getrusage's peak from its parent
        for line in status.read_text().splitlines():
            if line.startswith('VmHWM:'):
                return int(line.split()[1]) / 1024
    unit = 1 if sys.platform == 'darwin' else 1024  # bytes or kilobytes
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / _MEGABYTE


if __name__ == '__main__':
    print(json.dumps(_measure(sys.argv[1])))
