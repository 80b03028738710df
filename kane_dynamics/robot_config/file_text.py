# SPDX-License-Identifier: Apache-2.0
"""Gains of a robot, and the text of its parameter file."""

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from kane_dynamics.bases.recognition import yaml_line
from kane_dynamics.dynamics import Dynamics
from kane_dynamics.robot.robot import Robot
from kane_dynamics.robot_config.inspection import Findings
from kane_dynamics.robot_config.settings import Setting
from kane_dynamics.typing import Floats

RATE = 250.0  # of the loop that the gains are for [Hz]
STATES = 8  # random ones, at which the robot's inertia is looked at
QUICKEST = 0.3  # rate of the fastest error times the period: far from the 2 of instability
RATIO = 10.0  # of p to d and the damping of the joint [1/s]
MOST_RATIO = 100.0  # of p to d: stable with a period of delay where the joint has no damping
HELD = 2.0  # times the stiffness of gravity, which may be negative
TILT = 1e-4  # of a coordinate, for the stiffness of gravity [rad or m]
ROOM = {'revolute': 0.3, 'prismatic': 0.05}  # to a limit at the start [rad, m]


@dataclass(frozen=True, eq=False)
class Tuning:
    """Where a robot begins, and its gains for a loop at `RATE`."""

    start: Mapping[str, float]
    p: Mapping[str, float]
    d: Mapping[str, float]


def proposed_tuning(dynamics: Dynamics, motors: Sequence[str]) -> Tuning:
    """
    Return gains with which errors of all joints die out evenly, whatever the joints carry.

    With the response R = d acceleration / d effort of the motors, errors obey
    e'' = -R ((D + B) e' + P e), B the damping of the joints. D is the inverse of R's largest
    diagonal entries, scaled so that the largest eigenvalue of R D is `QUICKEST` times the rate of
    the loop; P = `RATIO` (D + B), but so much that no pose falls away from its reference, `HELD`
    times the rows of dg/dq (then P + dg/dq is positive definite), and at most `MOST_RATIO` D.
    """
    robot = dynamics.robot
    start = start_positions(robot)
    away = {name: x for name, x in start.items() if x}
    if not motors:  # a base that is commanded by velocity, without an arm
        return Tuning(away, {}, {})
    rng = np.random.default_rng(0)
    states = [_state(robot, start), *(_random_state(robot, start, rng) for _ in range(STATES))]
    responses = [_response(dynamics, q, motors) for q in states]
    largest = np.max([np.diag(response) for response in responses], axis=0)
    d = 1.0 / np.maximum(largest, np.finfo(float).tiny)
    quickest = max(float(np.abs(np.linalg.eigvals(r * d)).max()) for r in responses)
    d *= QUICKEST * RATE / quickest
    rounded = {name: _rounded(value) for name, value in zip(motors, d.tolist(), strict=True)}
    damping = robot.damping[[robot.velocity_index(name) for name in motors]].tolist()
    stiff = np.max([_gravity_stiffness(dynamics, q, motors) for q in states], axis=0).tolist()
    p = {
        name: _rounded(min(max(RATIO * (value + damping_k), HELD * g), MOST_RATIO * value))
        for (name, value), damping_k, g in zip(rounded.items(), damping, stiff, strict=True)
    }
    return Tuning(away, p, rounded)


def start_positions(robot: Robot) -> dict[str, float]:
    """Return for each joint with limits the position nearest to zero with room on both sides."""
    start: dict[str, float] = {}
    for body in robot.bodies:
        joint = body.joint
        kind = type(joint.kind).__name__.lower()
        if body.mimic is not None or kind not in ROOM:
            continue
        room = min(ROOM[kind], 0.5 * (joint.upper - joint.lower))
        start[joint.name] = round(min(max(0.0, joint.lower + room), joint.upper - room), 4)
    return start


def _state(robot: Robot, positions: Mapping[str, float]) -> Floats:
    q = robot.neutral()
    for name, value in positions.items():
        q[robot.coordinate_index(name)] = value
    return q


def _random_state(robot: Robot, start: Mapping[str, float], rng: np.random.Generator) -> Floats:
    """Return q with each joint within its limits, and within half a turn of its start."""
    drawn = {}
    for name, value in start.items():
        joint = robot.bodies[robot.body_of_joint(name)].joint
        low, high = max(joint.lower, value - np.pi), min(joint.upper, value + np.pi)
        drawn[name] = float(rng.uniform(low, high)) if name not in robot.wheels else value
    return _state(robot, drawn)


def _response(dynamics: Dynamics, q: Floats, motors: Sequence[str]) -> Floats:
    """Return d acceleration / d effort of the motors at rest, shape (m, m)."""
    robot = dynamics.robot
    columns = [robot.velocity_index(name) for name in motors]
    at_rest, none = np.zeros(robot.nv), np.zeros(robot.nv)
    free = dynamics.acceleration(q, at_rest, none)
    pushed = [dynamics.acceleration(q, at_rest, np.eye(robot.nv)[k]) for k in columns]
    return (np.array(pushed) - free)[:, columns].T


