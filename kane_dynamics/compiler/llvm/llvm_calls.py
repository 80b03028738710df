# SPDX-License-Identifier: Apache-2.0
"""
Calls of LLVM, each in a thread of its own: the only way into llvmlite.

llvmlite guards LLVM by a lock in Python code. An exception that arrives there, such as Ctrl-C,
leaves it locked, and the next call from another thread waits for ever. Signals are handled in the
main thread, so LLVM is kept out of it. One thread at a time is inside LLVM; none while the process
forks, or the child would wait for its locks for ever; and none while it ends, because what ends
LLVM does not wait for its threads.
"""

import atexit
import os
import threading
from _thread import start_new_thread
from collections import deque
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any, Generic, TypeVar

T = TypeVar('T')

_inside = threading.RLock()
_to_drop: deque[Any] = deque()
_ending: list[bool] = []


class LlvmCall(Generic[T]):
    """A call that has been started."""

    def __init__(self, function: Callable[..., T], *arguments: Any) -> None:
        self._function = function
        self._arguments = arguments
        self._outcome: SimpleQueue[tuple[T | None, BaseException | None]] = SimpleQueue()
        self._cancelled = False
        try:
            if _ending:
                raise RuntimeError
            start_new_thread(self._run, ())
        except RuntimeError:  # no thread to be had, or the interpreter is ending
            self._run()

    def result(self) -> T:
        """Wait for the call and return its value, once, or raise what it raised."""
        value, error = self._outcome.get()
        if error is not None:
            raise error
        return value  # type: ignore[return-value]

    def cancel(self) -> None:
        """Leave the call out if LLVM is not at work on it; nothing can stop it there."""
        self._cancelled = True

    def _run(self) -> None:
        with _inside:
            _to_drop.clear()
            try:
                outcome = None if self._cancelled else self._function(*self._arguments), None
            except Exception as error:  # noqa: BLE001 - raised by `result`
                self._outcome.put((None, error))
            else:
                self._outcome.put(outcome)


def in_llvm(function: Callable[..., T], *arguments: Any) -> T:
    """Return the value of a call of LLVM."""
    return LlvmCall(function, *arguments).result()


def drop_later(thing: Any) -> None:
    """Let the next call drop what LLVM must dispose of."""
    _to_drop.append(thing)


@atexit.register
def _keep_others_out() -> None:
    _ending.append(True)
    _inside.acquire()


if hasattr(os, 'register_at_fork'):
    os.register_at_fork(
        before=_inside.acquire, after_in_parent=_inside.release, after_in_child=_inside.release
    )
