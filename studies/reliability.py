# SPDX-License-Identifier: Apache-2.0
"""
The page doc/reliability.md: what was tried to break the package, and what came of it.

    make soak PRIORITY=50; make soak LOOP=1 PRIORITY=50
    make soak RATE=250 MINUTES=10 TIME=simulated; make fuzz; make sanitize
    make deadlines; make deadlines TOGETHER=1
    python -m studies.reliability

The first leave JSON files in studies-results; this keeps them in doc/results, and makes the page
and its plot of what is kept there.
"""

from __future__ import annotations

import argparse
import hashlib
import itertools
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np

from studies.reliability_text import CAUSES, DEADLINE_WORDS, HEAD, SANITIZED, SOAKED, TAIL

matplotlib.use('Agg')
import matplotlib.pyplot as plt

DOC = Path(__file__).resolve().parents[1] / 'doc'
KEPT, FRESH = DOC / 'results', Path('studies-results')
SOAKS = ('soak_500', 'soak_loop', 'soak_250')
DEADLINES = ('deadlines', 'deadlines_together')
NAMES = (*SOAKS, *DEADLINES, 'fuzz', 'sanitizers')
PAGE, FIGURE = 'reliability.md', 'reliability.svg'
Results = dict[str, Any]


def read(folder: Path = KEPT) -> Results:
    """Return the results that are kept, by name."""
    paths = {name: folder / f'{name}.json' for name in NAMES}
    return {n: json.loads(path.read_text()) for n, path in paths.items() if path.is_file()}


def digest(results: Results) -> str:
    """Return a short hash of results, that says whether a plot is of these."""
    return hashlib.sha256(json.dumps(results, sort_keys=True).encode()).hexdigest()[:16]


