# SPDX-License-Identifier: Apache-2.0
"""A kernel that is routines and the kernels that they call."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from typing import Any

from kane_dynamics.compiler.llvm.kernel_spec import RCOND_LIMIT, KernelSpec
from kane_dynamics.compiler.llvm.loop_spec import LoopSpec
from kane_dynamics.compiler.llvm.routine import PREFIX, Constants, Routine, number
from kane_dynamics.compiler.llvm.straight_line import Block


@dataclass(frozen=True, eq=False)
class RoutineSpec:
    """A kernel for single states whose code is routines."""

    name: str  # Name of the kernel
    input_sizes: tuple[int, ...]
    output_shapes: tuple[tuple[int, ...], ...]
    routines: tuple[Callable[..., Any], ...]  # The last is the kernel
    constants: Constants  # See `routine.routine_text`
    parameters: int = 0  # Length of the vector of numbers that stay the same from call to call
    callees: tuple[KernelSpec | LoopSpec, ...] = ()  # Kernels that belong to it
    external: Mapping[str, str] = field(default_factory=dict)  # LLVM names of kernels that do not
    quick: KernelSpec | None = None  # What is asked first; the routines, where that is ill

    @property
    def output_sizes(self) -> tuple[int, ...]:
        """Return the number of entries of each output."""
        return tuple(prod(shape) for shape in self.output_shapes)

    @property
    def operations(self) -> int:
        """Return the number of operations of the graphs of one call."""
        parts = [*self.callees, *([self.quick] if self.quick else [])]
        return sum(part.operations for part in parts)

    def after(self, quick: KernelSpec) -> RoutineSpec:
        """Return this kernel with one that is asked first."""
        return replace(self, quick=replace(quick, name=f'{self.name}_quick'))

    def parts(self) -> dict[str, tuple[str, set[str]]]:
        """Return the LLVM IR of the kernel without its callees and what it declares, by name."""
        inside = {callee.name: f'@{callee.name}' for callee in self.callees}
        parts = routine_parts(self.routines, self.constants, inside, self.external)
        count = len(self.input_sizes) + 1 + len(self.output_shapes)
        passed = ', '.join(f'ptr %x{k}' for k in range(count))
        lines = [f'%health = call double {[*parts][-1]}({passed})', 'ret double %health']
        if self.quick is not None:
            limit = Block(1).constant(RCOND_LIMIT)
            lines = [
                f'%first = call double @{self.quick.name}({passed})',
                f'%sound = fcmp oge double %first, {limit}',
                'br i1 %sound, label %done, label %other',
                *('done:', 'ret double %first', 'other:'),
                *lines,
            ]
        body = '\n  '.join(lines)
        whole = f'define double @{self.name}({passed}) noinline {{\n  {body}\n}}\n'
        return {**parts, self.name: (whole, set())}


def routine_parts(
    functions: Sequence[Callable[..., Any]],
    constants: Constants,
    kernels: Mapping[str, str],
    external: Mapping[str, str],
) -> dict[str, tuple[str, set[str]]]:
    """Return the LLVM IR of routines and of their tables, and what each declares, by LLVM name."""
    local = {function.__name__: f'{PREFIX}{function.__name__}' for function in functions}
    names = {**kernels, **external, **local}
    lists = {name: x for name, x in constants.items() if not isinstance(x, (int, float))}
    tables = table_text(PREFIX, lists)
    parts = {name: (text, set[str]()) for name, text in tables.items()}
    for function in functions:
        made = Routine(function, constants, names, external)
        parts[local[function.__name__]] = made.text(local[function.__name__]), made.declarations
    return parts


def table_text(prefix: str, tables: Mapping[str, Any], kind: str = 'i64') -> dict[str, str]:
    """Return the LLVM IR of tables of numbers, by LLVM name; nothing of those without entries."""
    texts = {}
    for name, table in tables.items():
        entries = [f'{kind} {number(x)[1]}' for x in table]
        head = f'{prefix}{name} = internal constant [{len(entries)} x {kind}]'
        texts[f'{prefix}{name}'] = f'{head} [{", ".join(entries)}], align 64'
    return {name: text for name, text in texts.items() if not text.endswith('[], align 64')}
