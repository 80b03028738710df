# SPDX-License-Identifier: Apache-2.0
"""
Write what `make bench` measured into performance.md and index.md, and keep it beside them.

``python doc/update_performance.py [studies-results/speed.json]``; without a file, from the results
that were kept.
"""

import json
import re
import sys
from pathlib import Path

DOC = Path(__file__).resolve().parent
KEPT = DOC / 'performance.json'
# Work and peer of the three lines of the start page, by what they begin with; what they say.
NUMBERS = (
    ('', 'pinocchio.forwardDynamics', 'one call of forward dynamics of TIAGo on its wheels'),
    ('batch of 100,000', 'pinocchio.rneaInParallel', '100,000 inverse dynamics of nine joints'),
    ('1,024 rollouts', 'mujoco.rollout', '1,024 rollouts of a mobile manipulator'),
)


def amount(value, unit):
    """Return a value with three digits and its unit."""
    if value is None:
        return ''
    for size, prefix in ((1e6, 'M'), (1e3, 'k')):
        if unit.endswith('/s') and value >= size:
            return f'{value / size:.3g} {prefix} {unit}'
    return f'{value:.3g} {unit}'.strip()


def cell(text):
    """Return text for a cell of a table."""
    return text.replace('|', r'\|')


def about(results):
    """Return the sentences on the machine and the run."""
    machine = results['machine']
    versions = ', '.join(f'{name} {number}' for name, number in results['versions'].items())
    load = ', '.join(map(str, machine['load']))
    others = ' Other programs used the cores meanwhile.' if results['contended'] else ''
    return (
        f'{machine["processor"]}, {machine["cores"]} cores, {machine["system"]}; commit '
        f'`{machine["commit"]}`, {machine["date"]}; {versions}. Load averages before: '
        f'{load}.{others}'
    )


def table(results):
    """Return all rows: what was computed, by whom, how fast."""
    lines = ['| work | ours | compared with | other | times as fast |', '|---|--:|---|--:|--:|']
    for row in results['rows']:
        if row['peer'] or row['unit'] != '':
            ratio = '' if row['ratio'] is None else f'{row["ratio"]:.2f}'
            values = [amount(row[side], row['unit']) for side in ('ours', 'theirs')]
            peer = row['peer'] or '-'
            lines.append(
                f'| {cell(row["work"])} | {values[0]} | {cell(peer)} | {values[1]} | {ratio} |'
            )
    notes = dict.fromkeys(
        f'- {row["work"]}: {row["note"]}' for row in results['rows'] if row['note']
    )
    return '\n'.join([about(results), '', *lines, '', 'Notes:', '', *notes])


def numbers(results):
    """Return the three numbers of the start page."""
    lines = []
    for work, peer, said in NUMBERS:
        row = next(
            row
            for row in results['rows']
            if row['work'].startswith(work) and row['peer'].startswith(peer)
        )
        ours, theirs = (amount(row[side], row['unit']) for side in ('ours', 'theirs'))
        lines.append(f'| {said} | {ours} | `{row["peer"]}`: {theirs} | {row["ratio"]:.1f} |')
    head = ['| | here | there | times as fast |', '|---|--:|---|--:|']
    return '\n'.join([*head, *lines])


def updated(page, results):
    """Return a page with its generated block renewed."""
    for name, block in (('results', table), ('numbers', numbers)):
        pattern = rf'<!-- {name} -->\n.*?<!-- end -->'
        if re.search(pattern, page, re.DOTALL):
            text = f'<!-- {name} -->\n\n{block(results)}\n\n<!-- end -->'
            page = re.sub(pattern, lambda _, t=text: t, page, flags=re.DOTALL)
    return page


if __name__ == '__main__':
    if len(sys.argv) > 1:
        KEPT.write_text(Path(sys.argv[1]).read_text())
    results = json.loads(KEPT.read_text())
    for page in (DOC / 'performance.md', DOC / 'index.md'):
        page.write_text(updated(page.read_text(), results))
