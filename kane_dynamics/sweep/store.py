# SPDX-License-Identifier: Apache-2.0
"""
Results, failures and deaths of a sweep: one folder, one file for each chunk.

Results are npz: what comes are arrays of states, several for each item, which Parquet would keep
as lists in columns, by a package of 55 MB; numpy reads and writes npz alone. Files are written
under another name, brought to the disk and moved into place: one that is there is whole.
"""

from __future__ import annotations

import json
import os
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any

import numpy as np

from kane_dynamics.compiler.cache import FIRST, cache_folder
from kane_dynamics.exceptions import InvalidInputError, SweepError
from kane_dynamics.robot.checks import as_one, as_path
from kane_dynamics.sweep.definition import Chunk, Job, Sweep
from kane_dynamics.typing import NDArray
from kane_dynamics.whole_file import WRITING, whole_file

_BEGUN = '.begun-'
_INPUTS = '_inputs'  # entry of a result that tells people what it is of

Arrays = dict[str, NDArray]


@dataclass(frozen=True)
class Store:
    """The folder of a sweep, which all workers see under this name."""

    folder: Path

    @classmethod
    def at(cls, folder: Any) -> Store:
        """Return the store in a folder, which is made where it is missing."""
        path = Path(as_path('folder', folder)).expanduser().absolute()
        try:
            path.mkdir(parents=True, exist_ok=True)
            with TemporaryFile(dir=path):
                return cls(path)
        except OSError as error:
            problem = f"no files can be written to '{path}': {error.strerror}"
            raise InvalidInputError(f'folder: need one to write to, but {problem}') from error

    def result(self, key: str) -> Path:
        """Return where the result of a chunk is."""
        return self.folder / f'{key}.npz'

    def failure(self, key: str) -> Path:
        """Return where the failure of a chunk is told."""
        return self.folder / f'{key}.failed.json'

    def tidy(self) -> None:
        """Remove what workers that died have left behind."""
        for pattern in (_BEGUN, WRITING):
            for path in self.folder.glob(f'{pattern}*'):
                path.unlink(missing_ok=True)

    def begin(self, key: str) -> int:
        """Note that a worker begins a chunk; return how often one did before and did not end."""
        with open(self.folder / f'{_BEGUN}{key}', 'ab') as file:
            file.write(b'.')
            return file.tell() - 1

    def save(self, key: str, arrays: Mapping[str, Any], inputs: Mapping[str, Any]) -> None:
        """Keep the result of a chunk."""
        entries: dict[str, Any] = {**arrays, _INPUTS: np.array(json.dumps(inputs))}
        self._write(key, self.result(key), lambda file: np.savez(file, **entries))

    def save_failure(self, key: str, report: Mapping[str, Any]) -> None:
        """Keep why a chunk has no result."""
        text = json.dumps(report, indent=2) + '\n'
        self._write(key, self.failure(key), lambda file: file.write(text.encode()))

    def load(self, key: str) -> Arrays:
        """Return the arrays of a chunk."""
        path = self.result(key)
        try:
            with np.load(path, allow_pickle=False) as file:
                return {name: file[name] for name in file.files if name != _INPUTS}
        except (OSError, ValueError, EOFError, zipfile.BadZipFile) as error:
            problem = f'cannot be read ({error}); remove it and run the sweep again'
            raise InvalidInputError(f"the result '{path}' {problem}") from error

    def _write(self, key: str, path: Path, write: Callable[[IO[bytes]], Any]) -> None:
        """Write a whole file or none, and note that its chunk has ended."""
        with whole_file(path) as file:
            write(file)
        (self.folder / f'{_BEGUN}{key}').unlink(missing_ok=True)


@contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """Refuse a second run in a folder, which would take the files of the first away."""
    with ExitStack() as stack:
        try:
            from fcntl import LOCK_EX, LOCK_NB, flock

            lock = os.open(folder, os.O_RDONLY)
            stack.callback(os.close, lock)
            flock(lock, LOCK_EX | LOCK_NB)
        except BlockingIOError:
            raise SweepError(f"another run works in '{folder}'") from None
        except (ImportError, OSError):  # Windows, or a file system without locks
            pass
        yield


