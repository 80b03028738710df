# SPDX-License-Identifier: Apache-2.0
"""Traced functions as machine code of a graphics card, kept on disk like that of the processor."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Protocol

from kane_dynamics.compiler.build import shape_of
from kane_dynamics.compiler.cache import CachedKernel, cache_folder, load_kernels, store_kernels
from kane_dynamics.compiler.cuda.compiler import MOST_REGISTERS, NVRTC, Usage, usage
from kane_dynamics.compiler.cuda.prelude import prelude
from kane_dynamics.compiler.cuda.source import kernel_text, one_text
from kane_dynamics.compiler.graphs.quaternion_check import with_quaternion_check
from kane_dynamics.compiler.llvm.kernel_spec import KernelSpec
from kane_dynamics.compiler.recipe import Recipe

_BLOCKS = 2  # fit a multiprocessor with 255 registers a thread
_LOG = ' log'  # of the compiler, beside the code of a kernel


class Toolchain(Protocol):
    """
    What makes machine code of CUDA C.

    Attributes
    ----------
    identity : str
        Kind of the machine code, and version of what makes it.

    """

    identity: str

    def compile(self, source: str, name: str, precision: str) -> tuple[bytes, str]:
        """Return the machine code of a kernel and what was said about it."""


class Gpu:
    """
    NVRTC for one kind of graphics card.

    Parameters
    ----------
    architecture : str
        Such as 'sm_90'.

    """

    def __init__(self, architecture: str) -> None:
        self._nvrtc = NVRTC()
        self.architecture = architecture
        self.identity = f'{architecture} nvrtc {self._nvrtc.version}'

    def compile(self, source: str, name: str, precision: str) -> tuple[bytes, str]:
        """
        Return a cubin and the log of the assembler.

        The assembler spills a few bytes rather than take registers that let one block less run at
        once. Such a kernel is compiled again, for blocks enough to take all registers.
        """
        made = self._nvrtc.compile(source, self.architecture, precision)
        result = usage(*made)
        if not result.spill_stores or result.registers >= MOST_REGISTERS:
            return made
        other = self._nvrtc.compile(source, self.architecture, precision, _BLOCKS)
        return other if usage(*other).spill_stores < result.spill_stores else made


@dataclass(frozen=True)
class CudaCode:
    """
    Machine code of one kernel.

    Parameters
    ----------
    name : str
        Of the kernel.
    kernel : CachedKernel
        Code and shapes.
    log : str
        What the compiler said.

    """

    name: str
    kernel: CachedKernel
    log: str

    @property
    def usage(self) -> Usage:
        """Return what the kernel takes of a card; of code for a card only."""
        return usage(self.kernel.code, self.log)


def kernel_source(spec: KernelSpec) -> str:
    """Return the whole CUDA C of a kernel."""
    return prelude() + one_text(spec, inline=True) + kernel_text(spec)


def cuda_code(
    recipe: Recipe,
    graph: Callable[..., KernelSpec],
    choices: tuple[Any, ...],
    toolchain: Toolchain,
    precision: str,
) -> CudaCode:
    """
    Return the machine code of a graph, from the cache where it is there and sound.

    Parameters
    ----------
    recipe : Recipe
        Robot, constraints, payloads.
    graph : callable
        (tracer, *choices) -> KernelSpec.
    choices : tuple
        Further arguments of the graph.
    toolchain : Toolchain
        What compiles.
    precision : str
        'float32' or 'float64'.

    """

    def make() -> tuple[str, CachedKernel]:
        tracer = recipe.tracer(in_single=precision == 'float32')
        spec = with_quaternion_check(graph(tracer, *choices), recipe.robot)
        return kernel_source(spec), shape_of(spec)

    return kept_code(recipe, graph.__name__, choices, make, toolchain, precision)


def kept_code(
    recipe: Recipe,
    name: str,
    choices: tuple[Any, ...],
    make: Callable[[], tuple[str, CachedKernel]],
    toolchain: Toolchain,
    precision: str,
) -> CudaCode:
    """Return machine code from the cache, else of what `make` returns: CUDA C and shapes."""
    key, _ = recipe.key(name, choices, 'cuda', toolchain.identity, precision)
    if key is not None:
        kernels, _ = load_kernels(cache_folder(), key)
        if kernels is not None:
            return CudaCode(name, kernels[name], kernels[name + _LOG].code.decode())
    source, shape = make()
    code, log = toolchain.compile(source, name, precision)
    made = CudaCode(name, replace(shape, code=code), log)
    if key is not None:
        said = CachedKernel(log.encode(), (), (), 0)
        store_kernels(cache_folder(), key, {name: made.kernel, name + _LOG: said})
    return made


def spec_code(spec: KernelSpec, toolchain: Toolchain, precision: str) -> CudaCode:
    """Return the machine code of a traced function."""
    code, log = toolchain.compile(kernel_source(spec), spec.name, precision)
    return CudaCode(spec.name, replace(shape_of(spec), code=code), log)
