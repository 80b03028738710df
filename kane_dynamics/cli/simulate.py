# SPDX-License-Identifier: Apache-2.0
"""``kane-dynamics simulate``: the motion of a robot from a state, under constant efforts."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np

import kane_dynamics as kd
from kane_dynamics.cli.arguments import Commands, seconds, with_values
from kane_dynamics.cli.motion_files import write_motion_csv, write_motion_plot
from kane_dynamics.cli.printing import console, new_table, number, print_json, print_remarks
from kane_dynamics.cli.printing import progress as shown
from kane_dynamics.cli.robots import ChosenRobot, add_robot, chosen_robot
from kane_dynamics.demo.energy_audit import EnergyBalance, energy_balance
from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.robot_config.robot_source import BASE_NAMES, RobotModel
from kane_dynamics.simulation.integrators import INTEGRATORS
from kane_dynamics.simulation.motions import Trajectory
from kane_dynamics.typing import Floats

MOST_STEPS = 5_000_000
_PAIR = 'NAME=VALUE'


def add(commands: Commands) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser('simulate', help='motion of a robot under constant efforts')
    add_robot(parser)
    parser.add_argument('--duration', type=seconds, default=1.0, help='[s], 1 where left out')
    parser.add_argument('--step', type=seconds, default=0.001, help='[s], 0.001 where left out')
    parser.add_argument('--integrator', default='rk4', choices=sorted(INTEGRATORS))
    for option, what in (
        ('--at', 'coordinate at the start [rad or m]; neutral where left out'),
        ('--speed', 'speed at the start [rad/s or m/s]; others rest, or follow from constraints'),
        ('--effort', 'effort on a speed [N m or N]; 0 where left out'),
    ):
        parser.add_argument(option, action='append', default=[], metavar=_PAIR, help=what)
    parser.add_argument(
        '--no-constraints', action='store_true', help='leave out those of the parameter file'
    )
    parser.add_argument(
        '--reference', action='store_true', help='without machine code: slower, nothing to compile'
    )
    parser.add_argument('--rate', type=float, default=100.0, help='of files and plots [Hz]')
    parser.add_argument('--npz', type=Path, metavar='FILE', help='recording for view')
    parser.add_argument('--csv', type=Path, metavar='FILE', help='time, q, v and energy')
    parser.add_argument('--plot', type=Path, metavar='FILE', help='.png, .pdf or .svg')
    parser.add_argument('--json', action='store_true', help='print the summary as JSON')
    parser.set_defaults(run=run)


def run(selection: argparse.Namespace) -> int:
    """Simulate, write what is asked for and print where the energy went."""
    if selection.duration / selection.step > MOST_STEPS:
        raise InvalidInputError(
            f'--duration {selection.duration:g} s in steps of {selection.step:g} s: need at most '
            f'{MOST_STEPS} steps; make --step longer'
        )
    values = chosen_robot(selection)
    model = values.model
    constraints = () if selection.no_constraints else model.constraints
    dynamics: kd.Dynamics = kd.dynamics(model.robot, constraints)
    q, v, effort = _start(
        selection, model, dynamics
    )  # what is wrong is said before the compilation
    if not selection.reference:
        with shown('dynamics of the robot') as told:
            dynamics = kd.compile(model.robot, constraints, progress=told)
    motion = dynamics.simulate(
        q,
        v,
        selection.duration,
        effort=effort,
        step=selection.step,
        integrator=selection.integrator,
    )
    balance = energy_balance(dynamics, motion, effort[None])
    summary = _summary(model, motion, balance) | {
        'integrator': selection.integrator,
        'step_s': selection.step,
        'constraints': [*dynamics.labels],
        'files': _written(selection, values, motion, balance),
    }
    if selection.json:
        print_json(summary)
    else:
        _print(summary)
    print_remarks(map(str, motion.rank_events), 'event')
    return 0


def _start(
    selection: argparse.Namespace, model: RobotModel, dynamics: kd.Dynamics
) -> tuple[Floats, Floats, Floats]:
    """Return coordinates, speeds that the constraints allow, and efforts."""
    robot, remainder = model.robot, np.zeros(model.robot.nv)
    q = with_values('--at', robot.neutral(), selection.at, robot.coordinate_index)
    v = with_values('--speed', remainder, selection.speed, robot.velocity_index)
    effort = with_values('--effort', remainder, selection.effort, robot.velocity_index)
    if dynamics.labels and selection.speed:
        named = {text.partition('=')[0] for text in selection.speed}
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


def _written(
    selection: argparse.Namespace, values: ChosenRobot, motion: Trajectory, balance: EnergyBalance
) -> list[str]:
    """Write the files that are asked for; return their paths."""
    if not (selection.npz or selection.csv or selection.plot):
        return []
    from kane_dynamics.view.drawing import urdf_drawing
    from kane_dynamics.view.recorder import kept_instants, record

    robot, files = values.model.robot, []
    kept = kept_instants(motion.time, selection.rate)
    if selection.npz:
        recording = record(
            robot, motion, drawing=urdf_drawing(robot, values.source), rate=selection.rate
        )
        files.append(recording.save(selection.npz))
    if selection.csv:
        files.append(write_motion_csv(selection.csv, robot, motion, balance, kept))
    if selection.plot:
        files.append(write_motion_plot(selection.plot, robot, motion, balance, kept))
    return [str(file) for file in files]


def _print(summary: dict[str, Any]) -> None:
    title = f"robot '{summary['robot']}' after {summary['duration_s']:g} s"
    table = new_table(title, 'speed', 'position [rad or m]', 'speed [rad/s or m/s]')
    for name, speed in summary['v'].items():
        place = summary['q'].get(name)
        table.add_row(name, '' if place is None else number(place), number(speed))
    console.print(table)
    energy = summary['energy_J']
    console.print(
        f'{summary["steps"]} steps of {summary["step_s"]:g} s by {summary["integrator"]}; energy '
        f'{energy["start"]:.6g} J at the start, {energy["end"]:.6g} J at the end, work '
        f'{energy["work"]:.6g} J, lost to friction {energy["lost_to_friction"]:.6g} J, '
        f'error {energy["error"]:.2e} J',
        soft_wrap=True,
    )
    for file in summary['files']:
        console.print(f'wrote {file}', soft_wrap=True, markup=False)