@contextmanager
def first_alone(key: str) -> Iterator[None]:
    """Let the first process of this machine compile alone; others wait, and find it on disk."""
    try:
        from fcntl import LOCK_EX, LOCK_UN, flock

        cache_folder().mkdir(mode=0o700, parents=True, exist_ok=True)
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW
        lock = open(os.open(cache_folder() / f'{key}{FIRST}', flags, 0o600), 'r+b')
    except (ImportError, OSError):  # Windows, or no cache: each process compiles for itself
        yield
        return
    with lock:
        flock(lock, LOCK_EX)
        if lock.read(1):
            flock(lock, LOCK_UN)
        try:
            yield
        finally:
            lock.write(b'.')


@dataclass(frozen=True, eq=False)
class Failure:
    """
    A chunk without a result.

    Parameters
    ----------
    chunk : Chunk
        Which one; ``function(failure.job)`` fails again where it can be seen,
        ``function(failure.job.only(item))`` on one item.
    error : str
        What it raised.
    traceback : str
        Where; empty if its workers died.
    path : Path
        File that tells this.

    """

    chunk: Chunk
    error: str
    traceback: str
    path: Path

    @classmethod
    def read(cls, chunk: Chunk, path: Path) -> Failure:
        """Return the failure that a file tells."""
        report = json.loads(path.read_text())
        return cls(chunk, report['error'], report['traceback'], path)

    @property
    def job(self) -> Job:
        """Return what the function was called with."""
        return self.chunk.job


@dataclass(frozen=True, eq=False)
class SweepResult:
    """
    State of a sweep in its folder.

    Parameters
    ----------
    sweep : Sweep
        Its definition.
    store : Store
        Its folder.
    done : tuple of Chunk
        Chunks with a result, in the order of the definition.
    failures : tuple of Failure
        Chunks without a result, in that order.
    missing : int
        Chunks that nobody has computed.

    """

    sweep: Sweep
    store: Store
    done: tuple[Chunk, ...]
    failures: tuple[Failure, ...]
    missing: int

    def chunks(self) -> Iterator[tuple[Chunk, Arrays]]:
        """
        Yield the results of one chunk after the other, where all do not fit into memory.

        The order is that of the definition, whoever was first; sums of floats over chunks still
        depend on how large chunks are, unless they are exact (`math.fsum`).
        """
        for chunk in self.done:
            yield chunk, self.store.load(chunk.key)

    def arrays(self) -> dict[str, Any]:
        """
        Return all results, one row for each item, with its `case` and its `item` number.

        Rows are those of `done`: case after case, item after item. They do not depend on how large
        chunks are, so what is computed from them does not either.

        Raises
        ------
        SweepError
            If nothing is done, or chunks have arrays of different names or shapes.

        """
        parts: dict[str, list[Any]] = {}
        for chunk, arrays in self.chunks():
            items = np.array(chunk.job.items)
            arrays |= {'case': np.full(len(items), chunk.case), 'item': items}
            for name, rows in arrays.items():
                parts.setdefault(name, []).append(rows)
        names = {name: len(rows) for name, rows in parts.items()}
        if len(set(names.values())) != 1:
            raise SweepError(f'results of {len(self.done)} chunks do not fit together: {names}')
        try:
            return {name: np.concatenate(rows) for name, rows in parts.items()}
        except ValueError as error:
            raise SweepError(f'results of chunks have different shapes: {error}') from error


def status(sweep: Sweep, folder: Any) -> SweepResult:
    """
    Return what a sweep has found so far; nothing is computed.

    Parameters
    ----------
    sweep : Sweep
        Its definition.
    folder : path
        Where it keeps its results.

    Raises
    ------
    InvalidInputError
        If it is no sweep, or no files can be written to the folder.

    """
    store, chunks = Store.at(folder), [*as_one(Sweep, 'sweep', sweep, 'a Sweep').chunks()]
    files = set(os.listdir(store.folder))
    done = tuple(chunk for chunk in chunks if store.result(chunk.key).name in files)
    failed = [chunk for chunk in chunks if store.failure(chunk.key).name in files]
    failures = tuple(Failure.read(chunk, store.failure(chunk.key)) for chunk in failed)
    return SweepResult(sweep, store, done, failures, len(chunks) - len(done) - len(failures))
