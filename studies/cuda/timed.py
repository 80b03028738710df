# SPDX-License-Identifier: Apache-2.0
"""A device that takes the time of its kernels alone, beside that of whole calls."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Any

from kane_dynamics.compiler.cuda.device import CudaDevice, Launch

Mark = Callable[[], Any]
"""Returns a mark of the present moment in the order of the device's work."""
Between = Callable[[Any, Any], float]
"""Returns the time between two marks [s], once the device has come to the later one."""


class Timed:
    """
    A device whose launches lie between two marks; otherwise the device itself.

    Parameters
    ----------
    device : CudaDevice
        What runs the kernels.
    mark, between : callable
        Its clock.

    """

    def __init__(self, device: CudaDevice, mark: Mark, between: Between) -> None:
        self._device, self._mark, self._between = device, mark, between
        self._marks: list[tuple[Any, Any]] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._device, name)

    def load(self, code: bytes, name: str) -> Launch:
        """Return a kernel whose launches are timed."""
        kernel = self._device.load(code, name)

        def run(states: int, arguments: Sequence[Any]) -> None:
            begin = self._mark()
            kernel.run(states, arguments)
            self._marks.append((begin, self._mark()))

        return kernel._replace(run=run)

    def seconds(self) -> float:
        """Return the time of all launches since it was last asked for."""
        marks, self._marks = self._marks, []
        return sum(self._between(*pair) for pair in marks)


def on_gpu(device: CudaDevice) -> Timed:
    """Return a card with events of CUDA in CuPy's current stream, where kernels run, too."""
    cuda = device.xp.cuda

    def mark() -> Any:
        event = cuda.Event()
        event.record()
        return event

    def between(begin: Any, end: Any) -> float:
        end.synchronize()
        return 1e-3 * float(cuda.get_elapsed_time(begin, end))  # of milliseconds

    return Timed(device, mark, between)


def on_processor(device: CudaDevice) -> Timed:
    """Return the processor in place of a card: its launches wait for their end."""
    return Timed(device, perf_counter, lambda begin, end: float(end - begin))
