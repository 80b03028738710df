# SPDX-License-Identifier: Apache-2.0
"""
Run all published problems; with --page write their table and plot into doc/benchmarks.md.

``python -m studies.suites``; Exudyn runs beside where it is installed (`pip install exudyn`).
"""

from __future__ import annotations

import argparse
import importlib.util
from collections.abc import Callable
from pathlib import Path

from matplotlib.figure import Figure

from kane_dynamics.exceptions import KaneDynamicsError
from kane_dynamics.view.plots import CYCLE, paper_style, save_figure
from studies import report
from studies.report import Table
from studies.suites import contact, iftomm, ivp, peers, rolling

CASES = (*rolling.CASES, *iftomm.CASES, *ivp.CASES, *contact.CASES)
STEPS = {2: (4e-3, 2e-3, 1e-3, 5e-4, 2.5e-4), 40: (4e-3, 2e-3, 1e-3)}  # [s], by windows
DOC = Path(__file__).resolve().parents[2] / 'doc'
FROM, TO = '<!-- written by python -m studies.suites --page -->', '<!-- end -->'


def suite_table() -> tuple[Table, dict[str, dict[str, float]]]:
    """Return the table of all problems, and its numbers."""
    columns = 'problem', 'answer of', 'compared', 'error', 'tolerance', 'processor [s]'
    table, results = Table('Published problems', columns), {}
    for case in CASES:
        outcome = case.run()
        results[case.name] = {'error': outcome.error, 'cpu': outcome.cpu}
        figures = f'{outcome.error:.1e}', f'{case.tolerance:.0e}', f'{outcome.cpu:.2g}'
        table.add(case.name, case.source, case.compared, *figures)
    return table, results


def ours(integrator: str) -> Callable[[int, float], tuple[float, float]]:
    """Return error and processor time of a time step of ours as functions of windows and step."""

    def run(count: int, step: float) -> tuple[float, float]:
        answer = {peers.DURATION: iftomm.WINDOWS[count][peers.DURATION]}
        model, how = iftomm.windows(count), {'step': step, 'integrator': integrator}
        outcome = iftomm.simulated(model, iftomm.direction, answer, **how)  # type: ignore[arg-type]
        return outcome.error, outcome.cpu

    return run


def beside(count: int) -> tuple[Table, dict[str, list[list[float]]]]:
    """Return error and processor time of the windows of A02, here and in others, and numbers."""
    runs = {'kane_dynamics, rk4': ours('rk4'), 'kane_dynamics, midpoint': ours('midpoint')}
    if importlib.util.find_spec('exudyn'):
        runs['Exudyn, generalized alpha'] = peers.in_exudyn
    runs['MuJoCo, RK4, soft loops'] = peers.in_mujoco
    title = f'{count} windows of A02, 10 s: error [m] / processor [s] by step'
    table = Table(title, ('program', *(f'{1e3 * h:g} ms' for h in STEPS[count])))
    results: dict[str, list[list[float]]] = {}
    for name, run in runs.items():
        results[name] = []
        for step in STEPS[count]:
            try:
                results[name].append(list(run(count, step)))
            except (KaneDynamicsError, RuntimeError):
                results[name].append([float('nan'), float('nan')])
        table.add(
            name, *('not solved' if e != e else f'{e:.1e} / {cpu:.2g}' for e, cpu in results[name])
        )
    return table, results


def draw(results: dict[str, list[list[float]]], file: Path) -> None:
    """Draw errors against processor time."""
    with paper_style():
        figure = Figure(figsize=(6.4, 3.6), layout='constrained')
        axes = figure.subplots()
        for (name, points), color in zip(results.items(), CYCLE, strict=False):
            errors, times = zip(*points, strict=True)
            axes.loglog(times, errors, 'o-', color=color, label=name, markersize=4)
        axes.set_xlabel('processor time of 10 s [s]')
        axes.set_ylabel('error at 10 s [m]')
        axes.grid(visible=True, which='major', alpha=0.3)
        axes.legend(fontsize='small')
        save_figure(figure, file, also=())


def main() -> None:
    """Run all problems."""
    parser = argparse.ArgumentParser(prog='python -m studies.suites', description=__doc__)
    report.add_output(parser)
    parser.add_argument('--page', action='store_true', help='write doc/benchmarks.md')
    options = parser.parse_args()
    console, results = report.begin()
    suites, results['suites'] = suite_table()
    few, results['beside'] = beside(2)
    many, results['beside 40'] = beside(40)
    tables = [suites, few, many]
    report.finish(console, options.output, 'suites', results, tables)
    if options.page:
        page = DOC / 'benchmarks.md'
        before, _, rest = page.read_text().partition(FROM)
        text = '\n'.join(table.markdown() for table in tables)
        page.write_text(f'{before}{FROM}\n\n{text}\n{TO}{rest.partition(TO)[2]}')
        draw(results['beside'], DOC / 'benchmarks.svg')


if __name__ == '__main__':
    main()
