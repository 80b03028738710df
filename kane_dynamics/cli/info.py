# SPDX-License-Identifier: Apache-2.0
"""``kane-dynamics info``: the tree, masses, limits, wheels, mimic joints and frames of a robot."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

from rich.markup import escape

from kane_dynamics.cli.arguments import Commands
from kane_dynamics.cli.facts import robot_facts
from kane_dynamics.cli.printing import console, new_table, number, print_json, print_remarks
from kane_dynamics.cli.robots import add_robot, chosen_robot
from kane_dynamics.cli.wheels import look_at, print_wheels

Facts = Mapping[str, Any]


def add(commands: Commands) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser('info', help='tree, masses, limits, wheels, mimic joints, frames')
    add_robot(parser)
    parser.add_argument('--json', action='store_true', help='print all of it as JSON')
    parser.set_defaults(run=run)


def run(selection: argparse.Namespace) -> int:
    """Print what a robot is made of."""
    values = chosen_robot(selection)
    look = look_at(values)
    result, facts = look.result, robot_facts(values.model, look.result)
    base = values.model.base
    kind = {'base_kind': None if base is None else base.kind}
    if selection.json:
        texts = {'fits': [fit.text for fit in look.fits], 'remarks': look.notes}
        print_json({**facts, **kind, **texts})
        return 0
    _print_tree(facts, kind['base_kind'])
    _print_speeds(facts)
    for one in facts['mimic']:
        line = f'mimic: {one["joint"]} = {one["ratio"]:g} {one["master"]} + {one["offset"]:g}'
        console.print(escape(line), soft_wrap=True)
    print_wheels(look)
    _print_frames(facts)
    tools = ', '.join(result.frames.tools) or 'none'
    imu = ', '.join(result.frames.imu) or 'none'
    line = f'frames by name: base {result.frames.base}; tools {tools}; imu {imu}'
    console.print(escape(line), soft_wrap=True)
    if facts['constraints']:
        console.print(f'constraints: {escape(", ".join(facts["constraints"]))}', soft_wrap=True)
    print_remarks(look.notes)
    return 0


def _print_tree(facts: Facts, kind: str | None) -> None:
    base = facts['base'] if kind is None else f'{facts["base"]} ({kind})'
    sizes = f'nq {facts["nq"]}, nv {facts["nv"]}, {facts["mass_kg"]:.6g} kg'
    headings = 'body', 'joint', 'kind', 'mass [kg]', 'centre of mass [m]'
    table = new_table(f"robot '{facts['name']}', {base} base, {sizes}", *headings)
    for body in facts['bodies']:
        follows = f', follows {body["follows"]}' if body['follows'] else ''
        com = ', '.join(map(number, body['com_m']))
        name = '  ' * body['depth'] + body['name']
        row = name, body['joint'], body['kind'] + follows, number(body['mass_kg']), com
        table.add_row(*map(escape, row))
    console.print(table)


def _print_speeds(facts: Facts) -> None:
    headings = 'speed', 'role', 'motor', 'position', 'velocity', 'effort', 'damping', 'friction'
    table = new_table('limits of |v| and |effort|, friction [SI]', *headings, 'armature')
    roles = {one['name']: one['role'] for one in facts['joints']}
    indices = {one['name']: one for one in facts['coordinates']}
    for speed in facts['speeds']:
        place = indices.get(speed['name'])
        ends = () if place is None else (number(place['lower']), number(place['upper']))
        limits = ' to '.join(ends) if any(ends) else ''
        keys = 'velocity_limit', 'effort_limit', 'damping', 'friction', 'armature'
        role = roles.get(speed['name'], 'base')
        numbers = (number(speed[key]) for key in keys)
        table.add_row(
            escape(speed['name']), role, 'yes' if speed['motor'] else '', limits, *numbers
        )
    console.print(table)


def _print_frames(facts: Facts) -> None:
    table = new_table('frames fixed in bodies', 'frame', 'body', 'x, y, z [m]')
    for frame in facts['frames']:
        if frame['name'] == frame['body']:
            continue
        place = ', '.join(map(number, frame['position_m']))
        table.add_row(escape(frame['name']), escape(frame['body'] or 'the world'), place)
    if table.row_count:
        console.print(table)
