# SPDX-License-Identifier: Apache-2.0
"""Traced functions as PTX, by LLVM's back end for GPUs, kept on disk like machine code."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

import llvmlite
import llvmlite.binding as llvm

from kane_dynamics.compiler.build import shape_of
from kane_dynamics.compiler.cache import CachedKernel, cache_folder, load_kernels, store_kernels
from kane_dynamics.compiler.cuda.kernel_ir import ELEMENTS, kernel_ir
from kane_dynamics.compiler.graphs.quaternion_check import with_quaternion_check
from kane_dynamics.compiler.llvm.kernel_spec import KernelSpec
from kane_dynamics.compiler.llvm.llvm_calls import in_llvm
from kane_dynamics.compiler.llvm.native import IS_OLDER, optimize
from kane_dynamics.compiler.recipe import Recipe
from kane_dynamics.exceptions import DeviceError

INSTALL = "pip install 'kane_dynamics[cuda]'"
NEWEST = 80  # the driver makes code for later GPUs of PTX for this compute capability
_TRIPLE = 'nvptx64-nvidia-cuda'
# Functions without an instruction, all on doubles: NVIDIA's library of LLVM code has them.
_IN_LIBDEVICE = re.compile(
    r'@llvm\.(exp|log|pow|tan|asin|acos|atan|atan2|sinh|cosh|tanh)\.f64(?=\()'
)


class Compiler(Protocol):
    """What makes code of LLVM IR."""

    identity: str  # Kind of the code, and version of what makes it

    def compile(self, ir: str) -> bytes:
        """Return the code of a module."""


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


def kernel_code(
    recipe: Recipe,
    graph: Callable[..., KernelSpec],
    choices: tuple[Any, ...],
    compiler: Compiler,
    precision: str,
) -> CachedKernel:
    """Return the code of a graph, from the cache where it is there and sound."""

    def make() -> tuple[str, CachedKernel]:
        tracer = recipe.tracer(in_single=precision == 'float32')
        spec = with_quaternion_check(graph(tracer, *choices), recipe.robot)
        return kernel_ir(spec, ELEMENTS[precision]), shape_of(spec)

    return cached_code(recipe, graph.__name__, choices, make, compiler, precision)


def cached_code(
    recipe: Recipe,
    name: str,
    choices: tuple[Any, ...],
    make: Callable[[], tuple[str, CachedKernel]],
    compiler: Compiler,
    precision: str,
) -> CachedKernel:
    """Return code from the cache, else of what `make` returns: LLVM IR and shapes."""
    key, _ = recipe.key(name, choices, 'cuda', compiler.identity, precision)
    if key is not None:
        kernels, _ = load_kernels(cache_folder(), key)
        if kernels is not None:
            return kernels[name]
    ir, shape = make()
    kernel = replace(shape, code=compiler.compile(ir))
    if key is not None:
        store_kernels(cache_folder(), key, {name: kernel})
    return kernel
