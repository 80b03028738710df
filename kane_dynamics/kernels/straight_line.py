# SPDX-License-Identifier: Apache-2.0
"""
Expression graphs as straight-line LLVM code.

The instruction list of a CasADi ``SX`` function is written as one basic block of LLVM IR, once on
``double`` for single states and once on vectors of doubles, one state per lane, for batches. No
flag lets the compiler assume away NaN or infinity: NaN in is NaN out. Sines of an angle plus a
constant, of which canonical body frames make many, add the constant after the argument reduction:
the sum of a large angle and a small constant would lose what the sine needs.
"""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass, field

import casadi as ca

from kane_dynamics.exceptions import UnsupportedOperationError

# Products may be fused into sums and divisions by one value share a reciprocal.
FLAGS = 'contract arcp nsz'

_BINARY = {
    ca.OP_ADD: 'fadd',
    ca.OP_SUB: 'fsub',
    ca.OP_MUL: 'fmul',
    ca.OP_DIV: 'fdiv',
}
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


@dataclass
class Block:
    """
    Code of one basic block under construction, on one type.

    Parameters
    ----------
    lanes : int
        1 for ``double``, else the number of states in a vector.

    Attributes
    ----------
    lines : list of str
        The code so far.
    declarations : set of str
        Of the intrinsics in it.

    """

    lanes: int
    lines: list[str] = field(default_factory=list)
    declarations: set[str] = field(default_factory=set)
    _sincos: dict[tuple[str, float], tuple[str, str]] = field(default_factory=dict)
    _constants: dict[str, float] = field(default_factory=dict)
    _sums: dict[str, tuple[str, float]] = field(default_factory=dict)
    _count: int = 0

    @property
    def type(self) -> str:
        """Return the LLVM type of a value."""
        return 'double' if self.lanes == 1 else f'<{self.lanes} x double>'

    @property
    def truth(self) -> str:
        """Return the LLVM type of a comparison."""
        return 'i1' if self.lanes == 1 else f'<{self.lanes} x i1>'

    @property
    def suffix(self) -> str:
        """Return the type as it stands in names of intrinsics."""
        return 'f64' if self.lanes == 1 else f'v{self.lanes}f64'

    def constant(self, value: float) -> str:
        """Return a literal."""
        (bits,) = struct.unpack('<Q', struct.pack('<d', value))
        literal = f'0x{bits:016X}'
        if self.lanes > 1:
            literal = f'<{", ".join([f"double {literal}"] * self.lanes)}>'
        self._constants[literal] = value
        return literal

    def emit(self, code: str) -> str:
        """Append ``name = code`` and return the name."""
        self._count += 1
        name = f'%x{self._count}'
        self.lines.append(f'{name} = {code}')
        return name

    def binary(self, operation: str, a: str, b: str) -> str:
        """Append an arithmetic operation."""
        result = self.emit(f'{operation} {FLAGS} {self.type} {a}, {b}')
        self._note_sum(result, operation, a, b)
        return result

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
            scaled = self.emit(f'fmul {FLAGS} {self.type} {value}, {b}')
            self._sums[result] = scaled, ahead * constant

    def intrinsic(self, name: str, *arguments: str) -> str:
        """Append a call of an LLVM intrinsic."""
        function = f'@llvm.{name}.{self.suffix}'
        types = ', '.join(self.type for _ in arguments)
        self.declarations.add(f'declare {self.type} {function}({types})')
        values = ', '.join(f'{self.type} {a}' for a in arguments)
        return self.emit(f'call {self.type} {function}({values})')

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
            quarters = round(ahead / (math.pi / 2))
            rest = self.constant(math.remainder(ahead, math.pi / 2))
            pair = f'{{ {self.type}, {self.type} }}'
            both = self.emit(
                f'call {pair} @kd_sincos_{self.suffix}({self.type} {angle}, {self.type} {rest})'
            )
            sine, cosine = (self.emit(f'extractvalue {pair} {both}, {k}') for k in (0, 1))
            for _ in range(quarters % 4):
                sine, cosine = cosine, self.emit(f'fneg {self.type} {sine}')
            self._sincos[angle, ahead] = sine, cosine
        return self._sincos[angle, ahead]


def append_operation(block: Block, operation: int, a: str, b: str) -> str:
    """
    Append one operation of a graph and return its value.

    Raises
    ------
    UnsupportedOperationError
        If the operation has no code here.

    """
    one, zero = block.constant(1.0), block.constant(0.0)
    if operation in _BINARY:
        return block.binary(_BINARY[operation], a, b)
    if operation in _COMPARISONS:
        return block.compare(_COMPARISONS[operation], a, b)
    if operation in _INTRINSICS:
        return block.intrinsic(_INTRINSICS[operation], *((a, b) if b else (a,)))
    if operation == ca.OP_ASSIGN:
        return a
    if operation == ca.OP_NEG:
        return block.emit(f'fneg {block.type} {a}')
    if operation == ca.OP_SQ:
        return block.binary('fmul', a, a)
    if operation == ca.OP_TWICE:
        return block.binary('fadd', a, a)
    if operation == ca.OP_INV:
        return block.binary('fdiv', one, a)
    if operation == ca.OP_SIN:
        return block.sine_and_cosine(a)[0]
    if operation == ca.OP_COS:
        return block.sine_and_cosine(a)[1]
    if operation == ca.OP_SIGN:  # 0 and NaN are their own sign
        minus = block.select('olt', a, zero, block.constant(-1.0), a)
        return block.select('ogt', a, zero, one, minus)
    if operation == ca.OP_NOT:
        return block.compare('oeq', a, zero)
    if operation == ca.OP_IF_ELSE_ZERO:
        return block.select('une', a, zero, b, zero)
    raise UnsupportedOperationError(f'CasADi operation {operation} has no straight-line code')


