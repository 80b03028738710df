# SPDX-License-Identifier: Apache-2.0
"""
Expression graphs as straight-line LLVM code.

The operations of a CasADi ``SX`` function are written as one basic block of LLVM IR, once on
``double`` for single states and once on vectors of doubles, one state per lane, for batches. No
flag lets the compiler assume away NaN or infinity: NaN in is NaN out. Sines of an angle plus a
constant, of which canonical body frames make many, add the constant after the argument reduction:
the sum of a large angle and a small constant would lose what the sine needs.
"""

import math
import struct
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from kane_dynamics.algebra import casadi as ca
from kane_dynamics.exceptions import UnsupportedOperationError

# Products may be fused into sums and divisions by one value share a reciprocal.
FLAGS = 'contract arcp nsz'

_BINARY = {ca.OP_ADD: 'fadd', ca.OP_SUB: 'fsub', ca.OP_MUL: 'fmul', ca.OP_DIV: 'fdiv'}
_COMPARISONS = {ca.OP_LT: 'olt', ca.OP_LE: 'ole', ca.OP_EQ: 'oeq', ca.OP_NE: 'une'}
_INTRINSICS = {
    ca.OP_SQRT: 'sqrt',
    ca.OP_FABS: 'fabs',
    ca.OP_FLOOR: 'floor',
    ca.OP_CEIL: 'ceil',
    ca.OP_EXP: 'exp',
    ca.OP_LOG: 'log',
    ca.OP_POW: 'pow',
    ca.OP_CONSTPOW: 'pow',
    ca.OP_TAN: 'tan',
    ca.OP_ASIN: 'asin',
    ca.OP_ACOS: 'acos',
    ca.OP_ATAN: 'atan',
    ca.OP_ATAN2: 'atan2',
    ca.OP_SINH: 'sinh',
    ca.OP_COSH: 'cosh',
    ca.OP_TANH: 'tanh',
    ca.OP_FMIN: 'minimum',
    ca.OP_FMAX: 'maximum',
    ca.OP_COPYSIGN: 'copysign',
}
# Instructions, or code of LLVM's own; all others are functions of the C library on doubles.
_IN_ANY_PRECISION = {
    *('fma', 'rint', 'sqrt', 'fabs', 'floor', 'ceil', 'minimum', 'maximum', 'copysign')
}
_SUFFIXES = {'double': 'f64', 'float': 'f32'}


