# SPDX-License-Identifier: Apache-2.0
"""Batches of all sizes and layouts touch no memory but their own."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

STRESS = Path(__file__).resolve().parents[1] / 'stress'
BEYOND = """
import ctypes, sys
import numpy as np
from guarded_memory import guard_new_arrays
guard_new_arrays()
array = np.zeros(4)
print(ctypes.string_at(array.ctypes.data, array.nbytes) == bytes(32), flush=True)
ctypes.string_at(array.ctypes.data, array.nbytes + 1)
"""
pytestmark = pytest.mark.skipif(sys.platform != 'linux', reason='guard pages by mmap of Linux')


def test_batches_of_all_sizes_and_layouts_stay_within_their_arrays(pair):
    pair('planar_2r')  # its code is in the cache
    done = subprocess.run(
        [sys.executable, STRESS / 'guarded_entries.py'], capture_output=True, text=True, check=True
    )
    assert int(done.stdout) > 100


def test_one_byte_too_many_ends_the_process():
    done = subprocess.run(
        [sys.executable, '-c', BEYOND], capture_output=True, text=True, cwd=STRESS, check=False
    )
    assert done.stdout == 'True\n'
    assert done.returncode == -signal.SIGSEGV
