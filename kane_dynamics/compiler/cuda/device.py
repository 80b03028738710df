# SPDX-License-Identifier: Apache-2.0
"""What a GPU must do for the kernels: PTX by LLVM's back end, arrays, launches."""

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import llvmlite
import llvmlite.binding as llvm
import numpy as np

from kane_dynamics.compiler.cuda.kernel_ir import THREADS
from kane_dynamics.compiler.llvm.native import IS_OLDER, in_llvm, optimize
from kane_dynamics.exceptions import DeviceError

INSTALL = "pip install 'kane_dynamics[cuda]'"
NEWEST = 80  # the driver makes code for later GPUs of PTX for this compute capability
_TRIPLE = 'nvptx64-nvidia-cuda'
# Functions without an instruction, all on doubles: NVIDIA's library of LLVM code has them.
_IN_LIBDEVICE = re.compile(
    r'@llvm\.(exp|log|pow|tan|asin|acos|atan|atan2|sinh|cosh|tanh)\.f64(?=\()'
)
Array = Any
"""An array of numpy, on the processor, or of CuPy, on a card; both have the same methods."""


class Usage(NamedTuple):
    """What one kernel takes of a GPU."""

    registers: int  # Of a thread, at most 255
    stack: int  # Local memory of a thread [bytes]: its arrays, and registers that did not fit


class Launch(NamedTuple):
    """A kernel, ready to be launched."""

    run: Callable[[int, Sequence[Any]], None]
    usage: Usage  # What it takes


class PtxCompiler:
    """LLVM's back end for GPUs; it needs none."""

    def __init__(self, capability: int = NEWEST) -> None:
        if IS_OLDER:
            raise DeviceError(f'GPUs need llvmlite >= 0.45, got {llvmlite.__version__}: {INSTALL}')
        self._architecture = f'sm_{min(capability, NEWEST)}'
        version = '.'.join(map(str, llvm.llvm_version_info))
        self.identity = f'{self._architecture} llvm {version}'

    def compile(self, ir: str) -> bytes:
        """Return the PTX of a module."""
        text = _IN_LIBDEVICE.sub(r'@__nv_\1', ir)
        library = _libdevice() if text != ir else None
        return in_llvm(_ptx, text, self._architecture, library)


class CudaDevice(PtxCompiler):
    """The present GPU by CuPy; launches go into CuPy's current stream."""

    def __init__(self) -> None:
        try:
            import cupy
        except ImportError as error:
            raise DeviceError(f'CuPy is not installed: {INSTALL}') from error
        try:
            capability = int(cupy.cuda.Device().compute_capability)
        except cupy.cuda.runtime.CUDARuntimeError as error:
            raise DeviceError(
                f'no graphics card of NVIDIA with a driver for CUDA 12 ({error}): nvidia-smi '
                'must list one; see doc/gpu.md'
            ) from error
        super().__init__(capability)
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
        """Return a kernel of PTX; the driver makes machine code of it, and keeps that on disk."""
        driver = self.xp.cuda.driver
        module = self.xp.cuda.function.Module()
        try:
            module.load(code)
        except driver.CUDADriverError as error:
            raise DeviceError(f'the driver does not take {name} as PTX: {error}') from error
        function = module.get_function(name)

        def run(states: int, arguments: Sequence[Any]) -> None:
            function((-(-states // THREADS),), (THREADS,), tuple(arguments))

        asked = driver.CU_FUNC_ATTRIBUTE_NUM_REGS, driver.CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES
        usage = Usage(*[driver.funcGetAttribute(attribute, function.ptr) for attribute in asked])
        return Launch(run, usage)


def _libdevice() -> bytes:
    try:
        from cuda.pathfinder import find_bitcode_lib

        return Path(find_bitcode_lib('device')).read_bytes()
    except (ImportError, RuntimeError, OSError) as error:
        reason = f'exp, log, pow, tan and inverse functions need libdevice ({error}): {INSTALL}'
        raise DeviceError(reason) from error


def _ptx(ir: str, architecture: str, library: bytes | None) -> bytes:
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    machine = llvm.Target.from_triple(_TRIPLE).create_target_machine(cpu=architecture, opt=3)
    context = llvm.create_context()
    module = llvm.parse_assembly(ir, context)
    module.triple, module.data_layout = _TRIPLE, str(machine.target_data)
    if library is not None:
        local = {function.name for function in module.functions if not function.is_declaration}
        module.link_in(llvm.parse_bitcode(library, context))
        for function in module.functions:
            if not function.is_declaration and function.name not in local:
                function.linkage = 'internal'  # what nothing calls is dropped
    module.verify()
    optimize(module, machine)
    return str(machine.emit_assembly(module)).encode()


_CUDA, _MANAGED = 2, 13  # kinds of memory by DLPack


def _on_a_card(x: Any) -> bool:
    place = getattr(x, '__dlpack_device__', None)
    return place is not None and int(place()[0]) in (_CUDA, _MANAGED)
