# SPDX-License-Identifier: Apache-2.0
"""Tables of the compared accelerations, next to Table 2 of the paper."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from studies.report import Table
from studies.silva import contact, paper
from studies.silva.comparison import (
    COMPILED,
    CUTOFF,
    METHODS,
    ORDER,
    REFERENCES,
    TARGET,
    Agreement,
    lack,
)
from studies.silva.evaluation import GAUSS, Evaluation, Softness
from studies.silva.recording import SAMPLE

NAMES = {
    'newton_euler': 'newton_euler (dqNE, n + 2 runs)',
    'gauss': 'gauss (dqGP)',
    'kane': 'kane',
    'canonical': 'canonical',
    COMPILED: 'kd.compile, machine code',
}
_CMC = 'CMC min / mean / std / max'
_ERRORS = ('1 - min', 'largest RMSE', 'largest error')


def agreement_table(done: Sequence[Evaluation]) -> Table:
    """Return Table 2 with ours against the accelerations that MuJoCo reports."""
    table = Table(
        'Joint accelerations against those that MuJoCo reports (Table 2)',
        ('method', _CMC, *_ERRORS, f'min >= {TARGET}'),
    )
    for each in done:
        _paper_rows(table, each)
        for method in (*METHODS, COMPILED):
            found = each.of(method)
            table.add(f'  here, {NAMES[method]}', *_cells(found), 'yes' if found.passed else 'NO')
            if not found.passed:
                table.notes.append(_explain(each, found))
        table.line()
    table.notes += [_description(each) for each in done]
    table.notes += [
        'Both sides have the same states and efforts. 1 - min, RMSE and error: of the worst '
        'coordinate [rad/s^2 or m/s^2].',
        'The paper used V-REP with other robots and efforts that it does not print, and has no '
        'dqNE with constraints; here its M, C v and g are combined with the same rows.',
    ]
    return table


def protocol_table(done: Sequence[Evaluation]) -> Table:
    """Return dqGP against the accelerations that the paper's protocol makes of speeds."""
    table = Table(
        'gauss (dqGP) against accelerations that are made from sampled speeds',
        ('reference', _CMC, *_ERRORS),
    )
    for each in done:
        _paper_rows(table, each)
        for reference, meaning in REFERENCES.items():
            table.add(f'  {meaning}', *_cells(each.of(GAUSS, reference)))
        table.line()
    table.notes += [
        f'Samples every {1e3 * SAMPLE:g} ms; Butterworth filter of order {ORDER} with {CUTOFF:g} '
        'Hz cut-off (the paper prints neither); second-order forward difference.',
        'Our accelerations are the same in all rows of a robot: what is lost here is lost in the '
        'reference.',
    ]
    return table


def cutoff_table(done: Sequence[Evaluation]) -> Table:
    """Return how the delay of the one-way filter sets CMC."""
    cutoffs = [cutoff for cutoff, _ in done[0].cutoffs]
    heads = [f'{cutoff:g} Hz, {_delay(cutoff):.0f} ms' for cutoff in cutoffs]
    table = Table(
        'CMC min / mean of gauss (dqGP) by cut-off and delay of the one-way filter',
        ('robot', *heads, 'paper'),
    )
    for each in done:
        rows = [found.row for _, found in each.cutoffs]
        printed = paper.CORRELATIONS[each.case.key]['dqGP']
        table.add(
            each.case.title,
            *(f'{row.minimum:.4f} / {row.mean:.4f}' for row in rows),
            f'{printed.minimum:.4f} / {printed.mean:.4f}',
        )
    table.notes += [
        'A filter that runs forwards delays slow signals by sqrt(2)/(2 pi f_c). One such delay is '
        'enough to make equal accelerations look as different as in Table 2; that it is what '
        'happened there cannot be known.',
        'nan: a negative radicand, waveforms that differ more than they vary.',
    ]
    return table


def softness_table(rows: Sequence[Softness]) -> Table:
    """Return how MuJoCo's soft rolling approaches the exact row."""
    table = Table(
        'Sideways slip that MuJoCo lets happen, and gauss (dqGP) against reported accelerations',
        ('contact T', 'MuJoCo step', 'largest slip', 'expected', '1 - min CMC', 'largest error'),
    )
    for row in rows:
        table.add(
            f'{1e3 * row.time_constant:g} ms',
            f'{1e3 * row.step:g} ms',
            f'{row.slip:.2e} m/s',
            f'{row.expected:.2e} m/s',
            lack(row.least),
            f'{row.error:.1e}',
        )
    table.notes += [
        'No side slip (64) in MuJoCo: a skid along the axle, pressed on the ground, with friction '
        f'{contact.GRIP:g} along the axle and 1e-5 along the way (elliptic cone, Newton solver). '
        'MuJoCo finds the force; it is given none of ours.',
        'MuJoCo asks for A vdot = -beta A v, beta = 2/(d T), without the term -Adot v = b of the '
        'exact row: the platform slips by -b/beta, the expected slip. Halving T halves the slip '
        'and quarters 1 - CMC: MuJoCo converges to the exact row.',
        "Our accelerations are those of MuJoCo's states as they are, slip included.",
    ]
    return table


def _paper_rows(table: Table, each: Evaluation) -> None:
    table.add(each.case.title, *('' for _ in table.columns[1:]))
    for algorithm, row in paper.CORRELATIONS[each.case.key].items():
        less = lack(row.minimum)
        table.add(f'  paper, {algorithm}', str(row), less, *('' for _ in table.columns[3:]))


def _description(each: Evaluation) -> str:
    """Return what was simulated."""
    seconds = each.recording.time[each.samples[-1]]
    labels = [label for c in each.case.constraints for label in c.labels]
    rows = f', rows {", ".join(labels)}' if labels else ''
    return (
        f'{each.case.title}: {each.case.robot.nv} coordinates{rows}; {len(each.samples)} samples '
        f'in {seconds:.1f} s, speeds up to {np.abs(each.recording.v).max():.1f}, accelerations up '
        f'to {np.abs(each.recording.acceleration).max():.1f} (rad or m, s), seed {each.case.seed}.'
    )


def _cells(found: Agreement) -> tuple[str, ...]:
    row = found.row
    return (str(row), lack(row.minimum), f'{found.rmse.max():.1e}', f'{found.error.max():.1e}')


def _explain(each: Evaluation, found: Agreement) -> str:
    """Return which coordinates miss the target, and what that means."""
    names = each.case.robot.velocity_names
    worst = [
        f'{name} (CMC {found.correlation[k]:.6f}, RMSE {found.rmse[k]:.1e} of a reference that '
        f'varies by {found.spread[k]:.1e})'
        for k, name in enumerate(names)
        if name in found.missed(names)
    ]
    why = (
        "MuJoCo's rolling is soft: A vdot of the two differs by the rate of the slip"
        if each.case.constraints
        else 'no constraint is soft here: a coordinate that hardly accelerates, or an error'
    )
    return (
        f'{each.case.title}, {NAMES[found.method]} misses the target at {", ".join(worst)}: {why}.'
    )


def _delay(cutoff: float) -> float:
    """Return the delay of the one-way filter for slow signals [ms]."""
    return 1e3 * float(np.sqrt(2.0)) / (2.0 * np.pi * cutoff)
