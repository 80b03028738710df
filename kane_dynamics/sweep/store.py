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
import tempfile
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.robot.checks import as_path

_RESULT, _FAILURE, _BEGUN, _WRITING = '.npz', '.failed.json', '.begun-', '.writing-'
INPUTS = '_inputs'  # entry of a result that tells people what it is of

Arrays = dict[str, NDArray[Any]]


@dataclass(frozen=True)
class Store:
    """
    The folder of a sweep.

    Parameters
    ----------
    folder : Path
        It exists; all workers see it under this name.

    """

    folder: Path

    @classmethod
    def at(cls, folder: Any) -> Store:
        """
        Return the store in a folder, which is made where it is missing.

        Raises
        ------
        InvalidInputError
            If no files can be written there.

        """
        place = Path(as_path('folder', folder)).expanduser().absolute()
        try:
            place.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=place):
                return cls(place)
        except OSError as error:
            raise InvalidInputError(
                f"folder: need one to write to, but no files can be written to '{place}': "
                f'{error.strerror}'
            ) from error

    def keys(self) -> tuple[set[str], set[str]]:
        """Return the keys of the chunks that are done, and of those that failed."""
        names = os.listdir(self.folder)
        done = {name.removesuffix(_RESULT) for name in names if name.endswith(_RESULT)}
        failed = {name.removesuffix(_FAILURE) for name in names if name.endswith(_FAILURE)}
        return done, failed - done

    def has(self, key: str) -> bool:
        """Return whether a chunk is done."""
        return (self.folder / f'{key}{_RESULT}').exists()

    def tidy(self) -> None:
        """Remove what workers that died have left behind."""
        for pattern in (_BEGUN, _WRITING):
            for path in self.folder.glob(f'{pattern}*'):
                path.unlink(missing_ok=True)

    def begin(self, key: str) -> int:
        """Note that a worker begins a chunk; return how often one did before and did not end."""
        with open(self.folder / f'{_BEGUN}{key}', 'ab') as file:
            file.write(b'.')
            return file.tell() - 1

    def save(
        self, key: str, arrays: Mapping[str, NDArray[Any]], inputs: Mapping[str, Any]
    ) -> None:
        """Keep the result of a chunk."""
        entries: dict[str, Any] = {**arrays, INPUTS: np.array(json.dumps(inputs))}
        self._write(key, _RESULT, lambda file: np.savez(file, **entries))
        (self.folder / f'{key}{_FAILURE}').unlink(missing_ok=True)
        self.end(key)

    def save_failure(self, key: str, report: Mapping[str, Any]) -> None:
        """Keep why a chunk has no result."""
        text = json.dumps(report, indent=2) + '\n'
        self._write(key, _FAILURE, lambda file: file.write(text.encode()))
        self.end(key)

    def end(self, key: str) -> None:
        """Note that a chunk that was begun has ended."""
        (self.folder / f'{_BEGUN}{key}').unlink(missing_ok=True)

    def load(self, key: str) -> Arrays:
        """
        Return the arrays of a chunk.

        Raises
        ------
        InvalidInputError
            If the file is not what was written.

        """
        path = self.folder / f'{key}{_RESULT}'
        try:
            with np.load(path, allow_pickle=False) as file:
                return {name: file[name] for name in file.files if name != INPUTS}
        except (OSError, ValueError, EOFError, zipfile.BadZipFile) as error:
            raise InvalidInputError(
                f"the result '{path}' cannot be read ({error}); remove it and run the sweep again"
            ) from error

    def failure(self, key: str) -> dict[str, Any]:
        """Return why a chunk has no result."""
        report: dict[str, Any] = json.loads(self.failure_path(key).read_text())
        return report

    def failure_path(self, key: str) -> Path:
        """Return where the failure of a chunk is told."""
        return self.folder / f'{key}{_FAILURE}'

    def _write(self, key: str, suffix: str, write: Callable[[IO[bytes]], Any]) -> None:
        handle, temporary = tempfile.mkstemp(dir=self.folder, prefix=_WRITING)
        try:
            with os.fdopen(handle, 'wb') as file:
                write(file)
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, self.folder / f'{key}{suffix}')
        except BaseException:
            os.unlink(temporary)
            raise
