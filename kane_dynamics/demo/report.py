# SPDX-License-Identifier: Apache-2.0
"""The report of the closed loop: a table and a sentence, plots, and pictures of the motion."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from rich.markup import escape
from rich.table import Table

from kane_dynamics.demo.figures import Run, Setup
from kane_dynamics.demo.motion import slides
from kane_dynamics.typing import Floats
from kane_dynamics.view.animation import ROBOTS, write_animation, write_picture
from kane_dynamics.view.drawing import urdf_drawing
from kane_dynamics.view.plots import LIMIT, Panel, paper_style, save_figure, write_curves
from kane_dynamics.view.recorder import Recorder

# part of the deadlines; where more are missed, the machine was too busy for these figures
LATE_PART = 0.01
COLUMNS = 3  # of panels
NEAR = 0.3  # of its limit, from which an effort is drawn with the limit
LOWEST = 1e-7  # error in a plot [rad or m]
RATE = 5.0  # pictures of the robot a second [Hz]
SPEED = 2.0  # of the animation, in times of the motion


def run_table(setup: Setup, runs: Mapping[str, Run]) -> Table:
    """Return the figures of all runs side by side, with their errors as parts of the first's."""
    table = Table(title=f'closed loop of {setup.name}, same gains in all runs')
    table.add_column('figure')
    for label in runs:
        table.add_column(label, justify='right')
    for k, name in enumerate(setup.motion.names):
        table.add_row(f'RMS error {name}', *(f'{run.rms[k]:.2e}' for run in runs.values()))
    table.add_section()
    errors = [run.mean_error for run in runs.values()]
    table.add_row('geometric mean of these', *(f'{x:.2e}' for x in errors))
    table.add_row('times smaller than PD', *(f'{errors[0] / x:.3g}' for x in errors))
    rows = [
        ('base off its path, largest [m]', lambda r: _known(r.base_error)),
        ('side slip, summed [m]', lambda r: _known(r.side_slip)),
        ('energy error, relative', lambda r: _known(r.energy_error)),
        ('loop rate [Hz]', lambda r: f'{r.rate:.1f}'),
        ('latency p50 / p99 [ms]', _latency),
        ('missed deadlines', lambda r: f'{r.missed} of {r.states}'),
        ('their causes', _causes),
    ]
    for label, text in rows:
        table.add_row(escape(label), *(text(run) for run in runs.values()))
    notes = []
    if setup.overloaded:
        notes.append(f'too weak for any motion: {", ".join(setup.overloaded)}')
    if setup.commanded:
        notes.append('the base is behind its path by the lag of its drives, base.response_time')
    elif setup.mobile:
        notes.append('nothing feeds the pose of the base back: its errors add up along the path')
    table.caption = escape('; '.join(notes)) or None
    return table


def is_late(runs: Mapping[str, Run]) -> bool:
    """Return whether a run missed more than `LATE_PART` of its deadlines."""
    return any(run.missed > LATE_PART * run.states for run in runs.values())


def verdict(runs: Mapping[str, Run]) -> str:
    """Return how good the last law was beside the others, and whether the loop was on time."""
    *others, last = runs
    compared = ', '.join(
        f'{runs[one].mean_error / runs[last].mean_error:.3g} times smaller than those of {one}'
        for one in others
    )
    missed, states = (sum(getattr(run, x) for run in runs.values()) for x in ('missed', 'states'))
    on_time = f'{missed} of {states} deadlines missed'
    if is_late(runs):
        on_time += (
            f', in a run more than {LATE_PART:.0%}: the machine was too busy for these figures; '
            'repeat them on a quiet one, or with a lower joint_state_rate'
        )
    return f'errors of {last}: {compared}; {on_time}'


def _known(x: float) -> str:
    """Return a figure, or a dash where the robot has none."""
    return '-' if np.isnan(x) else f'{x:.1e}'


def _latency(run: Run) -> str:
    p50, p99 = np.percentile(run.latency, [50, 99]) * 1e3
    return f'{p50:.2f} / {p99:.2f}'


def _causes(run: Run) -> str:
    return '\n'.join(f'{count} {cause}' for cause, count in run.causes.most_common()) or '-'


