# SPDX-License-Identifier: Apache-2.0
"""Run a sweep: what is not in its folder is computed, here or on workers of Dask."""

import json
import os
import platform
import traceback
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from itertools import islice
from tempfile import NamedTemporaryFile
from typing import Any
from uuid import uuid4

import numpy as np
from rich.console import Console
from rich.progress import MofNCompleteColumn, Progress

from kane_dynamics.compiler.batches import limited_cores
from kane_dynamics.exceptions import InvalidInputError, MissingPackageError, SweepError
from kane_dynamics.robot.checks import as_count, as_function, as_text
from kane_dynamics.robot.robot import Robot
from kane_dynamics.sweep.definition import Chunk, Job, Sweep, code_stamp, digest_of, imported
from kane_dynamics.sweep.store import Arrays, Store, SweepResult, alone_in, first_alone, status

Watcher = Callable[[int, int, int], Any]
Outcomes = Generator[tuple[Chunk, bool], None, None]

RESERVED = ('case', 'item', 'file', 'allow_pickle')  # names of `SweepResult.arrays`, of savez
_KINDS = 'biufcSU'  # of arrays that npz keeps without pickling
_FEWEST = 100  # chunks that Dask knows of at once: workers that join later have some to do
_PATIENCE = 60.0  # [s] until a cluster answers
# Dask counts a death for all chunks that a worker had been given, also for those that it never
# began; `Store.begin` counts it for the one that was at work. So Dask is to be patient.
_SETTINGS = {
    'distributed.scheduler.allowed-failures': 1_000_000,
    'distributed.deploy.lost-worker-timeout': '1 day',  # on a busy machine they start slowly
}


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
    them there. One run at a time works in a folder; a second one is refused.

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
        If the cluster does not answer, goes away, or does not see the folder, or another run
        works there.

    """
    before = status(sweep, folder)
    store, count = before.store, as_count('workers', workers)
    allowed = as_count('deaths', deaths, 1)
    work = Work(sweep.function, sweep.version, sweep.stamp, store, allowed)
    if scheduler is not None:
        as_text('scheduler', scheduler)
    if progress is not None:
        as_function('progress', progress, 'done', 'total', 'failed')
    failed = [] if retry else [failure.chunk for failure in before.failures]
    ended = {chunk.key for chunk in (*before.done, *failed)}
    left = [chunk for chunk in sweep.chunks() if chunk.key not in ended]
    outcomes: Outcomes = ((chunk, work.run(chunk)) for chunk in left)
    if left and (count or scheduler):
        outcomes = _on_workers(work, iter(left), count, scheduler)
    sizes = [sum(len(chunk.job) for chunk in chunks) for chunks in (failed, before.done)]
    with alone_in(store.folder), _watched(progress) as show, closing(outcomes):
        store.tidy()
        for chunk in left:
            store.failure(chunk.key).unlink(missing_ok=True)
        show(sizes[True], len(sweep), sizes[False])
        for chunk, has_result in outcomes:
            sizes[has_result] += len(chunk.job)
            show(sizes[True], len(sweep), sizes[False])
    return status(sweep, folder)


@dataclass(frozen=True)
class Work:
    """What a worker knows besides its chunk: the function and its code, the folder, deaths."""

    function: Any
    version: str | None
    stamp: str
    store: Store
    deaths: int

    def run(self, chunk: Chunk) -> bool:
        """Compute a chunk and keep what comes of it; return whether it has a result."""
        store, job = self.store, chunk.job
        if store.result(chunk.key).exists():  # its worker died before Dask knew
            return True
        if (died := store.begin(chunk.key)) >= self.deaths:
            return self.fail(chunk, f'{died} workers died at it, or it took their memory')
        try:
            if code_stamp(self.function, self.version) != self.stamp:
                other = 'this worker has another kane_dynamics, numpy, casadi or llvmlite'
                raise SweepError(f'{other} or another file with {self.function}')
            robots = [x for x in job.parameters.values() if isinstance(x, Robot)]
            with first_alone(digest_of(self.stamp, robots)), limited_cores(1):
                arrays = _checked(imported(self.function)(job), len(job))
        except Exception as error:  # noqa: BLE001 - whatever a user's function raises is kept
            return self.fail(chunk, repr(error), ''.join(traceback.format_exception(error)))
        store.save(chunk.key, arrays, self.inputs(job))
        return True

    def fail(self, chunk: Chunk, error: str, trace: str = '') -> bool:
        """Keep why a chunk has no result; return False."""
        told = {'error': error, 'traceback': trace, 'machine': platform.node()}
        self.store.save_failure(chunk.key, self.inputs(chunk.job) | told)
        return False

    def inputs(self, job: Job) -> dict[str, Any]:
        """Return what a chunk is computed from, for people; robots by name and hash."""
        parameters = json.dumps(dict(job.parameters), default=_as_json)
        items = [job.items.start, job.items.stop]
        told = {'parameters': parameters, 'seed': job.seed, 'items': items}
        return {'function': self.function, 'stamp': self.stamp, **told}


def _as_json(x: Any) -> Any:
    return x.tolist() if isinstance(x, np.ndarray) else f'{x!r} {digest_of(x)[:16]}'


def _checked(result: Any, items: int) -> Arrays:
    """Return what the function of a sweep returned, as arrays."""
    if not isinstance(result, Mapping) or not result:
        raise InvalidInputError(f'the function must return arrays by name, got {result!r:.200}')
    arrays = {name: np.asarray(value) for name, value in result.items()}
    for name, array in arrays.items():
        if not str(name).isidentifier() or name in RESERVED or name.startswith('_'):
            rule = f'words that do not begin with _, other than {RESERVED}'
            raise InvalidInputError(f'the function must name its arrays by {rule}; got {name!r}')
        if array.dtype.kind not in _KINDS or array.shape[:1] != (items,):
            need = f'one row of numbers for each of the {items} items'
            raise InvalidInputError(
                f'{name}: need {need}, got {array.dtype} of shape {array.shape}'
            )
    return arrays


@contextmanager
def _watched(progress: Watcher | None) -> Iterator[Watcher]:
    """Give what is told how far a sweep is: a bar on the terminal where left out."""
    if progress is not None:
        yield progress
        return
    columns = (*Progress.get_default_columns(), MofNCompleteColumn())
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task('items')

        def show(done: int, total: int, failed: int) -> None:
            text = f'items, {failed} failed' if failed else 'items'
            bar.update(task, completed=done + failed, total=total, description=text)

        yield show


def _on_workers(
    work: Work, chunks: Iterator[Chunk], workers: int, scheduler: str | None
) -> Outcomes:
    """Yield each chunk when it has ended, and whether it has a result."""
    try:
        import distributed
    except ImportError as error:
        raise MissingPackageError(
            'sweeps on workers', 'distributed', "pip install 'kane_dynamics[sweep]'"
        ) from error
    with ExitStack() as stack:
        address = scheduler or _local_cluster(distributed, stack, workers)
        try:
            client = distributed.Client(address, timeout=_PATIENCE, set_as_default=False)
        except (OSError, ValueError) as error:
            raise SweepError(f'no scheduler answers at {scheduler!r}: {error}') from error
        stack.enter_context(client)
        check_folder(client, work.store)
        at_work, waiting = distributed.as_completed(loop=client.loop), {}

        def submit(chunk: Chunk) -> None:
            future = client.submit(work.run, chunk, key=f'chunk-{uuid4().hex}', pure=False)
            waiting[future.key] = chunk
            at_work.add(future)

        for chunk in islice(chunks, max(_FEWEST, 2 * sum(client.nthreads().values()))):
            submit(chunk)
        for future in at_work:
            chunk = waiting.pop(future.key)
            has_result = _outcome(distributed, work, chunk, future)
            if has_result is not None:
                yield chunk, has_result
            for following in [chunk] if has_result is None else islice(chunks, 1):
                submit(following)


def _local_cluster(distributed: Any, stack: ExitStack, workers: int) -> Any:
    """Return workers of this machine, which live as long as the stack and are replaced."""
    import dask
    from tornado.ioloop import PeriodicCallback

    stack.enter_context(dask.config.set(_SETTINGS))
    options = {'n_workers': workers, 'threads_per_worker': 1, 'dashboard_address': None}
    # logs are silent: they report each death at length
    local = distributed.LocalCluster(**options, processes=True, silence_logs='CRITICAL')
    cluster = stack.enter_context(local)
    replacing = PeriodicCallback(lambda: replace_lost(cluster), 1000.0)
    cluster.loop.add_callback(replacing.start)
    stack.callback(cluster.loop.add_callback, replacing.stop)
    return cluster


def replace_lost(cluster: Any) -> None:
    """Start workers anew whose start failed: there Dask closes what restarts them."""
    supervisors = cluster.workers
    lost = [name for name, x in supervisors.items() if x.status.name in ('closed', 'failed')]
    for name in lost:
        del supervisors[name]
    if lost:
        cluster.scale(len(cluster.worker_spec))


def check_folder(client: Any, store: Store) -> None:
    """Check that the workers see the folder of the results."""
    with NamedTemporaryFile(dir=store.folder, prefix='.seen-') as file:
        seen = client.run(os.path.exists, file.name)
    if blind := sorted(address for address, sees in seen.items() if not sees):
        need = 'which must be on a file system that all share'
        raise SweepError(f"workers do not see the folder '{store.folder}', {need}: {blind}")


def _outcome(distributed: Any, work: Work, chunk: Chunk, future: Any) -> bool | None:
    """Return whether a chunk has a result; None if it is to be tried again."""
    has_result, store = work.store.result(chunk.key).exists(), work.store
    if has_result or store.failure(chunk.key).exists():
        return has_result
    if future.status == 'cancelled':
        raise SweepError('the scheduler gave up a chunk; what is done is kept: run again')
    if future.status == 'error':
        error = future.exception()
        if not isinstance(error, distributed.KilledWorker):
            return work.fail(chunk, repr(error))
        store.begin(chunk.key)  # maybe it only waited behind one that kills: counted, tried again
    return None  # its worker died after the work, before it could tell