@dataclass
class Block:
    """Code of one basic block under construction, on one type."""

    lanes: int  # 1 for a number, else how many are in a vector, one state in each
    element: str = 'double'  # 'double' or 'float'
    table: str = ''
    angles_at_once: int = 1  # of one state, as lanes of a vector
    lines: list[str] = field(default_factory=list)
    declarations: set[str] = field(default_factory=set)
    _sincos: dict[tuple[str, float], tuple[str, str]] = field(default_factory=dict)
    _constants: dict[str, float] = field(default_factory=dict)
    _sums: dict[str, tuple[str, float]] = field(default_factory=dict)
    _stored: dict[str, int] = field(default_factory=dict)

    @property
    def type(self) -> str:
        """Return the LLVM type of a value."""
        return self.element if self.lanes == 1 else f'<{self.lanes} x {self.element}>'

    @property
    def truth(self) -> str:
        """Return the LLVM type of a comparison."""
        return 'i1' if self.lanes == 1 else f'<{self.lanes} x i1>'

    @property
    def suffix(self) -> str:
        """Return the type as it stands in names of intrinsics."""
        kind = _SUFFIXES[self.element]
        return kind if self.lanes == 1 else f'v{self.lanes}{kind}'

    def constant(self, value: float) -> str:
        """Return a literal; LLVM writes those of ``float`` as doubles too, rounded before."""
        rounded = value
        if self.element == 'float':
            with np.errstate(over='ignore'):
                rounded = float(np.float32(value))
        (bits,) = struct.unpack('<Q', struct.pack('<d', rounded))
        literal = f'0x{bits:016X}'
        if self.lanes > 1:
            literal = f'<{", ".join([f"{self.element} {literal}"] * self.lanes)}>'
        self._constants[literal] = value
        return literal

    def operand(self, value: str) -> str:
        """Return a value, or the load of a literal from the table."""
        if not self.table or not self._constants.get(value):
            return value
        index = self._stored.setdefault(value, len(self._stored))
        place = self.emit(f'getelementptr inbounds {self.type}, ptr %numbers, i64 {index}')
        return self.emit(f'load {self.type}, ptr {place}')

    def with_table(self) -> tuple[str, list[str]]:
        """Return the definition of the table, and the code that begins with its address."""
        if not self._stored:
            return '', self.lines
        kind = f'[{len(self._stored)} x {self.type}]'
        numbers = ', '.join(f'{self.type} {literal}' for literal in self._stored)
        text = (
            f'@{self.table} = internal externally_initialized global {kind} [{numbers}]\n'
            f'@{self.table}_begin = internal externally_initialized global [1 x i64] [i64 0]\n'
        )
        address = [
            f'%begin.at = getelementptr inbounds i64, ptr @{self.table}_begin, i64 0',
            '%begin = load i64, ptr %begin.at',
            f'%numbers = getelementptr inbounds {self.type}, ptr @{self.table}, i64 %begin',
        ]
        return text, [*address, *self.lines]

    def emit(self, code: str) -> str:
        """Append ``name = code`` and return the name."""
        name = f'%x{len(self.lines)}'
        self.lines.append(f'{name} = {code}')
        return name

    def splat(self, value: str) -> str:
        """Append a number in all lanes."""
        if self.lanes == 1:
            return value
        first = self.emit(f'insertelement {self.type} poison, {self.element} {value}, i32 0')
        lanes = f'<{self.lanes} x i32> zeroinitializer'
        return self.emit(f'shufflevector {self.type} {first}, {self.type} poison, {lanes}')

    def copy(self, code: str, value: str) -> str:
        """Append the code of a copy of a value; return its name."""
        name = self.emit(code)
        if value in self._sums:  # sines need angle and constant apart
            self._sums[name] = self._sums[value]
        return name

    def binary(self, operation: str, a: str, b: str) -> str:
        """Append an arithmetic operation."""
        result = self.arithmetic(operation, a, b)
        self._note_sum(result, operation, a, b)
        return result

    def arithmetic(self, operation: str, a: str, b: str) -> str:
        """Append the code of an arithmetic operation."""
        a, b = self.operand(a), self.operand(b)
        return self.emit(f'{operation} {FLAGS} {self.type} {a}, {b}')

    def negate(self, a: str) -> str:
        """Append the negative of a value."""
        return self.emit(f'fneg {self.type} {a}')

    def _note_sum(self, result: str, operation: str, a: str, b: str) -> None:
        """Remember results of the form value + constant."""
        if a in self._constants:
            a, b = b, a
            if operation in ('fsub', 'fdiv'):
                return
        constant = self._constants.get(b)
        if constant is None or a in self._constants:
            return
        value, ahead = self._sums.get(a, (a, 0.0))
        if operation in ('fadd', 'fsub'):
            self._sums[result] = value, ahead + (constant if operation == 'fadd' else -constant)
        elif operation == 'fmul' and a in self._sums:
            scaled = self.arithmetic('fmul', value, b)
            self._sums[result] = scaled, ahead * constant

    def intrinsic(self, name: str, *arguments: str) -> str:
        """Append a call of an LLVM intrinsic."""
        if self.element == 'float' and name not in _IN_ANY_PRECISION:
            return self._in_double(name, *arguments)
        function = f'@llvm.{name}.{self.suffix}'
        types = ', '.join(self.type for _ in arguments)
        self.declarations.add(f'declare {self.type} {function}({types})')
        values = ', '.join(f'{self.type} {a}' for a in arguments)
        return self.emit(f'call {self.type} {function}({values})')

    def _in_double(self, name: str, *arguments: str) -> str:
        """Append a call of the C library's function on doubles; there is none on floats."""
        wide = Block(self.lanes, lines=self.lines, declarations=self.declarations)
        values = [self.emit(f'fpext {self.type} {a} to {wide.type}') for a in arguments]
        return self.emit(f'fptrunc {wide.type} {wide.intrinsic(name, *values)} to {self.type}')

    def compare(self, predicate: str, a: str, b: str) -> str:
        """Append a comparison that is 1.0 or 0.0."""
        truth = self.emit(f'fcmp {predicate} {self.type} {a}, {b}')
        return self.emit(f'uitofp {self.truth} {truth} to {self.type}')

    def select(self, predicate: str, a: str, b: str, if_true: str, if_false: str) -> str:
        """Append ``if_true where a predicate b, else if_false``."""
        truth = self.emit(f'fcmp {predicate} {self.type} {a}, {b}')
        return self.emit(
            f'select {self.truth} {truth}, {self.type} {if_true}, {self.type} {if_false}'
        )

    def sine_and_cosine(self, angle: str) -> tuple[str, str]:
        """Append both functions of an angle, once for each angle."""
        angle, ahead = self._sums.get(angle, (angle, 0.0))
        if (angle, ahead) not in self._sincos:
            both = self.call_sincos(angle, self.constant(math.remainder(ahead, math.pi / 2)))
            self._sincos[angle, ahead] = self._turned(ahead, *both)
        return self._sincos[angle, ahead]

    def sines_at_once(self, angles: Iterable[str]) -> None:
        """Append both functions of several angles of one state, `angles_at_once` in a vector."""
        width = self.angles_at_once
        several = list(dict.fromkeys(self._sums.get(angle, (angle, 0.0)) for angle in angles))
        vector = Block(width, lines=self.lines)
        for begin in range(0, len(several) - 1, width):  # one that is left over comes by itself
            part = several[begin : begin + width]
            ahead = [self.constant(math.remainder(ahead, math.pi / 2)) for _, ahead in part]
            results = vector.call_sincos(
                vector.packed([angle for angle, _ in part]), vector.packed(ahead)
            )
            for lane, key in enumerate(part):
                both = [
                    vector.emit(f'extractelement {vector.type} {x}, i32 {lane}') for x in results
                ]
                self._sincos[key] = self._turned(key[1], *both)

    def _turned(self, ahead: float, sine: str, cosine: str) -> tuple[str, str]:
        """Append the quarter turns of a constant that is added to an angle."""
        for _ in range(round(ahead / (math.pi / 2)) % 4):
            sine, cosine = cosine, self.negate(sine)
        return sine, cosine

    def packed(self, values: Iterable[str], vector: str = 'zeroinitializer') -> str:
        """Append a vector of numbers, in the lanes after them what another vector has."""
        for k, x in enumerate(values):
            entry = f'{self.type} {vector}, {self.element} {x}, i32 {k}'
            vector = self.emit(f'insertelement {entry}')
        return vector

    def call_sincos(self, angle: str, ahead: str) -> tuple[str, str]:
        """Append both functions of the sum of an angle and a constant, |ahead| <= pi/4."""
        pair = f'{{ {self.type}, {self.type} }}'
        both = self.emit(
            f'call {pair} @kd_sincos_{self.suffix}({self.type} {angle}, {self.type} {ahead})'
        )
        sine, cosine = (self.emit(f'extractvalue {pair} {both}, {k}') for k in (0, 1))
        return sine, cosine


