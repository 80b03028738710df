# SPDX-License-Identifier: Apache-2.0
"""Sweeps on workers of this machine: the same numbers, whatever happens to the workers."""

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from threading import Thread

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from support import sweep_functions as functions

pytest.importorskip('distributed', reason='the extra "sweep" is not installed')
import psutil

import kane_dynamics as kd
from kane_dynamics.exceptions import SweepError
from kane_dynamics.sweep import Sweep, grid, run, status
from kane_dynamics.sweep.execution import Work
from kane_dynamics.sweep.store import Store

ROOT = Path(__file__).resolve().parents[2]


def quiet(done, total, failed):
    pass


def workers_of(process):
    """Return the processes that a process has started, without the one that all of Python has."""
    found = []
    for one in process.children(recursive=True):
        with suppress(psutil.NoSuchProcess):  # it has ended since
            if not any('resource_tracker' in word for word in one.cmdline()):
                found.append(one)
    return found


@pytest.fixture
def leaves_nothing():
    before = {one.pid for one in workers_of(psutil.Process())}
    yield
    assert {one.pid for one in workers_of(psutil.Process())} <= before


def test_killed_workers_lose_nothing_but_a_chunk_that_kills_them_again_and_again(
    tmp_path, leaves_nothing
):
    case = {'scale': 1.0, 'begun': str(tmp_path / 'begun')}
    sweep = Sweep(functions.killing, [case], 80, chunk=10)
    found = run(sweep, tmp_path / 'killed', workers=2, deaths=2, progress=quiet)
    (failure,) = found.failures
    assert failure.job.items == range(20, 30)
    assert failure.error.startswith('2 workers died')
    assert (len(found.done), found.missing) == (7, 0)
    assert all((tmp_path / f'begun{start}').exists() for start in (20, 40))
    assert not list((tmp_path / 'killed').glob('.*'))  # of begun and half-written ones
    undisturbed = tmp_path / 'undisturbed'
    alone = Work(sweep.function, None, sweep.stamp, Store.at(undisturbed), 1)
    for chunk in found.done:
        assert alone.run(chunk)
        path = tmp_path / 'killed' / f'{chunk.key}.npz'
        assert path.read_bytes() == (undisturbed / path.name).read_bytes()  # bit for bit


@pytest.mark.thorough
def test_a_worker_that_dies_as_it_starts_and_starts_slowly_is_replaced(tmp_path, leaves_nothing):
    import dask

    known, killed = set(), []

    def kill_two():
        """Kill the worker, then the next one while it starts."""
        while len(killed) < 2:
            for one in workers_of(psutil.Process()):
                if one.pid not in known:
                    known.add(one.pid)
                    one.kill()
                    killed.append(one.pid)
            time.sleep(0.02)

    killer = Thread(target=kill_two)

    def watch(done, total, failed):
        if done == 10:
            killer.start()

    # on a busy machine a start takes longer than Dask waits, 15 s: here it always does
    with dask.config.set({'distributed.deploy.lost-worker-timeout': '0.1s'}):
        found = run(
            Sweep(functions.slow, [{'scale': 1.0}], 40, chunk=10), tmp_path, progress=watch
        )
    killer.join()
    assert len(killed) == 2
    assert (len(found.done), found.missing) == (4, 0)


def test_a_cluster_is_found_by_its_address(tmp_path, monkeypatch, leaves_nothing):
    import distributed

    robot = kd.serial_chain(1, seed=os.getpid())
    sweep = Sweep(functions.cores, grid(robot=[robot]), 40, chunk=5)
    options = {'n_workers': 2, 'threads_per_worker': 1, 'dashboard_address': None}
    with distributed.LocalCluster(**options) as workers:
        address = workers.scheduler_address
        found = run(sweep, tmp_path, scheduler=address, progress=quiet).arrays()
        known = {one.process.pid for one in workers.workers.values()}
        assert set(found['process']) <= known
    assert_array_equal(found['cores'], np.ones(40))  # a worker is one core
    assert found['compiled'].sum() == 5  # those of one chunk
    monkeypatch.setattr('kane_dynamics.sweep.execution._PATIENCE', 0.5)
    with pytest.raises(SweepError, match='no scheduler answers'):
        run(Sweep(functions.walks), tmp_path, scheduler=address, progress=quiet)


PROGRAM = """
import sys
from support import sweep_functions
from kane_dynamics.sweep import Sweep, run
if __name__ == '__main__':
    run(Sweep(sweep_functions.slow, [{'scale': 1.0}], 1000, chunk=10), sys.argv[1], workers=2)
"""


def test_interrupted_it_leaves_what_is_done_and_no_process(tmp_path):
    script, folder = tmp_path / 'program.py', tmp_path / 'results'
    script.write_text(PROGRAM)
    program = subprocess.Popen(
        [sys.executable, script, folder],
        env={**os.environ, 'PYTHONPATH': os.pathsep.join([str(ROOT), str(ROOT / 'test')])},
        stderr=subprocess.PIPE,
        start_new_session=True,
        # where the tests run in the background, SIGINT may be ignored, which processes inherit
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        text=True,
    )
    patience = time.monotonic() + 300.0
    while len(list(folder.glob('*.npz'))) < 4 and time.monotonic() < patience:
        time.sleep(0.05)
    started = workers_of(psutil.Process(program.pid))
    os.killpg(program.pid, signal.SIGINT)  # as a terminal does, which reaches the workers too
    _, told = program.communicate(timeout=60)
    assert 'KeyboardInterrupt' in told
    assert len(started) == 2
    _, alive = psutil.wait_procs(started, timeout=10.0)
    assert alive == []
    sweep = Sweep(functions.slow, [{'scale': 1.0}], 1000, chunk=10)
    found = status(sweep, folder)
    assert len(found.done) >= 4
    assert found.missing == 100 - len(found.done)
    done = found.arrays()
    alone = run(
        Sweep(functions.walks, [{'scale': 1.0}], 1000), tmp_path, workers=0, progress=quiet
    )
    assert_array_equal(done['steps'], alone.arrays()['steps'][done['item']])
