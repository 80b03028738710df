# SPDX-License-Identifier: Apache-2.0
"""Joint trajectories: ``kane-dynamics add-efforts``, ``retime`` and ``identify plan``."""

import argparse
from dataclasses import replace
from pathlib import Path as FilePath
from typing import Any

import numpy as np

import kane_dynamics as kd
from kane_dynamics.analysis.ground_contacts import GroundContacts
from kane_dynamics.analysis.motion_limits import SafetyMargins
from kane_dynamics.cli import printing
from kane_dynamics.cli.options import read_robot, selected_joints, start_coordinates
from kane_dynamics.cli.printing import compiled, progress, write_csv
from kane_dynamics.control.trajectory_efforts import PlannedEfforts, along
from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.identification.base_parameters import UNSEEN
from kane_dynamics.identification.constrained_samples import independent_speeds
from kane_dynamics.identification.excitation import exciting_motion
from kane_dynamics.robot_config.parameters.tables import TrajectoryFeedforwardParameters
from kane_dynamics.robot_config.robot_source import BASE_NAMES, RobotModel
from kane_dynamics.trajectories.effort_points import line_error
from kane_dynamics.trajectories.joint_trajectory import BaseTrajectory, JointTrajectory
from kane_dynamics.trajectories.paths import Path, RolledPath, SplinePath
from kane_dynamics.trajectories.retiming import retime as retimed
from kane_dynamics.trajectories.trajectory_files import (
    TrajectoryFile,
    read_trajectory,
    write_trajectory,
)
from kane_dynamics.typing import Floats

_SHOWN = 0.5  # use from which a limit is in the table
_EXACT: dict[str, Any] = {
    'interpolation_tolerance': 0.0,
    'min_point_rate': 0.0,
    'enforce_command_limits': False,
}


def add_efforts(options: argparse.Namespace) -> int:
    """Fill the efforts of a trajectory, and tell what they are."""
    table = TrajectoryFeedforwardParameters
    source, robot = read_trajectory(options.source), read_robot(options, table)
    model = robot.model
    names = 'interpolation_tolerance', 'min_point_rate', 'ramp_time'
    values = options.interpolation_tolerance, options.point_rate, options.ramp
    changes = {name: x for name, x in zip(names, values, strict=True) if x is not None}
    parameters = replace(robot.parameters(table), **changes)
    dynamics = robot.dynamics()
    with progress('dynamics of the robot') as report:
        dynamics.compile(progress=report)
    planned = PlannedEfforts(dynamics, parameters)
    q, v = start_coordinates(options, model.robot), np.zeros(model.robot.nv)
    base = _base(model, source, options.base_csv, q)
    points, clamped = planned.fill(source.joints, q, v, base)
    write_trajectory(options.target, points)
    exact = planned.along(points.names, q, base, points)
    planned.configure(replace(parameters, **_EXACT))
    before, _ = planned.fill(source.joints, q, v, base)
    headings = 'joint', 'largest', 'held at the end', 'error before', 'error now'
    efforts = np.asarray(points.efforts)
    errors = line_error(before, exact), line_error(points, exact)
    columns = np.abs(efforts).max(axis=0), efforts[-1], *errors
    rows = zip(points.names, *(map('{:.4g}'.format, x) for x in columns), strict=True)
    printing.table('efforts [N m or N]', headings, rows)
    count = f'{len(source.joints.times)} points in, {len(points.times)} out'
    printing.lines(f'{count}: {options.target}', *(f'clamped: {one}' for one in clamped))
    return 0


def retime(options: argparse.Namespace) -> int:
    """Time a trajectory anew, and tell what limits it."""
    points, model = read_trajectory(options.source).joints, read_robot(options).model
    scales = options.friction_scale, options.effort_scale, options.velocity_scale
    dynamics = compiled(model.robot, model.constraints)
    result = retimed(
        dynamics,
        _path(model, dynamics, points, start_coordinates(options, model.robot)),
        model.actuated,
        contacts=_contacts(model, options.friction_coefficient),
        kept=SafetyMargins(options.tip_over_margin, *scales),
        smoothing=options.smoothing,
    )
    timed = result.points(1.0 / options.point_rate, options.interpolation_tolerance)
    write_trajectory(options.target, timed.of(points.names))
    headings = 'limit', 'largest use', 'at (of the path)', 'reached (of the time)'
    length = result.limits.path.length
    uses = [
        (name, f'{use.largest:.4f}', f'{use.place / length:.3f}', f'{100.0 * use.active:.0f} %')
        for name, use in result.uses.items()
        if use.largest >= _SHOWN
    ]
    printing.table('limits, those of which half is used', headings, uses)
    before = points.times[-1] - points.times[0]
    printing.lines(f'{before:.3f} s before, {result.duration:.3f} s now: {options.target}')
    return 0