def rows_of(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table in Markdown, numbers to the right."""
    lines = [heads, ['---', *['---:'] * (len(heads) - 1)], *rows]
    return '\n'.join('| ' + ' | '.join(line) + ' |' for line in lines)


def total(soak: Results, name: str) -> int:
    """Return the sum over all faults."""
    return sum(row[name] for row in soak['faults'])


def place(machine: Results) -> str:
    """Return a machine in words."""
    load = f', load average {machine["load"][0]:g} at the end' if machine.get('load') else ''
    return f'{machine["processor"]}, {machine["cores"]} hyperthreads{load}'


def soak_lines(soak: Results) -> list[str]:
    """Return what came of one soak."""
    seen = [row for row in soak['faults'] if row['times']]
    efforts = {n: sum(m['efforts'] for m in ms) for n, ms in soak['efforts'].items()}
    longest = max(row['recovery'] for row in seen)
    return [
        f'### {title(soak)}',
        '',
        f'Commit `{soak["commit"]}`; {place(soak["machine"])}.',
        '',
        rows_of(
            ('seen', 'number'),
            [
                ('faults', f'{total(soak, "times"):,} of {len(seen)} kinds'),
                ('states passed on', f'{total(soak, "states"):,}'),
                ('states a second, with all pauses', f'{pace(soak):.0f}'),
                ('outputs looked at', f'{total(soak, "outputs"):,}'),
                ('efforts that answer a state', f'{sum(efforts.values()):,}'),
                ('outputs that are not finite', f'{total(soak, "not_finite"):,}'),
                ('efforts without a usable state', f'{total(soak, "unfounded"):,}'),
                ('efforts later than their timeout', late_words(soak)),
                ('longest way back to all outputs', f'{longest:.1f} s'),
            ],
        ),
        '',
        *([f'Failed: {"; ".join(soak["failures"])}.', ''] if soak['failures'] else []),
        rows_of(
            ('efforts of', 'number', 'half within', '99 % within (worst minute)', 'longest'),
            [latency(name, minutes) for name, minutes in soak['efforts'].items()],
        ),
        '',
        rows_of(
            ('memory of', 'at the end', 'change in a long life', 'long lives'),
            [
                (
                    f'`{name}`',
                    f'{memory["samples"][-1][2]:.1f} MB',
                    f'{memory["change_percent"]:+.2f} %',
                    str(memory['long_lives']),
                )
                for name, memory in soak['memory'].items()
            ],
        ),
        '',
        rows_of(
            ('fault', 'times', 'outputs', 'refused', 'longest way back'),
            [
                (
                    row['fault'],
                    str(row['times']),
                    f'{row["outputs"]:,}',
                    f'{sum(row["refused"].values()):,}',
                    f'{row["recovery"]:.1f} s',
                )
                for row in seen
            ],
        ),
        '',
    ]


def deadline_lines(runs: Sequence[Results]) -> list[str]:
    """Return what came of the loop without faults, a column a run."""
    heads = ('', *('two processes' if run['processes'] > 1 else 'one process' for run in runs))
    rows = [
        ('commit', *(f'`{run["commit"]}`' for run in runs)),
        ('machine', *(place(run['machine']) for run in runs)),
        ('time', *(f'{run["minutes"]:g} min at {run["rate_hz"]:g} Hz' for run in runs)),
        ('missed periods', *(f'{run["missed"]:,} of {run["periods"]:,}' for run in runs)),
        (
            'missed while the machine was not held up',
            *(f'{run["undisturbed_missed"]:,} of {run["undisturbed_periods"]:,}' for run in runs),
        ),
        *(
            (
                f'efforts after their state, {key}',
                *(f'{r["efforts_ms"][key]:.2f} ms' for r in runs),
            )
            for key in ('half', '99 %', 'longest')
        ),
        (
            'processor time of a period',
            *(f'{sum(run["processor_us"].values()):.0f} us' for run in runs),
        ),
    ]
    return ['## Deadlines', '', DEADLINE_WORDS, '', rows_of(heads, rows), '']


def title(soak: Results) -> str:
    """Return what ran, in words."""
    nodes = 'simulator and one controller' if soak['loop'] else 'all nodes'
    clock = 'wall time' if soak['time'] == 'wall' else 'simulated time'
    urgent = f', efforts at real-time priority {soak["priority"]}' if soak['priority'] else ''
    return f'{soak["minutes"]:g} minutes of {nodes} at {soak["rate_hz"]:g} Hz, {clock}{urgent}'


def pace(soak: Results) -> float:
    """Return how many states a second came through: a busy machine has no time for all."""
    return total(soak, 'states') / (60.0 * float(soak['minutes']))


def late_words(soak: Results) -> str:
    """Return how many efforts were late; where time is simulated nobody can tell."""
    return f'{total(soak, "late"):,}' if soak['time'] == 'wall' else 'not judged'


def latency(name: str, minutes: list[Results]) -> tuple[str, ...]:
    """Return a row about how long efforts took."""
    busy = [minute for minute in minutes if minute['efforts']]
    half = np.median([minute['half_ms'] for minute in busy])
    most = max(minute['p99_ms'] for minute in busy)
    longest = max(minute['longest_ms'] for minute in busy)
    number = sum(minute['efforts'] for minute in busy)
    return f'`{name}`', f'{number:,}', f'{half:.1f} ms', f'{most:.1f} ms', f'{longest:.1f} ms'


def fuzz_lines(fuzz: Results) -> list[str]:
    """Return what came of fuzzing."""
    targets = fuzz['targets']
    heads = ('door', 'inputs', 'refused', 'accepted', 'unhandled', 'longest', 'time')
    rows = [
        (
            t['name'],
            *(f'{t[key]:,}' for key in ('inputs', 'refused', 'accepted', 'unhandled')),
            f'{t["longest_s"]:.3f} s',
            f'{t["seconds"]:.0f} s',
        )
        for t in targets
    ]
    inputs, wrong, slow = (sum(t[key] for t in targets) for key in ('inputs', 'unhandled', 'slow'))
    return [
        '## Fuzzing',
        '',
        f'Commit `{fuzz["commit"]}`: {inputs:,} inputs, {wrong:,} exceptions that are not of the '
        f'error family, {slow:,} answers after more than 1 s of processor time. Where no state is '
        'kept, what takes longer is tried again, and the shortest of three tries counts.',
        '',
        rows_of(heads, rows),
        '',
    ]


def sanitizer_lines(found: Results) -> list[str]:
    """Return what came of the sanitizers."""
    rows = [
        (run['subject'], run['sanitizer'], str(run['functions']), f'{run["calls"]:,}')
        for run in found['runs']
    ]
    return [
        '## Sanitizers and threads',
        '',
        SANITIZED,
        '',
        f'Commit `{found["commit"]}`: {found["found"]} findings in {found["seconds"]:.0f} s.',
        '',
        rows_of(('code', 'sanitizer', 'functions', 'calls'), rows),
        '',
    ]


def page(results: Results) -> str:
    """Return the text of the page."""
    lines = [HEAD, '', '## Soak', '', SOAKED, '']
    soaks = [results[name] for name in SOAKS if name in results]
    if soaks:
        lines += [f'![Latency and memory over time]({FIGURE})', '']
    for soak in soaks:
        lines += soak_lines(soak)
    lines += [CAUSES, '']
    if loops := [results[name] for name in DEADLINES if name in results]:
        lines += deadline_lines(loops)
    if 'fuzz' in results:
        lines += fuzz_lines(results['fuzz'])
    if 'sanitizers' in results:
        lines += sanitizer_lines(results['sanitizers'])
    return '\n'.join([*lines, TAIL, ''])


def draw(results: Results, path: Path) -> None:
    """Draw latency and memory over time, one column a soak."""
    soaks = [results[name] for name in SOAKS if name in results]
    settings = {'svg.hashsalt': 'reliability', 'svg.fonttype': 'none'}
    with plt.style.context(['tableau-colorblind10', settings]):
        figure, axes = plt.subplots(
            2, len(soaks), figsize=(2.0 + 3.8 * len(soaks), 5.4), layout='constrained'
        )
        for soak, (upper, lower) in zip(soaks, np.reshape(axes, (2, -1)).T, strict=True):
            _draw_latency(upper, soak)
            for k, (name, memory) in enumerate(soak['memory'].items()):
                _draw_lives(lower, name.removeprefix('kane_'), memory['samples'], f'C{k}')
            lower.set(xlabel='time [min]', ylabel='resident memory [MB]')
            upper.grid(alpha=0.3)
            lower.grid(alpha=0.3)
        handles, labels = lower.get_legend_handles_labels()
        figure.legend(handles, labels, loc='outside right lower', fontsize=8)
        handles, labels = upper.get_legend_handles_labels()
        title = 'half: full, 99 %: dashed'
        figure.legend(
            handles, labels, loc='outside right upper', fontsize=8, title=title, title_fontsize=8
        )
        figure.savefig(path, metadata={'Date': None, 'Title': digest(results)})
        plt.close(figure)


def _draw_latency(axis: Any, soak: Results) -> None:
    """Draw how long efforts took in each minute."""
    colours = {name: f'C{k}' for k, name in enumerate(soak['memory'])}
    for name, minutes in soak['efforts'].items():
        t = [minute['minute'] for minute in minutes]
        style = {'color': colours[name], 'label': name.removeprefix('kane_')}
        axis.plot(t, [minute['half_ms'] for minute in minutes], **style)
        p99 = [minute['p99_ms'] for minute in minutes]
        axis.plot(t, p99, '--', color=colours[name], linewidth=0.9)
    axis.set_ylim(bottom=0.0)
    axis.set_ylabel('state to effort [ms]')
    nodes = 'loop' if soak['loop'] else 'all'
    axis.set_title(f'{nodes}, {soak["rate_hz"]:g} Hz, {soak["time"]} time')


def _draw_lives(axis: Any, label: str, samples: list[Any], colour: str) -> None:
    """Draw memory over time, a line for each life of a node."""
    for _, life in itertools.groupby(samples, key=lambda sample: sample[0]):
        t, size = np.array([sample[1:] for sample in life]).T
        axis.plot(t / 60.0, size, color=colour, label=label)
        label = '_'  # one entry in the legend


def main() -> int:
    """Keep fresh results and write the page."""
    argparse.ArgumentParser(description=__doc__).parse_args()
    KEPT.mkdir(exist_ok=True)
    for name in NAMES:
        if (FRESH / f'{name}.json').is_file():
            fresh = json.loads((FRESH / f'{name}.json').read_text())
            (KEPT / f'{name}.json').write_text(json.dumps(fresh, separators=(',', ':')))
    results = read()
    (DOC / PAGE).write_text(page(results), encoding='utf-8')
    if set(SOAKS) & set(results):
        draw(results, DOC / FIGURE)
    return 0


if __name__ == '__main__':
    raise SystemExit(main())
