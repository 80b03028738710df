# SPDX-License-Identifier: Apache-2.0
"""
CUDA C to machine code of a graphics card by NVRTC, which needs no card.

NVRTC comes as the package nvidia-cuda-nvrtc-cu12; it is called through CuPy's bindings.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from kane_dynamics.compiler.cuda.elf import code_size
from kane_dynamics.compiler.cuda.prelude import words
from kane_dynamics.exceptions import DeviceError

INSTALL = "pip install 'kane_dynamics[cuda]'"
MOST_REGISTERS = 255  # of a thread, on all cards
_REGISTERS = re.compile(r'Used (\d+) registers')
_MEMORY = re.compile(r'(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads')


@dataclass(frozen=True)
class Usage:
    """
    What one kernel takes of a processor.

    Parameters
    ----------
    registers : int
        Of a thread, at most 255.
    stack : int
        Local memory of a thread [bytes].
    spill_stores, spill_loads : int
        What of it is registers that did not fit: moved out and in [bytes].
    code : int
        Size of the machine code [bytes].

    """

    registers: int
    stack: int
    spill_stores: int
    spill_loads: int
    code: int


def usage(cubin: bytes, log: str) -> Usage:
    """Return what a kernel and the functions it calls take, by what the assembler said."""
    stacks, stores, loads = zip(
        *[map(int, result) for result in _MEMORY.findall(log)], strict=True
    )
    registers = max(map(int, _REGISTERS.findall(log)))
    return Usage(registers, sum(stacks), sum(stores), sum(loads), code_size(cubin))


class NVRTC:
    """
    The compiler.

    Attributes
    ----------
    version : str
        Such as '12.9'.

    Raises
    ------
    DeviceError
        If CuPy or the library is not installed.

    """

    def __init__(self) -> None:
        try:
            from cupy_backends.cuda.libs import nvrtc

            self.version = '{}.{}'.format(*nvrtc.getVersion())
        except (ImportError, RuntimeError, OSError) as error:
            raise DeviceError(f'no compiler for graphics cards ({error}): {INSTALL}') from error
        self._calls = nvrtc

    @property
    def architectures(self) -> tuple[str, ...]:
        """Return the kinds of graphics cards that are known."""
        return tuple(f'sm_{number}' for number in self._calls.getSupportedArchs())

    def compile(
        self, source: str, architecture: str, precision: str, blocks: int | None = None
    ) -> tuple[bytes, str]:
        """
        Return machine code (cubin) and what the assembler said about it.

        Parameters
        ----------
        source : str
            CUDA C, with what `prelude` gives.
        architecture : str
            Such as 'sm_90'.
        precision : str
            'float32' or 'float64'.
        blocks : int, optional
            That a multiprocessor must hold at least; left to the assembler where left out.

        Raises
        ------
        DeviceError
            If the architecture is not known, or the text cannot be compiled.

        """
        if architecture not in self.architectures:
            known = ', '.join(self.architectures)
            raise DeviceError(
                f'NVRTC {self.version} compiles for {known}, got {architecture!r}: '
                'pip install --upgrade nvidia-cuda-nvrtc-cu12'
            )
        options = [f'-D{word}={value}' for word, value in words(precision).items()]
        options.append(f'-DKD_BLOCKS={"" if blocks is None else f", {blocks}"}')
        options += [f'-arch={architecture}', '--ptxas-options=-v']
        program = self._calls.createProgram(source, 'kane_dynamics.cu', (), ())
        try:
            self._calls.compileProgram(program, tuple(options))
            return self._calls.getCUBIN(program), self._calls.getProgramLog(program)
        except self._calls.NVRTCError as error:
            log = self._calls.getProgramLog(program)
            raise DeviceError(f'NVRTC {self.version}: {error}: {log}') from error
        finally:
            self._calls.destroyProgram(program)