def write_plots(folder: Path, setup: Setup, runs: Mapping[str, Run]) -> list[Path]:
    """Write errors, efforts, forces on wheels, latencies and the path; the PNG files, also PDF."""
    folder.mkdir(parents=True, exist_ok=True)
    time = next(iter(runs.values())).time
    panels = {'tracking_error': error_panels(setup, runs), 'effort': effort_panels(setup, runs)}
    rows = next((run.forces for run in runs.values() if run.forces), {})
    if rows:
        forces = {row: {n: run.forces[row] for n, run in runs.items()} for row in rows}
        panels['wheel_forces'] = [
            Panel('force [N]', _curves(runs, each), title=row) for row, each in forces.items()
        ]
    files = [
        write_curves(folder / f'{name}.png', name.replace('_', ' '), time, each, (), COLUMNS)
        for name, each in panels.items()
    ]
    figures = {'latency': _latencies(runs)}
    if setup.motion.base.any():
        figures['base_path'] = _paths(setup, runs)
    files += [save_figure(figure, folder / f'{name}.png')[0] for name, figure in figures.items()]
    return files


def error_panels(setup: Setup, runs: Mapping[str, Run]) -> list[Panel]:
    """Return a panel for the errors of each motor."""
    panels = []
    for k, motor in enumerate(setup.motion.names):
        errors = {name: np.maximum(np.abs(run.error[:, k]), LOWEST) for name, run in runs.items()}
        unit = 'm' if slides(setup.compiled.robot, motor) else 'rad'
        panels.append(Panel(f'|error| [{unit}]', _curves(runs, errors), True, motor))
    return panels


def effort_panels(setup: Setup, runs: Mapping[str, Run]) -> list[Panel]:
    """Return a panel for the efforts of each motor, with limits where these are near."""
    robot, panels = setup.compiled.robot, []
    for k, motor in enumerate(setup.motion.names):
        curves = _curves(runs, {name: run.effort[:, k] for name, run in runs.items()})
        largest = max(float(np.abs(effort).max()) for effort in curves.values())
        unit = 'N' if slides(robot, motor) else 'N m'
        limit = float(robot.effort_limit[robot.velocity_index(motor)])
        title = motor
        if np.isfinite(limit) and largest < NEAR * limit:
            title += f', limit {limit:g} {unit}'
        elif np.isfinite(limit):
            length = len(next(iter(curves.values())))
            curves |= {'limit': np.full(length, limit), '-limit': np.full(length, -limit)}
        panels.append(Panel(f'effort [{unit}]', curves, title=title))
    return panels


def _curves(runs: Mapping[str, Run], values: Mapping[str, Floats]) -> dict[str, Floats]:
    """Return the values of runs at the times of the first."""
    time = next(iter(runs.values())).time
    return {name: np.interp(time, runs[name].time, x) for name, x in values.items()}


@paper_style()
def _paths(setup: Setup, runs: Mapping[str, Run]) -> Figure:
    figure = Figure((5.0, 3.6), layout='constrained')
    axes = figure.subplots()
    axes.plot(
        *setup.motion.base.T[:2], '-', color=LIMIT, linewidth=3, alpha=0.4, label='reference'
    )
    for name, run in runs.items():
        axes.plot(*run.path.T, label=name)
    axes.set(xlabel='x [m]', ylabel='y [m]', title='Path of the base', aspect='equal')
    figure.legend(loc='outside lower center', ncols=3)
    return figure


@paper_style()
def _latencies(runs: Mapping[str, Run]) -> Figure:
    figure = Figure((5.0, 3.0), layout='constrained')
    axes = figure.subplots()
    top = max(np.percentile(run.latency, 99.5) for run in runs.values() if len(run.latency))
    for name, run in runs.items():
        bins = np.linspace(0.0, 1e3 * float(top), 60).tolist()
        axes.hist(1e3 * run.latency, bins=bins, histtype='step', label=name)
    axes.set(xlabel='from a state to its efforts [ms]', ylabel='messages [1]')
    axes.set_title('Latency of the loop')
    figure.legend(loc='outside lower center', ncols=2)
    return figure


def write_motion(folder: Path, setup: Setup, run: Run) -> list[Path]:
    """Write one run of a robot as GIF, and the robot along its path as one picture."""
    robot = setup.compiled.robot
    recorder = Recorder(robot, urdf_drawing(robot, setup.urdf))
    times = np.arange(run.time[0], run.time[-1], 1.0 / RATE)
    for k in np.unique(np.searchsorted(run.time, times)):
        recorder.add(float(run.time[k]), run.q[k], np.zeros(robot.nv))
    motion = recorder.recording()
    count = min(ROBOTS if run.path.any() else 1, len(motion.time))
    return [
        write_animation(motion, folder / 'animation.gif', rate=RATE * SPEED, speed=SPEED),
        write_picture(motion, folder / 'motion.png', count=count),
    ]