def append_graph(
    block: Block, function: ca.Function, inputs: list[list[str]]
) -> list[dict[int, str]]:
    """
    Append all instructions of an ``SX`` function.

    Parameters
    ----------
    block : Block
        Where the code goes.
    function : casadi.Function
        With dense inputs.
    inputs : list of list of str
        Value of each entry of each input.

    Returns
    -------
    list of dict of int to str
        Values of the nonzero entries of each output, by their index among the nonzeros.

    """
    work: dict[int, str] = {}
    outputs: list[dict[int, str]] = [{} for _ in range(function.n_out())]
    for k in range(function.n_instructions()):
        operation = function.instruction_id(k)
        target, source = function.instruction_output(k), function.instruction_input(k)
        if operation == ca.OP_CONST:
            work[target[0]] = block.constant(function.instruction_constant(k))
        elif operation == ca.OP_INPUT:
            work[target[0]] = inputs[source[0]][source[1]]
        elif operation == ca.OP_OUTPUT:
            outputs[target[0]][target[1]] = work[source[0]]
        else:
            b = work[source[1]] if len(source) > 1 else ''
            work[target[0]] = append_operation(block, operation, work[source[0]], b)
    return outputs


# Sine and cosine, Cody-Waite reduction by pi/2 in three parts with fused products, then the
# minimax polynomials of fdlibm's kernels on [-pi/4, pi/4] (errors below 1 ulp there). The first
# product leaves whole multiples of 2^-52 while x is below 1e14; beyond, digits are lost.
_HALF_PI = (1.5707963267948966, 6.123233995736766e-17, -1.4973849048591833e-33)
_SINE = (
    -1.66666666666666324348e-01,
    8.33333333332248946124e-03,
    -1.98412698298579493134e-04,
    2.75573137070700676789e-06,
    -2.50507602534068634195e-08,
    1.58969099521155010221e-10,
)
_COSINE = (
    4.16666666666666019037e-02,
    -1.38888888888741095749e-03,
    2.48015872894767294178e-05,
    -2.75573143513906633035e-07,
    2.08757232129817482790e-09,
    -1.13596475577881948265e-11,
)


def sincos_definition(lanes: int) -> tuple[str, set[str]]:
    """Return the IR of ``{sin, cos}(x + ahead)``, |ahead| <= pi/4, and its declarations."""
    block = Block(lanes)
    x, ahead, const = '%x', '%ahead', block.constant

    def fma(a: str, b: str, c: str) -> str:
        return block.intrinsic('fma', a, b, c)

    def horner(z: str, coefficients: tuple[float, ...]) -> str:
        value = const(coefficients[-1])
        for coefficient in coefficients[-2::-1]:
            value = fma(value, z, const(coefficient))
        return value

    two_over_pi = const(0.6366197723675814)
    quarters, more = (
        block.emit(f'fmul {FLAGS} {block.type} {y}, {two_over_pi}') for y in (x, ahead)
    )
    turns = block.intrinsic('rint', block.emit(f'fadd {FLAGS} {block.type} {quarters}, {more}'))
    minus = block.emit(f'fneg {block.type} {turns}')
    r = x
    for part in _HALF_PI:
        r = fma(minus, const(part), r)
    r = block.emit(f'fadd {FLAGS} {block.type} {r}, {ahead}')
    z = block.emit(f'fmul {block.type} {r}, {r}')
    cube = block.emit(f'fmul {block.type} {z}, {r}')
    sine = fma(cube, horner(z, _SINE), r)
    half = block.emit(f'fmul {block.type} {z}, {const(0.5)}')
    near = block.emit(f'fsub {block.type} {const(1.0)}, {half}')
    lost = block.emit(f'fsub {block.type} {const(1.0)}, {near}')
    lost = block.emit(f'fsub {block.type} {lost}, {half}')
    square = block.emit(f'fmul {block.type} {z}, {z}')
    tail = fma(square, horner(z, _COSINE), lost)
    cosine = block.emit(f'fadd {block.type} {near}, {tail}')
    # quadrant k = turns mod 4: odd ones exchange sine and cosine
    fours = block.intrinsic('floor', block.emit(f'fmul {block.type} {turns}, {const(0.25)}'))
    k = fma(fours, const(-4.0), turns)
    halves = block.intrinsic('floor', block.emit(f'fmul {block.type} {k}, {const(0.5)}'))
    odd = fma(halves, const(-2.0), k)
    # odd is 0 or 1; a comparison of its own for each choice, else LLVM makes a jump of it
    s = block.select('ogt', odd, const(0.5), cosine, sine)
    c = block.select('olt', odd, const(0.5), cosine, sine)
    s_minus = block.emit(f'fneg {block.type} {s}')
    s = block.select('oge', k, const(2.0), s_minus, s)
    c_minus = block.emit(f'fneg {block.type} {c}')
    middle = block.intrinsic('fabs', block.emit(f'fsub {block.type} {k}, {const(1.5)}'))
    c = block.select('olt', middle, const(1.0), c_minus, c)
    pair = f'{{ {block.type}, {block.type} }}'
    first = block.emit(f'insertvalue {pair} poison, {block.type} {s}, 0')
    both = block.emit(f'insertvalue {pair} {first}, {block.type} {c}, 1')
    lines = '\n  '.join([*block.lines, f'ret {pair} {both}'])
    name = f'@kd_sincos_{block.suffix}'
    parameters = f'{block.type} {x}, {block.type} {ahead}'
    text = f'define internal {pair} {name}({parameters}) alwaysinline {{\n  {lines}\n}}\n'
    return text, block.declarations
