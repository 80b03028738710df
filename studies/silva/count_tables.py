# SPDX-License-Identifier: Apache-2.0
"""Tables of operations and times, next to Table 3 and section 6 of the paper."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from studies.report import Table
from studies.silva import paper
from studies.silva.counting import DQGP, DQNE, LARGEST, Counts, Timing


def operations_table(counts: Mapping[str, Counts]) -> Table:
    """Return Table 3 with the operations that are counted here."""
    table = Table(
        'Operations for a serial chain of n revolute joints (Table 3)',
        (
            'algorithm',
            'multiplications',
            'additions',
            f'n = {LARGEST}',
            'max residual',
            'relative',
        ),
    )
    for algorithm, classic in ((DQNE, 'classic NE'), (DQGP, 'classic EL')):
        for name in (algorithm, classic):
            products, sums = paper.PRODUCTS[name], paper.SUMS[name]
            ends = (paper.formula(p, LARGEST) for p in (products, sums))
            table.add(f'paper, {name}', _text(products), _text(sums), _pair(*ends), '', '')
        _counted(table, counts[algorithm])
        table.line()
    table.notes += [
        'Here: operations of the traced graphs of kd.serial_chain(n), with polynomials of least '
        'squares; relative: norm of all residuals over norm of the counts. Divisions count '
        'as multiplications and changes of sign as additions; sines, cosines and roots are left '
        'out of both.',
        'dqNE is one inverse dynamics, dqGP the matrices M, C and g. The paper counts any joint '
        'and full dual quaternion products; here pure quaternions, fixed axes and constants have '
        'been worked into the code, and common subexpressions are computed once.',
        "The classic EL count is Hollerbach's recursive inverse dynamics, not a matrix model.",
    ]
    return table


def timing_table(timings: Sequence[Timing], counts: Mapping[str, Counts]) -> Table:
    """Return times of forward dynamics, next to those of the paper."""
    joints = counts[DQGP].sizes[-1]
    table = Table(
        f'Accelerations of a serial chain of {joints} joints',
        ('what runs', 'dqNE, one run', f'dqNE, {joints + 2} runs', 'dqGP', 'dqNE / dqGP'),
    )
    matlab, cpp = paper.MATLAB_TIME, paper.EXPECTED_CPP_TIME
    for way, times in (('paper, MATLAB, 50 joints', matlab), ('paper, C++ expected', cpp)):
        one = times[DQNE] / paper.RUNS
        ratio = f'{times[DQNE] / times[DQGP]:.2f}'
        table.add(way, _time(one), _time(times[DQNE]), _time(times[DQGP]), ratio)
    for row in timings:
        both = row.newton_euler and row.gauss
        ratio = f'{row.newton_euler / row.gauss:.2f}' if both else ''
        times = (row.one_run, row.newton_euler, row.gauss)
        table.add(f'here, {row.way}', *(_time(t) for t in times), ratio)
    table.notes += [
        'Forward dynamics: n + 2 runs of dqNE, or M, C and g of dqGP, then one solve. The '
        "paper's times are its own machine's; the time of one run there is the total over 52.",
        'In Python dqNE is scalar quaternion operations, one by one; the sums of dqGP are numpy '
        'matrix products.',
        f'By operations, without the solve: {_ratio(counts, joints):.2f} here; '
        f'{_printed_ratio():.2f} by the formulas of Table 3 at n = {LARGEST}.',
        'The graph of dqGP at 50 joints is too large to be compiled as straight-line code.',
    ]
    return table


def _ratio(counts: Mapping[str, Counts], joints: int) -> float:
    """Return operations of n + 2 runs of dqNE over those of dqGP, as counted."""
    run, matrices = (counts[name].counts[-1] for name in (DQNE, DQGP))
    return (joints + 2) * (run.products + run.sums) / (matrices.products + matrices.sums)


def _printed_ratio() -> float:
    run, matrices = (
        sum(paper.formula(table[name], LARGEST) for table in (paper.PRODUCTS, paper.SUMS))
        for name in (DQNE, DQGP)
    )
    return paper.RUNS * run / matrices


def _counted(table: Table, counts: Counts) -> None:
    fits = [counts.fit(kind) for kind in ('products', 'sums')]
    last = counts.counts[-1]
    ends = (
        _pair(last.products, last.sums)
        if counts.sizes[-1] == LARGEST
        else _pair(*(float(fit(LARGEST)) for fit in fits)) + ' (fit)'
    )
    table.add(
        f'here, {counts.algorithm}',
        *(str(fit) for fit in fits),
        ends,
        _pair(*(fit.max_residual for fit in fits)),
        ' / '.join(f'{fit.relative_residual:.1e}' for fit in fits),
    )
    table.add(
        '  nothing shared',
        '',
        '',
        f'{_pair(counts.unshared.products, counts.unshared.sums)}'
        + ('' if counts.sizes[-1] == LARGEST else f' (n = {counts.sizes[-1]})'),
        '',
        '',
    )


def _text(coefficients: Sequence[Fraction]) -> str:
    text = ''
    for power, number in zip(range(len(coefficients) - 1, -1, -1), coefficients, strict=True):
        if number:
            sign = '-' if number < 0 else '+'
            size = abs(number)
            factor = str(size) if size.denominator == 1 else f'({size})'
            text += f' {sign} {factor}{("", "n", "n^2", "n^3")[power]}'
    return text.removeprefix(' + ')


def _pair(products: float, sums: float) -> str:
    return f'{products:,.0f} / {sums:,.0f}'


def _time(seconds: float | None) -> str:
    if seconds is None:
        return '-'
    for unit, size in (('s', 1.0), ('ms', 1e-3)):
        if seconds >= size:
            return f'{seconds / size:.3g} {unit}'
    return f'{seconds / 1e-6:.3g} us'
