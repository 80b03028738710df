# SPDX-License-Identifier: Apache-2.0
"""
Batches under interrupts, threads, forks and garbage collection, on guarded memory.

``python test/stress/interrupted_batches.py --interrupts 100000 --calls 1000000``. A write beyond
an array or to a freed one ends the process with a segmentation fault; wrong numbers and leaks
raise. `make test` runs it with small counts, `make stress` with these.
"""

import argparse
import contextlib
import gc
import os
import random
import signal
import subprocess
import sys
import threading
import time
from functools import partial

import guarded_memory
import numpy as np

import kane_dynamics as kd

STATES = 20_000  # some milliseconds of work; the last part is not a whole number of vectors
JOINTS = 6


class Interrupt(BaseException):
    """What the signal handler raises; as Ctrl-C, no Exception."""


class Alarms:
    """Raises `Interrupt` in the main thread, up to `most` times in a call."""

    def __init__(self, rng):
        self._rng, self._left, self.raised = rng, 0, 0
        signal.signal(signal.SIGALRM, self._on_alarm)

    def _on_alarm(self, number, frame):
        if self._left > 0:
            self._left -= 1
            self.raised += 1
            raise Interrupt

    def during(self, call):
        """Return whether a call ended before the first alarm."""
        try:
            try:
                self._left = self._rng.choice((1, 1, 2, 5, 20))
                delay = self._rng.uniform(5e-5, 3e-3)
                signal.setitimer(signal.ITIMER_REAL, delay, self._rng.choice((1e-5, 1e-4)))
                call()
                self._left = 0
                return True
            finally:
                self._left = 0
                signal.setitimer(signal.ITIMER_REAL, 0.0)
        except Interrupt:
            self._left = 0
            return False


def make_kernel():
    """Return the compiled inverse dynamics of a chain."""
    return kd.compile(kd.serial_chain(JOINTS), cache=False)._kernels['inverse_dynamics']


def require(condition, message):
    if not condition:
        raise RuntimeError(message)


class Work:
    """Batches of one kernel whose results are known."""

    def __init__(self):
        self.call = make_kernel().call
        self.inputs = np.random.default_rng(1).normal(size=(3, STATES + 5, JOINTS))
        self.expected = self.call(*self.inputs)

    def batch(self, out=None):
        """Run the batch on new arrays, guarded on every side, and compare the results."""
        inputs = [x.copy() for x in self.inputs]
        result = self.call(*inputs, out=out)
        require((result == self.expected).all(), 'a batch gave other numbers')


def interrupted(work, alarms, count):
    """Interrupt batches; an array that the caller gave may not be written once the call ended."""
    finished = 0
    while alarms.raised < count:
        out = np.empty((STATES + 5, JOINTS))
        inputs = [x.copy() for x in work.inputs]
        finished += alarms.during(partial(work.call, *inputs, out=out))
        for array in (out, *inputs):
            guarded_memory.forbid(array)
    work.batch()
    return finished


def interrupted_rollouts(alarms, count):
    """Interrupt rollouts; their efforts may not be read, nor states written, once they ended."""
    fast, rng = kd.compile(kd.serial_chain(2), cache=False), np.random.default_rng(2)
    q, v, effort = rng.normal(size=(3, 200, 2))

    def rollouts(*arrays):
        return kd.rollout(fast, *arrays[:2], 0.02, effort=arrays[2], every=5)

    expected, finished = rollouts(q, v, effort).q, 0
    while alarms.raised < count:
        inputs = [x.copy() for x in (q, v, effort)]
        finished += alarms.during(partial(rollouts, *inputs))
        for array in inputs:
            guarded_memory.forbid(array)
    require((rollouts(q, v, effort).q == expected).all(), 'rollouts gave other numbers')
    return finished


def among_threads(work, alarms, count):
    """Interrupt batches of this thread while others run theirs."""
    stop, failed = threading.Event(), []

    def other():
        guarded_memory.guard_new_arrays()
        try:
            while not stop.is_set():
                work.batch()
        except RuntimeError as error:
            failed.append(error)

    others = [threading.Thread(target=other) for _ in range(3)]
    for thread in others:
        thread.start()
    interrupted(work, alarms, count)
    stop.set()
    for thread in others:
        thread.join()
    require(not failed, failed)


