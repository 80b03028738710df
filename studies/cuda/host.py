# SPDX-License-Identifier: Apache-2.0
"""
The processor in place of a GPU: the LLVM IR of the kernels as its machine code, thread by thread.

So the numbers of the IR that PTX is made of are tested where there is no GPU.
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from kane_dynamics.compiler.cuda.device import Array, Launch, Usage
from kane_dynamics.compiler.cuda.kernel_ir import THREADS
from kane_dynamics.compiler.llvm.native import Linker, NativeModule, compile_object, processor

_REGISTER = re.compile(r'declare i32 @llvm\.nvvm\.read\.ptx\.sreg\.(\w+)\.x\(\)')
_DEFINED = r"""
@\1 = global i32 0
define internal i32 @read.\1() {
  %x = load i32, ptr @\1
  ret i32 %x
}"""
_TYPES = {'int32': ctypes.c_int32, 'int64': ctypes.c_int64, 'float64': ctypes.c_double}


class HostDevice:
    """The processor; see `compiler.cuda.device.CudaDevice`."""

    xp = np

    def __init__(self) -> None:
        self.identity, self._linker = f'host {processor()}', Linker()

    def compile(self, ir: str) -> bytes:
        """Return an object file of a module, whose numbers of thread and block are variables."""
        text = _REGISTER.sub(_DEFINED, ir).replace('ptx_kernel ', '')
        text = re.sub(r'@llvm\.nvvm\.read\.ptx\.sreg\.(\w+)\.x\(', r'@read.\1(', text)
        text = text.replace('!nvvm.annotations', '!unused')
        return compile_object(text.replace(' contract ', ' '))  # the same bits in any order

    def array(self, x: Any, dtype: np.dtype[Any]) -> Array:
        """Return a numpy array; one of this type is not copied."""
        return np.asarray(x, dtype)

    def to_host(self, x: Array) -> np.ndarray[Any, Any]:
        """Return the array itself."""
        return np.asarray(x)

    def load(self, code: bytes, name: str) -> Launch:
        """Return a kernel of an object file."""
        module = NativeModule(code, (name, 'ctaid', 'tid'), self._linker)
        block, thread = (ctypes.c_int32.from_address(module.address(x)) for x in ('ctaid', 'tid'))

        def run(states: int, arguments: Sequence[Any]) -> None:
            scalars = [isinstance(x, np.generic) for x in arguments]
            kinds = [
                _TYPES[x.dtype.name] if scalar else ctypes.c_void_p
                for x, scalar in zip(arguments, scalars, strict=True)
            ]
            passed = [
                kind(x.item() if scalar else x.ctypes.data)
                for kind, x, scalar in zip(kinds, arguments, scalars, strict=True)
            ]
            kernel = module.function(name, None, *kinds)
            for number in range(-(-states // THREADS) * THREADS):
                block.value, thread.value = divmod(number, THREADS)
                kernel(*passed)

        return Launch(run, Usage(0, 0))
