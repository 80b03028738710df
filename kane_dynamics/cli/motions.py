# SPDX-License-Identifier: Apache-2.0
"""``kane-dynamics simulate`` and ``demo``: motions of a robot, computed here and over ROS 2."""

import argparse
import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

import kane_dynamics as kd
from kane_dynamics.cli import printing
from kane_dynamics.cli.options import RobotSource, read_robot, start_coordinates, with_values
from kane_dynamics.cli.printing import (
    compiled,
    console,
    number,
    ros_module,
    writable_folder,
    write_csv,
)
from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.robot_config.robot_source import BASE_NAMES, RobotModel
from kane_dynamics.simulation.motions import EnergyBalance, Trajectory, energy_balance
from kane_dynamics.typing import Floats

MOST_STEPS = 5_000_000
LATE = 3  # exit code of figures that a busy machine spoilt


def simulate(options: argparse.Namespace) -> int:
    """Simulate, write what is asked for and print where the energy went."""
    if options.duration / options.step > MOST_STEPS:
        raise InvalidInputError(
            f'--duration {options.duration:g} s in steps of {options.step:g} s: need at most '
            f'{MOST_STEPS} steps; make --step longer'
        )
    source = read_robot(options)
    model = source.model
    constraints = () if options.no_constraints else model.constraints
    dynamics: kd.Dynamics = kd.dynamics(model.robot, constraints)
    q, v, effort = _start(options, model, dynamics)  # mistakes are told before the compilation
    printing.check_files(options, 'npz', 'csv', 'plot')
    if not options.reference:
        dynamics = compiled(model.robot, constraints)
    motion = dynamics.simulate(
        q, v, options.duration, effort=effort, step=options.step, integrator=options.integrator
    )
    energy = dynamics.kinetic_energy(motion.q, motion.v) + dynamics.potential_energy(motion.q)
    balance = energy_balance(model.robot, motion, effort[None], energy)
    summary = _summary(model, motion, balance) | {
        'integrator': options.integrator,
        'step_s': options.step,
        'constraints': [*dynamics.labels],
        'files': _write(options, source, motion, balance),
    }
    printing.show(options.json, summary, _print)
    printing.print_notes(map(str, motion.rank_events), 'event')
    return 0


def _start(
    options: argparse.Namespace, model: RobotModel, dynamics: kd.Dynamics
) -> tuple[Floats, Floats, Floats]:
    """Return coordinates, speeds that the constraints allow, and efforts."""
    robot, zero = model.robot, np.zeros(model.robot.nv)
    q = start_coordinates(options, robot)
    v = with_values('--velocity', zero, options.velocity, robot.velocity_index)
    effort = with_values('--effort', zero, options.effort, robot.velocity_index)
    if dynamics.labels and options.velocity:
        named = {text.partition('=')[0] for text in options.velocity}
        wheels = () if model.base is None else (*model.base.driven, *model.base.passive)
        rolling = {*BASE_NAMES, *wheels} - named
        v = dynamics.consistent_velocity(
            q, v, [n for n in robot.velocity_names if n not in rolling]
        )
    return q, v, effort


def _summary(model: RobotModel, motion: Trajectory, balance: EnergyBalance) -> dict[str, Any]:
    """Return the end of the motion and its energy."""
    robot = model.robot
    return {
        'robot': robot.name,
        'duration_s': motion.time[-1],
        'steps': len(motion.time) - 1,
        'q': dict(zip(robot.coordinate_names, motion.q[-1].tolist(), strict=True)),
        'v': dict(zip(robot.velocity_names, motion.v[-1].tolist(), strict=True)),
        'energy_J': {
            'start': balance.energy[0],
            'end': balance.energy[-1],
            'work': float(balance.work.sum()),
            'lost_to_friction': float(balance.lost.sum()),
            'error': balance.gap,
        },
    }