def forked(work, count):
    """Fork while other threads run batches; the child runs its own."""
    stop = threading.Event()

    def other():
        while not stop.is_set():
            work.call(*work.inputs)

    others = [threading.Thread(target=other) for _ in range(2)]
    for thread in others:
        thread.start()
    try:
        for _ in range(count):
            child = os.fork()
            if child == 0:
                signal.alarm(60)
                with contextlib.suppress(BaseException):
                    work.batch()
                    os._exit(0)
                os._exit(1)
            require(os.waitpid(child, 0)[1] == 0, 'a batch in a forked process failed')
    finally:
        stop.set()
        for thread in others:
            thread.join()


class Cycle:
    """Garbage with a finalizer that runs a batch itself."""

    def __init__(self, work):
        self.me, self.work = self, work

    def __del__(self):
        self.work.call(*self.work.inputs[:, :2000])


def collecting(work, alarms, count):
    """Interrupt batches while every allocation collects garbage whose finalizers run batches."""
    thresholds = gc.get_threshold()
    gc.set_threshold(2, 1, 1)
    try:
        for _ in range(20):
            Cycle(work)
            interrupted(work, alarms, alarms.raised + max(1, count // 20))
    finally:
        gc.set_threshold(*thresholds)


def resident():
    """Return the memory in use [bytes]."""
    with open('/proc/self/statm') as file:
        return int(file.read().split()[1]) * os.sysconf('SC_PAGE_SIZE')


def leaking(work, count):
    """Return how much memory calls of one state and batches keep [bytes]."""
    one = [x[0].copy() for x in work.inputs]
    small = work.inputs[:, :1500]

    def calls(n):
        for _ in range(n):
            work.call(*one)
        for _ in range(n // 200):
            work.call(*small)
        gc.collect()

    calls(count // 10)
    before = resident()
    calls(count)
    return resident() - before


EXIT = """
import sys, threading, time
sys.path.insert(0, {folder!r})
import interrupted_batches as stress
work = stress.Work()
def forever():
    while True:
        work.call(*work.inputs)
for _ in range(3):
    threading.Thread(target=forever, daemon=True).start()
time.sleep(0.05)
import atexit
atexit.register(work.batch)
"""


def exits(count):
    """End interpreters whose daemon threads run batches, with a batch at exit."""
    code = EXIT.format(folder=os.path.dirname(os.path.abspath(__file__)))
    for _ in range(count):
        done = subprocess.run([sys.executable, '-c', code], check=False, timeout=120)
        require(done.returncode == 0, f'an interpreter ended with {done.returncode}')


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--interrupts', type=int, default=100_000)
    parser.add_argument('--calls', type=int, default=1_000_000)
    parser.add_argument('--seed', type=int, default=0)
    options = parser.parse_args()
    start = time.monotonic()

    def tell(what):
        print(f'{time.monotonic() - start:.1f} s: {what}', flush=True)

    work, alarms = Work(), Alarms(random.Random(options.seed))
    kept = leaking(work, options.calls)
    require(kept < 4e6, f'{options.calls} calls keep {kept} bytes')
    tell(f'{options.calls} calls kept {kept} bytes')
    guarded_memory.guard_new_arrays()
    finished = interrupted(work, alarms, options.interrupts // 2)
    tell(f'{alarms.raised} interrupts; {finished} batches ended before one')
    among_threads(work, alarms, alarms.raised + options.interrupts // 4)
    tell(f'{alarms.raised} interrupts, with other threads')
    collecting(work, alarms, options.interrupts // 4)
    tell(f'{alarms.raised} interrupts, while collecting garbage')
    finished = interrupted_rollouts(alarms, alarms.raised + options.interrupts // 10)
    tell(f'{alarms.raised} interrupts; {finished} rollouts ended before one')
    forked(work, max(10, options.interrupts // 500))
    tell('forks')
    exits(max(1, options.interrupts // 10_000))
    tell('exits')


if __name__ == '__main__':
    main()
