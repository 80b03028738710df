# SPDX-License-Identifier: Apache-2.0
"""``kane-dynamics bag``: the dynamics over a recorded bag, without ROS."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np

from kane_dynamics.bags.computing import (
    QUANTITIES,
    Series,
    accelerations,
    efforts,
    external_efforts,
)
from kane_dynamics.bags.reading import open_bag
from kane_dynamics.bags.replay import CLOCKS, JOINT_STATES, ODOM, Replay
from kane_dynamics.bags.writing import JOINT_STATE, STORAGES, write_bag
from kane_dynamics.cli.arguments import Commands, seconds
from kane_dynamics.cli.motion_files import write_series_csv, write_series_plot
from kane_dynamics.cli.printing import console, new_table, number, print_json, print_remarks
from kane_dynamics.cli.printing import progress as shown
from kane_dynamics.cli.robots import ChosenRobot, add_robot, chosen_robot
from kane_dynamics.control.contact_observer import ContactObserver
from kane_dynamics.control.effort_law import Terms
from kane_dynamics.control.node_dynamics import Dynamics
from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.robot_config.parameters.contact_observer import (
    OBSERVER_TABLE,
    ContactObserverParameters,
)
from kane_dynamics.robot_config.parameters.forward_dynamics import ForwardDynamicsParameters
from kane_dynamics.robot_config.parameters.inverse_dynamics import InverseDynamicsParameters
from kane_dynamics.robot_config.parameters.robot import DynamicsParameters
from kane_dynamics.robot_config.robot_file import (
    default_parameters,
    parameters_of_file,
    read_parameter_file,
)

ODOMETRY = 'nav_msgs/msg/Odometry'
_TABLES: dict[str, type[DynamicsParameters]] = dict(
    zip(
        QUANTITIES,
        (InverseDynamicsParameters, ContactObserverParameters, ForwardDynamicsParameters),
        strict=True,
    )
)


def add(commands: Commands) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser('bag', help='run the dynamics over a recorded bag, without ROS')
    parser.add_argument('bag', metavar='BAG', help='folder of a rosbag2, or its file .mcap, .db3')
    add_robot(parser)
    parser.add_argument('--compute', default=QUANTITIES[0], choices=QUANTITIES)
    parser.add_argument(
        '--joint-states', default='/joint_states', metavar='TOPIC', help='of the joints'
    )
    parser.add_argument('--odom', default='/odom', metavar='TOPIC', help='of a mobile base')
    parser.add_argument(
        '--clock', default=CLOCKS[0], choices=CLOCKS, help='what tells that messages are late'
    )
    parser.add_argument(
        '--smoothing', type=seconds, default=0.1, help='pieces of the splines of effort [s]'
    )
    parser.add_argument(
        '--reference', action='store_true', help='without machine code: slower, nothing to compile'
    )
    parser.add_argument('--output', type=Path, metavar='FOLDER', help='new bag with the results')
    parser.add_argument('--storage', default=STORAGES[0], choices=STORAGES)
    parser.add_argument('--csv', type=Path, metavar='FILE', help='time and values')
    parser.add_argument('--plot', type=Path, metavar='FILE', help='.png, .pdf or .svg')
    parser.add_argument('--json', action='store_true', help='print the summary as JSON')
    parser.set_defaults(run=run)


def run(selection: argparse.Namespace) -> int:
    """Compute, write what is asked for, print what was used and what it gave."""
    table = _TABLES[selection.compute]
    inputs = chosen_robot(selection, table)
    model = inputs.model
    if model.robot.base == 'floating':
        raise InvalidInputError("--base floating: bags are read for 'fixed' and 'planar' bases")
    p = (
        parameters_of_file(inputs.parameters, table)
        if inputs.parameters
        else default_parameters(table)
    )
    dynamics, topics = Dynamics(model), {JOINT_STATES: (selection.joint_states, JOINT_STATE)}
    if model.mobile:
        topics[ODOM] = selection.odom, ODOMETRY
    with open_bag(selection.bag) as bag, shown('dynamics of the robot') as told:
        if not selection.reference:
            dynamics.compile(told)
        series, replay, notes = _computed(selection, inputs, p, dynamics, bag.messages(topics))
    notes += [f'first rejected: {reason}' for reason in replay.reasons]
    if not len(series.stamps):
        why = '; '.join(notes) or 'it has no messages'
        raise InvalidInputError(f"bag '{selection.bag}' gives no result: {why}")
    summary = _summary(series, replay) | {'robot': model.robot.name, 'remarks': notes}
    summary['files'] = _written(selection, series)
    if selection.json:
        print_json(summary)
    else:
        _print(summary)
    print_remarks([*notes, *_left_out(inputs)])
    return 0


def _computed(
    selection: argparse.Namespace, inputs: ChosenRobot, p: Any, dynamics: Dynamics, messages: Any
) -> tuple[Series, Replay, list[str]]:
    """Return the quantity that is asked for, with what counted the messages."""
    model = inputs.model
    if selection.compute == 'external_effort':
        observer = ContactObserver(dynamics, p)
        values = read_parameter_file(inputs.parameters) if inputs.parameters else {}
        gains, thresholds = (
            np.array(
                [values.get(s.name.replace('<joint>', n), s.default) for n in observer.joints]
            )
            for s in OBSERVER_TABLE
        )
        observer.configure(p, gains.astype(float), thresholds.astype(float))
        replay = Replay(model, p, observer.joints, True, selection.clock)
        return external_efforts(dynamics, observer, replay.states(messages)), replay, []
    if selection.compute == 'acceleration':
        replay = Replay(model, p, model.joints, True, selection.clock)
        return accelerations(dynamics, replay.states(messages)), replay, []
    motors = tuple(name for name in model.motors if name in model.joints)
    replay = Replay(model, p, motors, False, selection.clock)
    gap = max(p.joint_states_timeout, selection.smoothing)
    states = replay.states(messages)
    series, notes = efforts(dynamics, Terms.of(p), states, motors, selection.smoothing, gap)
    return series, replay, notes


def _left_out(inputs: ChosenRobot) -> list[str]:
    """Return what a parameter file asks of the nodes and is not done here."""
    if not inputs.parameters:
        return []
    values = read_parameter_file(inputs.parameters)
    left = [name for name in values if name.startswith('payload.') and name.endswith('.mass')]
    left += ['gravity_from'] if values.get('gravity_from', 'fixed') != 'fixed' else []
    return [f"'{name}' of '{inputs.parameters}' is left out for bags" for name in left]


def _summary(series: Series, replay: Replay) -> dict[str, Any]:
    difference = series.values - series.measured
    compared = series.quantity == 'effort'  # others are not what is measured
    return {
        'quantity': series.quantity,
        'rows': len(series.stamps),
        'messages': replay.counts(),
        'unusable_states': replay.unusable,
        'largest': dict(zip(series.names, np.abs(series.values).max(axis=0), strict=True)),
        'rms_difference_to_measured': {
            name: float(np.sqrt(np.nanmean(difference[:, k] ** 2)))
            for k, name in enumerate(series.names)
            if compared and np.isfinite(difference[:, k]).any()
        },
    }


def _written(selection: argparse.Namespace, series: Series) -> list[str]:
    """Write the files that are asked for; return their paths."""
    files = []
    if selection.output:
        files.append(write_bag(selection.output, series, selection.storage))
    if selection.csv:
        files.append(write_series_csv(selection.csv, series))
    if selection.plot:
        files.append(write_series_plot(selection.plot, series))
    return [str(file) for file in files]


def _print(summary: dict[str, Any]) -> None:
    for name, counts in summary['messages'].items():
        text = ', '.join(f'{count} {kind}' for kind, count in counts.items())
        console.print(f'{name}: {text}', soft_wrap=True, markup=False)
    title = f'{summary["quantity"]} of {summary["robot"]}, {summary["rows"]} rows [SI]'
    table = new_table(title, 'joint', 'largest', 'rms difference to measured')
    for name, largest in summary['largest'].items():
        rms = summary['rms_difference_to_measured'].get(name)
        table.add_row(name, number(float(largest)), '' if rms is None else number(rms))
    console.print(table)
    for file in summary['files']:
        console.print(f'wrote {file}', soft_wrap=True, markup=False)