def _write(
    options: argparse.Namespace, source: RobotSource, motion: Trajectory, balance: EnergyBalance
) -> list[str]:
    """Write the files that are asked for; return their paths."""
    if not (options.npz or options.csv or options.plot):
        return []
    from kane_dynamics.view.drawing import urdf_drawing
    from kane_dynamics.view.plots import Panel, write_curves
    from kane_dynamics.view.recorder import kept_instants, record

    robot, files = source.model.robot, []
    k = kept_instants(motion.time, options.rate)
    q = dict(zip(robot.coordinate_names, motion.q[k].T, strict=True))
    v = dict(zip(robot.velocity_names, motion.v[k].T, strict=True))
    time, energy = motion.time[k], balance.energy[k]
    if options.npz:
        drawing = urdf_drawing(robot, source.urdf)
        files.append(record(robot, motion, None, drawing, options.rate).save(options.npz))
    if options.csv:
        states = {f'{x}:{n}': y for x, each in (('q', q), ('v', v)) for n, y in each.items()}
        files.append(write_csv(options.csv, {'time': time, **states, 'energy': energy}))
    if options.plot:
        panels = [
            Panel('position [rad or m]', q),
            Panel('speed [rad/s or m/s]', v),
            Panel('energy [J]', {'T + V': energy}),
        ]
        files.append(write_curves(options.plot, f"Motion of '{robot.name}'", time, panels))
    return [str(file) for file in files]


def _print(summary: Mapping[str, Any]) -> None:
    title = f"robot '{summary['robot']}' after {summary['duration_s']:g} s"
    rows = [
        (name, number(summary['q'].get(name, math.inf)), number(speed))
        for name, speed in summary['v'].items()
    ]
    printing.table(title, ('speed', 'position [rad or m]', 'speed [rad/s or m/s]'), rows)
    energy = summary['energy_J']
    printing.lines(
        f'{summary["steps"]} steps of {summary["step_s"]:g} s by {summary["integrator"]}; energy '
        f'{energy["start"]:.6g} J at the start, {energy["end"]:.6g} J at the end, work '
        f'{energy["work"]:.6g} J, lost to friction {energy["lost_to_friction"]:.6g} J, '
        f'error {energy["error"]:.2e} J',
        *(f'wrote {file}' for file in summary['files']),
    )


def demo(options: argparse.Namespace) -> int:
    """Run the closed loop with one law after the other; print the table, write the plots."""
    demo, laws = (ros_module(name, 'the demo') for name in ('demo.demo', 'demo.laws'))
    from kane_dynamics.demo.report import is_late, run_table, verdict, write_motion, write_plots

    domain = 1 + os.getpid() % 97 if options.domain is None else options.domain
    folder = writable_folder(options.output / Path(options.robot).stem)
    bar = Progress(
        TextColumn('{task.description:<34}'), BarColumn(), TimeElapsedColumn(), console=console
    )
    with bar:
        task = bar.add_task('compiling the dynamics', total=None)
        setup = demo.prepare(
            options.robot,
            options.duration,
            lambda what, done, total: bar.update(task, completed=done, total=total),
        )
        how = 'loaded from the cache' if setup.compiled.source == 'cache' else 'compiled'
        bar.update(task, description=f'dynamics: {how}', total=1, completed=1)
        runs = {}
        for k, law in enumerate(laws.laws_for(setup)):
            task = bar.add_task(f'{law.label}, {options.duration:g} s', total=options.duration)
            runs[law.label] = run = demo.run_loop(
                setup,
                law,
                domain + k,
                lambda t, task=task: bar.update(task, completed=t),  # type: ignore[misc]
            )
    files = write_plots(folder, setup, runs) + write_motion(folder, setup, run)
    console.print(run_table(setup, runs))
    console.print(verdict(runs))
    console.print(f'dynamics {how}; plots in {folder}: {", ".join(f.name for f in files)}')
    return LATE if is_late(runs) else 0
