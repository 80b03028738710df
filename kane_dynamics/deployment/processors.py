# SPDX-License-Identifier: Apache-2.0
"""Processors that a library can be made for."""

from __future__ import annotations

from kane_dynamics.compiler.llvm.native import Processor, processor
from kane_dynamics.exceptions import InvalidInputError

# of the processors of PCs, by the psABI of x86-64; each level has those before it
_LEVELS = {
    'x86-64-v2': ('sse4.1', 'sse4.2'),
    'x86-64-v3': ('avx', 'avx2', 'bmi', 'bmi2', 'fma'),
    'x86-64-v4': ('avx512f', 'avx512bw', 'avx512cd', 'avx512dq', 'avx512vl'),
}
CPUS = ('native', 'generic', *_LEVELS)


def target_of(cpu: str) -> Processor:
    """
    Return what LLVM makes code for.

    Parameters
    ----------
    cpu : str
        'native' (this machine's), 'generic' (any of its kind), or a level of x86-64.

    Raises
    ------
    InvalidInputError
        If this machine is of another kind.

    """
    host = processor()
    if cpu == 'native':
        return host
    if cpu == 'generic':
        return Processor(host.triple, 'generic', '')
    if cpu not in CPUS or not host.triple.startswith('x86_64'):
        raise InvalidInputError(
            f'cpu: need one of {", ".join(CPUS)} on {host.triple}, got {cpu!r}'
        )
    return Processor(host.triple, cpu, '')


def supported(cpu: str) -> str:
    """Return a condition in C, for GCC and Clang: this processor runs the code."""
    host = processor()
    if cpu == 'generic' or not host.triple.startswith('x86_64'):
        return '1'  # other than x86-64: code is for the architecture's baseline or this very chip
    known = [name for names in _LEVELS.values() for name in names]
    if cpu == 'native':
        present = set(host.features.split(','))
        needed = [name for name in known if f'+{name}' in present]
    else:
        levels = list(_LEVELS)
        needed = [name for level in levels[: levels.index(cpu) + 1] for name in _LEVELS[level]]
    return ' && '.join(f'__builtin_cpu_supports("{name}")' for name in needed) or '1'
