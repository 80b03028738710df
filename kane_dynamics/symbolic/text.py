# SPDX-License-Identifier: Apache-2.0
"""Equations of motion as text, LaTeX and Python source."""

from collections.abc import Iterator, Sequence
from typing import Any

import sympy
from sympy.printing.latex import LatexPrinter
from sympy.printing.str import StrPrinter

from kane_dynamics.symbolic.equations import EquationsOfMotion

_LETTERS = {'q': 'q', 'v': 'v', 'vdot': r'\dot v', 'tau': r'\tau', 'multipliers': r'\lambda'}


class _Text(StrPrinter):
    """Plain text, coefficients with so many digits (0: all), symbols by their names."""

    times = '*'

    def __init__(self, digits: int, names: dict[Any, str]) -> None:
        super().__init__()
        self._digits, self._names = digits, names

    def _print_Symbol(self, expr: Any) -> str:  # noqa: N802  (SymPy finds printers by class name)
        return self._names.get(expr, expr.name)

    def _print_Float(self, expr: Any) -> str:  # noqa: N802
        return f'{float(expr):.{self._digits}g}' if self._digits else repr(float(expr))


class _Latex(LatexPrinter):
    """LaTeX, coefficients with so many digits, symbols by their names."""

    times = ' '

    def __init__(self, digits: int, names: dict[Any, str]) -> None:
        super().__init__({'symbol_names': names})
        self._digits = digits

    def _print_Float(self, expr: Any) -> str:  # noqa: N802
        mantissa, _, exponent = f'{float(expr):.{self._digits}g}'.partition('e')
        return rf'{mantissa} \cdot 10^{{{int(exponent)}}}' if exponent else mantissa


def as_text(equations: EquationsOfMotion, digits: int) -> str:
    """Return the equations as lines of text."""
    printer = _Text(digits, {})
    lines = [f'equations of motion of {equations.name}']
    lines += [f'{left} = {right}' for left, right in _motion(equations, printer)]
    for k, label in enumerate(equations.labels):
        lines += ['', f'constraint {label}, multiplier {equations.multipliers[k]}']
        lines += [f'{left} = {right}' for left, right in _constraint(equations, k, printer)]
    rates = [f'd({coordinate})/dt = {right}' for coordinate, right in _rates(equations, printer)]
    return '\n'.join([*lines, *([''] if rates else []), *rates])


def as_latex(equations: EquationsOfMotion, digits: int) -> str:
    """Return the equations as comments and one ``aligned`` environment."""
    names = {
        symbol: f'{letter}_{{{k}}}'
        for kind, letter in _LETTERS.items()
        for k, symbol in enumerate(getattr(equations, kind), 1)
    }
    printer = _Latex(digits, names)
    legend = [f'% {names[symbol]}: {symbol}' for symbol in (*equations.q, *equations.v)]
    legend += [
        f'% {names[symbol]}: {label}'
        for symbol, label in zip(equations.multipliers, equations.labels, strict=True)
    ]
    rows = [*_motion(equations, printer)]
    for k in range(len(equations.labels)):
        rows += _constraint(equations, k, printer)
    rows += [(rf'\dot {left}', right) for left, right in _rates(equations, printer)]
    body = ' \\\\\n'.join(f'{left} &= {right}' for left, right in rows)
    return '\n'.join([*legend, r'\begin{aligned}', body, r'\end{aligned}'])


def as_source(equations: EquationsOfMotion, quantities: Sequence[str]) -> str:
    """Return Python source of the symbols and of the named matrices."""
    groups = {kind: getattr(equations, kind) for kind in _LETTERS}
    names = {
        symbol: f'{kind}[{k}]' for kind, group in groups.items() for k, symbol in enumerate(group)
    }
    printer = _Text(0, {**names, equations.t: 't'})
    lines = [
        '# M vdot + C v + g + friction = tau + A.T lambda; A v = b0; A vdot = b (SI units)',
        'from sympy import *',
        '',
    ]
    for kind, group in groups.items():
        labels = [str(symbol) for symbol in group]
        lines.append(f'{kind} = [Symbol(name, real=True) for name in {labels!r}]')
    lines += [f't = Symbol({str(equations.t)!r}, real=True)', '']
    for quantity in quantities:
        entries = getattr(equations, quantity)
        text = ',\n    '.join(printer.doprint(entry) for entry in entries)
        lines.append(f'{quantity} = Matrix({entries.rows}, {entries.cols}, [\n    {text}\n])')
    lines.append(f'labels = {list(equations.labels)!r}')
    return '\n'.join(lines)


def _motion(equations: EquationsOfMotion, printer: Any) -> Iterator[tuple[str, str]]:
    """Return both sides of each equation of motion."""
    for k, effort in enumerate(equations.tau):
        left = _products(equations.mass_matrix.row(k), equations.vdot, printer)
        for part in (equations.velocity_force, equations.gravity_force, equations.friction):
            left += _terms(part[k], printer)
        pull = _products(equations.constraint_matrix.col(k), equations.multipliers, printer)
        yield _joined(left), _joined([printer.doprint(effort), *pull])


def _constraint(equations: EquationsOfMotion, k: int, printer: Any) -> Iterator[tuple[str, str]]:
    """Return both sides of A v = b_0 and of A vdot = b of one row."""
    for rates, right in (
        (equations.v, equations.constraint_velocity),
        (equations.vdot, equations.constraint_acceleration),
    ):
        left = _products(equations.constraint_matrix.row(k), rates, printer)
        yield _joined(left), _joined(_terms(right[k], printer))


def _rates(equations: EquationsOfMotion, printer: Any) -> Iterator[tuple[str, str]]:
    """Return each coordinate whose rate is not a speed, and the rate."""
    for coordinate, rate in zip(equations.q, equations.coordinate_rate, strict=True):
        if not rate.is_Symbol:
            yield printer.doprint(coordinate), _joined(_terms(rate, printer))


def _products(coefficients: Any, symbols: Sequence[Any], printer: Any) -> list[str]:
    """Return the products that are not zero, sums in parentheses first."""
    products = []
    for coefficient, symbol in zip(coefficients, symbols, strict=True):
        if coefficient.is_Add:
            inside, factor = printer.doprint(coefficient), printer.doprint(symbol)
            products.append(f'({inside}){printer.times}{factor}')
        elif coefficient != 0:
            products.append(printer.doprint(coefficient * symbol))
    return products


def _terms(expression: Any, printer: Any) -> list[str]:
    return [printer.doprint(term) for term in sympy.Add.make_args(expression) if term != 0]


def _joined(terms: Sequence[str]) -> str:
    """Return terms as a sum, minus signs in place of plus signs."""
    text = ''.join(
        f' - {term[1:].lstrip()}' if term.startswith('-') else f' + {term}' for term in terms
    )
    return f'-{text[3:]}' if text.startswith(' - ') else text[3:] or '0'
