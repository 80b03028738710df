# SPDX-License-Identifier: Apache-2.0
"""
A ball that is thrown, bounces, slides and rolls, here and in MuJoCo.

MuJoCo's contacts are soft: they sink in, creep where they should stick, and their impacts end by a
time constant. The ball falls on its way (restitution 0), slides with dry friction and rolls from a
time and at a speed that are known.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import mujoco
import numpy as np

import kane_dynamics as kd
from kane_dynamics import constraints
from studies.report import Table

MASS, RADIUS, MU, G = 2.0, 0.11, 0.15, 9.81
HEIGHT, SPEED = 0.3, 4.0  # of the lowest point [m], ahead [m/s]
DURATION, STEP = 1.5, 1e-3  # [s]
INERTIA = 0.4 * MASS * RADIUS**2
# friction of the impact, then of sliding, brings 2/7 of the speed into the spin of a solid ball
ROLLING_SPEED = SPEED * 5.0 / 7.0
# an impact without rebound has an impulse m g t_fall, whose friction is like that of so much time
ROLLS_AT = 2.0 * SPEED / (7.0 * MU * G)
_SOLREF = {'default': '0.02 1', 'stiff': '0.002 1'}


@dataclass(frozen=True)
class Motion:
    """What a simulator makes of the ball."""

    simulator: str
    rolls_at: float
    speed: float
    sinks: float
    creeps: float
    rate: float


def ours() -> Motion:
    """Return the motion with events, compiled."""
    tensor = np.diag([INERTIA] * 3)
    ball = kd.Body(
        'ball', '', kd.Joint('base', kd.Free()), inertia=kd.Inertia(MASS, (0, 0, 0), tensor)
    )
    robot = kd.Robot('ball', [ball], (0, 0, -G))
    ground = constraints.rolling_contact(
        constraints.rolling_ball(robot, 'base', RADIUS), friction=MU
    )
    start = [0, 0, HEIGHT + RADIUS, 1, 0, 0, 0]
    options = {'step': STEP, 'dynamics': kd.compile(robot)}
    simulation = kd.EventSimulation(
        robot, {'ground': ground}, start, [0, 0, 0, SPEED, 0, 0], **options
    )
    efforts, lowest, creeps = np.zeros(6), 0.0, 0.0
    begin = time.perf_counter()
    for _ in range(round(DURATION / STEP)):
        simulation.step(efforts)
        lowest = min(lowest, simulation.q[2] - RADIUS)
        if simulation.states['ground'] == 'sticks':
            creeps = max(creeps, _slip(robot, simulation.q, simulation.v))
    elapsed = time.perf_counter() - begin
    sticks = [e.time for e in simulation.events if e.states.get('ground') == 'sticks']
    velocity = kd.forward_kinematics(robot, simulation.q, simulation.v).twist('ball')
    speed = float(np.linalg.norm(velocity[3:]))
    return Motion(
        'kane_dynamics, events', sticks[0], speed, -lowest, creeps, DURATION / STEP / elapsed
    )


def in_mujoco(name: str, solref: str) -> Motion:
    """Return the motion in MuJoCo."""
    model = mujoco.MjModel.from_xml_string(
        f'<mujoco><option timestep="{STEP}" cone="elliptic" gravity="0 0 -{G}" impratio="100"/>'
        f'<default><geom friction="{MU} 0 0" solref="{solref}" condim="3"/></default>'
        '<worldbody><geom type="plane" size="9 9 1"/>'
        f'<body pos="0 0 {HEIGHT + RADIUS}"><freejoint/><geom type="sphere" size="{RADIUS}"/>'
        f'<inertial pos="0 0 0" mass="{MASS}" diaginertia="{INERTIA} {INERTIA} {INERTIA}"/>'
        '</body></worldbody></mujoco>'
    )
    data = mujoco.MjData(model)
    data.qvel[0] = SPEED
    lowest, rolls_at, creeps = 0.0, np.nan, 0.0
    begin = time.perf_counter()
    for _ in range(round(DURATION / STEP)):
        mujoco.mj_step(model, data)
        lowest = min(lowest, data.qpos[2] - RADIUS)
        slip = abs(data.qvel[0] - RADIUS * data.qvel[4])
        if np.isnan(rolls_at) and slip < _ROLLS:
            rolls_at = data.time
        if data.time > ROLLS_AT + _SETTLED:
            creeps = max(creeps, slip)
    elapsed = time.perf_counter() - begin
    speed = float(data.qvel[0])
    return Motion(f'MuJoCo, {name}', rolls_at, speed, -lowest, creeps, DURATION / STEP / elapsed)


_ROLLS = 1e-2  # [m/s] of slip that is called rolling in MuJoCo, where it never ends
_SETTLED = 0.1  # [s] after which creep is looked at


def beside_table() -> Table:
    """Return all simulators beside the closed form."""
    heads = ('simulator', 'rolls at [s]', 'speed [m/s]', 'sinks in [m]', 'creeps [m/s]', 'steps/s')
    table = Table('A thrown ball that slides and rolls, 1.5 s at 1 kHz', heads)
    table.add('closed form', f'{ROLLS_AT:.6f}', f'{ROLLING_SPEED:.6f}', '0', '0', '')
    for found in (ours(), *(in_mujoco(*options) for options in _SOLREF.items())):
        table.add(
            found.simulator,
            f'{found.rolls_at:.6f}',
            f'{found.speed:.6f}',
            f'{found.sinks:.1e}',
            f'{found.creeps:.1e}',
            f'{found.rate:,.0f}',
        )
    table.notes.append(f'in MuJoCo slip never ends: it rolls where slip is below {_ROLLS:g} m/s')
    return table


def _slip(robot: kd.Robot, q: np.ndarray, v: np.ndarray) -> float:
    rolling = constraints.rolling_ball(robot, 'base', RADIUS)
    rows = constraints.ConstraintSet(robot, [rolling]).rows(q, v, 0.0)
    return float(np.linalg.norm((rows.matrix @ v)[:2]))
