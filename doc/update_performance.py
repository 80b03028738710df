# SPDX-License-Identifier: Apache-2.0
"""
Write what `make bench` measured into README.md, performance.md and index.md.

``python doc/update_performance.py [studies-results/speed.json NAME]`` keeps the results as
``doc/performance/NAME.json`` first, in place of those of this name; the pages show all that are
kept, each with its machine and commit.
"""

import json
import re
import sys
from pathlib import Path

DOC = Path(__file__).resolve().parent
KEPT = DOC / 'performance'
# What the README says: work and peer match these, and the ratios of all such rows are its range.
CLAIMS = (
    ('as fast as the C that Pinocchio generates', r'TIAGo .*from Python', r'pinocchio \w+, C'),
    ('as fast as its bindings', r'TIAGo', r'pinocchio\.'),
    ('as fast as in `mujoco.rollout`, whose contacts are soft', r'rollouts', r'mujoco\.rollout'),
)
# The lines of the start page: what they say, and what work and peer begin with.
NUMBERS = (
    (
        'forward dynamics of TIAGo on rolling wheels, a call',
        ('constrained forward dynamics, TIAGo', 'pinocchio.forwardDynamics'),
        'python -m studies.speed --only tiago',
    ),
    (
        'inverse dynamics of nine joints, 100,000 at once',
        ('batch of 100,000', 'pinocchio.rneaInParallel'),
        'python -m studies.speed --only batch',
    ),
    (
        'a mobile manipulator on rolling wheels, 1,024 motions at once',
        ('1,024 rollouts of 100 steps, RK4, 10 speeds', 'mujoco.rollout'),
        'python -m studies.speed --only rollouts',
    ),
)


def amount(value, unit):
    """Return a value with three digits and its unit."""
    if value is None:
        return ''
    for size, prefix in ((1e6, 'million '), (1e3, 'thousand ')):
        if unit.endswith('/s') and value >= size:
            return f'{value / size:.3g} {prefix}{unit}'
    return f'{value:.3g} {unit}'.strip()


def ratio(row):
    """Return how many times as fast this package is."""
    return '' if row['ratio'] is None else f'{row["ratio"]:.3g}'


def about(results):
    """Return the sentences on the machine and the run."""
    machine = results['machine']
    versions = ', '.join(f'{name} {number}' for name, number in results['versions'].items())
    state = 'Other programs used the cores.' if results['contended'] else 'Little else ran.'
    return (
        f'{machine["processor"]}, {machine["cores"]} cores, {machine["system"]}; commit '
        f'`{machine["commit"]}`, {machine["date"]}; {versions}. {state} Load averages before the '
        f'run: {", ".join(map(str, machine["load"]))}.'
    )


def table(results):
    """Return the rows that have another to compare with: what, by whom, how fast."""
    lines = ['| work | here | compared with | there | times as fast |', '|---|--:|---|--:|--:|']
    shown = [row for row in results['rows'] if row['theirs'] is not None]
    for row in shown:
        ours, theirs = (amount(row[side], row['unit']) for side in ('ours', 'theirs'))
        lines.append(f'| {row["work"]} | {ours} | `{row["peer"]}` | {theirs} | {ratio(row)} |')
    notes = dict.fromkeys(f'- {row["work"]}: {row["note"]}' for row in shown if row['note'])
    return '\n'.join([*lines, '', *notes])


def sections(runs):
    """Return one section for each run that is kept."""
    parts = []
    for name, results in runs.items():
        parts += [f'## {name.replace("_", " ").capitalize()}', about(results), table(results)]
    return '\n\n'.join(parts)


def numbers(runs):
    """Return the three numbers of the start page."""
    lines = ['| | here | there | times as fast |', '|---|--:|--:|--:|']
    rows = [row for results in runs.values() for row in results['rows']]
    for said, beginnings, _ in NUMBERS:
        row = next(
            row
            for row in rows
            if all(row[k].startswith(b) for k, b in zip(('work', 'peer'), beginnings, strict=True))
        )
        ours, theirs = (amount(row[side], row['unit']) for side in ('ours', 'theirs'))
        peer = row['peer'].partition(',')[0].partition(' ')[0]
        lines.append(f'| {said} | {ours} | `{peer}`: {theirs} | {ratio(row)} |')
    commands = [command for _, _, command in NUMBERS]
    by = 'In this order, by (each takes minutes)'
    return '\n'.join([*lines, '', by, '', '```', *commands, '```'])


def claims(runs):
    """Return the sentence of the README, with the range of the ratios of each claim."""
    rows = [row for results in runs.values() for row in results['rows'] if row['ratio']]
    parts = []
    for said, work, peer in CLAIMS:
        ratios = [
            row['ratio']
            for row in rows
            if re.search(work, row['work']) and re.match(peer, row['peer'])
        ]
        parts.append(f'{min(ratios):.2g} to {max(ratios):.2g} times {said}')
    generated, bindings, rollouts = parts
    return (
        f'On TIAGo, from Python, it is {generated} and\n{bindings}; 1,024 motions at once run\n'
        f'{rollouts} ([measured](doc/performance.md) by `make bench`).'
    )


def updated(page):
    """Return a page with its generated block renewed."""
    runs = {file.stem: json.loads(file.read_text()) for file in sorted(KEPT.glob('*.json'))}
    for name, block in (('results', sections), ('numbers', numbers), ('claims', claims)):
        pattern = rf'<!-- {name} -->\n.*?<!-- end -->'
        if re.search(pattern, page, re.DOTALL):
            text = f'<!-- {name} -->\n\n{block(runs)}\n\n<!-- end -->'
            page = re.sub(pattern, lambda _, t=text: t, page, flags=re.DOTALL)
    return page


PAGES = (DOC.parent / 'README.md', DOC / 'performance.md', DOC / 'index.md')

if __name__ == '__main__':
    if len(sys.argv) > 1:
        source, name = sys.argv[1:]
        KEPT.mkdir(exist_ok=True)
        (KEPT / f'{name}.json').write_text(Path(source).read_text())
    for page in PAGES:
        page.write_text(updated(page.read_text()))
