# SPDX-License-Identifier: Apache-2.0
"""What a sweep has found so far: arrays in a fixed order, failures with their inputs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from kane_dynamics.exceptions import SweepError
from kane_dynamics.robot.checks import as_one
from kane_dynamics.sweep.definition import Chunk, Sweep
from kane_dynamics.sweep.job import Job
from kane_dynamics.sweep.store import Arrays, Store


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
        for chunk, result in self.chunks():
            items = np.array(chunk.job.items)
            indices = {'case': np.full(len(items), chunk.case), 'item': items}
            for name, rows in (indices | result).items():
                parts.setdefault(name, []).append(rows)
        if len({len(rows) for rows in parts.values()}) != 1:
            names = {name: len(rows) for name, rows in parts.items()}
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
    as_one(Sweep, 'sweep', sweep, 'a Sweep')
    store = Store.at(folder)
    done, failed = store.keys()
    chunks = list(sweep.chunks())
    failures = []
    for chunk in chunks:
        if chunk.key in failed:
            told = store.failure(chunk.key)
            path = store.failure_path(chunk.key)
            failures.append(Failure(chunk, told['error'], told['traceback'], path))
    finished = tuple(chunk for chunk in chunks if chunk.key in done)
    missing = len(chunks) - len(finished) - len(failures)
    return SweepResult(sweep, store, finished, tuple(failures), missing)
