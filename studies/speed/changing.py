# SPDX-License-Identifier: Apache-2.0
"""Constraints that come and go: events, steps between them, spatial impacts with friction."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import kane_dynamics as kd
from studies.events.changes import EVENT_P99, SIMULATED_PER_SECOND, STEP, changes
from studies.speed.rows import TIME, Row
from studies.speed.timing import Contender, Effort, race

EVENT_P50 = 3e-4  # [s] target
IMPACT = 5e-4  # [s] target
_LAWS = ('newton', 'poisson', 'energetic')


def event_rows(quick: bool, effort: Effort) -> Iterator[Row]:
    """Yield what `studies.events` measures, and impacts of a box on one corner and on four."""
    result = changes(0.2 if quick else 2.0, iter)
    name, count = 'EventSimulation, a base with an arm, stops and locks', result['events']
    note = f'{count} events; with the rest of its step'
    p50, p99 = (1e6 * result[f'event_{which}'] for which in ('p50', 'p99'))
    yield Row(f'an event, p50: {name}', TIME, p50, bound=1e6 * EVENT_P50, note=note)
    yield Row(f'an event, p99: {name}', TIME, p99, bound=1e6 * EVENT_P99, note=note)
    least = SIMULATED_PER_SECOND / STEP
    note = f'target: {SIMULATED_PER_SECOND:g} times real time at {1.0 / STEP:g} Hz'
    rate = 1.0 / result['step_mean']
    yield Row(f'between events: {name}', 'steps/s', rate, bound=least, note=note)
    robot, corners = _box()
    engine = kd.compile(robot)
    state = {'q': [0, 0, 0.1, 1, 0, 0, 0], 'v': [0.3, -0.2, 0.5, 1.0, 0.4, -1.0]}
    statement = 'f(robot, q, v, (), contacts, law=law, dynamics=dynamics)'
    contenders = [
        Contender(
            f'{law}, {number} of 4 corners of a box, {name}',
            statement,
            {
                **{'f': kd.impact, 'robot': robot, 'law': law, **state},
                **{'contacts': corners[:number], 'dynamics': dynamics},
            },
        )
        for law in _LAWS
        for number in (1, 4)
        for name, dynamics in (('reference', None), ('compiled rows and masses', engine))
    ]
    for work, timing in race(contenders, effort).items():
        work = f'spatial impact with friction, {work}'
        yield Row(work, TIME, 1e6 * timing.median, bound=1e6 * IMPACT)


def _box() -> tuple[kd.Robot, list[kd.constraints.Contact]]:
    """Return a box and its rough lower corners."""
    c = kd.constraints
    load = kd.Inertia(5.0, (0, 0, 0), np.diag([0.1, 0.2, 0.3]))
    robot = kd.Robot('box', [kd.Body('box', '', kd.Joint('free', kd.Free()), inertia=load)])
    corners = [(x, y, -0.1) for x in (0.3, -0.3) for y in (0.2, -0.2)]
    contacts = [
        c.contact(
            c.point_contact(robot, 'box', corner),
            c.point_slip(robot, 'box', corner),
            friction=0.4,
            restitution=0.5,
        )
        for corner in corners
    ]
    return robot, contacts
