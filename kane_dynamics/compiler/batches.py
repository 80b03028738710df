# SPDX-License-Identifier: Apache-2.0
"""
Batches on all cores, safe against whatever is raised while they run.

An exception may reach the calling thread between any two of its instructions: Ctrl-C, a signal
handler that raises, a test's timeout. So the arrays belong to a job that every thread at work on
it holds, and the caller leaves only when none is left. `concurrent.futures` is not used: an
exception inside `submit` can leave one of its locks locked for good. The queues here are C code,
and so is what waits.
"""

import ctypes
import os
from _thread import start_new_thread
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from itertools import repeat
from queue import SimpleQueue

from kane_dynamics.typing import Floats, NDArray

_STATES_PER_THREAD = 512  # below it a second thread costs more than it saves
_MOST_STATES_AT_ONCE = 4096  # an exception waits until the states at work are done
_LANES = 16  # most states in a vector: parts begin at multiples, for the same bits on any machine
_NAP = 50  # [us]

_most_cores: ContextVar[int] = ContextVar('most_cores')

# Sleep without signal handlers, which `time.sleep` and `threading.Lock` run: wait for a lock of
# the interpreter that nobody gives back.
_new_lock = ctypes.PYFUNCTYPE(ctypes.c_void_p)(('PyThread_allocate_lock', ctypes.pythonapi))
_acquire = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_longlong, ctypes.c_int)(
    ('PyThread_acquire_lock_timed', ctypes.pythonapi)
)
_taken = _new_lock()
_acquire(_taken, 0, 0)


def run_batch(function: Callable[..., None], arrays: Sequence[Floats], rcond: Floats) -> None:
    """Run a batch function over all states, on all cores this process may use."""
    threads = min(available_cores(), max(1, len(rcond) // _STATES_PER_THREAD))
    # several parts for each thread: cores do not always run equally fast
    parts = 4 * threads if threads > 1 else 1
    size = min(-(-len(rcond) // (parts * _LANES)) * _LANES, _MOST_STATES_AT_ONCE)
    _Job(function, [*arrays, rcond], len(rcond), size).run(threads - 1)


def run_parts(
    function: Callable[..., None], arrays: Sequence[NDArray], count: int, most: int
) -> None:
    """Run a function over `count` things on all cores, up to `most` of them at once."""
    size = max(1, min(most, -(-count // (4 * available_cores()))))
    threads = min(available_cores(), -(-count // size))
    _Job(function, arrays, count, size).run(threads - 1)


def available_cores() -> int:
    """Return how many cores this process may use, and what runs here."""
    cores = os.cpu_count() or 1
    if hasattr(os, 'sched_getaffinity'):
        cores = len(os.sched_getaffinity(0))
    return min(cores, _most_cores.get(cores))


@contextmanager
def limited_cores(most: int) -> Iterator[None]:
    """Use no more than `most` cores in this context: others are of other processes."""
    token = _most_cores.set(most)
    try:
        yield
    finally:
        _most_cores.reset(token)


class _Job:
    """States of one batch, which threads take in parts; it keeps the arrays alive."""

    def __init__(
        self, function: Callable[..., None], arrays: Sequence[NDArray], states: int, size: int
    ) -> None:
        self._function = function
        self._arrays = arrays
        self._pointers = [array.ctypes.data for array in arrays]
        begins = range(0, states, max(size, 1))
        self._left = deque((begin, min(begin + size, states)) for begin in begins)
        self._busy: deque[None] = deque()  # one entry for each helper at work
        self._ended: SimpleQueue[None] = SimpleQueue()
        naps = map(_acquire, repeat(_taken), repeat(_NAP), repeat(0))
        self._until_idle = zip(iter(self._busy.__len__, 0), naps, strict=False)

    def run(self, helpers: int) -> None:
        """Run all states in this thread and some helpers; what is raised stops them all."""
        try:
            if helpers:
                _helpers().ask(self.help, helpers)
            self._work()
            while self._busy:
                self._ended.get()
        finally:
            # Exceptions arrive where a call ends and where a Python function begins: these two
            # calls are of C code, so each is done before the next exception, even in a storm.
            try:
                self._left.clear()
            finally:
                all(self._until_idle)
        self._arrays = ()  # a helper that comes too late finds no part left

    def help(self) -> None:
        """Work in a helper thread, where no exception arrives."""
        self._busy.append(None)  # before a part is taken: the caller leaves when none is left
        try:
            self._work()
        finally:
            self._busy.pop()
            self._ended.put(None)

    def _work(self) -> None:
        while self._left:
            try:
                begin, end = self._left.popleft()
            except IndexError:  # another thread took the last one
                return
            self._function(*self._pointers, begin, end)


class _Helpers:
    """Threads that wait for jobs; they end with the process."""

    def __init__(self) -> None:
        self._asked: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self._threads = 0

    def ask(self, help_: Callable[[], None], count: int) -> None:
        """Let up to `count` threads help; fewer where no more can be started."""
        try:
            while self._threads < count:
                start_new_thread(_serve, (self._asked,))
                self._threads += 1
        except RuntimeError:  # no thread to be had, or the interpreter is ending
            count = self._threads
        for _ in range(count):
            self._asked.put(help_)


def _serve(asked: SimpleQueue[Callable[[], None]]) -> None:
    while True:
        asked.get()()


@cache
def _helpers() -> _Helpers:
    return _Helpers()


if hasattr(os, 'register_at_fork'):  # threads do not live on in the child
    os.register_at_fork(after_in_child=_helpers.cache_clear)
