# SPDX-License-Identifier: Apache-2.0
"""Run a sweep: what is not in its folder is computed, here or on workers."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import closing
from typing import Any

from kane_dynamics.robot.checks import as_count, as_function, as_one, as_text
from kane_dynamics.sweep.cluster import run_on_workers
from kane_dynamics.sweep.definition import Chunk, Sweep
from kane_dynamics.sweep.function import package_stamp
from kane_dynamics.sweep.progress import Watcher, watched
from kane_dynamics.sweep.result import SweepResult, status
from kane_dynamics.sweep.work import Work


def run(
    sweep: Sweep,
    folder: Any,
    *,
    workers: int = 1,
    scheduler: str | None = None,
    retry: bool = False,
    deaths: int = 3,
    progress: Watcher | None = None,
) -> SweepResult:
    """
    Compute what a sweep lacks and return what it has found.

    Chunks that are in the folder are not computed again; Ctrl-C and whatever else ends a run leave
    them there. One run at a time works in a folder.

    Parameters
    ----------
    sweep : Sweep
        Its definition.
    folder : path
        Where results are and go; workers on other machines must see it under the same name.
    workers : int
        Processes of this machine, each on one core; 0 computes in this process, without Dask.
    scheduler : str, optional
        Address of the scheduler of a Dask cluster, whose workers are used instead.
    retry : bool
        Whether to compute what failed before, too.
    deaths : int
        A chunk at which so many workers died in this run is a failure.
    progress : callable, optional
        progress(done, total, failed) in items, called when a chunk has ended; a bar on the
        terminal where left out.

    Raises
    ------
    InvalidInputError
        If a number is out of range, or no files can be written to the folder.
    MissingPackageError
        Without the extra `sweep`, unless `workers` is 0.
    SweepError
        If the cluster does not answer, goes away, or does not see the folder.

    """
    before = status(as_one(Sweep, 'sweep', sweep, 'a Sweep'), folder)
    count, allowed = as_count('workers', workers), as_count('deaths', deaths, 1)
    if scheduler is not None:
        as_text('scheduler', scheduler)
    if progress is not None:
        as_function('progress', progress, 'done', 'total', 'failed')
    before.store.tidy()
    failed = {failure.chunk.key for failure in before.failures}
    over = {chunk.key for chunk in before.done} | (set() if retry else failed)
    left = [chunk for chunk in sweep.chunks() if chunk.key not in over]
    if not left:
        return before
    work = Work(sweep.named, package_stamp(), before.store, allowed)
    if count == 0 and scheduler is None:
        ended: Generator[tuple[Chunk, bool], None, None] = (
            (chunk, work.run(chunk)) for chunk in left
        )
    else:
        ended = run_on_workers(work, left, count, scheduler)
    sizes = {True: sum(len(chunk.job) for chunk in before.done), False: 0}
    if not retry:
        sizes[False] = sum(len(failure.chunk.job) for failure in before.failures)
    with watched(progress) as show, closing(ended):
        show(sizes[True], len(sweep), sizes[False])
        for chunk, has_result in ended:
            sizes[has_result] += len(chunk.job)
            show(sizes[True], len(sweep), sizes[False])
    return status(sweep, folder)
