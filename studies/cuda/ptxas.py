# SPDX-License-Identifier: Apache-2.0
"""What NVIDIA's assembler says of PTX; no GPU is needed."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from kane_dynamics.exceptions import DeviceError

_REGISTERS = re.compile(r'Used (\d+) registers')
_MEMORY = re.compile(r'(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads')


class Assembled(NamedTuple):
    """
    What one kernel and the functions that it calls take of a GPU.

    Parameters
    ----------
    registers : int
        Of a thread, at most 255.
    stack : int
        Local memory of a thread [bytes].
    spill_stores, spill_loads : int
        What of it is registers that did not fit: moved out and in [bytes].
    code : int
        Size of the machine code with its tables, a cubin [bytes].

    """

    registers: int
    stack: int
    spill_stores: int
    spill_loads: int
    code: int


def assembled(ptx: bytes, architecture: str) -> Assembled:
    """
    Return what a kernel takes of an architecture, such as 'sm_90'.

    Raises
    ------
    DeviceError
        If there is no assembler, or it refuses.

    """
    with tempfile.TemporaryDirectory() as folder:
        text, cubin = Path(folder, 'kernel.ptx'), Path(folder, 'kernel.cubin')
        text.write_bytes(ptx)
        log = _run('-v', f'-arch={architecture}', str(text), '-o', str(cubin))
        return read(log, cubin.stat().st_size)


def version() -> str:
    """Return the version of the assembler, such as '13.0'."""
    release = re.search(r'release ([\d.]+)', _run('--version'))
    return release[1] if release else 'unknown'


def _run(*options: str) -> str:
    wheels = [f'{folder}/nvidia/cuda_nvcc/bin' for folder in sys.path]
    program = shutil.which('ptxas', path=os.pathsep.join([os.environ.get('PATH', ''), *wheels]))
    if program is None:
        raise DeviceError('there is no ptxas: pip install nvidia-cuda-nvcc-cu12')
    done = subprocess.run([program, *options], capture_output=True, text=True, check=False)
    if done.returncode:
        raise DeviceError(f'ptxas: {done.stderr}')
    return done.stdout + done.stderr


def read(log: str, size: int) -> Assembled:
    """Return what the log of the assembler says of machine code of a size."""
    stacks, stores, loads = zip(*[map(int, sizes) for sizes in _MEMORY.findall(log)], strict=True)
    registers = max(map(int, _REGISTERS.findall(log)))
    return Assembled(registers, sum(stacks), sum(stores), sum(loads), size)
