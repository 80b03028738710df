# SPDX-License-Identifier: Apache-2.0
"""Background work: one thread, one result, polled by who asked for it."""

import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from typing import Generic, TypeVar

T = TypeVar('T')
SWITCH_INTERVAL = 5e-4
"""Longest wait [s] of the others for such a thread; Python's own 5 ms would miss deadlines."""


class BackgroundTask(Generic[T]):
    """A function at work in a thread of its own."""

    def __init__(self, function: Callable[[], T]) -> None:
        sys.setswitchinterval(min(sys.getswitchinterval(), SWITCH_INTERVAL))
        pool = ThreadPoolExecutor(1)
        self._future = pool.submit(function)
        pool.shutdown(wait=False)

    def done(self) -> bool:
        """Return whether the function has returned or raised."""
        return self._future.done()

    def wait(self, seconds: float) -> bool:
        """Wait for an end, but not longer than that [s]; return whether it has come."""
        return not wait([self._future], seconds).not_done

    def result(self, timeout: float | None = None) -> T:
        """Wait for what the function returns; raise what it has raised."""
        return self._future.result(timeout)

    def error(self) -> BaseException | None:
        """Wait for what the function has raised; None if it has returned."""
        return self._future.exception()
