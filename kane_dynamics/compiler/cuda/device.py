# SPDX-License-Identifier: Apache-2.0
"""What a graphics card must do for the kernels: hold arrays, compile, launch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

from kane_dynamics.compiler.cuda.compiler import INSTALL
from kane_dynamics.compiler.cuda.source import THREADS
from kane_dynamics.compiler.cuda.toolchain import Gpu, Toolchain
from kane_dynamics.exceptions import DeviceError

Array = Any
"""An array of numpy, on the processor, or of CuPy, on a card; both have the same methods."""

Launch = Callable[[int, Sequence[Any]], None]
"""(states, arguments): arrays, of which the kernel gets the address, and numpy numbers."""


class Device(Toolchain, Protocol):
    """
    Where kernels run.

    Attributes
    ----------
    identity : str
        Kind of its machine code, and version of what makes it.
    xp : module
        numpy or cupy: makes arrays and calculates with them.

    """

    identity: str
    xp: Any

    def array(self, x: Any, dtype: np.dtype[Any]) -> Array:
        """Return an array of the device; what lies there in this type already is not copied."""

    def to_host(self, x: Array) -> np.ndarray[Any, Any]:
        """Return an array of the device as one of numpy."""

    def load(self, code: bytes, name: str) -> Launch:
        """Return a kernel of machine code, ready to be launched."""


class CudaDevice(Gpu):
    """
    The present graphics card by CuPy; launches go into CuPy's current stream.

    Raises
    ------
    DeviceError
        If CuPy, the driver, or a card is missing.

    """

    def __init__(self) -> None:
        try:
            import cupy
        except ImportError as error:
            raise DeviceError(f'CuPy is not installed: {INSTALL}') from error
        try:
            number = cupy.cuda.Device().compute_capability
        except cupy.cuda.runtime.CUDARuntimeError as error:
            raise DeviceError(
                f'no graphics card of NVIDIA with a driver for CUDA 12 ({error}): nvidia-smi '
                'must list one; see doc/gpu.md'
            ) from error
        super().__init__(f'sm_{number}')
        self.xp = cupy

    def array(self, x: Any, dtype: np.dtype[Any]) -> Array:
        """Return an array on the card, by DLPack where it lies on one."""
        cupy = self.xp
        if not isinstance(x, cupy.ndarray) and _on_a_card(x):
            x = cupy.from_dlpack(x)
        return cupy.asarray(x if isinstance(x, cupy.ndarray) else np.asarray(x), dtype)

    def to_host(self, x: Array) -> np.ndarray[Any, Any]:
        """Return a copy in the memory of the processor."""
        copied: np.ndarray[Any, Any] = self.xp.asnumpy(x)
        return copied

    def load(self, code: bytes, name: str) -> Launch:
        """Return a kernel of a cubin."""
        module = self.xp.cuda.function.Module()
        module.load(code)
        function = module.get_function(name)

        def launch(states: int, arguments: Sequence[Any]) -> None:
            function((-(-states // THREADS),), (THREADS,), tuple(arguments))

        return launch


_CUDA, _MANAGED = 2, 13  # kinds of memory by DLPack


def _on_a_card(x: Any) -> bool:
    place = getattr(x, '__dlpack_device__', None)
    return place is not None and int(place()[0]) in (_CUDA, _MANAGED)
