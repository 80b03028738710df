# SPDX-License-Identifier: Apache-2.0
"""
Rollouts of the nonholonomic robot, Runge-Kutta of order 4, against `mujoco.rollout`.

Both move the same states under the same constant efforts on the same number of threads, and give
every state of every rollout back. Ours satisfies the constraint exactly and projects drift away
after each step; MuJoCo's rolling is soft (see `mujoco_twin`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import mujoco
import numpy as np
from mujoco import rollout as mujoco_rollout

import kane_dynamics as kd
from kane_dynamics.typing import Floats
from studies import machine, robots
from studies.peers.mujoco_twin import MujocoTwin
from studies.speed.rows import Row
from studies.speed.timing import Contender, Effort, race

ROLLOUTS, STEPS, STEP = 1024, 100, 0.001  # rollouts, steps of each, [s]
_RATE = 'steps/s'
_PEERS = {'peer': 'mujoco.rollout, soft contact', 'noslip': 'mujoco.rollout, noslip, impratio 10'}


def rollout_rows(effort: Effort) -> Iterator[Row]:
    """Yield the robot with locked wheels (8 speeds, one row), then with wheels (10, three)."""
    cases = (
        ('8 speeds, no side slip', robots.nonholonomic(wheels=False), {'skid': True}),
        ('10 speeds, rolling wheels', robots.nonholonomic(), {'wheels': robots.WHEELS}),
    )
    for name, case, ground in cases:
        yield from _rows(name, case, ground, effort)


def _rows(name: str, case: robots.Case, ground: dict[str, Any], effort: Effort) -> Iterator[Row]:
    fast, threads = kd.compile(case.robot, case.constraints, precision='float32'), machine.cores()
    q, v, tau = _states(fast, case)
    twins = [
        MujocoTwin(case.robot, step=STEP, noslip=noslip, **ground) for noslip in (False, True)
    ]
    starts, pushes = twins[0].rollout_inputs(q, v, tau)
    options = {'effort': tau, 'step': STEP, 'integrator': 'rk4'}
    names = {'f': kd.rollout, 'd': fast, 'q': q, 'v': v, 'T': STEPS * STEP, 'o': options}
    with mujoco_rollout.Rollout(nthread=threads) as pool:
        spec = int(mujoco.mjtState.mjSTATE_QFRC_APPLIED)
        data = [mujoco.MjData(twins[0].model) for _ in range(threads)]

        def theirs(twin: MujocoTwin) -> Floats:
            states, _ = pool.rollout(
                twin.model, data, starts, pushes, control_spec=spec, nstep=STEPS
            )
            return states

        contenders = [
            Contender('every', 'f(d, q, v, T, every=1, **o)', names),
            Contender('last', 'f(d, q, v, T, **o)', names),
            Contender('single', "f(d, q, v, T, precision='float32', **o)", names),
            *(
                Contender(kind, 'f(m)', {'f': theirs, 'm': twin})
                for kind, twin in zip(_PEERS, twins, strict=True)
            ),
        ]
        times = race(contenders, effort)
        ends = [theirs(twin) for twin in twins]
    rates = {kind: ROLLOUTS * STEPS / time.median for kind, time in times.items()}
    found = kd.rollout(fast, q, v, STEPS * STEP, every=1, **options)
    notes = [
        _agreement(fast, found, twin, end, (q, v, tau))
        for twin, end in zip(twins, ends, strict=True)
    ]
    work = f'{ROLLOUTS:,} rollouts of {STEPS} steps, RK4, {name}, {threads} cores'
    yield Row(f'{work}, last states', _RATE, rates['last'], bound=1.2e6)
    for note, (kind, peer) in zip(notes, _PEERS.items(), strict=True):
        row = f'{work}, all states', _RATE, rates['every'], peer, rates[kind]
        yield Row(*row, least_ratio=10.0, note=note)
    single = kd.rollout(fast, q, v, STEPS * STEP, precision='float32', **options)
    far = [
        np.abs(one - every[:, -1]).max()
        for one, every in ((single.q, found.q), (single.v, found.v))
    ]
    note = (
        f'accelerations in float32, from float64 at the end: coordinates {far[0]:.0e}, speeds '
        f'{far[1]:.0e}; {single.fallback_count} steps by the reference'
    )
    yield Row(f'{work}, last states, float32', _RATE, rates['single'], note=note)


def _states(fast: kd.CompiledDynamics, case: robots.Case) -> tuple[Floats, Floats, Floats]:
    """Return states on the constraints and efforts, a row for each rollout."""
    rng = np.random.default_rng(5)
    q = np.tile(case.q, (ROLLOUTS, 1))
    q[:, 3:] += rng.uniform(-0.3, 0.3, (ROLLOUTS, q.shape[1] - 3))
    v = fast.consistent_velocity(q, rng.uniform(-0.5, 0.5, (ROLLOUTS, fast.robot.nv)))
    tau = rng.uniform(-0.3, 0.3, v.shape)
    tau[:, :3] = 0.0  # nothing pushes the base but its wheels
    return q, v, tau


def _agreement(
    fast: kd.CompiledDynamics, found: kd.Rollouts, twin: MujocoTwin, theirs: Floats, start: Any
) -> str:
    """Return how far results are from simulations one by one, and from MuJoCo's."""
    q, v, tau = start
    chosen = range(0, ROLLOUTS, ROLLOUTS // 8)
    gap = 0.0
    for k in chosen:
        run = fast.simulate(q[k], v[k], STEPS * STEP, effort=tau[k], step=STEP, integrator='rk4')
        gap = max(gap, np.abs(run.q - found.q[k]).max(), np.abs(run.v - found.v[k]).max())
    end = twin.coordinates(theirs[:, -1])
    far = np.abs(end - found.q[:, -1])
    return (
        f'from simulate one by one: {gap:.0e}; coordinates from MuJoCo after {STEPS * STEP:g} s: '
        f'median {np.median(far.max(axis=1)):.0e}, most {far.max():.0e}; '
        f'{found.fallback_count} steps by the reference'
    )
