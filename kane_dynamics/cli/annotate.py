# SPDX-License-Identifier: Apache-2.0
"""``kane-dynamics annotate``: efforts into the points of a trajectory."""

from __future__ import annotations

import argparse
from dataclasses import replace

import numpy as np
from rich.markup import escape
from rich.table import Table

from kane_dynamics.cli.arguments import Commands, add_trajectory, with_values
from kane_dynamics.cli.printing import console
from kane_dynamics.control.base_trajectory import along
from kane_dynamics.control.node_dynamics import Dynamics
from kane_dynamics.control.trajectory_efforts import PlannedEfforts
from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.robot_config.parameters.trajectory_feedforward import (
    TrajectoryFeedforwardParameters,
)
from kane_dynamics.robot_config.robot_file import model_of_file, parameters_of_file
from kane_dynamics.robot_config.robot_source import RobotModel
from kane_dynamics.trajectories.effort_points import line_error
from kane_dynamics.trajectories.joint_trajectory import BaseTrajectory, JointTrajectory
from kane_dynamics.trajectories.trajectory_files import (
    TrajectoryFile,
    read_trajectory,
    write_trajectory,
)
from kane_dynamics.typing import Floats


def add(commands: Commands) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser('annotate', help='fill in the efforts of a joint trajectory')
    add_trajectory(parser)
    parser.add_argument(
        '--base',
        default='',
        metavar='CSV',
        help='twist of the base over time: time,vx,vy,yaw_rate',
    )
    parser.add_argument('--error', type=float, help='of efforts between points [N m or N]')
    parser.add_argument('--rate', type=float, help='least number of points per second')
    parser.add_argument('--ramp', type=float, help='time of the first point [s]')
    parser.set_defaults(run=run)


def run(selection: argparse.Namespace) -> int:
    """Fill the efforts of a trajectory, and tell what they are."""
    inputs = read_trajectory(selection.source)
    model = model_of_file(selection.config, selection.urdf, TrajectoryFeedforwardParameters)
    options = {
        'effort_error': selection.error,
        'point_rate': selection.rate,
        'ramp_time': selection.ramp,
    }
    parameters = replace(
        parameters_of_file(selection.config, TrajectoryFeedforwardParameters),
        **{name: value for name, value in options.items() if value is not None},
    )
    dynamics = Dynamics(model)
    with console.status('dynamics of the robot'):  # seconds, the first time
        dynamics.compile()
    planned = PlannedEfforts(dynamics, parameters)
    q, v = state_of(model, selection.at), np.zeros(model.robot.nv)
    base = _base(model, inputs, selection.base, q)
    points, clamped = planned.fill(inputs.joints, q, v, base)
    write_trajectory(selection.target, points)
    request = planned.along(points.names, q, base)
    sparse = replace(parameters, effort_error=0.0, point_rate=0.0, clamp_to_urdf=False)
    planned.configure(sparse)
    before, _ = planned.fill(inputs.joints, q, v, base)
    _report(points, line_error(before, request), line_error(points, request))
    console.print(
        f'{len(inputs.joints.times)} points in, {len(points.times)} out: {selection.target}'
    )
    for one in clamped:
        console.print(f'[yellow]clamped:[/yellow] {escape(str(one))}', soft_wrap=True)
    return 0


def state_of(model: RobotModel, inputs: list[str]) -> Floats:
    """Return the coordinates of the robot: neutral, but for the joints on the command line."""
    robot = model.robot
    return with_values('--at', robot.neutral(), inputs, robot.coordinate_index)


def _base(
    model: RobotModel, inputs: TrajectoryFile, twists: str, q: Floats
) -> BaseTrajectory | None:
    """Return how the base moves: as the trajectory or a file of twists says, else not at all."""
    if not twists:
        return inputs.base
    if inputs.base is not None:
        raise InvalidInputError('--base: the trajectory says already how the base moves')
    try:
        rows = np.loadtxt(twists, delimiter=',', skiprows=1, ndmin=2)
    except (OSError, ValueError) as error:
        raise InvalidInputError(f"--base: '{twists}' cannot be read: {error}") from error
    if rows.shape[1] != 4:
        raise InvalidInputError(
            f"--base: '{twists}': need time,vx,vy,yaw_rate, got {rows.shape[1]} columns"
        )
    return along(model.child_frame, q, rows[:, 0], rows[:, 1:])


def _report(points: JointTrajectory, before: Floats, after: Floats) -> None:
    """Print the efforts, and the errors of lines between points."""
    table = Table(title='efforts [N m or N]')
    for heading in ('joint', 'largest', 'held at the end', 'error before', 'error now'):
        table.add_column(heading)
    efforts = np.asarray(points.efforts)
    columns = (np.abs(efforts).max(axis=0), efforts[-1], before, after)
    for name, *values in zip(points.names, *columns, strict=True):
        table.add_row(name, *(f'{value:.4g}' for value in values))
    console.print(table)
