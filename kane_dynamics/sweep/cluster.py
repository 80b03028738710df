# SPDX-License-Identifier: Apache-2.0
"""Chunks on Dask: processes of this machine, or a cluster at an address (extra `sweep`)."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from contextlib import ExitStack
from itertools import islice
from types import ModuleType
from typing import Any
from uuid import uuid4

from kane_dynamics.exceptions import MissingPackageError, SweepError
from kane_dynamics.sweep.definition import Chunk
from kane_dynamics.sweep.store import Store
from kane_dynamics.sweep.work import Work

_FEWEST = 100  # chunks that Dask knows of at once: workers that join later have some to do
_PER_THREAD = 2
_PATIENCE = 60.0  # [s] until a cluster answers

# Dask counts a death for all chunks that a worker had been given, also for those that it never
# began; `Store.begin` counts it for the one that was at work. So Dask is to be patient.
_SETTINGS = {
    'distributed.scheduler.allowed-failures': 1_000_000,
    'distributed.deploy.lost-worker-timeout': '1 day',  # on a busy machine they start slowly
}
_LOOK = 1000.0  # how often workers that are gone are looked for [ms]


def run_on_workers(
    work: Work, chunks: Iterable[Chunk], workers: int, scheduler: str | None
) -> Generator[tuple[Chunk, bool], None, None]:
    """
    Yield each chunk when it has ended, and whether it has a result.

    Parameters
    ----------
    work : Work
        What is done with each.
    chunks : iterable of Chunk
        Taken as workers become free.
    workers : int
        Processes of this machine, where no scheduler is given.
    scheduler : str or None
        Address of the scheduler of a cluster, e.g. 'tcp://10.0.0.1:8786'.

    Raises
    ------
    MissingPackageError
        Without the extra `sweep`.
    SweepError
        If the cluster does not answer, goes away, or does not see the folder.

    """
    distributed = _distributed()
    with ExitStack() as stack:
        client = stack.enter_context(_client(distributed, stack, workers, scheduler))
        _check_folder(client, work.store)
        run = uuid4().hex
        tries: dict[str, int] = {}
        waiting: dict[str, Chunk] = {}
        window = max(_FEWEST, _PER_THREAD * sum(client.nthreads().values()))
        left, at_work = iter(chunks), distributed.as_completed(loop=client.loop)

        def submit(chunk: Chunk) -> None:
            tries[chunk.key] = tried = tries.get(chunk.key, 0) + 1
            name = f'chunk-{chunk.key}-{tried}-{run}'
            future = client.submit(work.run, chunk, key=name, pure=False)
            waiting[future.key] = chunk
            at_work.add(future)

        for chunk in islice(left, window):
            submit(chunk)
        for future in at_work:
            chunk = waiting.pop(future.key)
            outcome = _outcome(distributed, work, chunk, future, tries[chunk.key])
            if outcome is None:
                submit(chunk)
                continue
            del tries[chunk.key]
            yield chunk, outcome
            for following in islice(left, 1):
                submit(following)


def _distributed() -> ModuleType:
    try:
        import distributed
    except ImportError as error:
        raise MissingPackageError(
            'sweeps on workers', 'distributed', "pip install 'kane_dynamics[sweep]'"
        ) from error
    return distributed  # type: ignore[no-any-return]


def _client(distributed: Any, stack: ExitStack, workers: int, scheduler: str | None) -> Any:
    """Return a client of a cluster; one of this machine ends with the stack."""
    address: Any = scheduler
    if scheduler is None:
        address = _local_cluster(distributed, stack, workers)
    try:
        return distributed.Client(address, timeout=_PATIENCE, set_as_default=False)
    except (OSError, ValueError) as error:
        raise SweepError(f'no scheduler answers at {scheduler!r}: {error}') from error


def _local_cluster(distributed: Any, stack: ExitStack, workers: int) -> Any:
    """Return workers of this machine, which live as long as the stack and are replaced."""
    import dask
    from tornado.ioloop import PeriodicCallback

    stack.enter_context(dask.config.set(_SETTINGS))
    cluster = stack.enter_context(
        distributed.LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            processes=True,
            dashboard_address=None,
            silence_logs='CRITICAL',  # they report each death at length
        )
    )
    looking = PeriodicCallback(lambda: _replace_gone(cluster), _LOOK)
    cluster.loop.add_callback(looking.start)
    stack.callback(cluster.loop.add_callback, looking.stop)
    return cluster


def _replace_gone(cluster: Any) -> None:
    """
    Start workers anew that Dask has given up.

    It restarts a worker that dies, but closes what restarts it where the start itself fails.
    """
    gone = [
        name
        for name, supervisor in cluster.workers.items()
        if supervisor.status.name in ('closed', 'failed')
    ]
    for name in gone:
        del cluster.workers[name]
    if gone:
        cluster.scale(len(cluster.worker_spec))


def _check_folder(client: Any, store: Store) -> None:
    """Check that the workers see the folder of the results."""
    mark = f'.seen-{uuid4().hex}'
    path = store.folder / mark
    path.touch()
    try:
        seen = client.run(path.exists)
    finally:
        path.unlink()
    blind = sorted(address for address, results in seen.items() if not results)
    if blind:
        raise SweepError(
            f"workers do not see the folder '{store.folder}', which must be on a file system that "
            f'all share: {blind}'
        )


def _outcome(distributed: Any, work: Work, chunk: Chunk, future: Any, tried: int) -> bool | None:
    """Return whether a chunk has a result; None if it is to be tried again."""
    status = future.status
    if status in ('finished', 'lost') and work.store.has(chunk.key):
        return True
    if status == 'finished':
        return bool(future.result())
    if status == 'lost':  # its worker died after the work, before it could tell
        return None
    if status != 'error':
        raise SweepError(
            f'the scheduler gave up a chunk ({status}); what is done is kept: run again'
        )
    error = future.exception()
    if isinstance(error, distributed.KilledWorker):
        if tried < work.deaths:  # maybe it only waited behind one that kills
            return None
        report = work.report_of_deaths(chunk, tried)
    else:
        report = work.report(chunk, repr(error), '')
    work.store.save_failure(chunk.key, report)
    return False
