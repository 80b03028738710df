# SPDX-License-Identifier: Apache-2.0
"""``kane-dynamics info`` and ``equations``: what a robot is made of, its equations of motion."""

import argparse
import warnings
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np

import kane_dynamics as kd
from kane_dynamics.algebra.quaternions import vec4
from kane_dynamics.cli import printing
from kane_dynamics.cli.options import RobotSource, read_robot
from kane_dynamics.cli.printing import number
from kane_dynamics.constraints.constraint_set import ConstraintSet
from kane_dynamics.exceptions import InvalidInputError, ModelWarning
from kane_dynamics.robot.robot import Robot
from kane_dynamics.robot_config.inspection import Findings, inspect_urdf
from kane_dynamics.robot_config.robot_source import RobotModel

_WHEEL = 'joint', 'kind', 'radius_m', 'centre_m', 'axis', 'steering', 'trail_m'
_LIMITS = 'velocity_limit', 'effort_limit', 'damping', 'friction', 'armature'


def info(options: argparse.Namespace) -> int:
    """Print what a robot is made of."""
    source = read_robot(options)
    findings = inspect_urdf(source.urdf)
    facts = robot_facts(source.model, findings)
    fits, notes = _fits(source, findings)
    if options.json:
        printing.as_json({**facts, 'fits': [*fits], 'remarks': notes})
        return 0
    _print_tree(facts)
    _print_speeds(facts)
    for one in facts['mimic']:
        printing.lines(
            f'mimic: {one["joint"]} = {one["ratio"]:g} {one["master"]} + {one["offset"]:g}'
        )
    if facts['wheels']:
        _print_wheels(facts, fits)
    rows = [
        (frame['name'], frame['body'] or 'the world', ', '.join(map(number, frame['position_m'])))
        for frame in facts['frames']
        if frame['name'] != frame['body']
    ]
    printing.table('frames fixed in bodies', ('frame', 'body', 'x, y, z [m]'), rows)
    use = {k: ', '.join(v) or 'none' for k, v in facts['frames_by_use'].items() if k != 'base'}
    base = findings.frames.base
    printing.lines(f'frames by name: base {base}; tools {use["tools"]}; imu {use["imu"]}')
    if facts['constraints']:
        printing.lines(f'constraints: {", ".join(facts["constraints"])}')
    printing.print_notes(notes)
    return 0


def robot_facts(model: RobotModel, findings: Findings) -> dict[str, Any]:
    """Return everything of a robot by name; units are in the names."""
    robot = model.robot
    return {
        'name': robot.name,
        'base': robot.base,
        'base_kind': None if model.base is None else model.base.kind,
        'nq': robot.nq,
        'nv': robot.nv,
        'mass_kg': float(sum(body.inertia.mass for body in robot.bodies)),
        'gravity_m_s2': robot.gravity,
        'bodies': [_body(robot, i) for i in range(len(robot.bodies))],
        'speeds': [
            {'name': name, 'motor': name in model.actuated}
            | {limit: float(getattr(robot, limit)[i]) for limit in _LIMITS}
            for i, name in enumerate(robot.velocity_names)
        ],
        'coordinates': [
            {'name': name, 'lower': float(robot.lower[k]), 'upper': float(robot.upper[k])}
            for k, name in enumerate(robot.coordinate_names)
        ],
        'joints': [{'name': one.name, 'role': one.role} for one in findings.joints],
        'mimic': [{'joint': b.joint.name, **asdict(b.mimic)} for b in robot.bodies if b.mimic],
        'wheels': [
            {name: getattr(wheel, name.removesuffix('_m')) for name in _WHEEL}
            for wheel in findings.wheels
        ],
        'supports_m': findings.supports,
        'frames_by_use': asdict(findings.frames),
        'frames': [_frame(robot, name) for name in robot.frames],
        'constraints': [*ConstraintSet(robot, model.constraints).labels],
    }


def _body(robot: Robot, i: int) -> Mapping[str, Any]:
    body = robot.bodies[i]
    return {
        'name': body.name,
        'parent': body.parent or None,
        'joint': body.joint.name,
        'kind': type(body.joint.kind).__name__.lower(),
        'follows': body.mimic.master if body.mimic else None,
        'mass_kg': body.inertia.mass,
        'com_m': body.inertia.com,
        'depth': len(robot.ancestors(i)) - 1,
    }


