# SPDX-License-Identifier: Apache-2.0
"""``kane-dynamics retime``: a joint trajectory as fast as its robot allows."""

from __future__ import annotations

import argparse

import numpy as np
from rich.table import Table

import kane_dynamics as kd
from kane_dynamics.analysis.ground_contacts import GroundContacts
from kane_dynamics.analysis.motion_limits import SafetyMargins
from kane_dynamics.cli.annotate import state_of
from kane_dynamics.cli.arguments import Commands, add_trajectory
from kane_dynamics.cli.printing import console
from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.robot_config.robot_file import model_of_file
from kane_dynamics.robot_config.robot_source import RobotModel
from kane_dynamics.trajectories.joint_trajectory import JointTrajectory
from kane_dynamics.trajectories.paths import Path, RolledPath, SplinePath
from kane_dynamics.trajectories.retiming import Retimed, retime
from kane_dynamics.trajectories.trajectory_files import read_trajectory, write_trajectory
from kane_dynamics.typing import Floats

_SHOWN = 0.5  # use from which a limit is in the table


def add(commands: Commands) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser('retime', help='time a joint trajectory by what its robot bears')
    add_trajectory(parser)
    parser.add_argument('--effort-scale', type=float, default=0.9, help='part of effort limits')
    parser.add_argument('--speed-scale', type=float, default=0.9, help='part of velocity limits')
    parser.add_argument('--friction', type=float, help='mu of the wheels; then they do not slip')
    parser.add_argument('--friction-scale', type=float, default=0.8, help='part of mu')
    parser.add_argument('--edge', type=float, default=0.05, help='from tipping over [m]')
    parser.add_argument('--smoothing', type=float, default=0.0, help='of accelerations [s]')
    parser.add_argument('--step', type=float, default=0.01, help='between points [s]')
    parser.add_argument('--error', type=float, default=0.1, help='of efforts between points')
    parser.set_defaults(run=run)


def run(selection: argparse.Namespace) -> int:
    """Time a trajectory anew, and tell what limits it."""
    values = read_trajectory(selection.source).joints
    model = model_of_file(selection.config, selection.urdf)
    kept = SafetyMargins(
        selection.edge, selection.friction_scale, selection.effort_scale, selection.speed_scale
    )
    with console.status('dynamics of the robot'):  # seconds, the first time
        dynamics = kd.compile(model.robot, model.constraints)
        path = _path(model, dynamics, values, state_of(model, selection.at))
        result = retime(
            dynamics,
            path,
            model.actuated,
            contacts=_contacts(model, selection.friction),
            kept=kept,
            smoothing=selection.smoothing,
        )
    write_trajectory(
        selection.target, result.points(selection.step, selection.error).of(values.names)
    )
    _report(result)
    before = values.times[-1] - values.times[0]
    console.print(f'{before:.3f} s before, {result.duration:.3f} s now: {selection.target}')
    return 0


def _path(
    model: RobotModel, dynamics: kd.CompiledRobot, values: JointTrajectory, q: Floats
) -> Path:
    """Return the path through the points; where the base moves, wheels roll with it."""
    base, robot = model.base, model.robot
    if len(values.times) < 2:
        raise InvalidInputError('retime: a trajectory of one point has no path')
    whole = np.tile(q, (len(values.times), 1))
    whole[:, [robot.coordinate_index(name) for name in values.names]] = values.positions
    indices = values.times - values.times[0]
    local = () if base is None else (*base.driven, *base.steering, *base.passive)
    rolls = {*local, *(('base_x', 'base_y', 'base_yaw') if model.mobile else ())}
    if not rolls & {*values.names}:
        return SplinePath(whole, indices)
    names = [n for n in robot.coordinate_names if n in values.names or n not in rolls]
    points = whole[:, [robot.coordinate_index(name) for name in names]]
    steered = base if base is not None and base.steering else None
    return RolledPath(dynamics, names, points, whole[0], s=indices, steered=steered)


def _contacts(model: RobotModel, friction: float | None) -> GroundContacts | None:
    """Return what the robot stands on, where friction is known."""
    if friction is None:
        return None
    if model.base is None:
        raise InvalidInputError('--friction: this robot has no base on wheels')
    return kd.base_ground_contacts(model.base, friction=friction)


def _report(result: Retimed) -> None:
    """Print what limits the motion."""
    table = Table(title='limits, those of which half is used')
    for heading in ('limit', 'largest use', 'at (of the path)', 'reached (of the time)'):
        table.add_column(heading)
    length = result.limits.path.length
    for name, use in result.uses.items():
        if use.largest >= _SHOWN:
            reached = f'{100.0 * use.active:.0f} %'
            table.add_row(name, f'{use.largest:.4f}', f'{use.place / length:.3f}', reached)
    console.print(table)
