# SPDX-License-Identifier: Apache-2.0
"""Minutes of random changes of the constraints of one robot: drift, cost of steps and events."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

import kane_dynamics as kd
from kane_dynamics import constraints
from kane_dynamics.robot.resources import share_directory
from kane_dynamics.typing import Floats
from studies.report import Table

STEP = 1e-3  # [s]
SIMULATED_PER_SECOND = 50.0  # target, between events
EVENT_P99 = 1e-3  # [s] target
DRIFT = 1e-9  # target, of A v and Phi
_WHEELS = ('wheel_left_joint', 'wheel_right_joint')
_ARM = tuple(f'arm_{k}_joint' for k in range(1, 6))
_PAUSE = (30, 300)  # steps between two changes


def changing_robot() -> tuple[kd.EventSimulation, dict[str, Any]]:
    """Return a base on two wheels with an arm and its end stops, and locks that come and go."""
    path = share_directory() / 'robots' / 'nonholonomic.urdf'
    robot = kd.load_urdf(path, base='planar')
    parts: dict[str, Any] = {'drive': constraints.differential_drive(robot, *_WHEELS)}
    for joint in _ARM:
        for side in ('lower', 'upper'):
            stop = constraints.joint_limit(robot, joint, side)
            parts[f'{joint} {side}'] = constraints.contact(stop, restitution=0.3)
    locks = {
        'brake': constraints.lock(robot, _WHEELS[0]),
        'shoulder': constraints.lock(robot, _ARM[0]),
        'elbow': constraints.lock(robot, _ARM[2]),
    }
    dynamics = kd.compile(robot)
    later = [*locks.values()]
    simulation = kd.EventSimulation(robot, parts, step=STEP, dynamics=dynamics, precompile=later)
    return simulation, locks


def efforts(simulation: kd.EventSimulation, push: Floats) -> Floats:
    """Return random efforts on springs and dampers that hold the arm up."""
    robot, tau = simulation.robot, push.copy()
    for joint in _ARM:
        q, v = robot.coordinate_index(joint), robot.velocity_index(joint)
        tau[v] -= 2.0 * simulation.q[q] + simulation.v[v]
    return tau


def changes(minutes: float, track: Callable[..., Any]) -> dict[str, Any]:
    """
    Return what steps and events cost, and the largest drift.

    Parameters
    ----------
    minutes : float
        Simulated.
    track : callable
        Wraps the iteration over steps, e.g. ``rich.progress.track``.

    """
    simulation, locks = changing_robot()
    rng = np.random.default_rng(0)
    quiet, eventful, drift, next_change = [], [], 0.0, 0
    push = np.zeros(simulation.robot.nv)
    for k in track(range(round(60.0 * minutes / STEP))):
        if k >= next_change:
            next_change = k + int(rng.integers(*_PAUSE))
            push = rng.normal(size=len(push)) * _sizes(simulation.robot)
            eventful.append(_timed(lambda: _toggle(simulation, locks, rng)))
        tau, count = efforts(simulation, push), len(simulation.events)
        elapsed = _timed(lambda tau=tau: simulation.step(tau))
        count = len(simulation.events) - count
        if count:
            eventful += count * [elapsed / count]
        else:
            quiet.append(elapsed)
        if k % 97 == 0:
            drift = max(drift, _drift(simulation))
    if not np.isfinite([*simulation.q, *simulation.v]).all():
        raise ArithmeticError('the motion is not finite')
    return {
        'minutes': minutes,
        'events': len(simulation.events),
        'step_mean': float(np.mean(quiet)),
        'event_p50': float(np.percentile(eventful, 50)),
        'event_p99': float(np.percentile(eventful, 99)),
        'drift': drift,
    }


def changes_table(found: dict[str, Any]) -> Table:
    """Return the figures beside their targets."""
    table = Table('Constraints that come and go, 10 speeds', ('figure', 'found', 'target'))
    speed = STEP / found['step_mean']
    table.add('simulated time', f'{found["minutes"]:g} min at 1 kHz', '')
    table.add('events', f'{found["events"]}', '')
    table.add('times real time between events', f'{speed:.0f}', f'>= {SIMULATED_PER_SECOND:.0f}')
    table.add('an event, p50', f'{1e3 * found["event_p50"]:.2f} ms', '')
    table.add('an event, p99', f'{1e3 * found["event_p99"]:.2f} ms', f'<= {1e3 * EVENT_P99:g} ms')
    table.add('largest |A v - b0| and |Phi|', f'{found["drift"]:.1e}', f'<= {DRIFT:g}')
    table.notes.append(
        'an event: find it, solve, jump, choose anew, and its share of the rest of its step; '
        'stops that bounce strike several times in one'
    )
    return table


def _sizes(robot: kd.Robot) -> Floats:
    wheels = [0.3 if name in _WHEELS else 0.0 for name in robot.velocity_names]
    arm = [0.5 if name in _ARM else 0.0 for name in robot.velocity_names]
    return np.add(wheels, arm)


def _toggle(
    simulation: kd.EventSimulation, locks: dict[str, Any], rng: np.random.Generator
) -> None:
    name = list(locks)[int(rng.integers(len(locks)))]
    if name in simulation.states:
        simulation.remove(name)
    else:
        simulation.add(name, locks[name])


def _drift(simulation: kd.EventSimulation) -> float:
    """Return the largest |A v - b0| and |Phi| of constraints that hold and stops that push."""
    held = []
    for name, what in simulation.constraints.items():
        if simulation.states[name] != 'open':
            held.append(what.normal if isinstance(what, constraints.Contact) else what)
    rows = constraints.ConstraintSet(simulation.robot, held).rows(
        simulation.q, simulation.v, simulation.time
    )
    gaps = [phi or 0.0 for phi in rows.positions]
    return float(np.abs([*(rows.matrix @ simulation.v - rows.velocity), *gaps]).max(initial=0.0))


def _timed(call: Callable[[], Any]) -> float:
    begin = time.perf_counter()
    call()
    return time.perf_counter() - begin