def _frame(robot: Robot, name: str) -> Mapping[str, Any]:
    frame = robot.frames[name]
    return {
        'name': name,
        'body': robot.bodies[frame.body].name if frame.body >= 0 else None,
        'position_m': np.asarray(frame.pose.position(), dtype=float),
        'wxyz': vec4(frame.pose.rotation),
    }


def _fits(source: RobotSource, findings: Findings) -> tuple[dict[str, list[str]], list[str]]:
    """Return the blocks of the bases that fit the wheels with their needs, and all remarks."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter('always', ModelWarning)
        fits = {kind.text(): [*kind.needed(findings.robot)] for kind in findings.kinds}
    about_fits = (str(warning.message) for warning in caught)
    return fits, [*dict.fromkeys((*source.model.notes, *about_fits, *findings.messages))]


def _print_tree(facts: Mapping[str, Any]) -> None:
    kind = facts['base_kind']
    base = facts['base'] if kind is None else f'{facts["base"]} ({kind})'
    sizes = f'nq {facts["nq"]}, nv {facts["nv"]}, {facts["mass_kg"]:.6g} kg'
    rows = [
        (
            '  ' * body['depth'] + body['name'],
            body['joint'],
            body['kind'] + (f', follows {body["follows"]}' if body['follows'] else ''),
            number(body['mass_kg']),
            ', '.join(map(number, body['com_m'])),
        )
        for body in facts['bodies']
    ]
    headings = 'body', 'joint', 'kind', 'mass [kg]', 'centre of mass [m]'
    printing.table(f"robot '{facts['name']}', {base} base, {sizes}", headings, rows)


def _print_speeds(facts: Mapping[str, Any]) -> None:
    roles = {one['name']: one['role'] for one in facts['joints']}
    limits = {one['name']: (one['lower'], one['upper']) for one in facts['coordinates']}
    rows = []
    for speed in facts['speeds']:
        name, motor = speed['name'], 'yes' if speed['motor'] else ''
        ends = [*map(number, limits.get(name, ()))]
        span = ' to '.join(ends) if any(ends) else ''
        numbers = (number(speed[limit]) for limit in _LIMITS)
        rows.append((name, roles.get(name, 'base'), motor, span, *numbers))
    headings = 'speed', 'role', 'motor', 'position', *(x.removesuffix('_limit') for x in _LIMITS)
    printing.table('limits of |v| and |effort|, friction [SI]', headings, rows)


def _print_wheels(facts: Mapping[str, Any], fits: Mapping[str, list[str]]) -> None:
    rows = [
        (
            wheel['joint'],
            wheel['kind'],
            '?' if wheel['radius_m'] is None else f'{wheel["radius_m"]:g}',
            '{:g}, {:g}'.format(*wheel['centre_m']),
            wheel['steering'],
            f'{wheel["trail_m"]:.4g}' if wheel['steering'] else '',
        )
        for wheel in facts['wheels']
    ]
    headings = 'joint', 'kind', 'radius [m]', 'x, y [m]', 'steering', 'trail [m]'
    printing.table('wheels by their axes and collision shapes', headings, rows)
    for text, needs in fits.items():
        printing.lines(f'fits: {text}', *(f'  needs: {need}' for need in needs))
    if not fits:
        printing.lines('no kind of base fits these wheels, with x of the root link forward')


def equations(options: argparse.Namespace) -> int:
    """Print the equations of motion of a small robot."""
    from kane_dynamics.symbolic.equations import equations_of_motion

    source = read_robot(options)
    robot, rows = source.model.robot, list(source.model.constraints)
    if options.lock:
        if source.file:
            raise InvalidInputError(f"--lock: name locked_joints in '{source.file}' instead")
        locked = options.lock.split(',')
        robot = kd.load_urdf(source.urdf, base=robot.base, locked_joints=locked)
    if options.no_side_slip:
        rows.append(kd.constraints.no_side_slip(robot))
    equations = equations_of_motion(robot, rows, simplify=not options.no_simplify)
    if options.format == 'sympy':
        print(equations.source())
    else:
        write = equations.latex if options.format == 'latex' else equations.text
        print(write(options.digits))
    return 0
