# SPDX-License-Identifier: Apache-2.0
"""Kernels are compiled once a machine: who comes first works alone, others find them on disk."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from kane_dynamics.compiler.cache import cache_folder

_READY = b'ready'
_FLAGS = os.O_RDWR | os.O_CREAT | getattr(os, 'O_NOFOLLOW', 0)


@contextmanager
def first_alone(key: str) -> Iterator[None]:
    """
    Let the first process of this machine that does something do it alone.

    Others wait until it has ended, however it ended: the system frees the lock of what was killed,
    and the next one is first then. Where nothing can be kept on disk nobody waits.

    Parameters
    ----------
    key : str
        Hash of what is done.

    """
    lock = _locked(key)
    if lock is None:
        yield
        return
    ready = os.read(lock, len(_READY)) == _READY
    try:
        if ready:
            os.close(lock)
        yield
    finally:
        if not ready:
            os.write(lock, _READY)
            os.close(lock)


def _locked(key: str) -> int | None:
    """Return the file that says whether somebody was first, locked; None where there is none."""
    try:
        from fcntl import LOCK_EX, flock
    except ImportError:  # Windows: each process compiles for itself
        return None
    try:
        folder = cache_folder()
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        file = os.open(folder / f'{key}.first', _FLAGS, 0o600)
    except OSError:
        return None
    flock(file, LOCK_EX)
    return file
