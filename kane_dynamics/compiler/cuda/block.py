# SPDX-License-Identifier: Apache-2.0
"""Straight-line code as statements of CUDA C; the operations are those of the LLVM code."""

from __future__ import annotations

from kane_dynamics.compiler.llvm.straight_line import Block

_SIGNS = {'fadd': '+', 'fsub': '-', 'fmul': '*', 'fdiv': '/'}
_PREDICATES = {
    'olt': '({a} < {b})',
    'ole': '({a} <= {b})',
    'ogt': '({a} > {b})',
    'oeq': '({a} == {b})',
    'une': '({a} != {b})',
}
_FUNCTIONS = {'minimum': 'kd_minimum', 'maximum': 'kd_maximum'}  # NaN in is NaN out


class CudaBlock(Block):
    """
    Statements of one function under construction; its values are of the type ``real``.

    The compiler may fuse products into sums, as that of the processor may; nothing lets it assume
    away NaN or infinity.
    """

    def __init__(self) -> None:
        super().__init__(lanes=1)

    def constant(self, value: float) -> str:
        """Return a literal, rounded to ``real`` by the compiler."""
        literal = f'real({value!r})'
        if value in (float('inf'), float('-inf')):
            literal = 'KD_INFINITY' if value > 0 else '(-KD_INFINITY)'
        elif value != value:
            literal = 'KD_NAN'
        self._constants[literal] = value
        return literal

    def emit(self, code: str) -> str:
        """Append the definition of a value and return its name."""
        self._count += 1
        name = f'x{self._count}'
        self.lines.append(f'const real {name} = {code};')
        return name

    def copy(self, place: str, value: str) -> str:
        """Append reading a value from where it was written; return the name of the copy."""
        name = self.emit(place)
        if value in self._sums:  # sines need angle and constant apart
            self._sums[name] = self._sums[value]
        return name

    def arithmetic(self, operation: str, a: str, b: str) -> str:
        """Append a sum, difference, product or quotient."""
        return self.emit(f'{a} {_SIGNS[operation]} {b}')

    def negate(self, a: str) -> str:
        """Append the negative of a value."""
        return self.emit(f'-{a}')

    def intrinsic(self, name: str, *arguments: str) -> str:
        """Append a call of a function of the standard library."""
        return self.emit(f'{_FUNCTIONS.get(name, name)}({", ".join(arguments)})')

    def compare(self, predicate: str, a: str, b: str) -> str:
        """Append a comparison that is 1 or 0."""
        return self.select(predicate, a, b, 'real(1)', 'real(0)')

    def select(self, predicate: str, a: str, b: str, if_true: str, if_false: str) -> str:
        """Append ``if_true where a predicate b, else if_false``."""
        truth = _PREDICATES[predicate].format(a=a, b=b)
        return self.emit(f'{truth} ? {if_true} : {if_false}')

    def forget(self) -> None:
        """Use none of the sines so far again: they end with the block that they are in."""
        self._sincos.clear()

    def call_sincos(self, angle: str, ahead: str) -> tuple[str, str]:
        """Append both functions of the sum of an angle and a constant."""
        self._count += 1
        sine, cosine = f's{self._count}', f'c{self._count}'
        self.lines += [
            f'real {sine}, {cosine};',
            f'kd_sincos({angle}, {ahead}, &{sine}, &{cosine});',
        ]
        return sine, cosine
