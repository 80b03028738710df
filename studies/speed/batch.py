# SPDX-License-Identifier: Apache-2.0
"""Benchmark of batches: many states in one call, on all cores."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pinocchio as pin

import kane_dynamics as kd
from studies import machine
from studies.peers.pinocchio_twin import PinocchioTwin
from studies.precision import norm_errors
from studies.speed.rows import ERROR, RATE, Row
from studies.speed.single_calls import difference
from studies.speed.timing import Contender, Effort, race

STATES = 100_000
_LIST = 'for x, y, z in states:\n    f(m, d, x, y, z)'
_ROWS = 'for x, y, z in zip(q, v, a):\n    f(m, d, x, y, z)'


def batch_rows(effort: Effort) -> Iterator[Row]:
    """Yield inverse dynamics of 100,000 states of the chain of 9, in double and single."""
    robot = kd.serial_chain(9)
    fast, peer = kd.compile(robot, precision='float32'), PinocchioTwin(robot)
    q, v, a = np.random.default_rng(5).uniform(-1.0, 1.0, (3, STATES, robot.nv))
    states = [(q[k].copy(), v[k].copy(), a[k].copy()) for k in range(STATES)]
    out = np.empty((STATES, robot.nv))
    call = {'f': fast.inverse_dynamics, 'q': q, 'v': v, 'a': a, 'r': out}
    single = {name: x.astype(np.float32) for name, x in call.items() if name != 'f'}
    loop = {'f': pin.rnea, 'm': peer.model, 'd': peer.data, 'states': states}
    loop |= {'q': q, 'v': v, 'a': a}
    pool, columns = pin.ModelPool(peer.model, machine.cores()), [x.T.copy('F') for x in (q, v, a)]
    parallel = dict(zip('xyz', columns, strict=True))
    parallel |= {'f': pin.rneaInParallel, 'n': machine.cores(), 'pool': pool}
    parallel['r'] = np.empty_like(columns[0])
    contenders = [
        Contender('new', 'f(q, v, a)', call),
        Contender('out', 'f(q, v, a, out=r)', call),
        Contender('single', 'f(q, v, a, out=r)', {'f': fast.inverse_dynamics, **single}),
        Contender('list', _LIST, loop),
        Contender('rows', _ROWS, loop),
        Contender('parallel', 'f(n, pool, x, y, z, r)', parallel),
    ]
    times = race(contenders, effort)
    rates = {name: STATES / time.median for name, time in times.items()}
    theirs = np.array([pin.rnea(peer.model, peer.data, *state) for state in states[:1000]])
    agreement = difference(out[:1000], theirs)
    work = f'batch of {STATES:,} inverse dynamics, chain of 9, {machine.cores()} cores'
    # arrays made before, or rows of one array: whichever is faster for them
    name, in_loop = 'pinocchio.rnea in a loop', max(rates['list'], rates['rows'])
    yield Row(f'{work}, out=', RATE, rates['out'], bound=15e6)
    yield Row(
        f'{work}, out=', RATE, rates['out'], name, in_loop, least_ratio=10.0, agreement=agreement
    )
    yield Row(work, RATE, rates['new'], name, in_loop, agreement=agreement)
    threads = 'pinocchio.rneaInParallel (C++ threads)'
    agreement = difference(out, parallel['r'].T)
    yield Row(f'{work}, out=', RATE, rates['out'], threads, rates['parallel'], agreement=agreement)
    errors = norm_errors(
        single['r'], fast.inverse_dynamics(*(single[x].astype(float) for x in 'qva'))
    )
    agreement = difference(single['r'], parallel['r'].T)
    yield Row(f'{work}, float32, out=', RATE, rates['single'], bound=50e6)
    note = 'theirs in double: there is no other from Python'
    yield Row(
        f'{work}, float32, out=',
        RATE,
        rates['single'],
        threads,
        rates['parallel'],
        agreement=agreement,
        note=note,
    )
    yield Row(f'{work}, float32 against double', ERROR, float(errors.max()), bound=1e-5)
