# SPDX-License-Identifier: Apache-2.0
"""Sine and cosine together as LLVM code without branches."""

from dataclasses import dataclass

from kane_dynamics.compiler.llvm.straight_line import FLAGS, Block


@dataclass(frozen=True)
class Series:
    """pi/2 in parts; polynomials in x^2 of (sin x / x - 1) / x^2 and (cos x - 1 + x^2/2) / x^4."""

    half_pi: tuple[float, ...]
    sine: tuple[float, ...]
    cosine: tuple[float, ...]


# Cody-Waite reduction by pi/2 in three parts with fused products, then minimax polynomials on
# [-pi/4, pi/4]. The first product leaves whole multiples of the last place of 1 while x is below
# 1e14 in double and 1e5 in single precision; beyond, digits are lost.
SERIES = {
    # fdlibm's kernels, errors below 1 ulp
    'double': Series(
        (1.5707963267948966, 6.123233995736766e-17, -1.4973849048591833e-33),
        (
            -1.66666666666666324348e-01,
            8.33333333332248946124e-03,
            -1.98412698298579493134e-04,
            2.75573137070700676789e-06,
            -2.50507602534068634195e-08,
            1.58969099521155010221e-10,
        ),
        (
            4.16666666666666019037e-02,
            -1.38888888888741095749e-03,
            2.48015872894767294178e-05,
            -2.75573143513906633035e-07,
            2.08757232129817482790e-09,
            -1.13596475577881948265e-11,
        ),
    ),
    # by Remez' exchange with 40 digits for least relative error: 3.8e-9 of a sine, 1.2e-10 of a
    # cosine, beside roundings of 6e-8
    'float': Series(
        (1.5707963705062866, -4.371138828673793e-08, -1.7151245100058819e-15),
        (-0.16666654536623085, 0.0083321560535625047, -0.00019514631872293675),
        (0.041666645554488761, -0.0013887309867470921, 2.4432413068910361e-5),
    ),
}


def sincos_definition(lanes: int, element: str = 'double') -> tuple[str, set[str]]:
    """Return the IR of ``{sin, cos}(x + ahead)``, |ahead| <= pi/4, and its declarations."""
    block, series = Block(lanes, element), SERIES[element]
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
    for part in series.half_pi:
        r = fma(minus, const(part), r)
    r = block.emit(f'fadd {FLAGS} {block.type} {r}, {ahead}')
    z = block.emit(f'fmul {block.type} {r}, {r}')
    cube = block.emit(f'fmul {block.type} {z}, {r}')
    sine = fma(cube, horner(z, series.sine), r)
    half = block.emit(f'fmul {block.type} {z}, {const(0.5)}')
    near = block.emit(f'fsub {block.type} {const(1.0)}, {half}')
    lost = block.emit(f'fsub {block.type} {const(1.0)}, {near}')
    lost = block.emit(f'fsub {block.type} {lost}, {half}')
    square = block.emit(f'fmul {block.type} {z}, {z}')
    tail = fma(square, horner(z, series.cosine), lost)
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
