# SPDX-License-Identifier: Apache-2.0
"""
Compiled kernels on disk.

One file for each fingerprint: a magic line, the SHA-256 of what follows, then a JSON index and the
object files. Nothing is unpickled. A file is used only if it, and the folder it is in, belong to
this user and nobody else can write them, and if the digest is right; anything else is rebuilt.
Files are written under a temporary name and moved into place, so that two processes may write the
same one at once.
"""

import hashlib
import json
import os
import stat
from collections.abc import Iterable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kane_dynamics.exceptions import KaneDynamicsError
from kane_dynamics.whole_file import WRITING, whole_file

_MAGIC = b'kane_dynamics kernels 1\n'
_SUFFIX = '.kernels'
FIRST = '.first'
"""How names of files end that let one process compile for all."""
_NAMES = f'*{_SUFFIX}', f'*{FIRST}', f'{WRITING}*{_SUFFIX}-*'
_DIGEST_SIZE = hashlib.sha256().digest_size


only_cached: ContextVar[bool] = ContextVar('only_cached', default=False)
"""Whether nothing may be compiled: NotCachedError where the cache does not have it."""


class NotCachedError(KaneDynamicsError):
    """Machine code is not in the cache."""


@dataclass(frozen=True)
class CachedKernel:
    """Machine code of one kernel with its shapes."""

    code: bytes  # Object file
    input_sizes: tuple[int, ...]  # Length of each input
    output_shapes: tuple[tuple[int, ...], ...]  # Shape of each output
    instructions: int  # Number of instructions of its graph
    single: bool = False  # Whether it has code in single precision too


def cache_folder() -> Path:
    """Return where kernels are kept: XDG_CACHE_HOME, else ROS_HOME, else ~/.cache."""
    for variable in ('XDG_CACHE_HOME', 'ROS_HOME'):
        value = os.environ.get(variable)
        if value:
            return Path(value) / 'kane_dynamics'
    return Path.home() / '.cache' / 'kane_dynamics'


@dataclass(frozen=True)
class CachedFile:
    """A file of the cache."""

    path: Path  # Where it is
    size: int  # [bytes]
    used: float  # When it was written or last read [s since 1970]
    kernels: tuple[str, ...]  # Names of what is in it; empty where its index cannot be read


def cached_files() -> list[CachedFile]:
    """Return the files in the cache of this user, by name; those cut short have no kernels."""
    folder = cache_folder()
    result = []
    for path in sorted(path for names in _NAMES for path in folder.glob(names)):
        try:
            status = path.lstat()
            data = path.read_bytes() if stat.S_ISREG(status.st_mode) else b''
        except OSError:  # another process has just deleted it
            continue
        kernels, _ = _decoded(data)
        used = max(status.st_mtime, status.st_atime)
        result.append(CachedFile(path, status.st_size, used, tuple(kernels or ())))
    return result


def remove_files(files: Iterable[CachedFile]) -> list[CachedFile]:
    """Delete files of the cache; return those that were there."""
    gone = []
    for file in files:
        try:
            file.path.unlink()
        except FileNotFoundError:
            continue
        gone.append(file)
    return gone


def load_kernels(folder: Path, key: str) -> tuple[dict[str, CachedKernel] | None, str]:
    """Return the kernels of a fingerprint, or None and the reason why there are none."""
    path = folder / f'{key}{_SUFFIX}'
    try:
        for place in (folder, path):
            if not _only_ours(place):
                return None, f'{place} belongs to or can be written by others'
        return _decoded(path.read_bytes())
    except FileNotFoundError:
        return None, 'not in the cache'
    except OSError as error:
        return None, f'could not be read: {error}'


def store_kernels(folder: Path, key: str, kernels: Mapping[str, CachedKernel]) -> str:
    """Write kernels; return 'stored', or the reason why they could not be."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not _only_ours(folder):
            return f'{folder} belongs to or can be written by others'
        with whole_file(folder / f'{key}{_SUFFIX}', mode=0o600) as file:
            file.write(_encoded(kernels))
    except OSError as error:
        return f'could not be stored: {error}'
    return 'stored'


def _only_ours(path: Path) -> bool:
    status = path.stat()
    if not hasattr(os, 'getuid'):
        return True
    others = stat.S_IWGRP | stat.S_IWOTH
    return status.st_uid == os.getuid() and not status.st_mode & others


def _encoded(kernels: Mapping[str, CachedKernel]) -> bytes:
    index = {
        name: (k.input_sizes, k.output_shapes, k.instructions, len(k.code), k.single)
        for name, k in kernels.items()
    }
    header = json.dumps(index).encode()
    payload = (
        len(header).to_bytes(8, 'little') + header + b''.join(k.code for k in kernels.values())
    )
    return _MAGIC + hashlib.sha256(payload).digest() + payload


def _decoded(data: bytes) -> tuple[dict[str, CachedKernel] | None, str]:
    start = len(_MAGIC) + _DIGEST_SIZE
    payload = data[start:]
    digest = data[len(_MAGIC) : start]
    if data[: len(_MAGIC)] != _MAGIC or hashlib.sha256(payload).digest() != digest:
        return None, 'the file in the cache is not what was written'
    size = int.from_bytes(payload[:8], 'little')
    try:
        return _indexed(json.loads(payload[8 : 8 + size]), payload[8 + size :]), 'loaded'
    except (ValueError, TypeError, AttributeError):
        return None, 'the index of the file in the cache cannot be read'


def _indexed(index: Any, code: bytes) -> dict[str, CachedKernel]:
    kernels, offset = {}, 0
    for name, (inputs, outputs, instructions, length, single) in index.items():
        kernels[name] = CachedKernel(
            code[offset : offset + length],
            tuple(inputs),
            tuple(tuple(shape) for shape in outputs),
            instructions,
            bool(single),
        )
        offset += length
    return kernels