def _gravity_stiffness(dynamics: Dynamics, q: Floats, motors: Sequence[str]) -> Floats:
    """Return the sums of |dg/dq| over the motors, of each row, shape (m,)."""
    robot = dynamics.robot
    rows = [robot.velocity_index(name) for name in motors]
    tilted = np.tile(q, (len(rows), 1))
    for k, name in enumerate(motors):
        tilted[k, robot.coordinate_index(name)] += TILT
    change = np.array([dynamics.gravity_force(one) for one in tilted]) - dynamics.gravity_force(q)
    return np.asarray(np.abs(change[:, rows]).sum(axis=0) / TILT)


def _rounded(x: float) -> float:
    """Return a number with three digits."""
    return float(f'{x:.3g}')


WIDTH = 99
NOT_KNOWN = (
    'friction of joints and wheels beyond <dynamics>; unit and sign of measured efforts; topics '
    'and rates of the robot; limits of acceleration and lag of the base; what the tool carries'
)


def file_text(
    urdf: Findings, command: str, settings: Sequence[Setting], tuning: Tuning | None = None
) -> str:
    """Return the parameter file."""
    lines = [*_head(urdf, command), '/**:', '  ros__parameters:', *_settings(settings)]
    lines += [f'    joint_state_rate: {RATE}   # [Hz] of kane_simulator, and of the gains']
    lines += [f'    odom_rate: {RATE}          # [Hz] of kane_simulator']
    if tuning is not None:
        lines += _tuning(tuning)
    return '\n'.join(lines) + '\n'


def _head(urdf: Findings, command: str) -> Iterator[str]:
    """Yield comments on the robot as a whole."""
    robot = urdf.robot
    yield f"# Parameters of the nodes for '{robot.name}', written by: {command}"
    roles: dict[str, int] = {}
    for joint in urdf.joints:
        roles[joint.role] = roles.get(joint.role, 0) + 1
    counts = ', '.join(f'{role}: {count}' for role, count in roles.items())
    yield from _wrapped(f'Found: {urdf.mass:.4g} kg in motion; joints by role: {counts}', '# ')
    sensors = ', '.join(urdf.frames.imu) or 'none'
    yield from _wrapped(f'Frames: root {urdf.frames.root}; IMU {sensors}', '# ')
    for joint in urdf.joints:
        if joint.mimic is not None:
            m = joint.mimic
            follows = f'{joint.name} = {m.ratio:g} {m.master} + {m.offset:g}'
            yield from _wrapped(f'Mimic, not in the model: {follows}', '# ')
    yield '# guessed: nobody confirmed it, and a URDF cannot tell. Look at these lines first.'
    yield from _wrapped(f'Not known: {NOT_KNOWN}', '# ')
    yield '# All parameters with units and bounds: --help of each node.'


def _settings(settings: Sequence[Setting]) -> Iterator[str]:
    """Yield lines of YAML; names with a dot stand together below their first part."""
    open_block = False
    ordered = sorted(settings, key=lambda setting: _PLACE.get(setting.name, len(_PLACE)))
    for setting in ordered:
        inside = setting.name.startswith('base.')
        if inside and not open_block:
            yield '    base:'
        open_block = inside
        comment = f'guessed: {setting.comment}' if setting.guessed else setting.comment
        indent = '      ' if inside else '    '
        yield from _wrapped(comment, f'{indent}# ')
        line = f'{setting.name.removeprefix("base.")}: {yaml_line(setting.value)}'
        yield from _wrapped(line, indent) if isinstance(setting.value, list) else [indent + line]


def _wrapped(line: str, indent: str) -> list[str]:
    """Return a comment, or a list of names or numbers, as lines that are not too long."""
    return textwrap.wrap(
        line,
        WIDTH,
        initial_indent=indent,
        subsequent_indent=indent + '  ',
        break_long_words=False,
        break_on_hyphens=False,
    )


_PLACE = {'urdf_file': 0, 'base_type': 1}


def _tuning(tuning: Tuning) -> Iterator[str]:
    if tuning.start:
        yield '    initial_positions:   # of kane_simulator [rad or m]: zero is at or near a limit'
        yield from (f'      {yaml_line(name)}: {x}' for name, x in tuning.start.items())
    if not tuning.p:
        return
    yield f'    # from the mass matrix, for a loop at {RATE:g} Hz: a start for the simulator; tune'
    yield '    # them on the robot'
    yield '    gains:'
    yield from (
        f'      {yaml_line(name)}: {{p: {p}, d: {tuning.d[name]}}}' for name, p in tuning.p.items()
    )
