# SPDX-License-Identifier: Apache-2.0
"""What a worker does: one chunk on one core, its result or its failure kept on disk."""

from __future__ import annotations

import platform
import traceback
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from kane_dynamics.compiler.batches import limited_cores
from kane_dynamics.exceptions import InvalidInputError, SweepError
from kane_dynamics.robot.robot import Robot
from kane_dynamics.sweep.definition import Chunk
from kane_dynamics.sweep.first import first_alone
from kane_dynamics.sweep.function import NamedFunction, file_stamp, package_stamp
from kane_dynamics.sweep.parameters import described, digest_of
from kane_dynamics.sweep.store import Arrays, Store

RESERVED = ('case', 'item', 'file', 'allow_pickle')  # names of `SweepResult.arrays`, of savez
_KINDS = 'biufcSU'  # of arrays that npz keeps without pickling


@dataclass(frozen=True)
class Work:
    """
    What a worker knows besides its chunk.

    Parameters
    ----------
    function : NamedFunction
        What is called.
    package : str
        Stamp of the package that the sweep was defined with.
    store : Store
        Where results go.
    deaths : int
        A chunk at which so many workers died is a failure.

    """

    function: NamedFunction
    package: str
    store: Store
    deaths: int

    def run(self, chunk: Chunk) -> bool:
        """Compute a chunk and keep what came of it; return whether it has a result."""
        if self.store.has(chunk.key):  # its worker died after that, before Dask knew
            return True
        died = self.store.begin(chunk.key)
        if died >= self.deaths:
            self.store.save_failure(chunk.key, self.report_of_deaths(chunk, died))
            return False
        try:
            self.check_code()
            with first_alone(self.compiles(chunk)), limited_cores(1):
                arrays = _checked(self.function.load()(chunk.job), len(chunk.job))
        except Exception as error:  # noqa: BLE001 - whatever a user's function raises is kept
            text = ''.join(traceback.format_exception(error))
            self.store.save_failure(chunk.key, self.report(chunk, repr(error), text))
            return False
        self.store.save(chunk.key, arrays, self.inputs(chunk))
        return True

    def compiles(self, chunk: Chunk) -> str:
        """Return a hash of what kernels of a chunk depend on: code, function and robots."""
        robots = [x for x in chunk.job.parameters.values() if isinstance(x, Robot)]
        return digest_of(self.package, self.function.name, self.function.stamp, robots)

    def check_code(self) -> None:
        """
        Check that this machine has the code that the sweep was defined with.

        Raises
        ------
        SweepError
            If it has another one.

        """
        if package_stamp() != self.package:
            raise SweepError(
                'this worker has another kane_dynamics, numpy, casadi or llvmlite than the one '
                'that defined the sweep'
            )
        if self.function.by_file and file_stamp(self.function.name) != self.function.stamp:
            raise SweepError(f'this worker has another file with {self.function.name}')

    def inputs(self, chunk: Chunk) -> dict[str, Any]:
        """Return what a chunk was computed from, for people."""
        job = chunk.job
        return {
            'function': self.function.name,
            'stamp': self.function.stamp,
            'parameters': described(job.parameters),
            'seed': job.seed,
            'items': [job.items.start, job.items.stop],
        }

    def report(self, chunk: Chunk, error: str, trace: str) -> dict[str, Any]:
        """Return what is told of a chunk that has no result."""
        return {
            **self.inputs(chunk),
            'error': error,
            'traceback': trace,
            'machine': platform.node(),
        }

    def report_of_deaths(self, chunk: Chunk, died: int) -> dict[str, Any]:
        """Return what is told of a chunk at which workers died."""
        return self.report(chunk, f'{died} workers died at it, or it took their memory', '')


def _checked(result: Any, items: int) -> Arrays:
    """Return what the function of a sweep returned, as arrays."""
    if not isinstance(result, Mapping) or not result:
        raise InvalidInputError(f'the function must return arrays by name, got {result!r:.200}')
    arrays = {}
    for name, value in result.items():
        array = np.asarray(value)
        if not str(name).isidentifier() or name in RESERVED or name.startswith('_'):
            raise InvalidInputError(
                f'the function must name its arrays by words that do not begin with _, other '
                f'than {RESERVED}; got {name!r}'
            )
        if array.dtype.kind not in _KINDS or array.shape[:1] != (items,):
            raise InvalidInputError(
                f'{name}: need one row of numbers for each of the {items} items, got '
                f'{array.dtype} of shape {array.shape}'
            )
        arrays[name] = array
    return arrays