def append_operation(block: Block, operation: int, a: str, b: str) -> str:
    """Append one operation of a graph and return its value."""
    if operation in _BINARY:
        return block.binary(_BINARY[operation], a, b)
    if operation in _COMPARISONS:
        return block.compare(_COMPARISONS[operation], a, b)
    if operation in _INTRINSICS:
        return block.intrinsic(_INTRINSICS[operation], *((a, b) if b else (a,)))
    if operation == ca.OP_ASSIGN:
        return a
    if operation == ca.OP_NEG:
        return block.negate(a)
    if operation == ca.OP_SQ:
        return block.binary('fmul', a, a)
    if operation == ca.OP_TWICE:
        return block.binary('fadd', a, a)
    if operation == ca.OP_INV:
        return block.binary('fdiv', block.constant(1.0), a)
    if operation in (ca.OP_SIN, ca.OP_COS):
        return block.sine_and_cosine(a)[operation == ca.OP_COS]
    zero = block.constant(0.0)
    if operation == ca.OP_SIGN:  # 0 and NaN are their own sign
        minus = block.select('olt', a, zero, block.constant(-1.0), a)
        return block.select('ogt', a, zero, block.constant(1.0), minus)
    if operation == ca.OP_NOT:
        return block.compare('oeq', a, zero)
    if operation == ca.OP_IF_ELSE_ZERO:
        return block.select('une', a, zero, b, zero)
    raise UnsupportedOperationError(f'CasADi operation {operation} has no straight-line code')
