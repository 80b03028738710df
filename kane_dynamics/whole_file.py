# SPDX-License-Identifier: Apache-2.0
"""Files that others see whole, or as they were before."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import get_ident
from typing import IO

WRITING = '.writing-'
"""How names of files begin that are not whole yet."""


@contextmanager
def whole_file(path: Path, mode: int = 0o666) -> Iterator[IO[bytes]]:
    """Open a file that takes the place of another, following links, when all is written."""
    file = path.resolve()
    part = file.with_name(f'{WRITING}{file.name}-{os.getpid()}-{get_ident()}')
    try:
        with open(part, 'wb', opener=lambda name, flags: os.open(name, flags, mode)) as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        part.replace(file)
    finally:
        part.unlink(missing_ok=True)
