# SPDX-License-Identifier: Apache-2.0
"""
CUDA C on the processor: the same text compiled by a C++ compiler, one thread after the other.

So the numbers of the generated code are tested where there is no card.
"""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from kane_dynamics.compiler.cuda.device import Array, Launch
from kane_dynamics.compiler.cuda.prelude import words
from kane_dynamics.compiler.cuda.source import THREADS
from kane_dynamics.exceptions import DeviceError

_HEAD = """\
#include <cmath>
#include <cstddef>
#include <utility>
using namespace std;
#define __global__
#define __device__
#define __forceinline__ inline
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...)
struct kd_place { unsigned x; };
static kd_place blockIdx, threadIdx;
static inline unsigned atomicAdd(unsigned* place, unsigned more) {
  const unsigned before = *place;
  *place += more;
  return before;
}
"""

# As cuLaunchKernel: the addresses of the arguments.
_TAIL = """
template <class... A, size_t... K>
static void kd_run(void (*kernel)(A...), unsigned blocks, unsigned threads, void** given,
                   index_sequence<K...>) {
  for (blockIdx.x = 0; blockIdx.x < blocks; blockIdx.x++)
    for (threadIdx.x = 0; threadIdx.x < threads; threadIdx.x++)
      kernel(*static_cast<A*>(given[K])...);
}
template <class... A>
static void kd_launch(void (*kernel)(A...), unsigned blocks, unsigned threads, void** given) {
  kd_run(kernel, blocks, threads, given, index_sequence_for<A...>());
}
"""


class HostDevice:
    """
    The processor in place of a graphics card; see `device.Device`.

    Raises
    ------
    DeviceError
        If there is no C++ compiler.

    """

    xp = np

    def __init__(self) -> None:
        result = shutil.which('g++') or shutil.which('clang++')
        if result is None:
            raise DeviceError('CUDA C on the processor needs g++ or clang++; neither is there')
        self._compiler = result
        command = [result, '--version']
        version = subprocess.run(command, capture_output=True, text=True, check=True)
        self.identity = version.stdout.splitlines()[0]

    def compile(self, source: str, name: str, precision: str) -> tuple[bytes, str]:
        """Return a shared library and nothing about it."""
        entry = (
            f'extern "C" void {name}_launch(unsigned blocks, unsigned threads, void** given)\n'
            f'{{ kd_launch({name}, blocks, threads, given); }}\n'
        )
        options = [f'-D{word}={value}' for word, value in words(precision).items()]
        with tempfile.TemporaryDirectory() as folder:
            text, library = Path(folder, f'{name}.cpp'), Path(folder, f'{name}.so')
            text.write_text(_HEAD + source + _TAIL + entry)
            command = [self._compiler, '-std=c++17', '-O0', '-shared', '-fPIC', *options]
            done = subprocess.run(
                [*command, str(text), '-o', str(library)],
                capture_output=True,
                text=True,
                check=False,
            )
            if done.returncode:
                raise DeviceError(f'{self._compiler}: {done.stderr}')
            return library.read_bytes(), done.stderr

    def array(self, x: Any, dtype: np.dtype[Any]) -> Array:
        """Return a numpy array; one of this type is not copied."""
        return np.asarray(x, dtype)

    def to_host(self, x: Array) -> np.ndarray[Any, Any]:
        """Return the array itself."""
        return np.asarray(x)

    def load(self, code: bytes, name: str) -> Launch:
        """Return a kernel of a shared library."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, f'{name}.so')
            path.write_bytes(code)
            function = ctypes.CDLL(str(path))[f'{name}_launch']
        function.restype = None

        def launch(states: int, arguments: Sequence[Any]) -> None:
            held = [np.array(x if isinstance(x, np.generic) else x.ctypes.data) for x in arguments]
            values = (ctypes.c_void_p * len(held))(*[x.ctypes.data for x in held])
            function(-(-states // THREADS), THREADS, values)

        return launch