def plan_identification(options: argparse.Namespace) -> int:
    """Write a motion that shows inertial parameters and friction, and tell what it uses."""
    model = read_robot(options).model
    notes = ['collisions are not checked; watch it in a simulator']
    if options.base_csv and not model.mobile:
        raise InvalidInputError('--base-csv: the base of this robot does not move')
    names = selected_joints(options, model)
    still = [name for name in model.actuated if name not in names]
    contacts = _contacts(model, options.friction_coefficient) if model.base else None
    if model.base is not None and model.base.steering and model.overactuated:
        still += [*model.base.driven, *model.base.steering]
        notes.append('the base stands still: its drives have to agree at each moment')
    if contacts is not None and contacts.sliding:
        contacts = None
        notes.append('traction and tipping over of a skidding base are not checked')
    scales = options.friction_scale, options.effort_scale, options.velocity_scale
    start = start_coordinates(options, model.robot)
    dynamics = compiled(model.robot, model.constraints)
    with progress('exciting motion') as tell:
        motion = exciting_motion(
            dynamics,
            model.actuated,
            speeds=independent_speeds(dynamics, names),
            still=still,
            contacts=contacts,
            kept=SafetyMargins(options.tip_over_margin, *scales),
            start=start,
            acceleration=options.acceleration,
            floor=options.floor,
            duration=options.duration,
            tell=tell,
        )
    points, base = motion.trajectory, motion.base
    first = zip(points.names, points.positions[0], start[model.q_index(points.names)], strict=True)
    asked = {text.partition('=')[0] for text in options.position}
    if moved := [name for name, x, begin in first if name in asked and x != begin]:
        notes.append(f'--position of {moved} is not used: they move about other centres')
    write_trajectory(options.target, points.of([n for n in points.names if n in model.motors]))
    if options.base_csv:
        origin = np.zeros(3)
        twists = [model.child_frame.child_state(origin, v)[1] for v in motion.twists]
        columns = zip(('vx', 'vy', 'yaw_rate'), np.transpose(twists), strict=True)
        write_csv(options.base_csv, {'time': points.times, **dict(columns)})
    rows = [(name, f'{use:.3f}') for name, use in motion.uses.items() if use >= _SHOWN]
    printing.table('limits, those of which half is used', ('limit', 'largest use'), rows)
    printing.lines(
        f'condition {base.condition:.1f}, of random motions {motion.random_condition:.1f}; rank '
        f'{base.rank}; not seen: {", ".join(base.with_status(UNSEEN)) or "none"}',
        f'{points.end:.1f} s, {len(points.times)} points: {options.target}',
    )
    printing.print_notes(notes)
    return 0


def _base(
    model: RobotModel, source: TrajectoryFile, twists: FilePath | None, q: Floats
) -> BaseTrajectory | None:
    """Return how the base moves: as the trajectory or a file of twists says, else not at all."""
    if twists is None:
        return source.base
    if source.base is not None:
        raise InvalidInputError('--base-csv: the trajectory says already how the base moves')
    try:
        rows = np.loadtxt(twists, delimiter=',', skiprows=1, ndmin=2)
    except (OSError, ValueError) as error:
        raise InvalidInputError(f"--base-csv: '{twists}' cannot be read: {error}") from error
    if rows.shape[1] != 4:
        raise InvalidInputError(
            f"--base-csv: '{twists}': need time,vx,vy,yaw_rate, got {rows.shape[1]} columns"
        )
    return along(model.child_frame, q, rows[:, 0], rows[:, 1:])


def _path(
    model: RobotModel, dynamics: 'kd.CompiledDynamics', points: JointTrajectory, q: Floats
) -> Path:
    """Return the path through the points; where the base moves, wheels roll with it."""
    base, robot = model.base, model.robot
    if len(points.times) < 2:
        raise InvalidInputError('retime: a trajectory of one point has no path')
    whole = np.tile(q, (len(points.times), 1))
    whole[:, [robot.coordinate_index(name) for name in points.names]] = points.positions
    times = points.times - points.times[0]
    wheels = () if base is None else (*base.driven, *base.steering, *base.passive)
    rolls = {*wheels, *(BASE_NAMES if model.mobile else ())}
    if not rolls & {*points.names}:
        return SplinePath(whole, times)
    names = [n for n in robot.coordinate_names if n in points.names or n not in rolls]
    positions = whole[:, [robot.coordinate_index(name) for name in names]]
    steered = base if base is not None and base.steering else None
    return RolledPath(dynamics, names, positions, whole[0], s=times, steered=steered)


def _contacts(model: RobotModel, friction: float | None) -> GroundContacts | None:
    """Return what the robot stands on, where friction is known."""
    if friction is None:
        return None
    if model.base is None:
        raise InvalidInputError('--friction-coefficient: this robot has no base on wheels')
    return kd.base_ground_contacts(model.base, friction=friction)
